// The reader in the browser. index.js and texts/*.js pass content to it. The fragment of the address selects the view.
// Texts are inserted as text nodes only, never as markup.
"use strict";

const READER = (() => {
  const OF_OUTPUTS = ["model", "band", "label", "category", "closest", "verdict", "fault"];
  const FILTERS = [...OF_OUTPUTS, "ahead", "order", "raters", "collection", "disagreement", "text"];

  let index, state = {}, turn = 0, hits = [], hitOutputs = new Map();
  const shards = new Map(), starts = [];

  // ---- helpers

  const option = (value, words) => make("option", { value }, words);
  const breaking = name => name.split(/(?<=_)/).flatMap((part, n) => n ? [make("wbr"), part] : [part]);
  const spoken = name => name.replaceAll("_", " ").toLowerCase();
  const title = () => document.querySelector("h1").textContent;
  const names = () => index.names;
  const blind = () => "annotator" in index;
  const items = () => blind() ? index.items : index.passages;

  const paragraph = (language, ...content) => make("p", { class: "text", dir: "auto", lang: language || null }, ...content);
  const withheld = characters => make("p", {}, make("em", {}, `restricted: ${characters} characters`));
  const counted = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;

  // ---- differences

  // Words, each with the white space after it. Scripts without spaces are split by character, Tibetan by syllable.
  const SPACELESS = "\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
  const TOKEN = new RegExp(`\\s+|(?:(?![${SPACELESS}])[\\p{L}\\p{N}\\p{M}'’])+\\s*|[^]\\p{M}*\\s*`, "gu");
  const MOST_CELLS = 4e6; // limit for the table that compares two texts: 8 MB, about 20 ms

  const tokens = text => text.match(TOKEN) ?? [];
  const key = token => token.trim().normalize("NFC").toLowerCase();

  // Positions [i, j] of equal tokens, ascending in i and j: a longest common subsequence, unless the table is too large.
  function matches(a, b, i, j, k, l, into) {
    while (i < k && j < l && a[i] === b[j]) into.push([i++, j++]);
    const end = [];
    while (i < k && j < l && a[k - 1] === b[l - 1]) end.push([--k, --l]);
    if (i < k && j < l) {
      if ((k - i) * (l - j) <= MOST_CELLS) longest(a, b, i, j, k, l, into);
      else split(a, b, i, j, k, l, into);
    }
    into.push(...end.reverse());
  }

  function longest(a, b, i, j, k, l, into) {
    const width = l - j + 1, table = new Uint16Array((k - i + 1) * width);
    for (let x = k - i - 1; x >= 0; x--) for (let y = l - j - 1; y >= 0; y--) {
      const here = x * width + y;
      table[here] = a[i + x] === b[j + y] ? table[here + width + 1] + 1 : Math.max(table[here + width], table[here + 1]);
    }
    for (let x = 0, y = 0; x < k - i && y < l - j;) {
      const here = x * width + y;
      if (a[i + x] === b[j + y]) into.push([i + x++, j + y++]);
      else if (table[here + width] >= table[here + 1]) x++;
      else y++;
    }
  }

  // Splits long texts at tokens that occur once in each text (longest increasing run). Without such tokens, no token matches.
  function split(a, b, i, j, k, l, into) {
    const once = (list, from, to) => {
      const places = new Map();
      for (let n = from; n < to; n++) places.set(list[n], places.has(list[n]) ? -1 : n);
      return places;
    };
    const left = once(a, i, k), right = once(b, j, l), piles = [];
    for (const [token, x] of left) {
      const y = right.get(token) ?? -1;
      if (x < 0 || y < 0) continue;
      let low = 0, high = piles.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (piles[middle].y < y) low = middle + 1; else high = middle;
      }
      piles[low] = { x, y, before: low ? piles[low - 1] : null };
    }
    const anchors = [];
    for (let anchor = piles.at(-1); anchor; anchor = anchor.before) anchors.unshift(anchor);
    if (!anchors.length) return;
    for (const { x, y } of anchors) {
      matches(a, b, i, j, x, y, into);
      into.push([x, y]);
      [i, j] = [x + 1, y + 1];
    }
    matches(a, b, i, j, k, l, into);
  }

  // The text with <ins> around words that are not in the reference, and with <del> for words that are only in the
  // reference. Without the <del> elements, the result is exactly the text.
  function compared(reference, text) {
    const before = tokens(reference), after = tokens(text), equal = [], parts = [];
    matches(before.map(key), after.map(key), 0, 0, before.length, after.length, equal);
    let i = 0, j = 0, same = "";
    for (const [x, y] of [...equal, [before.length, after.length]]) {
      if (x > i || y > j) {
        parts.push(same);
        same = "";
        if (x > i) parts.push(make("del", {}, before.slice(i, x).join("")));
        if (y > j) parts.push(make("ins", {}, after.slice(j, y).join("")));
      }
      same += after[y] ?? "";
      [i, j] = [x + 1, y + 1];
    }
    return [...parts, same].filter(part => part !== "");
  }

  // ---- error spans

  const SEVERITIES = ["unsupported", "minor", "major", "critical"];
  const NEUTRAL = { unsupported: "unsupported, not wrong", missing: "in all references and not here, not wrong" };
  const within = (errors, start, end) => errors.filter(({ span }) => span[0] < end && span[1] > start);
  const explained = each => each.metric ? `${each.metric}: ${NEUTRAL[each.severity]}` : `${each.severity}: ${each.category} (${each.judge})`;

  // Puts <mark> around the spans of errors in a paragraph. Positions count characters; words in <del> do not count.
  function underlined(node, errors) {
    if (!errors.length) return node;
    const edges = [...new Set(errors.flatMap(each => each.span))].sort((a, b) => a - b);
    const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT), leaves = [];
    while (walker.nextNode()) if (!walker.currentNode.parentNode.closest("del")) leaves.push(walker.currentNode);
    let start = 0;
    for (const leaf of leaves) {
      const letters = Array.from(leaf.data), end = start + letters.length;
      const cuts = [start, ...edges.filter(edge => edge > start && edge < end), end], first = start;
      leaf.replaceWith(...cuts.slice(1).map((cut, n) => {
        const words = letters.slice(cuts[n] - first, cut - first).join(""), here = within(errors, cuts[n], cut);
        const worst = SEVERITIES.findLast(severity => here.some(each => each.severity === severity));
        return here.length ? make("mark", { class: worst, title: here.map(explained).join("\n") }, words) : words;
      }));
      start = end;
    }
    return node;
  }

  function errors(each, source) {
    if (!each.marked.length) return null;
    const rows = each.marked.flatMap(({ judge, mqm, esa }) => [
      make("tr", { class: "verdict" }, make("th", { scope: "row" }, make("bdi", {}, judge)), make("td", { colspan: "3" }, `MQM ${mqm}, ESA ${esa}`)),
      ...each.errors.filter(error => error.judge === judge).map(error => {
        const text = error.side === "source" ? source : each.text, quoted = error.words.map(pair => pair[1]).join("");
        const words = error.span ? text === null ? "restricted" : Array.from(text).slice(...error.span).join("")
          : quoted ? `${quoted} (not in the ${error.side})` : `quotation that is not in the ${error.side}`;
        return make("tr", {}, make("td", {}, error.severity), make("td", {}, error.category), make("td", {}, error.side), make("td", {}, make("bdi", {}, words)));
      })]);
    const head = ["Severity", "Category", "Text", "Words"].map(name => make("th", { scope: "col" }, name));
    return make("table", { class: "errors" }, make("caption", {}, "Errors marked by judges"), make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  }

  // ---- the state of the view, which is kept only in the address

  const read = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const address = wanted => "#" + new URLSearchParams(Object.entries(wanted).filter(([, value]) => value));
  const go = wanted => { location.hash = address(wanted); };
  const instead = wanted => { history.replaceState(null, "", address(wanted)); show(); };

  // Index of a value in the list of names. ANY matches every name; an unknown name matches none.
  const ANY = "any";
  const placeOf = (list, name) => !list.includes(name) && name === ANY ? ANY : list.indexOf(name);
  const matching = (wanted, place) => place >= 0 && (wanted === ANY || wanted === place);
  // Faults are bits, because an output may have several.
  const faulty = (wanted, bits) => wanted === ANY ? bits > 0 : wanted >= 0 && Boolean(bits >> wanted & 1);

  // Outputs that match the filters, by passage.
  function filtered() {
    const columns = index.outputs, wanted = {}, kept = new Map();
    for (const name of OF_OUTPUTS) if (state[name]) wanted[name] = placeOf(names()[name], state[name]);
    const collection = state.collection ? names().collection.indexOf(state.collection) : null, unknown = collection === -1;
    const text = (state.text ?? "").toLowerCase(), people = state.raters === "people";
    const [label, category] = people ? [columns.people, columns.people_category] : [columns.label, columns.category];
    const judged = people ? columns.sampled : columns.queued, values = { ...columns, label, category };
    const conditions = Object.entries(wanted).map(([name, place]) => [name === "fault" ? faulty : matching, place, values[name]]);
    const place = index.passages.map((id, n) =>
      !unknown && (collection === null || index.collections[n] === collection) && id.toLowerCase().includes(text));
    const ofOutputs = people || state.disagreement || Object.keys(wanted).length;
    if (!ofOutputs) place.forEach((fits, n) => { if (fits) kept.set(n, []); });
    for (let n = 0; n < columns.passage.length; n++) {
      if (!place[columns.passage[n]]) continue;
      if ((people || "label" in wanted || "category" in wanted) && !judged[n]) continue;
      if (!conditions.every(([fits, wanted, places]) => fits(wanted, places[n]))) continue;
      if (state.disagreement === "split" && !(columns.split[n] && columns.queued[n])) continue;
      if (state.disagreement === "people" &&
        (columns.label[n] < 0 || columns.people[n] < 0 || columns.label[n] === columns.people[n])) continue;
      const outputs = kept.get(columns.passage[n]);
      if (outputs) outputs.push(n); else kept.set(columns.passage[n], [n]);
    }
    return kept;
  }

  // Passages that match the filters and on which both models have a score, where the first is furthest ahead first.
  function ahead() {
    const { model, passage, score } = index.outputs, scores = name => {
      const place = names().model.indexOf(name), own = new Map();
      model.forEach((each, n) => { if (each === place && score[n] !== null) own.set(passage[n], n); });
      return own;
    };
    const one = scores(state.model), two = scores(state.ahead), lead = n => score[one.get(n)] - score[two.get(n)];
    const both = [...hitOutputs].filter(([n]) => one.has(n) && two.has(n));
    for (const [n, outputs] of both) if (!outputs.includes(two.get(n))) outputs.push(two.get(n));
    return both.map(([n]) => n).sort((a, b) => lead(b) - lead(a) || a - b);
  }

  function show() {
    state = read();
    if (blind()) {
      hits = items().map((_, n) => n);
    } else {
      hitOutputs = filtered();
      const farthest = n => Math.max(-1, ...hitOutputs.get(n).map(each => index.outputs.drift[each] ?? -1));
      const before = (a, b) => (state.order && farthest(b) - farthest(a)) || a - b;
      hits = state.model && state.ahead ? ahead() : [...hitOutputs.keys()].sort(before);
      for (const name of FILTERS) at("filters").elements[name].value = state[name] ?? "";
      at("against").value = state.against ?? "";
      at("all").checked = Boolean(state.all);
      at("filtering").firstElementChild.textContent = ["Filters", active()].filter(Boolean).join(": ");
    }
    const requested = blind() ? state.item : state.passage, number = items().indexOf(requested);
    const here = hits.includes(number) ? number : hits[0];
    const outputs = [...hitOutputs.values()].reduce((sum, outputs) => sum + outputs.length, 0);
    const parts = [blind() ? progress() : `${counted(outputs, "output")} of ${counted(hits.length, "passage")}`];
    if (state.corpus && state.corpus !== index.corpus)
      parts.push(`this reader shows ${index.corpus}, not ${state.corpus}`);
    if (requested && number < 0) parts.push(`there is no ${blind() ? "item" : "passage"} ${requested} here`);
    at("count").textContent = parts.join("; ");
    places(here);
    if (here === undefined) {
      turn++;
      at("passage").replaceChildren(make("p", {}, "No passage matches these filters."));
      return;
    }
    if (requested && here !== number) history.replaceState(null, "", address(moved(here)));
    const thisTurn = ++turn;
    texts(here, content => { if (thisTurn === turn) (blind() ? item : passage)(here, content); });
  }

  // The filters in use, in words, so that one need not unfold them.
  const active = () => FILTERS.filter(name => state[name]).map(name => {
    const input = at("filters").elements[name], words = input.closest("label").firstChild.textContent.trim();
    return `${words.toLowerCase()} ${input.selectedOptions?.[0]?.textContent ?? state[name]}`;
  }).join(", ");

  const moved = number => ({ ...state, corpus: index.corpus, [blind() ? "item" : "passage"]: items()[number] });

  let listed = "";
  function places(here) {
    const label = n => blind() ? `${n + 1}: ${index.places[n]}${answered(items()[n]) ? " ✓" : ""}` : items()[n];
    const list = hits.map(n => [n, label(n)]), now = JSON.stringify(list);
    if (now !== listed) at("place").replaceChildren(...list.map(([n, words]) => option(String(n), words)));
    listed = now;
    at("place").value = String(here ?? "");
    const spot = hits.indexOf(here);
    at("where").textContent = here === undefined ? "" : `${blind() ? "item" : `passage ${items()[here]},`} ${spot + 1} of ${hits.length}`;
    if (here !== undefined && !blind() && ["127.0.0.1", "localhost"].includes(location.hostname))
      at("where").append(" ", make("a", { href: `${index.private ? "../" : ""}../corrections/#${new URLSearchParams({ at: items()[here] })}` }, "correct"));
    for (const [id, step] of [["previous", -1], ["next", 1]])
      at(id).setAttribute("aria-disabled", String(hits[spot + step] === undefined));
  }

  function step(by) {
    const next = hits[hits.indexOf(Number(at("place").value)) + by];
    if (next === undefined) return;
    go(moved(next));
    scrollTo(0, 0);
  }

  // Passes the texts of a passage to `then`. The shard with the texts is loaded when first needed.
  function texts(number, then) {
    const shard = index.shards[number];
    const ready = () => then(shards.get(shard)[number - starts[shard]]);
    if (shards.has(shard)) return ready();
    const file = `texts/${String(shard).padStart(3, "0")}.js`, script = make("script", { src: file });
    script.onload = () => { script.remove(); ready(); };
    script.onerror = () => at("passage").replaceChildren(make("p", { role: "alert" }, `${file} is missing from this page's folder. If a server sent the page, load it again.`));
    document.head.append(script);
  }

  // ---- a passage

  function shownText(text) {
    const notes = [index.unlicensed?.includes(text.name) ? "licence unknown" : null, text.complete ? null : "incomplete", text.doubt ? `in doubt: ${text.doubt}` : null, text.drift === null ? null : `drift ${text.drift}`];
    const title = text.name ? `Reference: ${text.name}` : "Source";
    const words = notes.filter(Boolean).join(", ");
    return make("section", {}, make("h3", {}, make("bdi", {}, title), words ? make("small", {}, ` ${words}`) : ""),
      text.text === null ? withheld(text.characters) : paragraph(text.language, text.text),
      ...(text.asides ?? []).map(([kind, words]) => make("p", { class: "note" }, make("bdi", {}, `${kind}: ${words}`))));
  }

  // Source and references scroll in their own column, which must be focusable for keyboard users.
  const beside = content => make("section", { class: "beside", tabindex: "0", "aria-label": "Source and references" },
    ...content.texts.map(shownText));

  function passage(number, content) {
    document.title = `${items()[number]} – ${title()}`;
    const only = new Set(hitOutputs.get(number).map(n => names().model[index.outputs.model[n]]));
    const outputs = content.outputs.filter(each => state.all || only.has(each.model));
    const hidden = content.outputs.length - outputs.length;
    at("passage").replaceChildren(
      make("h2", {}, make("bdi", {}, items()[number])),
      make("div", { class: "sides" }, beside(content), make("section", { class: "outputs", "aria-label": "Outputs" },
        make("div", { class: "grid" }, ...outputs.map(each => output(each, content))),
        hidden ? make("p", {}, `${counted(hidden, "output")} of this passage ${hidden === 1 ? "does" : "do"} not match the filters.`) : null,
        content.outputs.length ? null : make("p", {}, "No outputs yet."))));
  }

  function output(each, content) {
    const references = content.texts.slice(1).filter(text => text.complete && text.text !== null);
    const wanted = state.against || each.closest_reference;
    const reference = state.against === "nothing" ? undefined : references.find(text => text.name === wanted);
    const unseen = wanted && content.texts.some(text => text.name === wanted && text.text === null);
    let text = withheld(each.characters);
    if (each.refused) text = make("p", {}, make("em", {}, "declined to translate"));
    else if (each.text !== null)
      text = underlined(paragraph(content.language, ...(reference ? compared(reference.text, each.text) : [each.text])),
        [...each.errors.filter(error => error.span && error.side === "output"), ...each.metric_errors.filter(mark => mark.severity === "unsupported")]);
    const scores = [["drift", each.drift, each.band ? ` (band ${each.band})` : ""], ["closest reference", each.closest_reference, ""],
      ...index.scores.map((label, n) => [label, each.scores[n], ""]),
      ...each.metrics.map(({ metric, score }) => [metric, score, ""])].filter(([, value]) => value !== null);
    return make("article", {},
      make("h3", {}, make("bdi", {}, each.model)),
      each.outdated ? make("p", { class: "note" }, "Translates an earlier source text; not scored until it is imported again.") : null,
      text,
      reference && each.text !== null ? make("p", { class: "note" }, "Compared with ", make("bdi", {}, reference.name), ": ", make("ins", {}, "only in the output"),
        " ", make("del", {}, "only in the reference"), ".") : null,
      unseen ? make("p", { class: "note" }, "Not compared: ", make("bdi", {}, wanted), " is restricted.") : null,
      each.wrong.length ? make("p", { class: "note" }, `Faults: ${each.wrong.map(spoken).join(", ")}.`) : null,
      make("dl", { class: "scores" }, ...scores.flatMap(([name, value, more]) =>
        [make("div", {}, make("dt", { title: at(`term-${name.replace(" ", "-")}`)?.nextElementSibling.textContent ?? null }, name), make("dd", {}, `${value}${more}`))])),
      judgements(each), errors(each, content.texts[0].text), marked(each, content), versus(each.versus), origin(each, content));
  }

  // ---- the origin of an output: the steps from its passage to its scores and verdicts

  // The list is made when it is first unfolded, because a passage may have many outputs.
  function origin(each, content) {
    if (!each.origin.length) return null;
    const steps = [...content.origin, ...each.origin], stale = steps.some(([, , , changed]) => changed);
    const panel = make("details", { class: "origin" }, make("summary", {}, `Where this comes from${stale ? " (stale)" : ""}`));
    panel.addEventListener("toggle", () => panel.append(...traced(each.model, steps)), { once: true });
    return panel;
  }

  function traced(model, steps) {
    const { kinds, calls } = index.origins, now = new Map(steps.map(([kind, version]) => [kinds[kind][0], version]));
    const command = `variorum trace ${model} ${index.corpus}/${items()[Number(at("place").value)]}`;
    const step = ([kind, version, asked = [], changed = {}]) => {
      const [asset, run, time, inputs] = kinds[kind], names = Object.keys(changed);
      const from = inputs.map(([name, before]) => `${name} ${changed[name] ?? before ?? now.get(name)}`.trim()).join(", ");
      return make("li", {}, make("b", {}, ...breaking(asset)), ` ${version}, ${time}, run ${run}`,
        from ? make("p", {}, `from ${from}`) : null, ...asked.map(call => make("p", {}, spokenCall(calls, call))),
        names.length ? make("p", { class: "stale" }, `Stale: ${names.join(", ")} changed since.`) : null);
    };
    return [make("ol", {}, ...steps.map(step)),
      make("p", {}, "With endpoints and values: ", make("code", {}, command))];
  }

  function spokenCall(calls, [words, tokensIn, tokensOut, cost]) {
    const tokens = number => number === null ? "unknown" : number.toLocaleString("en");
    return `call of ${calls[words]}, ${tokens(tokensIn)} tokens in, ${tokens(tokensOut)} out, ${cost === null ? "unknown cost" : `${cost.toFixed(6)} dollars`}`;
  }

  // Words that a metric marked, those of a kind in one line. Withheld texts are not quoted.
  function marked(each, content) {
    const lines = new Map();
    for (const { metric, severity, span, translator } of each.metric_errors) {
      const text = translator ? content.texts.find(({ name }) => name === translator)?.text ?? null : each.text;
      if (each.text === null || text === null) continue;
      const line = `${metric}: ${NEUTRAL[severity] ?? severity}${translator ? ` (${translator})` : ""}: `;
      lines.set(line, [...lines.get(line) ?? [], Array.from(text).slice(...span).join("")]);
    }
    const metrics = [...new Set(each.metric_errors.map(({ metric }) => metric))].filter(metric => index.worth[metric]);
    return lines.size ? make("ul", { class: "note", "aria-label": "Words marked by metrics" },
      ...[...lines].map(([line, words]) => make("li", {}, line, make("bdi", {}, words.join("; ")))),
      ...metrics.map(metric => make("li", {}, `${metric}: ${index.worth[metric]}.`))) : null;
  }

  function judgements(each) {
    const rows = [...each.votes, ...each.people].flatMap(vote => {
      const category = vote.error_category === "NONE" || !vote.error_category ? "" : ` (${spoken(vote.error_category)})`;
      const label = vote.label ? spoken(vote.label) + category : "abstained";
      const cells = [label, vote.severity ?? "–", vote.confidence ?? "–"].map(value => make("td", {}, ...breaking(value)));
      const span = vote.span && each.text !== null ? Array.from(each.text).slice(...vote.span).join("") : "";
      const words = [...vote.words, ...(span ? [["error span", span]] : [])];
      return [make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, vote.rater)), ...cells),
        ...words.map(([kind, quote]) => make("tr", { class: "words" },
          make("td", { colspan: "4" }, `${spoken(kind)}: `, make("bdi", {}, quote))))];
    });
    const verdict = each.verdict;
    if (verdict) {
      const category = verdict.error_category === "NONE" ? "" : ` (${spoken(verdict.error_category)})`;
      const votes = ["major", "minor", "valid", "reference", "unsure", "abstained"].filter(name => verdict[name])
        .map(name => `${verdict[name]} ${name}`).join(", ");
      rows.push(make("tr", { class: "verdict" }, make("th", { scope: "row" }, "panel"),
        make("td", { colspan: "3" }, ...breaking(`${spoken(verdict.label)}${category}${verdict.split ? ", split" : ""}: ${votes}`))));
    }
    if (!rows.length) return null;
    const head = ["Rater", "Label", "Severity", "Confidence"].map(name => make("th", { scope: "col" }, name));
    return make("table", {}, make("caption", {}, "Judgments"), make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  }

  const versus = comparison => comparison && make("p", { class: "note" },
    `Against the human translation: ${comparison.verdict} (balance ${comparison.balance}, ${counted(comparison.seats, "seat")}).`);

  // ---- blind labeling: a form with the spreadsheet's columns; the browser keeps the answers to each item

  const given = new Map(); // answers given on this page, in case the browser cannot store them
  let keeps = true;
  const slot = id => JSON.stringify(["variorum", index.corpus, index.annotator, id]);
  function answers(id) {
    if (given.has(id)) return given.get(id);
    try { return JSON.parse(localStorage.getItem(slot(id)) ?? "{}"); } catch { return {}; }
  }
  function keep(id, fields) {
    given.set(id, fields);
    try { localStorage.setItem(slot(id), JSON.stringify(fields)); } catch { keeps = false; }
  }
  const answered = id => Object.values(answers(id)).some(Boolean);
  const progress = () => {
    const whole = items().filter(id => answers(id).label && !fault(answers(id))).length;
    return `${whole} of ${counted(items().length, "item")} labeled`;
  };

  // The problem that the import would report about the answers to an item; '' if there is none.
  function fault(fields, candidate = null) {
    const error = index.errors.includes(fields.label), even = text => text.trim().replace(/\s+/g, " ").toLowerCase();
    if (!Object.values(fields).some(Boolean)) return "";
    if (!fields.label) return "A label is missing.";
    if (error && !fields.error_category) return "An error needs a category.";
    if (!error && fields.error_category) return "Only errors have a category.";
    if (!fields.severity) return "A severity is missing.";
    if (candidate !== null && fields.error_span && !even(candidate).includes(even(fields.error_span)))
      return "The error span is not in the candidate.";
    return "";
  }

  function item(number, content) {
    const id = items()[number], before = answers(id);
    document.title = `${number + 1} – ${title()}`;
    const candidate = paragraph(content.language, content.candidate), problem = make("p", { id: "fault", role: "status" });
    const field = name => {
      const words = index.words[name];
      const input = words ? make("select", { name }, option("", "–"), ...words.map(word => option(word, spoken(word))))
        : make("textarea", { name, rows: "2", dir: "auto" });
      input.value = before[name] ?? "";
      return make("label", { class: words ? null : "wide" }, spoken(name), " ", input);
    };
    const form = make("form", { id: "answers", "aria-label": "Answers" }, ...index.answers.map(field));
    const take = make("button", { type: "button", id: "take" }, "Use the selected text of the candidate as error span");
    const changed = () => {
      const fields = Object.fromEntries(new FormData(form).entries());
      keep(id, Object.values(fields).some(Boolean) ? { ...fields, candidate: content.candidate } : fields);
      problem.textContent = fault(fields, content.candidate) || (keeps ? "" : "This browser cannot store answers: save the labels before you close it.");
      at("count").textContent = progress();
      at("place").selectedOptions[0].textContent = `${number + 1}: ${index.places[number]}${answered(id) ? " ✓" : ""}`;
    };
    take.onclick = () => {
      const range = getSelection().rangeCount ? getSelection().getRangeAt(0) : null;
      if (!range || !candidate.contains(range.startContainer) || !candidate.contains(range.endContainer)) return;
      form.elements.error_span.value = range.toString(); // the text's own characters, unaffected by styles
      changed();
    };
    form.oninput = changed;
    form.onsubmit = event => event.preventDefault();
    form.append(take, problem);
    problem.textContent = fault(before, content.candidate);
    at("passage").replaceChildren(
      make("h2", {}, make("bdi", {}, `Item ${number + 1}: ${index.places[number]}`)),
      make("div", { class: "sides" }, beside(content), make("section", { class: "outputs", "aria-label": "Candidate" },
        make("article", {}, make("h3", {}, "Candidate"), candidate), form)));
  }

  // Like harmless.guarded: prevents spreadsheets from reading a cell as a formula, a number or a date.
  const GUARDED = /^'*(?:[=+\-@＝＋－＠\t\r\n]|[\p{Nd}.,:\/eE -]+$)/u;
  function cell(text) {
    const guarded = GUARDED.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
  }

  function save() {
    const filled = ["candidate", ...index.answers]; // the import compares the candidate with the item's
    const columns = ["item", "annotator", "place", ...filled];
    const rows = items().map((id, n) => [id, index.annotator, index.places[n], ...filled.map(name => answers(id)[name] ?? "")]);
    const sheet = "\ufeff" + [columns, ...rows].map(row => row.map(cell).join(",") + "\r\n").join("");
    const link = make("a", { href: URL.createObjectURL(new Blob([sheet], { type: "text/csv" })),
      download: `labels.${encodeURIComponent(index.annotator)}.csv` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  // ---- start

  function start(content) {
    index = content;
    index.shards.forEach((shard, n) => { starts[shard] ??= n; });
    for (const node of document.querySelectorAll(blind() ? ".reading, #filters" : ".blind, #guide")) if (node !== document.body) node.remove();
    if (blind()) at("save").onclick = save; else filters();
    at("previous").onclick = () => step(-1);
    at("next").onclick = () => step(1);
    at("place").onchange = () => go(moved(Number(at("place").value)));
    document.addEventListener("keydown", event => {
      if (event.target.closest("input, select, textarea") || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (event.key === "ArrowLeft") step(-1);
      if (event.key === "ArrowRight") step(1);
    });
    addEventListener("hashchange", show);
    show();
  }

  function filters() {
    const form = at("filters");
    for (const name of names().model) form.elements.ahead.append(option(name, name));
    for (const name of [...OF_OUTPUTS, "collection"])
      form.elements[name].append(...names()[name].map(value => option(value, ["fault", "label", "category"].includes(name) ? spoken(value) : value)));
    // A filter that would keep or drop everything is hidden; a link that uses it still works.
    const columns = index.outputs, none = (...lists) => lists.every(list => list.every(place => place < 0));
    const unlabeled = none(columns.label, columns.people);
    const hidden = { order: columns.drift.every(each => each === null), model: names().model.length < 2, ahead: names().model.length < 2, collection: names().collection.length < 2, band: none(columns.band),
      closest: none(columns.closest), verdict: none(columns.verdict), fault: columns.fault.every(bits => !bits),
      label: unlabeled, category: unlabeled, raters: none(columns.people), disagreement: none(columns.people) };
    for (const name of Object.keys(hidden)) form.elements[name].closest("label").hidden = hidden[name] && !read()[name];
    at("filtering").open = matchMedia("(min-width: 64rem)").matches;
    at("against").append(...index.translators.map(name => option(name, name)), option("nothing", "nothing"));
    const wanted = () => ({ ...state, ...Object.fromEntries(FILTERS.map(name => [name, form.elements[name].value])),
      against: at("against").value, all: at("all").checked ? "1" : "" });
    form.onsubmit = event => event.preventDefault();
    form.onchange = event => { if (event.target.name !== "text") go(wanted()); };
    form.elements.text.oninput = () => instead(wanted());
    at("against").onchange = at("all").onchange = () => go(wanted());
    at("clear").onclick = () => go({ corpus: state.corpus, passage: state.passage, against: state.against, all: state.all });
  }

  return {
    index: start,
    texts(number, content) { shards.set(number, content); },
    compared,
  };
})();

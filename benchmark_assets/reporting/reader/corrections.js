// The page on which editors correct references. The server answers `shown` with a document, and stores what `save` is
// sent. The fragment of the address names the place: at (a passage or document), translator, segment.
// Texts are inserted as text nodes only, never as markup.
"use strict";

(() => {
  const SPACELESS = "\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
  const WORD = new RegExp(`[${SPACELESS}]\\p{M}*|(?:(?![${SPACELESS}])\\S)+`, "gu");

  let shown, own, current = "", words = [], cuts = [], places = new Map(), dragged = null, busy = false;
  const pending = new Map(); // by translator and segment: what is not saved yet
  const say = message => { at("where").textContent = message; };

  // ---- content

  const wanted = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const visit = (passage, translator, segment) => {
    const hash = `#${new URLSearchParams({ at: passage, translator, segment })}`;
    if (location.hash === hash) show(); else location.hash = hash;
  };
  const name = id => `${own.name}\n${id}`;
  const segment = id => own.segments.find(each => each.id === id);
  const source = id => shown.source.find(each => each.id === id);
  // The correction of a segment: unsaved, or saved without author and time.
  const said = id => pending.get(name(id)) ?? (({ author, time, ...record }) => record)(segment(id).saved);
  const textOf = id => "text" in said(id) ? said(id).text : segment(id).text;

  // Offsets count characters; JavaScript counts characters beyond U+FFFF twice.
  function offsets(prose) {
    if (!/[\ud800-\udbff]/.test(prose)) return offset => offset;
    const table = [0];
    for (const letter of prose) table.push(table.at(-1) + letter.length);
    return offset => table[offset];
  }

  async function load() {
    const { at: where = "" } = wanted();
    const reply = await fetch(`shown?${new URLSearchParams({ at: where })}`);
    if (!reply.ok) return say(await reply.text());
    shown = await reply.json();
    document.title = `Corrections: ${shown.corpus}`;
    document.querySelector("h1 bdi").textContent = document.title;
    at("document").replaceChildren(...shown.documents.map(id => make("option", { value: id }, id)));
    at("document").value = shown.document;
    at("translator").replaceChildren(...shown.translators.map(each => make("option", { value: each.name }, each.name)));
    at("author").value ||= localStorage.getItem("author") ?? shown.author;
    for (const id of ["save", "recompute", "author"]) at(id).disabled = !shown.may;
    show();
  }

  function show() {
    const { translator, segment: chosen, at: where } = wanted();
    const inside = where === shown.document || shown.source.some(each => each.passage === where);
    if (where && !inside) return load();
    const first = shown.queue.find(doubt => doubt.passage === (where || shown.passage));
    own = shown.translators.find(each => each.name === (translator || first?.translator))
      ?? shown.translators.find(each => each.continuous) ?? shown.translators[0];
    if (!own) return say("the corpus has no references");
    at("translator").value = own.name;
    const unit = offsets(own.prose);
    places = new Map(own.segments.filter(each => each.start !== null && !own.withheld)
      .map(each => [each.id, [unit(each.start), unit(each.end)]]));
    for (const each of own.segments) {
      const record = pending.get(name(each.id));
      if (record && "text" in record) locate(each.id, record.text);
    }
    words = [...own.prose.matchAll(WORD)].map(match => match.index);
    cuts = own.cuts.map(unit);
    const passage = where && where !== shown.document ? where : shown.passage;
    current = chosen && segment(chosen) ? chosen
      : (shown.source.find(each => each.passage === passage) ?? shown.source[0]).id;
    draw();
    reveal();
  }

  // Segments whose texts claim prose that a segment's text claims. The server saves no such text.
  function rivals(id) {
    const [start, end] = places.get(id) ?? [0, 0];
    return own.segments.map(each => each.id).filter(other => other !== id && places.has(other) && !said(other).wrong
      && places.get(other)[0] < end && start < places.get(other)[1]);
  }
  function locate(id, text) {
    const before = own.segments.slice(0, own.segments.findIndex(each => each.id === id)).reverse();
    const from = places.get(before.find(each => places.has(each.id))?.id)?.[1] ?? 0;
    const after = text ? own.prose.indexOf(text, from) : -1, start = after < 0 && text ? own.prose.lastIndexOf(text) : after;
    if (start < 0) places.delete(id); else places.set(id, [start, start + text.length]);
  }

  // ---- changes

  function change(id, verdict) {
    const { comment } = said(id);
    pending.set(name(id), comment ? { ...verdict, comment } : verdict);
    if (own.continuous) locate(id, textOf(id));
    draw();
  }
  function comment(id, words) {
    const { comment: _, ...verdict } = said(id);
    pending.set(name(id), words.trim() ? { ...verdict, comment: words.trim() } : verdict);
    count();
  }
  function takeBack(id) {
    pending.set(name(id), {});
    if (!segment(id).base) pending.delete(name(id));
    show();
  }
  function right(id) {
    if (!own.continuous) change(id, { right: true });
    else if (textOf(id)) change(id, { text: textOf(id) });
    else say("the segment has no text that could be right: set it by hand (h), or call it untranslated (u)");
  }
  function byHand(id) {
    const range = getSelection();
    if (!range.isCollapsed && at("prose").contains(range.anchorNode) && range.toString().trim()) {
      const [one, other] = [[range.anchorNode, range.anchorOffset], [range.focusNode, range.focusOffset]].map(offsetOf);
      const [start, end] = [Math.min(one, other), Math.max(one, other)];
      range.removeAllRanges();
      return change(id, { text: own.prose.slice(start, end).trim() });
    }
    if (!("text" in said(id)) || said(id).text === null) change(id, { text: textOf(id) ?? "" });
    at("text")?.focus();
  }

  // A boundary is where `ends` ends and `begins` begins; one of the two may be missing beside text of no segment.
  function boundaries() {
    const located = own.segments.filter(each => places.has(each.id)).map(each => [each.id, ...places.get(each.id)])
      .sort((a, b) => a[1] - b[1] || a[2] - b[2]);
    const found = [];
    located.forEach(([id, start, end], n) => {
      const before = located[n - 1], next = located[n + 1];
      const joined = before && !own.prose.slice(before[2], start).trim();
      found.push({ ends: joined ? before[0] : null, begins: id, at: start });
      if (!next || own.prose.slice(end, next[1]).trim()) found.push({ ends: id, begins: null, at: end });
    });
    return { located, found };
  }
  const keyOf = edge => `${edge.ends ?? ""}|${edge.begins ?? ""}`;

  // Where a boundary may be: at words between those that have to stay with the segments on both sides.
  function range({ ends, begins, at: now }) {
    const { located } = boundaries();
    const others = located.flatMap(([id, start, end]) => id === ends || id === begins ? [] : [[start, end]]);
    const least = ends ? places.get(ends)[0] + 1 : Math.max(0, ...others.map(each => each[1]).filter(end => end <= now));
    const most = begins ? places.get(begins)[1] - 1
      : Math.min(own.prose.length, ...others.map(each => each[0]).filter(start => start >= now));
    return [least, most];
  }
  function move(edge, to) {
    const [least, most] = range(edge);
    const open = [...words, own.prose.length].filter(each => each >= least && each <= most);
    if (!open.length || !shown.may) return;
    const near = open.reduce((best, each) => Math.abs(each - to) < Math.abs(best - to) ? each : best);
    if (edge.ends) {
      const [start] = places.get(edge.ends);
      places.set(edge.ends, [start, start + own.prose.slice(start, near).trimEnd().length]);
    }
    if (edge.begins) places.set(edge.begins, [near, places.get(edge.begins)[1]]);
    for (const id of [edge.ends, edge.begins]) {
      if (!id) continue;
      const { comment } = said(id), text = own.prose.slice(...places.get(id));
      if (text !== textOf(id)) pending.set(name(id), comment ? { text, comment } : { text });
    }
    draw(keyOf(edge));
  }
  function step(edge, forwards, far) {
    const stops = far ? [...cuts, own.prose.length] : [...words, own.prose.length];
    const to = forwards ? stops.find(each => each > edge.at) : stops.findLast(each => each < edge.at);
    if (to !== undefined) move(edge, to);
  }

  // ---- drawing

  const quote = id => textOf(id) === null ? "no text" : textOf(id) === "" ? "in the text of a neighbor" : textOf(id);
  function state(id) {
    const each = segment(id), record = said(id), parts = [];
    if (record.wrong) parts.push("wrong");
    if (record.right) parts.push("right by hand");
    if ("text" in record) parts.push(record.text === null ? "untranslated by hand" : "text by hand");
    if (pending.has(name(id))) parts.push("not saved");
    else if (each.waits) parts.push("saved; recompute to use it");
    else if (each.stage && !("text" in record)) parts.push(each.stage);
    const others = record.text && (id === current || pending.has(name(id))) ? rivals(id) : [];
    if (others.length) parts.push(`shares text with ${others.map(other => segment(other).label).join(", ")}: shorten one of them`);
    const by = each.saved.author ? ` — ${each.saved.author}, ${each.saved.time.slice(0, 10)}` : "";
    return make("p", { class: "state" }, make("strong", {}, parts.join(", ")), each.evidence ? ` ${each.evidence}` : "", by,
      record.comment && id !== current ? ` “${record.comment}”` : "");
  }
  const doubted = id => shown.queue.some(each => each.segment === id && each.translator === own.name && !each.settled);

  function card(each) {
    const { id } = each, open = id === current;
    const item = make("li", { "data-id": id, "aria-current": open ? "true" : null,
      class: [doubted(id) && "doubted", pending.has(name(id)) && "changed"].filter(Boolean).join(" ") });
    item.append(button(segment(id).label, () => choose(id), { class: "pick", "aria-expanded": open }),
      make("p", { class: "text", dir: "auto", lang: shown.language || null }, each.text ?? `restricted: ${each.characters} characters`),
      make("p", { class: "text given", dir: "auto", lang: textOf(id) ? shown.target || null : null },
        own.withheld ? `restricted: ${segment(id).characters} characters; read with variorum ui --private` : quote(id)), state(id));
    if (!open || !shown.may || own.withheld) return item;
    const act = (label, key, perform) => button(`${label} (${key})`, perform, { "aria-keyshortcuts": key });
    const acts = [act("Right", "r", () => right(id)), act("Wrong", "w", () => change(id, { wrong: true }))];
    if (own.continuous) acts.push(act("Untranslated", "u", () => change(id, { text: null })), act("By hand", "h", () => byHand(id)));
    if (segment(id).base || pending.has(name(id))) acts.push(act("Take back", "x", () => takeBack(id)));
    item.append(make("div", { class: "acts" }, ...acts));
    if (!own.continuous) item.append(make("p", { class: "state" }, `Edit the text itself in the translator's files: ${own.files}`));
    if (own.continuous && typeof said(id).text === "string") {
      const text = make("textarea", { id: "text", lang: shown.target || null });
      text.value = said(id).text;
      text.addEventListener("change", () => change(id, { text: text.value.trim() || null }));
      item.append(make("label", {}, "Text of the segment", text));
    }
    const note = make("textarea", { id: "comment" });
    note.value = said(id).comment ?? "";
    note.addEventListener("input", () => comment(id, note.value));
    item.append(make("label", {}, "Comment (c)", note));
    return item;
  }

  function draw(focused) {
    at("pairs").classList.toggle("segmented", !own.continuous);
    at("side").hidden = !own.continuous || own.withheld;
    at("segments").replaceChildren(...shown.source.map(card));
    const { located, found } = boundaries(), parts = [];
    const order = new Map(own.segments.map((each, n) => [each.id, n]));
    let done = 0;
    const text = (from, to, attributes) => {
      if (from < to) parts.push(make("span", { "data-start": from, ...attributes }, own.prose.slice(from, to)));
      done = Math.max(done, to);
    };
    const handle = edge => {
      const [least, most] = range(edge), say = `${own.prose.slice(Math.max(0, edge.at - 20), edge.at)} | ${own.prose.slice(edge.at, edge.at + 20)}`;
      const title = [edge.ends && `end of ${segment(edge.ends).label}`, edge.begins && `start of ${segment(edge.begins).label}`].filter(Boolean).join(", ");
      const node = make("span", { class: edge.begins === current || edge.ends === current ? "handle here" : "handle", role: "slider",
        tabindex: 0, title, "aria-label": title, "aria-valuemin": least, "aria-valuemax": most, "aria-valuenow": edge.at,
        "aria-valuetext": say, "data-key": keyOf(edge) }, "⇹");
      node.addEventListener("keydown", event => {
        const forwards = { ArrowRight: true, ArrowDown: true, ArrowLeft: false, ArrowUp: false }[event.key];
        if (forwards === undefined) return;
        event.preventDefault();
        step(edge, forwards, event.shiftKey);
      });
      node.addEventListener("pointerdown", event => {
        event.preventDefault();
        dragged = keyOf(edge);
        at("prose").setPointerCapture(event.pointerId);
        node.focus();
      });
      parts.push(node);
    };
    const starting = new Map(found.filter(edge => edge.begins).map(edge => [edge.begins, edge]));
    const ending = new Map(found.filter(edge => edge.ends && !edge.begins).map(edge => [edge.ends, edge]));
    for (const [id, start, end] of located) {
      text(done, start, { class: "loose" });
      handle(starting.get(id));
      text(Math.max(done, start), end, { "data-id": id, class: `piece${order.get(id) % 2 ? " odd" : ""}${id === current ? " current" : ""}` });
      if (ending.has(id)) handle(ending.get(id));
    }
    text(done, own.prose.length, { class: "loose" });
    at("prose").lang = shown.target;
    at("prose").replaceChildren(...parts);
    if (focused) [...at("prose").querySelectorAll(".handle")].find(node => node.dataset.key === focused)?.focus();
    count();
  }

  function count() {
    const open = shown.queue.filter(doubt => !doubt.settled).length;
    at("count").textContent = `${open} of ${shown.queue.length} doubts open` + (pending.size ? `; not saved: ${pending.size}` : "");
    at("save").setAttribute("aria-disabled", !pending.size);
    at("reader").href = `../#${new URLSearchParams({ passage: source(current).passage })}`;
  }
  function reveal() {
    // The segment comes last: where the prose stands below, it is on screen anyway.
    for (const name of [".piece.current", "li[aria-current]"]) document.querySelector(name)?.scrollIntoView({ block: "nearest" });
  }
  function choose(id) {
    current = id;
    history.replaceState(null, "", `#${new URLSearchParams({ at: source(id).passage, translator: own.name, segment: id })}`);
    draw();
    reveal();
    document.querySelector("li[aria-current] .pick").focus();
  }
  function beside(forwards) {
    const ids = shown.source.map(each => each.id), next = ids[ids.indexOf(current) + (forwards ? 1 : -1)];
    if (next) choose(next);
  }
  function doubt(forwards) {
    const place = each => shown.queue.findIndex(doubt => doubt.segment === each && doubt.translator === own.name);
    const here = place(current), open = shown.queue.map((each, n) => [each, n]).filter(([each]) => !each.settled);
    const next = forwards ? open.find(([, n]) => n > here) ?? open[0] : open.findLast(([, n]) => n < here) ?? open.at(-1);
    if (!next) return say("no doubt is open");
    const { passage, translator, segment: id, evidence } = next[0];
    say(`${segment(id)?.label ?? id}, ${translator}: ${evidence}`);
    visit(passage, translator, id);
  }

  // ---- saving

  const post = (where, body) => fetch(where, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

  async function save() {
    if (busy || !pending.size || !shown.may) return;
    const author = at("author").value.trim();
    if (!author) { say("write your name first"); return at("author").focus(); }
    localStorage.setItem("author", author);
    const sent = new Map(pending), changes = [...sent].map(([key, record]) => {
      const [translator, id] = key.split("\n");
      const of = shown.translators.find(each => each.name === translator).segments.find(each => each.id === id);
      return { segment: id, translator, base: of?.base ?? "", ...record };
    });
    busy = true;
    try {
      const reply = await post("save", { author, changes });
      if (reply.status === 409) return overtaken((await reply.json()).conflicts);
      if (!reply.ok) return say(await reply.text());
      for (const [key, record] of sent) if (pending.get(key) === record) pending.delete(key);
      at("conflict").hidden = true;
      await load();
      say("saved");
    } finally { busy = false; }
  }
  function overtaken(conflicts) {
    const words = record => {
      const verdict = !record ? "no correction" : "text" in record ? record.text ?? "untranslated"
        : record.right ? "right" : record.wrong ? "wrong" : record.comment ? "" : "no correction";
      const { comment, author, time } = record ?? {};
      return [verdict, comment && `“${comment}”`, author && `— ${author}, ${time}`].filter(Boolean).join("\n");
    };
    at("conflict").replaceChildren(make("h2", {}, "Another editor has corrected the same segment; nothing was saved"),
      ...conflicts.map(each => {
        const settle = mine => () => {
          const key = `${each.translator}\n${each.segment}`;
          if (mine) shown.translators.find(of => of.name === each.translator).segments.find(of => of.id === each.segment).base = each.base;
          else pending.delete(key);
          article.remove();
          if (!at("conflict").querySelector("article")) { at("conflict").hidden = true; if (pending.size) save(); else load(); }
        };
        const article = make("article", {}, make("h3", {}, `${each.segment}, ${each.translator}`), make("p", {}, "Theirs:"),
          make("blockquote", {}, words(each.theirs)), make("p", {}, "Yours:"), make("blockquote", {}, words(each.yours)),
          button("Keep theirs", settle(false)), " ", button("Save mine", settle(true)));
        return article;
      }));
    at("conflict").hidden = false;
    at("conflict").querySelector("button").focus();
  }
  async function recompute() {
    if (busy) return say("still saving; press again");
    if (pending.size) return say("save the changes first");
    if (!shown.may) return;
    busy = true;
    at("recompute").setAttribute("aria-disabled", true);
    say("recomputing what the corrections changed …");
    try {
      const reply = await post("recompute", {}), done = await reply.text();
      await load();
      say(done);
    } finally { busy = false; at("recompute").setAttribute("aria-disabled", false); }
  }

  // ---- events

  // The offset in the prose of a place in its nodes.
  function offsetOf([node, offset]) {
    const span = (node.nodeType === Node.TEXT_NODE ? node.parentNode : node).closest?.("[data-start]");
    return span ? Number(span.dataset.start) + (node.nodeType === Node.TEXT_NODE ? offset : 0) : 0;
  }
  function offsetAt(x, y) {
    const place = document.caretPositionFromPoint?.(x, y);
    const [node, offset] = place ? [place.offsetNode, place.offset]
      : (range => range ? [range.startContainer, range.startOffset] : [])(document.caretRangeFromPoint?.(x, y));
    return node?.nodeType === Node.TEXT_NODE && node.parentNode.closest("#prose [data-start]") ? offsetOf([node, offset]) : null;
  }
  at("prose").addEventListener("pointermove", event => {
    if (!dragged) return;
    const to = offsetAt(event.clientX, event.clientY), edge = boundaries().found.find(each => keyOf(each) === dragged);
    if (to !== null && edge) move(edge, to);
  });
  for (const end of ["pointerup", "pointercancel"]) at("prose").addEventListener(end, () => { dragged = null; });
  at("prose").addEventListener("click", event => {
    const id = event.target.closest("[data-id]")?.dataset.id;
    if (id && getSelection().isCollapsed) choose(id);
  });

  const KEYS = {
    n: () => doubt(true), p: () => doubt(false), j: () => beside(true), k: () => beside(false), s: save,
    r: () => right(current), w: () => change(current, { wrong: true }), x: () => takeBack(current),
    u: () => own.continuous && change(current, { text: null }), h: () => own.continuous && byHand(current),
    c: () => at("comment")?.focus(),
  };
  addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return event.key === "Escape" && event.target.blur();
    const act = KEYS[event.key];
    if (!act || !own || ("rwuhxc".includes(event.key) && (!shown.may || own.withheld))) return;
    event.preventDefault();
    act();
  });
  at("before").addEventListener("click", () => doubt(false));
  at("after").addEventListener("click", () => doubt(true));
  at("save").addEventListener("click", save);
  at("recompute").addEventListener("click", recompute);
  at("document").addEventListener("change", event => visit(event.target.value, own.name, ""));
  at("translator").addEventListener("change", event => visit(source(current).passage, event.target.value, current));
  new ResizeObserver(() => document.documentElement.style.setProperty("--bar", `${at("bar").offsetHeight}px`)).observe(at("bar"));
  addEventListener("hashchange", show);
  addEventListener("beforeunload", event => { if (pending.size) event.preventDefault(); });
  load();
})();

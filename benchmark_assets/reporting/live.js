// Shows what runs, and asks for it again every two seconds. Texts of models are only ever set as text.
"use strict";

const PAUSE = 2000;
const state = document.getElementById("state"), updates = document.getElementById("updates");
let seen = false, last = "";

function say(words) {
  if (state.textContent !== words) state.textContent = words; // a screen reader reads each change
}

function made(tag, text, more = {}) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(more)) element.setAttribute(name, value);
  if (text !== undefined && text !== null) element.textContent = text;
  return element;
}

function table(caption, heads, rows) {
  const box = made("div", null, {class: "scroll", role: "region", tabindex: "0", "aria-label": caption});
  const own = box.appendChild(made("table")), head = made("tr"), body = made("tbody");
  own.append(made("caption", caption), made("thead"), body);
  own.tHead.append(head);
  for (const [name, number] of heads) {
    head.append(made("th", name, number ? {scope: "col", class: "number"} : {scope: "col"}));
  }
  for (const cells of rows) {
    const row = body.appendChild(made("tr"));
    cells.forEach((cell, at) => {
      const kind = at ? made("td") : made("th", null, {scope: "row"});
      if (heads[at][1]) kind.className = "number";
      kind.append(cell instanceof Node ? cell : document.createTextNode(cell ?? "–"));
      row.append(kind);
    });
  }
  return box;
}

const dollars = (value) => value.toFixed(4);

function link(passage, model) {
  const place = passage.indexOf("/"), ids = new URLSearchParams({passage: passage.slice(place + 1), model});
  return made("a", passage, {href: `/readers/${encodeURIComponent(passage.slice(0, place))}/#${ids}`});
}

function section(update) {
  const part = made("section");
  const cap = update.cap === null ? "dollars, without a cap" : `of at most ${dollars(update.cap)} dollars`;
  const began = new Date(update.began).toLocaleTimeString();
  part.append(made("h2", `Since ${began}`));
  part.append(made("p", `Calls: ${update.calls} of about ${Math.max(update.planned, update.calls)} announced so far. `
    + `Spent: ${dollars(update.dollars)} ${cap}.`));
  const numbers = ["outputs", "failed", "remaining", "calls", "dollars"];
  if (!update.models.length) part.append(made("p", "No model has been asked."));
  else part.append(table("Models", [["model"], ...numbers.map((name) => [name, 1])],
    update.models.map((row) => [row.model, row.done, row.failed, row.left, row.calls, dollars(row.dollars)])));
  if (update.failures.length) {
    part.append(made("h3", "Failures"));
    part.append(table("Failures", [["model"], ["reason"], ["number", 1], ["for example"]], update.failures.map((row) =>
      [row.model, row.reason, row.count, row.passage === null ? "" : link(row.passage, row.model)])));
  }
  part.append(made("h3", "Latest outputs"));
  if (!update.passages.length) part.append(made("p", "None yet."));
  for (const each of update.passages) {
    const item = part.appendChild(made("article")), line = item.appendChild(made("p"));
    line.append(made("strong", each.model), " ", made("a", each.passage, {href: each.address}));
    const words = each.text ?? `${each.characters} characters, not shown: ${each.reason}`;
    item.append(made("p", words, {dir: "auto", class: each.text === null ? "beneath" : "output"}));
  }
  return part;
}

function show(found) {
  if (found.length) {
    seen = true;
    say(found.length === 1 ? "An update runs." : `${found.length} updates run.`);
    const content = JSON.stringify(found);
    if (content !== last) updates.replaceChildren(...found.map(section));
    last = content;
  } else {
    say(seen ? "The update has ended; below is the last of it." : "Nothing runs.");
  }
}

async function watch() {
  for (;;) {
    try {
      const reply = await fetch("/live/state");
      if (reply.ok) show((await reply.json()).updates);
      else say(`The server cannot say: ${await reply.text()}`);
    } catch {
      say("The server does not answer.");
    }
    await new Promise((done) => setTimeout(done, PAUSE));
  }
}

watch();

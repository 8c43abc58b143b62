// Sorting of tables by mouse and keyboard, and charts with tooltips. The page is complete without this script.
(function () {
  "use strict";

  const order = new Intl.Collator("en", { numeric: true });

  function value(cell) {
    if (cell.classList.contains("number")) {
      return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
    }
    const words = cell.textContent.trim();
    return words === "–" ? null : words;
  }

  // Empty cells are last in both directions; the sort is stable.
  function sort(table, column, descending) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, value: value(row.cells[column]) }));
    const way = descending ? -1 : 1;
    rows.sort((a, b) => {
      if (a.value === null || b.value === null) return (a.value === null) - (b.value === null);
      return way * (typeof a.value === "number" ? a.value - b.value : order.compare(a.value, b.value));
    });
    body.append(...rows.map(({ row }) => row));
  }

  for (const table of document.querySelectorAll(".exhibit table")) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const descending = now ? now === "ascending" : head.classList.contains("number");
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        sort(table, column, descending);
      });
    });
  }

  // Print with all tables open.
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details:not(.beneath)")) details.open = true;
  });

  const { charts, config } = JSON.parse(document.getElementById("charts").textContent);
  // The policy of the page allows no compiled expressions (`ast` interprets them) and no styles that scripts insert.
  const options = {
    config, actions: false, renderer: "svg", mode: "vega-lite", ast: true, defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
  };
  const narrow = document.documentElement.clientWidth < 640, lines = /\S.{0,23}(?!\S)|\S+/g;
  const letter = 6.25; // Mean width in pixels of a letter of a name.
  // On a narrow screen, panels stand below each other, names take at most half of the room, and titles are wrapped.
  const narrowed = (chart, room, excess) => JSON.parse(JSON.stringify(chart), (key, value) => {
    if (key === "columns") return 1;
    if (key === "legend" && value !== null) return { ...value, columns: 1 };
    if (key === "width") return Math.min(value, room - 100) - excess;
    if (key === "labelLimit") return Math.min(value, room / 2);
    if (key === "labelExpr") return value.replace(/\d+/, Math.round(room / 2 / letter));
    return (key === "title" || key === "text") && typeof value === "string" ? value.split(/(?<=,) /).flatMap((part) => part.match(lines)) : value;
  });
  // Only a drawing shows how much room its labels take: a chart that is too wide is drawn again with narrower panels.
  async function draw(place) {
    const chart = charts[Number(place.dataset.chart)], room = place.clientWidth, canvas = document.createElement("div");
    let embedded = await window.vegaEmbed(canvas, narrow ? narrowed(chart, room, 0) : chart, options);
    const tooWide = () => Math.ceil(canvas.querySelector("svg").getAttribute("width") - room);
    for (let excess = 0, pass = 0; narrow && tooWide() > 0 && pass < 3; pass++) {
      excess += tooWide();
      embedded.finalize();
      embedded = await window.vegaEmbed(canvas, narrowed(chart, room, excess), options);
    }
    canvas.querySelector("svg").setAttribute("aria-hidden", "true"); // the container has a label, the table has the numbers
    place.replaceChildren(canvas);
    return embedded;
  }
  const drawn = Array.from(document.querySelectorAll(".chart"), draw);
  // If drawing fails, the SVG remains in place.
  Promise.allSettled(drawn).then((results) => {
    for (const { status, reason } of results) if (status === "rejected") console.error(reason);
    document.documentElement.dataset.drawn = String(results.filter(({ status }) => status === "fulfilled").length);
  });
})();

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

  // Print with all details open.
  addEventListener("beforeprint", () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
  });

  const charts = JSON.parse(document.getElementById("charts").textContent);
  // The policy of the page allows no compiled expressions (`ast` interprets them) and no styles that scripts insert.
  const options = {
    actions: false, renderer: "svg", mode: "vega-lite", ast: true, defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
  };
  // On a narrow screen, panels stand below each other and are as wide as the screen allows beside names of systems.
  const room = document.documentElement.clientWidth, least = 160, beside = 180;
  const narrowed = (key, value) => {
    if (key === "columns") return 1;
    return key === "width" && value > least ? Math.max(least, Math.min(value, room - beside)) : value;
  };
  const fitted = (chart) => room < 640 ? JSON.parse(JSON.stringify(chart), narrowed) : chart;
  const drawn = Array.from(document.querySelectorAll(".chart"), async (place) => {
    const canvas = document.createElement("div");
    const embedded = await window.vegaEmbed(canvas, fitted(charts[Number(place.dataset.chart)]), options);
    canvas.querySelector("svg").setAttribute("aria-hidden", "true"); // the container has a label, the table has the numbers
    place.replaceChildren(canvas);
    return embedded;
  });
  // If drawing fails, the SVG remains in place.
  Promise.allSettled(drawn).then((results) => {
    for (const { status, reason } of results) if (status === "rejected") console.error(reason);
    document.documentElement.dataset.drawn = String(results.filter(({ status }) => status === "fulfilled").length);
  });
})();

// Tables that sort, by click and by keyboard, and charts that one can point at. Without it the page says the same.
(function () {
  "use strict";

  const order = new Intl.Collator("en", { numeric: true });

  function value(cell) {
    if (cell.classList.contains("number")) {
      return cell.dataset.value === undefined ? null : Number(cell.dataset.value);
    }
    const words = cell.textContent.trim();
    return words === "–" ? null : words;
  }

  // What has no number or name stays at the end whichever way one sorts; equal rows keep their order.
  function sort(table, column, descending) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, value: value(row.cells[column]) }));
    const way = descending ? -1 : 1;
    rows.sort((a, b) => {
      if (a.value === null || b.value === null) return (a.value === null) - (b.value === null);
      return way * (typeof a.value === "number" ? a.value - b.value : order.compare(a.value, b.value));
    });
    body.append(...rows.map((each) => each.row));
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
        for (const each of heads) each.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", descending ? "descending" : "ascending");
        sort(table, column, descending);
      });
    });
  }

  // Printed, everything that can be opened is open.
  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details")) each.open = true;
  });

  const charts = JSON.parse(document.getElementById("charts").textContent);
  const options = { actions: false, renderer: "svg", mode: "vega-lite" };
  const drawn = Array.from(document.querySelectorAll(".chart"), async (place) => {
    const canvas = document.createElement("div");
    const embedded = await window.vegaEmbed(canvas, charts[Number(place.dataset.chart)], options);
    canvas.querySelector("svg").setAttribute("aria-hidden", "true"); // the place has a name, the table the numbers
    place.replaceChildren(canvas);
    return embedded;
  });
  // A chart that cannot be drawn leaves its picture where it is.
  Promise.allSettled(drawn).then((all) => {
    for (const each of all) if (each.status === "rejected") console.error(each.reason);
    document.documentElement.dataset.drawn = String(all.filter((each) => each.status === "fulfilled").length);
  });
})();

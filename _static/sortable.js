/* Tables of class "sortable": press a column's name to sort by it. The page works without it. */
"use strict";

(() => {
  /** Put the rows in the order of one column; again, and it turns round. */
  function sort(table, heading) {
    const column = heading.cellIndex;
    const down = heading.getAttribute("aria-sort") === "ascending";
    const text = (row) => row.cells[column].textContent.trim();
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => text(a).localeCompare(text(b), "en", { numeric: true }) * (down ? -1 : 1));
    table.tBodies[0].append(...rows);
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  }

  /** Give each column's name a button, which keyboards and screen readers find. */
  function enliven(table) {
    for (const heading of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...(heading.querySelector("p") ?? heading).childNodes);
      button.addEventListener("click", () => sort(table, heading));
      heading.replaceChildren(button);
    }
    table.tHead.rows[0].cells[0].setAttribute("aria-sort", "ascending");
  }

  addEventListener("DOMContentLoaded", () => document.querySelectorAll("table.sortable").forEach(enliven));
})();

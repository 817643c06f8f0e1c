/** The table view: the numbers of each picture, as texts. */
import { h, setText } from "./dom.js";
import { words } from "./words.js";

/** Fill `place` with one table for each [caption, read]. A table of the same size keeps its cells. */
export function fillTables(place, sources) {
  const wanted = sources.map(([caption, read]) => ({ caption, data: read() })).filter(({ data }) => data);
  const size = ({ caption, data }) => `${caption}|${data.head.length}|${data.rows.length}`;
  const shape = wanted.map(size).join("\n");
  if (place.dataset.shape !== shape) {
    place.replaceChildren();
    wanted.forEach(({ caption, data }) => place.append(table(caption, data))); // each name knows those before
    place.dataset.shape = shape;
    return;
  }
  wanted.forEach(({ data }, n) => {
    const rows = place.children[n].querySelectorAll("tr");
    [data.head, ...data.rows].forEach((texts, i) => {
      const cells = rows[i].cells;
      texts.forEach((text, j) => setText(cells[j], String(text)));
    });
  });
}

/** A name that no other table view of the page has: two widgets may show a picture of one caption. */
function unique(caption) {
  const taken = new Set([...document.querySelectorAll(".p-tables > [role=region]")]
    .map((one) => one.getAttribute("aria-label")));
  const name = (n) => `${caption}, ${n > 1 ? `${words.tables.view} ${n}` : words.tables.view}`;
  let n = 1;
  while (taken.has(name(n))) n += 1;
  return name(n);
}

function table(caption, { head, rows }) {
  const [first, ...others] = head;
  return h("div", { class: "p-scroll", tabindex: "0", role: "region", "aria-label": unique(caption) },
    h("table", {}, h("caption", {}, caption),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, first),
        ...others.map((x) => h("th", { scope: "col" }, x)))),
      h("tbody", {}, ...rows.map(([name, ...cells]) =>
        h("tr", {}, h("th", { scope: "row" }, name), ...cells.map((x) => h("td", {}, x)))))));
}

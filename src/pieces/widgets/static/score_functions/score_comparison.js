/** The four scores side by side, on the same query and keys. */
import { format, h } from "../kit/kit.js";

const WORDS = {
  four: "Compare the four scores", score: "score", largest: "largest weight", gradient: "softmax gradient",
  entropy: (n) => `entropy, of ${format(Math.log(n), 2)}`,
  spread: (n) => `Entropy says how widely the weights are spread: ${format(Math.log(n), 2)} (ln ${n}) if `
    + `all are equal, 0 if one key takes all.`
    + " The softmax gradient says how far the weights still follow the scores: near 0, hardly at all.",
};

/** A fold with a row for each score, and the one in use marked. @param {Record<string, string>} kinds */
export function comparison(kinds) {
  const most = h("th", { scope: "col" });
  const rows = Object.entries(kinds).map(([kind, name]) => {
    const cells = ["largest", "entropy", "gradient"].map((what) => ({ what, node: h("td", {}) }));
    const row = h("tr", {}, h("th", { scope: "row" }, name), ...cells.map((c) => c.node));
    return { kind, cells, row };
  });
  const table = h("table", { class: "p-four", "aria-label": WORDS.four },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, WORDS.score),
      h("th", { scope: "col" }, WORDS.largest), most, h("th", { scope: "col" }, WORDS.gradient))),
    h("tbody", {}, ...rows.map((r) => r.row)));
  const meaning = h("p", {});
  const box = h("details", { class: "p-compared" }, h("summary", {}, WORDS.four), table, meaning);
  const digits = { largest: 3, entropy: 2, gradient: 4 };
  return {
    box,
    draw({ kind, n }, readings) {
      meaning.textContent = WORDS.spread(n);
      most.textContent = WORDS.entropy(n);
      rows.forEach((r, i) => {
        r.row.classList.toggle("p-chosen", r.kind === kind);
        r.cells.forEach(({ what, node }) => { node.textContent = readings[i][what].toFixed(digits[what]); });
      });
    },
  };
}

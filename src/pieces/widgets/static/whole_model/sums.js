/** A number of the model written out as the sum that it is: its largest products, the rest, the total. */
import { format, h, writes } from "../kit/kit.js";
import { activations } from "../twin/flat.js";
import { WORDS } from "./words.js";

/** @typedef {[string, number, number][]} Products label, one factor, the other */
/** @typedef {import("./columns.js").Column} Column @typedef {import("../twin/model.js").TrainedModel} Model
 *  */

const say = WORDS.opened;
export const line = (text, name = "w-line") => h("p", { class: name }, text);
export const headline = (text) => h("div", { class: "w-sum-title" }, text);

/** @param {Products} products @param {{heads: [string, string][], total: string, bias?: number|null,
 *   most?: number}} options `heads` are roles and names of the two factors
 *  @returns {{node: HTMLElement, total: number}} */
function productTable(products, { heads, total, bias = null, most = 6 }) {
  const all = products.map(([label, a, b]) => ({ label, a, b, product: a * b }))
    .sort((one, other) => Math.abs(other.product) - Math.abs(one.product));
  const [first, others] = [all.slice(0, most), all.slice(most)];
  const rest = others.reduce((sum, { product }) => sum + product, 0);
  const sum = all.reduce((whole, { product }) => whole + product, 0) + (bias ?? 0);
  const top = Math.abs(first[0]?.product) || 1;
  const cell = (text, role) => h("td", { "data-role": role }, text);
  const after = (label, value, name) => h("tr", { class: name },
    h("th", { scope: "row", colspan: "3" }, label),
    h("td", {}, format(value)));
  const node = h("table", { class: "w-products" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col", "aria-label": say.number }),
      ...heads.map(([role, name]) =>
      h("th", { scope: "col", "data-role": role }, name)), h("th", { scope: "col" }, say.product))),
    h("tbody", {}, ...first.map(({ label, a, b, product }) => h("tr", {}, h("th", { scope: "row" }, label),
      cell(writes(heads[0][0])(a), heads[0][0]), cell(`× ${writes(heads[1][0])(b)}`, heads[1][0]),
      h("td", { class: product < 0 ? "w-less" : "w-more",
        style: `--share:${(Math.abs(product) / top).toFixed(3)}` },
        format(product)))),
    others.length ? after(say.smaller(others.length), rest, "w-rest") : null,
    bias === null ? null : after(say.bias, bias, "w-rest"), after(total, sum, "w-total")));
  return { node, total: sum };
}

/** The products of a row of weights with what stands at a word. @param {Model} model @param {string} name
 *  @param {number} row @param {Float32Array} x @returns {{products: Products, bias: number|null}} */
function rowTimes(model, name, row, x) {
  const { data } = model.weights.get(`${name}.weight`);
  const bias = model.weights.get(`${name}.bias`)?.data[row] ?? null;
  return { bias, products: Array.from(x, (one, d) => [`${d + 1}`, one, data[row * x.length + d]]) };
}

/** A score, and the weight it becomes. @param {Column[]} columns @param {number} i @param {number} j
 *  @param {{layer: number, head: number, model: Model, words: string[]}} where @returns {Node[]} */
export function scoreSum(columns, i, j, { layer, head, model, words }) {
  if (j > i) return [headline(say.asks(words[i], words[j])), line(say.blind(words[i], words[j]))];
  const q = columns[i].at(`layer.${layer}.queries`);
  const K = q.length / model.heads;
  const keys = (s) => columns[s].at(`layer.${layer}.keys`);
  const groups = keys(0).length / K;
  const from = Math.floor((head * groups) / model.heads) * K;
  const products = (s) => Array.from({ length: K }, (_, d) =>
    /** @type {[string, number, number]} */ ([`${d + 1}`, q[head * K + d], keys(s)[from + d]]));
  const scores = columns.slice(0, i + 1).map((_, s) =>
    products(s).reduce((sum, [, a, b]) => sum + a * b, 0) / Math.sqrt(K));
  const { node, total } = productTable(products(j), { total: say.total,
    heads: [["query", say.query], ["key", say.key]] });
  const weight = columns[i].at(`layer.${layer}.weights`)[head * (i + 1) + j];
  const others = scores.filter((_, s) => s !== j).sort((a, b) => b - a).slice(0, 2);
  return [headline(say.asks(words[i], words[j])), node, line(say.scaled(total, K, scores[j])),
    line(say.softmax(scores[j], [scores[j], ...others], scores.length - 1 - others.length, weight)),
      line(say.takes(weight, words[j]), "w-told")];
}

/** A number of a query, a key or a value: the stream through a row of weights, then turned by its place.
 *  @param {"query"|"key"} which @returns {Node[]} */
export function projectedSum(columns, i, d, which, { layer, head, model, words }) {
  const name = `stack.blocks.${layer - 1}.attention.${which}`;
  const plural = which === "query" ? "queries" : "keys";
  const K = columns[0].at(`layer.${layer}.queries`).length / model.heads;
  const groups = columns[0].at(`layer.${layer}.keys`).length / K;
  const begin = which === "query" ? head * K : Math.floor((head * groups) / model.heads) * K;
  const x = columns[i].at(`layer.${layer}.attention.normed`);
  const { products, bias } = rowTimes(model, name, begin + d, x);
  const { node, total } = productTable(products, { bias, total: `${which} ${d + 1}`,
    heads: [["residual", say.normed], [which, say.weight]] });
  const value = columns[i].at(`layer.${layer}.${plural}`)[begin + d];
  const out = [headline(say.made(which, d + 1, words[i])), node];
  if (!model.config.rope_base || Math.abs(value - total) < 1e-5) return out;
  const half = K / 2;
  const partner = d < half ? d + half : d - half;
  const other = rowTimes(model, name, begin + partner, x);
  const twin = other.products.reduce((sum, [, a, b]) => sum + a * b, other.bias ?? 0);
  const angle = i / model.config.rope_base ** ((2 * (d % half)) / K);
  const [cos, sin] = [Math.cos(angle), (d < half ? -1 : 1) * Math.sin(angle)];
  return [...out, line(say.turn(total, cos, twin, sin, value))];
}

/** What a head brings a word: the values, weighed. @returns {Node[]} */
export function outputSum(columns, i, d, { layer, head, model, words }) {
  const A = columns[i].at(`layer.${layer}.weights`);
  const K = columns[i].at(`layer.${layer}.heads`).length / model.heads;
  const groups = columns[0].at(`layer.${layer}.values`).length / K;
  const from = Math.floor((head * groups) / model.heads) * K + d;
  const products = columns.slice(0, i + 1).map((column, s) => /** @type {[string, number, number]} */ (
    [words[s], A[head * (i + 1) + s], column.at(`layer.${layer}.values`)[from]]));
  return [headline(say.output(d + 1, words[i])), productTable(products, { total: say.outputs.toLowerCase(),
    heads: [["weight", say.weight], ["value", say.value]] }).node];
}

/** A hidden unit at a word: gate and up as products with the stream, and what comes of them.
 *  @param {string[]|null} known the words that open it in many stories @returns {Node[]} */
export function unitSum(columns, i, unit, { layer, model, words }, known) {
  const name = `stack.blocks.${layer - 1}.feed_forward`;
  const x = columns[i].at(`layer.${layer}.feed_forward.normed`);
  const part = (which, role) => {
    const { products, bias } = rowTimes(model, `${name}.${which}`, unit, x);
    return productTable(products, { bias, total: say[which], most: 3,
      heads: [["residual", say.normed], [role, say[which]]] });
  };
  const value = columns[i].at(`layer.${layer}.units`)[unit];
  const up = part("up", "value");
  const gate = model.weights.has(`${name}.gate.weight`) ? part("gate", "key") : null;
  const open = gate ? activations.swish(gate.total) : 0;
  const nodes = gate ? [gate.node, line(say.opens(gate.total, open)), up.node,
    line(say.gated(open, up.total, value))] : [up.node, line(say.bends(up.total, value))];
  return [headline(say.unitAt(`${layer}.${unit + 1}`, words[i])), ...nodes,
    ...(known ? [line(say.measured(known), "w-told")] : [])];
}

/** How the router scores an expert for a word. @returns {Node[]} */
export function routeSum(columns, i, e, { layer, model, words }) {
  const x = columns[i].at(`layer.${layer}.feed_forward.normed`);
  const { products, bias } = rowTimes(model, `stack.blocks.${layer - 1}.feed_forward.router.gate`, e, x);
  const { node, total } = productTable(products, { bias, total: say.chosen,
    heads: [["residual", say.normed], ["key", say.weight]] });
  const chosen = columns[i].at(`layer.${layer}.experts`);
  const logits = columns[i].at(`layer.${layer}.router`);
  const slot = chosen.indexOf(e);
  const others = [...chosen].filter((one) => one !== e).map((one) => logits[one]);
  const exp = [total, ...others].map((one) => Math.exp(one - total));
  return [headline(say.routed(words[i])), node, line(slot < 0 ? say.unchosen(e + 1, words[i])
    : say.softmax(total, [total, ...others], 0, 1 / exp.reduce((sum, one) => sum + one, 0)))];
}

/** The rows that Python counted: read whatever stands in the trait, filtered and told in words. */
import { clamp } from "../kit/kit.js";
import { short } from "../kit/parts.js";

export const COLUMNS = ["norm", "position", "activation"];
export const SIZES = ["n_layers", "n_heads", "n_kv_heads", "head_dim", "d_model", "d_ff", "vocab_size"];
export const BLANK = "blank";

/**
 * @typedef {{name: string, ours: boolean, year: number, where: string, category: string, size: number,
 *   total: number, printed: Record<string, string|null>, sources: Record<string, string|null>,
 *   sizes: Record<string, number>, parts: Record<string, number>, notes: string[][], beyond: string,
 *   told: any[][]}} Model
 */

const word = (value) => (typeof value === "string" ? value : "");
const list = (value) => (Array.isArray(value) ? value : []);
const number = (value) => clamp(value, 0, Infinity, 0);
const words = (given) => Object.fromEntries(COLUMNS.map((name) => [name, word(given?.[name]) || null]));

/** @returns {Model[]} */
export function readModels(model) {
  const names = new Set();
  return list(model.get("models")).filter((row) => {
    const good = word(row?.name) && row.parts && typeof row.parts === "object" && !names.has(row.name);
    if (good) names.add(row.name);
    return good;
  }).map((row) => /** @type {Model} */ ({
    name: row.name, ours: row.ours === true, year: number(row.year), where: word(row.where),
    category: word(row.category), size: number(row.size), total: number(row.total),
    printed: words(row.printed), sources: words(row.sources),
    sizes: Object.fromEntries(SIZES.map((name) => [name, number(row.sizes?.[name])])),
    parts: Object.fromEntries(Object.entries(row.parts).map(([part, n]) => [part, number(n)])),
    notes: list(row.notes).filter(Array.isArray), beyond: word(row.beyond),
    told: list(row.told).filter((one) => Array.isArray(one) && Array.isArray(one[0])),
  }));
}

/** A model as a row of the table: one key a column, its words as printed or by the sources.
 *  @param {Model} one @param {string} source */
export function rowOf(one, source) {
  const told = one[source];
  const changed = Object.fromEntries(COLUMNS.map((name) => [name, told[name] !== one.printed[name]]));
  return { ...one.sizes, ...told, name: one.name, year: one.year, size: one.size, total: one.total, changed,
    model: one };
}

/** Whether a row has what is looked for: each typed word somewhere, and the word chosen in each column.
 *  A size is found as a whole, "7B"; a star finds what is not as printed. */
export function fits(row, { find, ...chosen }) {
  const { model } = row;
  const text = [row.name, row.year, model.category, ...COLUMNS.map((name) =>
    `${row[name] ?? BLANK}${row.changed[name] ? "*" : ""}`),
    model.ours ? "ours" : ""].join(" ").toLowerCase();
  const size = short(row.size).replace(/\s/u, "").toLowerCase();
  return find.toLowerCase().split(/\s+/).every((part) => text.includes(part) || part === size)
    && COLUMNS.every((name) => chosen[name] === "any" || chosen[name] === (row[name] ?? BLANK));
}

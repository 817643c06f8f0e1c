/** ModelTable: 25 models to sort, search and compare; and what their choices became, year by year. */
import { button, choice, frame, guard, h, legend, limits, live, report, select, setText, setter,
  text, toggle } from "../kit/kit.js";
import { short } from "../kit/parts.js";
import { sortable } from "../kit/table.js";
import { tabs } from "../kit/tabs.js";
import { comparison, partsOf, ROLES } from "./compared.js";
import { BLANK, COLUMNS, fits, readModels, rowOf } from "./models.js";
import { yearBoard } from "./years.js";

const name = ({ name: own, ours, model }) => `${own}${ours || model?.ours ? " †" : ""}`;
const share = (one, part) => Math.round((100 * (one.parts[part] ?? 0)) / (one.total || 1));
const COLUMN_NAMES = { name: "model", year: "year", size: "size", total: "counted", norm: "norm",
  position: "position", activation: "activation", n_layers: "L", n_heads: "H", d_model: "D", head_dim: "K" };
const WORDS = {
  title: "Twenty-five models, one table", find: "Search", hint: "say, rope 2023", any: "any",
  columns: COLUMN_NAMES, blank: "left blank", words: "these three", sets: { printed: "as printed",
    sources: "by the sources" }, ours: "with six of ours, from 2024", reset: "Show all",
  view: "view",
  views: { table: "the table", norm: "norms", position: "positions", activation: "activations" },
  caption: { printed: "Table 5.1 of a textbook (S2), as printed",
    sources: "Table 5.1 of a textbook (S2), by the sources; * is not as printed" },
  theirs: "; † is ours, not in the table",
  bar: (one) => partsOf(one).map(({ name: part }) => `${part} ${share(one, part)} %`).join(", "),
  note: "L layers, H heads, D width, K numbers in a head. A norm’s first word says where it stands, before "
    + "a sublayer (Pre) or after it (Post); the second says which it is: LayerNorm, RMSNorm or DeepNorm. ",
  presses: { table: "Press a column to sort by it, a model to compare it with the one you pressed before.",
    years: "Press a model to compare it with the one you pressed before." },
  strip: "Under each count:", one: "compare", two: "with",
  count: (n, all) => `${n} of ${all} models`, asked: (all) => (all.length ? ` with ${all.join(", ")}` : ""),
  none: (n, asked) => `None of the ${n} models has ${asked.join(", ")}. Ask for less, or press `
    + `“${WORDS.reset}”.`,
  pair: (one) => `${one.name} has ${short(one.total)} parameters, ${share(one, "feed-forward")} % of them in `
    + `feed-forward networks and ${share(one, "attention")} % in attention`,
  years: { name, columns: COLUMN_NAMES,
    caption: (column) => `Each model’s ${column}, by the year of its report`,
    count: (word, n) => `${word ?? "blank"} (${n})` },
  compared: { name, parts: "Where the parameters are, on one scale", unit: "parameters",
    beside: "The two side by side; ≠ marks where they differ", differs: "≠",
    sources: "Where these facts come from", assumed: " (assumed)",
    appeared: (one) => `Appeared as ${one.where}.`, beyond: (off, why) => `Counted ${off}: ${why}.`,
    names: { ...COLUMN_NAMES, name: "name", category: "kind", size: "size in its name", total: "counted",
      off: "counted against named", n_layers: "layers L", n_heads: "heads H",
      n_kv_heads: "key-value heads G", head_dim: "head size K", d_model: "width D", d_ff: "feed-forward F",
      vocab_size: "vocabulary V", wide: "all heads, H K" } },
};
const SPOKEN = { printed: "", sources: "By the sources. " };

function read(model) {
  const [one, two] = [choice(model, "one"), choice(model, "two")];
  return { view: choice(model, "view"), find: text(model, "find").slice(0, limits(model, "find").longest),
    words: choice(model, "words"), ours: model.get("ours") === true, by: choice(model, "by"),
    falling: model.get("falling") === true, one, two,
    ...Object.fromEntries(COLUMNS.map((column) => [column, choice(model, column)])) };
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "model-table" });
  const put = setter(model);
  const models = readModels(model);
  /** @type {any} */
  let now = read(model);

  /** What is pressed is compared with what was pressed before. */
  const pick = (pressed) => { if (pressed !== now.one) put({ one: pressed, two: now.one }); };
  const picked = (own) => own === now.one || own === now.two;

  const field = h("input", { type: "search", class: "p-find", placeholder: WORDS.hint, spellcheck: "false",
    autocapitalize: "off", autocomplete: "off", maxlength: limits(model, "find").longest,
    oninput: () => put({ find: field.value }) });
  const finder = h("label", { class: "p-finder", "data-trait": "find" }, h("span", {}, WORDS.find), field);
  for (const column of COLUMNS) {
    select(view, model, column, { label: WORDS.columns[column], options: limits(model, column).options.map(
      (word) => [word, { any: WORDS.any, [BLANK]: WORDS.blank }[word] ?? word]) });
  }
  select(view, model, "words", { label: WORDS.words, options: Object.entries(WORDS.sets) });
  toggle(view, model, "ours", { label: WORDS.ours });
  const all = { find: "", ...Object.fromEntries(COLUMNS.map((column) => [column, "any"])) };
  const reset = button(view, { label: WORDS.reset, press: () => put(all) });
  const count = h("span", { class: "p-found" });
  view.controls.prepend(finder);
  view.controls.append(count);

  const bar = (node, { model: one }) => {
    if (node.dataset.of === one.name) return;
    node.dataset.of = one.name;
    node.className = "p-strip";
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", WORDS.bar(one));
    node.title = WORDS.bar(one);
    node.replaceChildren(...partsOf(one).map(({ name: part, role, value }) => h("i", { "data-role": role,
      "data-part": part, style: `width: ${(100 * value) / (one.total || 1)}%` })));
  };
  const marked = (column) => (value, row) => `${value ?? "–"}${row.changed[column] ? "*" : ""}`;
  const table = sortable(view, {
    caption: WORDS.caption.printed, pick: (row) => pick(row.name), picked: (row) => picked(row.name),
    order: (by, falling) => put({ by, falling }),
    columns: [
      { key: "name", title: WORDS.columns.name, show: (_, row) => name(row) },
      { key: "year", title: WORDS.columns.year, show: String },
      { key: "size", title: WORDS.columns.size, show: short },
      { key: "total", title: WORDS.columns.total, show: short, under: bar },
      ...COLUMNS.map((column) => ({ key: column, title: WORDS.columns[column], show: marked(column) })),
      ...["n_layers", "n_heads", "d_model", "head_dim"].map((key) =>
        ({ key, title: WORDS.columns[key] })),
    ],
  });
  const board = yearBoard({ words: WORDS.years, pick, picked });
  const open = tabs(view, model, "view", { label: WORDS.view, options: Object.entries(WORDS.views) });
  const none = h("p", { class: "p-none" });
  const key = h("div", { class: "p-strip-key" }, h("span", {}, WORDS.strip), legend(...Object.entries(ROLES)
    .map(([part, role]) => [role, part])));
  const note = h("p", { class: "p-note" });
  const pair = h("div", { class: "p-pair" });
  for (const which of ["one", "two"]) {
    pair.append(select(view, model, which, { label: WORDS[which],
      options: limits(model, which).options.map((own) => [own, own]) }).box);
  }
  const beside = comparison(view, WORDS.compared);
  view.panes.append(open.box, none, key, table.pane, board.pane, note, pair, ...beside.nodes);

  view.onDraw(() => {
    now = read(model);
    if (field.value !== now.find) field.value = now.find;
    const rows = models.filter((one) => now.ours || !one.ours).map((one) => rowOf(one, now.words));
    const shown = rows.filter((row) => fits(row, now));
    reset.box.disabled = Object.entries(all).every(([trait, value]) => now[trait] === value);
    const asTable = now.view === "table";
    setText(note, WORDS.note + WORDS.presses[asTable ? "table" : "years"]);
    none.hidden = shown.length > 0;
    key.hidden = table.pane.hidden = !asTable || !shown.length;
    board.pane.hidden = asTable || !shown.length;
    table.title(WORDS.caption[now.words] + (now.ours ? WORDS.theirs : ""));
    table.sort(now.by, now.falling);
    table.draw(shown);
    if (!asTable) board.draw(shown, now.view);
    const two = [now.one, now.two].flatMap((own) => models.filter((one) => one.name === own));
    beside.draw(two, now.words);
    const named = COLUMNS.map((column) =>
      ({ any: "", [BLANK]: `${WORDS.columns[column]} ${WORDS.blank}` }[now[column]] ?? now[column]));
    const asked = [now.find.trim() && `“${now.find.trim()}”`, ...named].filter(Boolean);
    const found = WORDS.count(shown.length, rows.length);
    setText(count, found);
    setText(none, WORDS.none(rows.length, asked));
    view.say(`${SPOKEN[now.words]}${shown.length ? `${found}${WORDS.asked(asked)}.` : none.textContent} `
      + `${[...new Set(two)].map(WORDS.pair).join("; ")}.`);
    report(model, { found: table.names() });
  });
  return live(model, view, read);
}

export default guard(render);

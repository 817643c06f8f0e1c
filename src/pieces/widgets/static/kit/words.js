/**
 * Every word that a primitive of the kit shows, in one object: another language is another object.
 * `speak(other)` puts it in place, section by section; what it leaves out stays English.
 */
/** 1 cell, 2 cells. @param {number} n @param {string} one @param {string=} many */
export const plural = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

/** a, b and c. @param {string[]} list */
export const listed = (list) => (list.length < 2 ? list.join("")
  : `${list.slice(0, -1).join(", ")} and ${list.at(-1)}`);

/** The first words of a list, as they were typed. */
export const quoted = (list) => list.slice(0, 3).map((word) => `“${word.slice(0, 20)}”`).join(", ");

export const words = {
  typed: {
    unknown: (list) => `The model has never met ${quoted(list)}`
      + `${list.length > 3 ? ` and ${list.length - 3} more` : ""},`
      + ` so it skips ${list.length > 1 ? "them" : "it"}.`,
    try: " Try ",
    replace: (word, other) => `Write ${other} in place of ${word}`,
    long: (most) => ` It reads the first ${most} words.`,
    empty: "Write a word that the model knows, and it reads along.",
  },
  heatmap: {
    kind: "heat map",
    masked: "masked",
    nan: "not a number",
    rowsBy: (T, row, S, column) => `${T} × ${S}, ${row} by ${column}`,
    range: (low, high) => `from ${low} to ${high}`,
    empty: "Nothing to show yet.",
    odd: (nan, infinite) => [nan ? `${plural(nan, "cell")} not a number (×)` : "",
      infinite ? `${plural(infinite, "cell")} infinite (▲ ∞, ▼ −∞)` : ""]
      .filter(Boolean).join(", "),
    hidden: (n) => `${n} masked`,
    count: (n, state) => `${state}: ${n}`,
    help: (press, named) => `Arrow keys read the cells${press ? `, Enter ${press}` : ""}. The same `
      + `${named ? "words" : "numbers"} stand in the table view.`,
    changes: "changes one",
    change: (said) => `${said} (Enter: change)`,
    cell: (row, i, column, j, value) => `${row} ${i}, ${column} ${j}: ${value}`,
    summary: ["smallest", "mean", "largest", "at", "no number"],
  },
  chart: {
    start: "Arrow keys read the curves",
    at: (axis, x, values) => `${axis} ${x}: ${values.map(([name, y]) => `${name} ${y}`).join(", ")}`,
    size: (series, n) => `${plural(series, "curve")}, ${plural(n, "point")}. The numbers stand in the `
      + `table view.`,
  },
  player: { play: "Play", pause: "Pause", back: "Step back", on: "Step forward",
    state: (n, of) => `${n} of ${of}` },
  arcs: {
    head: ["word", "looks at", "weight"],
    itself: "itself",
    looks: (word, seen) => `${word} looks at `
      + `${seen.map(([other, weight]) => `${other} ${weight}`).join(", ")}.`,
    blind: (word) => `${word} looks at nothing.`,
  },
  blocks: {
    shape: (name, shape, strides) =>
      `${name}: [${shape.join(", ")}]${strides ? `, strides (${strides.join(", ")})` : ""}`,
    cell: (label, value) => (label === value ? label : `${label}: ${value}`),
    index: "index",
  },
  tables: { view: "table view" },
  table: {
    sorted: (title, down) => `Sorted by ${title}, ${down ? "largest" : "smallest"} first`,
    spelt: (title, down) => `Sorted by ${title}, ${down ? "from Z to A" : "from A to Z"}`,
    unsorted: "In the order it came in",
  },
  parts: {
    whole: "whole", name: "part", value: "size",
    part: (whole, name, value, share) => `${whole}, ${name}: ${value}, ${share} %`,
  },
  bars: { key: "key" },
  model: { perfect: (nats) =>
    `On texts it never saw, this model is ${nats.toFixed(nats < 0.01 ? 4 : 3)} nats a word from perfect.` },
  plane: {
    table: "The plane", head: ["vector", "x", "y"], query: "query", key: (n) => `key ${n}`, none: "–",
    letter: "q",
    label: (x, y) => `The query at ${x}${y === null ? "" : `, ${y}`}. Drag it, or move it with the arrow `
      + `keys.`,
  },
};

/** Replace the words, section by section. @param {Record<string, Object>} other */
export function speak(other) {
  for (const [section, texts] of Object.entries(other)) {
    if (!(section in words)) throw new RangeError(
      `${section}: the words have ${Object.keys(words).join(", ")}.`);
    Object.assign(words[section], texts);
  }
}

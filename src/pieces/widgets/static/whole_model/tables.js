/** The table view of the whole picture: each word with its lens, and each part with its vote. */
import { format, percent } from "../kit/kit.js";
import { called, WORDS } from "./words.js";

/** @param {Object} view @param {{strips: string[], names: string[], vocabulary: string[], now: () => any}}
 *  what */
export function wholeTables(view, { strips, names, vocabulary, now }) {
  const say = WORDS.table;
  view.table(say.caption, () => {
    const state = now();
    if (!state || state.open) return null;
    const lens = ({ id, p }) => `${vocabulary[id]} ${percent(p)}`;
    return { head: [say.word, ...strips.flatMap((name) => [called(name), `${called(name)}: ${say.size}`]),
      say.guess],
      rows: state.columns.map((column) => [vocabulary[column.id],
        ...strips.flatMap((_, n) => [lens(column.lens[n]), format(column.sizes[n])]), lens(column.guess)]) };
  });
  view.table(say.parts, () => {
    const state = now();
    if (!state || state.open) return null;
    const own = new Set([...state.counted.keys(), ...names]);
    // A head is off with its attention, and an expert with its network.
    const out = (name) => [name, name.replace(/head\.\d+$/, "attention"), name.replace(/expert\.\d+$/,
      "feed_forward")].some((one) => state.off.includes(one));
    return { head: [say.part, say.on, WORDS.equation(vocabulary[state.target]), say.cost],
      rows: [...own].map((name) => {
        const vote = state.counted.get(name);
        const tried = state.trying?.get(name);
        return [called(name), out(name) ? say.no : say.yes, vote === undefined ? ""
          : format(vote, 3),
          tried === undefined ? "" : WORDS.loss(state.columns[state.t].guess.p - tried)];
      }) };
  });
  return { stop() {} };
}

import { arcs } from "../src/pieces/widgets/static/kit/arcs.js";
import { bridge } from "../src/pieces/widgets/static/kit/bridge.js";
import { causalWeights, page, STORY } from "./gallery.js";
import { heatmap } from "../src/pieces/widgets/static/kit/heatmap.js";
import { createSelection } from "../src/pieces/widgets/static/kit/selection.js";
import { tabs } from "../src/pieces/widgets/static/kit/tabs.js";
import { typedText } from "../src/pieces/widgets/static/kit/typed_text.js";
import { vocabularyOf } from "../src/pieces/widgets/static/twin/vocabulary.js";

const links = (weights) => weights.flatMap((row, from) => row.flatMap((weight, to) => (weight > 0 ? [{ from, to, weight }] : [])));
const LONG = [..."Lily had an old bear . one day she found a blue book in the shop . soon , the bear took the blue book to the house . then , Lily lost the".split(" ")];
const VOCABULARY = [...new Set([...LONG, "a", "and", "boat", "beach", "green", "mouse", "Max", "Mia", "was", "happy", "zebra"])];

export default page([
  ["Arcs over words, and a map that moves with them", (view) => {
    const selection = createSelection({ token: 4 });
    const weights = causalWeights(8, 21);
    const picture = arcs(view, { caption: "Who looks at whom", selection });
    const map = heatmap(view, { caption: "The same weights", role: "weight", selection, selects: { row: "token", column: "column" } });
    view.panes.append(picture.pane, map.pane);
    picture.draw({ words: STORY, links: links(weights) });
    map.draw({ values: weights, mask: weights.map((row, i) => row.map((_, j) => j <= i)), rows: STORY, columns: STORY, top: 1 });
  }],
  ["Below the words", (view) => {
    const picture = arcs(view, { caption: "Layer 2", role: "output", below: true, selection: createSelection({ token: 6 }) });
    view.panes.append(picture.pane);
    picture.draw({ words: STORY, links: links(causalWeights(8, 4, 2.5)) });
  }],
  ["Arcs that can be pointed at, and a look that is not there", (view) => {
    const selection = createSelection({ row: 6, column: 2 });
    const picture = arcs(view, { caption: "Who looks at whom", selection, axis: "row", target: "column", faint: 0 });
    view.panes.append(picture.pane);
    const weights = causalWeights(8, 21).map((row, i) => row.map((weight, j) => (i - j < 3 ? weight : 0)));
    picture.draw({ words: STORY, links: links(weights) });
  }],
  ["A story of several lines", (view) => {
    const picture = arcs(view, { caption: "Choose a word", role: "query", selection: createSelection({ token: LONG.length - 1 }) });
    view.panes.append(picture.pane);
    picture.draw({ words: LONG, links: links(causalWeights(LONG.length, 9, 2.6)) });
  }],
  ["Two sides, and the ink between them", (view) => {
    const picture = bridge(view, { caption: "Who looks at whom", left: "The story", right: "Its end first", selection: createSelection({ row: 2 }) });
    view.panes.append(picture.pane);
    const groups = [{ words: STORY.slice(0, 2), gloss: "two that are one" }, ...STORY.slice(2).map((word) => ({ words: [word], gloss: "" }))];
    const weights = causalWeights(8, 21).toReversed();
    picture.draw({ groups, rows: STORY.toReversed(), values: { data: Float32Array.from(weights.flat()), shape: [8, 8] } });
  }],
  ["Views of which one is open", (view) => {
    const state = { view: "weights" };
    const model = { get: (name) => state[name], set(name, value) { state[name] = value; }, save_changes: () => view.draw() };
    view.panes.append(tabs(view, model, "view", { label: "What is shown", options: [["mask", "mask"], ["weights", "weights"], ["reach", "reach"]] }).box);
    view.draw();
  }],
  ["Typed text", (view) => {
    const state = { text: "The blue boat took Lily to the zebro ." };
    const traits = { get: (name) => state[name], set(name, value) { state[name] = value; }, save_changes: () => view.draw() };
    const { encode } = vocabularyOf(VOCABULARY);
    const field = typedText(view, traits, { vocabulary: VOCABULARY, encode },
      { typed: (n) => `Write with the ${n} words of the small world` });
    view.panes.append(field.box);
    view.onDraw(() => {
      const { ids, unknown } = encode(state.text);
      field.draw({ words: ids.map((id) => VOCABULARY[id]), unknown, over: false });
    });
    view.draw();
  }],
]);

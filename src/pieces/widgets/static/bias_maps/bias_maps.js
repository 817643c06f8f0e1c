/** What ALiBi and T5 add to the scores: a matrix of distances, one row of it, and who shares a number. */
import { chart } from "../kit/charts.js";
import { bars, choice, count, format, frame, guard, h, heatmap, live, report, slider,
  toggle } from "../kit/kit.js";
import { alibiSlopes, t5Bucket } from "../twin/position_twin.js";
import { tabs } from "../kit/tabs.js";
import { masks, matrix } from "../twin/twin.js";

const WORDS = {
  title: "Biases by distance", kind: "scheme", kinds: { alibi: "ALiBi", t5: "T5" }, T: "tokens",
  heads: "heads", head: "head", buckets: "buckets", most: "furthest", both: "both sides",
  query: "query", key: "key", map: { alibi: "Bias of each query and key",
    t5: "Bucket of each query and key" },
  row: { alibi: "The followed row: bias of each key", t5: "The followed row: bucket of each key" },
  y: { alibi: "bias", t5: "bucket" }, slopes: "Slope of each head", columns: ["slope", "plain formula"],
  name: (n) => `head ${n}`, far: "Bucket of a distance, beyond this text too", distance: "distance",
  end: "furthest",
  where: (i, j, d) => (d === 0 ? `Query ${i} and its own key`
    : `Query ${i} and key ${j}, ${Math.abs(d)} ${d > 0 ? "back" : "ahead"}`),
  hidden: "This key is in the future, so it is masked.",
  alibi: (where, slope, head, d, bias) =>
    `${where}: head ${head} adds −${format(slope, 4)} × ${Math.abs(d)} = ${format(bias, 3)} to the score.`,
  t5: (where, bucket, from, to) => `${where}: bucket ${bucket}, which holds `
    + (to === Infinity ? `every distance from ${from} up.` : from === to ? `the distance ${from} only.`
    : `the distances ${from} to ${to}.`)
    + " All cells of a bucket get one trained number.",
};
const KINDS = Object.keys(WORDS.kinds);

function read(model) {
  const T = count(model, "T");
  const [heads, bidirectional] = [count(model, "heads"), model.get("bidirectional") === true];
  const query = count(model, "query", undefined, T);
  return {
    kind: choice(model, "kind"), T, heads, bidirectional, query, head: count(model, "head", undefined, heads),
    num_buckets: count(model, "num_buckets"),
    max_distance: count(model, "max_distance"),
    key: count(model, "key", undefined, bidirectional ? T : query),
  };
}

/** The first and the last distance of the bucket that `distance` is in, on its side. */
function span(bucket, sign, distance) {
  const same = (d) => bucket(sign * d) === bucket(sign * distance);
  let [from, to] = [distance, distance];
  while (from > 0 && same(from - 1)) from--;
  while (to < 600 && same(to + 1)) to++;
  return [from, to < 600 ? to : Infinity];
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "bias-maps" });
  let pointed = null;
  const point = (i, j) => { pointed = i === null ? null : [i + 1, j + 1]; view.redraw(); };
  const press = (i, j) => report(model, { query: i + 1, key: j + 1 });
  const made = (kind, role) => heatmap(view,
    { caption: WORDS.map[kind], role, signed: kind === "alibi", point, press,
    presses: "follows it", digits: kind === "alibi" ? 1 : 0 });
  const map = { alibi: made("alibi", "score"), t5: made("t5", "key") };
  const rowOf = (kind) => chart(view, { caption: WORDS.row[kind], xTitle: WORDS.key, yTitle: WORDS.y[kind],
    height: 190, digits: kind === "t5" ? 0 : 3 });
  const row = { alibi: rowOf("alibi"), t5: rowOf("t5") };
  const slopes = bars(view, { caption: WORDS.slopes, nameTitle: WORDS.head, digits: 4,
    columns: WORDS.columns.map((title, n) => ({ title, role: n ? "residual" : "score" })) });
  const far = chart(view, { caption: WORDS.far, xTitle: WORDS.distance, yTitle: WORDS.y.t5, height: 190,
    digits: 0 });
  view.controls.before(tabs(view, model, "kind",
    { label: WORDS.kind, options: Object.entries(WORDS.kinds) }).box);
  slider(view, model, "T", { label: WORDS.T });
  const own = {
    alibi: [slider(view, model, "heads", { label: WORDS.heads }),
      slider(view, model, "head", { label: WORDS.head, max: () => read(model).heads })],
    t5: [slider(view, model, "num_buckets", { label: WORDS.buckets }),
      slider(view, model, "max_distance", { label: WORDS.most })],
  };
  slider(view, model, "query", { label: WORDS.query, max: () => read(model).T });
  slider(view, model, "key", { label: WORDS.key,
    max: () => (read(model).bidirectional ? read(model).T : read(model).query) });
  toggle(view, model, "bidirectional", { label: WORDS.both });
  const side = h("div", { class: "p-side" }, ...KINDS.map((kind) => row[kind].pane), slopes.pane, far.pane);
  view.panes.append(...KINDS.map((kind) => map[kind].pane), side);

  view.onDraw(() => {
    const now = read(model);
    const { kind, T, heads, head, num_buckets: n, max_distance: most, bidirectional: both } = now;
    const bucket = (relative) => t5Bucket(relative, n, most, both);
    const all = alibiSlopes(heads);
    const of = kind === "alibi" ? (relative) => -all[head - 1] * Math.abs(relative) : bucket;
    const values = matrix(T, T, (i, j) => of(j - i));
    const mask = both ? undefined : masks.causal(T);
    const [i, j] = pointed && pointed.every((at) => at <= T) ? pointed : [now.query, now.key];
    const open = both || j <= i;
    const lit = (a, b) => open && (both || b <= a) && values[a][b] === values[i - 1][j - 1];
    const keys = Array.from({ length: both ? T : i }, (_, at) => at + 1);
    for (const other of KINDS) {
      map[other].draw(other === kind ? { values, mask, focus: i - 1, marks: matrix(T, T, lit) } : null);
      row[other].draw(other !== kind ? null : {
        x: keys, at: open ? j : i,
          series: [{ name: WORDS.y[kind], role: kind === "t5" ? "key" : "score",
            y: keys.map((at) => of(at - i)) }] });
    }
    Object.entries(own).forEach(([other, controls]) => controls.forEach((one) => one.show(other === kind)));
    const plain = all.map((_, at) => 2 ** ((-8 * (at + 1)) / heads));
    slopes.draw(kind !== "alibi" ? null : {
      names: all.map((_, at) => WORDS.name(at + 1)), focus: head - 1,
        series: [all, plain].map((slope) => ({ values: slope, top: 1 })) });
    const distances = Array.from({ length: Math.round(1.25 * most) + 1 }, (_, d) => d);
    far.draw(kind !== "t5" ? null : { x: distances, high: 1.25 * n,
      at: Math.min(Math.abs(i - j), distances.at(-1)), marks: [{ x: most, name: WORDS.end }],
      series: [{ name: WORDS.y.t5, role: "key", y: distances.map((x) => bucket(open && j > i ? x : -x)) }] });
    const d = i - j;
    const where = WORDS.where(i, j, d);
    view.say(!open ? WORDS.hidden : kind === "alibi" ? WORDS.alibi(where, all[head - 1], head, d, of(d))
      : WORDS.t5(where, bucket(-d), ...span(bucket, d >= 0 ? -1 : 1, Math.abs(d))));
    report(model, { distance: now.query - now.key, value: of(now.key - now.query) });
  });
  return live(model, view, () => read(model));
}

export default guard(render);

/** Multi-head attention as shapes: a table is cut into heads, each attends alone, one table comes back. */
import { PALETTE, blocks } from "../kit/blocks.js";
import { count, frame, guard, h, legend, limits, live, report, setText, setter, slider } from "../kit/kit.js";
import { player } from "../kit/player.js";
import { permute, reshape, tensor } from "../twin/tensor.js";
import { attention, gaussian, matmul, matrix } from "../twin/twin.js";

const HALF = 3; // the first step that shows the outputs of the heads
const NONE = 1e-12;
const WORDS = {
  title: "Split into heads", steps: "steps", batch: "texts B", tokens: "tokens T", heads: "heads H",
  size: "head size K", silence: "silence head", nobody: "none", code: "What the code does",
  queries: "The queries, one block per number", outputs: "What the heads return, one block per number",
  head: (n) => `head ${n}`, mixed: "a mix of all heads", changed: "changed by silencing",
  names: ["q", "q", "q", "o", "o", "o", "y"],
  axes: [["B", "T", "D"], ["B", "T", "H", "K"], ["B", "H", "T", "K"], ["B", "H", "T", "K"],
    ["B", "T", "H", "K"], ["B", "T", "D"], ["B", "T", "D"]],
  lines: ["q = self.query(x)", "q = q.view(B, T, H, K)", "q = q.transpose(1, 2)", "o, _ = attention(q, k, v)",
    "o = o.transpose(1, 2)", "o = o.reshape(B, T, D)", "y = self.output(o)"],
  said: [
    ({ D }) => `Each row is a token’s query of ${D} number${D > 1 ? "s" : ""}. `
      + "Keys and values have the same shape.",
    ({ H, K, D }) => (H === 1 ? "One head keeps the row whole."
      : `The ${D} numbers of a row are cut into ${H} heads of ${K}. `
      + "Nothing moves in memory; only the shape and the strides change."),
    ({ B, H, T, K }) => "The axis of the heads comes before that of the tokens: "
      + (B * H === 1 ? `one table of ${T} × ${K}.`
        : `${B * H} tables of ${T} × ${K}, and a matrix product treats each one alone.`),
    ({ H }) => (H === 1 ? "The head attends."
      : "Each head attends by itself: no number of one head reaches another."),
    ({ H }) => "The two axes change places again"
      + (H === 1 ? "." : ", so that the heads of a token stand together."),
    ({ H, D }) => (H === 1 ? "The row is whole, as it was."
      : `The heads of a token stand side by side again, in one row of ${D}. They have not met yet.`),
    ({ H }) => (H === 1 ? "The last matrix multiplies each row."
      : "Only the last matrix lets the heads meet: each number is now a sum over its whole row."),
  ],
  quiet: (n, changed, all) => ` Head ${n} is silent: `
    + (changed ? `${changed} of the ${all} number${all === 1 ? "" : "s"} here `
      + `ha${changed === 1 ? "s" : "ve"} changed.` : "nothing here has changed."),
};

function read(model) {
  const [B, T, H, K] = ["B", "T", "heads", "head_dim"].map((trait) => count(model, trait));
  const [step, silenced] = [count(model, "step"), count(model, "silenced", undefined, H)];
  return { B, T, H, K, D: H * K, step, silenced };
}

/** Random numbers that stay the same when a size changes: cell [b, t, h, k] of the largest table, and the
 *  last matrix for it. @param {{B: number, T: number, heads: number, head_dim: number}} most */
export function random({ B, T, heads: H, head_dim: K }) {
  const [queries, keys, values] = [61, 62, 63].map((seed) => {
    const all = gaussian(seed, B * T * H * K);
    return (b, t, h, k) => all[((b * T + t) * H + h) * K + k];
  });
  const all = gaussian(64, (H * K) ** 2);
  return { queries, keys, values, mixing: (i, j) => all[i * H * K + j] };
}

/** The queries, what the heads return, and that after the last matrix: each [B, T, D], row by row. */
export function computed({ B, T, H, K, D, silenced }, { queries, keys, values, mixing }) {
  const weight = matrix(D, D, mixing);
  const [asked, heads, output] = [[], [], []];
  for (let b = 0; b < B; b++) {
    const parts = Array.from({ length: H }, (_, n) => {
      const of = (draw) => matrix(T, K, (t, k) => draw(b, t, n, k));
      const heard = n + 1 === silenced ? matrix(T, K, () => 0) : of(values);
      return attention(of(queries), of(keys), heard).output;
    });
    const rows = matrix(T, D, (t, d) => parts[Math.floor(d / K)][t][d % K]);
    asked.push(...matrix(T, D, (t, d) => queries(b, t, Math.floor(d / K), d % K)).flat());
    heads.push(...rows.flat());
    output.push(...matmul(rows, weight).flat());
  }
  return { asked, heads, output };
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "head-splitter" });
  const put = setter(model);
  const colour = { state: 1, axis: 2 };
  const before = blocks(view, { caption: WORDS.queries, colour });
  const after = blocks(view, { caption: WORDS.outputs, colour, strides: false }); // the kernel chooses them
  const film = player(view, {
    label: WORDS.steps, states: 7, tween: 1000, dwell: 900, into: h("div"), name: (n) => String(n + 1),
    show: (at) => place(at), rest: (n) => { if (now && n !== now.step) put({ step: n }); },
  });
  const shape = Array.from({ length: 7 }, () => h("span", { class: "p-line-shape" }));
  const lines = WORDS.lines.map((line, n) =>
    h("button", { type: "button", class: "p-line", onclick: () => film.glide(n) }, h("code", {}, line),
      shape[n]));
  const controls = [["B", WORDS.batch], ["T", WORDS.tokens], ["heads", WORDS.heads],
    ["head_dim", WORDS.size]];
  const most = (trait) => limits(model, trait).high;
  const numbers = random({ B: most("B"), T: most("T"), heads: most("heads"), head_dim: most("head_dim") });
  for (const [trait, label] of controls) slider(view, model, trait, { label });
  slider(view, model, "silenced", { label: WORDS.silence, max: () => read(model).H,
    show: (n) => (n ? String(n) : WORDS.nobody) });
  const key = h("div", {});
  view.panes.append(film.box, h("div", { class: "p-pictures" }, before.pane, after.pane, key),
    h("div", { class: "p-lines", role: "group", "aria-label": WORDS.code }, ...lines));

  /** @type {any} */
  let now = null;
  /** @type {any} with the silent head, and without */
  let [results, loud] = [null, null];
  let drawn = "";
  /** @type {Map<Object, Object[]>} the states that a picture will show when it is seen */
  const waiting = new Map();
  function place(at) {
    const late = at > HALF - 0.5;
    const seen = late ? after : before;
    const step = Math.round(at);
    before.pane.hidden = late;
    after.pane.hidden = !late;
    const rest = at > 5 ? step - HALF : Math.max(0, at - HALF); // the last matrix moves nothing
    const where = late ? rest : Math.min(at, HALF - 1);
    after.tint(step === 6 ? "output" : null);
    if (waiting.has(seen)) seen.draw(waiting.get(seen), where);
    else seen.show(where);
    waiting.delete(seen);
    lines.forEach((line, n) => line.setAttribute("aria-pressed", String(n === step)));
  }
  function shapes({ B, T, H, K, D }) {
    const sizes = { B, T, H, K, D };
    return WORDS.axes.map((axes) => axes.map((axis) => sizes[axis]));
  }
  view.onDraw(() => {
    const stood = now?.step;
    now = read(model);
    const { B, T, H, K, D, step, silenced } = now;
    const all = shapes(now);
    const size = JSON.stringify([B, T, H, K, silenced]);
    if (drawn !== size) {
      drawn = size;
      results = computed(now, numbers);
      loud = silenced ? computed({ ...now, silenced: 0 }, numbers) : null;
      const state = (n, t) => ({ name: WORDS.names[n], tensor: t, axes: WORDS.axes[n] });
      const { asked, heads, output } = results;
      const views = (list) => {
        const flat = tensor(list, [B, T, D]);
        const cut = reshape(flat, B, T, H, K);
        return [flat, cut, permute(cut, 0, 2, 1, 3)];
      };
      waiting.set(before, views(asked).map((t, n) => state(n, t)));
      waiting.set(after, [...views(heads).reverse(), tensor(output, [B, T, D])]
        .map((t, n) => state(HALF + n, t)));
    }
    const of = step < 6 ? "heads" : "output";
    const [mine, theirs] = [results[of], loud?.[of]];
    const differs = (n) => Boolean(theirs) && step >= HALF && Math.abs(mine[n] - theirs[n]) > NONE;
    after.ring(differs);
    const changed = mine.filter((_, n) => differs(n)).length;
    // A trait that was set elsewhere moves the film; while it runs, it is ahead of its trait.
    if (step !== stood && Math.round(film.position) !== step) film.jump(step);
    else place(film.position);
    shape.forEach((node, n) => setText(node, `[${all[n].join(", ")}]`));
    const colours = step === 6 ? [["output", WORDS.mixed]]
      : Array.from({ length: H }, (_, n) => [PALETTE[n], WORDS.head(n + 1)]);
    const entries = [...colours, ...(changed ? [["leak", WORDS.changed]] : [])];
    const named = JSON.stringify(entries);
    if (key.dataset.entries !== named) key.replaceChildren(legend(...entries));
    key.dataset.entries = named;
    view.say(WORDS.said[step](now) + (silenced ? WORDS.quiet(silenced, changed, mine.length) : ""));
    report(model, { shape: all[step], changed });
  });
  return live(model, view, () => {
    const { H, K, D, ...rest } = read(model);
    return { ...rest, heads: H, head_dim: K };
  });
}

export default guard(render);

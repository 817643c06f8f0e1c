/** A LLaMA by its sizes: parameters by part, what it takes to run and to train it, how fast it can write. */
import { arithmetic } from "../kit/arithmetic.js";
import { exact, stops } from "../kit/exact.js";
import { beforeControl, choice, count, frame, guard, h, limits, live, percent, real, report, select, setter,
  toggle } from "../kit/kit.js";
import { pasteField } from "./pasted.js";
import {
  BYTES, PARTS, PRESETS, bytesRead, cacheBytes, countParameters, fitted, memory, operations, reach,
} from "./llama_sizes.js";
import { giga, inBytes, parts, short, whole } from "../kit/parts.js";
import { divisors } from "../kit/scales.js";

const tokens = (n) => `${n} token${n === "1" ? "" : "s"}`;
const biased = (s, inner, last) => (s.bias ? inner : "") + (s.out_bias ? last : "");

const WORDS = {
  title: "What a config costs", preset: "a known model", own: "sizes of your own", run: "To run it",
  exactly: (label) => `${label}, exactly`, before: "before",
  names: { "llama-7b": "LLaMA 7B", "llama-13b": "LLaMA 13B", "llama-33b": "LLaMA 33B",
    "llama-65b": "LLaMA 65B", "llama-2-7b": "LLaMA-2 7B", "llama-2-13b": "LLaMA-2 13B",
    "llama-2-70b": "LLaMA-2 70B", "llama-3-8b": "LLaMA-3 8B",
    "mistral-7b-v0.1": "Mistral 7B", "qwen2-7b": "Qwen2 7B", "gemma-7b": "Gemma 7B",
    stories_llama: "our stories LLaMA" },
  fields: { vocab_size: "vocabulary V", d_model: "width D", n_layers: "layers L", n_heads: "heads H",
    n_kv_heads: "key-value heads G", head_dim: "head size K", d_ff: "feed-forward F",
    max_seq_len: "longest text", window: "window (0: none)", length: "tokens in the cache",
    batch: "texts at once" },
  switches: { tied: "head tied to the embedding", ff_bias: "biases in feed-forward",
    bias: "biases in attention", out_bias: "one on attention’s output too" },
  marks: {
    n_kv_heads: (wish, is) => `${is.n_heads} head${is.n_heads === 1 ? "" : "s"} cannot share `
      + `${wish.n_kv_heads} key-value heads evenly: `
      + `${is.n_kv_heads} ${is.n_kv_heads === 1 ? "is" : "are"} used.`,
    length: (_, is) => `Longer than the longest text: ${whole(is.length)} `
      + `${is.length === 1 ? "is" : "are"} counted.`,
  },
  dtypes: { weights_dtype: "weights as", cache_dtype: "cache as" }, bandwidth: "memory, GB/s",
  counted: "Parameters by part", unit: "parameters", work: "How each part is counted", total: "all",
  formula: {
    embedding: (s) => [`V D`, `${whole(s.vocab_size)} · ${whole(s.d_model)}`],
    attention: (s) => [`L (2 D K (H + G)${biased(s, " + K (H + 2 G)", " + D")})`,
      `${s.n_layers} · (2 · ${whole(s.d_model)} · ${s.head_dim} · (${s.n_heads} + ${s.n_kv_heads})`
      + biased(s, ` + ${s.head_dim} · (${s.n_heads} + ${2 * s.n_kv_heads})`, ` + ${whole(s.d_model)}`) + ")"],
    "feed-forward": (s) => [`L (3 D F${s.ff_bias ? " + 2 F + D" : ""})`,
      `${s.n_layers} · (3 · ${whole(s.d_model)} · ${whole(s.d_ff)}`
      + `${s.ff_bias ? ` + ${whole(2 * s.d_ff)} + ${whole(s.d_model)}` : ""})`],
    norms: (s) => [`(2 L + 1) D`, `${2 * s.n_layers + 1} · ${whole(s.d_model)}`],
    head: (s) => (s.tied ? ["the embedding once more", ""]
      : [`V D`, `${whole(s.vocab_size)} · ${whole(s.d_model)}`]),
  },
  kept: "Memory", bytes: "bytes", uses: { inference: "to write", training: "to train, at least" },
  memory: { weights: "weights", cache: "cache", gradients: "gradients", copy: "copy in float32",
    moments: "Adam’s moments", inputs: "inputs of the blocks" },
  facts: { operations: "operations a token", each: "cache of one token", read: "read in each step",
    most: "tokens a second, at most" },
  how: {
    operations: ({ tied, bias, ff_bias }) => `2 (attention + feed-forward + ${tied ? "V D" : "head"}`
      + `${bias || ff_bias ? ", biases aside" : ""}) + 4 L H K S, with S keys in sight`,
    each: () => "2 L G K numbers a text, a key and a value in each layer",
    read: ({ tied }) => (tied ? "all weights, since the embedding is the head as well, and the cache"
      : "all weights but the embedding, and the cache"),
    most: () => "texts at once · bandwidth / read in each step",
  },
  say: (name, total, share, kept, dtype, length, speed) => `${name}: ${total} parameters, ${share} of them `
    + `in the feed-forward networks. As ${dtype} the weights take ${kept}. With ${tokens(length)} in the `
    + `cache it writes at most ${tokens(speed)} a second, `
    + "if reading weights and cache is all that takes time.",
  this: "These sizes",
};
const SIZES = Object.keys(PRESETS["llama-7b"]);
const ROLES = { embedding: "query", attention: "weight", "feed-forward": "value", norms: "residual",
  head: "output", weights: "weight", cache: "key", gradients: "score", copy: "output", moments: "value",
  inputs: "residual" };
const RUN = ["max_seq_len", "window", "length", "batch"];
const DTYPES = Object.keys(BYTES);


/** What the reader wishes: each number in its own range, whatever the others say. */
function wished(model) {
  const numbers = Object.keys(WORDS.fields).map((name) => [name, count(model, name)]);
  const sizes = Object.fromEntries(numbers);
  // What is no number of heads is not the nearest one: the key-value heads would follow it, and stay.
  const [heads, { low, high, default: usual }] = [model.get("n_heads"), limits(model, "n_heads")];
  if (!(Number.isInteger(heads) && heads >= low && heads <= high)) sizes.n_heads = usual;
  return /** @type {import("./llama_sizes.js").Wishes} */ ({
    ...sizes, head_dim: 2 * Math.max(1, Math.floor(sizes.head_dim / 2)),
    tied: model.get("tied") === true, bias: model.get("bias") === true,
    out_bias: model.get("out_bias") !== false, ff_bias: model.get("ff_bias") === true,
    weights_dtype: choice(model, "weights_dtype"), cache_dtype: choice(model, "cache_dtype"),
    bandwidth: real(model, "bandwidth"),
  });
}

/** What is counted. */
const read = (model) => fitted(wished(model));

const sizesOf = (s) => Object.fromEntries(SIZES.map((name) => [name, s[name]]));
const known = (s) =>
  Object.keys(PRESETS).find((name) => SIZES.every((size) => PRESETS[name][size] === s[size])) ?? "";

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "config-calculator" });
  const put = setter(model);
  const proxy = { get: () => known(read(model)), save_changes() {},
    set: (_, name) => (name in PRESETS ? take(PRESETS[name]) : view.redraw()) };
  /** A bias that is not there asks for none behind it: who switches the others on gets all four. */
  const take = (sizes) =>
    put({ ...sizes, out_bias: sizes.out_bias || !sizes.bias, length: sizes.max_seq_len });
  select(view, proxy, "preset",
    { label: WORDS.preset, options: [...Object.entries(WORDS.names), ["", WORDS.own]] });

  const [note, fields] = [h("p", { class: "p-note", role: "status" }), h("div", { class: "p-fields" })];
  const running = h("div", { class: "p-fields" });
  const reached = (name, unit) => stops(limits(model, name).low, limits(model, name).high, unit);
  const among = {
    n_kv_heads: () => divisors(read(model).n_heads), head_dim: () => reached("head_dim", 2),
    window: () => [0, ...stops(128, limits(model, "window").high)], // 0 is none
    length: () => stops(limits(model, "length").low, read(model).max_seq_len),
  };
  const complain = (text) => { note.textContent = text; };
  const mark = (name) => WORDS.marks[name] && (() => {
    const [wish, is] = [wished(model), read(model)];
    return wish[name] === is[name] ? "" : WORDS.marks[name](wish, is);
  });
  function row(name, label, into) {
    const fixed = reached(name);
    exact(view, model, name, { label, exactly: name === "n_kv_heads" ? "" : WORDS.exactly(label),
      among: among[name] ?? (() => fixed), used: () => read(model)[name], into, even: name === "head_dim",
      mark: mark(name), complain });
  }
  for (const [name, label] of Object.entries(WORDS.fields)) {
    row(name, label, RUN.includes(name) ? running : fields);
  }
  const switches = Object.entries(WORDS.switches).map(([name, label]) =>
    toggle(view, model, name, { label }));
  fields.append(h("div", { class: "p-switches" }, ...switches.map(({ box }) => box)));
  view.onDraw(() => switches.at(-1).show(read(model).bias));
  for (const [name, label] of Object.entries(WORDS.dtypes)) {
    running.append(select(view, model, name, { label, options: DTYPES.map((dtype) => [dtype, dtype]) }).box);
  }
  row("bandwidth", WORDS.bandwidth, running);

  const light = (n) => {
    followed = n;
    written.draw(lines(now), n);
    counted.light(n === null || n >= PARTS.length ? null : { w: 0, p: n });
  };
  const counted = parts(view, { caption: WORDS.counted, unit: WORDS.unit,
    point: (w, p) => written.draw(lines(now), p) });
  const kept = parts(view, { caption: WORDS.kept, unit: WORDS.bytes, show: inBytes });
  const written = arithmetic(view, { label: WORDS.work, most: PARTS.length + 1, point: light, press() {} });
  const facts = Object.fromEntries(Object.keys(WORDS.facts).map((name) => [name, h("dd", {})]));
  const hows = Object.fromEntries(Object.keys(facts).map((name) => [name, h("dd", { class: "p-how" })]));
  const board = h("dl", { class: "p-facts" }, ...Object.entries(WORDS.facts).map(([name, label]) =>
    h("div", {}, h("dt", {}, label), facts[name], hows[name])));
  const paste = pasteField(view, (name) => limits(model, name), take, () => sizesOf(read(model)));
  view.panes.append(paste, note, fields, counted.pane, written.list,
    h("p", { class: "p-part-title" }, WORDS.run), running, kept.pane, board);

  /** @type {number|null} */
  let followed = null;
  let now = read(model);
  const turned = beforeControl(SIZES, sizesOf(now));
  const before = () => turned(sizesOf(now), model.get("before"),
    (one, other) => SIZES.every((name) => one[name] === other[name]));
  const lines = (s) => {
    const counts = countParameters(s);
    const line = (name) => {
      const [letters, numbers] = WORDS.formula[name](s);
      const how = [` ${letters} = ${numbers ? `${numbers} = ` : ""}`, [whole(counts[name])]];
      return { result: name, how };
    };
    return [...PARTS.map(line), { result: WORDS.total, how: [` ${whole(counts.total)}`] }];
  };
  const bar = (name, s) => {
    const counts = countParameters(s);
    return { name, parts: PARTS.map((part) => ({ name: part, role: ROLES[part], value: counts[part] })) };
  };
  view.onDraw(() => {
    now = read(model);
    const was = before();
    const preset = known(now);
    const name = WORDS.names[preset] ?? WORDS.this;
    const counts = countParameters(now);
    const run = { ...now, weights: BYTES[now.weights_dtype], cache: BYTES[now.cache_dtype] };
    const use = memory(now, run);
    const readings = bytesRead(now, run);
    const speed = (now.batch * now.bandwidth * 1e9) / readings;
    const cache = cacheBytes(now, now.length, now.batch, run.cache);
    const ops = operations(now, now.length);
    const other = was && `${WORDS.before}: ${WORDS.names[known(was)] ?? WORDS.own}`;
    counted.draw([bar(name, now), ...(was ? [bar(other, was)] : [])]);
    written.draw(lines(now), followed);
    const used = ([part, value]) => ({ name: WORDS.memory[part], role: ROLES[part], value });
    kept.draw(Object.entries(use).map(([kind, bytes]) =>
      ({ name: WORDS.uses[kind], parts: Object.entries(bytes).map(used) })));
    const told = { operations: giga(ops),
      each: inBytes(cacheBytes({ ...now, window: 0 }, 1, now.batch, run.cache)),
      read: inBytes(readings), most: short(speed) };
    for (const [fact, text] of Object.entries(told)) {
      facts[fact].textContent = text;
      hows[fact].textContent = WORDS.how[fact](now);
    }
    const share = percent(counts["feed-forward"] / counts.total);
    view.say(WORDS.say(name, short(counts.total), share, inBytes(use.inference.weights),
      now.weights_dtype, whole(reach(now, now.length)), short(speed)));
    report(model, { preset, parameters: counts, operations: ops, cache_bytes: cache, memory: use,
      bytes_read: readings, tokens_per_second: speed, before: was });
  });
  return live(model, view, wished);
}

export default guard(render);

/** A LLaMA by its sizes: parameters by part, what it takes to run and to train it, how fast it can write. */
import { arithmetic } from "./arithmetic.js";
import { exact, stops } from "./exact.js";
import { choice, clamp, count, frame, guard, h, live, report, select, toggle } from "./kit.js";
import {
  BYTES, PARTS, PRESETS, bytesRead, cacheBytes, countParameters, memory, operations, reach,
} from "./llama_sizes.js";
import { parts, short } from "./parts.js";

const whole = (x) => Math.round(x).toLocaleString("en");
/** 14.3 G: for bytes and operations, of which billions are not counted. */
const giga = (x) => short(x).replace(" B", " G");
const inBytes = (x) => `${giga(x)}${x < 999.5 ? " " : ""}B`;
const biased = (s, text) => (s.bias ? text : "");

const WORDS = {
  title: "What a config costs", preset: "a known model", own: "sizes of your own", run: "To run it",
  exactly: (label) => `${label}, exactly`, before: "before",
  names: { "llama-7b": "LLaMA 7B", "llama-13b": "LLaMA 13B", "llama-33b": "LLaMA 33B",
    "llama-65b": "LLaMA 65B", "llama-2-7b": "LLaMA-2 7B", "llama-2-13b": "LLaMA-2 13B",
    "llama-2-70b": "LLaMA-2 70B", "llama-3-8b": "LLaMA-3 8B",
    "mistral-7b-v0.1": "Mistral 7B", stories_llama: "ours, of the stories" },
  fields: { vocab_size: "vocabulary V", d_model: "width D", n_layers: "layers L", n_heads: "heads H",
    n_kv_heads: "key-value heads G", head_dim: "head size K", d_ff: "feed-forward F",
    max_seq_len: "longest text", window: "window (0: none)", length: "tokens in the cache",
    batch: "texts at once" },
  switches: { tied: "head tied to the embedding", bias: "biases in attention",
    ff_bias: "biases in feed-forward" },
  dtypes: { weights_dtype: "weights as", cache_dtype: "cache as" }, bandwidth: "memory, GB/s",
  counted: "Parameters by part", unit: "parameters", work: "How each part is counted", total: "all",
  formula: {
    embedding: (s) => [`V D`, `${whole(s.vocab_size)} · ${whole(s.d_model)}`],
    attention: (s) => [`L (2 D K (H + G)${biased(s, " + K (H + 2 G) + D")})`,
      `${s.n_layers} · (2 · ${whole(s.d_model)} · ${s.head_dim} · (${s.n_heads} + ${s.n_kv_heads})`
      + `${biased(s, ` + ${s.head_dim} · (${s.n_heads} + ${2 * s.n_kv_heads}) + ${whole(s.d_model)}`)})`],
    "feed-forward": (s) => [`L (3 D F${s.ff_bias ? " + 2 F + D" : ""})`,
      `${s.n_layers} · (3 · ${whole(s.d_model)} · ${whole(s.d_ff)}`
      + `${s.ff_bias ? ` + ${whole(2 * s.d_ff)} + ${whole(s.d_model)}` : ""})`],
    norms: (s) => [`(2 L + 1) D`, `${2 * s.n_layers + 1} · ${whole(s.d_model)}`],
    head: (s) => (s.tied ? ["the embedding once more", ""]
      : [`V D`, `${whole(s.vocab_size)} · ${whole(s.d_model)}`]),
  },
  kept: "Memory", bytes: "bytes", uses: { inference: "to write", training: "to train, at least" },
  memory: { weights: "weights", cache: "cache", gradients: "gradients", copy: "copy in float32",
    moments: "Adam's moments", inputs: "inputs of the blocks" },
  facts: { operations: "operations a token", each: "cache of one more token", read: "read in each step",
    most: "tokens a second, at most" },
  how: { operations: "2 (attention + feed-forward + head) + 4 L H K S, with S keys in sight",
    each: "2 L G K numbers a text, a key and a value in each layer",
    read: "all weights but the embedding, and the cache",
    most: "texts at once · bandwidth / read in each step" },
  say: (name, total, share, kept, dtype, length, speed) => `${name}: ${total} parameters, ${share} % of them `
    + `in the feed-forward networks. As ${dtype} the weights take ${kept}. With ${length} tokens in the `
    + `cache it writes at most ${speed} tokens a second, `
    + "if reading weights and cache is all that takes time.",
  this: "These sizes",
};
const BOUNDS = { vocab_size: [1, 1e6], d_model: [2, 32768], n_layers: [1, 256], n_heads: [1, 256],
  n_kv_heads: [1, 256], head_dim: [2, 512], d_ff: [1, 131072], max_seq_len: [1, 1048576],
  window: [0, 1048576], length: [1, 1048576], batch: [1, 1024] };
const SIZES = Object.keys(PRESETS["llama-7b"]);
const ROLES = { embedding: "query", attention: "weight", "feed-forward": "value", norms: "residual",
  head: "output", weights: "weight", cache: "key", gradients: "score", copy: "output", moments: "value",
  inputs: "residual" };
const DTYPES = Object.keys(BYTES);

const divisors = (n) => Array.from({ length: n }, (_, i) => i + 1).filter((i) => n % i === 0);

function read(model) {
  const start = PRESETS["llama-7b"];
  const of = (name, fallback = start[name]) => count(model, name, ...BOUNDS[name], fallback);
  // What is no number of heads is not the nearest one: the key-value heads would follow it, and stay.
  const heads = model.get("n_heads");
  const n_heads = Number.isInteger(heads) && heads >= 1 && heads <= 256 ? heads : start.n_heads;
  const max_seq_len = of("max_seq_len");
  return {
    vocab_size: of("vocab_size"), d_model: of("d_model"), n_layers: of("n_layers"), n_heads,
    n_kv_heads: divisors(n_heads).filter((g) => g <= of("n_kv_heads")).at(-1),
    head_dim: 2 * Math.max(1, Math.floor(of("head_dim") / 2)), d_ff: of("d_ff"),
    max_seq_len, window: of("window"), tied: model.get("tied") === true, bias: model.get("bias") === true,
    ff_bias: model.get("ff_bias") === true,
    length: Math.min(of("length", 2048), max_seq_len), batch: of("batch", 1),
    weights_dtype: choice(model, "weights_dtype", DTYPES),
    cache_dtype: choice(model, "cache_dtype", DTYPES),
    bandwidth: clamp(model.get("bandwidth"), 1, 1e5, 3350),
  };
}

const sizesOf = (s) => Object.fromEntries(SIZES.map((name) => [name, s[name]]));
const known = (s) =>
  Object.keys(PRESETS).find((name) => SIZES.every((size) => PRESETS[name][size] === s[size])) ?? "";

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "config-calculator" });
  const put = (traits) => { model.set(traits); model.save_changes(); };
  const proxy = { get: () => known(read(model)), save_changes() {},
    set: (_, name) => (name in PRESETS ? put({ ...PRESETS[name], length: PRESETS[name].max_seq_len })
      : view.redraw()) };
  select(view, proxy, "preset",
    { label: WORDS.preset, options: [...Object.entries(WORDS.names), ["", WORDS.own]] });

  const [note, fields] = [h("p", { class: "p-note", role: "status" }), h("div", { class: "p-fields" })];
  const running = h("div", { class: "p-fields" });
  const among = {
    n_kv_heads: () => divisors(read(model).n_heads), head_dim: () => stops(2, 512, 2),
    window: () => [0, ...stops(128, 1048576)], length: () => stops(1, read(model).max_seq_len),
  };
  for (const [name, label] of Object.entries(WORDS.fields)) {
    const [low, high] = BOUNDS[name];
    const into = ["max_seq_len", "window", "length", "batch"].includes(name) ? running : fields;
    const fixed = stops(low, high);
    const exactly = name === "n_kv_heads" ? "" : WORDS.exactly(label);
    exact(view, model, name, { label, exactly, among: among[name] ?? (() => fixed), low, into,
      high: name === "length" ? () => read(model).max_seq_len : high,
      by: name === "head_dim" ? 2 : 1, complain: (text) => { note.textContent = text; } });
  }
  fields.append(h("div", { class: "p-switches" },
    ...Object.entries(WORDS.switches).map(([name, label]) => toggle(view, model, name, { label }).box)));
  for (const [name, label] of Object.entries(WORDS.dtypes)) {
    running.append(select(view, model, name, { label, options: DTYPES.map((dtype) => [dtype, dtype]) }).box);
  }
  exact(view, model, "bandwidth", { label: WORDS.bandwidth, exactly: WORDS.exactly(WORDS.bandwidth),
    among: () => stops(1, 1e5), low: 1, high: 1e5, into: running,
    complain: (text) => { note.textContent = text; } });

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
  const board = h("dl", { class: "p-facts" }, ...Object.entries(WORDS.facts).map(([name, label]) =>
    h("div", {}, h("dt", {}, label), facts[name], h("dd", { class: "p-how" }, WORDS.how[name]))));
  view.panes.append(note, fields, counted.pane, written.list, h("p", { class: "p-part-title" }, WORDS.run),
    running, kept.pane, board);

  /** @type {number|null} */
  let followed = null;
  let now = read(model);
  let [last, turned] = [sizesOf(now), ""];
  /** The sizes before this control was first turned: those before a preset, or before another control. */
  function before() {
    const changed = SIZES.filter((name) => last[name] !== now[name]).join();
    const was = changed && (changed !== turned || changed.includes(",")) ? last : model.get("before");
    if (changed) [last, turned] = [sizesOf(now), changed];
    return was && SIZES.every((name) => was[name] === now[name]) ? null : was;
  }
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
    for (const [fact, text] of Object.entries(told)) facts[fact].textContent = text;
    const share = Math.round((100 * counts["feed-forward"]) / counts.total);
    view.say(WORDS.say(name, short(counts.total), share, inBytes(use.inference.weights),
      now.weights_dtype, whole(reach(now, now.length)), short(speed)));
    report(model, { preset, parameters: counts, operations: ops, cache_bytes: cache, memory: use,
      bytes_read: readings, tokens_per_second: speed, before: was });
  });
  return live(model, view, read);
}

export default guard(render);

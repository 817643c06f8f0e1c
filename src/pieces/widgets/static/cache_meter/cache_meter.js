/** What the keys and values of a text take, by five ways to keep them, and whether the card has room. */
import { arithmetic } from "../kit/arithmetic.js";
import { choice, count, frame, ghost, guard, h, legend, limits, live, plural, real, report, select,
  setter, slider } from "../kit/kit.js";
import { giga, inBytes, short, whole } from "../kit/parts.js";
import { divisors } from "../kit/scales.js";
import { cacheRows } from "./cache_rows.js";
import { BYTES, PRESETS, cost, held, kept } from "./cache_sizes.js";

const gigabytes = (x) => `${whole(x * 10) === whole(Math.round(x) * 10) ? whole(x) : x.toFixed(1)} GB`;

const WORDS = {
  title: "Does the cache fit on the card?", preset: "a known model", own: "sizes of your own",
  names: { "llama-2-70b": "LLaMA-2 70B", "llama-2-7b": "LLaMA-2 7B", "llama-3-8b": "LLaMA-3 8B",
    "mistral-7b": "Mistral 7B", "qwen2-7b": "Qwen2 7B", "deepseek-v2": "DeepSeek-V2" },
  n_kv_heads: "key-value heads G", context: "tokens per text", batch: "texts at once",
  memory: "card memory", bandwidth: "bandwidth", rate: (x) => `${whole(x)} GB/s`,
  n_layers: "layers L", n_heads: "query heads H", head_dim: "head size K", window: "window w",
  latent: "latent size C", carried: "for positions R", precision: "cache as",
  weights: "weights", active: "read per step",
  mark: (wish, s) => `${plural(s.n_heads, "head")} cannot share ${wish} key-value heads evenly: `
    + `${s.n_kv_heads} ${s.n_kv_heads === 1 ? "is" : "are"} used.`,
  less: (wish, s) => `A step cannot read ${gigabytes(wish)} of ${gigabytes(s.weights)}: it reads them all.`,
  rows: "Five ways to keep keys and values", work: "The arithmetic of the row",
  key: ["weights", "cache", "what does not fit, shortened", "the cache before"],
  card: (s) => `the card’s end, ${gigabytes(s.memory)}`,
  scheme: { full: "MHA", grouped: "GQA", single: "MQA", window: "window", latent: "latent" },
  note: {
    full: (s) => `G = H = ${s.n_heads}`, grouped: (s) => `G = ${s.n_kv_heads}`, single: () => "G = 1",
    window: (s) => `w = ${whole(s.window)}, G = ${s.n_kv_heads}`,
    latent: (s) => `C + R = ${s.latent + s.carried}`,
  },
  fits: (longest) => (longest === Infinity ? "fits at any length" : longest ? `up to ${whole(longest)} tokens`
    : "no token fits"),
  speed: (x) => `≤ ${short(x)} tokens/s`, bursts: "does not fit", more: (x) => `${inBytes(x)} too much`,
  lines: { token: "one token", cache: "the cache", longest: "longest text", step: "one step",
    operations: "operations" },
  letters: {
    full: "2 · L · H · K", grouped: "2 · L · G · K", single: "2 · L · 1 · K", window: "2 · L · G · K",
    latent: "L · (C + R)",
  },
  bytes: (b) => (b === 0.5 ? "½ byte" : b === 1 ? "1 byte" : `${b} bytes`),
  unlimited: "the window fits, and nothing else is kept",
  if: ", if it fitted",
  products: (scheme) => (scheme === "latent" ? "2 · L · H · (2 C + R) · S" : "4 · L · H · K · S"),
  tokens: (n) => `${whole(n)} tokens`, texts: (n) => `${n} text${n > 1 ? "s" : ""}`,
  each: (x) => `, ${Number(x.toPrecision(3))} for each byte of the cache`,
  say: (name, s, c, fits) => `${name} keeps ${inBytes(c.token)} for each token, ${inBytes(c.cache)} for `
    + `${WORDS.texts(s.batch)} of ${WORDS.tokens(s.context)}. ${fits}`,
  room: (left) => `With the weights that leaves ${inBytes(left)} of the card free.`,
  burst: (over) => `With the weights that is ${inBytes(over)} more than the card has.`,
  heads: ["way", "bytes a token", "bytes of the cache", "longest text", "tokens/s at most", "operations"],
};
const SLIDERS = ["n_layers", "n_heads", "head_dim", "window", "latent", "carried"];
const COUNTS = [...SLIDERS, "n_kv_heads", "context", "batch"];
const REALS = ["weights", "active", "memory", "bandwidth"];
const STOPS = {
  head_dim: [8, 16, 32, 48, 64, 80, 96, 128, 192, 256, 512],
  latent: [64, 128, 256, 384, 512, 768, 1024, 1536, 2048, 4096],
  carried: [0, 16, 32, 64, 96, 128, 256, 512],
  batch: [1, 2, 4, 8, 16, 32, 64, 128, 256],
  weights: [0, 0.5, 1, 2, 3.5, 7, 13.5, 16, 26, 35, 70, 138, 250, 472, 700, 1000, 1400, 2000],
  memory: [4, 8, 12, 16, 24, 32, 40, 48, 64, 80, 96, 141, 160, 192, 320, 640, 1280, 2000],
  bandwidth: [10, 25, 50, 100, 200, 300, 500, 700, 1000, 1500, 2000, 3000, 4000, 5000, 8000, 16000, 20000],
};

/** What the reader wishes, each number in its own range. */
function wished(model) {
  const numbers = [...COUNTS.map((name) => [name, count(model, name)]),
    ...REALS.map((name) => [name, real(model, name)])];
  return /** @type {Record<string, any>} */ ({ ...Object.fromEntries(numbers),
    precision: choice(model, "precision"), scheme: choice(model, "scheme") });
}

/** What is counted: heads that cannot be shared evenly give way, and no step reads more than there is.
 *  @returns {any} */
function read(model) {
  const s = wished(model);
  let n_kv_heads = Math.min(s.n_kv_heads, s.n_heads);
  while (s.n_heads % n_kv_heads) n_kv_heads -= 1;
  return { ...s, n_kv_heads, active: Math.min(s.active, s.weights), bytes: BYTES[s.precision] };
}

const known = (s) => Object.keys(PRESETS).find((name) =>
  Object.entries(PRESETS[name]).every(([size, value]) => s[size] === value)) ?? "";

/** Bytes by which weights and cache exceed the card. */
const tooMuch = (c, s) => s.weights * 1e9 + c.cache - s.memory * 1e9;

/** The lines of a scheme's arithmetic: letters, then their numbers, then what comes out. */
function lines(scheme, s) {
  const c = cost(scheme, s);
  const heads = { full: s.n_heads, grouped: s.n_kv_heads, single: 1, window: s.n_kv_heads }[scheme];
  const numbers = heads ? `2 · ${s.n_layers} · ${heads} · ${s.head_dim}`
    : `${s.n_layers} · (${s.latent} + ${s.carried})`;
  const width = scheme === "latent" ? `2 · ${s.n_layers} · ${s.n_heads} · (2 · ${s.latent} + ${s.carried})`
    : `4 · ${s.n_layers} · ${s.n_heads} · ${s.head_dim}`;
  const size = WORDS.bytes(s.bytes);
  const room = `(${gigabytes(s.memory)} − ${gigabytes(s.weights)}) / (${inBytes(c.token)}`
    + `${s.batch > 1 ? ` · ${WORDS.texts(s.batch)}` : ""})`;
  const line = (name, ...how) => ({ result: WORDS.lines[name], how: how.map((part) => ` ${part}`) });
  return [
    line("token", `${WORDS.letters[scheme]} numbers = ${numbers}`,
      `= ${whole(s.n_layers * kept(scheme, s))};`, `with ${size} each ${inBytes(c.token)}`),
    line("cache", `${inBytes(c.token)} · ${WORDS.tokens(held(scheme, s))} · ${WORDS.texts(s.batch)}`,
      `= ${inBytes(c.cache)}`),
    line("longest", c.longest === Infinity ? WORDS.unlimited : `${room}`,
      c.longest === Infinity ? "" : `= ${WORDS.tokens(c.longest)}`),
    line("step", `(${gigabytes(s.active)} + ${inBytes(c.cache)}) / ${WORDS.rate(s.bandwidth)}`,
      `= ${short(1000 * c.step)} ms or more${tooMuch(c, s) > 0 ? WORDS.if : ""}`),
    line("operations", `${WORDS.products(scheme)} = ${width} · ${whole(held(scheme, s))}`,
      `= ${giga(c.operations)}${WORDS.each((c.operations * s.batch) / c.cache)}`),
  ];
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "cache-meter" });
  const put = setter(model);
  const proxy = { get: () => known(read(model)), save_changes() {},
    set: (_, name) => (name in PRESETS ? put(PRESETS[name]) : view.redraw()) };
  select(view, proxy, "preset", { label: WORDS.preset,
    options: [...Object.entries(WORDS.names), ["", WORDS.own]] });
  const more = h("div", { class: "p-fields" });
  /** A value that stands between the stops is one of them, so that an arrow key leads on from it. */
  const among = (name) => () => [...new Set([...STOPS[name], read(model)[name]])].sort((a, b) => a - b);
  const used = {
    get: (name) => (["n_kv_heads", "active"].includes(name) ? read(model)[name] : model.get(name)),
    set: (name, value) => model.set(name, value), save_changes: () => model.save_changes(),
  };
  const group = slider(view, used, "n_kv_heads", { label: WORDS.n_kv_heads,
    stops: () => divisors(read(model).n_heads), show: whole });
  const [mark, less] = [0, 1].map(() => h("p", { class: "p-mark", role: "status" }));
  group.box.append(mark);
  slider(view, model, "context", { label: WORDS.context, scale: "power", show: whole });
  slider(view, model, "batch", { label: WORDS.batch, stops: among("batch"), show: whole });
  slider(view, model, "memory", { label: WORDS.memory, stops: among("memory"), show: gigabytes });
  slider(view, model, "bandwidth", { label: WORDS.bandwidth, stops: among("bandwidth"), show: WORDS.rate });
  for (const name of SLIDERS) {
    const scale = name === "window" ? /** @type {const} */ ("power") : undefined;
    slider(view, model, name, { label: WORDS[name], into: more, scale,
      stops: name in STOPS ? among(name) : undefined, show: whole });
  }
  more.append(select(view, model, "precision", { label: WORDS.precision,
    options: Object.keys(BYTES).map((name) => [name, name]) }).box);
  slider(view, model, "weights",
    { label: WORDS.weights, into: more, stops: among("weights"), show: gigabytes });
  const part = slider(view, used, "active", { label: WORDS.active, into: more, show: gigabytes,
    stops: () => { const s = read(model); return [...new Set([...STOPS.weights.filter((x) => x < s.weights),
      s.active, s.weights])].sort((a, b) => a - b); } });
  part.box.append(less);

  /** @type {string|null} */
  let hovered = null;
  const point = (scheme) => { if (scheme !== hovered) { hovered = scheme; view.redraw(); } };
  const schemes = limits(model, "scheme").options;
  const bars = cacheRows({ label: WORDS.rows, schemes, point, press: (scheme) => put({ scheme }) });
  const key = legend(["weight", WORDS.key[0]], ["key", WORDS.key[1]], ["leak", WORDS.key[2]],
    ["residual", WORDS.key[3]]);
  const card = h("span", {});
  key.lastElementChild.before(h("li", {}, h("i", { class: "p-key-card" }), card));
  key.lastElementChild.firstElementChild.classList.add("p-key-was");
  const written = arithmetic(view, { label: WORDS.work, most: 5, point() {}, press() {} });
  view.panes.append(bars.pane, key);
  view.sentence.after(written.list, more);

  const past = ghost();
  /** @type {ReturnType<typeof read>} */
  let now = null;
  const over = (c) => tooMuch(c, now);
  const costs = (s) => Object.fromEntries(schemes.map((scheme) => [scheme, cost(scheme, s)]));
  const listed = () => Object.entries(costs(now));
  view.table(WORDS.rows, () => now && { head: WORDS.heads, rows: listed().map(([scheme, c]) =>
    [WORDS.scheme[scheme], whole(c.token), whole(c.cache), c.longest === Infinity ? "∞" : whole(c.longest),
      over(c) > 0 ? WORDS.bursts : short(c.speed), whole(c.operations)]) });
  view.onDraw(() => {
    now = read(model);
    const s = now;
    const all = costs(s);
    const of = (name) => Object.fromEntries(schemes.map((scheme) =>
      [scheme, Number.isFinite(all[scheme][name]) ? all[scheme][name] : null]));
    const was = past({ cache: of("cache"), card: [s.memory, s.weights] });
    const before = was && was.card.join() === [s.memory, s.weights].join() ? was.cache : null;
    card.textContent = WORDS.card(s);
    const wish = count(model, "n_kv_heads");
    mark.textContent = wish === s.n_kv_heads ? "" : WORDS.mark(wish, s);
    const asked = real(model, "active");
    less.textContent = asked === s.active ? "" : WORDS.less(asked, s);
    bars.draw(Object.fromEntries(schemes.map((scheme) => {
      const c = all[scheme];
      return [scheme, { name: WORDS.scheme[scheme], note: WORDS.note[scheme](s),
        bar: { weights: s.weights * 1e9, cache: c.cache, memory: s.memory * 1e9,
          was: before && before[scheme] !== c.cache ? before[scheme] : null },
        facts: [inBytes(c.cache), WORDS.fits(c.longest), over(c) > 0 ? WORDS.bursts : WORDS.speed(c.speed)],
        more: over(c) > 0 ? WORDS.more(over(c)) : "" }];
    })), s.scheme, hovered ?? s.scheme);
    const followed = hovered ?? s.scheme;
    written.draw(lines(followed, s), null);
    const left = -over(all[followed]);
    view.say(WORDS.say(WORDS.scheme[followed], s, all[followed],
      left >= 0 ? WORDS.room(left) : WORDS.burst(-left)));
    report(model, { preset: known(s), token_bytes: of("token"), cache_bytes: of("cache"),
      longest: of("longest"), speed: of("speed"), operations: of("operations"), before });
  });
  return live(model, view, wished);
}

export default guard(render);

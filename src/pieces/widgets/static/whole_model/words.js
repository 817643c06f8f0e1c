/** Every word that WholeModel shows, labels and sentences alike: another language is another object. */
import { chance, format, listed, percent } from "../kit/kit.js";

const quote = (word) => `“${word}”`;
const slight = (value) => format(Math.abs(value) < 0.005 ? 0 : value);
const size = (value) => (value < 9.95 ? value.toFixed(1) : value.toFixed(0));
const capital = (words) => words[0].toUpperCase() + words.slice(1);
/** How a column's size moved. @param {number} before @param {number} after */
const moved = (before, after) => (size(before) === size(after) ? `stays at size ${size(before)}`
  : `goes from size ${size(before)} to ${size(after)}`);

/** "layer.2.head.4" as people say it. @param {string} name @returns {string} */
export function called(name) {
  const [, l, part, which] = /^layer\.(\d+)\.(\w+)(?:\.(\w+))?$/.exec(name) ?? [];
  if (name === "positions") return "positions";
  if (name === "norm") return "the final norm";
  if (name === "norm.shift") return "final norm’s shift";
  if (name === "embedding") return "the embedding";
  if (name === "next word") return "the next word";
  if (part === "head" || part === "expert") return `${part} ${l}.${which}`;
  if (which === "norm") return `the norm before ${part === "attention" ? "attention" : "feed-forward"} ${l}`;
  if (which === "path") return `the skip past ${part === "attention" ? "attention" : "feed-forward"} ${l}`;
  if (which === "bias") return `bias of attention ${l}`;
  return part === "attention" ? `attention ${l}` : `feed-forward ${l}`;
}

/** What a part is for. @param {string} name @param {boolean} experts whether its networks are experts */
export function purpose(name, experts) {
  const kind = name.replace(/^layer\.\d+\.|\.\d+$/g, "");
  return WORDS.what[kind === "feed_forward" && experts ? "experts" : kind];
}

export const WORDS = {
  title: "The whole model",
  /** What a part is for, in a sentence: by the end of its name. */
  what: {
    "next word": "The top of the column is compared with every word the model knows. The better one fits, "
      + "the likelier it comes next.",
    norm: "Brings the column to a common size before it is compared with the words.",
    attention: "Fetches from the words so far what this word needs. Each of its heads looks for something "
      + "different.",
    head: "Looks at the words so far, weighs them, and fetches from each as much as it weighs.",
    feed_forward: "Works on each word alone. Each of its units waits for a pattern in the column, opens when "
      + "it finds it, and adds what it has learned.",
    experts: "Several feed-forward networks side by side. A router sends each word to a few of them.",
    expert: "One of several feed-forward networks. It works on the words that the router sends to it.",
    "attention.norm": "Brings the column to a common size before attention reads it.",
    "feed_forward.norm": "Brings the column to a common size before the feed-forward network reads it.",
    "attention.path": "The skip connection: the column itself on its way past attention, which only adds "
      + "to it.",
    "feed_forward.path": "The skip connection: the column itself on its way past the feed-forward network, "
      + "which only adds to it.",
    embedding: "Each word is looked up in a table. The row found there is the column it starts with.",
    positions: "Let the heads see how far apart two words stand.",
  },
  lead: (numbers) => `${numbers.toLocaleString("en")} numbers. Open a part, or switch one off.`,
  typed: (n) => `The text that the model reads, in the ${n} words it knows`,
  hint: "Change the text, and the guess changes with it.", try: " Write instead: ",
  full: (n) => `The picture has room for ${n} words, and they are all there. Shorten the text, and the model `
    + "can go on.",
  play: "step by step", one: "Say the next word", reset: "Switch all on", back: "← whole model",
  chance: "It draws one of the likeliest words, by their chances.",
  bars: "small bars", barOptions: { votes: (word) => `points for ${quote(word)}`,
    cost: (word) => `what ${quote(word)} loses without` },
  /** What is drawn, by its mark. */
  key: { bar: "how sure of its guess", pipe: "size of a column",
    wire: "what a head fetches (2.4: layer 2, head 4)", unit: "an open unit",
    expert: "an expert it is sent to",
    lens: ["small words:", "its guess if it stopped there, in", "this colour", "where it is the final one"],
    ghost: "with all parts on" },
  picture: "The model: one column for each word, from the words at the foot to the next word at the top. "
    + "Left and right choose a word.",
  at: (word, n, T, guess, p) => `${quote(word)}, word ${n} of ${T}; after it ${quote(guess)}, ${percent(p)}`,
  next: (word) => `After ${quote(word)}`,
  heads: { model: "model", truth: "true" },
  /** @param {boolean|null} chosen null where the bars are about losses */
  row: (word, p, truth, chosen) => `${quote(word)}, model ${percent(p)}`
    + (truth === null ? "" : `, true ${percent(truth)}`)
    + (chosen === null ? "" : chosen ? ", the parts’ bars are about it" : "; show which parts speak for it"),
  labels: { "next word": "next word", norm: "final norm", attention: "attention",
    feed_forward: "feed-forward",
    experts: "experts", embedding: "embedding", positions: "positions", "attention.norm": "norm",
    "attention.path": "skip", "feed_forward.norm": "norm", "feed_forward.path": "skip" },
  layer: (l) => `Layer ${l}`, layers: "Which layer is shown",
  open: (name) => `Open ${called(name)}`,
  on: (name) => `${called(name).replace(/^the /, "")}: on`,
  chapter: (n, name) => `Chapter ${n}, on ${called(name)}`,
  lensAt: (name, word, p) =>
    `Stopped after ${called(name)} it would say ${quote(word)}, ${percent(p)}: look there`,
  stopped: (word, p) => ["would say", word, percent(p)], column: (word) => `${quote(word)} `,
  expert: (n) => `E ${n}`,
  loss: (value) => (value < -0.005 ? "−" : "") + percent(Math.abs(value)),
  units: (open, all) => `${open} of ${all} units open`,
  bar: { votes: (name, value, word) => `${called(name)} adds ${slight(value)} to the score of `
      + quote(word),
    cost: (name, lost) => {
      const points = Math.round(100 * Math.abs(lost));
      return `Without ${called(name)} the guess ${lost < 0 && points ? "gains" : "loses"} ${points} `
        + `percentage point${points === 1 ? "" : "s"}`;
    },
    waits: { now: "What is lost without it is being tried",
      on: "What is lost without it is tried with all parts on",
      last: "What is lost without it is tried at the last word" } },
  equation: (word) => `What it adds to the score (the logit) of ${quote(word)}`,
  rest: (n) => `${n} others`,
  steps: (n) => ({ words: "the words", embedding: "embedding", norm: "final norm", next: "next word" })[n]
    ?? called(n),
  told: {
    words: (T, V) => `The text is ${T} word${T === 1 ? "" : "s"}, each known to the model by its `
      + `number among ${V}.`,
    embedding: (word, D, lens, p) =>
      `${quote(word)} is looked up in a table: ${D} numbers, its own row. They would `
      + `${lens === word ? `only say ${quote(word)} again` : `say ${quote(lens)}`} (${percent(p)}).`,
    off: (name) => `${capital(called(name))} is off and adds nothing.`,
    /** What became of the column. @param {boolean} same whether it would have said this word before */
    column: (before, after, lens, p, same) => ` Its column ${moved(before, after)} and would `
      + `${same ? "still" : "now"} say ${quote(lens)} (${percent(p)}).`,
    attention: (l, word, head, from, weight) => `In layer ${l}, ${quote(word)} looks `
      + `back: head ${head} takes ${percent(weight)} of what it fetches from ${quote(from)}.`,
    feed_forward: (l, word, open, all, unit, value) => `The feed-forward network of `
      + `layer ${l} works on ${quote(word)} alone: ${open} of its ${all} units open, and the strongest, `
      + `unit ${unit}, passes ${format(value, 1)} on.`,
    experts: (l, word, list) => `The router of layer ${l} sends ${quote(word)} to `
      + `${listed(list.map(([e, share, off]) => `expert ${e} (${percent(share)}${off ? ", off" : ""})`))}.`,
    norm: (before, word) =>
      `The final norm divides the column of ${quote(word)} by its size, ${size(before)}: `
      + "from here on only its direction counts.",
    unnormed: (word) => `The final norm is off: the column of ${quote(word)} is compared as it is.`,
    next: (V, list, off) => `${off ? "It" : "Its direction"} is compared with all ${V} words: `
      + `${listed(list.map(([word, p]) => `${quote(word)} ${percent(p)}`))}.`,
  },
  cache: (T) => (T ? ` The ${T === 1 ? "column before it is" : `${T} columns before it are`} kept as `
    + `${T === 1 ? "it was" : "they were"}: that is the cache.` : ""),
  drawn: (word, p) => `The model drew ${quote(word)}, which had ${percent(p)}. `,
  rises: "Its column rises.",
  sure: (word, guess, p, truth) => `After ${quote(word)} the best guess is ${quote(guess)} with `
    + percent(p)
    + (truth === null ? ". " : `; the true probability in these stories is ${percent(truth)}. `),
  turned: (where, lens) => `Stopped before ${called(where)}, it would have said ${quote(lens)}. `,
  /** Tried is all that adds to the column: heads, experts and sublayers. */
  needs: (name, from, to) => `${capital(called(name))} adds what it needs most: without it ${percent(from)} `
    + `becomes ${percent(to)}. `,
  spread: "No single addition is needed: without any one of them it loses less than 5 points. ",
  floor: (above) => "How near the truth? On stories it never saw, the word that comes gets on average "
    + `${(100 * Math.exp(-above)).toFixed(1)}\u00a0% of its true probability (geometric mean).`,
  without: (list, word, from, to) => `Without ${listed(list.map(called))}, ${quote(word)} `
    + (percent(to) === percent(from) ? `stays at ${percent(to)}` : `${to < from ? "falls" : "rises"} from `
      + `${percent(from)} to ${percent(to)}`),
  leads: (word, p) => `, and ${quote(word)} leads with ${percent(p)}`,
  text: (before, after) => {
    const [was, is] = [before, after].map((nats) => percent(Math.exp(-nats)));
    return `. The words already in the text get ${is} on average, `
      + `${was === is ? "as before" : `instead of ${was}`} (geometric mean).`;
  },
  gains: " This one guess gains, yet the text as a whole is read worse.",
  lost: (word, first) => `None of the stories it learned from ${first ? `begins with ${quote(word)}`
    : `has ${quote(word)} at this place`}, so there is no true probability to compare. `,
  empty: "Write a word that the model knows, and its column rises.",
  table: { caption: "Each word: what the model would say after each part, and how large the stream is",
    word: "word", guess: "next word", size: "size", parts: "The parts", part: "part", on: "on", vote: "vote",
    cost: "loss without it", share: (p) => percent(p), yes: "yes", no: "no" },
  opened: {
    head: (l, n) => `Head ${l}.${n}`, units: (l) => `Feed-forward ${l}`, experts: (l) =>
      `Experts of layer ${l}`,
    stream: (name) => `After ${called(name)}`, part: (name) => capital(called(name)),
    strongest: (name, head) => (name === "positions" ? `Positions, as head ${head} uses them`
      : `${capital(called(name))}: its strongest head here, ${head}`),
    chapter: (n) => `Chapter ${n}`, signs: " In colour: above 0. In grey: below 0.",
    weights: "Weights: each row is a word that looks", queries: "Queries", keys: "Keys", outputs: "Outputs",
    looks: "looks at", word: "word", number: "number", unit: "unit", expert: "expert", row: "part",
    open: "Units that open widest at the followed word",
    widest: (n, word) => `The ${n} units that open widest at ${quote(word)}`,
    shares: "What share of each word goes to each expert",
    rows: "What each part adds to the score of a word (the small numbers in the picture)",
    lenses: (word) => `Stopped here, ${quote(word)} would be followed by`, before: "before", after: "here",
    asks: (q, k) => `${quote(q)} asks, ${quote(k)} answers`,
    blind: (q, k) =>
      `${quote(k)} comes after ${quote(q)}: the mask lets nothing of it through. Its weight is 0.`,
    product: "product", query: "query", key: "key", total: "query · key",
    smaller: (n) => `${n} smaller ones`,
    scaled: (total, K, score) => `${format(total)} ÷ √${K} = ${format(score)}`,
    softmax: (score, others, left, weight) =>
      `e^${format(score)} ÷ (${others.map((one) => `e^${format(one)}`).join(" + ")}`
      + `${left ? " + …" : ""}) = ${chance(weight, 3)}`,
    takes: (weight, word) =>
      `${percent(weight)} of what this head fetches here is the value of ${quote(word)}.`,
    made: (which, n, word) => `Number ${n} of the ${which} of ${quote(word)}`, normed: "column, normed",
    weight: "weight", bias: "bias", turn: (a, b, c, d, sum) =>
      `turned by its place: ${format(a)} × ${format(b)} `
      + `${d < 0 ? "−" : "+"} ${format(c)} × ${format(Math.abs(d))} = ${format(sum)}`,
    value: "value", output: (n, word) => `Number ${n} of what the head brings ${quote(word)}`,
    gate: "gate", up: "up",
    opens: (gate, open) => `The gate opens by swish(${format(gate)}) = ${format(open)}`,
    bends: (up, value) => `bent: ${format(up)} → ${format(value)}`,
    unitAt: (name, word) => `Unit ${name} at ${quote(word)}`,
    gated: (open, up, value) => `It lets through ${format(open)} × ${format(up)} = ${format(value)}`,
    measured: (list) => `In 200 stories it opened widest at ${listed(list.map(quote))}.`,
    routed: (word) => `Where the router sends ${quote(word)}`, chosen: "logit", share: "share",
    unchosen: (e, word) => `${quote(word)} does not visit expert ${e}: its logit is not among the largest.`,
    sizes: (before, added, after) => `A column of size ${size(before)}, and ${size(added)} is added in `
      + `another direction: together they have size ${size(after)}.`,
    skipped: (before, added) => `The skip is off: the column of size ${size(before)} does not arrive. What `
      + `is added here, of size ${size(added)}, stands alone.`,
    unnormed: (name, value) => `${capital(name)} is off: what stands here, of size ${size(value)}, is read `
      + "as it is.",
    divides: (name, value) => `${capital(name)} divides what stands here by ${size(value)}.`,
    start: (value) => `Size ${size(value)}, as it stands in the table.`,
    against: (name, value, word) => called(name) + (Math.abs(value) < 0.005 ? " says next to nothing about "
      : ` speaks ${value < 0 ? "against" : "for"} `) + `${quote(word)}: ${slight(value)}`,
    probability: (logit, p, V) => `e^${format(logit)}, divided by the sum over ${V} words: ${percent(p)}`,
    logit: "logit", off: "This part is off: nothing of it arrives.",
  },
};

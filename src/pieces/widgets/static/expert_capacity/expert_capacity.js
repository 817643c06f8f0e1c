/** ExpertCapacity: a batch of drawn scores; who wants which expert, and who finds room there. */
import { button, count, format, frame, guard, h, limits, live, percent, plain, real, report, setter,
  slider } from "../kit/kit.js";
import { capacityOf, loadBalancingLoss, topk, withinCapacity } from "../twin/routing.js";
import { gaussian } from "../twin/twin.js";

const MANY = 10; // columns beside which a number has to stand upright
const WORDS = {
  title: "Is there room for all?", again: "Draw again",
  sliders: { n_experts: "experts", k: "visits per word", n_tokens: "words", lead: "lead of expert 1",
    noise: "noise", capacity: "capacity factor" },
  note: "The scores are drawn at random: no model made them.", caption: "Visits to each expert",
  key: { found: "finds room", spilt: "is dropped", room: "room for", fair: "fair share" },
  each: (name, n) => `${name} ${plain(n, 0, 1)}`,
  tip: (e, load, lost) => `Expert ${e}: ${load} ${load === 1 ? "visit" : "visits"}, ${lost} dropped`,
  head: ["expert", "visits", "find room", "dropped"],
  busiest: (share, visits, fair) =>
    `The busiest expert gets ${percent(share)} of the ${visits} visits; a fair share is ${percent(fair)}. `,
  lost: (lost, visits) => (lost ? `${lost} of ${visits} visits ${lost === 1 ? "finds" : "find"} no room, `
    : `All ${visits} visits find room.`),
  without: (n) => `and ${n || "no"} ${n === 1 ? "word is" : "words are"} left without any expert.`,
  balance: (loss, k, E) =>
    ` Balance loss: ${format(loss)} (${k} if all experts get equal shares, ${E} at worst).`,
};

/** The scores [T, E]: each expert has its draws, so that more words or experts leave the others alone. */
function drawn({ n_experts, n_tokens, lead, noise, seed }) {
  const by = Array.from({ length: n_experts }, (_, e) => {
    const extra = noise ? gaussian(100 * seed + 50 + e, n_tokens) : null;
    return gaussian(100 * seed + e, n_tokens).map((x, t) => x + (e ? 0 : lead)
      + (extra ? noise * extra[t] : 0));
  });
  return by[0].map((_, t) => by.map((scores) => scores[t]));
}

const sum = (list) => list.reduce((a, b) => a + b, 0);

function read(model) {
  const n_experts = count(model, "n_experts");
  return { n_experts, k: count(model, "k", undefined, n_experts), n_tokens: count(model, "n_tokens"),
    lead: real(model, "lead"), noise: real(model, "noise"), capacity: real(model, "capacity"),
    seed: count(model, "seed") };
}

/** What becomes of the batch. @param {ReturnType<typeof read>} s */
function routed(s) {
  const { n_experts: E, n_tokens: T, k } = s;
  const scores = drawn(s);
  const experts = scores.map((row) => topk(row, k));
  const capacity = capacityOf(s.capacity, T, k, E);
  const room = withinCapacity(experts, E, capacity);
  const counted = (wanted) => experts.reduce((counts, row, t) => {
    row.forEach((e, c) => { if (wanted(room[t][c])) counts[e] += 1; });
    return counts;
  }, new Array(E).fill(0));
  return { load: counted(() => true), dropped: counted((has) => !has), capacity, fair: (T * k) / E,
    without: room.filter((row) => !row.includes(true)).length, balance: loadBalancingLoss(scores, experts) };
}

/** A column for each expert, hatched above its room, a dashed line; the fair share is a dotted one. */
function columns() {
  const [room, fair] = ["p-room", "p-fair"].map((name) => h("s", { class: name }));
  const row = h("div", { class: "p-columns" });
  const field = h("div", { class: "p-field", role: "img" }, row, room, fair);
  const key = Object.fromEntries(Object.keys(WORDS.key).map((name) => [name, h("span", {})]));
  const pane = h("figure", { class: "p-pane", "data-role": "score" }, h("figcaption", {}, WORDS.caption),
    field, h("ul", { class: "p-legend" }, ...Object.entries(key).map(([name, text]) =>
      h("li", {}, h("i", { class: `p-${name}` }), text))));
  const make = (e) => {
    const [found, spilt, number] = [h("i", { class: "p-found" }), h("i", { class: "p-spilt" }), h("b", {})];
    const node = h("div", { class: "p-column", "data-expert": e }, found, spilt, number,
      h("span", {}, String(e)));
    return { found, spilt, number, node };
  };
  /** @type {ReturnType<typeof make>[]} */
  const all = [];
  return {
    pane,
    draw({ load, dropped, capacity, fair: share }) {
      while (all.length > load.length) all.pop().node.remove();
      while (all.length < load.length) { all.push(make(all.length + 1)); row.append(all.at(-1).node); }
      row.classList.toggle("p-many", load.length > MANY);
      const most = Math.max(capacity, ...load);
      const high = (n) => `${(100 * n) / most}%`;
      all.forEach(({ found, spilt, number, node }, e) => {
        found.style.height = spilt.style.bottom = high(load[e] - dropped[e]);
        spilt.style.height = high(dropped[e]);
        number.style.bottom = high(load[e]);
        number.textContent = String(load[e]);
        node.title = WORDS.tip(e + 1, load[e], dropped[e]);
      });
      room.style.bottom = high(capacity);
      fair.style.bottom = high(share);
      const counts = { found: sum(load) - sum(dropped), spilt: sum(dropped), room: capacity, fair: share };
      for (const [name, text] of Object.entries(key)) text.textContent = WORDS.each(WORDS.key[name],
        counts[name]);
      field.setAttribute("aria-label", all.map(({ node }) => node.title).join("; "));
    },
  };
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "expert-capacity" });
  const put = setter(model);
  const signed = (x) => (x ? `+${plain(x)}` : "0");
  for (const trait of ["n_experts", "k", "n_tokens", "lead", "noise", "capacity"]) {
    slider(view, model, trait, { label: WORDS.sliders[trait],
      ...(trait === "k" ? { max: () => read(model).n_experts } : {}),
      ...(trait === "lead" ? { show: signed } : {}) });
  }
  button(view, { label: WORDS.again,
    press: () => put({ seed: (read(model).seed + 1) % (limits(model, "seed").high + 1) }) });
  view.controls.append(h("p", { class: "p-drawn" }, WORDS.note));
  const picture = columns();
  view.panes.append(view.controls, picture.pane);
  /** @type {ReturnType<typeof routed>} */
  let now = null;
  view.table(WORDS.caption, () => now && { head: WORDS.head, rows: now.load.map((n, e) =>
    [e + 1, n, n - now.dropped[e], now.dropped[e]].map(String)) });
  view.onDraw(() => {
    const used = read(model);
    now = routed(used);
    picture.draw(now);
    const { load, dropped, without, balance } = now;
    const { n_experts: E, k } = used;
    const [visits, lost] = [used.n_tokens * k, sum(dropped)];
    view.say(WORDS.busiest(Math.max(...load) / visits, visits, 1 / E) + WORDS.lost(lost, visits)
      + (lost ? WORDS.without(without) : "") + WORDS.balance(balance, k, E));
    report(model, { load, dropped, without, balance });
  });
  return live(model, view, read);
}

export default guard(render);

/** Requests that come and go in one memory: in strips set aside, and in blocks that a table finds again. */
import {
  count, frame, guard, h, legend, limits, live, plural, report, setter, slider, toggle,
} from "../kit/kit.js";
import { keyed } from "../kit/keyed.js";
import { player } from "../kit/player.js";
import { memoryMap, roleOf } from "./memory_map.js";
import { blocks, run, strips, wasteOfBlocks, wasteOfStrips } from "./memory_run.js";

const REQUESTS = [[0, 10, 4], [0, 8, 12]];
const WORDS = {
  title: "One memory, many requests", player: "Steps done", at: (n, of) => `step ${n} of ${of}`,
  block_size: "places in a block", prefix: "same beginning", tokens: (n) => plural(n, "token"),
  shared: "share it",
  strips: (longest) => `In strips of ${longest} places, one for each request`,
  paged: "In blocks, found by a table",
  letter: (id) => String.fromCharCode(65 + id), shares: "a number: how many requests share it",
  beginning: (n, shared) => (n ? `all begin with the same ${plural(n, "token")}, `
    + `${shared ? "full blocks shared" : "stored by each"}` : "each begins in its own way"),
  key: ["a token of request A, B, …", "set aside, and empty"],
  strip: (n, inside, between) => `${plural(n, "request")} at once; empty: ${inside} inside strips, `
    + `${between} left over`,
  blocks: (n, inside, free) => `${plural(n, "request")} at once; empty: ${inside} inside blocks; `
    + `${plural(free, "block")} free`,
  place: (at, owners, token) => `place ${at + 1}: `
    + `${!owners.length ? "free" : `${token ? "a token of" : "set aside for"} ${owners.join(", ")}`}`,
  map: (name, used, places) => `${name}: ${used} of ${places} places hold a token`,
  tables: "The block tables, and what is where", head: ["request", "tokens", "strip from", "blocks"],
  none: "–", waits: "waits", done: "served", coming: "to come",
  row: (letter, tokens) => `Follow request ${letter}, ${tokens}`,
  begin: "No request has arrived yet. Press Play, or step.",
  say: (a, b, more) => `${plural(a, "request")} run${a === 1 ? "s" : ""} in strips, ${b} in blocks. ${more}`,
  follow: (letter, from, table) => `${letter} has `
    + `${from < 0 ? "no strip" : `the strip from place ${from + 1}`}, and `
    + `${table.length ? `its tokens lie in ${table.length > 1
      ? `blocks ${table.join(", ")}, in this order` : `block ${table[0]}`}.` : "no blocks."}`,
  through: (b, left) => `In blocks all were served after ${b} steps; in strips ${plural(left, "request")} `
    + `${left === 1 ? "is" : "are"} left.`,
  waiting: (a, b) => `Waiting for a strip: ${a}; waiting for blocks: ${b}.`,
  back: (list) => ` No block was free, so ${list.join(" and ")} gave `
    + `${list.length > 1 ? "theirs" : "its own"} back to older requests and `
    + `${list.length > 1 ? "wait" : "waits"} again.`,
  all: (a, b) => `All are served: in strips after ${a} steps, in blocks after ${b}.`,
};

/** @returns {any} */
function read(model) {
  const given = model.get("requests");
  const whole = (x, low, high) => Math.round(Math.min(high, Math.max(low, Number.isFinite(x) ? x : low)));
  const rows = Array.isArray(given) && given.length && given.every(Array.isArray) ? given : REQUESTS;
  const { most, latest, longest } = limits(model, "requests");
  const requests = rows.slice(0, most).map(([arrives, prompt, writes]) => {
    const reads = whole(prompt, 1, longest - 1);
    return { arrives: whole(arrives, 0, latest), prompt: reads, writes: whole(writes, 1, longest - reads) };
  }).sort((a, b) => a.arrives - b.arrives);
  const wish = count(model, "block_size");
  const { sizes, places } = limits(model, "block_size");
  const common = Math.min(count(model, "prefix"), ...requests.map(({ prompt }) => prompt));
  return { requests, longest, places, size: /** @type {number} */ (sizes.findLast((n) => n <= wish)),
    common, shared: model.get("shared") === true, wished: count(model, "step"),
    followed: count(model, "followed") };
}

/** Both runs, computed once for what they depend on. */
function runs() {
  let [key, both] = ["", null];
  return (s) => {
    const now = JSON.stringify([s.requests, s.size, s.common, s.shared]);
    if (now !== key) {
      key = now;
      both = { strips: run(s.requests, strips(s.longest, s.places)),
        blocks: run(s.requests, blocks(s.size, s.shared ? s.common : 0, s.places)) };
    }
    return both;
  };
}

const empty = (length) => Array.from({ length }, () => ({ owners: [], token: false }));

function placesOfStrips(running, longest, length) {
  const places = empty(length);
  for (const { id, start, written } of running) {
    for (let n = 0; n < longest; n++) places[start + n] = { owners: [id], token: n < written };
  }
  return places;
}

function placesOfBlocks(running, size, length) {
  const places = empty(length);
  for (const { id, table, written } of running) {
    table.forEach((block, n) => {
      for (let k = 0; k < size; k++) {
        const place = places[block * size + k];
        place.owners.push(id);
        place.token ||= n * size + k < written;
      }
    });
  }
  return places;
}

function render({ model, el }) {
  const view = frame(el, { title: WORDS.title, name: "paged-memory" });
  const put = setter(model);
  const both = runs();
  let [last, step] = [1, -1];
  const stage = h("div", { class: "p-stage" });
  view.controls.after(stage);
  const process = player(view, { into: stage, label: WORDS.player, states: 2, tween: 0, dwell: 700,
    show: (at) => { if (Math.round(at) !== step) put({ step: Math.round(at) }); },
    name: (n) => WORDS.at(n, last) });
  const size = { get: (name) => (name === "block_size" ? read(model).size : model.get(name)),
    set: (name, value) => model.set(name, value), save_changes: () => model.save_changes() };
  const { sizes, places } = limits(model, "block_size");
  slider(view, size, "block_size", { label: WORDS.block_size, stops: () => sizes });
  slider(view, model, "prefix", { label: WORDS.prefix, show: WORDS.tokens });
  toggle(view, model, "shared", { label: WORDS.shared });

  /** @type {number|null} */
  let hovered = null;
  const point = (id) => { if (id !== hovered) { hovered = id; view.redraw(); } };
  const press = (id) => put({ followed: count(model, "followed") === id + 1 ? 0 : id + 1 });
  const tell = ({ owners, token }, at) => WORDS.place(at, owners.map(WORDS.letter), token);
  const map = (caption) => memoryMap({ caption, places, point, press, tell, letter: WORDS.letter });
  const named = WORDS.strips(limits(model, "requests").longest);
  const [strip, paged] = [map(named), map(WORDS.paged)];
  const key = legend(["residual", WORDS.key[0]], ["mask", WORDS.key[1]]);
  const beginning = h("li", {});
  key.append(h("li", {}, WORDS.shares), beginning);
  const body = h("tbody", {});
  const table = h("table", { class: "p-requests", onpointerleave: () => point(null) },
    h("caption", {}, WORDS.tables), h("thead", {}, h("tr", {}, ...WORDS.head.map((name) =>
      h("th", { scope: "col" }, name)))), body);
  const rows = keyed(body, {
    key: (row) => row.id,
    make: (row) => h("tr", { onpointerenter: () => point(row.id) },
      h("th", { scope: "row" }, h("button", { type: "button", class: "p-request",
        onclick: () => press(row.id), onfocus: () => point(row.id), onblur: () => point(null) })),
      h("td", {}), h("td", {}), h("td", {})),
    update(line, row) {
      const [name, ...cells] = line.children;
      const button = name.firstElementChild;
      button.textContent = WORDS.letter(row.id);
      button.dataset.role = roleOf(row.id);
      button.setAttribute("aria-label", WORDS.row(WORDS.letter(row.id), row.tokens));
      button.setAttribute("aria-pressed", String(row.chosen));
      line.className = row.on ? "p-on" : "";
      [row.tokens, row.strip, row.blocks].forEach((text, n) => { cells[n].textContent = text; });
    },
  });
  view.panes.append(strip.pane, paged.pane);
  view.panes.after(key);
  view.sentence.after(table);

  view.table(WORDS.tables, () => ({ head: WORDS.head, rows: [...body.children].map((line) =>
    [...line.children].map((cell) => cell.textContent)) }));
  view.onDraw(() => {
    const s = read(model);
    beginning.textContent = WORDS.beginning(s.common, s.shared);
    const found = both(s);
    last = Math.min(limits(model, "step").high, Math.max(found.strips.length, found.blocks.length) - 1);
    step = Math.min(s.wished, last);
    process.limit(last + 1);
    if (process.position !== step && !process.playing) process.jump(step);
    const at = (states) => states[Math.min(step, states.length - 1)];
    const [a, b] = [at(found.strips), at(found.blocks)];
    const chosen = s.followed && s.followed <= s.requests.length ? s.followed - 1 : null;
    const followed = hovered ?? chosen;
    const [inside, between] = wasteOfStrips(a.running, s.longest, places);
    const loose = wasteOfBlocks(b.running, s.size);
    const free = places / s.size - new Set(b.running.flatMap(({ table: own }) => own)).size;
    const used = (those) => those.filter(({ token }) => token).length;
    const [first, second] = [placesOfStrips(a.running, s.longest, places),
      placesOfBlocks(b.running, s.size, places)];
    strip.draw(first, 0, followed, WORDS.strip(a.running.length, inside, between),
      WORDS.map(named, used(first), places));
    paged.draw(second, s.size, followed, WORDS.blocks(b.running.length, loose, free),
      WORDS.map(WORDS.paged, used(second), places));
    const one = (state, id) => state.running.find((each) => each.id === id);
    const where = (state, id, told) => (one(state, id) ? told(one(state, id))
      : state.done.includes(id) ? WORDS.done : state.waiting.includes(id) ? WORDS.waits : WORDS.coming);
    rows.draw(s.requests.map((request, id) => ({ id, on: id === followed, chosen: id === chosen,
      tokens: where(b, id, ({ written }) => String(written)),
      strip: where(a, id, ({ start }) => String(start + 1)),
      blocks: where(b, id, (each) => each.table.join(" ")) })));
    const over = step === last && a.done.length === s.requests.length && b.done.length === s.requests.length;
    const more = followed !== null ? WORDS.follow(WORDS.letter(followed), one(a, followed)?.start ?? -1,
      one(b, followed)?.table ?? [])
      : a.waiting.length || b.waiting.length ? WORDS.waiting(a.waiting.length, b.waiting.length)
        + (b.back.length ? WORDS.back(b.back.map(WORDS.letter)) : "") : "";
    const left = s.requests.length - a.done.length;
    view.say(!step ? WORDS.begin : over && followed === null
      ? WORDS.all(found.strips.length - 1, found.blocks.length - 1)
      : left && b.done.length === s.requests.length && followed === null
        ? WORDS.through(found.blocks.length - 1, left)
      : WORDS.say(a.running.length, b.running.length, more));
    const byName = (state, of) =>
      Object.fromEntries(state.running.map((each) => [WORDS.letter(each.id), of(each)]));
    report(model, { tables: byName(b, (each) => each.table), strips: byName(a, (each) => each.start),
      running: [a.running.length, b.running.length], waste: [inside, between, loose],
      served: [a.done.length, b.done.length], lasts: [found.strips.length - 1, found.blocks.length - 1] });
  });
  return live(model, view, () => ({ block_size: count(model, "block_size"), prefix: count(model, "prefix"),
    shared: model.get("shared") === true, step: count(model, "step"), followed: count(model, "followed") }));
}

export default guard(render);

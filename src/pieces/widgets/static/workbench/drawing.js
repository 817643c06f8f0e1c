/** The block as a drawing: the stream rises on the left, two branches leave it and are added again. */
import { open, widthOf } from "./bench.js";
import { h } from "../kit/kit.js";

const [WIDTH, HEIGHT, STREAM, BRANCH] = [290, 470, 56, 192];
const [MOST_HEADS, MOST_EXPERTS] = [64, 8];
/** Where a branch leaves the stream, its boxes from below, where it is added, and the norm on the stream. */
const LEVELS = {
  attention: { fork: 396, before: 376, middle: 318, high: 78, behind: 268, join: 252, after: 233 },
  "feed-forward": { fork: 216, before: 198, middle: 157, high: 48, behind: 116, join: 99, after: 80 },
};

const text = (x, y, words, more = {}) => h("text", { x, y, "text-anchor": "middle", ...more }, words);

/** A box with its name: a part that can be pointed at. */
function box(part, x, y, width, high, name, ...inner) {
  return h("g", { class: "p-bench-part", "data-part": part, "data-x": x, "data-y": y },
    h("rect", { x: x - width / 2, y: y - high / 2, width, height: high, rx: 5 }),
    ...(name ? [text(x, y + 3.8, name)] : []), ...inner);
}

/** Query heads side by side, and below them the keys and values that they share. */
function heads(s, left, top, width) {
  const n = Math.min(s.n_heads, MOST_HEADS);
  const shared = Math.max(1, Math.round((s.n_kv_heads * n) / s.n_heads));
  const row = (role, count, y) => Array.from({ length: count }, (_, i) => h("rect", {
    class: "p-bench-head", "data-role": role, x: left + (i * width) / count + (width > 3 * count ? 1 : 0), y,
    width: Math.max(0.8, width / count - (width > 3 * count ? 2 : 0.4)), height: 6, rx: 1 }));
  return [...row("query", n, top), ...row("key", shared, top + 8), ...row("value", shared, top + 16)];
}

const SEES = { causal: (i, j) => j <= i, window: (i, j) => j <= i && j > i - 2, full: () => true,
  prefix: (i, j) => j <= i || j < 3 };
/** The mask in small, whatever its sizes: who may look at whom. */
function mask(kind, left, top) {
  const side = 4.4;
  const under = { x: left, y: top, width: 6 * side, height: 6 * side, fill: "none", "pointer-events": "all" };
  return h("g", { class: "p-bench-mask", "data-part": "mask", "data-kind": kind }, h("rect", under),
    ...Array.from({ length: 36 }, (_, n) => [Math.floor(n / 6), n % 6]).map(([i, j]) =>
      h("rect", { x: left + j * side, y: top + i * side, width: side - 0.8, height: side - 0.8,
        class: SEES[kind](i, j) ? "p-seen" : "p-unseen" })));
}

/** Experts as boxes, those that a token visits filled. */
function experts(s, left, top, width) {
  const n = Math.min(s.n_experts, MOST_EXPERTS);
  const one = width / n;
  return Array.from({ length: n }, (_, e) => h("rect", { x: left + e * one + 1, y: top, width: one - 2,
    height: 12, rx: 2, class: e < s.n_chosen ? "p-bench-expert p-chosen" : "p-bench-expert" }));
}

/** One sublayer: fork, branch, what stands on it, the sum, and the norm on the stream. */
function sublayer(kind, s, names, ...inner) {
  const { fork, before, middle, high, behind, join, after } = LEVELS[kind];
  const norm = names.norm[s.norm];
  const ahead = s.place === "pre" || s.place === "sandwich";
  return [
    h("path", { class: "p-bench-branch", d: `M${STREAM} ${fork}H${BRANCH}V${join}H${STREAM + 8}` }),
    box(kind, BRANCH, middle, 172, high, "", ...inner),
    ...(ahead ? [box("norms", BRANCH, before, 78, 17, norm)] : []),
    ...(s.place === "sandwich" ? [box("norms", BRANCH, behind, 78, 17, norm)] : []),
    h("circle", { class: "p-bench-add", cx: STREAM, cy: join, r: 7 }),
    h("path", { class: "p-bench-add",
      d: `M${STREAM - 4} ${join}H${STREAM + 4}M${STREAM} ${join - 4}V${join + 4}` }),
    ...(s.place === "deep" ? [box("norms", STREAM, (fork + join) / 2 + 8, 30, 17, "× α")] : []),
    ...(s.place === "post" || s.place === "deep" ? [box("norms", STREAM, after, 78, 17, norm)] : []),
  ];
}

/** What is drawn for these parts. @param {import("./bench.js").Wish} s @param {Object} names */
export function drawing(s, names) {
  const at = LEVELS.attention.middle;
  const ff = LEVELS["feed-forward"].middle;
  const added = s.position === "sinusoidal" || s.position === "learned";
  const inside = s.position !== "none" && !added;
  const several = s.n_experts > 1;
  const wide = `${names.activation[s.activation]} ${s.d_model} → ${widthOf(s)} → ${s.d_model}`;
  return [
    h("path", { class: "p-bench-stream",
      d: `M${STREAM} 446V34M${STREAM - 4} 38L${STREAM} 31L${STREAM + 4} 38` }),
    h("rect", { class: "p-bench-frame", x: 8, y: 66, width: 274, height: 338, rx: 9 }),
    h("g", { class: "p-bench-part p-bench-layers", "data-part": "layers", "data-x": 30, "data-y": 62 },
      h("rect", { x: 242, y: 58, width: 40, height: 17, rx: 8 }), text(262, 70, `× ${s.n_layers}`)),
    ...sublayer("attention", s, names,
      text(BRANCH - 16, at - 26, names.attention), mask(s.mask, BRANCH + 54, at - 35),
      h("g", { "data-part": "score", class: "p-bench-score" },
        text(BRANCH - 16, at - 12, names.score[s.score])),
      ...(inside ? [h("g", { "data-part": "positions", class: "p-bench-position" },
        text(BRANCH - 16, at + 3, names.inside[s.position]))] : []),
      ...heads(s, BRANCH - 78, at + 12, 156)),
    ...sublayer("feed-forward", s, names, text(BRANCH, ff + (several ? 15 : 4), wide),
      ...(several ? experts(s, BRANCH - 78, ff - 17, 156) : [])),
    ...(several ? [box("router", BRANCH - 64, ff + 32, 44, 14, names.router)] : []),
    ...(open(s) ? [box("norms", STREAM, 48, 78, 17, names.norm[s.norm])] : []),
    box("head", STREAM, 20, 96, 20, s.tied ? names.tied : names.head),
    ...(added ? [h("path", { class: "p-bench-branch", d: `M${BRANCH} 446V422H${STREAM + 8}` }),
      h("circle", { class: "p-bench-add", cx: STREAM, cy: 422, r: 7 }),
      h("path", { class: "p-bench-add", d: `M${STREAM - 4} 422H${STREAM + 4}M${STREAM} 418V426` }),
      box("positions", BRANCH, 452, 116, 20, names.position[s.position])] : []),
    box("embedding", STREAM, 452, 96, 20, names.embedding),
  ];
}

/** The drawing in its place; each box answers to the pointer and to the keyboard. */
export function board(label, { point, press, name }) {
  const svg = h("svg", { class: "p-bench-drawing", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group",
    "aria-label": label });
  const part = (event) => event.target.closest?.("[data-part]")?.getAttribute("data-part") ?? null;
  svg.addEventListener("pointerover", (event) => point(part(event)));
  svg.addEventListener("pointerleave", () => point(null));
  svg.addEventListener("click", (event) => { if (part(event)) press(part(event)); });
  svg.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    press(part(event));
  });
  svg.addEventListener("focusin", (event) => point(part(event)));
  svg.addEventListener("focusout", () => point(null));
  let shown = "";
  return {
    svg,
    /** Draw these parts, if they are others than those that stand. */
    draw(s, names) {
      const key = JSON.stringify(s);
      if (key === shown) return;
      shown = key;
      const focused = svg.contains(document.activeElement) ? part({ target: document.activeElement }) : null;
      svg.replaceChildren(...drawing(s, names));
      const seen = new Set();
      for (const node of svg.querySelectorAll(".p-bench-part")) {
        const own = node.getAttribute("data-part");
        if (seen.has(own)) continue; // one stop of the Tab key for each part
        seen.add(own);
        for (const [key_, value] of Object.entries({ tabindex: 0, role: "button", "aria-label": name(own),
          "data-lm-suppress-shortcuts": "true" })) node.setAttribute(key_, String(value));
      }
      if (focused) {
        const again = [...svg.querySelectorAll("[tabindex]")]
          .find((node) => node.getAttribute("data-part") === focused);
        /** @type {SVGElement|undefined} */ (again)?.focus();
      }
    },
  };
}

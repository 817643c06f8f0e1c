/**
 * The twin of `pieces.switches`: parts of a decoder-only model by name, each of which can be pulled out.
 * Layers, heads and experts are counted from 1, as the book does when it says "head 2.4".
 *
 * @typedef {{kind: string, config: Record<string, any>, weights: Map<string, {shape: number[]}>}} Sizes
 * @typedef {{skips: Set<string>, silent: {name: string, head?: number}[]}} Pulled names of modules, 0-based
 *   as the weights have them: those whose work is passed over, and those whose output is set to 0
 */

const upTo = (n) => Array.from({ length: n }, (_, i) => i);
const within = (weights, name) => [...weights.keys()].some((one) => one.startsWith(name));

/** Names of what can be pulled out, from the words up to the next word. @param {Sizes} model */
export function parts({ config, weights }) {
  const sublayer = (layer, name, inside) => [`${layer}.${name}.norm`, ...inside, `${layer}.${name}`,
    `${layer}.${name}.path`];
  const one = (l) => {
    const layer = `layer.${l + 1}`;
    const heads = upTo(config.n_heads).map((n) => `${layer}.head.${n + 1}`);
    const feed = `stack.blocks.${l}.feed_forward.`;
    const routed = weights.has(`${feed}router.gate.weight`);
    const experts = upTo(routed ? config.n_experts : 0).map((e) => `${layer}.expert.${e + 1}`);
    return [...sublayer(layer, "attention", heads),
      ...(within(weights, feed) ? sublayer(layer, "feed_forward", experts) : [])];
  };
  return ["positions", ...upTo(config.n_layers).flatMap(one), "norm"];
}

/** Which module each name means. @param {string} name @param {Pulled} pulled */
function pull(name, pulled) {
  const [, l, part, which] = /^layer\.(\d+)\.(\w+)(?:\.(\w+))?$/.exec(name) ?? [];
  const block = `stack.blocks.${Number(l) - 1}`;
  if (name === "positions") pulled.skips.add("position");
  else if (name === "norm") pulled.skips.add("stack.final_norm");
  else if (part === "head") pulled.silent.push({ name: `${block}.attention.core`, head: Number(which) - 1 });
  else if (part === "expert") pulled.skips.add(`${block}.feed_forward.experts.${Number(which) - 1}`);
  else if (which === "norm") pulled.skips.add(`${block}.${part}_residual.norm`);
  else if (which === "path") pulled.skips.add(`${block}.${part}_residual`);
  else pulled.silent.push({ name: `${block}.${part}` });
}

/** What is passed over and what is silent without these parts. An unknown one is refused by its name.
 *  @param {string[]} off @param {string[]} known @returns {Pulled} */
export function pulledOut(off, known) {
  const strange = off.filter((name) => !known.includes(name));
  if (strange.length) throw new RangeError(`off = ${strange.join(", ")}: the model has ${known.join(", ")}.`);
  const pulled = { skips: new Set(), silent: [] };
  off.forEach((name) => pull(name, pulled));
  return pulled;
}

/** Lists whose items have keys: an item keeps its node, and a node its focus, wherever the item moves. */
import { still } from "./frames.js";

/**
 * @template T
 * @param {Element} parent
 * @param {{key: (item: T, index: number) => string|number, make: (item: T) => Element,
 *   update: (node: any, item: T, index: number) => void, moves?: boolean}} options `moves`: nodes glide to
 * new places
 */
export function keyed(parent, { key, make, update, moves = false }) {
  /** @type {Map<string|number, Element>} */
  let nodes = new Map();

  /** Put the nodes in order. The one that holds the focus stays; the others move around it.
   *  @param {Element[]} order */
  function arrange(order) {
    const anchor = order.findIndex((node) => node.parentNode === parent
      && node.contains(document.activeElement));
    let next = order[anchor] ?? null;
    const before = order.slice(0, Math.max(0, anchor));
    const after = order.slice(anchor + 1);
    for (const node of [...before].reverse()) {
      if (node.nextSibling !== next) parent.insertBefore(node, next);
      next = node;
    }
    let last = order[anchor] ?? null;
    for (const node of after) {
      const place = last ? last.nextSibling : parent.firstChild;
      if (node !== place) parent.insertBefore(node, place);
      last = node;
    }
  }
  function glide(places) {
    for (const [node, before] of places) {
      const now = node.getBoundingClientRect();
      const [x, y] = [before.left - now.left, before.top - now.top];
      if (Math.abs(x) + Math.abs(y) < 1) continue;
      node.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }],
        { duration: 350, easing: "ease-in-out" });
    }
  }
  return {
    /** @param {T[]} items */
    draw(items) {
      const keys = items.map(key);
      const twice = keys.find((name, n) => keys.indexOf(name) !== n);
      if (twice !== undefined) throw new RangeError(`Two items have the key ${twice}.`);
      const gliding = moves && !still();
      const places = gliding
        ? [...nodes.values()].map((node) => /** @type {const} */ ([node, node.getBoundingClientRect()])) : [];
      const next = new Map(items.map((item, n) => [keys[n], nodes.get(keys[n]) ?? make(item)]));
      for (const [name, node] of nodes) if (!next.has(name)) node.remove();
      nodes = next;
      arrange([...nodes.values()]);
      items.forEach((item, n) => update(nodes.get(keys[n]), item, n));
      if (gliding) glide(places.filter(([node]) => node.isConnected));
    },
    /** The keys, in order. */
    keys: () => nodes.keys(),
    /** The node of a key. @param {string|number} name */
    node: (name) => nodes.get(name),
  };
}

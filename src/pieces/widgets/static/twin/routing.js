/** The twin of `pieces.moe`'s routing: who is chosen, who finds room, and how even it is. */
import { softmax } from "./twin.js";

/** Where the k largest of a row are, best first; of equal ones the first.
 *  @param {ArrayLike<number>} row @param {number} k */
export const topk = (row, k) =>
  Array.from(row, (_, e) => e).sort((a, b) => row[b] - row[a] || a - b).slice(0, k);

/** How many of T words an expert takes, if its room is `factor` fair shares of all T k visits.
 *  @param {number} factor @param {number} T @param {number} k @param {number} E */
export const capacityOf = (factor, T, k, E) => Math.max(1, Math.ceil(factor * ((T * k) / E)));

/** Which choices [T, k] find room, where an expert takes `capacity` words: all first choices come first.
 *  @param {number[][]} experts @param {number} E @param {number} capacity */
export function withinCapacity(experts, E, capacity) {
  const taken = new Array(E).fill(0);
  const room = experts.map((row) => row.map(() => false));
  const k = experts[0]?.length ?? 0;
  for (let c = 0; c < k; c++) experts.forEach((row, t) => { room[t][c] = ++taken[row[c]] <= capacity; });
  return room;
}

/** E Σ f_e P_e: k if all experts are used alike, up to E where the same k get everything.
 *  @param {number[][]} logits @param {number[][]} experts the k best of each row */
export function loadBalancingLoss(logits, experts) {
  const E = logits[0].length;
  const mean = new Array(E).fill(0);
  const share = new Array(E).fill(0);
  logits.forEach((row) => softmax(row).forEach((p, e) => { mean[e] += p / logits.length; }));
  experts.forEach((row) => row.forEach((e) => { share[e] += 1 / experts.length; }));
  return E * share.reduce((sum, f, e) => sum + f * mean[e], 0);
}

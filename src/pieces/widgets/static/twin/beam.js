/**
 * The twin of `pieces.beam_search`: several candidates side by side, and the best of them in the end.
 *
 * @typedef {{ids: number[], total: number}} Open a candidate that may go on, and its sum of log-probabilities
 * @typedef {{from: number, id: number, total: number, fate: "kept"|"ended"|"dropped"}} Extended the open
 *   candidate it extends, the token it adds, and what becomes of it
 * @typedef {{ids: number[], total: number, rank: number}} Finished
 * @typedef {{open: Open[], candidates: Extended[], finished: Finished[], closed: boolean}} Step the open
 *   candidates before it, their best extensions, and what has finished up to it
 * @typedef {{startId: number, eosId: number, most: number, nBeams?: number, lengthPenalty?: number,
 *   patient?: boolean}} Search
 */

/** Log-probabilities in float32, as PyTorch has them. @param {Float32Array} logits */
function logProbabilities(logits) {
  let top = -Infinity;
  for (const x of logits) if (x > top) top = x;
  let sum = 0;
  for (const x of logits) sum += Math.exp(x - top);
  const log = Math.log(sum);
  return Float32Array.from(logits, (x) => x - top - log);
}

/** The best `count` extensions of all open candidates, the best first. */
function extensions(open, count) {
  const all = open.flatMap(({ total, logits }, from) => Array.from(logProbabilities(logits),
    (p, id) => ({ from, id, total: Math.fround(total + p) })));
  return all.sort((a, b) => b.total - a.total).slice(0, count);
}

/**
 * score = (sum of log-probabilities) / (number of new tokens)^lengthPenalty
 * @param {import("./model.js").TrainedModel} model an encoder-decoder
 * @param {number[]} source
 * @param {Search} search
 * @returns {{ids: number[], score: number, steps: Step[]}}
 */
export function beamSearch(model, source, search) {
  const { startId, eosId, most, nBeams: n = 4, lengthPenalty: penalty = 1, patient = false } = search;
  /** Numbers in the order of total / length^penalty, which is minus exp(−rank). */
  const rank = (total, length) => penalty * Math.log(length) - Math.log(-total);
  const read = (ids, total, { logits, state }) => ({ ids, total, state, logits: logits.data.slice() });
  let open = [read([startId], 0, model.run([startId], { source, last: true }))];
  /** @type {Finished[]} */
  let finished = [];
  let closed = false;
  /** @type {Step[]} */
  const steps = [];
  while (!closed && steps.length < most) {
    const length = open[0].ids.length; // new tokens, this one among them
    const candidates = extensions(open, 2 * n).map((one, place) => {
      const ended = one.id === eosId;
      return { ...one, fate: ended && place < n && one.total > -Infinity ? "ended" : "dropped" };
    });
    const going = candidates.filter(({ id }) => id !== eosId).slice(0, n);
    going.forEach((one) => { one.fate = "kept"; });
    const news = candidates.filter(({ fate }) => fate === "ended").map(({ from, id, total }) =>
      ({ ids: [...open[from].ids, id], total, rank: rank(total, length) }));
    finished = [...finished, ...news].sort((a, b) => b.rank - a.rank).slice(0, n);
    const end = patient && penalty > 0 ? most : length;
    closed = finished.length === n && finished[n - 1].rank >= rank(going[0].total, end);
    steps.push({ open: open.map(({ ids, total }) => ({ ids, total })),
      candidates: /** @type {Extended[]} */ (candidates), finished, closed });
    if (closed) break;
    const before = open;
    const last = steps.length === most; // nobody asks what would follow
    open = going.map(({ from, id, total }) => {
      const ids = [...before[from].ids, id];
      return last ? { ...before[from], ids, total }
        : read(ids, total, model.step(model.fork(before[from].state), id));
    });
  }
  const found = finished.map(({ ids, rank: own }) => ({ ids, own }));
  if (!closed) found.push(...open.map(({ ids, total }) =>
    ({ ids, own: rank(total, Math.max(1, ids.length - 1)) })));
  const best = found.reduce((a, b) => (b.own > a.own ? b : a));
  return { ids: best.ids, score: -Math.exp(-best.own), steps };
}

/** Attention and the mixture of experts on a tape: forward, and the gradient back. */

/** One head's scores and how their gradient goes back to its query and key.
 *  @param {string} kind @param {{W: Float64Array, U: Float64Array, v: Float64Array}|null} learned
 *  @param {number} K */
function scoring(kind, learned, K) {
  const scale = kind === "scaled" ? 1 / Math.sqrt(K) : 1;
  const times = (M, x, a) => Float64Array.from({ length: K }, (_, i) => {
    let sum = 0;
    for (let j = 0; j < K; j++) sum += M[i * K + j] * x[a + j];
    return sum;
  });
  const back = (M, g, to, a) => {
    for (let i = 0; i < K; i++) for (let j = 0; j < K; j++) to[a + j] += M[i * K + j] * g[i];
  };
  if (kind === "additive") {
    const inner = (q, a, k, b) => {
      const [x, y] = [times(learned.U, q, a), times(learned.W, k, b)];
      return x.map((one, i) => Math.tanh(one + y[i]));
    };
    return {
      of: (q, a, k, b) => inner(q, a, k, b).reduce((sum, x, i) => sum + learned.v[i] * x, 0),
      back(g, q, a, k, b, gq, gk) {
        const slope = inner(q, a, k, b).map((x, i) => g * learned.v[i] * (1 - x * x));
        back(learned.U, slope, gq, a);
        back(learned.W, slope, gk, b);
      },
    };
  }
  const turned = (q, a) => (kind === "bilinear" ? times(learned.W, q, a) : q.subarray(a, a + K));
  return {
    of(q, a, k, b) {
      const x = turned(q, a);
      let sum = 0;
      for (let i = 0; i < K; i++) sum += x[i] * k[b + i];
      return scale * sum;
    },
    back(g, q, a, k, b, gq, gk) {
      const x = turned(q, a);
      for (let i = 0; i < K; i++) gk[b + i] += scale * g * x[i];
      const to = k.subarray(b, b + K).map((y) => scale * g * y);
      if (kind === "bilinear") back(learned.W, to, gq, a);
      else for (let i = 0; i < K; i++) gq[a + i] += to[i];
    },
  };
}

/**
 * Heads side by side: queries [T, H K], keys and values [T, G K] -> [T, H K].
 * @param {Object} tape @param {Object} q @param {Object} k @param {Object} v
 * @param {{H: number, G: number, K: number, score: string, learned: any,
 *   sees: (i: number, j: number) => boolean, bias: (h: number, i: number, j: number) => number}} how
 */
export function attend(tape, q, k, v, { H, G, K, score, learned, sees, bias }) {
  const T = q.rows;
  const by = scoring(score, learned, K);
  const at = (t, heads, n) => (t * heads + n) * K;
  const owner = (n) => Math.floor(n / (H / G));
  const weights = Array.from({ length: H }, (_, n) => Array.from({ length: T }, (_x, i) => {
    const row = Array.from({ length: T }, (_y, j) => (sees(i, j)
      ? by.of(q.v, at(i, H, n), k.v, at(j, G, owner(n))) + bias(n, i, j) : -Infinity));
    const top = Math.max(...row);
    const all = row.map((x) => Math.exp(x - top));
    const sum = all.reduce((a, b) => a + b, 0);
    return all.map((x) => x / sum);
  }));
  const out = new Float64Array(T * H * K);
  const each = (step) => weights.forEach((rows, n) => rows.forEach((row, i) => step(n, i, row)));
  each((n, i, row) => row.forEach((w, j) => {
    for (let c = 0; c < K; c++) out[at(i, H, n) + c] += w * v.v[at(j, G, owner(n)) + c];
  }));
  return tape.made(out, T, (y) => each((n, i, row) => {
    const a = at(i, H, n);
    const wanted = row.map((w, j) => {
      const b = at(j, G, owner(n));
      let sum = 0;
      for (let c = 0; c < K; c++) { sum += y.g[a + c] * v.v[b + c]; v.g[b + c] += w * y.g[a + c]; }
      return sum;
    });
    const mean = wanted.reduce((sum, x, j) => sum + row[j] * x, 0);
    row.forEach((w, j) => {
      if (w) by.back(w * (wanted[j] - mean), q.v, a, k.v, at(j, G, owner(n)), q.g, k.g);
    });
  }));
}

/** The k best experts of each row, added by the softmax of their logits. */
export function mixed(tape, logits, outputs, k) {
  const [T, E, D] = [logits.rows, logits.cols, outputs[0].cols];
  const chosen = Array.from({ length: T }, (_, t) => {
    const row = Array.from({ length: E }, (_x, e) => [logits.v[t * E + e], e]);
    const best = row.sort((a, b) => b[0] - a[0]).slice(0, k);
    const all = best.map(([x]) => Math.exp(x - best[0][0]));
    const sum = all.reduce((a, b) => a + b, 0);
    return best.map(([, e], n) => [all[n] / sum, e]);
  });
  const out = new Float64Array(T * D);
  chosen.forEach((row, t) => row.forEach(([w, e]) => {
    for (let c = 0; c < D; c++) out[t * D + c] += w * outputs[e].v[t * D + c];
  }));
  return tape.made(out, T, (y) => chosen.forEach((row, t) => {
    const wanted = row.map(([w, e]) => {
      let sum = 0;
      for (let i = t * D; i < (t + 1) * D; i++) {
        sum += y.g[i] * outputs[e].v[i];
        outputs[e].g[i] += w * y.g[i];
      }
      return sum;
    });
    const mean = wanted.reduce((sum, x, n) => sum + row[n][0] * x, 0);
    row.forEach(([w, e], n) => { logits.g[t * E + e] += w * (wanted[n] - mean); });
  }));
}

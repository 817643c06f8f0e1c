/** The twin of `pieces.positions`, by its names: codes that are added, biases by distance. */

/** Sines and cosines of a position: columns 2i and 2i + 1 are those of p / base^(2i / d). */
export const sinusoidal = (positions, d, base) => positions.map((p) =>
  Array.from({ length: d }, (_, c) => (c % 2 ? Math.cos : Math.sin)(p * speed(c >> 1, d, base))));

/** How far pair i turns in one step, in radians. */
export const speed = (i, d, base) => base ** ((-2 * i) / d);

/** Slopes of ALiBi: geometric for a power of two; other numbers of heads borrow from twice as many. */
export function alibiSlopes(heads, steepest = 8) {
  const n = 2 ** Math.floor(Math.log2(heads));
  return Array.from({ length: heads }, (_, h) =>
    2 ** (-steepest * (h < n ? (h + 1) / n : (h - n + 0.5) / n)));
}

/**
 * The bucket of a relative position j − i. In float32 and in this order, so that each edge falls as
 * in T5's code.
 */
export function t5Bucket(relative, buckets = 32, maxDistance = 128, bidirectional = true) {
  const n = bidirectional ? buckets >> 1 : buckets;
  const exact = n >> 1;
  const distance = bidirectional ? Math.abs(relative) : Math.max(0, -relative);
  const future = bidirectional && relative > 0 ? n : 0;
  if (distance < exact) return future + distance;
  const { fround } = Math;
  const growth = fround(fround(Math.log(fround(distance / exact))) / fround(Math.log(maxDistance / exact)));
  return future + Math.min(n - 1, exact + Math.trunc(fround(growth * (n - exact))));
}

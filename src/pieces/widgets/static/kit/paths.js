/** Lines through many points: at most a few for each pixel, broken where there is no number. */

/** @typedef {{x: ArrayLike<number>, y: ArrayLike<number>}} Points */

/**
 * The path through points that are in order of x: of all that fall on one pixel the first, lowest, highest
 * and last.
 * @param {Points} points @param {(v: number) => number} px @param {(v: number) => number} py NaN where there
 *   is no place
 * @returns {{d: string, drawn: number, alone: [number, number][]}} `alone` are points without neighbours: a
 *   line shows none
 */
export function thread({ x, y }, px, py) {
  const parts = [];
  const alone = [];
  let drawn = 0;
  let run = 0; // points since the last gap
  let last = null;
  /** @type {{at: number, first: number[], low: number[], high: number[], end: number[]}|null} */
  let bin = null;
  const step = (point) => {
    parts.push(`${run++ ? "L" : "M"}${point[0].toFixed(1)} ${point[1].toFixed(1)}`);
    last = point;
    drawn++;
  };
  const flush = () => {
    if (!bin) return;
    const kept = [bin.first, bin.low, bin.high, bin.end].sort((a, b) => a[2] - b[2]);
    kept.forEach((point, n) => { if (!n || point[2] !== kept[n - 1][2]) step(point); });
    bin = null;
  };
  const close = () => {
    flush();
    if (run === 1) { alone.push([last[0], last[1]]); parts.pop(); drawn--; }
    run = 0;
  };
  const n = Math.min(x.length, y.length);
  for (let i = 0; i < n; i++) {
    const point = [px(x[i]), py(y[i]), i];
    if (!Number.isFinite(point[0]) || !Number.isFinite(point[1])) { close(); continue; }
    const at = Math.floor(point[0]);
    if (bin && bin.at === at) {
      if (point[1] < bin.low[1]) bin.low = point;
      if (point[1] > bin.high[1]) bin.high = point;
      bin.end = point;
    } else {
      flush();
      bin = { at, first: point, low: point, high: point, end: point };
    }
  }
  close();
  return { d: parts.join(""), drawn, alone };
}

/** Whether a line through points [x, y], in order of x, runs through a box.
 *  @param {number[][]} line @param {{left: number, right: number, top: number, bottom: number}} box */
export function crosses(line, { left, right, top, bottom }) {
  return line.some(([x, y], n) => {
    const [x0, y0] = line[n - 1] ?? [x, y];
    if (!(x >= left && x0 <= right)) return false;
    const at = (v) => (x > x0 ? y0 + (y - y0) * (Math.min(x, Math.max(x0, v)) - x0) / (x - x0) : y);
    const [from, to] = [at(left), at(right)];
    return Math.max(from, to) > top && Math.min(from, to) < bottom;
  });
}

/** The index of the number nearest to `v` in a rising list.
 *  @param {ArrayLike<number>} list @param {number} v */
export function nearest(list, v) {
  let [low, high] = [0, list.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (list[middle] <= v) low = middle; else high = middle;
  }
  return Math.abs(list[high] - v) < Math.abs(list[low] - v) ? high : low;
}

/** The middle of several runs at each place; NaN where none has a number.
 *  @param {ArrayLike<number>[]} runs */
export function median(runs) {
  const n = runs.reduce((most, run) => Math.max(most, run.length), 0);
  return Float64Array.from({ length: n }, (_, i) => {
    const here = runs.map((run) => run[i]).filter((v) => Number.isFinite(v)).sort((a, b) => a - b);
    const half = here.length >> 1;
    return here.length ? (here.length % 2 ? here[half] : (here[half - 1] + here[half]) / 2) : NaN;
  });
}

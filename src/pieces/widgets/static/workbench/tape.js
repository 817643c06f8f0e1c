/** Matrices that remember how they were made, so that a gradient can run back through them. */

/** @typedef {{v: Float64Array, g: Float64Array, rows: number, cols: number}} Node */

export class Tape {
  constructor() { this.steps = []; }

  /** @param {Float64Array} v @param {number} rows @returns {Node} */
  node(v, rows) { return { v, g: new Float64Array(v.length), rows, cols: v.length / rows }; }

  /** Something made from others: `back(y)` adds to their gradients. @returns {Node} */
  made(v, rows, back) {
    const y = this.node(v, rows);
    this.steps.push(() => back(y));
    return y;
  }

  /** From what a gradient is asked for at the end, those of all before. @param {Node} end */
  run(end, asked) {
    end.g.set(asked);
    for (let n = this.steps.length - 1; n >= 0; n--) this.steps[n]();
  }

  add(a, b, scale = 1) {
    return this.made(a.v.map((x, i) => scale * x + b.v[i]), a.rows, (y) => {
      for (let i = 0; i < y.g.length; i++) { a.g[i] += scale * y.g[i]; b.g[i] += y.g[i]; }
    });
  }

  /** x Wᵀ + b, for W [m, n] row by row. */
  linear(x, W, b) {
    const [T, n] = [x.rows, x.cols];
    const m = W.length / n;
    const v = new Float64Array(T * m);
    for (let t = 0; t < T; t++) for (let i = 0; i < m; i++) {
      let sum = b ? b[i] : 0;
      for (let j = 0, w = i * n, a = t * n; j < n; j++) sum += W[w + j] * x.v[a + j];
      v[t * m + i] = sum;
    }
    return this.made(v, T, (y) => {
      for (let t = 0; t < T; t++) for (let i = 0; i < m; i++) {
        const g = y.g[t * m + i];
        for (let j = 0, w = i * n, a = t * n; j < n; j++) x.g[a + j] += g * W[w + j];
      }
    });
  }

  /** f on each number, with its slope. */
  bend(x, [f, slope]) {
    return this.made(x.v.map(f), x.rows, (y) => {
      for (let i = 0; i < y.g.length; i++) x.g[i] += y.g[i] * slope(x.v[i]);
    });
  }

  times(a, b) {
    return this.made(a.v.map((x, i) => x * b.v[i]), a.rows, (y) => {
      for (let i = 0; i < y.g.length; i++) { a.g[i] += y.g[i] * b.v[i]; b.g[i] += y.g[i] * a.v[i]; }
    });
  }

  /** Each row at size 1; LayerNorm takes its mean away first. The gain is 1, the shift 0, as they start. */
  norm(x, kind) {
    const [n, v, sizes] = [x.cols, new Float64Array(x.v.length), new Float64Array(x.rows)];
    const [eps, centred] = kind === "layer" ? [1e-5, true] : [1e-6, false];
    const mean = (list, a) => { let s = 0; for (let i = a; i < a + n; i++) s += list[i] / n; return s; };
    for (let t = 0, a = 0; t < x.rows; t++, a += n) {
      const shift = centred ? mean(x.v, a) : 0;
      let square = 0;
      for (let i = a; i < a + n; i++) square += (x.v[i] - shift) ** 2 / n;
      sizes[t] = Math.sqrt(square + eps);
      for (let i = a; i < a + n; i++) v[i] = (x.v[i] - shift) / sizes[t];
    }
    return this.made(v, x.rows, (y) => {
      for (let t = 0, a = 0; t < x.rows; t++, a += n) {
        const along = mean(y.g.map((g, i) => g * y.v[i]).subarray(a, a + n), 0);
        const level = centred ? mean(y.g, a) : 0;
        for (let i = a; i < a + n; i++) x.g[i] += (y.g[i] - level - y.v[i] * along) / sizes[t];
      }
    });
  }

  /** Each head turned by its row's number: dimension i with i + K/2. */
  rotate(x, K) {
    const half = K / 2;
    const angle = (i) => 10000 ** ((-2 * i) / K);
    const turn = (from, to, way) => {
      for (let t = 0, a = 0; t < x.rows; t++, a += x.cols) for (let c = a; c < a + x.cols; c += K) {
        for (let i = 0; i < half; i++) {
          const [cos, sin] = [Math.cos(t * angle(i)), way * Math.sin(t * angle(i))];
          to[c + i] += from[c + i] * cos - from[c + i + half] * sin;
          to[c + i + half] += from[c + i + half] * cos + from[c + i] * sin;
        }
      }
    };
    const v = new Float64Array(x.v.length);
    turn(x.v, v, 1);
    return this.made(v, x.rows, (y) => turn(y.g, x.g, -1));
  }
}

/** The ground behind a query: how much the largest weight would be if the query stood there. */
import { css, h, mix, readColours } from "../kit/kit.js";

const COARSE = 33; // the scores are asked for on a coarse grid and read between its points
const FINE = 200;
/** Where the largest weight passes one of these, the ground gets darker by a step. */
export const STEPS = [0.5, 0.65, 0.8, 0.95];
const tint = (step) => 0.05 + 0.08 * step;

/** Colours as a picture's numbers of 32 bits, in the order of bytes that this machine has. */
const words32 = (colours) => new Uint32Array(Uint8Array.from(colours.flatMap((one) => [...one, 255])).buffer);

/**
 * `draw({ key, scoresAt, temperature })`: `scoresAt(x, y)` gives the scores of a query there, and `key`
 * says what they depend on, so that nothing is asked twice. Borders between two winners are left light.
 * @param {Object} view @param {{edge: number, role?: string}} options the plane reaches from −edge to +edge
 */
export function shade(view, { edge, role = "weight" }) {
  const canvas = h("canvas", { width: 0, height: 0, "aria-hidden": "true" });
  let asked = { key: "", grids: [] };
  let drawn = "";
  let data = null;
  let colours = null; // to ask for them is a layout of the page

  function ask({ key, scoresAt }) {
    if (asked.key === key) return asked.grids;
    const at = (n) => (2 * n / (COARSE - 1) - 1) * edge;
    const cells = Array.from({ length: COARSE * COARSE }, (_, n) =>
      scoresAt(at(n % COARSE), -at(Math.floor(n / COARSE))));
    asked = { key, grids: cells[0].map((_, j) => Float64Array.from(cells, (scores) => scores[j])) };
    return asked.grids;
  }
  /** A row of each grid, between two of its lines: the pixels of a row share it. */
  function between(grids, y, lines) {
    const i = Math.min(COARSE - 2, Math.floor(y));
    const v = y - i;
    grids.forEach((grid, key) => {
      for (let j = 0, at = i * COARSE; j < COARSE; j++, at++) {
        lines[key * COARSE + j] = (1 - v) * grid[at] + v * grid[at + COARSE];
      }
    });
  }
  function paint() {
    if (!data) return;
    const grids = ask(data);
    colours ??= readColours(canvas, ["soft", "paper", role]);
    const shades = [colours.paper, ...STEPS.concat(1).map((_, step) =>
      mix(colours.soft, colours[role], tint(step)))];
    const state = `${data.key} ${data.temperature} ${shades.map(css)}`;
    if (state === drawn) return;
    drawn = state;
    if (!canvas.width) canvas.width = canvas.height = FINE;
    const brush = canvas.getContext("2d");
    const image = brush.createImageData(FINE, FINE);
    fill(new Uint32Array(image.data.buffer), grids, data.temperature, words32(shades));
    brush.putImageData(image, 0, 0);
  }
  /** Every pixel: who wins there and by how much. Forty thousand of them, so nothing is made for one.
   *  @param {Uint32Array} pixels @param {Float64Array[]} grids @param {number} temperature
   *  @param {Uint32Array} shades that of the borders first */
  function fill(pixels, grids, temperature, shades) {
    const n = grids.length;
    const [lines, row] = [new Float64Array(n * COARSE), new Float64Array(n)];
    const winners = new Uint8Array(FINE * FINE);
    for (let p = 0; p < FINE * FINE; p++) {
      if (p % FINE === 0) between(grids, (p / FINE + 0.5) / FINE * (COARSE - 1), lines);
      const x = ((p % FINE) + 0.5) / FINE * (COARSE - 1);
      const j = Math.min(COARSE - 2, Math.floor(x));
      const u = x - j;
      let best = 0;
      for (let key = 0, at = j; key < n; key++, at += COARSE) {
        row[key] = ((1 - u) * lines[at] + u * lines[at + 1]) / temperature;
        if (row[key] > row[best]) best = key;
      }
      let sum = 0;
      for (let key = 0; key < n && sum * STEPS[0] < 1; key++) sum += Math.exp(row[key] - row[best]);
      let step = 0;
      while (step < STEPS.length && sum * STEPS[step] < 1) step++;
      winners[p] = best;
      const edge = (p % FINE && winners[p - 1] !== best) || (p >= FINE && winners[p - FINE] !== best);
      pixels[p] = shades[edge ? 0 : step + 1];
    }
  }
  view.onTheme(() => { colours = null; paint(); });
  return { canvas, draw(next) { data = next; paint(); } };
}

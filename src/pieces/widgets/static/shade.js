/** The ground behind a query: how much the largest weight would be if the query stood there. */
import { css, h, mix, readColours } from "./dom.js";

const COARSE = 33; // the scores are asked for on a coarse grid and read between its points
const FINE = 200;
/** Where the largest weight passes one of these, the ground gets darker by a step. */
export const STEPS = [0.5, 0.65, 0.8, 0.95];
export const tint = (step) => 0.05 + 0.08 * step;

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

  function ask({ key, scoresAt }) {
    if (asked.key === key) return asked.grids;
    const at = (n) => (2 * n / (COARSE - 1) - 1) * edge;
    const cells = Array.from({ length: COARSE * COARSE }, (_, n) =>
      scoresAt(at(n % COARSE), -at(Math.floor(n / COARSE))));
    asked = { key, grids: cells[0].map((_, j) => Float64Array.from(cells, (scores) => scores[j])) };
    return asked.grids;
  }
  /** The score of a grid between its points. */
  function between(grid, x, y) {
    const [i, j] = [Math.min(COARSE - 2, Math.floor(y)), Math.min(COARSE - 2, Math.floor(x))];
    const [u, v, at] = [x - j, y - i, i * COARSE + j];
    return (1 - v) * ((1 - u) * grid[at] + u * grid[at + 1])
      + v * ((1 - u) * grid[at + COARSE] + u * grid[at + COARSE + 1]);
  }
  function paint() {
    if (!data) return;
    const grids = ask(data);
    const colours = readColours(canvas, ["soft", "paper", role]);
    const ramp = STEPS.concat(1).map((_, step) => mix(colours.soft, colours[role], tint(step)));
    const state = `${data.key} ${data.temperature} ${ramp.map(css)}`;
    if (state === drawn) return;
    drawn = state;
    if (!canvas.width) canvas.width = canvas.height = FINE;
    const brush = canvas.getContext("2d");
    const image = brush.createImageData(FINE, FINE);
    const winners = new Uint8Array(FINE * FINE);
    const row = new Float64Array(grids.length);
    for (let p = 0; p < FINE * FINE; p++) {
      const x = ((p % FINE) + 0.5) / FINE * (COARSE - 1);
      const y = (Math.floor(p / FINE) + 0.5) / FINE * (COARSE - 1);
      let best = 0;
      for (let j = 0; j < row.length; j++) {
        row[j] = between(grids[j], x, y) / data.temperature;
        if (row[j] > row[best]) best = j;
      }
      let sum = 0;
      for (let j = 0; j < row.length; j++) sum += Math.exp(row[j] - row[best]);
      winners[p] = best;
      const border = (p % FINE && winners[p - 1] !== best) || (p >= FINE && winners[p - FINE] !== best);
      const colour = border ? colours.paper : ramp[STEPS.filter((step) => 1 / sum > step).length];
      image.data.set([...colour, 255], 4 * p);
    }
    brush.putImageData(image, 0, 0);
  }
  view.onTheme(paint);
  return { canvas, draw(next) { data = next; paint(); } };
}

/** How far a trained model is from perfect: what it costs a word more than the truth itself would. */
import { h } from "./dom.js";
import { words } from "./words.js";

/**
 * A line below what is said of a picture; none for a model of which nothing is recorded.
 * @param {{sentence: HTMLElement}} view
 * @param {{record: {loss?: number, floor?: number}|null}} model `loss` on texts held out, and the `floor`
 *   below which none can come, in nats a word
 */
export function fromPerfect({ sentence }, { record }) {
  const above = Number(record?.loss) - Number(record?.floor);
  if (Number.isFinite(above)) sentence.after(h("p", { class: "p-perfect" }, words.model.perfect(above)));
}

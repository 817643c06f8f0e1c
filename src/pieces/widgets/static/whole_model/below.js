/** What stands around the picture: its key in one line, the choice of bars, and how near the truth it is. */
import { h, select } from "../kit/kit.js";
import { WORDS } from "./words.js";

const BARS = ["votes", "cost"];

/** @param {{fed: boolean, experts: boolean}} model whether it has feed-forward networks, or experts */
export function keyOf({ fed, experts }) {
  const say = WORDS.key;
  const entry = (mark, ...words) => h("span", {}, h("i", { class: `w-key-${mark}` }), ...words);
  const ghost = entry("ghost", say.ghost);
  const [small, lens, colour, final] = say.lens;
  const box = h("p", { class: "w-key" }, entry("bar", say.bar), entry("pipe", say.pipe), ghost,
    entry("wire", say.wire), fed ? entry("unit", experts ? say.expert : say.unit) : null,
    h("span", {}, h("b", {}, small), ` ${lens} `, h("b", { class: "w-same" }, colour), ` ${final}`));
  return {
    box,
    /** @param {boolean} pulled whether something is out, so that a ghost is left @param {boolean} open */
    draw(pulled, open) { [ghost.hidden, box.hidden] = [!pulled, open]; },
  };
}

/** @param {Object} view @param {Object} traits */
export function barsOf(view, traits) {
  const { box } = select(view, traits, "bars", { label: WORDS.bars,
    options: BARS.map((name) => [name, name]) });
  const options = box.querySelectorAll("option");
  return {
    box,
    /** @param {string[]} words the one that the bars are about, for each choice */
    draw(words) {
      words.forEach((word, n) => { options[n].textContent = WORDS.barOptions[BARS[n]](word); });
    },
  };
}

/** @param {{record: {loss?: number, floor?: number}|null}} model */
export function floorOf({ record }) {
  const above = Number(record?.loss) - Number(record?.floor);
  return h("p", { class: "p-perfect", hidden: !Number.isFinite(above) }, WORDS.floor(above));
}

/** On a phone the text stands above the picture, and what is said of it right below.
 *  @param {boolean} phone @param {Record<string, any>} parts */
export function arrange(phone, { view, foot, body, stage, rows, keys, film, bars, floor }) {
  if ((foot.nextElementSibling === view.panes) === phone) return;
  if (phone) {
    view.panes.before(foot);
    rows.box.before(keys.box, view.sentence, film.box, bars.box);
    body.append(floor);
  } else {
    view.panes.after(foot);
    foot.append(view.sentence, floor);
    stage.append(bars.box);
    stage.after(keys.box);
    view.controls.prepend(film.box);
  }
}

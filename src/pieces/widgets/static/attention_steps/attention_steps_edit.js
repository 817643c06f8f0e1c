/** The numbers that AttentionSteps starts from, folded away, and the way back to those of the page. */
import { h, matrixEditor, numbers } from "../kit/kit.js";

/** @param {Object} view @param {Object} model
 *  @param {{trait: string, role: string, label: string, title: (string|Node)[]}[]} tables
 *  @param {{edit: string, undo: string}} say */
export function editors(view, model, tables, say) {
  const start = Object.fromEntries(tables.map(({ trait }) => [trait, model.get(trait)]));
  const [first, ...others] = tables.map(({ trait, role, label, title }) =>
    h("figure", { class: "p-edit" }, h("figcaption", {}, ...title),
      matrixEditor(view, model, trait, { label, role,
        read: () => numbers(model, trait) })));
  const box = h("div", { class: "p-edits" }, first, h("div", { class: "p-edits" }, ...others));
  const undo = () => {
    box.querySelectorAll("input").forEach((input) => input.setAttribute("aria-invalid", "false"));
    for (const [trait, value] of Object.entries(start)) model.set(trait, value);
    model.save_changes();
    view.redraw();
  };
  const back = h("button", { type: "button", class: "p-button p-undo", onclick: undo }, say.undo);
  const kept = JSON.stringify(start);
  const offer = () => {
    const now = JSON.stringify(Object.fromEntries(
      Object.keys(start).map((trait) => [trait, model.get(trait)])));
    back.hidden = now === kept && !box.querySelector('[aria-invalid="true"]');
  };
  box.addEventListener("input", offer);
  view.onDraw(offer);
  return h("div", { class: "p-editing" },
    h("details", { class: "p-details" }, h("summary", {}, say.edit), box), back);
}

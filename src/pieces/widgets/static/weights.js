/**
 * Where the bytes of a trained model come from: in a notebook from Python, on the site from one file per
 * model,
 * which a page asks for when a widget needs it. The file is a classic script that leaves base64 text behind,
 * because
 * a page opened from disk may fetch nothing else.
 */

/** @param {string} text base64 */
export function fromBase64(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** Ask the site for a model's file. @param {string} file @returns {Promise<Uint8Array>} */
function asked(file) {
  const page = /** @type {any} */ (window);
  const address = page.pieces?.models;
  if (!address) return Promise.reject(new Error(
    `The weights ${file} are not here, and this is no page of the book.`));
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const fail = () => reject(new Error(`The weights ${file} did not arrive.`));
    script.src = new URL(`${encodeURIComponent(file)}.js`, address).href;
    script.onerror = fail;
    script.onload = () => {
      const text = page.piecesWeights?.[file];
      if (typeof text !== "string") return fail();
      delete page.piecesWeights[file];
      try { resolve(fromBase64(text)); } catch (error) { reject(error); }
    };
    document.head.append(script);
    script.remove();
  });
}

/**
 * The bytes of a widget's model.
 * @param {{get: (name: string) => any}} widgetModel
 * @returns {Promise<any>}
 */
export async function weightsOf(widgetModel) {
  const given = widgetModel.get("_weights");
  if (given?.byteLength) return given;
  const file = widgetModel.get("weights_file");
  if (!file) throw new Error("This widget has no weights: run its cell.");
  return asked(file);
}

/**
 * Where the bytes of a trained model come from: in a notebook from Python, on the site from one file per
 * model,
 * which a page asks for when a widget needs it. The file is a classic script that leaves base64 text behind,
 * because
 * a page opened from disk may fetch nothing else. The text is packed: a server packs bytes better than text.
 */

/** @param {string} text base64 */
function fromBase64(text) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** What the site has packed: a digit, in how many layers the bytes lie, then what zlib made of them.
 *  @param {string} text @returns {Promise<Uint8Array>} */
async function unpacked(text) {
  const packed = new Blob([fromBase64(text.slice(1))]);
  const stream = packed.stream().pipeThrough(new DecompressionStream("deflate"));
  const layers = new Uint8Array(await new Response(stream).arrayBuffer());
  const count = Number(text[0]);
  if (count === 1) return layers;
  const bytes = new Uint8Array(layers.length);
  for (let layer = 0, at = 0; layer < count; layer++) {
    for (let i = layer; i < bytes.length; i += count) bytes[i] = layers[at++];
  }
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
      resolve(unpacked(text));
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

/**
 * Reads a trained model from one safetensors file: eight bytes that say how long the header is, the header
 * as JSON, and the numbers. `pieces.trained` writes them.
 */
import { decode } from "./decode.js";
import { tensor } from "./flat.js";

/** @typedef {import("./flat.js").Tensor} Tensor */
/**
 * @typedef {{kind: string, config: Record<string, any>, vocabulary: string[], record: any, tensors:
 *   Map<string, Tensor>}} Packed
 */

const WORDS = ["config", "vocabulary", "record"];
const SCALE = ".scale";
const KINDS = /** @type {const} */ ({ F32: "float32", F16: "float16", I8: "int8" });

/** Whatever the front end hands over for bytes, as one view. @param {any} given @returns {Uint8Array} */
function bytesOf(given) {
  if (given instanceof ArrayBuffer) return new Uint8Array(given);
  if (ArrayBuffer.isView(given)) return new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  throw new TypeError(`weights: bytes are needed, not ${given === null ? "null" : typeof given}.`);
}

/** @param {any} given the bytes of the file @returns {Packed} */
export function unpack(given) {
  const bytes = bytesOf(given);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.byteLength < 8 ? NaN : Number(view.getBigUint64(0, true));
  if (!(8 + length <= bytes.byteLength)) throw new RangeError(
    `weights: ${bytes.byteLength} bytes are no whole file.`);
  const { __metadata__: words = {}, ...entries } = JSON.parse(
    new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  const tensors = new Map();
  /** @param {string} name @param {Float32Array=} scales */
  const read = (name, scales) => {
    const { dtype, shape, data_offsets: [from, to] } = entries[name];
    if (!(dtype in KINDS)) throw new TypeError(
      `${name}: ${dtype} is none of ${Object.keys(KINDS).join(", ")}.`);
    if (!(from <= to && 8 + length + to <= bytes.byteLength)) throw new RangeError(
      `${name}: the file ends before its numbers do.`);
    const part = bytes.subarray(8 + length + from, 8 + length + to);
    const { data } = decode({ dtype: KINDS[dtype], shape, bytes: part, scales });
    return tensor(/** @type {Float32Array} */ (data), shape);
  };
  for (const [name, { dtype }] of Object.entries(entries)) {
    const scaled = dtype === "I8" && name + SCALE in entries;
    if (!(name.endsWith(SCALE) && entries[name.slice(0, -SCALE.length)]?.dtype === "I8")) {
      tensors.set(name, read(name, scaled ? read(name + SCALE).data : undefined));
    }
  }
  const missing = ["kind", "config", "vocabulary"].filter((word) => !(word in words));
  if (missing.length) throw new TypeError(`weights: the file does not say its ${missing.join(", ")}.`);
  const [config, vocabulary, record] = WORDS.map((word) => JSON.parse(words[word] ?? "null"));
  return { kind: words.kind, config, vocabulary, record, tensors };
}

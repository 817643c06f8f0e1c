/**
 * Reads a trained model from one safetensors file: eight bytes that say how long the header is, the header
 * as JSON, and the numbers. `pieces.trained` writes them.
 */
import { tensor } from "./flat.js";

/** @typedef {import("./flat.js").Tensor} Tensor */
/** @typedef {{kind: string, config: Record<string, any>, vocabulary: string[], record: any, tensors: Map<string, Tensor>}} Packed */

const WORDS = ["config", "vocabulary", "record"];
const SCALE = ".scale";
const BYTES = { F32: 4, F16: 2, I8: 1 };

/** Whatever the front end hands over for bytes, as one view. @param {any} given @returns {Uint8Array} */
export function bytesOf(given) {
  if (given instanceof ArrayBuffer) return new Uint8Array(given);
  if (ArrayBuffer.isView(given)) return new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  throw new TypeError(`weights: bytes are needed, not ${given === null ? "null" : typeof given}.`);
}

/** 16 bits of a half-precision number as the 32 of the same single-precision one. @param {number} half */
function widened(half) {
  const sign = (half & 0x8000) << 16;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0x1f) return sign | 0x7f800000 | (fraction << 13); // infinite, or no number
  if (exponent) return sign | ((exponent + 112) << 23) | (fraction << 13);
  if (!fraction) return sign;
  const shift = Math.clz32(fraction) - 21; // subnormal: the leading one becomes the hidden one
  return sign | ((113 - shift) << 23) | (((fraction << shift) & 0x3ff) << 13);
}

/** The numbers of one tensor as float32. @param {ArrayBuffer} bytes @param {string} dtype @param {number} count @param {string} name */
function numbers(bytes, dtype, count, name) {
  if (!(dtype in BYTES)) throw new TypeError(`${name}: ${dtype} is none of ${Object.keys(BYTES).join(", ")}.`);
  if (bytes.byteLength !== count * BYTES[dtype]) throw new RangeError(`${name}: ${bytes.byteLength} bytes for ${count} ${dtype}.`);
  if (dtype === "F32") return new Float32Array(bytes);
  if (dtype === "I8") return new Float32Array(new Int8Array(bytes));
  const halves = new Uint16Array(bytes);
  const data = new Float32Array(count);
  const bits = new Uint32Array(data.buffer);
  for (let i = 0; i < count; i++) bits[i] = widened(halves[i]);
  return data;
}

/** Each row of whole numbers times its scale. @param {Tensor} whole @param {Tensor|undefined} scale @param {string} name */
function scaled(whole, scale, name) {
  const rows = scale?.data.length ?? 0;
  if (!rows || whole.data.length % rows) throw new RangeError(`${name}: I8 numbers need ${name}${SCALE}, one for each row.`);
  const columns = whole.data.length / rows;
  for (let i = 0, at = 0; i < rows; i++) for (let j = 0; j < columns; j++) whole.data[at++] *= scale.data[i];
}

/** @param {any} given the bytes of the file @returns {Packed} */
export function unpack(given) {
  const bytes = bytesOf(given);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.byteLength < 8 ? NaN : Number(view.getBigUint64(0, true));
  if (!(8 + length <= bytes.byteLength)) throw new RangeError(`weights: ${bytes.byteLength} bytes are no whole file.`);
  const { __metadata__: words = {}, ...entries } = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  const tensors = new Map();
  for (const [name, { dtype, shape, data_offsets: [from, to] }] of Object.entries(entries)) {
    if (!(from <= to && 8 + length + to <= bytes.byteLength)) throw new RangeError(`${name}: the file ends before its numbers do.`);
    const part = bytes.slice(8 + length + from, 8 + length + to).buffer; // a copy starts where a number may
    tensors.set(name, tensor(numbers(part, dtype, shape.reduce((all, n) => all * n, 1), name), shape));
  }
  for (const [name, { dtype }] of Object.entries(entries)) {
    if (dtype !== "I8") continue;
    scaled(tensors.get(name), tensors.get(name + SCALE), name);
    tensors.delete(name + SCALE);
  }
  const missing = ["kind", "config", "vocabulary"].filter((word) => !(word in words));
  if (missing.length) throw new TypeError(`weights: the file does not say its ${missing.join(", ")}.`);
  const [config, vocabulary, record] = WORDS.map((word) => JSON.parse(words[word] ?? "null"));
  return { kind: words.kind, config, vocabulary, record, tensors };
}

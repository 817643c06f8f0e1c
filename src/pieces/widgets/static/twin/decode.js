/** Numbers that travel as bytes, little-endian: float32, float16, and int8 with a scale for each row. */
import { size, tensor } from "./tensor.js";

/** @typedef {ArrayBuffer|ArrayBufferView} Bytes */

/** @param {Bytes} bytes */
const viewOf = (bytes) => (bytes instanceof ArrayBuffer ? new DataView(bytes)
  : new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));

/** @param {Bytes} bytes @param {number} each @param {string} kind */
function counted(bytes, each, kind) {
  const view = viewOf(bytes);
  if (view.byteLength % each) throw new RangeError(
    `${view.byteLength} bytes are no whole number of ${kind} values.`);
  return { view, n: view.byteLength / each };
}

const single = new Float32Array(1);
const bits = new Uint32Array(single.buffer);

/** The number that 16 bits stand for: sign, five bits of exponent, ten of fraction. @param {number} half */
export function float16(half) {
  const sign = (half & 0x8000) << 16;
  const exponent = (half >> 10) & 31;
  const fraction = half & 0x3ff;
  if (exponent === 0) return (sign ? -1 : 1) * fraction * 2 ** -24; // zero and the subnormal numbers
  bits[0] = sign | ((exponent === 31 ? 255 : exponent + 112) << 23) | (fraction << 13);
  return single[0];
}

/** @param {Bytes} bytes */
export function decodeFloat16(bytes) {
  const { view, n } = counted(bytes, 2, "float16");
  const out = new Float32Array(n);
  for (let i = 0; i < n; i++) out[i] = float16(view.getUint16(2 * i, true));
  return out;
}

/** @param {Bytes} bytes */
function decodeFloat32(bytes) {
  const { view, n } = counted(bytes, 4, "float32");
  const out = new Float32Array(n);
  for (let i = 0; i < n; i++) out[i] = view.getFloat32(4 * i, true);
  return out;
}

/** Whole numbers from −128 to 127, each row times its scale.
 *  @param {Bytes} bytes @param {ArrayLike<number>} scales */
export function decodeInt8(bytes, scales) {
  const { view, n } = counted(bytes, 1, "int8");
  if (scales.length === 0 || n % scales.length) throw new RangeError(
    `${n} int8 values do not make ${scales.length} rows.`);
  const columns = n / scales.length;
  const out = new Float32Array(n);
  for (let i = 0; i < n; i++) out[i] = view.getInt8(i) * scales[Math.floor(i / columns)];
  return out;
}

/** A tensor from bytes.
 *  @param {{dtype: "float32"|"float16"|"int8", shape: number[], bytes: Bytes, scales?: ArrayLike<number>}}
 * packed */
export function decode({ dtype, shape, bytes, scales }) {
  const wanted = size(shape) * { float32: 4, float16: 2, int8: 1 }[dtype];
  const found = viewOf(bytes).byteLength;
  if (!(wanted === found)) throw new RangeError(`${dtype} [${shape}] needs ${wanted} bytes, not ${found}.`);
  if (dtype === "int8") return tensor(decodeInt8(bytes, scales ?? []), shape);
  return tensor(dtype === "float16" ? decodeFloat16(bytes) : decodeFloat32(bytes), shape);
}

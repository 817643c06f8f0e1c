/**
 * Flat tensors: one typed array, a shape and strides. A view shares the numbers of what it looks at.
 * @typedef {{data: ArrayLike<number>, shape: number[], strides: number[], offset: number}} Tensor
 * @typedef {Tensor|ArrayLike<ArrayLike<number|boolean>>} Matrix a tensor of two axes, or nested lists
 */

/** @param {number[]} shape */
export const size = (shape) => shape.reduce((all, n) => all * n, 1);

/** How far apart neighbours along each axis stand, in a tensor laid out row by row.
 *  @param {number[]} shape */
export function rowMajor(shape) {
  const strides = new Array(shape.length).fill(1);
  for (let axis = shape.length - 2; axis >= 0; axis--) strides[axis] = strides[axis + 1] * shape[axis + 1];
  return strides;
}

/** A tensor over these numbers, row by row.
 *  @param {ArrayLike<number>} data @param {number[]} shape @returns {Tensor} */
export function tensor(data, shape) {
  if (!shape.every((n) => Number.isInteger(n) && n >= 0)) throw new RangeError(`shape [${shape}]: no sizes.`);
  if (data.length !== size(shape)) {
    throw new RangeError(`${data.length} numbers do not fill the shape [${shape}]: it holds ${size(shape)}.`);
  }
  return { data, shape: [...shape], strides: rowMajor(shape), offset: 0 };
}

/** @param {number[]} shape */
export const zeros = (shape) => tensor(new Float32Array(size(shape)), shape);

/** @param {any} given @returns {given is Tensor} */
export const isTensor = (given) => Array.isArray(given?.shape) && Array.isArray(given?.strides);

/** Nested lists, of any depth, as a tensor of float64: no digit of a list is lost.
 *  @param {any} nested @returns {Tensor} */
export function fromNested(nested) {
  if (isTensor(nested)) return nested;
  const shape = [];
  for (let at = nested; typeof at === "object"; at = at[0]) {
    shape.push(at.length);
    if (!at.length) break;
  }
  const data = new Float64Array(size(shape));
  let next = 0;
  const pour = (part, depth) => {
    if (depth === shape.length) data[next++] = Number(part);
    else if (part.length !== shape[depth]) throw new RangeError(
      `Ragged lists: ${part.length} beside ${shape[depth]}.`);
    else for (let i = 0; i < part.length; i++) pour(part[i], depth + 1);
  };
  pour(nested, 0);
  return tensor(data, shape);
}

/** Where a cell stands in the data. @param {Tensor} t @param {number[]} index */
export function place(t, index) {
  let at = t.offset;
  for (let axis = 0; axis < index.length; axis++) at += index[axis] * t.strides[axis];
  return at;
}

/** One number. @param {Tensor} t @param {...number} index */
export const at = (t, ...index) => t.data[place(t, index)];

/** The view with one axis fixed.
 *  @param {Tensor} t @param {number} axis @param {number} index @returns {Tensor} */
export function select(t, axis, index) {
  if (!(index >= 0 && index < t.shape[axis])) throw new RangeError(
    `index ${index}: axis ${axis} has ${t.shape[axis]}.`);
  const without = (list) => list.filter((_, n) => n !== axis);
  return { data: t.data, shape: without(t.shape), strides: without(t.strides),
    offset: t.offset + index * t.strides[axis] };
}

/** The view of [from, to) along one axis.
 *  @param {Tensor} t @param {number} axis @param {number} from @param {number} to @returns {Tensor} */
export function slice(t, axis, from, to = t.shape[axis]) {
  if (!(from >= 0 && from <= to && to <= t.shape[axis])) throw new RangeError(
    `[${from}, ${to}): axis ${axis} has ${t.shape[axis]}.`);
  const shape = t.shape.map((n, a) => (a === axis ? to - from : n));
  return { ...t, shape, offset: t.offset + from * t.strides[axis] };
}

/** The view with its axes in another order. @param {Tensor} t @param {...number} order @returns {Tensor} */
export function permute(t, ...order) {
  if ([...order].sort((a, b) => a - b).some((axis, n) => axis !== n) || order.length !== t.shape.length) {
    throw new RangeError(`axes ${order}: no order of ${t.shape.length} axes.`);
  }
  return { ...t, shape: order.map((axis) => t.shape[axis]), strides: order.map((axis) => t.strides[axis]) };
}

/** The view with two axes exchanged. @param {Tensor} t @param {number} a @param {number} b */
export function transpose(t, a = t.shape.length - 2, b = t.shape.length - 1) {
  const order = t.shape.map((_, axis) => (axis === a ? b : axis === b ? a : axis));
  return permute(t, ...order);
}

/** Whether the numbers lie row by row, so that another shape is a view. @param {Tensor} t */
export function isContiguous(t) {
  const plain = rowMajor(t.shape);
  return t.strides.every((stride, axis) => stride === plain[axis] || t.shape[axis] === 1);
}

/** Call `step(number, index, place)` for each cell, row by row. `index` is one list, changed in place.
 *  @param {Tensor} t @param {(x: number, index: number[], at: number) => void} step */
export function forEach(t, step) {
  const { data, shape, strides } = t;
  const last = shape.length - 1;
  const index = new Array(shape.length).fill(0);
  const walk = (axis, from) => {
    if (axis > last) return step(data[from], index, from);
    for (let i = 0; i < shape[axis]; i++) {
      index[axis] = i;
      walk(axis + 1, from + i * strides[axis]);
    }
  };
  walk(0, t.offset);
}

/** The same numbers, copied row by row. @param {Tensor} t @returns {Tensor} */
export function contiguous(t) {
  const Kind = t.data instanceof Float32Array ? Float32Array : Float64Array;
  const data = new Kind(size(t.shape));
  let next = 0;
  forEach(t, (x) => { data[next++] = x; });
  return tensor(data, t.shape);
}

/** The same numbers in another shape: a view where they lie row by row, a copy where not.
 *  @param {Tensor} t @param {...number} shape @returns {Tensor} */
export function reshape(t, ...shape) {
  if (size(shape) !== size(t.shape)) throw new RangeError(
    `shape [${shape}]: holds ${size(shape)}, not ${size(t.shape)}.`);
  const plain = isContiguous(t) ? t : contiguous(t);
  return { data: plain.data, shape, strides: rowMajor(shape), offset: plain.offset };
}

/** Nested lists. @param {Tensor} t @returns {any} */
export function toNested(t) {
  if (!t.shape.length) return t.data[t.offset];
  return Array.from({ length: t.shape[0] }, (_, i) => toNested(select(t, 0, i)));
}

/** The range of the finite numbers, and what else there is; whatever the size.
 *  @param {Tensor|ArrayLike<number>} given */
export function extent(given) {
  const seen = { low: Infinity, high: -Infinity, most: 0, finite: 0, nan: 0, infinite: 0 };
  const look = (x) => {
    if (Number.isFinite(x)) {
      if (x < seen.low) seen.low = x;
      if (x > seen.high) seen.high = x;
      if (Math.abs(x) > seen.most) seen.most = Math.abs(x);
      seen.finite++;
    } else if (Number.isNaN(x) || typeof x !== "number") seen.nan++;
    else seen.infinite++;
  };
  if (isTensor(given)) forEach(given, look);
  else for (let i = 0; i < given.length; i++) look(given[i]);
  return seen;
}

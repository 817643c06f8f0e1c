/**
 * Flat tensors: one typed array, a shape and strides. A view shares the numbers of what it looks at.
 * @typedef {{data: ArrayLike<number>, shape: number[], strides: number[], offset: number}} Tensor
 * @typedef {Tensor|ArrayLike<ArrayLike<number|boolean>>} Matrix a tensor of two axes, or nested lists
 */

/** @param {number[]} shape */
export const size = (shape) => shape.reduce((all, n) => all * n, 1);

/** The place of the largest number, the first of equal ones. @param {ArrayLike<number>} row */
export function argmax(row) {
  let at = 0;
  for (let i = 1; i < row.length; i++) if (row[i] > row[at]) at = i;
  return at;
}

/** How far apart neighbours along each axis stand, in a tensor laid out row by row.
 *  @param {number[]} shape */
function rowMajor(shape) {
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

/** @param {any} given @returns {given is Tensor} */
const isTensor = (given) => Array.isArray(given?.shape) && Array.isArray(given?.strides);

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

/** The view with its axes in another order. @param {Tensor} t @param {...number} order @returns {Tensor} */
export function permute(t, ...order) {
  if ([...order].sort((a, b) => a - b).some((axis, n) => axis !== n) || order.length !== t.shape.length) {
    throw new RangeError(`axes ${order}: no order of ${t.shape.length} axes.`);
  }
  return { ...t, shape: order.map((axis) => t.shape[axis]), strides: order.map((axis) => t.strides[axis]) };
}

/** Whether the numbers lie row by row, so that another shape is a view. @param {Tensor} t */
function isContiguous(t) {
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

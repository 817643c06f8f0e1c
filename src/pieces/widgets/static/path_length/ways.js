/** Ways between two words, counted: how far convolutions see, how many it takes, what a text costs. */

export const SIZE = 512; // numbers in the vector of a word

/** How far `layers` of them see together. */
export const sight = (layers, { reach, dilated }) => reach * (dilated ? 2 ** layers - 1 : layers);

/** The fewest layers that see as far as `distance`. */
export function layersFor(distance, kind) {
  let layers = 0;
  while (sight(layers, kind) < distance) layers++;
  return layers;
}

/** How far apart the words are that a layer reads side by side. */
const gap = (layer, { dilated }) => (dilated ? 2 ** layer : 1);

/** The words from which a cell reads that stands above layer `layer`. */
export const sources = (n, layer, kind, drawn) =>
  Array.from({ length: 2 * kind.reach + 1 }, (_, k) => n + (k - kind.reach) * gap(layer, kind))
    .filter((m) => m >= 0 && m < drawn);

/** Of each layer, from the input up: the cells that reach the word `to` at the top. */
export function reaching(to, layers, kind, drawn) {
  const sets = [new Set([to])];
  for (let layer = layers - 1; layer >= 0; layer--) {
    sets.unshift(new Set([...sets[0]].flatMap((n) => sources(n, layer, kind, drawn))));
  }
  return sets;
}

/**
 * Where the light stands after each layer on its way from `from` to `to`: it goes as far as it can at
 * once, and straight up from there. Null where the layers do not see so far.
 */
export function climb(from, to, layers, kind, drawn) {
  const sets = reaching(to, layers, kind, drawn);
  if (!sets[0].has(from)) return null;
  const places = [from];
  for (let layer = 0; layer < layers; layer++) {
    const [at, good] = [places[layer], sets[layer + 1]];
    const next = [...good].filter((n) => sources(n, layer, kind, drawn).includes(at));
    places.push(next.sort((a, b) => Math.abs(to - a) - Math.abs(to - b))[0]);
  }
  return places;
}

/** What it takes to let each of `n` words reach each other one: steps in a row, multiplications. */
export function costs(n, kind) {
  const [square, stack] = [SIZE * SIZE, layersFor(n - 1, kind)];
  return {
    recurrent: { steps: n, products: 2 * n * square },
    convolution: { steps: stack, products: stack * (2 * kind.reach + 1) * n * square },
    attention: { steps: 1, products: 4 * n * square + 2 * n * n * SIZE },
  };
}

/** How these costs grow with the text's length T, the vectors' size D and the width k of a window. */
export const growth = ({ dilated }) => ({
  recurrent: { steps: "T", products: "T·D²" },
  convolution: { steps: dilated ? "log T" : "T/k", products: "k·T·D² a layer" },
  attention: { steps: "", products: "T²·D + T·D²" },
});

"""What PathLength has to show for its traits, by torch and by counting, never by the page."""

import math
import re
from itertools import pairwise

import torch
import torch.nn.functional as F
from oracle import ask, right
from told import tables

KINDS = ["Recurrent network", "Convolution", "Attention"]
BANDS = """(root) => [...root.querySelectorAll(".p-band-pane")].map((pane) => {
  const light = pane.querySelector(".p-light");
  const [, , width, height] = pane.querySelector("svg").getAttribute("viewBox").split(" ").map(Number);
  const numbers = (path) => (path.getAttribute("d") ?? "").match(/-?[\\d.]+/g)?.map(Number) ?? [];
  const pairs = (list) => list.flatMap((x, n) => (n % 2 ? [] : [[x, list[n + 1]]]));
  return { name: pane.querySelector("b").textContent, said: pane.querySelector(".p-band-said").textContent,
    told: pane.querySelector("svg").getAttribute("aria-label"), width, height,
    way: pairs(numbers(pane.querySelector(".p-way"))),
    light: light.hasAttribute("hidden") ? null : ["cx", "cy"].map((at) => Number(light.getAttribute(at))),
    cells: [...pane.querySelectorAll(".p-cell")].map((c) =>
      [Number(c.getAttribute("cx")), Number(c.getAttribute("cy")), c.classList.contains("p-lit")]) };
})"""
WORDS = """(root) => [...root.querySelectorAll(".p-word:not([hidden])")].map((word) => [
  word.textContent, word.ariaPressed === "true", word.dataset.role ?? "", word.getBoundingClientRect().left, word.ariaLabel])"""
SHORT = {
    "": 1,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "quadrillion": 1e15,
}


def footprint(words, at, layers, reach, dilated):
    """The words that reach place `at`, after each number of layers from the top: real convolutions."""
    seen = torch.zeros(1, 1, words)
    seen[0, 0, at] = 1
    found = [seen[0, 0] > 0]
    for layer in reversed(range(layers)):
        apart = 2**layer if dilated else 1
        kernel = torch.ones(1, 1, 2 * reach + 1)
        seen = F.conv1d(seen, kernel, padding=reach * apart, dilation=apart).clamp(max=1)
        found.append(seen[0, 0] > 0)
    return found


def fewest(distance, reach, dilated):
    """The fewest layers that carry a word over a distance, by trying."""
    layers = 0
    while not footprint(distance + 1, distance, layers, reach, dilated)[-1][0]:
        layers += 1
    return layers


def layers_of(distance, s):
    """The same for long texts, where trying takes long: by adding up what each layer sees."""
    layers = seen = 0
    while seen < distance:
        seen += s["reach"] * (2**layers if s["dilated"] else 1)
        layers += 1
    return layers


def products(n, s, size=512):
    """The multiplications of each network, from the shapes of what it multiplies."""
    by = lambda rows, inner, columns: rows * inner * columns  # noqa: E731
    stack = layers_of(n - 1, s)
    projections = 4 * by(n, size, size)
    return [
        n * 2 * by(1, size, size),
        stack * (2 * s["reach"] + 1) * by(n, size, size),
        projections + by(n, size, n) + by(n, n, size),
    ], [n, stack, 1]


def same_number(text, value):
    """A large number in words, to its last digit."""
    number, _, name = text.partition(" ")
    unit = SHORT[name]
    step = 0.1 if "." in number or (float(number) < 100 and unit > 1) else 1
    right(abs(float(number) * unit - value) <= 0.5001 * step * unit, f"{text}, not {value}")


def path_length(root, s):
    """Each band's cells, way and words; the costs; the sentence."""
    tokens = s["tokens"][: s["length"]]
    low, high = sorted((s["first"] - 1, s["second"] - 1))
    apart, drawn = high - low, len(tokens)
    shown = ask(root, WORDS)
    right([word for word, *_ in shown] == tokens, "other words")
    spoken = [f"word {n}: {word}" for n, word in enumerate(tokens, 1)]
    right([one[-1] for one in shown] == spoken, f"{[one[-1] for one in shown]}, not {spoken}")
    right([n for n, (_, on, *_) in enumerate(shown) if on] == sorted({low, high}), "other lights")
    roles = {n: role for n, (*_, role, _, _) in enumerate(shown) if role}
    right(roles == {low: "key"} | {high: "query"}, "other roles")
    seen = footprint(drawn, high, s["layers"], s["reach"], s["dilated"])
    reaches = bool(seen[-1][low])
    needed = fewest(apart, s["reach"], s["dilated"])
    right(s["needed"] == needed, f"{s['needed']} layers for Python, not {needed}")
    right(s["steps"] == [apart, needed if reaches else None, min(apart, 1)], s["steps"])
    longest = max(apart, s["layers"] if reaches else 0, 1)
    (at,) = root.locator(".p-play-at").all_inner_texts()
    position = int(at.split()[0])
    right(position == s["step"], f"{at}, not {s['step']}")
    right(0 <= position <= longest, at)
    bands = ask(root, BANDS)
    right([band["name"] for band in bands] == KINDS, "other networks")
    for band in bands:
        x = [(n + 0.5) * band["width"] / drawn for n in range(drawn)]
        columns = sorted({round(cell[0], 1) for cell in band["cells"]})
        right(all(abs(a - b) < 0.2 for a, b in zip(columns, x, strict=True)), "columns elsewhere")
        right(band["told"] == f"{band['name']}: {band['said']}", band["told"])
    recurrent, convolution, attention = bands
    same_recurrent(recurrent, low, high, position, drawn)
    same_convolution(convolution, s, seen, low, high, position, drawn, needed)
    right(attention["said"] == "in 1 step", attention["said"])
    same_way(attention, [(low, 1), (high, 0)], position, drawn, 1)
    for cell, (where, row) in zip(
        attention["cells"], ((n, r) for n in range(drawn) for r in (1, 0)), strict=True
    ):
        right(cell[2] == (row == 1 or where == high), f"attention's cell {where}, {row}")
    same_costs(root, s)
    same_sentence(root, s, tokens, low, high, needed, reaches)
    for caption, (head, *rows) in tables(root):
        right(caption == "The way between the two words", caption)
        right(head == ["network", "steps between the two"], head)
        steps = [str(n) if n is not None else "not connected" for n in s["steps"]]
        right(rows == [list(pair) for pair in zip(KINDS, steps, strict=True)], rows)


def same_way(band, places, position, drawn, rows):
    """The way that is drawn leads through these (word, row) places, as far as the light has come."""
    gone = places[: min(position, len(places) - 1) + 1]
    foot = band["height"] - 10
    rise = (band["height"] - 20) / rows
    spots = [((n + 0.5) * band["width"] / drawn, foot - (rows - r) * rise) for n, r in gone]
    drawn_way = band["way"] or [band["light"]]
    right(len(drawn_way) == len(spots), f"{band['name']}: {len(drawn_way)} of {len(spots)} places")
    for (x, y), (wx, wy) in zip(drawn_way, spots, strict=True):
        right(abs(x - wx) < 0.2 and abs(y - wy) < 0.2, f"{band['name']}: {x, y}, not {wx, wy}")
    right(band["light"] == drawn_way[-1], f"the light of {band['name']}")


def same_recurrent(band, low, high, position, drawn):
    """A row of cells, lit from the one word to the other, and the light in one of them."""
    n = high - low
    right(
        band["said"] == ("through 1 cell" if n == 1 else f"through {n} cells in turn"),
        band["said"],
    )
    lit = [cell[2] for cell in band["cells"]]
    right(lit == [low <= n <= high for n in range(drawn) for _ in (0, 1)], "recurrent cells")
    xs = [place[0] for place in band["way"] or [band["light"]]]
    wanted = [(n + 0.5) * band["width"] / drawn for n in range(low, low + min(position, n) + 1)]
    right(len(xs) == len(wanted) and all(abs(a - b) < 0.2 for a, b in zip(xs, wanted, strict=True)),
          f"the recurrent way {xs}, not {wanted}")  # fmt: skip
    right(len({place[1] for place in band["way"]}) <= 1, "the recurrent way leaves its row")


def same_convolution(band, s, seen, low, high, position, drawn, needed):
    """Layers of cells, those lit that reach the word; a way that a convolution can take."""
    layers = s["layers"]
    lit = [cell[2] for cell in band["cells"]]
    wanted = [bool(seen[layers - layer][n]) for layer in range(layers + 1) for n in range(drawn)]
    right(lit == wanted, "cells of the convolution")
    if not seen[-1][low]:
        wide = 2 * s["reach"] * ((2**layers - 1) if s["dilated"] else layers) + 1
        right(band["said"] == f"out of sight: {wide} words are seen", band["said"])
        right(not band["way"] and band["light"] is None, "a way where there is none")
        return
    name = "1 layer" if needed == 1 else f"{needed} layers"
    whole = f"through {layers} layers; {needed} would do"
    right(band["said"] == (f"through {name}" if needed == layers else whole), band["said"])
    rise = (band["height"] - 20) / layers
    points = band["way"] or [band["light"]]
    right(len(points) == min(position, layers) + 1, f"{len(points)} places of {layers + 1}")
    places = [round(x / band["width"] * drawn - 0.5, 2) for x, _ in points]
    right(abs(places[0] - low) < 0.02, f"the way begins at {places[0]}")
    right(position < layers or abs(places[-1] - high) < 0.02, f"the way ends at {places[-1]}")
    for layer, (before, after) in enumerate(pairwise(places)):
        apart = 2**layer if s["dilated"] else 1
        jump = abs(after - before) / apart
        whole = abs(jump - round(jump)) < 0.1 and round(jump) <= s["reach"]
        right(whole, f"a jump of {after - before} in layer {layer + 1}")
    for layer, (_, y) in enumerate(points):
        right(abs(y - (band["height"] - 10 - layer * rise)) < 0.2, f"layer {layer} at {y}")
    right(band["light"] == points[-1], "the light of the convolution")


def growth_of(text, T, D, k):
    """The value of a growth as it is shown, such as “grows as k·T·D² a layer”."""
    if text == "for any text":
        return 1
    product = text.removeprefix("grows as ").removesuffix(" a layer")
    product = product.replace("log T", "math.log(T)").replace("·", "*").replace("²", "**2")
    return eval(product, {"T": T, "D": D, "k": k, "math": math})


def same_growth(steps, work, at, s):
    """What a long text, a wide vector and a wide window do to a count, and to its growth."""
    begin = {"T": 2**15 + 1, "D": 8, "k": 2 * s["reach"] + 1}

    def counted(T, D, k):
        found, needed = products(T, s | {"reach": k // 2}, D)
        return needed[at], found[at] / (needed[at] if work.endswith(" a layer") else 1)

    for more in ({"T": 2**16 + 1}, {"D": 16}, {"k": 2 * begin["k"] + 1}):
        real = [b / a for a, b in zip(counted(**begin), counted(**begin | more), strict=True)]
        for text, times in zip((steps, work), real, strict=True):
            said = growth_of(text, **begin | more) / growth_of(text, **begin)
            # log T leaves the width out, and T/k the word in the middle of a window
            loose = text is steps and "k" in more
            right(loose or abs(said / times - 1) < 0.01, f"{text}: {said:.2f}, not {times:.2f}")


def same_costs(root, s):
    """Steps and multiplications for the whole text."""
    rows = root.locator(".p-costs tr").evaluate_all(
        """(all) => all.map((row) => [...row.cells].map((cell) =>
          (cell.querySelector("span") ?? cell).textContent))"""
    )
    grows = root.locator(".p-costs small").all_inner_texts()
    for at in range(3):
        same_growth(*grows[2 * at : 2 * at + 2], at, s)
    head = ["to join every pair of words", "sequential steps", "multiplications"]
    right(rows[0] == head, rows[0])
    numbers, steps = products(s["length"], s)
    for row, name, count, value in zip(rows[1:], KINDS, steps, numbers, strict=True):
        right(row[0] == name and row[1] == f"{count:,}", f"{row}: {count} steps")
        same_number(row[2], value)


def same_sentence(root, s, tokens, low, high, needed, reaches):
    """What is said of the two words, and of attention's price."""
    said = root.locator(".p-say").inner_text()
    more = s["length"] - len(tokens)
    word = "word" if more == 1 else "words"
    right(
        root.locator(".p-more").inner_text() == (f"and {more:,} more {word}" if more else ""),
        "more",
    )
    if low == high:
        return right(said == "Both lights stand on the same word: press another one.", said)
    layers = "1 layer" if needed == 1 else f"{needed} layers"
    if reaches:
        right(f"From “{tokens[low]}” to “{tokens[high]}” the" in said, said)
        steps = "1 step" if high - low == 1 else f"{high - low} steps"
        right(f"network takes {steps} and convolutions need {layers}." in said, said)
    else:
        seen = 2 * s["reach"] * ((2 ** s["layers"] - 1) if s["dilated"] else s["layers"]) + 1
        few = "One layer sees" if s["layers"] == 1 else f"{s['layers']} layers see"
        right(f"{few} {seen} words, too few for these two." in said, said)
    n = s["length"]
    found = re.search(r"in a text of ([\d,]+) words, ([><]?)\s?(\d+)\s%", said)
    right(found and found[1] == f"{n:,}", said)
    whole = products(n, s)[0][2]
    share = 100 * (whole - 4 * n * 512**2) / whole
    right(
        abs(share - int(found[3])) <= 0.51 or (found[2] == "<" and share < 0.51), f"{said}: {share}"
    )

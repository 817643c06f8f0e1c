"""What NormPlacement has to show: the record, read here anew, and the residual classes at work."""

import functools
import math
import re
import statistics

import torch
from oracle import NUMBER, ask, right, says

from pieces.book import measured
from pieces.norms import layer_norm
from pieces.residual import DeepNorm, PostNorm, PreNorm, SandwichNorm

NAMES = {"post": "Post", "pre": "Pre", "sandwich": "Sandwich", "deep": "DeepNorm"}
STARTS = {"own": "each its own", "plain": "all plain", "scaled": "all scaled by β"}
CHANCE = math.log(16)
SHOWN = """(root) => {
  const number = (node, name) => Number(node.getAttribute(name));
  const on = (selector) => [...root.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  const circles = (g) => [...g.querySelectorAll("circle")].map((c) => [number(c, "cx"), number(c, "cy")]);
  return { ghosts: root.querySelectorAll(".p-curve-ghost").length,
    pressed: Object.fromEntries([root.querySelector(".p-tabs"), ...on(".p-setting .p-tabs")].map((tabs) =>
      [tabs.ariaLabel, [...tabs.children].filter((b) => b.ariaPressed === "true").map((b) => b.textContent)])),
    cards: on(".p-place").map((card) => ({ place: card.dataset.place, role: getComputedStyle(card).borderBottomColor,
      pressed: card.ariaPressed, name: card.querySelector("span").textContent, text: card.querySelector("b").textContent,
      norm: [...card.querySelectorAll("[data-part=norm] rect")].map((r) => getComputedStyle(r).fill)[0],
      parts: [...card.querySelectorAll("[data-part]")].map((g) => {
        const box = g.getBoundingClientRect();
        return [g.dataset.part, (box.left + box.right) / 2, (box.top + box.bottom) / 2, g.textContent]; }),
      stream: (() => { const b = card.querySelector(".p-stream").getBoundingClientRect(); return (b.left + b.right) / 2; })() })),
    formula: root.querySelector(".p-formula").textContent, say: root.querySelector(".p-say").textContent,
    film: on(".p-player").map((one) => one.querySelector("output").textContent),
    charts: on(".p-pane-chart").map((pane) => ({ caption: pane.querySelector("figcaption").textContent,
      ticks: ["x", "y"].map((axis) => [...pane.querySelectorAll(`[data-tick=${axis}]`)].map((t) =>
        [Number(t.dataset.value), number(t, axis) - (axis === "y" ? 4 : 0)])),
      base: ["x1", "x2"].map((end) => number(pane.querySelector(".p-base"), end)),
      at: number(pane.querySelector(".p-at"), "x1"),
      marks: [...pane.querySelectorAll(".p-mark")].map((l) => number(l, "y1")),
      curves: [...pane.querySelectorAll(".p-curve")].map((g) => ({ name: g.dataset.name,
        kind: g.getAttribute("class").split("p-curve-")[1], colour: getComputedStyle(g.querySelector("path")).stroke,
        width: parseFloat(getComputedStyle(g.querySelector("path")).strokeWidth),
        points: [...(g.querySelector("path").getAttribute("d").match(/[ML][^ML]+/g) ?? []).map((p) =>
          p.slice(1).split(" ").map(Number)), ...circles(g)] })) })),
  };
}"""


@functools.cache
def lines(part):
    """The runs of a part of the record."""
    return measured.record_of("norm_placement")[part]


def found(part, **setting):
    """The runs of these settings, a list for the seeds."""
    runs = [one for one in lines(part) if setting.items() <= one.items()]
    right(len(runs) == 3, f"{setting}: {len(runs)} runs in the record")
    return sorted(runs, key=lambda run: run["seed"])


def began(s, place):
    """How the first weights of a placement were drawn."""
    own = "scaled" if place == "deep" else "plain"
    return own if s["view"] == "race" or s["start"] == "own" else s["start"]


def called(s, place):
    """Its name; the half of DeepNorm, where it is only that."""
    half = {("deep", "plain"): "α alone", ("post", "scaled"): "β alone"}
    return half.get((place, began(s, place)), NAMES[place])


def seen(s, place):
    """What the chosen view draws for a placement: x, and for each picture the runs."""
    if s["view"] == "race":
        setting = {name: s[name] for name in ("layers", "lr", "warmup")}
        n = s["step"] // 5
        curves = [run["curve"][:n] for run in found("race", placement=place, **setting)]
        return [5 * (i + 1) for i in range(n)], [curves]  # at step 0 nothing is measured yet
    runs = found("layers", placement=place, layers=s["depth"], start=began(s, place))
    return runs[0]["at"], [[run[what] for run in runs] for what in ("activation", "gradient")]


class Spy(torch.nn.Module):
    """Does a thing and notes that it did."""

    def __init__(self, name, act, notes):
        super().__init__()
        self.name, self.act, self.notes = name, act, notes

    def forward(self, x):
        y = self.act(x)
        self.notes.append((self.name, y))
        return y


def observed(place):
    """Of the class of a placement: what happens on the branch, in order, and on the stream."""
    notes, x = [], torch.tensor([3.0, 1.0, -2.0, 0.5], dtype=torch.float64)
    f = Spy("f", lambda v: torch.tanh(v) + 0.3 * v.roll(1), notes)
    norm = lambda: Spy("norm", layer_norm, notes)  # noqa: E731
    made = {"post": lambda: PostNorm(norm()), "pre": lambda: PreNorm(norm()),
            "sandwich": lambda: SandwichNorm(norm(), norm()),
            "deep": lambda: DeepNorm(norm(), 1.7)}[place]()  # fmt: skip
    y = made(x, f)
    last, result = notes[-1]
    on_stream = last == "norm" and torch.equal(result, y)
    names = [name for name, _ in notes]
    return (names[:-1], True, x, f, y) if on_stream else (names, False, x, f, y)


def same_block(card):
    """The drawing of a connection against its class: the branch upwards, then the stream."""
    branch, after, *_ = observed(card["place"])
    parts, stream = card["parts"], card["stream"]
    on_stream = [part for part in parts if abs(part[1] - stream) < 3]
    beside = sorted((part for part in parts if part[1] > stream + 10), key=lambda part: -part[2])
    right(len(on_stream) + len(beside) == len(parts), f"{card['place']}: a part lies elsewhere")
    right([part[0] for part in beside] == branch, f"{card['place']}: the branch is {beside}")
    rising = [part[0] for part in sorted(on_stream, key=lambda part: -part[2])]
    wanted = ["alpha"] * (card["place"] == "deep") + ["add"] + ["norm"] * after
    right(rising == wanted, f"{card['place']}: the stream has {rising}")
    add = next(part for part in on_stream if part[0] == "add")
    right(all(part[2] > add[2] for part in beside), f"{card['place']}: added too early")
    texts = {"norm": "Norm", "f": "f", "alpha": "× α", "add": ""}
    right(all(part[3] == texts[part[0]] for part in parts), f"{card['place']}: other words")


def same_formula(text, place):
    """The formula, computed, is what the class computes."""
    _, _, x, f, y = observed(place)
    body = text.split("=")[1].split(",")[0].replace("α x", "1.7 * x")
    scope = {"Norm": layer_norm, "f": f, "x": x}
    right(torch.allclose(eval(body, scope), y), f"{text!r} is not {place}")


def scale(ticks, log=False):
    """From pixels back to numbers, by two ticks of an axis."""
    (a, at), (b, to) = ticks[0], ticks[-1]
    if log:
        return lambda p: math.exp(math.log(a) + (p - at) / (to - at) * (math.log(b) - math.log(a)))
    return lambda p: a + (p - at) / (to - at) * (b - a)


def same_chart(drawn, x, runs, chosen, colours, log, names):
    """Each seed thin, their median thick, in the colour of the card."""
    ends = [(0, 160) if "Loss" in drawn["caption"] else (x[0], x[-1]), drawn["base"]]
    few = len(drawn["ticks"][0]) < 2  # a narrow phone: then by the ends of the axis
    across = scale(list(zip(*ends, strict=True)) if few else drawn["ticks"][0])
    up = scale(drawn["ticks"][1], log)
    (low, bottom), (high, top) = drawn["ticks"][1][0], drawn["ticks"][1][-1]
    unit = abs((math.log(high / low) if log else high - low) / (top - bottom))
    for place, seeds in runs.items():
        curves = [one for one in drawn["curves"] if one["name"] == names[place]]
        thin = [one for one in curves if one["kind"] == "run"]
        thick = [one for one in curves if one["kind"] == "line"]
        right(len(thin) == len(seeds) == 3, f"{place}: {len(thin)} seeds are drawn")
        right(len(thick) == 1, f"{place}: {len(thick)} medians")
        middle = [statistics.median(values) for values in zip(*seeds, strict=True)]
        for one, values in zip([*thin, *thick], [*seeds, middle], strict=True):
            right(one["colour"] == colours[place], f"{place} in {one['colour']}")
            points = [(across(px), up(py)) for px, py in one["points"]]
            right(len(points) == len(x), f"{place}: {len(points)} points, not {len(x)}")
            for (along, value), at, want in zip(points, x, values, strict=True):
                right(abs(along - at) < 0.012 * max(x) + 0.5, f"{place}: at {along}, not {at}")
                off = abs(math.log(value / want)) if log else abs(value - want)
                right(off < 1.2 * unit, f"{place} at {at}: {value}, not {want}")
        right((thick[0]["width"] > 3) == (place == chosen), f"{place} is {thick[0]['width']} wide")


def fates(losses):
    """How many seeds are below a tenth, how many still near the guess, and how many between."""
    within = {
        "Seeds below 0.1 nats": (-1, 0.1),
        "In between": (0.1, 2.5),
        "Above 2.5 nats": (2.5, 99),
    }
    counted = {}
    for word, (low, high) in within.items():
        found = {n: sum(low <= v < high for v in seeds) for n, seeds in losses.items()}
        if any(found.values()):
            counted[word] = {name: n for name, n in found.items() if n}
    return counted


def norm_placement(root, s):
    """The blocks, the curves, the settings, the words, and what Python reads."""
    drawn, racing = ask(root, SHOWN), s["view"] == "race"
    right([card["place"] for card in drawn["cards"]] == list(NAMES), "other cards")
    colours = {card["place"]: card["role"] for card in drawn["cards"]}
    right(len(set(colours.values())) == 4, "two placements of one colour")
    for card in drawn["cards"]:
        same_block(card)
        right(card["name"] == called(s, card["place"]), card["name"])
        right(card["norm"] == card["role"], f"{card['place']}: its norm in another colour")
        right((card["pressed"] == "true") == (card["place"] == s["placement"]), "another card")
    same_formula(drawn["formula"], s["placement"])
    small = began(s, s["placement"]) == "scaled"
    right(("small at first" in drawn["formula"]) == small, drawn["formula"])
    wanted = {"What to look at": ["The race" if racing else "Layer by layer"]}
    if racing:
        wanted |= {"learning rate": [f"{s['lr']:g}"], "layers": [str(s["layers"])]}
        wanted |= {"warm-up": [f"{s['warmup']} steps" if s["warmup"] else "none"]}
    else:
        wanted |= {"layers": [f"{s['depth']:,}"]}
        wanted |= {"first weights": [STARTS[s["start"]]]}
    right(drawn["pressed"] == wanted, f"{drawn['pressed']} are pressed, not {wanted}")
    right(drawn["film"] == [f"step {s['step']}"] * racing, f"the player says {drawn['film']}")
    right(len(drawn["charts"]) == (1 if racing else 2), f"{len(drawn['charts'])} charts")
    x, _ = seen(s, "post")
    names = {place: called(s, place) for place in NAMES}
    for n, picture in enumerate(drawn["charts"]):
        runs = {place: seen(s, place)[1][n] for place in NAMES}
        same_chart(picture, x, runs, s["placement"], colours, not racing, names)
    if racing:
        at = drawn["charts"][0]["at"]
        along = scale(list(zip((0, 160), drawn["charts"][0]["base"], strict=True)))
        right(abs(along(at) - s["step"]) < 1, f"the line stands at {along(at)}")
        was = "Dotted: " + NAMES[s["placement"]] in drawn["charts"][0]["caption"]
        right(was == bool(drawn["ghosts"]), drawn["charts"][0]["caption"])
    (race if racing else inside)(drawn, s)
    right("Measured runs" in drawn["say"] or (racing and not s["step"]), drawn["say"])


def race(drawn, s):
    """The losses of the step, on the cards, in the sentence and for Python."""
    losses = {
        place: [run[-1] for run in seen(s, place)[1][0]] if s["step"] else [] for place in NAMES
    }
    right(s["losses"] == list(losses.values()), f"Python reads {s['losses']}")
    up = scale(drawn["charts"][0]["ticks"][1])
    right(abs(up(drawn["charts"][0]["marks"][0]) - CHANCE) < 0.03, "the guess is marked elsewhere")
    for card in drawn["cards"]:
        told = losses[card["place"]]
        if not told:
            right(card["text"] == "–", card["text"])
            continue
        right(card["text"].endswith(" nats"), card["text"])
        right(says(card["text"][:-5], statistics.median(told), 2), f"{card['text']}: {told}")
    if s["step"]:
        right(drawn["say"].startswith(f"Step {s['step']} of 160. "), drawn["say"])
        told = re.findall(r"([A-Z][^:]+): ([^.]+)\.", drawn["say"].split(". ", 1)[1])
        counted = {
            word: {one.split()[0]: int(one.split()[1]) for one in names.split(", ")}
            for word, names in told
        }
        wanted = fates({NAMES[place]: seeds for place, seeds in losses.items()})
        right(counted == wanted, f"{drawn['say']!r}, not {wanted}")


def inside(drawn, s):
    """The sizes at the ends, on the cards, in the sentence and for Python."""
    sizes = []
    for place in NAMES:
        _, (stream, slopes) = seen(s, place)
        ends = [(a[-1], g[0], g[-1]) for a, g in zip(stream, slopes, strict=True)]
        sizes.append([statistics.median(end) for end in zip(*ends, strict=True)])
    right(s["sizes"] == sizes, f"Python reads {s['sizes']}, not {sizes}")
    for card, (size, *_) in zip(drawn["cards"], sizes, strict=True):
        right(card["text"].startswith("rms ") and says(card["text"][4:], size, 2), card["text"])
    at = list(NAMES).index(s["placement"])
    told = [one for one in NUMBER.findall(drawn["say"]) if re.search(r"[.,]", one)]
    right(drawn["say"].startswith(f"{called(s, s['placement'])}, before"), drawn["say"])
    right(len(told) == 3, drawn["say"])
    for text, value, most in zip(told, sizes[at], (2, 4, 4), strict=True):
        digits = min(most, 3) if value >= 0.1 else most
        right(says(text, value, digits), f"{drawn['say']}: {text}, not {value}")

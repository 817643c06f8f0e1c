"""The whole model as a picture of a few centimetres, made by torch: the mark of "You are here"."""

import math

import torch
from torch import Tensor, nn

from pieces.inside import inside
from pieces.tasks import Task

WORDS, LIGHTS = 9, 5  # columns, and hidden units of each
EACH, LEFT = 24, 14
NEXT, NORM, LAYER, FOOT = 26, 7, 31, 9
WIRE = 0.2  # the least weight that is drawn


def small_model(model: nn.Module, task: Task, text: str) -> str:
    """Return the last words' columns as the inside of an SVG, a group for each kind of part.

    Widths, wires and lights are those of the model on this text: how large the stream is, where a
    head looks, the widest open hidden units, and the probability of the likeliest next word.
    """
    ids = torch.tensor([task.ids[word] for word in task.cut(text) if word in task.ids])
    values = inside(model, ids)
    first = max(0, len(ids) - WORDS)
    shown = {name: value[..., first:, :] for name, value in values.items()}
    layers = len(model.stack.blocks)
    n = len(ids) - first
    tops = [NEXT + NORM + LAYER * (layers - 1 - at) for at in range(layers)]
    ground = NEXT + NORM + LAYER * layers
    thinks = "layer.1.feed_forward" in shown  # a model of attention alone has none
    turned = [at + 24 for at in tops] if "positions" not in values else [ground - 2]
    ruled = [top + y for top in tops for y in ((12.4, 28) if thinks else (28,))]
    drawn = {
        "path": [_pipes(shown, layers, tops, ground)],
        "embedding": [_row(ground, FOOT - 3, n)],
        "positions": [_clocks(y, n) for y in turned],
        "attention": [
            _wires(shown[f"layer.{at + 1}.weights"][..., first:], top + 15)
            for at, top in enumerate(tops)
        ],
        "feed_forward": [_lights(shown, at + 1, top + 1) for at, top in enumerate(tops) if thinks],
        "norm": [_row(y, 1.2, n) for y in (*ruled, NEXT + 2)],
        "next word": [_bars(shown["logits"])],
    }
    return "".join(
        f'<path class="here-{kind.replace(" ", "-")}" d="{"".join(paths)}"/>'
        for kind, paths in drawn.items()
        if paths
    )


def size(model: nn.Module) -> tuple[int, int]:
    """Return width and height of the picture."""
    return LEFT * 2 + EACH * (WORDS - 1), NEXT + NORM + LAYER * len(model.stack.blocks) + FOOT


def _x(t: int) -> int:
    """The middle of a column."""
    return LEFT + EACH * t


def _box(x: int | float, y: int | float, width: int | float, height: int | float) -> str:
    """A box as a piece of a path."""
    return f"M{x:.3g} {y:.3g}h{width:.2g}v{height:.2g}h-{width:.2g}z"


def _row(y: int | float, height: int | float, n: int) -> str:
    """A mark on each column."""
    return "".join(_box(_x(t) - 8, y, 16, height) for t in range(n))


def _pipes(shown: dict[str, Tensor], layers: int, tops: list[int], ground: int) -> str:
    """The stream of each word, as wide behind each part as it is strong, by its logarithm."""
    strips = [("embedding", ground - 4, 4)]
    for at in range(layers):
        last = "feed_forward" if f"layer.{at + 1}.feed_forward" in shown else "attention"
        strips += [(f"layer.{at + 1}.attention", tops[at] + 13, 14)]
        strips += [(f"layer.{at + 1}.{last}", tops[at] - (NORM - 3 if at == layers - 1 else 4), 15)]
    found = ""
    for name, y, high in strips:
        for t, column in enumerate(shown[f"{name}.stream"]):
            strong = math.log10(max(float(column.square().mean().sqrt()), 1e-9))
            wide = 14 * min(1.0, max(0.1, (strong + 1) / 3.2))
            found += _box(_x(t) - wide / 2, y, wide, high)
    return found


def _wires(weights: Tensor, y: int) -> str:
    """Where the heads look: from a word back to another, with a weight of at least ``WIRE``."""
    looked = weights.amax(0)
    pairs = [(i, j) for i in range(len(looked)) for j in range(i) if looked[i, j] > WIRE]
    return "".join(f"M{_x(j)} {y + 11}L{_x(i)} {y}" for i, j in pairs)


def _lights(shown: dict[str, Tensor], layer: int, y: int) -> str:
    """The widest open hidden units of each word; of experts, which of them it visits."""
    found = ""
    experts = shown.get(f"layer.{layer}.experts")
    units = None if experts is not None else shown[f"layer.{layer}.units"].abs()
    top = 0.0 if units is None else float(units.max())
    for t in range(len(shown["logits"])):
        if units is None:
            found += "".join(_box(_x(t) - 9 + 5 * int(e), y, 3.4, 9) for e in experts[t])
            continue
        for at, value in enumerate(units[t].sort(descending=True).values[:LIGHTS]):
            high = 1 + 9 * float(value) / top
            found += _box(_x(t) - 9 + 4 * at, y + 10 - high, 2, high)
    return found


def _clocks(y: int, n: int) -> str:
    """A hand that every word turns a little further."""
    ends = [(_x(t) + 5 * math.sin(t), y - 5 * math.cos(t)) for t in range(n)]
    return "".join(f"M{_x(t)} {y}L{x:.3g} {y2:.3g}" for t, (x, y2) in enumerate(ends))


def _bars(logits: Tensor) -> str:
    """The probability of the likeliest next word."""
    likely = logits.softmax(-1).amax(-1)
    return "".join(
        _box(_x(t) - 5, NEXT - 3 - high, 10, high) for t, high in enumerate((20 * likely).tolist())
    )

"""Chapter 8: what a hidden unit is for, and what is seen when it is held."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from pieces.book import measured
from pieces.book.tables import Table, table
from pieces.trained import load

Held = Mapping[str, int | float]  # by "layer.unit": the value it is held at, for every word


def units(names: Sequence[str] = ("3.147", "2.145", "1.3"), most: int = 3) -> Table:
    """What some units do to the next word, as experiments/hidden_units.py measured it."""
    known, words = (
        measured.record_of("hidden_units")["units"],
        load("stories_llama").task.vocabulary,
    )
    rows = []
    for name in names:
        opened = ", ".join(words[token] for token, _ in known[name]["words"][:most])
        rows.append([f"{name}: {opened}", known[name]["closed"], known[name]["held"]])
    return table(
        rows,
        ["unit, and what opens it", "shut", "held open"],
        caption="How much probability moves to other next words when a unit is shut where it was "
        "open, and held open where it was shut; means over 20 stories.",
    )


def times(bends: Sequence[str] = ("Swish", "GELU", "GELU as written", "GELU by tanh")) -> Table:
    """How long each bend takes beside ReLU, alone and in its layer: experiments/bend_speed.py."""
    record = measured.record_of("bend_speed")

    def told(part: str, name: str, digits: int) -> str:
        middle, low, high = (record[part][name][of] for of in ("median", "low", "high"))
        return f"{middle:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"

    rows = [[name, told("alone", name, 1), told("layer", name, 2)] for name in bends]
    caption = "Time as a multiple of that with ReLU, the bend alone and the whole layer: median "
    caption += f"and quartiles of {record['rounds']} rounds, {record['T']} words, "
    return table(rows, ["bend", "alone", "layer"], caption=caption + f"D = {record['D']}.")


def read_holding(text: str, held: Held | None = None) -> tuple[dict[int, Tensor], dict[str, float]]:
    """Read a text with units held: the hidden units of each layer, and the next word's chances.

    The units are those at the last word, as they stand before they are held.
    """
    shipped, seen = load("stories_llama"), {}

    def hold(layer: int, module: nn.Module, args: Any, output: Tensor) -> Tensor:
        seen[layer] = output[0, -1]
        output = output.clone()
        for name, value in (held or {}).items():
            at, unit = map(int, name.split("."))
            if at == layer:
                output[..., unit - 1] = value
        return output

    blocks = enumerate(shipped.model.stack.blocks, start=1)
    hooks = [
        block.feed_forward.dropout.register_forward_hook(partial(hold, layer))
        for layer, block in blocks
    ]
    with torch.no_grad():
        p = shipped.model(shipped.task.encode(text)[None])[0, -1].softmax(-1)
    for hook in hooks:
        hook.remove()
    return seen, dict(zip(shipped.task.vocabulary, p.tolist(), strict=True))


def readings(texts: Mapping[str, tuple[str, Held]], unit: str = "3.147") -> Table:
    """Read each text with some units held: the unit at the last word, and what comes next."""
    layer, place = map(int, unit.split("."))
    rows = []
    for title, (text, held) in texts.items():
        seen, p = read_holding(text, held)
        value = held.get(unit, seen[layer][place - 1].item())
        rows.append([title, value, p["boy"] + p["girl"], p["red"]])
    return table(
        rows,
        ["the text ends", unit, "boy or girl", "red"],
        digits=[0, 0, 2, 2],
        caption="The unit at the last word, and what the model expects next.",
    )

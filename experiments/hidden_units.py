"""Every hidden unit of the stories LLaMA: which words open it, and what comes of holding it.

python experiments/hidden_units.py

Over 200 held-out stories, each unit's value at each word. `words`: where its mean is largest.
`family` counts the words whose mean is at least half the largest. A unit is open where its value is
beyond half its peak (the 99.8th percentile of its size); `specific` is the share of those places
that lie on words of the family, and `followed` the share at which one of `rises` comes next. Over
20 stories:
`closed` is how far the next-word probabilities move (total variation) where it was open and is
held at 0; `held`, how far they move elsewhere when it is held at its peak, and `rises`, the words
that gain most there. A total variation of 1 is another word for certain, 0 is no change.
"""

import json
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from common import RECORDS
from kept import MEASURED
from pieces import trained
from pieces.trace import record

STORIES, HELD_STORIES, SEED, AT_ONCE = 200, 20, 2024, 50
WORDS, SEEN, PEAK = 8, 5, 0.998
NAME = "hidden_units"
SHOWN = 5  # words that the widget shows of a unit
PACKAGED = MEASURED


@torch.no_grad()
def values(model: nn.Module, ids: Int[Tensor, "N T"]) -> Float[Tensor, "layers N T F"]:
    """What each hidden unit is at each word."""
    found = []
    for part in ids.split(AT_ONCE):
        with record(model, outputs=["stack.blocks.*.feed_forward.dropout"]) as trace:
            model(part)
        found.append(torch.stack([trace[name]["output"] for name in unit_places(model)]))
    return torch.cat(found, dim=1)


def unit_places(model: nn.Module) -> list[str]:
    """The modules whose outputs are the hidden units, first layer first."""
    return [
        f"stack.blocks.{layer}.feed_forward.dropout" for layer in range(len(model.stack.blocks))
    ]


@torch.no_grad()
def with_unit(
    model: nn.Module, ids: Int[Tensor, "N T"], layer: int, unit: int, value: float
) -> Float[Tensor, "N T V"]:
    """The next-word probabilities with one unit held at a value, for every word."""

    def hold(module: nn.Module, args: tuple, output: Tensor) -> Tensor:
        held = output.clone()
        held[..., unit] = value
        return held

    hook = model.get_submodule(unit_places(model)[layer]).register_forward_hook(hold)
    try:
        return model(ids).softmax(-1)
    finally:
        hook.remove()


def means(value: Float[Tensor, "N T"], ids: Int[Tensor, "N T"], size: int) -> tuple:
    """The mean value at each word of the vocabulary, and how often it was seen."""
    count = torch.bincount(ids.flatten(), minlength=size)
    total = torch.zeros(size).index_add_(0, ids.flatten(), value.flatten())
    return total / count.clamp(min=1), count


def opened(value: Float[Tensor, "N T"], ids: Int[Tensor, "N T"], size: int) -> dict[str, Any]:
    """Which words open a unit, how far, and how well that tells where it is open."""
    mean, count = means(value, ids, size)
    mean = torch.where(count >= SEEN, mean, 0)
    peak = float(value.abs().flatten().quantile(PEAK))
    sign = 1 if mean[mean.abs().argmax()] > 0 else -1
    order = (sign * mean).argsort(descending=True)
    family = (sign * mean > sign * mean[order[0]] / 2).nonzero()[:, 0]
    wide = ids[sign * value > peak / 2]
    return {
        "peak": sign * peak,
        "lowest": float(value.min()),
        "highest": float(value.max()),
        "open": len(wide) / value.numel(),
        "specific": float(torch.isin(wide, family).float().mean()) if len(wide) else 0.0,
        "family": len(family),
        "words": [[int(i), float(mean[i])] for i in order[:WORDS]],
    }


def effect(
    model: nn.Module, ids: Int[Tensor, "N T"], plain: Tensor, value: Tensor, at: tuple, peak: float
) -> dict[str, Any]:
    """How far the next words move when the unit is held: shut where open, open where shut."""
    wide = value.abs() > abs(peak) / 2

    def moved(there: Tensor, held: float) -> tuple[float, Tensor]:
        if not there.any():
            return 0.0, torch.zeros(plain.shape[-1])
        change = (with_unit(model, ids, *at, held) - plain)[there]
        return float(change.abs().sum(-1).mean() / 2), change.mean(0)

    closed, _ = moved(wide, 0.0)
    held, change = moved(~wide, peak)
    gains = change.topk(3)
    rises = [[int(i), float(c)] for c, i in zip(*(t.tolist() for t in gains), strict=True)]
    return {"closed": closed, "held": held, "rises": rises}


def followed(value: Float[Tensor, "N T"], ids: Int[Tensor, "N T"], known: dict[str, Any]) -> float:
    """How often the word that comes next, where a unit is open, is one that it would raise."""
    sign = 1 if known["peak"] > 0 else -1
    wide = (sign * value > abs(known["peak"]) / 2)[:, :-1]
    coming = torch.isin(ids[:, 1:], torch.tensor([i for i, _ in known["rises"]]))
    return float(coming[wide].float().mean()) if wide.any() else 0.0


def examine() -> list[dict[str, Any]]:
    """Every unit, layer by layer."""
    shipped = trained.load("stories_llama")
    model, task = shipped.model, shipped.task
    generator = torch.Generator().manual_seed(SEED)
    ids = task.batch(STORIES, "held_out", generator=generator).input_ids
    found, few = values(model, ids), ids[:HELD_STORIES]
    with torch.no_grad():
        plain = model(few).softmax(-1)
    units = []
    for layer, unit in [(n, u) for n in range(len(found)) for u in range(found.shape[-1])]:
        value = found[layer, :, :, unit]
        known = opened(value, ids, task.vocab_size)
        at = (layer, unit)
        known |= effect(model, few, plain, value[:HELD_STORIES], at, known["peak"])
        known["followed"] = followed(value, ids, known)
        units.append({"layer": layer + 1, "unit": unit + 1} | known)
        if unit % 64 == 63:
            print(layer + 1, unit + 1, flush=True)
    return units


def rounded(value: Any) -> Any:
    """Numbers of four digits."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return value


def picked(units: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Units that many words open and few follow, the strongest hand first.

    At least eight words in the family; where it is open, one of the three words that it raises
    comes next in 95 of 100 places; then by how far the next words move when it is held elsewhere.
    """
    fits = [u for u in units if u["family"] >= 8 and u["followed"] >= 0.95]
    return sorted(fits, key=lambda unit: -unit["held"])


def small(units: list[dict[str, Any]]) -> str:
    """What the package keeps of each unit: `size` is that of its largest value."""
    lines = []
    for unit in units:
        kept = {name: unit[name] for name in ("family", "followed", "closed", "held")}
        kept |= {"size": max(abs(unit["lowest"]), abs(unit["highest"]))}
        kept |= {"words": [[i, m] for i, m in unit["words"][:SHOWN] if m * unit["peak"] > 0]}
        lines.append(f'"{unit["layer"]}.{unit["unit"]}": {json.dumps(kept)}')
    head = json.dumps({"stories": STORIES, "held_stories": HELD_STORIES}).removesuffix("}")
    return head + ', "units": {\n' + ",\n".join(lines) + "\n}}\n"


def main() -> None:
    """Write the record, and the small file that the widget reads."""
    units = [{key: rounded(value) for key, value in unit.items()} for unit in examine()]
    sizes = {"stories": STORIES, "held_stories": HELD_STORIES, "seed": SEED, "peak": PEAK}
    head = {"name": NAME, "about": " ".join((__doc__ or "").split()), **sizes}
    lines = ",\n  ".join(json.dumps(unit) for unit in units)
    text = json.dumps(head, indent=1).removesuffix("\n}") + f',\n "units": [\n  {lines}\n ]\n}}\n'
    RECORDS.mkdir(exist_ok=True)
    (RECORDS / f"{NAME}.json").write_text(text, encoding="utf-8")
    (PACKAGED / f"{NAME}.json").write_text(small(units), encoding="utf-8")


if __name__ == "__main__":
    main()

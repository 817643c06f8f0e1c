"""The tables of chapter 14: what a router looks at, who is missed, what balance costs."""

import itertools
import math
import statistics
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from pieces.book.measured import record_of
from pieces.book.tables import Table, table
from pieces.losses import next_token_loss

SETTINGS = ((8, 1), (16, 1), (8, 2))  # experts, and how many of them a word visits


def predicted(routings: Sequence, ids: Tensor) -> list[tuple[float, float]]:
    """Return for each layer how many first choices the word alone predicts, and the busiest takes.

    The first half of the texts gives each word its favourite expert; the other half is asked.
    """
    seen, new = ids.flatten().chunk(2)
    found = []
    for routing in routings:
        learned, asked = routing.experts[..., 0].flatten().chunk(2)
        counts = torch.zeros(int(ids.max()) + 1, routing.logits.shape[-1])
        counts.index_put_((seen, learned), torch.ones(len(seen)), accumulate=True)
        right = (counts.argmax(1)[new] == asked).double().mean()
        busiest = asked.bincount().max() / len(asked)
        found.append((100 * right.item(), 100 * busiest.item()))
    return found


def first_choices(routings: Sequence, ids: Tensor) -> Table:
    """Show how well the word alone predicts its first expert, layer by layer."""
    rows = [
        [f"layer {n}", *(round(share) for share in shares)]
        for n, shares in enumerate(predicted(routings, ids), start=1)
    ]
    headers = ["", "from the word, %", "naming the busiest, %"]
    caption = "First choices predicted, in 100 texts that gave no favourites."
    return table(rows, headers, digits=0, caption=caption)


@torch.no_grad()
def loss_without(model: nn.Module, batch: Any, layer: int = 0, expert: int = 0) -> float:
    """Return nats a word with one expert shut (both from 1): its score becomes minus infinity."""
    hooks = []
    if layer:
        gate = model.stack.blocks[layer - 1].feed_forward.router.gate
        place = torch.tensor(expert - 1)
        hooks.append(
            gate.register_forward_hook(lambda _, x, out: out.index_fill(-1, place, -math.inf))
        )
    total, count = next_token_loss(model, batch)
    for hook in hooks:
        hook.remove()
    return (total / count).item()


def missed(model: nn.Module, batch: Any) -> list[list[float]]:
    """Return by how much the loss rises without each expert, layer by layer."""
    whole = loss_without(model, batch)
    layers, experts = range(1, model.config.n_layers + 1), range(1, model.config.n_experts + 1)
    return [[loss_without(model, batch, n, e) - whole for e in experts] for n in layers]


def without_each(model: nn.Module, batch: Any) -> Table:
    """Show how much the loss rises when one expert is shut."""
    rows = [[f"layer {n}", *row] for n, row in enumerate(missed(model, batch), start=1)]
    headers = ["", *(f"expert {e}" for e in range(1, len(rows[0])))]
    return table(rows, headers, caption="Rise of the loss with one expert shut, in nats a word.")


def runs_of(experts: int, k: int, balance: float) -> list[dict]:
    """Return the measured runs of a setting, by seed."""
    wanted = {"experts": experts, "k": k, "balance": balance}
    runs = (run for run in record_of("expert_load")["runs"] if wanted.items() <= run.items())
    return sorted(runs, key=lambda run: run["seed"])


def busiest(experts: int, k: int, balance: float, layer: int = 1) -> list[float]:
    """Return the share of words that the busiest gets at the end in per cent, for each seed."""
    return [k * max(run["load"][-1][layer - 1]) / 10 for run in runs_of(experts, k, balance)]


def harm(experts: int, k: int, balance: float = 0.1) -> list[float]:
    """Return how much farther from the floor each seed ends with the balance loss, in nats."""
    pairs = zip(runs_of(experts, k, balance), runs_of(experts, k, 0.0), strict=True)
    return [one["above_floor"] - other["above_floor"] for one, other in pairs]


def with_balance() -> Table:
    """Show the busiest expert and the distance to the floor, by the weight of the balance loss."""
    rows = []
    for (experts, k), balance in itertools.product(SETTINGS, (0.0, 0.01, 0.1)):
        above = [run["above_floor"] for run in runs_of(experts, k, balance)]
        shares = f"{statistics.median(busiest(experts, k, balance)):.0f}"
        spread = f"{min(above):.2f} to {max(above):.2f}"
        rows.append([f"{experts}, {k} visited", f"{balance:g}", shares, spread])
    caption = (
        "Words that visit the busiest of layer 1 at the end (median of three seeds), "
        "and nats above the floor, on held-out stories (least to most)."
    )
    return table(rows, ["experts", "weight", "busiest, %", "above floor"], caption=caption)


def parameters(model: nn.Module) -> dict[str, int]:
    """Return the parameters of a mixture of experts, counted by part."""
    config = model.config
    total = sum(p.numel() for p in model.parameters())
    experts = sum(p.numel() for n, p in model.named_parameters() if ".experts." in n)
    one = experts // (config.n_layers * config.n_experts)
    active = total - experts + config.n_layers * config.k * one
    counted = one, experts, total - experts, total, active
    names = "one expert", "all experts", "all the rest", "total", "active for a word"
    return dict(zip(names, counted, strict=True))


def parameters_of(large: nn.Module, small: nn.Module) -> Table:
    """Show the parameters of a large model, in billions, beside those of a small one."""
    ours = parameters(small)
    rows = [[name, n / 1e9, ours[name] / 1e6] for name, n in parameters(large).items()]
    return table(rows, ["parameters", "Mixtral, billions", "ours, millions"])


def times() -> dict[tuple[int, int], dict]:
    """Return the measured times, by the words of a batch and the number of experts."""
    return {(row["T"], row["E"]): row for row in record_of("expert_speed")["rows"]}


def speed(few: int = 16, many: int = 1024) -> Table:
    """Show the time of a mixture as a multiple of the dense network of equal work."""
    rows, found = [], times()
    for E in sorted({E for _, E in found}):
        dense = found[many, E].get("dense")
        sparse = [found[T, E]["sparse"]["median"] for T in (many, few)]
        rows.append([E, *sparse, dense["median"] if dense else ""])
    headers = ["experts E", f"{many:,} words", f"{few} words", f"{many:,}, all E computed"]
    caption = (
        "Time on one processor core, as a multiple of the network of equal work; k = 2, medians."
    )
    return table(rows, headers, digits=[0, 2, 2, 2], caption=caption)

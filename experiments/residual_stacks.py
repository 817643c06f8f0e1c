"""Stacks with and without skip connections, each at its own best learning rate.

    python experiments/residual_stacks.py choose    # seeds that only choose, on a grid of rates
    python experiments/residual_stacks.py judge     # five other seeds, each kind at what it chose

Four kinds of block that differ in the connection only, x + f(Norm(x)), f(Norm(x)), x + f(x) and
f(x), at three depths. The models, the task and Adam are those of norm_placement.py; the stacks end
with a norm. The rate is constant. The lowest mean loss at the end, over the seeds that choose, is
what a kind is judged with; where the best stands at the edge of the grid, it is said so.
``end`` is the mean of the last ten steps.
"""

import statistics
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from kept import MEASURED, keep_parts, one_part, parts_of
from pieces.attention import CausalCore, MultiHeadAttention
from pieces.blocks import Block, Stack
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import FeedForward
from pieces.models.decoder_only import DecoderOnly
from pieces.norms import LayerNorm
from pieces.positions import Learned
from pieces.residual import PreNorm, Residual, Sublayer, deepnorm_init_
from placed import LENGTH, TASK
from side_by_side import BATCH, BETAS, side_by_side

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "experiments" / "records" / "residual_stacks.json"
PACKAGED = MEASURED / "residual_stacks.json"

D, HEADS = 16, 2
KINDS = ("skip and norm", "norm", "skip", "neither")
LAYERS = (1, 4, 12)
RATES = (2.5e-4, 5e-4, 1e-3, 2e-3, 4e-3, 8e-3, 1.6e-2, 3.2e-2, 6.4e-2)
STEPS, LAST, POINTS = 300, 10, 30
PARTS = ("choose", "judge")
CHOOSING, SEEDS = (100, 101), (0, 1, 2, 3, 4)
Setting = dict[str, Any]


class Straight(nn.Module):
    """No skip: what the sublayer makes of x is all that goes on."""

    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, x: Tensor, sublayer: Sublayer, **options: Any) -> Tensor:
        """y = f(Norm(x))"""
        return sublayer(self.norm(x), **options)


def connection(kind: str) -> nn.Module:
    """The connection of one sublayer."""
    return {
        "skip and norm": lambda: PreNorm(LayerNorm(D)),
        "norm": lambda: Straight(LayerNorm(D)),
        "skip": Residual,
        "neither": lambda: Straight(nn.Identity()),
    }[kind]()


def started(seed: int, kind: str, layers: int) -> DecoderOnly:
    """A model of this seed, with Xavier's first weights."""
    torch.manual_seed(seed)
    blocks = [
        Block(
            MultiHeadAttention(D, HEADS, core=CausalCore()),
            FeedForward(D, 4 * D),
            attention_residual=connection(kind),
            feed_forward_residual=connection(kind),
        )
        for _ in range(layers)
    ]
    stack = Stack(blocks, LayerNorm(D))
    deepnorm_init_(stack, 1.0)
    position = Learned(LENGTH, D)
    nn.init.normal_(position.weight, std=D**-0.5)
    head = nn.Linear(D, TASK.vocab_size, bias=False)
    return DecoderOnly(TokenEmbedding(TASK.vocab_size, D), stack, position=position, head=head)


def run(kind: str, layers: int, rates: tuple[float, ...], seeds: tuple[int, ...]) -> list[Setting]:
    """One kind at one depth, by each rate from each seed."""
    own = {"kind": kind, "layers": layers}
    lines = [own | {"lr": lr, "warmup": 0, "seed": seed} for lr in rates for seed in seeds]
    models = [started(line["seed"], kind, layers) for line in lines]
    side_by_side(models, STEPS, lines, stretch=STEPS // POINTS)
    return [{key: value for key, value in line.items() if key != "warmup"} for line in lines]


def choose(made: dict[str, Any]) -> None:
    """Make the grids that are not there yet: of each rate, where its seeds ended."""
    for layers in LAYERS:
        for kind in KINDS:
            own = {"kind": kind, "layers": layers}
            done = {one["lr"] for one in made["choose"] if own.items() <= one.items()}
            waiting = tuple(lr for lr in RATES if lr not in done)
            lines = run(kind, layers, waiting, CHOOSING) if waiting else []
            for lr in waiting:
                ends = [ended(line) for line in lines if line["lr"] == lr]
                made["choose"].append(own | {"lr": lr, "seeds": list(CHOOSING), "end": ends})
            keep_parts(made, PARTS, (RECORD, PACKAGED))
            print(own, flush=True)


def ended(line: Setting) -> float | None:
    """The loss at the end; None where the numbers ended before."""
    return line["curve"][-1] if len(line["curve"]) == POINTS else None


def best(made: dict[str, Any], kind: str, layers: int) -> dict[str, Any]:
    """The rate that a kind chose, and whether a better one may lie beyond the grid."""
    own = [one for one in made["choose"] if (one["kind"], one["layers"]) == (kind, layers)]
    finite = [one for one in own if None not in one["end"]]
    found = min(finite, key=lambda one: statistics.fmean(one["end"]))
    return {"lr": found["lr"], "at_edge": found["lr"] in (RATES[0], RATES[-1])}


def judge(made: dict[str, Any]) -> None:
    """Make the judged runs that are missing, with their curves."""
    for layers in LAYERS:
        for kind in KINDS:
            chosen = best(made, kind, layers)
            own = {"kind": kind, "layers": layers, "lr": chosen["lr"]}
            if sum(own.items() <= one.items() for one in made["judge"]) == len(SEEDS):
                continue
            lines = run(kind, layers, (chosen["lr"],), SEEDS)
            made["judge"] = [one for one in made["judge"]
                             if (one["kind"], one["layers"]) != (kind, layers)]  # fmt: skip
            made["judge"] += [line | {"at_edge": chosen["at_edge"]} for line in lines]
            keep_parts(made, PARTS, (RECORD, PACKAGED))
            print(own, [line["curve"][-1] for line in lines], flush=True)


def kept() -> dict[str, Any]:
    """The record so far."""
    about = {"name": "residual_stacks", "about": " ".join(__doc__.split()), "task": "Copy(16, 6)"}
    sizes = {"d_model": D, "n_heads": HEADS, "d_ff": 4 * D, "steps": STEPS}
    training = {"optimizer": f"Adam, betas {BETAS}", "batch_size": BATCH, **sizes}
    return about | {"training": training} | parts_of(RECORD, PARTS)


def main() -> None:
    """Make what is missing of one part."""
    one_part(__doc__, {"choose": choose, "judge": judge}, kept())


if __name__ == "__main__":
    main()

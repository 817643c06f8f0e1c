"""How long GELU and Swish take beside ReLU, alone and in their layer, and what a gate adds.

    python experiments/bend_speed.py [--rounds 25]

Measured like the norms (norm_speed.py): both sides in turns, in processor time, on one thread; a
figure is the median of the rounds' ratios, with the lower and the upper quartile. The layers are of
one size: two matrices of width 4 D, or three of two thirds of that.
"""

import torch
import torch.nn.functional as F
from torch import nn

from kept import MEASURED
from norm_speed import ratios, timed
from pieces.feedforward import (
    FeedForward,
    GatedFeedForward,
    gelu,
    gelu_tanh,
    relu,
    swish,
    two_thirds,
)

RECORD = MEASURED / "bend_speed.json"
T, D = 256, 512  # tokens, features
# PyTorch's GELU is one pass over the numbers; the formula as the book writes it, five.
BENDS = {"GELU": F.gelu, "GELU as written": gelu, "GELU by tanh": gelu_tanh, "Swish": swish}


def layers(D: int) -> dict[str, nn.Module]:
    """Every layer that is timed beside the one with ReLU."""
    plain = {name: FeedForward(D, 4 * D, bend, bias=False) for name, bend in BENDS.items()}
    width = two_thirds(4 * D)
    gated = {
        name: GatedFeedForward(D, width, bend)
        for name, bend in (("SwiGLU", swish), ("GeGLU", F.gelu))
    }
    return plain | gated


def measured(rounds: int, T: int = T, D: int = D) -> dict:
    """Everything that the record holds."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x, hidden = torch.randn(T, D), torch.randn(T, 4 * D)
    beside = FeedForward(D, 4 * D, relu, bias=False)
    with torch.no_grad():
        return {
            "rounds": rounds,
            "threads": 1,
            "precision": "float32",
            "T": T,
            "D": D,
            "alone": {
                name: ratios(lambda bend=bend: bend(hidden), lambda: relu(hidden), rounds)
                for name, bend in BENDS.items()
            },
            "layer": {
                name: ratios(lambda layer=layer: layer(x), lambda: beside(x), rounds)
                for name, layer in layers(D).items()
            },
        }


if __name__ == "__main__":
    timed(__doc__, measured, RECORD, rounds=25)

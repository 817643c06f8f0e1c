"""How long a mixture of experts takes beside one network that does the same work for each token.

    python experiments/expert_speed.py [--rounds 9]

Each token visits 2 of E experts of width F; beside it stands one gated network of width 2 F, as
many multiplications a token. `dense` is the same layer with k = E, which computes every expert.
Ratios of processor time as in `norm_speed.py`: one thread, float32, no machine named.
"""

import torch
from torch import nn

from kept import MEASURED
from norm_speed import Work, ratios, timed
from pieces.feedforward import GatedFeedForward, swish
from pieces.moe import GatedExperts, MixtureOfExperts, Router

RECORD = MEASURED / "expert_speed.json"
D, F, K = 256, 256, 2
EXPERTS = (2, 4, 8, 16, 32, 64)
TOKENS = (16, 1024)
DENSE = (2, 4, 8, 16)  # beyond that the answer is known, and slow


def mixture(experts: int, k: int = K) -> nn.Module:
    """The layer."""
    return MixtureOfExperts(Router(D, experts, k), GatedExperts(experts, D, F)).eval()


def once_more(layer: nn.Module, T: int) -> Work:
    """A call of the layer on so many tokens."""
    x = torch.randn(T, D)
    return lambda: layer(x)


@torch.no_grad()
def measured(rounds: int) -> dict:
    """Everything that the record holds."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    alone = GatedFeedForward(D, K * F, swish).eval()
    rows = []
    for T in TOKENS:
        beside = once_more(alone, T)
        for E in EXPERTS:
            row = {"T": T, "E": E, "sparse": ratios(once_more(mixture(E), T), beside, rounds)}
            if E in DENSE and T > 16:
                row["dense"] = ratios(once_more(mixture(E, E), T), beside, rounds)
            rows.append(row)
    told = {"threads": 1, "precision": "float32", "D": D, "F": F, "k": K}
    return {"rounds": rounds, **told, "rows": rows}


if __name__ == "__main__":
    timed(__doc__, measured, RECORD, rounds=9)

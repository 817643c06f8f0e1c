"""S2's layer for a mixture of experts, and a short training with a balance loss or without."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pieces.book.tables import Table, table
from pieces.losses import next_token_loss
from pieces.models.llama import LlamaConfig, gated_decoder
from pieces.moe import (
    GatedExperts,
    MixtureOfExperts,
    Router,
    load_balancing_loss,
    route_unnormalised,
    watch_routing,
)
from pieces.tasks import Stories
from pieces.train import TrainConfig, train


def source_layer(
    x: Tensor, gate: nn.Module, experts: Sequence[nn.Module], k: int, mended: int
) -> Tensor:
    """S2's forward pass: `mended` is how many of its two errors have been put right."""
    weights, chosen = torch.topk(gate(x), k)
    weights, output = F.softmax(weights, dim=-1), torch.zeros_like(x)
    for e, expert in enumerate(experts):
        if mended == 0:
            b, t = torch.where(chosen == e)
        else:
            b, t, place = torch.where(chosen == e)
        w = weights[b, t, place if mended == 2 else e]
        output[b, t] += w[:, None] * expert(x[b, t])
    return output


@torch.no_grad()
def as_printed(k: int = 2, seed: int = 4) -> list[str]:
    """Return what the source's layer does as printed, mended once, and mended (E-06)."""
    torch.manual_seed(seed)
    experts = [nn.Linear(768, 768) for _ in range(4)]
    gate, x = nn.Linear(768, 4), torch.randn(8, 128, 768)
    best, chosen = gate(x).topk(k)
    G = torch.zeros(8, 128, 4).scatter(-1, chosen, best.softmax(-1))
    dense = (G[..., None] * torch.stack([expert(x) for expert in experts], -2)).sum(-2)
    found = []
    for mended in range(3):
        try:
            output = source_layer(x, gate, experts, k, mended)
            found.append("right" if torch.allclose(output, dense, atol=1e-5) else "wrong numbers")
        except (ValueError, IndexError) as error:
            found.append(type(error).__name__)
    return found


def source_layers() -> Table:
    """Show what the source's layer does, with two and with all four experts visited (E-06)."""
    rows = [[f"k = {k}", *as_printed(k)] for k in (2, 4)]
    return table(rows, ["", "as printed", "one mended", "both mended"])


def early(balance: float, steps: int = 48, seed: int = 7) -> float:
    """Return the busiest of eight experts' share in layer 1 after so many steps of training."""
    stories, shares = Stories(), []
    sizes = LlamaConfig(stories.vocab_size, 48, 2, 4, d_ff=32, max_seq_len=256, tied=True)
    torch.manual_seed(seed)
    small = gated_decoder(
        sizes,
        lambda: MixtureOfExperts(
            Router(48, 8, 1, choose=route_unnormalised), GatedExperts(8, 48, 32)
        ),
    )
    nn.init.normal_(small.embedding.weight, std=48**-0.5)

    def loss(model, batch):
        with watch_routing(model) as seen:
            words, count = next_token_loss(model, batch)
        shares.append(seen[0].experts.flatten().bincount(minlength=8).max() / count)
        logits = torch.stack([routing.logits for routing in seen])
        return words + balance * load_balancing_loss(logits, 1) * count, count

    config = TrainConfig(steps=steps, batch_size=8, lr=4e-3, warmup=20, seed=seed)
    train(small, stories.batch, config, loss=loss, progress=False)
    return float(shares[-1])

"""The stories LLaMA's sister: its feed-forward networks are mixtures of experts.

    python experiments/stories_moe.py [--seeds 0 1 2] [--steps N]

Each word visits two of four experts, each half as wide as the LLaMA's one network: as many
multiplications a word, more parameters. A loss beside keeps the experts in even use.
"""

from typing import Any

import torch
from torch import Tensor, nn

import held_out
from common import Experiment, run
from pieces.losses import next_token_loss
from pieces.models.mixtral import MixtralConfig, mixtral
from pieces.moe import load_balancing_loss, watch_routing
from pieces.train import TrainConfig
from small_world import TASK, measure, started

SIZES = MixtralConfig(
    TASK.vocab_size,
    96,
    n_layers=3,
    n_heads=4,
    d_ff=112,
    n_kv_heads=4,
    max_seq_len=256,
    tied=True,
    bias=True,
    n_experts=4,
    k=2,
)
BALANCE = 0.01  # times the balancing loss, as in Switch Transformer


def balanced_loss(model: nn.Module, batch: Any) -> tuple[Tensor, Tensor]:
    """The loss of the words, and of uneven use; both summed over the words."""
    with watch_routing(model) as routings:
        loss, count = next_token_loss(model, batch)
    logits = torch.stack([routing.logits for routing in routings])
    return loss + BALANCE * load_balancing_loss(logits, SIZES.k) * count, count


@torch.no_grad()
def use_of_experts(model: nn.Module) -> dict[str, Any]:
    """The share of visits that each expert of each layer gets, on held-out stories."""
    batch = next(held_out.batches(TASK.batch, held_out.AT_ONCE))
    with watch_routing(model) as routings:
        model(batch.input_ids)
    chosen = [routing.experts.flatten() for routing in routings]
    shares = [torch.bincount(each, minlength=SIZES.n_experts) / len(each) for each in chosen]
    return {"use_of_experts": [[round(x, 4) for x in share.tolist()] for share in shares]}


EXPERIMENT = Experiment(
    name="stories_moe",
    about=__doc__,
    task=TASK,
    build=lambda: started(mixtral(SIZES)),
    draw=TASK.batch,
    measure=measure,
    config=TrainConfig(steps=2500, batch_size=8, lr=4e-3, warmup=50, final_share=0.02),
    loss=balanced_loss,
    examine=use_of_experts,
)

if __name__ == "__main__":
    run(EXPERIMENT)

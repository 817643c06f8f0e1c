"""The stories LLaMA's sister: its feed-forward networks are mixtures of experts.

    python experiments/stories_moe.py [--seeds 0 1 2] [--steps N]

Each word visits two of four experts, each half as wide as the LLaMA's one network: as many
multiplications a word, more parameters. A loss beside keeps the experts in even use.

Its words, attention and norms begin as those of the shipped LLaMA, its routers and experts from
nothing; then all of it is trained. (From nothing altogether, 2,500 steps ended 0.13, 0.09 and 0.04
nats above the floor for seeds 0, 1 and 2. Most of what seed 0 lacked was which thing a colour
belongs to, and a longer run had not learned it by step 4,600.) After new weights of the LLaMA, run
it again.
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
from pieces.trained import load
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
BEGUN_FROM = "stories_llama"
BALANCE = 0.01  # times the balancing loss, as in Switch Transformer


def begun() -> nn.Module:
    """The mixture, of which all but the routers and the experts is the shipped LLaMA's."""
    model = started(mixtral(SIZES))
    known = load(BEGUN_FROM).model.state_dict()
    model.load_state_dict(
        {n: w for n, w in known.items() if ".feed_forward." not in n}, strict=False
    )
    return model


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
    build=begun,
    draw=TASK.batch,
    measure=measure,
    config=TrainConfig(steps=1500, batch_size=8, lr=2e-3, warmup=50, final_share=0.02),
    loss=balanced_loss,
    examine=use_of_experts,
    begun_from=BEGUN_FROM,
)

if __name__ == "__main__":
    run(EXPERIMENT)

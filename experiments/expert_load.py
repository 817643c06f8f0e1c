"""Who gets the words? The load of each expert while a small mixture is trained, by balance loss.

    python experiments/expert_load.py 8 1 0.1 [--seeds 0 1 2]     # experts, k, weight of the loss

A decoder of two layers reads the stories. Nothing differs between runs of a seed but the weight of
the balancing loss: 0, 0.01 or 0.1. With k = 1 the router is Switch's (`route_unnormalised`), since
`route` would give it no gradient. Every few steps the share of visits that each expert gets is
noted, in thousandths. A run that is in the record is not done again.
"""

import argparse
import shutil
import time
from typing import Any

import torch
from torch import Tensor, nn

import held_out
from common import RECORDS
from kept import MEASURED, keep_run, missing
from pieces.losses import next_token_loss
from pieces.models.llama import LlamaConfig, gated_decoder
from pieces.moe import (
    GatedExperts,
    MixtureOfExperts,
    Router,
    Routing,
    load_balancing_loss,
    route,
    route_unnormalised,
    watch_routing,
)
from pieces.train import TrainConfig, train
from small_world import TASK

NAME = "expert_load"
PLACE = RECORDS / f"{NAME}.json"
PACKAGED = MEASURED / f"{NAME}.json"
D, F, STEPS, EVERY, ROWS = 48, 32, 240, 8, 200
SIZES = LlamaConfig(TASK.vocab_size, D, n_layers=2, n_heads=4, d_ff=F, max_seq_len=256, tied=True)
TRAINING = TrainConfig(steps=STEPS, batch_size=8, lr=4e-3, warmup=20, final_share=0.1)
KEY = ("experts", "k", "balance", "seed")


def about(steps: int = STEPS) -> dict[str, Any]:
    """What all runs share."""
    return {
        "name": NAME,
        "about": " ".join((__doc__ or "").split()),
        "config": {"d_model": D, "n_layers": 2, "n_heads": 4, "d_ff": F},
        "training": {"steps": steps, "batch_size": 8, "lr": TRAINING.lr, "warmup": 20},
        "every": EVERY,
        "held_out_rows": ROWS,
    }


def model_of(experts: int, k: int, seed: int) -> nn.Module:
    """The decoder; its words start large in the stream, as in `small_world`."""
    choose = route_unnormalised if k == 1 else route

    def mixture() -> MixtureOfExperts:
        return MixtureOfExperts(Router(D, experts, k, choose=choose), GatedExperts(experts, D, F))

    torch.manual_seed(seed)
    model = gated_decoder(SIZES, mixture)
    nn.init.normal_(model.embedding.weight, std=D**-0.5)
    return model


def loads(routings: list[Routing], experts: int) -> list[list[int]]:
    """Of each layer, the share of visits that each expert gets, in thousandths."""
    chosen = [routing.experts.flatten() for routing in routings]
    shares = [torch.bincount(each, minlength=experts) / len(each) for each in chosen]
    return [[round(1000 * share) for share in layer.tolist()] for layer in shares]


def one_run(experts: int, k: int, balance: float, seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Train once, and note who gets the words."""
    model, start, noted, taken = model_of(experts, k, seed), time.process_time(), [], 0

    def loss(model: nn.Module, batch: Any) -> tuple[Tensor, Tensor]:
        nonlocal taken
        with watch_routing(model) as routings:
            words, count = next_token_loss(model, batch)
        if taken % EVERY == 0:
            noted.append(loads(routings, experts))
        taken += 1
        uneven = load_balancing_loss(torch.stack([r.logits for r in routings]), k)
        return words + balance * uneven * count, count

    config = TrainConfig(**vars(TRAINING) | {"steps": steps, "seed": seed})
    train(model, TASK.batch, config, loss=loss, progress=False)
    model.eval()
    batch = TASK.batch(8, generator=torch.Generator().manual_seed(seed))
    with torch.no_grad(), watch_routing(model) as routings:
        model(batch.input_ids)
    found = held_out.stories(model, TASK, ROWS)
    return {
        "experts": experts,
        "k": k,
        "balance": balance,
        "seed": seed,
        "above_floor": round(found["loss"] - found["floor"], 4),
        "cpu_seconds": round(time.process_time() - start, 1),
        "load": [*noted, loads(routings, experts)],
    }


def main() -> None:
    """Do what is not yet in the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experts", type=int)
    parser.add_argument("k", type=int)
    parser.add_argument("balance", type=float)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    asked = parser.parse_args()
    setting = {"experts": asked.experts, "k": asked.k, "balance": asked.balance}
    torch.set_num_threads(1)
    for run in missing(PLACE, about(), [setting | {"seed": seed} for seed in asked.seeds]):
        done = one_run(**run)
        keep_run(PLACE, about(), done, KEY)
        shutil.copy(PLACE, PACKAGED)
        print(run, done["above_floor"], done["cpu_seconds"], done["load"][-1], flush=True)


if __name__ == "__main__":
    main()

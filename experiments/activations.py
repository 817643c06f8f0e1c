"""Four feed-forward networks of equal size in the same small decoder: which learns faster?

python experiments/activations.py rates     # three seeds choose a learning rate for each network
python experiments/activations.py seeds     # eight other seeds judge, each network at its own rate
python experiments/activations.py beside    # the same seeds, second best rates of three networks

ReLU and GELU have 2 matrices of width 192, SwiGLU and GeGLU 3 of width 128: 18,432 weights each.
A seed gives all four the same words in the same order, and the same start of all that is not
feed-forward, so that they are compared pair by pair. A network's rate is the one with the best mean
over the seeds that choose; none of them judges, and a rate at the edge of the grid is refused.
The runs are short: all are far from the floor. Each is kept as soon as it ends; one that is in the
record is not done again.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

import held_out
from common import RECORDS
from kept import MEASURED
from pieces.feedforward import FeedForward, GatedFeedForward, gelu, relu, swish, two_thirds
from pieces.models.llama import LlamaConfig, gated_decoder
from pieces.trace import record as watch
from pieces.train import TrainConfig
from small_world import TASK, started
from watched import watched

NAME = "activations"
PACKAGED = MEASURED
D, F = 48, 4 * 48
SIZES = LlamaConfig(TASK.vocab_size, D, n_layers=2, n_heads=4, d_ff=F, max_seq_len=256, tied=True)
NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "ReLU": lambda: FeedForward(D, F, relu, bias=False),
    "GELU": lambda: FeedForward(D, F, gelu, bias=False),
    "SwiGLU": lambda: GatedFeedForward(D, two_thirds(F), swish),
    "GeGLU": lambda: GatedFeedForward(D, two_thirds(F), gelu),
}
RATES, CHOOSING = (8e-3, 16e-3, 32e-3, 64e-3), (100, 101, 102)
SEEDS = tuple(range(8))
# The two best rates of these lie closer together than the seeds that choose.
BESIDE = {"SwiGLU": 32e-3, "GELU": 16e-3, "ReLU": 32e-3}
PARTS = ("rates", "seeds", "beside")
STEPS, EVERY, ROWS = 200, 25, 200
TRAINING = TrainConfig(steps=STEPS, batch_size=8, warmup=40, final_share=0.1)


def model_of(network: str, seed: int) -> nn.Module:
    """The decoder with this network; what is not feed-forward starts alike for all of a seed."""
    torch.manual_seed(seed)
    like = gated_decoder(SIZES, NETWORKS["ReLU"]).state_dict()
    torch.manual_seed(seed)
    model = gated_decoder(SIZES, NETWORKS[network])
    shared = {name: weight for name, weight in like.items() if ".feed_forward." not in name}
    model.load_state_dict(shared, strict=False)
    torch.manual_seed(seed)
    return started(model)


@torch.no_grad()
def zeros(model: nn.Module) -> dict[str, float]:
    """Of the hidden units, the share that is 0 at a word on average, and the share 0 at all words.

    Over the held-out stories; only a bend that cuts off has any.
    """
    generator = torch.Generator().manual_seed(held_out.SEED)
    ids = TASK.batch(ROWS, "held_out", generator=generator).input_ids
    with watch(model, outputs=["stack.blocks.*.feed_forward.dropout"]) as trace:
        model(ids)
    names = [name for name in trace if name.endswith("feed_forward.dropout")]
    shut = torch.stack([trace[name]["output"].flatten(0, 1) == 0 for name in names])
    return {
        "zero_at_a_word": round(shut.double().mean().item(), 5),
        "dead": round(shut.all(dim=1).double().mean().item(), 5),
    }


def one_run(network: str, seed: int, lr: float, every: int, steps: int) -> dict[str, Any]:
    """Train once; how far above the floor it is every so many steps, on held-out text."""
    model = model_of(network, seed)
    start = time.process_time()
    config = TrainConfig(**vars(TRAINING) | {"steps": steps, "lr": lr, "seed": seed})
    curve = watched(model, TASK, config, every, ROWS)
    return {
        "network": network,
        "seed": seed,
        "lr": lr,
        "steps": steps,
        "parameters": sum(p.numel() for p in model.parameters()),
        "above_floor": curve[-1][1],
        **zeros(model),
        "cpu_seconds": round(time.process_time() - start, 1),
        "curve": curve,
    }


def best_rate(runs: list[dict[str, Any]], network: str) -> float:
    """The learning rate that brought this network nearest to the floor, on average over the seeds.

    Raises: ValueError if it is the smallest or the largest that was tried.
    """
    tried: dict[float, list[float]] = {}
    for run in runs:
        if run["network"] == network:
            tried.setdefault(run["lr"], []).append(run["above_floor"])
    if len({len(found) for found in tried.values()}) > 1:
        raise ValueError(f"{network}: not every rate has every seed; run the part rates to its end")
    best = min(tried, key=lambda lr: statistics.fmean(tried[lr]))
    if best in (min(tried), max(tried)):
        raise ValueError(f"{network}: the best rate, {best:g}, is at the edge; widen RATES")
    return best


def wanted(part: str, record: dict[str, Any], seeds: tuple[int, ...]) -> Iterator[tuple]:
    """The runs of a part: network, seed, learning rate, steps between two looks."""
    if part == "rates":
        yield from ((n, seed, lr, STEPS) for seed in CHOOSING for n in NETWORKS for lr in RATES)
        return
    if part == "beside":
        yield from ((n, seed, lr, STEPS) for seed in seeds for n, lr in BESIDE.items())
        return
    record["chosen"] = {network: best_rate(record["rates"], network) for network in NETWORKS}
    chosen = record["chosen"].items()
    record["seeds"] = [run for run in record["seeds"] if (run["network"], run["lr"]) in chosen]
    yield from ((network, seed, lr, EVERY) for seed in seeds for network, lr in chosen)


def opened() -> dict[str, Any]:
    """The record so far, or an empty one if it is of another set-up."""
    about = {
        "name": NAME,
        "about": " ".join((__doc__ or "").split()),
        "config": {"d_model": D, "n_layers": 2, "n_heads": 4, "d_ff": F, "gated": two_thirds(F)},
        "training": {"batch_size": TRAINING.batch_size, "warmup": TRAINING.warmup},
        "held_out_rows": ROWS,
    }
    place = RECORDS / f"{NAME}.json"
    old = json.loads(place.read_text("utf-8")) if place.exists() else {}
    same = all(old.get(key) == about[key] for key in ("config", "training", "held_out_rows"))
    known = {part: old.get(part, []) if same else [] for part in PARTS}
    known["rates"] = [run for run in known["rates"] if run["lr"] in RATES]
    return about | known | {"chosen": old.get("chosen", {}) if same else {}}


def keep(record: dict[str, Any]) -> None:
    """Write the record, a run a line."""
    RECORDS.mkdir(exist_ok=True)
    lines = {part: [json.dumps(run) for run in record[part]] for part in PARTS}
    head = {key: value for key, value in record.items() if key not in lines}
    text = json.dumps(head, indent=1, ensure_ascii=False).removesuffix("\n}")
    for part, runs in lines.items():
        text += f',\n "{part}": [\n  ' + ",\n  ".join(runs) + "\n ]"
    for place in (RECORDS, PACKAGED):
        (place / f"{NAME}.json").write_text(text + "\n}\n", encoding="utf-8")


def main() -> None:
    """Do what is not yet in the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    options = parser.parse_args()
    record = opened()
    for network, seed, lr, every in wanted(options.part, record, tuple(options.seeds)):
        done = {(run["network"], run["seed"], run["lr"]) for run in record[options.part]}
        if (network, seed, lr) in done:
            continue
        record[options.part].append(one_run(network, seed, lr, every, STEPS))
        keep(record)
        last = record[options.part][-1]
        print(network, seed, lr, last["above_floor"], last["cpu_seconds"], flush=True)
    keep(record)


if __name__ == "__main__":
    main()

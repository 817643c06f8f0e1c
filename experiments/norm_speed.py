"""How long an RMSNorm takes beside a LayerNorm, and how much of a block either is.

    python experiments/norm_speed.py [--rounds 25]

Both sides run in turns, and time is that of the processor, so that a busy machine changes little; a
figure is the median of the rounds' ratios, with the lower and the upper quartile. One thread; what
machine it was is not kept, as only ratios are.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from kept import MEASURED
from pieces.attention import MultiHeadAttention
from pieces.blocks import Block
from pieces.feedforward import FeedForward
from pieces.norms import LayerNorm, RMSNorm, layer_norm, rms_norm
from pieces.residual import PreNorm

RECORD = MEASURED / "norm_speed.json"
SHAPES = ((1, 4096), (256, 512), (4096, 512))  # tokens, features
LAST = 0.02  # seconds that one measurement takes at least
Work = Callable[[], object]


def once(work: Work, repeats: int) -> float:
    """Processor seconds of one call, over so many."""
    start = time.process_time()
    for _ in range(repeats):
        work()
    return (time.process_time() - start) / repeats


def ratios(work: Work, beside: Work, rounds: int) -> dict[str, float]:
    """How long `work` takes as a share of `beside`: median and quartiles over the rounds."""
    repeats = [max(1, round(LAST / max(1e-6, once(one, 10)))) for one in (work, beside)]
    found = []
    for turn in range(rounds):
        order = (0, 1) if turn % 2 else (1, 0)
        times = {n: once((work, beside)[n], repeats[n]) for n in order}
        found.append(times[0] / times[1])
    low, median, high = statistics.quantiles(found, n=4)
    return {"median": round(median, 3), "low": round(low, 3), "high": round(high, 3)}


def training(norm: torch.nn.Module, x: Tensor) -> Work:
    """Forward and backward of a layer."""
    up = torch.ones_like(x)

    def step() -> None:
        norm.zero_grad()
        norm(x).backward(up)

    return step


def norms(T: int, D: int, rounds: int) -> dict[str, dict[str, float]]:
    """RMSNorm as a share of LayerNorm: the readable functions, the fused layers, and training."""
    x = torch.randn(T, D)
    layer, root = LayerNorm(D), RMSNorm(D)
    wanted = x.clone().requires_grad_()
    with torch.no_grad():
        written = ratios(lambda: rms_norm(x), lambda: layer_norm(x), rounds)
        fused = ratios(lambda: root(x), lambda: layer(x), rounds)
    return {
        "written": written,
        "fused": fused,
        "training": ratios(training(root, wanted), training(layer, wanted), rounds),
    }


def block(norm: type[torch.nn.Module], D: int) -> torch.nn.Module:
    """A Transformer block with this norm."""
    attention = MultiHeadAttention(D, n_heads=8)
    wide = FeedForward(D, 4 * D, activation=F.gelu)
    residuals = {"attention_residual": PreNorm(norm(D)), "feed_forward_residual": PreNorm(norm(D))}
    return Block(attention, wide, **residuals).eval()


def share(T: int, D: int, rounds: int) -> dict[str, dict[str, float]]:
    """The two LayerNorms as a share of their block, and a block with RMSNorm beside it."""
    x = torch.randn(1, T, D)
    with_layer, with_root = block(LayerNorm, D), block(RMSNorm, D)
    norm = LayerNorm(D)

    def two() -> None:
        norm(x)
        norm(x)

    with torch.no_grad():
        return {
            "norms_of_block": ratios(two, lambda: with_layer(x), rounds),
            "rms_block": ratios(lambda: with_root(x), lambda: with_layer(x), rounds),
        }


def measured(rounds: int) -> dict:
    """Everything that the record holds."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return {
        "rounds": rounds,
        "threads": 1,
        "precision": "float32",
        "norms": [{"T": T, "D": D} | norms(T, D, rounds) for T, D in SHAPES],
        "block": {"T": 256, "D": 512} | share(256, 512, rounds),
    }


def timed(told: str, measure: Callable[[int], dict], record: Path, rounds: int) -> None:
    """Measure for as many rounds as the command line says, print and keep."""
    parser = argparse.ArgumentParser(description=told.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=rounds)
    text = json.dumps(measure(parser.parse_args().rounds), indent=1)
    record.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    timed(__doc__, measured, RECORD, rounds=25)

"""What attention costs in time: against length and width, with and without a cache, grouped or not.

    python experiments/attention_cost.py [--rounds 15]

All sides of a comparison run in turns, and time is that of the processor, so that a busy machine
changes little. Each figure is the median of the rounds' ratios, with the lower and upper quartile.
One thread; what machine it was is not kept, as only ratios are.
"""

import argparse
import json
import statistics
from collections.abc import Mapping

import torch
import torch.nn.functional as F

from kept import MEASURED
from norm_speed import Work, once
from pieces.attention import CachedAttention, CausalCore, attention, fused_attention
from pieces.cache import GrowingCache

RECORD = MEASURED / "attention_cost.json"
D, H, K = 1024, 16, 64
GROUPS = (16, 4, 1)
LENGTHS = (64, 256, 1024, 4096, 16384)
LAST = 0.03  # seconds that one measurement takes at least


def compared(works: Mapping[str, Work], beside: str, rounds: int) -> dict[str, dict[str, float]]:
    """The time of each work as a multiple of one of them: median and quartiles over the rounds."""
    repeats = {name: max(1, round(LAST / max(1e-6, once(work, 3)))) for name, work in works.items()}
    found: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(rounds):
        order = list(works) if turn % 2 else list(works)[::-1]
        times = {name: once(works[name], repeats[name]) for name in order}
        for name in works:
            found[name].append(times[name] / times[beside])
    return {name: spread(ratios) for name, ratios in found.items()}


def spread(ratios: list[float]) -> dict[str, float]:
    """Median and quartiles."""
    low, median, high = statistics.quantiles(ratios, n=4)
    return {"median": round(median, 3), "low": round(low, 3), "high": round(high, 3)}


def tensors(T: int, S: int, G: int = H, head_dim: int = K) -> tuple[torch.Tensor, ...]:
    """Queries, keys and values of one text."""
    return tuple(torch.randn(1, n, length, head_dim) for n, length in ((H, T), (G, S), (G, S)))


def plain(T: int, head_dim: int) -> Work:
    """The equation for a whole text."""
    q, k, v = tensors(T, T, H, head_dim)
    return lambda: attention(q, k, v)


def by_length(rounds: int) -> list[dict]:
    """The equation for a whole text: time at length T as a multiple of that at 256."""
    works = {str(T): plain(T, K) for T in (256, 512, 1024, 2048)}
    return [{"T": int(T)} | ratio for T, ratio in compared(works, "256", rounds).items()]


def by_width(rounds: int) -> list[dict]:
    """The same at 1,024 tokens, by the size of a head, as a multiple of that with 64."""
    works = {str(size): plain(1024, size) for size in (64, 128, 256, 512)}
    return [{"K": int(size)} | ratio for size, ratio in compared(works, "64", rounds).items()]


def step_of(G: int, S: int) -> Work:
    """One more token of a layer, with S tokens in its cache."""
    layer = CachedAttention(D, H, n_kv_heads=G, core=CausalCore())
    cache = GrowingCache()
    _, k, v = tensors(1, S, G)
    cache.update(0, k, v)
    x, mark = torch.randn(1, 1, D), cache.mark()

    def step() -> None:
        layer(x, cache=cache[0])
        cache.rewind(mark)

    return step


def again(G: int, S: int) -> Work:
    """The same token without a cache: the whole text once more."""
    layer = CachedAttention(D, H, n_kv_heads=G, core=CausalCore())
    x = torch.randn(1, S, D)
    return lambda: layer(x)


def decoding(rounds: int) -> list[dict]:
    """A step with a cache, as a multiple of that of MHA at 64 tokens."""
    works = {f"{G} {S}": step_of(G, S) for S in LENGTHS for G in GROUPS}
    found = compared(works, f"{H} 64", rounds)
    pairs = [(G, S) for S in LENGTHS for G in GROUPS]
    return [{"G": G, "S": S} | found[f"{G} {S}"] for G, S in pairs]


def without_cache(rounds: int) -> list[dict]:
    """A step that reads the whole text again, as a multiple of one with a cache."""
    rows = []
    for S in (64, 256, 1024, 4096):
        for G in GROUPS:
            works = {"cache": step_of(G, S), "again": again(G, S)}
            rows.append({"G": G, "S": S} | compared(works, "cache", rounds)["again"])
    return rows


def grouped(G: int, S: int) -> dict[str, Work]:
    """One query a head against S keys: the kernel as it is called, keys written out, rows."""
    q, k, v = tensors(1, S, G)
    rows = q.view(1, G, H // G, K)  # the queries that share a key stand together
    wide = [x.repeat_interleave(H // G, dim=1).contiguous() for x in (k, v)]
    return {
        "kernel": lambda: fused_attention(q, k, v),
        "written out": lambda: fused_attention(q, *wide),
        "rows": lambda: F.scaled_dot_product_attention(rows, k, v),
    }


def sharing(rounds: int) -> list[dict]:
    """The attention of one step alone, by how shared keys are read; a multiple of written out."""
    rows = []
    for S in (1024, 16384):
        for G in (4, 1):
            rows.append({"G": G, "S": S} | compared(grouped(G, S), "written out", rounds))
    return rows


def measured(rounds: int) -> dict:
    """Everything that the record holds."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with torch.no_grad():
        return {
            "rounds": rounds,
            "threads": 1,
            "precision": "float32",
            "layer": {"D": D, "H": H, "K": K},
            "by_length": by_length(rounds),
            "by_width": by_width(rounds),
            "decoding": decoding(rounds),
            "without_cache": without_cache(rounds),
            "sharing": sharing(rounds),
        }


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=15)
    record = measured(parser.parse_args().rounds)
    text = json.dumps(record, indent=1)
    RECORD.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

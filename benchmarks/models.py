"""How fast the package is, beside transformers and torch's own layers, with the same weights.

    python benchmarks/models.py [--device cuda] [--dtype bfloat16] [--rounds 9] [--only llama]

Everything is timed in one run, in turns, so that a busy machine slows both sides alike; each
figure is the median of the rounds' ratios, ours / theirs. "Matmul" is the time of the model's
matrix products alone: what no implementation on this machine can beat. `--growth` adds how time
and memory grow with T, D, layers, experts and context. `--keep` writes the ratios where the page
`appendix/parity` reads them: benchmarks/records/models_<device>.json.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import torch
import torch.nn.functional as F
import transformers
from torch import Tensor, nn

from pieces import masks
from pieces.attention import CausalCore, MultiHeadAttention, attention
from pieces.attention.flash import flash_attention
from pieces.blocks import Block
from pieces.cache import GrowingCache
from pieces.checkpoints import from_transformers
from pieces.feedforward import FeedForward, relu
from pieces.generate import generate
from pieces.moe import GatedExperts, Router
from pieces.norms import LayerNorm
from pieces.residual import PostNorm

Work = Callable[[], object]

RECORDS = Path(__file__).parent / "records"
KEPT: list[dict[str, object]] = []


@dataclass
class Timer:
    """Runs several pieces of work in turns; gives seconds of each, one list a name."""

    device: torch.device
    rounds: int

    def __call__(self, **works: Work) -> dict[str, list[float]]:
        times: dict[str, list[float]] = {name: [] for name in works}
        repeats = {name: self.repeats(work) for name, work in works.items()}
        for turn in range(self.rounds):
            order = list(works) if turn % 2 else list(works)[::-1]
            for name in order:
                times[name].append(self.once(works[name], repeats[name]))
        return times

    def repeats(self, work: Work) -> int:
        """So many that one measurement takes about 30 ms. The first two calls warm up."""
        self.once(work, 2)
        return max(1, round(0.03 / self.once(work, 1)))

    def once(self, work: Work, repeats: int) -> float:
        self.wait()
        start = time.perf_counter()
        for _ in range(repeats):
            work()
        self.wait()
        return (time.perf_counter() - start) / repeats

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def ratio(times: dict[str, list[float]], of: str, to: str) -> float:
    """The median of the rounds' ratios."""
    return statistics.median(a / b for a, b in zip(times[of], times[to], strict=True))


def row(what: str, times: dict[str, list[float]], of: str, to: str, target: float | None) -> None:
    """Print one comparison."""
    found = ratio(times, of, to)
    KEPT.append({"what": what.strip(), "ratio": round(found, 3), "target": target})
    ours, theirs = (1e3 * statistics.median(times[name]) for name in (of, to))
    verdict = "" if target is None else "met" if found <= target else "MISSED"
    aim = "" if target is None else f"<= {target}"
    print(f"{what:46} {ours:9.2f} {theirs:9.2f} ms {found:7.2f}  {aim:8} {verdict}", flush=True)


# ---------------------------------------------------------------- whole models


def llama(d_model: int, n_layers: int, **options) -> nn.Module:
    """A LLaMA of transformers, with heads of 64 and a vocabulary small enough not to rule."""
    config = transformers.LlamaConfig(
        vocab_size=1000,
        hidden_size=d_model,
        intermediate_size=int(8 * d_model / 3) // 64 * 64,
        num_hidden_layers=n_layers,
        num_attention_heads=d_model // 64,
        num_key_value_heads=d_model // 64,
        max_position_embeddings=2048,
        eos_token_id=None,
        **options,
    )
    return transformers.LlamaForCausalLM(config)


def mixtral(d_model: int, n_layers: int, experts: int, k: int) -> nn.Module:
    """A Mixtral of transformers."""
    config = transformers.MixtralConfig(
        vocab_size=1000,
        hidden_size=d_model,
        intermediate_size=2 * d_model,
        num_hidden_layers=n_layers,
        num_attention_heads=d_model // 64,
        num_key_value_heads=max(1, d_model // 128),
        num_local_experts=experts,
        num_experts_per_tok=k,
        eos_token_id=None,
    )
    return transformers.MixtralForCausalLM(config)


def products(model: nn.Module, n_tokens: int) -> Work:
    """The matrix products of a model alone, one after another; experts share the tokens fairly."""
    k = max([m.k for m in model.modules() if isinstance(m, Router)], default=0)
    weights = [(m.weight, n_tokens) for m in model.modules() if isinstance(m, nn.Linear)]
    for m in model.modules():
        if isinstance(m, GatedExperts):
            rows = max(1, n_tokens * k // m.n_experts)
            weights += [(w, rows) for w in (*m.gate_up, *m.down)]
    inputs = {(rows, w.shape[1]): w.new_ones(rows, w.shape[1]) for w, rows in weights}

    def work() -> None:
        for weight, rows in weights:
            F.linear(inputs[rows, weight.shape[1]], weight)

    return work


def pair(theirs: nn.Module, options: argparse.Namespace) -> tuple[nn.Module, nn.Module]:
    """Both models, the same weights, on the device."""
    theirs = theirs.to(options.device, options.dtype).eval()
    theirs.config._attn_implementation = "sdpa"
    ours = from_transformers(theirs)
    ids = torch.randint(0, 1000, (1, 17), device=options.device)
    with torch.no_grad():
        a, b = theirs(ids).logits.float(), ours(ids).float()
    limit = 1e-4 if options.dtype == torch.float32 else 0.1
    if (a - b).abs().max() > limit * a.abs().max():
        sys.exit("The two models differ: nothing to compare.")
    return ours, theirs


def peak(device: torch.device, work: Work) -> float:
    """MB above what is held already; on the CPU the profiler adds up what is allocated."""
    if device.type == "cuda":
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        work()
        torch.cuda.synchronize()
        return (torch.cuda.max_memory_allocated() - before) / 1e6
    activity = torch.profiler.ProfilerActivity.CPU
    with torch.profiler.profile(activities=[activity], profile_memory=True) as profile:
        work()
    held = highest = 0
    events = sorted(profile.profiler.kineto_results.events(), key=lambda e: e.start_ns())
    for event in events:
        if event.name() == "[memory]":
            held += event.nbytes()
            highest = max(highest, held)
    return highest / 1e6


def step(model: nn.Module, ids: Tensor, logits: Callable[[nn.Module], Tensor]) -> Work:
    """One training step: forward, backward, AdamW."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def work() -> None:
        found = logits(model)[:, :-1].flatten(0, 1)
        F.cross_entropy(found, ids[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return work


def prefill(ours: nn.Module, theirs: nn.Module, ids: Tensor) -> dict[str, Work]:
    """The whole text at once."""
    return {"ours": lambda: ours(ids), "theirs": lambda: theirs(ids, use_cache=False)}


def next_token(ours: nn.Module, theirs: nn.Module, ids: Tensor) -> dict[str, Work]:
    """One token more, again and again, behind a text that is cached already."""
    cache, token = GrowingCache(), ids[:, :1]
    ours(ids, cache=cache)
    past = theirs(ids, use_cache=True).past_key_values
    return {
        "ours": lambda: ours(token, cache=cache),
        "theirs": lambda: theirs(token, past_key_values=past, use_cache=True),
    }


def whole(
    name: str,
    theirs: nn.Module,
    timer: Timer,
    options: argparse.Namespace,
    targets: dict[str, float],
) -> None:
    """Compare one model: prefill, decoding, a training step, peak memory."""
    ours, theirs = pair(theirs, options)
    ids = torch.randint(0, 1000, (1, 512), device=options.device)
    prompt = ids[:, :16]
    works = prefill(ours, theirs, ids)
    with torch.no_grad():
        times = timer(**works, matmul=products(ours, 512))
    row(f"{name}: prefill, 512 tokens", times, "ours", "theirs", targets.get("prefill"))
    row("  ours beside the matmul limit", times, "ours", "matmul", None)
    row("  theirs beside the matmul limit", times, "theirs", "matmul", None)
    settings = {"max_new_tokens": 64, "do_sample": False, "pad_token_id": 0}
    times = timer(
        ours=lambda: generate(ours, prompt, 64),
        theirs=lambda: theirs.generate(prompt, attention_mask=torch.ones_like(prompt), **settings),
    )
    row(f"{name}: generate 64 tokens", times, "ours", "theirs", targets.get("decode"))
    print(f"{'  a token, ms':46} {statistics.median(times['ours']) / 64e-3:9.2f}"
          f" {statistics.median(times['theirs']) / 64e-3:9.2f}")  # fmt: skip
    with torch.no_grad():
        held = [peak(timer.device, works[side]) for side in ("ours", "theirs")]
    print(f"{'  peak memory of the prefill, MB':46} {held[0]:9.1f} {held[1]:9.1f}")
    ours.train()
    theirs.train()
    batch = torch.randint(0, 1000, (2, 128), device=options.device)
    times = timer(
        ours=step(ours, batch, lambda model: model(batch)),
        theirs=step(theirs, batch, lambda model: model(batch, use_cache=False).logits),
    )
    row(f"{name}: train step, 2 x 128 tokens", times, "ours", "theirs", targets.get("train"))


def loop_over_experts(theirs: nn.Module, timer: Timer, options: argparse.Namespace) -> None:
    """Transformers' plain implementation of the experts, its default until version 5."""
    ours, theirs = pair(theirs, options)
    ids = torch.randint(0, 1000, (1, 512), device=options.device)
    with torch.no_grad():
        times = timer(**prefill(ours, theirs, ids))
    row("  prefill; their loop over experts", times, "ours", "theirs", None)


# ---------------------------------------------------------------- single layers


@torch.no_grad()
def layers(timer: Timer, options: argparse.Namespace) -> None:
    """Our layers beside torch's."""
    D, H, T = 512, 8, 512
    make = {"device": options.device, "dtype": options.dtype}
    x = torch.randn(4, T, D, **make)
    ours = MultiHeadAttention(D, H, bias=True).to(**make)
    theirs = nn.MultiheadAttention(D, H, batch_first=True, **make).eval()
    times = timer(ours=lambda: ours(x), theirs=lambda: theirs(x, x, x, need_weights=False))
    row("attention layer; nn.MultiheadAttention", times, "ours", "theirs", None)

    block = Block(
        MultiHeadAttention(D, H, bias=True),
        FeedForward(D, 4 * D, relu),
        attention_residual=PostNorm(LayerNorm(D)),
        feed_forward_residual=PostNorm(LayerNorm(D)),
    ).to(**make)
    layer = nn.TransformerEncoderLayer(D, H, 4 * D, 0.0, batch_first=True, **make).eval()
    times = timer(ours=lambda: block(x), theirs=lambda: layer(x))
    row("encoder block; nn.TransformerEncoderLayer", times, "ours", "theirs", None)

    q, k, v = (torch.randn(1, H, 2048, 64, **make) for _ in range(3))
    core, mask = CausalCore(), masks.causal(2048, device=options.device)
    times = timer(
        core=lambda: core(q, k, v),
        fused=lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        masked=lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
        explicit=lambda: attention(q, k, v, mask=mask),
        tiled=lambda: flash_attention(q, k, v, mask=mask),
    )
    row("CausalCore, T = 2048; F.sdpa, is_causal", times, "core", "fused", None)
    row("  the same mask as a matrix; is_causal", times, "masked", "fused", None)
    row("  explicit attention(); is_causal", times, "explicit", "fused", None)
    row("  flash_attention in plain torch; is_causal", times, "tiled", "fused", None)


# ---------------------------------------------------------------- growth


def growth(timer: Timer, options: argparse.Namespace) -> None:
    """How the time of ours and theirs grows, one size at a time."""
    sizes = [("D", llama(d, 4), 256) for d in (128, 256, 512)]
    sizes += [("layers", llama(256, n), 256) for n in (2, 4, 8)]
    sizes += [("experts", mixtral(256, 2, e, 2), 256) for e in (4, 8, 16)]
    sizes += [("T", llama(256, 4), t) for t in (128, 512, 2048)]
    print("\ngrowth: prefill of one text")
    for what, theirs, T in sizes:
        config = theirs.config
        value = {"D": config.hidden_size, "layers": config.num_hidden_layers, "T": T}
        value["experts"] = getattr(config, "num_local_experts", 0)
        ours, theirs = pair(theirs, options)
        ids = torch.randint(0, 1000, (1, T), device=options.device)
        with torch.no_grad():
            times = timer(**prefill(ours, theirs, ids))
        row(f"  {what} = {value[what]}", times, "ours", "theirs", None)
    contexts(timer, options)


@torch.no_grad()
def contexts(timer: Timer, options: argparse.Namespace) -> None:
    """One more token behind a longer and longer context."""
    print("\ngrowth: one token behind a context")
    for S in (128, 512, 2000):
        ours, theirs = pair(llama(256, 4), options)
        ids = torch.randint(0, 1000, (1, S), device=options.device)

        times = timer(**next_token(ours, theirs, ids))
        row(f"  context = {S}", times, "ours", "theirs", None)


def keep(device: torch.device, dtype: str, rounds: int) -> None:
    """Write the ratios of this run, with what it was run on."""
    cuda = device.type == "cuda"
    chip = torch.cuda.get_device_name() if cuda else f"{os.cpu_count()} cores, {platform.machine()}"
    names = ("torch", "transformers")
    record = {
        "device": f"{device.type}: {chip}",
        "dtype": dtype,
        "rounds": rounds,
        "versions": {"python": platform.python_version()} | {name: version(name) for name in names},
        "rows": KEPT,
    }
    RECORDS.mkdir(exist_ok=True)
    file = RECORDS / f"models_{device.type}_{dtype}.json"
    file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    arguments.add_argument("--dtype", default="float32", choices=("float32", "bfloat16"))
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--only", default="", help="llama, mixtral, layers or growth")
    arguments.add_argument("--growth", action="store_true", help="how it grows, too")
    arguments.add_argument("--keep", action="store_true", help="write the ratios for the book")
    options = arguments.parse_args()
    dtype = options.dtype
    options.device, options.dtype = torch.device(options.device), getattr(torch, dtype)
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    torch.manual_seed(0)
    timer = Timer(options.device, options.rounds)
    print(f"{'':46} {'ours':>9} {'theirs':>9} {'ratio':>10}  target")
    if options.only in ("", "llama"):
        for D, n, decode in ((256, 6, 0.9), (768, 12, 1.0)):
            targets = {"prefill": 1.0, "decode": decode}
            whole(f"LLaMA {D} x {n}", llama(D, n), timer, options, targets)
    if options.only in ("", "mixtral"):
        theirs = mixtral(256, 4, 8, 2)
        whole("Mixtral 256 x 4, 2 of 8", theirs, timer, options, {"prefill": 0.95})
        looping = mixtral(256, 4, 8, 2)
        looping.config._experts_implementation = "eager"
        loop_over_experts(looping, timer, options)
    if options.only in ("", "layers"):
        layers(timer, options)
    if options.growth or options.only == "growth":
        growth(timer, options)
    if options.keep:
        keep(options.device, dtype, options.rounds)


if __name__ == "__main__":
    main()

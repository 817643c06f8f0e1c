"""Who still knows it: recall by how many pairs were stored, for a cache, a square and a scan.

    python experiments/associative_recall.py choose   # seeds that only choose, on a grid of rates
    python experiments/associative_recall.py judge    # five other seeds, each side at what it chose
    python experiments/associative_recall.py long     # some of them again, four times as long
    python experiments/associative_recall.py cost     # time of one more token, by length
    python experiments/associative_recall.py choose --mixers scan   # one side alone

The task is associative recall: read 2 to 64 pairs of a key and a value, then say the values of
some keys. Small decoders differ in one sublayer: softmax attention, whose cache grows, linear
attention, and a selective state space, whose states have one size. Linear attention is there twice,
with two heads and with one, which doubles its square. Everything else is the same: two layers, no
positions, a feed-forward network, and before each mixer what stands one word before, so that a
value can be seen beside its key. Each batch has one number of pairs, drawn anew, so one model
learns all of them; each number is then asked of it alone, on rows that nobody was trained on.

The lowest mean loss at the end, over the seeds that choose, is what a side is judged with; where
the best stands at the edge of the grid, it is said so. Guessing among all values is right in 1 of
32. The cost is the time of the processor for one more token of one layer, with so many tokens
before it, as a multiple of attention's with 256; and the numbers that it keeps, counted.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from attention_cost import compared
from kept import MEASURED, comparable, curve, keep_parts, parts_of
from norm_speed import Work
from one_block import parameters
from pieces.attention import CachedAttention, CausalCore, LinearAttention, MultiHeadAttention
from pieces.blocks import Block, Stack
from pieces.cache import GrowingCache
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import FeedForward, gelu_tanh
from pieces.losses import next_token_loss
from pieces.models.decoder_only import DecoderOnly
from pieces.norms import RMSNorm
from pieces.residual import PreNorm
from pieces.state_space import SelectiveStateSpace, scan
from pieces.tasks import AssociativeRecall
from pieces.train import TrainConfig, train

ROOT = Path(__file__).parents[1]
RECORD = MEASURED / "associative_recall.json"
PARTS = ("choose", "judge", "long", "cost")

PAIRS = (2, 4, 8, 16, 32, 64)
N_KEYS, N_VALUES, ASKED = 64, 32, 8
TASKS = {n: AssociativeRecall(N_KEYS, N_VALUES, n, min(n, ASKED)) for n in PAIRS}
VOCAB = TASKS[2].vocab_size
D, HEADS, D_FF, LAYERS, D_STATE = 32, 2, 64, 2, 16
MIXERS: dict[str, Callable[[], nn.Module]] = {
    "softmax": lambda: MultiHeadAttention(D, HEADS, core=CausalCore()),
    "linear": lambda: LinearAttention(D, HEADS),
    "linear, one head": lambda: LinearAttention(D, 1),
    "scan": lambda: SelectiveStateSpace(D, D_STATE, scan=scan),
}
RATES = (1e-3, 3e-3, 1e-2, 3e-2)
STEPS, WARMUP, BATCH, ROWS, TEST_SEED = 1500, 50, 32, 500, 12_345
CHOOSING, SEEDS = (100, 101), (0, 1, 2, 3, 4)
LONG, LONG_SEEDS = 6000, (0, 1, 2)
LENGTHS = (256, 1024, 4096, 16384)
WIDE, WIDE_HEADS, ROUNDS = 256, 4, 15
Made = dict[str, Any]


class BesideTheWordBefore(nn.Module):
    """A convolution two words wide, each feature by itself: y_t = a ⊙ x_t + b ⊙ x_{t-1}."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.own = nn.Parameter(torch.ones(d_model))
        self.before = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """Shapes: [B, T, D] -> [B, T, D]."""
        before = torch.cat((torch.zeros_like(x[:, :1]), x[:, :-1]), dim=1)
        return self.own * x + self.before * before


def built(mixer: str, seed: int) -> DecoderOnly:
    """A fresh model."""
    torch.manual_seed(seed)

    def block() -> Block:
        mixed = nn.Sequential(BesideTheWordBefore(D), MIXERS[mixer]())
        first, second = PreNorm(RMSNorm(D)), PreNorm(RMSNorm(D))
        parts = {"attention_residual": first, "feed_forward_residual": second}
        return Block(mixed, FeedForward(D, D_FF, gelu_tanh), **parts)

    embedding = TokenEmbedding(VOCAB, D, std=D**-0.5, scale=D**0.5)
    stack = Stack([block() for _ in range(LAYERS)], RMSNorm(D))
    return DecoderOnly(embedding, stack, head=nn.Linear(D, VOCAB, bias=False))


def draw(batch_size: int, *, generator: torch.Generator) -> Any:
    """A batch of one number of pairs, each number equally likely."""
    n = PAIRS[int(torch.randint(len(PAIRS), (), generator=generator))]
    return TASKS[n].batch(batch_size, generator=generator)


@torch.no_grad()
def measured(model: nn.Module) -> dict[str, Any]:
    """Loss and share of right answers by number of pairs, and the mean loss of all numbers."""
    losses, right = [], []
    model.eval()
    for task in TASKS.values():
        batch = task.batch(ROWS, "held_out", torch.Generator().manual_seed(TEST_SEED))
        total, count = next_token_loss(model, batch)
        losses.append(round((total / count).item(), 4))
        right.append(round(task.accuracy(model(batch.input_ids), batch.targets), 4))
    return {"end": round(statistics.fmean(losses), 4), "losses": losses, "accuracy": right}


def one(mixer: str, lr: float, seed: int, steps: int) -> dict[str, Any]:
    """A run: trained, and asked."""
    model, start = built(mixer, seed), time.process_time()
    config = TrainConfig(steps=steps, batch_size=BATCH, lr=lr, warmup=WARMUP, seed=seed)
    record = train(model, draw, config, progress=False)
    found = {"mixer": mixer, "lr": lr, "seed": seed, **measured(model)}
    seconds = round(time.process_time() - start, 1)
    return found | {"cpu_seconds": seconds, "curve": curve(record.losses, 15)}


def choose(mixers: list[str]) -> None:
    """Make the runs of the grid that are not there yet."""
    for lr in RATES:
        for mixer in mixers:
            for seed in CHOOSING:
                made_once("choose", mixer, lr, seed)


def best(made: Made, mixer: str) -> Made:
    """The rate that a side chose, and whether a better one may lie beyond the grid."""
    own = [run for run in made["choose"] if run["mixer"] == mixer]
    ends = {lr: [run["end"] for run in own if run["lr"] == lr] for lr in RATES}
    whole = {lr: statistics.fmean(end) for lr, end in ends.items() if len(end) == len(CHOOSING)}
    lr = min(whole, key=whole.__getitem__)
    return {"lr": lr, "at_edge": lr in (RATES[0], RATES[-1])}


def judge(mixers: list[str]) -> None:
    """Make the judged runs that are missing."""
    for mixer in mixers:
        chosen = best(kept(), mixer)
        print(mixer, chosen, flush=True)
        for seed in SEEDS:
            made_once("judge", mixer, chosen["lr"], seed, at_edge=chosen["at_edge"])


def long(mixers: list[str]) -> None:
    """Make runs that are four times as long, at the rate that was chosen for the short ones."""
    for mixer in mixers:
        for seed in LONG_SEEDS:
            made_once("long", mixer, best(kept(), mixer)["lr"], seed, LONG)


def made_once(
    part: str, mixer: str, lr: float, seed: int, steps: int | None = None, **more: Any
) -> None:
    """Make one run, unless the record has it, and keep it at once."""
    name = {"mixer": mixer, "lr": lr, "seed": seed}
    if any(name.items() <= run.items() for run in kept()[part]):
        return
    run = one(**name, steps=steps or STEPS) | more
    made = kept()  # read anew: another side may have been added meanwhile
    keep_parts({**made, part: [*made[part], run]}, PARTS, (RECORD,))
    print({k: v for k, v in run.items() if k != "curve"}, flush=True)


def cost(mixers: list[str]) -> None:
    """Measure the time of one more token, and count the numbers that are kept."""
    torch.manual_seed(0)
    with torch.no_grad():
        steps = {(name, S): step_of(S) for name, step_of in STEPS_OF.items() for S in LENGTHS}
        works = {f"{name} {S}": work for (name, S), (work, _) in steps.items()}
        found = compared(works, "softmax 256", ROUNDS)
    rows = [
        {"mixer": name, "S": S, "numbers": numbers} | found[f"{name} {S}"]
        for (name, S), (_, numbers) in steps.items()
    ]
    keep_parts({**kept(), "cost": rows}, PARTS, (RECORD,))


def step_of_softmax(S: int) -> tuple[Work, int]:
    """One more token of one layer with S tokens before it, and the numbers it keeps of them."""
    layer, cache = CachedAttention(WIDE, WIDE_HEADS, core=CausalCore()), GrowingCache()
    shape = (1, WIDE_HEADS, S, WIDE // WIDE_HEADS)
    k, v = cache.update(0, torch.randn(shape), torch.randn(shape))
    x, mark = torch.randn(1, 1, WIDE), cache.mark()

    def step() -> None:
        layer(x, cache=cache[0])
        cache.rewind(mark)

    return step, k.numel() + v.numel()


def step_of_linear(S: int) -> tuple[Work, int]:
    """The same of linear attention."""
    layer, x = LinearAttention(WIDE, WIDE_HEADS), torch.randn(1, 1, WIDE)
    _, state = layer.recurrent(torch.randn(1, S, WIDE))
    return lambda: layer.recurrent(x, state=state), sum(part.numel() for part in state)


def step_of_scan(S: int) -> tuple[Work, int]:
    """The same of a selective state space."""
    layer, x = SelectiveStateSpace(WIDE, D_STATE), torch.randn(1, 1, WIDE)
    _, state = layer.recurrent(torch.randn(1, S, WIDE))
    return lambda: layer.recurrent(x, state=state), state.numel()


# The largest cache is last: what is timed right after it waits for the memory it gives back.
STEPS_OF = {"linear": step_of_linear, "scan": step_of_scan, "softmax": step_of_softmax}


def kept() -> Made:
    """The record so far."""
    training = comparable(TrainConfig(steps=STEPS, batch_size=BATCH, warmup=WARMUP))
    del training["lr"]
    about = {
        "name": "associative_recall",
        "about": " ".join(__doc__.split()),
        "pairs": PAIRS,
        "keys": N_KEYS,
        "values": N_VALUES,
        "asked": ASKED,
        "held_out_rows": ROWS,
        "steps": STEPS,
        "long_steps": LONG,
        "training": training,
        "parameters": {mixer: parameters(built(mixer, 0)) for mixer in MIXERS},
        "state": {mixer: state_of(mixer) for mixer in MIXERS},
        "cost_layer": {"d_model": WIDE, "n_heads": WIDE_HEADS, "d_state": D_STATE},
    }
    return about | parts_of(RECORD, PARTS)


def state_of(mixer: str) -> int:
    """Numbers that one layer keeps of a text; of softmax attention, of one token of it."""
    layer, x = MIXERS[mixer](), torch.randn(1, 1, D)
    if mixer == "softmax":
        return 2 * D
    state = layer.recurrent(x)[1]
    return sum(part.numel() for part in (state if isinstance(state, tuple) else (state,)))


def main() -> None:
    """Make what is missing of one part."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--mixers", nargs="+", default=list(MIXERS), choices=list(MIXERS))
    asked = parser.parse_args()
    torch.set_num_threads(1)  # the matrices are small: more threads would wait for each other
    {"choose": choose, "judge": judge, "long": long, "cost": cost}[asked.part](asked.mixers)


if __name__ == "__main__":
    main()

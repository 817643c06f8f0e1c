"""Three networks look back over a gap: *the key near the doors is*, or *are*?

python experiments/agreement.py rates    # two seeds choose a learning rate for each network and gap
python experiments/agreement.py seeds    # five other seeds judge, each network at its own rates

The task is `pieces.tasks.Agreement`: between the subject and its verb stand 1, 5 or 21 phrases with
a noun of either number, which is 4, 16 or 64 words of distance. Judged on rows that are held out.
The networks are a recurrent one with tanh, an LSTM as torch draws it, one whose forget gates stand
open before training, and one attention layer with a feed-forward network, all 64 wide.
"""

import argparse
import json
import statistics
import time
from typing import Any

import torch
from torch import Tensor, nn

from common import RECORDS
from kept import MEASURED
from pieces.attention import MultiHeadAttention
from pieces.feedforward import FeedForward
from pieces.tasks import Agreement

NAME = "agreement"
PACKAGED = MEASURED
SIZE = 64
PHRASES, RATES = (1, 5, 21), (5e-4, 2e-3, 8e-3, 32e-3, 128e-3)
CHOOSING, SEEDS = (100, 101), (0, 1, 2, 3, 4)
STEPS, ROWS, TESTED = 400, 64, 1000
OPEN = (
    5.0  # the forget gates' first bias, of 1, 3 and 5; a state keeps sigmoid(5) = 0.993 of itself
)
NETWORKS = ("recurrent", "LSTM", "LSTM, gates open", "attention")


def rows(task: Agreement, count: int, split: str, seed: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw rows up to their verb, and whether it is *are*."""
    batch = task.batch(count, split, generator=seed)
    return batch.input_ids, (batch.targets[:, -1] == task.ids["are"]).long()


class Reader(nn.Module):
    """A network that reads a string and says one of two numbers at its end."""

    def __init__(self, network: str, task: Agreement) -> None:
        super().__init__()
        self.embed = nn.Embedding(task.vocab_size, SIZE)
        self.out = nn.Linear(SIZE, 2)
        kinds = {"recurrent": nn.RNN, "LSTM": nn.LSTM, "LSTM, gates open": nn.LSTM}
        self.cells = kinds[network](SIZE, SIZE, batch_first=True) if network in kinds else None
        if network == "LSTM, gates open":
            forget = slice(SIZE, 2 * SIZE)  # torch's order of the four: input, forget, cell, output
            with torch.no_grad():
                self.cells.bias_ih_l0[forget], self.cells.bias_hh_l0[forget] = OPEN, 0.0
        if self.cells is None:
            self.places = nn.Parameter(0.1 * torch.randn(3 * task.distance + 2, SIZE))
            self.attention = MultiHeadAttention(SIZE, n_heads=4)
            self.feed = FeedForward(SIZE, 2 * SIZE)

    def forward(self, ids: Tensor) -> Tensor:
        """Shapes: ids [B, T] -> [B, 2]."""
        x = self.embed(ids)
        if self.cells is not None:
            return self.out(self.cells(x)[0][:, -1])
        x = x + self.places
        x = x + self.attention(x)
        return self.out((x + self.feed(x))[:, -1])


def one_run(network: str, phrases: int, seed: int, lr: float) -> dict[str, Any]:
    """Train once, and return the share of right verbs on rows that were held out."""
    torch.manual_seed(seed)
    generator, task = torch.Generator().manual_seed(seed), Agreement(phrases)
    model, start = Reader(network, task), time.process_time()
    optimiser = torch.optim.Adam(model.parameters(), lr=lr)
    for _ in range(STEPS):
        ids, verbs = rows(task, ROWS, "train", generator)
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(ids), verbs).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    with torch.no_grad():
        ids, verbs = rows(task, TESTED, "held_out", torch.Generator().manual_seed(10_000 + seed))
        right = (model(ids).argmax(-1) == verbs).double().mean().item()
    said = {"network": network, "gap": 3 * phrases + 1, "seed": seed, "lr": lr}
    parameters = sum(p.numel() for p in model.parameters())
    seconds = round(time.process_time() - start, 1)
    return said | {"right": round(right, 4), "parameters": parameters, "cpu_seconds": seconds}


def chosen(rates: list[dict[str, Any]], network: str, gap: int) -> float:
    """The rate with the best mean over the seeds that choose; of equals, the smallest."""
    tried: dict[float, list[float]] = {}
    for run in rates:
        if (run["network"], run["gap"]) == (network, gap):
            tried.setdefault(run["lr"], []).append(run["right"])
    return max(sorted(tried), key=lambda lr: statistics.fmean(tried[lr]))


def main() -> None:
    """Do the runs of a part that the record has not; keep each as soon as it ends."""
    part = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    part.add_argument("part", choices=("rates", "seeds"))
    which = part.parse_args().part
    file = RECORDS / f"{NAME}.json"
    record = (
        json.loads(file.read_text())
        if file.exists()
        else {"steps": STEPS, "rates": [], "seeds": []}
    )
    torch.set_num_threads(1)
    if which == "seeds":  # runs at a rate that is no longer the chosen one judge nothing
        best = lambda run: chosen(record["rates"], run["network"], run["gap"])  # noqa: E731
        record["seeds"] = [run for run in record["seeds"] if run["lr"] == best(run)]
    for phrases in PHRASES:
        gap = 3 * phrases + 1
        for network in NETWORKS:
            rates = RATES if which == "rates" else [chosen(record["rates"], network, gap)]
            for seed in CHOOSING if which == "rates" else SEEDS:
                for lr in rates:
                    key = (network, gap, seed, lr)
                    done = ((r["network"], r["gap"], r["seed"], r["lr"]) for r in record[which])
                    if key in done:
                        continue
                    record[which].append(one_run(network, phrases, seed, lr))
                    for target in (file, PACKAGED / f"{NAME}.json"):
                        target.write_text(json.dumps(record, indent=1) + "\n")
                    print(record[which][-1], flush=True)


if __name__ == "__main__":
    main()

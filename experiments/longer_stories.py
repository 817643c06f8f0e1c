"""How far beyond its 128 words does the stories LLaMA read, as it is and with slower clocks?

    python experiments/longer_stories.py

Trained on texts of 128 words (the 256 of its ``max_seq_len`` it never saw), it reads texts of 512,
and nothing is trained. The probability of every next word is known, so ``excess`` is loss minus
floor, in nats a word, in stretches of 16, once for each of five samples of held-out texts (three
with slower clocks). The scalings count from 128. The dynamic one looks at the length of the text,
so each stretch ends a text of its own; the others give a word the same whatever follows it. One
model, of one seed.
"""

import functools
import shutil
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from extrapolation import surprise
from kept import MEASURED, keep_run, missing
from pieces.positions import Rotary, Unscaled
from pieces.tasks import Stories
from pieces.trained import load
from rotary_scaling import scalings

NAME = "stories_llama"
ROOT = Path(__file__).parents[1]
RECORD = ROOT / "experiments" / "records" / "longer_stories.json"
PACKAGED = MEASURED / "longer_stories.json"
TRAINED, LONGEST, STRETCH = 128, 512, 16
LENGTHS = list(range(STRETCH, LONGEST + 1, STRETCH))
SAMPLES, ROWS, ROWS_SCALED = (1, 2, 3, 4, 5), 200, 40
SAMPLES_SCALED = SAMPLES[:3]
SCALINGS = scalings(TRAINED)


@functools.cache
def texts(sample: int, rows: int) -> tuple[Tensor, Tensor, Tensor]:
    """Held-out texts, their next words, and the true surprise of each: [rows, 512] three times."""
    task = Stories(LONGEST)
    batch = task.batch(rows, "held_out", torch.Generator().manual_seed(sample))
    return *batch, -task.true_log_probs(*batch)


def read_with(model: nn.Module, scaling: Unscaled | None) -> nn.Module:
    """The same weights, with clocks that turn otherwise."""
    plain = load(NAME).model.position
    model.position = Rotary(plain.head_dim, base=plain.base, scaling=scaling)
    return model


def excess(model: nn.Module, sample: int, rows: int, length: int = LONGEST) -> list[float]:
    """Loss minus floor over texts of a length, stretch by stretch."""
    ids, targets, known = (x[:, :length] for x in texts(sample, rows))
    off = surprise(model, ids, targets) - known
    return [round(x, 5) for x in off.unflatten(1, (-1, STRETCH)).mean(dim=(0, 2)).tolist()]


def one(scaling: str, factor: int, sample: int) -> dict[str, Any]:
    """The shipped model, read with one scaling over one sample of texts."""
    start, model = time.process_time(), load(NAME).model
    rows = ROWS if scaling == "unscaled" else ROWS_SCALED
    if scaling != "unscaled":
        read_with(model, SCALINGS[scaling](factor))
    if scaling == "dynamic":
        found = [excess(model, sample, rows, length)[-1] for length in LENGTHS]
    else:
        found = excess(model, sample, rows)
    run = {"scaling": scaling, "factor": factor, "sample": sample, "rows": rows}
    return run | {"excess": found, "cpu_seconds": round(time.process_time() - start, 1)}


def wanted() -> list[tuple[str, int, int]]:
    """All runs: scaling, factor, sample. The dynamic one, read 32 times over: only by 2."""
    slowed = [(name, f) for f in (2, 4) for name in SCALINGS if name != "dynamic"]
    slowed.append(("dynamic", 2))
    runs = [("unscaled", 1, sample) for sample in SAMPLES]
    return runs + [(*kind, sample) for kind in slowed for sample in SAMPLES_SCALED]


def about() -> dict[str, Any]:
    """What all runs share."""
    shipped = load(NAME)
    return {
        "name": "longer_stories",
        "about": " ".join(__doc__.split()),
        "model": {key: shipped.record[key] for key in ("seed", "steps", "loss", "floor")},
        "trained_length": shipped.task.length,
        "lengths": LENGTHS,
    }


def main() -> None:
    """Each run that is not in the record yet, kept as soon as it is done."""
    torch.set_num_threads(1)
    keys = ("scaling", "factor", "sample")
    runs = [dict(zip(keys, run, strict=True)) for run in wanted()]
    for run in missing(RECORD, about(), runs):
        keep_run(RECORD, about(), one(**run), ("scaling", "factor", "sample"))
        shutil.copy(RECORD, PACKAGED)
        print(run, flush=True)


if __name__ == "__main__":
    main()

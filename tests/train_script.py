"""What ``torchrun`` runs in test_train.py: the same script for one process and for several."""

import json
import sys
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from pieces.distributed import processes
from pieces.models.gpt2 import GPT2Config, gpt2
from pieces.train import TrainConfig, train

LENGTH = 6


class Batch(NamedTuple):
    """Tokens, and what to say at each place."""

    input_ids: Tensor
    targets: Tensor


def copied(batch_size: int, generator: torch.Generator) -> Batch:
    """A word of 2 .. LENGTH digits, a divider, the word again: rows count unequally."""
    word = torch.randint(2, 9, (batch_size, LENGTH), generator=generator)
    length = torch.randint(2, LENGTH + 1, (batch_size, 1), generator=generator)
    word = word.masked_fill(torch.arange(LENGTH) >= length, 0)
    text = torch.cat((word, torch.ones(batch_size, 1, dtype=torch.long), word), dim=1)
    targets = text[:, 1:].clone()
    targets[:, :LENGTH] = -100
    targets = targets.masked_fill(targets == 0, -100)
    return Batch(text[:, :-1], targets)


def model() -> torch.nn.Module:
    """Two layers, from one seed."""
    torch.manual_seed(3)
    return gpt2(GPT2Config(9, 32, 2, 2, 64, 2 * LENGTH))


def main(folder: Path, device: str | None) -> None:
    """Train a little and write the losses and weights of each process."""
    torch.set_num_threads(1)
    with processes(device) as place:
        own = model().to(place.device)
        config = TrainConfig(steps=12, batch_size=24, warmup=3)
        record = train(own, copied, config, progress=False, checkpoint=folder / "run.pt")
        weights = {name: w.double().sum().item() for name, w in own.state_dict().items()}
        found = {"losses": record.losses, "norms": record.norms, "weights": weights}
        (folder / f"{place.rank}.json").write_text(json.dumps(found | {"world": place.world}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)

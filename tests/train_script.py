"""What ``torchrun`` runs in test_train.py: the same script for one process and for several."""

import contextlib
import copy
import json
import sys
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from pieces.distributed import Place, processes
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


def sums(own: torch.nn.Module) -> dict[str, float]:
    """What the weights of a model add up to, by name."""
    return {name: w.double().sum().item() for name, w in own.state_dict().items()}


def counted(counts: dict[str, int]) -> None:
    """Count the parts that are computed without a word to the other processes."""
    silent = DistributedDataParallel.no_sync

    def no_sync(self: DistributedDataParallel) -> AbstractContextManager:
        counts["unsynced"] = counts.get("unsynced", 0) + 1
        return silent(self)

    DistributedDataParallel.no_sync = no_sync


def main(folder: Path, device: str | None) -> None:
    """Train a little, in several ways, and write what each process found."""
    torch.set_num_threads(1)
    found: dict[str, Any] = {}
    counted(found)
    with processes(device) as place:
        config = TrainConfig(steps=12, batch_size=24, warmup=3)
        own = model().to(place.device)
        record = train(own, copied, config, progress=False)
        found |= {"losses": record.losses, "norms": record.norms, "weights": sums(own)}
        own = model().to(place.device)
        record = train(own, copied, replace(config, accumulate=3), progress=False)
        found |= {"parts": record.losses, "parts_weights": sums(own)}
        found |= broken_and_resumed(folder, place, config)
        dropped = torch.nn.Dropout(0.5)(torch.ones(64))
        found |= {"world": place.world, "dropped": dropped.tolist()}
        (folder / f"{place.rank}.json").write_text(json.dumps(found))


def broken_and_resumed(folder: Path, place: Place, config: TrainConfig) -> dict[str, Any]:
    """A run that stops, and goes on in processes of which only the first can see the file."""
    own, calls = torch.nn.Sequential(model(), torch.nn.Dropout(0.2)).to(place.device), 0

    def failing(batch_size: int, generator: torch.Generator) -> Batch:
        nonlocal calls
        calls += 1
        if calls > 7:
            raise EOFError
        return copied(batch_size, generator)

    whole = copy.deepcopy(own)
    unbroken = train(whole, copied, config, progress=False)
    hidden = folder / f"disk of {place.rank}"  # each machine has its own
    if place.rank == 0:
        hidden.mkdir()
    again, path = copy.deepcopy(own), hidden / "run.pt"
    with contextlib.suppress(EOFError):
        train(own, failing, config, progress=False, checkpoint=path, save_every=3)
    torch.manual_seed(99)
    resumed = train(again, copied, config, progress=False, checkpoint=path)
    refused = ""
    try:
        train(model().to(place.device), copied, config, progress=False, checkpoint=path)
    except ValueError as error:
        refused = str(error)
    return {
        "resumed": resumed == unbroken and sums(again) == sums(whole),
        "refused": refused,
        "wrote": path.exists(),
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)

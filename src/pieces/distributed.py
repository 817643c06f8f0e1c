"""Several processes that train one model: torch's own DistributedDataParallel, under torchrun."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
import torch.distributed as dist

from pieces.checks import checked, one_of, require


class Place(NamedTuple):
    """Which of how many processes this is, and its device."""

    rank: int
    world: int
    device: torch.device


@checked
@contextmanager
def processes(device: str | None = None) -> Iterator[Place]:
    """Join the other processes that ``torchrun`` started, and leave them in good order.

    Without torchrun this is the only one. NCCL on GPUs, one each, else gloo.
    """
    kind = _kind(device)
    local = int(os.environ.get("LOCAL_RANK", 0))
    own = torch.device("cuda", local) if kind == "cuda" else torch.device(kind)
    if kind == "cuda":
        n, remedy = torch.cuda.device_count(), "start a process a GPU, or pass device='cpu'"
        require(local < n, "LOCAL_RANK", local, f"has no GPU of its own: torch sees {n}", remedy)
    if "RANK" not in os.environ:
        yield Place(0, 1, own)
        return
    if kind == "cuda":
        torch.cuda.set_device(own)
    dist.init_process_group("nccl" if kind == "cuda" else "gloo")
    try:
        yield Place(dist.get_rank(), dist.get_world_size(), own)
    finally:
        dist.destroy_process_group()


@checked
def rank_and_world() -> tuple[int, int]:
    """Which of how many processes."""
    if dist.is_available() and dist.is_initialized():
        return dist.get_rank(), dist.get_world_size()
    return 0, 1


def _kind(device: str | None) -> str:
    """The kind of device, without a number: which GPU is whose, torchrun says."""
    if device is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    there = {"cpu": True, "cuda": torch.cuda.is_available()}
    there["mps"] = torch.backends.mps.is_available()
    seen = one_of("device", device, there)
    require(seen, "device", device, "torch sees no GPU", "pass device='cpu'")
    return device

"""Processes: what one is told of itself, alone and among others, and how they part."""

import subprocess
import sys

import pytest
import torch
import torch.distributed as dist

from pieces.distributed import Place, processes, rank_and_world

SCRIPT = """
import sys, torch, torch.distributed as dist
from pieces.distributed import processes, rank_and_world
assert rank_and_world() == (0, 1)
fails = sys.argv[1] == "fails"
try:
    with processes("cpu") as place:
        assert rank_and_world() == (place.rank, place.world), place
        assert dist.get_backend() == "gloo"
        number = torch.tensor(10.0 ** place.rank)
        dist.all_reduce(number)
        line = f"{place.rank} {place.world} {place.device} {number.item()}\\n"
        sys.stdout.write(line)  # in one piece, as both write to one pipe
        if fails:
            raise KeyError
except KeyError:
    assert fails
assert not dist.is_initialized()
assert rank_and_world() == (0, 1)
"""


@pytest.mark.parametrize("end", ["well", "fails"])
def test_two_processes_know_each_other_and_part(tmp_path, end):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node=2", str(script), end]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    assert sorted(done.stdout.splitlines()) == ["0 2 cpu 11.0", "1 2 cpu 11.0"]


def test_one_process_needs_no_torchrun(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with processes("cpu") as place:
        assert place == Place(0, 1, torch.device("cpu"))
        assert not dist.is_initialized()
    assert rank_and_world() == (0, 1)


@pytest.mark.parametrize(("gpus", "expected"), [(0, "cpu"), (2, "cuda:0")])
def test_the_device_left_out_is_the_best_there_is(monkeypatch, gpus, expected):
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    with processes() as place:
        assert place.device == torch.device(expected)


def test_each_process_takes_the_gpu_of_its_number(monkeypatch):
    joined = []
    for name, value in (("RANK", "5"), ("LOCAL_RANK", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", joined.append)
    monkeypatch.setattr(dist, "init_process_group", joined.append)
    monkeypatch.setattr(dist, "get_rank", lambda: 5)
    monkeypatch.setattr(dist, "get_world_size", lambda: 8)
    monkeypatch.setattr(dist, "destroy_process_group", lambda: joined.append("parted"))
    with processes() as place:
        assert place == Place(5, 8, torch.device("cuda", 1))
        assert joined == [torch.device("cuda", 1), "nccl"]
    assert joined[-1] == "parted"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("device", "gpus", "local", "error", "said"),
    [
        ("cuda", 0, "0", ValueError, "device = 'cuda': torch sees no GPU"),
        ("cuda", 2, "2", ValueError, "LOCAL_RANK = 2: has no GPU of its own"),
        ("cuda:1", 2, "0", ValueError, "device = 'cuda:1': must be one of cpu, cuda, mps"),
        ("toaster", 0, "0", ValueError, "device = 'toaster'"),
        (torch.device("cpu"), 0, "0", TypeError, "device = device"),
    ],
)
def test_what_is_not_there_is_said(monkeypatch, device, gpus, local, error, said):
    monkeypatch.setenv("LOCAL_RANK", local)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    with pytest.raises(error, match=said), processes(device):
        pass

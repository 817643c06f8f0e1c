import dataclasses
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from torch import nn

import train_script
from pieces.distributed import processes
from pieces.losses import next_token_loss, translation_loss
from pieces.models.encoder_decoder import EncoderDecoderConfig, encoder_decoder
from pieces.train import TrainConfig, learning_rate, train
from train_script import copied, model

SCRIPT = Path(train_script.__file__)
SHORT = TrainConfig(steps=8, batch_size=8, warmup=2)


class Stop(Exception):  # noqa: N818
    """The power fails."""


def run(own, config=SHORT, draw=copied, **options):
    return train(own, draw, config, progress=False, **options)


def equal(one, other):
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def torchrun(folder, n):
    folder.mkdir()
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += [f"--nproc-per-node={n}", str(SCRIPT), str(folder), "cpu"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]
    assert [one["world"] for one in found] == [n] * n
    return found


def test_two_processes_train_as_one(tmp_path):
    """Rows count unequally, so an average of the two averages would be another number."""
    (alone,) = torchrun(tmp_path / "one", 1)
    first, second = torchrun(tmp_path / "two", 2)
    assert first == second
    assert first["losses"] == pytest.approx(alone["losses"], rel=1e-5)
    assert first["norms"] == pytest.approx(alone["norms"], rel=1e-4)
    assert first["weights"] == pytest.approx(alone["weights"], rel=1e-3, abs=1e-3)
    assert alone["losses"][-1] < alone["losses"][0]


def test_it_learns_and_the_answer_is_right(device):
    own = model().to(device)
    record = run(own, TrainConfig(steps=250, batch_size=64, lr=5e-3))
    fresh = copied(200, torch.Generator().manual_seed(99))
    with torch.no_grad():
        said = own.eval()(fresh.input_ids.to(device)).argmax(-1).cpu()
    counted = fresh.targets != -100
    assert (said == fresh.targets)[counted].float().mean() > 0.95
    assert record.losses[0] > 1.8
    assert record.losses[-1] < 0.3
    assert len(record.losses) == len(record.norms) == 250


def test_a_seed_is_a_run(device):
    first, second, other = (model().to(device) for _ in range(3))
    a, b = run(first), run(second)
    c = run(other, dataclasses.replace(SHORT, seed=1))
    assert a == b
    assert equal(first, second)
    assert a.losses != c.losses


def test_resuming_gives_the_same_run(tmp_path, device):
    """Dropout draws from torch's generator: it must go on where it was."""

    def dropping():
        own = model()
        return nn.Sequential(own, nn.Dropout(0.1)).to(device)

    whole = dropping()
    expected = run(whole, checkpoint=tmp_path / "whole.pt")

    def failing(batch_size, generator):
        failing.calls += 1
        if failing.calls > 5:
            raise Stop
        return copied(batch_size, generator)

    failing.calls = 0
    options = {"checkpoint": tmp_path / "broken.pt", "save_every": 2}
    with pytest.raises(Stop):
        run(dropping(), draw=failing, **options)
    again = dropping()
    torch.manual_seed(12345)
    assert run(again, **options) == expected
    assert equal(again, whole)
    assert not list(tmp_path.glob("*.part"))


def test_a_finished_run_is_not_run_again(tmp_path):
    first, second = model(), model()
    record = run(first, checkpoint=tmp_path / "run.pt")

    def never(batch_size, generator):
        raise Stop

    assert run(second, checkpoint=tmp_path / "run.pt", draw=never) == record
    assert equal(first, second)


def test_another_config_does_not_resume(tmp_path):
    run(model(), checkpoint=tmp_path / "run.pt")
    with pytest.raises(ValueError, match=r"config = .*the checkpoint was trained with"):
        run(model(), dataclasses.replace(SHORT, lr=1e-4), checkpoint=tmp_path / "run.pt")


def test_the_rate_climbs_and_falls():
    config = TrainConfig(steps=100, warmup=10, lr=2.0, final_share=0.1)
    rates = [learning_rate(step, config) for step in range(100)]
    assert rates[0] == pytest.approx(0.2)
    assert max(rates) == rates[9] == rates[10] == 2.0
    assert rates[99] == pytest.approx(0.2)
    assert rates[:10] == sorted(rates[:10])
    assert rates[10:] == sorted(rates[10:], reverse=True)
    middle = config.lr * (0.1 + 0.9 * (1 + math.cos(math.pi * 44 / 89)) / 2)
    assert rates[54] == pytest.approx(middle)
    assert learning_rate(0, TrainConfig(steps=1, warmup=0, lr=1.0)) == 1.0


def test_only_matrices_decay():
    """With no gradient to follow, decay alone moves a weight."""
    own = model()
    before = {name: w.clone() for name, w in own.state_dict().items()}

    def nothing(model, batch):
        return sum(p.sum() for p in model.parameters()) * 0.0, None

    run(own, dataclasses.replace(SHORT, weight_decay=0.5), loss=nothing)
    for name, weight in own.named_parameters():
        assert torch.equal(weight, before[name]) == (weight.ndim == 1), name


def test_gradients_are_clipped_and_their_norm_is_told():
    own = model()
    record = run(own, dataclasses.replace(SHORT, steps=1, clip=1e-6))
    batch = copied(8, torch.Generator().manual_seed(0))
    own = model()
    total, count = next_token_loss(own, batch)
    (total / count).backward()
    norm = torch.stack([p.grad.norm() for p in own.parameters()]).norm()
    assert record.norms[0] == pytest.approx(norm.item(), rel=1e-5)
    assert record.losses[0] == pytest.approx((total / count).item(), rel=1e-6)


def test_an_encoder_decoder_trains():
    class Pair(NamedTuple):
        source_ids: torch.Tensor
        source_mask: torch.Tensor
        target_ids: torch.Tensor
        targets: torch.Tensor

    def draw(batch_size, generator):
        word = torch.randint(1, 9, (batch_size, 5), generator=generator)
        shown = torch.cat((torch.zeros(batch_size, 1, dtype=torch.long), word[:, :-1]), dim=1)
        return Pair(word, torch.ones(batch_size, 1, 1, 5).bool(), shown, word)

    own = encoder_decoder(EncoderDecoderConfig(9, 32, 1, 2, 64, dropout=0.0))
    record = run(own, TrainConfig(steps=150, lr=5e-3), draw, loss=translation_loss)
    assert record.losses[0] > 2
    assert record.losses[-1] < 0.5


def test_a_diverging_run_is_stopped():
    def broken(model, batch):
        total, count = next_token_loss(model, batch)
        return total * float("nan"), count

    with pytest.raises(FloatingPointError, match=r"loss.*lower lr"):
        run(model(), loss=broken)


def test_one_process_needs_no_torchrun(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with processes("cpu") as place:
        assert place == (0, 1, torch.device("cpu"))


def test_a_missing_gpu_is_said(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="device = 'cuda'"), processes("cuda"):
        pass


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"steps": 0}, ValueError),
        ({"steps": 1.0}, TypeError),
        ({"batch_size": 0}, ValueError),
        ({"warmup": -1}, ValueError),
        ({"lr": 0.0}, ValueError),
        ({"lr": float("nan")}, ValueError),
        ({"clip": 0}, ValueError),
        ({"final_share": 1.5}, ValueError),
        ({"weight_decay": -0.1}, ValueError),
        ({"betas": (0.9, 1.0)}, ValueError),
        ({"seed": -1}, ValueError),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_bad_numbers_are_refused(change, error):
    with pytest.raises(error, match=next(iter(change))):
        dataclasses.replace(SHORT, **change)


@pytest.mark.usefixtures("unchecked")
def test_bad_requests_are_refused():
    with pytest.raises(ValueError, match="save_every = 0"):
        run(model(), save_every=0)

    def silent(batch_size, generator):
        batch = copied(batch_size, generator)
        return batch._replace(targets=torch.full_like(batch.targets, -100))

    with pytest.raises(ValueError, match=r"batch\.targets"):
        run(model(), draw=silent)

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


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The same script, by one process and by two."""
    folder = tmp_path_factory.mktemp("torchrun")
    return torchrun(folder / "one", 1) + torchrun(folder / "two", 2)


def close(found, expected):
    assert found["losses"] == pytest.approx(expected["losses"], rel=1e-5)
    assert found["weights"] == pytest.approx(expected["weights"], rel=1e-3, abs=1e-3)


def test_two_processes_train_as_one(trained):
    """Rows count unequally, so an average of the two averages would be another number."""
    alone, first, second = trained
    for name in ("losses", "norms", "weights", "parts", "parts_weights"):
        assert first[name] == second[name]
    close(first, alone)
    assert first["norms"] == pytest.approx(alone["norms"], rel=1e-4)
    assert alone["losses"][-1] < alone["losses"][0]


def test_parts_of_a_batch_on_two_processes_are_the_whole(trained):
    """And only the last part of a step is a reason to speak: 2 of 3 in each of 12 steps are not."""
    alone, first, second = trained
    for one in trained:
        close({"losses": one["parts"], "weights": one["parts_weights"]}, alone)
    assert "unsynced" not in alone
    assert first["unsynced"] == second["unsynced"] == 24


def test_one_process_reads_and_writes_for_all(trained):
    """The second has no such folder: it goes on all the same, and hears of another model."""
    alone, first, second = trained
    for one in trained:
        assert one["resumed"]
        assert "the model has" in one["refused"]
    assert (alone["wrote"], first["wrote"], second["wrote"]) == (True, True, False)


def test_each_process_drops_units_of_its_own(trained):
    _, first, second = trained
    assert first["dropped"] != second["dropped"]


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


@pytest.mark.parametrize("accumulate", [2, 3, 6, 12])
def test_parts_of_a_batch_are_the_whole(accumulate):
    """Targets fall unequally on the parts, so a mean of the parts' means is another number."""
    config = dataclasses.replace(SHORT, batch_size=12)
    whole, cut = model().double(), model().double()
    expected = run(whole, config)
    found = run(cut, dataclasses.replace(config, accumulate=accumulate))
    assert found.losses == pytest.approx(expected.losses, rel=1e-6)
    assert found.norms == pytest.approx(expected.norms, rel=1e-6)
    torch.testing.assert_close(cut.state_dict(), whole.state_dict(), rtol=1e-5, atol=1e-7)


def test_the_parts_are_small():
    sizes = []

    def watched(model, batch):
        sizes.append(tuple(batch.input_ids.shape))
        return next_token_loss(model, batch)

    run(model(), dataclasses.replace(SHORT, steps=1, accumulate=4), loss=watched)
    assert sizes == [(2, 11)] * 4 or sizes == [(2, 12)] * 4


def test_a_part_without_targets_changes_nothing():
    def half(batch_size, generator):
        batch = copied(batch_size, generator)
        silent = torch.arange(batch_size)[:, None] % 2 == 0
        return batch._replace(targets=batch.targets.masked_fill(silent, -100))

    whole, cut = model(), model()
    expected = run(whole, draw=half)
    found = run(cut, dataclasses.replace(SHORT, accumulate=2), draw=half)
    assert found.losses == pytest.approx(expected.losses, rel=1e-5)


def test_old_gradients_do_not_count():
    own, fresh = model(), model()
    next_token_loss(own, copied(8, torch.Generator().manual_seed(5)))[0].backward()
    assert run(own) == run(fresh)


def spoiled(at, how):
    """A loss that is no number from the call ``at`` on, or whose gradient is none."""
    calls = 0

    def loss(model, batch):
        nonlocal calls
        total, count = next_token_loss(model, batch)
        calls += 1
        if calls <= at:
            return total, count
        if how == "loss":
            return total * float("nan"), count
        zero = sum((p * 0).sum() for p in model.parameters())
        return total + zero.abs().sqrt(), count  # the root of 0: a number, its gradient is none

    return loss


@pytest.mark.parametrize("how", ["loss", "norm"])
@pytest.mark.parametrize("at", [0, 5, 7])
def test_a_diverging_run_is_stopped_and_its_last_good_checkpoint_stays(tmp_path, how, at):
    path, bad = tmp_path / "run.pt", model()
    with pytest.raises(FloatingPointError, match=rf"{how} of step {at} = nan\b.*lower lr"):
        run(bad, loss=spoiled(at, how), checkpoint=path, save_every=1)
    assert path.exists() == (at > 0)
    again, whole = model(), model()
    assert run(again, checkpoint=path) == run(whole)
    assert equal(again, whole)


def test_weights_that_are_no_numbers_are_not_saved(tmp_path, monkeypatch):
    """Loss and gradient of the last step were finite; its stride was not."""
    path, stride, strides = tmp_path / "run.pt", torch.optim.AdamW.step, []

    def step(optimizer):
        stride(optimizer)
        strides.append(optimizer)
        if len(strides) == 8:
            optimizer.param_groups[0]["params"][1].data[0, 0] = torch.inf

    monkeypatch.setattr(torch.optim.AdamW, "step", step)
    with pytest.raises(FloatingPointError, match=r"\w+\.weight = .*must be finite.*lower lr"):
        run(model(), checkpoint=path, save_every=3)
    assert len(torch.load(path)["record"]["losses"]) == 6


def test_the_record_is_exact_whatever_the_default_dtype(tmp_path):
    path = tmp_path / "run.pt"
    record = run(model(), checkpoint=path)
    torch.set_default_dtype(torch.bfloat16)
    try:
        assert run(model().float(), checkpoint=path) == record
    finally:
        torch.set_default_dtype(torch.float32)


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
        ({"betas": (0.9, float("nan"))}, ValueError),
        ({"betas": (0.9,)}, TypeError),
        ({"betas": 0.9}, TypeError),
        ({"betas": ("a", "b")}, TypeError),
        ({"bf16": "no"}, TypeError),
        ({"accumulate": 0}, ValueError),
        ({"accumulate": 3}, ValueError),
        ({"accumulate": 2.0}, TypeError),
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


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("spoil", "error", "said"),
    [
        (lambda batch: tuple(batch), TypeError, "named tuple"),
        (lambda batch: None, TypeError, "named tuple"),
        (lambda batch: batch._replace(input_ids=[[1]]), TypeError, "named tuple"),
        (lambda batch: batch._replace(input_ids=batch.input_ids[:4]), ValueError, r"\[4, 8\]"),
        (lambda batch: batch._make(rows[:7] for rows in batch), ValueError, r"\[7\].*2 shares"),
    ],
)
def test_a_batch_that_cannot_be_shared_is_refused(spoil, error, said):
    def draw(batch_size, generator):
        return spoil(copied(batch_size, generator))

    with pytest.raises(error, match=said):
        run(model(), dataclasses.replace(SHORT, accumulate=2), draw=draw)


@pytest.mark.usefixtures("unchecked")
def test_a_model_with_nothing_to_train_is_refused():
    for own in (nn.Identity(), model().requires_grad_(False)):
        with pytest.raises(ValueError, match="has no parameter to train"):
            run(own)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("wrong", [0, True, "3", 2.5, -1])
def test_a_wrong_save_every_is_refused(tmp_path, wrong):
    with pytest.raises((TypeError, ValueError), match="save_every = "):
        run(model(), save_every=wrong, checkpoint=tmp_path / "run.pt")


def test_saving_needs_a_file():
    with pytest.raises(ValueError, match=r"save_every = 2: needs a file.*checkpoint="):
        run(model(), save_every=2)

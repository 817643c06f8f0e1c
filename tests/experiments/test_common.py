"""An experiment from beginning to end, on a task that is learnt in no time."""

import json
import sys
from dataclasses import replace

import pytest
import torch
from safetensors import torch as safe

import common
from pieces.losses import summed_cross_entropy
from pieces.models.llama import LlamaConfig, llama
from pieces.tasks import Copy
from pieces.train import TrainConfig
from pieces.trained import unpack

TASK = Copy(9, 3)


def measure(model):
    batch = TASK.batch(50, "held_out", torch.Generator().manual_seed(1))
    with torch.no_grad():
        total, count = summed_cross_entropy(model(batch.input_ids), batch.targets)
    return {"loss": (total / count).item(), "floor": 0.0}


EXPERIMENT = common.Experiment(
    name="copier",
    about="A model that copies.",
    task=TASK,
    build=lambda: llama(LlamaConfig(TASK.vocab_size, 12, 2, 3, 20)),
    draw=TASK.batch,
    measure=measure,
    config=TrainConfig(steps=6, batch_size=4, warmup=1),
    examine=lambda model: {"examined": True},
    arguments={"n_symbols": 9, "length": 3},
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(common, "RECORDS", tmp_path / "records")
    monkeypatch.setattr(common, "UNFINISHED", tmp_path / "unfinished")
    monkeypatch.setattr(common, "path_of", lambda name: tmp_path / f"{name}.safetensors")
    return tmp_path


def run(monkeypatch, *options):
    monkeypatch.setattr(sys, "argv", ["copier.py", *options])
    common.run(EXPERIMENT)


def shipped(place):
    return unpack((place / "copier.safetensors").read_bytes())


def kept(place):
    return json.loads((place / "records" / "copier.json").read_text("utf-8"))


def weights(place):
    data = (place / "copier.safetensors").read_bytes()
    return {name: tensor.tolist() for name, tensor in safe.load(data).items()}


def test_the_record_is_of_the_weights_as_shipped(place, monkeypatch):
    run(monkeypatch, "--seeds", "0")
    model, task, told = vars(shipped(place)).values()
    assert task.vocabulary == TASK.vocabulary
    assert told.loss == pytest.approx(measure(model)["loss"], abs=1e-6)
    assert told.loss != told.loss_float32
    assert (told.seed, told.steps, told.floor, told.examined) == (0, 6, 0.0, True)
    (own,) = kept(place)["runs"]
    assert own["loss"] == told.loss
    assert own["curve"][-1][0] == 6
    assert not list((place / "unfinished").iterdir())


def test_a_seed_gives_the_same_weights_and_other_seeds_only_a_line(place, monkeypatch):
    run(monkeypatch, "--seeds", "0")
    first = weights(place)
    run(monkeypatch, "--seeds", "1", "0")
    assert weights(place) == first
    told = shipped(place).record
    assert [run["seed"] for run in told.seeds] == [0, 1]
    assert told.seed == 0
    assert told.seeds[0]["loss"] != told.seeds[1]["loss"]
    assert len(kept(place)["runs"]) == 2


def test_the_longest_run_is_shipped(place, monkeypatch):
    run(monkeypatch, "--seeds", "0")
    first = weights(place)
    run(monkeypatch, "--seeds", "0", "--steps", "2")
    assert weights(place) == first
    assert shipped(place).record.steps == 6
    run(monkeypatch, "--seeds", "0", "--steps", "9")
    assert weights(place) != first
    assert shipped(place).record.steps == 9
    assert [run["steps"] for run in kept(place)["runs"]] == [9, 6, 2]


def test_a_broken_run_goes_on_where_it_was(place, monkeypatch):
    run(monkeypatch, "--seeds", "0")
    whole = weights(place)
    (place / "copier.safetensors").unlink()
    real = common.train
    monkeypatch.setattr(common, "train", broken(real))
    with pytest.raises(KeyboardInterrupt):
        run(monkeypatch, "--seeds", "0")
    assert list((place / "unfinished").iterdir())
    monkeypatch.setattr(common, "train", real)
    run(monkeypatch, "--seeds", "0")
    assert weights(place) == whole


def broken(train):
    """A training loop whose fifth batch never comes."""

    def loop(model, draw, config, **options):
        count = iter(range(4))

        def interrupted(*args, **more):
            if next(count, None) is None:
                raise KeyboardInterrupt
            return draw(*args, **more)

        return train(model, interrupted, config, **options | {"save_every": 2})

    return loop


def test_what_is_too_large_is_not_shipped(place, monkeypatch):
    monkeypatch.setattr(common, "MEGABYTE", 1000)
    with pytest.raises(ValueError, match=r"copier\.safetensors = \d+ bytes: at most 1000"):
        run(monkeypatch, "--seeds", "0")
    assert not (place / "copier.safetensors").exists()


def test_runs_of_another_model_are_forgotten(place, monkeypatch):
    run(monkeypatch, "--seeds", "0", "--steps", "8")
    wider = replace(EXPERIMENT, build=lambda: llama(LlamaConfig(TASK.vocab_size, 18, 2, 3, 20)))
    monkeypatch.setattr(sys, "argv", ["copier.py", "--seeds", "0", "--steps", "3"])
    common.run(wider)
    assert [run["steps"] for run in kept(place)["runs"]] == [3]
    assert shipped(place).model.config.d_model == 18

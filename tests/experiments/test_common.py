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


def run(monkeypatch, *options, experiment=EXPERIMENT):
    monkeypatch.setattr(sys, "argv", ["copier.py", *options])
    common.run(experiment)


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
    monkeypatch.setattr(common, "train", broken(real, iter(range(4)), 2))
    with pytest.raises(KeyboardInterrupt):
        run(monkeypatch, "--seeds", "0")
    assert list((place / "unfinished").iterdir())
    monkeypatch.setattr(common, "train", real)
    run(monkeypatch, "--seeds", "0")
    assert weights(place) == whole


def broken(train, count, every):
    """A training loop in which after so many batches no other comes."""

    def loop(model, draw, config, **options):
        def interrupted(*args, **more):
            if next(count, None) is None:
                raise KeyboardInterrupt
            return draw(*args, **more)

        return train(model, interrupted, config, **options | {"save_every": every})

    return loop


class Counted:
    """A draw that counts how often it is asked."""

    asked = 0

    def __call__(self, *given, **more):
        self.asked += 1
        return TASK.batch(*given, **more)


def taught():
    """The same experiment with a lesson before it."""
    lesson, last = Counted(), Counted()
    config = TrainConfig(steps=4, batch_size=2, lr=0.02, warmup=1)
    return lesson, last, replace(EXPERIMENT, draw=last, lessons=(common.Part(config, lesson),))


def test_the_record_says_all_steps_that_were_run(place, monkeypatch):
    lesson, last, experiment = taught()
    run(monkeypatch, "--seeds", "0", experiment=experiment)
    told, (own,) = shipped(place).record, kept(place)["runs"]
    assert (lesson.asked, last.asked) == (4, 6)
    assert told.steps == own["steps"] == own["curve"][-1][0] == 10
    assert told.parts == own["parts"] == [{"steps": 4, "lr": 0.02}, {"steps": 6, "lr": 0.003}]
    assert told.seeds[0]["steps"] == 10
    assert [part["batch_size"] for part in kept(place)["lessons"]] == [2]
    assert not list((place / "unfinished").iterdir())


@pytest.mark.parametrize("last", [2, 7])
def test_a_run_broken_in_its_lesson_or_after_it_goes_on(place, monkeypatch, last):
    *_, experiment = taught()
    run(monkeypatch, "--seeds", "0", experiment=experiment)
    whole = weights(place)
    (place / "copier.safetensors").unlink()
    real, count = common.train, iter(range(last))
    monkeypatch.setattr(common, "train", broken(real, count, 1))
    with pytest.raises(KeyboardInterrupt):
        run(monkeypatch, "--seeds", "0", experiment=experiment)
    lesson, rest, experiment = taught()
    monkeypatch.setattr(common, "train", real)
    run(monkeypatch, "--seeds", "0", experiment=experiment)
    assert lesson.asked + rest.asked == 10 - last
    assert weights(place) == whole
    assert shipped(place).record.steps == 10


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

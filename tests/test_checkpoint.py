"""Checkpoints of a run: a bad place is known at once, a bad file changes nothing."""

import copy
import dataclasses
import io

import pytest
import torch

from pieces.train import TrainConfig, train
from pieces.train import checkpoint as checkpoints
from train_script import copied, model

CONFIG = TrainConfig(steps=4, batch_size=8, warmup=2)


class Never(Exception):  # noqa: N818
    """A step was made."""


def never(batch_size, generator):
    raise Never


def run(own, path, config=CONFIG, draw=copied, **options):
    return train(own, draw, config, checkpoint=path, progress=False, **options)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A finished run, as it stands in its file."""
    path = tmp_path_factory.mktemp("saved") / "run.pt"
    run(model(), path)
    return path


def changed(saved, tmp_path, change):
    state = torch.load(saved, weights_only=True)
    change(state)
    torch.save(state, tmp_path / "run.pt")
    return tmp_path / "run.pt"


def refused(path, said, config=CONFIG):
    """The error names the file and a way out; model, file and dropout are as before."""
    own, file = model(), path.read_bytes()
    before, random = copy.deepcopy(own.state_dict()), torch.get_rng_state()
    with pytest.raises(ValueError, match=said) as caught:
        run(own, path, config, never)
    assert str(path) in str(caught.value)
    assert "Remedy: " in str(caught.value)
    assert all(torch.equal(x, before[name]) for name, x in own.state_dict().items())
    assert path.read_bytes() == file
    return random


@pytest.mark.parametrize("where", ["no/such/folder/run.pt", "file/run.pt", "folder", "", "."])
def test_a_bad_place_is_known_before_the_first_step(tmp_path, monkeypatch, where):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match="checkpoint = "):
        run(model(), where, draw=never)
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["file", "folder"]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("wrong", [3, True, b"run.pt", ["run.pt"]])
def test_what_is_no_path_is_refused(wrong):
    with pytest.raises(TypeError, match="checkpoint = "):
        run(model(), wrong, draw=never)


def test_a_text_is_a_path(tmp_path):
    assert run(model(), str(tmp_path / "run.pt")) == run(model(), tmp_path / "run.pt", draw=never)


@pytest.mark.parametrize("kept", [0, 1, 100, 5000, -1])
def test_a_file_cut_short_is_refused(saved, tmp_path, kept):
    path = tmp_path / "run.pt"
    path.write_bytes(saved.read_bytes()[:kept])
    refused(path, "is damaged")


@pytest.mark.parametrize("content", [b"not a checkpoint", b"PK\x03\x04 and no more", b"\x80\x02."])
def test_another_kind_of_file_is_refused(tmp_path, content):
    path = tmp_path / "run.pt"
    path.write_bytes(content)
    refused(path, "is damaged")


def test_code_in_a_file_is_not_run(tmp_path):
    class Trap:
        def __reduce__(self):
            return exec, ("raise SystemExit",)

    torch.save({"model": Trap()}, tmp_path / "run.pt")
    refused(tmp_path / "run.pt", "is damaged")


@pytest.mark.parametrize("content", [[1, 2], torch.ones(2), {}, {"model": {}}])
def test_a_file_of_something_else_is_refused(tmp_path, content):
    torch.save(content, tmp_path / "run.pt")
    refused(tmp_path / "run.pt", "is no checkpoint of a run")


def test_the_weights_alone_are_refused(tmp_path):
    torch.save(model().state_dict(), tmp_path / "run.pt")
    refused(tmp_path / "run.pt", "is no checkpoint of a run")


@pytest.mark.parametrize("part", ["config", "model", "optimizer", "data", "random", "record"])
def test_a_missing_part_is_refused(saved, tmp_path, part):
    refused(changed(saved, tmp_path, lambda state: state.pop(part)), "is no checkpoint of a run")
    for nonsense in (None, 3, "text", torch.ones(2)):
        path = changed(saved, tmp_path, lambda state, x=nonsense: state.update({part: x}))
        refused(path, "checkpoint = ")


@pytest.mark.parametrize("which", [0, 5, -1])
def test_all_weights_are_loaded_or_none(saved, tmp_path, which):
    name = list(model().state_dict())[which]
    path = changed(saved, tmp_path, lambda state: state["model"].pop(name))
    refused(path, f"holds nothing as '{name}', where the model has torch.float32")

    def reshape(state):
        state["model"][name] = state["model"][name][..., :-1]

    refused(changed(saved, tmp_path, reshape), f"as '{name}', where the model has")

    def narrow(state):
        state["model"][name] = state["model"][name].bfloat16()

    refused(changed(saved, tmp_path, narrow), f"holds torch.bfloat16 .* as '{name}'")

    def add(state):
        state["model"]["another"] = torch.ones(2)

    refused(changed(saved, tmp_path, add), "as 'another', where the model has nothing")


def test_moments_of_another_model_are_refused(saved, tmp_path):
    def forget(state):
        state["optimizer"]["state"].pop(0)

    refused(changed(saved, tmp_path, forget), "an optimizer of other parameters")

    def reshape(state):
        state["optimizer"]["state"][0]["exp_avg"] = torch.ones(2, 3)

    refused(changed(saved, tmp_path, reshape), "an optimizer of other parameters")


def test_a_record_of_another_length_is_refused(saved, tmp_path):
    refused(changed(saved, tmp_path, lambda state: state["record"]["norms"].pop()), "3 norms")

    def longer(state):
        for numbers in state["record"].values():
            numbers.append(1.0)

    refused(changed(saved, tmp_path, longer), "tells 5 losses")


def test_another_config_is_told_by_what_differs(saved):
    other = dataclasses.replace(CONFIG, lr=1e-4, accumulate=2)
    rule = r"config = \{'lr': 0.0001, 'accumulate': 2\}: the checkpoint was trained with"
    refused(saved, rule, other)


def test_a_setting_that_is_new_has_its_default_in_an_old_file(saved, tmp_path):
    path = changed(saved, tmp_path, lambda state: state["config"].pop("accumulate"))
    run(model(), path, draw=never)


@pytest.mark.usefixtures("unchecked")
def test_numbers_of_other_kinds_are_saved_as_plain_ones(tmp_path):
    """A list of betas, an int, numpy's floats: each run knows its own checkpoint again."""
    numpy = pytest.importorskip("numpy")
    options = {"betas": [0.9, 0.98], "clip": 1, "lr": numpy.float64(1e-3)}
    config = TrainConfig(steps=2, batch_size=8, **options)
    record = run(model(), tmp_path / "run.pt", config)
    assert run(model(), tmp_path / "run.pt", config, never) == record
    plain = dataclasses.replace(config, betas=(0.9, 0.98), clip=1.0, lr=1e-3)
    assert run(model(), tmp_path / "run.pt", plain, never) == record


def test_a_write_that_fails_leaves_the_old_file(saved, tmp_path, monkeypatch):
    path = tmp_path / "run.pt"
    calls = []

    def full(state, file):
        calls.append(state)
        if len(calls) == 1:
            return save(state, file)
        file.write(b"half a file")
        raise OSError("no space left")

    save = torch.save
    monkeypatch.setattr(checkpoints.torch, "save", full)
    with pytest.raises(OSError, match="no space"):
        run(model(), path, save_every=2)
    assert len(torch.load(path, weights_only=True)["record"]["losses"]) == 2
    assert [file.name for file in tmp_path.iterdir()] == ["run.pt"]
    monkeypatch.undo()
    assert run(model(), path) == run(model(), tmp_path / "whole.pt")


def test_what_is_saved_needs_no_code_of_ours(saved):
    """A reader of the file runs nothing, and finds numbers, texts and tensors."""
    state = torch.load(io.BytesIO(saved.read_bytes()), weights_only=True)
    assert state["config"]["steps"] == len(state["record"]["losses"]) == 4

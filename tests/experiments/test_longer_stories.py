"""How far beyond its training the stories LLaMA reads: the right length, the right clocks."""

import math
import statistics

import pytest
import torch

import extrapolation
import longer_stories
import stories_llama
from kept import MEASURED
from pieces.book import measured
from pieces.positions import Rotary
from pieces.trained import load


@pytest.fixture(scope="module")
def record():
    return measured.record_of("longer_stories")


def test_the_trained_length_is_that_of_the_training(record):
    """Not the longest text that the config allows, which is twice as long."""
    shipped, plan = load("stories_llama"), stories_llama.EXPERIMENT
    drawn = {part.draw(1).input_ids.shape[1] for part in (*plan.lessons, plan)}
    assert drawn == {longer_stories.TRAINED} == {record["trained_length"]}
    assert shipped.task.length == longer_stories.TRAINED < shipped.model.config.max_seq_len
    for make in longer_stories.SCALINGS.values():
        scaling = make(2)
        assert getattr(scaling, "max_seq_len", longer_stories.TRAINED) == longer_stories.TRAINED


def test_the_small_models_scalings_count_from_their_own_length():
    """Those of rotary_scaling.py were trained on 32 words, and are scaled from 32."""
    import rotary_scaling

    generator = torch.Generator().manual_seed(0)
    assert extrapolation.windows(1, generator=generator).input_ids.shape[1] == 32
    for make in rotary_scaling.SCALINGS.values():
        assert getattr(make(2), "max_seq_len", 32) == 32


def test_the_record_is_of_the_shipped_model(record):
    shipped = load("stories_llama").record
    assert record["model"] == {key: shipped[key] for key in ("seed", "steps", "loss", "floor")}
    name = "longer_stories.json"
    packaged = MEASURED / name
    assert longer_stories.RECORD.read_bytes() == packaged.read_bytes()


def test_the_record_has_every_sample_of_every_scaling(record):
    found = [(run["scaling"], run["factor"], run["sample"]) for run in record["runs"]]
    assert len(found) == len(set(found))
    assert set(found) == set(longer_stories.wanted())
    assert {name for name, *_ in found} == {"unscaled", *longer_stories.SCALINGS}
    for run in record["runs"]:
        assert len(run["excess"]) == len(record["lengths"]) == 32
        assert all(map(math.isfinite, run["excess"]))


def test_on_the_length_of_training_it_is_as_near_the_floor_as_its_record_says(record):
    plain = [run["excess"] for run in record["runs"] if run["scaling"] == "unscaled"]
    within = statistics.fmean(x for run in plain for x in run[:8])
    assert within == pytest.approx(load("stories_llama").record.above_floor, abs=0.006)


def test_a_sample_is_measured_again(monkeypatch):
    """By hand, on few texts: the model's own logits against the true chances."""
    monkeypatch.setattr(longer_stories, "LONGEST", 160)
    longer_stories.texts.cache_clear()
    ids, targets, known = longer_stories.texts(9, 3)
    model = load("stories_llama").model
    with torch.no_grad():
        log_probs = model(ids).log_softmax(-1)
    off = -log_probs.gather(2, targets[..., None])[..., 0] - known
    found = longer_stories.excess(model, 9, 3, 160)
    assert found == pytest.approx([part.mean().item() for part in off.split(16, dim=1)], abs=1e-4)
    longer_stories.texts.cache_clear()


def test_slower_clocks_change_no_weight():
    model, plain = load("stories_llama").model, load("stories_llama").model
    longer_stories.read_with(model, longer_stories.SCALINGS["yarn"](2))
    weights = plain.state_dict()
    assert all(torch.equal(w, weights[name]) for name, w in model.state_dict().items())
    assert isinstance(model.position, Rotary)
    assert model.position.base == plain.position.base
    ids = torch.arange(60)[None]
    assert not torch.allclose(model(ids), plain(ids), atol=1e-3)

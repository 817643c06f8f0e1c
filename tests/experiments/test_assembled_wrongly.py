"""Each translator lacks one part and nothing else; what is kept of a run is what it did."""

import json

import pytest
import torch

import assembled_wrongly as wrong
from pieces import masks
from pieces.book.measured import record_of

IDS = torch.arange(4, 14).view(2, 5)


def outputs(name):
    """What a fresh model makes of two sentences."""
    return wrong.built(name, 3)(IDS, IDS.flip(0)).detach()


@pytest.mark.parametrize("name", wrong.CHANGES)
def test_all_begin_with_the_same_weights(name):
    whole, other = (wrong.built(one, 3).state_dict() for one in ("whole", name))
    shared = whole.keys() & other.keys()
    assert "decoder.blocks.1.feed_forward.down.weight" in shared
    assert all(torch.equal(whole[key], other[key]) for key in shared)
    assert torch.equal(outputs("whole"), outputs(name)) == (name == "whole")


def test_only_the_mask_is_gone():
    model = wrong.built("no mask", 3)
    masked = model(IDS, IDS, mask=masks.causal(5)[None, None]).detach()
    assert torch.allclose(masked, wrong.built("whole", 3)(IDS, IDS), atol=1e-5)


def test_a_deaf_decoder_and_a_model_without_order():
    model = wrong.built("no cross-attention", 3)
    assert torch.equal(model(IDS, IDS), model(IDS + 7, IDS))
    model = wrong.built("no positions", 3)
    assert torch.allclose(model(IDS, IDS), model(IDS.flip(1), IDS), atol=1e-5)
    model = wrong.built("whole", 3)
    assert not torch.allclose(model(IDS, IDS), model(IDS.flip(1), IDS), atol=1e-3)


def test_no_norm_is_left():
    kinds = {type(one).__name__ for one in wrong.built("no norms", 3).modules()}
    assert not any("Norm" in kind for kind in kinds)


def test_the_samples_were_held_out():
    items = wrong.TASK.items(20_000, "held_out", torch.Generator().manual_seed(0))
    trained = wrong.TASK.items(20_000, "train", torch.Generator().manual_seed(0))
    nouns = {tuple(row) for row in wrong.TASK.key(items).tolist()}
    assert not nouns & {tuple(row) for row in wrong.TASK.key(trained).tolist()}
    known = dict(wrong.TASK.sentences(trained))
    assert not set(wrong.SAMPLES) & set(known)


def test_a_short_run(monkeypatch):
    monkeypatch.setattr(wrong, "ROWS", 100)
    monkeypatch.setattr(wrong, "RATES", (1e-3,))
    run = wrong.one("whole", 0, 20)
    (only,) = run["rates"]
    assert (run["model"], run["seed"], run["steps"], only["lr"]) == ("whole", 0, 20, 1e-3)
    assert only["exact"] == only["exact_given"] == 0
    assert list(only["wrote"]) == list(wrong.SAMPLES)
    assert only["curve"][-1][1] < only["curve"][0][1]


def test_a_sentence_counts_if_it_is_right_to_its_end(monkeypatch):
    batch = next(wrong.held_out.batches(wrong.TASK.pairs, 100))
    meant = batch.targets.clamp(min=0)
    for change, share in ((0, 1.0), (1, 0.99)):
        told = meant.clone()
        told[0, 0] += change
        monkeypatch.setattr(wrong, "write", lambda model, source, told=told, **_: told)
        assert wrong.written(None, 100) == pytest.approx(share)


def test_the_record_holds_every_run_and_the_package_the_same():
    record = json.loads(wrong.RECORD.read_text(encoding="utf-8"))
    assert record == record_of("assembled_wrongly")
    assert {k: v for k, v in record.items() if k not in ("runs", "about")} == {
        k: v for k, v in wrong.about().items() if k != "about"
    }
    made = [(run["model"], run["seed"], run["steps"]) for run in record["runs"]]
    wanted = [(m, s, wrong.CONFIG.steps) for m in wrong.CHANGES for s in wrong.SEEDS]
    assert sorted(made) == sorted(wanted)
    assert all([one["lr"] for one in run["rates"]] == list(wrong.RATES) for run in record["runs"])

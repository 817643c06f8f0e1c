"""The race of the norms: what differs is the placement alone, and what is broken off goes on."""

import json
import sys

import pytest
import torch

import norm_placement
from kept import MEASURED
from pieces.book import measured
from pieces.losses import next_token_loss
from pieces.residual import DeepNorm, PostNorm, PreNorm, SandwichNorm, deepnorm_alpha_beta
from pieces.widgets import norm_placement as widget
from placed import build, residual
from side_by_side import BETAS, STRETCH, batches, curve, side_by_side

KINDS = {"post": PostNorm, "pre": PreNorm, "sandwich": SandwichNorm, "deep": DeepNorm}


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(norm_placement, "RECORD", tmp_path / "record.json")
    monkeypatch.setattr(norm_placement, "PACKAGED", tmp_path / "measured" / "record.json")
    small = {"layers": (1,), "lr": (1e-3,), "warmup": (0, 2), "steps": 4}
    monkeypatch.setattr(norm_placement, "RACE", small)
    monkeypatch.setattr(norm_placement, "DEPTHS", (2, 50))
    monkeypatch.setattr(norm_placement, "DEEP", {100: (1, 1e-3), 1000: (1, 1e-3)})
    return tmp_path


def run(monkeypatch, *options):
    monkeypatch.setattr(sys, "argv", ["norm_placement.py", *options])
    norm_placement.main()


def kept(place):
    first, second = (place / "record.json", place / "measured" / "record.json")
    assert first.read_bytes() == second.read_bytes()
    return json.loads(first.read_text("utf-8"))


@pytest.mark.parametrize("placement", KINDS)
def test_only_the_connections_differ(placement):
    torch.manual_seed(0)
    model = build(placement, 3, "plain")
    torch.manual_seed(0)
    other = build("post", 3, "plain")
    for block in model.stack.blocks:
        assert type(block.attention_residual) is type(block.feed_forward_residual)
        assert type(block.attention_residual) is KINDS[placement]
    for name, weight in other.named_parameters():
        if "norm" not in name:
            assert torch.equal(weight, model.get_parameter(name)), name
    closed = placement in ("post", "deep")
    assert isinstance(model.stack.final_norm, torch.nn.Identity) == closed


def test_the_scaled_start_is_deepnorms():
    _, (alpha, beta) = deepnorm_alpha_beta(0, 5)
    assert residual("deep", 5, 16).alpha == alpha
    starts = []
    for start in ("plain", "scaled"):
        torch.manual_seed(0)
        starts.append(build("deep", 5, start).stack.blocks[2])
    plain, small = starts
    assert torch.allclose(small.feed_forward.down.weight, beta * plain.feed_forward.down.weight)
    assert torch.equal(small.attention.query.weight, plain.attention.query.weight)


def test_a_run_is_kept_and_not_made_twice(place, monkeypatch):
    run(monkeypatch, "race", "--seeds", "0")
    first = kept(place)
    assert len(first["race"]) == 8
    assert {len(line["curve"]) for line in first["race"]} == {4}
    monkeypatch.setattr(norm_placement, "race", lambda *_: pytest.fail("made twice"))
    run(monkeypatch, "race", "--seeds", "0")
    assert kept(place) == first


def test_what_is_broken_off_goes_on(place, monkeypatch):
    whole, count = norm_placement.race, iter(range(2))

    def broken(*given):
        if next(count, None) is None:
            raise KeyboardInterrupt
        return whole(*given)

    monkeypatch.setattr(norm_placement, "race", broken)
    with pytest.raises(KeyboardInterrupt):
        run(monkeypatch, "race", "--seeds", "0")
    assert len(kept(place)["race"]) == 4
    monkeypatch.setattr(norm_placement, "race", whole)
    run(monkeypatch, "race", "--seeds", "0")
    found = [line["curve"] for line in kept(place)["race"]]
    (place / "record.json").unlink()
    run(monkeypatch, "race", "--seeds", "0")
    assert [line["curve"] for line in kept(place)["race"]] == found


def alone(placement, layers, lr, warmup, seed, steps):
    """The same run by torch's own Adam, one model at a time."""
    start = norm_placement.usual(placement)
    model = norm_placement.started(seed, placement, layers, start, **norm_placement.NARROW)
    optimizer, losses = torch.optim.Adam(model.parameters(), betas=BETAS), []
    for step, batch in enumerate(batches(seed, steps)):
        total, count = next_token_loss(model, batch)
        optimizer.zero_grad()
        (total / count).backward()
        optimizer.param_groups[0]["lr"] = lr * min(1, (step + 1) / max(1, warmup))
        optimizer.step()
        losses.append((total / count).item())
    return losses


@pytest.mark.parametrize("placement", ["sandwich", "deep"])
def test_side_by_side_is_as_alone(placement):
    keys = ("lr", "warmup", "seed")
    lines = [dict(zip(keys, v, strict=True)) for v in ((1e-2, 0, 0), (3e-3, 4, 1), (1e-3, 2, 1))]
    start = norm_placement.usual(placement)
    sizes = norm_placement.NARROW
    models = [norm_placement.started(one["seed"], placement, 2, start, **sizes) for one in lines]
    side_by_side(models, 8, lines)
    for line in lines:
        own = alone(placement, 2, **{k: line[k] for k in keys}, steps=8)
        assert line["curve"] == pytest.approx(own, abs=2e-4)


def test_a_curve_ends_where_numbers_end():
    assert curve((3.0, 2.0, float("nan"), 1.0)) == [3.0, 2.0]
    long = [2.0] * 57 + [float("inf")] * 3
    assert curve(tuple(long)) == [2.0] * 11


def test_the_inside_is_that_of_each_layer(place, monkeypatch):
    run(monkeypatch, "layers", "--seeds", "0")
    lines = kept(place)["layers"]
    for line in lines:
        assert line["at"][0] == 1
        assert line["at"][-1] == line["layers"]
        assert len(line["at"]) == len(line["activation"]) == len(line["gradient"])
        least, most = line["gradient_ends"]
        assert least <= min(line["gradient"]) <= max(line["gradient"]) <= most
        assert len(line["at"]) == min(line["layers"], norm_placement.SHOWN)
        if line["placement"] in ("post", "deep"):
            assert all(abs(size - 1) < 0.01 for size in line["activation"])
    torch.manual_seed(0)
    model = build("pre", 2, "plain")
    batch = norm_placement.TASK.batch(4, generator=torch.Generator().manual_seed(0))
    x = model.position.add(model.embedding(batch.input_ids), torch.arange(12))
    for at, block in enumerate(model.stack.blocks):
        x = block(x)
        line = next(one for one in lines if one["placement"] == "pre" and one["layers"] == 2)
        assert line["activation"][at] == pytest.approx(x.square().mean().sqrt().item(), rel=1e-3)


class TestRecord:
    """What is committed: whole, and what the widget can set."""

    def test_is_what_the_package_carries(self):
        name = "norm_placement.json"
        packaged = MEASURED / name
        assert norm_placement.RECORD.read_bytes() == packaged.read_bytes()

    def test_says_what_its_models_are(self):
        record = measured.record_of("norm_placement")
        told = record["training"]
        assert {line["steps"] for line in record["race"]} == {told["steps"]} == {160}
        own = norm_placement.started(0, "pre", 2, "plain", **norm_placement.NARROW)
        assert own.embedding.weight.shape[1] == told["d_model"]
        assert own.stack.blocks[0].feed_forward.up.weight.shape[0] == told["d_ff"]
        seen = norm_placement.started(0, "pre", 2, "plain").embedding.weight.shape[1]
        assert seen == record["inside"]["d_model"]

    def test_has_every_setting_and_every_seed(self):
        record = measured.record_of("norm_placement")
        for part in ("race", "layers", "deep"):
            wanted = norm_placement.settings(part, [0, 1, 2])
            keys = wanted[0].keys()
            found = [tuple(line[k] for k in keys) for line in record[part]]
            assert len(found) == len(set(found))
            assert set(found) == {tuple(one[k] for k in keys) for one in wanted}

    def test_holds_what_the_widget_offers(self):
        race = norm_placement.RACE
        assert (widget.RATES, widget.WARMUPS) == (race["lr"], race["warmup"])
        assert (widget.LAYERS, widget.STEPS) == (race["layers"], race["steps"])
        assert widget.STRETCH == STRETCH
        assert widget.DEPTHS == norm_placement.DEPTHS
        found = widget.runs()
        assert len(found["race"]) == 4 * 3 * 2 * 2
        assert len(found["layers"]) == 4 * 7 * 2
        assert {len(seeds) for part in found.values() for seeds in part.values()} == {3}

    def test_a_run_of_the_record_comes_again(self):
        setting = {"placement": "sandwich", "layers": 2, "lr": 4e-3, "warmup": 0, "seed": 1}
        record = measured.record_of("norm_placement")["race"]
        line = next(one for one in record if setting.items() <= one.items())
        again = curve(tuple(alone(**setting, steps=160)))
        assert again[:6] == pytest.approx(line["curve"][:6], abs=5e-3)
        assert again[-1] == pytest.approx(line["curve"][-1], abs=0.1)

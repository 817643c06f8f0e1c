"""The experiments on positions: what is changed, what is kept, and what is not lost."""

import json
import math

import pytest
import torch

import extrapolation
import kept
import recall
import rotary_scaling
import ship_curves
from one_block import Start, decoder
from pieces.positions import DynamicNTK, Rotary


def test_schemes_of_a_seed_start_from_the_same_matrices():
    models = {name: extrapolation.built(name, 3) for name in extrapolation.SCHEMES}
    first = dict(models["none"].named_parameters())
    other = dict(extrapolation.built("none", 4).named_parameters())
    for name, model in models.items():
        own = {k: w for k, w in model.named_parameters() if not k.startswith("position")}
        assert own.keys() == first.keys(), name
        assert all(torch.equal(w, first[k]) for k, w in own.items()), name
    assert not torch.equal(first["embedding.weight"], other["embedding.weight"])


def test_the_floor_is_reached_by_who_knows_it():
    ids, targets, known = (x[:5] for x in extrapolation.held_out())

    class Knows(torch.nn.Module):
        def forward(self, input_ids, positions=None):
            whole = extrapolation.TASK.true_next(ids)[:, : input_ids.shape[1]]
            return whole.clamp(min=1e-30).log()

    off = extrapolation.surprise(Knows(), ids, targets) - known
    assert off.abs().max() < 1e-4


def test_windows_come_from_the_training_texts():
    generator = torch.Generator().manual_seed(0)
    batch = extrapolation.windows(4, generator=generator)
    texts = [" ".join(map(str, row)) for row in extrapolation.pool().tolist()]
    for row, target in zip(batch.input_ids.tolist(), batch.targets.tolist(), strict=True):
        assert row[1:] == target[:-1]
        assert any(" ".join(map(str, [*row, target[-1]])) in text for text in texts)
    assert batch.input_ids.shape == (4, extrapolation.TRAINED)


def test_who_forgets_is_the_same_within_the_trained_length():
    model = extrapolation.built("alibi", 0).eval()
    whole, window = extrapolation.excess(model), extrapolation.forgetful(model)
    assert whole[:2] == pytest.approx(window[:2], abs=1e-4)
    assert len(whole) == len(window) == len(extrapolation.LENGTHS)


def test_a_table_refuses_the_next_word_and_two_ways_around():
    model = extrapolation.built("learned", 0).eval()
    found = extrapolation.beyond_the_table(model, 0)
    assert "positions" in found["refused"]
    assert found["excess"][2:] == [None] * 14
    for way in ("untrained_rows", "last_row"):
        assert found[way][:2] == pytest.approx(found["excess"][:2], abs=1e-4)
        assert all(math.isfinite(x) for x in found[way])


def test_scaling_changes_the_clocks_and_no_weight():
    model = extrapolation.built("rotary", 0).eval()
    for block in model.stack.blocks:  # which start by writing nothing
        torch.nn.init.normal_(block.attention.output.weight)
    other = rotary_scaling.scaled(model, DynamicNTK(8, 32))
    assert type(model.position.scaling).__name__ == "Unscaled"
    assert other.embedding is model.embedding
    ids = extrapolation.held_out()[0][:2]
    assert torch.equal(model(ids[:, :32]), other(ids[:, :32]))
    assert not torch.allclose(model(ids), other(ids))


def test_recall_changes_one_part_at_a_time():
    changed = {
        "gpt2, rotary": {"position"}, "gpt2, RMSNorm": {"norm"}, "gpt2, SwiGLU": {"gated"},
        "gpt2, no biases": {"bias"}, "gpt2, own head": {"tied"},
    }  # fmt: skip
    for name, parts in changed.items():
        own = recall.MODELS[name]
        assert {part for part in own if own[part] is not recall.GPT2[part]} == parts
    changed = {
        "llama, learned": {"position"}, "llama, LayerNorm": {"norm"}, "llama, GELU": {"gated"},
        "llama, biases": {"bias"}, "llama, tied head": {"tied"}, "llama, words at 0.02": {"start"},
    }  # fmt: skip
    for name, parts in changed.items():
        own = recall.MODELS[name]
        assert {part for part in own if own[part] is not recall.LLAMA[part]} == parts
    assert 1 < recall.guess() < math.log(4)


def test_parts_are_the_parts_asked_for():
    plain = decoder(10, start=Start(std=0.5))
    gated = decoder(10, position=Rotary(16), gated=True, bias=False, tied=False)
    assert plain.head is None
    assert gated.head is not None
    linear = [part for part in gated.modules() if isinstance(part, torch.nn.Linear)]
    assert len(linear) == 15
    assert all(part.bias is None for part in linear)
    assert 0.4 < plain.embedding.weight.std() < 0.6


def test_a_record_keeps_each_run_and_forgets_those_made_otherwise(tmp_path):
    place, about = tmp_path / "r.json", {"name": "r", "about": "words", "rows": 3}
    for seed in (0, 1):
        kept.keep_run(place, about, {"seed": seed, "excess": [0.5, None, -1.25]}, ("seed",))
    wanted = [{"seed": 0}, {"seed": 2}]
    assert kept.missing(place, about, wanted) == [{"seed": 2}]
    assert kept.missing(place, about | {"about": "other words"}, wanted) == [{"seed": 2}]
    assert kept.missing(place, about | {"rows": 4}, wanted) == wanted
    kept.keep_run(place, about, {"seed": 1, "excess": [2.0]}, ("seed",))
    text = place.read_text(encoding="utf-8")
    assert [run["excess"] for run in json.loads(text)["runs"]] == [[0.5, None, -1.25], [2.0]]
    assert "[0.5, null, -1.25]" in text


def test_the_package_has_what_the_records_say():
    shipped = ship_curves.SHIPPED.read_text(encoding="utf-8")
    assert shipped == kept.written(ship_curves.content())

import json

import pytest
import torch
from torch import nn

import llama_switches
from pieces.feedforward import GatedFeedForward
from pieces.norms import RMSNorm
from pieces.positions import PositionalEncoding, Rotary
from pieces.residual import PreNorm


def test_each_switch_turns_off_one_part_and_the_last_model_all_of_them():
    on = llama_switches.RECOMMENDED
    off = {
        name: {part for part in on if model[part] is not on[part]}
        for name, model in llama_switches.MODELS.items()
    }
    assert off == {
        "recommended": set(), "LayerNorm": {"norm"}, "GELU": {"gated"},
        "sinusoids": {"position"}, "post-norm": {"residual"}, "none of the four": set(on),
        "no positions": {"position"},
    }  # fmt: skip
    assert type(llama_switches.built("no positions", 0).position) is PositionalEncoding


def test_the_recommended_model_has_what_the_text_recommends():
    model = llama_switches.built("recommended", 0)
    block = model.stack.blocks[0]
    assert isinstance(block.attention_residual, PreNorm)
    assert isinstance(block.attention_residual.norm, RMSNorm)
    assert isinstance(model.stack.final_norm, RMSNorm)
    assert isinstance(block.feed_forward, GatedFeedForward)
    assert isinstance(model.position, Rotary)
    linear = [part for part in model.modules() if isinstance(part, nn.Linear)]
    assert all(part.bias is None for part in linear)


def test_all_have_nearly_as_many_weights_and_start_from_the_same_words():
    models = {name: llama_switches.built(name, 3) for name in llama_switches.MODELS}
    counts = [llama_switches.parameters(model) for model in models.values()]
    assert max(counts) / min(counts) < 1.005
    words = [model.embedding.weight for model in models.values()]
    assert all(torch.equal(words[0], other) for other in words)


def tried(rates, seeds=llama_switches.RATES_SEEDS):
    """Runs of each model at these rates, which end at these distances."""
    return [
        {"model": m, "seed": seed, "lr": lr, "steps": 7, "above_floor": above}
        for m in llama_switches.MODELS
        for seed in seeds
        for lr, above in rates.items()
    ]


def test_each_takes_its_best_rate_on_seeds_of_its_own():
    runs = tried({0.1: 2.0, 0.2: 1.0})
    runs.append(runs[0] | {"seed": 0, "above_floor": 0.0})
    wanted = llama_switches.wanted("seeds", runs, 7)
    assert {run["lr"] for run in wanted} == {0.2}
    assert not {run["seed"] for run in wanted} & set(llama_switches.RATES_SEEDS)
    assert len(wanted) == len(llama_switches.SEEDS) * len(llama_switches.MODELS)


def test_the_best_rate_is_that_of_the_mean():
    runs = [
        {"model": "GELU", "seed": seed, "lr": lr, "above_floor": above}
        for lr, ends in ((0.1, (0.5, 2.0)), (0.2, (1.0, 1.0)))
        for seed, above in zip(llama_switches.RATES_SEEDS, ends, strict=True)
    ]
    assert llama_switches.best_rate(runs, "GELU") == 0.2


@pytest.mark.parametrize(
    ("ends", "following"),
    [((1.0, 2.0, 3.0), {2.5e-3}), ((3.0, 2.0, 1.0), {4e-2}), ((2.0, 1.0, 3.0), set())],
)
def test_rates_go_on_until_the_best_lies_between_two(ends, following):
    runs = tried(dict(zip(llama_switches.RATES, ends, strict=True)))
    assert {run["lr"] for run in llama_switches.wanted("rates", runs, 7)} == following
    half = tried(dict.fromkeys(llama_switches.RATES, 1.0), seeds=llama_switches.RATES_SEEDS[:1])
    asked = llama_switches.wanted("rates", half, 7)
    assert {run["lr"] for run in asked} == set(llama_switches.RATES)


def test_the_record_holds_every_run_and_the_package_the_same(monkeypatch):
    record = json.loads(llama_switches.RECORD.read_text(encoding="utf-8"))
    assert record == json.loads(llama_switches.PACKAGED.read_text(encoding="utf-8"))
    assert not llama_switches.missing(
        llama_switches.RECORD, llama_switches.about(),
        llama_switches.wanted("seeds", record["runs"], llama_switches.CONFIG.steps),
    )  # fmt: skip
    assert not llama_switches.wanted("rates", record["runs"], llama_switches.CONFIG.steps)
    assert all(run["curve"][-1][1] == run["above_floor"] for run in record["runs"])


def test_a_run_looks_before_between_and_after(monkeypatch):
    monkeypatch.setattr(llama_switches, "ROWS", 100)
    monkeypatch.setattr(llama_switches, "EVERY", 2)
    run = llama_switches.one("recommended", 0, 1e-2, 3)
    assert [step for step, _ in run["curve"]] == [0, 2, 3]
    assert run["curve"][0][1] == pytest.approx(7.8, abs=1)

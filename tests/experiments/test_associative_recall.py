"""Recall by stored pairs: the sides differ in one sublayer, and the record is this script's."""

import math
import sys

import pytest
import torch

import associative_recall as recall
from pieces.book.measured import record_of

RECORD = record_of("associative_recall")


def test_the_sides_differ_in_the_mixer_alone():
    made = {mixer: recall.built(mixer, 3) for mixer in recall.MIXERS}
    shared = [
        {name for name, _ in model.named_parameters() if ".attention.1." not in name}
        for model in made.values()
    ]
    assert all(one == shared[0] for one in shared)
    assert "stack.blocks.1.feed_forward.up.weight" in shared[0]
    sizes = {mixer: recall.parameters(model) for mixer, model in made.items()}
    assert sizes == RECORD["parameters"]
    assert sizes["softmax"] == sizes["linear"] == sizes["linear, one head"]
    assert sizes["scan"] < 1.15 * sizes["softmax"], "of about the same size"


@torch.no_grad()
@pytest.mark.parametrize("mixer", recall.MIXERS)
def test_no_side_sees_what_comes(mixer):
    model, ids = recall.built(mixer, 0).eval(), torch.randint(recall.VOCAB, (2, 9))
    other = ids.clone()
    other[:, 6:] = (other[:, 6:] + 1) % recall.VOCAB
    torch.testing.assert_close(model(other)[:, :6], model(ids)[:, :6])


def test_a_word_is_beside_the_one_before():
    x = torch.randn(1, 4, 3)
    y = recall.BesideTheWordBefore(3)(x)
    torch.testing.assert_close(y[:, 0], x[:, 0])
    torch.testing.assert_close(y[:, 1:], x[:, 1:] + x[:, :-1])


def test_batches_have_all_numbers_of_pairs_and_one_vocabulary():
    drawn = torch.Generator().manual_seed(0)
    lengths = {recall.draw(2, generator=drawn).input_ids.shape[1] for _ in range(80)}
    assert lengths == {2 * n + 2 * min(n, recall.ASKED) for n in recall.PAIRS}
    assert {task.vocab_size for task in recall.TASKS.values()} == {recall.VOCAB}


def test_the_states_are_counted():
    D, K = recall.D, recall.D // recall.HEADS
    counted = {"linear": 2 * K * (K + 1), "linear, one head": D * (D + 1)}
    counted |= {"scan": D * recall.D_STATE, "softmax": 2 * D}
    assert RECORD["state"] == {mixer: recall.state_of(mixer) for mixer in recall.MIXERS} == counted


def run(mixer, lr, seed, end):
    return {"mixer": mixer, "lr": lr, "seed": seed, "end": end}


def test_the_best_is_that_of_the_mean_and_an_edge_is_told():
    made = [run("scan", lr, seed, 3.0) for lr in recall.RATES for seed in recall.CHOOSING]
    made[2]["end"], made[3]["end"] = 0.0, 4.5
    made[4]["end"] = 2.0
    assert recall.best({"choose": made}, "scan") == {"lr": recall.RATES[1], "at_edge": False}
    made[0]["end"] = 0.5
    assert recall.best({"choose": made}, "scan") == {"lr": recall.RATES[0], "at_edge": True}


def test_every_run_is_there_and_each_side_is_judged_at_its_best():
    for mixer in recall.MIXERS:
        chosen = [(r["lr"], r["seed"]) for r in RECORD["choose"] if r["mixer"] == mixer]
        assert sorted(chosen) == sorted((lr, s) for lr in recall.RATES for s in recall.CHOOSING)
        best = recall.best(RECORD, mixer)
        judged = [r for r in RECORD["judge"] if r["mixer"] == mixer]
        assert sorted(r["seed"] for r in judged) == list(recall.SEEDS)
        assert {(r["lr"], r["at_edge"]) for r in judged} == {(best["lr"], best["at_edge"])}
        assert not best["at_edge"]
    sides = [mixer for mixer in recall.MIXERS if mixer != "softmax"]  # it had nothing left to learn
    assert sorted((r["mixer"], r["seed"]) for r in RECORD["long"]) == sorted(
        (mixer, seed) for mixer in sides for seed in recall.LONG_SEEDS
    )
    assert all(r["lr"] == recall.best(RECORD, r["mixer"])["lr"] for r in RECORD["long"])
    assert set(recall.SEEDS) & set(recall.CHOOSING) == set()
    assert all(math.isfinite(r["end"]) for r in [*RECORD["choose"], *RECORD["judge"]])


def test_the_cost_is_of_this_script():
    rows = [(row["mixer"], row["S"]) for row in RECORD["cost"]]
    assert rows == [(mixer, S) for mixer in recall.STEPS_OF for S in recall.LENGTHS]
    K = recall.WIDE // recall.WIDE_HEADS
    sizes = {"linear": recall.WIDE * (K + 1), "scan": recall.WIDE * recall.D_STATE}
    for row in RECORD["cost"]:
        assert row["numbers"] == sizes.get(row["mixer"], 2 * recall.WIDE * row["S"])
        assert row["low"] <= row["median"] <= row["high"]


@pytest.mark.parametrize("mixer", recall.STEPS_OF)
def test_a_step_can_be_taken_again(mixer):
    with torch.no_grad():
        step, _ = recall.STEPS_OF[mixer](5)
        step()
        step()


def test_a_small_run_leaves_a_record_and_makes_nothing_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(recall, "RECORD", tmp_path / "record.json")
    small = {"STEPS": 3, "WARMUP": 1, "ROWS": 4, "RATES": (1e-3, 2e-3), "SEEDS": (0,)}
    for name, value in (small | {"CHOOSING": (9,), "BATCH": 2}).items():
        monkeypatch.setattr(recall, name, value)
    for part in ("choose", "judge"):
        monkeypatch.setattr(sys, "argv", ["x.py", part, "--mixers", "linear"])
        recall.main()
    made = recall.kept()
    assert [len(made[part]) for part in recall.PARTS] == [2, 1, 0, 0]
    assert len(made["judge"][0]["accuracy"]) == len(recall.PAIRS)
    monkeypatch.setattr(recall, "one", lambda *x: pytest.fail("made again"))
    for part in ("choose", "judge"):
        monkeypatch.setattr(sys, "argv", ["x.py", part, "--mixers", "linear"])
        recall.main()

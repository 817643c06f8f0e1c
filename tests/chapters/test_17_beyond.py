"""What chapter 17 says is computed here: its answers, and the numbers in its sentences."""

import functools
import inspect
import re

import pytest
import torch
from cells import run
from prose import says
from transformers import Gemma3TextConfig, JambaConfig
from transformers.models.deepseek_v2.modeling_deepseek_v2 import (
    DeepseekV2Attention,
    DeepseekV2Moe,
)
from transformers.models.qwen3.modeling_qwen3 import Qwen3Attention

from pieces.attention import Sums, elu_plus_one, linear_attention
from pieces.book import measured
from pieces.book.ask import question
from pieces.book.figures import beyond as figures
from pieces.widgets import LinearState
from pieces.widgets.base import STATIC
from widgets.linear_state.expected import Memory, read

NAME = "17_beyond"
RECORD = measured.record_of("associative_recall")
FOUND = {name: 100 * of for name, of in figures.recalled().items()}
PAIRS = RECORD["pairs"]


def percent(name, pairs, part="judge"):
    """Per cent recalled by each seed."""
    at = PAIRS.index(pairs)
    return [100 * r["accuracy"][at] for r in RECORD[part] if r["mixer"] == name]


def mean(name, pairs, part="judge"):
    found = percent(name, pairs, part)
    return sum(found) / len(found)


def stops():
    """Where a sum of ones in bfloat16 stops."""
    z = torch.zeros((), dtype=torch.bfloat16)
    while z + 1 != z:
        z = z + 1
    return z.item()


def first_word(K=64):
    """The first word at which a cache is larger than S and z."""
    return next(T for T in range(1, 1000) if 2 * K * T > K * K + K)


def orthogonal(K=16):
    """How many vectors of size K can be at right angles to each other: the rank of them all."""
    return int(torch.linalg.matrix_rank(torch.randn(100, K).double()))


def pairs():
    """The pairs that the widget begins with."""
    return read({"text": LinearState().text})[0]


def known(size):
    """How many of them linear attention answers right, with so many numbers in a key."""
    return Memory(pairs(), size).known()[1]


ANSWERS = {
    "17.a": lambda: round(mean("linear", 64)),
    "17.2": first_word,
    "17.1": lambda: known(8),
    "17.3": stops,
    "17.5": orthogonal,
}


@functools.cache
def names():
    """What the open cells leave, those of the exercises too."""
    return run(NAME, until="## Summary")


def test_slips_are_what_they_say():
    slips = {name: [number for number, _ in question(name)["slips"]] for name in ANSWERS}
    assert slips["17.1"] == [16, 16 - known(8)]
    assert known(16) == 16
    assert Memory(pairs(), 8).known()[0] == 16, "attention"
    level = (64 * 64 + 64) / 128
    assert slips["17.2"] == [64 * 64 / 128, 2 * level, 2 * level + 1, level, 64, 64 * 64 + 64]
    assert 64 * 65 > 64 * 64 + 64 - 64 >= 64 * 64, "65 words of keys alone"
    chance = round(100 / RECORD["values"])
    assert slips["17.a"] == [round(mean("softmax", 64)), chance]
    half = torch.tensor(2048, dtype=torch.float16)
    assert half + 1 == half
    assert half - 1 + 1 == half
    assert torch.finfo(torch.float16).max == 65504


def test_orthogonal_keys_read_back_and_one_more_does_not():
    k = torch.linalg.qr(torch.randn(16, 16).double())[0][None, None]
    v = torch.randn(1, 1, 16, 16).double()
    last = linear_attention(k, k, v, features=lambda x: x)[1]
    torch.testing.assert_close(k @ last.pairs / (k @ last.keys), v)


def test_both_forms_of_the_cell_agree():
    apart = (names()["steps"] - names()["at_once"]).abs().max()
    assert apart < 5e-6
    assert isinstance(names()["state"], Sums)
    assert [x[0, 0].numel() for x in names()["state"]] == [16 * 16, 16]


def test_positive_vectors_lean_towards_each_other():
    k, _ = figures.pairs_drawn(200, 16)
    likes = [torch.cosine_similarity(x[0, 0, ::2], x[0, 0, 1::2]) for x in (k, elu_plus_one(k))]
    assert likes[0].mean().abs() < 0.1
    assert likes[1].min() > 0


def test_a_thousand_words_take_ten_strides():
    strides, stride = 0, 1
    while stride < 1000:
        strides, stride = strides + 1, 2 * stride
    says(NAME, "A text of 1,000 words takes ten such strides")
    assert strides == 10


def test_the_memories_of_the_opening_picture():
    source = (STATIC / "linear_state" / "memories.js").read_text(encoding="utf-8")
    (sharp,) = re.findall(r"SHARP = (\d+)", source)
    says(NAME, f"Its cache takes the softmax of {sharp} times the cosine.")


def test_what_was_trained():
    says(
        NAME,
        f"linear attention with two heads keeps {RECORD['state']['linear']} numbers, with one head "
        f"{RECORD['state']['linear, one head']:,}, and the scan {RECORD['state']['scan']}. A cache "
        f"keeps {RECORD['state']['softmax']} for each word.",
        "Each took the best of four learning rates, chosen with two seeds; five other seeds judge.",
    )
    rates = {run["lr"] for run in RECORD["choose"]}
    assert len(rates) == 4
    assert figures.run_seeds() == [0, 1, 2, 3, 4]
    assert (PAIRS[0], PAIRS[-1], RECORD["steps"]) == (2, 64, 1500)


def test_recall():
    assert min(percent("softmax", n)[0] for n in PAIRS) == 100
    assert all(of == 100 for n in PAIRS for of in percent("softmax", n))
    two, four_of_two = mean("linear", 2), sorted(percent("linear", 64))
    one = sorted(percent("linear, one head", 64))
    says(
        NAME,
        f"Linear attention with two heads returns {two:.0f} % of 2 values on average, and only "
        f"**{mean('linear', 64):.0f} % of 64**.",
        f"one of the five had not found its way within 1,500 steps and ends at "
        f"{four_of_two[0]:.0f} % of 64, while the other four end between {four_of_two[1]:.0f} and "
        f"{four_of_two[-1]:.0f} %.",
        f"With one head the average is {mean('linear, one head', 64):.0f} %, and one seed in five "
        "is left behind again.",
        f"The scan recalls {mean('scan', 2):.0f} % of 2 values, {mean('scan', 8):.0f} % of 8 and "
        f"{mean('scan', 64):.0f} % of 64, where a guess is right in {100 / RECORD['values']:.0f} %",
    )
    says(NAME, "From 16 pairs on, the two seeds left behind lie on its line")
    for name in ("linear", "linear, one head"):
        for n in (16, 32, 64):
            assert abs(min(percent(name, n)) - mean("scan", n)) < 3
    assert one[0] < 10 < 30 < one[1]
    spread = four_of_two[-1] - four_of_two[1]
    assert abs(mean("linear", 64) - mean("linear, one head", 64)) < spread


def test_longer_runs():
    low, *two = sorted(percent("linear", 64, "long"))
    one = sorted(percent("linear, one head", 64, "long"))
    assert RECORD["long_steps"] == 4 * RECORD["steps"]
    says(
        NAME,
        f"With four times as many steps and three of the seeds, two heads reach {two[0]:.0f} and "
        f"{two[1]:.0f} % of 64, and the third seed stands at {low:.0f} %. With one head all three "
        f"end between {one[0]:.0f} and {one[-1]:.0f} %",
        f"The scan goes from {mean('scan', 64):.0f} to {mean('scan', 64, 'long'):.0f} %.",
    )
    assert len(one) == len(two) + 1 == 3


def test_a_divisor_that_stalls_makes_the_outputs_of_long_texts_too_large():
    """17.3: its z stands still, while S, whose parts cancel, goes on taking words in."""
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 3000, 16)
    k = elu_plus_one(k)
    kept = {}
    for kind in (torch.float32, torch.bfloat16):
        S, z = torch.zeros(16, 16, dtype=kind), torch.zeros(16, dtype=kind)
        kept[kind] = []
        for row, value in zip(k.to(kind), v.to(kind), strict=True):
            S, z = S + torch.outer(row, value), z + row
            kept[kind].append((S.float(), z.float()))
    read = elu_plus_one(q)
    too_large, alike = [], []
    for place in (99, 599, 2999):
        (S, z), (coarse, stalled) = kept[torch.float32][place], kept[torch.bfloat16][place]
        right, wrong = read @ S / (read @ z)[:, None], read @ coarse / (read @ stalled)[:, None]
        too_large.append(float(wrong.norm() / right.norm()))
        alike.append(float(torch.cosine_similarity(right, wrong).mean()))
    assert too_large[0] == pytest.approx(1, abs=0.03)  # "Short texts were fine"
    assert 1.1 < too_large[1] < too_large[2] / 2
    assert min(alike) > 0.98
    says(NAME, "in long ones the outputs came out too large, the more so the longer the text")


def test_what_the_square_holds_for_its_size():
    words = RECORD["state"]["linear"] // RECORD["state"]["softmax"]
    best = max(percent("linear", 64)) * 64 / 100
    longer = max(percent("linear", 64, "long")) * 64 / 100
    assert (words, words // 2) == (8, 4)
    says(
        NAME,
        "In 544 numbers a cache holds eight words, four pairs, and nothing else. The best run "
        f"with as many numbers in its squares recalls about {best:.0f} of 64, "
        f"and {longer:.0f} after four times the steps.",
    )


def test_costs():
    by = {(row["mixer"], row["S"]): row for row in RECORD["cost"]}
    far = 16384
    times = by["softmax", far]["numbers"] / by["linear", far]["numbers"]
    says(
        NAME,
        f"At 16,384 words the cache holds {times:.0f} times as many numbers as the square, and its "
        f"step takes {by['softmax', far]['median']:.0f} times as long as at 256.",
    )
    kept = {name: {by[name, S]["numbers"] for _, S in by} for name in ("linear", "scan")}
    assert kept == {"linear": {16_640}, "scan": {4_096}}
    says(NAME, "16,640 in all, and the scan 16 for each of 256 features, 4,096 in all.")
    says(
        NAME,
        "At 256 the three take about the same time, within 10 %, and a step of the square or the "
        "scan takes no longer when more has been read.",
    )
    for name in ("linear", "scan"):
        times = [row["median"] for (mixer, _), row in by.items() if mixer == name]
        assert all(0.9 < one < 1.1 for one in times), "of the cache's at 256"
        assert max(times) / min(times) < 1.03, "they do not notice the length"


def test_the_tables_examples_are_so_in_transformers():
    config = Gemma3TextConfig(num_hidden_layers=24)
    kinds = [kind == "sliding_attention" for kind in config.layer_types]
    assert kinds == [layer % 6 != 5 for layer in range(24)]
    kinds = JambaConfig(num_hidden_layers=32).layers_block_type
    assert kinds.count("attention") * 8 == len(kinds)
    assert "shared_experts" in source_of(DeepseekV2Moe)
    assert "kv_lora_rank" in source_of(DeepseekV2Attention)
    assert "q_norm" in source_of(Qwen3Attention)


def source_of(thing):
    return inspect.getsource(thing)


def test_windows_in_five_layers_of_six():
    share = names()["share"]
    assert round(100 * share) == pytest.approx(100 * (5 * 1024 + 131072) / (6 * 131072), abs=0.5)

"""What chapter 01 says is computed here: its answers, and the numbers in its sentences."""

import math
from statistics import fmean

import pytest
import torch
import torch.nn.functional as F
from cells import cell, run
from prose import says
from torch import nn

from pieces import masks
from pieces.book.figures import big_picture as figures
from pieces.book.measured import record_of
from pieces.tasks import Agreement
from pieces.trained import load
from pieces.zoo import MODEL_TABLE

NAME = "01_big_picture"


def field(kernel, dilations):
    """How many words one result depends on, by the gradients of real convolutions."""
    wide = 1 + 2 * kernel * sum(dilations)
    x = torch.zeros(1, 1, wide + (wide % 2 == 0), requires_grad=True, dtype=torch.float64)
    y = x
    for gap in dilations:
        weight = torch.rand(1, 1, kernel, dtype=torch.float64) + 0.5
        y = F.conv1d(y, weight, dilation=gap)
    y[..., 0].sum().backward()
    return int((x.grad != 0).sum())


def layers(kernel, distance):
    """The fewest convolutions through which a word reaches another so far away."""
    return next(n for n in range(99) if field(kernel, [1] * n) // 2 >= distance)


def dilated(layers):
    """How many words one result of dilated convolutions depends on."""
    return field(3, [2**n for n in range(layers)])


def cheats():
    """The line of exercise 1.3: does a result move with the word after its place?"""
    torch.manual_seed(0)
    x, kernel = torch.randn(1, 4, 6, dtype=torch.float64), torch.randn(5, 4, 3, dtype=torch.float64)
    other = x.clone()
    other[..., 3] += 1
    both = [F.conv1d(x, kernel, padding=1) for x in (x, other)]
    one = [F.conv1d(F.pad(x, (2, 0)), kernel) for x in (x, other)]
    assert not torch.equal(both[0][..., 2], both[1][..., 2]), "place 3 sees word 4"
    assert torch.equal(one[0][..., :3], one[1][..., :3]), "padded on the left it does not"
    return 4


def even_price(size=512):
    """The length at which comparing and mixing cost what the projections cost."""
    return next(n for n in range(1, 9999) if 2 * n * n * size >= 4 * n * size * size)


ANSWERS = {
    "1.1": lambda: layers(5, 10),
    "1.a": lambda: 0.9**100,
    "1.2": lambda: next(n for n in range(99) if dilated(n) // 2 >= 999),
    "1.3": cheats,
    "1.5": even_price,
}


def test_the_slips_are_what_they_say():
    assert layers(3, 10) == 10
    assert (dilated(9), dilated(9) // 2, dilated(10) // 2) == (1023, 511, 1023)
    assert layers(3, 9) == 9, "one layer for each place: 999 for 999 places"
    assert 3**6 < 1000 <= 3**7


def test_how_far_the_model_is_from_perfect():
    share = 100 * math.exp(-load("stories_llama").record.above_floor)
    says(NAME, f"the model gives the word that really comes {share:.1f} % of it")


def test_three_layers_see_seven_words():
    assert field(3, [1] * 3) == 7
    assert [dilated(k) for k in (1, 2, 3)] == [3, 7, 15]
    names = {"torch": torch}
    exec(cell(NAME, "three(x)"), names)
    assert int((names["x"].grad != 0).sum()) == 7
    says(NAME, "three layers see seven words")


def test_the_length_where_pairs_cost_as_much_as_projections():
    n = even_price()
    assert n == 2 * 512
    says(NAME, "fewer than $2D$ words")


def test_what_is_left_of_a_gradient():
    names = run(NAME)
    runs = names["runs"]
    left = {name: r[:, -1] for name, r in runs.items()}
    assert left["linear, gain 0.9"].tolist() == pytest.approx([0.9**100] * 5)
    assert left["linear, gain 1.0"].tolist() == pytest.approx([1] * 5)
    assert left["linear, gain 1.1"].tolist() == pytest.approx([1.1**100] * 5)
    tanh = left["tanh, gain 1.1"]
    says(
        NAME,
        f"leaves {0.9**100:.7f} of the gradient, 1.0 keeps all of it",
        f"1.1 makes it {1.1**100:,.0f} times as large",
        f"1.1 leaves between {tanh.min():.2f} and {tanh.max():.2f} "
        f"and 1.0 about {left['tanh, gain 1.0'].mean():.3f}, but 1.5 makes it 200 or more.",
        f"grows {1.1**100:,.0f} times without tanh, and shrinks with it",
    )
    assert tanh.max() < 1
    assert min(names["fade"](1.5, torch.tanh, seed)[-1] for seed in range(5)) > 200


def test_agreement_is_told_as_measured():
    record = record_of("agreement")
    runs = record["seeds"]
    for network in figures.NETWORKS:
        for gap in (4, 16, 64):
            found = [r for r in runs if (r["network"], r["gap"]) == (network, gap)]
            assert len({r["seed"] for r in found}) == 5
            assert not {r["seed"] for r in found} & {r["seed"] for r in record["rates"]}
    right = {
        (n, g): [r["right"] for r in runs if (r["network"], r["gap"]) == (n, g)]
        for n in figures.NETWORKS
        for g in (4, 16, 64)
    }
    sizes = [
        next(r["parameters"] for r in runs if (r["network"], r["gap"]) == (n, 16))
        for n in ("LSTM", "LSTM, gates open", "attention")
    ]
    assert sizes[0] == sizes[1]
    always = 0.99
    assert all(min(right[n, 4]) > always for n in figures.NETWORKS)
    assert all(min(right["LSTM, gates open", gap]) > always for gap in (4, 16, 64))
    assert all(0.45 < share < 0.55 for share in right["LSTM", 16])
    assert sum(share > always for share in right["recurrent", 16]) == 1
    assert min(right["attention", 16] + right["attention", 64]) > always
    tried = lambda network, gap: {  # noqa: E731
        lr: [
            r["right"]
            for r in record["rates"]
            if (r["network"], r["gap"], r["lr"]) == (network, gap, lr)
        ]
        for lr in sorted({r["lr"] for r in record["rates"]})
    }
    assert len(tried("LSTM", 16)) == 5
    for network, gap in (("LSTM", 16), ("LSTM", 64), ("recurrent", 64)):
        shares = tried(network, gap)
        assert max(map(max, shares.values())) < 0.55, "it guesses at each rate"
        *_, largest = shares
        leads = max(shares, key=lambda lr: fmean(shares[lr]))
        assert (leads == largest) == (gap == 64)
        *_, second, last = (fmean(runs) for runs in tried(network, 4).values())
        assert last < second == 1, "too large over 4 words"
    says(
        NAME,
        "the best of five learning rates",
        "whichever of the five rates it gets",
        "Over 64 both guess, at every rate",
        "the LSTM has {:,} parameters, and attention {:,}".format(*sizes[1:]),
        "Over 4 words all four are always right",
        "Over 16 the plain LSTM still guesses",
        "it begins at 0.993, the LSTM is right over each gap",
        "one recurrent network of five has found the rule",
        f"This holds for {record['steps']} steps with 64 sentences each",
    )


def test_a_fresh_forget_gate_is_half_open():
    torch.manual_seed(0)
    lstm, x = torch.nn.LSTM(64, 64, batch_first=True), torch.randn(32, 16, 64)
    kept = []
    for open_ in (0.0, 5.0):
        with torch.no_grad():
            lstm.bias_ih_l0[64:128] += open_
            h, gates = lstm(x)[0], []
            for t in range(1, 16):
                forget = x[:, t] @ lstm.weight_ih_l0[64:128].mT
                forget = forget + h[:, t - 1] @ lstm.weight_hh_l0[64:128].mT
                gates.append((forget + lstm.bias_ih_l0[64:128] + lstm.bias_hh_l0[64:128]).sigmoid())
        kept.append(torch.stack(gates).mean().item())
    assert abs(kept[0] - 0.5) < 0.01
    assert abs(kept[1] - 0.993) < 0.002
    says(NAME, "begins near one half", f"a half to the power of 16 is {0.5**16:.6f}")


def test_the_passes_and_the_words_that_are_read():
    rows = figures.passes(40).cells
    wanted = [[1, 40], [40, sum(range(8, 48))], [40, 47]]
    assert [row[1:] for row in rows] == [[f"{n:,}" for n in row] for row in wanted]
    says(NAME, "it runs 40 times", f"then 10: {sum(range(8, 48)):,} in all")


def test_an_encoder_looks_ahead_and_a_decoder_does_not():
    assert [int(row[1]) for row in figures.looks_ahead(8).cells] == [8, 1]
    says(NAME, "Change the last of eight words, and all eight outputs change")


def test_windows_do_not_wait_for_each_other():
    assert figures.windows() < 1e-6


def test_a_graph_has_no_order():
    renamed, placed = figures.graph()
    assert renamed < 1e-12 < 0.1 < placed


def test_a_recurrent_network_has_no_pooling():
    for kind in (nn.RNN, nn.GRU, nn.LSTM):
        assert not any("pool" in type(part).__name__.lower() for part in kind(4, 4).modules())


def test_the_cat_is_five_words_away():
    words = ["The", "cat", "which", "ate", "the", "fish", "was", "happy"]
    assert words.index("was") - words.index("cat") == 5 < field(3, [1] * 3)
    here = [
        "The",
        "cat",
        ",",
        "which",
        "ate",
        "the",
        "fish",
        "on",
        "the",
        "table",
        ",",
        "was",
        "happy",
    ]
    assert here.index("was") - here.index("cat") == 10
    says(NAME, "*was* comes five words after *cat*", "ten places back if commas count")


def test_the_grids_are_the_families():
    assert masks.prefix(6, 3)[:3, :3].all()
    assert torch.equal(masks.prefix(6, 3)[3:], masks.causal(6)[3:])
    assert fmean(masks.full(6).double().flatten().tolist()) == 1


def test_the_verb_comes_4_16_or_64_words_after_its_noun():
    for phrases, gap in ((1, 4), (5, 16), (21, 64)):
        task = Agreement(phrases)
        assert (
            task.batch(1, generator=torch.Generator().manual_seed(0)).input_ids.shape[1] == 1 + gap
        )
    says(NAME, "The verb comes 4, 16 or 64 words after its noun")


def test_most_models_of_the_table_are_decoders():
    kinds = [row.printed.category for row in MODEL_TABLE.values()]
    says(NAME, f"Of the {len(kinds)} large models in [chapter 16]")
    others = {name: row.printed.category for name, row in MODEL_TABLE.items()}
    others = {name: kind for name, kind in others.items() if kind != "causal"}
    assert others == {"GLM-130B": "prefix", "T5": "encoder-decoder"}
    says(
        NAME,
        f"{kinds.count('causal')} are decoders with a causal mask; the other two are GLM-130B, "
        "a prefix decoder, and T5",
    )

"""Chapter 12: its answers, and what its words say of codes, scores and longer texts."""

import inspect
import json
import math
import statistics
from functools import cache

import pytest
import torch
from cells import cell
from prose import says

from browser import ROOT
from pieces import masks
from pieces.attention import MultiHeadAttention
from pieces.book import measured, scientific
from pieces.book.ask import question
from pieces.book.figures import positional_encoding as figures
from pieces.book.figures import positions_beyond as beyond
from pieces.book.figures import positions_printed as printed
from pieces.positions import (
    ALiBi,
    DynamicNTK,
    Halves,
    Interleaved,
    Learned,
    Linear,
    Llama3,
    NTKAware,
    PositionalEncoding,
    Rotary,
    Sinusoidal,
    T5Buckets,
    TransformerXLRelative,
    YaRN,
    alibi_slopes,
)
from pieces.trained import load

NAME = "12_positional_encoding"
PLACE = torch.arange(8)
CHANGES = (PLACE + 1000, 2 * PLACE, 7 - PLACE)


def upwards():
    """12.a: the share of steps in which the score of ones rises."""
    falling = figures.all_ones(128, 4096)
    return 100 * (falling[1:] > falling[:-1]).double().mean()


def still_good():
    """12.b: schemes below 1 nat at the end of 256 words."""
    return sum(bool(beyond.excess("positions", s).median() < 1) for s in beyond.SCHEMES)


def angles(table):
    """12.3: which of two angles turns each of four numbers."""
    return torch.stack([table == 0, table == 1], dim=-1)


def scores_at(scheme, positions):
    """12.5: the scores of eight tokens at these positions."""
    drawn = torch.Generator().manual_seed(6)
    x, *W = (torch.randn(n, 16, generator=drawn, dtype=torch.float64) for n in (8, 16, 16))
    x = scheme.add(x[None], positions)
    q, k = scheme.rotate(*((x @ w)[:, None] for w in W), positions)
    bias = scheme.bias(q, k, positions)
    return q @ k.mT + (0 if bias is None else bias)


def unnoticed():
    """12.5: which changes of the positions move no score."""
    torch.manual_seed(7)
    t5 = T5Buckets(1, bidirectional=True)
    schemes = (PositionalEncoding(), Sinusoidal(16), Rotary(16), t5, ALiBi(1))
    same = [
        [torch.allclose(scores_at(s, new), scores_at(s, PLACE), atol=1e-5) for new in CHANGES]
        for s in schemes
    ]
    return torch.tensor(same)


ANSWERS = {
    "12.a": upwards,
    "12.b": still_good,
    "12.1": lambda: 2 * math.pi * 10_000 ** (6 / 8),
    "12.2": lambda: 10 * 2 ** (-1 / 2),
    "12.3": lambda: angles(torch.arange(2).repeat(2)),
    "12.5": unnoticed,
}


def test_slips_are_what_they_say():
    turn = 2 * math.pi
    slips = [slip for slip, _ in question("12.1")["slips"]]
    assert slips == pytest.approx([turn * 1e4, 1000, turn * 10_000 ** (3 / 8), turn])
    slopes = alibi_slopes(12).double()
    assert slopes.argmax() + 1 == 9
    assert 10 * slopes.max() == pytest.approx(question("12.2")["answer"])
    slips = [slip for slip, _ in question("12.2")["slips"]]
    assert slips == pytest.approx([10 * slopes[0], slopes[0], 10 * 2 ** (-8 / 12), 2**-0.5])
    assert abs(7 - question("12.2")["answer"]) <= question("12.2")["tolerance"]
    bug, both = (slip for slip, _ in question("12.3")["slips"])
    assert torch.equal(bug, angles(torch.arange(2).repeat_interleave(2)))
    assert both.all()
    number, right = torch.arange(4), []
    for bits in range(16):  # every way to give each number one of the two angles
        table = torch.tensor(bits) >> number & 1
        first, second = table[[0, 2]], table[[1, 3]]
        if (first == 0).all() and (second == 1).all():
            right.append(angles(table).tolist())
    assert right == [angles(torch.arange(2).repeat(2)).tolist()]


def test_two_sentences_and_their_shares():
    steps = [
        len(sentence.split()) - 1
        for sentence in (
            "Attention is all you need",
            "To follow along you will first need to install PyTorch",
        )
    ]
    assert [0.5 * n for n in steps] == [2, 4.5]


@cache
def codes():
    return Sinusoidal(512)(torch.arange(5000), torch.float64)


def test_places_that_look_alike():
    a, b = figures.nearest(codes())
    here, whole = (codes()[a, 0] - codes()[b, 0]).abs(), (codes()[a] - codes()[b]).norm()
    assert codes()[a, 1] * codes()[b, 1] < 0  # up at one of them and down at the other
    assert abs((b - a) / (2 * math.pi) % 1 - 1) < 0.002  # nearly 53 periods, and not quite
    number = scientific(here.item())
    says(NAME, f"the places {a} and {b} differ by {number}", f"these two are {whole:.2f} apart")
    says(NAME, f"two places that differ by {number} in one column, {a} and {b}")


def test_neighbours_are_the_closest_of_all():
    step, smallest = figures.closest(codes())
    assert step == 1
    for start in range(0, 5000, 1000):  # every pair, the rounding of cdist allowed for
        apart = torch.cdist(codes()[start : start + 1000], codes())
        apart[torch.arange(1000), start + torch.arange(1000)] = math.inf
        assert apart.min() > smallest - 1e-4
    length = codes().norm(dim=-1)
    assert torch.allclose(length, length[:1])
    says(NAME, f"than neighbours do, {smallest:.2f}, and each code has the length {length[0]:.0f}.")


@pytest.mark.parametrize("k", [1, 7, 100])
def test_a_step_is_a_turn(k):
    pe = Sinusoidal(64)(torch.arange(400), torch.float64)
    theta = 10000 ** (-torch.arange(0, 64, 2, dtype=torch.float64) / 64)
    cos, sin = (k * theta).cos(), (k * theta).sin()
    s, c = pe[:-k, 0::2], pe[:-k, 1::2]
    turned = torch.stack((cos * s + sin * c, cos * c - sin * s), -1).flatten(1)
    assert torch.allclose(turned, pe[k:], atol=1e-10)
    products = (pe[:-k] * pe[k:]).sum(-1)
    assert torch.allclose(products, cos.sum().expand(400 - k), atol=1e-9)


def test_the_table_ends_and_the_waves_do_not():
    place = torch.tensor([32])
    with pytest.raises(ValueError, match="positions"):
        Learned(max_seq_len=32, d_model=8)(place)
    assert 0 < Sinusoidal(8)(place).abs().max() <= 1


@pytest.mark.parametrize("layout", [Halves(), Interleaved()])
def test_only_the_difference_is_left(layout):
    q, k = torch.randn(2, 1, 1, 12, 16, dtype=torch.float64)
    rotary = Rotary(16, layout=layout)
    scores = []
    for start in (0, 5, 1000):
        turned_q, turned_k = rotary.rotate(q, k, torch.arange(start, start + 12))
        assert torch.allclose(turned_q.norm(dim=-1), q.norm(dim=-1))
        scores.append(turned_q @ turned_k.mT)
    assert all(torch.allclose(scores[0], other, atol=1e-9) for other in scores[1:])
    assert (scores[0] - q @ k.mT).abs().max() > 1


def test_the_mixed_pairs_of_exercise_3_are_not_relative():
    names = {"torch": torch}
    source = next(c for c in _words().split("```python") if "rotate_half" in c)
    exec(source.partition("angles")[0].replace("> ", "").replace(">", ""), names)
    theta = 10000 ** (-torch.arange(0, 16, 2, dtype=torch.float64) / 16)
    q, k = torch.randn(2, 16, generator=torch.Generator().manual_seed(4), dtype=torch.float64)

    def spread(table):
        def turn(x, p):
            return x * (p * table).cos() + names["rotate_half"](x) * (p * table).sin()

        return torch.stack([turn(q, s + 3) @ turn(k, s) for s in (0, 10, 500)]).std()

    assert spread(theta.repeat_interleave(2)) > 0.1
    assert spread(torch.cat((theta, theta))) < 1e-9


def _words():
    from cells import cells

    return "\n".join(c.source for c in cells(NAME) if c.cell_type == "markdown")


def test_three_cases_of_decay():
    falling = figures.all_ones(128, 4096)
    says(NAME, f"falls to {falling[128]:.2f} at distance 128 and to {falling[1024]:.2f} at 1,024")
    says(NAME, f"it rises in {upwards():.1f} % of all steps")
    assert falling[0] == pytest.approx(1)
    q, k = figures.random_pairs(128, 300)
    far = torch.logspace(0, math.log10(4095), 240).long().unique()
    spread = (figures.by_distance(q, k, far) / 128**0.5).std(dim=0)
    assert 0.8 < spread.min() <= spread.max() < 1.2
    for peak in (7, 100, 1000):
        assert figures.made_for(q[:1], peak, 4096).argmax() == peak


def test_transformer_xl_term_by_term():
    D, H, K, T = 12, 2, 6, 5
    relative = TransformerXLRelative(D, H).double().requires_grad_(False)
    q, k = (torch.randn(1, H, T, K, dtype=torch.float64) for _ in range(2))
    bias = relative.bias(q, k, torch.arange(T))
    for h in range(H):
        u, v = relative.u[h], relative.v[h]
        for i in range(T):
            for j in range(T):
                code = Sinusoidal(D)(torch.tensor([i - j]), torch.float64)[0]
                r = (relative.relative.weight @ code).view(H, K)[h]
                terms = q[0, h, i] @ r + u @ k[0, h, j] + v @ r
                assert torch.allclose(bias[0, h, i, j], terms / K**0.5, atol=1e-12)


def test_the_slopes_of_twelve_heads():
    slopes = alibi_slopes(12).double()
    borrowed = torch.tensor([2 ** (-8 * h / 16) for h in range(1, 17)]).double()[0:8:2]
    assert torch.allclose(slopes[:8], alibi_slopes(8).double())
    assert torch.allclose(slopes[8:], borrowed)
    assert not torch.equal(slopes, slopes.sort(descending=True).values)
    assert slopes.max() > 2 ** (-8 / 12)


def test_the_key_number_and_the_distance():
    """The same weights under a causal mask, quite others without it, as the cell prints."""
    names = {"torch": torch, "masks": masks, "alibi_slopes": alibi_slopes}
    names["drawn"] = torch.Generator().manual_seed(0)
    exec(cell(NAME, "by_key"), names)
    causal, full = names["apart"]
    assert causal < 1e-12
    assert full > 0.5
    last = names["m"] * names["j"]
    assert (last.diff(dim=-1) > 0).all()  # the last token gets the most, whoever asks


def test_a_late_query_in_sixteen_bits():
    rows = {row[0].replace("\u00a0", " "): row[1::2] for row in figures.coarse().cells}
    assert rows["m j, T = 128"] == rows["−m (i − j), T = 128"] == ["128", "128"]
    assert rows["−m (i − j), T = 2,048"] == ["128", "128"]
    float16, bfloat16 = rows["m j, T = 2,048"]
    assert int(float16) < 128
    says(NAME, f"in bfloat16 it tells only {bfloat16} places apart among the 128 nearest keys")
    biases = alibi_slopes(12)[:, None] * torch.arange(2048.0)
    lost = (biases.half().diff(dim=-1) == 0).any(-1)
    assert lost.sum() == 4
    assert lost[alibi_slopes(12).argmax()]
    assert (biases.bfloat16().diff(dim=-1) == 0).any(-1).all()
    ties = (biases.half().diff(dim=-1) == 0).nonzero()[:, 1]
    assert ties.min() > 1000  # of j, or of the distance: near the last query, or far from it
    says(NAME, "At 2,048, some neighbouring keys share a bias in four of its 12 heads")


def test_the_bound_of_rope_falls_with_bumps():
    """RoFormer, 3.4.3: the mean size of the sums of the first turns, for K = 128."""
    theta = 10000 ** (-torch.arange(0, 128, 2, dtype=torch.float64) / 128)
    turns = torch.exp(1j * torch.arange(4096)[:, None] * theta)
    bound = turns.cumsum(-1).abs().mean(-1)
    assert bound[0] > 3 * bound[128] > 3 * bound[1024]
    assert (bound[:257].diff() > 0).any()
    says(NAME, "What falls in the paper, with bumps too, is an upper bound")


def _at(kind, scheme, words):
    return beyond.excess(kind, scheme, words).median().item()


def test_beyond_32_words():
    record = measured.record_of("positions")
    assert (record["trained"], record["lengths"][-1], len(record["seeds"])) == (32, 256, 3)
    late = {scheme: _at("positions", scheme, 256) for scheme in beyond.SCHEMES}
    assert max(late, key=lambda s: -1 if math.isnan(late[s]) else late[s]) == "sinusoidal"
    assert math.isnan(late["learned"])
    assert min(late["rotary"], late["t5"]) > 2
    alibi = torch.tensor(record["positions"]["alibi"])
    assert alibi.max() < 1
    says(NAME, f"they are {_at('positions', 'sinusoidal', 64):.2f} nats above the floor")
    assert abs(_at("positions", "rotary", 48) - _at("positions", "alibi", 48)) < 0.03
    assert _at("positions", "rotary", 64) > _at("positions", "alibi", 64) + 0.2
    within = torch.stack(
        [
            beyond.excess("positions", scheme, words)
            for scheme in beyond.SCHEMES
            for words in (16, 32)
        ]
    )
    says(
        NAME,
        f"they are {within.min():.2f} to {within.max():.2f} nats above the floor even within",
    )


def test_alibi_gains_nothing_from_the_longer_text():
    """The same model both times, and each scheme, in each seed."""
    whole, window = (beyond.excess(kind, "alibi") for kind in ("positions", "window"))
    assert (window < whole).all()
    for scheme in beyond.SCHEMES:
        assert (beyond.excess("window", scheme) < whole).all()
    says(
        NAME,
        f"with its window is {window.median():.2f} nats above the floor, "
        f"and with the whole text {whole.median():.2f}.",
        f"{window.median():.2f} against {whole.median():.2f} nats at the end",
    )


def _read(scaling, first, last):
    """The mean over the samples of what the record has of some clocks, in these words."""
    return beyond.read_on(scaling)[:, (first - 1) // 16 : last // 16].mean().item()


def test_the_stories_llama_reads_nearly_twice_its_length():
    shipped = load("stories_llama")
    assert shipped.task.length == 128 < shipped.model.config.max_seq_len
    says(NAME, f"there it is {shipped.record.above_floor:.3f} nats above the floor")
    runs = measured.record_of("longer_stories")["runs"]
    rows = {
        name: [r["rows"] for r in runs if r["scaling"] == name] for name in ("unscaled", "yarn")
    }
    assert rows["unscaled"] == [200] * 5
    assert set(rows["yarn"]) == {40}
    assert len(beyond.read_on("yarn")) == 3
    says(NAME, "five samples of 200 texts with its own clocks, three of 40 with slower ones")
    says(
        NAME,
        f"words 113 to 128 are {_read('unscaled', 113, 128):.3f} nats above the floor "
        f"and words 129 to 144 are {_read('unscaled', 129, 144):.3f} above it",
        f"to {_read('unscaled', 193, 224):.2f} in words 193 to 224",
        f"{_read('unscaled', 241, 256):.2f} in words 241 to 256, "
        f"and {_read('unscaled', 273, 288):.2f} in words 273 to 288",
    )
    assert beyond.read_on("unscaled").mean(0)[:15].max() < 0.1  # up to word 240


def test_slower_clocks_help_behind_and_cost_before():
    early = {name: _read(name, 1, 128) for name in beyond.CLOCKS}
    behind = {name: _read(name, 257, 320) for name in beyond.CLOCKS}
    says(
        NAME,
        f"it is {behind['unscaled']:.2f} nats above the floor as trained, {behind['ntk']:.2f} with "
        f"NTK-aware clocks and {behind['llama3']:.2f} with LLaMA 3's.",
        f"these two are at {early['ntk']:.2f} and {early['llama3']:.2f}, and YaRN's at "
        f"{early['yarn']:.2f}, where the model as trained is at {early['unscaled']:.2f}; only the "
        "dynamic ones, which slow with the text, cost nothing there.",
    )
    plain = beyond.read_on("unscaled")
    for name in beyond.CLOCKS:
        runs = beyond.read_on(name)
        if name == "linear":  # each sample, in each stretch
            assert (runs.min(0).values > plain.max(0).values).all()
        elif name != "unscaled":
            assert (runs[:, 16:20].mean(1) < plain[:, 16:20].mean(1).min()).all()
            assert (early[name] > early["unscaled"]) == (name != "dynamic")
    assert (beyond.read_on("ntk")[:, :8].mean(1).min() > plain[:, :8].mean(1)).all()
    late = min(_read(name, 385, 512) for name in beyond.CLOCKS)
    says(NAME, f"385 to 512, all of them are at least {math.floor(100 * late) / 100} above")


def test_the_fastest_clock_keeps_its_speed():
    plain = Rotary(16).scaling(16, 1e4)
    ids = torch.arange(600)
    for clocks in (NTKAware(2), DynamicNTK(2, 128), YaRN(2, 128), Llama3(2, 128)):
        slowed = clocks(16, 1e4, ids)
        assert slowed[0] == pytest.approx(plain[0].item())
        assert slowed[-1] < plain[-1]
    assert torch.allclose(NTKAware(2)(16, 1e4)[-1], plain[-1] / 2)
    assert torch.allclose(Linear(2)(16, 1e4), plain / 2)


def test_yarn_in_the_small_models():
    record = measured.record_of("positions")
    median = {
        (factor, name): torch.tensor(record["scalings"][factor][name]).median(0).values
        for factor in ("2", "8")
        for name in ("unscaled", "yarn")
    }
    worse = {f: (median[f, "yarn"] > median[f, "unscaled"]).tolist() for f in ("2", "8")}
    assert worse["8"] == [words <= 128 for words in record["lengths"]]
    seeds = {name: torch.tensor(record["scalings"]["8"][name]) for name in ("unscaled", "yarn")}
    each = (seeds["yarn"] > seeds["unscaled"]).all(0).tolist()
    assert each[: record["lengths"].index(128)] == [True] * 7  # in every seed up to word 112
    says(NAME, "than RoPE as trained, in all three seeds as far as word 112")
    assert worse["2"] == [words <= 48 for words in record["lengths"]]
    runs = json.loads((ROOT / "experiments/records/rotary_scaling.json").read_text("utf-8"))["runs"]
    yarn, plain = (  # all digits: those of the package are rounded already
        statistics.median(
            run["excess"][1] for run in runs if run["scaling"] == name and run["factor"] in (1, 8)
        )
        for name in ("yarn", "unscaled")
    )
    says(NAME, f"In words 17 to 32, which training had seen, it is {yarn:.2f} nats above the floor "
         f"instead of {plain:.2f}.")  # fmt: skip


def test_what_the_recall_table_can_say():
    won = [[sum(beyond.solved(pair[n]).values()) for pair in beyond.PARTS.values()] for n in (0, 1)]
    assert all(len(beyond.solved(name)) == 5 for pair in beyond.PARTS.values() for name in pair)
    gpt2, llama = map(sum, won)
    assert gpt2 == 0
    says(NAME, f"{llama} of 30 LLaMAs learned it and none of 30 GPT-2s.")
    split = math.comb(50, 20) / math.comb(60, 30)  # all ten on one side, were both alike
    assert 2 * split < 0.001
    assert (won[1][1], won[0][1], won[1][0], won[1][5]) == (3, 0, 2, 0)
    says(NAME, "three of five LLaMAs with a learned table")


def test_the_class_of_s1():
    with pytest.raises(NameError, match="Variable"):
        printed.PositionalEncodingS1(16, 0.0)(torch.zeros(1, 4, 16))
    module = printed.Supplied(16, 0.0)
    ours = Sinusoidal(16)(torch.arange(4))
    assert torch.allclose(module(torch.zeros(1, 4, 16))[0], ours, atol=1e-6)
    assert [row[1:] for row in printed.outcomes().cells] == [
        ["NameError", "runs", "runs"],
        ["RuntimeError", "RuntimeError", "runs"],
        ["NameError", "RuntimeError", "runs"],
    ]
    assert [name for name in dir(torch.nn) if "osit" in name] == []


def test_equivariant_and_with_a_mask_neither():
    layer = MultiHeadAttention(16, 2).double().requires_grad_(False)
    x, order = torch.randn(1, 6, 16, dtype=torch.float64), torch.tensor([3, 0, 5, 1, 4, 2])
    plain, shuffled, see = layer(x), layer(x[:, order]), masks.causal(6)
    assert torch.allclose(shuffled, plain[:, order])
    assert torch.allclose(shuffled.mean(1), plain.mean(1))
    assert not torch.allclose(layer(x[:, order], mask=see), layer(x, mask=see)[:, order])


def test_what_padding_gets_in_s2():
    flags = torch.tensor([[0, 0, 1, 1]])
    assert ((flags.cumsum(-1) - 1) * flags).tolist() == [[0, 0, 0, 1]]
    whole = torch.ones(2, 128)
    bias = alibi_slopes(12)[:, None] * ((whole.cumsum(-1) - 1) * whole)[:, None]
    assert tuple(bias.reshape(24, 1, 128).shape) == (24, 1, 128)
    says(NAME, "(24, 1, 128) for 2 texts, 12 heads and 128 tokens")


def test_who_takes_which_pairs():
    from transformers.models.gpt_neox.modeling_gpt_neox import rotate_half as neox
    from transformers.models.llama.modeling_llama import rotate_half as llama

    for turned in (neox, llama):
        assert turned(torch.arange(6.0)).tolist() == [-3, -4, -5, 0, 1, 2]  # n with n + K/2
    assert Halves().partner(torch.arange(6)).tolist() == [3, 4, 5, 0, 1, 2]
    assert Interleaved().partner(torch.arange(6)).tolist() == [1, 0, 3, 2, 5, 4]
    says(
        NAME, "GPT-NeoX takes $n$ with $n + K/2$, as does the library `transformers`, for LLaMA too"
    )


def test_an_angle_in_float32():
    """What the comment in `Sinusoidal` says: the formula wholly in 32 bits, far out."""
    column = torch.arange(0, 512, 2)
    far = [
        torch.tensor(1e5, dtype=d) * (10000.0 ** (-column.to(d) / 512))
        for d in (torch.float32, torch.float64)
    ]
    assert (far[0] - far[1]).abs().max().item() == pytest.approx(0.006, abs=5e-4)
    assert "is off by about 0.006 at position 100,000" in inspect.getsource(Sinusoidal)

"""Chapter 3: its answers, and what its words say of scores, weights and models, computed again."""

import functools
import json
import math
import re

import pytest
import torch
from cells import run
from prose import says

from browser import ROOT
from pieces import masks, measures, scores
from pieces.attention import SingleHeadAttention, attention, masked_softmax
from pieces.book import plot
from pieces.book.ask import question
from pieces.book.figures import attention as figures
from pieces.book.figures import retrieval
from pieces.trained import load
from pieces.widgets import Alignment, ScoreFunctions
from pieces.widgets.alignment import TEXT, aligned
from widgets.score_functions.expected import every_score, many_draws, vectors

NAME = "03_attention"
GROUPS = ("昨天", "那个", "老师", "拿走了", "两本", "书")


def match(K=32):
    """The temperature of a slider in tenths at which dot weighs most as scaled dot does."""
    q, keys = torch.randn(K).double(), torch.randn(6, K).double()
    wanted = scores.scaled_dot(q[None], keys)[0].softmax(-1)
    tenths = [n / 10 for n in range(1, 101)]
    off = [((keys @ q / t).softmax(-1) - wanted).abs().sum() for t in tenths]
    return tenths[int(torch.stack(off).argmin())]


ANSWERS = {
    "3.a": lambda: math.sqrt(64),
    "3.1": lambda: math.sqrt(32),
    "3.2": lambda: torch.tensor([3.0, 1.0]).double().softmax(-1)[0],
    "3.3": lambda: next(n for n, line in enumerate(BUGGY, start=1) if "softmax" in line),
    "3.5": lambda: math.log(1000),
}
BUGGY = (
    "def attend(q, k, v, mask):",
    "    K = k.shape[-1]",
    "    s = q @ k.mT",
    "    s = s / K**0.5",
    "    weights = s.softmax(-1)",
    "    return weights @ v",
)


@functools.cache
def learned():
    return retrieval.all_scores(seeds=5)


def table_of(text, row):
    """The cells of one row of a table, by its first."""
    (line,) = (line for line in repr(text).splitlines() if line.startswith(row))
    return re.split(r" {2,}", line.strip())


def test_slips_are_what_they_say():
    slips = {name: [number for number, _ in question(name)["slips"]] for name in ANSWERS}
    assert slips["3.1"] == pytest.approx([32, 4, 32**-0.5, 8, round(32**-0.5, 1)])
    assert match() == pytest.approx(ANSWERS["3.1"](), abs=0.06)
    sigmoid = torch.tensor(3.0).double().sigmoid().item()
    assert slips["3.2"] == pytest.approx([3 / 4, 1 - ANSWERS["3.2"]().item(), sigmoid])
    assert slips["3.5"] == pytest.approx([1000, 0.5, math.log10(1000), math.log2(1000)])


def test_the_missing_line_works_before_line_5_and_no_later():
    says(NAME, *(line.strip() for line in BUGGY))
    q, k, v = torch.randn(3, 4, 6).double()
    mask = masks.causal(4)
    right = attention(q[None, None], k[None, None], v[None, None], mask=mask)[0][0, 0]
    hide = {
        4: "s = s.masked_fill(~mask, -math.inf)",
        5: "s = s.masked_fill(~mask, -math.inf)",
        6: "weights = weights * mask",
    }
    for before, line in hide.items():
        lines = [*BUGGY[: before - 1], f"    {line}", *BUGGY[before - 1 :]]
        names = {"math": math}
        exec("\n".join(lines), names)
        assert torch.allclose(names["attend"](q, k, v, mask), right) == (before < 6)


def test_four_lines_are_the_package():
    names = run(NAME, until="## Four ways to score")
    keys, query, values = names["keys"], names["query"], names["values"]
    four, weights = attention(
        query[None, None, None], keys[None, None], values[None, None, :, None]
    )
    assert torch.allclose(four.squeeze(), names["output"])
    assert torch.allclose(weights[0, 0, 0], (keys @ query / 2**0.5).softmax(-1))
    weight, _, part = names["columns"]
    assert part.argmin() == weight.argmax() == 0
    says(NAME, f"The first key has {100 * weight[0]:.0f} % of the weight and the smallest")


def test_the_aligner_is_as_good_as_told():
    record = load("aligner").record
    runs = json.loads((ROOT / "experiments/records/aligner.json").read_text("utf-8"))["runs"]
    worse, *others = sorted(run["exact"] for run in runs)
    assert others == [record["exact"], 1.0] == [1.0, 1.0]
    says(
        NAME,
        f"no mistake in {record['held_out_rows']:,} draws of held-out sentences",
        f"(Two other seeds had 100 and {100 * worse:.0f} % of them right.)",
    )


def test_what_the_words_of_the_aligner_look_at():
    characters, words, weights = aligned("aligner", TEXT)
    assert Alignment().text == TEXT
    most = {
        word: (characters[at], row[at].item())
        for word, row, at in zip(words, weights, weights.argmax(-1).tolist(), strict=True)
    }
    plain = {"teacher": "老", "two": "两", "books": "书"}
    assert all(most[word][0] == seen and most[word][1] > 0.85 for word, seen in plain.items())
    assert most["yesterday"][0] == "了"
    day = weights[words.index("yesterday"), : len("昨天")].sum()
    says(NAME, "far more than at 昨天")
    assert most["yesterday"][1] > 4 * day


def test_what_is_done_was_always_done_yesterday():
    """What 了 told in training, and what the model makes of it behind another day."""
    task = load("aligner").task
    rows = task.sentences(task.items(2000, "train", torch.Generator().manual_seed(0)))
    done = [(chinese, english) for chinese, english in rows if "了" in chinese]
    assert len(done) > 400
    assert all(zh.startswith("昨天") and en.endswith("yesterday .") for zh, en in done)
    for day in ("明天", "每天"):
        written = aligned("aligner", TEXT.replace("昨天", day)).words
        assert " ".join(written) == "the teacher took two books yesterday ."


def test_the_aligner_reads_two_patterns_of_sentence():
    says(NAME, "Choose 我是一个学生 (I am a student) as well", "Then try 老师是学生")
    assert " ".join(aligned("aligner", "我是一个学生").words) == "I am a student ."
    invented = aligned("aligner", "老师是学生").words
    assert "teacher" not in invented


def test_the_translation_follows_the_sentence():
    one = aligned("aligner", TEXT.replace("两", "一")).words
    assert one[:5] == ["the", "teacher", "took", "a", "book"]
    assert "balls" in aligned("aligner", TEXT.replace("本书", "个球")).words
    assert "ball" in " ".join(aligned("aligner", TEXT.replace("书", "球")).words)


def test_the_drawing_is_as_thick_as_the_weights(monkeypatch):
    drawing = (plot.files("pieces.book") / "drawings/attention_bottleneck.svg").read_text("utf-8")
    assert "".join(GROUPS) + "。" == TEXT
    found = re.findall(r'stroke="#8b51ad" stroke-width="([\d.]+)"', drawing)
    _, words, weights = aligned("aligner", TEXT)
    expected = []
    for word in ("teacher", "books"):
        shares = weights[words.index(word)].split([*map(len, GROUPS), 1])
        expected += [max(1.0, 9 * float(share.sum())) for share in shares[:-1]]
    assert [float(width) for width in found] == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("pair", range(10))
def test_each_score_is_its_formula(pair):
    i, j = divmod(pair, 5)
    generator = torch.Generator().manual_seed(3)
    q, k = torch.randn(2, 6, generator=generator), torch.randn(5, 6, generator=generator)
    additive, bilinear = scores.AdditiveScore(6, 6, hidden_dim=4), scores.BilinearScore(6, 6)
    W, U, v = additive.W.weight, additive.U.weight, additive.v.weight[0]
    by_hand = {
        scores.dot: k[j] @ q[i],
        scores.scaled_dot: k[j] @ q[i] / 6**0.5,
        additive: v @ torch.tanh(W @ k[j] + U @ q[i]),
        bilinear: k[j] @ bilinear.W.weight @ q[i],
    }
    for score, expected in by_hand.items():
        assert torch.allclose(score(q, k)[i, j], expected, atol=1e-6)


def test_who_stands_on_a_key():
    voices = ScoreFunctions()
    state = {name: getattr(voices, name) for name in ("seed", "n_keys", "keys_at")}
    wins = {}
    for name, (x, y) in zip(voices.names, voices.keys_at, strict=True):
        query, keys = vectors({**state, "query_x": x, "query_y": y}, 2)
        found = every_score(query[None], keys)
        wins[name] = {score: voices.names[int(raw[0].argmax())] for score, raw in found.items()}
    bilinear = {name: at["bilinear"] for name, at in wins.items()}
    assert bilinear == {"on foot": "on foot", "by bike": "by car", "by car": "by car"}
    assert all(name == at["dot"] == at["scaled dot"] for name, at in wins.items())


def test_the_additive_score_is_bounded_and_holds_one_vector_for_each_pair():
    score = scores.AdditiveScore(8, 8, hidden_dim=5)
    seen = []
    score.v.register_forward_pre_hook(lambda module, given: seen.append(given[0].shape))
    far = score(1e4 * torch.randn(3, 8), 1e4 * torch.randn(4, 8))
    assert tuple(seen[0]) == (3, 4, 5)
    assert far.abs().max() <= score.v.weight.abs().sum() + 1e-6
    pairs, alone = (4 * 1000 * 1000 * each / 2**20 for each in (32, 1))
    says(NAME, f"that is {pairs:.0f} MiB at once, where the scores themselves take {alone:.1f}.")


def test_projected_dot_products_are_a_bilinear_score():
    layer = SingleHeadAttention(12, head_dim=5)
    x, y = torch.randn(1, 1, 12), torch.randn(1, 7, 12)
    projected = scores.dot(layer.query(x), layer.key(y))
    W = layer.query.weight.T @ layer.key.weight
    assert torch.allclose(projected, x @ W @ y.mT, atol=1e-5)
    assert torch.linalg.matrix_rank(W) == layer.head_dim == 5


def test_medians_of_many_draws():
    dot, scaled = (many_draws(name, 6, 1.0)[1] for name in ("dot", "scaled dot"))
    assert dot.max() > 0.99
    assert (dot.diff() > -0.005).all()
    low, high = scaled.min(), scaled.max()
    says(NAME, f"it stays between {low:.1f} and {high:.1f}")
    assert math.sqrt(512) / 10 > 2
    says(
        NAME, f"a typical score is {math.sqrt(512):.1f}; even a temperature of 10 leaves it above 2"
    )


def test_the_derivatives_of_a_softmax():
    s = torch.randn(5).double()
    a = s.softmax(-1)
    by_formula = torch.diag(a * (1 - a)) + (torch.diag(a * a) - torch.outer(a, a))
    assert torch.allclose(
        torch.autograd.functional.jacobian(lambda x: x.softmax(-1), s), by_formula
    )
    assert torch.allclose(measures.jacobian_norm(a), by_formula.square().sum().sqrt())


def test_how_often_the_gradient_is_gone():
    measure = run(NAME, until="## Can a score learn?")["measure"]
    share = {}
    for score in (scores.dot, scores.scaled_dot):
        runs = torch.tensor([measure(score, 512, seed) for seed in range(5)])
        share[score] = runs[:, 2]
    without, with_root = share[scores.dot], share[scores.scaled_dot]
    assert with_root.max() == 0
    says(NAME, f"for {without.mean():.0f} ± {without.std():.0f} % of the queries without the root")
    says(NAME, f"was gone for {without.mean():.0f} % of the random queries; with it, for none")
    shown = figures.over_seeds(measure, sizes=(512,))
    assert table_of(shown, "q·k  ")[-1] == f"{without.mean():.0f} ± {without.std():.0f} %"


@pytest.mark.usefixtures("unchecked")
def test_what_the_scores_learned():
    runs = learned()
    unlearned = torch.cat([runs["dot, q 12"], runs["scaled dot, q 12"]])
    assert unlearned.mean() < 0.15
    assert unlearned.max() < 0.25
    for name, found in runs.items():
        known, new = found.unbind(1)
        if not name.startswith(("dot", "scaled")):
            assert known.min() > 0.98, name
            assert new.max() < 0.3 if "additive" in name else new.min() > 0.65, name
    new = runs["bilinear, q 12"][:, 1]
    spread = f"for {new.mean():.2f} of the new items ({new.min():.2f} to {new.max():.2f} over five"
    additive = runs["additive, q 12"][:, 1]
    says(NAME, spread, f"{additive.mean():.2f} of the new ones ({additive.min():.2f} to "
         f"{additive.max():.2f}), where chance is {1 / retrieval.LISTED}")  # fmt: skip


@pytest.mark.usefixtures("unchecked")
def test_other_rates_do_not_help_the_additive_score():
    """Seeds that chose nothing; the ends of the range and between."""
    found = retrieval.at_rates("additive", (0.002, 0.005, 0.01, 0.05, 0.1), seeds=(10, 11))
    says(NAME, "none of five other learning rates, from 0.002 to 0.1, brought its mean above 0.25")
    assert found.mean(1).max() < 0.25


def test_a_learned_score_meets_what_it_was_never_shown():
    """Known and new items are other vectors, and a list has its wanted item once."""
    generator = torch.Generator().manual_seed(0)
    turns = retrieval.rotation(generator), retrieval.rotation(generator)
    items = torch.randn(retrieval.ITEMS, retrieval.SIZE, generator=generator).double()
    q, k, place = retrieval.batch(items, 50, turns, generator)
    back = (q @ turns[0].T @ turns[1] - k).norm(dim=-1)
    assert torch.equal(back.argmin(-1), place)
    assert (back < 1e-6).sum() == 50


def test_tables_of_the_notes():
    shown = figures.unread_mask()
    assert table_of(shown, "as printed")[1:] == ["yes", "no"]
    assert table_of(shown, "the package")[1:] == ["yes", "yes"]
    grid = figures.self_or_cross()
    for name in figures.SCORES:
        assert table_of(grid, f"{name} ")[1:] == ["(2, 5, 5)", "(2, 5, 3)"]
    sums = figures.row_sums()
    assert table_of(sums, "weights")[1:] == ["1.00"] * 3
    assert table_of(sums, "the same, divided")[1:] == ["1.00"] * 3
    assert "1.00" not in table_of(sums, "scores")[1:]
    assert table_of(sums, "softmax, then mask")[1] != "1.00"


def test_the_wrong_root():
    says(NAME, rf"$\sqrt{{512/64}} \approx {math.sqrt(512 / 64):.1f}$")


def test_listings_4_1_and_4_4():
    output, weights = SingleHeadAttention(512)(torch.randn(32, 10, 512), return_weights=True)
    says(NAME, f"{tuple(output.shape)} for the output and {tuple(weights.shape)} for the weights")
    layer = SingleHeadAttention(6, head_dim=4)
    Wq, Wk, Wv = (part.weight.T for part in (layer.query, layer.key, layer.value))
    x = torch.randn(5, 6)
    by_hand = masked_softmax((x @ Wq) @ (x @ Wk).T / 4**0.5) @ (x @ Wv)
    assert torch.allclose(layer(x[None])[0], by_hand, atol=1e-6)

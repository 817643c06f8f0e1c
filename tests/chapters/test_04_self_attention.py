"""Chapter 4: its answers, and what its words say of rows, a trained head and shuffled tokens."""

import functools
import re

import pytest
import torch
from cells import run
from prose import says

from pieces import masks, scores
from pieces.attention import SingleHeadAttention, attention
from pieces.book.ask import question
from pieces.book.figures import owners
from pieces.book.figures import self_attention as figures
from pieces.measures import cosine
from pieces.trained import load
from pieces.widgets import AttentionSteps, PronounArcs

NAME = "04_self_attention"


def table_of_six():
    """The first widget's numbers: X, Wq, Wk, Wv."""
    steps = AttentionSteps()
    return [torch.tensor(each).double() for each in (steps.X, steps.Wq, steps.Wk, steps.Wv)]


def weights_of(X, Wq, Wk, mask=None):
    scaled = (X @ Wq) @ (X @ Wk).T / 3**0.5
    return (scaled if mask is None else scaled.masked_fill(~mask, -torch.inf)).softmax(-1)


def emptied(mask=None):
    X, Wq, Wk, _ = table_of_six()
    X[2] = 0
    return weights_of(X, Wq, Wk, mask)


def score(i, j):
    X, Wq, Wk, _ = table_of_six()
    return float((X[i - 1] @ Wq) @ (X[j - 1] @ Wk) / 3**0.5)


def runs_with(T):
    """Whether the bug of exercise 4.3 goes unnoticed with so many tokens."""
    try:
        figures.buggy_head(torch.randn(T, 3), *torch.randn(3, 3, 3), cured=False)
    except RuntimeError:
        return False
    return True


def moved_words():
    X, *W = table_of_six()
    order, causal = torch.tensor([0, 1, 2, 3, 5, 4]), masks.causal(6)
    first, second = (
        attention(*((x @ w)[None, None] for w in W), mask=causal)[0][0, 0] for x in (X, X[order])
    )
    return int(((second - first[order]).abs().amax(-1) > 1e-4).sum())


@functools.cache
def disagreements():
    return figures.all_disagreements((2, 4, 16, 64, 256, 1024))


ANSWERS = {
    "4.a": lambda: round(100 * disagreements()[-1, :, 1].mean().item()),
    "4.1": lambda: emptied()[2, 0],
    "4.2": lambda: score(4, 6),
    "4.3": lambda: next(T for T in range(1, 9) if runs_with(T)),
    "4.5": moved_words,
}


def test_slips_are_what_they_say():
    slips = {name: [number for number, _ in question(name)["slips"]] for name in ANSWERS}
    assert slips["4.2"] == pytest.approx([score(4, 6) * 3**0.5, score(4, 6) / 3**0.5, score(6, 4)])
    X, Wq, Wk, _ = table_of_six()
    causal, before = emptied(masks.causal(6))[2, 0], weights_of(X, Wq, Wk)[2, 0]
    told = [0, float(causal), float(before), float(emptied()[0, 2])]
    assert slips["4.1"] == pytest.approx(told)
    plain, uneven = (100 * share for share in disagreements()[-1].mean(0).tolist())
    assert slips["4.a"][:2] == [pytest.approx(uneven / 100, abs=0.005), round(plain)]
    assert [T for T in range(1, 9) if runs_with(T)] == [3]


def test_the_numbers_in_a_question():
    X, Wq, Wk, _ = table_of_six()
    q, k = (X[3] @ Wq).tolist(), (X[5] @ Wk).tolist()
    told = question("4.2")
    for vector in (q, k):
        assert f"[{', '.join(f'{number:.4f}' for number in vector)}]" in told["question"]
    products = [a * b for a, b in zip(q, k, strict=True)]
    assert f"({' + '.join(f'{number:.4f}' for number in products)}) / 1.732" in told["why"]
    assert f"{q[0]:.4f} · {k[0]:.4f}" in told["hint"]


@pytest.fixture(scope="module")
def cells():
    return run(NAME, until="## A dictionary that answers softly")


def test_token_2_listens_most_to_token_3(cells):
    assert torch.allclose(cells["q_2"], torch.tensor([0.9990, 0.8667, 0.5560]), atol=1e-4)
    keys = cells["X"] @ cells["Wk"]
    assert cells["weights"].argmax() == 2
    assert keys.norm(dim=1).argmax() == cosine(cells["q_2"][None], keys).argmax() == 2
    assert cells["weights"].min() > 0.1


def test_each_row_alone_gives_the_rows_of_the_product(cells):
    Q, K, V = cells["Q"], cells["K"], cells["V"]
    assert torch.allclose(cells["output"][1], cells["o_2"], atol=1e-6)
    for i in (3, 0, 5, 2, 4, 1):
        alone = (K @ Q[i] / 3**0.5).softmax(0) @ V
        assert torch.allclose(alone, cells["output"][i], atol=1e-6)


def test_the_equation_is_the_package(cells):
    Q, K, V = cells["Q"], cells["K"], cells["V"]
    output, weights = attention(Q[None, None], K[None, None], V[None, None])
    assert torch.allclose(output[0, 0], cells["output"], atol=1e-6)
    assert torch.allclose(weights[0, 0], cells["A"], atol=1e-6)
    layer = SingleHeadAttention(d_model=3)
    with torch.no_grad():
        for linear, W in ((layer.query, "Wq"), (layer.key, "Wk"), (layer.value, "Wv")):
            linear.weight.copy_(cells[W].T)
    assert torch.allclose(layer(cells["X"][None])[0], cells["output"], atol=1e-6)


def test_one_line_for_a_batch():
    Q, K = torch.randn(2, 4, 6, 5)
    d_k = 5
    says(NAME, "`torch.bmm(Q, K.transpose(1, 2)) / d_k**0.5`")
    by_bmm = torch.bmm(Q, K.transpose(1, 2)) / d_k**0.5
    assert torch.allclose(by_bmm, scores.scaled_dot(Q, K), atol=1e-6)
    assert torch.allclose(by_bmm[2], Q[2] @ K[2].T / d_k**0.5, atol=1e-6)


def test_the_same_layer_does_self_and_cross(cells):
    layer = SingleHeadAttention(d_model=3)
    output, weights = layer(cells["X"][None], context=torch.randn(1, 7, 3), return_weights=True)
    assert output.shape == (1, 6, 3)
    assert weights.shape == (1, 6, 7)


def test_one_matrix_is_symmetric_and_two_are_not(cells):
    X, S = cells["X"], cells["S"]
    assert torch.equal(X @ X.T, (X @ X.T).T)
    assert not torch.allclose(S, S.T, atol=1e-3)


def test_how_many_weights_round_to_0():
    """The draws of chapter 3's experiment, in which a weight of 0 is no weight of 0 on paper."""
    zeros = []
    for seed in range(5):
        generator = torch.Generator().manual_seed(1000 * seed + 512)
        q = torch.randn(400, 1, 512, generator=generator)
        k = torch.randn(400, 10, 512, generator=generator)
        zeros.append((scores.dot(q, k).softmax(-1) == 0).float().mean())
        assert (scores.dot(q.double(), k.double()).softmax(-1) > 0).all()
    says(
        NAME,
        f"as {100 * torch.stack(zeros).mean():.1f} % of the weights do if the draws of chapter 3",
    )


def test_how_far_the_model_is_from_the_best():
    record = load(owners.NAME).record
    distance = record["loss"] - record["floor"]
    nats = "[nats](appendix/glossary.md#nat)"
    says(NAME, f"has a loss {distance:.3f} {nats} a word above that of the true probabilities")
    assert 480 <= load(owners.NAME).task.vocab_size <= 520


@pytest.fixture(scope="module")
def head():
    return owners.telling_head(owners.PAIRS[:2])


def test_whose_car_is_your_car(head):
    layer, number = head
    shown = owners.PAIRS[:1]
    text, his, own = owners.stories(shown, "your")[0]
    assert PronounArcs().text == text
    assert (his, own) == ("blue car", "red ball")
    your, my = (owners.looks(word, shown)[0, layer - 1, number - 1] for word in ("your", "my"))
    says(NAME, f"{your[0]:.2f} lies on *blue*, the colour of his car")
    says(NAME, f"When she says *my*, {my[1]:.2f} of the weight lies on *red*")
    task = load(owners.NAME).task
    truth = task.true_next(task.encode(text)[None])[0, -1, task.ids["blue"]]
    guess = owners.guesses("your", shown)[0]
    says(NAME, f"with a probability of {guess:.4f}, where the truth is {truth:g}")


def test_nobody_asks_to_play_with_my():
    task = load(owners.NAME).task
    your, my = (task.encode(owners.stories(owners.PAIRS, word)[0][0]) for word in ("your", "my"))
    assert task.first_impossible(your) is None
    assert task.first_impossible(my) == len(my) - 1


def test_the_head_reads_other_stories_as_well(head):
    layer, number = head
    assert not set(owners.PAIRS[:2]) & set(owners.PAIRS[2:])
    seen = [
        owners.looks(word, owners.PAIRS[2:])[:, layer - 1, number - 1, at]
        for at, word in enumerate(("your", "my"))
    ]
    readings = torch.cat(seen)
    assert readings.min() > 0.99
    says(NAME, f"In each of the {len(readings)} readings", "more than 0.99 of the weight")
    assert len(re.findall("1.00", repr(owners.at_whose(layer, number)))) == 2


def test_no_other_head_tells_them_apart_better(head):
    layer, number = head
    your, my = (owners.looks(word, owners.PAIRS[:2]) for word in ("your", "my"))
    apart = (your[..., 0] - your[..., 1] + my[..., 1] - my[..., 0]).mean(0)
    assert apart.max() == apart[layer - 1, number - 1] > 1


def test_a_soft_look_up_in_three_entries():
    rows = {row[0]: row[1:] for row in run(NAME, until="## Shuffle the tokens")["rows"]}
    cat, dog, car, kilograms, _ = rows["10"]
    assert [round(share, 2) for share in (cat, dog, car)] == [0.86, 0.14, 0.0]
    assert round(kilograms, 1) == 6.3
    pulls = [row[-1] for row in rows.values()]
    assert pulls == sorted(pulls, reverse=True)
    assert pulls[-1] < 0.01


@pytest.mark.parametrize(("T", "d_model"), [(2, 4), (6, 3), (17, 16), (64, 32)])
@pytest.mark.parametrize("seed", range(5))
@torch.no_grad()
def test_equivariance(T, d_model, seed):
    """Without a mask outputs move along and their mean stays; under a causal one neither holds."""
    torch.manual_seed(seed)
    head, x = SingleHeadAttention(d_model).double(), torch.randn(1, T, d_model).double()
    order = torch.randperm(T).roll(1) if T > 2 else torch.tensor([1, 0])
    causal = masks.causal(T)
    plain, masked = head(x), head(x, mask=causal)
    shuffled = head(x[:, order])
    assert torch.allclose(shuffled, plain[:, order], atol=1e-12)
    assert torch.allclose(shuffled.mean(1), plain.mean(1), atol=1e-12)
    late = head(x[:, order], mask=causal)
    both = head(x[:, order], mask=causal[order][:, order])
    assert torch.allclose(both, masked[:, order], atol=1e-12)
    if not torch.equal(order, torch.arange(T)):
        assert (late - masked[:, order]).abs().max() > 1e-2
        assert (late.mean(1) - masked.mean(1)).abs().max() > 1e-4


def test_the_shuffled_cell_shows_both(capsys):
    run(NAME, until="## Likeness, or length?")
    free, causal = re.findall(r"differ by up to ([\d.]+)", capsys.readouterr().out)
    assert float(free) == 0
    assert float(causal) > 0.1


def test_likeness_and_length():
    a, b = torch.tensor([1.0, 0.0]), torch.tensor([10.0, 10.0])
    assert a @ b == 10
    assert a @ a == 1
    found = disagreements()
    plain, uneven = found.unbind(-1)
    assert (plain.mean(1).diff() < 0).all()
    says(NAME, f"in {100 * uneven[-1].mean():.0f} % of the draws at 1,024 numbers")
    assert (found.amax(1) - found.amin(1)).max() < 0.05


def test_the_notes():
    says(NAME, f"is a factor of {3**-0.5:.3f}")
    assert 400**-0.5 == 0.05
    X, Wq, Wk, _ = table_of_six()
    A = weights_of(X, Wq, Wk)
    rows = [line.split()[1:] for line in repr(figures.sums(A)).splitlines()[-2:]]
    assert set(rows[0]) == {"1.00"}
    assert "1.00" not in rows[1]
    squeezed = repr(figures.two_factors(X @ Wq, X @ Wk)).splitlines()[-1].split()[1:]
    assert set(squeezed) == {"0.16", "0.17"}


def test_rows_meet_rows():
    A, B = torch.tensor([[1, 2], [3, 4]]), torch.tensor([[5, 6], [7, 8]])
    by_rows = torch.tensor([[int(row @ other) for other in B] for row in A])
    assert torch.equal(by_rows, A @ B.T)
    assert not torch.equal(by_rows, A @ B)


def test_listing_4_4():
    """S0's layer with bare parameters, for one sentence and for a batch."""
    head, batch = SingleHeadAttention(d_model=5, head_dim=2), torch.randn(4, 6, 5)
    Wq, Wk, Wv = (part.weight.T for part in (head.query, head.key, head.value))
    for x, ours in ((batch, head(batch)), (batch[0], head(batch)[0])):
        q, k, v = x @ Wq, x @ Wk, x @ Wv
        listing = torch.softmax(q @ k.transpose(-2, -1) / k.size(-1) ** 0.5, dim=-1) @ v
        assert torch.allclose(listing, ours, atol=1e-6)

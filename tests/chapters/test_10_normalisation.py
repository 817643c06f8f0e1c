"""Chapter 10: what it says of norms is so, and its questions' answers are computed."""

import math

import pytest
import torch
from cells import run
from prose import says
from torch import nn
from torch.profiler import profile

from pieces.book import measured
from pieces.book.ask import question
from pieces.book.figures import normalisation as figures
from pieces.book.figures import normalisation_batch as batches
from pieces.norms import BatchNorm, LayerNorm, RMSNorm, layer_norm, rms, rms_norm
from pieces.trained import load

NAME = "10_normalisation"
X = torch.tensor([[1.0, 2, 3], [4, 5, 6]], dtype=torch.float64)
FOUND = torch.tensor([1.0, 0, -2, 5], dtype=torch.float64)  # "found", in the widget's first table


@pytest.fixture(scope="module")
def stream():
    return figures.stream()


@pytest.fixture(scope="module")
def shown():
    """What the chapter's open cells define, those of its notes among them."""
    return run(NAME, until="the end")


def moved_by_the_drag() -> int:
    """Exercise 10.2: 1 becomes 5, under RMSNorm."""
    dragged = FOUND.clone()
    dragged[0] = 5
    return int(((rms_norm(dragged) - rms_norm(FOUND)).abs() > 1e-3).sum())


def copied(x: torch.Tensor) -> torch.Tensor:
    """Exercise 10.3, the bug."""
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-9)


def loudest(norm) -> float:
    """Exercise 10.5: one feature of ten, a million times as large as the others."""
    loud = torch.zeros(10, dtype=torch.float64)
    loud[3] = 1e6
    return norm(loud, eps=0.0).max().item()


ANSWERS = {
    "10.a": lambda: round(batches.disturbance(figures.batch_norm, figures.stream(), 2), 2),
    "10.1": lambda: layer_norm(torch.tensor([105.0, 110, 115]).double(), 0.0)[2],
    "10.2": moved_by_the_drag,
    "10.3": lambda: rms(copied(torch.tensor([1.0, -2, 0.5, 3]).double())),
    "10.5": lambda: loudest(layer_norm),
}


def test_the_slips_are_what_their_mistakes_give():
    far = torch.tensor([105.0, 110, 115], dtype=torch.float64)
    slips = [number for number, _ in question("10.1")["slips"]]
    assert slips == pytest.approx(
        [5 * math.sqrt(1.5), copied(far)[2].item(), rms_norm(far)[2].item()], abs=1e-7
    )
    slips = [number for number, _ in question("10.3")["slips"]]
    assert slips[1:] == pytest.approx([3 / 4, math.sqrt(4 / 3)])
    assert question("10.5")["slips"][0][0] == pytest.approx(loudest(rms_norm))
    assert question("10.5")["slips"][-1][0] == pytest.approx(9 / math.sqrt(10))


def test_the_hand_example_of_batch_norm():
    mean, variance = X.mean(0), X.var(0, correction=0)
    assert mean.tolist() == [2.5, 3.5, 4.5]
    assert variance.tolist() == [2.25] * 3
    by_hand = (X - mean) / variance.sqrt()
    assert by_hand.tolist() == [[-1.0] * 3, [1.0] * 3]
    for layer in (BatchNorm(3, eps=1e-12), nn.BatchNorm1d(3, eps=1e-12)):
        torch.testing.assert_close(layer.double()(X), by_hand)
    says(NAME, f"has the variance {variance[0]:.2f}")


def test_batch_norm_refuses_no_epsilon_and_one_token(unchecked):
    with pytest.raises(ValueError, match="one token has no variance"):
        BatchNorm(96)(torch.randn(1, 1, 96))
    refused = [(nn.BatchNorm1d(3), X[:1])]
    if tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 10):
        refused.append((nn.BatchNorm1d(3, eps=0.0), X))
    for layer, x in refused:
        with pytest.raises(ValueError, match=r"eps must be positive|more than 1 value"):
            layer(x.float())


def in_loops(x, gain, shift, eps):
    """Equations (5.12) and (5.13), token by token."""
    out = []
    for token in x.tolist():
        mu = sum(token) / len(token)
        size = math.sqrt(sum((a - mu) ** 2 for a in token) / len(token) + eps)
        out.append([g * (a - mu) / size + b for a, g, b in zip(token, gain, shift, strict=True)])
    return torch.tensor(out, dtype=torch.float64)


def test_layer_norm_is_its_equation():
    x, gain, shift = torch.randn(3, 7).double(), torch.randn(7).double(), torch.randn(7).double()
    right = in_loops(x, gain.tolist(), shift.tolist(), 1e-5)
    for layer in (LayerNorm(7).double(), nn.LayerNorm(7).double()):
        layer.load_state_dict({"weight": gain, "bias": shift})
        torch.testing.assert_close(layer(x), right)
    torch.testing.assert_close(gain * layer_norm(x) + shift, right)


def test_a_gain_moves_a_column_under_every_norm():
    x = torch.randn(5, 4)
    for layer in (BatchNorm(4), LayerNorm(4), RMSNorm(4)):
        before = layer(x)
        layer.weight.data[2] = 3.0
        moved = (layer(x) - before).abs() > 1e-6
        assert moved[:, 2].all()
        assert moved.sum() == 5


def test_the_shape_stays(stream):
    tokens = stream[:4].flatten(0, 1)
    leans = figures.skewness(tokens)
    torch.testing.assert_close(figures.skewness(layer_norm(tokens)), leans)
    assert leans.abs().median() < leans.max() / 2  # most would show less of it
    says(NAME, f"out of {len(tokens)}")


def test_how_far_the_stories_model_is_from_perfect():
    record = load("stories_llama").record
    says(NAME, f"{record.loss - record.floor:.3f} nats above that of the true")


def test_what_the_row_norms_do_not_notice():
    tokens = torch.randn(4, 6).double() + 0.5
    for scale in (0.01, 0.5, 7.0, 1000.0):
        for added in (-50.0, 0.0, 0.3, 20.0):
            other = scale * tokens + added
            torch.testing.assert_close(layer_norm(other, 0.0), layer_norm(tokens, 0.0))
            same = torch.isclose(rms_norm(other, 0.0), rms_norm(tokens, 0.0)).all(-1)
            assert same.all() if added == 0 else not same.any()
    for norm in (layer_norm, rms_norm):  # a negative factor is noticed
        torch.testing.assert_close(norm(-2 * tokens, 0.0), -norm(tokens, 0.0))


def test_what_the_table_counts(shown):
    drawn = torch.randn(4, 6, generator=torch.Generator().manual_seed(1)).double() + 0.5
    cells = figures.notices(shown["changes"], drawn).cells
    assert [row[1:] for row in cells] == [list("400"), list("401"), list("411"), list("411")]


def test_the_two_are_the_same_where_the_mean_is_0(stream):
    centred = stream[0] - stream[0].mean(-1, keepdim=True)
    torch.testing.assert_close(rms_norm(centred, 1e-5), layer_norm(stream[0], 1e-5))
    share = stream.mean(-1).abs() / rms(stream)[..., 0]
    below = (share < 0.2).double().mean()
    says(NAME, f"{share.mean():.2f} of its RMS on average, and below 0.2 for {below * 100:.0f} %")


def test_the_runs_of_chapter_15_do_not_tell_the_norms_apart():
    runs = measured.record_of("llama_switches")
    found = {
        name: {
            run["seed"]: run["above_floor"]
            for run in runs["runs"]
            if run["model"] == name and run["seed"] not in runs["rates_seeds"]
        }
        for name in ("recommended", "LayerNorm")
    }
    pairs = [found["recommended"][s] - found["LayerNorm"][s] for s in found["LayerNorm"]]
    apart = torch.tensor(pairs)
    assert len(apart) >= 3
    assert apart.mean().abs() < apart.std() / math.sqrt(len(apart))
    assert apart.min() < 0 < apart.max()


def test_the_times_told_are_those_recorded():
    timed = measured.record_of("norm_speed")
    row = next(one for one in timed["norms"] if (one["T"], one["D"]) == (256, 512))
    written, fused, training = (
        {name: f"{number:.2f}" for name, number in row[kind].items()}
        for kind in ("written", "fused", "training")
    )
    block = timed["block"]
    says(
        NAME,
        f"takes {written['median']} of LayerNorm's time "
        f"(quartiles {written['low']} and {written['high']})",
        f"{fused['median']} times as long ({fused['low']} to {fused['high']})",
        f"In training, forward and backward, it takes {training['median']} times as long there "
        f"({training['low']} to {training['high']})",
        "The two LayerNorms of a block take "
        f"{block['norms_of_block']['median'] * 100:.1f} % of its time",
        f"takes {block['rms_block']['median']:.2f} times as long as one with LayerNorm",
    )


def test_on_a_processor_layer_norm_is_one_kernel_and_rms_norm_a_chain():
    names = []
    for layer in (nn.LayerNorm(64), nn.RMSNorm(64)):
        with torch.no_grad(), profile() as seen:
            layer(torch.randn(8, 64))
        names.append({event.name for event in seen.events()})
    one, chain = names
    assert "aten::native_layer_norm" in one
    assert {"aten::pow", "aten::mean", "aten::rsqrt", "aten::mul"} <= chain
    assert not {"aten::mean", "aten::rsqrt", "aten::mul"} & one


def test_squares_in_sixteen_bits(shown):
    assert torch.finfo(torch.float16).max == 65_504
    assert torch.tensor(256.0).half().square().isinf()
    assert not torch.tensor(255.875).half().square().isinf()  # the number before it
    ones = torch.tensor(0.0).bfloat16()
    for _ in range(300):
        ones = ones + 1
    assert ones == 256
    cells = figures.squared_narrowly(shown["narrowly"]).cells
    narrow = {(row[0], row[1]): float(row[2]) for row in cells}
    assert narrow["30", "float16"] == narrow["1,000", "float16"] == 0
    assert min(value for (_, kind), value in narrow.items() if kind == "bfloat16") > 1.2
    assert {row[3] for row in cells} == {"1.00"}


def test_pytorch_widens_inside():
    x = (torch.randn(4, 2048).clamp(-3, 3) * 1000).half()
    assert rms(nn.LayerNorm(2048).half()(x).double()).mean().item() == pytest.approx(1, abs=0.01)
    assert RMSNorm(2048).half()(x).isfinite().all()


def test_what_neighbours_do_to_a_story(stream):
    sizes = (2, 4, 8, 16, 32)
    by_batch = [batches.disturbance(figures.batch_norm, stream, texts) for texts in sizes]
    one_word = [
        batches.disturbance(figures.batch_norm, stream, texts, slice(40, 41)) for texts in sizes
    ]
    assert not any(batches.disturbance(layer_norm, stream, texts) for texts in sizes)
    assert by_batch == sorted(by_batch, reverse=True)
    assert all(a > 3 * b for a, b in zip(one_word, by_batch, strict=True))
    says(NAME, f"{by_batch[0]:.2f} beside one neighbour and {by_batch[-1]:.2f} beside thirty-one")
    two = figures.batch_norm(torch.tensor([[3.0], [7.5]]).double(), eps=1e-12)
    torch.testing.assert_close(two, torch.tensor([[-1.0], [1.0]]).double())


def test_what_else_reaches_a_word(stream):
    batch = torch.stack((stream[0], stream[1]))
    padded, later = batch.clone(), batch.clone()
    padded[1, 32:] = 0
    later[0, 32:] = stream[2, 32:]
    for _, by_batch, by_layer in batches.reached(batch, {"padded": padded, "later": later}).cells:
        assert float(by_batch) > 0.05
        assert float(by_layer) == 0
    says(NAME, f"numbers that are on average {batches.running(stream):.2f} away")


def test_ten_features_cannot_be_louder():
    drawn = torch.randn(20_000, 10, generator=torch.Generator().manual_seed(0)).double() ** 5
    assert layer_norm(drawn, eps=0.0).max() <= loudest(layer_norm) + 1e-9


def test_e20_the_printed_formula_is_batch_norm():
    printed = (X - X.mean(0)) / ((X - X.mean(0)).square().mean(0) + 1e-5).sqrt()
    torch.testing.assert_close(printed, nn.BatchNorm1d(3).double()(X))
    assert not torch.allclose(printed, nn.LayerNorm(3).double()(X), atol=0.1)


def test_e21_the_other_deviation(shown):
    s1_norm = shown["s1_norm"]
    for size in (2, 4, 16, 512):
        x = torch.randn(64, size).double()
        ratio = s1_norm(x, 0.0) / layer_norm(x, 0.0)
        assert ratio.mean().item() == pytest.approx(math.sqrt((size - 1) / size))
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert s1_norm(torch.ones(1, 1)).isnan().all()
    small = 1e-3 * torch.randn(64, 512).double()
    assert rms(s1_norm(small)).median() > 1.3 * rms(layer_norm(small, 1e-6)).median()


def test_e65_one_mean_for_the_whole_text_lets_later_words_in(shown):
    whole = shown["whole"]
    changed = X.clone()
    changed[1] += 3
    assert (whole(X)[0] - whole(changed)[0]).abs().max() > 0.1
    assert torch.equal(layer_norm(X)[0], layer_norm(changed)[0])


def test_e66_and_e67_the_root_mean_square():
    x = torch.tensor([1.0, 2, 3])
    assert rms(x).item() == pytest.approx(math.sqrt(14 / 3))
    assert rms(x.sum()[None]).item() == 6
    shifted = torch.randn(10_000).double() + 5
    assert shifted.square().mean() > 20 * shifted.var()

"""Chapter 8: what it says of units, bends and gates is so, and its answers are computed."""

import itertools
import math
import re
import statistics

import pytest
import torch
import torch.nn.functional as F
from cells import run
from prose import says
from torch import nn

from pieces.attention import MultiHeadAttention
from pieces.book import measured
from pieces.book.ask import question
from pieces.book.figures import bends
from pieces.book.figures import feed_forward as figures
from pieces.feedforward import (
    FeedForward,
    GatedFeedForward,
    gelu,
    gelu_tanh,
    relu,
    swish,
    two_thirds,
)
from pieces.trained import load
from pieces.widgets.hidden_units import TEXT

NAME = "08_feed_forward"
SHY = "Once upon a time there was a shy"
G, U = torch.tensor([-3.0, -2.0], dtype=torch.float64)


@pytest.fixture(scope="module")
def shown():
    """What the chapter's open cells define, those of its notes among them."""
    return run(NAME, until="the end")


def crossing(behind) -> float:
    """Where unit 3.147 is held when `red` falls behind, by halving."""
    low, high = 0.0, 100.0
    for _ in range(20):
        value = (low + high) / 2
        p = figures.read_holding(TEXT, {"3.147": value})[1]
        low, high = (low, value) if behind(p) else (value, high)
    return low


def silent_of_500() -> int:
    """Question 8.a, by the chapter's own code."""
    return run(NAME)["still"]


def smallest_identity() -> int:
    """Exercise 8.5: a layer that does nothing, with this many units; with fewer none does."""
    eye = torch.eye(4, dtype=torch.float64)
    up, down = torch.cat((eye, -eye), dim=1), torch.cat((eye, -eye))
    x = torch.randn(100, 4, dtype=torch.float64)
    assert torch.equal(relu(x @ up) @ down, x)
    return up.shape[1]


ANSWERS = {
    "8.a": silent_of_500,
    "8.b": lambda: sum(gap < 0 for gap in bends.gaps("GELU")),
    "8.1": lambda: gelu(torch.tensor(-1.0, dtype=torch.float64)),
    "8.2": lambda: round(crossing(lambda p: max(p, key=p.get) != "red")),
    "8.3": lambda: F.silu(G) * U,
    "8.5": smallest_identity,
}


def test_the_slips_are_what_their_mistakes_give():
    wrong = [F.silu(G * U), G * F.silu(U), F.silu(G), torch.sigmoid(G) * U, -F.silu(G) * U, G * U]
    slips = [number for number, _ in question("8.3")["slips"]]
    assert slips == pytest.approx([value.item() for value in wrong])
    both = crossing(lambda p: p["boy"] + p["girl"] > p["red"])
    assert question("8.2")["slips"][0][0] == pytest.approx(both, abs=0.1)
    assert question("8.2")["slips"][2][0] == pytest.approx(unit(SHY), abs=1)
    six_or_more = sum(math.comb(8, heads) for heads in (6, 7, 8)) / 2**8
    assert f"in {100 * six_or_more:.0f} % of the cases" in question("8.b")["slips"][1][1]
    one = torch.tensor(1.0, dtype=torch.float64)
    phi = torch.distributions.Normal(0.0, 1.0).cdf(one)
    wrong = [1 - phi, -phi, 0, swish(-one)]
    slips = [number for number, _ in question("8.1")["slips"]]
    assert slips == pytest.approx([float(value) for value in wrong], abs=0.005)


def unit(text: str) -> float:
    """Unit 3.147 at the last word of a text."""
    return figures.read_holding(text)[0][3][146].item()


def test_what_the_first_picture_shows():
    shipped = load("stories_llama")
    blocks = shipped.model.stack.blocks
    assert sum(block.feed_forward.up.out_features for block in blocks) == 768
    by_itself, held = (figures.read_holding(TEXT, at)[1] for at in ({}, {"3.147": 90}))
    assert max(by_itself, key=by_itself.get) == "red"
    assert {word for word, _ in sorted(held.items(), key=lambda pair: -pair[1])[:2]} == {
        "boy",
        "girl",
    }
    says(NAME, f"*red* falls from {by_itself['red']:.2f} to {held['red']:.2f}")
    says(
        NAME,
        f"within {shipped.record.loss - shipped.record.floor:.3f} nats of the loss of the true",
    )
    p = shipped.task.true_next(shipped.task.encode(TEXT)[None])[0, -1]
    true = {word: p[shipped.task.ids[word]] for word in ("red", "ball")}
    assert sum(true.values()) == pytest.approx(1)
    says(NAME, f"with probability {true['red']:.2f} here, and *ball* with {true['ball']:.2f}")


def test_the_unit_is_open_at_shy_and_nearly_shut_elsewhere():
    task = load("stories_llama").task
    words = task.cut(TEXT)
    at = [unit(task.join(words[: end + 1])) for end in range(len(words))]
    shy = words.index("shy")
    assert at[shy] > 180
    assert max(abs(value) for place, value in enumerate(at) if place != shy) < at[shy] / 8


def test_shut_at_shy_almost_nothing_happens():
    for held in ({"3.147": 0}, {"3.147": 0, "2.145": 0}):
        p = figures.read_holding(SHY, held)[1]
        assert p["boy"] + p["girl"] > 0.985
    says(NAME, f"*boy* or *girl* still get {p['boy'] + p['girl']:.2f}")


def test_the_two_units_push_the_same_way():
    units = measured.record_of("hidden_units")["units"]
    opened = [{token for token, _ in units[name]["words"]} for name in ("3.147", "2.145")]
    assert len(opened[0] & opened[1]) >= 4
    p = figures.read_holding(TEXT, {"2.145": 50})[1]
    assert p["boy"] + p["girl"] > 0.9


def test_the_unit_of_the_first_picture_is_the_one_the_rule_picks():
    units = measured.record_of("hidden_units")["units"]
    assert len(units) == 768
    fits = [name for name, u in units.items() if u["family"] >= 8 and u["followed"] >= 0.95]
    assert max(fits, key=lambda name: units[name]["held"]) == "3.147"


def test_the_word_is_only_half_of_what_opens_it():
    assert unit(SHY.replace("shy", "quiet")) > 100
    assert abs(unit("In a quiet")) < 10
    p = figures.read_holding("In a quiet")[1]
    assert max(p, key=p.get) == "street"


def test_the_layer_is_its_equation_and_works_on_each_word_alone():
    layer = FeedForward(512, 2048, dropout=nn.Dropout(0.1)).double().requires_grad_(False).eval()
    x = torch.randn(2, 10, 512).double()
    z = x @ layer.up.weight.T + layer.up.bias
    by_hand = z.clamp(min=0) @ layer.down.weight.T + layer.down.bias
    torch.testing.assert_close(layer(x), by_hand)
    nudged = x.clone()
    nudged[0, 3] += 1
    assert (layer(nudged) != layer(x)).any(-1).nonzero().tolist() == [[0, 3]]


def test_without_a_bend_one_matrix_and_a_bend_at_the_end_lets_nothing_below_0(shown):
    up, down = (shown[name].double() for name in ("up", "down"))
    x = torch.randn(100, 8).double()
    torch.testing.assert_close((x @ up) @ down, x @ (up @ down))
    assert shown["in_the_middle"].min() < -1
    assert shown["at_the_end"].min() == 0


def test_the_layer_is_the_sum_of_what_its_units_write(shown):
    torch.testing.assert_close(shown["total"], shown["in_the_middle"], rtol=1e-4, atol=1e-3)


def test_bends_are_a_number_times_its_switch():
    x = torch.linspace(-6, 6, 2401, dtype=torch.float64)
    Phi = torch.distributions.Normal(0.0, 1.0).cdf(x)
    torch.testing.assert_close(gelu(x), x * Phi)
    torch.testing.assert_close(gelu(x), F.gelu(x))
    torch.testing.assert_close(swish(x), x * torch.sigmoid(x))
    assert (gelu_tanh(x) - gelu(x)).abs().max() < 5e-4
    assert (swish(x, 50.0) - relu(x)).abs().max() < 0.01
    assert torch.equal(swish(x, 0.0), x / 2)


def test_the_times_told_are_those_recorded():
    timed = measured.record_of("bend_speed")
    alone, layer = (
        {name: one["median"] for name, one in timed[part].items()} for part in ("alone", "layer")
    )
    gates = {
        name: (f"{one['median']:.2f} times", f"{one['low']:.2f} and {one['high']:.2f}")
        for name, one in timed["layer"].items()
    }
    size = f"with {timed['T']} words and $D = {timed['D']}$"
    says(
        NAME,
        f"PyTorch's own GELU takes {alone['GELU']:.1f} times as long as ReLU for the same numbers",
        f"Written out as above, it takes {alone['GELU as written']:.1f} times as long",
        f"{size}, a whole layer with PyTorch's GELU takes {layer['GELU']:.2f} times as long as one "
        "with ReLU",
        f"{size}, SwiGLU takes {gates['SwiGLU'][0]} as long as the ReLU layer of its size "
        f"(quartiles {gates['SwiGLU'][1]}), and GeGLU {gates['GeGLU'][0]} ({gates['GeGLU'][1]})",
    )


def test_the_table_of_times_has_the_spreads():
    timed = measured.record_of("bend_speed")
    cells = figures.times().cells
    assert [row[0] for row in cells] == ["Swish", "GELU", "GELU as written", "GELU by tanh"]
    for name, *told in cells:
        for part, words, digits in zip(("alone", "layer"), told, (1, 2), strict=True):
            numbers = [float(x) for x in re.findall(r"[\d.]+", words)]
            wanted = [round(timed[part][name][of], digits) for of in ("median", "low", "high")]
            assert numbers == wanted


def test_a_dropout_left_out_does_nothing_and_one_given_stops_after_training():
    torch.manual_seed(0)
    for layer in (FeedForward(8, 32), GatedFeedForward(8, 32)):
        assert isinstance(layer.dropout, torch.nn.Identity)
    dropped = FeedForward(8, 256, dropout=torch.nn.Dropout(0.5))
    words = torch.randn(4, 8)
    assert not torch.equal(dropped(words), dropped(words))
    dropped.eval()
    plain = FeedForward(8, 256)
    plain.load_state_dict(dropped.state_dict())
    torch.testing.assert_close(dropped(words), plain(words))


def test_zero_for_one_word_is_not_dead():
    layer, words = run(NAME)["layer"], run(NAME)["words"]
    zero = int((layer.up(words[:1]) <= 0).sum())
    always = (layer.up(words) <= 0).all(dim=0)
    assert always.sum() == 5
    layer.zero_grad()
    layer.down(layer.up(words).relu()).square().sum().backward()
    assert torch.equal((layer.up.weight.grad == 0).all(dim=1), always)
    assert zero == question("8.a")["slips"][0][0]
    assert f"{zero} of the units are 0" in question("8.a")["question"]


def test_the_trained_relu_networks_have_no_dead_unit():
    runs = [run for run in measured.record_of("activations")["seeds"] if run["network"] == "ReLU"]
    assert all(0.65 < run["zero_at_a_word"] < 0.85 for run in runs)
    assert max(run["dead"] for run in runs) == 0


def test_the_layer_of_the_stories_model_is_swiglu():
    layer = load("stories_llama").model.stack.blocks[2].feed_forward
    x = torch.randn(5, 96)
    with torch.no_grad():
        g, u = x @ layer.gate.weight.T, x @ layer.up.weight.T
        by_hand = (g * torch.sigmoid(g) * u) @ layer.down.weight.T
        torch.testing.assert_close(layer(x), by_hand, rtol=1e-4, atol=1e-3)
    assert layer.gate.bias is None


def test_the_widths_of_llama_7b():
    full = 4 * 4096
    with torch.device("meta"):
        two, three = FeedForward(4096, full, bias=False), GatedFeedForward(4096, full)
    sizes = [sum(p.numel() for p in layer.parameters()) for layer in (two, three)]
    assert sizes[1] == 1.5 * sizes[0]
    says(NAME, f"two thirds of {full:,} are {2 * full / 3:,.1f}", f"to {two_thirds(full, 256):,}")


def test_the_comparison_is_fair():
    record = measured.record_of("activations")
    runs = record["seeds"]
    assert len({run["parameters"] for run in runs}) == 1
    assert {run["steps"] for run in runs} == {200}
    assert not {run["seed"] for run in runs} & {run["seed"] for run in record["rates"]}
    assert all(sorted(bends.above(network)) == list(range(8)) for network in bends.NETWORKS)
    for network in bends.NETWORKS:
        tried: dict[float, list[float]] = {}
        for one in record["rates"]:
            if one["network"] == network:
                tried.setdefault(one["lr"], []).append(one["above_floor"])
        assert bends.rate(network) == min(tried, key=lambda lr: statistics.fmean(tried[lr]))
        assert min(tried) < bends.rate(network) < max(tried), "at the edge of the grid"
        assert {len(found) for found in tried.values()} == {3}
    says(NAME, "over three seeds, none of which is used below")


def ends_beside(network):
    """Where a network ends at its second best rate, by seed."""
    runs = measured.record_of("activations")["beside"]
    return {run["seed"]: run["above_floor"] for run in runs if run["network"] == network}


def test_the_second_best_rates_tell_no_other_story_of_gelu():
    best, second = (
        {name: ends(name) for name in ("GELU", "ReLU")} for ends in (bends.above, ends_beside)
    )
    means = []
    for one, other in ((second, best), (best, second), (second, second)):
        gaps = [one["GELU"][seed] - other["ReLU"][seed] for seed in range(8)]
        assert sum(gap < 0 for gap in gaps) == 7
        means.append(-statistics.fmean(gaps))
    says(NAME, f"in seven of the eight, by {min(means):.3f} to {max(means):.3f}.")


def test_the_second_best_rate_of_swiglu_tells_no_other_story():
    record = measured.record_of("activations")
    tried: dict[float, list[float]] = {}
    for one in record["rates"]:
        if one["network"] == "SwiGLU":
            tried.setdefault(one["lr"], []).append(one["above_floor"])
    best, second = sorted(tried, key=lambda lr: statistics.fmean(tried[lr]))[:2]
    apart = statistics.fmean(tried[second]) - statistics.fmean(tried[best])
    assert apart < statistics.stdev(tried[best])
    beside = [run for run in record["beside"] if run["network"] == "SwiGLU"]
    relu_ends = bends.above("ReLU")
    assert {run["lr"] for run in beside} == {second}
    gaps = [run["above_floor"] - relu_ends[run["seed"]] for run in beside]
    assert len(gaps) == 8
    assert bends.by_chance(gaps) > 0.5
    nearer = sum(gap < 0 for gap in gaps)
    says(
        NAME,
        f"SwiGLU at its second best is nearer than ReLU at its best in {nearer} of the 8 seeds",
    )
    # Beside ReLU at its own second best rate.
    relu = ends_beside("ReLU")
    others = [bends.above("SwiGLU"), ends_beside("SwiGLU"), bends.above("GeGLU")]
    apart_there = [[ends[seed] - relu[seed] for seed in range(8)] for ends in others]
    behind = sorted(statistics.fmean(gaps) for gaps in apart_there)
    chance = sorted(100 * bends.by_chance(gaps) for gaps in apart_there)
    says(NAME, f"both gated networks end {behind[0]:.3f} to {behind[-1]:.3f} nats behind")
    says(NAME, f"Chance gives that in {chance[0]:.0f} to {chance[-1]:.0f} % of the cases")


def test_what_is_said_of_the_four_networks(shown):
    apart = {network: bends.gaps(network) for network in bends.NETWORKS[1:]}
    chance = {network: bends.by_chance(gaps) for network, gaps in apart.items()}
    assert chance == {network: shown["by_chance"](gaps) for network, gaps in apart.items()}
    assert max(apart["GELU"]) < 0
    says(NAME, f"in all eight seeds, by {-statistics.fmean(apart['GELU']):.3f} nats on average")
    says(NAME, f"and {chance['GELU']:.3f} is still small")
    assert 3 * chance["GELU"] < 0.05 < 3 * min(chance["SwiGLU"], chance["GeGLU"])
    means = {network: statistics.fmean(apart[network]) for network in ("SwiGLU", "GeGLU")}
    assert min(means.values()) > 0  # behind
    says(
        NAME,
        f"SwiGLU ends {means['SwiGLU']:.3f} nats behind ReLU and GeGLU {means['GeGLU']:.3f}",
        f"in {chance['SwiGLU'] * 100:.0f} % and {chance['GeGLU'] * 100:.0f} % of the cases",
    )
    rates = {network: f"{bends.rate(network):g}" for network in bends.NETWORKS}
    assert (rates["ReLU"], rates["GELU"]) == (rates["SwiGLU"], rates["GeGLU"])
    says(NAME, f"{rates['ReLU']} for ReLU and SwiGLU, {rates['GELU']} for GELU and GeGLU")


def test_by_chance_counts_every_flip():
    gaps = [1.0, 2.0, -4.0]
    sums = [abs(a + 2 * b - 4 * c) for a, b, c in itertools.product((-1, 1), repeat=3)]
    assert bends.by_chance(gaps) == sum(total >= 1 for total in sums) / 8


def test_e11_one_after_the_other_and_in_parallel_are_two_functions(shown):
    assert (shown["one_after_the_other"] - shown["in_parallel"]).abs().max() > 0.05
    assert isinstance(shown["attend"], MultiHeadAttention)


def test_e36_the_cdf_is_not_the_activation():
    x = torch.tensor([-2.0, -1, 0, 1, 2]).double()
    Phi = torch.distributions.Normal(0.0, 1.0).cdf(x)
    torch.testing.assert_close(F.gelu(x), x * Phi)
    assert not torch.isclose(F.gelu(x), Phi)[[0, 1, 2, 4]].any()


def test_e63_listing_4_7_is_our_layer():
    linear1, linear2 = nn.Linear(512, 2048), nn.Linear(2048, 512)
    layer = FeedForward(512, 2048, dropout=nn.Dropout(0.1)).eval()
    layer.up.load_state_dict(linear1.state_dict())
    layer.down.load_state_dict(linear2.state_dict())
    x = torch.randn(2, 10, 512)
    s0 = linear2(F.dropout(linear1(x).relu(), 0.1, training=False))
    torch.testing.assert_close(layer(x), s0)

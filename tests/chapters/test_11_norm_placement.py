"""Chapter 11: what it says of the norm's place is so, and its questions' answers are computed."""

import math
from statistics import fmean, median

import pytest
import torch
from cells import run
from prose import says
from torch import nn

from pieces.attention import CausalCore, MultiHeadAttention
from pieces.blocks import Block
from pieces.book.ask import question
from pieces.book.figures import norm_placement as figures
from pieces.book.figures import norm_race as race
from pieces.book.figures import norm_start as start
from pieces.book.measured import record_of
from pieces.feedforward import FeedForward
from pieces.models.bert import BertConfig
from pieces.norms import LayerNorm, layer_norm
from pieces.residual import PostNorm, deepnorm_alpha_beta
from pieces.zoo import MODEL_TABLE

NAME = "11_norm_placement"
PLACES, DEPTHS = tuple(figures.NAMES), start.DEPTHS
GUESS = math.log(16)


def deep_post() -> list[dict]:
    """The settings that were tried for Post with twelve layers in 160 steps."""
    return race.runs("norm_rates", "choose", placement="post", layers=12, steps=160)


def norms_of_a_sandwich() -> int:
    """Exercise 11.2."""
    made = figures.stack(lambda: figures.connection("sandwich", 24, 8), 24, 8, 2, last=True)
    return sum(isinstance(module, LayerNorm) for module in made.modules())


def last_stream(layers: int) -> float:
    """What the card of Pre shows: the median over the seeds."""
    return median(start.at_start("pre", layers, "plain", "activation", -1))


def harmed() -> torch.Tensor:
    """Exercise 11.3: whose stream, after a silent sublayer, is no normalised one."""
    x = 5 + 3 * torch.randn(1, 8)
    left = [figures.connection(place, 2, 8)(x, torch.zeros_like) for place in PLACES]
    return torch.tensor([[abs(figures.size(y) - 1) > 0.01 for y in left]])


ANSWERS = {
    "11.a": lambda: sum(max(one["end"]) < 1 for one in deep_post()),
    "11.2": norms_of_a_sandwich,
    "11.1": lambda: round(last_stream(48) / last_stream(12), 2),
    "11.3": harmed,
    "11.5": lambda: 2**2 * 100 - 100,
}


@pytest.fixture(scope="module")
def shown():
    """What the chapter's open cells define, those of its notes among them."""
    return run(NAME, until="the end")


def test_slips_and_hints_are_computed_too():
    assert question("11.1")["slips"][2][0] == pytest.approx(last_stream(48), abs=0.005)
    both = [one for one in record_of("norm_rates")["choose"] if one["placement"] == "post"]
    two = [one for one in both if one["layers"] == 2]
    assert sum(max(one["end"]) < 1 for one in two) == question("11.a")["slips"][1][0]
    lowest = min(min(one["end"]) for one in deep_post())
    assert len(deep_post()) == 32
    assert f"ends at {lowest:.2f} nats" in question("11.a")["why"]
    others = (each for place in PLACES[1:] for each in race.judged(place, 12))
    assert all(race.first_below(each) < 160 for each in others)


def test_twice_the_stream_takes_300_more():
    drawn = torch.Generator().manual_seed(0)
    walk = torch.randn(500, 16384, generator=drawn).cumsum(0).norm(dim=1)
    reached = int((walk > 2 * walk[99]).nonzero()[0]) + 1
    assert abs(reached - 100 - 300) <= question("11.5")["tolerance"]


def test_the_two_probes(shown):
    x, nothing = 5 + 3 * torch.randn(1, 8), torch.zeros_like
    for place in PLACES:
        connection = figures.connection(place, 12, 8)
        on_stream = place in ("post", "deep")
        expected = layer_norm(x) if on_stream else x
        torch.testing.assert_close(connection(x, nothing), expected, atol=1e-5, rtol=1e-5)
        loud = figures.size(connection(x, lambda inner: 1000 * inner))
        assert (loud > 100) == (place == "pre")
    torch.testing.assert_close(
        figures.connection("post", 12, 8)(x, torch.sin),
        type(shown["made"]["DeepNorm"])(LayerNorm(8), 1.0)(x, torch.sin),
    )


def test_each_at_its_own_best():
    ends = {
        (place, layers): [each["curve"][-1] for each in race.judged(place, layers)]
        for place in PLACES
        for layers in (2, 12)
    }
    for place, about in zip(PLACES, (0.02, 0.002, 0.002, 0.02), strict=True):
        assert median(ends[place, 2]) == pytest.approx(about, rel=0.25)
    low, high = min(ends["post", 12]), max(ends["post", 12])
    says(NAME, f"Post ends between {low:.2f} and {high:.2f} nats")
    three = [ends[place, 12] for place in PLACES[1:]]
    assert max(map(max, three)) < 0.3
    assert max(map(min, three)) < min(map(max, three))  # each range meets the others
    best = max(ends["sandwich", 12] + ends["deep", 12])
    assert sum(end > best for end in ends["pre", 12]) == 3
    says(NAME, "three of Pre's five seeds end above all ten of the other two")
    learn = {place: race.that_learn(place, 12) for place in PLACES}
    assert learn["post"] == 0
    says(
        NAME,
        f"holds for {learn['sandwich']} with Sandwich, {learn['deep']} with DeepNorm, "
        f"{learn['pre']} with Pre and none with Post",
        f"of {len(race.COMMON)} settings that every placement was given",
    )
    for layers in (2, 12):  # behind both, seed by seed
        for other in ("pre", "sandwich"):
            assert min(ends["post", layers]) > max(ends[other, layers])
    assert min(ends["post", 2]) < median(ends["deep", 2]) < max(ends["post", 2])


def test_the_grid_is_that_of_the_record():
    tried = [one for one in record_of("norm_rates")["choose"] if one["steps"] == 160]
    wanted = {(one["placement"], f"{one['lr']:g}", one["warmup"]): median(one["end"])
              for one in tried if one["layers"] == 12}  # fmt: skip
    assert all(len(one["end"]) == 5 for one in tried)
    found, warmups = {}, (0, 20, 40, 80, 120, 160)
    for name, *told in race.grid(layers=12).cells:
        place, rate = name.split(" ")
        key = next(each for each, word in figures.NAMES.items() if word == place)
        for warmup, words in zip(warmups, told, strict=True):
            if words != "–":
                found[key, rate, warmup] = float(words)
    assert found == pytest.approx(wanted, abs=0.0051)
    assert max(one["warmup"] for one in tried) == 160  # the whole run


def test_how_the_settings_were_chosen():
    record = record_of("norm_rates")
    short = [one for one in record["choose"] if one["steps"] == 160]
    assert {len(one["seeds"]) for one in short} == {5}
    assert max(len({o["lr"] for o in short if o["placement"] == p}) for p in PLACES) == 8
    for place in PLACES:
        for layers in (2, 12):
            own = race.runs("norm_rates", "choose", placement=place, layers=layers, steps=160)
            assert {(one["lr"], one["warmup"]) for one in own} >= race.COMMON
            warmups = {one["warmup"] for one in own}
            assert len(warmups) <= 5
            best = min(own, key=lambda one: fmean(one["end"]))
            judged = race.judged(place, layers)
            assert {(e["lr"], e["warmup"]) for e in judged} == {(best["lr"], best["warmup"])}
            assert not {e["seed"] for e in judged} & set(best["seeds"])
            rates = [one["lr"] for one in own]
            assert min(rates) < best["lr"] < max(rates)
            assert best["warmup"] == 0 or min(warmups) < best["warmup"] < max(warmups)
    says(NAME, "Five seeds chose the settings, and five others ran the race")


def test_deep_norm_at_a_high_rate_needs_its_warm_up():
    kind = {"placement": "deep", "layers": 12, "lr": 0.016}
    without, with_it = (
        [each["curve"][-1] for each in race.runs("norm_placement", "race", **kind, warmup=w)]
        for w in (0, 40)
    )
    assert min(without) > GUESS - 0.1
    assert max(with_it) < 0.2
    assert max(max(each["curve"]) for each in record_of("norm_placement")["race"]) < 3.1


def test_deep_post_learns_in_a_long_run():
    tried = race.runs("norm_rates", "choose", steps=1000)
    rates, warmups = ({one[key] for one in tried} for key in ("lr", "warmup"))
    assert (len(tried), len(rates), len(warmups)) == (24, 4, 6)
    assert {len(one["seeds"]) for one in tried} == {5}
    best = min(tried, key=lambda one: fmean(one["end"]))
    assert (best["lr"], best["warmup"]) == (0.004, 1000)
    assert min(rates) < best["lr"] < max(rates)
    own = race.judged("post", 12, 1000)
    assert {(each["lr"], each["warmup"]) for each in own} == {(0.004, 1000)}
    assert not {each["seed"] for each in own} & set(best["seeds"])
    steps = [race.first_below(each) for each in own]
    ends = [each["curve"][-1] for each in own]
    assert max(ends) < 1
    says(
        NAME,
        f"all five judging seeds fall below 1 nat, after {min(steps)} to {max(steps)} steps, "
        f"and end between {min(ends):.2f} and {max(ends):.2f}",
    )
    assert [one for one in tried if max(one["end"]) < 1] == [best]


def test_deep_post_beside_its_best_setting():
    end = {(one["lr"], one["warmup"]): one["end"]
           for one in race.runs("norm_rates", "choose", steps=1000)}  # fmt: skip
    assert max(abs(one - GUESS) for one in end[0.004, 100]) < 0.15
    slower = median(end[0.002, 1000])
    assert slower > median(end[0.004, 1000])
    says(NAME, f"towards 0.002 over the whole run, ends at a median of {slower:.2f} nats")
    told = {name.split(" ")[1]: ends for name, *ends in race.grid(layers=12, steps=1000).cells}
    warmups = sorted({warmup for _, warmup in end})
    for (rate, warmup), each in end.items():
        assert float(told[f"{rate:g}"][warmups.index(warmup)]) == pytest.approx(
            median(each), abs=0.0051
        )


def test_the_run_of_the_cell_is_the_one_of_the_record(shown):
    setting = {"placement": "pre", "layers": 2, "lr": 0.004, "warmup": 0, "seed": 0}
    recorded = race.runs("norm_placement", "race", **setting)[0]["curve"]
    again = [fmean(shown["losses"][n : n + 5]) for n in range(0, 160, 5)]
    assert again[:6] == pytest.approx(recorded[:6], abs=0.01)
    assert again[-1] == pytest.approx(recorded[-1], abs=0.1)


def falls_like(numbers: list[float], power: float) -> None:
    """Fail where numbers by depth are not, to a factor of 1.5, a power of the depth."""
    scaled = [number / L**power for number, L in zip(numbers, DEPTHS, strict=True)]
    assert max(scaled) / min(scaled) < 1.5**2


def test_streams_and_gradients_before_the_first_step():
    for place in ("post", "deep"):
        for layers in DEPTHS:
            own = "scaled" if place == "deep" else "plain"
            each = race.runs("norm_placement", "layers", placement=place, layers=layers, start=own)
            assert {size for one in each for size in one["activation"]} == {1.0}
    for place in ("pre", "sandwich"):
        sizes = [median(start.at_start(place, L, "plain", "activation", -1)) for L in DEPTHS]
        falls_like(sizes, 0.5)
    last = [median(start.slope("pre", L, -1)) for L in DEPTHS]
    falls_like(last, -0.5)
    says(NAME, f"from {last[0]:.2f} to {last[-1]:.3f}")
    assert all(min(start.slope("pre", L, 0)) > max(start.slope("pre", L, -1)) for L in DEPTHS)
    assert all(0.5 < median(start.slope("post", L, -1)) < 0.7 for L in DEPTHS)


def test_all_scaled_by_beta():
    for layers in DEPTHS:
        assert all(
            0.35 < size < 0.5 for size in start.at_start("pre", layers, "scaled", "activation", -1)
        )
        plain, small = (
            median(start.at_start("sandwich", layers, s, "activation", -1))
            for s in ("plain", "scaled")
        )
        assert small == pytest.approx(plain, rel=0.12)
        before, after = (
            median(start.at_start("sandwich", layers, s, "gradient", 0))
            for s in ("plain", "scaled")
        )
        beta = deepnorm_alpha_beta(0, layers)[1].beta
        assert after / before == pytest.approx(1 / beta, rel=0.12)  # "larger, by about 1/β"
    firsts = [median(start.at_start("sandwich", L, "scaled", "gradient", 0)) for L in DEPTHS]
    says(
        NAME, f"first gradient grows, from {firsts[0]:.1f} at 6 layers to {firsts[-1]:.0f} at 1,000"
    )
    assert max(firsts[:2]) < min(firsts[2:])


def test_at_twelve_layers_gradients_of_post_are_more_even():
    ratios = {}
    for place in ("post", "pre"):
        first, last = (start.slope(place, 12, at) for at in (0, -1))
        assert all(0.1 < size < 1 for size in (*first, *last))
        ratios[place] = [max(a / b, b / a) for a, b in zip(first, last, strict=True)]
    assert max(ratios["post"]) < max(ratios["pre"])
    assert median(ratios["post"]) < median(ratios["pre"])


def test_nothing_grows_exponentially():
    first = {L: start.slope("post", L, 0) for L in DEPTHS}
    middles = [median(first[L]) for L in DEPTHS[:-1]]
    assert max(middles) / min(middles) < 7
    apart = {L: max(first[L]) / min(first[L]) for L in DEPTHS[:-1]}
    assert max(apart, key=apart.get) == 100
    says(NAME, f"at 100 layers by a factor of {apart[100]:.0f}")
    assert median(first[1000]) < 1e-7
    assert max(first[1000]) < 1e-4
    for place in PLACES:
        for at in (0, -1):
            shallow, *deeper = (median(start.slope(place, L, at)) for L in DEPTHS)
            assert max(deeper) < 3.1 * shallow


def test_what_each_half_of_deep_norm_is_worth():
    post = start.uneven("post", "plain", 1000)
    assert min(post) > 1e5
    says(NAME, f"{round(median(post) / 1e6, -1):.0f} million times in the median")
    alone = start.uneven("deep", "plain", 1000)
    says(NAME, f"{median(alone):.2f} (the median; {min(alone):.2f} to {max(alone):.2f})")
    for place in ("post", "deep"):
        assert max(start.uneven(place, "scaled", 1000)) < 1.3
    for layers in (100, 1000):
        alpha = deepnorm_alpha_beta(0, layers)[1].alpha
        half, both = (
            median(start.at_start(p, layers, "scaled", "gradient", -1)) for p in ("post", "deep")
        )
        assert half / both == pytest.approx(alpha, rel=0.1)


def test_how_far_a_step_moves_the_output():
    shares = [start.moved(True, seed) / start.moved(False, seed) for seed in range(3)]
    says(NAME, f"has moved {median(shares):.2f} times as far with")
    assert max(shares) - min(shares) < 0.03


def test_the_numbers_of_deep_norm():
    twelve, thousand = (deepnorm_alpha_beta(0, layers)[1] for layers in (12, 1000))
    alpha, beta = (f"{number:.2f}" for number in twelve)
    says(NAME, f"$\\alpha = {alpha}$ and $\\beta = {beta}$")
    says(NAME, f"for 1,000 layers {thousand[0]:.2f} and {thousand[1]:.2f}")


def test_deep_models_go_to_the_guess_and_no_further():
    deep = record_of("norm_placement")["deep"]
    for each in deep:
        assert each["curve"][0] > 2.85
        assert each["curve"][-1] == pytest.approx(GUESS, abs=0.1)
    kinds = {(each["placement"], each["start"], each["layers"], each["steps"]) for each in deep}
    assert kinds == {
        *(
            ("deep", begun, L, s)
            for begun in ("scaled", "plain")
            for L, s in ((100, 50), (1000, 10))
        ),
        ("post", "plain", 100, 50),
    }


def test_which_one_is_used():
    count: dict[str, list[str]] = {}
    for row in MODEL_TABLE.values():
        where = (row.printed.norm or "not said").removesuffix(" RMS").removesuffix(" Layer")
        count.setdefault(where, []).append(row.name)
    assert count["Post Deep"] == ["GLM-130B"]
    assert {where: len(names) for where, names in count.items()} == {
        "Pre": 22,
        "not said": 2,
        "Post Deep": 1,
    }
    says(NAME, f"lists {len(MODEL_TABLE)} models. {len(count['Pre'])} of them use Pre")
    share = record_of("norm_speed")["block"]["norms_of_block"]["median"]
    says(NAME, f"two norms took {share * 100:.1f} % of the time of their block")


def test_e03_the_listing_cannot_be_made():
    with pytest.raises(NameError, match="TransformerSublayer"):
        start.s0_transformer()


def test_e12_nothing_is_added_to_anything(shown):
    for y in shown["s0"].values():
        assert torch.equal(y, torch.zeros_like(y))


def test_e15_it_is_one_causal_block():
    listing = Block(
        MultiHeadAttention(8, 2, core=CausalCore()),
        FeedForward(8, 32),
        attention_residual=PostNorm(LayerNorm(8)),
        feed_forward_residual=PostNorm(LayerNorm(8)),
    )
    text = torch.randn(1, 6, 8)
    later = text.clone()
    later[0, 4:] = torch.randn(2, 8)
    moved = (listing(text) != listing(later)).any(-1)[0]
    assert moved.tolist() == [False] * 4 + [True] * 2
    assert not any(isinstance(module, nn.Embedding) for module in listing.modules())


def test_e18_the_code_is_pre(shown):
    x = torch.randn(2, 10, 64)
    assert torch.equal(shown["s1"](x, torch.zeros_like), x)
    grown = {row[0]: float(row[2]) for row in figures.streams().cells}
    assert min(grown["Pre"], grown["Sandwich"]) > 2
    says(NAME, f"of {grown['Pre']:.2f} and Sandwich with {grown['Sandwich']:.2f}")
    assert {row[3] for row in figures.streams().cells} == {"1.00"}


def test_e84_which_epsilon():
    fields = BertConfig.__dataclass_fields__
    assert fields["dropout"].default == 0.1
    assert fields["norm_eps"].default == 1e-12
    assert nn.LayerNorm(4).eps == 1e-5
    x = 0.001 * torch.randn(1, 1000, generator=torch.Generator().manual_seed(11))
    own, one, other = figures.size(x), *(figures.size(layer_norm(x, e)) for e in (1e-12, 1e-5))
    assert one == pytest.approx(1, abs=0.01)
    says(NAME, f"With the larger one, a stream of size {own:.5f} comes out at {other:.2f}.")

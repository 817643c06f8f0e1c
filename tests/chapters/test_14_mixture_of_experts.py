"""Chapter 14: what it says of routers, experts and balance is so, and its answers are computed."""

import functools
import math
import re
import statistics

import pytest
import torch
import torch.nn.functional as F
from prose import says
from transformers import MixtralConfig as TheirConfig
from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock

from browser import ROOT
from pieces.book import plot
from pieces.book.ask import question
from pieces.book.figures import mixture_of_experts as figures
from pieces.book.figures import mixture_source
from pieces.models.mixtral import MIXTRAL_8X7B, mixtral
from pieces.moe import (
    GatedExperts,
    MixtureOfExperts,
    Router,
    load_balancing_loss,
    route,
    route_softmax_first,
    route_unnormalised,
    watch_routing,
    within_capacity,
)
from pieces.tasks.stories_words import BOYS, COLOURS, GIRLS
from pieces.trained import load
from pieces.widgets import ExpertCapacity, RouterExplorer
from widgets.expert_capacity import expected as batches
from widgets.router_explorer.expected import routed

NAME = "14_mixture_of_experts"
SCORES = torch.tensor([2.0, 1.0, -1.0, 0.5], dtype=torch.float64)
MOTHER = "Once upon a time there was a shy girl named Lily. One day, she went to see her mother"


def after(text: str, closed=()) -> dict[str, float]:
    """The shipped mixture's probability of each next word, with [layer, expert] shut."""
    shipped = load("stories_moe")
    ids = shipped.task.encode(text).tolist()
    chances = routed(shipped.model, ids, closed)[1][-1].tolist()
    return dict(zip(shipped.task.vocabulary, chances, strict=True))


def truth(text: str, word: str) -> float:
    task = load("stories_moe").task
    return task.true_next(task.encode(text)[None])[0, -1, task.vocabulary.index(word)].item()


def wanted() -> int:
    """Exercise 14.2: which expert of layer 3 the last word cannot do without."""
    chances = [after(MOTHER, [[3, expert]])["at"] for expert in range(1, 5)]
    return chances.index(min(chances)) + 1


ANSWERS = {
    "14.a": lambda: statistics.median(figures.busiest(8, 1, 0.0)),
    "14.1": lambda: route(SCORES, 2)[0][0],
    "14.2": wanted,
    "14.3": lambda: F.softmax(torch.zeros(1, 4, 2), dim=1)[0, 0].sum(),
    "14.5": lambda: 8 * (1 - (6 / 8) ** 4),
}


def test_the_word_to_press_stands_once_in_the_first_picture():
    text = RouterExplorer().text
    assert re.findall(r"\bthe\b", text) == ["the"]
    before = text[: text.index(" the ") + 4]
    at = len(load("stories_moe").task.encode(before))
    says(
        NAME,
        "Press *the*: the model expects *red* "
        f"with {after(before)['red']:.2f}, where the true probability is "
        f"{truth(before, 'red'):.2f}.",
    )
    linked = f"[Press *the*](#see-router-explorer?token={at})"
    assert linked in (ROOT / "chapters" / f"{NAME}.ipynb").read_text(encoding="utf-8")


@functools.cache
def held_out():
    """The stories of the chapter, and what every layer does with them."""
    shipped = load("stories_moe")
    gen = torch.Generator().manual_seed(0)
    ids = shipped.task.batch(200, "held_out", generator=gen).input_ids
    with torch.no_grad(), watch_routing(shipped.model) as routings:
        shipped.model(ids)
    return ids, routings


def test_the_drawing_has_the_weights_of_the_code():
    weights, chosen = route(torch.tensor([1.5, 0.0, 0.8, -1.0]), 2)
    drawing = (plot.files("pieces.book") / "drawings/mixture_layer.svg").read_text("utf-8")
    told = re.findall(r">(?:expert|×) ([\d.]+)<", drawing)
    visits = {int(e) + 1: f"{w:.2f}" for e, w in zip(chosen, weights, strict=True)}
    assert told == [one for e in range(1, 5) for one in (str(e), visits.get(e)) if one]


def test_slips_are_what_they_say():
    slips = {name: [number for number, _ in question(name)["slips"]] for name in ANSWERS}
    first, other = route(SCORES, 2)[0].tolist()
    assert slips["14.1"] == pytest.approx([SCORES.softmax(0)[0].item(), 2 / 3, other, 0.5])
    assert first + other == pytest.approx(1)
    assert slips["14.5"][2] == pytest.approx(8 * (1 - (7 / 8) ** 8))
    assert slips["14.5"][4:] == pytest.approx([8 * (1 - (7 / 8) ** 4), 8 * (6 / 8) ** 4])


def test_a_drawn_batch_reads_as_many_experts():
    gen = torch.Generator().manual_seed(3)
    drawn = torch.rand(20_000, 4, 8, generator=gen).topk(2).indices
    hit = F.one_hot(drawn.flatten(1), 8).amax(1).sum(1).double().mean().item()
    assert hit == pytest.approx(ANSWERS["14.5"](), abs=0.03)


def test_how_good_the_shipped_mixture_is():
    record = load("stories_moe").record
    above = record["loss"] - record["floor"]
    assert record["begun_from"]["name"] == "stories_llama"
    assert len(record["seeds"]) == 1
    says(
        NAME,
        f"it stands {above:.3f} [nats](appendix/glossary.md#nat) above the floor, the loss of the "
        "language's true probabilities (one seed)",
    )
    says(NAME, f"{record['steps']:,} steps")


def test_the_first_picture():
    text = RouterExplorer().text
    ball = [after(text, [[1, expert]])["ball"] for expert in range(1, 5)]
    assert max(after(text), key=after(text).get) == "ball"
    others = {f"{p:.2f}" for n, p in enumerate(ball, 1) if n != 2}
    assert ball[1] < 0.3
    assert others == {f"{after(text)['ball']:.2f}"}
    says(NAME, f"and *ball* stays at {others.pop()}.")
    before = text.removesuffix(" red")
    says(NAME, f"expects *red* with {after(before)['red']:.2f}, where the true probability is "
               f"{truth(before, 'red'):.2f}.")  # fmt: skip


def test_the_exercise_to_play():
    chances = [after(MOTHER, [[3, expert]])["at"] for expert in range(1, 5)]
    assert after(MOTHER)["at"] > 0.99
    assert chances[3] < 0.05
    assert min(chances[:3]) > 0.95


@pytest.mark.parametrize("k", [1, 2, 6])
def test_ways_of_writing_the_weights(k):
    logits = torch.randn(2, 7, 6, generator=torch.Generator().manual_seed(k)).double()
    assert torch.allclose(route(logits, k)[0], route_softmax_first(logits, k)[0])
    short = route_unnormalised(logits, k)[0].sum(-1)
    assert (short < 1).all() if k < 6 else torch.allclose(short, torch.ones_like(short))


def test_the_layer_is_mixtrals():
    torch.manual_seed(1)
    sizes = {"hidden_size": 32, "intermediate_size": 20, "num_local_experts": 8}
    their_config = TheirConfig(**sizes, num_experts_per_tok=2)
    their_config._experts_implementation = "eager"
    theirs = MixtralSparseMoeBlock(their_config)
    ours = MixtureOfExperts(Router(32, 8, k=2), GatedExperts(8, 32, 20))
    with torch.no_grad():
        for weight in theirs.parameters():
            weight.normal_(std=0.3)
        ours.router.gate.weight.copy_(theirs.gate.weight)
        ours.experts.gate_up.copy_(theirs.experts.gate_up_proj)
        ours.experts.down.copy_(theirs.experts.down_proj)
        x = torch.randn(2, 9, 32)
        assert torch.allclose(ours(x), theirs(x), atol=1e-5)


def test_what_the_word_alone_predicts():
    ids, routings = held_out()
    says(NAME, f"200 texts from stories that it has not seen, {ids.numel():,} words in all")
    learned, asked = ids.flatten().chunk(2)
    assert 0 < (~torch.isin(asked, learned)).double().mean() < 0.01
    one, two, three = (round(share) for share, _ in figures.predicted(routings, ids))
    said = f"{one} % of the first choices in layer 1, {two} % in layer 2 and {three} % in layer 3."
    says(NAME, f"The word alone predicts {said}")


@pytest.mark.parametrize(
    ("expert", "words"),
    [(1, "was lived met took"), (2, "she under"), (4, "not may I ?")],
)
def test_groups_of_the_first_layer(expert, words):
    ids, routings = held_out()
    vocabulary = load("stories_moe").task.vocabulary
    for word in words.split():
        first = routings[0].experts[..., 0][ids == vocabulary.index(word)]
        assert (first == expert - 1).double().mean() > 0.8, word


def test_names_and_colours_share_an_expert_with_much_else():
    ids, routings = held_out()
    vocabulary = load("stories_moe").task.vocabulary
    to_two = routings[0].experts[..., 0] == 1

    def share(words):
        return to_two[torch.isin(ids, torch.tensor([vocabulary.index(w) for w in words]))]

    assert share(GIRLS + BOYS).all()
    assert share(COLOURS).double().mean() > 0.95
    assert to_two.double().mean() > 0.4, "it is nobody's own"


def test_which_experts_are_missed():
    shipped = load("stories_moe")
    gen = torch.Generator().manual_seed(1)
    batch = shipped.task.batch(50, "held_out", generator=gen)
    one, two, three = figures.missed(shipped.model, batch)
    assert min(one) > 0.2
    assert max(two) < 0.005
    assert 0.02 < min(three) < max(three) < 0.2


def test_balance_with_one_visit_and_with_two():
    alone, pressed = (figures.busiest(8, 1, balance) for balance in (0.0, 0.1))
    assert min(alone) > 75
    says(NAME, f"down to between {min(pressed):.0f} and {max(pressed):.0f} %")
    many = figures.busiest(16, 1, 0.0)
    says(NAME, f"the busiest ends anywhere between {min(many):.0f} and {max(many):.0f} %")
    weak = figures.busiest(8, 1, 0.01)
    says(NAME, f"leaves it between {min(weak):.0f} and {max(weak):.0f} %.")
    ends = [end for b in (0.0, 0.01, 0.1) for end in figures.busiest(8, 2, b)]
    says(NAME, f"the busiest ended with {min(ends):.0f} to {max(ends):.0f} %.")
    left = figures.busiest(8, 2, 0.0, layer=2)
    says(NAME, f"without the loss it ended with {min(left):.0f} to {max(left):.0f} %.")
    for run in (run for b in (0.0, 0.01, 0.1) for run in figures.runs_of(8, 2, b)):
        most = [2 * max(point[0]) > 500 for point in run["load"]]
        assert 1 <= sum(most) <= 3, "a short while: looks are 8 steps apart"
    helped = [-x for x in figures.harm(8, 1) + figures.harm(16, 1)]
    assert len(helped) == 6
    assert min(helped) > 0
    says(NAME, f"by {min(helped):.3f} to {max(helped):.2f} nats")
    harmed = figures.harm(8, 2)
    assert min(harmed) > 0
    says(NAME, "in all three pairs, by {:.4f}, {:.4f} and {:.4f} nats".format(*harmed))
    without, with_loss = (figures.runs_of(8, 2, b)[1]["above_floor"] for b in (0.0, 0.1))
    says(NAME, f"one of them goes from {without:.4f} to {with_loss:.4f}.")
    for experts, visits in ((8, 1), (8, 2), (16, 1)):
        sides = [[run["above_floor"] for run in figures.runs_of(experts, visits, balance)]
                 for balance in (0.0, 0.1)]  # fmt: skip
        ranges = [max(side) - min(side) for side in sides]
        apart = [abs(x) for x in figures.harm(experts, visits)]
        if experts == 16:
            assert min(apart) > max(ranges)
        else:
            assert max(apart) < max(ranges)


def test_who_leads_at_the_start_and_who_at_the_end():
    places, last, kept = [], [], []
    for run in figures.runs_of(8, 1, 0.0):
        peaks = [max(point[1]) for point in run["load"]]
        assert max(peaks) > 800 > peaks[-1] + 100
        second = [point[1] for point in run["load"]]
        leader = second[peaks.index(max(peaks))].index(max(peaks))
        kept.append(second[-1][leader] / 10)
        layer = [point[0] for point in run["load"]]
        best = layer[-1].index(max(layer[-1]))
        places.append(sorted(layer[0], reverse=True).index(layer[0][best]) + 1)
        ahead = [point[best] == max(point) for point in layer]
        last.append(8 * (len(ahead) - ahead[::-1].index(False)))
    assert sorted(places) == [1, 3, 4]
    says(NAME, f"yet by step {max(last)} it was ahead for good")
    low, middle, high = (f"{share:.0f}" for share in sorted(kept))
    says(NAME, f"down to {low} and {middle} %", f"in the third it ended with {high} %.")


def test_the_start_of_a_collapse_by_a_new_seed():
    assert mixture_source.early(0.0) > 0.5 > mixture_source.early(0.1)


def test_with_one_visit_the_router_learns_from_unnormalised_weights_alone():
    slopes = []
    for choose in (route, route_unnormalised):
        torch.manual_seed(2)
        router = Router(8, 4, 1, choose=choose)
        layer = MixtureOfExperts(router, GatedExperts(4, 8, 16)).double()
        layer(torch.randn(20, 8).double()).square().sum().backward()
        slopes.append(router.gate.weight.grad.abs().max().item())
    assert slopes[0] == 0
    assert slopes[1] > 0.001


def test_the_balance_loss_pushes_all_words_alike():
    scores = torch.tensor([[1.0, 0], [1, 0], [1, 0], [0, 1]], requires_grad=True)
    loss = load_balancing_loss(scores, k=1)
    P = scores.softmax(-1).mean(0)
    assert loss.item() == pytest.approx((1.5 * P[0] + 0.5 * P[1]).item())
    loss.backward()
    assert torch.allclose(scores.grad, scores.grad[:1].expand(4, 2))
    assert scores.grad[0, 0] > 0 > scores.grad[0, 1]


def test_a_later_word_takes_the_seat():
    kept = [within_capacity(torch.tensor([[0, 1], [w, 0]]), 4, 1)[0].tolist() for w in (1, 2)]
    assert kept == [[True, False], [True, True]]


def test_a_drawn_batch_and_its_seats():
    """What the text says of the widget's batch, as it opens and after each change."""
    widget = ExpertCapacity()
    opened = {name: getattr(widget, name) for name in widget.inputs()}
    assert (opened["k"], opened["lead"], opened["n_tokens"]) == (1, 1, 64)
    assert batches.routed(opened)[2] == 10
    cell = '"code_prompt_show": "Open a batch of drawn scores, with room for ten words per expert"'
    assert cell in (ROOT / "chapters" / f"{NAME}.ipynb").read_text(encoding="utf-8")
    _, dropped, _, without, _ = batches.routed(opened | {"lead": 2})
    assert sum(dropped) == without
    says(NAME, f"to 2, and {without} of the 64 words are left without any expert.")
    _, dropped, _, without, _ = batches.routed(opened | {"lead": 2, "k": 2})
    assert without == 0
    says(NAME, f"{sum(dropped)} of 128 visits are dropped, but no word loses both.")
    few, many = (sum(batches.routed(opened | {"lead": 0, "n_tokens": n})[1]) for n in (64, 256))
    assert (few, many) == (3, 0)
    says(NAME, "With one visit and no lead at all, three words still find no room")


def test_parameters_of_mixtral():
    with torch.device("meta"):
        found = figures.parameters(mixtral(MIXTRAL_8X7B))
    total, active = found["total"] / 1e9, found["active for a word"] / 1e9
    says(NAME, f"A word meets {active:.2f} of {total:.2f} billion")
    says(NAME, f"{found['one expert'] / 1e6:.1f} million parameters, not a model of 7 billion")
    says(NAME, f"{32 * found['one expert'] / 1e9:.2f} billion over all 32 layers")


def test_times():
    found = figures.times()
    two, sixteen, many = (found[1024, E]["sparse"]["median"] for E in (2, 16, 64))
    says(NAME, f"{two:.2f} times as long with two experts and {sixteen:.2f} times with sixteen")
    assert math.floor(found[1024, 16]["dense"]["median"]) == 11
    says(NAME, f"With 64 experts it is {many:.2f}")
    says(NAME, f"takes {found[16, 64]['sparse']['median']:.0f} times as long as the one network")


def test_the_sources_layer():
    assert mixture_source.as_printed(2) == ["ValueError", "IndexError", "right"]
    assert mixture_source.as_printed(4) == ["ValueError", "wrong numbers", "right"]

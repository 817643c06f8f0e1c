"""The twin of `pieces.beam_search`: the same target and score, after the same steps, in a browser."""

import functools
import math

import pytest
import torch
from playwright.sync_api import Error
from twins import build, opened_twin, packed

from pieces import beam_search as beams
from pieces import trained
from pieces.beam_search import beam_search

MODULES = ("twin/model", "twin/beam")
SHIPPED = trained.load("translator")
FOUND = """(({ ids, score, steps }) => ({ ids, score, steps }))
  (beam.beamSearch(models[a.name], a.source, a.search))"""
ENDS = {"translator": 3, "translator-bare": 9, "shipped": SHIPPED.task.eos_id}
SEARCHES = [
    {"nBeams": n, "lengthPenalty": penalty, "patient": patient}
    for n, penalty, patient in [
        (1, 1.0, False), (2, 1.0, False), (3, 1.0, False), (5, 1.0, False), (3, 0.0, False),
        (3, 2.5, False), (4, -1.0, False), (2, 1.0, True), (5, 0.6, True), (3, -1.0, True),
    ]
]  # fmt: skip


@functools.cache
@torch.no_grad()
def models():
    """Random models whose end is neither rare nor sure, and the book's translator."""
    found = {"shipped": SHIPPED.model}
    for name in ("translator", "translator-bare"):
        found[name] = build(name)[1]
        found[name].embedding.weight.mul_(0.5)
    return found


@pytest.fixture(scope="module")
def twin(chromium):
    with opened_twin(chromium, modules=MODULES) as twin:
        load(twin)
        yield twin


def load(twin):
    for name, model in models().items():
        twin.load(name, packed(model, "encoder_decoder"))


def sources(name):
    if name == "shipped":
        texts = ("我是一个学生。", "那个学生看见书", "两只猫追狗。")
        return [tuple(SHIPPED.task.ids[one] for one in text) for text in texts]
    draw = torch.Generator().manual_seed(5)
    return [tuple(torch.randint(0, 37, (n,), generator=draw).tolist()) for n in (1, 4, 9)]


@functools.cache  # each fault is held against the same searches
def expected(name, source, most, nBeams=4, lengthPenalty=1.0, patient=False):
    """The target, its score, and after each step what was kept, with its sum, and what finished."""
    kept, seen = [], []
    own = beams._Beams.step

    def step(self, log_p, ids):
        rows, tokens = own(self, log_p, ids)
        kept.append([self.total[0].tolist(), rows.tolist(), tokens.tolist()])
        seen.append([[rank, text.tolist()] for rank, text in self.finished[0]])
        return rows, tokens

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beams._Beams, "step", step)
        ids, scores = beam_search(
            models()[name], torch.tensor([source]), most, start_id=1, eos_id=ENDS[name],
            n_beams=nBeams, length_penalty=lengthPenalty, patient=patient,
        )  # fmt: skip
    return ids[0].tolist(), float(scores[0]), kept, seen


def same(twin, name, source, most, **search):
    """Whether the page finds what `pieces` finds, step by step."""
    wanted = {"startId": 1, "eosId": ENDS[name], "most": most, **search}
    got = twin(FOUND, name=name, source=source, search=wanted)
    ids, score, kept, seen = expected(name, source, most, **search)
    if got["ids"] != ids or not math.isclose(got["score"], score, rel_tol=1e-4, abs_tol=1e-6):
        return False
    if len(got["steps"]) != len(kept):
        return False
    for step, (totals, rows, tokens), finished in zip(got["steps"], kept, seen, strict=True):
        going = [one for one in step["candidates"] if one["fate"] == "kept"]
        if [[one["from"], one["id"]] for one in going] != [list(p) for p in zip(rows, tokens)]:  # noqa: B905
            return False
        if [one["total"] for one in going] != pytest.approx(totals, abs=2e-4):
            return False
        if [one["ids"] for one in step["finished"]] != [text for _, text in finished]:
            return False
        ranks = [one["rank"] for one in step["finished"]]
        if ranks != pytest.approx([rank for rank, _ in finished], abs=1e-3):
            return False
    return True


@pytest.mark.parametrize("search", SEARCHES, ids=str)
@pytest.mark.parametrize("name", ENDS)
def test_it_finds_what_pieces_finds(twin, name, search):
    for source in sources(name):
        for most in (1, 2, 7, 24):
            assert same(twin, name, source, most, **search), (source, most)


def test_both_ends_of_a_search_were_met():
    """Some of those searches were closed by their finished candidates, others by their length."""
    closed = [
        len(expected(name, source, 24, nBeams=3)[2]) < 24
        for name in ENDS
        for source in sources(name)
    ]
    assert {True, False} == set(closed)


def test_one_beam_is_greedy(twin):
    source = sources("shipped")[0]
    search = {"startId": 1, "eosId": 2, "most": 24, "nBeams": 1}
    got = twin(FOUND, name="shipped", source=source, search=search)
    assert [SHIPPED.task.vocabulary[n] for n in got["ids"][1:-1]] == [
        "I",
        "am",
        "a",
        "student",
        ".",
    ]
    assert len(got["steps"]) == 6
    assert all(len(step["open"]) == 1 for step in got["steps"])


def test_the_model_is_as_it_was(twin):
    """A search leaves nothing behind in the weights or in another search."""
    source = sources("translator")[1]
    search = {"startId": 1, "eosId": 3, "most": 9, "nBeams": 3}
    first, again = (twin(FOUND, name="translator", source=source, search=search) for _ in range(2))
    assert first == again
    assert first["score"] < 0


FAULTS = {
    "two from each beam": ("total: Math.fround(total + p)", "total: Math.fround(p)"),
    "no more than n extensions": ("extensions(open, 2 * n)", "extensions(open, n + 1)"),
    "an end beyond the n best": ("ended && place < n &&", "ended &&"),
    "score without the length": ("penalty * Math.log(length) - ", "0 * Math.log(length) - "),
    "the start counted too": ("const length = open[0].ids.length;", "const length = open[0].ids.length + 1;"),
    "one finished is enough": ("finished.length === n &&", "finished.length > 0 &&"),
    "the best finished decides": ("finished[n - 1].rank", "finished[0].rank"),
    "impatient": ("const end = patient && penalty > 0 ? most : length;", "const end = length;"),
    "patient": ("const end = patient && penalty > 0 ? most : length;", "const end = most;"),
    "the open ones never win": ("if (!closed) found.push", "if (false) found.push"),
    "the parent's state shared": ("model.fork(before[from].state)", "before[from].state"),
    "the state of another": ("model.fork(before[from].state)", "model.fork(before[0].state)"),
    "the worst wins": ("b.own > a.own", "b.own < a.own"),
    "finished in no order": (".sort((a, b) => b.rank - a.rank)", ""),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(chromium, fault):
    with opened_twin(chromium, modules=MODULES, faults={"twin/beam": FAULTS[fault]}) as twin:
        load(twin)
        assert not all(agreed(twin, search) for search in reversed(SEARCHES))  # the patient first


def agreed(twin, search):
    try:
        return all(
            same(twin, name, source, most, **search)
            for name in ENDS for source in sources(name) for most in (7, 24)
        )  # fmt: skip
    except Error:  # the page threw, which is seen too
        return False

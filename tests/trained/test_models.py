"""The models that are shipped: they load, they are as good as their records say."""

import importlib
import json
import math

import pytest
import torch

import held_out
from browser import ROOT
from pieces.generate import generate
from pieces.trace import record
from pieces.trained import NAMES, load, path_of, shared
from pieces.trained.file import metadata_of

STORIES = [name for name in NAMES if name.startswith("stories")]
TRANSLATORS = ["translator", "aligner"]
each = pytest.mark.parametrize("name", NAMES)


def records(name):
    return json.loads((ROOT / "experiments" / "records" / f"{name}.json").read_text("utf-8"))


@each
def test_it_loads_ready_for_inference(name):
    model, task, told = vars(load(name)).values()
    assert not model.training
    assert all(weight.dtype == torch.float32 for weight in model.parameters())
    wanted = {"seed", "steps", "parts", "loss", "floor", "accuracy", "parameters", "loss_float32"}
    assert wanted <= set(told)
    assert sum(p.numel() for p in model.parameters()) == told.parameters
    assert model.config.vocab_size == task.vocab_size
    assert path_of(name).stat().st_size <= 1_000_000


@each
def test_its_record_is_the_committed_one(name):
    told, kept = load(name).record, records(name)
    own = [run for run in kept["runs"] if (run["seed"], run["steps"]) == (0, told.steps)]
    assert {key: value for key, value in told.items() if key != "seeds"} == {
        key: value for key, value in own[0].items() if key != "curve"
    }
    assert [run["seed"] for run in told.seeds] == [run["seed"] for run in kept["runs"]]
    assert kept["config"] == metadata_of(path_of(name).read_bytes())["config"]


@each
def test_its_record_has_the_steps_of_its_script(name):
    """All of them, those of its lessons too, and each rate."""
    plan, told = importlib.import_module(name).EXPERIMENT, load(name).record
    configs = [*(lesson.config for lesson in plan.lessons), plan.config]
    assert told.parts == [{"steps": one.steps, "lr": one.lr} for one in configs]
    assert told.steps == sum(one.steps for one in configs)
    for run in (*told.seeds, *records(name)["runs"]):
        assert run["steps"] == sum(part["steps"] for part in run["parts"])
    assert all(run["curve"][-1][0] <= run["steps"] for run in records(name)["runs"])


def test_who_only_reads_a_model_shares_it_and_who_loads_one_has_their_own():
    assert shared("translator") is shared("translator")
    assert load("translator").model is not shared("translator").model
    with pytest.raises(ValueError, match="parrot"):
        shared("parrot")


@pytest.mark.parametrize("name", STORIES)
def test_stories_are_told_as_well_as_the_record_says(name):
    """Measured again, on other held-out stories."""
    shipped = load(name)
    found = held_out.stories(shipped.model, shipped.task, rows=200, seed=99)
    told = shipped.record
    assert found["floor"] == pytest.approx(told.floor, abs=0.03)
    assert found["loss"] - found["floor"] == pytest.approx(told.above_floor, abs=0.01)
    assert found["accuracy"] == pytest.approx(told.accuracy, abs=0.02)
    assert told.loss == pytest.approx(told.loss_float32, abs=0.005)


def test_the_stories_llama_is_near_the_floor():
    assert load("stories_llama").record.above_floor <= 0.02


def test_the_stories_moe_is_near_the_floor_and_began_from_the_shipped_llama():
    """Its words are still where the LLaMA's are."""
    moe, llama = load("stories_moe"), load("stories_llama")
    assert moe.record.above_floor <= 0.05
    wanted = {"name": "stories_llama", "seed": llama.record.seed, "steps": llama.record.steps}
    assert moe.record.begun_from == wanted
    own, theirs = moe.model.state_dict(), llama.model.state_dict()
    a, b = (one["embedding.weight"].flatten() for one in (own, theirs))
    assert torch.cosine_similarity(a, b, dim=0) > 0.9


@pytest.mark.parametrize("name", TRANSLATORS)
def test_sentences_are_translated_as_well_as_the_record_says(name):
    shipped = load(name)
    found = held_out.translation(shipped.model, shipped.task, rows=300, seed=99)
    assert found["loss"] == pytest.approx(shipped.record.loss, abs=0.01)
    assert found["exact"] == pytest.approx(shipped.record.exact, abs=0.02)


def test_the_translator_makes_no_mistake_in_a_hundred_sentences():
    assert load("translator").record.exact >= 0.99


def test_the_aligner_makes_no_mistake_in_a_hundred_sentences():
    assert load("aligner").record.exact >= 0.99


@pytest.mark.parametrize("name", TRANSLATORS)
def test_what_is_written_greedily_is_the_translation(name):
    """Not only the likeliest word behind the right ones: whole sentences, from nothing."""
    shipped = load(name)
    task, rows = shipped.task, 100
    pairs = task.pairs(rows, "held_out", torch.Generator().manual_seed(98))
    options = {"start_id": task.bos_id, "eos_id": task.eos_id, "pad_id": task.pad_id}
    T, mask = pairs.targets.shape[1], pairs.source_mask[:, 0, 0]
    written = generate(shipped.model, pairs.source_ids, T, mask=mask, **options)[:, 1:]
    right = [
        said[said != task.pad_id].tolist() == meant[meant != -100].tolist()
        for said, meant in zip(written, pairs.targets, strict=True)
    ]
    assert sum(right) / rows >= shipped.record.exact - 0.03


@torch.no_grad()
def test_the_aligner_looks_at_what_it_translates():
    """The most weight lies in the phrase: what a reader in both directions notes spreads in it."""
    shipped = load("aligner")
    task = shipped.task
    source = task.encode("昨天那只小猫在花园里看见了一朵花。")[None]
    target = task.encode("<bos> the small cat saw a flower in the garden yesterday .")[None]
    with record(shipped.model) as trace:
        shipped.model(source, target)
    weights = torch.cat([call["weights"] for call in trace.calls("core")], dim=2)[0, 0]
    assert weights.sum(-1).allclose(torch.ones(len(weights)))
    characters = [task.vocabulary[i] for i in source[0]]
    words = ["the", "small", "cat", "saw", "a", "flower", "in", "the", "garden", "yesterday", "."]
    looked = {word: characters[weights[t].argmax()] for t, word in enumerate(words)}
    assert looked["small"] in "那只小猫"
    assert looked["cat"] in "那只小猫在"
    assert looked["garden"] in "花园里"


def test_the_attention_model_has_an_induction_head():
    """Its scores are read again from the weights; removed, it costs what the record says."""
    import heads

    shipped = load("stories_attention")
    told, words = shipped.record, torch.arange(shipped.task.vocab_size)
    layer, head = told.induction_head
    assert layer == 1
    found = heads.scores(shipped.model, words)
    for name, values in found.items():
        assert torch.allclose(values, torch.tensor(told.heads[name]), atol=1e-3)
    assert found["prefix_matching"][layer, head] > 0.4
    whole = heads.second_saying(shipped.model, words)
    assert whole < 0.5 * math.log(len(words))
    with heads.without(shipped.model, layer, head):
        cost = heads.second_saying(shipped.model, words) - whole
    assert cost == pytest.approx(told.heads["cost_of_removal"][layer][head], abs=1e-2)


@pytest.mark.usefixtures("unchecked")
def test_an_unknown_name_is_refused_with_the_known():
    with pytest.raises(ValueError, match="name = 'stories': must be one of stories_attention, "):
        load("stories")

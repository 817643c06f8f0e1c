"""Chapter 15: its answers, and what its words say of a LLaMA and its choices, computed again."""

import functools
import itertools
import math
from dataclasses import replace

import nbformat
import pytest
import torch
from cells import run
from prose import says, words
from torch import nn

from browser import ROOT
from pieces import masks
from pieces.book.ask import question
from pieces.book.figures import llama as figures
from pieces.book.figures import llama_listing as listing
from pieces.feedforward import gelu, relu, swish
from pieces.generate import generate
from pieces.models import llama as known
from pieces.models.llama import LlamaConfig, llama
from pieces.positions import Rotary
from pieces.trained import NAMES, load
from pieces.widgets import ConfigCalculator
from pieces.zoo import MODEL_TABLE

NAME = "15_llama"
CASES = (
    LlamaConfig(vocab_size=110, d_model=24, n_layers=2, n_heads=4, d_ff=50),
    LlamaConfig(vocab_size=130, d_model=24, n_layers=3, n_heads=6, d_ff=50, n_kv_heads=2),
    LlamaConfig(vocab_size=80, d_model=24, n_layers=2, n_heads=4, d_ff=50, head_dim=10),
    known.LLAMA_7B,
)


def texts_at_once(weights=known.LLAMA_2_70B, heads=8, weight_bytes=2, cache_bytes=2):
    """How many full texts take more memory than the weights of LLaMA-2 70B."""
    one = cache_bytes * 2 * weights.n_layers * heads * 128 * weights.max_seq_len
    return math.ceil(weight_bytes * figures.counted(weights)["total"] / one)


def next_stop(texts):
    """Where the slider stops behind this number: eight steps from each power of two to the next."""
    step = 2 ** (int(math.log2(texts)) - 3)
    return -(-texts // step) * step


def wider():
    """How much the parameters of the matrices grow in exercise 15.1."""
    c = CASES[1]
    double = {name: 2 * getattr(c, name) for name in ("d_model", "d_ff", "n_heads", "n_kv_heads")}
    both = [figures.counted(replace(c, head_dim=4, **sizes)) for sizes in ({}, double)]
    few, many = (found["attention"] + found["feed-forward"] for found in both)
    assert both[1]["embedding"] == 2 * both[0]["embedding"]
    return many / few


def shared_heads():
    """The key heads of a checkpoint whose key projection has 1,024 rows."""
    with torch.device("meta"):
        block = llama(replace(known.LLAMA_2_70B, n_layers=1)).stack.blocks[0]
    assert list(block.attention.key.weight.shape) == [1024, 8192]
    return 1024 / (8192 / 64)


ANSWERS = {
    "15.a": lambda: round(float(figures.at_best_rate()["sinusoids"].mean()), 2),
    "15.1": wider,
    "15.2": texts_at_once,
    "15.3": shared_heads,
    "15.5": lambda: math.ceil(989 / 3.35),
}


@functools.cache
def names():
    """What the open cells leave, before anything is trained."""
    return run(NAME, until="## What is each switch worth\\?")


def test_slips_are_what_they_say():
    slips = {name: [number for number, _ in question(name)["slips"]] for name in ANSWERS}
    alone = replace(known.LLAMA_2_70B, n_kv_heads=None)
    assert slips["15.2"] == [
        texts_at_once() - 1, texts_at_once(alone, heads=64), texts_at_once(heads=64),
        texts_at_once(cache_bytes=4), next_stop(texts_at_once()), texts_at_once(weight_bytes=4),
    ]  # fmt: skip
    assert texts_at_once(weight_bytes=1) == 52
    assert texts_at_once(cache_bytes=1) == 206
    two = 2 * 989 / 3.35
    assert slips["15.5"] == [math.ceil(two / 4), math.ceil(two), 1]
    ends = {name: float(of.mean()) for name, of in figures.at_best_rate().items()}
    full, sinusoids, blind = (
        round(ends[name], 2) for name in ("recommended", "sinusoids", "no positions")
    )
    assert slips["15.a"] == [pytest.approx(sinusoids - full), full, blind, 3]
    told = question("15.a")
    assert f"ends {full:.2f} nats above the floor" in told["question"]
    assert f"no positions at all ends at {blind}." in told["slips"][3][1]


def test_the_calculator_of_exercise_2_shows_what_is_asked():
    shown = ConfigCalculator.of(known.LLAMA_2_70B)
    assert (shown.length, shown.batch, shown.n_kv_heads) == (4096, 1, 8)
    assert shown.weights_dtype == shown.cache_dtype == "bfloat16"
    weights = 2 * figures.counted(known.LLAMA_2_70B)["total"]
    one = 2 * 2 * 80 * 8 * 128 * 4096
    told = f"{weights / 1e9:.0f} GB and each full text {one / 1e9:.2f} GB"
    assert told in question("15.2")["why"]


def test_the_old_program_of_exercise_3_had_too_many_rows():
    with torch.device("meta"):
        old = llama(LlamaConfig(32_000, 8192, 80, 64, 28_672)).stack.blocks[0]
    assert list(old.attention.key.weight.shape) == [8192, 8192]
    says(NAME, "copying a param with shape torch.Size([1024, 8192])")


def has_biases(model):
    """Whether the linear maps of a model have a bias: both, in a mixed one."""
    return {part.bias is not None for part in model.modules() if isinstance(part, nn.Linear)}


def test_by_hand_is_the_model_and_its_networks_are_their_formulas():
    found = names()
    model, ids = found["model"], found["ids"]
    assert torch.allclose(found["by_hand"](ids), model(ids), atol=1e-4)
    x, network = torch.randn(5, 96), model.stack.blocks[0].feed_forward
    h = nn.functional.silu(x @ network.gate.weight.T) * (x @ network.up.weight.T)
    assert torch.allclose(network(x), h @ network.down.weight.T, atol=1e-5)
    assert torch.allclose(swish(x), x * x.sigmoid(), atol=1e-6)
    assert torch.allclose(gelu(x), x * (1 + torch.erf(x / 2**0.5)) / 2, atol=1e-6)
    assert torch.equal(relu(x), x.clamp(min=0))
    assert has_biases(model) == {True, False}
    assert has_biases(llama(CASES[0])) == {False}


def test_rotary_scores_depend_on_the_distance():
    q, k = torch.randn(2, 1, 1, 1, 128, dtype=torch.float64)
    turn = Rotary(128).rotate

    def score(i, j):
        turned = turn(q, q, torch.tensor([i]))[0] * turn(k, k, torch.tensor([j]))[0]
        return float(turned.sum())

    assert score(9, 4) == pytest.approx(score(509, 504), rel=1e-9)
    assert score(9, 4) != pytest.approx(score(9, 5), rel=1e-3)
    one = torch.eye(128)[3].double()[None, None, None]
    assert turn(one, one, torch.tensor([5]))[0].flatten().nonzero().flatten().tolist() == [3, 67]
    slowest = 2 * math.pi * 10_000 ** (126 / 128)
    says(NAME, f"some {slowest // 1000 * 1000:,.0f} tokens for one full turn")


def test_how_far_the_llama_is_from_its_floor():
    record = load("stories_llama").record
    above = record.loss - record.floor
    says(
        NAME,
        f"On a larger test of {record.held_out_rows:,} stories our LLaMA has a loss of "
        f"{record.loss:.4f} where the floor is {record.floor:.4f}.",
        f"It ends **{above:.3f} nats above the floor**, which leaves a word "
        f"{100 * math.exp(-above):.1f} % of its true probability.",
        f"A reader who knew this rule would reach {record.floor_rule:.3f}.",
        f"Our LLaMA is {above:.3f} nats above the floor: it gives words "
        f"{100 * math.exp(-above):.1f} % of their true probability",
        f"Over a text of 128 words the shortfall comes to {128 * above:.0f} nats",
        f"One nat above would leave them {100 * math.exp(-1):.0f} % of it.",
    )
    assert math.exp(128 * above) == pytest.approx(7, abs=0.5)
    others = sorted(one["loss"] - one["floor"] for one in record.seeds)
    assert others[0] == pytest.approx(above)
    says(NAME, f"two other training runs ended {others[1]:.3f} and {others[2]:.3f} nats above")


def test_no_other_model_tells_the_stories_as_well():
    says(NAME, "No other model in this book tells the stories that well.")
    own = load("stories_llama")
    for name in NAMES:
        other = load(name)
        if name != "stories_llama" and other.task.vocabulary == own.task.vocabulary:
            least = other.record.loss - other.record.floor
            assert least > own.record.loss - own.record.floor, name


def test_the_table_of_losses_is_above_the_floor():
    log_p = names()["log_p"]
    uniform, model, grammar = (-log_p[name].mean().item() for name in log_p)
    assert uniform == pytest.approx(math.log(names()["task"].vocab_size))
    assert 0 < model - grammar < 0.05


def test_the_formula_counts_what_is_built():
    for c in CASES:
        V, D, L, F, H = c.vocab_size, c.d_model, c.n_layers, c.d_ff, c.n_heads
        G, K = c.n_kv_heads or H, c.head_dim or D // H
        block = 2 * D * K * (H + G) + 3 * D * F + 2 * D
        assert figures.counted(c)["total"] == 2 * V * D + L * block + D
    found = figures.counted(known.LLAMA_7B)
    bare = found["total"] - found["head"]
    says(NAME, f"{bare / 1e9:.2f} billion parameters, or {4 * bare / 1e9:.0f} GB in float32")
    with torch.device("meta"):
        assert llama(replace(known.LLAMA_7B, n_layers=1)).stack.final_norm.weight.is_meta


def test_the_same_numbers_as_the_library():
    found = names()
    ours, library, model, ids = (found[name] for name in ("ours", "library", "model", "ids"))
    assert list(ours) == list(library) == ["whole", "padded", "cached"]
    for name, mine in ours.items():
        assert mine.shape == library[name].shape
        assert (mine - library[name]).abs().max() < 5e-5, name
    assert (ours["padded"] - found["theirs"](found["short"]).logits).abs().max() < 5e-5
    T, N = ids.shape[1], found["short"].shape[1]
    assert found["places"][1].tolist() == [0] * (T - N) + list(range(N))
    shifted = model(ids, positions=torch.arange(T) + 40)
    assert torch.allclose(shifted, ours["whole"], atol=1e-3)
    unmasked = model(found["padded"], positions=found["places"])[1:, -N:]
    assert (unmasked - ours["padded"]).abs().max() > 0.1
    theirs = found["theirs"].generate(ids, max_new_tokens=30, do_sample=False)
    assert torch.equal(theirs, generate(model, ids, 30))


def test_a_difference_would_be_told():
    one = {"whole": torch.zeros(1, 2, 3)}
    other = {"whole": torch.full((1, 2, 3), 0.25)}
    assert "0.25000" in repr(figures.compared(one, other, "abc"))
    assert "under 0.00005" in repr(figures.compared(one, one, "abc"))


def test_a_cache_changes_the_work_and_not_the_text():
    found = names()
    begun = found["ids"].shape[1]
    assert torch.equal(found["kept"], found["anew"])
    assert torch.equal(found["kept"], generate(found["model"], found["ids"], 40))
    assert found["few"] == begun + 39
    assert found["many"] == sum(range(begun, begun + 40))


def test_the_small_llama_is_as_large_as_told():
    line = "LlamaConfig(task.vocab_size, 48, 2, 4, 128, max_seq_len=128, tied=True)"
    assert f"small = {line}" in code()
    small = eval(line, {"task": names()["task"], "LlamaConfig": LlamaConfig})
    says(NAME, f"a LLaMA of some {figures.counted(small)['total'] / 1000:.0f},000 parameters")


def code():
    """The chapter's code cells."""
    notebook = nbformat.read(ROOT / "chapters" / f"{NAME}.ipynb", as_version=4)
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")


def test_each_model_had_a_rate_between_two_others():
    for name, by_rate in figures.tried_rates().items():
        rates = list(by_rate)
        assert rates[0] < figures.best_rate(by_rate) < rates[-1], name
        assert {len(of) for of in by_rate.values()} == {2}
    assert figures.best_rate(figures.tried_rates()["recommended"]) == 0.02


def test_rates_that_are_too_high():
    found = figures.tried_rates()
    first, second = found["post-norm"][0.02]
    says(NAME, f"post-norm alone ended {first:.2f} and {second:.2f} nats above the floor.")
    assert min(found["none of the four"][0.01]) > 3
    assert figures.best_rate(found["post-norm"]) < figures.best_rate(found["recommended"])
    slow = [sum(found[name][0.005]) / 2 for name in ("recommended", "none of the four")]
    says(
        NAME,
        f"even the recommended model ended {slow[0]:.2f} above the floor, and the one "
        f"without all four {slow[1]:.2f}",
    )


def test_what_each_switch_is_worth():
    ends = figures.at_best_rate()
    assert {len(of) for of in ends.values()} == {3}
    worse = {name: of - ends["recommended"] for name, of in ends.items()}
    one = worse["sinusoids"]
    says(
        NAME,
        f"With sinusoids a model ends {one.mean():.2f} nats farther from the floor, "
        f"{one.min():.2f} to {one.max():.2f} over the three seeds, and words get "
        f"{math.exp(-one.mean()):.2f} times the probability they had.",
        f"rotary positions instead of sinusoids were worth most, {one.mean():.2f} nats",
        f"Without any positions it ends {ends['no positions'].mean():.2f} above the floor",
        f"a model ends {worse['none of the four'].mean():.2f} nats farther away",
    )
    spread = float(ends["recommended"].max() - ends["recommended"].min())
    for name in ("LayerNorm", "GELU", "post-norm"):
        assert abs(worse[name].mean()) < 0.05 < spread, name
        assert worse[name].min() < 0 < worse[name].max(), name
    assert (one > 0).all()
    blind = worse["no positions"]
    assert (blind > one).all()
    back = 100 * (blind - one) / blind
    says(
        NAME,
        f"sinusoids recover {100 * (blind - one).mean() / blind.mean():.0f} % of what rotary "
        f"positions are worth, {back.min():.0f} to {back.max():.0f} % over the three seeds",
    )


def test_what_all_models_of_the_switches_share():
    record = figures.measured.record_of("llama_switches")
    assert {run["steps"] for run in record["runs"]} == {200}
    counts = [run["parameters"] for run in record["runs"]]
    assert min(counts) > 129_500
    assert max(counts) < 130_600
    assert min(run["above_floor"] for run in record["runs"]) > 0.5
    says(NAME, "two layers of width 64 with some 130,000 parameters", "for 200 steps")


def test_how_many_of_the_table_are_decoders():
    kinds = [row.built.category for row in MODEL_TABLE.values()]
    assert len(kinds) == 25
    says(NAME, f"Twenty-five published models, {kinds.count('causal')} of them decoders like this")


def test_where_the_printed_llama_stops():
    happened = {}
    for name, step in listing.steps().items():
        try:
            happened[name] = list(step().shape)
        except Exception as error:
            happened[name] = type(error)
    assert list(happened.values()) == [
        AttributeError, RuntimeError, KeyError, TypeError, ValueError, [listing.T, listing.D],
    ]  # fmt: skip
    layer, given = listing.library_layer()
    assert layer(**given).shape == (listing.B, listing.T, listing.D)
    assert len(layer.self_attn(**given, attention_mask=None)) == 2
    upper = torch.full((6, 6), True).triu(1)
    assert torch.equal(upper, torch.full((9, 9), True).triu(1)[:6, :6])


def test_both_masks_of_a_padded_text():
    right = masks.causal(5) & masks.padding([5, 3], 5, "left")
    shown = repr(listing.who_sees()).splitlines()
    assert shown[-1].split("  ")[0] == "word"
    rows = [line.replace("padding", "").replace("word", "").split() for line in shown[2:]]
    assert [[cell == "x" for cell in row[:5]] for row in rows] == right[1, 0].tolist()
    for query, key in itertools.product(range(5), range(5)):
        assert (rows[query][5 + key] == "x") == (key > query >= 2)


def test_the_sizes_of_the_llamas():
    billions = [
        round(figures.counted(c)["total"] / 1e9)
        for c in (known.LLAMA_7B, known.LLAMA_13B, known.LLAMA_33B, known.LLAMA_65B)
    ]
    assert billions == [7, 13, 33, 65]
    old = figures.counted(replace(known.LLAMA_2_70B, n_kv_heads=None))["total"]
    says(NAME, f"With the usual 64 it would have {old / 1e9:.0f} billion parameters")
    assert "chapter 16" not in words(NAME)


@pytest.mark.parametrize("B", [1, 2, 3, 4])
def test_the_listings_mask_fits_by_chance_only(B):
    """A mask [B, T, T] over scores [B, H, T, T], H = 4."""
    scores, mask = torch.zeros(B, 4, 6, 6), torch.zeros(B, 6, 6)
    try:
        fits = (scores + mask).shape == scores.shape
    except RuntimeError:
        fits = False
    assert fits == (B in (1, 4))
    says(NAME, "fits `[B, H, T, T]` only if $B$ is 1 or $H$.")

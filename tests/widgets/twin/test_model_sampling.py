"""The twin of `pieces.sampling`: the same tokens stay, with the same probabilities, ties too."""

import base64
import math

import pytest
import torch
from twins import build, opened_twin, packed

from pieces import sampling
from pieces.generate import generate
from pieces.widgets.base import inlined

SETTINGS = [
    {"temperature": 1.0},
    {"temperature": 0.3},
    {"temperature": 7.0},
    {"temperature": 1.0, "topK": 1},
    {"temperature": 0.7, "topK": 5},
    {"temperature": 1.0, "topK": 99},
    {"temperature": 1.0, "topP": 0.5},
    {"temperature": 1.3, "topP": 0.9},
    {"temperature": 1.0, "topP": 1.0},
    {"temperature": 1.0, "topP": 1e-6},
    {"temperature": 0.8, "topK": 7, "topP": 0.6},
]
# Rows on which rounding decides, and rows in which several are equal.
ROWS = {
    "equal": torch.zeros(8),
    "pairs": torch.tensor([1.0, 1, 2, 2, 0, 0, 3, 3]),
    "quarters": torch.log(torch.tensor([0.25, 0.25, 0.25, 0.25])),
    "halves": torch.log(torch.tensor([0.5, 0.25, 0.125, 0.125])),
    "hidden": torch.tensor([1.0, -math.inf, 2.0, -math.inf, 2.0]),
    "one": torch.tensor([3.0]),
    "large": torch.tensor([900.0, 899.0, -900.0]),
} | {
    f"random {n}": torch.randn(n, generator=torch.Generator().manual_seed(n)) * 3 for n in (37, 500)
}


def left(logits, temperature, topK=None, topP=None):
    """What `sampling.choose` draws from."""
    logits = sampling.tempered(logits, temperature)
    logits = logits if topK is None else sampling.top_k(logits, topK)
    logits = logits if topP is None else sampling.top_p(logits, topP)
    return logits.softmax(dim=-1)


@pytest.fixture(scope="module")
def twin(chromium):
    with opened_twin(chromium) as twin:
        text = base64.b64encode(inlined("twin/twin").encode()).decode()
        twin.page.evaluate(
            "(url) => import(url).then((t) => { window.t = t; })",
            f"data:text/javascript;base64,{text}",
        )
        kind, model = build("llama")
        twin.load("llama", packed(model, kind))
        yield twin


def sent(row):
    """A row as JSON has it."""
    return [x if math.isfinite(x) else None for x in row.tolist()]


READ = "Float32Array.from(a.row, (x) => x ?? -Infinity)"


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_same_tokens_with_the_same_probabilities(twin, row, settings):
    expected = left(ROWS[row], **settings)
    got = torch.tensor(twin(f"sampling.distribution({READ}, a.s)", row=sent(ROWS[row]), s=settings))
    # With p = 1, the last bit of exp decides about tokens of a millionth.
    rare = torch.maximum(got, expected) < 1e-6
    assert (((got > 0) == (expected > 0)) | rare).all(), "other tokens stay"
    assert (got - expected).abs().max() < 1e-6


@pytest.mark.parametrize("row", ROWS)
def test_temperature_0_is_greedy(twin, row):
    best = int(sampling.choose(ROWS[row][None]))
    assert twin(f"sampling.choose({READ}, {{ temperature: 0 }})", row=sent(ROWS[row])) == best
    only = twin(f"sampling.distribution({READ}, {{ temperature: 0 }})", row=sent(ROWS[row]))
    assert only[best] == sum(only) == 1


@pytest.mark.parametrize("settings", SETTINGS[::2], ids=str)
def test_draws_follow_the_distribution(twin, settings):
    row, n = ROWS["random 37"], 20_000
    script = f"""(() => {{
      const random = t.uniform(11), counts = new Array(a.row.length).fill(0), row = {READ};
      for (let i = 0; i < {n}; i++) counts[sampling.choose(row, {{ ...a.s, random }})]++;
      return counts;
    }})()"""
    counts = torch.tensor(twin(script, row=sent(row), s=settings), dtype=torch.float64)
    expected = left(row, **settings).double() * n
    assert counts[expected == 0].sum() == 0
    common = expected >= 5
    chi = ((counts - expected)[common] ** 2 / expected[common]).sum()
    freedom = int(common.sum()) - 1
    assert chi < freedom + 4 * math.sqrt(2 * freedom) + 4


@pytest.mark.parametrize("edge", [0, 1 - 2**-33])
def test_the_ends_of_the_draw_are_tokens_that_stay(twin, edge):
    row = ROWS["hidden"]
    got = twin(f"sampling.choose({READ}, {{ random: () => a.edge }})", row=sent(row), edge=edge)
    assert row[got].isfinite()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("tempered([1], 0)", "above 0"),
        ("tempered([1], -1)", "above 0"),
        ("tempered([1], NaN)", "above 0"),
        ("topK([1], 0)", "whole number from 1"),
        ("topK([1], 1.5)", "whole number from 1"),
        ("topP([1], 0)", "at most 1"),
        ("topP([1], 1.01)", "at most 1"),
        ("topP([1], NaN)", "at most 1"),
    ],
)
def test_settings_that_mean_nothing_are_refused(twin, call, said):
    with pytest.raises(Exception, match=said):
        twin(f"sampling.{call}")


def test_greedy_text_is_that_of_generate(twin):
    _, model = build("llama")
    ids = torch.tensor([[4, 3, 5]])
    expected = generate(model, ids, 12)[0, 3:].tolist()
    script = """(() => {
      const words = [];
      for (const { id, probability } of models.llama.continued(a.ids)) {
        if (!(probability > 0 && probability <= 1)) throw new Error(`${probability}`);
        words.push(id);
        if (words.length === 12) return words;
      }
    })()"""
    assert twin(script, ids=ids[0].tolist()) == expected


def test_a_seed_gives_the_same_text_again(twin):
    script = """((seed) => {
      const words = [];
      const options = { temperature: 1, random: t.uniform(seed) };
      for (const { id } of models.llama.continued([4], options)) {
        if (words.push(id) === 20) return words;
      }
    })"""
    first, again, other = (twin(f"{script}({seed})") for seed in (3, 3, 4))
    assert first == again != other


def test_a_text_ends_where_the_places_do(twin):
    kind, model = build("gpt2")
    twin.load("gpt2", packed(model, kind))
    assert twin("[...models.gpt2.continued([4, 5])].length") == 19 - 2 + 1

"""Faults put into the twin on purpose: each must be seen by the comparison with `pieces`."""

import pytest
import torch
from playwright.sync_api import Error
from twins import Twin, build, packed

from pieces.trace import record

TOLERANCE = 1e-5
# A module, what stands there, and what a slip of the pen would have made of it.
FAULTS = {
    "neighbours are turned, not halves": ("llama", "flat", "const b = a + half;", "const b = a + 1;"),
    "turned the other way": ("llama", "flat", "x[a] = first * c - x[b] * s;", "x[a] = first * c + x[b] * s;"),
    "positions from 1": ("llama", "flat", "Math.fround((start + t) * frequency)", "Math.fround((start + t + 1.001 * t) * frequency)"),
    "a cached token one too early": ("llama", "decoder", "rotation(memory.length, T", "rotation(Math.max(0, memory.length - 1), T"),
    "keys not turned": ("llama", "layers", "if (turn) rotate(k, kvHeads, K, turn);", ""),
    "gate and up exchanged": ("llama", "layers", "open[i] * u", "bend(u) * wide[i]"),
    "other eps": ("biased", "decoder", "norm_eps: eps }", "norm_eps, eps = 1e-5 }"),
    "no last norm": ("llama", "decoder", "x = leave(x, T, watch);", ""),
    "no first norm": ("llama", "layers", "past(layer(normed(x, T, watch)))", "past(layer(x))"),
    "mean not taken away": ("gpt2", "flat", "gain[i] * (x[a + i] - mean)", "gain[i] * x[a + i]"),
    "exact gelu for its tanh": ("gpt2", "flat", "gelu_tanh: (x) =>", "gelu_tanh: (x) => x * normalBelow(x) || "),
    "places one off": ("gpt2", "decoder", "ids.map((_, t) => memory.length + t)", "ids.map((_, t) => memory.length + t + 1)"),
    "groups by turns": ("two-key-heads", "layers", "Math.floor((h * kvHeads) / heads) * K", "(h % kvHeads) * K"),
    "values of the wrong group": ("two-key-heads", "layers", "Math.floor((Math.floor(at / T) * kvHeads) / heads) * K", "(Math.floor(at / T) % kvHeads) * K"),
    "scores not scaled": ("llama", "layers", "const root = Math.sqrt(K);", "const root = 1;"),
    "a look ahead": ("llama", "layers", "S - T + t + 1 : S", "Math.min(S, S - T + t + 2) : S"),
    "heads not merged": ("llama", "layers", "output(merged(z, T), T, watch)", "output(z, T, watch)"),
    "window one too wide": ("one-expert", "layers", "to - window)", "to - window - 1)"),
    "experts not weighed": ("mixtral", "experts", "shares[i] * part[d]", "part[d] / k"),
    "the worst experts": ("mixtral", "routing", "row[b] - row[a]", "row[a] - row[b]"),
    "up before gate": ("mixtral", "experts", "activations.swish(gate) * both[F + i]", "activations.swish(both[F + i]) * gate"),
    "no norm behind the sum": ("translator", "layers", ": normed(past(layer(x)), T, watch)", ": past(layer(x))"),
    "the encoder looks back only": ("translator", "encoder_decoder", "causal: writes", "causal: true"),
    "the embedding not scaled": ("translator", "encoder_decoder", "Math.sqrt(D)", "1"),
    "sines and cosines exchanged": ("translator", "flat", "i % 2 ? Math.cos(angle)", "i % 2 === 0 ? Math.cos(angle)"),
    "bias forgotten": ("gpt2", "flat", "if (b) for", "if (0) for"),
    "the last outputs lost": ("llama", "flat", "for (let o = whole; o < m; o++)", "for (let o = whole + 1; o < m; o++)"),
    "rows of weights as columns": ("llama", "flat", "W[w + i], u1 = W[w1 + i]", "W[w1 + i], u1 = W[w + i]"),
}  # fmt: skip


def agrees(twin, name):
    """Whether a model, read in two parts, has the logits and the weights of `pieces`."""
    kind, model = build(name)
    twin.load(name, packed(model, kind))
    ids, source = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6, 5]]), torch.tensor([[8, 9, 7, 9, 3]])
    reads = kind == "encoder_decoder"
    with torch.no_grad(), record(model) as trace:
        expected = (model(source, ids) if reads else model(ids))[0]
    script = """((m) => {
      const first = m.run(a.ids.slice(0, 6), { source: a.source });
      const rest = a.ids.slice(6).map((id) => m.step(first.state, id));
      const whole = m.run(a.ids, { source: a.source, keep: ["weights"] });
      const logits = [first, ...rest].flatMap((part) => [...part.logits.data]);
      return { logits, whole: whole.logits.data, inner: whole.inner };
    })(models[a.name])"""
    got = twin(script, name=name, ids=ids[0].tolist(), source=source[0].tolist() if reads else None)
    pairs = [(got["logits"], expected), (got["whole"], expected)]
    pairs += [(got["inner"][core]["weights"]["data"], trace[core]["weights"]) for core in trace]
    return all(
        (torch.tensor([float(x) for x in a]) - b.flatten()).abs().max() < TOLERANCE
        for a, b in pairs
    )


@pytest.fixture(scope="module")
def page(chromium):
    page = chromium.new_page()
    yield page
    page.close()


@pytest.mark.parametrize("name", sorted({fault[0] for fault in FAULTS.values()}))
def test_without_a_fault_they_agree(page, name):
    assert agrees(Twin(page, modules=["twin/model"]), name)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(page, fault):
    name, module, old, new = FAULTS[fault]
    twin = Twin(page, modules=["twin/model"], faults={f"twin/{module}": (old, new)})
    try:
        same = agrees(twin, name)
    except Error:  # the page threw, which is seen too
        same = False
    assert not same

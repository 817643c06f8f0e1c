"""The twin of the aligner against `pieces` in float64, on the same unpacked weights, in a browser."""

import copy

import pytest
import torch
from twins import ALIGNERS, CACHED, build, opened_twin, packed

from pieces import trained
from pieces.trace import record
from pieces.trained.packing import quantised, restore

TOLERANCE = 1e-5
SHIPPED = trained.load("aligner")
NAMES = [*ALIGNERS, "shipped"]


@torch.no_grad()
def choosy(model):
    """The same with larger scores, so that its weights are far from equal."""
    model.core.score.v.weight.mul_(6)
    return model


@pytest.fixture(scope="module")
def models():
    return {name: choosy(build(name)[1]) for name in ALIGNERS} | {"shipped": SHIPPED.model}


@pytest.fixture(scope="module")
def twin(chromium, models):
    with opened_twin(chromium) as twin:
        for name in ALIGNERS:
            twin.load(name, packed(models[name], "aligner"))
        twin.load("shipped", trained.path_of("aligner").read_bytes())
        yield twin


def exact(model, source, target):
    """Logits [T, V] and weights [T, S] in float64."""
    model = copy.deepcopy(model).double()
    with torch.no_grad(), record(model) as trace:
        logits = model(source[None], target[None])[0]
    return logits, torch.cat([call["weights"][0, 0] for call in trace.calls("core")])


def sentence(name, model, S, T):
    """Random ids; of the shipped model, a held-out pair of its task, cut or repeated to size."""
    generator = torch.Generator().manual_seed(S + 31 * T)
    if name == "shipped":
        pairs = SHIPPED.task.pairs(1, "held_out", generator)
        return pairs.source_ids[0].repeat(4)[:S], pairs.target_ids[0].repeat(9)[:T]
    ids = torch.randint(0, model.config.vocab_size, (S + T,), generator=generator)
    return ids[:S], ids[S:]


def far(got, expected):
    assert tuple(got.shape) == tuple(expected.shape)
    return float((got - expected).abs().max())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("S", "T"), [(1, 1), (1, 9), (2, 1), (7, 5), (20, 14), (33, 24)])
def test_logits_and_weights_agree(twin, models, name, S, T):
    source, target = sentence(name, models[name], S, T)
    logits, weights = exact(models[name], source, target)
    got = twin.run(name, target, source=source, keep=["weights"])
    assert logits.std() > 0.1, "logits that hardly differ would prove nothing"
    assert S == 1 or weights.max() > 1.01 * weights.min(), "nor would equal weights"
    assert far(got["logits"], logits) < TOLERANCE
    assert far(got["probabilities"], logits.softmax(-1)) < TOLERANCE
    assert list(got["inner"]) == ["core"]
    assert far(got["inner"]["core"]["weights"][0], weights) < TOLERANCE


def test_a_hundred_sentences_of_the_task(twin):
    """Every sentence says the same in the page, word for word, and looks at the same places."""
    generator = torch.Generator().manual_seed(11)
    pairs = SHIPPED.task.pairs(100, "held_out", generator)
    for source, mask, target in zip(pairs.source_ids, pairs.source_mask[:, 0, 0], pairs.target_ids,
                                    strict=True):  # fmt: skip
        target = target[target != SHIPPED.task.pad_id]
        logits, weights = exact(SHIPPED.model, source[mask], target)
        got = twin.run("shipped", target, source=source[mask], keep=["core"])
        assert far(got["logits"], logits) < TOLERANCE
        assert far(got["inner"]["core"]["weights"][0], weights) < TOLERANCE
        assert torch.equal(got["logits"].argmax(-1), logits.argmax(-1))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sizes", [[1] * 8, [5, 1, 1, 1], [1, 4, 3], [8]])
def test_word_by_word_is_all_at_once(twin, models, name, sizes):
    source, target = sentence(name, models[name], 9, 8)
    parts = [part.tolist() for part in target.split(sizes)]
    got = twin(CACHED, name=name, parts=parts, source=source.tolist())
    got = torch.cat([torch.tensor(p["data"]).reshape(p["shape"]) for p in got])
    assert far(got, twin.run(name, target, source=source)["logits"]) < 1e-6


@pytest.mark.parametrize("module", ["embedding", "core", "start", "mix", "head"])
def test_inner_values_have_the_names_of_the_modules(twin, models, module):
    model = models["aligner-odd"]
    source, target = sentence("aligner-odd", model, 6, 4)
    with torch.no_grad(), record(model, outputs=[module]) as trace:
        model(source[None], target[:1][None])
    got = twin.run("aligner-odd", target[:1], source=source, keep=[module])["inner"][module]
    expected = trace[module]["output"]
    assert far(got["output"].flatten(), expected.flatten()) < TOLERANCE


def test_a_fork_goes_another_way(twin):
    script = """((m) => {
      const { state } = m.run([4, 5], { source: [1, 2, 3] });
      const other = m.fork(state);
      m.step(state, 7);
      return [m.step(other, 8).logits.data, m.run([4, 5, 8], { source: [1, 2, 3], last: true }).logits.data];
    })(models.aligner)"""
    first, second = twin(script)
    assert first == pytest.approx(second, abs=1e-6)


@pytest.mark.parametrize("precision", ["int8", "fp16", "fp32"])
def test_on_the_same_unpacked_weights(twin, precision):
    _, model = build("aligner-odd")
    small = quantised(model.state_dict(), precision)
    model.load_state_dict(restore(small))
    twin.load("it", packed(model, "aligner", small))
    source, target = sentence("it", model, 8, 6)
    got = twin.run("it", target, source=source)["logits"]
    assert far(got, exact(model, source, target)[0]) < TOLERANCE


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("models.aligner.run([1])", "needs one"),
        ("models.aligner.run([1], { source: [] })", "needs one"),
        ("models.aligner.run([1], { source: [37] })", "37 is no token"),
        ("models.aligner.run([], { source: [1] })", "at least one token"),
        ("models.aligner.run([1], { source: [1], off: [[0, 0]] })", "no such part"),
    ],
)
def test_what_cannot_be_run_is_refused_by_name(twin, call, said):
    with pytest.raises(Exception, match=said):
        twin(call)


FAULTS = {
    "gates in another order": ("[d, D + d]", "[D + d, d]"),
    "reset after the sum": ("+ reset * fromState[2 * D + d])", "+ fromState[2 * D + d])"),
    "read in one direction": ("backward(x[S - 1 - s], back)", "backward(x[s], back)"),
    "backward half at the wrong end": ("annotations.slice(half, D)", "annotations.slice(-half)"),
    "the score of a later state": ("weigh(memory);", "weigh({ ...memory, state: write(joined(word, word), memory.state) });"),
    "the context first": ("joined(word, context)", "joined(context, word)"),
    "no tanh in the score": ("Math.tanh(x + keys[s * K + k])", "(x + keys[s * K + k])"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(chromium, models, fault):
    source, target = sentence("aligner", models["aligner"], 7, 5)
    logits, _ = exact(models["aligner"], source, target)
    with opened_twin(chromium, faults={"twin/aligner": FAULTS[fault]}) as twin:
        twin.load("it", packed(models["aligner"], "aligner"))
        assert far(twin.run("it", target, source=source)["logits"], logits) > 100 * TOLERANCE

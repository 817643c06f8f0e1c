"""The twin of the trained models against `pieces`, on random models of every kind, in a browser."""

import pytest
import torch
from twins import CACHED, MODELS, build, opened_twin, packed

from pieces.cache import GrowingCache
from pieces.trace import record

TOLERANCE = 1e-5
SOURCE = torch.tensor([[5, 3, 36, 0, 11, 2, 9]])
LENGTHS = (1, 2, 7, 18)


def ids_of(T, seed=0):
    return torch.randint(0, 37, (1, T), generator=torch.Generator().manual_seed(seed + T))


@pytest.fixture(scope="module")
def models():
    return {name: build(name) for name in MODELS}


@pytest.fixture(scope="module")
def twin(chromium, models):
    """The models packed in float32; the ones that it is held against turn to float64."""
    with opened_twin(chromium) as twin:
        for name, (kind, model) in models.items():
            twin.load(name, packed(model, kind))
            model.double()
        yield twin


def reads(model):
    return hasattr(model, "encode")


def forward(model, ids):
    """The logits in float64, so that only the twin's own error is measured."""
    with torch.no_grad():
        return model(SOURCE, ids) if reads(model) else model(ids)


def asked(model, **options):
    """Return the options of `run`, the source among them where there is one."""
    return ({"source": SOURCE[0]} if reads(model) else {}) | options


def far(got, expected):
    """Return the largest difference; shapes must be the same."""
    assert tuple(got.shape) == tuple(expected.shape)
    return float((got - expected).abs().max())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("T", LENGTHS)
def test_logits_agree(twin, models, name, T):
    _, model = models[name]
    ids = ids_of(T)
    expected = forward(model, ids)[0]
    got = twin.run(name, ids[0], **asked(model))
    assert expected.std() > 0.3, "logits that hardly differ would prove nothing"
    assert far(got["logits"], expected) < TOLERANCE
    assert far(got["probabilities"], expected.softmax(dim=-1)) < TOLERANCE


def rotates(model):
    return not reads(model) and not hasattr(model.position, "weight")


@pytest.mark.parametrize("name", MODELS)
def test_beyond_the_length_of_training(twin, models, name):
    _, model = models[name]
    ids = ids_of(50)
    if not rotates(model) and not reads(model):
        with pytest.raises(Exception, match="places for 19 tokens"):
            twin.run(name, ids[0])
        return
    assert far(twin.run(name, ids[0], **asked(model))["logits"], forward(model, ids)[0]) < TOLERANCE


def every_module(model):
    return [name for name, _ in model.named_modules() if name]


@pytest.mark.parametrize("name", MODELS)
def test_inner_values_agree_under_their_names(twin, models, name):
    _, model = models[name]
    ids = ids_of(9)
    with record(model, outputs=every_module(model)) as trace:
        forward(model, ids)
    keep = ["*." * depth + "*" for depth in range(7)]
    inner = twin.run(name, ids[0], **asked(model, keep=keep))["inner"]
    for module, values in inner.items():
        for key, value in values.items():
            if (
                key == "visits"
            ):  # what each expert said: no module gives it back, see test_inside.py
                continue
            assert far(value, original(trace, module, key)) < TOLERANCE, (module, key)
    assert wanted(trace) <= {(module, key) for module, parts in inner.items() for key in parts}


def original(trace, module, key):
    """What PyTorch recorded, without the batch."""
    call = trace[module]
    if module.endswith("router"):
        return dict(zip(("weights", "experts", "logits"), call["output"], strict=True))[key][0]
    if key in ("queries", "keys", "values"):
        return call[key][0].transpose(0, 1)
    return call[key][0]


def wanted(trace):
    """What must be among the inner values, by name."""
    names = {(name, "weights") for name in trace if name.endswith(".core")}
    names |= {(name, "output") for name in trace if name.endswith((".core", ".attention", ".norm"))}
    names |= {(name, "output") for name in trace if name.split(".")[-1].isdigit()}
    names |= {(n, "output") for n in trace if n.endswith((".feed_forward.dropout", ".query"))}
    return names | {(name, "experts") for name in trace if name.endswith("router")}


@pytest.mark.parametrize(
    ("word", "name", "end"),
    [
        ("weights", "llama", "core"),
        ("stream", "llama", "blocks.1"),
        ("hidden", "gpt2", "dropout"),
        ("routing", "mixtral", "router"),
    ],
)
def test_only_what_is_asked_for_is_kept(twin, word, name, end):
    assert twin.run(name, [1, 2, 3])["inner"] == {}
    inner = twin.run(name, [1, 2, 3], keep=[word])["inner"]
    assert len(inner) >= 2
    assert all(key.endswith(end) or word == "stream" for key in inner)
    assert any(key.endswith(end) for key in inner)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("sizes", [[1] * 8, [5, 1, 1, 1], [1, 4, 3], [8]])
def test_cached_is_uncached(twin, models, name, sizes):
    _, model = models[name]
    ids = ids_of(8)
    parts = [part[0].tolist() for part in ids.split(sizes, dim=1)]
    source = SOURCE[0].tolist() if reads(model) else None
    got = torch.cat(
        [
            torch.tensor(p["data"]).reshape(p["shape"])
            for p in twin(CACHED, name=name, parts=parts, source=source)
        ]
    )
    assert far(got, twin.run(name, ids[0], **asked(model))["logits"]) < 1e-6
    assert far(got, forward(model, ids)[0]) < TOLERANCE


def test_a_step_sees_what_pieces_sees_with_its_cache(twin, models):
    _, model = models["two-key-heads"]
    ids, cache = ids_of(6), GrowingCache()
    with torch.no_grad(), record(model) as trace:
        model(ids[:, :5], cache=cache)
        model(ids[:, 5:], cache=cache)
    script = """((m) => {
      const { state } = m.run(a.ids.slice(0, 5));
      return m.step(state, a.ids[5], { keep: ["weights"] }).inner;
    })(models["two-key-heads"])"""
    got = twin(script, ids=ids[0].tolist())["stack.blocks.1.attention.core"]["weights"]
    assert got["shape"] == [4, 1, 6]
    weights = trace["stack.blocks.1.attention.core"]["weights"][0]
    assert far(torch.tensor(got["data"]).reshape(4, 1, 6), weights) < TOLERANCE


def test_a_fork_goes_another_way(twin):
    script = """((m) => {
      const { state } = m.run([4, 5, 6]);
      const other = m.fork(state);
      m.step(state, 7);
      return [m.step(other, 8).logits.data, m.run([4, 5, 6, 8], { last: true }).logits.data];
    })(models.llama)"""
    first, second = twin(script)
    assert first == pytest.approx(second, abs=1e-6)


def test_the_last_logits_alone(twin):
    whole = twin.run("gpt2", [4, 5, 6])["logits"]
    last = twin.run("gpt2", [4, 5, 6], last=True)["logits"]
    assert last.shape == (1, 37)
    assert far(last[0], whole[-1]) == 0


def hooked(model, ids, changes):
    """The logits where outputs of modules are changed: {name: function}."""
    modules = dict(model.named_modules())
    hooks = [
        modules[n].register_forward_hook(lambda module, args, out, change=change: change(out))
        for n, change in changes.items()
    ]
    try:
        return forward(model, ids)[0]
    finally:
        for hook in hooks:
            hook.remove()


def without(heads):
    def change(output):
        z = output[0].clone()
        z[:, heads] = 0
        return z, output[1]

    return change


@pytest.mark.parametrize("name", MODELS)
def test_heads_switched_off_are_heads_set_to_zero(twin, models, name):
    _, model = models[name]
    ids = ids_of(7)
    side = "decoder" if reads(model) else "stack"
    plain = forward(model, ids)[0]
    for head in range(model.config.n_heads):
        changed = hooked(model, ids, {f"{side}.blocks.0.attention.core": without([head])})
        layer = f"{side}.blocks.0.attention" if reads(model) else 0
        got = twin.run(name, ids[0], **asked(model, off=[[layer, head]]))["logits"]
        assert far(changed, plain) > 0.01
        assert far(got, changed) < TOLERANCE


@pytest.mark.parametrize("part", ["encoder.blocks.1.attention", "decoder.blocks.1.cross_attention"])
def test_every_attention_of_an_encoder_decoder_can_be_switched_off(twin, models, part):
    _, model = models["translator"]
    ids = ids_of(7)
    changed = hooked(model, ids, {f"{part}.core": without([0, 2])})
    got = twin.run("translator", ids[0], **asked(model, off=[[part, 0], [part, 2]]))["logits"]
    assert far(changed, forward(model, ids)[0]) > 0.01
    assert far(got, changed) < TOLERANCE


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_a_hidden_unit_can_be_held(twin, models, name):
    _, model = models[name]
    ids = ids_of(7)

    def held(output):
        output = output.clone()
        output[..., 34] = 2.5
        return output

    changed = hooked(model, ids, {"stack.blocks.1.feed_forward.dropout": held})
    got = twin.run(name, ids[0], clamp=[{"layer": 1, "unit": 34, "value": 2.5}])["logits"]
    assert far(changed, forward(model, ids)[0]) > 0.01
    assert far(got, changed) < TOLERANCE


def test_anything_else_can_be_edited(twin, models):
    _, model = models["gpt2"]
    ids = ids_of(7)
    changed = hooked(model, ids, {"stack.blocks.0": lambda x: x * 0.5})
    script = """models.gpt2.run(a.ids, { edit: (name, key, value) => {
      if (name === "stack.blocks.0") value.data.forEach((x, i) => { value.data[i] = x / 2; });
    } }).logits"""
    got = twin(script, ids=ids[0].tolist())
    assert far(torch.tensor(got["data"]).reshape(got["shape"]), changed) < TOLERANCE


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("models.llama.run([])", "at least one token"),
        ("models.llama.run([37])", "37 is no token"),
        ("models.llama.run([1.5])", "1.5 is no token"),
        ("models.llama.run([1], { off: [[2, 0]] })", "no such part"),
        ("models.llama.run([1], { off: [[0, 4]] })", "4 is none of its 4"),
        ("models.llama.run([1], { clamp: [{ layer: 0, unit: 35, value: 1 }] })", "35 is none"),
        ("models.mixtral.run([1], { clamp: [{ layer: 0, unit: 0, value: 1 }] })", "no such part"),
        ("models.llama.run([1], { source: [1] })", "no use for one"),
        ("models.translator.run([1])", "needs one"),
    ],
)
def test_what_cannot_be_run_is_refused_by_name(twin, call, said):
    with pytest.raises(Exception, match=said):
        twin(call)

import pytest
import torch
from torch import nn

from pieces import masks
from pieces.attention import AttentionCore, MultiHeadAttention, SingleHeadAttention
from pieces.trace import record


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.attention = MultiHeadAttention(8, 2)

    def forward(self, x, mask=None):
        return x + self.attention(self.norm(x), mask=mask)


class Model(nn.Module):
    def __init__(self, n_layers=2):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(n_layers))

    def forward(self, x, mask=None):
        for layer in self.layers:
            x = layer(x, mask)
        return x


CORES = ["layers.0.attention.core", "layers.1.attention.core"]


def hooks(model):
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


def test_weights_are_recorded_by_name_and_the_output_is_the_same():
    model, x, mask = Model(), torch.randn(3, 5, 8), masks.causal(5)
    expected = model(x, mask)
    with record(model) as trace:
        output = model(x, mask)
    torch.testing.assert_close(output, expected)
    assert trace.names() == list(trace) == CORES
    assert len(trace) == 2
    first = model.layers[0]
    _, weights = first.attention(first.norm(x), mask=mask, return_weights=True)
    assert torch.equal(trace[CORES[0]]["weights"], weights)
    assert trace[CORES[0]]["output"].shape == (3, 2, 5, 4)
    assert (
        repr(trace) == "Trace(layers.0.attention.core: 1 calls, layers.1.attention.core: 1 calls)"
    )


def test_recorded_values_are_detached_and_gradients_still_flow():
    model, x = Model(), torch.randn(1, 3, 8)
    with record(model, outputs=[nn.LayerNorm]) as trace:
        model(x).sum().backward()
    assert not trace[CORES[0]]["weights"].requires_grad
    assert not trace["layers.0.norm"]["output"].requires_grad
    assert all(p.grad is not None for p in model.parameters())


def test_nothing_stays_behind():
    model, x = Model(), torch.randn(1, 3, 8)
    with record(model, outputs=["layers.*"]) as trace:
        model(x)
        assert hooks(model) > 0
    assert hooks(model) == 0
    model(x)
    assert len(trace.calls(CORES[0])) == 1
    assert all("weights" not in vars(module) for module in model.modules())


@pytest.mark.usefixtures("unchecked")
def test_hooks_go_away_after_an_error():
    model = Model()
    with pytest.raises(ValueError, match=r"^x\.shape"), record(model) as trace:
        model.layers[1].attention(model(torch.randn(1, 3, 8))[0])
    assert hooks(model) == 0
    assert trace.names() == CORES


def test_every_call_is_kept_and_the_last_is_at_hand():
    model = Model()
    with record(model) as trace:
        for T in (1, 2, 3):
            model(torch.randn(1, T, 8))
    assert [call["weights"].shape[-1] for call in trace.calls(CORES[1])] == [1, 2, 3]
    assert trace[CORES[1]] is trace.calls(CORES[1])[-1]


def test_selectors_by_name_pattern_and_type():
    model, x = Model(3), torch.randn(1, 3, 8)
    with record(model, outputs=["layers.*", "layers.1.norm", nn.Linear]) as trace:
        output = model(x)
    layers = [name for name in trace if name.count(".") == 1]
    assert layers == ["layers.0", "layers.1", "layers.2"]
    assert torch.equal(trace["layers.2"]["output"], output)
    assert "weights" not in trace["layers.2"]
    assert "layers.1.norm" in trace
    assert "layers.0.norm" not in trace
    assert sum(name.endswith("attention.query") for name in trace) == 3


def test_outputs_that_are_tuples_and_dicts_are_detached_inside():
    class Nest(nn.Module):
        def forward(self, x):
            return {"pair": (x, [x * 2]), "count": 3}

    model, x = nn.Sequential(Nest()), torch.randn(2, requires_grad=True)
    with record(model, outputs=["0"]) as trace:
        model(x)
    output = trace["0"]["output"]
    assert not output["pair"][0].requires_grad
    assert not output["pair"][1][0].requires_grad
    assert output["count"] == 3


def test_single_heads_other_scores_and_a_bare_core():
    x = torch.randn(2, 3, 8)
    layer = SingleHeadAttention(8)
    with record(layer) as trace:
        layer(x)
    assert trace["core"]["weights"].shape == (2, 1, 3, 3)
    core, q = AttentionCore(), torch.randn(1, 2, 3, 4)
    with record(core) as trace:
        core(q, q, q)
    assert trace[""]["weights"].shape == (1, 2, 3, 3)


def test_two_recorders_do_not_disturb_each_other():
    model, x = Model(), torch.randn(1, 3, 8)
    with record(model) as outer:
        with record(model) as inner:
            model(x)
        model(x)
    assert (len(outer.calls(CORES[0])), len(inner.calls(CORES[0]))) == (2, 1)


def test_an_unknown_name_is_answered_with_the_known_ones():
    with record(Model()) as trace:
        pass
    with pytest.raises(KeyError, match="'core' recorded nothing"):
        trace["core"]


def compiled_in_place():
    model = Model()
    model.compile()
    return model


BAD = [
    (Model, ["norm"], ValueError, "outputs = 'norm': must find a module"),
    (Model, ["layers.*.nrom"], ValueError, "outputs = 'layers.*.nrom'"),
    (Model, [nn.Conv1d], ValueError, "outputs = <class 'torch.nn.modules.conv.Conv1d'>"),
    (Model, [3], TypeError, "outputs = 3"),
    (
        lambda: torch.compile(Model()),
        [],
        ValueError,
        "model = 'OptimizedModule': must not be compiled",
    ),
    (compiled_in_place, [], ValueError, "model = 'Model': must not be compiled"),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("build", "outputs", "error", "text"), BAD, ids=[bad[3] for bad in BAD])
def test_bad_input_is_refused_by_name_and_value(build, outputs, error, text):
    model = build()
    with pytest.raises(error) as caught, record(model, outputs=outputs):
        pass
    assert str(caught.value).startswith(text)
    assert "Remedy: " in str(caught.value)
    assert hooks(model) == 0

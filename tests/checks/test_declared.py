"""``@checked``: who checks and who trusts, and what the decorator leaves as it was."""

import inspect
import pickle
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import pytest
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from pieces import masks
from pieces.attention import MultiHeadAttention, attention
from pieces.cache import GrowingCache
from pieces.checks import Share, Size, check_fields, checked, declared
from pieces.models.llama import LlamaConfig, llama
from pieces.norms import LayerNorm
from pieces.scores import scaled_dot

pytestmark = pytest.mark.usefixtures("unchecked")


@checked
def inner(n: Size):
    return n


@checked(always=True)
def seam(n: Size):
    return n


@checked(always=("mask",))
def attend(q: Float[Tensor, "T S"], *, mask: Bool[Tensor, "T S"] | None = None):
    return 0


def of_the_package(function: Any) -> Any:
    """The function as if it stood in a file of the package."""
    there = globals() | {"__name__": "pieces.pretended"}
    own = FunctionType(
        function.__code__,
        there,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    own.__annotations__, own.__kwdefaults__ = function.__annotations__, function.__kwdefaults__
    return own


@checked
@of_the_package
def outer(n: Size, call: Any = inner):
    return call(n - 1)


@checked
def outer_of_a_reader(n: Size, call: Any = inner):
    return call(n - 1)


class Layer(nn.Module):
    """A reader's own layer, which asks for a window of 0."""

    def forward(self, x, **options):
        masks.sliding_window(x.shape[1], 0)
        return x


class Wrapping(nn.Module):
    """A reader's own layer around one of ours, of another size."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x, **options):
        return self.layer(x[..., :3])


@checked
@of_the_package
def runs(n: Size, call: Callable[[int], int]):
    return call(n - 1)


@checked(shields=False)
@of_the_package
def open_layer(n: Size):
    return inner(n - 1)


@checked
@of_the_package
def options(n: Size, **more: Any):
    return inner(n - 1)


def test_the_outermost_call_checks_and_the_inner_ones_trust():
    with pytest.raises(ValueError, match="n = 0"):
        inner(0)
    assert outer(1) == 0
    with pytest.raises(ValueError, match="n = 0"):
        outer(1, seam)


@pytest.mark.parametrize("second", ["shape of q", "mask", "refused twice"])
def test_a_seam_checks_anew_whatever_differs_from_the_call_before(second):
    """Only the very same mask beside tensors of the same shape is let through unasked."""
    mask, wrong = torch.ones(2, 3, dtype=torch.bool), torch.ones(3, 3, dtype=torch.bool)

    @of_the_package
    def layers(_):
        attend(torch.zeros(2, 3), mask=mask)
        attend(torch.zeros(2, 3), mask=mask)
        if second == "refused twice":
            with pytest.raises(ValueError, match=r"mask\.shape"):
                attend(torch.zeros(2, 3), mask=wrong)
        q = torch.zeros(3, 3) if second == "shape of q" else torch.zeros(2, 3)
        attend(q, mask=mask if second == "shape of q" else wrong)

    with pytest.raises(ValueError, match=r"mask\.shape"):
        outer(1, layers)


def test_a_seam_asks_once_for_one_mask_of_many_layers(monkeypatch):
    asked = []
    monkeypatch.setattr(declared._Plan, "check", lambda self, *_: asked.append(self) or True)
    mask = torch.ones(2, 3, dtype=torch.bool)
    outer(1, of_the_package(lambda _: [attend(torch.zeros(2, 3), mask=mask) for _ in range(5)]))
    outer(1, of_the_package(lambda _: attend(torch.zeros(2, 3), mask=mask)))
    assert len(asked) == 4  # each outer call, and the first of its layers


@pytest.mark.parametrize(
    "call", [lambda: runs(1, inner), lambda: open_layer(1), lambda: options(1)]
)
def test_what_runs_other_peoples_code_is_no_outermost_call(call):
    with pytest.raises(ValueError, match="n = 0"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: outer(1, lambda n: inner(n)),
        lambda: outer(1, lambda n: of_the_package(lambda n: inner(n))(n)),
        lambda: outer_of_a_reader(1),
    ],
    ids=["a reader's function", "ours, called by a reader's", "a reader's checked function"],
)
def test_trust_ends_where_a_reader_s_code_begins(call):
    with pytest.raises(ValueError, match="n = 0"):
        call()


def test_trust_is_back_when_the_reader_s_code_returns(monkeypatch):
    asked = []
    monkeypatch.setattr(declared._Plan, "check", lambda self, *_: asked.append(self) or True)

    @of_the_package
    def between(n):
        reader()
        return inner(n)

    def reader():
        inner(1)

    outer(1, between)
    assert len(asked) == 2  # outer, and what the reader called


def small_llama(n_layers: int = 2) -> nn.Module:
    return llama(LlamaConfig(11, 8, n_layers, 2, 16))


@pytest.mark.parametrize("layer", [Layer, lambda: Wrapping(LayerNorm(8))], ids=["mask", "size"])
@pytest.mark.parametrize("whole", [True, False], ids=["DecoderOnly", "Block"])
def test_a_reader_s_layer_is_asked_wherever_it_stands(layer, whole):
    model = small_llama()
    block = model.stack.blocks[1]
    block.feed_forward = layer()
    call, given = (model, torch.zeros(1, 4).long()) if whole else (block, torch.zeros(1, 4, 8))
    with pytest.raises(ValueError, match=r"window = 0|x\.shape = \(1, 4, 3\)"):
        call(given)


def test_what_is_built_is_checked_whoever_builds_it():
    with pytest.raises(ValueError, match="d_model = 0"):
        outer(1, of_the_package(lambda n: LayerNorm(n)))


def test_a_model_asks_as_often_for_many_layers_as_for_few(monkeypatch):
    asked = {}
    for n_layers in (1, 5):
        model, cache = small_llama(n_layers), GrowingCache()
        model(torch.zeros(1, 3).long(), cache=cache)
        seen = asked[n_layers] = []
        check = declared._Plan.check
        with monkeypatch.context() as patch:
            patch.setattr(
                declared._Plan,
                "check",
                lambda self, *a, seen=seen, check=check: seen.append(self) or check(self, *a),
            )
            model(torch.zeros(1, 1).long(), cache=cache)
    assert 1 <= len(asked[1]) == len(asked[5])


def test_an_error_ends_the_trust():
    def fails(n):
        raise RuntimeError

    for _ in range(2):
        with pytest.raises(RuntimeError):
            outer(1, fails)
        with pytest.raises(ValueError, match="n = 0"):
            inner(0)


def test_trust_is_of_one_thread():
    seen = []

    def elsewhere(n):
        def call():
            try:
                inner(0)
            except ValueError as error:
                seen.append(str(error))

        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        return n

    outer(3, elsewhere)
    assert len(seen) == 1


def test_public_methods_are_checked_private_ones_and_inherited_ones_are_not_twice():
    @checked
    class Counter:
        def __init__(self, n: Size):
            self.n = n

        def add(self, m: Size):
            return self.n + m

        def _add(self, m: Size):
            return self.n + m

        @staticmethod
        def free(m: Size):
            return m

    assert Counter(1).add(2) == 3
    assert Counter(1)._add(0) == 1
    for wrong in (lambda: Counter(0), lambda: Counter(1).add(0)):
        with pytest.raises(ValueError, match="= 0: must be at least 1"):
            wrong()


def test_arguments_may_be_given_by_place_or_name():
    for call in (lambda: seam(0), lambda: seam(n=0)):
        with pytest.raises(ValueError, match="n = 0"):
            call()


def test_fields_of_a_config_are_checked():
    @dataclass(frozen=True)
    class Config:
        n: Size
        dropout: Share = 0.0
        flag: bool = True

        def __post_init__(self):
            check_fields(self)

    Config(1, 0.5, False)
    for wrong in ({"n": 0}, {"n": 1, "dropout": 1.0}, {"n": 1, "flag": "no"}, {"n": 1, "flag": 1}):
        with pytest.raises((ValueError, TypeError), match="Remedy: "):
            Config(**wrong)


def test_signature_source_name_and_docstring_are_those_of_the_function():
    assert list(inspect.signature(attention).parameters) == ["q", "k", "v", "mask", "bias", "score"]
    assert inspect.getsource(scaled_dot).splitlines()[1].startswith("def scaled_dot(")
    assert "class LayerNorm(nn.Module)" in inspect.getsource(LayerNorm)
    assert scaled_dot.__name__ == "scaled_dot"
    assert "Source: Vaswani" in scaled_dot.__doc__


def test_checked_functions_and_modules_can_be_pickled():
    assert pickle.loads(pickle.dumps(attention)) is attention
    layer = MultiHeadAttention(8, 2)
    x = torch.randn(1, 3, 8)
    torch.testing.assert_close(pickle.loads(pickle.dumps(layer))(x), layer(x))


@pytest.mark.parametrize("make", [lambda: MultiHeadAttention(8, 2), lambda: LayerNorm(8)])
def test_compiled_code_is_one_graph_without_checks(make):
    torch._dynamo.reset()
    layer, x = make(), torch.randn(2, 3, 8)
    compiled = torch.compile(layer, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(x), layer(x))
    explained = torch._dynamo.explain(layer)(x)
    assert explained.graph_count == 1


def test_a_layer_compiled_inside_a_checked_call_is_one_graph():
    torch._dynamo.reset()
    model, ids = small_llama(), torch.zeros(1, 4).long()
    wanted = model(ids)
    block = model.stack.blocks[0]
    block.compile(fullgraph=True, backend="eager")
    torch.testing.assert_close(model(ids), wanted)


def test_compiled_code_is_not_checked():
    torch._dynamo.reset()

    @checked
    def halves(x: Float[Tensor, "B T D"]):
        return x / 2

    flat = torch.ones(3)
    with pytest.raises(ValueError, match=r"x.shape = \(3,\)"):
        halves(flat)
    compiled = torch.compile(halves, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(flat), flat / 2)


def test_a_module_given_as_an_argument_must_be_one():
    @checked
    def wraps(layer: nn.Module, other: nn.Module | None = None):
        return layer

    wraps(LayerNorm(2))
    for wrong in (3, "LayerNorm", LayerNorm):
        with pytest.raises(TypeError, match=r"layer = .*must be a module, already built"):
            wraps(wrong)

"""Tensors: kinds of numbers, axes by letter, sizes of the module, the nearest shape named."""

from typing import Annotated, NamedTuple

import pytest
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from pieces.checks import Divides, LeftOut, checked

pytestmark = pytest.mark.usefixtures("unchecked")


@checked
def mixed(
    x: Float[Tensor, "B T D"],
    mask: Bool[Tensor, "#T #S"] | Bool[Tensor, "#B #H #T #S"] | None = None,
    ids: Int[Tensor, "B T"] | None = None,
):
    return x


X = torch.ones(2, 3, 4)
BAD = {
    "a list": ({"x": [[1.0]]}, TypeError, "x = 'list': must be a tensor"),
    "whole numbers": ({"x": X.long()}, TypeError, "x.dtype = torch.int64: must be floating-point"),
    "too few axes": ({"x": X[0]}, ValueError, r"x.shape = \(3, 4\): must be 3-D \[B, T, D\]"),
    "float ids": ({"ids": X[0, :2]}, TypeError, "ids.dtype = torch.float32: must be whole numbers"),
    "bool ids": ({"ids": X[..., 0] > 0}, TypeError, "ids.dtype = torch.bool"),
    "another B": ({"ids": torch.ones(3, 3).long()}, ValueError, r"axis 0 \(B\) must be 2, as in x"),
    "another T": ({"mask": torch.ones(2, 5).bool()}, ValueError, r"axis 0 \(T\) must be 3"),
    "float mask": ({"mask": torch.ones(3, 5)}, TypeError, "a mask must be bool, True = may attend"),
    "3-D mask": ({"mask": torch.ones(2, 3, 5).bool()}, ValueError, r"\[T, S\] or \[B, H, T, S\]"),
    "mask of another B": (
        {"mask": torch.ones(3, 1, 3, 5).bool()},
        ValueError,
        r"mask.shape = \(3, 1, 3, 5\): must be \[B, H, T, S\], and axis 0 \(B\) must be 2",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_tensor_that_does_not_fit_is_refused_by_name(name):
    wrong, error, said = BAD[name]
    with pytest.raises(error, match=said) as caught:
        mixed(**{"x": X} | wrong)
    assert "Remedy: " in str(caught.value)


@pytest.mark.parametrize(
    "shape", [(3, 5), (1, 5), (3, 1), (2, 7, 3, 5), (1, 1, 1, 5), (2, 1, 3, 1)]
)
def test_what_stretches_is_taken(shape):
    mixed(X, torch.ones(shape).bool())


def test_any_number_of_axes():
    @checked
    def rows(x: Float[Tensor, "*batch T D"], y: Float[Tensor, "*#batch D"]):
        return x

    for shape, other in (((3, 4), (4,)), ((2, 3, 4), (2, 4)), ((2, 3, 4), (1, 4))):
        rows(torch.ones(shape), torch.ones(other))
    with pytest.raises(ValueError, match=r"y.shape = \(3, 4\): must begin with \(2,\), as x"):
        rows(X, torch.ones(3, 4))
    with pytest.raises(ValueError, match=r"x.shape = \(4,\): must be \[..., T, D\]"):
        rows(torch.ones(4), torch.ones(4))


def test_a_letter_may_be_a_size_of_the_module():
    @checked
    class Sized(nn.Module):
        def __init__(self, d_model: int):
            super().__init__()
            self.d_model, self.n_heads = d_model, 2

        def forward(self, x: Float[Tensor, "B H T D"]):
            return x

    Sized(4)(torch.ones(1, 2, 3, 4))
    with pytest.raises(ValueError, match="the last axis must be 5, the module's d_model"):
        Sized(5)(torch.ones(1, 2, 3, 4))
    with pytest.raises(ValueError, match="axis 1 must be 2, the module's n_heads"):
        Sized(4)(torch.ones(1, 3, 3, 4))


def test_one_axis_divides_another():
    @checked
    def grouped(q: Float[Tensor, "H T"], k: Annotated[Float[Tensor, "G T"], Divides("G", "H")]):
        return q

    grouped(torch.ones(6, 2), torch.ones(3, 2))
    for n in (4, 0):
        with pytest.raises(ValueError, match=r"its G \(axis 1\) must divide the 6 heads of q"):
            grouped(torch.ones(6, 2), torch.ones(n, 2))


def test_what_is_left_out_must_fit_in_its_place():
    @checked
    def cross(
        x: Float[Tensor, "B T D"],
        context: Annotated[Float[Tensor, "B S 7"] | None, LeftOut("x")] = None,
    ):
        return x

    cross(X, torch.ones(2, 9, 7))
    with pytest.raises(ValueError, match=r"context.shape = \(2, 3, 4\): the last axis must be 7"):
        cross(X)


def test_the_parts_of_a_named_tuple_are_checked():
    class Pair(NamedTuple):
        cos: Float[Tensor, "T"]
        sin: Float[Tensor, "T"]

    @checked
    def turn(x: Float[Tensor, "T"], pair: Pair):
        return x

    turn(torch.ones(3), Pair(torch.ones(3), torch.ones(3)))
    with pytest.raises(ValueError, match=r"pair.sin.shape = \(2,\)"):
        turn(torch.ones(3), Pair(torch.ones(3), torch.ones(2)))
    with pytest.raises(TypeError, match=r"pair = .*must be a Pair"):
        turn(torch.ones(3), torch.ones(3))

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pieces.trained.packing import quantised, restore, to_int8

WEIGHTS = {
    "matrix": torch.tensor([[1.0, -2.0, 0.5], [0.0, 0.0, 0.0], [1e-4, 3e-5, -1e-4]]),
    "vector": torch.tensor([1.0, 1 / 3]),
    "experts": torch.randn(2, 3, 4),
}


@given(st.integers(1, 9), st.integers(1, 9), st.floats(1e-6, 1e3), st.integers(0, 99))
def test_int8_is_off_by_at_most_half_a_step(rows, columns, size, seed):
    matrix = torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed)) * size
    whole, scale = to_int8(matrix)
    assert whole.dtype == torch.int8
    assert whole.abs().max() == 127
    off = (whole.float() * scale[:, None] - matrix).abs()
    assert (off <= scale[:, None] * 0.501).all()


def test_what_each_precision_keeps():
    kinds = {
        name: {
            key: (value.dtype, tuple(value.shape))
            for key, value in quantised(WEIGHTS, name).items()
        }
        for name in ("int8", "fp16", "fp32")
    }
    vector = {"vector": (torch.float32, (2,))}
    assert kinds["int8"] == vector | {
        "matrix": (torch.int8, (3, 3)),
        "matrix.scale": (torch.float32, (3,)),
        "experts": (torch.int8, (2, 3, 4)),
        "experts.scale": (torch.float32, (2, 3)),
    }
    half = {"matrix": (torch.float16, (3, 3)), "experts": (torch.float16, (2, 3, 4))}
    assert kinds["fp16"] == vector | half
    assert {kind for kind, _ in kinds["fp32"].values()} == {torch.float32}


@pytest.mark.parametrize(("precision", "off"), [("int8", 1 / 127), ("fp16", 1e-3), ("fp32", 0.0)])
def test_names_and_numbers_come_back(precision, off):
    again = restore(quantised(WEIGHTS, precision))
    assert again.keys() == WEIGHTS.keys()
    for name, weight in WEIGHTS.items():
        assert again[name].dtype == torch.float32
        coarse = 127 / 31 if precision == "int8" and weight.ndim > 2 else 1  # experts: six bits
        assert (again[name] - weight).abs().max() <= off * coarse * weight.abs().max()
    assert not again["matrix"][1].any()


def test_a_weight_may_be_called_scale():
    weights = {"norm.scale": torch.ones(3)}
    assert restore(quantised(weights, "int8"))["norm.scale"].tolist() == [1, 1, 1]


@pytest.mark.usefixtures("unchecked")
def test_wrong_precision_and_lost_scales_are_refused():
    with pytest.raises(ValueError, match="precision = 'int4'"):
        quantised(WEIGHTS, "int4")
    tensors = quantised(WEIGHTS, "int8")
    for bad in ({}, {"matrix.scale": torch.ones(2)}):
        kept = {name: value for name, value in tensors.items() if name != "matrix.scale"}
        with pytest.raises(ValueError, match=r"matrix\.scale = .*one scale a row"):
            restore(kept | bad)

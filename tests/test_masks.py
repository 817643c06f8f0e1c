import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from checker import refused
from pieces import masks

SIZES = [(1, 1), (1, 6), (5, 5), (3, 7), (6, 6)]


def build(rule, T, S):
    """The mask by its definition: query i stands at position S - T + i."""
    return torch.tensor([[bool(rule(S - T + i, j)) for j in range(S)] for i in range(T)])


DEFINITIONS = {
    "full": (lambda T, S: masks.full(T, S), lambda i, j: True),
    "causal": (lambda T, S: masks.causal(T, S), lambda i, j: j <= i),
    "window 1": (lambda T, S: masks.sliding_window(T, 1, S), lambda i, j: j == i),
    "window 3": (lambda T, S: masks.sliding_window(T, 3, S), lambda i, j: j in (i, i - 1, i - 2)),
    "window 99": (lambda T, S: masks.sliding_window(T, 99, S), lambda i, j: j <= i),
    "dilated": (lambda T, S: masks.dilated(T, 3, 2, S), lambda i, j: j in (i, i - 2, i - 4)),
    "dilated by 3": (lambda T, S: masks.dilated(T, 2, 3, S), lambda i, j: j in (i, i - 3)),
    "dilated by 1": (lambda T, S: masks.dilated(T, 2, 1, S), lambda i, j: j in (i, i - 1)),
    "global": (
        lambda T, S: masks.global_window(T, 2, 2, S),
        lambda i, j: j in (i, i - 1) or (j < 2 and j <= i),
    ),
    "global 0": (lambda T, S: masks.global_window(T, 2, 0, S), lambda i, j: j in (i, i - 1)),
    "prefix": (lambda T, S: masks.prefix(T, 3, S), lambda i, j: j <= i or j < 3),
    "prefix 0": (lambda T, S: masks.prefix(T, 0, S), lambda i, j: j <= i),
    "prefix 99": (lambda T, S: masks.prefix(T, 99, S), lambda i, j: True),
}


@pytest.mark.parametrize(("T", "S"), SIZES)
@pytest.mark.parametrize("name", DEFINITIONS)
def test_mask_is_its_definition(name, T, S):
    function, rule = DEFINITIONS[name]
    mask = function(T, S)
    assert mask.dtype == torch.bool
    assert torch.equal(mask, build(rule, T, S))


@pytest.mark.parametrize("name", DEFINITIONS)
def test_without_keys_the_mask_is_square(name):
    assert torch.equal(DEFINITIONS[name][0](5, None), DEFINITIONS[name][0](5, 5))


@given(T=st.integers(1, 9), older=st.integers(0, 9), name=st.sampled_from(sorted(DEFINITIONS)))
def test_with_a_cache_the_mask_is_the_bottom_of_the_square_one(T, older, name):
    function, _ = DEFINITIONS[name]
    assert torch.equal(function(T, T + older), function(T + older, T + older)[older:])


@given(T=st.integers(1, 9), window=st.integers(1, 12))
def test_a_window_sees_at_most_window_keys(T, window):
    seen = masks.sliding_window(T, window).sum(dim=1)
    assert seen.tolist() == [min(i + 1, window) for i in range(T)]


def test_full_takes_fewer_keys_than_queries():
    assert torch.equal(masks.full(4, 2), torch.ones(4, 2, dtype=torch.bool))


@pytest.mark.parametrize("lengths", [[4, 2, 0], torch.tensor([4, 2, 0]), (4, 2, 0)])
def test_padding(lengths):
    right, left = masks.padding(lengths, 4), masks.padding(lengths, 4, side="left")
    assert right.shape == left.shape == (3, 1, 1, 4)
    assert right[:, 0, 0].int().tolist() == [[1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert left[:, 0, 0].int().tolist() == [[1, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 0]]


def test_padding_composes_with_causal():
    mask = masks.causal(3) & masks.padding([2, 3], 3)
    assert mask.shape == (2, 1, 3, 3)
    assert mask[0, 0].int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 0]]


@given(L=st.integers(0, 5), window=st.integers(1, 4))
def test_reach_of_a_window_grows_linearly(L, window):
    T = L * (window - 1) + 4
    last = masks.reach(masks.sliding_window(T, window), L)[-1]
    assert last.sum() == L * (window - 1) + 1
    assert last[-(L * (window - 1) + 1) :].all()


@given(T=st.integers(1, 6), L=st.integers(0, 4), seed=st.integers(0, 99))
def test_reach_follows_paths(T, L, seed):
    mask = torch.rand(T, T, generator=torch.Generator().manual_seed(seed)) < 0.3
    reached = [{i} for i in range(T)]
    for _ in range(L):
        reached = [
            row.union(*(reached[j] for j in range(T) if mask[i, j]))
            for i, row in enumerate(reached)
        ]
    expected = torch.tensor([[j in row for j in range(T)] for row in reached])
    assert torch.equal(masks.reach(mask, L), expected)


def test_reach_with_residual_keeps_a_position_that_sees_nothing():
    assert torch.equal(masks.reach(~masks.full(3), 4), torch.eye(3, dtype=torch.bool))


@settings(max_examples=20)
@given(T=st.integers(1, 5), S=st.integers(1, 5), seed=st.integers(0, 99))
def test_converters_go_there_and_back(T, S, seed):
    mask = torch.rand(T, S, generator=torch.Generator().manual_seed(seed)) < 0.5
    assert torch.equal(masks.torch_mha(mask), ~mask)
    assert torch.equal(masks.torch_mha(masks.torch_mha(mask)), mask)
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        additive = masks.to_additive(mask, dtype)
        assert additive.dtype == dtype
        assert (additive[mask] == 0).all()
        assert (additive[~mask] == -torch.inf).all()
        assert torch.equal(masks.from_additive(additive), mask)
        smallest = additive.clamp(min=torch.finfo(dtype).min)  # as transformers writes it
        assert torch.equal(masks.from_additive(smallest), mask)


def test_additive_agrees_with_torch():
    theirs = torch.nn.Transformer.generate_square_subsequent_mask(5)
    assert torch.equal(masks.to_additive(masks.causal(5)), theirs)
    assert torch.equal(masks.from_additive(theirs), masks.causal(5))


@pytest.mark.parametrize(
    ("make", "times"),
    [
        (masks.causal, 1.1),
        (lambda T: masks.prefix(T, 7), 1.1),
        (lambda T: masks.sliding_window(T, 64), 2.1),
        (lambda T: masks.dilated(T, 8, 2), 4.1),
        (lambda T: masks.global_window(T, 64, 4), 4.1),
    ],
    ids=["causal", "prefix", "window", "dilated", "global"],
)
def test_a_mask_takes_little_more_room_than_its_result(make, times):
    with torch.profiler.profile(profile_memory=True) as profile:
        mask = make(1024)
    taken = sum(max(0, event.self_cpu_memory_usage) for event in profile.events())
    assert mask.nbytes <= taken <= times * mask.nbytes


def test_masks_are_made_on_the_device_asked_for():
    made = [
        masks.full(3, device="meta"),
        masks.causal(3, device="meta"),
        masks.sliding_window(3, 2, device="meta"),
        masks.dilated(3, 2, 2, device="meta"),
        masks.global_window(3, 2, 1, device="meta"),
        masks.prefix(3, 2, device="meta"),
        masks.padding([1], 3, device="meta"),
    ]
    assert {mask.device.type for mask in made} == {"meta"}


FLOAT_MASK = torch.zeros(2, 2)
BAD = [
    (lambda: masks.full(0), ValueError, "T = 0"),
    (lambda: masks.full(2.0), TypeError, "T = 2.0"),
    (lambda: masks.full(2, True), TypeError, "S = True"),
    (lambda: masks.causal(True), TypeError, "T = True"),
    (lambda: masks.causal(-1), ValueError, "T = -1"),
    (lambda: masks.causal(3, 2), ValueError, "S = 2"),
    (lambda: masks.causal(3, "4"), TypeError, "S = '4'"),
    (lambda: masks.lag(3, 2), ValueError, "S = 2"),
    (lambda: masks.sliding_window(3, 0), ValueError, "window = 0"),
    (lambda: masks.sliding_window(3, 1.5), TypeError, "window = 1.5"),
    (lambda: masks.sliding_window(0, 1), ValueError, "T = 0"),
    (lambda: masks.dilated(3, 0, 2), ValueError, "window = 0"),
    (lambda: masks.dilated(3, 2, 0), ValueError, "dilation = 0"),
    (lambda: masks.dilated(3, 2, True), TypeError, "dilation = True"),
    (lambda: masks.global_window(3, 2, -1), ValueError, "n_global = -1"),
    (lambda: masks.global_window(3, 0, 1), ValueError, "window = 0"),
    (lambda: masks.prefix(3, -1), ValueError, "prefix_len = -1"),
    (lambda: masks.prefix(3, None), TypeError, "prefix_len = None"),
    (lambda: masks.padding([1, 2], 0), ValueError, "S = 0"),
    (lambda: masks.padding([1, 2], 3, side="top"), ValueError, "side = 'top'"),
    (lambda: masks.padding([[1, 2]], 3), ValueError, "lengths.shape = (1, 2)"),
    (lambda: masks.padding([1.0, 2.0], 3), TypeError, "lengths.dtype = torch.float32"),
    (lambda: masks.padding(masks.full(1)[0], 3), TypeError, "lengths.dtype = torch.bool"),
    (lambda: masks.torch_mha(FLOAT_MASK), TypeError, "mask.dtype = torch.float32"),
    (lambda: masks.torch_mha(FLOAT_MASK.int()), TypeError, "mask.dtype = torch.int32"),
    (lambda: masks.to_additive(FLOAT_MASK), TypeError, "mask.dtype = torch.float32"),
    (lambda: masks.to_additive(masks.full(2), torch.int64), TypeError, "dtype = torch.int64"),
    (lambda: masks.from_additive(masks.full(2)), TypeError, "additive.dtype = torch.bool"),
    (lambda: masks.from_additive(FLOAT_MASK - 2.5), ValueError, "additive = [-2.5, -2.5, -2.5]"),
    (lambda: masks.from_additive(FLOAT_MASK + 1), ValueError, "additive = [1.0, 1.0, 1.0]"),
    (lambda: masks.from_additive(FLOAT_MASK + torch.nan), ValueError, "additive = [nan"),
    (lambda: masks.reach(masks.full(2, 3), 1), ValueError, "mask.shape = (2, 3)"),
    (lambda: masks.reach(FLOAT_MASK, 1), TypeError, "mask.dtype = torch.float32"),
    (lambda: masks.reach(masks.full(2), -1), ValueError, "n_layers = -1"),
    (lambda: masks.reach(masks.full(2), 1.0), TypeError, "n_layers = 1.0"),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[bad[2] for bad in BAD])
def test_bad_input_is_refused_by_name_and_value(call, error, text):
    refused(call, error, text)


class Made(TorchDispatchMode):
    """Adds up the bytes of every matrix that is made."""

    n_bytes = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        given = {x.untyped_storage().data_ptr() for x in args if isinstance(x, torch.Tensor)}
        if made.ndim > 1 and made.untyped_storage().data_ptr() not in given:
            self.n_bytes += made.untyped_storage().nbytes()
        return made


@pytest.mark.parametrize(
    "make",
    [
        lambda T: masks.full(T),
        lambda T: masks.causal(T),
        lambda T: masks.sliding_window(T, 9),
        lambda T: masks.dilated(T, 9, 3),
        lambda T: masks.global_window(T, 9, 2),
        lambda T: masks.prefix(T, 9),
        lambda T: masks.padding([T] * T, T),
    ],
)
def test_a_mask_is_made_without_a_matrix_of_numbers(make):
    with Made() as made:
        mask = make(256)
    assert mask.nbytes == 256 * 256
    assert made.n_bytes <= 3.1 * mask.nbytes  # an int64 matrix alone would be 8

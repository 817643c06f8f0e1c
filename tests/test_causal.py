import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from checker import refused
from pieces import masks
from pieces.attention import CausalCore, MultiHeadAttention, attention
from pieces.scores import dot
from pieces.trace import record


@given(st.integers(1, 7), st.integers(0, 5), st.none() | st.integers(1, 9), st.booleans())
def test_it_is_attention_with_the_causal_mask(device, T, older, window, padded):
    S = T + older
    q = torch.randn(2, 4, T, 3, device=device).double()
    k, v = torch.randn(2, 2, 2, S, 3, device=device).double()
    padding = masks.padding([S, S - 1], S, side="left", device=device) if padded else None
    mask = masks.sliding_window(T, window or S, S, device=device)
    mask = mask & padding if padded else mask
    bias = torch.randn(T, S, device=device).double()
    for b in (None, bias):
        expected, expected_weights = attention(q, k, v, mask=mask, bias=b)
        core = CausalCore(window)
        output, nothing = core(q, k, v, mask=padding, bias=b)
        torch.testing.assert_close(output, expected)
        assert nothing is None
        output, weights = core(q, k, v, mask=padding, bias=b, return_weights=True)
        torch.testing.assert_close(output, expected)
        torch.testing.assert_close(weights, expected_weights)


def test_no_matrix_is_built_where_none_is_needed(monkeypatch):
    seen = []
    kernel = F.scaled_dot_product_attention

    def watch(*args, attn_mask=None, is_causal=False, **options):
        seen.append("matrix" if attn_mask is not None else "causal" if is_causal else "nothing")
        return kernel(*args, attn_mask=attn_mask, is_causal=is_causal, **options)

    monkeypatch.setattr(F, "scaled_dot_product_attention", watch)
    k = torch.randn(1, 2, 6, 4)
    for core, T in ((CausalCore(), 6), (CausalCore(6), 6), (CausalCore(), 1), (CausalCore(5), 6)):
        core(k[:, :, -T:], k, k)
    CausalCore()(k[:, :, -2:], k, k)
    assert seen == ["causal", "causal", "nothing", "matrix", "matrix"]


def test_inside_multi_head_attention_with_the_recorder_and_gradients():
    module = MultiHeadAttention(8, 4, n_kv_heads=2, core=CausalCore())
    x = torch.randn(2, 5, 8, requires_grad=True)
    plain = MultiHeadAttention(8, 4, n_kv_heads=2)
    plain.load_state_dict(module.state_dict())
    expected = plain(x, mask=masks.causal(5))
    torch.testing.assert_close(module(x), expected)
    ours, theirs = (torch.autograd.grad(y.square().sum(), x)[0] for y in (module(x), expected))
    torch.testing.assert_close(ours, theirs)
    with record(module) as trace:
        module(x)
    assert (trace["core"]["weights"].triu(1) == 0).all()


def test_another_score():
    q = torch.randn(1, 1, 4, 3)
    expected, _ = attention(q, q, q, mask=masks.causal(4), score=dot)
    torch.testing.assert_close(CausalCore(score=dot)(q, q, q)[0], expected)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("window", [None, 3])
def test_compiles_to_one_graph_and_exports_with_a_free_length(window):
    module = MultiHeadAttention(8, 4, n_kv_heads=2, core=CausalCore(window))
    compiled = torch.compile(module, fullgraph=True, dynamic=True, backend="eager")
    T = torch.export.Dim("T", min=4, max=40)
    shapes = {"x": {1: T}}
    exported = torch.export.export(module, (torch.randn(2, 5, 8),), dynamic_shapes=shapes).module()
    for length in (5, 11):
        x = torch.randn(2, length, 8)
        torch.testing.assert_close(compiled(x), module(x))
        torch.testing.assert_close(exported(x), module(x))


q, k = torch.randn(1, 2, 3, 4), torch.randn(1, 2, 2, 4)
BAD = [
    (lambda: CausalCore(0), ValueError, "window = 0"),
    (lambda: CausalCore(2.0), TypeError, "window = 2.0"),
    (lambda: CausalCore()(q, k, k), ValueError, "S = 2: the T queries are the last"),
    (lambda: CausalCore()(q[0], q, q), ValueError, "q.shape = (2, 3, 4)"),
    (lambda: CausalCore()(q, q, q, mask=torch.ones(3, 3)), TypeError, "mask.dtype"),
    (lambda: CausalCore()(q, q, q, mask=masks.full(2)), ValueError, "mask.shape = (2, 2)"),
    (lambda: CausalCore()(q, q, q, bias=torch.ones(3)), ValueError, "bias.shape = (3,)"),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[bad[2] for bad in BAD])
def test_bad_input_is_refused_by_name_and_value(call, error, text):
    refused(call, error, text)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("window", "traced"), [(3, 2), (3, 9), (16, 9)])
@torch.no_grad()
def test_an_exported_window_serves_texts_shorter_and_longer_than_itself(window, traced):
    core = CausalCore(window)
    qkv = [torch.randn(1, 2, traced, 4) for _ in range(3)]
    sizes = ({2: torch.export.Dim("T", min=2, max=64)},) * 3
    exported = torch.export.export(core, tuple(qkv), dynamic_shapes=sizes, strict=False).module()
    for T in (2, 5, 20):
        qkv = [torch.randn(1, 2, T, 4) for _ in range(3)]
        torch.testing.assert_close(exported(*qkv)[0], core(*qkv)[0])

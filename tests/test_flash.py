import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from checker import refused
from pieces import masks
from pieces.attention import MultiHeadAttention, attention, fused_attention
from pieces.attention.flash import FlashCore, flash_attention
from pieces.positions import alibi_slopes
from pieces.trace import record

EXACT = {"rtol": 0, "atol": 1e-10}


def make(B, G, n, T, S, K, Kv, device="cpu", dtype=torch.float64):
    sizes = [(B, G * n, T, K), (B, G, S, K), (B, G, S, Kv)]
    return [torch.randn(s, dtype=dtype, device=device, requires_grad=True) for s in sizes]


@st.composite
def problems(draw):
    """Shapes, tile size, a mask and a bias of any allowed form; blind rows and -inf included."""
    shape = [draw(st.integers(1, top)) for top in (2, 2, 3, 9, 9, 4, 4)]
    B, G, n, T, S = shape[:5]
    forms = st.sampled_from([(T, S), (1, S), (B, 1, 1, S), (1, G * n, T, S), (B, G * n, T, S)])
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10_000)))
    mask = bias = None
    if draw(st.booleans()):
        mask = torch.rand(draw(forms), generator=generator) < draw(st.sampled_from([0.1, 0.7]))
    if draw(st.booleans()):
        bias = torch.randn(draw(forms), generator=generator).double()
        hidden = torch.rand(bias.shape, generator=generator) < draw(st.sampled_from([0.0, 0.7]))
        bias = bias.masked_fill(hidden, -torch.inf)
    return shape, mask, bias, draw(st.integers(1, 10))


@settings(max_examples=120)
@given(problems())
def test_flash_equals_explicit_equals_fused_with_gradients(device, problem):
    shape, mask, bias, block_size = problem
    q, k, v = make(*shape, device)
    mask = None if mask is None else mask.to(device)
    inputs = [q, k, v]
    if bias is not None:
        bias = bias.to(device).requires_grad_()
        inputs.append(bias)
    outputs = [
        flash_attention(q, k, v, mask=mask, bias=bias, block_size=block_size),
        attention(q, k, v, mask=mask, bias=bias)[0],
        fused_attention(q, k, v, mask=mask, bias=None if bias is None else bias.detach()),
    ]
    direction = torch.randn_like(outputs[0])
    grads = [torch.autograd.grad((o * direction).sum(), inputs) for o in outputs[:2]]
    fused = torch.autograd.grad((outputs[2] * direction).sum(), inputs[:3])
    for other in outputs[1:]:
        torch.testing.assert_close(outputs[0], other, **EXACT)
    for ours, theirs in zip(grads[0] * 2, [*grads[1], *fused], strict=False):
        assert ours.isfinite().all()
        torch.testing.assert_close(ours, theirs, **EXACT)
    for ours, theirs in zip(grads[0][:3], fused, strict=True):
        torch.testing.assert_close(ours, theirs, **EXACT)


MASKS = {
    "causal": (lambda i, j: j <= i, lambda T, S: masks.causal(T, S)),
    "window": (
        lambda i, j: (j <= i) & (i - 3 < j),
        lambda T, S: masks.sliding_window(T, 3, S),
    ),
    "prefix": (lambda i, j: (j <= i) | (j < 2), lambda T, S: masks.prefix(T, 2, S)),
    "nothing": (lambda i, j: j > i + 100, lambda T, S: ~masks.full(T, S)),
}


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize(("T", "S"), [(1, 1), (7, 7), (3, 8), (1, 9)])
@pytest.mark.parametrize("block_size", [1, 4, 100])
def test_a_mask_may_be_a_function_of_positions(name, T, S, block_size, device):
    function, matrix = MASKS[name]
    q, k, v = make(2, 2, 2, T, S, 3, 5, device)
    ours = flash_attention(q, k, v, mask=function, block_size=block_size)
    theirs, _ = attention(q, k, v, mask=matrix(T, S).to(device))
    torch.testing.assert_close(ours, theirs, **EXACT)
    direction = torch.randn_like(ours)
    grads = [torch.autograd.grad(out, (q, k, v), direction) for out in (ours, theirs)]
    torch.testing.assert_close(*grads, **EXACT)


def test_a_bias_may_be_a_function_of_positions(device):
    q, k, v = make(2, 2, 2, 5, 8, 3, 3, device)
    slopes = alibi_slopes(4, device=device).double()[:, None, None]

    def alibi(i, j):
        return -slopes * (i - j).abs()

    lag = masks.lag(5, 8, device=device)
    theirs, _ = attention(q, k, v, bias=(-slopes * lag.abs())[None], mask=lag >= 0)
    ours = flash_attention(q, k, v, bias=alibi, mask=lambda i, j: j <= i, block_size=3)
    torch.testing.assert_close(ours, theirs, **EXACT)


@pytest.mark.parametrize("bias_shape", [None, (5, 6), (1, 4, 1, 6), (1, 1, 5, 1)])
def test_gradients_are_right_with_a_blind_row(bias_shape, device):
    q, k, v = make(1, 2, 2, 5, 6, 2, 3, device)
    mask = torch.rand(5, 6, device=device) < 0.6
    mask[2] = False
    bias = [] if bias_shape is None else [torch.randn(bias_shape, device=device).double()]
    bias = [b.requires_grad_() for b in bias]

    def run(q, k, v, bias=None):
        return flash_attention(q, k, v, mask=mask, bias=bias, block_size=2)

    assert torch.autograd.gradcheck(run, (q, k, v, *bias))


class Largest(TorchDispatchMode):
    """The largest tensor that any operation gave back, in numbers of its own memory."""

    def __init__(self):
        super().__init__()
        self.size = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for x in result if isinstance(result, tuple | list) else [result]:
            if isinstance(x, torch.Tensor):
                self.size = max(self.size, x.untyped_storage().nbytes() // x.element_size())
        return result


def largest(run, T):
    q, k, v = make(1, 2, 2, T, T, 4, 4, dtype=torch.float32)
    with Largest() as seen:
        run(q, k, v).sum().backward()
    return seen.size


def test_no_tensor_grows_with_the_square_of_the_length():
    def flash(q, k, v):
        return flash_attention(q, k, v, mask=lambda i, j: j <= i, block_size=16)

    def explicit(q, k, v):
        return attention(q, k, v)[0]

    assert [largest(flash, T) for T in (128, 256, 512)] == [4 * T * 4 for T in (128, 256, 512)]
    assert [largest(explicit, T) for T in (128, 256)] == [4 * T * T for T in (128, 256)]


def test_hidden_tiles_are_skipped():
    calls, q = [], torch.randn(1, 1, 64, 2)

    class Products(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if "bmm" in str(func):
                calls.append(func)
            return func(*args, **(kwargs or {}))

    for mask, tiles in ((None, 64), (lambda i, j: j <= i, 36), (lambda i, j: j == i, 8)):
        calls.clear()
        with Products():
            flash_attention(q, q, q, mask=mask, block_size=8)
        assert len(calls) == 2 * tiles


def test_large_scores_do_not_overflow_and_order_of_tiles_does_not_matter():
    q, k, v = (x.detach() for x in make(1, 1, 1, 6, 30, 4, 4))
    q, order = q * 300, torch.randperm(30)
    expected, _ = attention(q, k, v)
    for keys in (torch.arange(30), order):
        ours = flash_attention(q, k[:, :, keys], v[:, :, keys], block_size=4)
        torch.testing.assert_close(ours, expected, **EXACT)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_carried_in_float32(dtype, device):
    q, k, v = (x.detach().to(dtype).requires_grad_() for x in make(1, 2, 2, 60, 60, 8, 8, device))
    output = flash_attention(q, k, v, mask=lambda i, j: j <= i, block_size=16)
    exact, _ = attention(
        *(x.detach().double() for x in (q, k, v)), mask=masks.causal(60).to(device)
    )
    assert output.dtype == dtype
    eps = torch.finfo(dtype).eps
    torch.testing.assert_close(output.double(), exact, rtol=eps, atol=eps / 4)
    output.float().square().sum().backward()
    assert all(x.grad.dtype == dtype and x.grad.isfinite().all() for x in (q, k, v))


def test_flash_core_inside_attention_and_the_recorder():
    module = MultiHeadAttention(8, 4, n_kv_heads=2, core=FlashCore(3))
    plain = MultiHeadAttention(8, 4, n_kv_heads=2)
    plain.load_state_dict(module.state_dict())
    x, mask, bias = torch.randn(2, 7, 8), masks.causal(7), torch.randn(7, 7)
    expected = plain(x, mask=mask, bias=bias)
    torch.testing.assert_close(module(x, mask=mask, bias=bias), expected)
    with record(module) as trace:
        module(x, mask=mask)
    assert trace["core"]["weights"].shape == (2, 4, 7, 7)


@pytest.mark.usefixtures("unchecked")
def test_compiles_to_one_graph_and_exports():
    module, x = MultiHeadAttention(8, 4, n_kv_heads=2, core=FlashCore(4)), torch.randn(1, 6, 8)
    mask = masks.causal(6)
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    y = x.clone().requires_grad_()
    z = x.clone().requires_grad_()
    torch.testing.assert_close(compiled(y, mask=mask), module(z, mask=mask))
    compiled(y, mask=mask).square().sum().backward()
    module(z, mask=mask).square().sum().backward()
    torch.testing.assert_close(y.grad, z.grad)
    exported = torch.export.export(module, (x,), {"mask": mask}).module()
    torch.testing.assert_close(exported(x, mask=mask), module(x, mask=mask))


q, k, v = (x.detach() for x in make(2, 2, 2, 3, 5, 6, 6, dtype=torch.float32))
BAD = [
    (lambda: flash_attention(q[0], k, v), ValueError, "q.shape = (4, 3, 6)"),
    (lambda: flash_attention(q, k[..., :5], v), ValueError, "k.shape = (2, 2, 5, 5)"),
    (lambda: flash_attention(q, k, v[:, :1]), ValueError, "v.shape = (2, 1, 5, 6)"),
    (lambda: flash_attention(q.int(), k, v), TypeError, "q.dtype = torch.int32"),
    (lambda: flash_attention(q, k, v, mask=torch.ones(3, 5)), TypeError, "mask.dtype"),
    (lambda: flash_attention(q, k, v, mask=masks.full(3)), ValueError, "mask.shape = (3, 3)"),
    (lambda: flash_attention(q, k, v, bias=torch.ones(5)), ValueError, "bias.shape = (5,)"),
    (lambda: flash_attention(q, k, v, bias=masks.full(3, 5)), TypeError, "bias.dtype"),
    (lambda: flash_attention(q, k, v, block_size=0), ValueError, "block_size = 0"),
    (lambda: FlashCore(1.5), TypeError, "block_size = 1.5"),
    (lambda: FlashCore()(q, k, v, mask=torch.ones(3, 5)), TypeError, "mask.dtype"),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[bad[2] for bad in BAD])
def test_bad_input_is_refused_by_name_and_value(call, error, text):
    refused(call, error, text)


def test_autocast_changes_neither_pass():
    leaves = [torch.randn(1, 2, 9, 8).requires_grad_() for _ in range(3)]
    grad = torch.randn(1, 2, 9, 8)
    plain = flash_attention(*leaves, block_size=4)
    expected = torch.autograd.grad(plain, leaves, grad)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = flash_attention(*leaves, block_size=4)
        inside = torch.autograd.grad(output, leaves, grad, retain_graph=True)
    outside = torch.autograd.grad(output, leaves, grad)
    torch.testing.assert_close(output, plain)
    for grads in (inside, outside):
        torch.testing.assert_close(grads, expected)


@pytest.mark.parametrize("mask", [lambda i, j: (j <= i).float(), lambda i, j: (j <= i).long()])
def test_a_function_for_a_mask_must_say_true_or_false(mask):
    q = torch.randn(1, 2, 4, 8)
    with pytest.raises(TypeError, match=r"^mask\(i, j\)\.dtype = .*must be bool.*Remedy: "):
        flash_attention(q, q, q, mask=mask)


def test_a_function_for_a_bias_must_give_numbers():
    q = torch.randn(1, 2, 4, 8)
    with pytest.raises(TypeError, match=r"^bias\(i, j\)\.dtype = .*floating-point.*Remedy: "):
        flash_attention(q, q, q, bias=lambda i, j: j <= i)


@pytest.mark.parametrize("call", [torch.vmap, torch.func.jacrev])
def test_under_torch_func_it_is_refused_by_name(call):
    q = torch.randn(3, 1, 2, 4, 8) if call is torch.vmap else torch.randn(1, 2, 4, 8)
    with pytest.raises(ValueError, match=r"^flash_attention = .*vmap.*Remedy: use attention"):
        call(lambda q: flash_attention(q, q, q))(q)

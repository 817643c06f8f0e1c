import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import lazily
from checker import refused
from pieces import trace
from pieces.feedforward import FeedForward, GatedFeedForward, gelu, swish
from pieces.moe import (
    ExpertList,
    GatedExperts,
    MixtureOfExperts,
    Router,
    load_balancing_loss,
    route,
    route_softmax_first,
    route_unnormalised,
    router_z_loss,
    watch_routing,
    within_capacity,
)
from pieces.moe import experts as experts_module

hf = lazily.Module("transformers")
mixtral = lazily.Module("transformers.models.mixtral.modeling_mixtral")

CHOICES = [route, route_softmax_first, route_unnormalised]
D, E = 6, 5


def build(k=2, kind="gated", shared=None, **options):
    if kind == "gated":
        experts = GatedExperts(E, D, 8)
    else:
        experts = ExpertList([FeedForward(D, 4 + i, gelu) for i in range(E)])
    return MixtureOfExperts(Router(D, E, k, **options), experts, shared)


def expert_functions(module):
    """Each expert of a layer as a function of tokens."""
    experts = module.experts
    if isinstance(experts, ExpertList):
        return list(experts.experts)

    def one(gate_up, down):
        gate, up = gate_up.chunk(2)
        return lambda x: (swish(x @ gate.T) * (x @ up.T)) @ down.T

    return [one(*pair) for pair in zip(experts.gate_up, experts.down, strict=True)]


def dense(module, x):
    """Every expert sees every token; all but the k best logits become -inf before the softmax."""
    logits = x @ module.router.gate.weight.T
    smallest = logits.sort(dim=-1, descending=True).values[..., module.router.k - 1, None]
    weights = logits.masked_fill(logits < smallest, -torch.inf).softmax(dim=-1)
    functions = expert_functions(module)
    return sum(weights[..., e, None] * function(x) for e, function in enumerate(functions))


# ---- the router


@st.composite
def choices(draw):
    n_experts = draw(st.integers(1, 9))
    shape = [draw(st.integers(1, 4)), draw(st.integers(1, 5)), n_experts]
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10_000)))
    logits = torch.randn(shape, generator=generator).double() * draw(st.sampled_from([0.1, 1, 50]))
    return logits, draw(st.integers(1, n_experts))


@given(choices())
def test_both_orders_of_softmax_and_choice_are_equal(problem):
    logits, k = problem
    weights, experts = route(logits, k)
    other, same = route_softmax_first(logits, k)
    torch.testing.assert_close(weights, other, rtol=0, atol=1e-12)
    # with large logits the smallest probabilities may round to equal ones
    distinct = other > 1e-12
    assert torch.equal(experts[distinct], same[distinct])
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(logits.shape[:-1]).double())
    assert (weights.diff(dim=-1) <= 0).all(), "best first"
    assert (experts.sort(dim=-1).values.diff(dim=-1) > 0).all(), "no expert twice"
    assert torch.equal(logits.gather(-1, experts), logits.topk(k).values)
    whole, _ = route_unnormalised(logits, k)
    torch.testing.assert_close(whole / whole.sum(dim=-1, keepdim=True), weights)


def test_route_by_hand():
    logits = torch.tensor([1.0, 3.0, 2.0, 0.0])
    weights, experts = route(logits, 2)
    assert experts.tolist() == [1, 2]
    torch.testing.assert_close(weights, torch.tensor([0.7311, 0.2689]), rtol=0, atol=1e-4)
    whole, _ = route_unnormalised(logits, 2)
    torch.testing.assert_close(whole, logits.softmax(dim=-1)[[1, 2]])


@pytest.mark.parametrize("choose", CHOICES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_weights_are_at_least_float32(choose, dtype, device):
    weights, experts = choose(torch.randn(3, 4, device=device).to(dtype), 2)
    assert weights.dtype == torch.promote_types(dtype, torch.float32)
    assert experts.dtype == torch.int64


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("choose", CHOICES)
def test_with_one_choice_only_unnormalised_weights_teach_the_router(choose, k):
    module = build(k=k, choose=choose)
    module(torch.randn(2, 3, D)).square().sum().backward()
    learns = module.router.gate.weight.grad.abs().max() > 1e-6
    assert learns == (k > 1 or choose is route_unnormalised)


# ---- capacity


def test_capacity_by_hand():
    experts = torch.tensor([[0, 1], [0, 2], [1, 0], [0, 1]])  # four tokens, two choices each
    kept = within_capacity(experts, 3, 2)
    # expert 0: tokens 0 and 1 come first, 3 finds no room, nor does the second choice of token 2;
    # expert 1: the first choice of token 2 comes before the second ones of tokens 0 and 3
    assert kept.tolist() == [[True, True], [True, True], [True, False], [False, False]]


@given(st.integers(1, 4), st.integers(1, 12), st.integers(1, 5), st.integers(0, 1000))
def test_capacity_is_kept_and_used(k, N, capacity, seed):
    generator = torch.Generator().manual_seed(seed)
    experts = torch.rand(N, 4, generator=generator).argsort(dim=-1)[:, :k]
    kept = within_capacity(experts, 4, capacity)
    wanted = torch.bincount(experts.flatten(), minlength=4)
    got = torch.bincount(experts[kept], minlength=4)
    assert torch.equal(got, wanted.clamp(max=capacity))
    assert torch.equal(within_capacity(experts.view(1, N, k), 4, capacity)[0], kept)


@pytest.mark.parametrize("kind", ["gated", "list"])
def test_a_dropped_choice_adds_nothing_and_the_others_keep_their_weight(kind, device):
    module = build(kind=kind, capacity_factor=0.55).double().to(device)
    x = torch.randn(2, 10, D, device=device).double()
    weights, experts, logits = module.router(x)
    free, _ = route(logits, 2)
    kept = within_capacity(experts, E, 5)  # ceil(0.55 * 40 / 5)
    assert torch.equal(weights, free * kept)
    assert (~kept).any()
    outputs = torch.stack([function(x) for function in expert_functions(module)], dim=-2)
    chosen = outputs.gather(-2, experts[..., None].expand(*experts.shape, D))
    torch.testing.assert_close(module(x), (weights[..., None] * chosen).sum(dim=-2))
    nowhere = ~kept.any(dim=-1)
    assert (module(x)[nowhere] == 0).all()


def test_ample_capacity_changes_nothing():
    free, ample = build(), build(capacity_factor=float(E))
    ample.load_state_dict(free.state_dict())
    x = torch.randn(2, 7, D)
    assert torch.equal(free(x), ample(x))


# ---- the layer


@pytest.mark.parametrize("kind", ["gated", "list"])
@pytest.mark.parametrize("k", range(1, E + 1))
@pytest.mark.parametrize("shape", [(2, 7, D), (1, 1, D), (3, D), (D,)], ids=str)
def test_equals_the_dense_reference_with_gradients(kind, k, shape, device):
    module = build(k, kind).double().to(device)
    x = torch.randn(shape, device=device).double()
    x, y = x.requires_grad_(), x.detach().clone().requires_grad_()
    output, expected = module(x), dense(module, y)
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-12)
    parameters = list(module.parameters())
    direction = torch.randn_like(output)
    ours = torch.autograd.grad((output * direction).sum(), [x, *parameters])
    theirs = torch.autograd.grad((expected * direction).sum(), [y, *parameters])
    for our_gradient, their_gradient in zip(ours, theirs, strict=True):
        torch.testing.assert_close(our_gradient, their_gradient, rtol=0, atol=1e-12)
    with torch.no_grad():  # experts without tokens are skipped here
        torch.testing.assert_close(module(x), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["gated", "list"])
@pytest.mark.parametrize("grad", [True, False])
def test_no_tokens_and_experts_without_tokens(kind, grad):
    with torch.set_grad_enabled(grad):
        limited = build(1, kind, capacity_factor=1.0)
        assert limited(torch.randn(2, 0, D)).shape == (2, 0, D)
    module = build(1, kind)
    with torch.no_grad():
        module.router.gate.weight.zero_()
        module.router.gate.weight[3] = 1.0
    x = torch.rand(2, 3, D)  # positive, so that all choose expert 3
    torch.testing.assert_close(module(x), expert_functions(module)[3](x))
    module(x).sum().backward()
    assert all(p.grad is not None for p in module.parameters()), "0, not None"


@pytest.mark.parametrize("k", [1, 2, 3, 8])
@pytest.mark.parametrize("implementation", ["eager", "grouped_mm"])
def test_equals_mixtral(k, implementation, device):
    config = hf.MixtralConfig(
        hidden_size=32, intermediate_size=20, num_local_experts=8, num_experts_per_tok=k
    )
    config._experts_implementation = implementation
    theirs = mixtral.MixtralSparseMoeBlock(config)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.normal_(std=0.3)
    ours = MixtureOfExperts(Router(32, 8, k), GatedExperts(8, 32, 20))
    ours.load_state_dict(mixtral_weights(theirs))
    x = torch.randn(2, 9, 32)
    x, y = x.requires_grad_(), x.detach().clone().requires_grad_()
    output, expected = ours(x), theirs(y)
    torch.testing.assert_close(output, expected, rtol=1e-5, atol=1e-5)
    output.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(x.grad, y.grad, rtol=1e-4, atol=1e-3)
    gradients = {n: p.grad for n, p in theirs.named_parameters()}
    for name, gradient in mixtral_weights(gradients).items():
        close = {"rtol": 1e-4, "atol": 1e-3}
        torch.testing.assert_close(dict(ours.named_parameters())[name].grad, gradient, **close)
    moved = ours.to(device)(x.detach().to(device)).cpu()
    torch.testing.assert_close(moved, expected, rtol=1e-5, atol=1e-5)


def mixtral_weights(theirs):
    theirs = theirs.state_dict() if isinstance(theirs, nn.Module) else theirs
    names = {"gate.weight": "router.gate.weight", "experts.gate_up_proj": "experts.gate_up",
             "experts.down_proj": "experts.down"}  # fmt: skip
    return {ours: theirs[name] for name, ours in names.items()}


def test_stacked_experts_equal_a_list_of_gated_feed_forwards():
    stacked, k = build(3), 3
    layers = [GatedFeedForward(D, 8) for _ in range(E)]
    with torch.no_grad():
        for e, layer in enumerate(layers):
            gate, up = stacked.experts.gate_up[e].chunk(2)
            layer.gate.weight.copy_(gate)
            layer.up.weight.copy_(up)
            layer.down.weight.copy_(stacked.experts.down[e])
    listed = MixtureOfExperts(Router(D, E, k), ExpertList(layers))
    listed.router.load_state_dict(stacked.router.state_dict())
    x = torch.randn(2, 7, D)
    torch.testing.assert_close(listed(x), stacked(x))


def test_stacked_experts_start_as_linear_layers_do():
    torch.manual_seed(0)
    stacked, linear = GatedExperts(4, 64, 32), nn.Linear(64, 256)
    assert stacked.gate_up.std().item() == pytest.approx(linear.weight.std().item(), rel=0.05)
    assert stacked.gate_up.abs().max() <= 1 / 8
    assert stacked.down.abs().max() <= 32**-0.5


@pytest.mark.skipif(not hasattr(F, "grouped_mm"), reason="an older torch")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_grouped_kernel_gives_the_same(dtype, monkeypatch):
    module = MixtureOfExperts(Router(16, E, 2), GatedExperts(E, 16, 8)).to(dtype)
    x = torch.randn(2, 9, 16).to(dtype).requires_grad_()
    expected = module(x)
    (gradient,) = torch.autograd.grad(expected.float().square().sum(), x)
    monkeypatch.setattr(experts_module, "has_grouped_kernel", lambda *_: True)
    monkeypatch.setattr(GatedExperts, "_one_by_one", None)
    output = module(x)
    tolerance = 1e-5 if dtype == torch.float32 else 2e-2
    torch.testing.assert_close(output, expected, rtol=tolerance, atol=tolerance)
    (same,) = torch.autograd.grad(output.float().square().sum(), x)
    torch.testing.assert_close(same, gradient, rtol=tolerance, atol=tolerance)


def test_the_grouped_kernel_is_for_aligned_bfloat16_on_a_gpu(device):
    def ask(dtype, D=16):
        experts = GatedExperts(2, D, 8).to(device, dtype)
        x = torch.empty(3, D, device=device, dtype=dtype)
        return experts_module.has_grouped_kernel(x, experts.gate_up, experts.down)

    capable = device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0)
    assert ask(torch.bfloat16) == (capable and hasattr(F, "grouped_mm"))
    assert not ask(torch.float32)
    assert not ask(torch.bfloat16, D=12)


def test_shared_expert_is_added_for_every_token():
    shared = FeedForward(D, 3)
    module, alone = build(shared=shared), build()
    alone.load_state_dict(module.state_dict(), strict=False)
    x = torch.randn(2, 4, D)
    torch.testing.assert_close(module(x), alone(x) + shared(x))


def test_tokens_do_not_mix(device):
    module, x = build().double().to(device), torch.randn(2, 4, D, device=device).double()
    moved = x.clone()
    moved[1, 2] += 1
    changed = (module(moved) - module(x)).abs().amax(dim=-1) > 1e-12
    assert changed.nonzero().tolist() == [[1, 2]]


@given(st.integers(0, 1000))
@settings(max_examples=20)
def test_order_of_tokens_does_not_matter(seed):
    generator = torch.Generator().manual_seed(seed)
    module, order = build().double(), torch.randperm(9, generator=generator)
    x = torch.randn(9, D, generator=generator).double()
    torch.testing.assert_close(module(x[order]), module(x)[order])


@pytest.mark.parametrize("kind", ["gated", "list"])
def test_gradients_are_right(kind, device):
    module = build(kind=kind).double().to(device)
    x = torch.randn(3, D, device=device).double().requires_grad_()
    assert torch.autograd.gradcheck(module, (x,))


def test_the_trace_sees_what_the_router_chose_and_nothing_is_stored():
    module, x = build(), torch.randn(2, 3, D)
    before = {name: set(vars(part)) for name, part in module.named_modules()}
    with trace.record(module, outputs=[Router]) as seen:
        module(x)
    weights, experts, logits = seen["router"]["output"]
    expected = route(logits, 2)
    assert torch.equal(weights, expected[0])
    assert torch.equal(experts, expected[1])
    assert {name: set(vars(part)) for name, part in module.named_modules()} == before


# ---- losses


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("padded", [False, True])
def test_balance_loss_equals_transformers(k, padded):
    layers = [torch.randn(2, 7, E, requires_grad=True) for _ in range(3)]
    mask = torch.ones(2, 7, dtype=torch.bool)
    if padded:
        mask[1, 4:] = False
    theirs = mixtral.load_balancing_loss_func(
        tuple(layer.flatten(0, 1) for layer in layers), E, k, mask.long() if padded else None
    )
    ours = load_balancing_loss(torch.stack(layers), k, mask if padded else None)
    torch.testing.assert_close(ours, theirs)
    gradients = torch.autograd.grad(ours, layers, retain_graph=True)
    torch.testing.assert_close(gradients, torch.autograd.grad(theirs, layers))


def test_balance_loss_is_k_when_balanced_and_n_experts_when_collapsed():
    balanced = torch.eye(E).double() * 50
    assert load_balancing_loss(balanced, 1).item() == pytest.approx(1)
    collapsed = torch.zeros(7, E).double()
    collapsed[:, 2] = 50
    assert load_balancing_loss(collapsed, 1).item() == pytest.approx(E)
    assert load_balancing_loss(torch.randn(50, E), E).item() == pytest.approx(E)


def test_balance_loss_pushes_towards_balance():
    torch.manual_seed(0)
    router, x = Router(D, E, 1), torch.randn(400, D)
    with torch.no_grad():
        router.gate.weight[0] += 2 * x.mean(dim=0) / x.mean(dim=0).norm()
    optimiser = torch.optim.Adam(router.parameters(), lr=0.02)
    losses = []
    for _ in range(150):
        loss = load_balancing_loss(router(x).logits, 1)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[0] > 1.05
    assert losses[-1] < 1.02


def test_z_loss_by_hand_and_with_padding():
    logits = torch.randn(2, 3, E).double()
    expected = torch.stack([row.exp().sum().log() ** 2 for row in logits.flatten(0, 1)])
    torch.testing.assert_close(router_z_loss(logits), expected.mean())
    mask = torch.tensor([[True, True, False], [True, False, False]])
    kept = expected[mask.flatten()].mean()
    torch.testing.assert_close(router_z_loss(logits, mask), kept)


def test_watch_routing_gives_losses_a_gradient_and_goes_away():
    model, x = nn.Sequential(build(), build()), torch.randn(2, 3, D)
    with watch_routing(model) as routings:
        output = model(x)
    assert len(routings) == 2
    loss = load_balancing_loss(torch.stack([r.logits for r in routings]), 2)
    (output.sum() + loss).backward()
    assert model[0].router.gate.weight.grad.abs().max() > 0
    model(x)
    assert len(routings) == 2
    assert all(not part._forward_hooks for part in model.modules())


# ---- as part of a model


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kind", ["gated", "list"])
def test_half_precision_stays_finite_and_near(kind, dtype, device):
    module = build(k=E, kind=kind).to(
        device
    )  # all experts, so that rounding cannot change the choice
    x = torch.randn(2, 5, D, device=device) * 3
    expected = module(x)
    module, x = module.to(dtype), x.to(dtype).requires_grad_()
    y = module(x)
    assert y.dtype == dtype
    torch.testing.assert_close(y.float(), expected, rtol=0.1, atol=0.1)
    y.float().square().sum().backward()
    assert x.grad.isfinite().all()


def test_autocast_runs(device):
    module, x = build(k=E).to(device), torch.randn(2, 5, D, device=device)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        y = module(x)
    torch.testing.assert_close(y.float(), module(x), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("kind", ["gated", "list"])
def test_state_dict_round_trip(kind):
    ours, other, x = build(kind=kind), build(kind=kind), torch.randn(2, D)
    other.load_state_dict(ours.state_dict())
    assert torch.equal(ours(x), other(x))
    assert "router.gate.weight" in ours.state_dict()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("kind", "backend"), [("gated", "aot_eager"), ("list", "eager")])
def test_compiles_to_one_graph_with_gradients(kind, backend):
    module = build(kind=kind, shared=FeedForward(D, 3), capacity_factor=1.0)
    torch.compiler.reset()
    compiled = torch.compile(module, fullgraph=True, backend=backend)
    for scale in (1.0, -1.0):  # the same graph for another load
        x = torch.randn(2, 7, D) * scale
        with torch.no_grad():
            torch.testing.assert_close(compiled(x), module(x))
        x, y = x.requires_grad_(), x.detach().clone().requires_grad_()
        compiled(x).square().sum().backward()
        module(y).square().sum().backward()
        torch.testing.assert_close(x.grad, y.grad)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("kind", ["gated", "list"])
def test_exports_with_a_free_length(kind):
    limit = {"capacity_factor": 1.0} if kind == "gated" else {}
    module, T = build(kind=kind, **limit), torch.export.Dim("T", min=2, max=64)
    shapes = {"x": {1: T}}
    exported = torch.export.export(module, (torch.randn(2, 5, D),), dynamic_shapes=shapes)
    x = torch.randn(2, 9, D)
    torch.testing.assert_close(exported.module()(x), module(x))


# ---- errors

x, logits, ffn = torch.randn(2, 3, D), torch.randn(2, 3, E), FeedForward(D, 4)
ids = torch.zeros(3, 2, dtype=torch.long)
full = torch.ones(2, 3, dtype=torch.bool)
BAD = [
    (lambda: Router(0, E, 1), ValueError, "d_model = 0"),
    (lambda: Router(D, 2.0, 1), TypeError, "n_experts = 2.0"),
    (lambda: Router(D, E, 0), ValueError, "k = 0"),
    (lambda: Router(D, E, E + 1), ValueError, "k = 6: must be at most n_experts = 5"),
    (lambda: Router(D, E, 1, choose="route"), TypeError, "choose = 'route'"),
    (lambda: Router(D, E, 1, capacity_factor=0.0), ValueError, "capacity_factor = 0.0"),
    (lambda: Router(D, E, 1, capacity_factor=True), TypeError, "capacity_factor = True"),
    (lambda: Router(D, E, 1)(x[..., :4]), ValueError, "x.shape = (2, 3, 4): the last axis must"),
    (lambda: Router(D, E, 1)(x.long()), TypeError, "x.dtype = torch.int64"),
    (lambda: within_capacity(ids.float(), E, 1), TypeError, "experts.dtype = torch.float32"),
    (lambda: within_capacity(ids, 0, 1), ValueError, "n_experts = 0"),
    (lambda: within_capacity(ids, E, 0), ValueError, "capacity = 0"),
    (lambda: ExpertList([]), ValueError, "experts = []: must not be empty"),
    (lambda: ExpertList([ffn, D]), TypeError, "experts[1] = 6: must be a module"),
    (lambda: GatedExperts(0, D, 4), ValueError, "n_experts = 0"),
    (lambda: GatedExperts(E, "6", 4), TypeError, "d_model = '6'"),
    (lambda: GatedExperts(E, D, -4), ValueError, "d_ff = -4"),
    (lambda: GatedExperts(E, D, 4, "silu"), TypeError, "activation = 'silu'"),
    (lambda: MixtureOfExperts(E, ffn), TypeError, "router = 5"),
    (lambda: MixtureOfExperts(Router(D, E, 1), [ffn]), TypeError, "experts = [FeedForward"),
    (lambda: MixtureOfExperts(Router(D, E, 1), ffn), TypeError, "experts = 'FeedForward'"),
    (lambda: MixtureOfExperts(ffn, GatedExperts(E, D, 4)), TypeError, "router = 'FeedForward'"),
    (lambda: MixtureOfExperts(Router(D, E, 1), GatedExperts(4, D, 4)), ValueError,
     "experts.n_experts = 4: must be 5, as of router"),
    (lambda: MixtureOfExperts(Router(D, E, 1), GatedExperts(E, D, 4), 3), TypeError, "shared = 3"),
    (lambda: build()(x[..., :4]), ValueError, "x.shape = (2, 3, 4)"),
    (lambda: build()(x.int()), TypeError, "x.dtype = torch.int32"),
    (lambda: load_balancing_loss(logits.long(), 1), TypeError, "logits.dtype = torch.int64"),
    (lambda: load_balancing_loss(logits, 6), ValueError, "k = 6"),
    (lambda: load_balancing_loss(logits, 1, full.long()), TypeError, "mask.dtype = torch.int64"),
    (lambda: load_balancing_loss(logits, 1, full.mT), ValueError, "mask.shape = (3, 2)"),
    (lambda: router_z_loss(logits.long()), TypeError, "logits.dtype = torch.int64"),
    (lambda: router_z_loss(logits, full[None]), ValueError, "mask.shape = (1, 2, 3)"),
    (lambda: watch_routing(ffn).__enter__(), ValueError, "model = 'FeedForward'"),
]  # fmt: skip
BAD += [(lambda choose=choose, k=k: choose(logits, k), error, text) for choose in CHOICES
        for k, error, text in [(0, ValueError, "k = 0"), (6, ValueError, "k = 6"),
                               (1.0, TypeError, "k = 1.0")]]  # fmt: skip
BAD += [(lambda choose=choose: choose(ids, 1), TypeError, "logits.dtype") for choose in CHOICES]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[bad[2] for bad in BAD])
def test_bad_input_is_refused_by_name_and_value(call, error, text):
    refused(call, error, text)

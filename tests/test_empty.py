"""Nothing is a size too: empty batches and empty texts go through, and losses of them are 0."""

import pytest
import torch

from pieces import embeddings, feedforward, losses, moe, norms, positions, state_space, tasks
from pieces.attention import LinearAttention
from pieces.positions import scaling

D, H, K, V = 8, 2, 4, 11
SHAPES = [(0, 3), (2, 0), (0, 0)]
LAYERS = {
    "LayerNorm": lambda: norms.LayerNorm(D),
    "RMSNorm": lambda: norms.RMSNorm(D),
    "GemmaRMSNorm": lambda: norms.GemmaRMSNorm(D),
    "BatchNorm": lambda: norms.BatchNorm(D).eval(),
    "FeedForward": lambda: feedforward.FeedForward(D, 12),
    "GatedFeedForward": lambda: feedforward.GatedFeedForward(D, 12),
    "LinearAttention": lambda: LinearAttention(D, H),
    "SelectiveStateSpace": lambda: state_space.SelectiveStateSpace(D),
    "GatedExperts": lambda: moe.MixtureOfExperts(moe.Router(D, 4, 2), moe.GatedExperts(4, D, 6)),
    "ExpertList": lambda: moe.MixtureOfExperts(
        moe.Router(D, 4, 2, capacity_factor=1.0),
        moe.ExpertList(feedforward.FeedForward(D, 6) for _ in range(4)),
    ),
}
ROTARIES = [scaling.Unscaled(), scaling.DynamicNTK(2.0, 8), scaling.YaRN(2.0, 8)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("grad", [True, False])
def test_layers(name, shape, grad):
    with torch.set_grad_enabled(grad):
        layer, x = LAYERS[name](), torch.randn(*shape, D, requires_grad=grad)
        y = layer(x)
    assert y.shape == x.shape
    if grad:
        y.sum().backward()
        assert x.grad.shape == x.shape


@pytest.mark.usefixtures("unchecked")
def test_a_batch_norm_learns_nothing_from_nothing():
    with pytest.raises(ValueError, match=r"x\.shape = \(0, 3, 8\)"):
        norms.BatchNorm(D)(torch.zeros(0, 3, D))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("norm", [norms.layer_norm, norms.rms_norm])
def test_norms(norm, shape):
    assert norm(torch.zeros(*shape, D)).shape == (*shape, D)
    assert norms.rms(torch.zeros(*shape, D)).shape == (*shape, 1)


@pytest.mark.parametrize("B", [None, 0, 2])
@pytest.mark.parametrize("T", [0, 3])
def test_positions(B, T):
    lead = () if B is None else (B,)
    places, first = torch.zeros(*lead, T, dtype=torch.long), 1 if B is None else B
    for encoding in (positions.ALiBi(H), positions.T5Buckets(H)):
        assert encoding(places).shape == (first, H, T, T)
    for encoding in (positions.Sinusoidal(D), positions.Learned(9, D)):
        assert encoding(places).shape == (*lead, T, D)
        x = torch.zeros(first, T, D)
        assert encoding.add(x, places).shape == x.shape
    for scaled in ROTARIES:
        rotary = positions.Rotary(K, scaling=scaled)
        assert rotary(places).cos.shape == (first, 1, T, K)
        q = torch.zeros(first, H, T, K)
        assert [y.shape for y in rotary.rotate(q, q, places)] == [q.shape, q.shape]
    relative = positions.TransformerXLRelative(D, H, K)
    if T:
        q = torch.zeros(first, H, T, K)
        assert relative.bias(q, q, places).shape == (first, H, T, T)


@pytest.mark.parametrize("shape", SHAPES)
def test_embeddings_and_losses(shape):
    table = embeddings.TokenEmbedding(V, D)
    x = table(torch.zeros(shape, dtype=torch.long))
    assert x.shape == (*shape, D)
    logits = table.logits(x)
    total, count = losses.summed_cross_entropy(logits, torch.zeros(shape, dtype=torch.long))
    total.backward()
    assert (total.item(), count.item()) == (0, 0)


@pytest.mark.parametrize("shape", SHAPES)
def test_routers_without_a_token(shape):
    logits = torch.zeros(*shape, 4, requires_grad=True)
    total = moe.load_balancing_loss(logits, 2) + moe.router_z_loss(logits)
    total.backward()
    assert total.item() == 0
    for choose in (moe.route, moe.route_softmax_first, moe.route_unnormalised):
        assert [y.shape for y in choose(logits, 2)] == [(*shape, 2), (*shape, 2)]


def test_a_batch_of_padding_costs_nothing():
    logits, padding = torch.randn(2, 3, 4, requires_grad=True), torch.zeros(2, 3).bool()
    total = moe.load_balancing_loss(logits, 2, padding) + moe.router_z_loss(logits, padding)
    total.backward()
    assert total.item() == 0
    assert (logits.grad == 0).all()


TASKS = [
    tasks.Copy,
    tasks.Reverse,
    tasks.Sorting,
    tasks.Induction,
    tasks.AssociativeRecall,
    tasks.Agreement,
    tasks.ModularSums,
    tasks.Translation,
    tasks.Introductions,
    tasks.Corpus,
]


@pytest.mark.parametrize("kind", TASKS)
def test_tasks(kind):
    task = kind()
    ids = task.encode("")
    assert (ids.shape, ids.dtype) == ((0,), torch.long)
    assert task.decode(ids) == ""
    batch = task.write(task.items(1)[:0])
    assert batch.input_ids.shape == batch.targets.shape
    assert len(batch.input_ids) == 0
    assert batch.input_ids.dtype == batch.targets.dtype == torch.long


@pytest.mark.usefixtures("unchecked")
def test_a_score_of_nothing_is_refused():
    for score in (tasks.accuracy, tasks.exact):
        with pytest.raises(ValueError, match=r"targets.*no target that counts"):
            score(torch.zeros(0, 3, V), torch.zeros(0, 3, dtype=torch.long))

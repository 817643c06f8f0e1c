"""The numbered equations of the source text, each written out by hand and held to the package.

One test an equation, named after its number; the page `appendix/equations` names them. Sums and
loops stand here instead of the package's products, in float64. What the text lost comes from the
papers; between (5.26) and (5.34) the order is inferred.
"""

import math

import torch
from torch.testing import assert_close

from pieces import masks, norms
from pieces.attention import (
    CrossAttention,
    MultiHeadAttention,
    SingleHeadAttention,
    attention,
)
from pieces.blocks import Block, CrossBlock
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import FeedForward, GatedFeedForward, gelu, relu, swish
from pieces.moe import GatedExperts, MixtureOfExperts, Router
from pieces.norms import LayerNorm
from pieces.positions import (
    ALiBi,
    Interleaved,
    Learned,
    Rotary,
    Sinusoidal,
    T5Buckets,
    TransformerXLRelative,
    Unscaled,
    alibi_slopes,
)
from pieces.residual import DeepNorm, PostNorm, PreNorm, SandwichNorm

T, D, H, K, F = 5, 12, 3, 4, 7
DRAWS = torch.Generator().manual_seed(5)


def draw(*shape):
    """Numbers in float64, other ones at each call."""
    return torch.randn(*shape, dtype=torch.float64, generator=DRAWS)


def random(module):
    """A module in float64 whose parameters are all drawn, gains and shifts too."""
    module = module.double().eval()
    for parameter in module.parameters():
        parameter.data = draw(*parameter.shape)
    return module


def same(ours, by_hand):
    assert_close(ours, by_hand, rtol=1e-9, atol=1e-10)


def softmax(scores):
    """e^s over their sum, as chapter 3 has it; rows are kept far from overflow."""
    powers = torch.exp(scores)
    return powers / powers.sum(-1, keepdim=True)


def one_head(q, k, v, visible=None):
    """One query after another, one key after another."""
    rows = []
    for i in range(len(q)):
        seen = [j for j in range(len(k)) if visible is None or visible[i, j]]
        scores = torch.stack([(q[i] * k[j]).sum() / math.sqrt(q.shape[1]) for j in seen])
        rows.append(sum(w * v[j] for w, j in zip(softmax(scores), seen, strict=True)))
    return torch.stack(rows)


def heads(layer, x, context, visible=None):
    """Each head's output, with its own rows of the matrices."""
    parts = []
    for h in range(layer.n_heads):
        rows = slice(h * layer.head_dim, (h + 1) * layer.head_dim)
        W_q, W_k, W_v = (m.weight[rows].T for m in (layer.query, layer.key, layer.value))
        parts.append(one_head(x @ W_q, context @ W_k, context @ W_v, visible))
    return parts


def mha(layer, x, context, visible=None):
    """Concat(head_1, …, head_H) W_O."""
    return torch.cat(heads(layer, x, context, visible), -1) @ layer.output.weight.T


def layer_norm(norm, x):
    """(5.12) and (5.13), with ε under the root."""
    mean = x.sum(-1, keepdim=True) / x.shape[-1]
    variance = ((x - mean) ** 2).sum(-1, keepdim=True) / x.shape[-1]
    return (x - mean) / torch.sqrt(variance + norm.eps) * norm.weight + norm.bias


def ffn(layer, x):
    """max(x W_U + b_1, 0) W_D + b_2."""
    hidden = x @ layer.up.weight.T + layer.up.bias
    return torch.where(hidden > 0, hidden, 0.0) @ layer.down.weight.T + layer.down.bias


def test_5_01():
    ids, table, code = torch.tensor([[3, 1, 3]]), random(TokenEmbedding(6, D)), Sinusoidal(D)
    added = code.add(table(ids), torch.arange(3))[0]
    for t, word in enumerate(ids[0]):
        for n in range(D // 2):
            angle = t / 10_000 ** (2 * n / D)
            same(added[t, 2 * n], table.weight[word, 2 * n] + math.sin(angle))
            same(added[t, 2 * n + 1], table.weight[word, 2 * n + 1] + math.cos(angle))


def test_5_02():
    layer, x = random(SingleHeadAttention(D, K)), draw(T, D)
    same(layer.query(x), torch.einsum("td,kd->tk", x, layer.query.weight))


def test_5_03():
    layer, x = random(SingleHeadAttention(D, K)), draw(T, D)
    same(layer.key(x), torch.einsum("td,kd->tk", x, layer.key.weight))


def test_5_04():
    layer, x = random(SingleHeadAttention(D, K)), draw(T, D)
    same(layer.value(x), torch.einsum("td,kd->tk", x, layer.value.weight))
    q, k, v = (x @ m.weight.T for m in (layer.query, layer.key, layer.value))
    same(layer(x[None])[0], one_head(q, k, v))  # the three at work


def test_5_05():
    q, k, v = draw(T, K), draw(T + 2, K), draw(T + 2, 3)
    output, weights = attention(q[None, None], k[None, None], v[None, None])
    same(output[0, 0], one_head(q, k, v))
    same(weights.sum(-1), torch.ones_like(weights[..., 0]))


def test_5_06():
    layer, x = random(MultiHeadAttention(D, H)), draw(T, D)
    same(layer(x[None])[0], mha(layer, x, x))


def test_5_07():
    layer, x = random(MultiHeadAttention(D, H)), draw(T, D)
    for h, head in enumerate(heads(layer, x, x)):  # W_O lets one head through
        columns = slice(h * K, (h + 1) * K)
        layer.output.weight.data.zero_()
        layer.output.weight.data[:K, columns] = torch.eye(K, dtype=torch.float64)
        same(layer(x[None])[0, :, :K], head)


def test_5_08():
    layer, x = random(FeedForward(D, F)), draw(T, D)
    same(layer(x), ffn(layer, x))


def post(D=D):
    return PostNorm(LayerNorm(D))


def test_5_09():
    layer, feed, x = MultiHeadAttention(D, H), FeedForward(D, F), draw(T, D)
    options = {"attention_residual": post(), "feed_forward_residual": post()}
    block = random(Block(layer, feed, **options))
    inner = layer_norm(block.attention_residual.norm, mha(layer, x, x) + x)
    outer = layer_norm(block.feed_forward_residual.norm, ffn(feed, inner) + inner)
    same(block(x[None])[0], outer)


def test_5_10():
    own, cross, feed = MultiHeadAttention(D, H), CrossAttention(D, H), FeedForward(D, F)
    names = ("attention_residual", "cross_residual", "feed_forward_residual")
    block = random(CrossBlock(own, cross, feed, **{name: post() for name in names}))
    y, memory, mask = draw(T, D), draw(T + 3, D), masks.causal(T)
    first = layer_norm(block.attention_residual.norm, mha(own, y, y, mask) + y)
    second = layer_norm(block.cross_residual.norm, mha(cross, first, memory) + first)
    third = layer_norm(block.feed_forward_residual.norm, ffn(feed, second) + second)
    same(block(y[None], memory[None], mask=mask)[0], third)


def test_5_11():
    table, y = random(TokenEmbedding(6, D)), draw(T, D)
    shares = table.logits(y[None])[0].softmax(-1)
    same(shares, softmax(torch.einsum("td,vd->tv", y, table.weight)))


def test_5_12():
    norm, x = random(LayerNorm(D)), 3 + 2 * draw(T, D)
    same(norm(x), layer_norm(norm, x))


def test_5_13():
    x, eps = 3 + 2 * draw(T, D), 1e-5
    mean = x.sum(-1, keepdim=True) / D
    deviation = torch.sqrt(((x - mean) ** 2).sum(-1, keepdim=True) / D + eps)
    same(norms.layer_norm(x, eps) * deviation + mean, x)  # μ and σ bring x back


def test_5_14():
    norm, x = random(norms.RMSNorm(D)), 3 + 2 * draw(T, D)
    size = torch.sqrt((x * x).sum(-1, keepdim=True) / D + norm.eps)
    same(norm(x), x / size * norm.weight)


def test_5_15():
    x = 3 + 2 * draw(T, D)
    same(norms.rms(x), torch.sqrt((x * x).sum(-1, keepdim=True) / D))


def test_5_16():
    residual, feed, x = random(DeepNorm(LayerNorm(D), 2.5)), random(FeedForward(D, F)), draw(T, D)
    same(residual(x, feed), layer_norm(residual.norm, 2.5 * x + ffn(feed, x)))


def test_5_17():
    residual, feed, x = random(post()), random(FeedForward(D, F)), draw(T, D)
    same(residual(x, feed), layer_norm(residual.norm, x + ffn(feed, x)))


def test_5_18():
    residual, feed, x = random(PreNorm(LayerNorm(D))), random(FeedForward(D, F)), draw(T, D)
    same(residual(x, feed), x + ffn(feed, layer_norm(residual.norm, x)))


def test_5_19():
    residual = random(SandwichNorm(LayerNorm(D), LayerNorm(D)))
    feed, x = random(FeedForward(D, F)), draw(T, D)
    inner = ffn(feed, layer_norm(residual.norm_in, x))
    same(residual(x, feed), x + layer_norm(residual.norm_out, inner))


def test_5_20():
    x = 3 * draw(99)
    same(relu(x), torch.tensor([max(float(a), 0.0) for a in x], dtype=torch.float64))


def test_5_21():
    x = 3 * draw(99)
    same(swish(x), x / (1 + torch.exp(-x)))


def test_5_22():
    x = 3 * draw(99)
    below = torch.tensor([math.erfc(-float(a) / math.sqrt(2)) / 2 for a in x], dtype=torch.float64)
    same(gelu(x), x * below)


def gated(layer, x, bent):
    """(bent(x W_G) ⊙ x W_U) W_D: the text's equations, and the third matrix that they leave out."""
    gate, straight = x @ layer.gate.weight.T, x @ layer.up.weight.T
    return (bent(gate) * straight) @ layer.down.weight.T


def test_5_23():
    layer, x = random(GatedFeedForward(D, F)), draw(T, D)
    same(layer(x), gated(layer, x, lambda a: a / (1 + torch.exp(-a))))


def test_5_24():
    layer, x = random(GatedFeedForward(D, F, gelu)), draw(T, D)
    same(layer(x), gated(layer, x, lambda a: a * (1 + torch.erf(a / math.sqrt(2))) / 2))


def test_5_25():
    table, x = random(Learned(T, D)), draw(1, T, D)
    for t in range(T):
        same(table.add(x, torch.arange(T))[0, t], x[0, t] + table.weight[t])


def test_5_26():
    """The score of x_i + p_i and x_j + p_j is a sum of four products."""
    layer, x, p = random(SingleHeadAttention(D, K)), draw(T, D), draw(T, D)
    W = layer.query.weight.T @ layer.key.weight
    scores = layer.query(x + p) @ layer.key(x + p).T
    same(scores, x @ W @ x.T + x @ W @ p.T + p @ W @ x.T + p @ W @ p.T)


def test_5_27():
    encoding = random(TransformerXLRelative(D, H))
    q, k = draw(1, H, T, K), draw(1, H, T, K)
    bias = encoding.bias(q, k, torch.arange(T))
    for h in range(H):
        W_r = encoding.relative.weight[h * K : (h + 1) * K].T
        for i in range(T):
            for j in range(i + 1):
                r = encoding.code(torch.tensor([i - j]), torch.float64)[0] @ W_r
                by_content = (encoding.u[h] * k[0, h, j]).sum()
                by_distance = ((q[0, h, i] + encoding.v[h]) * r).sum()
                same(bias[0, h, i, j], (by_content + by_distance) / math.sqrt(K))


def test_5_28():
    """Before distances share a bucket, each distance has its own number."""
    encoding = random(T5Buckets(H, 32, 128, bidirectional=False))
    bias = encoding(torch.arange(T))[0]
    for i in range(T):
        for j in range(i + 1):
            same(bias[:, i, j], encoding.weight[i - j])


def rotation(position, size=K, base=10_000):
    """R at a position: a block of cos and sin for each neighbouring pair."""
    angles = [position * base ** (-2 * n / size) for n in range(size // 2)]
    turns = [[[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]] for a in angles]
    return torch.block_diag(*(torch.tensor(turn, dtype=torch.float64) for turn in turns))


def rotary():
    return Rotary(K, layout=Interleaved())


def test_5_29():
    """Scores of rotated rows: (x R_i) (y R_j)ᵀ."""
    q, k = draw(1, 1, T, K), draw(1, 1, T, K)
    turned_q, turned_k = rotary().rotate(q, k, torch.arange(T))
    for i in range(T):
        for j in range(T):
            ours = turned_q[0, 0, i] @ turned_k[0, 0, j]
            same(ours, (q[0, 0, i] @ rotation(i)) @ (k[0, 0, j] @ rotation(j)))


def test_5_30():
    """The matrix: one row turned is that row times R."""
    x = draw(1, 1, 1, K)
    for position in (0, 1, 7, 1_000):
        turned, _ = rotary().rotate(x, x, torch.tensor([position]))
        same(turned[0, 0, 0], x[0, 0, 0] @ rotation(position))


def test_5_31():
    angles = Unscaled()(K, 10_000.0, dtype=torch.float64)
    by_hand = [10_000.0 ** (-2 * n / K) for n in range(K // 2)]
    same(angles, torch.tensor(by_hand, dtype=torch.float64))


def test_5_32():
    """R_i R_jᵀ = R_(i-j), so that only the distance is left."""
    for i, j in ((9, 4), (4, 9), (300, 1)):
        same(rotation(i) @ rotation(j).T, rotation(i - j))
    q, k = draw(1, 1, 1, K), draw(1, 1, 1, K)
    at = [rotary().rotate(q, k, torch.tensor([p])) for p in (2, 7, 52, 57)]
    same(at[1][0] @ at[0][1].mT, at[3][0] @ at[2][1].mT)


def test_5_33():
    """After one wavelength a pair stands where it stood."""
    for n, angle in enumerate(Unscaled()(K, 10_000.0, dtype=torch.float64)):
        wavelength = 2 * math.pi * 10_000 ** (2 * n / K)
        same(wavelength * angle, torch.tensor(2 * math.pi, dtype=torch.float64))


def test_5_34():
    bias = ALiBi(H + 1)(torch.arange(T))[0].double()
    for h, slope in enumerate(alibi_slopes(H + 1), 1):
        assert float(slope) == 2 ** (-8 * h / (H + 1))
        for i in range(T):
            for j in range(i + 1):
                same(bias[h - 1, i, j], -slope.double() * (i - j))


def test_5_35():
    router, x = random(Router(D, 5, 2)), draw(T, D)
    chosen = router(x)
    for t in range(T):
        scores = x[t] @ router.gate.weight.T
        best = sorted(range(5), key=lambda e: -scores[e].item())[:2]
        assert chosen.experts[t].tolist() == best
        same(chosen.weights[t], softmax(scores[best]))


def test_5_36():
    experts = GatedExperts(5, D, F)
    layer, x = random(MixtureOfExperts(Router(D, 5, 2), experts)), draw(1, T, D)
    chosen = layer.router(x[0])
    for t in range(T):
        total = torch.zeros(D, dtype=torch.float64)
        for weight, e in zip(chosen.weights[t], chosen.experts[t], strict=True):
            gate, straight = (experts.gate_up[e] @ x[0, t]).chunk(2)
            total += weight * (experts.down[e] @ (gate / (1 + torch.exp(-gate)) * straight))
        same(layer(x)[0, t], total)

import pytest
import torch

from pieces import masks
from pieces.generate import generate
from pieces.models.aligner import Aligner, AlignerConfig, aligner
from pieces.trace import record

SMALL = AlignerConfig(17, d_model=12, score_dim=5)


@pytest.fixture
def model(device):
    return aligner(SMALL).eval().to(device)


def ids(B, T):
    return torch.randint(0, 17, (B, T))


def gru(cell, x, h, suffix=""):
    """One step, written out (Cho et al. 2014, with torch's order of the gates)."""
    kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    W, U, b, c = (getattr(cell, kind + suffix) for kind in kinds)
    from_x, from_h = (x @ W.T + b).chunk(3), (h @ U.T + c).chunk(3)
    reset, update = (torch.sigmoid(from_x[i] + from_h[i]) for i in (0, 1))
    new = torch.tanh(from_x[2] + reset * from_h[2])
    return (1 - update) * new + update * h


def by_hand(model, source, target):
    """The equations of the docstring in loops, for one sentence."""
    words, half = model.embedding.weight[source], SMALL.d_model // 2
    forward, backward = [], []
    h, g = torch.zeros(half), torch.zeros(half)
    for j in range(len(source)):
        h = gru(model.reader, words[j], h, "_l0")
        g = gru(model.reader, words[-1 - j], g, "_l0_reverse")
        forward.append(h)
        backward.insert(0, g)
    annotations = [torch.cat(pair) for pair in zip(forward, backward, strict=True)]
    s, score = torch.tanh(model.start(backward[0])), model.core.score
    logits, alignment = [], []
    for word in model.embedding.weight[target]:
        scores = [score.v.weight[0] @ torch.tanh(score.W(h) + score.U(s)) for h in annotations]
        weights = torch.stack(scores).softmax(dim=0)
        c = sum(w * h for w, h in zip(weights, annotations, strict=True))
        s = gru(model.writer, torch.cat((word, c)), s)
        logits.append(model.head(torch.tanh(model.mix(torch.cat((s, c))))))
        alignment.append(weights)
    return torch.stack(logits), torch.stack(alignment)


@torch.no_grad()
def test_it_is_its_equations(model):
    model.cpu()
    source, target = ids(1, 6), ids(1, 4)
    logits, alignment = by_hand(model, source[0], target[0])
    with record(model) as trace:
        torch.testing.assert_close(model(source, target)[0], logits)
    rows = [call["weights"] for call in trace.calls("core")]
    assert [row.shape for row in rows] == [(1, 1, 1, 6)] * 4
    torch.testing.assert_close(torch.cat(rows, dim=2)[0, 0], alignment)


@torch.no_grad()
def test_padding_of_the_source_changes_nothing(model, device):
    source, target = ids(3, 6).to(device), ids(3, 4).to(device)
    real = masks.padding([6, 3, 1], 6).to(device)
    logits = model(source, target, source_mask=real)
    for row, length in enumerate((6, 3, 1)):
        alone = model(source[row : row + 1, :length], target[row : row + 1])
        torch.testing.assert_close(logits[row : row + 1], alone)


@torch.no_grad()
def test_a_cache_changes_nothing(model, device):
    source, target = ids(2, 6).to(device), ids(2, 9).to(device)
    memory, cache = model.encode(source), model.new_cache()
    parts = [model.decode_hidden(part, memory, cache=cache) for part in target.split([1, 5, 3], 1)]
    torch.testing.assert_close(model.logits(torch.cat(parts, 1)), model(source, target))
    assert cache.length() == 9
    cache.select(torch.tensor([1]))
    step = model.decode_hidden(target[1:, :1], memory[1:], cache=cache)
    whole = model(source[1:], torch.cat((target[1:], target[1:, :1]), dim=1))
    torch.testing.assert_close(model.logits(step), whole[:, -1:])


@torch.no_grad()
def test_it_generates_with_a_cache_as_without(model, device):
    source = ids(2, 5).to(device)
    real = torch.tensor([[True] * 5, [True, True, False, False, False]], device=device)
    options = {"mask": real, "start_id": 1}
    first, second = (generate(model, source, 6, use_cache=use, **options) for use in (True, False))
    assert torch.equal(first, second)


def test_it_trains(model, device):
    model.train()  # which cuDNN asks for
    model(ids(2, 5).to(device), ids(2, 5).to(device)).logsumexp(-1).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.usefixtures("unchecked")
def test_what_does_not_fit_is_refused(model):
    good = ids(2, 4)
    with pytest.raises(TypeError, match=r"source_ids\.dtype"):
        model(good.float(), good)
    with pytest.raises(ValueError, match=r"target_ids\.shape"):
        model(good, good[0])
    with pytest.raises(TypeError, match=r"mask\.dtype"):
        model(good, good, source_mask=torch.ones(2, 1, 1, 4))
    with pytest.raises(ValueError, match="d_model = 13"):
        Aligner(AlignerConfig(17, 13, 5))

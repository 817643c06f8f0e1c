import math

import pytest
import torch

import heads
from pieces.models.attention_only import AttentionOnlyConfig, attention_only
from pieces.trace import record

WORDS = torch.arange(40)


@pytest.fixture
def model():
    return attention_only(AttentionOnlyConfig(40, 12, n_layers=2, n_heads=3)).eval()


def test_the_second_saying_is_the_first():
    ids = heads.repeated(WORDS, 5, 7)
    assert ids.shape == (5, 14)
    assert torch.equal(ids[:, :7], ids[:, 7:])
    assert torch.equal(ids, heads.repeated(WORDS, 5, 7))


@torch.no_grad()
def test_scores_are_the_mean_weights(model):
    """In loops: on the word before, and on the word behind where this one stood the last time."""
    ids, S = heads.repeated(WORDS, heads.TEXTS, heads.STRETCH), heads.STRETCH
    with record(model) as trace:
        model(ids)
    weights = torch.stack([call["weights"] for call in trace.values()])
    found = heads.scores(model, WORDS)
    for layer in range(2):
        for head in range(3):
            own = weights[layer, :, head].mean(0)
            before = sum(own[t, t - 1] for t in range(S, 2 * S)) / S
            behind = sum(own[t, t - S + 1] for t in range(S, 2 * S)) / S
            torch.testing.assert_close(found["previous_token"][layer, head], before)
            torch.testing.assert_close(found["prefix_matching"][layer, head], behind)


def test_without_takes_one_head_away_and_gives_it_back(model):
    ids, before = heads.repeated(WORDS, 2, 5), model.state_dict()
    before = {name: weight.clone() for name, weight in before.items()}
    whole = model(ids)
    attention = model.stack.blocks[1].attention
    seen = {}
    hook = attention.output.register_forward_pre_hook(lambda _, args: seen.update(x=args[0]))
    with heads.without(model, 1, 2):
        less = model(ids)
        mixed = attention.output(seen["x"])
    hook.remove()
    assert not torch.allclose(less, whole)
    kept = seen["x"].clone()
    kept[..., 8:] = 0
    torch.testing.assert_close(mixed, attention.output(kept))
    assert all(torch.equal(model.state_dict()[name], weight) for name, weight in before.items())


def test_a_model_that_knows_nothing_has_no_induction_head(model):
    found = heads.examine(model, WORDS)
    assert found["second_saying_loss"] == pytest.approx(math.log(40), abs=0.7)
    assert all(score < 0.1 for row in found["heads"]["prefix_matching"] for score in row)


def test_the_place_of_the_largest():
    assert heads.place(torch.tensor([[0.1, 0.2], [0.9, 0.3]])) == [1, 0]

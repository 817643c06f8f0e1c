import pytest
import torch
from torch import nn

import held_out
from pieces.models.encoder_decoder import EncoderDecoderConfig, encoder_decoder
from pieces.tasks import Stories, Translation


def said(task, draw, seed=held_out.SEED):
    return list(held_out.batches(draw, 200, seed))


@pytest.mark.parametrize("task", [Stories(), Translation()], ids=["stories", "translation"])
def test_the_text_is_the_same_each_time_and_none_is_trained_on(task):
    draw = getattr(task, "pairs", task.batch)
    first, again = said(task, draw), said(task, draw)
    other = said(task, draw, seed=1)
    assert len(first) == 2
    for one, two in zip(first, again, strict=True):
        assert all(map(torch.equal, one, two))
    assert not torch.equal(first[0][0][:, :32], other[0][0][:, :32])
    generator = torch.Generator().manual_seed(held_out.SEED)
    assert task.held_out(task.items(100, "held_out", generator)).all()


class Oracle(nn.Module):
    """Knows the stories: its logits are the true log-probabilities."""

    def __init__(self, task, split):
        super().__init__()
        self.task, self.split = task, split

    def forward(self, input_ids):
        return self.task.true_next(input_ids, split=self.split).clamp(min=1e-30).log()


@pytest.mark.parametrize(("split", "floor"), [(None, "floor"), ("held_out", "floor_rule")])
def test_who_knows_the_world_stands_on_the_floor(split, floor):
    task = Stories()
    found = held_out.stories(Oracle(task, split), task, rows=100)
    assert found["loss"] == pytest.approx(found[floor], abs=1e-5)
    assert found["floor_rule"] < found["floor"] < 1
    assert 0.5 < found["accuracy"] < 1


def test_a_translator_that_knows_nothing_is_scored_by_hand():
    task = Translation()
    model = encoder_decoder(EncoderDecoderConfig(task.vocab_size, 12, 1, 3, 20, dropout=0.0)).eval()
    found = held_out.translation(model, task, rows=100)
    (batch,) = held_out.batches(task.pairs, 100)
    with torch.no_grad():
        logits = model(batch.source_ids, batch.target_ids, source_mask=batch.source_mask)
    counted = batch.targets != -100
    p = logits.log_softmax(-1)[counted].gather(1, batch.targets[counted][:, None])
    assert found["loss"] == pytest.approx(-p.mean().item(), rel=1e-5)
    assert found["exact"] == 0
    assert found["floor"] == 0

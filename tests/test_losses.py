"""Losses: the equation by hand, what does not count, and float32 whatever the model computes in."""

import math

import pytest
import torch

from pieces.losses import next_token_loss, summed_cross_entropy, translation_loss
from pieces.models.encoder_decoder import EncoderDecoderConfig, encoder_decoder
from pieces.models.gpt2 import GPT2Config, gpt2
from pieces.tasks import Copy, Translation


@pytest.mark.parametrize("shape", [(1, 1, 2), (2, 5, 7), (3, 1, 4)])
def test_it_is_the_equation(shape):
    logits = torch.randn(shape, dtype=torch.float64)
    targets = torch.randint(0, shape[-1], shape[:2])
    targets[0, 0] = -100
    expected = counted = 0
    for row, said in zip(logits.flatten(0, 1).tolist(), targets.flatten().tolist(), strict=True):
        if said != -100:
            expected += math.log(sum(math.exp(x) for x in row)) - row[said]
            counted += 1
    total, count = summed_cross_entropy(logits, targets)
    assert total.item() == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert count.item() == counted


def test_half_precision_is_summed_in_float32():
    logits = torch.zeros(64, 64, 8, dtype=torch.float16)
    total, _ = summed_cross_entropy(logits, torch.zeros(64, 64, dtype=torch.long))
    assert total.dtype == torch.float32
    assert total.item() == pytest.approx(64 * 64 * math.log(8), rel=1e-5)


def test_a_decoder_is_asked_at_each_place():
    task = Copy()
    model = gpt2(GPT2Config(task.vocab_size, 16, 1, 2, 32, 64)).eval()
    batch = task.batch(3)
    total, count = next_token_loss(model, batch)
    expected = summed_cross_entropy(model(batch.input_ids), batch.targets)
    assert (total, count) == expected
    assert count == (batch.targets != -100).sum()


def test_padding_of_a_source_is_hidden():
    task = Translation()
    model = encoder_decoder(EncoderDecoderConfig(task.vocab_size, 16, 1, 2, 32)).eval()
    pairs = task.pairs(6)
    total, count = translation_loss(model, pairs)
    hidden = ~pairs.source_mask.flatten(1)
    assert hidden.any(), "the batch must have padding"
    other = pairs._replace(source_ids=pairs.source_ids.masked_fill(hidden, 3))
    changed, _ = translation_loss(model, other)
    torch.testing.assert_close(changed, total)
    assert count == (pairs.targets != -100).sum()


@pytest.mark.usefixtures("unchecked")
def test_targets_of_another_batch_are_refused():
    with pytest.raises(ValueError, match=r"targets\.shape = \(2, 4\): .*Remedy"):
        summed_cross_entropy(torch.randn(2, 3, 5), torch.zeros(2, 4, dtype=torch.long))

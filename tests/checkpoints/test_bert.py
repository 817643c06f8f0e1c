"""BERT against transformers, and back."""

from dataclasses import replace

import pytest
import torch

import lazily
from pieces import masks
from pieces.checkpoints import from_folder, from_transformers, to_transformers
from pieces.models.bert import bert_masked_lm
from tiny import their_bert as theirs

hf = lazily.Module("transformers")

KINDS = ("BertModel", "BertForMaskedLM")
EACH = pytest.mark.parametrize("kind", KINDS)


def assert_close(ours, expected):
    assert ours.shape == expected.shape
    assert ((ours - expected).abs().max() / expected.abs().max().clamp(min=1)).item() <= 1e-5


@EACH
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("side", ["left", "right"])
@torch.no_grad()
def test_outputs_are_equal(kind, seed, side, device):
    model = theirs(kind, seed)
    ours = from_transformers(model).to(device)
    for T in (1, 13, 30):
        ids, segments = torch.randint(0, 37, (3, T)), torch.randint(0, 2, (3, T))
        real = masks.padding([T, (T + 1) // 2, 1], T, side)
        options = {"attention_mask": real[:, 0, 0].long(), "token_type_ids": segments}
        expected = model(ids, **options)
        where = {"mask": real.to(device), "segments": segments.to(device)}
        found = ours(ids.to(device), **where).cpu()
        assert_close(found[real[:, 0, 0]], expected[0][real[:, 0, 0]])
        if kind == "BertModel" and side == "right":
            assert_close(ours.cpu().pooled(found), expected.pooler_output)
            ours.to(device)
    assert_close(ours(ids.to(device)).cpu(), model(ids)[0])


@EACH
@torch.no_grad()
def test_there_and_back(kind):
    model = theirs(kind, 1)
    again = to_transformers(from_transformers(model))
    assert type(again) is type(model)
    for (name, ours), (_, other) in zip(
        again.state_dict().items(), model.state_dict().items(), strict=True
    ):
        assert torch.equal(ours, other), name
    ids = torch.randint(0, 37, (2, 9))
    assert torch.equal(again(ids)[0], model(ids)[0])


@EACH
@torch.no_grad()
def test_from_a_folder(kind, tmp_path):
    model, ids = theirs(kind, 2), torch.randint(0, 37, (2, 9))
    model.save_pretrained(tmp_path)
    assert_close(from_folder(tmp_path)(ids), model(ids)[0])


def test_what_is_not_carried_over_is_refused():
    with pytest.raises(ValueError, match=r"config\.is_decoder = True"):
        from_transformers(theirs("BertModel", 0, is_decoder=True))
    with pytest.raises(ValueError, match="BertForSequenceClassification"):
        from_transformers(hf.BertForSequenceClassification(theirs("BertModel", 0).config))


@torch.no_grad()
def test_a_model_without_a_pooler_comes_and_goes_without_one():
    model = hf.BertModel(theirs("BertModel", 0).config, add_pooling_layer=False).eval()
    ours, ids = from_transformers(model), torch.randint(0, 37, (2, 9))
    assert_close(ours(ids), model(ids)[0])
    assert to_transformers(ours).pooler is None


def test_a_masked_model_with_a_pooler_cannot_go_back():
    config = replace(from_transformers(theirs("BertForMaskedLM", 0)).config, pooler=True)
    with pytest.raises(ValueError, match="pooler = True"):
        to_transformers(bert_masked_lm(config))

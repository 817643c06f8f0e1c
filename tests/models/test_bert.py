"""BERT by itself; its agreement with transformers is in tests/checkpoints/test_bert.py."""

import dataclasses

import pytest
import torch

from pieces.models.bert import PRESETS, BertConfig, BertMaskedLMConfig, bert, bert_masked_lm

SMALL = BertConfig(17, 12, 1, 3, 20)
SMALL_MASKED = BertMaskedLMConfig(17, 12, 1, 3, 20)


@pytest.mark.parametrize(
    ("name", "count"), [("bert-base-uncased", 109_482_240), ("bert-large-uncased", 335_141_888)]
)
def test_presets_are_of_the_published_size(name, count):
    with torch.device("meta"):
        model = bert(PRESETS[name])
    assert sum(p.numel() for p in model.parameters()) == count


@pytest.mark.usefixtures("unchecked")
class TestItself:
    def test_compile_and_export(self):
        torch.compiler.reset()
        model, ids = bert_masked_lm(SMALL_MASKED).eval(), torch.randint(0, 17, (2, 5))
        expected = model(ids)
        compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
        assert torch.allclose(compiled(ids), expected, atol=1e-5)
        program = torch.export.export(model, (ids,))
        assert torch.allclose(program.module()(ids), expected, atol=1e-5)

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
    @torch.no_grad()
    def test_low_precision_stays_finite(self, dtype, device):
        model = bert(SMALL).eval().to(device, dtype)
        assert model(torch.randint(0, 17, (2, 5), device=device)).isfinite().all()

    @torch.no_grad()
    def test_every_token_sees_every_other(self, device):
        model, ids = bert(SMALL).eval().to(device), torch.randint(0, 17, (1, 6), device=device)
        changed = ids.clone()
        changed[0, 3] = (changed[0, 3] + 1) % 17
        moved = (model(ids) - model(changed)).abs().amax(-1)[0]
        assert (moved > 1e-4).all()

    def test_no_pooler_no_pooled_vector(self):
        model = bert_masked_lm(SMALL_MASKED)
        with pytest.raises(ValueError, match="pooler = None"):
            model.bert.pooled(torch.zeros(1, 2, 12))

    def test_segments_must_fit(self):
        ids = torch.zeros(2, 3, dtype=torch.long)
        with pytest.raises(ValueError, match=r"segments\.shape = \(2, 2\)"):
            bert(SMALL)(ids, segments=ids[:, :2])
        with pytest.raises(ValueError, match="ids"):
            bert(SMALL)(ids, segments=ids + 2)

    @pytest.mark.parametrize(
        ("size", "value", "error"),
        [
            ("vocab_size", 0, ValueError),
            ("d_ff", 1.5, TypeError),
            ("n_heads", 5, ValueError),
            ("max_seq_len", 0, ValueError),
        ],
    )
    def test_wrong_sizes_are_refused(self, size, value, error):
        with pytest.raises(error, match=f"{size} = {value}"):
            bert(dataclasses.replace(SMALL, **{size: value}))

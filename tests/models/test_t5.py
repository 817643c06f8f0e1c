"""T5 by itself; its agreement with transformers is in tests/checkpoints/test_t5.py."""

import dataclasses

import pytest
import torch

from pieces.models.t5 import PRESETS, T5Config, t5


def test_the_largest_is_of_the_published_size():
    with torch.device("meta"):
        model = t5(PRESETS["t5-11b"])
    assert round(sum(p.numel() for p in model.parameters()) / 1e9, 1) == 11.3


@pytest.mark.usefixtures("unchecked")
class TestItself:
    small = T5Config(17, 12, 1, 3, 20, 4)

    def test_compile_and_export(self):
        torch.compiler.reset()
        model = t5(self.small).eval()
        source, target = torch.randint(0, 17, (2, 5)), torch.randint(0, 17, (2, 4))
        expected = model(source, target)
        compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
        assert torch.allclose(compiled(source, target), expected, atol=1e-5)
        program = torch.export.export(model, (source, target))
        assert torch.allclose(program.module()(source, target), expected, atol=1e-5)

    @pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
    @torch.no_grad()
    def test_low_precision_stays_finite(self, dtype, device):
        model = t5(self.small).eval().to(device, dtype)
        ids = torch.randint(0, 17, (2, 5), device=device)
        assert model(ids, ids).isfinite().all()

    @torch.no_grad()
    def test_the_decoder_does_not_look_ahead(self, device):
        model = t5(self.small).eval().to(device)
        source, target = (torch.randint(0, 17, (1, 6), device=device) for _ in range(2))
        changed = target.clone()
        changed[:, 3:] = (changed[:, 3:] + 1) % 17
        before, after = model(source, target), model(source, changed)
        assert torch.equal(before[:, :3], after[:, :3])
        assert not torch.allclose(before[:, 3:], after[:, 3:])

    @pytest.mark.parametrize(
        ("size", "value"),
        [("n_layers", 0), ("n_decoder_layers", 0), ("head_dim", 0), ("num_buckets", 2)],
    )
    def test_wrong_sizes_are_refused(self, size, value):
        with pytest.raises(ValueError, match=f"{size} = {value}"):
            t5(dataclasses.replace(self.small, **{size: value}))

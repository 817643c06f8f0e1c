"""Each preset has the number of parameters known for it; two are known as round numbers only."""

import importlib

import pytest
import torch

FAMILIES = {
    "gpt2": {
        "gpt2": 124_439_808,
        "gpt2-medium": 354_823_168,
        "gpt2-large": 774_030_080,
        "gpt2-xl": 1_557_611_200,
    },
    "opt": {
        "opt-125m": 125_239_296 - 2 * 768,  # theirs has two more positions, for padding
        "opt-1.3b": 1_315_758_080 - 2 * 2048,
        "opt-6.7b": 6_658_473_984 - 2 * 4096,
    },
    "bloom": {"bloom-560m": 559_214_592, "bloom-7b1": 7_069_016_064, "bloom": 176_247_271_424},
    "mpt": {"mpt-7b": 6_649_286_656, "mpt-30b": 30e9},
    "gpt_neox": {
        "pythia-70m": 70_426_624,
        "pythia-6.9b": 6_857_302_016,
        "pythia-12b": 11_846_072_320,
        "gpt-neox-20b": 20_554_567_680,
    },
    "falcon": {"falcon-40b": 41_303_293_952, "falcon-180b": 180e9},
    "llama": {
        "llama-7b": 6_738_415_616,
        "llama-13b": 13_015_864_320,
        "llama-33b": 32_528_943_616,
        "llama-65b": 65_285_660_672,
        "llama-2-7b": 6_738_415_616,
        "llama-2-13b": 13_015_864_320,
        "llama-2-70b": 68_976_648_192,
        "llama-3-8b": 8_030_261_248,
        "llama-3-70b": 70_553_706_496,
        "llama-3.1-8b": 8_030_261_248,
    },
    "mistral": {"mistral-7b-v0.1": 7_241_732_096},
    "mixtral": {"mixtral-8x7b": 46_702_792_704},
    "qwen2": {"qwen2-0.5b": 494_032_768, "qwen2-7b": 7_615_616_512},
    "gemma": {"gemma-2b": 2_506_172_416, "gemma-7b": 8_537_680_896},
}
PRESETS = [(family, name) for family, counts in FAMILIES.items() for name in counts]


@pytest.mark.parametrize("family", FAMILIES)
def test_no_preset_is_untested(family):
    presets = importlib.import_module(f"pieces.models.{family}").PRESETS
    assert presets.keys() == FAMILIES[family].keys()


@pytest.mark.parametrize(("family", "name"), PRESETS)
def test_a_preset_has_its_published_size(family, name):
    module = importlib.import_module(f"pieces.models.{family}")
    with torch.device("meta"):
        model = getattr(module, family)(module.PRESETS[name])
    known = FAMILIES[family][name]
    tolerance = 0 if isinstance(known, int) else 0.01
    assert sum(p.numel() for p in model.parameters()) == pytest.approx(known, rel=tolerance, abs=0)

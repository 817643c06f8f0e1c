"""What all configs share: their fields are checked, and their builders take no other."""

import copy
import dataclasses
import importlib
import pickle

import pytest
import torch

from pieces.models.bert import BertConfig, BertMaskedLMConfig, bert, bert_masked_lm
from pieces.models.encoder_decoder import EncoderDecoderConfig, encoder_decoder
from pieces.models.gpt2 import GPT2Config
from pieces.models.llama import LlamaConfig, llama
from pieces.models.mistral import MistralConfig, mistral
from pieces.models.mixtral import MixtralConfig, mixtral

NAMES = ("bloom", "falcon", "gemma", "gpt2", "gpt_neox", "llama", "mistral", "mixtral", "mpt",
         "opt", "qwen2", "t5", "bert")  # fmt: skip
SIZES = {"vocab_size": 11, "d_model": 16, "n_layers": 2, "n_heads": 4, "d_ff": 24}


def builders():
    """Each builder with a small config of its own."""
    for name in NAMES:
        module = importlib.import_module(f"pieces.models.{name}")
        kind = type(next(iter(module.PRESETS.values())))
        groups = {"n_kv_heads": 2} if name == "falcon" else {}
        yield getattr(module, name), kind(**SIZES, **groups)
    yield bert_masked_lm, BertMaskedLMConfig(**SIZES)
    yield encoder_decoder, EncoderDecoderConfig(**SIZES)


BUILDERS = {build.__name__: (build, config) for build, config in builders()}


@pytest.mark.parametrize("name", BUILDERS)
@torch.no_grad()
def test_every_model_is_pickled_and_copied_whole(name):
    build, config = BUILDERS[name]
    model = build(config).eval()
    ids = torch.randint(0, 11, (2, 5))
    given = (ids, ids) if name in ("t5", "encoder_decoder") else (ids,)
    expected = model(*given)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.config == config
        assert torch.equal(other(*given), expected)
    assert pickle.loads(pickle.dumps(config)) == copy.deepcopy(config) == config
    assert hash(config) == hash(dataclasses.replace(config))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("build", "config"),
    [
        (llama, MistralConfig(**SIZES, window=2)),
        (llama, MixtralConfig(**SIZES)),
        (mistral, MixtralConfig(**SIZES)),
        (mistral, LlamaConfig(**SIZES)),
        (llama, GPT2Config(**SIZES)),
        (bert, BertMaskedLMConfig(**SIZES)),
        (bert_masked_lm, BertConfig(**SIZES)),
        (llama, SIZES),
        (llama, LlamaConfig),
    ],
    ids=lambda one: getattr(one, "__name__", type(one).__name__),
)
def test_a_config_of_another_family_is_refused(build, config):
    with pytest.raises(TypeError, match=r"type\(config\) = .*Remedy: "):
        build(config)


@pytest.mark.usefixtures("unchecked")
def test_experts_with_biases_are_refused():
    with pytest.raises(ValueError, match=r"ff_bias = True.*Remedy: "):
        mixtral(MixtralConfig(**SIZES, ff_bias=True))


@pytest.mark.usefixtures("unchecked")
def test_kept_is_a_dict_and_nothing_else():
    with pytest.raises(TypeError, match="kept = 'ids'"):
        LlamaConfig(**SIZES, kept="ids")
    assert LlamaConfig(**SIZES, kept={"eos_token_id": 2}) != LlamaConfig(**SIZES)

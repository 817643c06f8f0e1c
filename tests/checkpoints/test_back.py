"""There and back: what a config of theirs says, ids and dropout too, in every family."""

import dataclasses
import pickle
import random

import pytest
import torch

import lazily
from pieces.checkpoints import FAMILIES as ALL
from pieces.checkpoints import from_folder, from_transformers, to_transformers
from pieces.models.llama import LlamaConfig, llama
from tiny import FAMILIES, config_of, tokens

hf = lazily.Module("transformers")

SEEDS = range(4)
ABOUT_THE_FILE = {"architectures", "dtype", "transformers_version", "_name_or_path"}
FOR_OTHER_HEADS = ("classifier", "summary")


def bert(draw, seed):
    return hf.BertConfig(
        vocab_size=37, hidden_size=12, num_attention_heads=3, num_hidden_layers=2,
        intermediate_size=17, max_position_embeddings=24, type_vocab_size=draw.choice([2, 3]),
        layer_norm_eps=draw.choice([1e-12, 1e-3]), hidden_act=["gelu", "relu"][seed % 2],
        tie_word_embeddings=True,
    )  # fmt: skip


def t5(draw, seed):
    return hf.T5Config(
        vocab_size=37, d_model=12, d_kv=5, d_ff=17, num_layers=2, num_heads=3,
        num_decoder_layers=draw.choice([1, 2]), relative_attention_num_buckets=8,
        relative_attention_max_distance=draw.choice([9, 16]), layer_norm_epsilon=1e-5,
        feed_forward_proj=["relu", "gated-gelu"][seed % 2], tie_word_embeddings=seed % 2 == 0,
        decoder_start_token_id=draw.randrange(37),
    )  # fmt: skip


OTHERS = {"BertModel": bert, "BertForMaskedLM": bert, "T5ForConditionalGeneration": t5}
NAMES = {kind: family for family, (_, kind) in FAMILIES.items()}


def drawn(name, seed):
    """A config of theirs in which nothing that ours leaves alone is at its default."""
    draw = random.Random(seed)
    config = OTHERS[name](draw, seed) if name in OTHERS else config_of(NAMES[name], seed)
    for field in dataclasses.fields(config):
        if "drop" in field.name or field.name in ("initializer_range", "init_std"):
            setattr(config, field.name, draw.choice([0.125, 0.25, 0.375]))
        elif field.name in ("bos_token_id", "eos_token_id", "pad_token_id"):
            setattr(config, field.name, draw.randrange(37))
    config.eos_token_id = [[3, 5], 7][seed % 2]
    config.use_cache = not type(config)().use_cache
    if name == "MptForCausalLM":
        config.attn_config.attn_pdrop = 1
    return config


def there(name, config):
    torch.manual_seed(1)
    return getattr(hf, name)(config).eval()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ALL)
def test_no_word_of_a_config_is_lost_or_invented(name, seed):
    before = drawn(name, seed)
    model = there(name, before)
    expected = {k: v for k, v in before.to_dict().items() if v is not None}
    ours = from_transformers(model)
    back = to_transformers(ours)
    found = back.config.to_dict()
    differing = {k for k, v in expected.items() if k not in ABOUT_THE_FILE and found[k] != v}
    rope = {"rope_parameters"} & differing  # YaRN's defaults may be written out
    for key in rope:
        assert found[key].items() >= expected[key].items()
    assert differing - rope == set()
    assert found["eos_token_id"] == before.eos_token_id
    if back.can_generate():
        assert back.generation_config.eos_token_id == before.eos_token_id
    again = from_transformers(back)
    assert again.config == ours.config
    assert pickle.loads(pickle.dumps(ours.config)) == ours.config
    for key, weight in ours.state_dict().items():
        assert torch.equal(again.state_dict()[key], weight)


@pytest.mark.parametrize("name", ALL)
def test_a_model_of_our_own_takes_no_dropout_and_no_ids_along(name):
    config = dataclasses.replace(from_transformers(there(name, drawn(name, 0))).config, kept={})
    rate = getattr(config, "dropout", 0)
    found = to_transformers(ALL[name].build(config)).config.to_dict()
    rates = {k: v for k, v in found.items() if "drop" in k and not k.startswith(FOR_OTHER_HEADS)}
    assert rates
    assert set(rates.values()) <= {0, rate}
    assert [k for k, v in found.items() if k.endswith("_token_id") and v is not None] == []


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_the_dtype_goes_back_too(name, dtype, tmp_path):
    back = to_transformers(from_transformers(there(name, drawn(name, 1)).to(dtype)))
    assert {p.dtype for p in back.parameters()} == {dtype}
    assert back.config.dtype == dtype


@pytest.mark.parametrize("seed", SEEDS)
@torch.no_grad()
def test_a_t5_with_a_head_of_its_own_goes_back_with_it(seed, tmp_path):
    model, ids = (
        there("T5ForConditionalGeneration", drawn("T5ForConditionalGeneration", seed)),
        tokens(),
    )
    model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight))
    ours = from_transformers(model)
    assert not ours.config.tied
    back = to_transformers(ours)
    expected = model(input_ids=ids, decoder_input_ids=ids).logits
    torch.testing.assert_close(back(input_ids=ids, decoder_input_ids=ids).logits, expected)
    if ours.config.scaled:  # their own files cannot say that: untied is unscaled there
        return
    back.save_pretrained(tmp_path)
    torch.testing.assert_close(from_folder(tmp_path)(ids, ids), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("unchecked")
def test_a_model_that_is_not_what_its_config_says_is_refused():
    model = llama(LlamaConfig(7, 8, 2, 2, 8))
    model.config = LlamaConfig(7, 8, 3, 2, 8)
    with pytest.raises(ValueError, match=r"^model = \['stack\.blocks\.2.*Remedy: "):
        to_transformers(model)


@torch.no_grad()
@pytest.mark.parametrize("parts", [1, 2])
def test_blooms_slow_way_is_refused_only_where_it_differs(parts):
    config = config_of("bloom", 0)
    config.slow_but_exact, config.pretraining_tp = True, parts
    model = hf.BloomForCausalLM(config).eval()
    for parameter in model.parameters():
        parameter.add_(torch.randn_like(parameter) * 0.25)
    if parts == 2:
        with pytest.raises(ValueError, match="slow_but_exact = True"):
            from_transformers(model)
    else:
        ids = tokens()
        torch.testing.assert_close(from_transformers(model)(ids), model(ids).logits)


def test_a_quantised_model_is_refused():
    config = config_of("llama", 0)
    config.quantization_config = {"quant_method": "gptq", "bits": 4}
    with pytest.raises(ValueError, match=r"quantization_config = .*Remedy: "):
        from_transformers(hf.LlamaForCausalLM(config))

"""Each field of each config class of transformers: read by ours, or shown to be without effect."""

import contextlib
import copy
import inspect
import re

import pytest
import torch
import transformers as hf

from pieces.checkpoints import FAMILIES, from_transformers
from pieces.models.encoder_decoder import EncoderDecoder
from tiny import FAMILIES as TINY
from tiny import LONGEST, VOCAB, config_of

WITHOUT_EFFECT = {
    "about the file, not the model": (
        "architectures dtype transformers_version model_type is_encoder_decoder init_device "
        "attn_config.architectures attn_config.dtype attn_config.transformers_version "
        "attn_config.is_encoder_decoder"
    ),
    "how generate() goes on and stops; the ids are kept": (
        "bos_token_id eos_token_id pad_token_id decoder_start_token_id use_cache"
    ),
    "what a call gives back beside the logits": (
        "output_hidden_states output_attentions return_dict output_router_logits "
        "attn_config.output_hidden_states attn_config.return_dict"
    ),
    "heads for other tasks": (
        "id2label label2id num_labels problem_type classifier_dropout summary_activation "
        "summary_first_dropout summary_last_dropout summary_proj_to_labels summary_type "
        "summary_use_proj attn_config.id2label attn_config.label2id attn_config.problem_type"
    ),
    "training only; the rate is kept": (
        "attention_dropout hidden_dropout attention_probs_dropout_prob resid_pdrop attn_pdrop "
        "embd_pdrop emb_pdrop dropout dropout_rate layerdrop attn_config.attn_pdrop "
        "router_aux_loss_coef router_jitter_noise"
    ),
    "the weights a new model begins with": "initializer_range init_std initializer_factor",
    "another way to the same numbers": (
        "chunk_size_feed_forward pretraining_tp slow_but_exact reorder_and_upcast_attn "
        "attn_config.attn_impl attn_config.chunk_size_feed_forward"
    ),
    "their code no longer reads it": (
        "expansion_ratio norm_type learned_pos_emb embedding_fraction "
        "attn_config.attn_uses_sequence_id multi_query parallel_attn"
    ),
    "layer_types says it": "use_sliding_window max_window_layers",
    "a BertModel has no head to tie": "tie_word_embeddings",
    "each side of the model has its own": "is_decoder",
}
LISTED = {name for names in WITHOUT_EFFECT.values() for name in names.split()}
WORDS = {"activation": ["relu", "silu", "tanh"], "act": ["relu", "silu", "tanh"]}
SIDES = {"num_layers": 2, "num_heads": 2, "d_model": 8, "d_kv": 4, "d_ff": 12}
BERT = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12}
OTHERS = {
    "T5ForConditionalGeneration": lambda: hf.T5Config(vocab_size=VOCAB, **SIDES),
    "BertModel": lambda: hf.BertConfig(vocab_size=VOCAB, max_position_embeddings=LONGEST, **BERT),
}
OTHERS["BertForMaskedLM"] = OTHERS["BertModel"]
SMALL = {model: name for name, (_, model) in TINY.items()}


class Asked:
    """A config that notes what it is asked for, by the names that its class gives the fields."""

    def __init__(self, config, names, prefix=""):
        self.__dict__ |= {"_config": config, "_names": names, "_prefix": prefix}

    def __getattr__(self, name):
        value = getattr(self._config, name)
        name = self._prefix + self._config.attribute_map.get(name, name)
        self._names.add(name)
        return Asked(value, self._names, name + ".") if name == "attn_config" else value


def small(architecture):
    config = OTHERS[architecture]() if architecture in OTHERS else config_of(SMALL[architecture], 2)
    config._attn_implementation = "eager"
    return config


def read_by_ours(architecture):
    names = set()
    FAMILIES[architecture].read(Asked(small(architecture), names))
    return names | {"quantization_config"}


def fields(architecture):
    config = small(architecture)
    nested = getattr(config, "attn_config", None)
    inner = {f"attn_config.{name}" for name in vars(nested)} if nested is not None else set()
    source = inspect.getsource(inspect.getmodule(getattr(hf, architecture)))
    in_code = {config.attribute_map.get(n, n) for n in re.findall(r"\bconfig\.([a-z]\w+)", source)}
    return vars(config).keys() | inner | in_code


def changed(name, value):
    """A few other values of the same kind."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [2 * value + 2]
    if isinstance(value, float):
        return [value + 0.25]
    if isinstance(value, str):
        return next((words for part, words in WORDS.items() if part in name), ["other"])
    return [2.5, True] if value is None else []


def value_of(config, name):
    for part in name.split("."):
        config = getattr(config, part, None)
    return config


def moved(weight):
    """No weight is left at 0 or 1, so that each of them matters."""
    return weight + 0.25 * torch.randn_like(weight) if weight.is_floating_point() else weight


def model_with(architecture, name, value, weights):
    """Their model with another value in one field, and the same weights where they fit."""
    config = small(architecture)
    *inside, last = name.split(".")
    holder = getattr(config, inside[0]) if inside else config
    setattr(holder, last, value)
    torch.manual_seed(0)
    model = getattr(hf, architecture)(config).eval()
    own = model.state_dict()
    fitting = {n: w for n, w in weights.items() if n in own and own[n].shape == w.shape}
    model.load_state_dict(fitting, strict=False)
    return model


@torch.no_grad()
def output(model):
    ids = torch.arange(2, 2 * 9 + 2).reshape(2, 9)
    if isinstance(model, EncoderDecoder):
        return model(ids, ids.flip(1))
    translates = isinstance(model, hf.T5ForConditionalGeneration)
    found = model(ids, **({"decoder_input_ids": ids.flip(1)} if translates else {}))
    found = getattr(found, "logits", getattr(found, "last_hidden_state", found))
    return found[0] if isinstance(found, tuple) else found


@pytest.mark.parametrize("architecture", FAMILIES)
def test_each_field_is_read_or_listed_with_its_reason(architecture):
    left = fields(architecture) - read_by_ours(architecture) - LISTED
    assert {name for name in left if not name.split(".")[-1].startswith("_")} == set()


def test_no_field_is_listed_for_nothing():
    known = set().union(*(fields(architecture) for architecture in FAMILIES))
    assert LISTED <= known | {"model_type"}


@pytest.mark.parametrize("architecture", FAMILIES)
def test_a_changed_field_is_refused_by_name_or_computes_what_theirs_computes(architecture):
    """Nothing is ignored in silence: what theirs makes of another value, ours makes, or says no."""
    torch.manual_seed(1)
    weights = getattr(hf, architecture)(small(architecture)).state_dict()
    weights = {name: moved(weight) for name, weight in weights.items()}
    tried, wrong = 0, []
    for name in sorted(fields(architecture) & (read_by_ours(architecture) | LISTED)):
        for value in changed(name, value_of(small(architecture), name)):
            with contextlib.suppress(Exception):  # theirs refuses it, or has no such model
                theirs = model_with(architecture, name, value, weights)
                expected = output(theirs)
                copy.deepcopy(theirs.config)
                tried += 1
                wrong += [(name, value, said) for said in complaints(theirs, expected)]
    assert wrong == []
    assert tried > 15


def complaints(theirs, expected):
    """What is wrong with ours, if it neither refuses by name nor computes the same."""
    try:
        found = output(from_transformers(theirs))
    except (ValueError, TypeError) as error:
        return [] if "Remedy: " in str(error) else [str(error)]
    off = (found - expected).abs().max() / expected.abs().max().clamp(min=1)
    return [] if off <= 1e-5 else [f"off by {off}"]

"""Which config and builder a file's "kind" means, and configs as plain values."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

from torch import nn

from pieces import feedforward
from pieces.checks import refuse, require
from pieces.models.aligner import AlignerConfig, aligner
from pieces.models.attention_only import AttentionOnlyConfig, attention_only
from pieces.models.config import Config
from pieces.models.encoder_decoder import EncoderDecoderConfig, encoder_decoder
from pieces.models.gpt2 import GPT2Config, gpt2
from pieces.models.llama import LlamaConfig, llama
from pieces.models.mixtral import MixtralConfig, mixtral


class ModelKind(NamedTuple):
    """A family: its config and what builds it."""

    config: type[Config]
    build: Callable[[Any], nn.Module]


KINDS = {
    "llama": ModelKind(LlamaConfig, llama),
    "mixtral": ModelKind(MixtralConfig, mixtral),
    "attention_only": ModelKind(AttentionOnlyConfig, attention_only),
    "gpt2": ModelKind(GPT2Config, gpt2),
    "encoder_decoder": ModelKind(EncoderDecoderConfig, encoder_decoder),
    "aligner": ModelKind(AlignerConfig, aligner),
}


def kind_of_model(model: nn.Module) -> str:
    """The kind of a model that a builder made. Raises: ValueError if no kind fits."""
    config = getattr(model, "config", None)
    for name, kind in KINDS.items():
        if type(config) is kind.config:
            return name
    rule = f"its config must be of one of these kinds: {', '.join(KINDS)}"
    refuse("model.config", type(config).__name__, rule, "build the model with its builder")


def plain(config: Config) -> dict[str, Any]:
    """The fields as numbers, words and bools; what is None is left out, an activation is its name.

    Raises: ValueError if a field is neither.
    """
    beside = ("kept",)  # what a checkpoint said; nothing computes with it
    given = dataclasses.asdict(config).items()
    fields = {name: value for name, value in given if value is not None and name not in beside}
    for name, value in fields.items():
        if callable(value):
            known = getattr(feedforward, value.__name__, None) is value
            rule, remedy = "must be one of pieces.feedforward", "choose one of them"
            require(known, name, value, rule, remedy)
            fields[name] = value.__name__
        simple = isinstance(fields[name], int | float | str | bool)
        rule, remedy = "must be a number, a word or a bool", "leave it at None"
        require(simple, name, value, rule, remedy)
    return fields


def build_model(kind: str, fields: dict[str, Any]) -> nn.Module:
    """The model of a kind and the plain fields of its config."""
    rule, remedy = f"must be one of {', '.join(KINDS)}", "get the file again"
    require(kind in KINDS, "kind", kind, rule, remedy)
    config = KINDS[kind].config
    unknown = sorted(fields.keys() - {field.name for field in dataclasses.fields(config)})
    require(not unknown, "config", unknown, f"no fields of {config.__name__}", "get the file again")
    if "activation" in fields:
        fields = fields | {"activation": getattr(feedforward, fields["activation"])}
    return KINDS[kind].build(config(**fields))

"""Rotary options of their configs, and of ours."""

from typing import Any

from pieces.checkpoints.family import only
from pieces.checks import one_of, refuse
from pieces.positions import DynamicNTK, Linear, Llama3, Unscaled, YaRN

KNOWN = {  # the options each type may have
    "default": set(),
    "linear": {"factor"},
    "dynamic": {"factor"},
    "yarn": {
        "factor",
        "attention_factor",
        "beta_fast",
        "beta_slow",
        "truncate",
        "original_max_position_embeddings",
    },
    "llama3": {
        "factor",
        "low_freq_factor",
        "high_freq_factor",
        "original_max_position_embeddings",
    },
}
COMMON = {"rope_type", "type", "rope_theta", "partial_rotary_factor"}


def read_rope(hf_config: Any, part: float = 1.0) -> tuple[float, Unscaled | None]:
    """Base and scaling of a config, of a family that turns this part of each head.

    Raises: ValueError for what we do not have.
    """
    rope = {k: v for k, v in hf_config.rope_parameters.items() if v is not None}
    kind = rope.get("rope_type", "default")
    unknown = set(rope) - COMMON - one_of("config.rope_parameters['rope_type']", kind, KNOWN)
    only("config.rope_parameters", {name: rope[name] for name in sorted(unknown)}, {})
    turned = rope.get("partial_rotary_factor", 1.0)
    only("config.rope_parameters['partial_rotary_factor']", turned, part)
    longest = rope.get("original_max_position_embeddings", hf_config.max_position_embeddings)
    scalings = {
        "default": lambda: None,
        "linear": lambda: Linear(rope["factor"]),
        "dynamic": lambda: DynamicNTK(rope["factor"], longest),
        "yarn": lambda: read_yarn(rope, longest),
        "llama3": lambda: Llama3(
            rope["factor"], longest, rope["low_freq_factor"], rope["high_freq_factor"]
        ),
    }
    return float(rope.get("rope_theta", 10_000.0)), scalings[kind]()


def read_yarn(rope: dict[str, Any], longest: int) -> YaRN:
    """YaRN's numbers."""
    names = ("beta_fast", "beta_slow", "attention_factor", "truncate")
    return YaRN(rope["factor"], longest, **{name: rope[name] for name in names if name in rope})


def write_rope(base: float, scaling: Unscaled | None, max_seq_len: int) -> dict[str, Any]:
    """Their options for our base and scaling. Raises: ValueError for what they do not have.

    Their dynamic scaling begins at the model's max_seq_len.
    """
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": base}
    match scaling:
        case Linear():
            rope |= {"rope_type": "linear", "factor": scaling.factor}
        case Llama3(factor, longest, low, high):
            rope |= {"rope_type": "llama3", "factor": factor, "low_freq_factor": low}
            rope |= {"high_freq_factor": high, "original_max_position_embeddings": longest}
        case YaRN():
            names = ("factor", "beta_fast", "beta_slow", "attention_factor", "truncate")
            rope |= {"rope_type": "yarn"} | {name: getattr(scaling, name) for name in names}
            rope["original_max_position_embeddings"] = scaling.max_seq_len
        case DynamicNTK() if scaling.max_seq_len == max_seq_len:
            rope |= {"rope_type": "dynamic", "factor": scaling.factor}
        case None | Unscaled() if type(scaling) in (type(None), Unscaled):
            pass
        case _:
            refuse("rope_scaling", scaling, "transformers has no such scaling", "use NTK by base=")
    return rope

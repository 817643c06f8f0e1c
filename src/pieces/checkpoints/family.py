"""What a family's file says: its config read and written, and which weight is which."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from pieces import feedforward
from pieces.checkpoints.layouts import Same
from pieces.checks import checked, one_of, refuse, require
from pieces.feedforward import Activation

ACTIVATIONS: dict[str, Activation] = {
    "relu": feedforward.relu,
    "gelu": feedforward.gelu,
    "gelu_new": feedforward.gelu_tanh,
    "gelu_pytorch_tanh": feedforward.gelu_tanh,
    "silu": feedforward.swish,
    "swish": feedforward.swish,
}


AS_IT_IS = Same()
Origins = dict[str, str]  # names as transformers writes them today -> names in the file


@dataclass(frozen=True)
class Rule:
    """One weight of theirs, one or several of ours; ``{l}`` stands for the layer.

    Names are of modules: the rule holds for their weight and, where there is one, their bias.
    """

    theirs: str
    ours: tuple[str, ...]
    layout: Same = AS_IT_IS


@checked
def rules(*pairs: tuple) -> list[Rule]:
    """Rules from (theirs, ours) or (theirs, ours, layout); ours is a name, or several in a line."""
    return [Rule(theirs, tuple(ours.split()), *layout) for theirs, ours, *layout in pairs]


WHOLE = "get the whole checkpoint"
NO_IDS = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"))


@dataclass(frozen=True)
class Family:
    """How to read a family's checkpoints, and to write them.

    ``read`` takes their config to ours, a ``config``; ``build`` takes ours to a model, ``weights``
    to the rules, ``write`` to the options of theirs. ``without`` are their options for what ours
    never has: dropout and ids, which theirs would invent.
    Names in a file: ``renames`` are patterns of older ones and what they are today; ``prefix`` is
    left out by files of the model below the head, whose names begin with one of ``heads``;
    ``gather`` stacks what older files keep apart. ``tied`` names the copies of one weight of ours;
    ``ignored`` are buffers, and heads for other tasks, which ours has no place for.
    ``adjust`` corrects what a config says by what the weights are; ``options`` are for their class.
    """

    architecture: str
    config: type
    read: Callable[[Any], Any]
    build: Callable[[Any], nn.Module]
    weights: Callable[[Any], list[Rule]]
    write: Callable[[Any], dict[str, Any]]
    without: dict[str, Any] = field(default_factory=dict)
    tied: Callable[[Any], dict[str, str]] = lambda config: {}
    prefix: str = ""
    heads: tuple[str, ...] = ("lm_head.",)
    renames: dict[str, str] = field(default_factory=dict)
    gather: Callable[[dict[str, Tensor], Origins], dict[str, Tensor]] = lambda state, origins: state
    ignored: tuple[str, ...] = ()
    adjust: Callable[[Any, dict[str, Tensor]], Any] = lambda config, state: config
    options: Callable[[Any], dict[str, Any]] = lambda config: {}


def only(name: str, seen: Any, carried: Any, remedy: str = "use a checkpoint without it") -> None:
    """Refuse what says something else than the one thing that is carried over."""
    require(seen == carried, name, seen, f"only {carried!r} is carried over", remedy)


def none_of(argument: str, names: list, rule: str, remedy: str) -> None:
    """Refuse names, the first eight of them."""
    require(not names, argument, names[:8], rule, remedy)


def require_only(hf_config: Any, **allowed: Any) -> None:
    """Refuse an option that changes the arithmetic in a way we do not have."""
    for name, value in allowed.items():
        only(f"config.{name}", getattr(hf_config, name, value), value)


@checked
def activation_named(name: str) -> Activation:
    """Our function of this name."""
    return one_of("activation", name, ACTIVATIONS)


@checked
def activation_name(activation: Activation, preferred: tuple[str, ...] = ()) -> str:
    """Their name of our function."""
    found = [name for name, one in ACTIVATIONS.items() if one is activation]
    if not found:
        refuse("activation", activation, "has no name in transformers", "use one of feedforward")
    return next((name for name in preferred if name in found), found[0])


@checked
def tied_head(config: Any) -> dict[str, str]:
    """The usual name of a tied head, and of the embedding it must equal."""
    return {"lm_head.weight": "embedding.weight"} if config.tied else {}


@checked
def with_head(config: Any, found: list[Rule]) -> list[Rule]:
    """The head too, where it is a weight of its own."""
    return found if config.tied else [*found, *rules(("lm_head", "head"))]


@checked
def write_only(config: Any, **allowed: Any) -> None:
    """Refuse a field of ours that theirs cannot have."""
    for name, value in allowed.items():
        only(name, getattr(config, name), value, f"build it with {name}={value!r}")

"""From their model to ours and back, by the family's rules."""

import contextlib
import re
from typing import Any

import torch
from torch import Tensor, nn

from pieces.checkpoints import bert, gpt2, gpt_neox, llama, t5
from pieces.checkpoints.family import Family, Rule
from pieces.checks import refuse, require, require_module

FAMILIES: dict[str, Family] = {
    family.architecture: family
    for family in (
        gpt2.GPT2,
        gpt2.OPT,
        gpt2.BLOOM,
        gpt2.MPT,
        gpt_neox.GPT_NEOX,
        gpt_neox.FALCON,
        llama.LLAMA,
        llama.MISTRAL,
        llama.MIXTRAL,
        llama.QWEN2,
        llama.GEMMA,
        bert.BERT,
        bert.MASKED,
        t5.T5,
    )
}
RETURNING = [name for name, family in FAMILIES.items() if family.write is not None]
NOT_WEIGHTS = re.compile(  # buffers that older files still carry
    r".*\.(rotary_emb\.inv_freq|attn\.(masked_)?bias|attention\.(masked_)?bias"
    r"|embeddings\.position_ids)$"
)


def from_transformers(hf_model: nn.Module) -> nn.Module:
    """The same model made of pieces: same inputs, same outputs to rounding. Weights are copied.

    Raises: ValueError if its class or an option of its config is not carried over, or a weight is
    missing or would be left unused.
    """
    require_module("hf_model", hf_model)
    name = type(hf_model).__name__
    require_architecture(name)
    return load(name, hf_model.config, hf_model.state_dict()).train(hf_model.training)


def load(architecture: str, hf_config: Any, state: dict[str, Tensor]) -> nn.Module:
    """A model of this architecture with this config and these weights. Errors: as above."""
    family = FAMILIES[architecture]
    config = family.adjust(family.read(hf_config), state)
    with torch.device("meta"):
        model = family.build(config)
    state = {k: v for k, v in state.items() if not NOT_WEIGHTS.match(k)}
    ours = translated(family, config, family.older(state))
    require_fit(model, ours)
    model.load_state_dict(ours, assign=True)
    for parameter in model.parameters():
        parameter.requires_grad_(True)
    return model


def require_fit(model: nn.Module, ours: dict[str, Tensor]) -> None:
    """Refuse weights that are not, by name and shape, those of the model. Raises: ValueError."""
    expected = model.state_dict()
    missing, more = sorted(set(expected) - set(ours)), sorted(set(ours) - set(expected))
    rule, remedy = "the checkpoint has no such weights", "get the whole checkpoint"
    require(not missing, "missing", missing[:8], rule, remedy)
    rule, remedy = "have no place in the model", "check that config and weights belong together"
    require(not more, "weights", more[:8], rule, remedy)
    for name, weight in ours.items():
        shape = tuple(expected[name].shape)
        rule = f"must be {shape} by the config"
        require(tuple(weight.shape) == shape, f"{name}.shape", tuple(weight.shape), rule, remedy)


def translated(family: Family, config: Any, state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Their weights under our names. Raises: ValueError if one is left, or a tied one differs."""
    state, ours = dict(state), {}
    for rule in family.weights(config):
        for theirs, names in matches(rule, state):
            parts = split(theirs, rule, state.pop(theirs))
            ours |= {n: p.detach().clone() for n, p in zip(names, parts, strict=True)}
    for theirs, name in family.tied(config).items():
        copy = state.pop(theirs, None)
        same = copy is None or torch.equal(copy, ours[name])
        rule = "is called tied in the config, but differs from the embedding"
        require(same, theirs, "a weight of its own", rule, "set tie_word_embeddings=False")
    rule, remedy = "have no place in the model", "check that config and weights belong together"
    require(not state, "weights", sorted(state)[:8], rule, remedy)
    return ours


def split(name: str, rule: Rule, weight: Tensor) -> tuple[Tensor, ...]:
    """Our parts of their weight. Raises: ValueError if it cannot be cut so."""
    parts, remedy = (), "check that config and weights belong together"
    with contextlib.suppress(RuntimeError):
        parts = rule.layout.split(weight)
    text = f"must hold {len(rule.ours)} parts, {', '.join(rule.ours)}"
    require(len(parts) == len(rule.ours), f"{name}.shape", tuple(weight.shape), text, remedy)
    return parts


def matches(rule: Rule, state: dict[str, Tensor]) -> list[tuple[str, list[str]]]:
    """Weights and biases in the state that a rule is about, and our names for them."""
    pattern = re.escape(rule.theirs).replace(re.escape("{l}"), r"(?P<l>\d+)")
    found = []
    for name in state:
        match = re.fullmatch(pattern + r"(?P<kind>|\.weight|\.bias)", name)
        if match:
            layer = match.groupdict().get("l", "")
            names = [ours.replace("{l}", layer) + match["kind"] for ours in rule.ours]
            found.append((name, names))
    return found


def to_transformers(model: nn.Module) -> nn.Module:
    """The same model as one of transformers, for the architectures in ``RETURNING``.

    Raises: ValueError if the model is of another family, or has what theirs cannot have.
    """
    import transformers

    config = getattr(model, "config", None)
    families = (FAMILIES[name] for name in RETURNING)
    family = next((one for one in families if type(config) is one.config), None)
    if family is None:
        rule = f"only models of {', '.join(RETURNING)} go back"
        refuse("model.config", type(config).__name__, rule, "build it with its family's builder")
    theirs = getattr(transformers, family.architecture)(family.write(config))
    theirs.to(next(model.parameters()))
    theirs.load_state_dict(returned(family, config, model.state_dict(), theirs.state_dict()))
    return theirs.train(model.training)


def returned(
    family: Family, config: Any, ours: dict[str, Tensor], theirs: dict[str, Tensor]
) -> dict[str, Tensor]:
    """Our weights under their names."""
    state = {}
    for rule in family.weights(config):
        for name, names in matches(rule, theirs):
            state[name] = rule.layout.join(tuple(ours[n] for n in names))
    for name, copy in family.tied(config).items():
        state[name] = ours[copy]
    return state


def require_architecture(name: str) -> None:
    """Refuse an unknown architecture by name."""
    rule = f"must be one of {', '.join(FAMILIES)}"
    require(name in FAMILIES, "architecture", name, rule, "pass a model of one of these classes")

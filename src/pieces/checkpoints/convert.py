"""From their model to ours and back, by the family's rules."""

import functools
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from pieces.checkpoints import bert, bloom, falcon, gpt2, gpt_neox, llama, mixtral, mpt, opt, t5
from pieces.checkpoints.family import NO_IDS, WHOLE, Family, Origins, none_of, only
from pieces.checkpoints.names import in_the_file, todays_names, whole_table
from pieces.checks import checked, one_of, refuse, require

FAMILIES: dict[str, Family] = {
    family.architecture: family
    for family in (
        gpt2.GPT2,
        opt.OPT,
        bloom.BLOOM,
        mpt.MPT,
        gpt_neox.GPT_NEOX,
        falcon.FALCON,
        llama.LLAMA,
        llama.MISTRAL,
        mixtral.MIXTRAL,
        llama.QWEN2,
        llama.GEMMA,
        bert.BERT,
        bert.MASKED,
        t5.T5,
    )
}
ABOUT_THE_FILE = {"architectures", "dtype", "model_type", "transformers_version", "_name_or_path"}
BY_CONFIG = {family.config.__name__: family for family in FAMILIES.values()}
TOGETHER = "check that config and weights belong together"


@checked
def from_transformers(hf_model: nn.Module) -> nn.Module:
    """The same model made of pieces: same inputs, same outputs to rounding. Weights are copied.

    Dropout that ours has no layer for is not applied in training; its rate, like the ids of special
    tokens, is in ``config.kept``. Weights of several dtypes become the widest of them.
    """
    name = type(hf_model).__name__
    one_of("architecture", name, FAMILIES)
    return load_checkpoint(name, hf_model.config, hf_model.state_dict()).train(hf_model.training)


@checked
def load_checkpoint(architecture: str, hf_config: Any, state: dict[str, Tensor]) -> nn.Module:
    """A model of this architecture with this config and these weights. Errors: as above."""
    family = FAMILIES[architecture]
    only("config.quantization_config", getattr(hf_config, "quantization_config", None), None)
    state, origins = todays_names(family, state)
    config = family.adjust(family.read(hf_config), state)
    config = replace(config, kept=beside(family, config, hf_config))
    with torch.device("meta"):
        model = family.build(config)
    model.load_state_dict(translated(family, model, state, origins), assign=True)
    for parameter in model.parameters():
        parameter.requires_grad_(True)
    return model


@checked
def beside(family: Family, config: Any, hf_config: Any) -> dict[str, Any]:
    """What their config says and ours does not, where it is not what we would write."""
    written, theirs = family.write(config), hf_config.to_dict()
    usual = type(hf_config)(**family.without | NO_IDS | written).to_dict()
    names = theirs.keys() - written.keys() - ABOUT_THE_FILE
    return {n: theirs[n] for n in sorted(names) if n not in usual or usual[n] != theirs[n]}


@checked
def translated(
    family: Family, model: nn.Module, state: dict[str, Tensor], origins: Origins
) -> dict[str, Tensor]:
    """Their weights under our names."""
    state, expected = dict(state), model.state_dict()
    table = whole_table(family, model.config, expected)
    state = without_copies(family.tied(model.config), table, state)
    missing = sorted(in_the_file(name, origins) for name in table.keys() - state.keys())
    none_of("missing", missing, "the checkpoint has no such weights", WHOLE)
    more = sorted(in_the_file(name, origins) for name in state.keys() - table.keys())
    none_of("weights", more, "have no place in the model", TOGETHER)
    dtype, ours = widest(state), {}
    for theirs, (rule, names) in table.items():
        weight = state.pop(theirs)
        shape = tuple(rule.layout.join(tuple(expected[name] for name in names)).shape)
        seen, text = tuple(weight.shape), f"must be {shape} by the config"
        require(seen == shape, f"{in_the_file(theirs, origins)}.shape", seen, text, TOGETHER)
        parts = zip(names, rule.layout.split(weight), strict=True)
        ours |= {name: part.detach().to(dtype, copy=True) for name, part in parts}
    return ours


@checked
def without_copies(
    tied: dict[str, str], table: dict[str, Any], state: dict[str, Tensor]
) -> dict[str, Tensor]:
    """Each tied weight once, by whichever name the file has."""
    state = dict(state)
    first = {names[0]: theirs for theirs, (_, names) in table.items()}
    for theirs, ours in tied.items():
        if theirs in state:
            copy = state.pop(theirs)
            if not torch.equal(copy, state.setdefault(first[ours], copy)):
                rule = "is called tied in the config, but differs from the embedding"
                refuse(theirs, "a weight of its own", rule, "set tie_word_embeddings=False")
    return state


@checked
def widest(state: dict[str, Tensor]) -> torch.dtype:
    """The dtype that holds all of them."""
    kinds = {weight.dtype for weight in state.values()}
    narrow = [kind for kind in kinds if not kind.is_floating_point or kind.itemsize < 2]
    rule = "must be 16-bit or wider floating point"
    none_of("weights.dtype", narrow, rule, "use the checkpoint before it")
    return functools.reduce(torch.promote_types, kinds)


@checked
def to_transformers(model: nn.Module) -> nn.Module:
    """The same model as one of transformers, with what its checkpoint said beside (``kept``).

    A model that comes from no checkpoint has no dropout that ours has not, and no special tokens.
    """
    import transformers

    config = getattr(model, "config", None)
    family = one_of("model.config", type(config).__name__, BY_CONFIG)
    kind = getattr(transformers, family.architecture)
    state = returned(family, config, model.state_dict())
    options = family.without | NO_IDS | config.kept | family.write(config)
    theirs = kind(kind.config_class(**options), **family.options(config))
    part_from_the_embedding(theirs, tied=getattr(config, "tied", True))
    dtype = next(iter(state.values())).dtype
    theirs.to(next(model.parameters()))
    theirs.config.dtype = dtype
    theirs.load_state_dict(state)
    return theirs.train(model.training)


@checked
def part_from_the_embedding(theirs: nn.Module, *, tied: bool) -> None:
    """Give a head its own weight where ours has one: their T5 ties it whatever its config says."""
    head = theirs.get_output_embeddings()
    if not tied and head.weight is theirs.get_input_embeddings().weight:
        head.weight = nn.Parameter(head.weight.detach().clone())


@checked
def returned(family: Family, config: Any, ours: dict[str, Tensor]) -> dict[str, Tensor]:
    """Our weights under their names."""
    with torch.device("meta"):
        expected = family.build(config).state_dict()
    differing = sorted(expected.keys() ^ ours.keys())
    none_of("model", differing, "it is not what its config builds", "use its family's builder")
    table = whole_table(family, config, ours)
    state = {
        theirs: rule.layout.join(tuple(ours[name] for name in names))
        for theirs, (rule, names) in table.items()
    }
    return state | {theirs: ours[name] for theirs, name in family.tied(config).items()}

"""Mixtral: LLaMA's names, and experts, which older files keep one by one."""

import re
from typing import Any

import torch
from torch import Tensor

from pieces.checkpoints.family import WHOLE, Family, Origins, Rule, none_of, rules
from pieces.checkpoints.llama import BLOCK, COMMON, LAYER, gated_sizes, shared_names, write_mistral
from pieces.models.mixtral import MixtralConfig, mixtral

SINGLE = re.compile(r"(?P<head>.*\.experts)(?P<rest>\.(?P<expert>\d+)\.w[123]\.weight)")


def expert_names(config: MixtralConfig) -> list[Rule]:
    """Which weight is which, where experts are."""
    return [
        *shared_names(config),
        *rules(
            (LAYER + "mlp.gate", BLOCK + "feed_forward.router.gate"),
            (LAYER + "mlp.experts.gate_up_proj", BLOCK + "feed_forward.experts.gate_up"),
            (LAYER + "mlp.experts.down_proj", BLOCK + "feed_forward.experts.down"),
        ),
    ]


def stack_experts(state: dict[str, Tensor], origins: Origins) -> dict[str, Tensor]:
    """Older Mixtral files name each expert's w1, w2, w3; newer ones stack them."""
    single = [name for name in state if SINGLE.fullmatch(name)]
    state = dict(state)
    for head in sorted({SINGLE.fullmatch(name)["head"] for name in single}):
        each = [SINGLE.fullmatch(name) for name in single if name.startswith(head + ".")]
        count = 1 + max(int(match["expert"]) for match in each)
        names = [[f"{head}.{e}.w{i}.weight" for i in (1, 2, 3)] for e in range(count)]
        file = origins[each[0][0]].removesuffix(each[0]["rest"])  # what the file calls the head
        missing = [file + n.removeprefix(head) for trio in names for n in trio if n not in state]
        none_of("missing", missing, "the checkpoint has no such weights", WHOLE)
        trios = [[state.pop(name) for name in trio] for trio in names]
        shapes = sorted({tuple(tuple(weight.shape) for weight in trio) for trio in trios})
        none_of(f"{file}.shape", shapes[1:], f"other experts are {shapes[:1]}", WHOLE)
        state[f"{head}.gate_up_proj"] = torch.stack([torch.cat((w1, w3)) for w1, _, w3 in trios])
        state[f"{head}.down_proj"] = torch.stack([w2 for _, w2, _ in trios])
    return state


def read_mixtral(hf_config: Any) -> MixtralConfig:
    """Their config to ours. Noise of the router is for training only, and left out."""
    n_experts, k = hf_config.num_local_experts, hf_config.num_experts_per_tok
    window = hf_config.sliding_window
    return MixtralConfig(**gated_sizes(hf_config), window=window, n_experts=n_experts, k=k)


def write_mixtral(config: MixtralConfig) -> dict[str, Any]:
    """Our config to theirs. Raises: as ``write_mistral``."""
    experts = {"num_local_experts": config.n_experts, "num_experts_per_tok": config.k}
    return write_mistral(config) | experts


MIXTRAL = Family(
    "MixtralForCausalLM",
    MixtralConfig,
    read_mixtral,
    mixtral,
    expert_names,
    write_mixtral,
    renames={r"\.block_sparse_moe\.": ".mlp."},
    gather=stack_experts,
    **COMMON,
)

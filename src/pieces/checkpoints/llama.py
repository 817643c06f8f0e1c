"""LLaMA, Mistral, Mixtral, Qwen2 and Gemma: one shape, one set of names."""

from typing import Any

import torch
from torch import Tensor

from pieces.checkpoints.family import Family, Rule, activation_named, rules, tied_head
from pieces.checkpoints.rope import read_rope, write_rope
from pieces.checks import require
from pieces.models.gemma import GemmaConfig, gemma
from pieces.models.llama import LlamaConfig, llama
from pieces.models.mistral import MistralConfig, mistral
from pieces.models.mixtral import MixtralConfig, mixtral
from pieces.models.qwen2 import Qwen2Config, qwen2

BLOCK, LAYER = "stack.blocks.{l}.", "model.layers.{l}."


def sizes(hf_config: Any, activation: str = "silu") -> dict[str, Any]:
    """What all five have."""
    same = activation_named(hf_config.hidden_act) is activation_named(activation)
    rule, remedy = f"only {activation!r} is carried over", "use a checkpoint with it"
    require(same, "config.hidden_act", hf_config.hidden_act, rule, remedy)
    base, scaling = read_rope(hf_config)
    return {
        "vocab_size": hf_config.vocab_size,
        "d_model": hf_config.hidden_size,
        "n_layers": hf_config.num_hidden_layers,
        "n_heads": hf_config.num_attention_heads,
        "d_ff": hf_config.intermediate_size,
        "n_kv_heads": hf_config.num_key_value_heads,
        "head_dim": getattr(hf_config, "head_dim", None),
        "max_seq_len": hf_config.max_position_embeddings,
        "norm_eps": hf_config.rms_norm_eps,
        "rope_base": base,
        "rope_scaling": scaling,
        "tied": bool(hf_config.tie_word_embeddings),
    }


def names(config: LlamaConfig) -> list[Rule]:
    """Which weight is which, without the feed-forward networks."""
    found = rules(
        ("model.embed_tokens", "embedding"),
        (LAYER + "self_attn.q_proj", BLOCK + "attention.query"),
        (LAYER + "self_attn.k_proj", BLOCK + "attention.key"),
        (LAYER + "self_attn.v_proj", BLOCK + "attention.value"),
        (LAYER + "self_attn.o_proj", BLOCK + "attention.output"),
        (LAYER + "input_layernorm", BLOCK + "attention_residual.norm"),
        (LAYER + "post_attention_layernorm", BLOCK + "feed_forward_residual.norm"),
        ("model.norm", "stack.final_norm"),
    )
    return found if config.tied else [*found, *rules(("lm_head", "head"))]


def dense_names(config: LlamaConfig) -> list[Rule]:
    """Which weight is which."""
    parts = [(LAYER + f"mlp.{x}_proj", BLOCK + f"feed_forward.{x}") for x in ("gate", "up", "down")]
    return [*names(config), *rules(*parts)]


def expert_names(config: MixtralConfig) -> list[Rule]:
    """Which weight is which, where experts are."""
    return [
        *names(config),
        *rules(
            (LAYER + "mlp.gate", BLOCK + "feed_forward.router.gate"),
            (LAYER + "mlp.experts.gate_up_proj", BLOCK + "feed_forward.experts.gate_up"),
            (LAYER + "mlp.experts.down_proj", BLOCK + "feed_forward.experts.down"),
        ),
    ]


def stack_experts(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Older Mixtral files name each expert's w1, w2, w3; newer ones stack them."""
    state = {name.replace(".block_sparse_moe.", ".mlp."): w for name, w in state.items()}
    single = [name for name in state if name.endswith(".w1.weight")]
    heads = {name.rsplit(".", 3)[0] for name in single}  # model.layers.0.mlp.experts
    for head in sorted(heads):
        count = sum(name.rsplit(".", 3)[0] == head for name in single)
        each = [
            [state.pop(f"{head}.{e}.w{i}.weight", None) for i in (1, 2, 3)] for e in range(count)
        ]
        missing = [e for e, found in enumerate(each) if any(w is None for w in found)]
        remedy = "get the whole checkpoint"
        require(not missing, head, f"experts {missing}", "w1, w2 or w3 is missing", remedy)
        gate_up = torch.stack([torch.cat((w1, w3)) for w1, _, w3 in each])
        state[f"{head}.gate_up_proj"] = gate_up
        state[f"{head}.down_proj"] = torch.stack([w2 for _, w2, _ in each])
    return state


def read_llama(hf_config: Any) -> LlamaConfig:
    """Their config to ours."""
    biases = {"bias": hf_config.attention_bias, "ff_bias": hf_config.mlp_bias}
    return LlamaConfig(**sizes(hf_config), **biases)


def read_mistral(hf_config: Any) -> MistralConfig:
    """Their config to ours."""
    return MistralConfig(**sizes(hf_config), window=hf_config.sliding_window)


def read_mixtral(hf_config: Any) -> MixtralConfig:
    """Their config to ours. Noise of the router is for training only, and left out."""
    n_experts, k = hf_config.num_local_experts, hf_config.num_experts_per_tok
    window = hf_config.sliding_window
    return MixtralConfig(**sizes(hf_config), window=window, n_experts=n_experts, k=k)


def read_qwen2(hf_config: Any) -> Qwen2Config:
    """Their config to ours: layers with a window must be the upper ones."""
    kinds = list(hf_config.layer_types)
    full = kinds.count("full_attention")
    expected = ["full_attention"] * full + ["sliding_attention"] * (len(kinds) - full)
    rule, remedy = "only full layers below windowed ones", "use another checkpoint"
    require(kinds == expected, "config.layer_types", kinds, rule, remedy)
    window = hf_config.sliding_window if full < len(kinds) else None
    return Qwen2Config(**sizes(hf_config), window=window, first_window_layer=full)


def read_gemma(hf_config: Any) -> GemmaConfig:
    """Their config to ours."""
    bidirectional = getattr(hf_config, "use_bidirectional_attention", None)
    rule, remedy = "only causal attention is carried over", "use a causal checkpoint"
    require(not bidirectional, "config.use_bidirectional_attention", bidirectional, rule, remedy)
    return GemmaConfig(**sizes(hf_config, "gelu_pytorch_tanh"), bias=hf_config.attention_bias)


def write_sizes(config: LlamaConfig) -> dict[str, Any]:
    """What their configs call our sizes."""
    heads = config.head_dim or config.d_model // config.n_heads
    return {
        "vocab_size": config.vocab_size,
        "hidden_size": config.d_model,
        "num_hidden_layers": config.n_layers,
        "num_attention_heads": config.n_heads,
        "num_key_value_heads": config.n_kv_heads or config.n_heads,
        "head_dim": heads,
        "intermediate_size": config.d_ff,
        "max_position_embeddings": config.max_seq_len,
        "rms_norm_eps": config.norm_eps,
        "rope_parameters": write_rope(config.rope_base, config.rope_scaling, config.max_seq_len),
        "tie_word_embeddings": config.tied,
    }


def write_llama(config: LlamaConfig) -> Any:
    """Our config to theirs."""
    import transformers

    biases = {"attention_bias": config.bias, "mlp_bias": config.ff_bias}
    return transformers.LlamaConfig(**write_sizes(config), **biases)


def write_mixtral(config: MixtralConfig) -> Any:
    """Our config to theirs. Raises: ValueError if it has biases, which theirs cannot."""
    import transformers

    rule, remedy = "their Mixtral has no biases", "build it without"
    require(not (config.bias or config.ff_bias), "bias", True, rule, remedy)
    experts = {"num_local_experts": config.n_experts, "num_experts_per_tok": config.k}
    window = {"sliding_window": config.window}
    return transformers.MixtralConfig(**write_sizes(config), **experts, **window)


LLAMA = Family(
    "LlamaForCausalLM", LlamaConfig, read_llama, llama, dense_names, write_llama, tied_head
)
MISTRAL = Family(
    "MistralForCausalLM", MistralConfig, read_mistral, mistral, dense_names, tied=tied_head
)
MIXTRAL = Family(
    "MixtralForCausalLM",
    MixtralConfig,
    read_mixtral,
    mixtral,
    expert_names,
    write_mixtral,
    tied_head,
    stack_experts,
)
QWEN2 = Family("Qwen2ForCausalLM", Qwen2Config, read_qwen2, qwen2, dense_names, tied=tied_head)
GEMMA = Family("GemmaForCausalLM", GemmaConfig, read_gemma, gemma, dense_names, tied=tied_head)

"""A call that works of every public part, with every argument given.

``CALLS`` and ``FORWARDS`` map a name to a function that makes (what to call, its arguments) anew.
"""

from functools import partial

import torch
from torch import nn

from pieces import attention as attend
from pieces import beam_search as beams
from pieces import (
    byte_pairs,
    inside,
    losses,
    masks,
    measures,
    moe,
    norms,
    positions,
    residual,
    sampling,
    scores,
    state_space,
    switches,
    tasks,
    trained,
    zoo,
)
from pieces import feedforward as ff
from pieces import generate as generation
from pieces import train as training
from pieces.attention import CausalCore
from pieces.blocks import Block, CrossBlock, ParallelBlock, Stack
from pieces.book import code, measured, scientific, table
from pieces.book.ask import ask, question
from pieces.cache import GrowingCache, PagedCache, RollingCache
from pieces.checkpoints import from_folder, from_transformers, to_transformers
from pieces.embeddings import TokenEmbedding
from pieces.models import (
    DecoderOnly,
    aligner,
    attention_only,
    bert,
    bloom,
    encoder_decoder,
    falcon,
    gemma,
    gpt2,
    gpt_neox,
    llama,
    mistral,
    mixtral,
    mpt,
    opt,
    qwen2,
    t5,
)
from pieces.trace import record
from pieces.trained import packing

B, T, D, H, K, V = 2, 3, 8, 2, 4, 11


def x():
    return torch.randn(B, T, D)


def ids():
    return torch.randint(1, V, (B, T))


def qkv():
    return {name: torch.randn(B, H, T, K) for name in "qkv"}


def sums():
    """What a text leaves to linear attention."""
    return attend.Sums(torch.zeros(B, H, K, K), torch.zeros(B, H, K, 1))


def faded():
    """A state, what stays of it and what comes in."""
    decay, inputs = torch.rand(B, T, D), torch.randn(B, T, D)
    return {"decay": decay, "inputs": inputs, "start": torch.zeros(B, D)}


def mask():
    return torch.ones(T, T, dtype=torch.bool)


def seen():
    """Which tokens of ``ids`` are real."""
    return torch.ones(B, T, dtype=torch.bool)


def bias():
    return torch.zeros(T, T)


def places():
    return torch.arange(T)


def layer(**options):
    return attend.MultiHeadAttention(D, H, **options)


def network():
    return ff.GatedFeedForward(D, 12)


def pre():
    return residual.PreNorm(norms.RMSNorm(D))


def block():
    return Block(
        attend.CachedAttention(D, H, core=CausalCore()),
        network(),
        attention_residual=pre(),
        feed_forward_residual=pre(),
    )


def decoder():
    sizes = {"vocab_size": V, "d_model": D, "n_layers": 1, "n_heads": H, "d_ff": 12}
    return llama.llama(llama.LlamaConfig(**sizes))


def votes_of(model):
    values = inside.inside(model, ids()[0])
    return inside.votes, {"model": model, "values": values, "token": 1, "off": ["norm"]}


def translator():
    return encoder_decoder.encoder_decoder(
        encoder_decoder.EncoderDecoderConfig(V, D, n_layers=1, n_heads=H, d_ff=12)
    )


def masked_model():
    return bert.bert_masked_lm(
        bert.BertMaskedLMConfig(V, D, n_layers=1, n_heads=H, d_ff=12, max_seq_len=8)
    )


def built(build, config, **more):
    """The builder of a family, called with the fields of its config."""

    def call(**fields):
        return build(config(**fields))

    sizes = {"vocab_size": V, "d_model": D, "n_layers": 1, "n_heads": H, "d_ff": 12}
    return lambda: (call, sizes | more)


LINEAR = {"norm_eps": 1e-5, "rope_base": 10_000.0}
GATED = LINEAR | {"n_kv_heads": 1, "head_dim": 4, "max_seq_len": 16}
PLAIN = {"max_seq_len": 16, "norm_eps": 1e-5, "activation": ff.gelu}
ELEMENTWISE = (ff.relu, ff.sigmoid, ff.gelu, ff.gelu_tanh, ff.identity)
TASK_SIZES = {"n_symbols": 12, "length": 4}

CALLS = {
    "scores.dot": lambda: (scores.dot, {"q": torch.randn(B, T, K), "k": torch.randn(B, T, K)}),
    "scores.scaled_dot": lambda: (
        scores.scaled_dot,
        {"q": torch.randn(B, T, K), "k": torch.randn(B, T, K)},
    ),
    "scores.AdditiveScore": lambda: (
        scores.AdditiveScore,
        {"query_dim": 3, "key_dim": 4, "hidden_dim": 5},
    ),
    "scores.BilinearScore": lambda: (scores.BilinearScore, {"query_dim": 3, "key_dim": 4}),
    "masks.full": lambda: (masks.full, {"T": T, "S": 4}),
    "masks.causal": lambda: (masks.causal, {"T": T, "S": 4}),
    "masks.sliding_window": lambda: (masks.sliding_window, {"T": T, "window": 2, "S": 4}),
    "masks.dilated": lambda: (masks.dilated, {"T": T, "window": 2, "dilation": 2, "S": 4}),
    "masks.global_window": lambda: (
        masks.global_window,
        {"T": T, "window": 2, "n_global": 1, "S": 4},
    ),
    "masks.prefix": lambda: (masks.prefix, {"T": T, "prefix_len": 2, "S": 4}),
    "masks.padding": lambda: (masks.padding, {"lengths": torch.tensor([1, 2]), "S": 4}),
    "masks.lag": lambda: (masks.lag, {"T": T, "S": 4}),
    "masks.torch_mha": lambda: (masks.torch_mha, {"mask": mask()}),
    "masks.to_additive": lambda: (masks.to_additive, {"mask": mask()}),
    "masks.from_additive": lambda: (masks.from_additive, {"additive": bias()}),
    "masks.reach": lambda: (masks.reach, {"mask": mask(), "n_layers": 2}),
    "attention.attention": lambda: (
        attend.attention,
        qkv() | {"mask": mask(), "bias": bias(), "score": scores.dot},
    ),
    "attention.fused_attention": lambda: (
        attend.fused_attention,
        qkv() | {"mask": mask(), "bias": bias()},
    ),
    "attention.masked_softmax": lambda: (
        attend.masked_softmax,
        {"scores": torch.randn(B, H, T, T), "mask": mask()},
    ),
    "attention.set_apart": lambda: (
        attend.set_apart,
        {name: qkv()[name] for name in ("k", "v")},
    ),
    "attention.share_heads": lambda: (
        attend.share_heads,
        {"x": torch.randn(B, 1, T, K), "n_heads": H},
    ),
    "attention.AttentionCore": lambda: (attend.AttentionCore, {"score": scores.dot}),
    "attention.SingleHeadAttention": lambda: (
        attend.SingleHeadAttention,
        {"d_model": D, "head_dim": K, "d_context": 5, "value_dim": 6, "score": scores.dot},
    ),
    "attention.CachedAttention": lambda: (
        attend.CachedAttention,
        {"d_model": D, "n_heads": H, "position": positions.Rotary(K)},
    ),
    "attention.LatentAttention": lambda: (
        attend.LatentAttention,
        {"d_model": D, "n_heads": H, "latent": 6, "head_dim": K, "rotary": positions.Rotary(K)},
    ),
    "attention.elu_plus_one": lambda: (attend.elu_plus_one, {"x": x()}),
    "attention.linear_attention": lambda: (
        attend.linear_attention,
        qkv() | {"features": ff.relu, "state": sums()},
    ),
    "attention.linear_attention_quadratic": lambda: (
        attend.linear_attention_quadratic,
        qkv() | {"features": ff.relu},
    ),
    "attention.LinearAttention": lambda: (
        attend.LinearAttention,
        {"d_model": D, "n_heads": H, "n_kv_heads": 1, "head_dim": K, "bias": True}
        | {"features": ff.relu},
    ),
    "attention.NormedAttention": lambda: (
        attend.NormedAttention,
        {
            "d_model": D,
            "n_heads": H,
            "query_norm": norms.LayerNorm(K),
            "key_norm": norms.RMSNorm(K),
        },
    ),
    "state_space.scan": lambda: (state_space.scan, faded()),
    "state_space.parallel_scan": lambda: (state_space.parallel_scan, faded()),
    "state_space.SelectiveStateSpace": lambda: (
        state_space.SelectiveStateSpace,
        {"d_model": D, "d_state": 5, "d_inner": 6, "scan": state_space.scan},
    ),
    "attention.MultiHeadAttention": lambda: (
        attend.MultiHeadAttention,
        {"d_model": D, "n_heads": H, "n_kv_heads": 1, "head_dim": K, "d_context": 5}
        | {"core": CausalCore()},
    ),
    "causal.CausalCore": lambda: (CausalCore, {"window": 2, "score": scores.dot}),
    "attend.flash_attention": lambda: (
        attend.flash_attention,
        qkv() | {"mask": mask(), "bias": bias(), "block_size": 2},
    ),
    "attend.FlashCore": lambda: (attend.FlashCore, {"block_size": 2}),
    "positions.key_positions": lambda: (
        positions.key_positions,
        {"positions": places(), "S": 5},
    ),
    "positions.relative_positions": lambda: (
        positions.encoding.relative_positions,
        {"queries": places(), "keys": places()},
    ),
    "positions.relative_shift": lambda: (
        positions.relative_shift,
        {"by_distance": torch.randn(B, H, T, 2 * T - 1), "S": T},
    ),
    "positions.t5_bucket": lambda: (
        positions.t5_bucket,
        {"relative": places(), "num_buckets": 8, "max_distance": 16},
    ),
    "positions.alibi_slopes": lambda: (
        positions.alibi_slopes,
        {"n_heads": 3, "steepest": 0.5},
    ),
    "positions.Sinusoidal": lambda: (positions.Sinusoidal, {"d_model": D, "base": 100.0}),
    "positions.Learned": lambda: (positions.Learned, {"max_seq_len": 9, "d_model": D}),
    "positions.Rotary": lambda: (
        positions.Rotary,
        {"head_dim": 8, "rotary_dim": 4, "base": 100.0}
        | {"layout": positions.Interleaved(), "scaling": positions.Linear(2.0)},
    ),
    "positions.Linear": lambda: (positions.Linear, {"factor": 2.0}),
    "positions.NTKAware": lambda: (positions.NTKAware, {"factor": 2.0}),
    "positions.DynamicNTK": lambda: (positions.DynamicNTK, {"factor": 2.0, "max_seq_len": 8}),
    "positions.YaRN": lambda: (
        positions.YaRN,
        {"factor": 2.0, "max_seq_len": 8, "beta_fast": 32.0, "beta_slow": 1.0}
        | {"attention_factor": 1.1},
    ),
    "positions.Llama3": lambda: (
        positions.Llama3,
        {"factor": 2.0, "max_seq_len": 8, "low": 1.0, "high": 4.0},
    ),
    "positions.ALiBi": lambda: (positions.ALiBi, {"n_heads": 3, "steepest": 0.5}),
    "positions.T5Buckets": lambda: (
        positions.T5Buckets,
        {"n_heads": 3, "num_buckets": 8, "max_distance": 16},
    ),
    "positions.TransformerXLRelative": lambda: (
        positions.TransformerXLRelative,
        {"d_model": D, "n_heads": H, "head_dim": K},
    ),
    "embeddings.TokenEmbedding": lambda: (
        TokenEmbedding,
        {"vocab_size": V, "d_model": D, "scale": 2.0, "std": 0.1, "padding_idx": 0},
    ),
    "norms.layer_norm": lambda: (norms.layer_norm, {"x": x(), "eps": 1e-5}),
    "norms.rms": lambda: (norms.rms, {"x": x()}),
    "norms.rms_norm": lambda: (norms.rms_norm, {"x": x(), "eps": 1e-5}),
    "norms.LayerNorm": lambda: (norms.LayerNorm, {"d_model": D, "eps": 1e-5}),
    "norms.RMSNorm": lambda: (norms.RMSNorm, {"d_model": D, "eps": 1e-5}),
    "norms.GemmaRMSNorm": lambda: (norms.GemmaRMSNorm, {"d_model": D, "eps": 1e-5}),
    "norms.BatchNorm": lambda: (norms.BatchNorm, {"d_model": D, "eps": 1e-5, "momentum": 0.1}),
    "residual.branch": lambda: (
        residual.branch,
        {"x": x(), "sublayer": nn.Identity(), "options": {}},
    ),
    "residual.Residual": lambda: (residual.Residual, {"dropout": nn.Identity()}),
    "residual.PostNorm": lambda: (
        residual.PostNorm,
        {"norm": nn.Identity(), "dropout": nn.Identity()},
    ),
    "residual.PreNorm": lambda: (
        residual.PreNorm,
        {"norm": nn.Identity(), "dropout": nn.Identity()},
    ),
    "residual.SandwichNorm": lambda: (
        residual.SandwichNorm,
        {"norm_in": nn.Identity(), "norm_out": nn.Identity(), "dropout": nn.Identity()},
    ),
    "residual.DeepNorm": lambda: (
        residual.DeepNorm,
        {"norm": nn.Identity(), "alpha": 2.0, "dropout": nn.Identity()},
    ),
    "residual.deepnorm_alpha_beta": lambda: (
        residual.deepnorm_alpha_beta,
        {"n_encoder_layers": 2, "n_decoder_layers": 2},
    ),
    "residual.deepnorm_init_": lambda: (
        residual.deepnorm_init_,
        {"module": block(), "beta": 0.5},
    ),
    "blocks.Block": lambda: (
        Block,
        {"attention": layer(), "feed_forward": network()}
        | {"attention_residual": pre(), "feed_forward_residual": pre()},
    ),
    "blocks.CrossBlock": lambda: (
        CrossBlock,
        {"attention": layer(), "cross_attention": layer(), "feed_forward": network()}
        | {"attention_residual": pre(), "cross_residual": pre(), "feed_forward_residual": pre()},
    ),
    "blocks.ParallelBlock": lambda: (
        ParallelBlock,
        {"attention": layer(), "feed_forward": network(), "norm": nn.Identity()}
        | {"feed_forward_norm": nn.Identity(), "dropout": nn.Identity()},
    ),
    "blocks.Stack": lambda: (Stack, {"blocks": [block()], "final_norm": nn.Identity()}),
    **{f"feedforward.{f.__name__}": partial(lambda f: (f, {"x": x()}), f) for f in ELEMENTWISE},
    "feedforward.swish": lambda: (ff.swish, {"x": x(), "beta": 2.0}),
    "feedforward.two_thirds": lambda: (ff.two_thirds, {"d_ff": 12, "multiple_of": 4}),
    "feedforward.FeedForward": lambda: (
        ff.FeedForward,
        {"d_model": D, "d_ff": 12, "activation": ff.relu, "dropout": nn.Identity()},
    ),
    "feedforward.GatedFeedForward": lambda: (
        ff.GatedFeedForward,
        {"d_model": D, "d_ff": 12, "activation": ff.swish, "dropout": nn.Identity()},
    ),
    "moe.route": lambda: (moe.route, {"logits": torch.randn(5, 4), "k": 2}),
    "moe.route_softmax_first": lambda: (
        moe.route_softmax_first,
        {"logits": torch.randn(5, 4), "k": 2},
    ),
    "moe.route_unnormalised": lambda: (
        moe.route_unnormalised,
        {"logits": torch.randn(5, 4), "k": 2},
    ),
    "moe.within_capacity": lambda: (
        moe.within_capacity,
        {"experts": torch.randint(0, 4, (5, 2)), "n_experts": 4, "capacity": 3},
    ),
    "moe.load_balancing_loss": lambda: (
        moe.load_balancing_loss,
        {"logits": torch.randn(5, 4), "k": 2, "mask": torch.ones(5, dtype=torch.bool)},
    ),
    "moe.router_z_loss": lambda: (
        moe.router_z_loss,
        {"logits": torch.randn(5, 4), "mask": torch.ones(5, dtype=torch.bool)},
    ),
    "moe.Router": lambda: (
        moe.Router,
        {"d_model": D, "n_experts": 4, "k": 2, "choose": moe.route, "capacity_factor": 1.5},
    ),
    "moe.GatedExperts": lambda: (
        moe.GatedExperts,
        {"n_experts": 4, "d_model": D, "d_ff": 12, "activation": ff.swish},
    ),
    "moe.ExpertList": lambda: (moe.ExpertList, {"experts": [network(), network()]}),
    "moe.MixtureOfExperts": lambda: (
        moe.MixtureOfExperts,
        {"router": moe.Router(D, 4, 2), "experts": moe.GatedExperts(4, D, 12)}
        | {"shared": network()},
    ),
    "moe.watch_routing": lambda: (
        lambda model: moe.watch_routing(model).__enter__(),
        {"model": moe.Router(D, 4, 2)},
    ),
    "cache.RollingCache": lambda: (RollingCache, {"window": 2}),
    "cache.PagedCache": lambda: (
        PagedCache,
        {"n_layers": 1, "n_blocks": 4, "block_size": 2, "n_kv_heads": 1, "head_dim": K},
    ),
    "models.DecoderOnly": lambda: (
        DecoderOnly,
        {"embedding": TokenEmbedding(V, D), "stack": Stack([block()])}
        | {"position": positions.Learned(9, D), "embedding_norm": nn.Identity()}
        | {"head": nn.Linear(D, V)},
    ),
    "models.EncoderDecoder": lambda: (
        encoder_decoder.EncoderDecoder,
        {"embedding": TokenEmbedding(V, D), "encoder": Stack([block()])}
        | {"decoder": Stack([block()]), "target_embedding": TokenEmbedding(V, D)}
        | {"encoder_position": positions.Learned(9, D), "logit_scale": 2.0}
        | {"decoder_position": positions.Learned(9, D), "head": nn.Linear(D, V)}
        | {"dropout": nn.Identity()},
    ),
    "models.Bert": lambda: (
        bert.Bert,
        {"embedding": TokenEmbedding(V, D), "stack": Stack([block()])}
        | {"position": positions.Learned(9, D), "segment": nn.Embedding(2, D)}
        | {"embedding_norm": nn.Identity(), "pooler": nn.Linear(D, D), "dropout": nn.Identity()},
    ),
    "models.BertMaskedLM": lambda: (
        bert.BertMaskedLM,
        {"bert": masked_model().bert, "transform": nn.Linear(D, D), "norm": nn.Identity()}
        | {"activation": ff.gelu},
    ),
    "models.aligner": lambda: (
        lambda **fields: aligner.aligner(aligner.AlignerConfig(**fields)),
        {"vocab_size": V, "d_model": D, "score_dim": 5},
    ),
    "models.Aligner": lambda: (aligner.Aligner, {"config": aligner.AlignerConfig(V, D, 5)}),
    "models.attention_only": lambda: (
        lambda **fields: attention_only.attention_only(
            attention_only.AttentionOnlyConfig(**fields)
        ),
        {"vocab_size": V, "d_model": D, "n_layers": 1, "n_heads": H, "max_seq_len": 16}
        | {"norm_eps": 1e-5},
    ),
    "models.AttentionBlock": lambda: (
        attention_only.AttentionBlock,
        {"attention": layer(), "residual": pre()},
    ),
    "models.bert": built(bert.bert, bert.BertConfig, **PLAIN, n_segments=2, dropout=0.1),
    "models.bert_masked_lm": built(
        bert.bert_masked_lm, bert.BertMaskedLMConfig, **PLAIN, n_segments=2, dropout=0.1
    ),
    "models.bloom": built(bloom.bloom, bloom.BloomConfig, norm_eps=1e-5, activation=ff.gelu),
    "models.encoder_decoder": built(
        encoder_decoder.encoder_decoder,
        encoder_decoder.EncoderDecoderConfig,
        dropout=0.1,
        norm_eps=1e-5,
    ),
    "models.falcon": built(
        falcon.falcon, falcon.FalconConfig, **LINEAR, n_kv_heads=1, n_norms=2, activation=ff.gelu
    ),
    "models.gemma": built(gemma.gemma, gemma.GemmaConfig, **GATED),
    "models.gpt2": built(gpt2.gpt2, gpt2.GPT2Config, **PLAIN),
    "models.gpt_neox": built(
        gpt_neox.gpt_neox,
        gpt_neox.GPTNeoXConfig,
        **LINEAR,
        rotary_dim=2,
        activation=ff.gelu,
        arrangement="parallel",
    ),
    "models.llama": built(
        llama.llama, llama.LlamaConfig, **GATED, rope_scaling=positions.Linear(2.0)
    ),
    "models.mistral": built(mistral.mistral, mistral.MistralConfig, **GATED, window=2),
    "models.mixtral": built(
        mixtral.mixtral, mixtral.MixtralConfig, **GATED, window=2, n_experts=4, k=2
    ),
    "models.mpt": built(mpt.mpt, mpt.MPTConfig, norm_eps=1e-5, activation=ff.gelu, steepest=0.5),
    "models.opt": built(opt.opt, opt.OPTConfig, **PLAIN),
    "models.qwen2": built(qwen2.qwen2, qwen2.Qwen2Config, **GATED, window=2, first_window_layer=0),
    "models.t5": built(
        t5.t5,
        t5.T5Config,
        head_dim=4,
        n_decoder_layers=1,
        num_buckets=8,
        max_distance=16,
        norm_eps=1e-5,
        feed_forward=t5.relu_network,
    ),
    "byte_pairs.learn_merges": lambda: (
        partial(byte_pairs.learn_merges, "low lower"),
        {"n_merges": 3, "symbols": byte_pairs.utf8_bytes, "min_count": 1},
    ),
    "byte_pairs.cut_into_pieces": lambda: (
        partial(byte_pairs.cut_into_pieces, "low"),
        {"merges": [byte_pairs.Merge("l", "o", 2)], "symbols": byte_pairs.characters},
    ),
    "sampling.tempered": lambda: (
        sampling.tempered,
        {"logits": torch.randn(B, V), "temperature": 0.7},
    ),
    "sampling.top_k": lambda: (sampling.top_k, {"logits": torch.randn(B, V), "k": 3}),
    "sampling.top_p": lambda: (sampling.top_p, {"logits": torch.randn(B, V), "p": 0.7}),
    "sampling.choose": lambda: (
        sampling.choose,
        {"logits": torch.randn(B, V), "temperature": 0.7, "k": 3, "p": 0.9}
        | {"generator": torch.Generator()},
    ),
    "generate.generate": lambda: (
        generation.generate,
        {"model": decoder(), "input_ids": ids(), "max_new_tokens": 2, "mask": seen()}
        | {"temperature": 0.7, "top_k": 3, "top_p": 0.9, "cache": GrowingCache()}
        | {"eos_id": 1, "pad_id": 0, "generator": torch.Generator()},
    ),
    "generate.generate, encoder-decoder": lambda: (
        generation.generate,
        {"model": translator(), "input_ids": ids(), "max_new_tokens": 2, "start_id": 1},
    ),
    "beam_search.beam_search": lambda: (
        beams.beam_search,
        {"model": translator(), "input_ids": ids(), "max_new_tokens": 2, "start_id": 1}
        | {"eos_id": 2, "n_beams": 2, "length_penalty": 1.0, "mask": seen(), "pad_id": 0}
        | {"patient": False},
    ),
    "checkpoints.from_transformers": lambda: (from_transformers, {"hf_model": None}),
    "checkpoints.from_folder": lambda: (
        from_folder,
        {"path": ".", "architecture": "BertModel"},
    ),
    "checkpoints.to_transformers": lambda: (to_transformers, {"model": None}),
    "zoo.build": lambda: (zoo.build, {"name": "OPT"}),
    "zoo.counted": lambda: (zoo.counted, {"name": "Gemma"}),
    "zoo.built_words": lambda: (
        zoo.built_words,
        {"a": zoo.MODEL_TABLE["OPT"].built},
    ),
    "zoo.sourced_words": lambda: (zoo.sourced_words, {"row": zoo.MODEL_TABLE["OPT"]}),
    "zoo.assemble": lambda: (
        zoo.assemble,
        {"architecture": zoo.shrink(zoo.MODEL_TABLE["OPT"].built)},
    ),
    "zoo.shrink": lambda: (
        zoo.shrink,
        {"architecture": zoo.MODEL_TABLE["OPT"].built, "n_layers": 2, "head_dim": 8},
    ),
    "zoo.count_parameters": lambda: (zoo.count_parameters, {"model": nn.Linear(2, 2)}),
    "switches.parts": lambda: (switches.parts, {"model": decoder()}),
    "switches.without": lambda: (
        lambda model, off: switches.without(model, off).__enter__(),
        {"model": decoder(), "off": ["layer.1.head.2"]},
    ),
    "inside.inside": lambda: (
        inside.inside,
        {"model": decoder(), "input_ids": ids()[0], "off": ["positions"]},
    ),
    "inside.lens": lambda: (
        inside.lens,
        {"model": decoder(), "stream": torch.randn(T, D), "off": ["norm"]},
    ),
    "inside.votes": lambda: votes_of(decoder()),
    "trace.record": lambda: (
        lambda model: record(model).__enter__(),
        {"model": block()},
    ),
    "measures.entropy": lambda: (measures.entropy, {"weights": torch.full((2, 2), 0.5)}),
    "measures.softmax_jacobian": lambda: (
        measures.softmax_jacobian,
        {"weights": torch.full((2, 2), 0.5)},
    ),
    "measures.jacobian_norm": lambda: (
        measures.jacobian_norm,
        {"weights": torch.full((2, 2), 0.5)},
    ),
    "measures.cosine": lambda: (measures.cosine, {"a": x(), "b": x()}),
    "train.TrainConfig": lambda: (
        training.TrainConfig,
        {"steps": 2, "batch_size": 2, "lr": 0.1, "warmup": 1, "final_share": 0.1}
        | {"weight_decay": 0.1, "clip": 1.0, "seed": 0, "accumulate": 1},
    ),
    "train.learning_rate": lambda: (
        training.learning_rate,
        {"step": 0, "config": training.TrainConfig(2, 2)},
    ),
    "train.train": lambda: (
        training.train,
        {"model": decoder(), "draw": tasks.Copy(9, 3).batch}
        | {"config": training.TrainConfig(2, 2), "loss": losses.next_token_loss},
    ),
    "losses.summed_cross_entropy": lambda: (
        losses.summed_cross_entropy,
        {"logits": torch.randn(B, T, V), "targets": ids()},
    ),
    "ask": lambda: (ask, {"name": "3.1"}),
    "question": lambda: (question, {"name": "3.1"}),
    "code": lambda: (code, {"first": masks.causal}),
    "scientific": lambda: (scientific, {"value": 0.5, "digits": 2}),
    "table": lambda: (
        table,
        {"rows": [["a", 1]], "headers": ["", "b"], "digits": 2},
    ),
    "record_of": lambda: (measured.record_of, {"name": "activations"}),
    "trained.load": lambda: (trained.load, {"name": "translator"}),
    "trained.shared": lambda: (trained.shared, {"name": "translator"}),
    "trained.path_of": lambda: (trained.path_of, {"name": "translator"}),
    "trained.pack": lambda: (
        trained.pack,
        {"model": decoder(), "task": tasks.Copy(9, 3), "record": {}, "precision": "int8"}
        | {"arguments": {"n_symbols": 9, "length": 3}},
    ),
    "trained.unpack": lambda: (
        trained.unpack,
        {"data": trained.path_of("translator").read_bytes()},
    ),
    "trained.quantised": lambda: (
        packing.quantised,
        {"weights": decoder().state_dict(), "precision": "fp16"},
    ),
    "trained.restore": lambda: (
        packing.restore,
        {"tensors": packing.quantised(decoder().state_dict(), "int8")},
    ),
    "tasks.accuracy": lambda: (
        tasks.accuracy,
        {"logits": torch.randn(B, T, V), "targets": ids()},
    ),
    "tasks.exact": lambda: (tasks.exact, {"logits": torch.randn(B, T, V), "targets": ids()}),
    "tasks.Copy": lambda: (tasks.Copy, dict(TASK_SIZES)),
    "tasks.Reverse": lambda: (tasks.Reverse, dict(TASK_SIZES)),
    "tasks.Sorting": lambda: (tasks.Sorting, {"n_numbers": 12, "length": 4}),
    "tasks.Induction": lambda: (tasks.Induction, dict(TASK_SIZES)),
    "tasks.AssociativeRecall": lambda: (
        tasks.AssociativeRecall,
        {"n_keys": 6, "n_values": 6, "n_pairs": 3, "n_queries": 2},
    ),
    "tasks.Agreement": lambda: (tasks.Agreement, {"distance": 2}),
    "tasks.ModularSums": lambda: (tasks.ModularSums, {"modulus": 17, "held_out_share": 0.3}),
    "tasks.Translation": lambda: (tasks.Translation, {"held_out_share": 0.2}),
    "tasks.Introductions": lambda: (tasks.Introductions, {"held_out_share": 0.2}),
    "tasks.Stories": lambda: (tasks.Stories, {"length": 48}),
    "tasks.Corpus": lambda: (
        tasks.Corpus,
        {"length": 8, "text": "abcdefgh " * 40, "held_out_share": 0.2},
    ),
}

FORWARDS = {
    "AdditiveScore": lambda: (
        scores.AdditiveScore(3, 4, 5),
        {"q": torch.randn(B, T, 3), "k": torch.randn(B, T, 4)},
    ),
    "BilinearScore": lambda: (
        scores.BilinearScore(3, 4),
        {"q": torch.randn(B, T, 3), "k": torch.randn(B, T, 4)},
    ),
    "AttentionCore": lambda: (attend.AttentionCore(), qkv() | {"mask": mask(), "bias": bias()}),
    "CausalCore": lambda: (CausalCore(), qkv() | {"mask": mask(), "bias": bias()}),
    "FlashCore": lambda: (attend.FlashCore(2), qkv() | {"mask": mask(), "bias": bias()}),
    "SingleHeadAttention": lambda: (
        attend.SingleHeadAttention(D, K),
        {"x": x(), "context": x(), "mask": mask()},
    ),
    "MultiHeadAttention": lambda: (
        layer(),
        {"x": x(), "context": x(), "mask": mask(), "bias": bias(), "return_weights": True},
    ),
    "CachedAttention": lambda: (
        attend.CachedAttention(D, H, position=positions.Rotary(K)),
        {"x": x(), "mask": mask(), "bias": bias(), "positions": places()}
        | {"cache": GrowingCache()[0], "return_weights": True},
    ),
    "LatentAttention": lambda: (
        attend.LatentAttention(D, H, 6, head_dim=K, rotary=positions.Rotary(K)),
        {"x": x(), "mask": mask(), "positions": places(), "cache": GrowingCache()[0]},
    ),
    "LatentAttention.expanded": lambda: (
        attend.LatentAttention(D, H, 6, head_dim=K, rotary=positions.Rotary(K)).expanded,
        {"x": x(), "mask": mask(), "positions": places()},
    ),
    "LinearAttention": lambda: (attend.LinearAttention(D, H), {"x": x()}),
    "LinearAttention.recurrent": lambda: (
        attend.LinearAttention(D, H).recurrent,
        {"x": x(), "state": sums()},
    ),
    "NormedAttention": lambda: (
        attend.NormedAttention(D, H, position=positions.Rotary(K)),
        {"x": x(), "mask": mask(), "bias": bias(), "positions": places()}
        | {"cache": GrowingCache()[0], "return_weights": True},
    ),
    "SelectiveStateSpace": lambda: (state_space.SelectiveStateSpace(D), {"x": x()}),
    "SelectiveStateSpace.recurrent": lambda: (
        state_space.SelectiveStateSpace(D, 5).recurrent,
        {"x": x(), "state": torch.zeros(B, D, 5)},
    ),
    "CrossAttention": lambda: (
        attend.CrossAttention(D, H),
        {"x": x(), "context": x(), "mask": mask(), "cache": GrowingCache()[0]}
        | {"return_weights": True},
    ),
    "PositionalEncoding.rotate": lambda: (
        positions.Rotary(K).rotate,
        {"q": qkv()["q"], "k": qkv()["k"], "positions": places()},
    ),
    "PositionalEncoding.add": lambda: (
        positions.Learned(9, D).add,
        {"embeddings": x(), "positions": places()},
    ),
    "PositionalEncoding.bias": lambda: (
        positions.ALiBi(H).bias,
        {"q": qkv()["q"], "k": qkv()["k"], "positions": places()},
    ),
    "Sinusoidal": lambda: (positions.Sinusoidal(D), {"positions": places()}),
    "Sinusoidal.add": lambda: (
        positions.Sinusoidal(D).add,
        {"embeddings": x(), "positions": places()},
    ),
    "Learned": lambda: (positions.Learned(9, D), {"positions": places()}),
    "Rotary": lambda: (positions.Rotary(K), {"positions": places()}),
    "ALiBi": lambda: (positions.ALiBi(H), {"queries": places(), "keys": places()}),
    "T5Buckets": lambda: (positions.T5Buckets(H), {"queries": places(), "keys": places()}),
    "T5Buckets.bias": lambda: (
        positions.T5Buckets(H).bias,
        {"q": qkv()["q"], "k": qkv()["k"], "positions": places()},
    ),
    "TransformerXLRelative.bias": lambda: (
        positions.TransformerXLRelative(D, H).bias,
        {"q": qkv()["q"], "k": qkv()["k"], "positions": places()},
    ),
    "TokenEmbedding": lambda: (TokenEmbedding(V, D), {"ids": ids()}),
    "TokenEmbedding.logits": lambda: (TokenEmbedding(V, D).logits, {"x": x()}),
    "LayerNorm": lambda: (norms.LayerNorm(D), {"x": x()}),
    "RMSNorm": lambda: (norms.RMSNorm(D), {"x": x()}),
    "GemmaRMSNorm": lambda: (norms.GemmaRMSNorm(D), {"x": x()}),
    "BatchNorm": lambda: (norms.BatchNorm(D), {"x": x()}),
    "Residual": lambda: (residual.Residual(), {"x": x(), "sublayer": network()}),
    "PostNorm": lambda: (residual.PostNorm(norms.RMSNorm(D)), {"x": x(), "sublayer": network()}),
    "PreNorm": lambda: (pre(), {"x": x(), "sublayer": network()}),
    "SandwichNorm": lambda: (
        residual.SandwichNorm(norms.RMSNorm(D), norms.RMSNorm(D)),
        {"x": x(), "sublayer": network()},
    ),
    "DeepNorm": lambda: (
        residual.DeepNorm(norms.RMSNorm(D), 2.0),
        {"x": x(), "sublayer": network()},
    ),
    "Block": lambda: (block(), {"x": x(), "mask": mask(), "bias": bias()}),
    "ParallelBlock": lambda: (
        ParallelBlock(layer(), network(), norms.RMSNorm(D)),
        {"x": x(), "mask": mask(), "bias": bias()},
    ),
    "CrossBlock": lambda: (
        CrossBlock(
            layer(),
            layer(),
            network(),
            attention_residual=pre(),
            cross_residual=pre(),
            feed_forward_residual=pre(),
        ),
        {"x": x(), "context": x(), "context_mask": mask(), "mask": mask()},
    ),
    "Stack": lambda: (Stack([block()], norms.RMSNorm(D)), {"x": x(), "mask": mask()}),
    "FeedForward": lambda: (ff.FeedForward(D, 12), {"x": x()}),
    "GatedFeedForward": lambda: (network(), {"x": x()}),
    "Router": lambda: (moe.Router(D, 4, 2), {"x": x()}),
    "GatedExperts": lambda: (
        moe.GatedExperts(4, D, 12),
        {"x": torch.randn(5, D), "load": torch.tensor([1, 0, 2, 2])},
    ),
    "ExpertList": lambda: (
        moe.ExpertList([network() for _ in range(4)]),
        {"x": torch.randn(5, D), "load": torch.tensor([1, 0, 2, 2])},
    ),
    "MixtureOfExperts": lambda: (
        moe.MixtureOfExperts(moe.Router(D, 4, 2), moe.GatedExperts(4, D, 12)),
        {"x": x()},
    ),
    "GrowingCache.update": lambda: (
        GrowingCache().update,
        {"layer": 0, "k": qkv()["k"], "v": qkv()["v"]},
    ),
    "DecoderOnly": lambda: (
        decoder(),
        {"input_ids": ids(), "mask": seen()[:, None, None], "positions": places()},
    ),
    "Aligner": lambda: (
        aligner.aligner(aligner.AlignerConfig(V, D, 5)),
        {"source_ids": ids(), "target_ids": ids(), "source_mask": seen()[:, None, None]},
    ),
    "AttentionBlock": lambda: (
        attention_only.AttentionBlock(layer(), pre()),
        {"x": x(), "mask": mask(), "bias": bias()},
    ),
    "EncoderDecoder": lambda: (
        translator(),
        {"source_ids": ids(), "target_ids": ids(), "source_mask": seen()[:, None, None]},
    ),
    "Bert": lambda: (
        masked_model().bert,
        {"input_ids": ids(), "mask": seen()[:, None, None]},
    ),
    "BertMaskedLM": lambda: (
        masked_model(),
        {"input_ids": ids(), "mask": seen()[:, None, None]},
    ),
}

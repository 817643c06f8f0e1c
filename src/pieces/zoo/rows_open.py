"""Rows 12 to 23, LLaMA-2 to YuLan: causal decoders whose weights can be had."""

from pieces.zoo.row import WEIGHTS, PublishedCount, Row, Source, row

LLAMA = {"norm": "RMSNorm", "position": "RoPE", "feed_forward": "SwiGLU", "head": "own"}
LLAMA_FIELDS = "norm position feed_forward head"

OPEN: tuple[Row, ...] = (
    row(
        "LLaMA-2",
        Source(
            f"d_ff vocab_size n_kv_heads max_seq_len {LLAMA_FIELDS}",
            "Touvron et al. 2023 (arXiv:2307.09288), 2.2 and A.2.1, and the published weights: "
            "grouped heads at 70B, d_ff = 28,672",
        ),
        **LLAMA,
        d_ff=28_672,
        vocab_size=32_000,
        n_kv_heads=8,
        max_seq_len=4096,
        published=PublishedCount(68_976_648_192, WEIGHTS),
    ),
    row(
        "Pythia",
        Source(
            "d_ff vocab_size arrangement position rotary_dim head biases",
            "Biderman et al. 2023, 2, and the published weights: parallel branches, each with "
            "its norm; a quarter of each head rotates; own head",
            "biderman2023pythia",
        ),
        d_ff=20_480,
        vocab_size=50_688,
        arrangement="parallel, two norms",
        position="RoPE",
        rotary_dim=32,
        biases="all",
        head="own",
        differences={"norm": "one norm for each of the two branches, which run in parallel"},
        published=PublishedCount(11_846_072_320, "the model's card"),
    ),
    row(
        "Baichuan-2",
        Source(
            f"d_ff vocab_size max_seq_len norm_eps {LLAMA_FIELDS}",
            "Yang et al. 2023 (arXiv:2309.10305), 2: ALiBi at 13B, "
            "d_ff = 13,696, 125,696 tokens, NormHead",
        ),
        **LLAMA | {"position": "ALiBi", "head": "own, rows of length 1"},
        d_ff=13_696,
        vocab_size=125_696,
        max_seq_len=4096,
        norm_eps=1e-6,
        beyond="the name leaves the embedding and the head out: 12.6 billion without them",
    ),
    row(
        "Qwen-1.5",
        Source(
            f"d_ff vocab_size biases rope_base max_seq_len norm_eps {LLAMA_FIELDS}",
            "the published configuration of Qwen1.5-72B: biases on queries, keys and values",
        ),
        **LLAMA,
        d_ff=24_576,
        vocab_size=152_064,
        biases="queries, keys, values",
        rope_base=1_000_000.0,
        max_seq_len=32_768,
        norm_eps=1e-6,
        published=PublishedCount(72_287_920_128, WEIGHTS),
    ),
    row(
        "InternLM-2",
        Source(
            f"d_ff vocab_size n_kv_heads rope_base max_seq_len {LLAMA_FIELDS}",
            "Cai et al. 2024 (arXiv:2403.17297), 2.2, and the published configuration of 20B",
        ),
        **LLAMA,
        d_ff=16_384,
        vocab_size=92_544,
        n_kv_heads=8,
        rope_base=1_000_000.0,
        max_seq_len=32_768,
    ),
    row(
        "Falcon",
        Source(
            "d_ff vocab_size n_kv_heads arrangement position",
            "Almazrouei et al. 2023, and the published configuration: 8 key-value "
            "heads, parallel branches, d_ff = 4 d_model",
            "almazrouei2023falcon",
        ),
        Source("head", "the published weights hold a head of their own", "almazrouei2023falcon"),
        d_ff=59_392,
        vocab_size=65_024,
        n_kv_heads=8,
        arrangement="parallel, two norms",
        position="RoPE",
        head="own",
        differences={"norm": "one norm for each of the two branches, which run in parallel"},
        published=PublishedCount(179_522_565_120, WEIGHTS),
    ),
    row(
        "MPT",
        Source(
            "d_ff vocab_size norm position max_seq_len",
            "the published configuration and code of MPT-30B (MosaicML 2023): no biases, ALiBi, "
            "50,432 tokens, trained on 8192",
        ),
        d_ff=28_672,
        vocab_size=50_432,
        norm="LayerNorm without shift",
        position="ALiBi",
        max_seq_len=8192,
    ),
    row(
        "Mistral",
        Source(
            f"d_ff vocab_size n_kv_heads window max_seq_len {LLAMA_FIELDS}",
            "Jiang et al. 2023, Table 1, and the published weights",
            "jiang2023mistral",
        ),
        **LLAMA,
        d_ff=14_336,
        vocab_size=32_000,
        n_kv_heads=8,
        window=4096,
        max_seq_len=8192,
        published=PublishedCount(7_241_732_096, WEIGHTS),
        beyond="the name rounds 7.24 down",
    ),
    row(
        "Gemma",
        Source(
            "d_ff vocab_size n_kv_heads head_dim norm position feed_forward embedding norm_eps "
            "max_seq_len",
            "Gemma Team 2024, 2 and Table 1, and the published code: heads of 256, d_ff = 24,576 "
            "(the table gives twice as much, gate and up together), 256,000 tokens (the table has "
            "256,128), shared embeddings",
            "gemma2024open",
        ),
        d_ff=24_576,
        vocab_size=256_000,
        n_kv_heads=16,
        head_dim=256,
        norm="RMSNorm, 1 + w",
        position="RoPE",
        feed_forward="GeGLU by tanh",
        embedding="times the root of d_model",
        norm_eps=1e-6,
        max_seq_len=8192,
        differences={
            "activation": "GeGLU, of three matrices, not GELU: two would count 6.42 billion",
            "head_dim": "256, not D / H = 192",
        },
        published=PublishedCount(8_537_680_896, WEIGHTS),
        beyond="the name leaves the embedding out, and rounds 7.75 down",
    ),
    row(
        "DeepSeek",
        Source(
            f"d_ff vocab_size n_kv_heads max_seq_len norm_eps {LLAMA_FIELDS}",
            "DeepSeek-AI 2024, 2.2 and Table 2, and the published configuration of 67B",
            "deepseek2024llm",
        ),
        **LLAMA,
        d_ff=22_016,
        vocab_size=102_400,
        n_kv_heads=8,
        max_seq_len=4096,
        norm_eps=1e-6,
    ),
    row(
        "Yi",
        Source(
            f"d_ff vocab_size n_kv_heads rope_base max_seq_len {LLAMA_FIELDS}",
            "Young et al. 2024 (arXiv:2403.04652), 2.3 and Table 1, and the published weights",
        ),
        **LLAMA,
        d_ff=20_480,
        vocab_size=64_000,
        n_kv_heads=8,
        rope_base=5_000_000.0,
        max_seq_len=4096,
        published=PublishedCount(34_388_917_248, WEIGHTS),
    ),
    row(
        "YuLan",
        Source(
            f"d_ff max_seq_len {LLAMA_FIELDS}",
            "Zhu et al. 2024, 2: as LLaMA, d_ff = 13,056",
            "zhu2024yulan",
        ),
        Source(
            "vocab_size",
            "not looked up; a thousand tokens more or less would move the count by 0.01 billion",
            assumed=True,
        ),
        **LLAMA,
        d_ff=13_056,
        vocab_size=51_200,
        max_seq_len=4096,
    ),
)

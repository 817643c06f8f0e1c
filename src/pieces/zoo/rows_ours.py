"""Models of 2024 that the table lacks: ours, each with its source, and built like the others."""

from pieces.zoo.row import WEIGHTS, PublishedCount, Row, Source, row
from pieces.zoo.rows_open import LLAMA, LLAMA_FIELDS

CONFIG = "the published configuration"
SIZES = "d_ff vocab_size max_seq_len"

OUR_ROWS: tuple[Row, ...] = (
    row(
        "Command R",
        Source(
            f"{SIZES} arrangement norm position feed_forward rope_base",
            f"{CONFIG} and code of Command R (Cohere 2024): parallel branches behind one norm, no "
            "biases, a tied head",
        ),
        d_ff=22_528,
        vocab_size=256_000,
        arrangement="parallel",
        norm="LayerNorm without shift",
        position="RoPE",
        feed_forward="SwiGLU",
        rope_base=8_000_000.0,
        max_seq_len=8192,
        differences={"norm": "one norm for both branches, which run in parallel"},
        published=PublishedCount(34_980_831_232, WEIGHTS),
    ),
    row(
        "Phi-3 mini",
        Source(
            f"{SIZES} {LLAMA_FIELDS}",
            f"Abdin et al. 2024 (arXiv:2404.14219), 2, and {CONFIG}",
        ),
        **LLAMA,
        d_ff=8192,
        vocab_size=32_064,
        max_seq_len=4096,
        differences={"category": "its configuration has a window; built without"},
        published=PublishedCount(3_821_079_552, WEIGHTS),
    ),
    row(
        "Gemma-2",
        Source(
            f"{SIZES} n_kv_heads head_dim arrangement norm norm_eps position feed_forward "
            "embedding",
            "Gemma Team 2024 (arXiv:2408.00118), 2 and Table 1, and the published code: a norm on "
            "either side of each sublayer, heads of 256, shared embeddings",
        ),
        d_ff=14_336,
        vocab_size=256_000,
        n_kv_heads=8,
        head_dim=256,
        arrangement="sandwich",
        norm="RMSNorm, 1 + w",
        position="RoPE",
        feed_forward="GeGLU by tanh",
        embedding="times the root of d_model",
        norm_eps=1e-6,
        max_seq_len=8192,
        differences={
            "category": "every second layer attends in a window; built without, which has the same "
            "parameters",
            "head_dim": "256, not D / H = 224",
        },
        published=PublishedCount(9_241_705_984, WEIGHTS),
    ),
    row(
        "Mistral NeMo",
        Source(
            f"{SIZES} n_kv_heads head_dim rope_base {LLAMA_FIELDS}",
            f"{CONFIG} of Mistral NeMo (Mistral AI 2024): heads of 128",
        ),
        **LLAMA,
        d_ff=14_336,
        vocab_size=131_072,
        n_kv_heads=8,
        head_dim=128,
        rope_base=1_000_000.0,
        max_seq_len=128_000,
        differences={"head_dim": "128, not D / H = 160"},
        published=PublishedCount(12_247_782_400, WEIGHTS),
    ),
    row(
        "LLaMA-3.1",
        Source(
            f"{SIZES} n_kv_heads rope_base {LLAMA_FIELDS}",
            f"Grattafiori et al. 2024, 3.2 and Table 3, and {CONFIG}",
            "grattafiori2024llama",
        ),
        **LLAMA,
        d_ff=53_248,
        vocab_size=128_256,
        n_kv_heads=8,
        rope_base=500_000.0,
        max_seq_len=131_072,
        published=PublishedCount(405_853_388_800, WEIGHTS),
    ),
    row(
        "Qwen-2.5",
        Source(
            f"{SIZES} n_kv_heads biases rope_base {LLAMA_FIELDS}",
            f"Qwen Team 2024 (arXiv:2412.15115), 2, and {CONFIG}: biases on queries, keys, values",
        ),
        **LLAMA,
        d_ff=29_568,
        vocab_size=152_064,
        n_kv_heads=8,
        biases="queries, keys, values",
        rope_base=1_000_000.0,
        max_seq_len=131_072,
        published=PublishedCount(72_706_203_648, WEIGHTS),
    ),
)

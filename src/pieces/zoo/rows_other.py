"""Rows 24 and 25, GLM-130B and T5: a prefix decoder, and an encoder with a decoder."""

from pieces.zoo.row import WEIGHTS, PublishedCount, Row, Source, row

OTHER: tuple[Row, ...] = (
    row(
        "GLM-130B",
        Source(
            "d_ff vocab_size arrangement position feed_forward biases embedding",
            "Zeng et al. 2023, 2.1, and the published code: DeepNorm with "
            "α = (2 L)^(1/2), GeGLU of 32,768, 150,528 tokens, a LayerNorm on the embeddings, "
            "a tied head",
            "zeng2023glm",
        ),
        d_ff=32_768,
        vocab_size=150_528,
        arrangement="post, DeepNorm",
        position="RoPE",
        feed_forward="GeGLU",
        biases="all",
        embedding="normalised",
        differences={"norm": "DeepNorm names the residual connection; the norm in it is LayerNorm"},
    ),
    row(
        "T5",
        Source(
            "d_ff vocab_size head_dim norm position feed_forward norm_eps",
            "Raffel et al. 2020, 2.1 and 3.7, and the published weights of 11B: heads of 128, "
            "d_ff = 65,536, 32,128 tokens, no biases, shared embeddings",
            "raffel2020exploring",
        ),
        d_ff=65_536,
        vocab_size=32_128,
        head_dim=128,
        norm="RMSNorm",
        position="T5 buckets",
        feed_forward="ReLU",
        norm_eps=1e-6,
        differences={
            "n_layers": "24 in the encoder and 24 in the decoder",
            "position": "the relative encoding is T5's: one bias per bucket and head",
            "head_dim": "128, not D / H = 8",
        },
        published=PublishedCount(11_307_321_344, WEIGHTS),
    ),
)

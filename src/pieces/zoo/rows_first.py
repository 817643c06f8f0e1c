"""Rows 1 to 11, GPT-3 to Jurassic-1: large, plain, most of them never released."""

from pieces.zoo.row import PublishedCount, Row, Source, row

GPT2 = "as GPT-2, whose architecture the paper says it takes"
XL_SOURCE = "one projection of the codes a layer, as in Transformer-XL (Dai et al. 2019), 3.3"

FIRST: tuple[Row, ...] = (
    row(
        "GPT-3",
        Source(
            "d_ff max_seq_len vocab_size",
            "Brown et al. 2020, 2.1: d_ff = 4 d_model, 2,048 tokens; the BPE of GPT-2, 50,257",
            "brown2020language",
        ),
        Source("feed_forward biases", f"Brown et al. 2020, 2.1: {GPT2}", "brown2020language"),
        d_ff=49_152,
        vocab_size=50_257,
        feed_forward="GELU by tanh",
        biases="all",
        differences={
            "category": "every second layer attends in bands in the paper; built dense, which "
            "has the same parameters"
        },
        published=PublishedCount(
            174_600_000_000, "Brown et al. 2020, Table D.1: 174,600 M", within=50_000_000
        ),
    ),
    row(
        "PanGu-alpha",
        Source("d_ff", "Zeng et al. 2021, Table 1: 65,536", "zeng2021pangu"),
        Source(
            "vocab_size max_seq_len top biases",
            "Zeng et al. 2021, 2, and the published code: 40,000 tokens, 1024 positions; "
            "the last of the 64 layers is the query layer, with a table of its own",
            "zeng2021pangu",
        ),
        printed="PanGU-",
        d_ff=65_536,
        vocab_size=40_000,
        max_seq_len=1024,
        biases="all",
        top="query layer",
        differences={
            "name": "the table has lost the letter α of PanGu-α",
            "n_layers": "63 ordinary layers and the query layer, as in the published code; with 64 "
            "below it the count would be 210.1 billion, not the 207.0 billion of the paper",
        },
    ),
    row(
        "OPT",
        Source("d_ff", "Zhang et al. 2022, 2.1, as GPT-3: d_ff = 4 d_model", "zhang2022opt"),
        Source(
            "vocab_size max_seq_len biases",
            "published weights: 50,272 tokens; 2050 positions, of which the first 2 are never used",
            "zhang2022opt",
        ),
        Source("feed_forward", "Zhang et al. 2022, 2.1: ReLU", "zhang2022opt"),
        d_ff=49_152,
        vocab_size=50_272,
        max_seq_len=2050,
        feed_forward="ReLU",
        biases="all",
    ),
    row(
        "PaLM",
        Source(
            "d_ff n_kv_heads head_dim arrangement norm vocab_size position feed_forward",
            "Chowdhery et al. 2022 (arXiv:2204.02311), 2 and Table 1: parallel layers, one key and "
            "value head, heads of 256, d_ff = 4 d_model with SwiGLU, no biases, RoPE, 256k tokens, "
            "shared embeddings",
        ),
        d_ff=73_728,
        vocab_size=256_000,
        n_kv_heads=1,
        head_dim=256,
        arrangement="parallel",
        norm="LayerNorm without shift",
        position="RoPE",
        feed_forward="SwiGLU",
        differences={
            "head_dim": "256, not D / H = 384",
            "norm": "one norm for both branches, which run in parallel",
        },
        published=PublishedCount(
            540_350_000_000,
            "Chowdhery et al. 2022, Table 1: 540.35 billion",
            within=10_000_000,
        ),
    ),
    row(
        "BLOOM",
        Source(
            "d_ff vocab_size position embedding biases feed_forward",
            "BigScience Workshop 2022, 3.2, and the published weights: ALiBi, a "
            "LayerNorm on the embeddings, 250,880 tokens, d_ff = 4 d_model",
            "bigscience2022bloom",
        ),
        d_ff=57_344,
        vocab_size=250_880,
        position="ALiBi",
        embedding="normalised",
        feed_forward="GELU by tanh",
        biases="all",
        published=PublishedCount(176_247_271_424, "the model's card"),
    ),
    row(
        "MT-NLG",
        Source(
            "norm position feed_forward biases",
            f"Smith et al. 2022: the decoder of a Transformer, {GPT2}",
            "smith2022using",
        ),
        Source("d_ff", "Megatron's default: 4 d_model", assumed=True),
        Source(
            "vocab_size max_seq_len",
            "Smith et al. 2022: GPT-2's BPE of 50,257 tokens, length 2048",
            "smith2022using",
        ),
        d_ff=81_920,
        vocab_size=50_257,
        feed_forward="GELU by tanh",
        biases="all",
        differences={
            "norm": "blank; built pre-norm LayerNorm, as in GPT-2",
            "position": "blank; built learned, as in GPT-2",
            "activation": "blank; built GELU, as in GPT-2",
        },
    ),
    row(
        "Gopher",
        Source(
            "norm position",
            "Rae et al. 2021 (arXiv:2112.11446), 3.1: RMSNorm and the relative encoding of Dai et "
            f"al.; {XL_SOURCE}",
            "dai2019transformerxl",
        ),
        Source("vocab_size d_ff", "Rae et al. 2021, 3.1 and Table 1: 32,000; d_ff = 4 d_model"),
        Source("feed_forward biases", "Rae et al. 2021, 3.1: as GPT-2, but for norm and positions"),
        d_ff=65_536,
        vocab_size=32_000,
        norm="RMSNorm",
        position="Transformer-XL",
        feed_forward="GELU by tanh",
        biases="all",
        differences={
            "activation": "blank; built GELU, as in GPT-2",
            "position": "the relative encoding is Transformer-XL's: 21.5 billion of its own",
        },
    ),
    row(
        "Chinchilla",
        Source(
            "norm position feed_forward biases vocab_size",
            "Hoffmann et al. 2022, 4.1: the architecture of Gopher",
            "hoffmann2022training",
        ),
        Source("d_ff", "Hoffmann et al. 2022, Table 4: heads of 128; d_ff = 4 d_model as Gopher"),
        d_ff=32_768,
        vocab_size=32_000,
        norm="RMSNorm",
        position="Transformer-XL",
        feed_forward="GELU by tanh",
        biases="all",
        differences={
            "activation": "blank; built GELU, as Gopher",
            "position": "the relative encoding is Transformer-XL's: 5.4 billion of its own",
        },
    ),
    row(
        "Galactica",
        Source(
            "d_ff vocab_size norm",
            "Taylor et al. 2022, the section on architecture: no biases in dense layers or norms, "
            "50k tokens, 2048 positions; d_ff = 4 d_model",
            "taylor2022galactica",
        ),
        d_ff=40_960,
        vocab_size=50_000,
        norm="LayerNorm without shift",
    ),
    row(
        "LaMDA",
        Source(
            "d_ff head_dim position feed_forward vocab_size",
            "Thoppilan et al. 2022 (arXiv:2201.08239), 3: d_ff = 65,536, 128 heads of 128, the "
            "relative attention of T5, gated GELU, 32k tokens",
        ),
        Source("norm", "not published; T5's, whose other parts it has", assumed=True),
        d_ff=65_536,
        vocab_size=32_000,
        head_dim=128,
        norm="RMSNorm",
        position="T5 buckets",
        feed_forward="GeGLU by tanh",
        differences={
            "norm": "blank; built pre-norm RMSNorm, as in T5",
            "position": "the relative encoding is T5's: one bias per bucket and head",
            "head_dim": "128, not D / H = 64",
        },
    ),
    row(
        "Jurassic-1",
        Source("vocab_size max_seq_len", "Lieber et al. 2021: 256K tokens", "lieber2021jurassic"),
        Source(
            "d_ff biases feed_forward",
            f"Lieber et al. 2021: {GPT2}; d_ff = 4 d_model",
            "lieber2021jurassic",
        ),
        d_ff=55_296,
        vocab_size=256_000,
        feed_forward="GELU by tanh",
        biases="all",
    ),
)

"""Table 5.1, executable: as printed, as built, as counted; and each architecture in small."""

import copy
import pickle
import re
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from checker import refused
from pieces import masks
from pieces.cache import GrowingCache
from pieces.models import bloom, falcon, gemma, gpt_neox, llama, mistral, mpt, opt, qwen2, t5
from pieces.models.mixtral import MixtralConfig, mixtral
from pieces.positions import T5Buckets, TransformerXLRelative
from pieces.residual import DeepNorm
from pieces.zoo import (
    MODEL_TABLE,
    OUR_MODELS,
    PARTS,
    Architecture,
    Source,
    assemble,
    build,
    built_words,
    count_parameters,
    counted,
    shrink,
    sourced_words,
)
from pieces.zoo.printed import APPEARED
from pieces.zoo.row import row

BIBLIOGRAPHY = (Path(__file__).parents[1] / "references.bib").read_text(encoding="utf-8")
NAMES = list(MODEL_TABLE)
DECODERS = [name for name, row in MODEL_TABLE.items() if row.built.category != "encoder-decoder"]
CAUSAL = [name for name in DECODERS if MODEL_TABLE[name].built.category == "causal"]


def small(name: str, **changes: object) -> nn.Module:
    return assemble(replace(shrink(MODEL_TABLE[name].built), **changes)).eval()


def ids(T: int = 9, B: int = 2) -> torch.Tensor:
    return torch.randint(0, 97, (B, T))


# ---- the table as printed, and its errata


def test_there_are_25_rows_in_the_order_of_the_table():
    assert len(NAMES) == 25
    assert (NAMES[0], NAMES[11], NAMES[-1]) == ("GPT-3", "LLaMA-2", "T5")
    printed = [row.printed.name for row in MODEL_TABLE.values()]
    assert printed == ["PanGU-" if name == "PanGu-alpha" else name for name in NAMES]


def test_blanks_stay_blank():
    cells = {(name, column): cell for name, row in MODEL_TABLE.items()
             for column, cell in vars(row.printed).items()}  # fmt: skip
    assert {place for place, cell in cells.items() if cell is None} == {
        ("MT-NLG", "norm"), ("MT-NLG", "position"), ("MT-NLG", "activation"),
        ("Gopher", "activation"), ("Chinchilla", "activation"), ("LaMDA", "norm"),
    }  # fmt: skip


def test_what_is_built_has_the_sizes_of_the_table():
    for entry in MODEL_TABLE.values():
        for column in ("category", "n_layers", "n_heads", "d_model"):
            assert getattr(entry.built, column) == getattr(entry.printed, column)


def test_rows_are_frozen():
    with pytest.raises(FrozenInstanceError):
        MODEL_TABLE["GPT-3"].name = "GPT-4"


NORM_WORDS = {"Pre Layer": "LayerNorm", "Pre RMS": "RMSNorm"}
POSITION_WORDS = {"Learned": "learned", "RoPE": "RoPE", "ALiBi": "ALiBi"}


@pytest.mark.parametrize("name", NAMES)
def test_each_difference_is_named_and_no_other(name):
    entry = MODEL_TABLE[name]
    printed, built, named = entry.printed, entry.built, set(entry.differences)
    norm = NORM_WORDS.get(printed.norm, "no such norm")
    same_norm = built.norm.startswith(norm) and built.arrangement == "pre"
    assert ("norm" in named) is not same_norm
    assert ("position" in named) is (POSITION_WORDS.get(printed.position) != built.position)
    same_activation = built.feed_forward.removesuffix(" by tanh") == printed.activation
    assert ("activation" in named) is not same_activation
    same_heads = built.head_size * built.n_heads == built.d_model
    assert ("head_dim" in named) is not same_heads
    assert ("name" in named) is (printed.name != name)


@pytest.mark.parametrize("name", NAMES)
def test_each_field_that_the_table_does_not_print_has_a_source(name):
    entry = MODEL_TABLE[name]
    for field, value in vars(entry.built).items():
        plain = value == getattr(Architecture(1, 1, 1, 1, 1), field)
        needs = field in ("d_ff", "vocab_size") or not plain
        if needs and field not in ("category", "n_layers", "n_heads", "d_model"):
            assert any(field in source.fields.split() for source in entry.sources), field
    for source in entry.sources:
        assert len(source.citation) > 10
        assert source.key is None or re.search(rf"^@\w+{{{source.key},$", BIBLIOGRAPHY, re.M)


def test_sources_are_found_by_field():
    entry = MODEL_TABLE["GPT-3"]
    assert entry.source("n_layers") == "Table 5.1"
    assert entry.source("d_ff").startswith("Brown et al. 2020")
    assert entry.source("window") == "the default of Architecture"


# ---- counting


def formula(a: Architecture) -> int:
    """The count written down anew, from sizes alone: no module is asked."""
    D, width, keys = a.d_model, a.n_heads * a.head_size, a.kv_heads * a.head_size
    biased = a.biases == "all"
    norm = 2 * D if a.norm == "LayerNorm" else D
    attention = 2 * D * width + 2 * D * keys
    attention += {"none": 0, "all": width + 2 * keys + D}.get(a.biases, width + 2 * keys)
    matrices = 3 if "GLU" in a.feed_forward else 2
    feed_forward = matrices * D * a.d_ff + biased * ((matrices - 1) * a.d_ff + D)
    relative = (D * width + 2 * width) * (a.position == "Transformer-XL")
    layers = a.n_layers * (attention + feed_forward + relative)
    layers += a.n_layers * norm * {"parallel": 1, "sandwich": 4}.get(a.arrangement, 2)
    if a.category == "encoder-decoder":
        layers += a.n_layers * (2 * attention + feed_forward + 3 * norm) + norm
    outside = a.vocab_size * D * (1 if a.head == "tied" else 2)
    outside += norm * (a.embedding == "normalised") + norm * (a.arrangement != "post, DeepNorm")
    tables = {"learned": a.max_seq_len * D * (1 if a.top == "nothing" else 2)}
    buckets = 32 * a.n_heads * (2 if a.category == "encoder-decoder" else 1)
    return layers + outside + (tables | {"T5 buckets": buckets}).get(a.position, 0)


@pytest.fixture(scope="module")
def counts() -> dict[str, dict[str, int]]:
    """All models at full size, on the meta device, one after another."""
    result = {}
    for name in NAMES:
        model = build(name)
        assert all(parameter.is_meta for parameter in model.parameters())
        assert all(buffer.is_meta for buffer in model.buffers())
        result[name] = count_parameters(model)
        assert result[name]["total"] == sum(p.numel() for p in model.parameters())
    return result


@pytest.mark.parametrize("name", NAMES)
def test_count_equals_the_closed_formula(name, counts):
    assert counts[name]["total"] == formula(MODEL_TABLE[name].built)


@pytest.mark.parametrize("name", NAMES)
def test_count_equals_the_published_one(name, counts):
    published = MODEL_TABLE[name].published
    if published is None:
        assert name not in PUBLISHED
    else:
        assert abs(counts[name]["total"] - published.parameters) <= published.within


PUBLISHED = {"GPT-3", "PaLM", "BLOOM", "LLaMA-2", "Pythia", "Qwen-1.5", "Falcon", "Mistral",
             "Gemma", "Yi", "T5"}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_count_is_near_the_printed_size_or_a_reason_is_given(name, counts):
    entry = MODEL_TABLE[name]
    off = abs(counts[name]["total"] / entry.printed.parameters - 1)
    assert (off > 0.03) is (entry.beyond is not None)


def test_three_names_count_other_things(counts):
    assert {n for n in NAMES if MODEL_TABLE[n].beyond} == {"Baichuan-2", "Mistral", "Gemma"}
    gemma, baichuan = counts["Gemma"], counts["Baichuan-2"]
    assert gemma["total"] - gemma["embedding"] == 7_751_248_896
    assert round((baichuan["total"] - baichuan["embedding"] - baichuan["head"]) / 1e9, 1) == 12.6


def test_parts_are_those_that_the_cards_name(counts):
    assert counts["BLOOM"]["embedding"] == 3_596_615_680
    pythia = counts["Pythia"]
    assert pythia["total"] - pythia["embedding"] - pythia["head"] == 11_327_027_200
    assert counts["Gopher"]["positions"] == 80 * (16_384**2 + 2 * 16_384)
    assert counts["LaMDA"]["positions"] == 32 * 128
    assert counts["OPT"]["positions"] == 2050 * 12_288
    assert counts["PaLM"]["norms"] == 119 * 18_432
    assert counts["LLaMA-2"]["feed-forward"] == 80 * 3 * 8192 * 28_672
    assert counts["LLaMA-2"]["attention"] == 80 * (2 * 8192**2 + 2 * 8192 * 1024)
    assert counts["LLaMA-2"]["head"] == counts["LLaMA-2"]["embedding"] == 32_000 * 8192
    assert all(count["other"] == count["router"] == 0 for count in counts.values())
    assert all(set(count) == {*PARTS, "total"} for count in counts.values())


def test_errata_show_in_the_count(counts):
    plain = replace(MODEL_TABLE["Gemma"].built, feed_forward="GELU by tanh")
    assert formula(plain) == pytest.approx(6.42e9, rel=1e-3)
    above = replace(MODEL_TABLE["PanGu-alpha"].built, n_layers=65)
    assert formula(above) == pytest.approx(210.1e9, rel=1e-3)
    assert counts["PanGu-alpha"]["total"] == pytest.approx(207.0e9, rel=1e-3)
    tied = replace(MODEL_TABLE["Falcon"].built, head="tied")
    assert formula(tied) == 179_522_565_120 - 65_024 * 14_848


@pytest.mark.parametrize("name", NAMES)
def test_the_rule_of_thumb_and_where_it_fails(name, counts):
    a = MODEL_TABLE[name].built
    share = 12 * a.n_layers * a.d_model**2 / MODEL_TABLE[name].printed.parameters
    assert (0.89 <= share <= 1.18) is (name not in ("LaMDA", "Gemma", "T5"))


def test_routers_experts_and_strangers_have_their_parts():
    model = mixtral(MixtralConfig(11, 8, 2, 2, 12, n_experts=4))
    model.stranger = nn.Linear(3, 5)
    count = count_parameters(model)
    assert count["router"] == 2 * 4 * 8
    assert count["feed-forward"] == 2 * 4 * 3 * 8 * 12
    assert count["head"] == count["embedding"] == 88
    assert count["other"] == 20
    assert count["norms"] == 5 * 8
    assert count["total"] == sum(p.numel() for p in model.parameters())


def test_shared_parameters_count_once():
    model = nn.Sequential(nn.Linear(3, 3, bias=False))
    model.append(model[0])
    assert count_parameters(model)["total"] == 9


# ---- beside the table: when each appeared, rows of ours, the words of the sources


def test_each_model_appeared_in_some_year():
    assert list(APPEARED) == [*MODEL_TABLE, *OUR_MODELS]
    for entry in (MODEL_TABLE | OUR_MODELS).values():
        assert 2019 <= entry.appeared.year <= 2024
    assert MODEL_TABLE["T5"].appeared.year == 2019
    assert {row.appeared.year for row in OUR_MODELS.values()} == {2024}


@pytest.mark.parametrize("name", OUR_MODELS)
def test_rows_of_ours_count_as_published(name):
    entry = OUR_MODELS[name]
    assert entry.ours
    assert counted(name)["total"] == formula(entry.built) == entry.published.parameters
    assert abs(entry.published.parameters / entry.printed.parameters - 1) < 0.03
    for column in ("category", "n_layers", "n_heads", "d_model"):
        assert getattr(entry.built, column) == getattr(entry.printed, column)
    assert built_words(entry.built) == {c: getattr(entry.printed, c) for c in WORDS}
    assert ("head_dim" in entry.differences) is (
        entry.built.head_size * entry.built.n_heads != entry.built.d_model
    )
    model = assemble(shrink(entry.built)).eval()
    assert model(ids()).isfinite().all()


WORDS = ("norm", "position", "activation")


def test_words_by_the_sources():
    changed = {}
    for name, entry in MODEL_TABLE.items():
        for column, word in sourced_words(entry).items():
            if word != getattr(entry.printed, column):
                changed[name, column] = word
    assert changed == {
        ("MT-NLG", "norm"): "Pre Layer", ("MT-NLG", "position"): "Learned",
        ("MT-NLG", "activation"): "GELU", ("Gemma", "activation"): "GeGLU",
        ("Gopher", "activation"): "GELU", ("Chinchilla", "activation"): "GELU",
    }  # fmt: skip
    blank = {(n, c) for n, e in MODEL_TABLE.items() for c, w in sourced_words(e).items() if not w}
    assert blank == {("LaMDA", "norm")}


def test_counts_of_a_row_are_those_of_its_model(counts):
    for name in ("Gemma", "T5"):
        assert dict(counted(name)) == counts[name]
    with pytest.raises(TypeError):
        counted("Gemma")["total"] = 7


# ---- each architecture in small


@pytest.mark.parametrize("name", NAMES)
def test_shrinking_keeps_the_architecture(name):
    a = MODEL_TABLE[name].built
    b = shrink(a)
    words = [field for field, value in vars(a).items() if isinstance(value, str)]
    assert [getattr(a, word) for word in words] == [getattr(b, word) for word in words]
    assert (a.n_heads & (a.n_heads - 1) == 0) is (b.n_heads == 4)
    for kind in (1, "all"):
        assert (a.kv_heads == (a.n_heads if kind == "all" else 1)) is (
            b.kv_heads == (b.n_heads if kind == "all" else 1)
        )
    assert (a.window is None) is (b.window is None)
    assert formula(b) == count_parameters(assemble(b))["total"] < 1_000_000


@pytest.mark.parametrize("name", DECODERS)
def test_small_models_run(name):
    y = small(name)(ids())
    assert y.shape == (2, 9, 97)
    assert y.isfinite().all()


@pytest.mark.parametrize("name", NAMES)
def test_every_model_is_pickled_and_copied_whole(name):
    model, x = small(name), ids()
    given = (x, x) if name == "T5" else (x,)
    expected = model(*given)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert torch.equal(other(*given), expected)


@pytest.mark.parametrize("name", DECODERS)
def test_half_precision_stays_near(name):
    model, x = small(name), ids()
    expected, y = model(x), model.to(torch.bfloat16)(x)
    assert y.dtype == torch.bfloat16
    assert (y.float() - expected).abs().max() < 0.05 * expected.abs().max()


@pytest.mark.parametrize("name", CAUSAL)
def test_causal_models_see_the_past_and_nothing_else(name):
    model, x = small(name, n_layers=2).double(), ids(7, 1)
    before, window = model(x), model.config.window
    reach = 7 if window is None else 2 * (window - 1) + 1
    for t in range(7):
        moved = x.clone()
        moved[0, t] = (moved[0, t] + 1) % 97
        changed = (model(moved) != before).any(dim=-1)[0]
        assert changed.tolist() == [t <= place < t + reach for place in range(7)]


def test_the_prefix_model_sees_its_whole_prefix_and_then_the_past():
    model, x, n = small("GLM-130B").double(), ids(7, 1), 4
    mask = masks.prefix(7, n)
    for options in ({"mask": mask}, {}):
        before = model(x, **options)
        for t in range(7):
            moved = x.clone()
            moved[0, t] = (moved[0, t] + 1) % 97
            changed = (model(moved, **options) != before).any(dim=-1)[0]
            first = 0 if t < n or not options else t
            assert changed.tolist() == [place >= first for place in range(7)]


@pytest.mark.parametrize("name", CAUSAL)
def test_decoding_step_by_step_equals_one_pass(name):
    model, x = small(name).double(), ids(8)
    expected, cache = model(x), GrowingCache()
    steps = [model(x[:, :3], cache=cache)]
    steps += [model(x[:, t : t + 1], cache=cache) for t in range(3, 8)]
    torch.testing.assert_close(torch.cat(steps, dim=1), expected)


@pytest.mark.parametrize("name", DECODERS)
def test_gradients_reach_every_parameter(name):
    model = small(name).train()
    F.cross_entropy(model(ids()).flatten(0, 1), ids().flatten()).backward()
    still = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert still == [], "no gradient"


def test_left_padding_moves_positions_in_the_query_layer_too():
    model, x = small("PanGu-alpha").double(), ids(5, 1)
    padded = torch.cat((torch.zeros(1, 2, dtype=torch.long), x), dim=1)
    options = {"mask": torch.tensor([[[[False] * 2 + [True] * 5]]]),
               "positions": torch.tensor([[0, 0, 0, 1, 2, 3, 4]])}  # fmt: skip
    torch.testing.assert_close(model(padded, **options)[:, 2:], model(x))


# ---- the same models by other hands


def preset(name: str) -> tuple[nn.Module, nn.Module]:
    """A small model of the zoo, and the same from the family's own builder."""
    a = shrink(MODEL_TABLE[name].built)
    plain = (a.vocab_size, a.d_model, a.n_layers, a.n_heads, a.d_ff)
    gated = (*plain, a.n_kv_heads, a.head_dim)
    rope = {"norm_eps": a.norm_eps, "rope_base": a.rope_base}
    families = {
        "LLaMA-2": lambda: llama.llama(llama.LlamaConfig(*gated, **rope)),
        "DeepSeek": lambda: llama.llama(llama.LlamaConfig(*gated, **rope)),
        "Yi": lambda: llama.llama(llama.LlamaConfig(*gated, **rope)),
        "Mistral": lambda: mistral.mistral(
            mistral.MistralConfig(*gated, **rope, window=a.window)
        ),
        "Gemma": lambda: gemma.gemma(gemma.GemmaConfig(*gated, **rope)),
        "Qwen-1.5": lambda: qwen2.qwen2(qwen2.Qwen2Config(*gated, **rope)),
        "BLOOM": lambda: bloom.bloom(bloom.BloomConfig(*plain)),
        "MPT": lambda: mpt.mpt(mpt.MPTConfig(*plain)),
        "OPT": lambda: opt.opt(opt.OPTConfig(*plain, max_seq_len=a.max_seq_len)),
        "Pythia": lambda: gpt_neox.gpt_neox(gpt_neox.GPTNeoXConfig(*plain, a.rotary_dim)),
        "Falcon": lambda: falcon.falcon(
            falcon.FalconConfig(*plain, n_kv_heads=a.n_kv_heads, tied=False)
        ),
    }  # fmt: skip
    return assemble(a), families[name]()


@pytest.mark.parametrize("name", ["LLaMA-2", "DeepSeek", "Yi", "Mistral", "Gemma", "Qwen-1.5",
                                  "BLOOM", "MPT", "OPT", "Pythia", "Falcon"])  # fmt: skip
def test_the_family_builders_agree(name):
    ours, theirs = preset(name)
    state = {key: torch.randn_like(value) * 0.3 for key, value in theirs.state_dict().items()}
    theirs.load_state_dict(state)
    ours.load_state_dict(state)
    x = ids()
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x), rtol=1e-4, atol=1e-4)


def test_full_sizes_agree_with_the_presets(counts):
    with torch.device("meta"):
        models = {
            "LLaMA-2": llama.llama(llama.LLAMA_2_70B),
            "Mistral": mistral.mistral(mistral.MISTRAL_7B),
            "Gemma": gemma.gemma(gemma.GEMMA_7B),
            "BLOOM": bloom.bloom(bloom.BLOOM_176B),
            "MPT": mpt.mpt(mpt.MPT_30B),
            "Pythia": gpt_neox.gpt_neox(gpt_neox.PYTHIA_12B),
            "T5": t5.t5(t5.T5_11B),
        }
    for name, model in models.items():
        assert count_parameters(model) == counts[name]


# ---- what is peculiar to one model


def test_gopher_has_one_relative_projection_a_layer():
    model = small("Gopher", n_layers=3)
    encodings = {id(m) for m in model.modules() if isinstance(m, TransformerXLRelative)}
    assert len(encodings) == 3


def test_lamda_has_one_table_of_biases_for_all_layers():
    model = small("LaMDA", n_layers=3)
    assert len([m for m in model.modules() if isinstance(m, T5Buckets)]) == 1


def test_glm_scales_the_stream_by_the_root_of_twice_its_depth():
    residuals = [m for m in small("GLM-130B", n_layers=8).modules() if isinstance(m, DeepNorm)]
    assert [m.alpha for m in residuals] == [4.0] * 16


def test_baichuan_does_not_mind_how_long_a_row_of_the_head_is():
    model, x = small("Baichuan-2"), ids()
    before = model(x)
    with torch.no_grad():
        model.head.weight *= torch.rand(97, 1) + 0.5
    torch.testing.assert_close(model(x), before)


def test_the_query_layer_is_its_equation():
    model, x = small("PanGu-alpha", n_layers=1).double(), ids(6, 1)
    state = {name: torch.randn_like(p) * 0.3 for name, p in model.named_parameters()}
    model.load_state_dict(state, strict=False)
    block, table = model.stack.blocks[0], model.position.asked.weight
    stream = block.norm(model.embedding(x) + model.position.weight[:6])
    inner, attend = block.attention_residual.norm(stream), block.attention
    q, k, v = attend.query(table[:6])[None], attend.key(inner), attend.value(inner)
    q, k, v = (part.view(1, 6, 4, 8).transpose(1, 2) for part in (q, k, v))
    heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    stream = stream + attend.output(heads.transpose(1, 2).reshape(1, 6, 32))
    stream = stream + block.feed_forward(block.feed_forward_residual.norm(stream))
    torch.testing.assert_close(model(x), stream @ model.embedding.weight.T)


# ---- T5


def test_t5_decodes_step_by_step_and_encodes_once():
    model, source, target = small("T5").double(), ids(7), ids(5)
    memory, cache = model.encode(source), model.new_cache()
    steps = [model.decode(target[:, t : t + 1], memory, cache=cache) for t in range(5)]
    torch.testing.assert_close(torch.cat(steps, dim=1), model(source, target))


def test_t5_sees_the_whole_source_and_the_past_of_the_target():
    model, source, target = small("T5").double(), ids(5, 1), ids(5, 1)
    before = model(source, target)
    for t in range(5):
        moved = target.clone()
        moved[0, t] = (moved[0, t] + 1) % 97
        changed = (model(source, moved) != before).any(dim=-1)[0]
        assert changed.tolist() == [place >= t for place in range(5)]
        moved = source.clone()
        moved[0, t] = (moved[0, t] + 1) % 97
        assert (model(moved, target) != before).any(dim=-1).all()


def test_gradients_reach_every_parameter_of_t5():
    model = small("T5").train()
    F.cross_entropy(model(ids(), ids()).flatten(0, 1), ids().flatten()).backward()
    assert [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()] == []


# ---- errors


GPT3, T5 = (shrink(MODEL_TABLE[name].built) for name in ("GPT-3", "T5"))
BAD = [
    (lambda: build("GPT-4"), ValueError, "name = 'GPT-4'"),
    (lambda: assemble(replace(GPT3, norm="BatchNorm")), ValueError, "norm = 'BatchNorm'"),
    (lambda: assemble(replace(GPT3, position="none")), ValueError, "position = 'none'"),
    (lambda: assemble(replace(GPT3, feed_forward="relu")), ValueError, "feed_forward = 'relu'"),
    (lambda: assemble(replace(GPT3, arrangement="post")), ValueError, "arrangement = 'post'"),
    (lambda: assemble(replace(GPT3, biases="some")), ValueError, "biases = 'some'"),
    (lambda: assemble(replace(GPT3, embedding="huge")), ValueError, "embedding = 'huge'"),
    (lambda: assemble(replace(GPT3, head="none")), ValueError, "head = 'none'"),
    (lambda: assemble(replace(GPT3, top="hat")), ValueError, "top = 'hat'"),
    (lambda: assemble(replace(GPT3, category="encoder")), ValueError, "category = 'encoder'"),
    (lambda: assemble(replace(GPT3, n_layers=0)), ValueError, "n_layers = 0"),
    (lambda: assemble(replace(GPT3, n_heads=0)), ValueError, "n_heads = 0"),
    (lambda: assemble(replace(T5, norm="LayerNorm")), ValueError, "norm = 'LayerNorm': an enc"),
    (lambda: assemble(replace(T5, n_kv_heads=2)), ValueError, "n_kv_heads = 2: an encoder"),
    (lambda: shrink(GPT3, n_layers=0), ValueError, "n_layers = 0"),
    (lambda: shrink(GPT3, head_dim=1), ValueError, "head_dim = 1"),
    (lambda: count_parameters(7), TypeError, "model = 7"),
    (lambda: MODEL_TABLE["T5"].source("size"), ValueError, "field = 'size'"),
    (lambda: row("T5", Source("d_fff", "a paper"), d_ff=1, vocab_size=1), ValueError, "source."),
    (lambda: row("T5", d_ff=1, vocab_size=1, differences={"L": "24"}), ValueError, "differences"),
]  # fmt: skip


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[bad[2] for bad in BAD])
def test_bad_input_is_refused_by_name_and_value(call, error, text):
    refused(call, error, text)

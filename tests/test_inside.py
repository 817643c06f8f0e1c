import pytest
import torch
from torch import nn

from pieces.inside import inside, lens, votes
from pieces.models import attention_only, bert, bloom, gpt2, llama, mixtral
from pieces.switches import parts, without

SIZES = {"vocab_size": 23, "d_model": 24, "n_layers": 2, "max_seq_len": 16}
MODELS = {
    "llama": (llama.llama, llama.LlamaConfig, {"n_heads": 4, "n_kv_heads": 2, "d_ff": 9}),
    "biased": (llama.llama, llama.LlamaConfig, {"n_heads": 3, "d_ff": 7, "bias": True}),
    "mixtral": (
        mixtral.mixtral,
        mixtral.MixtralConfig,
        {"n_heads": 2, "d_ff": 5, "n_experts": 3, "k": 2, "window": 4},
    ),
    "attention-only": (
        attention_only.attention_only,
        attention_only.AttentionOnlyConfig,
        {"n_heads": 4},
    ),
    "gpt2": (gpt2.gpt2, gpt2.GPT2Config, {"n_heads": 2, "d_ff": 11}),
}
IDS = torch.tensor([5, 3, 11, 3, 0, 22, 7])


def build(name):
    """Return a random model in float64, its weights far from those a builder starts with."""
    make, config, own = MODELS[name]
    fields = config.__dataclass_fields__
    known = {key: value for key, value in (SIZES | own).items() if key in fields}
    model = make(config(**known)).eval().double()
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for weight in model.parameters():
            draw = torch.randn(weight.shape, generator=generator, dtype=torch.float64)
            weight.copy_(1 + 0.3 * draw if weight.ndim == 1 else draw * weight.shape[-1] ** -0.5)
    return model


@pytest.fixture(params=MODELS)
def model(request):
    return build(request.param)


def logits(model, off=()):
    with torch.no_grad(), without(model, off):
        return model(IDS[None])[0]


def hooks(model):
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


def test_the_run_that_is_watched_is_the_run(model):
    values = inside(model, IDS)
    torch.testing.assert_close(values["logits"], logits(model))
    assert hooks(model) == 0


def test_parts_go_from_the_words_to_the_next_word(model):
    names = parts(model)
    assert names[0] == "positions"
    assert names[-1] == "norm"
    heads = [name for name in names if ".head." in name]
    assert len(heads) == model.config.n_layers * model.config.n_heads
    assert ("layer.2.feed_forward" in names) == hasattr(model.stack.blocks[0], "feed_forward")


def test_each_switch_changes_the_logits_and_comes_back(model):
    before = logits(model)
    for name in parts(model):
        assert (logits(model, [name]) - before).abs().max() > 1e-3, name
    assert torch.equal(logits(model), before)
    assert hooks(model) == 0


def test_a_stream_is_what_was_there_and_what_was_written(model):
    values = inside(model, IDS)
    x = values["embedding"] + values.get("positions", 0)
    torch.testing.assert_close(values["embedding.stream"], x)
    for name in [n for n in values if n.endswith((".attention", ".feed_forward"))]:
        x = x + values[name]
        torch.testing.assert_close(values[f"{name}.stream"], x)


def test_scores_give_the_weights_and_these_the_heads(model):
    values = inside(model, IDS)
    for layer, block in enumerate(model.stack.blocks, 1):
        at = {k: values[f"layer.{layer}.{k}"] for k in ("scores", "weights", "values", "heads")}
        torch.testing.assert_close(at["scores"].softmax(-1), at["weights"])
        shared = at["values"].repeat_interleave(block.attention.n_heads // at["values"].shape[1], 1)
        mixed = torch.einsum("hts,shk->thk", at["weights"], shared)
        torch.testing.assert_close(mixed, at["heads"])
        written = block.attention.output(mixed.flatten(1))
        torch.testing.assert_close(written, values[f"layer.{layer}.attention"])


def test_experts_add_up_to_what_the_mixture_writes():
    values = inside(build("mixtral"), IDS)
    mixed = (values["layer.2.shares"][..., None] * values["layer.2.visits"]).sum(1)
    torch.testing.assert_close(mixed, values["layer.2.feed_forward"])


def test_the_lens_on_the_last_stream_is_the_model(model):
    values = inside(model, IDS)
    last = [name for name in values if name.endswith(".stream")][-1]
    torch.testing.assert_close(lens(model, values[last]), values["logits"])
    off = ["norm"]
    values = inside(model, IDS, off)
    torch.testing.assert_close(lens(model, values[last], off), values["logits"])


def switched(model):
    """Return sets of parts: none, each alone, and some together."""
    together = ["layer.1.head.2", "layer.2.attention.path", "norm", "positions"]
    return [[], *([name] for name in parts(model)[::3]), together, parts(model)[2::3]]


def test_votes_add_up_to_the_logit_whatever_is_out(model):
    for off in switched(model):
        values = inside(model, IDS, off)
        at = len(off) % len(IDS)
        token = int(values["logits"][at].argmax())
        counted = votes(model, values, token, at, off)
        expected = float(values["logits"][at, token])
        assert sum(counted.values()) == pytest.approx(expected, abs=1e-9), (off, at)


def test_a_vote_is_what_the_logit_loses_under_the_same_scale():
    model = build("llama")
    values = inside(model, IDS)
    counted = votes(model, values, 4)
    last = "layer.2.feed_forward"
    x, norm = values[f"{last}.stream"][-1], model.stack.final_norm
    size = (x.square().mean() + norm.eps).sqrt()
    without_it = model.logits(((x - values[last][-1]) / size * norm.weight)[None, None])[0, 0, 4]
    assert counted[last] == pytest.approx(float(values["logits"][-1, 4] - without_it.detach()))


def test_each_switch_is_what_its_name_says():
    model = build("biased")
    attention = model.stack.blocks[0].attention
    values = inside(model, IDS, ["layer.1.attention"])
    assert not values["layer.1.attention"].any()
    assert torch.equal(values["layer.1.attention.stream"], values["embedding.stream"])
    values = inside(model, IDS, ["layer.1.attention.path"])
    assert torch.equal(values["layer.1.attention.stream"], values["layer.1.attention"])
    values = inside(model, IDS, ["layer.1.attention.path", "layer.1.attention"])
    assert not values["layer.1.attention.stream"].any()
    values = inside(model, IDS, ["layer.1.feed_forward.norm"])
    assert torch.equal(values["layer.1.feed_forward.normed"], values["layer.1.attention.stream"])
    values = inside(model, IDS, ["layer.1.head.3"])
    assert not values["layer.1.heads"][:, 2].any()
    assert values["layer.1.heads"][:, 1].any()
    values = inside(model, IDS, ["positions"])
    q = attention.query(values["layer.1.attention.normed"])
    torch.testing.assert_close(values["layer.1.queries"].flatten(1), q)
    values = inside(model, IDS, ["norm"])
    assert torch.equal(values["norm"], values["layer.2.feed_forward.stream"])


def test_an_expert_that_is_out_says_nothing_and_the_others_go_on():
    model = build("mixtral")
    before = inside(model, IDS)
    chosen, out = before["layer.1.experts"], int(before["layer.1.experts"][0, 0])
    after = inside(model, IDS, [f"layer.1.expert.{out + 1}"])
    expected = before["layer.1.shares"] * (chosen != out)
    torch.testing.assert_close(after["layer.1.shares"], expected)


def test_what_is_no_part_is_refused_by_name(model):
    with pytest.raises(ValueError, match=r"layer\.9\.head\.1.*must name parts of the model"):
        inside(model, IDS, ["layer.9.head.1"])
    with pytest.raises(ValueError, match="layer"):
        logits(model, ["layer.1.head.0"])


def test_other_models_are_refused():
    with pytest.raises((TypeError, ValueError)):
        inside(nn.Linear(2, 2), IDS)
    with pytest.raises((TypeError, ValueError)):
        parts(bert.bert(bert.BertConfig(23, 24, 1, 2, 9)))
    with pytest.raises(ValueError, match="embedding_norm"):
        inside(bloom.bloom(bloom.BloomConfig(23, 24, 1, 2, 9)), IDS)

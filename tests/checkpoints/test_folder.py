"""Folders as save_pretrained and a hub have them, old ones too, and what is wrong with others."""

import json
import re

import pytest
import torch
from safetensors.torch import load_file, save_file

import lazily
from pieces.checkpoints import FAMILIES as ALL
from pieces.checkpoints import from_folder, from_transformers
from pieces.checkpoints.names import layered, whole_table
from tiny import FAMILIES, theirs, tokens

hf = lazily.Module("transformers")


def starting(text):
    """The pattern of an error that begins with this and ends with a remedy."""
    return f"^{re.escape(text)}(?s:.*)Remedy: "


@pytest.mark.parametrize("shard", ["5GB", "2KB"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_saved_folder_is_the_same_model(family, shard, tmp_path):
    model, ids = theirs(family), tokens()
    model.save_pretrained(tmp_path, max_shard_size=shard)
    assert (len(list(tmp_path.glob("*.safetensors"))) > 1) == (shard == "2KB")
    ours = from_folder(tmp_path)
    assert not ours.training
    with torch.no_grad():
        expected = from_transformers(model)(ids)
        torch.testing.assert_close(ours(ids), expected, rtol=0, atol=0)


def test_mixtral_files_that_name_each_expert(tmp_path):
    model, ids = theirs("mixtral", 2), tokens()
    model.save_pretrained(tmp_path)
    saved = load_file(tmp_path / "model.safetensors")
    assert any("block_sparse_moe.experts.4.w2.weight" in name for name in saved)
    with torch.no_grad():
        torch.testing.assert_close(from_folder(tmp_path)(ids), from_transformers(model)(ids))


def test_gpt_neox_files_that_call_the_head_embed_out(tmp_path):
    model, ids = theirs("gpt_neox"), tokens()
    model.save_pretrained(tmp_path)
    saved = load_file(tmp_path / "model.safetensors")
    head = next(name for name in saved if name in ("lm_head.weight", "embed_out.weight"))
    saved["embed_out.weight"] = saved.pop(head)
    saved["gpt_neox.layers.0.attention.bias"] = torch.ones(1, 1, 4, 4)
    saved["gpt_neox.layers.0.attention.masked_bias"] = torch.tensor(-1e9)
    saved["gpt_neox.layers.0.attention.rotary_emb.inv_freq"] = torch.ones(2)
    save_file(saved, tmp_path / "model.safetensors")
    with torch.no_grad():
        torch.testing.assert_close(from_folder(tmp_path)(ids), from_transformers(model)(ids))


@pytest.mark.parametrize("family", ["gpt2", "bloom", "opt"])
def test_files_of_the_model_below_the_head(family, tmp_path):
    model, ids = theirs(family, 0), tokens()
    assert model.config.tie_word_embeddings
    model.save_pretrained(tmp_path)
    prefix = {"gpt2": "transformer.", "bloom": "transformer.", "opt": "model."}[family]
    saved = load_file(tmp_path / "model.safetensors")
    saved = {name.removeprefix(prefix): weight for name, weight in saved.items()}
    if family == "gpt2":
        saved["h.0.attn.bias"] = torch.ones(1, 1, 4, 4)
    assert not any(name.startswith(prefix) for name in saved)
    save_file(saved, tmp_path / "model.safetensors")
    with torch.no_grad():
        torch.testing.assert_close(from_folder(tmp_path)(ids), from_transformers(model)(ids))


@pytest.fixture
def folder(tmp_path):
    theirs("llama").save_pretrained(tmp_path)
    return tmp_path


def changed(folder, **weights):
    """The file again, with these weights; None takes one away."""
    saved = {name: w.clone() for name, w in load_file(folder / "model.safetensors").items()}
    saved |= {name.replace("__", "."): weight for name, weight in weights.items()}
    saved = {name: weight for name, weight in saved.items() if weight is not None}
    save_file(saved, folder / "model.safetensors")


def configured(folder, **options):
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | options))


def cut(folder):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:1000])


def index(folder, weight_map):
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))


BAD_FOLDERS = [
    (lambda f: (f / "config.json").unlink(), "path = "),
    (lambda f: (f / "model.safetensors").unlink(), "path = "),
    (cut, "path = "),
    (lambda f: index(f, {"model.norm.weight": "two.safetensors"}), "path = "),
    (lambda f: index(f, {"other": "model.safetensors"}), "path = ['other']"),
    (lambda f: changed(f, model__norm__weight=None), "missing = ['model.norm.weight']"),
    (lambda f: changed(f, more=torch.ones(2)), "weights = ['more']"),
    (
        lambda f: changed(f, model__layers__7__input_layernorm__weight=torch.ones(30)),
        "weights = ['model.layers.7",
    ),
    (
        lambda f: changed(f, model__norm__weight=torch.ones(3)),
        "model.norm.weight.shape = (3,): must be (42,)",
    ),
    (
        lambda f: changed(f, model__layers__0__self_attn__q_proj__weight=torch.ones(42, 48)),
        "model.layers.0.self_attn.q_proj.weight.shape = (42, 48)",
    ),
    (lambda f: configured(f, architectures=["LlamaModel"]), "architecture = 'LlamaModel'"),
    (lambda f: configured(f, architectures=None), "architecture = "),
    (lambda f: configured(f, num_hidden_layers=3), "missing = ['model.layers.2"),
    (lambda f: configured(f, num_hidden_layers=1), "weights = ["),
    (lambda f: configured(f, hidden_act="mish"), "activation = 'mish'"),
]


@pytest.mark.parametrize(("spoil", "text"), BAD_FOLDERS, ids=range(len(BAD_FOLDERS)))
def test_a_bad_folder_is_refused_by_name(spoil, text, folder):
    spoil(folder)
    with pytest.raises(ValueError, match=starting(text)):
        from_folder(folder)


# ---- which file is meant


def test_a_second_file_beside_the_one_is_not_read(folder):
    model = from_folder(folder)
    saved = load_file(folder / "model.safetensors")
    other = {name: weight + 1 for name, weight in saved.items()}
    save_file(other, folder / "model.fp16.safetensors")
    save_file(other, folder / "zzz.safetensors")
    again = from_folder(folder).state_dict()
    assert all(torch.equal(again[name], weight) for name, weight in model.state_dict().items())


def test_several_files_and_no_word_which_one_are_refused(folder):
    saved = load_file(folder / "model.safetensors")
    save_file(saved, folder / "a.safetensors")
    (folder / "model.safetensors").unlink()
    assert from_folder(folder) is not None  # one file is one file, whatever its name
    save_file(saved, folder / "b.safetensors")
    with pytest.raises(ValueError, match=starting("path = ['a.safetensors', 'b.safetensors']")):
        from_folder(folder)


def sharded(folder, tmp_path):
    theirs("llama").save_pretrained(tmp_path / "parts", max_shard_size="5KB")
    return tmp_path / "parts"


def test_an_index_says_from_which_file_a_weight_is(folder, tmp_path):
    parts = sharded(folder, tmp_path)
    listed = json.loads((parts / "model.safetensors.index.json").read_text())["weight_map"]
    other = next(
        file for file in sorted(set(listed.values())) if file != listed["model.norm.weight"]
    )
    save_file(
        load_file(parts / other) | {"model.norm.weight": torch.full((42,), 7.0)}, parts / other
    )
    expected = from_folder(folder).state_dict()
    found = from_folder(parts).state_dict()
    assert all(torch.equal(found[name], weight) for name, weight in expected.items())


def test_an_index_beside_the_whole_file_is_refused(folder, tmp_path):
    parts = sharded(folder, tmp_path)
    (parts / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    with pytest.raises(ValueError, match=starting("path = ['model.safetensors']")):
        from_folder(parts)


def test_a_weight_that_the_index_leaves_out_is_refused(folder, tmp_path):
    parts = sharded(folder, tmp_path)
    file = next(parts.glob("*.safetensors"))
    save_file(load_file(file) | {"extra": torch.ones(2)}, file)
    with pytest.raises(ValueError, match=starting("path = ['extra']")):
        from_folder(parts)


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", '{"weight_map": []}', '{"weight_map": 3}'])
def test_an_index_that_is_none_is_refused(text, folder):
    (folder / "model.safetensors.index.json").write_text(text)
    with pytest.raises(ValueError, match=starting("path = ")):
        from_folder(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"model_type": "no such thing"}'])
def test_a_config_that_is_none_is_refused(text, folder):
    (folder / "config.json").write_text(text)
    with pytest.raises(ValueError, match=starting("path = ")):
        from_folder(folder)


# ---- numbers


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_the_dtype_of_the_file_is_kept(dtype, folder):
    file = folder / "model.safetensors"
    save_file({name: weight.to(dtype) for name, weight in load_file(file).items()}, file)
    assert {p.dtype for p in from_folder(folder).parameters()} == {dtype}


@torch.no_grad()
def test_several_dtypes_become_the_widest(folder):
    file = folder / "model.safetensors"
    expected = from_folder(folder)
    halved = {n: w.half() if "norm" in n else w for n, w in load_file(file).items()}
    save_file(halved, file)
    ours, ids = from_folder(folder), tokens()
    assert {p.dtype for p in ours.parameters()} == {torch.float32}
    torch.testing.assert_close(ours(ids), expected(ids), rtol=0.01, atol=0.01)
    save_file({n: w.bfloat16() if w.dtype == torch.float32 else w for n, w in halved.items()}, file)
    assert {p.dtype for p in from_folder(folder).parameters()} == {torch.float32}


@pytest.mark.parametrize("dtype", [torch.int8, torch.float8_e4m3fn])
def test_quantised_weights_are_refused(dtype, folder):
    file = folder / "model.safetensors"
    save_file({name: weight.to(dtype) for name, weight in load_file(file).items()}, file)
    with pytest.raises(ValueError, match=starting(f"weights.dtype = [{dtype}]")):
        from_folder(folder)


# ---- names


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_names_without_the_prefix_are_the_same_weights(family, tmp_path):
    model, ids = theirs(family, 1), tokens()
    prefix = ALL[type(model).__name__].prefix
    model.save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    saved = {name.removeprefix(prefix): weight for name, weight in load_file(file).items()}
    assert prefix
    assert not any(name.startswith(prefix) for name in saved)
    save_file(saved, file)
    torch.testing.assert_close(from_folder(tmp_path)(ids), from_transformers(model)(ids))
    first = next(name for name in saved if "norm" in name or "ln_" in name)
    save_file({name: weight for name, weight in saved.items() if name != first}, file)
    with pytest.raises(ValueError, match=starting(f"missing = ['{first}']")):
        from_folder(tmp_path)


def test_one_weight_under_two_names_is_refused(folder):
    changed(folder, norm__weight=torch.ones(42))
    with pytest.raises(
        ValueError, match=r"^weights = '(model\.)?norm\.weight': is the same weight"
    ):
        from_folder(folder)


@pytest.mark.parametrize("name", ALL)
def test_what_a_family_ignores_is_none_of_its_weights(name):
    family = ALL[name]
    for other in FAMILIES:
        model = theirs(other)
        if type(model).__name__ == name:
            ours = from_transformers(model)
            table = whole_table(family, ours.config, ours.state_dict())
            assert len(table) > 0
            assert not [n for n in table for p in family.ignored if re.fullmatch(layered(p), n)]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_buffers_of_one_family_are_strangers_in_another(family, tmp_path):
    model = theirs(family)
    model.save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    saved, own = load_file(file), ALL[type(model).__name__]
    foreign = {pattern.replace("{l}", "0") for one in ALL.values() for pattern in one.ignored}
    foreign -= {pattern.replace("{l}", "0") for pattern in own.ignored}
    for name in sorted(foreign):
        save_file(saved | {name.replace("*", "x"): torch.ones(1)}, file)
        with pytest.raises(ValueError, match=starting("weights = ['")):
            from_folder(tmp_path)


@pytest.mark.parametrize("lost", ["w1", "w2", "w3"])
def test_a_missing_expert_is_named_as_the_file_would(lost, tmp_path):
    theirs("mixtral", 2).save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    saved = load_file(file)
    name = f"model.layers.1.block_sparse_moe.experts.2.{lost}.weight"
    save_file({n: w for n, w in saved.items() if n != name}, file)
    with pytest.raises(ValueError, match=starting(f"missing = ['{name}']")):
        from_folder(tmp_path)
    save_file(saved | {name: saved[name][:3].clone()}, file)
    with pytest.raises(ValueError, match=starting("model.layers.1.block_sparse_moe.experts.shape")):
        from_folder(tmp_path)


@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_a_tied_weight_may_be_saved_twice_or_under_its_other_name(family, tmp_path):
    seed = next(s for s in range(5) if theirs(family, s).config.tie_word_embeddings)
    model, ids = theirs(family, seed), tokens()
    model.save_pretrained(tmp_path)
    file, expected = tmp_path / "model.safetensors", from_transformers(model)(ids)
    saved = load_file(file)
    weight = model.lm_head.weight.detach()
    same = [n for n, w in model.state_dict().items() if torch.equal(w, weight)]
    (table,) = set(same) - {"lm_head.weight"}
    rest = {n: w for n, w in saved.items() if n not in (table, "lm_head.weight")}
    for names in ([table], ["lm_head.weight"], [table, "lm_head.weight"]):
        save_file(rest | {name: weight.clone() for name in names}, file)
        torch.testing.assert_close(from_folder(tmp_path)(ids), expected)
    save_file(rest | {table: weight.clone(), "lm_head.weight": weight + 1}, file)
    with pytest.raises(ValueError, match=starting("lm_head.weight = 'a weight of its own'")):
        from_folder(tmp_path)


# ---- the encoders of the hub


def encoder(folder, **changes):
    """A BERT's folder, as it is saved today."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 37, "hidden_size": 12, "num_attention_heads": 3, "num_hidden_layers": 2}
    config = hf.BertConfig(**sizes, intermediate_size=17, max_position_embeddings=30, **changes)
    model = hf.BertForPreTraining(config).eval()
    model.bert.save_pretrained(folder)
    return model, folder / "model.safetensors"


@torch.no_grad()
def test_an_encoder_file_with_positions_old_names_and_other_heads(tmp_path):
    model, file = encoder(tmp_path)
    ids, bert = tokens(2, 9), model.bert
    whole = {n: w.clone() for n, w in model.state_dict().items() if "decoder" not in n}
    was = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    old = {re.sub("|".join(was), lambda m: was[m[0]], n): w for n, w in whole.items()}
    bare = {n.removeprefix("bert."): w for n, w in old.items() if n.startswith("bert.")}
    positions = {"embeddings.position_ids": torch.arange(30)[None]}
    prefixed = old | {"bert." + n: w for n, w in positions.items()}
    assert "embeddings.LayerNorm.gamma" in bare
    for saved in (bare | positions, prefixed):
        save_file(saved, file)
        ours = from_folder(tmp_path)
        torch.testing.assert_close(ours(ids), bert(ids)[0], rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(ours.pooled(ours(ids)), bert(ids)[1], rtol=1e-5, atol=1e-5)
        lost = next(name for name in saved if name.endswith("output.dense.weight"))
        save_file({name: weight for name, weight in saved.items() if name != lost}, file)
        with pytest.raises(ValueError, match=starting(f"missing = ['{lost}']")):
            from_folder(tmp_path)
        save_file(saved | {"classifier.weight": torch.ones(2)}, file)
        with pytest.raises(ValueError, match=starting("weights = ['classifier.weight']")):
            from_folder(tmp_path)


@torch.no_grad()
def test_an_encoder_without_a_pooler(tmp_path):
    model, file = encoder(tmp_path)
    saved = {n: w for n, w in load_file(file).items() if "pooler" not in n}
    save_file(saved, file)
    ours, ids = from_folder(tmp_path), tokens(2, 9)
    torch.testing.assert_close(ours(ids), model.bert(ids)[0], rtol=1e-5, atol=1e-5)
    assert not ours.config.pooler
    with pytest.raises(ValueError, match="pooler = None"):
        ours.pooled(ours(ids))
    save_file(saved | {"pooler.dense.bias": torch.zeros(12)}, file)
    with pytest.raises(ValueError, match=starting("missing = ['pooler.dense.weight']")):
        from_folder(tmp_path)


@torch.no_grad()
def test_a_file_of_pretraining_serves_both_when_asked(tmp_path):
    model, _ = encoder(tmp_path)
    model.save_pretrained(tmp_path)
    ids = tokens(2, 9)
    with pytest.raises(ValueError, match="architecture = 'BertForPreTraining'"):
        from_folder(tmp_path)
    masked = from_folder(tmp_path, architecture="BertForMaskedLM")
    torch.testing.assert_close(masked(ids), model(ids)[0], rtol=1e-5, atol=1e-5)
    plain = from_folder(tmp_path, architecture="BertModel")
    torch.testing.assert_close(plain(ids), model.bert(ids)[0], rtol=1e-5, atol=1e-5)


def test_positions_of_another_kind_are_refused(tmp_path):
    encoder(tmp_path)
    configured(tmp_path, position_embedding_type="relative_key")
    with pytest.raises(
        ValueError, match=starting("config.position_embedding_type = 'relative_key'")
    ):
        from_folder(tmp_path)


@torch.no_grad()
def test_files_of_t5_with_what_is_ignored_and_its_table_by_any_name(tmp_path):
    torch.manual_seed(0)
    sizes = {"vocab_size": 37, "d_model": 12, "d_kv": 4, "d_ff": 17, "num_heads": 3}
    model = hf.T5ForConditionalGeneration(hf.T5Config(**sizes, num_layers=2)).eval()
    model.save_pretrained(tmp_path)
    file, ids = tmp_path / "model.safetensors", tokens(2, 5)
    expected = model(input_ids=ids, decoder_input_ids=ids).logits
    saved = load_file(file)
    table, key = saved.pop("shared.weight"), "EncDecAttention.relative_attention_bias.weight"
    saved[f"decoder.block.0.layer.1.{key}"] = torch.ones(32, 3)
    copies = ("shared", "encoder.embed_tokens", "decoder.embed_tokens", "lm_head")
    for names in [copies, *([name] for name in copies)]:
        save_file(saved | {f"{name}.weight": table.clone() for name in names}, file)
        torch.testing.assert_close(from_folder(tmp_path)(ids, ids), expected, rtol=1e-5, atol=1e-5)
    save_file(saved | {"shared.weight": table, f"decoder.block.1.layer.1.{key}": table + 0}, file)
    with pytest.raises(ValueError, match=starting("weights = ['decoder.block.1.layer.1.EncDec")):
        from_folder(tmp_path)

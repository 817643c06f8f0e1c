import dataclasses

import pytest
import torch
from torch import nn

from pieces import masks
from pieces.blocks import Stack
from pieces.cache import RollingCache
from pieces.embeddings import TokenEmbedding
from pieces.models.encoder_decoder import (
    PRESETS,
    Caches,
    EncoderDecoder,
    EncoderDecoderConfig,
    encoder_decoder,
)

SMALL = EncoderDecoderConfig(17, 24, 2, 3, 20, dropout=0.0)


@pytest.fixture
def model(device):
    return encoder_decoder(SMALL).eval().to(device)


def ids(B, T):
    return torch.randint(0, 17, (B, T))


def copy_block(ours, theirs, cross):
    """Weights of a torch layer into a block of ours."""
    pairs = [(ours.attention, theirs.self_attn)]
    pairs += [(ours.cross_attention, theirs.multihead_attn)] if cross else []
    for own, other in pairs:
        chunks = zip(other.in_proj_weight.chunk(3), other.in_proj_bias.chunk(3), strict=True)
        layers = (own.query, own.key, own.value)
        for layer, (weight, bias) in zip(layers, chunks, strict=True):
            layer.weight.data, layer.bias.data = weight.data.clone(), bias.data.clone()
        own.output.load_state_dict(other.out_proj.state_dict())
    ours.feed_forward.up.load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward.down.load_state_dict(theirs.linear2.state_dict())
    kinds = ["attention", *(["cross"] if cross else []), "feed_forward"]
    for number, kind in enumerate(kinds, start=1):
        norm = getattr(ours, kind + "_residual").norm
        norm.load_state_dict(getattr(theirs, f"norm{number}").state_dict())


@torch.no_grad()
def test_it_is_torchs_transformer(device):
    """nn.Transformer has one norm more behind each part, which is not in the paper: taken away."""
    theirs = nn.Transformer(24, 3, 2, 2, 20, 0.0, batch_first=True).eval()
    theirs.encoder.norm = theirs.decoder.norm = None
    ours = encoder_decoder(SMALL).eval()
    for own, other in zip(ours.encoder.blocks, theirs.encoder.layers, strict=True):
        copy_block(own, other, cross=False)
    for own, other in zip(ours.decoder.blocks, theirs.decoder.layers, strict=True):
        copy_block(own, other, cross=True)
    source, target = ids(3, 11), ids(3, 7)
    real = masks.padding([11, 4, 6], 11)

    def embedded(tokens):
        positions = torch.arange(tokens.shape[1])
        return ours.encoder_position.add(ours.embedding(tokens), positions)

    expected = theirs(
        embedded(source),
        embedded(target),
        tgt_mask=~masks.causal(7),
        src_key_padding_mask=~real[:, 0, 0],
        memory_key_padding_mask=~real[:, 0, 0],
    )
    ours.to(device)
    memory = ours.encode(source.to(device), mask=real.to(device))
    hidden = ours.decode_hidden(target.to(device), memory, source_mask=real.to(device))
    assert torch.allclose(hidden.cpu(), expected, atol=2e-6)
    logits = ours.decode(target.to(device), memory, source_mask=real.to(device))
    table = ours.embedding.weight.cpu()
    assert torch.allclose(logits.cpu(), expected @ table.T, atol=1e-5)


@torch.no_grad()
def test_forward_is_encode_and_decode(model, device):
    source, target = ids(2, 5).to(device), ids(2, 4).to(device)
    assert torch.equal(model(source, target), model.decode(target, model.encode(source)))


@pytest.mark.parametrize("sizes", [[1] * 9, [4, 1, 4], [1, 8]], ids=str)
@torch.no_grad()
def test_a_cache_changes_nothing(model, device, sizes):
    source, target = ids(2, 6).to(device), ids(2, 9).to(device)
    expected, cache, start, parts = model(source, target), model.new_cache(), 0, []
    memory = model.encode(source)
    for size in sizes:
        parts.append(model.decode(target[:, start : start + size], memory, cache=cache))
        start += size
    assert torch.allclose(torch.cat(parts, 1), expected, atol=1e-5)
    assert cache.length() == 9


@torch.no_grad()
def test_the_decoder_does_not_look_ahead(model, device):
    source, target = ids(1, 5).to(device), ids(1, 8).to(device)
    before = model(source, target)
    for t in range(1, 8):
        changed = target.clone()
        changed[:, t:] = (changed[:, t:] + 1) % 17
        after = model(source, changed)
        assert torch.equal(after[:, :t], before[:, :t])
        assert not torch.allclose(after[:, t:], before[:, t:])


@torch.no_grad()
def test_hidden_source_tokens_have_no_influence(model, device):
    source, target = ids(1, 6).to(device), ids(1, 4).to(device)
    real = masks.padding([4], 6).to(device)
    other = source.clone()
    other[:, 4:] = (other[:, 4:] + 3) % 17
    first, second = (model(x, target, source_mask=real) for x in (source, other))
    assert torch.equal(first, second)
    assert not torch.allclose(model(source, target), model(other, target))
    short = model(source[:, :4], target)
    assert torch.allclose(first, short, atol=1e-6)


def test_one_table_serves_three_places(model):
    names = [name for name, _ in model.named_parameters() if name.endswith("embedding.weight")]
    assert names == ["embedding.weight"]
    assert model.head is None
    assert model.target_embedding is None


@torch.no_grad()
def test_tables_may_differ(device):
    own = encoder_decoder(SMALL)
    model = EncoderDecoder(
        TokenEmbedding(9, 24),
        own.encoder,
        own.decoder,
        target_embedding=TokenEmbedding(5, 24),
        head=nn.Linear(24, 7),
    ).to(device)
    logits = model(torch.tensor([[8, 0]]).to(device), torch.tensor([[4]]).to(device))
    assert logits.shape == (1, 1, 7)


def test_state_survives(model, device, tmp_path):
    torch.save(model.state_dict(), tmp_path / "weights.pt")
    again = encoder_decoder(SMALL).eval().to(device)
    again.load_state_dict(torch.load(tmp_path / "weights.pt"))
    source, target = ids(1, 3).to(device), ids(1, 3).to(device)
    with torch.no_grad():
        assert torch.equal(again(source, target), model(source, target))


def test_it_trains(model, device):
    model.train()
    source, target = ids(2, 5).to(device), ids(2, 5).to(device)
    model(source, target).logsumexp(-1).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


@pytest.mark.usefixtures("unchecked")
def test_compile_and_export():
    torch.compiler.reset()
    model = encoder_decoder(SMALL).eval()
    source, target = ids(2, 5), ids(2, 4)
    expected = model(source, target)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    assert torch.allclose(compiled(source, target), expected, atol=1e-6)
    program = torch.export.export(model, (source, target))
    assert torch.allclose(program.module()(source, target), expected, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@torch.no_grad()
def test_low_precision_stays_finite(dtype, device):
    model = encoder_decoder(SMALL).eval().to(device, dtype)
    logits = model(ids(2, 5).to(device), ids(2, 4).to(device))
    assert logits.dtype == dtype
    assert logits.isfinite().all()


@pytest.mark.parametrize(("name", "millions"), [("base", 63), ("big", 214)])
def test_presets_are_of_the_published_size(name, millions):
    """Table 3 of the paper says 65 and 213, rounded and with another vocabulary."""
    with torch.device("meta"):
        model = encoder_decoder(PRESETS[name])
    count = sum(p.numel() for p in model.parameters()) / 1e6
    assert round(count) == millions


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"vocab_size": 0}, ValueError, "vocab_size = 0"),
        ({"d_model": 25}, ValueError, "n_heads = 3"),
        ({"d_model": 24.0}, TypeError, "d_model = 24.0"),
        ({"n_layers": 0}, ValueError, "n_layers = 0"),
        ({"n_heads": 0}, ValueError, "n_heads = 0"),
        ({"d_ff": -1}, ValueError, "d_ff = -1"),
        ({"norm_eps": 0.0}, ValueError, "norm_eps = 0.0"),
        ({"dropout": 1.5}, ValueError, "dropout = 1.5"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_wrong_sizes_are_refused(change, error, words):
    with pytest.raises(error, match=words):
        encoder_decoder(dataclasses.replace(SMALL, **change))


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("embedding", 5),
        ("encoder", None),
        ("decoder", "stack"),
        ("target_embedding", 3),
        ("head", 4),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_parts_must_be_modules(argument, value):
    parts = {"embedding": TokenEmbedding(5, 4), "encoder": Stack([nn.Identity()])}
    parts |= {"decoder": Stack([nn.Identity()]), argument: value}
    with pytest.raises(TypeError, match=argument):
        EncoderDecoder(**parts)


@pytest.mark.usefixtures("unchecked")
def test_wrong_inputs_are_refused(model):
    model.cpu()  # a GPU reports no index beyond the table
    good = ids(2, 4)
    for source, target, error, words in [
        (good.float(), good, TypeError, "ids.dtype"),
        (good, good[0], ValueError, "ids.shape"),
        (good + 17, good, ValueError, "ids"),
        (good.to("meta"), good, ValueError, r"ids\.device = 'meta': must be cpu"),
        (good, good[:1], ValueError, "shape"),
    ]:
        with pytest.raises(error, match=words):
            model(source, target)
    with pytest.raises(TypeError, match=r"mask\.dtype"):
        model(good, good, source_mask=torch.ones(2, 1, 1, 4))
    with pytest.raises(ValueError, match="logit_scale = 0"):
        EncoderDecoder(TokenEmbedding(5, 4), model.encoder, model.decoder, logit_scale=0)


@pytest.mark.usefixtures("unchecked")
def test_empty_texts_and_masks_that_could_be_padding_are_refused(model, device):
    good = ids(4, 4).to(device)
    square = torch.ones(4, 4, dtype=torch.bool, device=device)
    memory, cache = model.encode(good), model.new_cache()
    for call, error, words in [
        (lambda: model(good[:0], good[:0]), ValueError, r"target_ids\.shape = \(0, 4\)"),
        (lambda: model(good[:, :0], good), ValueError, r"source_ids\.shape = \(4, 0\)"),
        (lambda: model(good, good[:, :0]), ValueError, r"target_ids\.shape = \(4, 0\)"),
        (lambda: model(good, good, source_mask=square), ValueError, r"source_mask\.shape"),
        (lambda: model.encode(good, mask=square), ValueError, "look alike"),
        (lambda: model.decode(good, memory, mask=square), ValueError, "look alike"),
        (lambda: model.decode(good, memory, cache=cache.own), TypeError, "cache = "),
    ]:
        with pytest.raises(error, match=words):
            call()


@pytest.mark.usefixtures("unchecked")
@torch.no_grad()
def test_a_cache_fits_its_source_and_the_layers(model, device):
    source, target, cache = ids(2, 6).to(device), ids(2, 5).to(device), model.new_cache()
    memory = model.encode(source)
    model.decode(target[:, :2], memory, cache=cache)
    with pytest.raises(ValueError, match="a source of 6 tokens"):
        model.decode(target[:, 2:], memory[:, :5], cache=cache)
    handle = model.decoder.blocks[1].register_forward_pre_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.decode(target[:, 2:], memory, cache=cache)
    handle.remove()
    rest = model.decode(target[:, 2:], memory, cache=cache)
    assert torch.allclose(rest, model(source, target)[:, 2:], atol=1e-5)
    with pytest.raises(ValueError, match="looks back at all keys"):
        model.decode(target, memory, cache=Caches(own=RollingCache(3)))

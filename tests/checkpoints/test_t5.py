"""T5 against transformers: encoder, decoder, cached, in chunks, generated."""

import pytest
import torch

import lazily
from pieces import masks
from pieces.beam_search import beam_search
from pieces.checkpoints import from_folder, from_transformers
from pieces.generate import generate
from tiny import their_t5 as theirs

hf = lazily.Module("transformers")

SEEDS = range(4)


def assert_close(ours, expected):
    assert ours.shape == expected.shape
    assert ((ours - expected).abs().max() / expected.abs().max().clamp(min=1)).item() <= 1e-5


def tokens(B, T):
    return torch.randint(2, 37, (B, T))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("side", ["left", "right"])
@torch.no_grad()
def test_logits_are_equal(seed, side, device):
    """41 tokens lie beyond every bucket limit."""
    model = theirs(seed)
    ours = from_transformers(model).to(device)
    for S, T in [(13, 9), (41, 35), (1, 1)]:
        source, target = tokens(3, S), tokens(3, T)
        real = masks.padding([S, (S + 1) // 2, 1], S, side)
        options = {"attention_mask": real[:, 0, 0].long(), "decoder_input_ids": target}
        expected = model(input_ids=source, **options)
        found = ours(source.to(device), target.to(device), source_mask=real.to(device))
        assert_close(found.cpu(), expected.logits)
        memory = ours.encode(source.to(device), mask=real.to(device)).cpu()
        seen = real[:, 0, 0]
        assert_close(memory[seen], expected.encoder_last_hidden_state[seen])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("sizes", [[1] * 15, [6, 1, 8], [1, 14]], ids=str)
@torch.no_grad()
def test_cached_logits_are_equal(seed, sizes):
    model = theirs(seed)
    ours, source, target = from_transformers(model), tokens(2, 7), tokens(2, 15)
    expected = model(input_ids=source, decoder_input_ids=target).logits
    memory, cache, start, parts = ours.encode(source), ours.new_cache(), 0, []
    for size in sizes:
        parts.append(ours.decode(target[:, start : start + size], memory, cache=cache))
        start += size
    assert_close(torch.cat(parts, dim=1), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_greedy_generation_is_equal(seed):
    model = theirs(seed)
    ours, source = from_transformers(model), tokens(3, 8)
    real = masks.padding([8, 5, 2], 8)[:, 0, 0]
    expected = model.generate(source, attention_mask=real.long(), max_new_tokens=9, do_sample=False)
    for use_cache in (True, False):
        options = {"mask": real, "start_id": 0, "eos_id": 1, "use_cache": use_cache}
        assert generate(ours, source, 9, **options).tolist() == expected.tolist()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("n_beams", "penalty"), [(1, 1.0), (3, 1.0), (4, 0.6), (2, 0.0)])
def test_beam_search_is_equal(seed, n_beams, penalty):
    model = theirs(seed)
    ours, source = from_transformers(model), tokens(3, 8)
    real = masks.padding([8, 5, 2], 8)[:, 0, 0]
    found = model.generate(
        source, attention_mask=real.long(), max_new_tokens=9, do_sample=False, num_beams=n_beams,
        length_penalty=penalty, return_dict_in_generate=True, output_scores=True,
    )  # fmt: skip
    options = {"start_id": 0, "eos_id": 1, "n_beams": n_beams, "length_penalty": penalty}
    targets, scores = beam_search(ours, source, 9, mask=real, **options)
    assert targets.tolist() == found.sequences.tolist()
    if n_beams > 1:  # greedy search of theirs gives no score
        assert torch.allclose(scores, found.sequences_scores, atol=1e-4)


@torch.no_grad()
def test_v1_1_has_a_head_of_its_own(tmp_path):
    """Transformers ties it in memory; the files of v1.1 hold another weight."""
    from safetensors.torch import load_file, save_file

    model = theirs(1)
    model.save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    state = load_file(file) | {"lm_head.weight": torch.randn(37, model.config.d_model)}
    save_file(state, file, metadata={"format": "pt"})
    ours, source, target = from_folder(tmp_path), tokens(1, 5), tokens(1, 4)
    hidden = model(input_ids=source, decoder_input_ids=target, output_hidden_states=True)
    expected = hidden.decoder_hidden_states[-1] @ state["lm_head.weight"].T
    assert_close(ours(source, target), expected)


def test_an_unknown_network_is_refused():
    with pytest.raises(ValueError, match=r"feed_forward_proj = 'silu'.*gated-gelu"):
        from_transformers(theirs(0, feed_forward_proj="silu"))


def test_a_missing_weight_is_refused_by_name():
    model = theirs(0)
    del model.encoder.final_layer_norm.weight
    model.encoder.final_layer_norm.weight = None
    with pytest.raises(ValueError, match=r"missing = .'encoder\.final_layer_norm\.weight'"):
        from_transformers(model)

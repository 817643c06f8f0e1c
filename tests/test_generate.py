import copy
import functools
import pickle

import pytest
import torch

import lazily
from pieces import masks
from pieces.cache import GrowingCache, PagedCache, RollingCache
from pieces.checkpoints import from_transformers
from pieces.generate import generate
from pieces.models.encoder_decoder import EncoderDecoderConfig, encoder_decoder
from pieces.models.gpt2 import GPT2Config, gpt2
from pieces.models.llama import LlamaConfig, llama
from pieces.models.mistral import MistralConfig, mistral

hf = lazily.Module("transformers")

VOCAB = 19


@functools.cache
def on_cpu(kind):
    torch.manual_seed(1)
    sizes = (VOCAB, 24, 2, 3, 20)
    models = {
        "gpt2": lambda: gpt2(GPT2Config(*sizes)),
        "llama": lambda: llama(LlamaConfig(*sizes)),
        "mistral": lambda: mistral(MistralConfig(*sizes, window=4)),
        "encoder_decoder": lambda: encoder_decoder(EncoderDecoderConfig(VOCAB, 24, 2, 3, 20)),
    }
    model = models[kind]().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


@pytest.fixture
def built(device):
    """A small model by its kind, where the tests run."""
    return lambda kind: copy.deepcopy(on_cpu(kind)).to(device)


@pytest.fixture
def prompt(device):
    """Token ids without the 0 of padding, where the tests run."""
    return lambda B=2, T=5: torch.randint(1, VOCAB, (B, T)).to(device)


def one_by_one(model, ids, n):
    """What generation means: the whole text again for every token."""
    with torch.no_grad():
        for _ in range(n):
            ids = torch.cat((ids, model(ids)[:, -1:].argmax(-1)), dim=1)
    return ids


@pytest.mark.parametrize("kind", ["gpt2", "llama", "mistral"])
@pytest.mark.parametrize("use_cache", [True, False])
def test_greedy_is_the_likeliest_token_each_time(kind, use_cache, built, prompt):
    model, ids = built(kind), prompt()
    found = generate(model, ids, 12, use_cache=use_cache)
    assert torch.equal(found, one_by_one(model, ids, 12))


@pytest.mark.parametrize("kind", ["gpt2", "llama", "mistral"])
@pytest.mark.parametrize("use_cache", [True, False])
def test_padding_on_the_left_changes_nothing(kind, use_cache, device, built, prompt):
    model, lengths = built(kind), [7, 3, 1]
    texts = [prompt(1, n) for n in lengths]
    real = masks.padding(lengths, 7, "left", device=device)[:, 0, 0]
    ids = torch.zeros(3, 7, dtype=torch.long, device=device)
    for row, text in zip(ids, texts, strict=True):
        row[7 - text.shape[1] :] = text[0]
    found = generate(model, ids, 9, mask=real, use_cache=use_cache)
    for row, text in zip(found, texts, strict=True):
        assert torch.equal(row[7:], generate(model, text, 9)[0, text.shape[1] :])


def test_other_caches_give_the_same(device, built, prompt):
    ids = prompt(2, 9)
    expected = generate(built("mistral"), ids, 10, use_cache=False)
    assert torch.equal(generate(built("mistral"), ids, 10, cache=RollingCache(4)), expected)
    pool = PagedCache(2, 20, 4, 3, 8, device=device)
    batch = pool.batch([pool.add(), pool.add()])
    assert torch.equal(generate(built("mistral"), ids, 10, cache=batch), expected)


def test_a_cache_may_hold_the_beginning(built, prompt):
    model, ids, cache = built("llama"), prompt(1, 8), GrowingCache()
    with torch.no_grad():
        model(ids[:, :5], cache=cache)
    assert torch.equal(generate(model, ids, 6, cache=cache), generate(model, ids, 6))
    with pytest.raises(ValueError, match="already holds"):
        generate(model, ids, 6, cache=cache)


@pytest.mark.parametrize("use_cache", [True, False])
def test_an_encoder_decoder_translates(use_cache, device, built, prompt):
    model, source = built("encoder_decoder"), prompt(3, 6)
    target = torch.full((3, 1), 2, device=device)
    with torch.no_grad():
        for _ in range(8):
            target = torch.cat((target, model(source, target)[:, -1:].argmax(-1)), dim=1)
    assert torch.equal(generate(model, source, 8, start_id=2, use_cache=use_cache), target)


def test_it_is_transformers_generate(device, prompt):
    config = hf.LlamaConfig(
        vocab_size=VOCAB, hidden_size=24, num_attention_heads=6, num_key_value_heads=2,
        intermediate_size=20, num_hidden_layers=2, eos_token_id=3, pad_token_id=0,
    )  # fmt: skip
    model = hf.LlamaForCausalLM(config).eval().to(device)
    ours, ids = from_transformers(model), prompt(4, 6)
    real = masks.padding([6, 4, 2, 1], 6, "left", device=device)[:, 0, 0]
    expected = model.generate(ids, attention_mask=real.long(), max_new_tokens=15, do_sample=False)
    found = generate(ours, ids, 15, mask=real, eos_id=3, pad_id=0)
    assert found.tolist() == expected.tolist()


def test_after_the_end_comes_padding(built, prompt):
    model, ids = built("gpt2"), prompt(6, 3)
    free = generate(model, ids, 20)
    eos = int(free[0, 8])
    found = generate(model, ids, 20, eos_id=eos, pad_id=0)
    longest = 0
    for row, other in zip(found[:, 3:].tolist(), free[:, 3:].tolist(), strict=True):
        end = other.index(eos) + 1 if eos in other else len(other)
        longest = max(longest, end)
        assert row[:end] == other[:end]
        assert set(row[end:]) <= {0}
    assert found.shape[1] == 3 + longest


def test_a_seed_repeats_the_draw_and_a_lone_choice_is_greedy(built, prompt):
    model, ids = built("gpt2"), prompt()

    def draw(seed, **options):
        generator = torch.Generator().manual_seed(seed)
        return generate(model, ids, 12, temperature=1.5, generator=generator, **options)

    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))
    greedy = generate(model, ids, 12)
    assert torch.equal(draw(1, top_k=1), greedy)
    assert torch.equal(draw(1, top_p=1e-9), greedy)


def test_nothing_new_is_the_prompt_and_no_graph_is_kept(built, prompt):
    model, ids = built("gpt2"), prompt()
    assert torch.equal(generate(model, ids, 0), ids)
    assert not model(ids).isinf().any()
    assert model.training is False


@pytest.mark.parametrize("new", [1, 2, 3, 4, 5, 6])
def test_what_is_found_can_be_trained_on_and_its_cache_continued(new, built, prompt):
    model, ids, cache = built("llama"), prompt(2, 5), GrowingCache()
    found = generate(model, ids, new, cache=cache)
    assert not found.is_inference()
    model(found).logsumexp(-1).sum().backward()
    model.zero_grad(set_to_none=True)
    with torch.no_grad():
        last = model(found[:, -1:], cache=cache)
        torch.testing.assert_close(last, model(found)[:, -1:], rtol=1e-4, atol=1e-4)


def test_a_cache_that_drops_what_a_layer_sees_is_refused(built, prompt):
    with pytest.raises(ValueError, match=r"a layer looks back at all keys.*Remedy"):
        generate(built("llama"), prompt(), 9, cache=RollingCache(4))
    with pytest.raises(ValueError, match="the last 4 keys"):
        generate(built("mistral"), prompt(), 9, cache=RollingCache(3))
    ids = prompt(2, 9)
    expected = generate(built("mistral"), ids, 9, use_cache=False)
    assert torch.equal(generate(built("mistral"), ids, 9, cache=RollingCache(6)), expected)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"input_ids": torch.zeros(2, 3)}, TypeError, r"input_ids\.dtype"),
        ({"input_ids": torch.zeros(3, dtype=torch.long)}, ValueError, r"input_ids\.shape"),
        ({"input_ids": torch.zeros(2, 0, dtype=torch.long)}, ValueError, r"input_ids\.shape"),
        ({"input_ids": torch.zeros(0, 3, dtype=torch.long)}, ValueError, r"input_ids\.shape"),
        ({"max_new_tokens": -1}, ValueError, "max_new_tokens = -1"),
        ({"max_new_tokens": 2.0}, TypeError, "max_new_tokens"),
        ({"mask": torch.ones(2, 5)}, TypeError, "mask.dtype"),
        ({"mask": torch.ones(2, 4, dtype=torch.bool)}, ValueError, "mask"),
        ({"mask": masks.padding([5, 3], 5)[:, 0, 0]}, ValueError, "padded on the left"),
        ({"temperature": -1.0}, ValueError, "temperature = -1.0"),
        ({"temperature": 1.0, "top_k": 0}, ValueError, "k = 0"),
        ({"temperature": 1.0, "top_p": 1.5}, ValueError, "p = 1.5"),
        ({"temperature": 1.0, "top_p": 0.0}, ValueError, "p = 0.0"),
        ({"start_id": 3}, ValueError, "start_id = 3: .*leave it out"),
    ],
)
def test_bad_requests_are_refused(change, error, words, built, prompt):
    request = {"input_ids": prompt(), "max_new_tokens": 3} | change
    with pytest.raises(error, match=words):
        generate(built("gpt2"), **request)


def test_an_encoder_decoder_needs_a_start(built, prompt):
    with pytest.raises(ValueError, match="start_id = None"):
        generate(built("encoder_decoder"), prompt(), 3)


def held(model, ids):
    cache = GrowingCache()
    with torch.no_grad():
        model(ids, cache=cache)
    return cache


def test_a_cache_of_another_text_is_refused(built, prompt):
    model, ids = built("llama"), prompt(2, 5)
    for other in (ids.roll(1, dims=1), ids.flip(0)):
        with pytest.raises(ValueError, match=r"^cache = .*holds 4 tokens.*do not begin.*Remedy: "):
            generate(model, other, 3, cache=held(model, ids[:, :4]))


def test_a_cache_of_another_model_is_refused(built, prompt):
    model, ids = built("llama"), prompt(2, 5)
    with pytest.raises(ValueError, match=r"^cache = .*another model.*Remedy: start a new one"):
        generate(copy.deepcopy(model), ids, 3, cache=held(model, ids[:, :4]))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copied_cache_goes_on_by_itself(duplicate, built, prompt):
    model, ids = built("llama"), prompt(2, 5)
    first = held(model, ids[:, :4])
    second = duplicate(first)
    expected = generate(model, ids, 3)
    assert torch.equal(generate(model, ids, 3, cache=first), expected)
    assert second.length() == 4
    assert torch.equal(generate(model, ids, 3, cache=second), expected)


def test_where_tokens_came_another_way_nothing_is_known_and_nothing_refused(built, prompt):
    model, ids = built("llama"), prompt(2, 5)
    cache = held(model, ids[:, :4])
    cache.select(torch.tensor([1, 0]))
    expected = generate(model, ids.flip(0), 3)
    assert torch.equal(generate(model, ids.flip(0), 3, cache=cache), expected)
    cache = held(model, ids[:, :4])
    mark = cache.mark()
    with torch.no_grad():
        model(ids[:, :1], cache=cache)
    cache.rewind(mark)
    assert torch.equal(generate(model, ids, 3, cache=cache), generate(model, ids, 3))

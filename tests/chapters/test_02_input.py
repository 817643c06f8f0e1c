"""Chapter 2: what it says of the input is so, and its questions' answers are computed."""

import functools
import math

import pytest
import torch
import torch.nn.functional as F
from cells import run
from prose import says

from pieces.book.figures import input as figures
from pieces.byte_pairs import cut_into_pieces, learn_merges, spaced_words, utf8_bytes
from pieces.embeddings import TokenEmbedding
from pieces.models.gpt2 import PRESETS, gpt2
from pieces.positions import Sinusoidal
from pieces.trained import load
from pieces.widgets.embedding_map import nearest

NAME = "02_input"


@functools.cache
def chapter() -> dict:
    """What the chapter's open cells define."""
    return run(NAME)


@pytest.fixture
def shown():
    return chapter()


def cosines() -> dict[str, torch.Tensor]:
    """With 爱, by verb: [seeds, steps]."""
    return chapter()["close"]


def new_words() -> float:
    """The percentage of the words of the book's last tenth that did not occur before."""
    text, other = figures.halves(0.9)
    known, words = set(spaced_words(text)), spaced_words(other)
    return 100 * sum(word not in known for word in words) / len(words)


def changed_rows() -> int:
    """Exercise 2.1, by gradient descent."""
    layer = TokenEmbedding(1000, 64)
    before = layer.weight.detach().clone()
    (layer(torch.tensor([[3, 5, 8, 3, 13, 21]])) * torch.randn(6, 64)).sum().backward()
    torch.optim.SGD(layer.parameters(), lr=0.1).step()
    return int((layer.weight != before).any(dim=1).sum())


def merges_of_banana() -> int:
    """Exercise 2.2: until the word is one piece."""
    text = "banana banana banana bandana bandana"
    learnt = learn_merges(text, 40)
    done = (n for n in range(41) if len(cut_into_pieces("banana", learnt[:n])[0]) == 1)
    return next(done)


def unreadable() -> int:
    """Exercise 2.3, the bug: what the loop prints."""
    tokens = utf8_bytes("我爱你")
    return "".join(token.decode("utf-8", errors="replace") for token in tokens).count("\ufffd")


def table_share() -> float:
    """Exercise 2.5, with the smallest GPT-2 on no device."""
    with torch.device("meta"):
        model = gpt2(PRESETS["gpt2"])
    total = sum(weight.numel() for weight in model.parameters())
    assert round(total / 1e6, 1) == 124.4
    return 100 * model.embedding.weight.numel() / total


ANSWERS = {
    "2.a": lambda: round(cosines()["喜欢"][:, -1].mean().item(), 2),
    "2.1": changed_rows,
    "2.2": merges_of_banana,
    "2.3": unreadable,
    "2.5": lambda: round(table_share()),
}


def test_a_product_with_one_hot_rows_is_a_look_up(shown):
    W, ids = shown["W"].detach(), shown["ids"]
    assert torch.equal(F.one_hot(ids, 8).float() @ W, W[ids])
    words = ["Lily", "Tom", "ball", "cat", "dog", "found", "red", "the"]
    assert [words[n] for n in ids] == ["the", "dog", "found", "the", "red", "ball"]


def test_what_the_product_would_cost():
    assert round(1024 * 50_257 * 768 / 1e9) == 40
    says(NAME, "Forty billion multiplications for one text in GPT-2")
    assert "39.5 billion" in str(figures.costs())


def test_only_picked_rows_get_a_gradient_and_twice_read_ones_get_both(shown):
    grad = shown["W"].grad
    assert (grad.norm(dim=1) == 0).tolist() == [True, True, False, True, False, False, False, False]
    torch.testing.assert_close(grad[7], 4 * shown["W"][7].detach())


def test_what_pieces_do_to_the_books_prose():
    text, other = figures.halves(0.9)
    learnt, words = learn_merges(text, 300), spaced_words(other)
    per_word = lambda n: sum(map(len, cut_into_pieces(other, learnt[:n]))) / len(words)  # noqa: E731
    known, alphabet = set(spaced_words(text)), set(text)
    assert set("".join(words)) <= alphabet, "nothing is unknown"
    assert 18 < new_words() < 22
    assert len(learnt) == 300
    assert 6.5 < len(known) / (300 + len({s for w in known for s in w})) < 7.5
    says(
        NAME,
        "One word in five is new (*path.* is not *path* here)",
        "a seventh of that of the words",
    )
    says(NAME, f"{per_word(300):.2f} tokens on average instead of {per_word(0):.2f}")


def test_words_in_the_same_company_come_close():
    ends = {word: runs[:, -1] for word, runs in cosines().items()}
    like, dislike, eat = ends["喜欢"], ends["讨厌"], ends["吃"]
    assert cosines()["喜欢"][:, 0].abs().max() < 1e-6, "a right angle"
    says(NAME, f"a cosine of {like.mean():.2f} on average over eight seeds")
    says(NAME, f"({like.min():.2f} to {like.max():.2f})", f"*love* and *eat* at {eat.mean():.2f}")
    says(NAME, f"just as close, {dislike.mean():.2f}")
    assert (like - dislike).abs().mean() < 0.05
    says(NAME, f"400 sentences, {len(figures.WORDS)} words")
    assert figures.OBJECTS["爱"] == figures.OBJECTS["喜欢"] == figures.OBJECTS["讨厌"]


def test_the_trained_neighbours_are_those_it_names():
    shipped = load("stories_llama")
    words, vectors = list(shipped.task.vocabulary), shipped.model.embedding.weight.detach().double()
    near = lambda word: [  # noqa: E731
        words[n] for n, _ in nearest(vectors, vectors[words.index(word)], words.index(word))
    ]
    assert {"yellow", "brown", "blue"} <= set(near("red"))
    assert {"cat", "hedgehog", "rabbit"} <= set(near("dog"))
    assert {"glad", "proud"} <= set(near("happy"))
    assert near("found")[0] == "loved"
    says(NAME, f"{len(words)} rows of {vectors.shape[1]} numbers")


def test_how_far_the_model_is_from_the_best():
    above = f"{load('stories_llama').record.above_floor:.3f}"
    says(
        NAME, f"its loss is {above} [nats](appendix/glossary.md#nat) a word above that of the true"
    )


def test_sizes_of_word_and_place():
    place = Sinusoidal(512)(torch.arange(64)).square().mean().sqrt().item()
    assert place == pytest.approx(math.sqrt(0.5), abs=1e-4)
    layer = torch.nn.Embedding(4000, 512)
    scaled = layer.weight.std().item() * math.sqrt(512)
    assert round(scaled / place) == 32
    assert round(place / 512**-0.5) == 16
    says(NAME, "beside a code of 0.71", "drowned 16 to 1", "32 times as large", "about 22.6")
    said = str(figures.sizes(512))
    assert "22.68" in said
    says(NAME, "and 22.68 if it had 1")


def test_a_byte_alone_is_no_chinese_character():
    assert [len(utf8_bytes(sign)) for sign in "猫a🚀"] == [3, 1, 4]
    assert 1 <= min(len(chr(n).encode()) for n in (0, 0x7FF, 0xFFFF, 0x10FFFF)) <= 4


def test_which_families_scale():
    """Gemma multiplies by the root of D; GPT-2 and LLaMA do not."""
    from pieces.models import gemma, llama

    tiny = {"vocab_size": 9, "d_model": 16, "n_layers": 1, "n_heads": 2, "d_ff": 12}
    assert llama.llama(llama.LlamaConfig(**tiny)).embedding.scale == 1
    own = gemma.gemma(gemma.GemmaConfig(**tiny, n_kv_heads=1, head_dim=8))
    assert own.embedding.scale == 4
    small = {
        "vocab_size": 9,
        "d_model": 16,
        "n_layers": 1,
        "n_heads": 2,
        "d_ff": 12,
        "max_seq_len": 8,
    }
    assert gpt2(type(PRESETS["gpt2"])(**small)).embedding.scale == 1

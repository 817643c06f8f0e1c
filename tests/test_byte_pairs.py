"""Byte-pair encoding: the paper's own example, the library's merges and cuts, odd texts."""

import json
from itertools import pairwise

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from pieces.byte_pairs import (
    characters,
    cut_into_pieces,
    learn_merges,
    merge_pair,
    spaced_words,
    utf8_bytes,
)
from pieces.tasks.corpus import prose

PAPER = "low " * 5 + "lower " * 2 + "newest " * 6 + "widest " * 3  # algorithm 1
ENGLISH = "she sells sea shells by the sea shore . the shells she sells are sea shells . " * 2
CHINESE = "我喜欢猫 我喜欢狗 他也喜欢猫 她喜欢小狗 我爱你 你爱我吗 喜欢 👩‍🚀👩‍🚀 é e\u0301 "
OTHER = "seashells newest wider 猫喜欢我 爱🚀 aaab shesells slow"
OTHER = "seashells newest wider 猫喜欢我 爱🚀 aaab shesells slow"
TEXTS = [PAPER, ENGLISH, CHINESE, "aaaa aaa aaaaa aa", "abab baba abba", prose()[:1500]]


def latin(word):
    """Return the bytes of a word as one sign each, for a library that reads text."""
    return word.encode().decode("latin-1")


def given_to(text, symbols):
    """Return what the library reads in place of a text: one space behind each word."""
    spaced = "".join(spaced_words(text))
    return latin(spaced) if symbols is utf8_bytes else spaced


def library(text, n_merges, symbols):
    """Return a tokenizer of ``tokenizers`` that has learnt from the same words."""
    given = given_to(text, symbols)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    trainer = trainers.BpeTrainer(
        vocab_size=len(set(given)) + n_merges, min_frequency=2, show_progress=False
    )
    tokenizer.train_from_iterator([given], trainer)
    return tokenizer


def learnt_by(tokenizer):
    return [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


def as_text(piece):
    return piece.decode("latin-1") if isinstance(piece, bytes) else piece


@pytest.mark.parametrize("symbols", [characters, utf8_bytes])
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text[:12])
def test_learns_and_cuts_as_the_library_does(text, symbols):
    merges = learn_merges(text, 60, symbols=symbols)
    tokenizer = library(text, len(merges), symbols)
    ours = [(as_text(left), as_text(right)) for left, right, _ in merges]
    assert ours == learnt_by(tokenizer)
    known = {sign for word in spaced_words(text) for sign in symbols(word)}
    # The library drops a sign that it never saw, and joins its neighbours: none is given to it.
    other = "".join(c for c in OTHER if set(symbols(c)) <= known)
    for written in (text, other):
        cut = cut_into_pieces(written, merges, symbols=symbols)
        ours = [as_text(piece) for word in cut for piece in word]
        assert ours == tokenizer.encode(given_to(written, symbols)).tokens


def test_random_words_of_two_letters_too():
    """Many ties and overlaps: each decided as the library decides it."""
    draw = torch.Generator().manual_seed(3)
    for _ in range(50):
        text = "".join("ab "[n] for n in torch.randint(0, 3, (60,), generator=draw))
        merges = learn_merges(text, 20)
        tokenizer = library(text, len(merges), characters)
        assert [merge[:2] for merge in merges] == learnt_by(tokenizer), text
        cut = [piece for word in cut_into_pieces(text, merges) for piece in word]
        assert cut == tokenizer.encode(given_to(text, characters)).tokens, text


def test_a_word_that_was_not_there_is_made_of_what_was():
    assert cut_into_pieces("lower", learn_merges("low lowest newer wider", 4)) == [("low", "er ")]


def test_a_tie_goes_to_the_older_pieces():
    """All pairs of one word stand there once: the first in the alphabet, then what was learnt."""
    merges = learn_merges("dcba", 4, min_count=1)
    assert [merge[:2] for merge in merges] == [("a", " "), ("b", "a "), ("c", "ba "), ("d", "cba ")]
    assert [merge[:2] for merge in learn_merges("ab cd", 2, min_count=1)] == [
        ("a", "b"),
        ("c", "d"),
    ]


def test_counts_are_those_of_the_text_before_the_merge():
    for text in TEXTS[:3]:
        merges = learn_merges(text, 12)
        for n, (left, right, count) in enumerate(merges):
            words = cut_into_pieces(text, merges[:n])
            assert sum(pair == (left, right) for word in words for pair in pairwise(word)) == count


def test_no_merge_crosses_a_word_and_nothing_is_lost():
    merges = learn_merges(ENGLISH, 500)
    assert all(" " not in left for left, _, _ in merges)
    assert "".join("".join(word) for word in cut_into_pieces(ENGLISH, merges)) == ENGLISH
    assert all(len(word) == 1 for word in cut_into_pieces(ENGLISH, merges)), "learnt to the end"
    joined = b"".join(b"".join(w) for w in cut_into_pieces(CHINESE, [], symbols=utf8_bytes))
    assert joined.decode() == CHINESE


def test_bytes_and_characters():
    assert [len(utf8_bytes(sign)) for sign in ("a", "é", "爱", "🚀")] == [1, 2, 3, 4]
    assert len(characters("👩‍🚀")) == 3, "a woman, a joiner, a rocket"
    assert utf8_bytes("爱") == [b"\xe7", b"\x88", b"\xb1"]


def test_an_unknown_word_is_cut_and_an_unknown_sign_stays_alone():
    merges = learn_merges(ENGLISH, 12)
    (seashell,) = cut_into_pieces("seashell猫", merges)
    assert len(seashell) < len("seashell猫 ")
    assert "猫" in seashell


@pytest.mark.parametrize("text", ["", "  \n\u3000", "a"])
def test_nothing_to_learn(text):
    assert learn_merges(text, 5) == []
    assert len(cut_into_pieces(text, [])) == len(text.split())


def test_pairs_merge_from_left_to_right():
    assert merge_pair(("a", "a", "a"), "a", "a") == ("aa", "a")

"""Byte-pair encoding: pieces of words, made by merging the most frequent pair again and again."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from pieces.checks import Natural, Size, checked

Symbols = Callable[[str], list]
Word = tuple[str | bytes, ...]
SPACES = re.compile("[ \t\r\n\u00a0\u3000]+")  # the last one is the space of Chinese type


class Merge(NamedTuple):
    """Two pieces that become one, and how often they stood side by side when that was learned."""

    left: str | bytes
    right: str | bytes
    count: int


@checked
def characters(word: str) -> list[str]:
    """The signs of a word, one for each code point: "é" is one or two, a family emoji several."""
    return list(word)


@checked
def utf8_bytes(word: str) -> list[bytes]:
    """The bytes of a word in UTF-8: one for "a", three for "爱", four for most emoji."""
    return [bytes([byte]) for byte in word.encode()]


@checked
def spaced_words(text: str) -> list[str]:
    """The words of a text, each with one space behind it, so that a piece knows where a word ends.

    A Chinese sentence has no spaces and counts as one word.
    """
    return [f"{word} " for word in SPACES.split(text) if word]


@checked
def learn_merges(
    text: str, n_merges: Natural, *, symbols: Symbols = characters, min_count: Size = 2
) -> list[Merge]:
    """At most n merges, the most frequent pair first; none is counted across words.

    Of pairs that are equally frequent, the one whose left piece is oldest comes first, then the
    one whose right piece is: the single symbols in order, then the pieces as they were learned. The
    library ``tokenizers`` decides likewise. A pair that stands there fewer than ``min_count``
    times is not merged.

    Source: Sennrich et al. 2016, 3.2, algorithm 1; there a mark ends each word, here its space.
    """
    words = Counter(tuple(symbols(word)) for word in spaced_words(text))
    age = {piece: n for n, piece in enumerate(sorted({s for word in words for s in word}))}
    merges: list[Merge] = []
    while len(merges) < n_merges and (pairs := count_pairs(words)):
        left, right = min(pairs, key=lambda pair: (-pairs[pair], age[pair[0]], age[pair[1]]))
        if pairs[left, right] < min_count:
            break
        merges.append(Merge(left, right, pairs[left, right]))
        age.setdefault(left + right, len(age))
        words = {
            merge_pair(word, left, right) if left in word else word: n for word, n in words.items()
        }
    return merges


def count_pairs(words: Mapping[Word, int]) -> Counter:
    """How often each pair of neighbours stands in words that occur so and so many times."""
    pairs = Counter()
    for word, n in words.items():
        for pair in pairwise(word):
            pairs[pair] += n
    return pairs


def merge_pair(word: Word, left: str | bytes, right: str | bytes) -> Word:
    """The word with these neighbours as one piece, wherever they stand, from left to right."""
    merged, at = [], 0
    while at < len(word):
        fits = word[at : at + 2] == (left, right)
        merged.append(left + right if fits else word[at])
        at += 2 if fits else 1
    return tuple(merged)


@checked
def cut_into_pieces(
    text: str, merges: Sequence[Merge], *, symbols: Symbols = characters
) -> list[Word]:
    """The pieces of each word: of the merges that fit, the one learned first is done first.

    A word need not have been in the text that the merges come from. Source: as ``learn_merges``.
    """
    rank = {}
    for n, (left, right, _) in enumerate(merges):
        rank.setdefault((left, right), n)
    cut = {}
    for word in dict.fromkeys(words := spaced_words(text)):
        pieces = tuple(symbols(word))
        while fitting := [pair for pair in pairwise(pieces) if pair in rank]:
            pieces = merge_pair(pieces, *min(fitting, key=rank.get))
        cut[word] = pieces
    return [cut[word] for word in words]

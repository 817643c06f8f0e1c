"""Three ways to go through one program that tells: draw a text, follow a text, know the next word.

The program calls ``say(options)`` with phrases and their weights, and goes on with the phrase that
it gets back. No phrase may be the beginning of another, so the words themselves tell which one was
said; in the middle of a phrase, those that begin like it are the only thing that is hidden.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import no_type_check

Options = Mapping[str, int | float]
Say = Callable[[Options], str]
Program = Callable[[Say], None]
cut = lru_cache(maxsize=None)(str.split)


class Silence(Exception):  # noqa: N818 (an end, not an error)
    """Ends a program: enough was said, or it cannot go on."""


class Voice(ABC):
    """What a program speaks to."""

    @abstractmethod
    def __call__(self, options: Options) -> str:
        """Choose one of the phrases. Raises: Silence if the telling is over."""

    def through(self, program: Program) -> None:
        """Go through the program until it ends, or nothing more is to be said."""
        with suppress(Silence):
            program(self)


@no_type_check  # so many small calls: tests would take minutes
class Teller(Voice):
    """Draws phrases by their weights, until it has ``length`` words."""

    def __init__(self, length: int, seed: int) -> None:
        self.length, self.draw, self.words = length, random.Random(seed).random, []

    def __call__(self, options: Options) -> str:
        """A phrase, with a probability that is its share of the weights."""
        point = self.draw() * sum(options.values())
        for phrase, weight in options.items():  # noqa: B007 (said below)
            point -= weight
            if point < 0:
                break
        self.words += cut(phrase)
        if len(self.words) >= self.length:
            raise Silence
        return phrase


@no_type_check
class Listener(Voice):
    """Follows a text, and knows before each word how probable every word is.

    p(word) = weight of the phrases still possible that go on with it / weight of all of them

    ``expected[t]`` has these shares before word t, the last ones after the whole text. It is
    shorter than that if the text leaves what the program can say: the word at
    len(expected) - 1 is the first that is impossible.
    """

    def __init__(self, words: list[str]) -> None:
        self.words, self.expected = words, []

    def __call__(self, options: Options) -> str:
        """The phrase that the text says."""
        possible = [(cut(phrase), weight, phrase) for phrase, weight in options.items()]
        depth = 0
        while True:
            place = len(self.expected)
            self.expected.append(shares(possible, depth))
            if place == len(self.words) or self.words[place] not in self.expected[-1]:
                raise Silence
            possible = [one for one in possible if one[0][depth] == self.words[place]]
            depth += 1
            if len(possible) == 1 and len(possible[0][0]) == depth:
                return possible[0][2]


@no_type_check
def shares(possible: list[tuple[list[str], int | float, str]], depth: int) -> dict[str, float]:
    """How probable each word is at this depth of the phrases."""
    if len(possible) == 1:
        return {possible[0][0][depth]: 1.0}
    total = sum(weight for _, weight, _ in possible)
    found: dict[str, float] = {}
    for words, weight, _ in possible:
        found[words[depth]] = found.get(words[depth], 0.0) + weight / total
    return found

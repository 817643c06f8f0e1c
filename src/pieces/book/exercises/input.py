"""Checkers for chapter 02, input."""

from collections.abc import Callable
from typing import Any

from pieces.book.exercises.verdict import attempt, say
from pieces.byte_pairs import Merge, cut_into_pieces, learn_merges

TEXT = "low lowest newer wider she sells sea shells by the sea shore aa aaa aaaa sees"
WORDS = ("lower", "shells", "aaaaa", "shoes", "newest", "s")


def _pieces(word: str, merges: list[tuple[str, str]]) -> list[str]:
    """Return the right answer: the earliest merge that fits, again and again."""
    (cut,) = cut_into_pieces(word, [Merge(*pair, 0) for pair in merges])
    return list(cut)


def _replaced(word: str, merges: list[tuple[str, str]], order: int, once: bool) -> list[str]:
    """Return what well-known mistakes give: the merges from the last, or each at one place only."""
    pieces = [*word, " "]
    for left, right in merges[::order]:
        at = 0
        while at + 1 < len(pieces):
            if (pieces[at], pieces[at + 1]) == (left, right):
                pieces[at : at + 2] = [left + right]
                if once:
                    break
            at += 1
    return pieces


def _hint(result: Any, word: str, merges: list[tuple[str, str]], right: list[str]) -> str:
    """Return what was probably thought of, or ""."""
    if not isinstance(result, list):
        return f" A list of pieces is asked for, not {type(result).__name__}."
    if result and result[-1] != " " and "".join(map(str, result)) == word:
        return " The space that ends the word is a character as well: begin with [*word, ' ']."
    if result == [*word, " "]:
        return " Nothing has been merged."
    if result == _replaced(word, merges, -1, once=False):
        return " Those are the merges from the last to the first; the one learned first goes first."
    if result == _replaced(word, merges, 1, once=True):
        return " A pair may stand at several places of a word; merge it at each of them."
    if "".join(map(str, result)) != word + " ":
        return " Joined, the pieces must give the word and its space again."
    return f" Expected {right}."


def my_cut(function: Callable[[str, list[tuple[str, str]]], list[str]]) -> None:
    """Check `f(word, merges)`: the pieces of a word, its space among them."""
    learnt = [merge[:2] for merge in learn_merges(TEXT, 25)]
    for merges in (learnt[:1], learnt[:6], learnt):
        for word in WORDS:
            result, complaint = attempt(function, word, list(merges))
            right = _pieces(word, merges)
            if not complaint and result != right:
                times = "1 merge" if len(merges) == 1 else f"{len(merges)} merges"
                complaint = f"{word!r} after {times}: got {result!r:.60}."
                complaint += _hint(result, word, merges, right)
            if complaint:
                return say("2.4", complaint)
    return say("2.4", "")

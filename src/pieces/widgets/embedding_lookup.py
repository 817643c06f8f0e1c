"""EmbeddingLookup: a text as ids, one-hot rows and rows of a table; the sum with positions."""

import re
from collections.abc import Mapping
from typing import Any

import torch

from pieces.checks import require
from pieces.widgets.base import PieceWidget
from pieces.widgets.stills import grid
from pieces.widgets.traits import Choice, Count, Matrix, Result, Switch, Text

# Words of the stories, and characters of the translator: the first eight that a short text needs.
VOCABULARIES = {
    "english": ("Lily", "Tom", "ball", "cat", "dog", "found", "red", "the"),
    "chinese": ("一", "了", "只", "那", "狗", "猫", "追", "鸟"),
}
TEXTS = {"english": "the dog found the red ball", "chinese": "那只狗追一只猫"}
# Numbers that nobody trained: one row for each entry of a vocabulary.
W = (
    (1.2, -0.4, 0.3, 0.9),
    (1.1, -0.6, 0.5, 0.7),
    (-0.8, 1.3, 0.2, -0.5),
    (0.4, 0.9, -1.2, 0.6),
    (0.5, 1.0, -1.0, 0.4),
    (-0.3, -1.1, 0.8, 1.4),
    (-1.4, 0.2, -0.6, 0.1),
    (0.1, -0.2, 0.1, -0.9),
)
MOST = 8


def tokens_of(text: str, language: str) -> list[str]:
    """Return the entries of a vocabulary that a text is read as: words, or single characters."""
    spelled = {word.lower(): word for word in VOCABULARIES[language]}
    found = re.findall(r"[^\W\d_]+" if language == "english" else r"\S", text)
    return [spelled[word.lower()] for word in found if word.lower() in spelled][:MOST]


class Language(Choice):
    """One of the vocabularies."""

    def limits(self) -> dict[str, Any]:
        """Return its options, and for each its words and a text of them."""
        words = VOCABULARIES.items()
        told = {name: {"words": of, "example": TEXTS[name]} for name, of in words}
        return super().limits() | {"vocabularies": told}


class WordRows(Matrix):
    """The table of an embedding, 8 × 4 within ±5; `empty` allows none at all."""

    def __init__(self, default: Any = (), empty: bool = False):
        self.empty = empty
        super().__init__(default, 8, 4, bound=5)

    def limits(self) -> dict[str, Any]:
        """Return what the page needs to know of it: its sides, and whether it may be empty."""
        return super().limits() | {"empty": self.empty}

    def validate(self, obj: Any, value: Any) -> list[list[float]]:
        """Return `value` as nested lists of floats, or raise `ValueError`."""
        if self.empty and isinstance(value, (list, tuple)) and not value:
            return []
        return super().validate(obj, value)


class EmbeddingLookup(PieceWidget):
    """Eight words with a row of four numbers each; a typed text picks rows and adds positions.

    Args:
        language: "english", eight words of the stories, or "chinese", eight of the translator's
            characters.
        text: at most eight of them are read; another word is named and left out. Without one it
            is a sentence of the language.
        W: the table, 8 × 4 within ±5; nobody trained these numbers.
        before: the table before the last change; empty for none.
        token: the token that is followed, from 1.
        row, column: the number of W that is framed, from 1.
        positions: whether the sinusoidal code of its place is added to each row.

    Read back:
        ids: the number of each token that is read, from 0.
        x: what goes into the first layer, one row for each token.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "From words to vectors"

    language = Language("english", tuple(VOCABULARIES))
    text = Text(TEXTS["english"], longest=200)
    W = WordRows(W)
    before = WordRows(empty=True)
    token = Count(2, 1, MOST)
    row = Count(5, 1, 8)
    column = Count(1, 1, 4)
    positions = Switch(True)
    ids = Result()
    x = Result()

    def __init__(self, **kwargs: Any) -> None:
        language = kwargs.get("language", "english")
        require(isinstance(language, str) and language in TEXTS, "language", language,
                f"one of {', '.join(map(repr, TEXTS))}", "check the spelling")  # fmt: skip
        super().__init__(**{"text": TEXTS[language]} | kwargs)

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return how many tokens are read."""
        language, text = state.get("language"), state.get("text")
        if not isinstance(language, str) or language not in TEXTS or not isinstance(text, str):
            return None
        return max(1, len(tokens_of(text, language)))

    def still(self) -> str:
        """Return the one-hot rows and the rows of W that they pick."""
        tokens, names = tokens_of(self.text, self.language), VOCABULARIES[self.language]
        if not tokens:
            return ""
        one = torch.eye(len(names))[[names.index(token) for token in tokens]]
        W = torch.tensor(self.W)
        numbers = [str(n) for n in range(len(names))]
        return grid(one, "query", "One-hot rows", rows=tokens, columns=numbers, digits=0) + grid(
            one @ W, "residual", "The rows of W that they pick", rows=tokens, digits=1
        )

    def describe(self) -> str:
        """Return the text, its language, the framed number, and whether positions are added."""
        at = f"W[{self.row}, {self.column}] = {self.W[self.row - 1][self.column - 1]:g}"
        added = "positions added" if self.positions else "no positions"
        return f"“{self.text}” with eight {self.language.title()} entries, {at}, {added}"

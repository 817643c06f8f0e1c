"""What every task shares: batches, a held-out split that is a rule, and two scores."""

from abc import ABC, abstractmethod
from typing import Annotated, Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from pieces.checks import Once, Positive, Range, Size, checked, refuse, require

Split = Literal["train", "held_out"]
Items = Int[Tensor, "N L"]
SKIPPED = -100  # what cross-entropy leaves out
FEWEST = 100  # with fewer items, a split could be empty


class Batch(NamedTuple):
    """What a next-token model reads, and what it should say; -100 where nothing is counted."""

    input_ids: Int[Tensor, "B T"]
    targets: Int[Tensor, "B T"]


@checked
def accuracy(logits: Float[Tensor, "B T V"], targets: Int[Tensor, "B T"]) -> float:
    """The share of counted targets that have the highest logit.

    Shapes: logits [B, T, V], targets [B, T].
    """
    right, counted = _right(logits, targets)
    return (right & counted).sum().item() / counted.sum().item()


@checked
def exact(logits: Float[Tensor, "B T V"], targets: Int[Tensor, "B T"]) -> float:
    """The share of rows in which every counted target has the highest logit.

    Rows without a counted target are left out. Shapes and errors: as ``accuracy``.
    """
    right, counted = _right(logits, targets)
    rows = counted.any(dim=1)
    return (right | ~counted).all(dim=1)[rows].float().mean().item()


def _right(logits: Float[Tensor, "B T V"], targets: Int[Tensor, "B T"]) -> tuple[Tensor, Tensor]:
    """Where the model is right, and where it counts."""
    counted = targets != SKIPPED
    rule = "has no target that counts"
    require(bool(counted.any()), "targets", "all -100", rule, "pass a batch that has targets")
    return logits.argmax(dim=-1) == targets, counted


@checked
class Task(ABC):
    """Examples without end, drawn from a rule.

    A subclass draws items (``propose``), writes them as rows of tokens (``write``), and may say
    which part of an item decides its split (``key``). The split is a hash of that part, so it is
    the same in every run and on every machine: what is held out is never drawn for training.
    """

    def __init__(
        self,
        vocabulary: Annotated[list[str], Once()],
        *,
        held_out_share: Annotated[Positive, Range(below=1)] = 0.2,
    ) -> None:
        self.vocabulary, self.held_out_share = vocabulary, held_out_share
        self.ids = {token: i for i, token in enumerate(vocabulary)}

    @property
    def vocab_size(self) -> int:
        """How many tokens there are."""
        return len(self.vocabulary)

    def batch(
        self, batch_size: Size, split: Split = "train", generator: torch.Generator | None = None
    ) -> Batch:
        """Draw rows of one split. Shapes: input_ids [B, T], targets [B, T].

        Raises: ValueError if the split has no item.
        """
        return self.write(self.items(batch_size, split, generator))

    def items(
        self, batch_size: Size, split: Split = "train", generator: torch.Generator | None = None
    ) -> Items:
        """Draw items of one split: propose, and keep those that belong to it. Errors: ``batch``."""
        kept: list[Tensor] = []
        for _ in range(1000):
            proposed = self.propose(2 * batch_size, generator)
            kept.append(proposed[self.held_out(proposed) == (split == "held_out")])
            if sum(map(len, kept)) >= batch_size:
                return torch.cat(kept)[:batch_size]
        refuse("split", split, "has too few items, or none", "build the task with larger sizes")

    def held_out(self, items: Items) -> Bool[Tensor, "N"]:
        """True for items that are never trained on. Shapes: [N, L] -> [N]."""
        border = round(self.held_out_share * 2**32)  # a float would be of torch's default dtype
        return stable_hash(self.key(items)) < border

    def key(self, items: Items) -> Int[Tensor, "N K"]:
        """What of an item decides its split; items with one key share it. Left alone: all of it."""
        return items

    @abstractmethod
    def propose(self, count: int, generator: torch.Generator | None) -> Items:
        """Draw ``count`` items, of both splits."""

    @abstractmethod
    def write(self, items: Items) -> Batch:
        """Items as rows of tokens."""

    def encode(self, text: str) -> Int[Tensor, "T"]:
        """The ids of a text."""
        tokens = self.cut(text)
        for token in tokens:
            if token not in self.ids:
                refuse("token", token, "is not in the vocabulary", self.spelt_like(token))
        return torch.tensor([self.ids[token] for token in tokens], dtype=torch.long)

    def decode(self, ids: Int[Tensor, "T"]) -> str:
        """The text of ids, or of targets, where "·" stands for what is not counted."""
        known = dict(enumerate(self.vocabulary)) | {SKIPPED: "·"}
        for i in ids.tolist():
            if i not in known:
                rule = f"must be -100 or in 0 .. {self.vocab_size - 1}"
                refuse("ids", i, rule, "decode with its own task")
        return self.join([known[i] for i in ids.tolist()])

    def spelt_like(self, token: str) -> str:
        """What to write in place of a token that is none."""
        return "use the tokens of task.vocabulary"

    accuracy = staticmethod(accuracy)
    exact = staticmethod(exact)

    def cut(self, text: str) -> list[str]:
        """Cut a text into tokens: here, at spaces."""
        return text.split()

    def join(self, tokens: list[str]) -> str:
        """Tokens as one text: here, with spaces."""
        return " ".join(tokens)


@checked
def counted_from(rows: Int[Tensor, "B R"], start: int | Int[Tensor, "B 1"]) -> Batch:
    """Each token is to be said from those before it; only those from ``start`` on are counted.

    Shapes: rows [B, T + 1], start one number or [B, 1] -> [B, T] twice.
    """
    place = torch.arange(1, rows.shape[1])
    return Batch(rows[:, :-1], rows[:, 1:].masked_fill(place < start, SKIPPED))


@checked
def stable_hash(rows: Int[Tensor, "N K"]) -> Int[Tensor, "N"]:
    """A number in 0 .. 2^32 - 1 for each row of whole numbers, the same on every machine.

    Source: shifts and factors of Wellons's hash-prospector, one column after another.
    """
    mask = 2**32 - 1
    h = torch.zeros(len(rows), dtype=torch.long)
    for column in rows.long().unbind(1):
        h = (h + column + 0x9E3779B9) & mask
        h = ((h ^ (h >> 16)) * 0x21F0AAAD) & mask
        h = ((h ^ (h >> 15)) * 0x735A2D97) & mask
        h = h ^ (h >> 15)
    return h


@checked
def symbols(count: int) -> list[str]:
    """``count`` names: a, b, ..., z, aa, ab, ..."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = list(letters)
    while len(names) < count:
        names += [name + letter for name in names[-(26 ** len(names[-1])) :] for letter in letters]
    return names[:count]


@checked
def distinct(
    count: int, choices: int, chosen: int, generator: torch.Generator | None
) -> Int[Tensor, "N L"]:
    """``count`` rows of ``chosen`` different numbers below ``choices``, in random order."""
    numbers = torch.rand(count, choices, generator=generator, dtype=torch.float32)
    return numbers.argsort(dim=1)[:, :chosen]


def require_items(argument: str, value: int, count: int) -> None:
    """Refuse sizes with so few items that a split could be empty."""
    rule = f"gives {count} different items, fewer than the {FEWEST} that two splits need"
    require(count >= FEWEST, argument, value, rule, "choose larger sizes")

"""Translation: from Chinese to English, in a toy language with a grammar (``grammar.py``)."""

import re
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from pieces.checks import Size, checked
from pieces.tasks.base import SKIPPED, Batch, Items, Split, Task
from pieces.tasks.grammar import CHOICES, WHO_DOES_WHAT, chinese, english, words

PAD, BOS, EOS, TO = "<pad>", "<bos>", "<eos>", "<to>"


class Pairs(NamedTuple):
    """What an encoder-decoder reads and should say. Padding stands on the right.

    The decoder reads "<bos> the cat ..." and should say "the cat ... <eos>".
    """

    source_ids: Int[Tensor, "B S"]
    source_mask: Bool[Tensor, "B 1 1 S"]
    target_ids: Int[Tensor, "B T"]
    targets: Int[Tensor, "B T"]


@checked
class Translation(Task):
    """Chinese characters to English words.

    The order changes (time and place go to the end), measure words vanish, nouns get a plural and
    verbs a tense and a number. Each sentence has one translation. ``batch`` writes both languages
    in one row for a decoder-only model, ``pairs`` apart for an encoder-decoder.
    Held out: who does what, the subject's noun with the verb with the object's noun.
    """

    def __init__(self, *, held_out_share: float = 0.2) -> None:
        characters, spoken = words()
        names = [PAD, BOS, EOS, TO, *characters, *spoken]
        super().__init__(names, held_out_share=held_out_share)
        self.pad_id, self.bos_id, self.eos_id, self.to_id = range(4)

    def propose(self, count: int, generator: torch.Generator | None) -> Items:
        """What is said, as choices of the grammar: [N, 9]."""
        drawn = [torch.randint(n, (count,), generator=generator) for n in CHOICES]
        return torch.stack(drawn, dim=1)

    def key(self, items: Items) -> Int[Tensor, "N 3"]:
        """Who does what."""
        return items[:, list(WHO_DOES_WHAT)]

    def sentences(self, items: Items) -> list[tuple[str, str]]:
        """Each item in Chinese and in English. Shapes: items [N, 9]."""
        return [(chinese(item), english(item)) for item in items.tolist()]

    def write(self, items: Items) -> Batch:
        """Chinese <to> English <eos>; the English and <eos> are counted. Shapes: [B, T] twice."""
        rows, targets = [], []
        for source, target in self._coded(items):
            rows.append([*source, self.to_id, *target])
            targets.append([SKIPPED] * len(source) + [*target, self.eos_id])
        return Batch(padded(rows, self.pad_id), padded(targets, SKIPPED))

    def pairs(
        self, batch_size: Size, split: Split = "train", generator: torch.Generator | None = None
    ) -> Pairs:
        """Draw sentences of one split for an encoder-decoder. Errors: as ``batch``."""
        sources, targets = zip(*self._coded(self.items(batch_size, split, generator)), strict=True)
        source_ids = padded(sources, self.pad_id)
        return Pairs(
            source_ids,
            (source_ids != self.pad_id)[:, None, None, :],
            padded([[self.bos_id, *target] for target in targets], self.pad_id),
            padded([[*target, self.eos_id] for target in targets], SKIPPED),
        )

    def _coded(self, items: Items) -> list[list[list[int]]]:
        """The ids of each sentence in both languages."""
        said = self.sentences(items)
        return [[[self.ids[token] for token in self.cut(text)] for text in pair] for pair in said]

    def cut(self, text: str) -> list[str]:
        """English words, special tokens, single Chinese characters."""
        return re.findall(r"<\w+>|[A-Za-z]+|\S", text)

    def join(self, tokens: list[str]) -> str:
        """Spaces between English words, none between Chinese characters."""
        text = " ".join(tokens)
        return re.sub(r"(?<=[^\x00-\xff]) (?=[^\x00-\xff])", "", text)


def padded(rows: list[list[int]] | tuple[list[int], ...], fill: int) -> Int[Tensor, "B T"]:
    """Rows of unequal length as one tensor, filled up on the right."""
    longest = max(map(len, rows), default=0)
    filled = [[*row, *[fill] * (longest - len(row))] for row in rows]
    return torch.tensor(filled, dtype=torch.long).view(len(rows), longest)

"""Phrases of random words that come back: nothing but an earlier place tells how they go on.

    red Tom of lake | big said the | red Tom of lake | red Tom of lake | big said the | ...

A row has a few phrases, in random order and again and again. Counted are the words of a phrase that
has come before, but for its first: which phrase comes next, nobody can know. (A single stretch said
round and round would not do: there the next word is the one not heard for longest, and counting
how long ago words came is easier to learn than looking behind them.)
"""

import torch

from pieces.tasks.base import SKIPPED, Batch

PHRASES, SHORTEST, LONGEST = 3, 3, 8


def phrases(
    vocab_size: int, length: int, batch_size: int, generator: torch.Generator | None = None
) -> Batch:
    """Rows of phrases, each row with its own. Shapes: [B, length] twice."""
    sizes = torch.randint(SHORTEST, LONGEST + 1, (batch_size, PHRASES), generator=generator)
    words = torch.randint(vocab_size, (batch_size, PHRASES, LONGEST), generator=generator)
    turns = (length + 1) // SHORTEST + 1
    order = torch.randint(PHRASES, (batch_size, turns), generator=generator)
    rows = torch.empty(batch_size, length + 1, dtype=torch.long)
    counted = torch.zeros(batch_size, length + 1, dtype=torch.bool)
    for row in range(batch_size):
        said, known, heard = [], [], set()
        for phrase in order[row].tolist():
            size = int(sizes[row, phrase])
            said.append(words[row, phrase, :size])
            known += [False] + [phrase in heard] * (size - 1)
            heard.add(phrase)
        rows[row] = torch.cat(said)[: length + 1]
        counted[row] = torch.tensor(known[: length + 1])
    return Batch(rows[:, :-1], rows.masked_fill(~counted, SKIPPED)[:, 1:])

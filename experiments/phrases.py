"""Phrases of random words that come back: nothing but an earlier place tells how they go on.

    red Tom of lake | big said the | red Tom of lake | kite by dog | red Tom of lake | ...

A row has a few phrases, in random order and again and again. Counted are the words of a phrase that
has come before, but for its first: which phrase comes next, nobody can know.

No phrase is said twice in a row, so that no distance is the right one more often than others: a
model that may guess how far back to copy from learns that first, and looks at words six back where
it should look at the one before. (A single stretch said round and round is worse still.)
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
    steps = torch.randint(1, PHRASES, (batch_size, turns), generator=generator)
    order = steps.cumsum(dim=1) % PHRASES
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

"""Agreement: the keys near the door are, not is."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from pieces.checks import Size, checked
from pieces.tasks.base import Batch, Items, Task, counted_from

NOUNS = ("cat", "dog", "bird", "teacher", "student", "key", "door", "book", "garden", "letter")
PREPOSITIONS = ("near", "behind", "with", "above", "beside")


@checked
class Agreement(Task):
    """The verb's number is the subject's, however many nouns stand between.

    the NOUN (PREPOSITION the NOUN) x distance  is / are

    The verb alone is counted. Held out: rows of nouns and prepositions.
    Source: Linzen et al. 2016, 2.
    """

    def __init__(self, distance: Size = 2) -> None:
        plurals = [noun + "s" for noun in NOUNS]
        super().__init__([*NOUNS, *plurals, *PREPOSITIONS, "the", "is", "are"])
        self.distance = distance

    def propose(self, count: int, generator: torch.Generator | None) -> Items:
        """Nouns, then prepositions: [N, 2 distance + 1]."""
        nouns = torch.randint(2 * len(NOUNS), (count, self.distance + 1), generator=generator)
        shape = (count, self.distance)
        between = torch.randint(len(PREPOSITIONS), shape, generator=generator)
        return torch.cat((nouns, between + self.ids[PREPOSITIONS[0]]), dim=1)

    def write(self, items: Items) -> Batch:
        """Shapes: [B, 2 distance + 1] -> [B, 3 distance + 2] twice."""
        nouns, between = items.split((self.distance + 1, self.distance), dim=1)
        the = items.new_full((len(items), 1), self.ids["the"])
        verb = torch.where(plural(nouns[:, :1]), self.ids["are"], self.ids["is"])
        phrases = torch.stack((between, the.expand_as(between), nouns[:, 1:]), dim=2).flatten(1)
        row = torch.cat((the, nouns[:, :1], phrases, verb), dim=1)
        return counted_from(row, row.shape[1] - 1)

    def misleading(self, input_ids: Int[Tensor, "B T"]) -> Bool[Tensor, "B"]:
        """Where the nearest noun has the other number, so that a look at it alone goes wrong."""
        return plural(input_ids[:, 1]) != plural(input_ids[:, -1])


@checked
def plural(nouns: Int[Tensor, "*shape"]) -> Bool[Tensor, "*shape"]:
    """True for the ids of plurals."""
    return nouns >= len(NOUNS)

"""Associative recall: a 3 c 1 b 7 | c 1 a 3."""

from typing import Annotated

import torch
from jaxtyping import Int
from torch import Tensor

from pieces.checks import Compared, Size, checked
from pieces.tasks.base import Batch, Items, Task, distinct, require_items, symbols


@checked
class AssociativeRecall(Task):
    """Read pairs of a key and a value, then answer queries: each key's value is counted.

    Keys are different, and no key is asked twice.

    Held out: sets of pairs, in every order and with every query.
    Source: Ba et al. 2016 (fast weights), 4.1; with several queries Arora et al. 2023 (Zoology).
    """

    def __init__(
        self,
        n_keys: Size = 16,
        n_values: Size = 16,
        n_pairs: Annotated[Size, Compared("at most", "n_keys")] = 6,
        n_queries: Annotated[Size, Compared("at most", "n_pairs")] = 3,
    ) -> None:
        super().__init__([*symbols(n_keys), *(str(i) for i in range(n_values)), "|"])
        self.n_keys, self.n_values = n_keys, n_values
        self.n_pairs, self.n_queries = n_pairs, n_queries
        require_items("n_values", n_values, n_values**n_pairs)

    def propose(self, count: int, generator: torch.Generator | None) -> Items:
        """Keys, their values, and which pairs are asked: [N, 2 n_pairs + n_queries]."""
        keys = distinct(count, self.n_keys, self.n_pairs, generator)
        values = torch.randint(self.n_values, (count, self.n_pairs), generator=generator)
        asked = distinct(count, self.n_pairs, self.n_queries, generator)
        return torch.cat((keys, values + self.n_keys, asked), dim=1)

    def key(self, items: Items) -> Int[Tensor, "N K"]:
        """The value at each key, 0 where it has none."""
        keys, values, _ = self._parts(items)
        return items.new_zeros(len(items), self.n_keys).scatter(1, keys, values)

    def write(self, items: Items) -> Batch:
        """Shapes: [B, ...] -> [B, 2 n_pairs + 2 n_queries] twice."""
        keys, values, asked = self._parts(items)
        shown = torch.stack((keys, values), dim=2).flatten(1)
        mark = items.new_full((len(items), 1), self.ids["|"])
        queries = torch.stack((keys.gather(1, asked), values.gather(1, asked)), dim=2).flatten(1)
        input_ids = torch.cat((shown, mark, queries), dim=1)[:, :-1]
        targets = torch.full_like(input_ids, -100)
        targets[:, 2 * self.n_pairs + 1 :: 2] = values.gather(1, asked)
        return Batch(input_ids, targets)

    def _parts(self, items: Items) -> list[Tensor]:
        """Keys, values, asked."""
        return list(items.split((self.n_pairs, self.n_pairs, self.n_queries), dim=1))

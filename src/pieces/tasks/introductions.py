"""Introductions: the sentences of ``Translation``, and among them some that say who somebody is."""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from pieces.checks import checked
from pieces.tasks.base import Items
from pieces.tasks.grammar import ADJECTIVES, NOUNS, VERBS
from pieces.tasks.translation import Translation

WHO = (("我", "I am"), ("你", "you are"), ("他", "he is"), ("她", "she is"))
ONE_IN = 8  # sentences that introduce somebody
ADJECTIVE, NOUN, KIND, SOMEBODY = 3, 4, 9, 10  # columns of an item


@checked
class Introductions(Translation):
    """Chinese characters to English words, 我是一个学生。 (I am a student .) among them.

    One sentence in eight says who somebody is, with an adjective or without; the others are those
    of ``Translation``, and its tokens come first, with the same ids. An introduction is held out by
    who is what: a pronoun with a noun.
    """

    def __init__(self, *, held_out_share: float = 0.2) -> None:
        super().__init__(held_out_share=held_out_share)
        spoken = [word for _, english in WHO for word in english.split()]
        new = dict.fromkeys([*(chinese for chinese, _ in WHO), "是", *spoken])
        self.vocabulary = [*self.vocabulary, *new]
        self.ids = {token: i for i, token in enumerate(self.vocabulary)}

    def propose(self, count: int, generator: torch.Generator | None) -> Items:
        """What is said, as choices of the grammar; then whether somebody is introduced, and who."""
        kinds = [torch.randint(n, (count, 1), generator=generator) for n in (ONE_IN, len(WHO))]
        return torch.cat([super().propose(count, generator), *kinds], dim=1)

    def key(self, items: Items) -> Int[Tensor, "N 3"]:
        """Who does what, or who is what."""
        is_what = torch.full_like(items[:, 0], len(VERBS))  # a verb that no other sentence has
        who_is_what = torch.stack([items[:, NOUN], is_what, items[:, SOMEBODY]], dim=1)
        return torch.where(items[:, KIND, None] == 0, who_is_what, super().key(items))

    def sentences(self, items: Items) -> list[tuple[str, str]]:
        """Each item in Chinese and in English. Shapes: items [N, 11]."""
        told = super().sentences(items[:, :KIND])
        return [
            introduction(item) if item[KIND] == 0 else pair
            for item, pair in zip(items.tolist(), told, strict=True)
        ]


def introduction(item: Sequence[int]) -> tuple[str, str]:
    """Who somebody is, in Chinese and in English."""
    pronoun, is_a = WHO[item[SOMEBODY]]
    adjective, quality = ADJECTIVES[item[ADJECTIVE]]
    noun, measure, one, _ = NOUNS[item[NOUN]]
    english = " ".join(f"{is_a} a {quality} {one} .".split())
    return f"{pronoun}是一{measure}{adjective}{noun}。", english

"""Chapter 4's trained head: of all heads, the one that tells two owners apart."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pieces.book.tables import Table, table
from pieces.trace import record
from pieces.trained import load

NAME = "stories_llama"
PAIRS = (("Lily", "Tom"), ("Maya", "Ben"), ("Zoe", "Sam"), ("Anna", "Leo"))
THINGS = (("red ball", "blue car"), ("green kite", "white drum"), ("golden bell", "pink scarf"))
STORY = (
    "This is the story of {girl}. She had a {own}. One day, {girl} met a boy named {boy}. "
    "He had a {his}. “May I play with {word}"
)


def stories(pairs: Sequence[tuple[str, str]], word: str) -> list[tuple[str, str, str]]:
    """Return each story of these children, its things both ways round: text, his, her own."""
    swapped = [(two, one) for one, two in THINGS]
    return [
        (STORY.format(girl=girl, boy=boy, own=own, his=his, word=word), his, own)
        for girl, boy in pairs
        for own, his in (*THINGS, *swapped)
    ]


@torch.no_grad()
def looks(word: str, pairs: Sequence[tuple[str, str]]) -> Tensor:
    """Return where the last word looks: at the colour of his thing, and of her own.

    Shapes: [stories, layers, heads, 2].
    """
    llama = load(NAME)
    found = []
    for text, *things in stories(pairs, word):
        ids = llama.task.encode(text)
        words = [llama.task.vocabulary[i] for i in ids.tolist()]
        with record(llama.model) as trace:
            llama.model(ids[None])
        maps = torch.stack([call["weights"][0] for call in trace.values() if "weights" in call])
        found.append(maps[:, :, -1, [words.index(thing.split()[0]) for thing in things]])
    return torch.stack(found)


def telling_head(pairs: Sequence[tuple[str, str]] = PAIRS[:2]) -> tuple[int, int]:
    """Return layer and head, from 1, that look most at the right thing and least at the wrong."""
    your, my = looks("your", pairs), looks("my", pairs)
    score = ((your[..., 0] - your[..., 1]) + (my[..., 1] - my[..., 0])).mean(0)
    layer, head = divmod(int(score.argmax()), score.shape[1])
    return layer + 1, head + 1


def at_whose(layer: int, head: int, pairs: Sequence[tuple[str, str]] = PAIRS[2:]) -> Table:
    """Show how much that head looks at his thing and at her own, for *your* and for *my*."""
    rows = []
    for word in ("your", "my"):
        seen = looks(word, pairs)[:, layer - 1, head - 1]
        rows.append([f"“{word}”", *seen.mean(0).tolist()])
    caption = f"Mean weight on the colour of each thing, {len(stories(pairs, 'my'))} stories."
    return table(rows, ["last word", "at his thing", "at her own"], caption=caption)


@torch.no_grad()
def guesses(word: str, pairs: Sequence[tuple[str, str]] = PAIRS[2:]) -> Tensor:
    """Return the model's probability of the right colour as the next word: [stories]."""
    llama = load(NAME)
    found = []
    for text, his, own in stories(pairs, word):
        right = (his if word == "your" else own).split()[0]
        following = llama.model(llama.task.encode(text)[None])[0, -1].softmax(-1)
        found.append(following[llama.task.ids[right]])
    return torch.stack(found)

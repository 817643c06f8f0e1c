"""Chapter 9: the residual stream of a trained model as a sum, and who speaks for a word."""

from collections.abc import Sequence

import torch

from pieces.book.tables import Table, table
from pieces.inside import inside, votes
from pieces.trained import load


def vote_table(text: str, words: Sequence[str], name: str = "stories_llama") -> Table:
    """The votes of each part for some words after a text; parts that hardly speak are added up."""
    trained = load(name)
    values = inside(trained.model, trained.task.encode(text))
    found = [votes(trained.model, values, trained.task.ids[word]) for word in words]
    loud = [part for part in found[0] if any(abs(each[part]) >= 0.5 for each in found)]
    rows = [[called(part), *(each[part] for each in found)] for part in loud]
    rest = len(found[0]) - len(loud)
    quiet = [sum(v for part, v in each.items() if part not in loud) for each in found]
    rows.append([f"{rest} other parts", *quiet])
    rows.append(["logit", *(sum(each.values()) for each in found)])
    return table(rows, ["part", *words], digits=2, caption="Votes for the word that comes next.")


def called(part: str) -> str:
    """A part in words: "layer 2, head 4"."""
    layer, number, *rest = part.replace("_", "-").split(".")
    return f"{layer} {number}, {' '.join(rest)}" if rest else part


def without(text: str, part: str, word: str, name: str = "stories_llama") -> float:
    """The probability of a word after a text, with a part pulled out."""
    trained = load(name)
    values = inside(trained.model, trained.task.encode(text), off=[part])
    return torch.softmax(values["logits"][-1], -1)[trained.task.ids[word]].item()

"""Checkers for chapter 13, encoder and decoder."""

import functools
from collections.abc import Callable
from typing import Any

import torch

from pieces.book.exercises.verdict import attempt, say
from pieces.generate import generate
from pieces.trained import Trained, load

# The last one must stop after four words, whether or not it is done.
CASES = (
    ("我是一个学生。", 24),
    ("昨天那只小猫在花园里看见了一朵花。", 24),
    ("她是一个好老师。", 4),
)


@functools.cache
def translator() -> Trained:
    """The book's translator, not to be trained."""
    shipped = load("translator")
    shipped.model.requires_grad_(False)
    return shipped


def right(source: torch.Tensor, longest: int) -> list[int]:
    """What is expected: the ids that it writes, the end left out."""
    model, task = translator().model, translator().task
    ends = {"start_id": task.bos_id, "eos_id": task.eos_id}
    ids = generate(model, source, longest, **ends)[0, 1:].tolist()
    return ids[: ids.index(task.eos_id)] if task.eos_id in ids else ids


def hint(ids: list[int], expected: list[int], longest: int) -> str:
    """Say what a wrong list of ids was probably thinking of."""
    bos, eos = translator().task.bos_id, translator().task.eos_id
    if ids == [bos, *expected]:
        return " Leave out the start sign: nobody wrote it."
    if ids == [*expected, eos]:
        return " Leave out the end sign."
    if ids[: len(expected)] == expected and len(expected) < len(ids) <= longest:
        return " Stop at the end sign; what comes after it means nothing."
    if len(ids) > longest:
        return f" At most {longest} words are asked for."
    if len(ids) > 2 and len(set(ids)) == 1:
        return " The next word stands in the *last* row of the logits."
    return ""


def translate(function: Callable[..., list[int]]) -> None:
    """Check `f(model, source, bos, eos, longest)`: greedy decoding, with one run of the encoder."""
    model, task = translator().model, translator().task
    for text, longest in CASES:
        source, runs = task.encode(text)[None], []
        hook = model.encoder.register_forward_hook(lambda *_, runs=runs: runs.append(1))
        result, complaint = attempt(function, model, source, task.bos_id, task.eos_id, longest)
        hook.remove()
        complaint = complaint or _compare(result, right(source, longest), text, longest)
        if not complaint and len(runs) != 1:
            complaint = (
                f"{text}: the words are right, but the encoder ran {len(runs)} times. "
                "The source does not change: call model.encode once, then model.decode."
            )
        if complaint:
            return say("13.4", complaint)
    return say("13.4", "")


def _compare(result: Any, expected: list[int], text: str, longest: int) -> str:
    """Say how a list of ids differs from the right one, or "" where it does not."""
    if not isinstance(result, list):
        return f"{text}: expected a list of whole numbers, got {type(result).__name__}."
    strange = next((type(one).__name__ for one in result if type(one) is not int), "")
    if strange:
        remedy = " int(…) makes a whole number of it." if strange == "Tensor" else ""
        return f"{text}: expected a list of whole numbers; yours contains a {strange}.{remedy}"
    if result == expected:
        return ""
    said, meant = (_words(ids) for ids in (result, expected))
    return f"{text}: expected “{meant}”, got “{said}”.{hint(result, expected, longest)}"


def _words(ids: list[int]) -> str:
    """The text of ids, those that no vocabulary has as they are."""
    vocabulary = translator().task.vocabulary
    return " ".join(vocabulary[i] if 0 <= i < len(vocabulary) else str(i) for i in ids)

"""A trained model as one safetensors file: its weights, and in words what they are.

The words: "kind", "config", "vocabulary" (a list in the order of the ids), "task" and "record"; all
but the first are JSON. The book's pages read the same files.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safetensors import SafetensorError
from safetensors import torch as safe
from torch import nn

from pieces import tasks
from pieces.checks import refuse, require, require_instance, require_module
from pieces.tasks import Task
from pieces.trained.kinds import build_model, kind_of_model, plain
from pieces.trained.packing import quantised, restore

WORDS = ("kind", "config", "vocabulary", "task", "record")


class RunRecord(dict[str, Any]):
    """What is known of a run: ``record["loss"]``, or ``record.loss``.

    seed; steps: all that were taken, and parts: how many at which learning rate; loss: held out, of
    the weights as shipped, in nats a token; floor: that of the true probabilities; and more, which
    ``list(record)`` names.
    """

    @property
    def above_floor(self) -> float:
        """How far the model is from perfect: loss minus floor, on the same held-out text.

        Raises: AttributeError if the record lacks one of them.
        """
        return self.loss - self.floor

    def __getattr__(self, name: str) -> Any:
        """A field by its name. Raises: AttributeError, naming the known."""
        if name not in self:
            raise AttributeError(f"the record has no {name!r}; it has {list(self)}")
        return self[name]


@dataclass(frozen=True)
class Trained:
    """A model ready to be used, the task it was trained on, and the record of its training."""

    model: nn.Module
    task: Task
    record: RunRecord


def pack(
    model: nn.Module,
    task: Task,
    record: Mapping[str, Any],
    *,
    arguments: Mapping[str, Any] | None = None,
    precision: str = "int8",
) -> bytes:
    """The file of a trained model. ``arguments`` are those the task was built with.

    Raises: TypeError, ValueError if the model is of no known kind, its config not plain, the task
    none of ``pieces.tasks``, or the precision none of ``packing.PRECISIONS``.
    """
    require_module("model", model)
    require_instance("task", task, Task, "pass Stories(), say")
    require_instance("record", record, Mapping, "pass a dict")
    arguments = {} if arguments is None else arguments
    require_instance("arguments", arguments, Mapping, "pass a dict")
    name = type(task).__name__
    known = getattr(tasks, name, None) is type(task)
    require(known, "task", name, "must be one of pieces.tasks", "add it there")
    kind = {"kind": kind_of_model(model)}
    words = {
        "config": plain(model.config),
        "vocabulary": task.vocabulary,
        "task": {"name": name, "arguments": dict(arguments)},
        "record": dict(record),
    }
    return safe.save(quantised(model.state_dict(), precision), kind | written(words))


def unpack(data: bytes) -> Trained:
    """What ``pack`` made, on the CPU, in float32, ready for inference.

    Raises: TypeError if these are no bytes, ValueError if they are not a whole file of this form.
    """
    require_instance("data", data, bytes, "pass path.read_bytes()")
    words = metadata_of(data)
    task = task_of(**words["task"])
    same = task.vocabulary == words["vocabulary"]
    rule, remedy = "the task has other words today", "train the model again"
    require(same, "vocabulary", f"{len(words['vocabulary'])} words", rule, remedy)
    model = build_model(words["kind"], words["config"])
    try:
        model.load_state_dict(restore(safe.load(data)))
    except RuntimeError as error:
        refuse("data", str(error), "its weights are not those of its config", "get the file again")
    return Trained(model.eval(), task, RunRecord(words["record"]))


def task_of(name: str, arguments: dict[str, Any]) -> Task:
    """The task of a file. Raises: ValueError if ``pieces.tasks`` has none of this name."""
    kind = getattr(tasks, name, None)
    known = isinstance(kind, type) and issubclass(kind, Task)
    require(known, "task", name, "must be one of pieces.tasks", "get the file again")
    return kind(**arguments)


def with_record(data: bytes, record: Mapping[str, Any]) -> bytes:
    """The same file with another record. Errors: as ``unpack``."""
    words = metadata_of(data) | {"record": dict(record)}
    kind = {"kind": words.pop("kind")}
    return safe.save(safe.load(data), kind | written(words))


def written(words: Mapping[str, Any]) -> dict[str, str]:
    """Metadata of a file are words only."""
    return {key: json.dumps(value, ensure_ascii=False) for key, value in words.items()}


def metadata_of(data: bytes) -> dict[str, Any]:
    """The words of a file, without its weights. Raises: ValueError if they are not all there."""
    try:
        safe.load(data)
    except SafetensorError as error:
        refuse("data", f"{len(data)} bytes", f"no whole file: {error}", "get the file again")
    length = int.from_bytes(data[:8], "little")
    words = json.loads(data[8 : 8 + length]).get("__metadata__", {})
    missing = [word for word in WORDS if word not in words]
    require(not missing, "data", f"without {missing}", f"must have {WORDS}", "make it with pack")
    return {word: words[word] if word == "kind" else read(word, words[word]) for word in WORDS}


def read(word: str, text: str) -> Any:
    """One of the words. Raises: ValueError if it is no JSON."""
    try:
        return json.loads(text)
    except ValueError as error:
        refuse("data", f"{word}: {text[:40]}", f"no JSON: {error}", "get the file again")

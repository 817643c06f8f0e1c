"""Tasks that tiny models learn in seconds: each is a rule, with a held-out split that is one too.

task = Copy(n_symbols=16, length=8)
batch = task.batch(64, generator=g)                 input_ids [B, T], targets [B, T]
test = task.batch(256, "held_out", generator=g)     never drawn for training
accuracy(model(test.input_ids), test.targets)       share of targets; ``exact``: of rows
"""

from pieces.tasks.agreement import Agreement
from pieces.tasks.base import Batch, Split, Task, accuracy, exact
from pieces.tasks.copy import Copy
from pieces.tasks.corpus import Corpus
from pieces.tasks.induction import Induction
from pieces.tasks.introductions import Introductions
from pieces.tasks.modular import ModularSums
from pieces.tasks.recall import AssociativeRecall
from pieces.tasks.reverse import Reverse
from pieces.tasks.sorting import Sorting
from pieces.tasks.stories import Stories
from pieces.tasks.translation import Pairs, Translation

__all__ = [
    "Agreement",
    "AssociativeRecall",
    "Batch",
    "Copy",
    "Corpus",
    "Induction",
    "Introductions",
    "ModularSums",
    "Pairs",
    "Reverse",
    "Sorting",
    "Split",
    "Stories",
    "Task",
    "Translation",
    "accuracy",
    "exact",
]

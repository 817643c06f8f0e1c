"""EmbeddingMap: the embeddings of a trained model in the plane, and a word's neighbours."""

import functools
from typing import ClassVar

from torch import Tensor
from torch.nn import functional as F

from pieces.trained import shared
from pieces.widgets.trained_model import OWN, ModelName, TrainedModelWidget
from pieces.widgets.traits import Real, Result, Text

NEAREST = 8


@functools.lru_cache(maxsize=4)
def embeddings(name: str) -> tuple[list[str], Tensor]:
    """Return the words of a model of the book and their vectors, [V, D]."""
    shipped = shared(name)
    return list(shipped.task.vocabulary), shipped.model.embedding.weight.detach().double()


def nearest(
    vectors: Tensor, vector: Tensor, leave_out: int | None = None
) -> list[tuple[int, float]]:
    """Return the words whose vectors are most alike by cosine, and how much."""
    alike = F.normalize(vectors, dim=-1) @ F.normalize(vector, dim=-1)
    if leave_out is not None:
        alike[leave_out] = -2
    found = alike.topk(NEAREST)
    return list(zip(found.indices.tolist(), found.values.tolist(), strict=True))


class EmbeddingMap(TrainedModelWidget):
    """All embeddings of a trained model in two directions, and the nearest words of one of them.

    The picture is a projection of the vectors, brought to length 1, on the two directions in which
    they are spread most; what is near is measured by cosine with all their numbers.

    Args:
        model_name: "stories_llama", "stories_attention" or "translator"; one of your own comes in
            by ``from_model``.
        word: the word whose neighbours are shown; one that is unknown is said.
        toward: another word; its vector is where ``way`` = 1 leads.
        way: how far the vector is moved from ``word`` to ``toward``, 0 to 1.

    Read back:
        neighbours: the eight nearest words, nearest first.
        cosines: their cosine similarities.
        kept: the share of the vectors' spread that the two directions hold.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Words near words"
    models: ClassVar[tuple[str, ...]] = ("stories_llama", "stories_attention", "translator")
    kinds: ClassVar[tuple[str, ...]] = (
        "llama",
        "mixtral",
        "attention_only",
        "gpt2",
        "encoder_decoder",
    )

    model_name = ModelName(models[0], models)
    word = Text("red", longest=40)
    toward = Text("dog", longest=40)
    way = Real(0, 0, 1, step=0.05)
    neighbours = Result()
    cosines = Result()
    kept = Result()

    def describe(self) -> str:
        """Return the word, and its nearest ones where the model is of the book."""
        said = f"{self.model_name}, around “{self.word}”"
        if self.model_name == OWN or self.way:
            return said + f", {self.way:g} of the way to “{self.toward}”" * bool(self.way)
        words, vectors = embeddings(self.model_name)
        if self.word not in words:
            return said
        at = words.index(self.word)
        near = [f"{words[n]} {cosine:.2f}" for n, cosine in nearest(vectors, vectors[at], at)[:3]]
        return f"{said}: nearest are {', '.join(near)}"

"""What every widget with a trained model inside shares: its weights travel as bytes, once."""

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from safetensors import torch as safe
from torch import nn
from traitlets import Bytes, default, observe

from pieces.checks import require, require_instance, require_module
from pieces.tasks import Task, stories_words
from pieces.trained import NAMES, path_of
from pieces.trained.kinds import KINDS, kind_of_model, plain
from pieces.trained.packing import quantised
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice

OWN = "own"
CALLED = {  # in a sentence
    "stories_attention": "the attention-only model",
    "stories_llama": "the stories LLaMA",
    "stories_moe": "the mixture of experts",
    "translator": "the translator",
    "aligner": "the aligner",
    OWN: "a model of your own",
}
READ = 48  # words of a text, in the widgets that draw each of them
MOST = 32_000_000  # bytes; a page holds and computes no more with pleasure


class ModelName(Choice):
    """The name of one of the book's models, or ``OWN`` where a model was handed over."""

    def limits(self) -> dict[str, Any]:
        """Return the names; no link changes the model, whose weights stand in the page."""
        return super().limits() | {"fixed": True}

    def validate(self, obj: Any, value: Any) -> str:
        """Return `value`, or raise `ValueError` where there is no such model."""
        if value == OWN and obj._packed:
            return value
        return super().validate(obj, value)


def pack_own(model: nn.Module, vocabulary: Sequence[str] | Task) -> bytes:
    """Return a reader's model as the file that pages read: float32, so its numbers stay its own.

    Raises: TypeError, ValueError if the model is of no kind that pages compute, too large, or the
    vocabulary is not one word for each id.
    """
    require_module("model", model)
    kind = kind_of_model(model)
    words = vocabulary.vocabulary if isinstance(vocabulary, Task) else vocabulary
    require_instance("vocabulary", words, Sequence, "pass a list of words, or a task")
    words, size = list(words), model.config.vocab_size
    fits = len(words) == size and all(isinstance(word, str) for word in words)
    rule, remedy = f"must be {size} words, one for each id", "pass task.vocabulary"
    require(fits, "vocabulary", f"{len(words)} entries", rule, remedy)
    require(len(set(words)) == size, "vocabulary", "repeated", "must name each word once", remedy)
    n_bytes = 4 * sum(weight.numel() for weight in model.state_dict().values())
    rule, remedy = f"must be at most {MOST:,}", "show a smaller model"
    require(n_bytes <= MOST, "bytes of the model's weights", f"{n_bytes:,}", rule, remedy)
    texts = {"config": plain(model.config), "vocabulary": words, "record": {}}
    metadata = {name: json.dumps(text, ensure_ascii=False) for name, text in texts.items()}
    return in_order(safe.save(quantised(model.state_dict(), "fp32"), {"kind": kind} | metadata))


def in_order(data: bytes) -> bytes:
    """Return a safetensors file with its header in order: one model, one file, one name on a site.

    As saved, the words stand in another order each time.
    """
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    text = json.dumps(header, ensure_ascii=False, sort_keys=True).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data[8 + length :]


class TrainedModelWidget(PieceWidget):
    """A widget that computes with a trained model in the page.

    ``model_name`` is one of ``models``; ``from_model`` hands over any small model of yours. The
    page gets the weights as one binary message, and the site as one file for each model.

    Raises:
        ValueError: an unknown model.
    """

    models: ClassVar[tuple[str, ...]] = NAMES
    kinds: ClassVar[tuple[str, ...]] = tuple(KINDS)

    model_name = ModelName(NAMES[0], NAMES)
    _packed: bytes = b""

    @property
    def called(self) -> str:
        """What a sentence calls the model."""
        return CALLED[self.model_name]

    _weights = Bytes().tag(sync=True, to_json=lambda value, widget: memoryview(value))

    def __init__(self, *, _packed: bytes = b"", **traits: Any) -> None:
        if _packed:
            self._packed, named = _packed, traits.setdefault("model_name", OWN)
            rule = f"{OWN!r} where a model is handed over"
            require(named == OWN, "model_name", named, rule, "leave it out")
        super().__init__(**traits)

    @default("_weights")
    def _read_weights(self) -> bytes:
        """The file of the model that is named."""
        return self._packed if self.model_name == OWN else path_of(self.model_name).read_bytes()

    @observe("model_name")
    def _change_model(self, change: Any) -> None:
        """Another name, other weights."""
        self._weights = self._read_weights()

    @classmethod
    def from_model(
        cls,
        model: nn.Module,
        text: str | None = None,
        *,
        vocabulary: Sequence[str] | Task,
        **traits: Any,
    ) -> "TrainedModelWidget":
        """Show a model of your own: a small one that a builder of ``pieces.models`` made.

        The weights are those of this moment; after more training, hand them over again.
        ``text`` is what it reads; ``vocabulary`` has one word for each id, or is the task that has
        it; ``traits`` are the widget's other arguments. True probabilities are known where it has
        the words of ``pieces.tasks.Stories``.
        Raises: TypeError, ValueError if the model or its vocabulary cannot be shown.
        """
        packed = pack_own(model, vocabulary)
        words = vocabulary.vocabulary if isinstance(vocabulary, Task) else vocabulary
        if "world" in cls.class_traits() and sorted(words) != sorted(stories_words.VOCABULARY):
            traits = {"world": {}} | traits
        if text is not None:
            traits["text"] = text
        rule, remedy = f"must be one of {', '.join(cls.kinds)}", "this widget shows no other"
        require(
            kind_of_model(model) in cls.kinds,
            "kind of the model",
            kind_of_model(model),
            rule,
            remedy,
        )
        return cls(_packed=packed, **traits)

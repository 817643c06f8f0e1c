"""TranslationStepper: a trained encoder-decoder translates, and a reader may overrule each word."""

import functools
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from pieces.beam_search import beam_search
from pieces.trace import record
from pieces.trained import shared
from pieces.widgets.stills import grid
from pieces.widgets.trained_model import OWN, ModelName
from pieces.widgets.traits import Choice, Count, Placed, Result, Text
from pieces.widgets.translating import BEGIN, END, MOST, TranslatingWidget, readable

MODELS = ("translator",)
TEXT = "我是一个学生。"
KINDS = {"cross": "decoder", "decoder": "decoder", "encoder": "encoder"}  # whose blocks hold it


class Decoded(NamedTuple):
    """What was read, what was written (an end among it), and how probable each token was."""

    characters: list[str]
    tokens: list[str]
    probabilities: list[float]


@functools.lru_cache(maxsize=64)
def decoded(name: str, text: str, overruled: tuple[tuple[int, str], ...] = ()) -> Decoded:
    """Translate a text with a model of the book: the likeliest token, or the one that is chosen."""
    shipped = shared(name)
    model, task = shipped.model, shipped.task
    read = readable(task, text)
    chosen = {place: task.ids[word] for place, word in overruled if word in task.ids}
    ids, sure = [task.bos_id], []
    source = torch.tensor([[task.ids[one] for one in read]])
    while read and len(sure) < MOST and (len(ids) == 1 or ids[-1] != task.eos_id):
        with torch.no_grad():
            odds = model(source, torch.tensor([ids]))[0, -1].softmax(-1)
        ids.append(chosen.get(len(ids), int(odds.argmax())))
        sure.append(float(odds[ids[-1]]))
    return Decoded(read, [task.vocabulary[n] for n in ids[1:]], sure)


@functools.lru_cache(maxsize=64)
def searched(name: str, text: str, n_beams: int) -> tuple[list[str], int]:
    """Return the words of the best candidate of a beam search, and how many steps it takes."""
    model, task, read = shared(name).model, shared(name).task, decoded(name, text).characters
    source = torch.tensor([[task.ids[one] for one in read]])
    given = {"start_id": task.bos_id, "eos_id": task.eos_id}
    with record(model, outputs=["decoder"]) as trace:
        ids, _ = beam_search(model, source, MOST, n_beams=n_beams, **given)
    words = [task.vocabulary[n] for n in ids[0, 1:].tolist() if n != task.eos_id]
    return words, len(trace.calls("decoder"))


def cross_weights(name: str, text: str, layer: int, head: int) -> tuple[Decoded, Tensor]:
    """Return what is written greedily, and where one head (0: their mean) looked for each token."""
    shipped, said = shared(name), decoded(name, text)
    ids = [[shipped.task.ids[one] for one in part] for part in (said.characters, said.tokens)]
    with torch.no_grad(), record(shipped.model) as trace:
        shipped.model(torch.tensor([ids[0]]), torch.tensor([[shipped.task.bos_id, *ids[1][:-1]]]))
    layer = min(layer, shipped.model.config.n_layers)
    weights = trace[f"decoder.blocks.{layer - 1}.cross_attention.core"]["weights"][0]
    return said, weights[min(head, len(weights)) - 1] if head else weights.mean(0)


class TranslationStepper(TranslatingWidget):
    """Step through a translation: what the decoder read, what it expects, where it looks.

    Args:
        model_name: "translator"; one of your own comes in by ``from_model``.
        text: the Chinese sentence; a character that the model does not know is named and left out.
        step: how many tokens have been written when the next one is chosen.
        overruled: what the reader takes in place of the likeliest token, as [place, word], places
            from 1. One that does not fit is kept and marked.
        search: "greedy" takes the likeliest token at each step, "beam" keeps several candidates;
            a beam search begins afresh and does not use what is overruled.
        n_beams: how many candidates a beam search keeps.
        layer, head: whose attention is shown, from 1; head 0 is the mean of the layer's heads.
        attention: "cross", "decoder" or "encoder": from the words to the characters, among the
            words, or among the characters.

    Read back:
        translation: the words, without the end.
        probabilities: how probable the model found each of them.
        candidates: the likeliest tokens at this step, as [word, probability]; [] with a beam.
        beams: what a beam search has finished up to this step, the best first:
            {"words", "total", "score"}; [] where the search is greedy.
        weights: the attention that is drawn, a row for each token that looks.
        passes: how often each stack has run up to this step: {"encoder": 1, "decoder": step + 1}.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "A translation, step by step"
    models: ClassVar[tuple[str, ...]] = MODELS
    kinds: ClassVar[tuple[str, ...]] = ("encoder_decoder",)

    model_name = ModelName(MODELS[0], MODELS)
    text = Text(TEXT)
    step = Count(3, 0, MOST - 1)
    overruled = Placed(MOST)
    search = Choice("greedy", ("greedy", "beam"))
    n_beams = Count(3, 1, 5)
    layer = Count(2, 1, 32)
    head = Count(0, 0, 64)
    attention = Choice("cross", tuple(KINDS))
    translation = Result()
    probabilities = Result()
    candidates = Result()
    beams = Result()
    weights = Result()
    passes = Result()

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return how many characters are read; of a search, how high its tree is in such rows."""
        name, text = state.get("model_name"), state.get("text")
        if name not in cls.models or not isinstance(text, str):
            return None
        characters = len(decoded(name, text).characters)
        if state.get("search") != "beam" or not characters:
            return max(1, characters)
        _, steps = searched(name, text, state.get("n_beams", 3))
        return round(2.4 / 1.7 * (steps + 1))  # rem: a row of the tree, and one of characters

    def describe(self) -> str:
        """Return the translation, and what is chosen at this step."""
        said = f"{self.called} reads “{self.text}”"
        if self.model_name == OWN or not decoded(self.model_name, self.text).characters:
            return said
        if self.search == "beam":
            words, _ = searched(self.model_name, self.text, self.n_beams)
            kept = f"{self.n_beams} candidate{'s' * (self.n_beams > 1)}"
            return f"{said} and writes “{' '.join(words)}”, by a beam search with {kept}"
        overruled = tuple((place, word) for place, word in self.overruled)
        _, tokens, sure = decoded(self.model_name, self.text, overruled)
        words = [token for token in tokens if token != END]
        step = min(self.step, len(tokens) - 1)
        so_far = " ".join([BEGIN, *tokens[:step]])
        took = f"after {so_far} it takes “{tokens[step]}”, to which it gives {sure[step]:.4f}"
        chose = " with words of the reader’s choice" * bool(overruled)
        return f"{said} and writes “{' '.join(words)}”{chose}; {took}"

    def still(self) -> str:
        """Return the cross-attention of the whole greedy translation."""
        if self.model_name == OWN or not decoded(self.model_name, self.text).characters:
            return ""
        said, weights = cross_weights(self.model_name, self.text, self.layer, self.head)
        caption = "Each row is an English word, each column a character it may have looked at"
        return grid(weights, "weight", caption, rows=said.tokens, columns=said.characters)

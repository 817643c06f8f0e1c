"""WholeModel: a trained model at work on typed text, whole; each part opens, and comes out."""

import functools
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from traitlets import TraitType, default

from pieces.checks import require
from pieces.switches import parts
from pieces.trained import shared
from pieces.widgets.opened_units import Opened, recorded
from pieces.widgets.trained_model import ModelName, TrainedModelWidget
from pieces.widgets.traits import Choice, Count, Result, Text
from pieces.widgets.whole_still import MOST, whole_still
from pieces.widgets.world import World

MODELS = ("stories_llama", "stories_moe", "stories_attention")
TEXT = "This is the story of Lily. She had a red ball. One day, she took the"
SUBLAYER = r"(attention|feed_forward)"
PART = re.compile(
    rf"positions|norm|layer\.[1-9]\d*\.({SUBLAYER}(\.(norm|path))?|(head|expert)\.[1-9]\d*)"
)
OPENS = ("", "next word", "embedding")


class Parts(TraitType):
    """Names of parts of a model, as ``pieces.switches.parts`` gives them."""

    def __init__(self):
        super().__init__(default_value=[])
        self.tag(sync=True)

    def limits(self) -> dict[str, Any]:
        """Return what a name looks like."""
        return {"kind": "words", "most": 64, "pattern": PART.pattern}

    def validate(self, obj: Any, value: Any) -> list[str]:
        """Return `value` as a list, or raise `ValueError` where one is no name of a part."""
        names = isinstance(value, (list, tuple)) and all(
            isinstance(name, str) and PART.fullmatch(name) for name in value
        )
        rule, remedy = "a list of names of parts", 'write "layer.2.head.4", "positions", "norm"'
        require(names, self.name, value, rule, remedy)
        return list(value)


class Part(TraitType):
    """The name of one part, or "" for none."""

    def __init__(self):
        super().__init__(default_value="")
        self.tag(sync=True)

    def limits(self) -> dict[str, Any]:
        """Return what a name looks like."""
        return {"kind": "text", "longest": 40, "pattern": "|".join((*OPENS, PART.pattern))}

    def validate(self, obj: Any, value: Any) -> str:
        """Return `value`, or raise `ValueError` where it is no name of a part."""
        named = isinstance(value, str) and (value in OPENS or bool(PART.fullmatch(value)))
        rule, remedy = '"", "next word", "embedding" or the name of a part', 'say "layer.2.head.4"'
        require(named, self.name, value, rule, remedy)
        return value


class Links(TraitType):
    """Where the chapter of each kind of part stands: relative addresses, by kind."""

    kinds = ("next word", "embedding", "positions", "norm", "path", "attention", "feed_forward")
    kinds += ("experts",)

    def __init__(self):
        super().__init__(default_value={})
        self.tag(sync=True)

    def validate(self, obj: Any, value: Any) -> dict[str, str]:
        """Return `value`, or raise `ValueError` where it is no table of relative addresses."""
        fits = isinstance(value, dict) and all(
            kind in self.kinds and isinstance(link, str) and ":" not in link
            for kind, link in value.items()
        )
        rule, remedy = f"a dict of {', '.join(self.kinds)} to relative addresses", "leave it out"
        require(fits, self.name, value, rule, remedy)
        return dict(value)


@functools.lru_cache(maxsize=32)  # several chapters show it in the same setting
def still_of(name: str, text: str, off: tuple[str, ...], part: str) -> str:
    """Return the still of a model of the book; what it has no such part of is not off."""
    trained = shared(name)
    known = [one for one in off if one in parts(trained.model)]
    return whole_still(trained.model, trained.task, text, known, part)


class WholeModel(TrainedModelWidget):
    """See a whole model at work on a text: play it, open its parts, pull them out.

    Args:
        model_name: "stories_llama", "stories_moe" or "stories_attention"; a model of your own
            comes in by ``from_model``.
        text: what the model reads, at most 40 words; one it does not know is named and left out.
        word: the word that is followed, from 1; 0 is the last one.
        off: parts that are pulled out, by the names of ``pieces.switches.parts``.
        part: the part that is opened, by its name, "next word" or "embedding"; "" is none.
        target: the word whose votes are shown; "" is the likeliest one.
        step: how far the model is played, from the words (1) up; 0 is all of it.
        layer: the layer that a phone shows, from 1; 0 is the one that says most for the word.
        bars: "votes" shows what each part says for that word, "cost" what the guess loses without.
        links: where the chapter of each kind of part stands, "attention" say: a small number beside
            the part leads there.
        opened: the words that open each hidden unit in many stories; known of the book's LLaMA.
        world: the words from which the page tells the stories, and so knows what is true.

    Read back:
        next_words: the likeliest words after the followed one: [word, probability, true one].
        continued: the text and the likeliest word after it, as printed; None where it is full.
        votes: what each part adds to the logit of ``target``; they sum to it.
        lens: what would be said after each part: [word, probability].
        losses: what the likeliest word loses without each part; None until all were tried.
        text_cost: what the whole text costs the model as it is now, in nats a word.
        computed: how many columns the last change made the page compute.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "The whole model"
    models: ClassVar[tuple[str, ...]] = MODELS
    kinds: ClassVar[tuple[str, ...]] = ("llama", "mixtral", "attention_only", "gpt2")

    model_name = ModelName(MODELS[0], MODELS)
    text = Text(TEXT)
    word = Count(0, 0, MOST)
    off = Parts()
    part = Part()
    target = Text("", 40)
    step = Count(0, 0, 200)
    layer = Count(0, 0, 64)
    bars = Choice("votes", ("votes", "cost"))
    links = Links()
    opened = Opened()
    world = World()
    next_words = Result()
    continued = Result()
    votes = Result()
    lens = Result()
    losses = Result()
    text_cost = Result()
    computed = Result()

    @default("opened")
    def _read_opened(self) -> dict[str, dict[str, Any]]:
        """What is known of the book's LLaMA; nothing is of another."""
        return recorded() if self.model_name == "stories_llama" else {}

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return the layers of a model of the book; None of another."""
        name = state.get("model_name")
        return shared(name).model.config.n_layers if name in cls.models else None

    def describe(self) -> str:
        """Return the model, the text, and what is out or open."""
        without = f"; without {', '.join(self.off)}" if self.off else ""
        looking = f"; opened at {self.part}" if self.part else ""
        return f"{self.model_name} reads “{self.text}”, part by part{without}{looking}"

    def still(self) -> str:
        """Return the last words' columns, the opened part marked; "" for a model of your own."""
        if self.model_name not in self.models:
            return ""
        return still_of(self.model_name, self.text, tuple(self.off), self.part)

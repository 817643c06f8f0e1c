"""SamplingExplorer: a trained model writes on, word by word, beside the true probabilities."""

from typing import ClassVar

from pieces.widgets.trained_model import ModelName, TrainedModelWidget
from pieces.widgets.traits import Count, Real, Result, Text, Words
from pieces.widgets.world import World

MODELS = ("stories_llama", "stories_moe", "stories_attention")
TEXT = "Once upon a time there was a shy girl named Lily. She had a red ball. One sunny day, she"
MOST = 128  # words, those of the beginning too: as long as the texts that the models learnt from


class SamplingExplorer(TrainedModelWidget):
    """Let a trained model write on from a text, and see each draw before it is made.

    Args:
        model_name: "stories_llama", "stories_moe" or "stories_attention"; a model of your own
            comes in by ``from_model``.
        text: the beginning; a word that the model does not know is named and left out.
        written: the words that were written behind it, at most 128 with those of ``text``.
        temperature: 0 takes the likeliest word, 1 draws as the model says; at most 3.
        top_k: how many of the likeliest words stay; 0 keeps all.
        top_p: the likeliest words stay until they have this share, from 0.05; 1 keeps all.
        seed: which random numbers are drawn; the same ones write the same words again.
        world: the words from which the page tells the stories, and so knows what is true; {} for
            a model with other words.

    Read back:
        candidates: the likeliest next words: [word, probability, as set, true probability]; the
            last is None where no story goes on like this.
        distance: how far the next word's distribution is from the true one, as total variation:
            {"model": ..., "set": ..., "nats": ...}; "nats" is KL(true, model). None where the true
            one is not known.
        draw: the number from 0 to 1 that draws the next word (None at temperature 0), and the word.
        computed: how many words went through the model for the last one: 1, thanks to its cache.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "A trained model writes"
    models: ClassVar[tuple[str, ...]] = MODELS
    kinds: ClassVar[tuple[str, ...]] = ("llama", "mixtral", "attention_only", "gpt2")

    model_name = ModelName(MODELS[0], MODELS)
    text = Text(TEXT)
    written = Words((), MOST)
    temperature = Real(1.0, 0.0, 3.0)
    top_k = Count(0, 0, 1000)
    top_p = Real(1.0, 0.05, 1.0, step=0.05)
    seed = Count(1, 0, 9999)
    candidates = Result()
    distance = Result()
    draw = Result()
    computed = Result()
    world = World()

    def describe(self) -> str:
        """Return the model, what it was given, how it draws and what it wrote."""
        cuts = [f"top-k {self.top_k}"] * bool(self.top_k)
        cuts += [f"top-p {self.top_p:g}"] * (self.top_p < 1)
        how = ", ".join([f"temperature {self.temperature:g}", *cuts, f"seed {self.seed}"])
        wrote = f", and wrote “{' '.join(self.written)}”" if self.written else ""
        return f"{self.called} goes on from “{self.text}”{wrote} ({how})"

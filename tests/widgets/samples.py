"""One example of each widget of the book, for the tests that hold for all of them."""

from twins import build, vocabulary

import pieces.widgets
from pieces import masks


def reading(name="attention-only", text="the blue book . Tom the blue ice-cream", **more):
    """Return an AttentionHeatmap of a small random model."""
    _, model = build(name)
    words = vocabulary(model.config.vocab_size)
    return pieces.widgets.AttentionHeatmap.from_model(model, text, vocabulary=words, **more)


def story(text="the blue book . Tom the blue ice-cream", **more):
    """Return a PronounArcs of a small random model."""
    _, model = build("llama")
    words = vocabulary(model.config.vocab_size)
    others = ["book", "ice-cream"]
    return pieces.widgets.PronounArcs.from_model(
        model, vocabulary=words, text=text, others=others, **more
    )


def units(text="the blue book . Tom the blue ice-cream", **more):
    """Return a HiddenUnits of a small random model."""
    _, model = build("llama")
    words = vocabulary(model.config.vocab_size)
    return pieces.widgets.HiddenUnits.from_model(model, text, vocabulary=words, **more)


def routes(text="the blue book . Tom the blue ice-cream", **more):
    """Return a RouterExplorer of a small random model."""
    _, model = build("mixtral")
    words = vocabulary(model.config.vocab_size)
    return pieces.widgets.RouterExplorer.from_model(model, text, vocabulary=words, **more)


def writing(text="the blue book . Tom the blue ice-cream", **more):
    """Return a SamplingExplorer of a small random model."""
    _, model = build("llama")
    words = vocabulary(model.config.vocab_size)
    return pieces.widgets.SamplingExplorer.from_model(model, text, vocabulary=words, **more)


EXAMPLES = {
    "AttentionHeatmap": reading,
    "FillMask": lambda **more: pieces.widgets.FillMask(
        **{"question": "Fill in a causal mask.", "answer": masks.causal(4), "why": "j <= i."} | more
    ),
    "HiddenUnits": units,
    "PronounArcs": story,
    "RouterExplorer": routes,
    "SamplingExplorer": writing,
    "PredictNumber": lambda **more: pieces.widgets.PredictNumber(
        **{"question": "What is 1/4?", "answer": 0.25, "hint": "Divide.", "why": "1 : 4."} | more
    ),
}
NAMES = pieces.widgets.__all__


def example(name, **more):
    """Return a widget by its class name; `more` are arguments."""
    return EXAMPLES.get(name, getattr(pieces.widgets, name))(**more)

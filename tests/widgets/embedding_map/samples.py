"""EmbeddingMap: pictures that its oracle must take, on which faults are tried."""

from pieces.widgets import EmbeddingMap


def typed(page):
    page.get_by_label("word", exact=True).fill("dgo")


# A widget, and what a reader does with it.
PICTURES = {
    "red": (lambda: EmbeddingMap(), None),
    "on the way": (lambda: EmbeddingMap(word="happy", toward="Tom", way=0.45), None),
    "another model": (
        lambda: EmbeddingMap(model_name="translator", word="猫", toward="dog", way=1.0),
        None,
    ),
    "unknown": (lambda: EmbeddingMap(word="park"), typed),
}  # fmt: skip

"""The words of the small world: a page that has them tells the stories, and knows what is true."""

from typing import Any

from traitlets import TraitType

from pieces.checks import require
from pieces.tasks import stories_words

# The tables of words from which the page tells the stories, by their names in stories_words.py.
TABLES = stories_words.several(
    """
    GIRLS BOYS PETS ANIMALS TAME FAMILY WORKERS LOOKS COLOURS SIZES THINGS FOODS BAKED MEALS DRINKS
    OUTINGS INSIDE OUTSIDE HOMES KINDS GLAD SAD SHOWN WEATHER TIMES NUMBERS PASTIMES HERD
    """
)


def world() -> dict[str, Any]:
    """Return the words of the small world, from which the page knows what can follow."""
    return {name: getattr(stories_words, name) for name in TABLES}


class World(TraitType):
    """The words of the small world by their tables, or {} for another language."""

    def __init__(self):
        super().__init__(default_value=world())
        self.tag(sync=True)

    def validate(self, obj: Any, value: Any) -> dict[str, Any]:
        """Return `value`, or raise `ValueError` where it is another world."""
        known = isinstance(value, dict) and value in ({}, world())
        require(known, self.name, "another form", "that of the small world, or {}", "leave it out")
        return value

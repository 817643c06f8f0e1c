"""ModelTable: 25 models to sort, search and compare, and what their choices became."""

import functools
from typing import Any

from traitlets import default

from pieces.widgets import stills
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Choice, Result, Switch, Text
from pieces.zoo import MODEL_TABLE, OUR_MODELS, PARTS, Row, built_words, counted, sourced_words

ROWS = MODEL_TABLE | OUR_MODELS
COLUMNS = ("norm", "position", "activation")
SHOWN = ("name", "year", "size", "total", *COLUMNS, "n_layers", "n_heads", "d_model", "head_dim")
SIZES = ("n_layers", "n_heads", "n_kv_heads", "head_dim", "d_model", "d_ff", "vocab_size")
BLANK = "blank"
HEADS = ("model", "kind", "size", "norm", "position", "activation", "layers", "heads", "width")


def vocabulary(column: str) -> tuple[str, ...]:
    """Return the words of a column, those of the table first: "Pre Layer", "Pre RMS", …"""
    found = [getattr(row.printed, column) for row in ROWS.values()]
    found += [built_words(row.built)[column] for row in ROWS.values()]
    return tuple(dict.fromkeys(filter(None, found)))


def fact(row: Row) -> dict[str, Any]:
    """Return what the page knows of a model: as printed, by the sources, counted."""
    built, count = row.built, dict(counted(row.name))
    sizes = {"n_kv_heads": built.kv_heads, "head_dim": built.head_size}
    told = [[s.fields.split(), s.citation, s.assumed] for s in row.sources]
    return {
        "name": row.name,
        "ours": row.ours,
        "year": row.appeared.year,
        "where": row.appeared.where,
        "category": row.printed.category,
        "size": row.printed.parameters,
        "printed": {column: getattr(row.printed, column) for column in COLUMNS},
        "sources": sourced_words(row),
        "sizes": {name: sizes.get(name, getattr(built, name)) for name in SIZES},
        "total": count["total"],
        "parts": {part: count[part] for part in PARTS if count[part]},
        "notes": [*row.differences.items()],
        "beyond": row.beyond or "",
        "told": told,
    }


def printed(row: Row) -> list[str]:
    """Return a row's cells as the table prints them."""
    p = row.printed
    words = (p.category, p.size, p.norm, p.position, p.activation)
    sizes = (p.n_layers, p.n_heads, p.d_model)
    return [row.name, *(word or "–" for word in words), *(f"{number:,}" for number in sizes)]


@functools.cache
def facts() -> list[dict[str, Any]]:
    """Return all models, each built on the meta device and counted once a session."""
    return [fact(row) for row in ROWS.values()]


class ModelTable(PieceWidget):
    """The 25 models of Table 5.1 as rows, and two of them side by side; or one choice by year.

    What is counted is built by `pieces.zoo` at full size, without memory.

    Args:
        view: "table", or by year "norm", "position" or "activation".
        find: what a reader looks for, words of up to 60 characters; each must be found in a row.
            A star finds the rows that are not as printed.
        norm: "any", "blank", or one of the table's words: "Pre Layer", "Pre RMS", "Post Deep" …
        position: the same: "Learned", "RoPE", "ALiBi", "Relative".
        activation: the same: "GELU", "ReLU", "SwiGLU", "GeGLU".
        words: "printed", with the table's own blanks, or "sources", where what a paper or
            published weights say stands instead; what nobody says stays blank.
        ours: whether six models of 2024 stand beside it, which the table lacks.
        by: the column that sorts, "" for the order of the table.
        falling: whether the largest is first.
        one: a model to be compared,
        two: and the other.

    Read back:
        found: the names of the rows that are shown, in their order.
        models: what the page knows of each model; the counts are the package's.

    Raises:
        ValueError: an unknown argument or a value that is none of the options.
    """

    title = "Twenty-five models, one table"

    view = Choice("table", ("table", *COLUMNS))
    find = Text("", longest=60)
    norm = Choice("any", ("any", *vocabulary("norm"), BLANK))
    position = Choice("any", ("any", *vocabulary("position"), BLANK))
    activation = Choice("any", ("any", *vocabulary("activation"), BLANK))
    words = Choice("printed", ("printed", "sources"))
    ours = Switch(False)
    by = Choice("", ("", *SHOWN))
    falling = Switch(False)
    one = Choice("GPT-3", tuple(ROWS))
    two = Choice("LLaMA-2", tuple(ROWS))
    found = Result()
    models = Result()

    @default("models")
    def _count_models(self) -> list[dict[str, Any]]:
        """The facts of all rows."""
        return facts()

    def describe(self) -> str:
        """Return what is shown, and which two are compared."""
        chosen = [f"{c} {getattr(self, c)}" for c in COLUMNS if getattr(self, c) != "any"]
        chosen += [f"“{self.find}”"] if self.find.strip() else []
        rows = "25 models and 6 of ours" if self.ours else "25 models"
        shown = "as a table" if self.view == "table" else f"{self.view} by year"
        kept = f" with {', '.join(chosen)}" if chosen else ""
        order = f", by {self.by}, {'falling' if self.falling else 'rising'}" if self.by else ""
        return f"{rows}{kept}, {shown}{order}; {self.one} beside {self.two}"

    def still(self) -> str:
        """Return the rows as they are printed, in the order of the table."""
        shown = [row for row in ROWS.values() if self.ours or not row.ours]
        caption = "The rows as they are printed; a dash is a blank of the table"
        return stills.sheet([printed(row) for row in shown], HEADS, caption)

"""The figures and tables of chapter 16: rows built, counted, and held against their names."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace

import torch

from pieces.book import plot
from pieces.book.tables import Table, table
from pieces.zoo import (
    MODEL_TABLE,
    OUR_MODELS,
    Architecture,
    assemble,
    count_parameters,
    counted,
    sourced_words,
)

COLUMNS = ("norm", "position", "activation")
BLANK = "left blank"
OWN_HEADS = ("PaLM", "LaMDA", "Gemma", "T5")


def total(a: Architecture) -> int:
    """Build an architecture without memory, on the meta device, and count its parameters."""
    with torch.device("meta"):
        return count_parameters(assemble(a))["total"]


def off(name: str) -> float:
    """How far the count of a row is from the size in its name, as a share."""
    return counted(name)["total"] / MODEL_TABLE[name].printed.parameters - 1


def config(name: str) -> Table:
    """Show what a row is built from, field by field, and where each field comes from."""
    row = (MODEL_TABLE | OUR_MODELS)[name]
    plain = asdict(Architecture(1, 1, 1, 1, 1))
    rows = []
    for field, value in asdict(row.built).items():
        source = row.source(field)
        if value != plain[field] and value is not None:
            rows.append([field, f"{value:,}" if isinstance(value, int) else str(value),
                         re.split(r" \(|[,:;] ", source)[0]])  # fmt: skip
    caption = "What is not listed has its default."
    return table(rows, ["field", "value", "known from"], caption=caption)


def headlines() -> None:
    """Draw how far each row's count is from the size in its name."""
    names = sorted(MODEL_TABLE, key=off)
    fig, axes = plot.figure(5.6, 4.6)
    axes.axvspan(-3.5, 3.5, color=plot.ROLE["weight"], alpha=0.12, linewidth=0)
    for y, name in enumerate(names):
        near = abs(off(name)) < 0.035
        axes.plot([0, 100 * off(name)], [y, y], "-", color=plot.ROLE["residual"], linewidth=1)
        axes.plot(100 * off(name), y, "o", color=plot.ROLE["query" if near else "score"], ms=5)
    axes.set_yticks(range(len(names)), names, fontsize=8.5)
    axes.set(xlabel="counted against named, %")
    near = sum(abs(off(name)) < 0.035 for name in names)
    far = ", ".join(f"{name} {100 * off(name):+.1f} %" for name in names[near:])
    plot.show(fig, alt=f"{near} of {len(names)} counts lie within 3.5 % of the name; {far}.")


def without_words(names: Sequence[str] = ("Baichuan-2", "Gemma")) -> Table:
    """Show the counts with and without the tables of words: embedding, and a head of its own."""
    rows = []
    for name in names:
        found = counted(name)
        words = found["embedding"] + found["head"]
        rows.append([name, MODEL_TABLE[name].printed.size, found["total"] / 1e9, words / 1e9,
                     (found["total"] - words) / 1e9])  # fmt: skip
    return table(rows, ["", "name says", "counted", "words", "without"], caption="In billions.")


def thumb(a: Architecture) -> int:
    """The rule of thumb: 12 parameters for each layer and each square of the width."""
    return 12 * a.n_layers * a.d_model**2


def heads(names: Sequence[str] = OWN_HEADS) -> Table:
    """Show heads whose size is not the width over their number, and the count if it were."""
    rows = []
    for name in names:
        a, size = MODEL_TABLE[name].built, counted(name)["total"]
        even = a.d_model // a.n_heads
        rows.append([name, a.n_heads, even, a.head_size, size / 1e9,
                     total(replace(a, head_dim=even)) / 1e9])  # fmt: skip
    heads = ["", "H", "D / H", "K", "counted", "if K = D / H"]
    return table(rows, heads, digits=1, caption="Counts in billions.")


def word(name: str, column: str, sources: bool = True) -> str:
    """A row's word in a column, by the sources or as printed."""
    row = MODEL_TABLE[name]
    return (sourced_words(row)[column] if sources else getattr(row.printed, column)) or BLANK


def became(column: str, sources: bool = True) -> dict[str, Counter]:
    """How often each word of a column was chosen in each year, in the order of their years."""
    found: dict[str, Counter] = {}
    for name, row in MODEL_TABLE.items():
        found.setdefault(word(name, column, sources), Counter())[row.appeared.year] += 1
    mean = {w: sum(y * n for y, n in of.items()) / of.total() for w, of in found.items()}
    return {w: found[w] for w in sorted(found, key=lambda w: (w == BLANK, mean[w], w))}


def by_year() -> None:
    """Draw how many models of each year chose each norm, position and activation."""
    kinds = [became(column) for column in COLUMNS]
    years = sorted({row.appeared.year for row in MODEL_TABLE.values()})
    top = max(max(of.values()) for found in kinds for of in found.values())
    fig, panels = plot.figure(4.4, 3.5, rows=3)
    said = []
    for column, found, axes in zip(COLUMNS, kinds, panels, strict=True):
        counts = torch.tensor([[of[year] for year in years] for of in found.values()])
        short = [f"’{year % 100}" for year in years]
        plot.heatmap(
            axes, counts, role="residual", top=top, rows=list(found), columns=short, digits=0
        )
        for text in axes.texts:
            text.set_visible(text.get_text() != "0")
        axes.set_aspect("auto")
        axes.set_title(column, loc="left", fontsize=9.5)
        axes.tick_params(labeltop=column == COLUMNS[0])
        last = {name: of[2024] for name, of in found.items() if of[2024]}
        said.append(f"{column}, 2024: " + ", ".join(f"{w} {n}" for w, n in last.items()))
    plot.show(fig, alt=f"Models by year and choice. {'; '.join(said)}.")


def blanks() -> Table:
    """Show what the table leaves blank, what is built in its place, and who says so."""
    rows = []
    for name, row in MODEL_TABLE.items():
        told = sourced_words(row)
        for column in COLUMNS:
            if getattr(row.printed, column) is None:
                built = row.differences[column].removeprefix("blank; built ").partition(", as")[0]
                rows.append([name, column, built, "a source" if told[column] else "we assume"])
    return table(rows, ["model", "column", "built as", "because"])


def newcomers() -> Table:
    """Show the rows of ours: named and counted, and what they share of heads."""
    rows = [
        [name, row.printed.size, counted(name)["total"] / 1e9, row.built.n_heads,
         row.built.kv_heads, row.built.head_size]
        for name, row in OUR_MODELS.items()
    ]  # fmt: skip
    return table(
        rows, ["", "named", "counted", "H", "G", "K"], caption="Rows of ours, counts in billions."
    )

"""A small table of results: text that a test compares, HTML that a page lays out."""

import html
import math
import re
from collections.abc import Sequence
from typing import Annotated, Any

from tabulate import tabulate

from pieces.checks import Filled, Natural, Number, Size, checked, require

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# A number that came as a text: −0.25, 363,000, 3.6·10⁻¹⁵, < 0.01, 20 %, 39.5 billion.
WRITTEN = re.compile(r"(< ?)?−?\d[\d,]*(\.\d+)?(·10⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?(\s?(%|million|billion))?")
NOTHING = ("", "–")

# For notebooks, whose own tables are striped, right-aligned and small: JupyterLab says so with two
# classes, so the class stands here twice. The site has its own.
STYLE = """
.pieces-table { max-width: 100%; overflow-x: auto; }
.pieces-table table { border-collapse: collapse; margin: .5em 0; font-size: 1em; }
.pieces-table caption { caption-side: top; text-align: left; padding-bottom: .5em; opacity: .8;
  width: max-content; max-width: min(36rem, 92vw); }
.pieces-table.pieces-table :is(thead, tbody) tr { background: none; }
.pieces-table.pieces-table :is(th, td) { padding: .35em 1.2em .35em 0; text-align: left;
  border-bottom: 1px solid #8885; background: none; font-weight: inherit; }
.pieces-table.pieces-table thead th { border-bottom-width: 2px; font-weight: 600; }
.pieces-table.pieces-table tr .number { text-align: right; font-variant-numeric: tabular-nums; }
"""


class Table:
    """Rows under headers, as a notebook shows them: HTML, or the same as text."""

    def __init__(self, cells: list[list[str]], headers: list[str], numbers: list[bool], name: str):
        self.cells, self.headers, self.numbers, self.caption = cells, headers, numbers, name

    def __repr__(self) -> str:
        """Return the table as text, laid out by spaces."""
        sides = ["right" if number else "left" for number in self.numbers]
        options = {"tablefmt": "simple", "colalign": sides, "disable_numparse": True}
        text = tabulate(self.cells, self.headers, **options)
        lines = "\n".join(line.rstrip() for line in text.splitlines())
        return f"{self.caption}\n\n{lines}" if self.caption else lines

    def _repr_html_(self) -> str:
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        head = self._row(self.headers, 'th scope="col"', 'th scope="col"')
        rows = "".join(self._row(row, 'th scope="row"', "td") for row in self.cells)
        label = html.escape(self.caption or ", ".join(self.headers), quote=True)
        return (
            f'<div class="pieces-table" role="region" tabindex="0" aria-label="{label}">'
            f"<style>{STYLE}</style><table>{caption}<thead>{head}</thead>"
            f"<tbody>{rows}</tbody></table></div>"
        )

    def _row(self, texts: list[str], first: str, other: str) -> str:
        """One row: its first cell names it."""
        cells = []
        for at, (text, number) in enumerate(zip(texts, self.numbers, strict=True)):
            tag = (first if at == 0 else other) if text else "td"  # an empty header names nothing
            side = ' class="number"' if number else ""
            cells.append(f"<{tag}{side}>{html.escape(text)}</{tag[:2]}>")
        return f"<tr>{''.join(cells)}</tr>"


@checked
def table(
    rows: Annotated[Sequence, Filled()],
    headers: Annotated[Sequence, Filled()],
    *,
    digits: Natural | Sequence[int] = 2,
    caption: str = "",
) -> Table:
    """Make a table of results; put it last in a cell, or hand it to ``display``.

    A whole number stays whole, another one has so many digits behind the point (one for all
    columns, or one for each). From 1,000 on three digits stand together, so a year comes as a text.
    A column of numbers is right-aligned, also where they are texts already. The first cell names
    its row.

    Raises: TypeError for a cell that is no text and no number, ValueError for a ragged table.
    """
    names = [_text(name, 0) for name in headers]
    each = list(digits) if isinstance(digits, Sequence) else [digits] * len(names)
    _fits("digits", each, names)
    for at, row in enumerate(rows):
        _fits(f"rows[{at}]", row, names)
    cells = [[_text(cell, n) for cell, n in zip(row, each, strict=True)] for row in rows]
    numbers = [_of_numbers(column) for column in zip(*rows, strict=True)]
    return Table(cells, names, numbers, caption)


def _of_numbers(column: tuple) -> bool:
    """Whether a column holds a number, or texts that all are one."""
    cells = [cell for cell in column if cell not in NOTHING]
    texts = [cell for cell in cells if isinstance(cell, str)]
    return len(texts) < len(cells) or (bool(texts) and all(map(WRITTEN.fullmatch, texts)))


def _fits(argument: str, row: Sequence, names: list[str]) -> None:
    """Refuse a row that is no list of as many as there are headers."""
    fits = isinstance(row, list | tuple) and len(row) == len(names)
    require(fits, argument, row, f"must be a list of {len(names)}", "give one for each header")


@checked
def scientific(value: Number, digits: Size = 2) -> str:
    """A number by the digits that count, as the book writes it: 0.62, 3.6·10⁻¹⁵, −2.4·10⁸.

    A power of ten stands below 0.0001, and from 10 to the power of ``digits`` on.
    """
    plain, _, power = f"{value:z.{digits}g}".partition("e")
    raised = f"·10{str(int(power)).translate(RAISED)}" if power else ""
    return plain.replace("-", "−") + raised


@checked(always=True)
def _text(cell: Any, digits: Natural) -> str:
    """One cell as it is read: −0.25, 1,024, ∞."""
    known = isinstance(cell, str | int | float) and not isinstance(cell, bool)
    rule, remedy = "must be a text, an int or a float", "pass x.item() of a tensor"
    require(known, "cell", cell, rule, remedy, TypeError)
    if isinstance(cell, str):
        return cell
    if math.isnan(cell):
        return "not a number"
    # z: no −0.00, which would differ between machines.
    text = f"{cell:,}" if isinstance(cell, int) else f"{cell:z,.{digits}f}"
    return text.replace("-", "−").replace("inf", "∞")

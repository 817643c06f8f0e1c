"""Still pictures of widgets, made without a browser: what stands there where no script runs."""

import html
from collections.abc import Sequence

import torch

CELL, EDGE = 26, 20


def _text(x: int | float, y: int | float, words: object, anchor: str = "middle") -> str:
    """Return an SVG text."""
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{html.escape(str(words))}</text>'


def grid(
    values: torch.Tensor,
    role: str,
    caption: str,
    *,
    mask: torch.Tensor | None = None,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    digits: int | None = None,
) -> str:
    """Return a heat map [T, S] as SVG, masked cells hatched; `digits` prints the numbers."""
    T, S = values.shape
    cell = CELL if digits is None else CELL + 12
    rows = [*rows] or range(1, T + 1)
    columns = [*columns] or range(1, S + 1)
    left = max(EDGE, 6 + 7 * max(len(str(name)) for name in rows))
    top = values.abs().max().item() or 1.0
    marks = [_text(left - 5, EDGE + (i + 0.62) * cell, name, "end") for i, name in enumerate(rows)]
    marks += [_text(left + (j + 0.5) * cell, EDGE - 6, name) for j, name in enumerate(columns)]
    for i in range(T):
        for j in range(S):
            x, y, value = left + j * cell, EDGE + i * cell, values[i, j].item()
            place = f'x="{x:g}" y="{y:g}" width="{cell - 1}" height="{cell - 1}"'
            if mask is not None and not mask[i, j]:
                marks.append(f'<rect {place} class="p-masked"/>')
                continue
            end = "negative" if value < 0 else role
            opacity = 0.9 * abs(value) / top if digits is None else 0.35 * abs(value) / top
            marks.append(f'<rect {place} fill="var(--p-{end})" fill-opacity="{opacity:.2f}"/>')
            if digits is not None:
                number = f"{value:z.{digits}f}".replace("-", "−")
                marks.append(_text(x + cell / 2 - 0.5, y + cell * 0.62, number))
    width, height = left + S * cell, EDGE + T * cell
    return (
        f'<figure class="p-still"><figcaption>{html.escape(caption)}</figcaption>'
        f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img"'
        f' aria-label="{html.escape(caption)}">{"".join(marks)}</svg></figure>'
    )


def sheet(rows: Sequence[Sequence[str]], headers: Sequence[str], caption: str) -> str:
    """Return a table of texts as HTML."""

    def line(tag: str, cells: Sequence[str]) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    body = line("th", headers) + "".join(line("td", cells) for cells in rows)
    return (
        f'<figure class="p-still" tabindex="0"><figcaption>{html.escape(caption)}</figcaption>'
        f"<table>{body}</table></figure>"
    )

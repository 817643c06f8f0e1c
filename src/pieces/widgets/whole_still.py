"""A still of the whole model, made by torch: what stands there where no script runs."""

import html
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from pieces.inside import inside, lens
from pieces.tasks import Task

LEFT, EACH, ROW, BARS, FOOT = 108, 52, 34, 62, 26
SHOWN = 13  # words: the last of the text
MOST = 40  # words that the widget reads


def whole_still(model: torch.nn.Module, task: Task, text: str, off: Sequence[str], lit: str) -> str:
    """Return the columns of the last words as SVG: their stream, and what it would say.

    ``lit`` is the part that is opened: its band is marked.
    """
    ids = torch.tensor([task.ids[word] for word in task.cut(text) if word in task.ids][:MOST])
    if not len(ids):
        return ""
    values = inside(model, ids, off)
    strips = [name for name in values if name.endswith(".stream")]
    seen = {name: lens(model, values[name], off).softmax(-1).max(-1) for name in strips}
    first = max(0, len(ids) - SHOWN)
    ground = BARS + ROW * len(strips)
    height, width = ground + FOOT, LEFT + EACH * (len(ids) - first)
    marks = [_band(name, n, len(strips), width, lit) for n, name in enumerate(strips)]
    for t in range(first, len(ids)):
        x = LEFT + (t - first + 0.5) * EACH
        sizes = [float(values[name][t].square().mean().sqrt()) for name in strips]
        marks += [_pipe(x, size, n, len(strips)) for n, size in enumerate(sizes)]
        words = [task.vocabulary[int(seen[name].indices[t])] for name in strips]
        marks += [_word(x, _top(n, len(strips)) + 11, word) for n, word in enumerate(words)]
        marks.append(_word(x, ground + 18, task.vocabulary[int(ids[t])], "600"))
        marks.append(_bar(x, values["logits"][t]))
    caption = f"What the model would say behind each part, for “{text[-60:]}”"
    return (
        f'<figure class="p-still"><figcaption>{html.escape(caption)}</figcaption>'
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img"'
        f' aria-label="{html.escape(caption)}">{"".join(filter(None, marks))}</svg></figure>'
    )


def _top(strip: int, strips: int) -> int | float:
    """Where a strip begins: the first one stands at the foot."""
    return BARS + ROW * (strips - 1 - strip)


def _band(name: str, strip: int, strips: int, width: int | float, lit: str) -> str:
    """The name of the part that wrote this strip, marked where it is the one looked at."""
    part = name.removesuffix(".stream")
    y = _top(strip, strips)
    here = lit and (lit == part or lit.startswith(f"{part}.") or _head_of(lit) == part)
    mark = f'<rect x="0" y="{y}" width="{width}" height="{ROW}" fill="var(--p-weight)"'
    mark = f'{mark} fill-opacity=".18"/>' if here else ""
    label = part.replace("layer.", "").replace("_", "-").replace(".", " ")
    return f'{mark}<text x="4" y="{y + 21}">{html.escape(label)}</text>'


def _head_of(name: str) -> str:
    """The sublayer that a head or an expert belongs to."""
    layer, found, _ = name.partition(".head.")
    if found:
        return f"{layer}.attention"
    layer, found, _ = name.partition(".expert.")
    return f"{layer}.feed_forward" if found else ""


def _pipe(x: int | float, size: int | float, strip: int, strips: int) -> str:
    """The stream behind a part, as wide as it is strong, on a scale of logarithms."""
    wide = EACH * 0.68 * min(1.0, max(0.03, (math.log10(max(size, 1e-9)) + 1) / 3.2))
    place = f'x="{x - wide / 2:.1f}" y="{_top(strip, strips) + 15}" width="{wide:.1f}"'
    return f'<rect {place} height="{ROW - 16}" fill="var(--p-residual)" fill-opacity=".3"/>'


def _word(x: int | float, y: int | float, word: str, weight: str = "400") -> str:
    """A word in the middle of its column, no wider than it."""
    size = min(11.0, (EACH - 3) / (0.56 * len(word)))
    style = f'text-anchor="middle" font-size="{size:.1f}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y}" {style}>{html.escape(word)}</text>'


def _bar(x: int | float, logits: Tensor) -> str:
    """The probability of the likeliest next word."""
    high = float(logits.softmax(-1).max()) * (BARS - 8)
    place = f'x="{x - 11:.1f}" y="{BARS - 4 - high:.1f}" width="22" height="{high:.1f}"'
    return f'<rect {place} fill="var(--p-output)"/>'

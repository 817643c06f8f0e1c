"""The package's code on the page: ``code(masks.causal)`` shows what runs, without its docstring.

A notebook shows it highlighted, with docstring and file one press away, and so is each further
thing that was named; where nothing was run, or nothing but text is drawn, it is all code as text.
"""

import ast
import html
import inspect
import itertools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from pieces.checks import require

CHECKS = ("checked",)  # decorators that refuse bad input and compute nothing

# Colours are those of Jupyter's own editor. A long line goes on below, set in under its beginning:
# Jupyter alone would tear it inside a word.
STYLE = """
.pieces-code pre { margin: 0; padding: .5em .8em; line-height: 1.5; white-space: pre-wrap;
  word-break: normal; overflow-wrap: anywhere; border-left: 3px solid #8885; }
.pieces-code .line { display: block; padding-left: var(--hang);
  text-indent: calc(-1 * var(--hang)); }
.pieces-code summary { cursor: pointer; padding: .4em 0; opacity: .8; }
.pieces-code .pieces-other { margin: .4em 0; border-top: 1px solid #8885; }
.pieces-code .pieces-other > summary code { font-weight: 600; background: none; }
.pieces-code .pieces-file pre { max-height: 26em; overflow: auto; }
.pieces-code :is(.k, .kn, .kc, .kd, .ow) { color: var(--jp-mirror-editor-keyword-color, inherit);
  font-weight: 600; }
.pieces-code :is(.o, .nd) { color: var(--jp-mirror-editor-operator-color, inherit); }
.pieces-code :is(.nf, .nc) { color: var(--jp-mirror-editor-def-color, inherit); }
.pieces-code :is(.s1, .s2, .sd) { color: var(--jp-mirror-editor-string-color, inherit); }
.pieces-code :is(.mi, .mf) { color: var(--jp-mirror-editor-number-color, inherit); }
.pieces-code .c1 { color: var(--jp-mirror-editor-comment-color, inherit); font-style: italic; }
"""


class Excerpt(NamedTuple):
    """One function, class or method: where it is, its code, its docstring, its file's text."""

    name: str
    module: str
    code: str
    docstring: str
    file: str


class Code:
    """Some excerpts of the package, as a notebook shows them: HTML, or the same as text."""

    def __init__(self, first: Excerpt, *others: Excerpt) -> None:
        self.excerpts = [first, *others]

    def __repr__(self) -> str:
        """Return the code alone."""
        return "\n\n\n".join(excerpt.code for excerpt in self.excerpts)

    def _repr_html_(self) -> str:
        first, *others = self.excerpts
        blocks = _block(first) + "".join(map(_closed, others))
        return f'<div class="pieces-code"><style>{STYLE}</style>{blocks}</div>'


def code(first: Any, *others: Any) -> Code:
    """Show the code of functions, classes or methods: signature and body as they stand in the file.

    The first one is open, each other one waits closed under its name. Docstrings and the decorators
    that check arguments are left out; one press shows them, and the whole file.

    Raises: ValueError for what is none of the three, or is not written in Python.
    """
    more = (_excerpt(f"others[{at}]", thing) for at, thing in enumerate(others))
    return Code(_excerpt("first", first), *more)


def _excerpt(argument: str, thing: Any) -> Excerpt:
    """One thing's code, or the reason why there is none."""
    rule = "must be a function, a class or a method, written in Python by def or class"
    remedy = "pass the function or the class itself, such as masks.causal or type(layer)"
    inner = inspect.unwrap(thing.fget if isinstance(thing, property) else thing)
    lines, file = _source(inner)
    require(bool(lines), argument, thing, rule, remedy)
    indent = len(lines[0]) - len(lines[0].lstrip())
    lines = [line.removeprefix(lines[0][:indent]) for line in lines]
    hidden = set(_left_out(ast.parse("".join(lines)), lines))
    shown = "".join(line for number, line in enumerate(lines, start=1) if number not in hidden)
    docstring = inspect.getdoc(inner) or ""
    return Excerpt(inner.__qualname__, inner.__module__, shown.rstrip(), docstring, file)


def _source(thing: Any) -> tuple[list[str], str]:
    """The lines that define a thing, and its whole file: both empty where there are none."""
    try:
        lines, file = inspect.getsourcelines(thing)[0], "".join(inspect.findsource(thing)[0])
    except (OSError, TypeError):  # built in, or no definition at all
        return [], ""
    defined = re.match(r"\s*(@|(async )?def |class )", lines[0])  # a module or a lambda is not
    return (lines, file) if defined else ([], "")


def _left_out(tree: ast.AST, lines: list[str]) -> Iterator[int]:
    """The numbers of the lines, from 1, of docstrings and of the decorators that check."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in (node for node in ast.walk(tree) if isinstance(node, kinds)):
        if ast.get_docstring(node) is not None and len(node.body) > 1:
            words = node.body[0]
            yield from range(words.lineno, words.end_lineno + 1)
            after = itertools.takewhile(lambda line: not line.strip(), lines[words.end_lineno :])
            yield from (words.end_lineno + number for number, _ in enumerate(after, start=1))
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if ast.unparse(called).rpartition(".")[2] in CHECKS:
                yield from range(decorator.lineno, decorator.end_lineno + 1)


def _closed(excerpt: Excerpt) -> str:
    """The same under its name, closed."""
    name, module = html.escape(excerpt.name), html.escape(excerpt.module)
    summary = f"<summary><code>{name}</code> <span>{module}</span></summary>"
    return f'<details class="pieces-other">{summary}{_block(excerpt)}</details>'


def _block(excerpt: Excerpt) -> str:
    """The code, and behind one press the docstring and the file."""
    name, module = html.escape(excerpt.name), html.escape(excerpt.module)
    docstring = f"<pre>{html.escape(excerpt.docstring)}</pre>" if excerpt.docstring else ""
    label = f"the file of {module}"
    summary = f"<summary>{module}.{name}: docstring and file</summary>"
    return (
        f'<div class="highlight">{_pre(excerpt.code)}</div>'
        f'<details class="pieces-more">{summary}{docstring}'
        f'<div class="pieces-file" data-module="{module}" data-name="{name}">'
        f'<div class="highlight" role="region" tabindex="0" aria-label="{label}">'
        f"{_pre(excerpt.file)}</div></div><!-- file --></details>"
    )


def _pre(text: str) -> str:
    """Highlighted code, each line in an element of its own that knows how far it is set in."""
    coloured = highlight(text, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True))
    rows = []
    for line, coloured_line in zip(text.splitlines(), coloured.splitlines(), strict=True):
        hang = len(line) - len(line.lstrip()) + 4
        rows.append(f'<span class="line" style="--hang:{hang}ch">{coloured_line}\n</span>')
    return f"<pre>{''.join(rows)}</pre>"

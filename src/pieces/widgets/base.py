"""The strict base class of every widget in the book."""

import base64
import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import anywidget

from pieces.widgets.traits import Result

STATIC = Path(__file__).parent / "static"
IMPORT = re.compile(r'(?P<head>\bfrom\s+)"\./(?P<name>\w+)\.js"')

LOADER = r"""const made = (globalThis.piecesAddresses ??= new Map());
const address = {};
for (const [name, source] of SOURCES) {
  const from = (_, head, other) => `${head}"${address[other]}"`;
  const text = source.replace(/(\bfrom\s+)"\.\/(\w+)\.js"/g, from);
  const blob = () => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  if (!made.has(text)) made.set(text, blob());
  address[name] = made.get(text);
}
export default (await import(address[NAME])).default;
"""


def imports(source: str) -> list[str]:
    """Return the names of the modules that an ES module imports by relative path."""
    return [match["name"] for match in IMPORT.finditer(source)]


@functools.cache
def read_static(filename: str) -> str:
    """Return the text of a file in `static/`, or "" where there is none."""
    path = STATIC / filename
    return path.read_text(encoding="utf-8") if path.exists() else ""


@functools.cache
def inlined(name: str) -> str:
    """Return the module `static/name.js` with its relative imports as data: URLs.

    For one module with all its exports, as tests want it; a widget is ``bundled``.
    """

    def as_data_url(match: re.Match) -> str:
        module = base64.b64encode(inlined(match["name"]).encode()).decode()
        return f'{match["head"]}"data:text/javascript;base64,{module}"'

    return IMPORT.sub(as_data_url, read_static(f"{name}.js"))


def needed(name: str) -> list[str]:
    """Return the modules that a module is made of, each once and after what it imports."""
    found: list[str] = []
    for other in imports(read_static(f"{name}.js")):
        found += [module for module in needed(other) if module not in found]
    return [*found, name]


@functools.cache
def bundled(name: str) -> str:
    """Return a widget's module as one text that holds each module it needs once.

    Nested data: URLs hold a module once for each way that leads to it, a third longer at each step:
    for the twin of a trained model, six times as many bytes. Here the browser makes the addresses,
    and widgets of one page that import the same module share it.
    """
    sources = [[module, read_static(f"{module}.js")] for module in needed(name)]
    loader = LOADER.replace("[NAME]", f"[{json.dumps(name)}]")
    return loader.replace("SOURCES", json.dumps(sources))


@functools.cache
def stylesheet() -> str:
    """Return the style of all widgets: the kit's first, for the others change what it says.

    In a notebook each class of widgets adds a sheet to the page. They are all this one: of sheets
    that differ, the kit of the last would undo what the widgets before it had changed.
    """
    sheets = sorted(STATIC.glob("*.css"), key=lambda sheet: (sheet.stem != "kit", sheet.stem))
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)


class PieceWidget(anywidget.AnyWidget):
    """A widget whose arithmetic runs in the browser.

    A subclass in `name.py` sets `title` and its traits.
    Its picture is `static/name.js`, its style, if any, `static/name.css`.

    Raises:
        ValueError: an unknown argument, or a value that its trait refuses.
            The message names the argument, the value, the rule and the remedy.
    """

    title: ClassVar[str] = "Widget"
    module: ClassVar[str] = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Read the picture and the style of a new widget from the files of its name."""
        if "_esm" not in cls.__dict__:  # add_traits makes a subclass that has them as traits
            cls.module = cls.__module__.rpartition(".")[2]
            cls._esm = bundled(cls.module)
            cls._css = stylesheet()
        super().__init_subclass__(**kwargs)

    def __init__(self, **kwargs: Any) -> None:
        for name in kwargs.keys() - set(self.controls()):
            self._refuse(name, kwargs[name])
        super().__init__(**kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a trait; a name that is none is a slip of the pen, not a new attribute."""
        if not name.startswith("_") and not hasattr(type(self), name):
            self._refuse(name, value)
        super().__setattr__(name, value)

    def _refuse(self, name: str, value: Any) -> NoReturn:
        """Raise the error for an argument or attribute that does not exist."""
        known = ", ".join(self.controls())
        raise ValueError(
            f"{name} = {value!r}: {type(self).__name__} has no such trait. Remedy: use {known}."
        )

    @classmethod
    def controls(cls) -> list[str]:
        """Return the names of the traits that can be set and read from Python."""
        own = cls.class_traits(sync=True).keys() - PieceWidget.class_traits(sync=True).keys()
        return sorted(name for name in own if not name.startswith("_"))

    @classmethod
    def inputs(cls) -> list[str]:
        """Return the names of the traits that Python gives: all but those the browser computes."""
        traits = cls.class_traits()
        return [name for name in cls.controls() if not isinstance(traits[name], Result)]

    @classmethod
    def revived(cls, state: Mapping[str, Any]) -> "PieceWidget":
        """Return the widget of a saved state, to be asked for its words where no kernel runs."""
        return cls(**{name: state[name] for name in cls.inputs() if name in state})

    @classmethod
    def rows_shown(cls, state: Mapping[str, Any]) -> int | None:
        """Return how many rows it has, of cells or controls, where its height depends on its state.

        A page keeps that space free before the widget is alive: `--rows` in its style.
        """
        return None

    def describe(self) -> str:
        """Return the widget in words: what a reader without a picture gets."""
        return self.title

    def still(self) -> str:
        """Return a picture as HTML that needs no browser to be made, "" where there is none."""
        return ""

    def __repr__(self) -> str:
        """Return a text that is the same on every machine, so that outputs can be compared."""
        return f"{type(self).__name__}: {self.describe()}"

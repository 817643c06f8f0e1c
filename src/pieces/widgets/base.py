"""The strict base class of every widget in the book."""

import base64
import functools
import json
import posixpath
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import anywidget
from traitlets import Dict, default

from pieces.widgets.traits import Result

STATIC = Path(__file__).parent / "static"
IMPORT = re.compile(r'(?P<head>\bfrom\s+)"(?P<path>\.\.?/[\w./]+)\.js"')

LOADER = r"""const load = async () => {
  const made = (globalThis.piecesAddresses ??= new Map());
  const address = {};
  for (const [name, source] of SOURCES) {
    const named = (path) => new URL(path, `file:///${name}`).pathname.slice(1);
    const from = (_, head, path) => `${head}"${address[named(path)]}"`;
    const text = source.replace(/(\bfrom\s+)"(\.\.?\/[\w./]+)\.js"/g, from);
    const blob = () => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    if (!made.has(text)) made.set(text, blob());
    address[name] = made.get(text);
  }
  return (await import(address[NAME])).default;
};
// The parts load when the widget is drawn. If this module itself is not there within two seconds,
// anywidget passes nothing on any more that Python sets.
export default { render: async (context) => (await load()).render(context) };
"""


def resolved(path: str, name: str) -> str:
    """Return the module that `name` means by a relative path: "../kit/dom" is "kit/dom"."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def imports(source: str, name: str) -> list[str]:
    """Return the modules that the source of a module imports, by their paths in `static/`."""
    return [resolved(match["path"], name) for match in IMPORT.finditer(source)]


@functools.cache
def read_static(filename: str) -> str:
    """Return the text of a file in `static/`, or "" where there is none."""
    path = STATIC / filename
    return path.read_text(encoding="utf-8") if path.exists() else ""


def source_of(name: str) -> str:
    """Return the text of the module `static/name.js`, where name is a path like "kit/kit"."""
    return read_static(f"{name}.js")


@functools.cache
def inlined(name: str, read: Callable[[str], str] = source_of) -> str:
    """Return the module `static/name.js` with its relative imports as data: URLs.

    For one module with all its exports, as tests want it; a widget is ``bundled``.
    """

    def as_data_url(match: re.Match) -> str:
        text = inlined(resolved(match["path"], name), read)
        module = base64.b64encode(text.encode()).decode()
        return f'{match["head"]}"data:text/javascript;base64,{module}"'

    return IMPORT.sub(as_data_url, read(name))


@functools.cache
def needed(name: str, read: Callable[[str], str] = source_of) -> tuple[str, ...]:
    """Return the modules that a module is made of, each once and after what it imports."""
    found: list[str] = []

    def look(module: str) -> None:
        if module not in found:
            for other in imports(read(module), module):
                look(other)
            found.append(module)

    look(name)
    return tuple(found)


@functools.cache
def bundled(name: str) -> str:
    """Return a widget's module as one text that holds each module it needs once.

    Nested data: URLs hold a module once for each way that leads to it, a third longer at each step:
    for the twin of a trained model, six times as many bytes. Here the browser makes the addresses,
    and widgets of one page that import the same module share it.
    """
    sources = [[module, source_of(module)] for module in needed(name)]
    loader = LOADER.replace("[NAME]", f"[{json.dumps(name)}]")
    return loader.replace("SOURCES", json.dumps(sources))


@functools.cache
def stylesheet() -> str:
    """Return the style of all widgets: the kit's first, for the others change what it says.

    In a notebook each class of widgets adds a sheet to the page. They are all this one: of sheets
    that differ, the kit of the last would undo what the widgets before it had changed.
    """
    sheets = sorted(STATIC.rglob("*.css"), key=lambda sheet: (sheet.stem != "kit", sheet.stem))
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets)


class PieceWidget(anywidget.AnyWidget):
    """A widget whose arithmetic runs in the browser.

    A subclass in `name.py` sets `title` and its traits.
    Its picture is `static/name/name.js`; its style and its helpers lie in the same folder.
    `module` is the path of the picture in `static/`: "name/name".

    Raises:
        ValueError: an unknown argument, or a value that its trait refuses.
            The message names the argument, the value, the rule and the remedy.
    """

    title: ClassVar[str] = "Widget"
    module: ClassVar[str] = ""

    fixed: ClassVar[bool] = False  # whether no link may set what it shows

    _limits = Dict(read_only=True).tag(sync=True)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Read the picture and the style of a new widget from the files of its name."""
        if "_esm" not in cls.__dict__:  # add_traits makes a subclass that has them as traits
            name = cls.__module__.rpartition(".")[2]
            cls.module = f"{name}/{name}"
            cls._esm = bundled(cls.module)
            cls._css = stylesheet()
        super().__init_subclass__(**kwargs)

    def __init__(self, **kwargs: Any) -> None:
        for name in kwargs.keys() - set(self.controls()):
            self._refuse(name, kwargs[name])
        super().__init__(**kwargs)

    @default("_limits")
    def _tell_limits(self) -> dict[str, dict[str, Any]]:
        """What each trait may be, for the page: it is written once, in Python."""
        traits = type(self).class_traits(sync=True).items()
        fixed = {"fixed": True} if self.fixed else {}
        return {
            name: trait.limits() | trait.metadata.get("told", {}) | fixed
            for name, trait in traits
            if hasattr(trait, "limits")
        }

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

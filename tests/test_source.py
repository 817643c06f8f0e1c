"""The code on the page is the code that runs: cut from the file, nothing retyped, nothing lost."""

import ast
import functools
import inspect
import re

import pytest
import torch
from bs4 import BeautifulSoup
from IPython.core.formatters import DisplayFormatter

from pieces import masks, scores
from pieces.attention import MultiHeadAttention, SingleHeadAttention, attention, masked_softmax
from pieces.book.source import code
from pieces.cache import Cache
from pieces.models.gpt2 import GPT2Config
from pieces.moe import Router

THINGS = [
    masks.causal,
    masks.padding,
    scores.AdditiveScore,
    attention,
    masked_softmax,
    SingleHeadAttention,
    MultiHeadAttention,
    MultiHeadAttention.forward,
    Router,
    Cache,
    GPT2Config,
]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def soup(*things):
    return BeautifulSoup(code(*things)._repr_html_(), "html.parser")


def bare(tree):
    """A definition as a tree without docstrings and without the decorators that check."""
    for node in ast.walk(tree):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            if ast.get_docstring(node) is not None and len(node.body) > 1:
                node.body = node.body[1:]
            kept = [d for d in node.decorator_list if "checked" not in ast.unparse(d)]
            node.decorator_list = kept
    return ast.dump(tree)


def test_the_smallest_one_in_full():
    assert repr(code(masks.causal)) == (
        "def causal(T: Size, S: Size | None = None, *, device: Device = None)"
        ' -> Bool[Tensor, "{T} S"]:\n'
        "    query, key = places(T, S, device=device)\n"
        "    return key <= query"
    )


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: thing.__qualname__)
def test_nothing_but_docstrings_and_checks_is_left_out(thing):
    shown = repr(code(thing))
    source = inspect.getsource(inspect.unwrap(thing))
    whole = ast.parse(inspect.cleandoc("\n" + source) if source[0] == " " else source)
    assert ast.dump(ast.parse(shown)) == bare(whole)
    stripped = {line.strip() for line in source.splitlines()}
    assert all(line.strip() in stripped for line in shown.splitlines())
    assert "@checked" not in shown
    for comment in re.findall(r"^\s*# .*$", source, flags=re.M):
        assert comment.strip() in shown, "a comment says why: it stays"
    for node in ast.walk(ast.parse(shown)):
        if isinstance(node, FUNCTIONS) and len(node.body) > 1:
            assert ast.get_docstring(node) is None


def test_other_decorators_stay():
    assert repr(code(GPT2Config)).startswith("@dataclass")


def test_a_body_that_is_its_docstring_keeps_it():
    def waits():
        """Nothing yet."""

    assert '"""Nothing yet."""' in repr(code(waits))


def test_a_property_and_a_classmethod():
    class Box:
        @property
        def side(self):
            """Words."""
            return 3

        @classmethod
        def cube(cls):
            """Words."""
            return cls()

    assert repr(code(Box.side)) == "@property\ndef side(self):\n    return 3"
    assert repr(code(Box.cube)) == "@classmethod\ndef cube(cls):\n    return cls()"


def test_the_first_is_open_and_each_other_one_closed_under_its_name():
    text = repr(code(masks.causal, masks.full, MultiHeadAttention.forward))
    parts = [repr(code(thing)) for thing in (masks.causal, masks.full, MultiHeadAttention.forward)]
    assert text == "\n\n\n".join(parts), "all of it is in the text"
    page = soup(masks.causal, masks.full, MultiHeadAttention.forward)
    (first,) = page.select(".pieces-code > .highlight pre")
    others = page.select(".pieces-code > details.pieces-other")
    assert [other.summary.text for other in others] == [
        "full pieces.masks",
        "MultiHeadAttention.forward pieces.attention.multi_head",
    ]
    assert not [details for details in page.select("details") if details.has_attr("open")]
    closed = [other.select_one("details > .highlight pre") for other in others]
    assert [pre.text.rstrip("\n") for pre in (first, *closed)] == parts
    assert all(other.select_one(".pieces-more .pieces-file pre") for other in others)


def test_one_alone_has_nothing_closed_but_its_docstring_and_file():
    (details,) = soup(masks.causal).select("details")
    assert details["class"] == ["pieces-more"]


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: thing.__qualname__)
def test_html_and_text_are_the_same_code(thing):
    page = soup(thing)
    assert page.select_one(".highlight pre").text.rstrip("\n") == repr(code(thing))
    inner = inspect.unwrap(thing)
    assert page.select_one("details > pre").text == inspect.getdoc(inner)
    with open(inspect.getsourcefile(inner), encoding="utf-8") as file:
        assert page.select_one(".pieces-file pre").text == file.read()


def test_a_line_that_is_too_long_is_set_in_under_its_beginning():
    lines = soup(masks.causal).select(".highlight")[0].select(".line")
    assert [line["style"] for line in lines] == ["--hang:4ch", "--hang:8ch", "--hang:8ch"]


def test_a_notebook_gets_both():
    data, _ = DisplayFormatter().format(code(masks.causal))
    assert data["text/plain"] == repr(code(masks.causal))
    assert "pieces-code" in data["text/html"]


@pytest.mark.parametrize(
    "wrong",
    [
        torch.softmax,
        masks,
        int,
        3,
        None,
        "masks.causal",
        lambda x: x,
        functools.partial(masks.causal, 3),
        torch.nn.Identity(),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
def test_what_has_no_source_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match=r"others\[0\] = .* Remedy: pass the function"):
        code(masks.causal, wrong)
    with pytest.raises(ValueError, match=r"first = .* Remedy: pass the function"):
        code(wrong, masks.causal)


def test_nothing_is_refused():
    with pytest.raises(TypeError, match="first"):
        code()

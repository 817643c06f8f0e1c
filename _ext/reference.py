"""The reference: autodoc, and docstrings of plain text made safe for it.

The package's docstrings are prose, with ``code`` and with formulas as they are typed. To
reStructuredText a formula's `*`, `|` and `_` are markup, so everything outside of ``code`` is
escaped, and a paragraph that is a formula becomes a block of its own.
"""

import re

CODE = re.compile(r"(``[^`]+``)")
MARKUP = re.compile(r"([\\*|`_])")
LABEL = re.compile(r"^(Source|Shapes|Raises|Sizes left out|Memory): ?")
STARTS = re.compile(r"(?<=[.)]) (?=(?:Source|Shapes|Raises|Sizes left out|Memory): )")


def escaped(text):
    """Return text in which nothing but ``code`` is markup."""
    parts = CODE.split(text)
    return "".join(part if CODE.fullmatch(part) else MARKUP.sub(r"\\\1", part) for part in parts)


def is_formula(paragraph):
    """Tell a formula from a sentence: it has a relation, and no full stop at its end."""
    text = " ".join(paragraph).strip()
    relation = re.search(r"[=≈]| -> ", text)
    return bool(relation) and not text.endswith((".", ":")) and not LABEL.match(text)


def is_table(paragraph):
    """Tell lines that are laid out by spaces."""
    return all(re.search(r"\S {2,}\S", line) or line.startswith("    ") for line in paragraph)


def as_block(paragraph):
    """Return the paragraph as a literal block."""
    shift = min(len(line) - len(line.lstrip()) for line in paragraph)
    return [
        ".. code-block:: text",
        "   :class: formula",
        "",
        *("    " + line[shift:] for line in paragraph),
        "",
    ]


def as_prose(paragraph):
    """Return the paragraph's sentences, each label with its own in a paragraph of theirs."""
    text = " ".join(line.strip() for line in paragraph)
    found = []
    for part in STARTS.split(text):
        found += [LABEL.sub(lambda match: f"**{match[1]}:** ", escaped(part)), ""]
    return found


def plain(lines):
    """Return a docstring's lines as reStructuredText."""
    paragraphs, found = [[]], []
    for line in lines:
        if line.strip():
            paragraphs[-1].append(line)
        elif paragraphs[-1]:
            paragraphs.append([])
    for number, paragraph in enumerate(p for p in paragraphs if p):
        special = number > 0 and (is_formula(paragraph) or is_table(paragraph))
        found += as_block(paragraph) if special else as_prose(paragraph)
    return found


def process(app, what, name, obj, options, lines):
    """Rewrite a docstring before autodoc reads it."""
    lines[:] = plain(list(lines))


def skip(app, what, name, obj, skipped, options):
    """Leave out what is private, and the checks: a reader meets them as errors."""
    return True if name.startswith(("_", "require_")) else None


def signature(app, what, name, obj, options, given, returned):
    """A class without a constructor of its own takes nothing, not anything."""
    return ("()", returned) if given == "(*args, **kwargs)" else None


def setup(app):
    """Connect to Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.viewcode")
    app.config.autodoc_typehints = "none"
    app.config.autodoc_preserve_defaults = True
    app.config.autodoc_member_order = "bysource"
    app.config.add_module_names = False
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-signature", signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

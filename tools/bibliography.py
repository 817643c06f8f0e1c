"""Write the list of works in the appendix again, as plain Markdown, from references.bib."""

import re
from pathlib import Path

from pybtex.database import parse_file
from pybtex.plugin import find_plugin

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "chapters" / "appendix" / "bibliography.md"
NEEDLESS = re.compile(r"\\(?=[-.])")  # escapes that no sentence needs


def works(path: Path) -> str:
    """Return every work of a BibTeX file, one a line."""
    style = find_plugin("pybtex.style.formatting", "plain")()
    backend = find_plugin("pybtex.backends", "markdown")()
    entries = style.format_bibliography(parse_file(str(path)))
    texts = (" ".join(entry.text.render(backend).split()) for entry in entries)
    return "".join(f"- {NEEDLESS.sub('', text)}\n" for text in texts)


if __name__ == "__main__":
    head = PAGE.read_text(encoding="utf-8").partition("\n- ")[0].rstrip("\n")
    PAGE.write_text(f"{head}\n\n{works(ROOT / 'references.bib')}", encoding="utf-8")

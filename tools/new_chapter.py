"""A chapter's first draft: `make chapter NAME=18_its_title`.

Writes the notebook with all its sections, its questions, figures and checkers with their tests, and
registers it in the table of contents and on the map of the front page. What is still to be written
is marked ✎.
"""

import re
import sys
from pathlib import Path

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from notebook_form import ROOT, committed_form, run, setup_cell, text_of

DRAFT = Path(__file__).parent / "draft"
NAME = re.compile(r"(\d\d)_([a-z][a-z0-9_]*)")
TAGS = re.compile(r"^# tags: (.+)\n")


def cells(text, words):
    """Return the cells of a draft: Markdown, and code between ``` lines with its tags on top."""
    for place, part in enumerate(re.split(r"^```(?:python)?\n", text, flags=re.M)):
        source = re.sub(r"<(\w+)>", lambda found: words.get(found[1], found[0]), part).strip()
        if not source:
            continue
        if place % 2 == 0:
            yield from map(new_markdown_cell, re.split(r"\n\n(?=## |> \*\*)", source))
            continue
        tags = TAGS.match(source)
        metadata = {"tags": tags[1].split()} if tags else {}
        yield new_code_cell(TAGS.sub("", source), metadata=metadata)


def notebook(words):
    """Return the draft of a chapter, not yet run."""
    first = new_code_cell(setup_cell(), metadata={"tags": ["remove-cell"]})
    text = (DRAFT / "chapter.md").read_text(encoding="utf-8")
    return committed_form(new_notebook(cells=[first, *cells(text, words)]))


def on_the_map(index, number):
    """Return the part and the title that the front page has for a chapter still to come."""
    line = re.search(rf"^{number} · (.+?) \[to come\]", index, flags=re.M)
    if line is None:
        sys.exit(
            f"index.md has no chapter {number} that is to come. If it is not written yet, put it "
            f"on the map there first, as two lines:\n\n"
            f"{number} · Its title [to come]{{.front-soon}}\n"
            ": One sentence: what it begins with."
        )
    return re.findall(r"^### (.+)$", index[: line.start()], flags=re.M)[-1], line[1]


def link_on_the_map(index, number, title, name):
    """Return the front page with a link to the chapter."""
    return index.replace(
        f"{number} · {title} [to come]{{.front-soon}}",
        f"{number} · {{doc}}`{title} <chapters/{name}>`",
    )


def listed(toc, parts, part, title, name):
    """Return the table of contents with the chapter in its part, by number."""
    entry = f"      - file: chapters/{name}\n        title: {title}\n"
    caption = f"  - caption: {part}\n"
    if caption not in toc:
        later = [f"  - caption: {p}\n" for p in [*parts[parts.index(part) + 1 :], "Appendix"]]
        following = next(line for line in later if line in toc)
        return toc.replace(following, f"{caption}    chapters:\n{entry}{following}")
    before, own = toc.split(caption)
    own, *rest = re.split(r"(?=^  - caption:)", own, flags=re.M)
    head, *entries = re.split(r"(?=^      - file:)", own, flags=re.M)
    return before + caption + head + "".join(sorted([*entries, entry])) + "".join(rest)


def fill(path, draft, words):
    """Write a file from its draft."""
    text = (DRAFT / draft).read_text(encoding="utf-8")
    path.write_text(re.sub(r"<(\w+)>", lambda m: words.get(m[1], m[0]), text), encoding="utf-8")
    print(f"wrote {path}")


def main(name, root=ROOT):
    """Write and register one chapter."""
    if not (parts := NAME.fullmatch(name)):
        sys.exit(f"NAME={name}: two digits and a name, such as NAME=18_its_title")
    number, module = str(int(parts[1])), parts[2]
    path = root / "chapters" / f"{name}.ipynb"
    book, tests = root / "src/pieces/book", root / "tests"
    files = {
        book / "questions" / f"{name}.toml": "questions.txt",
        book / "figures" / f"{module}.py": "figures.txt",
        book / "exercises" / f"{module}.py": "checkers.txt",
        tests / "chapters" / f"test_{name}.py": "test_chapter.txt",
        tests / "exercises" / f"test_{module}.py": "test_checkers.txt",
    }
    for one in (path, *files):
        if one.exists():
            sys.exit(f"{one} is there already: take another name")
    index, toc = root / "index.md", root / "_toc.yml"
    map_text = index.read_text(encoding="utf-8")
    part, title = on_the_map(map_text, number)
    captions = re.findall(r"^### (.+)$", map_text, flags=re.M)
    words = {"number": number, "NN": parts[1], "title": title, "module": module}

    for file, draft in files.items():
        fill(file, draft, words)
    path.write_text(text_of(notebook(words)), encoding="utf-8")
    index.write_text(link_on_the_map(map_text, number, title, name), encoding="utf-8")
    listing = listed(toc.read_text(encoding="utf-8"), captions, part, f"{number} · {title}", name)
    toc.write_text(listing, encoding="utf-8")
    run(path)
    if f"\n{parts[1]} = " not in (book / "thread.toml").read_text(encoding="utf-8"):
        print(
            "src/pieces/book/thread.toml has no part of the model for it yet: add a line,\n"
            f'  {parts[1]} = {{ name = "✎ the embedding", lit = ["embedding"], part = "embedding", '
            'text = "Lily had a red ball" }'
        )
    print(f"registered in {toc.name} and on the map of {index.name}; now replace what is marked ✎")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")

"""Where something stands: `make where NAME=RotaryClock`; chapters: NAME=12; pieces: NAME=masks.

`where.py --whole RotaryClock` says what a widget still lacks, and ends with 1 if there is anything.
"""

import difflib
import re
import sys
import tomllib
from pathlib import Path

from notebook_form import ROOT

# What a file is, by its place; {0} is the subject. The first that fits says it.
PLACES = {
    r"chapters/[^/]*\.ipynb": "the chapter",
    r"chapters/appendix/.*": "the page",
    r"src/pieces/book/questions/.*": "its questions, answers, slips and hints",
    r"src/pieces/book/figures/.*": "its figures and tables",
    r"src/pieces/book/exercises/.*": "its checkers",
    r"src/pieces/book/drawings/.*": "the drawing",
    r"src/pieces/widgets/[^/]*\.py": "the widget in Python: its traits",
    r"src/pieces/widgets/static/twin/.*": "its twin in the page",
    r"src/pieces/widgets/static/.*/{0}\.js": "the widget in the page",
    r"src/pieces/widgets/static/.*\.js": "what it draws with",
    r"src/pieces/widgets/static/.*\.css": "its style, and the height kept for it",
    r"src/pieces/.*": "the piece",
    r"tests/chapters/.*": "the test of its words and answers",
    r"tests/exercises/.*": "the test of its checkers",
    r"tests/.*/faults\.yaml": "its deliberate faults",
    r"tests/.*/expected\.py": "what it has to show, computed apart",
    r"tests/.*/samples\.py": "the pictures on which faults are tried",
    r"tests/.*": "its tests",
    r"experiments/.*": "the experiment",
}
# The widgets that ask, by the answers that they take.
ANSWERED = {"predict_number": int | float, "fill_mask": list}
KINDS = {".py", ".js", ".css", ".ipynb", ".toml", ".yaml", ".md", ".svg"}
UNSEEN = {"__pycache__", "_build", "node_modules"}


def subject(name: str) -> str:
    """Return the name that files have: RotaryClock is rotary_clock, 12 is positional_encoding."""
    numbered = sorted((ROOT / "chapters").glob("[0-9][0-9]_*.ipynb"))
    for chapter in numbered:
        number, _, rest = chapter.stem.partition("_")
        if name in (number, number.lstrip("0"), chapter.stem):
            return rest
    return re.sub(r"(?<=[^A-Z_])(?=[A-Z])", "_", name).lower()


def files(name: str) -> list[Path]:
    """Return the files of a subject: those with its name, and those in a folder with its name."""
    own = re.compile(rf"(?:test_)?(?:\d\d_)?{re.escape(name)}")
    found = []
    for top in ("chapters", "src", "tests", "experiments"):
        for path in (ROOT / top).rglob("*"):
            parts = path.relative_to(ROOT).parts
            if path.suffix not in KINDS or UNSEEN & set(parts) or not path.is_file():
                continue
            if any(own.fullmatch(part.partition(".")[0]) for part in parts):
                found.append(path.relative_to(ROOT))
    return sorted(found)


def lacking(widget: str) -> list[str]:
    """Return what a widget still lacks of all that it is made of, a line each."""
    name = subject(widget)
    package, tests = Path("src/pieces/widgets"), Path("tests/widgets", name)
    needed = {
        package / f"{name}.py": "its traits",
        package / "static" / name / f"{name}.js": "its picture in the page",
        tests / f"test_{name}.py": "its tests",
        tests / "expected.py": "what it has to show, computed apart",
        tests / "samples.py": "the pictures on which faults are tried",
        tests / "faults.yaml": "its deliberate faults",
    }
    lines = [f"{path}: {says}" for path, says in needed.items() if not (ROOT / path).is_file()]
    known = (ROOT / package / "__init__.py").read_text(encoding="utf-8")
    line = f"from pieces.widgets.{name} import {widget} as {widget}"
    if line not in known:
        alike = difflib.get_close_matches(widget, re.findall(r" as (\w+)$", known, flags=re.M), 1)
        meant = f" (or do you mean {alike[0]}?)" if alike else ""
        lines.insert(0, f"{package / '__init__.py'}: the line  {line}{meant}")
    return lines


def told(path: Path, name: str) -> str:
    """Return what a file is to its subject."""
    fits = (
        says
        for place, says in PLACES.items()
        if re.fullmatch(place.replace("{0}", re.escape(name)), path.as_posix())
    )
    return next(fits)


def shown_in(name: str) -> list[Path]:
    """Return the pages that show a widget."""
    widget = re.compile(rf"\b{''.join(part.title() for part in name.split('_'))}\(")
    pages = [ROOT / "index.md", *sorted((ROOT / "chapters").rglob("*.ipynb"))]
    shown = [page for page in pages if widget.search(page.read_text(encoding="utf-8"))]
    asking = [page for page in pages if page not in shown and asks(page, name)]
    return [page.relative_to(ROOT) for page in sorted([*shown, *asking])]


def asks(page: Path, widget: str) -> bool:
    """Return whether a chapter asks by this widget: `ask` chooses it by the answer."""
    questions = ROOT / "src/pieces/book/questions" / f"{page.stem}.toml"
    if widget not in ANSWERED or not questions.is_file():
        return False
    found = tomllib.loads(questions.read_text(encoding="utf-8")).values()
    return any(isinstance(one["answer"], ANSWERED[widget]) for one in found)


def measuring(record: str) -> list[str]:
    """Return the scripts that write a record, or the records that it is packed from."""
    scripts = {
        path: path.read_text(encoding="utf-8") for path in (ROOT / "experiments").glob("*.py")
    }
    own = record.removesuffix(".json")
    found = {path for path, text in scripts.items() if record in text or path.stem == own}
    packed = {name for path in found for name in re.findall(r"(\w+\.json)", scripts[path])}
    found |= {path for path, text in scripts.items() if any(name in text for name in packed)}
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def used_by(chapter: Path) -> list[tuple[str, str]]:
    """Return what a chapter shows that has a name of its own: figures, records, widgets."""
    text = (ROOT / chapter).read_text(encoding="utf-8")
    drawn = re.findall(r"from pieces\.book\.figures import (\w+)", text)
    figures = [Path("src/pieces/book/figures", f"{module}.py") for module in sorted(set(drawn))]
    sources = "".join((ROOT / path).read_text(encoding="utf-8") for path in figures)
    rows = [(path.as_posix(), "its figures and tables") for path in figures]
    for path in sorted((ROOT / "src/pieces/book/measured").glob("*.json")):
        if f'"{path.stem}"' in sources or f'"{path.name}"' in sources:
            rows.append((path.relative_to(ROOT).as_posix(), "what was measured for it"))
            rows += [(script, "the experiment") for script in measuring(path.name)]
    for path in sorted((ROOT / "src/pieces/widgets").glob("*.py")):
        widget = "".join(part.title() for part in path.stem.split("_"))
        if re.search(rf"\b{widget}\(", text):
            own = path.relative_to(ROOT).as_posix()
            rows.append((own, f"a widget that it shows: make where NAME={widget}"))
            page = f"src/pieces/widgets/static/{path.stem}/{path.stem}"
            rows += [(f"{page}.js", "in the page"), (f"{page}.css", "its style")]
            rows.append((f"tests/widgets/{path.stem}/faults.yaml", "its deliberate faults"))
    return rows


def main(asked: str) -> None:
    """Print each file with what it is."""
    name = subject(re.sub(r"^chapter\s+", "", asked.strip(), flags=re.I))
    found = files(name) if name else []
    if not found:
        none = "nothing in the house has this name" if name else "a name is missing"
        sys.exit(
            f"NAME={asked}: {none}. Give a widget's class (RotaryClock), "
            "a chapter (12, or 12_positional_encoding), or a module (masks)."
        )
    rows = [(path.as_posix(), told(path, name)) for path in found]
    if any(path.parent.name == "widgets" for path in found):
        for page in shown_in(name):
            rows.append((page.as_posix(), "shows it"))
            questions = Path("src/pieces/book/questions", f"{page.stem}.toml")
            if (ROOT / questions).is_file():
                rows.append((questions.as_posix(), "the questions of that chapter"))
    rows += [row for path in found if path.suffix == ".ipynb" for row in used_by(path)]
    rows = list(dict.fromkeys(rows))
    wide = max(len(path) for path, _ in rows)
    for path, says in rows:
        print(f"{path:{wide}}  {says}")
    widget = "".join(part.title() for part in name.split("_"))
    python = ROOT / "src/pieces/widgets" / f"{name}.py"  # of a widget, or what several share
    if python.is_file() and f"class {widget}(" in python.read_text(encoding="utf-8"):
        for line in lacking(widget):
            print(f"missing: {line}")


def whole(widget: str) -> None:
    """End with what a widget lacks, if it lacks anything."""
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]+", widget):
        sys.exit(f"NAME={widget}: the name of a widget's class, such as NAME=MaskExplorer")
    if lines := lacking(widget):
        sys.exit("\n  ".join([f"{widget} is not whole yet. Missing:", *lines]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--whole"]:
        whole(sys.argv[2])
    else:
        main(sys.argv[1] if len(sys.argv) > 1 else "")

"""What the code of a notebook is for: the idea, or the plumbing around it, counted by line."""

import re

FOLDED = {"remove-cell", "hide-input", "hide-cell"}
TITLE = "# A solution to exercise "  # what JupyterLab shows of a folded solution: no code
PLUMBING = re.compile(r"^(?:import |from |ask\(|check\.|%)")


def lines_of(source: str) -> list[str]:
    """Return the lines of a cell that are not empty, without a solution's title."""
    return [line for line in source.splitlines() if line.strip() and not line.startswith(TITLE)]


def is_starter(source: str) -> bool:
    """Return whether a cell waits for a reader's code."""
    return "Your code here" in source


def idea(cell) -> int:
    """Return how many lines of a code cell a reader would want to change and run again.

    Imports, questions, checkers, solutions and what is folded on the site are plumbing; a widget,
    the package's code, a figure called by name and open code are not.
    """
    if FOLDED & set(cell.metadata.get("tags", [])) or is_starter(cell.source):
        return 0
    imports = re.sub(r"^from [\w.]+ import \([^)]*\)", "import all", cell.source, flags=re.M)
    return sum(not PLUMBING.match(line) for line in lines_of(imports))


def count(notebook) -> dict[str, int]:
    """Return the lines of a notebook's code, those of the idea, and those of its longest cell."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    sizes = [len(lines_of(cell.source)) for cell in code]
    return {"all": sum(sizes), "idea": sum(map(idea, code)), "longest": max(sizes)}

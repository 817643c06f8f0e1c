"""A picture that stays in sight: beside the text that speaks of it, where the window has the room.

The cell of a widget with the tag `beside` and what follows it, up to the next heading or the next
cell (the question of an exercise goes with its exercise), become two columns in a wide window, in
which the widget stays while the text goes by. Elsewhere, and on paper, all stands as it is written.
"""

from docutils import nodes

TAG = "tag_beside"


def is_cell(node):
    """Tell the cells of a notebook."""
    return isinstance(node, nodes.container) and "cell" in node["classes"]


def beside(cell):
    """Return what stands beside a cell: its followers that speak of it."""
    found = []
    at = cell.parent.index(cell) + 1
    for node in cell.parent.children[at:]:
        asked = bool(found) and "exercise" in found[-1].get("classes", [])
        if isinstance(node, nodes.section) or (is_cell(node) and not asked):
            break
        found.append(node)
    return found


def put_beside(app, doctree, docname):
    """Put each such cell and its text into one box of the page."""
    cells = [n for n in doctree.findall(is_cell) if TAG in n["classes"]]
    for cell in cells:
        text, parent = beside(cell), cell.parent
        at = parent.index(cell)
        for node in text:
            parent.remove(node)
        words = nodes.container("", *text, classes=["beside-text"])
        parent[at] = nodes.container("", cell, words, classes=["beside"])


def setup(app):
    """Connect to Sphinx."""
    app.connect("doctree-resolved", put_beside, priority=910)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""What FillMask has to show for its traits, by torch and `pieces`, never by the page."""

import re

import torch
from oracle import maps, right, same_map

from pieces.widgets import FillMask


def fill_mask(root, s):
    """The reader's cells, outlined where they are wrong, and a verdict that is true."""
    (grid,) = maps(root)
    answer = torch.tensor(s["answer"]).bool()
    right(root.locator(".p-question").inner_text() == s["question"], "another question")
    T, S = answer.shape
    filled = torch.ones(T, S, dtype=torch.bool)
    for at in grid.hatched:
        filled[at] = False
    errors = (filled != answer).nonzero().tolist()
    framed = [[rows[0], columns[0]] for rows, columns in grid.frames]
    right(all(cell in errors for cell in framed), f"{framed} are outlined, {errors} are wrong")
    same_map(grid, filled.int().tolist(), mask=filled, rows=s["rows"], columns=s["columns"], tip=False,
             marks=framed, digits=0, signed=False, states=s["marks"] or ["may attend", "masked"])  # fmt: skip
    verdict, said = root.get_attribute("data-verdict"), root.locator(".p-say").inner_text()
    if verdict == "right":
        right(not errors and said.startswith("✓") and s["correct"] is True, said)
    if verdict == "wrong":
        right(int(re.match(r"✗ (\d+)", said)[1]) == len(errors) > 0, said)
    if verdict:
        right(s["filled"] == filled.tolist(), "Python reads another mask")
        right(FillMask(question="?", answer=answer).answer == s["answer"], "another answer")

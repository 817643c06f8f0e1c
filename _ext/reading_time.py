"""How long a chapter takes, and what it builds on: said on the front page and in the chapter.

The time is counted from what stands in the notebook: 200 words a minute, three minutes for each
question, one for each widget, rounded to five minutes.
"""

import functools
import json
import re

WORDS, QUESTION, WIDGET = 200, 3, 1  # words a minute; minutes
MARKS = re.compile(r"\]\([^)]*\)|\$\$.*?\$\$|[#*`>|$\\{}[]", re.S)  # addresses, formulas, markup
ASKED = re.compile(r"^ask\(|\ncheck\.\w+\(", re.M)
SHOWN = re.compile(
    r"^(?:\w+ = )?[A-Z]\w+(?:\.from_\w+)?\(", re.M
)  # a class called where a line begins


@functools.cache
def minutes(path):
    """Return the minutes that a chapter takes, by its notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = {kind: [] for kind in ("markdown", "code", "raw")}
    for cell in cells:
        texts[cell["cell_type"]].append("".join(cell["source"]))
    read = sum(len(MARKS.sub(" ", text).split()) for text in texts["markdown"]) / WORDS
    code = "\n".join(texts["code"])
    played = QUESTION * len(ASKED.findall(code)) + WIDGET * len(SHOWN.findall(code))
    return 5 * round((read + played) / 5)


def told(path, place):
    """Return both as a sentence: "About 40 minutes; builds on chapters 6 and 8."."""
    numbers = [str(number) for number in place.needs]
    some = " and ".join([", ".join(numbers[:-1]), numbers[-1]] if numbers[1:] else numbers)
    builds = f"; builds on chapter{'s' if numbers[1:] else ''} {some}" if numbers else ""
    return f"About {minutes(path)} minutes{builds}"

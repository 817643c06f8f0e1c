"""What can be measured of a chapter's words: sentences, formulas' letters, headings, open code."""

import itertools
import re
from functools import cache
from pathlib import Path
from statistics import mean

import nbformat
from bs4 import BeautifulSoup
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
NOTES = "Notes on the source texts"
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", re.S)
ALONE = re.compile(r"(?:\s|(?<=\n)>)*\$\$(.+?)\$\$((?:\s|(?<=\n)>)*)", re.S)
# Not the end of a sentence.
SHORT = r"\b(?:et al|e\.g|i\.e|cf|vs|Fig|Eq|eq|No|pp|Dr|resp|approx|ca)\."
END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[^\sa-z])")
# Words in a formula, and what is no letter of ours: functions, operators, spaces, numbers' names.
WORDS = re.compile(r"\\(?:mathrm|text|textbf|operatorname\*?|mathbb|tag|quad|qquad)\s*\{[^{}]*\}")
LETTER = re.compile(r"\\([a-zA-Z]+)|([A-Za-z])")
GREEK = re.compile(
    "(?:alpha|beta|gamma|delta|(?:var)?epsilon|zeta|eta|(?:var)?theta|kappa|lambda|mu|nu|xi|rho"
    "|sigma|tau|(?:var)?phi|chi|psi|omega|Gamma|Delta|Theta|Lambda|Phi|Psi|Omega)"
)
# Letters of ours in a sense that is not ours.
ALIASES = {
    # What is divided by a root is a score; the factor √D of the embeddings is another thing.
    "√D, where √K is meant": r"(?:/|\}\s*\{)\s*\\sqrt\s*\{?\s*D\b",
    "d with an index, where K or D is meant": r"(?<![A-Za-z\\])d_",
}
NO_LETTERS = {"e"}  # Euler's number
# What every chapter has, and is no short sentence; a formula on its own line is read as a word.
EVERYWHERE = {"Further reading.", "Next.", "Formula"}
LOCAL = "## Letters of some chapters"  # of the notation page


@cache
def notebook(name: str):
    """Return the notebook of a chapter: "chapters/03_attention"."""
    return nbformat.read(ROOT / f"{name}.ipynb", as_version=4)


def markdown(book, notes: bool = True) -> str:
    """Return the chapter's Markdown; `notes=False` ends before the notes on the source texts."""
    text = "\n\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    return text if notes else re.split(rf"^## {NOTES}\s*$", text, flags=re.M)[0]


def prose(text: str) -> list[str]:
    """Return the paragraphs and items of Markdown; a formula or some code counts as one word."""
    text = re.sub(r"\$([^$\n]+)\$", "Formula", ALONE.sub(_in_its_sentence, text))
    page = BeautifulSoup(MarkdownIt("commonmark").enable("table").render(text), "html.parser")
    for node in page.select("pre, table, h1, h2, h3, h4"):
        node.decompose()
    for node in page.select("code"):
        node.replace_with("code")
    for node in page.select("blockquote > p:first-child > strong:first-child"):
        node.decompose()  # the title of a box
    paragraphs = [node.get_text() for node in page.select("p")]
    for node in page.select("li"):  # an item without a paragraph of its own
        paragraphs += [] if node.find("p") else [_own_text(node)]
    return [" ".join(paragraph.split()) for paragraph in paragraphs if paragraph.strip()]


def _in_its_sentence(found: re.Match) -> str:
    """Return a word for a formula that stands alone: it goes on with the sentence before it."""
    ends = found[1].rstrip().endswith(".")
    goes_on = not ends and re.match(r"[a-z(]", found.string[found.end() :])
    return " Formula" + ("." if ends else "") + (" " if goes_on else found[2])


def _own_text(item) -> str:
    """The words of an item, without those of the items below it."""
    return "".join(
        child if isinstance(child, str) else child.get_text()
        for child in item.children
        if getattr(child, "name", None) not in ("ul", "ol")
    )


def sentences(text: str) -> list[str]:
    """Return the sentences of Markdown."""
    found = []
    for paragraph in prose(text):
        kept = re.sub(SHORT, lambda short: short[0].replace(".", "․"), paragraph)
        found += [sentence for sentence in END.split(kept) if count(sentence)]
    return found


def count(sentence: str) -> int:
    """Return how many words a sentence has; a dash or a sign is none."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def sentence_numbers(book) -> tuple[float, float]:
    """Return the mean length of a chapter's sentences in words, and the share of five or fewer."""
    lengths = [count(sentence) for sentence in sentences(markdown(book))]
    return mean(lengths), len(short_sentences(book)) / len(lengths)


def short_sentences(book) -> list[str]:
    """Return a chapter's sentences of five words or fewer, but for what every chapter has."""
    found = sentences(markdown(book))
    return [one for one in found if count(one) <= 5 and one not in EVERYWHERE]


def letters(formula: str) -> set[str]:
    """Return the letters of a formula, Latin and Greek: {"q", "K", "alpha"}."""
    plain = WORDS.sub(" ", formula)
    plain = re.sub(r"\\(?:begin|end)\{\w+\}", " ", plain)
    found = set()
    for command, letter in LETTER.findall(plain):
        found |= {letter} if letter else set(GREEK.findall(command)) & {command}
    return found - NO_LETTERS


def formulas(text: str) -> list[str]:
    """Return the formulas of Markdown."""
    text = re.sub(r"```.*?```|`[^`\n]+`", " ", text, flags=re.S)
    return [(block or inline).strip() for block, inline in FORMULA.findall(text)]


def local_letters() -> list[tuple[str, list[int]]]:
    """Return what the notation page says of certain chapters only: each formula, its chapters."""
    table = _notation().partition(LOCAL)[2]
    rows = re.findall(r"^\| (\$.+?) \|.*\| ([\d, ]+) \|$", table, flags=re.M)
    numbers = [(first, [int(number) for number in told.split(",")]) for first, told in rows]
    return [(formula, chapters) for first, chapters in numbers for formula in formulas(first)]


def known_letters(chapter: int | None = None) -> set[str]:
    """Return the letters that the notation page gives a chapter, or any: those of its formulas, and
    the axes in its code.
    """
    page = re.sub(r"^S2 also uses one letter.*?(?=^## )", "", _notation(), flags=re.S | re.M)
    whole = page.partition(LOCAL)[0]
    axes = re.findall(r"^\| `([A-Z])` \|", whole, flags=re.M)
    local = [formula for formula, told in local_letters() if chapter is None or chapter in told]
    return {letter for one in formulas(whole) + local for letter in letters(one)} | set(axes)


def _notation() -> str:
    """The notation page."""
    return (ROOT / "chapters/appendix/notation.md").read_text(encoding="utf-8")


def strange_letters(book, chapter: int | None = None) -> dict[str, str]:
    """Return the letters that the notation page does not give this chapter, each in a formula."""
    known, strange = known_letters(chapter), {}
    own = re.sub(r"\bwrites? \$[^$\n]+\$", "", markdown(book, notes=False))  # "the papers write"
    for formula in formulas(own):
        for letter in letters(formula) - known:
            strange.setdefault(letter, formula)
        for name, pattern in ALIASES.items():
            if re.search(pattern, formula):
                strange[name] = formula
    return strange


def heading_jumps(levels: list[int]) -> list[tuple[int, int]]:
    """Return where a heading is more than one level below the one before it."""
    return [(one, two) for one, two in itertools.pairwise(levels) if two > one + 1]


# What proves, and does not explain; in the exercises a reader's own code is compared and checked.
PROOF = re.compile(r"\bassert\b|assert_close")
CHECK = re.compile(r"\ballclose\(|\bisclose\(|\.equal\(|✓|\bcheck\.\w+\(")
FOLDED = {"remove-input", "hide-input", "hide-cell", "remove-cell"}


def shown_checks(book) -> list[str]:
    """Return the lines of open code that check something."""
    found, exercises = [], False
    for cell in book.cells:
        if cell.cell_type == "markdown":
            for title in re.findall(r"^## (.+)$", cell.source, flags=re.M):
                exercises = title == "Exercises"
        elif not FOLDED & set(cell.metadata.get("tags", [])):
            for line in cell.source.splitlines():
                if PROOF.search(line) or (not exercises and CHECK.search(line)):
                    found.append(line)
    return found

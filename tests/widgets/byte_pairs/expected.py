"""What BytePairs has to show for its traits, by `pieces.byte_pairs`, never by the page."""

from oracle import read_out, right, same_bars
from told import tables

from pieces.byte_pairs import (
    characters,
    count_pairs,
    cut_into_pieces,
    learn_merges,
    spaced_words,
    utf8_bytes,
)

UNITS = {"characters": characters, "bytes": utf8_bytes}
MOST = 40
SEEN = """(root) => {
  const all = (selector, of) => [...root.querySelectorAll(selector)].map(of);
  const words = (box) => [...box.querySelectorAll(".p-word")].map((word) => [...word.children].map((p) =>
    [p.textContent, p.classList.contains("p-fresh"), p.classList.contains("p-strange"), p.title]));
  const [text, mine] = all(".p-pieces", words);
  const player = root.querySelector(".p-player");
  return { text, mine, learnt: all(".p-learnt li[data-piece]", (li) => li.textContent),
    none: root.querySelector(".p-learnt").textContent,
    focus: all(".p-bar-row.p-focus .p-bar-name", (n) => n.textContent),
    table: all(".p-compare tr", (row) => [...row.cells].map((cell) => cell.textContent)),
    lit: all(".p-piece.p-on", (p) => p.textContent), typed: all(".p-typed", (field) => field.value),
    at: player.querySelector("output").value, scrub: Number(player.querySelector("input").value),
    ends: [...player.querySelectorAll("button")].map((one) => one.disabled),
    said: root.querySelector(".p-say").textContent };
}"""


def told(piece):
    """A piece as a reader sees it: bytes that are no whole sign as numbers."""
    if isinstance(piece, bytes):
        try:
            piece = piece.decode()
        except UnicodeDecodeError:
            return piece.hex(" ").upper()
    return piece.replace(" ", "·")


def plain(piece):
    """A piece as Python reads it from the page."""
    return piece.hex() if isinstance(piece, bytes) else piece


def counted(n):
    return f"{n} {'token' if n == 1 else 'tokens'}"


def known(n, strange):
    """How a word stands in a vocabulary."""
    if strange == n:
        return "unknown"
    return f"{counted(n)}, {strange} unknown" if strange else counted(n)


def times(n):
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def byte_pairs(root, s):
    """The pieces, the pairs that are next, the list of merges, the table, the sentence."""
    symbols = UNITS[s["unit"]]
    text, word = s["text"], s["word"]
    every = learn_merges(text, MOST, symbols=symbols)
    n = min(s["merges"], len(every))
    merges = every[:n]
    seen = read_out(root, SEEN)
    right(seen["typed"] == [text, word], f"typed {seen['typed']}")
    right(s["learnt"] == [[*map(plain, m[:2]), m.count] for m in merges], "other merges in Python")
    pieces = cut_into_pieces(text, merges, symbols=symbols)
    cut = cut_into_pieces(word, merges, symbols=symbols)
    right(s["pieces"] == [[plain(p) for p in w] for w in pieces], "other pieces in Python")
    right(s["cut"] == [plain(p) for w in cut for p in w], "the word is cut otherwise in Python")
    alphabet = {sign for w in spaced_words(text) for sign in symbols(w)}
    fresh = merges[-1].left + merges[-1].right if merges else None
    for name, drawn, wanted in (("text", seen["text"], pieces), ("word", seen["mine"], cut)):
        want = []
        for one in wanted:
            odd = [s["unit"] == "characters" and not set(p) <= alphabet for p in one]
            tips = [
                f"{told(p)}, a character that the text does not have" * o
                for p, o in zip(one, odd, strict=True)
            ]
            want.append(
                [[told(p), p == fresh, o, tip] for p, o, tip in zip(one, odd, tips, strict=True)]
            )
        right(drawn == want, f"{name}: {drawn} is drawn, not {want}")
    counts = {}
    for one in pieces:
        counts[one] = counts.get(one, 0) + 1
    pairs = count_pairs(counts)
    age = {p: at for at, p in enumerate(sorted(alphabet))}
    for left, right_, _ in merges:
        age.setdefault(left + right_, len(age))
    order = sorted(pairs, key=lambda pair: (-pairs[pair], age[pair[0]], age[pair[1]]))
    names = [f"{told(a)} + {told(b)}" for a, b in order[:5]]
    if names:
        same_bars(root, names, [([pairs[pair] for pair in order[:5]], None, False, 0)])
    first = names[:1] if order and pairs[order[0]] > 1 else []
    right(seen["focus"] == first, f"marked is {seen['focus']}, not {first}")
    listed = [
        f"{at}. {told(a)} + {told(b)} → {told(a + b)}" for at, (a, b, _) in enumerate(merges, 1)
    ]
    right(seen["learnt"] == listed, f"the list {seen['learnt']}")
    right(bool(merges) or seen["none"] == "nothing yet", seen["none"])
    right(seen["at"] == f"{n} of {len(every)}" and seen["scrub"] == n, f"{seen['at']}, {n}")
    right(seen["ends"][1:] == [n == 0, n == len(every)], "the steps at the ends")
    right(seen["lit"] == [], "a piece is lit without a pointer")
    same_comparison(seen["table"], tables(root), s, merges, pieces, cut, alphabet)
    same_sentence(seen["said"], s, every, n, pieces)


def same_comparison(table, views, s, merges, pieces, cut, alphabet):
    """Tokens and vocabulary of the three ways, and what becomes of the other word."""
    symbols = UNITS[s["unit"]]
    words, mine = spaced_words(s["text"]), spaced_words(s["word"])
    signs = [sign for w in mine for sign in symbols(w)]
    whole = 256 if s["unit"] == "bytes" else len(alphabet)
    strange = 0 if s["unit"] == "bytes" else sum(sign not in alphabet for sign in signs)
    made = {a + b for a, b, _ in merges} - alphabet
    n = sum(map(len, cut))
    wanted = [
        ["cut into", "tokens", "vocabulary", "your word"],
        [s["unit"], str(sum(len(symbols(w)) for w in words)), str(whole), known(len(signs), strange)],
        ["pieces", str(sum(map(len, pieces))), str(whole + len(made)), known(n, strange)],
        ["words", str(len(words)), str(len(set(words))),
         known(len(mine), sum(w not in words for w in mine))],
    ]  # fmt: skip
    right(table == wanted, f"the table {table}, not {wanted}")
    for caption, listed in views:
        right(caption != "The same text, three ways" or listed == wanted, f"its view {listed}")


def same_sentence(said, s, every, n, pieces):
    """What the last merge has done, or what comes first."""
    symbols = UNITS[s["unit"]]
    quoted = lambda piece: f"“{told(piece)}”"  # noqa: E731
    length = sum(map(len, pieces))
    if not length:
        right(said == "Type a text, and its pairs are counted.", said)
    elif not n:
        right(said.startswith(f"No merge yet: the text is {length} {s['unit']} long. "), said)
        first = every and (
            f"The pair {quoted(every[0].left)} + {quoted(every[0].right)} occurs "
            f"{times(every[0].count)}, so it will be merged first."
        )
        none = "No pair occurs twice, so there is nothing to learn."
        right(said.endswith(first or none), said)
    else:
        a, b, count = every[n - 1]
        before = sum(map(len, cut_into_pieces(s["text"], every[: n - 1], symbols=symbols)))
        want = (
            f"Merge {n} has joined {quoted(a)} and {quoted(b)}, which were neighbours "
            f"{times(count)}. The text is {length} tokens long now, {before - length} fewer than before."
        )
        right(said.startswith(want), f"{said!r}, not {want!r}")
        counts = {}
        for one in cut_into_pieces(s["text"], every[: n - 1], symbols=symbols):
            counts[one] = counts.get(one, 0) + 1
        ties = sum(found == count for found in count_pairs(counts).values()) - 1
        right(("as frequent" in said) == (ties > 0), said)
        told_ties = {0: "", 1: "One other pair was as frequent"}
        right(told_ties.get(ties, f"{ties} other pairs were as frequent") in said, said)
        right(said.endswith("twice.") == (n == len(every) and n < MOST), said)

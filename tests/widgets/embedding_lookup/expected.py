"""What EmbeddingLookup has to show for its traits, by torch and `pieces`, never by the page."""

import torch
from oracle import maps, number, read_out, right, same_map, says

from pieces.positions import Sinusoidal
from pieces.widgets.embedding_lookup import VOCABULARIES, tokens_of

SEEN = """(root) => ({
  chips: [...root.querySelectorAll(".p-chips .p-chip")].map((one) => [one.textContent, one.ariaChecked]),
  typed: root.querySelector(".p-typed").value, said: root.querySelector(".p-say").textContent,
  hand: root.querySelector(".p-framed-title").textContent, field: root.querySelector(".p-framed .p-number").value,
  thumb: Number(root.querySelector(".p-framed input[type=range]").value),
  undo: !root.querySelector(".p-framed button").disabled,
  work: [...root.querySelectorAll(".p-work li")].filter((li) => !li.hidden).map((li) => ({
    text: li.textContent, tiles: [...li.querySelectorAll(".p-tile")].map((t) => [t.dataset.role, t.textContent]) })),
})"""


def tensors(s):
    """One-hot rows, rows of W, codes, sums; the last two also for the table before."""
    words = list(VOCABULARIES[s["language"]])
    ids = [words.index(word) for word in tokens_of(s["text"], s["language"])]
    W = torch.tensor(s["W"], dtype=torch.float64)
    one = torch.eye(8, dtype=torch.float64)[ids]
    P = Sinusoidal(4)(torch.arange(len(ids)), torch.float64) * s["positions"]
    was = torch.tensor(s["before"], dtype=torch.float64) if s["before"] else None
    return words, ids, W, one, one @ W, P, was


def embedding_lookup(root, s):
    """The tokens, five maps with their frames and ghosts, the framed number, words and arithmetic."""
    words, ids, W, one, rows, P, was = tensors(s)
    seen = read_out(root, SEEN)
    right(seen["typed"] == s["text"], f"typed {seen['typed']!r}")
    T, at = len(ids), s["token"] - 1
    right(s["ids"] == ids, f"Python reads the ids {s['ids']}, not {ids}")
    names = [words[n] for n in ids]
    wanted = [[f"{words[n]} {n}", str(t == at).lower()] for t, n in enumerate(ids)]
    right(seen["chips"] == wanted, f"tokens {seen['chips']}, not {wanted}")
    i, j = s["row"] - 1, s["column"] - 1
    right(
        seen["hand"] == f"Change the framed number of W: {words[i]}, feature {j + 1}", seen["hand"]
    )
    right(says(seen["field"], float(W[i, j]), 4), f"the field has {seen['field']}")
    right(abs(seen["thumb"] - float(W[i, j])) < 1e-6, f"the slider stands at {seen['thumb']}")
    right(seen["undo"] == (was is not None), "the button Undo")
    drawn = maps(root)
    right(len(drawn) == (5 if T else 1), f"{len(drawn)} maps")
    table = drawn[1] if T else drawn[0]
    marked = {"frame": ids[at]} if T else {}
    same_map(table, W.tolist(), rows=[f"{n} {word}" for n, word in enumerate(words)], digits=1,
             marks=[(i, j)], ghost=None if was is None else was.tolist(), **marked)  # fmt: skip
    right(was is not None or not table.corners, "a ghost of nothing")
    if not T:
        right(seen["said"].startswith("Type one of the entries"), seen["said"])
        right(seen["work"] == [], "arithmetic of nothing")
        return
    same_map(
        drawn[0], one.tolist(), rows=names, columns=list(range(8)), frame=at, digits=0, signed=False
    )
    X = rows + P
    right(torch.allclose(torch.tensor(s["x"]).double(), X, atol=1e-6), "Python reads another sum")
    ghost = lambda more: None if was is None else (one @ was + more).tolist()  # noqa: E731
    for map_, values, before in (
        (drawn[2], rows, ghost(0)),
        (drawn[3], P, None),
        (drawn[4], X, ghost(P)),
    ):
        same_map(map_, values.tolist(), rows=names, frame=at, digits=1, ghost=before)
    same_words(seen["said"], s, words, ids, at, W, was)
    same_work(seen["work"], s, words[ids[at]], one[at], W[:, j], rows[at, j], P[at, j], X[at, j])


def same_words(said, s, words, ids, at, W, was):
    """The token that is followed, what it costs, and where a change has arrived."""
    n, T = ids[at], len(ids)
    right(said.startswith(f"“{words[n]}” has the id {n}, so its one-hot row has its 1 at column {n}, "
                          f"and multiplied by W it gives row {n} and nothing else."), said)  # fmt: skip
    tokens = "1 token" if T == 1 else f"{T} tokens"
    cost = (
        f" For {tokens} the product multiplies {T * 32} times; picking rows copies {T * 4} numbers."
    )
    right(cost in said, said)
    changed = [] if was is None else (W != was).any(1).nonzero().flatten().tolist()
    right(("Your change" in said) == (len(changed) == 1), said)
    if len(changed) == 1:
        reached = ids.count(changed[0])
        told = {0: "no token: the word is not in the text", 1: "one token"}
        more = told.get(reached, f"{reached} tokens: every place where the word stands")
        right(said.endswith(f" Your change to “{words[changed[0]]}” has reached {more}."), said)


def same_work(lines, s, word, bits, column, row, place, x):
    """Eight products and their sum; the row, the place and theirs."""
    right(len(lines) == 2, f"{len(lines)} lines of arithmetic")
    first, last = lines
    right(first["text"].startswith(f"row of {word}, feature {s['column']} = "), first["text"])
    wanted = [v for pair in zip(bits, column, strict=True) for v in pair] + [row]
    roles = ["query", "residual"] * 8 + ["residual"]
    same_tiles(first, wanted, roles)
    right(
        first["text"].count(" · ") == 8 and first["text"].count("(") == sum(c < 0 for c in column),
        first,
    )
    right(last["text"].startswith("x = "), last["text"])
    added = s["positions"]
    same_tiles(last, [row, place, x] if added else [row, x],
               ["residual", "key", "output"] if added else ["residual", "output"])  # fmt: skip


def same_tiles(line, values, roles):
    """Numbers in the colours of what they stand for."""
    right([role for role, _ in line["tiles"]] == roles, f"{line['text']}: other colours")
    for (_, text), value in zip(line["tiles"], values, strict=True):
        right(
            abs(number(text) - float(value)) < 6e-4, f"{line['text']}: {text}, not {float(value)}"
        )

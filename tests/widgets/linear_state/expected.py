"""What LinearState has to show for its traits: keys, values and states by torch and `pieces`."""

import re

import torch
from charted import CURVES, same_curve
from drawn_numbers import gaussian
from oracle import ask, maps, right, same_bars, same_map, says

from pieces.attention import linear_attention

SHOWN = """(root) => ({
  names: [...root.querySelectorAll(".l-names button")].map((b) => [b.textContent, b.ariaPressed, b.ariaLabel, b.ariaDisabled === "true"]),
  asking: !root.querySelector(".l-ask").hidden, at: root.querySelector(".p-play-at").textContent,
  said: root.querySelector(".p-say").textContent, note: root.querySelector(".p-typed-note").textContent,
  heads: [...root.querySelectorAll(".p-bar-head span")].map((one) => one.textContent),
  key: [...root.querySelectorAll(".p-chart-key li")].map((one) => one.textContent),
  cursor: root.querySelector(".p-at")?.getAttribute("x1") ?? null,
  field: root.querySelector("textarea").value })"""
SHARP, MOST, ROWS = 8, 24, 5


def seed_of(word):
    """FNV-1a, over the letters."""
    found = 0x811C9DC5
    for letter in word:
        found = ((found ^ ord(letter)) * 0x01000193) & 0xFFFFFFFF
    return found


def direction(word, size):
    draws = gaussian(seed_of(word), size)
    return draws / draws.norm()


def read(s):
    """The pairs, what is no pair, and how many are too many."""
    parts = [part.split() for part in re.split(r"[,;\n]+", s["text"]) if part.strip()]
    whole = [part for part in parts if len(part) == 2]
    loose = [" ".join(part) for part in parts if len(part) != 2]
    return whole[:MOST], loose, max(0, len(whole) - MOST)


def square_of(keys, values):
    """The state, by the package."""
    if not len(keys):
        return torch.zeros(keys.shape[1], keys.shape[1], dtype=torch.float64)
    one = (x[None, None] for x in (keys, keys, values))
    return linear_attention(*one, features=lambda x: x)[1].pairs[0, 0]


class Memory:
    """The first n pairs in both memories, and what they say."""

    def __init__(self, pairs, size):
        self.pairs = pairs
        sides = [[direction(f"{side} {pair[at]}", size) for pair in pairs] for at, side in
                 enumerate(("key", "value"))]  # fmt: skip
        self.keys, self.values = (
            torch.stack(one) if one else torch.zeros(0, size).double() for one in sides
        )
        self.square = square_of(self.keys, self.values)

    def scores(self, at):
        """How well each word matches what either memory answers."""
        k = self.keys[at]
        mixed = (SHARP * self.keys @ k).softmax(0) @ self.values
        return self.values @ mixed, self.values @ (k @ self.square)

    def said(self, at):
        return [self.pairs[int(one.argmax())][1] for one in self.scores(at)]

    def truth(self, at):
        return [thing for name, thing in self.pairs if name == self.pairs[at][0]][-1]

    def known(self):
        told = [[word == self.truth(at) for word in self.said(at)] for at in range(len(self.pairs))]
        return [sum(one) for one in zip(*told, strict=True)] if told else [0, 0]


def many(n, word):
    return f"{n} {word}{'' if n == 1 else 's'}"


def linear_state(root, s):
    """Maps, bars, curve, names, sentence, note, and what Python reads."""
    shown = ask(root, SHOWN)
    pairs, loose, over = read(s)
    size, step = s["size"], min(s["step"], len(pairs))
    memory = Memory(pairs[:step], size)
    asked = min(s["asked"], max(1, step)) - 1
    right(shown["at"] == f"{step} of {len(pairs)}", shown["at"])
    right(shown["field"] == s["text"], shown["field"])
    note = (f"Not a pair of two words: {', '.join(f'“{one}”' for one in loose)}. " if loose else "") + (
        f"There is room for 24 pairs; {over} more {'is' if over == 1 else 'are'} left out. " if over else "")  # fmt: skip
    right(shown["note"] == (note or "Names and what they have. Change them, or add more."), note)
    wanted = [[name, str(n == asked < step).lower(), f"Ask for {name}", n >= step] for n, (name, _) in
              enumerate(pairs)]  # fmt: skip
    right(shown["asking"] == bool(pairs), "names to ask for, and there are none")
    right(not pairs or shown["names"] == wanted, f"{shown['names']}, not {wanted}")
    drawn = maps(root)
    squares = [Memory(pairs[:n], size).square.tolist() for n in (max(0, step - 1), step)]
    captions = ["The cache: a column for each pair, keys", "and values"] if step else []
    right([one.caption for one in drawn] == [*captions, "The square: all pairs added up"],
          [one.caption for one in drawn])  # fmt: skip
    same_map(drawn[-1], squares[1], digits=0, ghost=squares[0] if step else None)
    if step:
        for one, vectors, at in ((drawn[0], memory.keys, 0), (drawn[1], memory.values, 1)):
            names = [pair[at] for pair in memory.pairs]
            same_map(one, vectors.T.tolist(), columns=names, column=asked, digits=0)
    known = [Memory(pairs[:n], size).known() for n in range(1, len(pairs) + 1)]
    same_curves(root, shown, known, step)
    same_words(shown["said"], memory, asked, size, len(pairs), known)
    answers = memory.said(asked) if step else None
    if step:
        same_answers(root, shown, memory, asked)
    for trait, value in (("numbers", [2 * step * size, size * size]), ("answers", answers),
                         ("known", known[step - 1] if step else [0, 0])):  # fmt: skip
        right(s[trait] == value, f"Python reads {trait} = {s[trait]}, not {value}")
    given = torch.tensor(s["state"], dtype=torch.float64)
    right(torch.allclose(given, memory.square, atol=1e-9), "Python reads another state")


def same_answers(root, shown, memory, asked):
    """The bars: the right word first, then the best matches of linear attention."""
    cache, state = memory.scores(asked)
    order = sorted(range(len(memory.pairs)), key=lambda n: -float(state[n]))
    own = [n for n in order if memory.pairs[n][1] == memory.truth(asked)][:1]
    listed = list(dict.fromkeys([*own, *order]))[:ROWS]
    right(shown["heads"] == ["word", "attention", "linear attention"], shown["heads"])
    both = [[float(one[n]) for n in listed] for one in (cache, state)]
    top = max(map(abs, both[0] + both[1]))  # one length is one number in both columns
    series = [(row, top, True, 2) for row in both]
    same_bars(root, [memory.pairs[n][1] for n in listed], series)


def same_curves(root, shown, known, step):
    """The share of pairs that are known, after each number of pairs."""
    if not known:
        right(not root.locator("svg.p-chart").is_visible(), "a curve of nothing")
        return
    chart = ask(root.locator("svg.p-chart"), CURVES)
    right([c["name"] for c in chart["curves"]] == ["attention", "linear attention"], chart["names"])
    xs = list(range(1, len(known) + 1))
    for which, curve in enumerate(chart["curves"]):
        same_curve(chart, curve, xs, [one[which] / n for n, one in zip(xs, known, strict=True)])
    if step:
        told = [text.rsplit(maxsplit=1)[-1] for text in shown["key"]]
        fits = [says(a, b / step, 3) for a, b in zip(told, known[step - 1], strict=True)]
        right(all(fits), shown["key"])
    else:
        right(shown["key"] == ["attention", "linear attention"], f"nothing read: {shown['key']}")


def same_words(said, memory, asked, size, pairs, known):
    """The sentence: numbers kept, what both say, and how many each knows."""
    n = len(memory.pairs)
    if not n:
        text = "Nothing is read yet. Press Play, or step."
        right(said == (text if pairs else "Type a name and a word: Tom red."), said)
        return
    (first, second), truth, name = memory.said(asked), memory.truth(asked), memory.pairs[asked][0]
    text = (f"{many(n, 'pair')}: the cache holds 2 × {n} × {size} = {2 * n * size} numbers, the square "
            f"{size} × {size} = {size * size}. ")  # fmt: skip
    if first == second == truth:
        text += f"Asked for {name}, both say “{first}”, which is right. "
    elif first == second:
        text += f"Asked for {name}, both say “{first}”; “{truth}” is right. "
    else:
        text += (
            f"Asked for {name}, attention says “{first}” and linear attention “{second}”; "
            f"“{truth}” is right. "
        )
    cache, state = known[n - 1]
    text += f"Of {many(n, 'pair')}, attention knows {cache} and linear attention {state}."
    right(said == text, f"{said!r}, not {text!r}")

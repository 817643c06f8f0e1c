"""What FlashTiles has to show for its traits: whole rows by torch, of which it never has one."""

import math
import re

import torch
from charted import fixed
from oracle import ask, number, right, says
from told import tables

from pieces import masks
from pieces.attention import attention

SHOWN = """(root) => {
  const text = (node) => node.textContent;
  return { cells: [...root.querySelectorAll(".p-tile-cell")].map((c) =>
      [c.dataset.cell, c.dataset.state, text(c), c.title, c.style.backgroundColor, c.classList.contains("p-on")]),
    keys: [...root.querySelectorAll(".p-tile-key")].map(text),
    queries: [...root.querySelectorAll(".p-tile-query")].map((q) =>
      [text(q), q.classList.contains("p-in-block"), q.classList.contains("p-on"), q.ariaPressed, q.ariaLabel]),
    frame: (() => { const one = root.querySelector(".p-tile-frame");
      if (one.hidden) return null;
      const edge = one.getBoundingClientRect();
      return [...root.querySelectorAll(".p-tile-cell")].filter((c) => { const box = c.getBoundingClientRect();
        return box.left > edge.left - 1 && box.right < edge.right + 1 && box.top > edge.top - 1
          && box.bottom < edge.bottom + 1; }).map((c) => c.dataset.cell); })(),
    legend: [...root.querySelector(".p-legend").children].map(text),
    kept: [...root.querySelectorAll(".p-kept tbody tr")].map((row) => ({ state: row.dataset.state,
      on: row.classList.contains("p-on"), name: text(row.cells[0]),
      cells: [...row.cells].slice(1).map((c) => [text(c), c.classList.contains("p-moved"), c.title]) })),
    heads: [...root.querySelectorAll(".p-kept thead th")].map(text),
    at: text(root.querySelector(".p-play-at")), said: text(root.querySelector(".p-say")),
    title: text(root.querySelector(".p-work-title")),
    work: [...root.querySelectorAll(".p-work li:not([hidden])")].map((li) => {
      const copy = li.cloneNode(true);
      copy.querySelectorAll("sup").forEach((s) => { s.textContent = `^(${s.textContent})`; });
      return copy.textContent; }),
    bars: [...root.querySelectorAll(".p-whole")].map((row) => [text(row.querySelector(".p-whole-name")),
      [...row.querySelectorAll(".p-part")].map((p) => [p.dataset.role, parseFloat(p.style.width), p.title]),
      text(row.querySelector(".p-whole-total"))]) };
}"""


def blocks(n, size):
    return [list(range(start, min(start + size, n))) for start in range(0, n, size)]


def tiles(s, seen):
    """The tiles in their order: (queries, keys, first of its row, last of its row)."""
    T, S = seen.shape
    found = []
    for i in blocks(T, s["rows"]):
        row = [j for j in blocks(S, s["columns"]) if seen[i][:, j].any()]
        found += [(i, j, n == 0, n == len(row) - 1) for n, j in enumerate(row)]
    return found


def carried(scores, V, keys):
    """Largest score, sum and partial output of one query over the keys so far, whole at once."""
    if not keys:
        return -math.inf, 0.0, torch.zeros(V.shape[1], dtype=V.dtype)
    part = scores[keys]
    powers = (part - part.max()).exp()
    return float(part.max()), float(powers.sum()), powers @ V[keys]


def world(s):
    """Everything that torch makes of the traits."""
    Q, K, V = (torch.tensor(s[n], dtype=torch.float64) for n in "QKV")
    if s["late"]:
        K[-1] *= 3
    T, S = len(Q), len(K)
    seen = torch.ones(T, S).bool()
    if s["mask"] == "causal":  # the last query stands at the last key; there may be fewer keys
        seen = masks.causal(max(T, S))[-T:, -S:]
    every = tiles(s, seen)
    step = min(s["step"], len(every) + 1)
    output = attention(Q[None, None], K[None, None], V[None, None], mask=seen)[0][0, 0]
    return {"Q": Q, "K": K, "V": V, "seen": seen, "tiles": every, "step": step, "output": output,
            "scores": Q @ K.T / math.sqrt(Q.shape[1]), "end": step > len(every),
            "now": every[step - 1] if 0 < step <= len(every) else None}  # fmt: skip


def open_keys(w, i, keys):
    return [j for j in keys if w["seen"][i, j]]


def latest(w, i):
    """The number, from 1, and the keys of the tile that query i has met last; (0, ()) before its first."""
    met = [(n, tile[1]) for n, tile in enumerate(w["tiles"][: w["step"]], 1) if i in tile[0]]
    return met[-1] if met else (0, ())


def before_and_now(w, i):
    """What query i keeps before the tile that it met last and after it."""
    done = [j for tile in w["tiles"][: w["step"]] if i in tile[0] for j in tile[1]]
    old = [j for j in done if j not in latest(w, i)[1]]
    return tuple(carried(w["scores"][i], w["V"], open_keys(w, i, keys)) for keys in (old, done))


def state_of(w, i, j):
    if not w["seen"][i, j]:
        return "hidden"
    at = next(n for n, tile in enumerate(w["tiles"], 1) if i in tile[0] and j in tile[1])
    return "now" if at == w["step"] else "past" if at < w["step"] else "next"


def finished(w):
    """The queries whose last tile is done."""
    return [i for tile in w["tiles"][: w["step"]] if tile[3] for i in tile[0]]


def names(s, n):
    return s["words"] if len(s["words"]) == n else [f"token {i + 1}" for i in range(n)]


def flash_tiles(root, s):
    """Board, rows, arithmetic, sentence, bars, table, and what Python reads."""
    w, shown = world(s), ask(root, SHOWN)
    queries, keys = names(s, len(w["Q"])), names(s, len(w["K"]))
    keys = [*keys[:-1], f"{keys[-1]} × 3"] if s["late"] else keys
    right(shown["keys"] == keys, shown["keys"])
    at = "divided" if w["end"] else f"tile {w['step']} of {len(w['tiles'])}"
    right(shown["at"] == at, shown["at"])
    words = ["on the chip now", "forgotten", "still to come", "hidden by the mask",
             "changed by this tile"]  # fmt: skip
    right(shown["legend"] == words, shown["legend"])
    block = w["now"][0] if w["now"] else []
    i = followed(root, s, w)
    marked = i if w["step"] or 0 < s["row"] <= len(queries) else None
    for n, (name, inside, on, pressed, label) in enumerate(shown["queries"]):
        right([name, inside] == [queries[n], n in block], f"{name}: in the block {inside}")
        right(on == (n == marked), f"{name} is followed: {on}")
        right(pressed == str(n == s["row"] - 1).lower(), f"{name}: pressed {pressed}")
        right(label == f"Work out the row of {name}", label)
    framed = [f"{a},{b}" for a in block for b in w["now"][1]] if w["now"] else None
    right(shown["frame"] == framed, f"the frame is around {shown['frame']}, not {framed}")
    same_board(shown["cells"], w, queries, keys, marked)
    same_kept(shown, w, s, queries, marked)
    same_work(shown, w, queries, i)
    same_table(root, w, queries)
    same_sentence(shown["said"], s, w, queries, keys, i)
    moved = same_bars(shown["bars"], w)
    done = finished(w)
    right(s["tiles"] == len(w["tiles"]), f"Python reads {s['tiles']} tiles")
    right(s["moved"] == moved, f"Python reads {s['moved']}, not {moved}")
    T, S = w["seen"].shape
    held = [min(s["rows"], T) * min(s["columns"], S), T * S]
    right(s["held"] == held, f"Python reads {s['held']}, not {held}")
    for got, n in zip(s["output"], sorted(done), strict=True):
        near = torch.allclose(torch.tensor(got).double(), w["output"][n], atol=1e-9)
        right(near, f"the finished row {n}: {got}, not {w['output'][n]}")


def followed(root, s, w):
    """The query that is worked out: the one pointed at, the one chosen, or the first of the last block."""
    rows = range(len(w["Q"]))
    block = w["now"][0] if w["now"] else rows if w["end"] else []
    focused = root.locator(".p-tile-query:focus")
    if focused.count():
        at = root.locator(".p-tile-query").evaluate_all(
            "(all) => all.findIndex((q) => q.matches(':focus'))"
        )
        if at in block:
            return at
    if s["row"] - 1 in rows:
        return s["row"] - 1
    return (w["now"] or w["tiles"][-1])[0][0]


def same_board(cells, w, queries, keys, row):
    T, S = w["seen"].shape
    right(len(cells) == T * S, f"{len(cells)} cells")
    said = {"past": "computed, used and forgotten", "next": "not computed yet",
            "hidden": "hidden by the mask"}  # fmt: skip
    for at, state, text, title, colour, on in cells:
        i, j = map(int, at.split(","))
        wanted = state_of(w, i, j)
        if wanted == "hidden" and state == "left":
            raise AssertionError(at)
        right(state == wanted, f"[{at}] is {state}, not {wanted}")
        value = float(w["scores"][i, j])
        right(
            says(text, value, 1) if wanted == "now" else text == "", f"[{at}]: {text}, not {value}"
        )
        told = fixed(value, 3) if wanted == "now" else said[wanted]
        right(title == f"{queries[i]} · {keys[j]}: {told}", f"{title!r}: {told}")
        right(bool(colour) == (wanted == "now"), f"[{at}] has the colour {colour!r}")
        right(on == (i == row), f"[{at}] is followed: {on}")


def same_kept(shown, w, s, queries, i):
    """m, ℓ and o of each row, what has moved, and the finished rows."""
    right(shown["heads"] == ["query", "m", "ℓ", "o, the output so far"], shown["heads"])
    done, block = finished(w), w["now"][0] if w["now"] else []
    python = iter(s["kept"])
    for n, row in enumerate(shown["kept"]):
        state = "now" if n in block else "done" if n in done else "next"
        right([row["name"], row["state"]] == [queries[n], state], row)
        right(row["on"] == (n == i), f"{row['name']} is followed: {row['on']}")
        values = [None, None, *([None] * w["V"].shape[1])]
        was = None
        if state == "now":
            (m0, l0, o0), (m, total, o) = before_and_now(w, n)
            values = [m, total, *o.tolist()]
            was = None if w["now"][2] else [m0, l0, *o0.tolist()]
            near = torch.allclose(
                torch.tensor(next(python)).double(), torch.tensor(values).double()
            )
            right(near, f"Python reads another row for {n}: {values}")
        elif state == "done":
            values[2:] = w["output"][n].tolist()
        for c, ((text, moved, title), value) in enumerate(zip(row["cells"], values, strict=True)):
            empty = "o / ℓ" if state == "done" and c == 1 else ""
            told = text == empty if value is None else says(text, value, 2)
            right(told, f"{n}, {c}: {text}, {value}")
            other = was is not None and abs(was[c] - value) > 1e-6
            right(moved == other, f"{row['name']}, {c}: moved {moved}")
            told = says(title.removeprefix("was "), was[c], 2) if other else title == ""
            right(told and title.startswith("was ") == other, f"{title}: {was}")


def same_table(root, w, queries):
    """The table view, where it is open."""
    for caption, (head, *rows) in tables(root):
        if caption != "What is carried along each row":
            continue
        right(head == ["query", "m", "ℓ", "o"], head)
        for n, row in enumerate(rows):
            m, total, o = None, None, None
            if w["now"] and n in w["now"][0]:
                m, total, o = before_and_now(w, n)[1]
            elif n in finished(w):
                o = w["output"][n]
            texts = ["–" if x is None or x == -math.inf else fixed(x, 4) for x in (m, total)]
            texts[0] = "−∞" if m == -math.inf else texts[0]
            wanted = [queries[n], *texts, "–" if o is None else ", ".join(fixed(x, 4) for x in o)]
            right(row == wanted, f"{row}, not {wanted}")


def same_work(shown, w, queries, i):
    """Run each line of the arithmetic: what is written left of the last = gives what stands there."""
    at, columns = latest(w, i)
    title = f"The row of “{queries[i]}” in "
    title += "this tile" if at == w["step"] else f"tile {at}, its last"
    right(shown["title"] == (title if at else ""), shown["title"])
    opened = open_keys(w, i, columns)
    (m0, *_), (m, total, o) = before_and_now(w, i)
    wanted = {"m": m, "ℓ": total, "o, first number": float(o[0])} if opened else {}
    if i in finished(w) and total:
        wanted["o / ℓ"] = float(w["output"][i, 0])
    right(len(shown["work"]) == len(wanted), shown["work"])
    for line, (name, value) in zip(shown["work"], wanted.items(), strict=True):
        right(line.startswith(f"{name} = "), f"{line!r} is not about {name}")
        *_, how, result = line.removeprefix(f"{name} =").rsplit(" = ", 1)
        right(says(result.strip(), value, 2), f"{line!r}: not {value}")
        plain = how.replace("−", "-").replace("·", "*").replace("^", "**")
        plain = re.sub(r"\* (-[\d.]+)", r"* (\1)", plain).replace("e**", "math.e**")
        reckoned = eval(plain, {"math": math, "max": lambda *xs: max(xs)})
        near = 0.03 * (len(opened) + 1) + 0.02 * abs(value) if name != "m" else 0.006
        right(abs(reckoned - value) < near, f"{line!r}: {reckoned}, not {value}")
        terms = how.count("e^") if name in ("ℓ", "o, first number") else None
        old = 0 if m0 == -math.inf else 1
        right(terms in (None, len(opened) + old), f"{line!r} has {terms} powers")
    return None


def listed(all_names):
    return f"“{all_names[0]}” … “{all_names[-1]}”" if len(all_names) > 2 else " and ".join(
        f"“{n}”" for n in all_names)  # fmt: skip


def alike(said, wanted):
    """Whether two sentences agree; where a number ends in a 5, its last digit may differ by one."""
    parts = r"−?\d+\.\d\d"
    pairs = zip(re.findall(parts, said), re.findall(parts, wanted), strict=False)
    near = all(abs(number(a) - number(b)) < 0.0101 for a, b in pairs)
    return near and re.split(parts, said) == re.split(parts, wanted)


def same_sentence(said, s, w, queries, keys, i):
    n = len(w["tiles"])
    if not w["step"]:
        cut = "; those that the mask hides are left out" if s["mask"] == "causal" else ""
        return right(said == f"Tiles to do: {n}, row by row{cut}. Press Play, or step.", said)
    if w["end"]:
        end = "Each o has been divided by its ℓ. The result is exactly that of the plain equation."
        return right(said == end, said)
    rows, columns, _, last = w["now"]
    meet = "meet" if len(rows) > 1 else "meets"
    text = f"Tile {w['step']} of {n}: {listed([queries[a] for a in rows])} {meet} "
    text += f"{listed([keys[a] for a in columns])}. "
    (m0, _, _), (m, _, _) = before_and_now(w, i)
    name, to = f"“{queries[i]}”", fixed(m, 2)
    if i not in rows:
        first = next((n for n, tile in enumerate(w["tiles"], 1) if i in tile[0]), None)
        text += (f"The row of {name} is finished." if i in finished(w)
                 else f"{name} has to wait: its row begins with tile {first}." if first
                 else f"The mask hides every key from {name}.")  # fmt: skip
        return right(said == text, f"{said!r}, not {text!r}")
    if not open_keys(w, i, columns):
        text += f"{name} sees none of these keys. "
    elif m0 == -math.inf:
        text += f"For {name} the largest score so far is {to}. "
    elif m > m0:
        text += (
            f"For {name} the largest score rises from {fixed(m0, 2)} to {to}, so what was summed "
        )
        text += f"before is multiplied by {fixed(math.exp(m0 - m), 2)}. "
    else:
        text += f"For {name} the largest score stays {to}, so nothing is shrunk. "
    if last:
        text += f"This was its last tile: o divided by ℓ finishes the row of {name}."
    return right(alike(said.strip(), text.strip()), f"{said!r}, not {text!r}")


def same_bars(bars, w):
    """The numbers moved, added up tile by tile as the package cuts them."""
    (T, S), K = w["seen"].shape, w["Q"].shape[1]
    moved = 0
    for i, j, first, last in w["tiles"][: w["step"]]:
        moved += len(i) * K * (first + last) + 2 * len(j) * K
    outside = 2 * T * K + 2 * S * K
    whole = outside + 4 * T * S
    top = max(moved, whole)
    wanted = [["tiles, so far", [["query", moved]]],
              ["the whole matrix", [["query", outside], ["score", 4 * T * S]]]]  # fmt: skip
    for (name, parts, total), (right_name, values) in zip(bars, wanted, strict=True):
        right(name == right_name, name)
        right(total == f"{sum(v for _, v in values):,}", f"{name}: {total}")
        for (role, long, title), (right_role, value) in zip(parts, values, strict=True):
            right(role == right_role, f"{name} has the colour of {role}")
            right(abs(long - 100 * value / top) < 0.1, f"{name}: {long} % for {value}")
            right(f": {value:,}, " in title, title)
    return [moved, whole]

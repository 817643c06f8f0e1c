"""What is told beside the drawn: the tip of a cell, the table view, the voice of the arcs."""

import re

from oracle import TABLE, read_out, right, says

TABLES = f"""(node) => [...node.closest(".pieces").querySelectorAll(".p-tables table")].map((table) =>
  [table.caption.textContent, ({TABLE})(table)])"""
# The pointer is on one cell after the other, and then on none.
TIPS = """([root, order, places, also]) => {
  const pane = [...root.querySelectorAll(".p-pane")][order];
  const [board, tip, caption] = [".p-board", ".p-tip", "figcaption"].map((one) => pane.querySelector(one));
  const send = (kind, x = 0, y = 0) => board.dispatchEvent(new PointerEvent(kind,
    { bubbles: kind === "pointermove", clientX: x, clientY: y, pointerType: "mouse" }));
  const told = places.map(([x, y]) => {
    const box = board.getBoundingClientRect();
    send("pointermove", box.left + x, box.top + y);
    return (also ? root.querySelector(also) : tip.hidden ? caption : tip).textContent;
  });
  send("pointerleave");
  return told;
}"""
MOST = 4096  # cells; the table view of a larger map is in short


def tables(root):
    """Return the open tables of the widget that `root` is in, as [caption, rows]."""
    return read_out(root, TABLES)


def close(text, value):
    """Whether a text is this number, to as many decimals as it has."""
    plain = re.fullmatch(r"−?\d[\d,]*(?:\.(\d+))?", text)
    return says(text.replace(",", ""), value, len(plain[1] or "") if plain else 4)


def same_cells(root, compared):
    """Tips and tables of the heat maps that have been compared."""
    listed = tables(root)
    for drawn, values, open_, rows, columns, tip, states in compared:
        T, S = drawn.shape
        down, across = (
            list(map(str, names)) for names in (rows or range(1, T + 1), columns or range(1, S + 1))
        )
        names = [[n or str(at) for at, n in enumerate(list_, 1)] for list_ in (down, across)]
        if tip is not False:
            same_tips(root, drawn, values, open_, names, tip)
        mine = [rows for caption, rows in listed if caption == drawn.caption]
        if mine and T * S <= MOST:
            same_whole(drawn, values, open_, names, mine[0], states)
        if states:
            counted = f"{states[0]}: {len(open_)}, {states[1]}: {T * S - len(open_)}. "
            right(counted in drawn.label, f"{drawn.label!r} without {counted!r}")


def pointed(root, drawn, cells, also=None):
    """Return what is told of each cell while the pointer is on it: its tip, or the text of `also`."""
    places = [(drawn.lefts[j] + drawn.cell / 2, drawn.tops[i] + drawn.high / 2) for i, j in cells]
    return root.evaluate(f"(root, rest) => ({TIPS})([root, ...rest])", [drawn.order, places, also])


def same_tips(root, drawn, values, open_, names, tip):
    """The tip names row and column in this order, and has the number of that cell."""
    T, S = drawn.shape
    cells = sorted({(0, 0), (0, S - 1), (T - 1, 0), (T // 2, S // 3), (T // 3, S // 2)})
    told = pointed(root, drawn, cells)
    for text, (i, j) in zip(told, cells, strict=True):
        if tip:
            right(text == tip(i, j), f"{drawn.caption}: the tip says {text!r}, not {tip(i, j)!r}")
            continue
        found = re.fullmatch(
            rf".* {re.escape(names[0][i])}, .* {re.escape(names[1][j])}: (<?\s?\S+)", text
        )
        right(found, f"{drawn.caption}: the tip of [{i}, {j}] says {text!r}")
        same_text(found[1], values[i][j], (i, j) in open_, f"{drawn.caption}: the tip {text!r}")


def same_text(text, value, seen, where):
    """A cell in words: its number, or that it is masked."""
    fits = close(text, float(value)) if seen and text != "masked" else (text == "masked") != seen
    right(fits, f"{where}, not {value if seen else 'masked'}")


def same_whole(drawn, values, open_, names, rows, states):
    """The table of a heat map: its corner, its heads, its rows, each of its numbers."""
    axes = re.search(r"\d+ × \d+, (.*?) by (.*?)(?:,|\.)", drawn.label).groups()
    right(rows[0] == [" \\ ".join(axes), *names[1]], f"{drawn.caption}: the heads {rows[0]}")
    right([row[0] for row in rows[1:]] == names[0], f"{drawn.caption}: the table's rows")
    for i, row in enumerate(rows[1:]):
        for j, text in enumerate(row[1:]):
            seen, where = (i, j) in open_, f"{drawn.caption}: {text} at [{i}, {j}]"
            if states:
                right(text == states[not seen], where)
            else:
                same_text(text, values[i][j], seen, where)


HEADS = """(node) => { const head = node.querySelector(".p-bar-head");
  return head ? [...head.children].map((one) => one.textContent) : []; }"""


def same_listed(root, names, columns, head=None):
    """One of the open tables has these heads (the bars' own), names and columns of numbers."""
    listed = tables(root)
    head = head or read_out(root, HEADS)
    if not listed:
        return
    mine = [rows for _, rows in listed if [row[0] for row in rows[1:]] == names]
    right(mine, f"no table has the rows {names}")
    headed = [rows for rows in mine if rows[0] == head]
    right(headed, f"a table with the heads {[rows[0] for rows in mine]}, not {head}")
    right(any(all(close(row[c + 1], column[n]) for n, row in enumerate(rows[1:])
                  for c, column in enumerate(columns)) for rows in headed),
          f"the table of {names} has other numbers")  # fmt: skip


def same_voice(root, words, at, row, least=0.0):
    """The arcs are told in words: what the chosen word looks at, most first, five at most."""
    said = root.locator(".p-pane-arcs > [role=status]").text_content()
    seen = sorted(((float(w), n) for n, w in enumerate(row) if float(w) > least), reverse=True)[:5]
    if not seen:
        return right(said == f"{words[at]} looks at nothing.", said)
    parts = [(("itself" if n == at else words[n]), w) for w, n in seen]
    right(said.startswith(f"{words[at]} looks at ") and said.endswith("."), said)
    told = said.removeprefix(f"{words[at]} looks at ").removesuffix(".").split(", ")
    right(
        [one.rsplit(" ", 1)[0] for one in told] == [name for name, _ in parts], f"{said}: {parts}"
    )
    fits = all(close(t.rsplit(" ", 1)[1], w) for t, (_, w) in zip(told, parts, strict=True))
    return right(fits, f"{said}: {parts}")

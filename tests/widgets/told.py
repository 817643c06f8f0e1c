"""What is told beside the drawn: the tip of a cell, the table view, the voice of the arcs."""

import math
import re

from oracle import TABLE, ask, number, read_out, right, says

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


def same_cells(root, compared, listed):
    """Tips and tables of the heat maps that have been compared."""
    asked = [(one[0], some_of(one[0])) for one in compared if one[5] is not False]
    told = iter(pointed(root, asked))
    for drawn, values, open_, rows, columns, tip, states in compared:
        T, S = drawn.shape
        down, across = (
            list(map(str, names)) for names in (rows or range(1, T + 1), columns or range(1, S + 1))
        )
        names = [[n or str(at) for at, n in enumerate(list_, 1)] for list_ in (down, across)]
        if tip is not False:
            same_tips(next(told), drawn, values, open_, names, tip)
        mine = [rows for caption, rows in listed if caption == drawn.caption]
        if mine and T * S <= MOST:
            same_whole(drawn, values, open_, names, mine[0], states)
        elif mine:
            same_short(drawn, values, open_, names, mine[0])
        if states:
            counted = f"{states[0]}: {len(open_)}, {states[1]}: {T * S - len(open_)}. "
            right(counted in drawn.label, f"{drawn.label!r} without {counted!r}")


def same_short(drawn, values, open_, names, rows):
    """The table of a large heat map, in short: of each row the least, the mean, the most and where."""
    axis = re.search(r"\d+ × \d+, (.*?) by ", drawn.label)[1]
    right(rows[0] == [axis, "smallest", "mean", "largest", "at", "no number"], rows[0])
    right([row[0] for row in rows[1:]] == names[0], f"{drawn.caption}: the table's rows")
    for i, (_, *texts, place, none) in enumerate(rows[1:]):
        seen = {j: float(x) for j, x in enumerate(values[i]) if open_ is None or (i, j) in open_}
        real = {j: x for j, x in seen.items() if math.isfinite(x)}
        where = f"{drawn.caption}: row {i} {texts} at {place}, {none}"
        right(none == str(len(seen) - len(real)), where)
        if not real:
            right({*texts, place} == {"–"}, where)
            continue
        wanted = [min(real.values()), sum(real.values()) / len(real), max(real.values())]
        right(all(says(a, b, 3) for a, b in zip(texts, wanted, strict=True)), where)
        most = real[names[1].index(place)]
        right(abs(most - wanted[2]) < 1e-6 * max(1, abs(most)), where)


VIEWS = """(root) => {
  const of = (kind, read) => [...root.querySelectorAll(kind)].filter((one) => one.checkVisibility()).map((pane) =>
    ({ caption: pane.querySelector("figcaption")?.textContent, ...read(pane) }));
  const texts = (pane, what) => [...pane.querySelectorAll(what)].map((one) => one.textContent);
  return { parts: of(".p-pane-parts", (pane) => ({ parts: [...pane.querySelectorAll(".p-whole")].flatMap((whole) =>
      [...whole.querySelectorAll(".p-part")].map((part) => [whole.querySelector(".p-whole-name").textContent,
        part.querySelector("b").textContent, part.title])) })),
    charts: of(".p-pane-chart", (pane) => ({ axes: texts(pane, ".p-axis"), key: texts(pane, ".p-chart-key li"),
      names: [...pane.querySelectorAll(".p-curve-line")].map((one) => one.dataset.name),
      paths: [...pane.querySelectorAll(".p-curve-line")].map((one) => one.querySelector("path")?.getAttribute("d") ?? ""),
      ticks: [...pane.querySelectorAll("[data-tick=y]")].map((one) => [Number(one.dataset.value),
        Number(one.getAttribute("y")) - 4]) })) };
}"""


def same_views(root, listed):
    """The open tables of parts of a whole, and of curves: their heads, and the numbers below each."""
    listed = dict(listed)
    if not listed:
        return
    views = ask(root, VIEWS)
    for caption, parts in ((one["caption"], one["parts"]) for one in views["parts"]):
        if caption in listed:
            same_parts_view(caption, listed[caption], parts)
    for one in views["charts"]:
        if one["caption"] in listed:
            same_curves_view(one, listed[one["caption"]])


def same_parts_view(caption, rows, parts):
    """Each part of each whole as it is drawn, its number, and its share, which follows from all."""
    (*first, unit, last), *body = rows
    right(first == ["whole", "part"] and last == "%" and unit not in (*first, last), rows[0])
    right([row[:2] for row in body] == [part[:2] for part in parts], f"{caption}: other rows")
    values = [None if row[2] == "–" else float(row[2].replace(",", "")) for row in body]
    for (whole, part, *_, share), value in zip(body, values, strict=True):
        all_ = sum(v or 0 for v, row in zip(values, body, strict=True) if row[0] == whole)
        told = f"{caption}: {part} of {whole} has {share} %"
        right((share == "–") == (not all_), told)
        right(not all_ or abs(float(share) - 100 * (value or 0) / all_) < 0.0501, told)


def same_curves_view(drawn, rows):
    """The axis and the curves as heads; in one row all that the key tells of the cursor's place."""
    names = list(dict.fromkeys(drawn["names"]))
    right(rows[0] == [drawn["axes"][0], *names], f"{drawn['caption']}: the heads {rows[0]}")
    told = [
        text.removeprefix(name).strip() for text, name in zip(drawn["key"], names, strict=False)
    ]
    if not all(told) or len(told) < len(names):
        return same_ends_view(drawn, rows)  # no cursor
    numbers = [re.sub(r"[^\d.,·⁰¹²³⁴⁵⁶⁷⁸⁹⁻−]", "", text) for text in told]
    right(
        any(all(close(a, number(b)) for a, b in zip(numbers, row[1:], strict=True)
                if a and b != "–") for row in rows[1:]),
        f"{drawn['caption']}: no row has {told}",
    )  # fmt: skip


def same_ends_view(drawn, rows):
    """Where no cursor tells a place: the last number below each curve's name is where it ends."""
    (low, a), (high, b) = drawn["ticks"][0], drawn["ticks"][-1]
    ends = {}
    for name, path in zip(drawn["names"], drawn["paths"], strict=True):
        points = re.findall(r"[ML]\s*(-?[\d.]+)[ ,](-?[\d.]+)", path)
        if points:
            ends[name] = float(points[-1][1])
    for name, text in zip(rows[0][1:], rows[-1][1:], strict=True):
        if name not in ends or low == high or not re.search(r"\d", text):
            continue
        value = number(text)
        places = [a + (value - low) * (b - a) / (high - low)]
        if min(low, high, value) > 0:
            places.append(a + math.log(value / low) * (b - a) / math.log(high / low))
        right(
            min(abs(ends[name] - y) for y in places) < 1,
            f"{drawn['caption']}: {name} ends at {text}",
        )


def pointed(root, asked, also=None):
    """Return what is told of some cells [map, cells] while the pointer is on them: their tips, or `also`."""
    each = [
        [
            drawn.order,
            [(drawn.lefts[j] + drawn.cell / 2, drawn.tops[i] + drawn.high / 2) for i, j in cells],
            also,
        ]
        for drawn, cells in asked
    ]
    every = f"(root, all) => all.map((rest) => ({TIPS})([root, ...rest]))"
    return ask(root, every, each) if each else []


def some_of(drawn):
    """Some cells of a heat map: three corners, and two within."""
    T, S = drawn.shape
    return sorted({(0, 0), (0, S - 1), (T - 1, 0), (T // 2, S // 3), (T // 3, S // 2)})


def same_tips(told, drawn, values, open_, names, tip):
    """The tip names row and column in this order, and has the number of that cell."""
    for text, (i, j) in zip(told, some_of(drawn), strict=True):
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

"""What HeadSplitter has to show for its traits: torch runs the very lines of code that it shows."""

import itertools
import re
from math import prod
from types import SimpleNamespace

import torch
from drawn_numbers import gaussian
from oracle import TABLE, apart, ask, right, says

from pieces.attention import attention

MOST = (2, 6, 4, 4)  # B, T, H, K of the largest table: a smaller one is a corner of it
AXES = ["BTD", "BTHK", "BHTK", "BHTK", "BTHK", "BTD", "BTD"]
SHOWN = """(root) => {
  const [pane, ...others] = [...root.querySelectorAll(".p-pane-blocks")].filter((one) => one.checkVisibility());
  const look = (node) => getComputedStyle(node);
  const canvas = pane.querySelector("canvas");
  return { others: others.length, caption: pane.querySelector("figcaption").textContent, width: canvas.clientWidth,
    height: canvas.clientHeight, leak: look(pane).getPropertyValue("--p-leak").trim(), marks: window.drawn(canvas),
    line: pane.querySelector(".p-block-shape").textContent, label: canvas.ariaLabel,
    lines: [...root.querySelectorAll(".p-line")].map((line) => [line.querySelector("code").textContent,
      line.querySelector(".p-line-shape").textContent, line.getAttribute("aria-pressed")]),
    legend: [...root.querySelectorAll(".p-legend li")].map((li) =>
      [li.textContent, li.firstChild.dataset.role, look(li.firstChild).backgroundColor]) };
}"""


def sizes(s):
    """Return B, T, H, K of the traits."""
    return s["B"], s["T"], s["heads"], s["head_dim"]


def drawn(s):
    """Return queries, keys and values [B, T, H, K], and the last matrix [D, D]."""
    B, T, H, K = sizes(s)
    q, k, v = (
        gaussian(seed, prod(MOST)).reshape(MOST)[:B, :T, :H, :K].clone() for seed in (61, 62, 63)
    )
    if s["silenced"]:
        v[:, :, s["silenced"] - 1] = 0
    return q, k, v, gaussian(64, 256).reshape(16, 16)[: H * K, : H * K]


def run(lines, s, **given):
    """Run lines of code for the traits; return the tensor that each one makes."""
    B, T, H, K = sizes(s)
    scope = {"B": B, "T": T, "H": H, "K": K, "D": H * K, "x": None, "k": None, "v": None} | given
    made = []
    for line in lines:
        exec(line, scope)
        made.append(scope[line[0]])
    return made


def numbers(lines, s):
    """Return the tensor of each line, from the numbers that the widget draws."""
    B, T, H, K = sizes(s)
    q, k, v, mixing = drawn(s)
    flat = q.reshape(B, T, H * K)
    layer = SimpleNamespace(query=lambda x: flat, output=lambda o: o @ mixing)
    heads = {"k": k.transpose(1, 2), "v": v.transpose(1, 2)}
    return run(lines, s, self=layer, attention=attention, **heads)


def places(lines, s):
    """Return the tensor of each line, of places in a table [B, T, D]: who stands where."""
    B, T, H, K = sizes(s)
    flat = torch.arange(B * T * H * K).view(B, T, H * K)
    layer = SimpleNamespace(query=lambda x: flat, output=lambda o: o)
    return run(lines, s, self=layer, attention=lambda q, k, v: (q, None))


def changed(lines, s):
    """Return which numbers of the table [B, T, D] a silenced head has changed at the step shown."""
    quiet, loud = (numbers(lines, s | {"silenced": n})[s["step"]] for n in (s["silenced"], 0))
    if AXES[s["step"]] == "BHTK":
        quiet, loud = quiet.transpose(1, 2), loud.transpose(1, 2)
    return ((quiet - loud).abs() > 1e-12).flatten()


def corner(index, shape):
    """Return where an index stands: a grid, then side by side, then one below the other."""
    rows, columns = shape[-2:]
    *outer, i, j = index
    across, down = [0, 0, *outer][:-3:-1]
    return across * (columns + 1) + j, down * (rows + 1) + i


def head_splitter(root, s):
    """The blocks, their frames, colours and rings, the shape, the code, the key, the sentence."""
    seen = ask(root, SHOWN)
    step, (B, T, H, K) = s["step"], sizes(s)
    D, code = H * K, [line for line, *_ in seen["lines"]]
    made, where = numbers(code, s), places(code, s)
    now, shape = where[step], list(where[step].shape)
    right(seen["others"] == 0, "two pictures are shown")
    right(("queries" in seen["caption"]) == (step < 3), seen["caption"])
    same_blocks(seen, now, s, changed(code, s))
    named = ", ".join(f"{a} {n}" for a, n in zip(AXES[step], shape, strict=True))
    line = f"{code[step][0]}: [{named}]"
    line += f", strides {now.stride()}" if step < 3 else ""
    right(seen["line"] == line, f"{seen['line']!r}, not {line!r}")
    right(seen["label"] == f"{seen['caption']}. {line}", seen["label"])
    for n, ((text, told, pressed), t) in enumerate(zip(seen["lines"], made, strict=True)):
        right(told == str(list(t.shape)), f"{text} has the shape {list(t.shape)}, not {told}")
        right(pressed == str(n == step).lower(), f"{text} is pressed: {pressed}")
    right(root.locator(".p-play-at").text_content() == str(step + 1), "another step is told")
    right(root.locator(".p-player input").input_value() == str(step), "another step is set")
    count = int(changed(code, s).sum())
    said = root.locator(".p-say").text_content()
    told = {0: [D], 1: [D, H, K] * (H > 1), 2: [B * H, T, K][B * H == 1 :], 5: [D] * (H > 1)}
    told = told.get(step, []) + ([s["silenced"]] if s["silenced"] else [])
    told += [count, B * T * D] if count else []
    right([int(n) for n in re.findall(r"\d+", said)] == told, f"{said!r} should tell {told}")
    right((s["shape"], s["changed"]) == (shape, count), f"{s['shape']}, {s['changed']} are read")
    if root.locator(".p-tables table").count():
        same_numbers(root, now, made[step])


def same_blocks(seen, now, s, changed):
    """Compare the blocks with the places [...] that they should show, by shape."""
    shape, step, (B, T, H, K) = now.shape, s["step"], sizes(s)
    head = torch.arange(H)[:, None].expand(B, T, H, K).flatten()
    mine = [f"head {n + 1}" for n in range(H)] if step < 6 else ["a mix of all heads"]
    key = {text: (role, colour) for text, role, colour in seen["legend"]}
    words = mine + ["changed by silencing"] * bool(changed.any())
    right([text for text, *_ in seen["legend"]] == words, f"the legend: {seen['legend']}")
    right(len({colour for _, colour in key.values()}) >= len(mine), "two heads of one colour")
    cells = {int(now[i]): corner(i, shape) for i in itertools.product(*map(range, shape))}
    kinds = {
        kind: [m for m in seen["marks"] if m["kind"] == kind] for kind in ("rect", "ring", "text")
    }
    right(len(kinds["rect"]) == now.numel(), f"{len(kinds['rect'])} blocks")
    side = (kinds["rect"][0]["box"][2] - kinds["rect"][0]["box"][0]) / 0.92
    written = side >= 17
    right(
        len(kinds["text"]) == now.numel() * written,
        f"{len(kinds['text'])} labels, {side} px a block",
    )
    left = seen["width"] / 2 / side - (max(x for x, _ in cells.values()) + 1) / 2

    def found(marks, x, y, w=1.0, h=1.0):
        """The marks whose middle is that of some cells."""
        middles = [(m, m["at"] if "at" in m else [(m["box"][0] + m["box"][2]) / 2, (m["box"][1] + m["box"][3]) / 2])
                   for m in marks]  # fmt: skip
        at = [(x + left + w / 2) * side, (y + 0.1 + h / 2) * side]
        return [
            m
            for m, middle in middles
            if max(abs(a - b) for a, b in zip(middle, at, strict=True)) < 0.06 * side
        ]

    for n, (x, y) in cells.items():
        (block,) = found(kinds["rect"], x, y) or [None]
        right(block, f"no block of {n} at {(x, y)}")
        colour = key[mine[int(head[n]) if step < 6 else 0]][1]
        right(apart(block["colour"], colour) < 3, f"{n} is {block['colour']}, its head {colour}")
        rings = [m for m in found(kinds["ring"], x, y) if apart(m["colour"], seen["leak"]) < 3]
        right(len(rings) == int(changed[n]), f"{n} is ringed: {rings}")
        if written:
            right(
                [m["text"] for m in found(kinds["text"], x, y)] == [str(n)],
                f"{n} says another number",
            )
    rows, columns = shape[-2:]
    grids = [corner((*i, 0, 0), shape) for i in itertools.product(*map(range, shape[:-2]))]
    frames = [m for m in kinds["ring"] if apart(m["colour"], seen["leak"]) > 9]
    right(len(frames) == len(grids), f"{len(frames)} frames")
    right(len(kinds["ring"]) == len(grids) + int(changed.sum()), f"{len(kinds['ring'])} outlines")
    for x, y in grids:
        (frame,) = found(frames, x, y, columns, rows) or [None]
        right(frame, f"no frame around the grid at {(x, y)}")
        wide, high = ((frame["box"][at + 2] - frame["box"][at]) / side for at in (0, 1))
        right(0 < wide - columns < 0.5 and 0 < high - rows < 0.5, f"a frame of {wide} by {high}")
        right(0 <= frame["box"][0] and frame["box"][2] <= seen["width"] and frame["box"][3] <= seen["height"],
              f"a frame leaves the picture: {frame['box']}")  # fmt: skip


def same_numbers(root, now, values):
    """Compare the table view, where it is open, with places and numbers."""
    rows = root.locator(".p-tables table").evaluate_all(f"(all) => all.map({TABLE})")
    right(len(rows) == 1, f"{len(rows)} tables")
    right(rows[0][0] == ["index", *map(str, range(now.shape[-1]))], rows[0][0])
    heads = list(itertools.product(*map(range, now.shape[:-1])))
    right([row[0] for row in rows[0][1:]] == [str(list(i)) for i in heads], "other rows")
    for (name, *cells), index in zip(rows[0][1:], heads, strict=True):
        for text, place, value in zip(cells, now[index], values[index], strict=True):
            label, number = text.split(": ")
            right(label == str(int(place)), f"{name}: {text}, not {int(place)}")
            right(says(number, float(value), 2), f"{name}: {text}, not {float(value)}")

"""What ExpertCapacity has to show for its traits, by torch and `pieces`, never by the page."""

import math
import re

import torch
from drawn_numbers import gaussian
from oracle import ask, right, says
from told import tables

from pieces.moe import load_balancing_loss, within_capacity

SHOWN = """(root) => {
  const field = root.querySelector(".p-field").getBoundingClientRect();
  const up = (y) => (field.bottom - 1 - y) / (field.height - 1); // above the line they stand on
  const span = (node) => { const box = node.getBoundingClientRect(); return [up(box.bottom), up(box.top)]; };
  const hatched = (node) => getComputedStyle(node).backgroundImage.startsWith("repeating-linear-gradient");
  const box = (node) => node.getBoundingClientRect();
  const side = (column) => { const [a, b] = [box(column), box(column.querySelector("i"))];
    return [(b.left - a.left) / a.width, (b.right - a.left) / a.width]; };
  const line = (name) => up(box(root.querySelector(`s.${name}`)).bottom);
  return { label: root.querySelector(".p-field").ariaLabel, say: root.querySelector(".p-say").textContent,
    room: line("p-room"), fair: line("p-fair"),
    wide: [...root.querySelectorAll("s")].map((s) => box(s).width / field.width),
    dashed: [...root.querySelectorAll("s")].map((s) => getComputedStyle(s).borderTopStyle),
    key: [...root.querySelectorAll(".p-legend li")].map((li) => [li.textContent, hatched(li.querySelector("i"))]),
    columns: [...root.querySelectorAll(".p-column")].map((column) => ({
      name: column.querySelector("span").textContent, number: column.querySelector("b").textContent,
      at: up(box(column.querySelector("b")).bottom), tip: column.title, side: side(column),
      parts: [...column.querySelectorAll("i")].map((i) => [span(i), hatched(i)]) })) };
}"""


def scores(s):
    """The drawn scores [T, E], with the lead of the first expert and with noise."""
    E, T, seed = s["n_experts"], s["n_tokens"], 100 * s["seed"]
    drawn = torch.stack([gaussian(seed + e, T) for e in range(E)], 1)
    noise = torch.stack([gaussian(seed + 50 + e, T) for e in range(E)], 1)
    drawn = drawn + s["noise"] * noise
    drawn[:, 0] += s["lead"]
    return drawn


def routed(s):
    """The load, what is dropped by expert, the room, the words without an expert, the loss."""
    E, T, k = s["n_experts"], s["n_tokens"], s["k"]
    logits = scores(s)
    experts = logits.topk(k).indices
    capacity = max(1, math.ceil(s["capacity"] * T * k / E))
    room = within_capacity(experts, E, capacity)
    load = torch.bincount(experts.flatten(), minlength=E).tolist()
    dropped = torch.bincount(experts[~room], minlength=E).tolist()
    without = int((~room.any(-1)).sum())
    return load, dropped, capacity, without, float(load_balancing_loss(logits, k))


def expert_capacity(root, s):
    """Each column with its two parts, its number and its tip; both lines; key, sentence, table."""
    seen = ask(root, SHOWN)
    load, dropped, capacity, without, loss = routed(s)
    E, visits = s["n_experts"], s["n_tokens"] * s["k"]
    right(s["load"] == load and s["dropped"] == dropped, f"Python reads {s['load']}, not {load}")
    right(s["without"] == without, f"Python reads {s['without']} words without an expert")
    right(abs(s["balance"] - loss) < 1e-5, f"Python reads a loss of {s['balance']}, not {loss}")
    most = max(capacity, *load)
    near = lambda a, b: abs(a - b) < 0.012  # noqa: E731
    right([c["name"] for c in seen["columns"]] == [str(e + 1) for e in range(E)], "other columns")
    for column, n, lost in zip(seen["columns"], load, dropped, strict=True):
        name = f"expert {column['name']}"
        ((low, high), plain), ((start, end), hatched) = column["parts"]
        right(hatched and not plain, f"{name}: what is dropped is not what is hatched")
        right(near(low, 0) and near(high, (n - lost) / most), f"{name}: {low} to {high} has room")
        right(near(start, (n - lost) / most), f"{name}: what is dropped begins at {start}")
        right(near(end, n / most), f"{name}: it ends at {end}, not {n / most}")
        right(column["number"] == str(n) and column["at"] > n / most, f"{name}: {column['number']}")
        right(near(sum(column["side"]), 1), f"{name}: its bar stands at {column['side']}")
        told = f"Expert {column['name']}: {n} visit{'s' * (n != 1)}, {lost} dropped"
        right(column["tip"] == told, f"{column['tip']!r}, not {told!r}")
    right(seen["label"] == "; ".join(c["tip"] for c in seen["columns"]), seen["label"])
    fair = visits / E
    right(near(seen["room"], capacity / most), f"the room is drawn at {seen['room']}")
    right(near(seen["fair"], fair / most), f"the fair share is drawn at {seen['fair']}")
    right(all(near(wide, 1) for wide in seen["wide"]), "a line is too short")
    right(seen["dashed"] == ["dashed", "dotted"], seen["dashed"])
    key = [("finds room", visits - sum(dropped)), ("is dropped", sum(dropped)), ("room for", capacity),
           ("fair share", fair)]  # fmt: skip
    for (text, hatched), (name, n) in zip(seen["key"], key, strict=True):
        digits = 0 if n == int(n) else 1
        right(text.startswith(f"{name} "), text)
        right(says(text.removeprefix(f"{name} "), n, digits), f"{text}, not {n}")
        right(hatched == (name == "is dropped"), f"{name}: hatched {hatched}")
    same_table(root, load, dropped)
    said(seen["say"], s, load, dropped, without, loss)


def same_table(root, load, dropped):
    """The table view: a row for each expert."""
    wanted = [["expert", "visits", "find room", "dropped"]]
    both = enumerate(zip(load, dropped, strict=True), 1)
    wanted += [[str(x) for x in (e, n, n - lost, lost)] for e, (n, lost) in both]
    for caption, rows in tables(root):
        right((caption, rows) == ("Visits to each expert", wanted), f"{caption}: {rows}")


def said(say, s, load, dropped, without, loss):
    """The sentence, with each of its numbers."""
    E, k, lost = s["n_experts"], s["k"], sum(dropped)
    visits = s["n_tokens"] * k
    told = re.fullmatch(
        r"The busiest expert gets ([<>]?)\s?(\d+)\s% of the (\d+) visits; a fair share is (\d+)\s%\. "
        r"(.+) Balance loss: (\S+) \((\d+) if all experts get equal shares, (\d+) at worst\)\.",
        say,
    )
    right(told, say)
    right(abs(int(told[2]) - 100 * max(load) / visits) <= (1 if told[1] else 0.51), say)
    right(int(told[3]) == visits and abs(int(told[4]) - 100 / E) <= 0.51, say)
    words = (
        f"{without or 'no'} {'word is' if without == 1 else 'words are'} left without any expert"
    )
    finds = "finds" if lost == 1 else "find"
    some = f"{lost} of {visits} visits {finds} no room, and {words}."
    right(told[5] == (some if lost else f"All {visits} visits find room."), told[5])
    right(says(told[6], loss, 2) and (told[7], told[8]) == (str(k), str(E)), say)

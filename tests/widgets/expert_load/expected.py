"""What ExpertLoad has to show for its traits, by torch and `pieces`, never by the page."""

import re
import statistics

import torch
from oracle import ask, right, same_bars, says, shares

from pieces.book.measured import record_of

WEIGHTS = {"No balance loss": 0.0, "Loss × 0.01": 0.01, "Loss × 0.1": 0.1}
LOADS = """(root) => {
  const number = (node, name) => Number(node.getAttribute(name));
  return { heads: [...root.querySelectorAll(".p-bar-head span")].map((n) => n.textContent),
    lines: [...root.querySelectorAll(".p-bar s")].map((n) => (n.hidden ? null : parseFloat(n.style.left) || 0)),
    fills: [...root.querySelector(".p-bar-row:not(.p-bar-head)").querySelectorAll("i")].map((n) => n.dataset.role),
    say: root.querySelector(".p-say").textContent, film: root.querySelector(".p-play-at").value,
    room: root.querySelector("[data-trait=capacity] output").textContent,
    pressed: Object.fromEntries([...root.querySelectorAll(".p-tabs")].map((tabs) => [tabs.ariaLabel,
      [...tabs.children].filter((b) => b.ariaPressed === "true").map((b) => b.dataset.view)])),
    ticks: ["x", "y"].map((axis) => [...root.querySelectorAll(`[data-tick=${axis}]`)].map((t) =>
      [Number(t.dataset.value), number(t, axis) - (axis === "y" ? 4 : 0)])),
    at: number(root.querySelector(".p-at"), "x1"), mark: number(root.querySelector(".p-mark"), "y1"),
    curves: [...root.querySelectorAll(".p-curve")].map((g) => ({ name: g.dataset.name, role: g.dataset.role,
      kind: g.getAttribute("class").split("p-curve-")[1],
      y: [...(g.querySelector("path").getAttribute("d")?.match(/-?[\\d.]+/g) ?? []).map(Number).filter((_, n) => n % 2),
        ...[...g.querySelectorAll("circle")].map((c) => number(c, "cy"))] })) };
}"""


def runs_of(s, balance):
    """The runs of a weight of the loss in the record: a list for the seeds."""
    experts, k = map(int, s["setting"].split())
    setting = {"experts": experts, "k": k, "balance": balance}
    runs = [run for run in record_of("expert_load")["runs"] if setting.items() <= run.items()]
    right(len(runs) == 3, f"{setting}: {len(runs)} runs in the record")
    return [run["load"] for run in sorted(runs, key=lambda run: run["seed"])]


def expert_load(root, s):
    """Every share, the line of the room, the curves of all seeds, and the sentence."""
    seen = ask(root, LOADS)
    experts, point, layer = int(s["setting"].split()[0]), round(s["step"] / 8), s["layer"] - 1
    right(seen["heads"][1:] == list(WEIGHTS), seen["heads"])
    right(seen["film"] == f"step {8 * point}", seen["film"])
    right(seen["pressed"] == {"experts, and visits per word": [s["setting"]], "layer": [str(s["layer"])],
                              "seed": [str(s["seed"])]}, seen["pressed"])  # fmt: skip
    loads = [
        [x / 1000 for x in runs_of(s, b)[s["seed"] - 1][point][layer]] for b in WEIGHTS.values()
    ]
    names = [str(e + 1) for e in range(experts)]
    same_bars(root, names, [([100 * x for x in load], 100, False, 1) for load in loads])
    room = s["capacity"] / experts
    right(all(abs(x - min(100, 100 * room)) < 0.01 for x in seen["lines"]), f"{seen['lines'][:3]}")
    right(says(seen["room"].split(" ")[0], s["capacity"], 2), seen["room"])
    (a, pa), *_, (b, pb) = seen["ticks"][1]
    up = lambda p: a + (p - pa) / (pb - pa) * (b - a)  # noqa: E731
    (c, pc), *_, (d, pd) = seen["ticks"][0]
    right(abs(c + (seen["at"] - pc) / (pd - pc) * (d - c) - 8 * point) < 2, "the line of the step")
    right(abs(up(seen["mark"]) - 100 / experts) < 0.5, "the fair share")
    for fill, (name, balance) in zip(seen["fills"], WEIGHTS.items(), strict=True):
        most = [[max(at[layer]) / 10 for at in run[: point + 1]] for run in runs_of(s, balance)]
        drawn = [curve for curve in seen["curves"] if curve["name"] == name]
        right({curve["role"] for curve in drawn} == {fill}, f"{name} has another colour")
        wanted = [*most, [statistics.median(at) for at in zip(*most, strict=True)]]
        right(sorted(curve["kind"] for curve in drawn) == ["line", "run", "run", "run"], name)
        drawn.sort(key=lambda curve: curve["kind"] == "line")
        for curve, values in zip(drawn, wanted, strict=True):
            right(len(curve["y"]) == len(values), f"{name}: {len(curve['y'])} points")
            near = all(abs(up(y) - v) < 0.5 for y, v in zip(curve["y"], values, strict=True))
            right(near, f"{name}: another curve")
    right(all(torch.tensor(x).allclose(torch.tensor(y)) for x, y in zip(s["load"], loads, strict=True)), "Python reads other loads")  # fmt: skip
    lost = [sum(max(0, x - room) for x in load) for load in loads]
    right(torch.tensor(s["dropped"]).allclose(torch.tensor(lost), atol=1e-6), "other visits drop")
    said(seen["say"], s, loads, lost)


def said(say, s, loads, lost):
    """The sentence names the busiest expert of each, and what would be dropped."""
    if not s["step"]:
        right("Press Play" in say, say)
        return
    right(say.startswith(f"Step {s['step']}, layer {s['layer']}. "), say)
    told = re.findall(
        r"([^.]+(?:0\.\d+)?): expert (\d+) gets ([<>]?\s?\d+\s%) of the visits, and ([<>]?\s?\d+\s%) of all",
        say,
    )
    right(len(told) == 3, say)
    right(f"bars and sentence show seed {s['seed']}," in say, say)
    for name, (named, *_) in zip(WEIGHTS, told, strict=True):
        right(named.strip() == name, f"{named}, not {name}: {say}")
    for (_, expert, share, gone), load, drop in zip(told, loads, lost, strict=True):
        right(load[int(expert) - 1] == max(load), say)
        right(share in shares(max(load)), say)
        right(gone in shares(drop), say)

"""What ScoreFunctions has to show for its traits, by torch and `pieces`, never by the page."""

import functools
import math
import re

import torch
from drawn_numbers import gaussian, uniform
from oracle import ask, right, same_balance, same_bars, same_ground, same_plane, same_table, says

from browser import PAINTED
from pieces import measures, scores

HIDDEN = 16
SIZES = [2**power for power in range(11)]
TABLES = """(all) => all.map((t) =>
  [...t.rows].map((row) => [...row.cells].map((cell) => cell.textContent)))"""


def drawn_value(seed, n):
    """The value of a key that the story does not name: a whole number from 1 to 30."""
    return math.floor(1 + 29 * uniform(seed * 100 + 60 + n, 1)[0] + 0.5)


@functools.lru_cache(maxsize=32)
def layers(K):
    """The random projections of the additive and the bilinear score, for vectors of size K."""
    rows = lambda seed: torch.stack([gaussian(seed + i, 1024)[:K] for i in range(HIDDEN)]) / K**0.5  # noqa: E731
    return rows(1_000_000), rows(2_000_000), gaussian(3_000_000, HIDDEN) / HIDDEN**0.5


def every_score(queries, keys):
    """Return the four scores [T, S] of queries [T, K] with keys [S, K], by `pieces.scores`."""
    K = queries.shape[-1]
    W, U, v = layers(K)
    additive, bilinear = scores.AdditiveScore(K, K, HIDDEN), scores.BilinearScore(K, K)
    with torch.no_grad():
        for module, weight in ((additive.double().W, W), (additive.U, U), (additive.v, v[None]),
                               (bilinear.double().W, W.T @ U)):  # fmt: skip
            module.weight.copy_(weight)
        return {
            "scaled dot": scores.scaled_dot(queries, keys),
            "dot": scores.dot(queries, keys),
            "additive": additive(queries, keys),
            "bilinear": bilinear(queries, keys),
        }


def vectors(s, K):
    """The query [K] and the keys [S, K] of a state: the story's, and the draws' first numbers."""
    seed = s["seed"]
    keys = torch.stack([gaussian(seed * 100 + i, 1024) for i in range(s["n_keys"])])
    for key, at in zip(keys, s["keys_at"], strict=False):
        key[:2] = torch.tensor(at, dtype=torch.float64)
    query = gaussian(seed * 100 + 50, 1024).clone()
    query[:2] = torch.tensor([s["query_x"], s["query_y"]], dtype=torch.float64)
    return query[:K], keys[:, :K]


@functools.lru_cache(maxsize=16)
def many_draws(name, n, temperature):
    """The tenth, half and nine tenths of the largest of n weights over 80 draws."""
    draws = torch.stack([
        torch.stack([gaussian(5_000_000 + 13 * draw + j, 1024) for j in range(n + 1)])
        for draw in range(80)
    ])  # fmt: skip
    sizes = []
    for K in SIZES:
        raw = every_score(draws[:, :1, :K], draws[:, 1:, :K])[name]
        largest = (raw / temperature).softmax(-1).amax((-1, -2))
        sizes.append(largest.quantile(torch.tensor([0.1, 0.5, 0.9]).double()))
    return torch.stack(sizes, 1)


def score_functions(root, s):
    """Plane or curve, bars, balance, arithmetic, the four scores, the sentence, what Python reads."""
    K, n, seed, told = s["K"], s["n_keys"], s["seed"], len(s["names"][: s["n_keys"]])
    query, keys = vectors(s, K)
    names = [*s["names"][:n], *(f"key {i + 1}" for i in range(told, n))]
    values = [*s["values"][:n], *(float(drawn_value(seed, i)) for i in range(told, n))]
    rows = {}
    for name, raw in every_score(query[None], keys).items():
        rows[name] = raw[0], (raw[0] / s["temperature"]).softmax(-1)
    chosen = s["score"].replace("_", " ")
    raw, weights = rows[chosen]
    parts = weights * torch.tensor(values, dtype=torch.float64)
    unit = f" {s['unit']}" if s["unit"] else ""
    if K <= 2:
        in_the_plane(root, s, query, keys, weights, names, values, chosen, unit)
    else:
        on_the_curve(root, s, chosen)
    same_bars(root, names, [(raw.tolist(), None, True, 2), (weights.tolist(), 1, False, 2),
                            (parts.tolist(), None, True, 2)])  # fmt: skip
    same_balance(root, values, weights.tolist(), float(parts.sum()), unit)
    same_arithmetic(root, s, query, keys, raw, weights, values, names, unit)
    same_before(root, s, raw, values)
    readings = lambda w: (w.max(), measures.entropy(w), measures.jacobian_norm(w))  # noqa: E731
    same_table(root, ".p-four", [(name, *map(float, readings(w))) for name, (_, w) in rows.items()],
               (3, 2, 4))  # fmt: skip
    marked = root.locator(".p-four .p-chosen th").all_text_contents()
    right(marked == [chosen], f"{marked} is marked as chosen")
    head = root.locator(".p-four thead th").nth(2).text_content()
    right(says(head.removeprefix("entropy, of "), math.log(n), 2), head)
    meaning = root.locator(".p-compared > p").text_content()
    told = re.search(r"spread: ([\d.]+) \(ln (\d+)\) if", meaning)
    right(told and says(told[1], math.log(n), 2) and int(told[2]) == n, meaning)
    score_sentence(root, s, query, keys, raw, weights, names)
    given = torch.tensor(s["weights"], dtype=torch.float64)
    right(torch.allclose(given, weights, atol=1e-9), "Python reads other weights")
    right(abs(s["output"] - float(parts.sum())) < 1e-7, "Python reads another output")
    right(abs(s["entropy"] - float(measures.entropy(weights))) < 1e-9, "Python reads other entropy")
    right(abs(s["gradient"] - float(measures.jacobian_norm(weights))) < 1e-9, "another gradient")


GHOSTS = """(root) => [[...root.querySelectorAll(".p-bar s")].map((one) =>
    (one.hidden ? null : (parseFloat(one.style.left) || 0) / 100)),
  ((one) => (one.hasAttribute("hidden") ? null : Number(one.getAttribute("transform").match(/-?[\\d.]+/)[0])))(
    root.querySelector(".p-was-at")), root.querySelector(".p-balance").viewBox.baseVal.width]"""


def same_before(root, s, raw, values):
    """What stood before the reader's change, where a picture says what: weights and average."""
    was = getattr(root.page, "was", None)
    bars, rest, width = ask(root, GHOSTS)
    if not was:
        return
    weights = (raw / was["temperature"]).softmax(-1)
    for got, wanted in zip(bars[1::3], weights.tolist(), strict=True):
        right(abs(got - wanted) < 1e-3, f"a weight's ghost at {got}, not {wanted}")
    low, high = min(values), max(values)
    output = float(weights @ torch.tensor(values, dtype=torch.float64))
    wanted = 22 + (output - low) / (high - low) * (width - 44)
    right(abs(rest - wanted) < 0.6, f"the average's ghost at {rest}, not {wanted}")


def in_the_plane(root, s, query, keys, weights, names, values, chosen, unit):
    """The query among its keys, their names, the shaded ground, and the buttons that move it."""
    flat = lambda point: (float(point[0]), float(point[1]) if s["K"] > 1 else 0.0)  # noqa: E731
    told, hot = len(s["names"]), s["temperature"]
    label = lambda i: f"{names[i]}: {values[i]:g}{unit}".replace("-", "−") if i < told else names[i]  # noqa: E731
    same_plane(root, flat(query), [flat(key) for key in keys], weights.tolist(),
               [label(i) for i in range(len(keys))])  # fmt: skip
    weights_at = lambda points: (every_score(points[:, : s["K"]], keys)[chosen] / hot).softmax(-1)  # noqa: E731
    same_ground(root, weights_at)


def on_the_curve(root, s, chosen):
    """The median of many draws for each score, and the vectors at hand, as the chart's own table."""
    root.locator(".p-details").evaluate("(d) => { d.open = true; }")
    root.page.evaluate(PAINTED)
    tables = root.locator(".p-tables table").evaluate_all(TABLES)
    head, *lines = next(rows for rows in tables if rows[0][0].startswith("K,"))
    kinds = list(dict.fromkeys(["dot", "scaled dot", chosen]))
    right(head[1:] == [*kinds, "these vectors"], head)
    for line, K in zip(lines, SIZES, strict=True):
        right(says(line[0], K, 3), line)
        query, keys = vectors(s, K)
        here = (every_score(query[None], keys)[chosen][0] / s["temperature"]).softmax(-1).max()
        right(says(line[-1], float(here), 4), f"at K = {K}: {line[-1]}, not {here}")
        for text, kind in zip(line[1:], kinds, strict=False):
            middle = many_draws(kind, s["n_keys"], s["temperature"])[1][K.bit_length() - 1]
            right(says(text, float(middle), 4), f"{kind} at K = {K}: {text}, not {middle}")
    cursor = root.locator(".p-chart").evaluate(
        "(svg) => [Number(svg.getAttribute('aria-valuenow')), ...[...svg.querySelectorAll('.p-mark')]"
        ".filter((l) => l.hasAttribute('x1') && l.getAttribute('x1') === l.getAttribute('x2'))"
        ".map((l) => Number(l.getAttribute('x1')))]"
    )
    right(2 ** cursor[0] == s["K"], f"the cursor stands at {2 ** cursor[0]}")
    width = ask(root.locator(".p-chart"), "(svg) => svg.viewBox.baseVal.width")
    right(abs(cursor[1] - (50 + math.log2(s["K"]) / 10 * (width - 64))) < 0.6, "you are elsewhere")


def same_arithmetic(root, s, query, keys, raw, weights, values, names, unit):
    """The three lines: the followed key's score, the softmax, the average, number by number."""
    first, second, third = root.locator(".p-work p").evaluate_all(
        "(all) => all.map((p) => [p.textContent, [...p.querySelectorAll('[data-role]')].map((e) =>"
        " [e.dataset.role, e.dataset.key ?? '', e.textContent])])"
    )
    followed = names.index(re.search(r" for (.*)$", first[0])[1])
    right(weights[followed] >= weights.max() - 1e-9, f"{names[followed]} is followed")
    wanted = [(role, x, digits) for c in range(min(2, s["K"])) for role, x, digits in
              (("query", query[c], 2), ("key", keys[followed][c], 2))]  # fmt: skip
    if s["score"] in ("additive", "bilinear"):
        first[1] = [mark for mark in first[1] if mark[0] == "score"]
        wanted = []
    elif s["K"] > 2:
        right(f" + {s['K'] - 2} more" in first[0], first[0])
    right((f"/ √{s['K']} " in first[0]) == (s["score"] == "scaled_dot"), first[0])
    few = range(min(4, len(names)))
    lines = (
        (first[1], [*wanted, ("score", raw[followed], 2)]),
        (second[1], [*(("score", raw[i], 2) for i in few), *(("weight", weights[i], 3) for i in few)]),
        (third[1], [*((role, x, digits) for i in few for role, x, digits in
                     (("weight", weights[i], 3), ("value", values[i], 3))),
                    ("output", s["output"], 2)]),
    )  # fmt: skip
    for marks, numbers in lines:
        right(len(marks) == len(numbers), marks)
        for (role, _, text), (of, value, digits) in zip(marks, numbers, strict=True):
            said = text.removesuffix(unit) if of == "output" and unit else text
            right(role == of and says(said, float(value), digits), f"{text}, not {of} {value}")
    hot = s["temperature"] != 1
    right((f") / {s['temperature']:g}" in second[0] or f") / {s['temperature']:.1f}" in second[0]) == hot,
          second[0])  # fmt: skip


def score_sentence(root, s, query, keys, raw, weights, names):
    """The sentence names the winner, its weight, the root; it calls no long key loud that is silenced."""
    said = root.locator(".p-say").inner_text()
    if found := re.search(r"Key “(.*?)” (?:gets|takes)", said):
        right(found[1] == names[int(weights.argmax())], said)
    if found := re.search(r"largest weight, ([\d.]+)\.", said):
        right(says(found[1], float(weights.max()), 2), said)
    if found := re.search(r"√K\s=\s([\d.]+)", said):
        right(says(found[1], s["K"] ** 0.5, 1), said)
    if found := re.search(r"matrix: .* about ([\d.]+) in size", said):
        W, U, _ = layers(s["K"])
        right(says(found[1], float((W.T @ U).norm()), 1), said)
    each = weights * len(names)
    average = 0.8 <= float(each.min()) and float(each.max()) <= 1.2
    right(not average or "plain average" in said or "takes everything" in said, said)
    right(average or "plain average" not in said, said)
    longest = int(keys.norm(dim=-1).argmax())
    away = s["K"] <= 2 and s["score"].endswith("dot") and float(query @ keys[longest]) < -0.3
    right(("points away" in said) == away, said)
    if found := re.search(r"longest key, “(.*?)”, .* its score is (\S+),", said):
        right(found[1] == names[longest] and says(found[2], float(raw[longest]), 2), said)

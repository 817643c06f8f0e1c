"""What WholeModel shows of an opened part: its matrices, and the sum of the cell that is told."""

import math
import re

import torch
from oracle import maps, read_out, right, same_map, says, shares
from told import tables

from pieces.inside import lens, votes
from widgets.whole_model.spoken import PURPOSES, called, capital, fits, sizes

OPENS = "Units that open widest at the followed word"  # the table view's caption
SEEN = """(root) => {
  const text = (node) => node?.textContent ?? null;
  return { title: text(root.querySelector(".w-open-title")), what: text(root.querySelector(".w-what")),
    others: [...root.querySelectorAll(".w-others button")].map((one) => [one.textContent, one.ariaLabel, one.ariaPressed]),
    headline: text(root.querySelector(".w-sum-title")),
    lines: [...root.querySelectorAll(".w-sum p")].map(text),
    tables: [...root.querySelectorAll(".w-sum table")].map((table) => ({
      head: [...table.querySelectorAll("thead th")].map(text),
      rows: [...table.querySelectorAll("tbody tr")].map((row) => ({ kind: row.className,
        cells: [...row.cells].map(text), more: row.lastElementChild.className,
        share: Number(row.lastElementChild.style.getPropertyValue("--share") || 0) })) })),
    stream: root.querySelector(".w-stream").hidden ? null : {
      line: text(root.querySelector(".w-stream .w-line")),
      figures: [...root.querySelectorAll(".w-stream figure")].map((figure) => [text(figure.querySelector("figcaption")),
        [...figure.querySelectorAll(".w-lens-row")].map((row) => [text(row.firstElementChild),
          parseFloat(row.querySelector("i").style.width), text(row.lastElementChild)])]) } };
}"""  # fmt: skip


def opened(root, s, state):
    """The matrices of the part that is opened, and the sum of the cell that is told."""
    drawn = read_out(root, SEEN) | {"views": tables(root)}
    charts = {one.caption: one for one in maps(root)}
    part, layer = s["part"], re.match(r"layer\.(\d+)\.(\w+)(?:\.(\w+))?", s["part"])
    kind = (
        part if layer is None else layer[2] if layer[3] is None or layer[3].isdigit() else "stream"
    )
    view = {"attention": of_head, "head": of_head, "positions": of_head, "feed_forward": of_units,
            "expert": routed, "stream": of_stream, "embedding": of_stream}.get(kind, of_votes)  # fmt: skip
    if view is of_units and f"layer.{layer[1]}.experts" in state["values"]:
        view = routed
    what = re.sub(r"^layer\.\d+\.|\.\d+$", "", part)
    what = "experts" if what == "feed_forward" and view is routed else what
    right(drawn["what"].startswith(PURPOSES[what]), f"{part}: {drawn['what']}")
    signs = "In colour: above 0. In grey: below 0." in drawn["what"]
    right(signs == (view is not of_stream), f"{part}: {drawn['what']}")
    view(drawn, charts, s, state)


def table(drawn, wanted, *, head, most, total, name, bias=None):
    """Products, the largest first, then the others' sum, a bias, and what they add up to."""
    right(drawn["head"][1:] == [*head, "product"], f"the columns are {drawn['head']}")
    by = {label: (a, b) for label, a, b in wanted}
    sizes_of = sorted((abs(a * b) for _, a, b in wanted), reverse=True)
    rows = list(drawn["rows"])
    shown = [row for row in rows if not row["kind"]]
    right(len(shown) == min(most, len(wanted)), f"{len(shown)} products")
    for row, size in zip(shown, sizes_of, strict=False):
        label, one, other, product = row["cells"]
        a, b = by.pop(label)
        right(
            says(one, a, 2) and says(other.removeprefix("× "), b, 2), f"{row['cells']}: {a} × {b}"
        )
        right(says(product, a * b, 2) and abs(abs(a * b) - size) < 1e-4, f"{row['cells']}: {a * b}")
        right(row["more"] == ("w-less" if a * b < 0 else "w-more"), f"{label}: {row['more']}")
        right(
            abs(row["share"] - abs(a * b) / (sizes_of[0] or 1)) < 0.002,
            f"{label}: {row['share']} long",
        )
    ends = [] if not by else [(f"{len(by)} smaller ones", sum(a * b for a, b in by.values()))]
    ends += [] if bias is None else [("bias", bias)]
    ends += [(name, total)]
    right(len(rows) == len(shown) + len(ends), f"{rows}: not {ends}")
    for row, (label, value) in zip(rows[len(shown) :], ends, strict=True):
        right(row["cells"][0] == label and says(row["cells"][-1], value, 2), f"{row['cells']}, not {label} {value}")  # fmt: skip


def times_row(state, name, row, x):
    """The products of a row of weights with what stands at a word, their bias, and their sum."""
    weights = state["model"].state_dict()
    own = weights[f"{name}.weight"][row]
    bias = float(weights[f"{name}.bias"][row]) if f"{name}.bias" in weights else None
    wanted = [(str(d + 1), float(a), float(b)) for d, (a, b) in enumerate(zip(x, own, strict=True))]
    return wanted, bias, float(x @ own) + (bias or 0)


def told_cell(chart, first):
    """The cell that is told: where the framed row and column of its map meet; else where the view begins.

    A keyboard's own cell has a frame too, also when the pointer has left: it is not asked here.
    """
    T, S = chart.shape
    rows = {i for (i, last), columns in chart.frames if i == last and columns == (0, S - 1)}
    columns = {j for rows, (j, last) in chart.frames if j == last and rows == (0, T - 1)}
    right(len(rows) == len(columns) <= 1, f"{chart.caption}: framed {chart.frames}")
    return (*rows, *columns) if rows else first


def own_cell(chart):
    """The keyboard's cell, where a map has one."""
    return [(i, j) for (i, down), (j, across) in chart.frames if (i, j) == (down, across)]


def of_head(drawn, charts, s, state):
    """The weights of a head, its queries, keys and outputs, and a number of one of them."""
    values, words, t = (state[key] for key in ("values", "words", "t"))
    found = re.match(r"layer\.(\d+)\.(?:head\.(\d+)|attention)", s["part"])
    layer = int(found[1]) if found else 1
    every = values[f"layer.{layer}.weights"]
    head = int(found[2]) - 1 if found and found[2] else int(every[:, t].max(-1).values.argmax())
    name = f"{layer}.{head + 1}"
    if found and found[2]:
        title = f"Head {name}"
    elif s["part"] == "positions":
        title = f"Positions, as head {name} uses them"
    else:
        title = f"{capital(called(s['part']))}: its strongest head here, {name}"
    right(drawn["title"] == title, f"{drawn['title']}, not {title}")
    heads = len(every)
    right(drawn["others"] == [[f"{layer}.{n + 1}", f"Open head {layer}.{n + 1}", str(n == head).lower()]
                              for n in range(heads)], f"beside it {drawn['others']}")  # fmt: skip
    group = head * values[f"layer.{layer}.keys"].shape[1] // heads
    where = {"layer": layer, "head": head, "group": group}
    made = re.match(r"Number \d+ of (?:the (query|key)|what)", drawn["headline"])
    name = (
        "Weights" if made is None else {"query": "Queries", "key": "Keys"}.get(made[1], "Outputs")
    )
    (chart,) = [one for caption, one in charts.items() if caption.startswith(name)]
    i, j = told_cell(chart, (t, int(every[head, t].argmax())))
    pointed = told_cell(chart, None) is not None
    right(pointed or name == "Weights", f"{drawn['headline']}, and no cell is framed")
    same_maps(charts, values, words, where, (name, i, j) if pointed else (None, None, None))
    own = (f"layer.{layer}.head.{head + 1}", f"layer.{layer}.attention", s["part"])
    where["lines"] = told_off(drawn, s, *own)
    if name == "Weights":
        right(drawn["headline"] == f"“{words[i]}” asks, “{words[j]}” answers", drawn["headline"])
        if j <= i:
            return score(drawn, state, where, (i, j))
        blind = f"“{words[j]}” comes after “{words[i]}”: the mask lets nothing of it through. Its weight is 0."
        return right(where["lines"] == [blind] and not drawn["tables"], where["lines"])
    which = {"Queries": "the query of", "Keys": "the key of", "Outputs": "what the head brings"}[
        name
    ]
    right(drawn["headline"] == f"Number {j + 1} of {which} “{words[i]}”", drawn["headline"])
    if name == "Outputs":
        return output(drawn, state, where, i, j)
    return projected(drawn, state, where, i, j, {"Queries": "query", "Keys": "key"}[name])


def same_maps(charts, values, words, where, cell):
    """The four matrices of a head; what is pointed at in one is framed in the others."""
    layer, head, group = where["layer"], where["head"], where["group"]
    name, i, j = cell
    asks = i if name != "Keys" else None
    answers = {"Weights": j, "Keys": i}.get(name)
    number = j if name in ("Queries", "Keys", "Outputs") else None
    framed = {"Weights": (asks, answers), "Queries": (asks, number), "Keys": (answers, number),
              "Outputs": (asks, number)}  # fmt: skip
    held = {"Weights": values[f"layer.{layer}.weights"][head], "Queries": values[f"layer.{layer}.queries"][:, head],
            "Keys": values[f"layer.{layer}.keys"][:, group], "Outputs": values[f"layer.{layer}.heads"][:, head]}  # fmt: skip
    right([caption.split(":")[0] for caption in charts] == list(held), f"maps {list(charts)}")
    for (which, matrix), chart in zip(held.items(), charts.values(), strict=True):
        row, column = framed[which]
        if which == "Weights":
            mask = torch.ones_like(matrix, dtype=torch.bool).tril().tolist()
            more = {"columns": words, "signed": False, "mask": mask}
        else:
            more = {"digits": None}
        same_map(
            chart,
            matrix.tolist(),
            rows=words,
            frame=row,
            column=column,
            marks=own_cell(chart),
            **more,
        )


def score(drawn, state, where, at):
    """Query times key, divided, and made a weight beside the two largest others."""
    values, (i, j), lines = state["values"], at, where["lines"]
    layer = where["layer"]
    q = values[f"layer.{layer}.queries"][i, where["head"]].tolist()
    k = values[f"layer.{layer}.keys"][j, where["group"]].tolist()
    raw = sum(a * b for a, b in zip(q, k, strict=True))
    table(drawn["tables"][0], [(str(d + 1), a, b) for d, (a, b) in enumerate(zip(q, k, strict=True))],
          head=["query", "key"], most=6, total=raw, name="query · key")  # fmt: skip
    scores = values[f"layer.{layer}.scores"][where["head"], i, : i + 1].tolist()
    weight = float(values[f"layer.{layer}.weights"][where["head"], i, j])
    others = sorted((one for n, one in enumerate(scores) if n != j), reverse=True)
    fits(lines[0], (raw, 2), f" ÷ √{len(q)} = ", (scores[j], 2))
    terms = [piece for one in [scores[j], *others[:2]] for piece in (" + e^", (one, 2))][1:]
    fits(lines[1], "e^", (scores[j], 2), " ÷ (e^", *terms, ")" if len(others) < 3 else " + …)",
         " = ", (weight, 3))  # fmt: skip
    fits(
        lines[2],
        shares(weight),
        f" of what this head fetches here is the value of “{state['words'][j]}”.",
    )


def projected(drawn, state, where, i, d, which):
    """A number of a query or a key: the normed column times a row of weights, turned by its place."""
    values, layer = state["values"], where["layer"]
    plural, own = ("queries", where["head"]) if which == "query" else ("keys", where["group"])
    K = values[f"layer.{layer}.{plural}"].shape[-1]
    x = values[f"layer.{layer}.attention.normed"][i]
    name = f"stack.blocks.{layer - 1}.attention.{which}"
    wanted, bias, total = times_row(state, name, own * K + d, x)
    table(drawn["tables"][0], wanted, head=["column, normed", "weight"], most=6, total=total, bias=bias,
          name=f"{which} {d + 1}")  # fmt: skip
    value = float(values[f"layer.{layer}.{plural}"][i, own, d])
    base = state["rope_base"]
    if not base or abs(value - total) < 1e-5:
        right(not where["lines"] and abs(value - total) < 1e-4, where["lines"])
        return
    partner = d + K // 2 if d < K // 2 else d - K // 2
    other = times_row(state, name, own * K + partner, x)[2]
    angle = i / base ** (2 * (d % (K // 2)) / K)
    cos, sin = math.cos(angle), (-1 if d < K // 2 else 1) * math.sin(angle)
    fits(where["lines"][0], "turned by its place: ", (total, 2), " × ", (cos, 2), f" {'−' if sin < 0 else '+'} ",
         (other, 2), " × ", (abs(sin), 2), " = ", (value, 2))  # fmt: skip


def output(drawn, state, where, i, d):
    """What a head brings a word: the values, weighed."""
    values, layer = state["values"], where["layer"]
    weights = values[f"layer.{layer}.weights"][where["head"], i, : i + 1].tolist()
    own = values[f"layer.{layer}.values"][: i + 1, where["group"], d].tolist()
    if len(set(state["words"][: i + 1])) == i + 1:
        table(drawn["tables"][0], list(zip(state["words"][: i + 1], weights, own, strict=True)),
              head=["weight", "value"], most=6, total=sum(a * b for a, b in zip(weights, own, strict=True)),
              name="outputs")  # fmt: skip
    right(says(drawn["tables"][0]["rows"][-1]["cells"][-1], float(values[f"layer.{layer}.heads"][i, where["head"], d]), 2),
          f"the head brings {drawn['tables'][0]['rows'][-1]}")  # fmt: skip


def told_off(drawn, s, *names):
    """The lines below a sum, without the last where it says that one of these parts is off."""
    lines, off = drawn["lines"], "This part is off: nothing of it arrives."
    silent = any(name in s["off"] for name in names)
    right((off in lines) == silent and (not silent or lines[-1] == off), lines)
    return lines[:-1] if silent else lines


def of_units(drawn, charts, s, state):
    """The units that open widest, and one of them: gate and up as products, and what comes of them."""
    values, words, t = (state[key] for key in ("values", "words", "t"))
    layer = int(s["part"].split(".")[1])
    units = values[f"layer.{layer}.units"]
    order = units[t].abs().argsort(descending=True)[: min(12, units.shape[1])]
    (chart,) = charts.values()
    right(
        chart.caption == f"The {len(order)} units that open widest at “{words[t]}”", chart.caption
    )
    i, j = told_cell(chart, (t, 0))
    framed = {"frame": i, "column": j} if told_cell(chart, None) else {}
    framed["marks"] = own_cell(chart)
    names = [str(n + 1) for n in order.tolist()]
    same_map(chart, units[:, order].tolist(), rows=words, columns=names, digits=0, **framed)
    mine = [one for one in drawn["views"] if one[0] == OPENS]
    right(mine or not drawn["views"], "the table view has no units")
    for _, (head, *listed) in mine:
        right(head[1:] == names, f"units {head} in the table")
        for row, own in zip(listed, units[:, order].tolist(), strict=True):
            right(
                all(says(a, b, 3) for a, b in zip(row[1:], own, strict=True)), f"{row}, not {own}"
            )
    right(drawn["title"] == f"Feed-forward {layer}", drawn["title"])
    beside_layers(drawn, state, layer)
    told = re.fullmatch(rf"Unit {layer}\.(\d+) at “(.*)”", drawn["headline"])
    right(told and int(told[1]) - 1 in order.tolist(), drawn["headline"])
    unit = int(told[1]) - 1
    right((unit, told[2]) == (int(order[j]), words[i]), drawn["headline"])
    of_unit(drawn, state, layer, i, unit)
    known = (s["opened"] or {}).get(f"{layer}.{unit + 1}")
    if known:
        names = [f"“{state['vocabulary'][pair[0]]}”" for pair in known["words"][:3]]
        said = f"In 200 stories it opened widest at {', '.join(names[:-1])} and {names[-1]}."
        lines = told_off(drawn, s, s["part"])
        right(lines[-1] == said, f"{lines[-1]}, not {said}")


def beside_layers(drawn, state, layer):
    """The same part of the other layers can be opened at once."""
    wanted = [[str(n), f"Open {called(f'layer.{n}.feed_forward')}", str(n == layer).lower()]
              for n in range(1, state["model"].config.n_layers + 1)]  # fmt: skip
    right(drawn["others"] == wanted, f"beside it {drawn['others']}, not {wanted}")


def of_unit(drawn, state, layer, i, unit):
    """One unit at one word."""
    values, lines = state["values"], drawn["lines"]
    name = f"stack.blocks.{layer - 1}.feed_forward"
    x = values[f"layer.{layer}.feed_forward.normed"][i]
    kinds = [
        which for which in ("gate", "up") if f"{name}.{which}.weight" in state["model"].state_dict()
    ]
    sums = {}
    for drawn_table, which in zip(drawn["tables"], kinds, strict=True):
        wanted, bias, sums[which] = times_row(state, f"{name}.{which}", unit, x)
        table(
            drawn_table,
            wanted,
            head=["column, normed", which],
            most=3,
            total=sums[which],
            bias=bias,
            name=which,
        )
    value = float(values[f"layer.{layer}.units"][i, unit])
    if "gate" not in kinds:
        fits(lines[0], "bent: ", (sums["up"], 2), " → ", (value, 2))
        return
    opens = sums["gate"] / (1 + math.exp(-sums["gate"]))
    fits(lines[0], "The gate opens by swish(", (sums["gate"], 2), ") = ", (opens, 2))
    fits(lines[1], "It lets through ", (opens, 2), " × ", (sums["up"], 2), " = ", (value, 2))


def routed(drawn, charts, s, state):
    """Who sends which word to which expert; and the logit of the one that was opened, or of the first."""
    values, words, t = (state[key] for key in ("values", "words", "t"))
    layer, asked = re.match(r"layer\.(\d+)(?:\.expert\.(\d+))?", s["part"]).groups()
    router, experts, spread = (
        values[f"layer.{layer}.{part}"] for part in ("router", "experts", "shares")
    )
    spread = torch.zeros_like(router).scatter(1, experts, spread)
    names = [str(e + 1) for e in range(router.shape[1])]
    (chart,) = charts.values()
    same_map(chart, spread.tolist(), rows=words, columns=names, signed=False)
    expert = int(asked) - 1 if asked else int(experts[t, 0])
    right(drawn["headline"] == f"Where the router sends “{words[t]}”", drawn["headline"])
    name = f"stack.blocks.{int(layer) - 1}.feed_forward.router.gate"
    x = values[f"layer.{layer}.feed_forward.normed"][t]
    wanted, bias, logit = times_row(state, name, expert, x)
    right(
        abs(logit - float(router[t, expert])) < 1e-4, f"the router says {float(router[t, expert])}"
    )
    table(
        drawn["tables"][0],
        wanted,
        head=["column, normed", "weight"],
        most=6,
        total=logit,
        bias=bias,
        name="logit",
    )
    if expert in experts[t]:
        others = [float(router[t, e]) for e in experts[t].tolist() if e != expert]
        share = math.exp(logit) / sum(map(math.exp, [logit, *others]))
        out = f"layer.{layer}.expert.{expert + 1}" in s["off"]
        taken = 0 if out else share  # of an expert that is off nothing arrives
        right(abs(float(spread[t, expert]) - taken) < 1e-5, f"of expert {expert + 1} {taken}")
        terms = [piece for one in [logit, *others] for piece in (" + e^", (one, 2))][1:]
        fits(
            drawn["lines"][0],
            "e^",
            (logit, 2),
            " ÷ (e^",
            *terms,
            ") = ",
            (share, 3),
        )
    else:
        said = (
            f"“{words[t]}” does not visit expert {expert + 1}: its logit is not among the largest."
        )
        right(drawn["lines"][0] == said, drawn["lines"][0])
    told_off(drawn, s, s["part"], f"layer.{layer}.feed_forward")
    title = f"Expert {layer}.{asked}" if asked else f"Experts of layer {layer}"
    right(drawn["title"] == title, f"{drawn['title']}, not {title}")
    if not asked:
        beside_layers(drawn, state, int(layer))
    else:
        beside = [[f"E {e}", f"Open expert {layer}.{e}", str(e == asked).lower()] for e in names]
        right(drawn["others"] == beside, f"beside it {drawn['others']}")


def of_stream(drawn, charts, s, state):
    """What would be said before and after a part wrote, and the sizes; of a norm, what it divides."""
    right(not charts, f"maps {list(charts)}")
    strips, values, t = (state[key] for key in ("strips", "values", "t"))
    norm = s["part"].endswith(".norm")
    base = re.sub(r"\.(norm|path)$", "", s["part"])
    n = strips.index(base) - norm
    word = state["words"][t]
    right(drawn["title"] == capital(called(s["part"])), drawn["title"])
    right(
        drawn["stream"]["line"] == f"Stopped here, “{word}” would be followed by",
        drawn["stream"]["line"],
    )
    shown = strips[max(0, n - 1) : n + 1]
    right([name for name, _ in drawn["stream"]["figures"]] == [f"After {called(one)}" for one in shown],
          f"figures {drawn['stream']['figures']}")  # fmt: skip
    for (_, rows), name in zip(drawn["stream"]["figures"], shown, strict=True):
        p = lens(state["model"], values[f"{name}.stream"][t : t + 1], tuple(s["off"])).softmax(-1)[
            0
        ]
        for (word, bar, told), best in zip(rows, p.topk(6).values.tolist(), strict=True):
            own = float(p[state["vocabulary"].index(word)])
            right(abs(own - best) < 1e-5 and abs(bar - 100 * own) < 0.06 and told in shares(own), f"{word}: {own}, {told}")  # fmt: skip
    right(drawn["headline"] == f"After {called(strips[n])}", drawn["headline"])
    beside = [["E", "Open the embedding", str(n == 0).lower()]]
    for at, name in enumerate(strips[1:], 1):
        label = f"{name.split('.')[1]}{'A' if name.endswith('attention') else 'F'}"
        beside.append([label, f"Open {called(f'{name}.path')}", str(at == n).lower()])
    right(drawn["others"] == beside, f"beside it {drawn['others']}, not {beside}")
    stream = [state["size"](name) for name in strips]
    lines = drawn["lines"]
    if n:
        added = values[strips[n]][t].square().mean().sqrt()
        if f"{strips[n]}.path" in s["off"]:
            fits(lines[0], "The skip is off: the column of size ", sizes(stream[n - 1]), " does not arrive. What "
                 "is added here, of size ", sizes(added), ", stands alone.")  # fmt: skip
        else:
            fits(lines[0], "A column of size ", sizes(stream[n - 1]), ", and ", sizes(added),
             " is added in another direction: together they have size ", sizes(stream[n]), ".")  # fmt: skip
    else:
        fits(lines[0], "Size ", sizes(stream[0]), ", as it stands in the table.")
    if norm and s["part"] in s["off"]:
        fits(lines[1], f"{capital(called(s['part']))} is off: what stands here, of size ", sizes(stream[n]),
             ", is read as it is.")  # fmt: skip
    elif norm:
        fits(
            lines[1],
            f"{capital(called(s['part']))} divides what stands here by ",
            sizes(stream[n]),
            ".",
        )
    right(len(lines) == 1 + norm, lines)


def of_votes(drawn, charts, s, state):
    """What each part adds to the logits of the ten likeliest words, and the sum of one of them."""
    values, vocabulary, t = (state[key] for key in ("values", "vocabulary", "t"))
    p = state["p"][t]
    ids = p.topk(10).indices.tolist()
    each = [votes(state["model"], values, n, t, tuple(s["off"])) for n in ids]
    names = list(each[0])[::-1]
    (chart,) = charts.values()
    same_map(chart, [[one[name] for one in each] for name in names], rows=[called(name) for name in names],
             columns=[vocabulary[n] for n in ids], digits=1)  # fmt: skip
    right(
        drawn["title"] == ("The final norm" if s["part"] == "norm" else "The next word"),
        drawn["title"],
    )
    told = re.fullmatch(r"(.*) (speaks for|speaks against|says next to nothing about) “(.*)”: (.*)",
                        drawn["headline"])  # fmt: skip
    right(told, drawn["headline"])
    j = [vocabulary[n] for n in ids].index(told[3])
    (name,) = [one for one in names if called(one) == told[1]]
    if told_cell(chart, None) is None:
        most = max(names, key=lambda one: abs(each[0][one]))
        right((name, j) == (most, 0), f"{drawn['headline']}: not the part that says most, {most}")
    value = each[j][name]
    says_ = ("says next to nothing about" if abs(value) < 0.005 else
             f"speaks {'against' if value < 0 else 'for'}")  # fmt: skip
    right(told[2] == says_ and says(told[4], 0 if abs(value) < 0.005 else value, 2),
          f"{drawn['headline']}: {value}")  # fmt: skip
    told_off(drawn, s, *(["norm"] if s["part"] == "norm" else []))
    logit = float(values["logits"][t, ids[j]])
    rows, by = drawn["tables"][0]["rows"], {called(one): vote for one, vote in each[j].items()}
    largest = sorted(map(abs, by.values()), reverse=True)
    for row, size in zip(rows[:7], largest, strict=False):
        own = by.pop(row["cells"][0])
        right(
            says(row["cells"][1], own, 2) and abs(abs(own) - size) < 1e-4, f"{row['cells']}: {own}"
        )
        right(row["more"] == ("w-less" if own < 0 else "w-more"), f"{row['cells']}: {row['more']}")
        right(
            abs(row["share"] - abs(own) / largest[0]) < 0.002,
            f"{row['cells']}: {row['share']} long",
        )
    ends = ([(f"{len(by)} others", sum(by.values()))] if by else []) + [("logit", logit)]
    for row, (label, own) in zip(rows[7:] if by else rows[-1:], ends, strict=True):
        right(
            row["cells"][0] == label and says(row["cells"][1], own, 2),
            f"{row['cells']}, not {label} {own}",
        )
    fits(
        drawn["lines"][0],
        "e^",
        (logit, 2),
        f", divided by the sum over {len(vocabulary)} words: ",
        shares(p[ids[j]]),
    )

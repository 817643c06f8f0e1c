"""What ModelTable has to show for its traits, by the rows of `pieces.zoo`, built and counted anew."""

from decimal import ROUND_HALF_UP, Decimal
from functools import cache

from by_torch import shapes_only
from oracle import ask, right

from pieces.zoo import MODEL_TABLE, OUR_MODELS, build, count_parameters

ROWS = MODEL_TABLE | OUR_MODELS
COLUMNS = ("norm", "position", "activation")
TITLES = {"name": "model", "year": "year", "size": "size", "total": "counted", "norm": "norm",
          "position": "position", "activation": "activation", "n_layers": "L", "n_heads": "H",
          "d_model": "D", "head_dim": "K"}  # fmt: skip
ROLES = {"embedding": "query", "positions": "key", "attention": "weight", "feed-forward": "value",
         "norms": "residual", "head": "output"}  # fmt: skip
# What the sources change in the words of the table: all that they fill or put right (E-44, E-45).
SOURCED = {
    ("MT-NLG", "norm"): "Pre Layer",
    ("MT-NLG", "position"): "Learned",
    ("MT-NLG", "activation"): "GELU",
    ("Gopher", "activation"): "GELU",
    ("Chinchilla", "activation"): "GELU",
    ("Gemma", "activation"): "GeGLU",
}
SHOWN = """(root) => {
  const text = (node) => node?.textContent ?? null;
  const bar = (node) => { const whole = node.getBoundingClientRect(); return [...node.children].map((part) => {
    const box = part.getBoundingClientRect();
    return [part.dataset.part, part.dataset.role, (box.left - whole.left) / whole.width, box.width / whole.width]; }); };
  const box = (selector) => { const { top, bottom, left, right } = root.querySelector(selector).getBoundingClientRect();
    return { top, bottom, left, right }; };
  const seen = (selector) => { const node = root.querySelector(selector); return (node.closest(".p-pane") ?? node).hidden ? null : node; };
  const table = seen(".p-sortable"), years = seen(".p-years");
  return {
    table: table && { caption: text(table.caption), heads: [...table.querySelectorAll("thead th")].map((th) => [text(th), th.ariaSort]),
      rows: [...table.querySelectorAll("tbody tr")].map((tr) => ({ cells: [...tr.children].map((td) => text(td.firstChild)),
        pressed: tr.querySelector("button").ariaPressed, bar: bar(tr.querySelector(".p-strip")), told: tr.querySelector(".p-strip").ariaLabel })) },
    years: years && { caption: text(years.caption), heads: [...years.querySelectorAll("thead th")].map(text),
      rows: [...years.querySelectorAll("tbody tr")].map((tr) => ({ word: text(tr.children[0]), role: tr.children[0].dataset.role,
        cells: [...tr.querySelectorAll("td")].map((td) => [...td.children].map((b) => [text(b), b.dataset.role, b.ariaPressed])) })) },
    wholes: [...root.querySelectorAll(".p-whole")].map((whole) => ({ name: text(whole.querySelector(".p-whole-name")),
      total: text(whole.querySelector(".p-whole-total")), parts: bar(whole.querySelector(".p-whole-bar")),
      named: [...whole.querySelectorAll(".p-part")].map((part) => [text(part.querySelector("b")), part.dataset.role]) })),
    beside: [...root.querySelectorAll(".p-beside tr")].map((tr) => [...tr.children].map(text)),
    sources: [...root.querySelectorAll(".p-told section")].map((one) => ({ name: text(one.querySelector(".p-told-name")),
      paragraphs: [...one.querySelectorAll("p:not([class])")].map(text), lines: [...one.querySelectorAll("li")].map(text) })),
    opened: root.querySelector("details:has(> .p-told)").open && Object.fromEntries([".p-panes", ".p-beside", "summary:has(+ .p-told)",
      ".p-told", ".p-say"].map((one) => [one, box(one)])),
    count: text(root.querySelector(".p-found")), none: seen(".p-none") && text(root.querySelector(".p-none")),
    key: seen(".p-strip-key") && [...root.querySelectorAll(".p-strip-key li")].map((li) => [text(li), li.firstChild.dataset.role]),
    search: root.querySelector(".p-find").value, empty: root.querySelector(".p-controls .p-button").disabled,
    pair: ["one", "two"].map((which) => root.querySelector(`[data-trait=${which}] select`).value),
    tab: root.querySelector(".p-tab[aria-pressed=true]").dataset.view,
    note: text(root.querySelector(".p-note")), said: text(root.querySelector(".p-say")) };
}"""
PRESSES = "a model to compare it with the one you pressed before."


@cache
def counts(name):
    """Return the parameters of a row, by part: the model is built and counted for this test."""
    with shapes_only():
        found = count_parameters(build(name))
    return {part: n for part, n in found.items() if n}


def short(value):
    """Return a number as three digits and a letter."""
    letter, size = next(
        ((x, s) for x, s in (("B", 1e9), ("M", 1e6), ("k", 1e3)) if value >= s), ("", 1)
    )
    exact = Decimal(value) / Decimal(size)
    return f"{float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 2), ROUND_HALF_UP)):g} {letter}"


def name_of(name):
    """Return a model's name as it is written: ours has a mark."""
    return f"{name} †" if name in OUR_MODELS else name


def word(name, column, words):
    """Return a row's word as printed, or by the sources; None where it is left blank."""
    printed = getattr(ROWS[name].printed, column)
    return SOURCED.get((name, column), printed) if words == "sources" else printed


def values(name, words):
    """Return what a row is sorted by, column by column."""
    row, built = ROWS[name], ROWS[name].built
    numbers = {"n_layers": built.n_layers, "n_heads": built.n_heads, "d_model": built.d_model,
               "head_dim": built.head_dim or built.d_model // built.n_heads}  # fmt: skip
    told = {column: word(name, column, words) for column in COLUMNS}
    return {"name": name, "year": row.appeared.year, "size": row.printed.parameters,
            "total": counts(name)["total"], **told, **numbers}  # fmt: skip


def rows_of(s):
    """Return the names of the rows that are to be shown, in their order."""
    found = []
    for name, row in ROWS.items():
        if row.ours and not s["ours"]:
            continue
        own = values(name, s["words"])
        words = [
            f"{own[column] or 'blank'}{'*' * ((name, column) in SOURCED and s['words'] == 'sources')}"
            for column in COLUMNS
        ]
        text = " ".join([name, str(own["year"]), row.printed.category, *words])
        text = (text + (" ours" if row.ours else "")).lower()
        fits = all(s[c] in ("any", own[c] or "blank") for c in COLUMNS)
        size = short(own["size"]).replace(" ", "").lower()
        if fits and all(part in text or part == size for part in s["find"].lower().split()):
            found.append(name)
    if not s["by"] or s["view"] != "table":
        return found
    key = lambda name: values(name, s["words"])[s["by"]]  # noqa: E731
    lower = lambda name: key(name).lower() if isinstance(key(name), str) else key(name)  # noqa: E731
    full = sorted((n for n in found if key(n) is not None), key=lower, reverse=s["falling"])
    if s["falling"]:  # what is equal keeps the order of the table
        full = sorted((n for n in found if key(n) is not None), key=lower)
        full = sorted(
            full, key=lambda n: [*dict.fromkeys(map(lower, full))].index(lower(n)), reverse=True
        )
        full = [n for value in dict.fromkeys(map(lower, full)) for n in found
                if key(n) is not None and lower(n) == value]  # fmt: skip
    return full + [n for n in found if key(n) is None]


def same_bar(drawn, name, scale=1.0):
    """Compare the parts of a bar with the counts: order, colour, place and length."""
    found = counts(name)
    parts = [part for part in found if part != "total"]
    right([part for part, *_ in drawn] == parts, f"{name}: {drawn}")
    start = 0.0
    for part, role, left, long in drawn:
        share = scale * found[part] / found["total"]
        right(role == ROLES[part], f"{name}: {part} has the colour of {role}")
        right(
            abs(left - start) < 0.02 and abs(long - share) < 0.02, f"{name}: {part} {left} {long}"
        )
        start += share


def percent(name, part):
    """Return the share of a part in whole per cent."""
    return int(100 * counts(name).get(part, 0) / counts(name)["total"] + 0.5)


def same_table(seen, s, names):
    """Compare the table: heads, the arrow of the order, every cell, every bar."""
    said = {"printed": "as printed", "sources": "by the sources; * is not as printed"}[s["words"]]
    caption = f"Table 5.1 of a textbook (S2), {said}"
    caption += "; † is ours, not in the table" if s["ours"] else ""
    right(seen["caption"] == caption, seen["caption"])
    for (title, order), (key, wanted) in zip(seen["heads"], TITLES.items(), strict=True):
        here = key == s["by"]
        right(title == wanted + ((" ↓" if s["falling"] else " ↑") if here else ""), title)
        right(
            order == ("none" if not here else "descending" if s["falling"] else "ascending"), order
        )
    right([row["cells"][0].removesuffix(" †") for row in seen["rows"]] == names, f"rows {names}")
    for row, name in zip(seen["rows"], names, strict=True):
        own = values(name, s["words"])
        cells = [name_of(name), str(own["year"]), short(own["size"]), short(own["total"])]
        for column in COLUMNS:
            changed = own[column] != getattr(ROWS[name].printed, column)
            cells.append(f"{own[column] or '–'}{'*' if changed else ''}")
        cells += [f"{own[key]:,}" for key in ("n_layers", "n_heads", "d_model", "head_dim")]
        right(row["cells"] == cells, f"{row['cells']}, not {cells}")
        right(row["pressed"] == str(name in (s["one"], s["two"])).lower(), f"{name} is pressed?")
        same_bar(row["bar"], name)
        parts = [f"{part} {percent(name, part)} %" for part in counts(name) if part != "total"]
        right(row["told"] == ", ".join(parts), row["told"])


def same_years(seen, s, names):
    """Compare the board: words in the order of their years, and each model in its year."""
    column = s["view"]
    years = sorted({ROWS[name].appeared.year for name in names})
    right(seen["heads"] == [column, *map(str, years)], seen["heads"])
    right(seen["caption"].startswith(f"Each model’s {column}"), seen["caption"])
    groups = {}
    for name in names:
        groups.setdefault(word(name, column, s["words"]), []).append(name)
    mean = lambda of: sum(ROWS[n].appeared.year for n in of) / len(of)  # noqa: E731
    order = sorted(groups, key=lambda w: (w is None, mean(groups[w]), str(w)))
    right([row["word"] for row in seen["rows"]] == [f"{w or 'blank'} ({len(groups[w])})" for w in order],
          [row["word"] for row in seen["rows"]])  # fmt: skip
    roles = [row["role"] for row in seen["rows"]]
    right(len(set(roles)) == len(roles), f"two words of one colour: {roles}")
    for row, w in zip(seen["rows"], order, strict=True):
        right((row["role"] == "none") == (w is None), f"a blank has the colour {row['role']}")
        for cell, year in zip(row["cells"], years, strict=True):
            here = [n for n in groups[w] if ROWS[n].appeared.year == year]
            wanted = [
                [name_of(n), row["role"], str(n in (s["one"], s["two"])).lower()] for n in here
            ]
            right(cell == wanted, f"{w}, {year}: {cell}, not {wanted}")


def same_pair(seen, s):
    """Compare the two: bars on one scale, each line, and what their sources say."""
    pair = [s["one"], s["two"]]
    top = max(counts(name)["total"] for name in pair)
    for whole, name in zip(seen["wholes"], pair, strict=True):
        right(whole["name"] == name_of(name), whole["name"])
        right(whole["total"] == short(counts(name)["total"]), f"{name}: {whole['total']}")
        right([p for p, _ in whole["named"]] == [p for p in counts(name) if p != "total"], whole)
        drawn = [
            [p, *rest[1:]] for (p, _), rest in zip(whole["named"], whole["parts"], strict=True)
        ]
        same_bar(drawn, name, counts(name)["total"] / top)
    head, *lines = seen["beside"]
    right(head[1:3] == [name_of(name) for name in pair], head)
    wanted = [lines_of(name, s["words"]) for name in pair]
    right(len(lines) == len(wanted[0]), f"{len(lines)} lines")
    for (title, *cells, mark), (key, left), (_, other) in zip(lines, *wanted, strict=True):
        right(title == key and cells == [left, other], f"{title}: {cells}, not {left}, {other}")
        right(mark == ("" if left == other else "≠"), f"{title}: {mark!r}")
    for told, name in zip(seen["sources"], pair, strict=True):
        row = ROWS[name]
        right(told["name"] == name_of(name), told["name"])
        right(told["paragraphs"][0] == f"Appeared as {row.appeared.where}.", told["paragraphs"])
        off = dict(lines_of(name, s["words"]))["counted against named"]
        right(told["paragraphs"][1:] == [f"Counted {off}: {row.beyond}."] * bool(row.beyond),
              f"{told['paragraphs']}: {off}, {row.beyond}")  # fmt: skip
        cited = [
            f"{', '.join(x.fields.split())}: {x.citation}{' (assumed)' * x.assumed}"
            for x in row.sources
        ]
        right(told["lines"][len(row.differences) :] == cited, told["lines"])
        notes = told["lines"][: len(row.differences)]
        right(all(line.endswith(f": {text}") for line, text in
                  zip(notes, row.differences.values(), strict=True)), notes)  # fmt: skip


def in_its_place(box):
    """The sources, opened, have the width of the widget, and lie over nothing."""
    panes, told = box[".p-panes"], box[".p-told"]
    right(
        box[".p-beside"]["bottom"] <= box["summary:has(+ .p-told)"]["top"],
        "they lie over the table",
    )
    right(told["top"] >= box["summary:has(+ .p-told)"]["bottom"] - 1, "they lie over their head")
    right(told["bottom"] <= min(panes["bottom"], box[".p-say"]["top"]) + 1, "they hang out below")
    right(
        abs(told["left"] - panes["left"]) < 2 and abs(told["right"] - panes["right"]) < 2,
        "they are narrower than the widget",
    )


def lines_of(name, words):
    """Return the lines of one of the two: title and text."""
    row, built, own = ROWS[name], ROWS[name].built, values(name, words)
    total, size = own["total"], own["size"]
    apart = 100 * (total - size) / size
    exact = Decimal(abs(apart)).quantize(Decimal("0.1"), ROUND_HALF_UP)
    return [
        ("year", str(own["year"])), ("kind", row.printed.category), ("size in its name", short(size)),
        ("counted", short(total)), ("counted against named", f"{'−' if apart < 0 else '+'}{exact} %"),
        *((column, own[column] or "–") for column in COLUMNS),
        ("layers L", f"{built.n_layers:,}"), ("heads H", f"{built.n_heads:,}"),
        ("key-value heads G", f"{built.n_kv_heads or built.n_heads:,}"),
        ("head size K", f"{own['head_dim']:,}"), ("width D", f"{built.d_model:,}"),
        ("feed-forward F", f"{built.d_ff:,}"), ("vocabulary V", f"{built.vocab_size:,}"),
        ("all heads, H K", f"{built.n_heads * own['head_dim']:,}"),
    ]  # fmt: skip


def model_table(root, s):
    """Every row and its bar or every year, the two that are compared, and the sentence."""
    seen, names = ask(root, SHOWN), rows_of(s)
    right(seen["tab"] == s["view"], f"the tab {seen['tab']}")
    way = f"Press a column to sort by it, {PRESSES}" if s["view"] == "table" else f"Press {PRESSES}"
    right(seen["note"].endswith(f"DeepNorm. {way}"), f"the note: {seen['note']}")
    table = s["view"] == "table"
    right((seen["table"] is None) == (not table or not names), "which view?")
    right((seen["years"] is None) == (table or not names), "which view?")
    key = [[part, role] for part, role in ROLES.items()] if table and names else None
    right(seen["key"] == key, f"the key to the strips: {seen['key']}")
    if table and names:
        same_table(seen["table"], s, names)
    elif names:
        same_years(seen["years"], s, names)
    same = names if table else sorted(names)
    right((s["found"] if table else sorted(s["found"])) == same, f"Python reads {s['found']}")
    same_pair(seen, s)
    if seen["opened"]:
        in_its_place(seen["opened"])
    right(seen["search"] == s["find"], seen["search"])
    untouched = not s["find"] and all(s[column] == "any" for column in COLUMNS)
    right(seen["empty"] == untouched, "the button that shows all")
    right(seen["pair"] == [s["one"], s["two"]], seen["pair"])
    all_rows = 31 if s["ours"] else 25
    asked = [f"“{s['find'].strip()}”"] if s["find"].strip() else []
    asked += [f"{column} left blank" if s[column] == "blank" else s[column]
              for column in COLUMNS if s[column] != "any"]  # fmt: skip
    none = (
        f"None of the {all_rows} models has {', '.join(asked)}. Ask for less, or press “Show all”."
    )
    none = None if names else none
    asked = f" with {', '.join(asked)}" if asked else ""
    right(seen["none"] == none, f"said of no model: {seen['none']}")
    right(seen["count"] == f"{len(names)} of {all_rows} models", seen["count"])
    pairs = [f"{n} has {short(counts(n)['total'])} parameters, {percent(n, 'feed-forward')} % of them "
             f"in feed-forward networks and {percent(n, 'attention')} % in attention"
             for n in dict.fromkeys([s["one"], s["two"]])]  # fmt: skip
    said = none or f"{len(names)} of {all_rows} models{asked}."
    said = f"{'By the sources. ' if s['words'] == 'sources' else ''}{said} {'; '.join(pairs)}."
    right(seen["said"] == said, seen["said"])

"""What CacheMeter has to show for its traits: counted here, and from the package's own caches."""

import math

from oracle import ask, right
from told import tables

BYTES = {"float32": 4, "float16": 2, "int8": 1, "int4": 0.5}
NAMES = {"full": "MHA", "grouped": "GQA", "single": "MQA", "window": "window", "latent": "latent"}
MODELS = {  # layers, heads, key-value heads, head size, weights in GB, what a step reads of them
    "llama-2-70b": (80, 64, 8, 128, 138, 138),
    "llama-2-7b": (32, 32, 32, 128, 13.5, 13.5),
    "llama-3-8b": (32, 32, 8, 128, 16, 16),
    "mistral-7b": (32, 32, 8, 128, 14.5, 14.5),
    "qwen2-7b": (28, 28, 4, 128, 15.2, 15.2),
    "deepseek-v2": (60, 128, 128, 128, 472, 42),
}
SHOWN = """(root) => {
  const text = (node) => node.textContent;
  return { rows: [...root.querySelectorAll(".p-scheme")].map((row) => {
      const bar = row.querySelector(".p-scheme-bar").getBoundingClientRect();
      const at = (name) => { const one = row.querySelector(`.p-bar-${name}`);
        if (one.hidden) return null;
        const box = one.getBoundingClientRect();
        return [(box.left - bar.left) / bar.width, (box.right - bar.left) / bar.width]; };
      return { scheme: row.dataset.scheme, name: text(row.querySelector("b")),
        note: text(row.querySelector(".p-scheme-note")), weights: at("weights"), cache: at("cache"),
        over: at("over"), was: at("was"), card: at("card"), more: text(row.querySelector(".p-bar-more")),
        facts: [...row.querySelectorAll(".p-scheme-fact")].map(text),
        chosen: row.ariaPressed, on: row.classList.contains("p-on"), bursts: row.classList.contains("p-bursts") };
    }),
    legend: [...root.querySelectorAll(".p-legend li")].map(text),
    signs: ["card", "was"].map((name) => [`.p-key-${name}`, `.p-bar-${name}`].map((one) => {
      const node = root.querySelector(one);
      return node && getComputedStyle(node).background; })),
    work: [...root.querySelectorAll(".p-work li:not([hidden])")].map(text),
    said: text(root.querySelector(".p-say")),
    marks: ["n_kv_heads", "active"].map((name) => text(root.querySelector(`[data-trait=${name}] .p-mark`))),
    preset: root.querySelector("[data-trait=preset] select").value,
    shown: Object.fromEntries([...root.querySelectorAll("[data-trait] output")].map((one) =>
      [one.closest("[data-trait]").dataset.trait, one.value])) };
}"""


def short(value, giga="G"):
    """Return 12,345,678 as 12.3 M."""
    for size, letter in ((1e12, "T"), (1e9, giga), (1e6, "M"), (1e3, "k")):
        if value >= size * 0.9995:
            return f"{float(f'{value / size:.3g}'):g} {letter}"
    return f"{float(f'{value:.3g}'):g} "


def in_bytes(value):
    return f"{short(value)}B"


def gigabytes(value):
    return f"{value:,.0f} GB" if round(value * 10) == 10 * round(value) else f"{value:.1f} GB"


def whole(value):
    return f"{int(value + 0.5):,}"


def counted(scheme, s):
    """Numbers a layer keeps of a token, tokens that are kept, products of a query with them."""
    heads = {"full": s["n_heads"], "single": 1}.get(scheme, s["G"])
    latent = scheme == "latent"
    numbers = s["latent"] + s["carried"] if latent else 2 * heads * s["head_dim"]
    tokens = min(s["window"], s["context"]) if scheme == "window" else s["context"]
    # A query with a key, and its weight with a value; each a multiplication and an addition.
    width = s["latent"] + s["carried"] + s["latent"] if latent else 2 * s["head_dim"]
    token = s["n_layers"] * numbers * BYTES[s["precision"]]
    cache = token * tokens * s["batch"]
    room = (s["memory"] - s["weights"]) * 1e9
    longest = max(0, math.floor(room / (token * s["batch"])))
    if scheme == "window" and longest >= s["window"]:
        longest = None
    step = (s["active"] * 1e9 + cache) / (s["bandwidth"] * 1e9)
    return {"numbers": s["n_layers"] * numbers, "token": token, "tokens": tokens, "cache": cache,
            "longest": longest, "step": step, "speed": s["batch"] / step,
            "operations": 2 * s["n_layers"] * s["n_heads"] * width * tokens}  # fmt: skip


def fitted(s):
    """What is counted of the traits."""
    G = max(n for n in range(1, s["n_kv_heads"] + 1) if s["n_heads"] % n == 0)
    return s | {"G": G, "wished": s["active"], "active": min(s["active"], s["weights"])}


def bursts(s, c):
    """Whether weights and cache are more than the card has."""
    return s["weights"] * 1e9 + c["cache"] > s["memory"] * 1e9


def work(scheme, s, c):
    """The lines of the arithmetic."""
    L, H, K, C, R = (s[n] for n in ("n_layers", "n_heads", "head_dim", "latent", "carried"))
    heads = {
        "full": ("H", H),
        "grouped": ("G", s["G"]),
        "single": ("1", 1),
        "window": ("G", s["G"]),
    }
    size = {4: "4 bytes", 2: "2 bytes", 1: "1 byte", 0.5: "½ byte"}[BYTES[s["precision"]]]
    texts = f"{s['batch']} text{'s' * (s['batch'] > 1)}"
    if scheme == "latent":
        letters, numbers = "L · (C + R)", f"{L} · ({C} + {R})"
        products = f"2 · L · H · (2 C + R) · S = 2 · {L} · {H} · (2 · {C} + {R})"
    else:
        letter, n = heads[scheme]
        letters, numbers = f"2 · L · {letter} · K", f"2 · {L} · {n} · {K}"
        products = f"4 · L · H · K · S = 4 · {L} · {H} · {K}"
    each = f" · {texts}" if s["batch"] > 1 else ""
    room = (
        f"({gigabytes(s['memory'])} − {gigabytes(s['weights'])}) / ({in_bytes(c['token'])}{each})"
    )
    rate = f"{whole(s['bandwidth'])} GB/s"
    if c["longest"] is None:
        longest = "the window fits, and nothing else is kept "
    else:
        longest = f"{room} = {c['longest']:,} tokens"
    a_byte = f"{float(f'''{c['operations'] * s['batch'] / c['cache']:.3g}'''):g}"
    return [
        f"one token {letters} numbers = {numbers} = {whole(c['numbers'])}; with {size} each "
        f"{in_bytes(c['token'])}",
        f"the cache {in_bytes(c['token'])} · {c['tokens']:,} tokens · {texts} = {in_bytes(c['cache'])}",
        f"longest text {longest}",
        f"one step ({gigabytes(s['active'])} + {in_bytes(c['cache'])}) / {rate} = "
        f"{short(1000 * c['step']).strip()} ms or more{', if it fitted' * bursts(s, c)}",
        f"operations {products} · {c['tokens']:,} = {short(c['operations'])}, {a_byte} for each byte "
        "of the cache",
    ]


def same_bar(row, s, c, before):
    """Where a bar's parts begin and end: even up to the card's line, beyond it ever more shortened."""
    weights, card = s["weights"] * 1e9, s["memory"] * 1e9
    at = lambda x: 0.8 * x / card if x <= card else 0.8 + 0.2 * (x - card) / x  # noqa: E731
    ends = {"weights": (0, at(min(weights, card))),
            "cache": (at(min(weights, card)), at(min(weights + c["cache"], card))),
            "over": (at(card), at(weights + c["cache"]))}  # fmt: skip
    for part, (start, end) in ends.items():
        if end <= start:
            right(row[part] is None, f"{row['name']}: {part} at {row[part]}")
        else:
            near = row[part] and max(abs(row[part][0] - start), abs(row[part][1] - end)) < 0.004
            right(near, f"{row['name']}: {part} at {row[part]}, not {start, end}")
    right(abs(row["card"][0] - 0.8) < 0.004, f"the card's line at {row['card']}")
    was = before and before[row["scheme"]] != c["cache"] and before[row["scheme"]]
    if was:
        right(abs(row["was"][0] - at(weights + was)) < 0.006, f"{row['name']}: was {row['was']}")
    else:
        right(row["was"] is None, f"{row['name']}: a ghost at {row['was']}")
    over = weights + c["cache"] - card
    right(row["more"] == (f"{in_bytes(over)} too much" if over > 0 else ""), row["more"])
    right(row["bursts"] == (over > 0), f"{row['name']} bursts: {row['bursts']}")


def same_legend(shown, s):
    """Each sign that a bar can show has its word; the two lines look there as in the bars."""
    words = ["weights", "cache", "what does not fit, shortened",
             f"the card’s end, {gigabytes(s['memory'])}", "the cache before"]  # fmt: skip
    right(shown["legend"] == words, shown["legend"])
    (card, end), (before, was) = shown["signs"]
    right([card, before] == [end, was] and card != before, f"other lines: {shown['signs']}")


def cache_meter(root, s):
    """Bars, facts, arithmetic, sentence, table, and what Python reads."""
    s, shown = fitted(s), ask(root, SHOWN)
    costs = {scheme: counted(scheme, s) for scheme in NAMES}
    notes = {"full": f"G = H = {s['n_heads']}", "grouped": f"G = {s['G']}", "single": "G = 1",
             "window": f"w = {s['window']:,}, G = {s['G']}",
             "latent": f"C + R = {s['latent'] + s['carried']}"}  # fmt: skip
    right([row["scheme"] for row in shown["rows"]] == list(NAMES), shown["rows"])
    same_legend(shown, s)
    for row in shown["rows"]:
        scheme, c = row["scheme"], costs[row["scheme"]]
        right([row["name"], row["note"]] == [NAMES[scheme], notes[scheme]], row)
        same_bar(row, s, c, s["before"])
        fits = "fits at any length" if c["longest"] is None else f"up to {c['longest']:,} tokens"
        fits = fits if c["longest"] != 0 else "no token fits"
        speed = f"≤ {short(c['speed']).strip()} tokens/s"
        facts = [in_bytes(c["cache"]), fits, "does not fit" if bursts(s, c) else speed]
        right(row["facts"] == facts, f"{row['facts']}, not {facts}")
        right(row["chosen"] == str(scheme == s["scheme"]).lower(), f"{scheme}: {row['chosen']}")
    followed = next(row["scheme"] for row in shown["rows"] if row["on"])
    right(sum(row["on"] for row in shown["rows"]) == 1, "one row is followed")
    focused = root.locator(".p-scheme:focus")
    pointed = focused.get_attribute("data-scheme") if focused.count() else s["scheme"]
    right(followed == pointed, f"{followed} is followed, not {pointed}")
    c = costs[followed]
    lines = work(followed, s, c)
    right([" ".join(line.split()) for line in shown["work"]]
          == [" ".join(line.split()) for line in lines], f"{shown['work']}, not {lines}")  # fmt: skip
    left = s["memory"] * 1e9 - s["weights"] * 1e9 - c["cache"]
    texts = f"{s['batch']} text{'s' * (s['batch'] > 1)}"
    end = (f"With the weights that leaves {in_bytes(left)} of the card free." if left >= 0
           else f"With the weights that is {in_bytes(-left)} more than the card has.")  # fmt: skip
    right(shown["said"] == f"{NAMES[followed]} keeps {in_bytes(c['token'])} for each token, "
          f"{in_bytes(c['cache'])} for {texts} of {s['context']:,} tokens. {end}", shown["said"])  # fmt: skip
    same_controls(shown, s)
    same_table(root, costs, s)
    for name, of in (("token_bytes", "token"), ("cache_bytes", "cache"), ("longest", "longest"),
                     ("speed", "speed"), ("operations", "operations")):  # fmt: skip
        right(list(s[name]) == list(NAMES), f"Python reads {name} of {list(s[name])}")
        for scheme, value in s[name].items():
            wanted = costs[scheme][of]
            same = value == wanted or (wanted and abs(value / wanted - 1) < 1e-12)
            right(same, f"Python reads {name} of {scheme}: {value}, not {wanted}")


def same_controls(shown, s):
    """What the sliders say, the mark of heads that cannot be shared, and the model's name."""
    wish = s["n_kv_heads"]
    mark = f"{s['n_heads']} head{'s' if s['n_heads'] > 1 else ''} cannot share {wish} key-value heads evenly: {s['G']} "
    mark += "is used." if s["G"] == 1 else "are used."
    asked, all_ = gigabytes(s["wished"]), gigabytes(s["weights"])
    less = f"A step cannot read {asked} of {all_}: it reads them all."
    marks = ["" if wish == s["G"] else mark, "" if s["wished"] == s["active"] else less]
    right(shown["marks"] == marks, shown["marks"])
    for trait in (
        "n_layers",
        "n_heads",
        "head_dim",
        "window",
        "latent",
        "carried",
        "context",
        "batch",
    ):
        right(shown["shown"][trait] == f"{s[trait]:,}", f"{trait}: {shown['shown'][trait]}")
    right(shown["shown"]["n_kv_heads"] == f"{s['G']}", shown["shown"])
    for trait in ("weights", "active", "memory"):
        right(shown["shown"][trait] == gigabytes(s[trait]), f"{trait}: {shown['shown'][trait]}")
    right(shown["shown"]["bandwidth"] == f"{whole(s['bandwidth'])} GB/s", shown["shown"])
    sizes = tuple(s[n] for n in ("n_layers", "n_heads", "G", "head_dim", "weights", "active"))
    usual = (s["window"], s["latent"], s["carried"]) == (4096, 512, 64)
    name = next((n for n, of in MODELS.items() if of == sizes and usual), "")
    right(shown["preset"] == name, f"the model {shown['preset']!r}, not {name!r}")


def same_table(root, costs, s):
    """The table view, where it is open."""
    for caption, (head, *rows) in tables(root):
        right(caption == "Five ways to keep keys and values", caption)
        right(head == ["way", "bytes a token", "bytes of the cache", "longest text", "tokens/s at most",
                       "operations"], head)  # fmt: skip
        for row, (scheme, c) in zip(rows, costs.items(), strict=True):
            longest = "∞" if c["longest"] is None else f"{c['longest']:,}"
            wanted = [NAMES[scheme], whole(c["token"]), whole(c["cache"]), longest,
                      "does not fit" if bursts(s, c) else short(c["speed"]).strip(),
                      whole(c["operations"])]  # fmt: skip
            right(row == wanted, f"{row}, not {wanted}")

"""What Workbench has to show for its traits: `pieces` builds the model, and torch counts and runs it."""

import functools
import json
import math
import re
import statistics

from by_torch import shapes_only
from charted import CHARTS, place
from oracle import ask, number, right, says
from told import tables
from torch import nn

from pieces import masks
from pieces.attention import AttentionCore, CachedAttention, CausalCore
from pieces.blocks import Block, Stack
from pieces.book import measured
from pieces.embeddings import TokenEmbedding
from pieces.feedforward import FeedForward, GatedFeedForward, gelu, identity, relu, sigmoid, swish
from pieces.models.decoder_only import DecoderOnly
from pieces.moe import ExpertList, GatedExperts, MixtureOfExperts, Router
from pieces.norms import LayerNorm, RMSNorm
from pieces.positions import ALiBi, Learned, Rotary, Sinusoidal, T5Buckets
from pieces.residual import (
    DeepNorm,
    PostNorm,
    PreNorm,
    Residual,
    SandwichNorm,
    deepnorm_alpha_beta,
    deepnorm_init_,
)
from pieces.scores import AdditiveScore, BilinearScore, dot, scaled_dot
from pieces.widgets.workbench import SEEDS
from pieces.zoo import count_parameters
from widgets.config_calculator.expected import short

BENDS = {"relu": relu, "gelu": gelu, "swish": swish, "reglu": relu, "glu": sigmoid,
         "swiglu": swish, "geglu": gelu, "bilinear": identity}  # fmt: skip
PLAIN = ("relu", "gelu", "swish")
PARTS = ("embedding", "positions", "attention", "feed-forward", "router", "norms", "head")
ROLES = {"embedding": "query", "positions": "key", "attention": "weight", "feed-forward": "value",
         "router": "score", "norms": "residual", "head": "output"}  # fmt: skip
SIZES = ("n_layers", "d_model", "n_heads", "n_kv_heads", "head_dim", "d_ff", "n_experts", "n_chosen",
         "vocab_size", "length", "window", "prefix_len")  # fmt: skip
KINDS = ("score", "mask", "position", "norm", "place", "activation")
NAMES = {
    "norm": {"rms": "RMSNorm", "layer": "LayerNorm"},
    "activation": {"relu": "ReLU", "gelu": "GELU", "swish": "Swish", "reglu": "ReGLU", "glu": "GLU",
                   "swiglu": "SwiGLU", "geglu": "GeGLU", "bilinear": "bilinear"},
    "score": {"scaled": "q · k / √K", "dot": "q · k", "bilinear": "k · W q",
              "additive": "v · tanh(W k + U q)"},
    "inside": {"rope": "q and k turned by RoPE", "alibi": "scores − m |i − j|",
               "t5": "scores + T5’s bias"},
    "added": {"sinusoidal": "sinusoids", "learned": "learned positions"},
}  # fmt: skip
STEPS = {"words embedded": "embedding", "positions": "positions", "all norms": "norms",
         "queries": "attention", "keys and values": "attention", "scores": "attention",
         "averages of values": "attention", "heads mixed": "attention", "router": "router",
         "hidden units": "feed-forward", "narrowed again": "feed-forward",
         "logits": "head"}  # fmt: skip
SHOWN = """(root) => {
  const text = (node) => node?.textContent;
  const all = (selector, from = root) => [...from.querySelectorAll(selector)];
  const width = (node) => node.getBoundingClientRect().width;
  const drawing = root.querySelector(".p-bench-drawing");
  const boxes = (part) => all(`.p-bench-part[data-part=${part}]`, drawing).map((g) => [text(g.querySelector("text")),
    Number(g.dataset.x), Number(g.dataset.y)]);
  return {
    code: text(root.querySelector(".p-bench-imports code")) + text(root.querySelector(".p-bench-lines > pre code")),
    wholes: all(".p-whole").map((whole) => ({ name: text(whole.querySelector(".p-whole-name")),
      total: text(whole.querySelector(".p-whole-total")),
      parts: all(".p-part", whole).map((part) => [text(part.querySelector("b")), part.dataset.role,
        width(part) / width(whole.querySelector(".p-whole-bar")), part.title]) })),
    facts: all(".p-facts > div").map((div) => [text(div.querySelector("dd")), text(div.querySelector(".p-how")),
      text(div.querySelector(".p-was"))]),
    steps: all(".p-bench-steps tbody tr").map((tr) => [tr.dataset.part ?? "", ...[...tr.cells].map(text)]),
    small: all(".p-bench-small").map(text), said: text(root.querySelector(".p-say")),
    told: text(root.querySelector(".p-bench-told")),
    trained: text(root.querySelector(".p-bench-trained")),
    variants: all(".p-bench-variant").map((node) => ({ name: text(node.querySelector("span")),
      mean: text(node.querySelector("b")), pressed: node.ariaPressed, label: node.ariaLabel,
      dots: all("i", node).map((dot) => parseFloat(dot.style.left) / 100) })),
    norms: boxes("norms"), layers: boxes("layers"), head: boxes("head"), positions: boxes("positions"),
    router: boxes("router"), feed: text(drawing.querySelector("[data-part=feed-forward] text")),
    score: text(drawing.querySelector(".p-bench-score")), inside: text(drawing.querySelector(".p-bench-position")) ?? "",
    mask: all(".p-bench-mask :is(.p-seen, .p-unseen)", drawing).map((r) => r.classList.contains("p-seen")),
    heads: ["query", "key", "value"].map((role) => all(`.p-bench-head[data-role=${role}]`, drawing).length),
    experts: all(".p-bench-expert", drawing).map((r) => r.classList.contains("p-chosen")),
    on: [...new Set(all("[data-part].p-on").filter((node) => !node.closest(".p-part-board"))
      .map((node) => node.dataset.part))],
    marks: Object.fromEntries(all(".p-mark").filter((p) => p.textContent)
      .map((p) => [p.closest("[data-trait]").dataset.trait, p.textContent])),
    fields: Object.fromEntries(all(".p-exact").map((box) => [box.dataset.trait, box.querySelector(".p-number").value])),
    chosen: Object.fromEntries(all(".p-bench-controls select").map((one) => [one.closest("[data-trait]").dataset.trait, one.value])),
    hidden: all(".p-bench-controls [data-trait]").filter((one) => one.hidden).map((one) => one.dataset.trait),
    ghosts: all(".p-curve-ghost").length,
    tables: all(".p-tables table").map((table) => [...table.rows].map((row) => [...row.cells].map(text))),
  }; }"""


def used(s):
    """Return the parts that are built for these wishes."""
    heads = s["n_heads"]
    shared = max(n for n in range(1, min(heads, s["n_kv_heads"]) + 1) if heads % n == 0)
    even = s["head_dim"] if s["position"] != "rope" else max(2, s["head_dim"] // 2 * 2)
    return {name: s[name] for name in (*SIZES, *KINDS, "bias", "tied")} | {
        "n_kv_heads": shared,
        "head_dim": even,
        "n_chosen": min(s["n_chosen"], s["n_experts"]),
        "prefix_len": min(s["prefix_len"], s["length"]),
        "place": "bare" if s["norm"] == "none" else s["place"],
    }


def width(s):
    """Return how wide a feed-forward network is."""
    return s["d_ff"] if s["activation"] in PLAIN else max(1, 2 * s["d_ff"] // 3)


def core_of(s):
    """Return what stands between the projections: a mask, a score."""
    K = s["head_dim"]
    score = {"scaled": scaled_dot, "dot": dot}.get(s["score"])
    if score is None:
        score = BilinearScore(K, K) if s["score"] == "bilinear" else AdditiveScore(K, K, K)
    if s["mask"] in ("causal", "window"):
        return CausalCore(s["window"] if s["mask"] == "window" else None, score)
    return AttentionCore(score)


def network(s):
    """Return one feed-forward network, or the mixture."""
    D, F, bend = s["d_model"], width(s), BENDS[s["activation"]]
    kind = FeedForward if s["activation"] in PLAIN else GatedFeedForward
    if s["n_experts"] == 1:
        return kind(D, F, bend, bias=s["bias"])
    stacked = kind is GatedFeedForward and not s["bias"] and s["place"] != "deep"
    experts = (
        GatedExperts(s["n_experts"], D, F, bend)
        if stacked
        else ExpertList([kind(D, F, bend, bias=s["bias"]) for _ in range(s["n_experts"])])
    )
    return MixtureOfExperts(Router(D, s["n_experts"], s["n_chosen"]), experts)


def residual_of(s):
    """Return the connection of one sublayer."""
    norm, D = {"rms": RMSNorm, "layer": LayerNorm}.get(s["norm"]), s["d_model"]
    if s["place"] == "sandwich":
        return SandwichNorm(norm(D), norm(D))
    if s["place"] == "deep":
        return DeepNorm(norm(D), deepnorm_alpha_beta(0, s["n_layers"])[1].alpha)
    kind = {"bare": Residual, "pre": PreNorm, "post": PostNorm}[s["place"]]
    return kind() if s["place"] == "bare" else kind(norm(D))


def model_of(s):
    """Return the model that these parts build."""
    D, past = s["d_model"], s["mask"] in ("causal", "window")
    position = {
        "none": lambda: None,
        "sinusoidal": lambda: Sinusoidal(D),
        "learned": lambda: Learned(s["length"], D),
        "rope": lambda: Rotary(s["head_dim"]),
        "alibi": lambda: ALiBi(s["n_heads"]),
        "t5": lambda: T5Buckets(s["n_heads"], bidirectional=not past),
    }[s["position"]]()
    own = {"position": position} if s["position"] == "rope" else {}

    def block():
        sizes = {name: s[name] for name in ("n_kv_heads", "head_dim", "bias")}
        attention = CachedAttention(D, s["n_heads"], **sizes, core=core_of(s), **own)
        both = {"attention_residual": residual_of(s), "feed_forward_residual": residual_of(s)}
        return Block(attention, network(s), **both)

    last = s["place"] in ("pre", "sandwich")
    norm = {"rms": RMSNorm, "layer": LayerNorm}.get(s["norm"])
    stack = Stack([block() for _ in range(s["n_layers"])], norm(D) if last else None)
    if s["place"] == "deep":
        deepnorm_init_(stack, deepnorm_alpha_beta(0, s["n_layers"])[1].beta)
    head = None if s["tied"] else nn.Linear(D, s["vocab_size"], bias=False)
    embedding = TokenEmbedding(s["vocab_size"], D, scale=D**0.5)
    return DecoderOnly(embedding, stack, position=position, head=head)


def run(code):
    """Return the model that a code builds, without memory, and the mask that it names."""
    names = {}
    with shapes_only():
        exec(code, names)
    return names["model"], names.get("mask")


def told_of(model):
    """Return everything that tells one model from another: its modules, and what bends and scores."""
    kinds = [(type(m).__name__, getattr(getattr(m, "activation", None), "__name__", ""),
              getattr(getattr(m, "score", None), "__name__", ""), getattr(m, "window", None),
              [tuple(p.shape) for p in m.parameters(recurse=False)]) for m in model.modules()]  # fmt: skip
    return repr(model), kinds


@functools.lru_cache(64)
def counted(key):
    """Return the parameters by part of the model of these parts, built on the meta device.

    Each block after the first adds what the second does; the code that is shown builds them all.
    """
    s = json.loads(key)
    with shapes_only():
        one, two = (count_parameters(model_of(s | {"n_layers": n})) for n in (1, 2))
    counts = {part: n + (s["n_layers"] - 1) * (two[part] - n) for part, n in one.items()}
    right(counts.pop("other") == 0, f"other parts: {s}")
    return counts


def counts_of(s):
    return counted(json.dumps(s, sort_keys=True))


def operations_of(s):
    """Return the operations of one token, by the matrices that it meets (a test asks torch)."""
    counts = counts_of(s | {"bias": False})
    S = min(s["window"], s["length"]) if s["mask"] == "window" else s["length"]
    K, H, L = s["head_dim"], s["n_heads"], s["n_layers"]
    learned = {"bilinear": K * K, "additive": 2 * K * K + K}.get(s["score"], 0)
    scoring = {"bilinear": 2 * K * K, "additive": 2 * K * K * (S + 1)}.get(s["score"], 0)
    share = s["n_chosen"] / s["n_experts"]
    return {
        "attention": 2 * (counts["attention"] - L * learned) + L * H * (4 * K * S + scoring),
        "feed-forward": 2 * counts["feed-forward"] * share,
        "router": 2 * counts["router"] + (L * 2 * s["n_chosen"] * s["d_model"]
                                          if s["n_experts"] > 1 else 0),
        "head": 2 * s["vocab_size"] * s["d_model"],
    }  # fmt: skip


def cache_of(s):
    """Return the numbers that a token leaves in the cache, and those of the text."""
    if s["mask"] == "full":
        return None, None
    one = 2 * s["n_layers"] * s["n_kv_heads"] * s["head_dim"]
    seen = min(s["window"], s["length"]) if s["mask"] == "window" else s["length"]
    return one, one * seen


def marks_of(wish, is_):
    """Return what is said of wishes that do not fit each other."""
    found = {}
    one = lambda n: "is" if n == 1 else "are"  # noqa: E731
    if wish["n_kv_heads"] != is_["n_kv_heads"]:
        G, H = is_["n_kv_heads"], wish["n_heads"]
        heads = f"{H} head" if H == 1 else f"{H} heads"
        found["n_kv_heads"] = (f"{heads} cannot share {wish['n_kv_heads']} evenly, so {G} {one(G)} "
                               f"built. Choose a divisor of {H}.")  # fmt: skip
    if wish["head_dim"] != is_["head_dim"]:
        found["head_dim"] = (f"RoPE turns numbers in pairs, so heads of {is_['head_dim']} are built. "
                             "Choose an even size, or other positions.")  # fmt: skip
    if wish["n_chosen"] != is_["n_chosen"]:
        k, E = is_["n_chosen"], is_["n_experts"]
        there = "is one expert" if E == 1 else f"are {E} experts"
        found["n_chosen"] = f"There {there}, so {k} {one(k)} visited. Add experts."
    if wish["mask"] == "prefix" and wish["prefix_len"] != is_["prefix_len"]:
        P = is_["prefix_len"]
        found["prefix_len"] = f"The text ends first: the prefix is {P:,}. Lengthen the text."
    if is_["place"] == "bare":
        found["place"] = "There is no norm to place. Choose one, and it returns here."
    if wish["activation"] not in PLAIN:
        found["d_ff"] = f"Gated: three matrices of width {width(is_):,} in place of two."
    return found


def same_bars(shown, s, before):
    """The bars: names, colours, lengths on one scale, totals, and what each says when pointed at."""
    benches = [("these parts", s), *([("before", used(before))] if before else [])]
    every = [counts_of(bench) for _, bench in benches]
    seen = [part for part in PARTS if any(counts[part] for counts in every)]
    right([w["name"] for w in shown["wholes"]] == [name for name, _ in benches], shown["wholes"])
    top = max(counts["total"] for counts in every)
    for (name, _), counts, drawn in zip(benches, every, shown["wholes"], strict=True):
        right(drawn["total"] == short(counts["total"]), f"{name}: {drawn['total']}")
        right([p[0] for p in drawn["parts"]] == seen, f"{name}: {drawn['parts']}, not {seen}")
        for part, role, long, title in drawn["parts"]:
            right(role == ROLES[part], f"{part} has the colour of {role}")
            right(abs(long - counts[part] / top) < 0.004, f"{name}, {part}: {long}")
            share = f"{int(1000 * counts[part] / counts['total'] + 0.5) / 10:g}"
            told = f"{name}, {part}: {short(counts[part])} parameters, {share} %"
            right(title == told, f"{title!r}, not {told!r}")


def facts_of(s):
    one, text = cache_of(s)
    none = "none"
    return [f"{counts_of(s)['total']:,}", short(sum(operations_of(s).values()), "G"),
            none if one is None else f"{one:,}", none if one is None else short(text, "G")]  # fmt: skip


def same_facts(shown, s, before):
    """The four numbers, how they come, and what they were."""
    was = facts_of(used(before)) if before else [None] * 4
    seen = min(s["window"], s["length"]) if s["mask"] == "window" else s["length"]
    tokens = "1 token" if seen == 1 else f"{seen:,} tokens"
    how = ["all of them", "of the last token, all products", "numbers: 2 L G K",
           f"numbers of {tokens}"]  # fmt: skip
    for now, words, then, fact in zip(facts_of(s), how, was, shown["facts"], strict=True):
        past = f"before: {then}" if then not in (None, now) else ""
        right(fact == [now, words, past], f"{fact}, not {[now, words, past]}")


def shapes_of(s):
    """Return the shape of each step, as torch has it for one text."""
    T, D, H, K = s["length"], s["d_model"], s["n_heads"], s["head_dim"]
    several = [s["n_chosen"]] if s["n_experts"] > 1 else []
    placed = {"rope": [H, T, K], "alibi": [H, T, T], "t5": [H, T, T]}.get(s["position"], [T, D])
    return {
        "words embedded": [T, D],
        **({} if s["position"] == "none" else {"positions": placed}),
        **({} if s["norm"] == "none" else {"all norms": [T, D]}),
        "queries": [H, T, K], "keys and values": [s["n_kv_heads"], T, K], "scores": [H, T, T],
        "averages of values": [H, T, K], "heads mixed": [T, D],
        **({"router": [T, s["n_experts"]]} if several else {}),
        "hidden units": [*several, T, width(s)], "narrowed again": [*several, T, D],
        "logits": [T, s["vocab_size"]],
    }  # fmt: skip


def same_steps(shown, s):
    """The table of steps: shapes; parameters and operations, whose sums are those of each part."""
    *rows, last = shown["steps"]
    shapes = shapes_of(s)
    right([row[1] for row in rows] == list(shapes), f"the steps {[row[1] for row in rows]}")
    for part, name, shape, *_ in rows:
        right(part == STEPS[name] and shape == str(shapes[name]), f"{name}: {part}, {shape}")
    counts, operations = counts_of(s), operations_of(s)
    totals = [short(counts["total"]), short(sum(operations.values()), "G")]
    right(last[1:] == ["all", "", *totals], f"the sums {last}")
    listed = [
        rows for rows in shown["tables"] if rows[0] == ["step", "shape", "parameters", "operations"]
    ]
    right(bool(listed) or not shown["tables"], "the steps have no table view")
    for table in listed:
        for part in PARTS:
            mine = [row for row in table[1:] if STEPS[row[0]] == part]
            for at, wanted in ((2, counts[part]), (3, operations.get(part, 0))):
                got = sum(int(row[at].replace(",", "")) for row in mine)
                right(got == wanted, f"{part}: the steps add up to {got}, not {wanted}")
        for row, brief in zip(table[1:], rows, strict=True):
            n, ops = (int(text.replace(",", "")) for text in row[2:])
            wanted = [short(n) if n else "–", short(ops, "G") if ops else "–"]
            right(brief[3:] == wanted and row[1] == brief[2], f"{brief}, not {wanted}")


def same_drawing(shown, s):
    """The block: norms where they stand, heads and experts as many as there are, the mask in small."""
    norm = NAMES["norm"].get(s["norm"])
    names = [box[0] for box in shown["norms"]]
    each = {
        "bare": [],
        "pre": [norm],
        "post": [norm],
        "sandwich": [norm] * 2,
        "deep": ["× α", norm],
    }
    wanted = each[s["place"]] * 2 + [norm] * (s["place"] in ("pre", "sandwich"))
    right(names == wanted, f"the norms {names}, not {wanted}")
    sides = [x < 100 for name, x, _ in shown["norms"]]  # on the stream, on the left
    on = {"pre": [False] * 2 + [True], "sandwich": [False] * 4 + [True]}
    right(sides == on.get(s["place"], [True] * len(names)), f"norms at {shown['norms']}")
    right([box[0] for box in shown["layers"]] == [f"× {s['n_layers']}"], shown["layers"])
    right([b[0] for b in shown["head"]] == ["tied head" if s["tied"] else "head"], shown["head"])
    added = NAMES["added"].get(s["position"])
    right([box[0] for box in shown["positions"]] == ([added] if added else []), shown["positions"])
    right(shown["inside"] == NAMES["inside"].get(s["position"], ""), shown["inside"])
    right(shown["score"] == NAMES["score"][s["score"]], shown["score"])
    bend = NAMES["activation"][s["activation"]]
    wide = f"{bend} {s['d_model']} → {width(s)} → {s['d_model']}"
    right(shown["feed"] == wide, f"{shown['feed']!r}, not {wide!r}")
    several = s["n_experts"] > 1
    right(bool(shown["router"]) == several, f"a router: {shown['router']}")
    boxes = [e < s["n_chosen"] for e in range(min(8, s["n_experts"]))] if several else []
    right(shown["experts"] == boxes, f"the experts {shown['experts']}")
    n = min(64, s["n_heads"])
    keys = max(1, math.floor(s["n_kv_heads"] * n / s["n_heads"] + 0.5))
    right(shown["heads"] == [n, keys, keys], f"the heads {shown['heads']}")
    mask = {"causal": masks.causal(6), "window": masks.sliding_window(6, 2),
            "prefix": masks.prefix(6, 3), "full": masks.full(6)}[s["mask"]]  # fmt: skip
    right(shown["mask"] == mask.flatten().tolist(), f"the mask in small: {shown['mask']}")


@functools.cache
def variants():
    """Return the record's variants: swap, rate, and how far above the floor its judges end."""
    record, found = measured.record_of("workbench"), {}
    for one in record["runs"]:
        if one["seed"] not in record["rates_seeds"]:
            found.setdefault(one["model"], (one["swap"], one["lr"], []))[2].append(
                one["above_floor"]
            )
    whole = {name: of for name, of in found.items() if len(of[2]) == SEEDS}
    return record["base"], record["runs"][0]["steps"], whole


def alike(s, swap):
    """Whether a variant has the parts that are built; sizes of what is not there do not count."""
    base = variants()[0] | {"score": "scaled", "mask": "causal", "bias": False, "tied": True} | swap
    idle = {"window", "prefix_len"} | ({"n_chosen"} if s["n_experts"] == 1 else set())
    if base["norm"] == "none":
        base["place"] = "bare"
    return all(s[name] == base[name] for name in base if name not in idle)


def fixed(x):
    """Two digits, as JavaScript writes them."""
    return f"{x:.2f}"


def same_trained(shown, views, s, above_floor):
    """The variants, their dots and means, and the sentence about the one that stands."""
    _, steps, found = variants()
    order = sorted(found.items(), key=lambda item: statistics.fmean(item[1][2]))
    most = max(x for _, (_, _, above) in order for x in above)
    right([v["name"].lower() for v in shown["variants"]] == [n.lower() for n, _ in order], "order")
    own = None
    for drawn, (name, (swap, rate, above)) in zip(shown["variants"], order, strict=True):
        mean = statistics.fmean(above)
        right(says(drawn["mean"], mean, 2), f"{name}: {drawn['mean']}, not {mean}")
        right(
            all(abs(a - x / most) < 1e-4 for a, x in zip(drawn["dots"], above, strict=True)), name
        )
        right(f"{fixed(min(above))} to {fixed(max(above))}" in drawn["label"], drawn["label"])
        fits = alike(s, swap)
        right(drawn["pressed"] == str(fits).lower(), f"{name} is pressed: {drawn['pressed']}")
        own = (name, rate, above) if fits else own
    right(above_floor == (own[2] if own else None), f"Python reads {above_floor}")
    for caption, (head, *listed) in views:
        if caption == "Trained variants: nats above the floor":
            right(head == ["variant", "nats above", "seeds"], head)
            wanted = [
                [name.lower(), fixed(statistics.fmean(above)), ", ".join(map(fixed, above))]
                for name, (_, _, above) in order
            ]
            right(
                [[one[0].lower(), *one[1:]] for one in listed] == wanted, f"{listed}, not {wanted}"
            )
    said = shown["trained"]
    if own is None:
        cheats = "sees words that it should guess" in said
        right("have not been trained here" in said, said)
        right(cheats == (s["mask"] in ("full", "prefix")), said)
    else:
        name, rate, above = own
        base, mean = found["baseline"][2], statistics.fmean(above)
        start = (f"Trained on the stories, these parts end {fixed(mean)} nats above the floor "
                 f"({fixed(min(above))} to {fixed(max(above))}, three seeds, learning rate {rate:g}). ")  # fmt: skip
        right(said.startswith(start), f"{said!r}, not {start!r}")
        more, rest = mean - statistics.fmean(base), said.removeprefix(start)
        if name == "baseline":
            wanted = "This is the baseline."
        elif abs(more) <= (spread := max(max(one) - min(one) for one in (above, base))):
            wanted = ("That differs from the baseline by less than the seeds’ spread, "
                      f"{fixed(spread)}: three seeds cannot tell the two apart.")  # fmt: skip
        else:
            way = "farther" if more > 0 else "nearer"
            wanted = f"That is {fixed(abs(more))} {way} than the baseline, beyond the spread of the seeds."
        right(rest == wanted, f"{rest!r}, not {wanted!r}")
    right(f"{steps} steps" in shown["small"][0], shown["small"])


def powers(ticks):
    """Return ticks whose names are numbers: 10⁻⁴ is 1·10⁻⁴."""
    return [(value, f"1·{name}" if re.match("10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]", name) else name, at)
            for value, name, at in ticks]  # fmt: skip


def same_signals(root, shown, s, state):
    """The two curves are what Python reads (a test holds that to torch), and the ghost of before."""
    (drawn,) = ask(root, CHARTS)
    up, down = state["forward"], state["backward"]
    layers = min(12, s["n_layers"])
    right(len(up) == len(down) == 2 * layers + 1, f"{len(up)} sizes of {layers} layers")
    px, py = place(drawn["x"], False), place(powers(drawn["y"]), True)
    for curve, name, y in zip(drawn["curves"], ("stream", "gradient"), (up, down), strict=True):
        right(curve["name"] == name, curve["name"])
        right(curve["dashed"] == (name == "gradient"), f"{name} is dashed: {curve['dashed']}")
        points = [[float(n) for n in p.split()] for p in re.findall("[ML]([^ML]+)", curve["d"])]
        there = [(n, value) for n, value in enumerate(y) if value]  # no logarithm has a 0
        for (x, at), (n, value) in zip(points, there, strict=True):
            right(abs(x - px(n / 2)) < 0.2 and abs(at - py(value)) < 0.2, f"{name} at {n / 2}")
    ends = re.search(
        r"from (\S+) at the foot to (\S+) at the top; (\S+) of the", shown["small"][-1]
    )
    for text, value in zip(ends.groups(), (up[0], up[-1], down[0]), strict=True):
        right(says(text, value, 2), f"the signals' ends: {shown['small'][-1]}, not {value}")
    then = state["before"] and used(state["before"])
    fits = bool(then) and min(12, then["n_layers"]) == layers
    right(shown["ghosts"] == (2 if fits else 0), f"{shown['ghosts']} ghosts")


def workbench(root, s):
    """Drawing, code, bars, numbers, steps, signals, variants, marks, and what Python reads."""
    shown, is_ = ask(root, SHOWN), used(s)
    counts, operations = counts_of(is_), operations_of(is_)
    right(shown["code"].strip() == s["code"].strip(), "the code shown is not the code read")
    built, mask = run(s["code"])
    with shapes_only():
        right(told_of(built) == told_of(model_of(is_)), "the code builds other parts")
    small = is_["place"] == "deep"
    right(("\ndeepnorm_init_(stack, beta)" in s["code"]) == small, "first weights of another kind")
    right((mask is not None) == (is_["mask"] == "prefix"), f"the code's mask: {mask}")
    if mask is not None:
        T = is_["length"]
        right(f"masks.prefix({T}, {is_['prefix_len']})" in s["code"], s["code"])
    right(s["parameters"] == counts, f"Python reads {s['parameters']}, not {counts}")
    right(s["operations"] == sum(operations.values()), f"Python reads {s['operations']}")
    right(s["cache"] == cache_of(is_)[0], f"Python reads a cache of {s['cache']}")
    gone = {name: is_[name] for name in (*SIZES, *KINDS) if s[name] != is_[name]}
    right(s["built"] == gone, f"Python reads {s['built']}, not {gone}")
    right(s["before"] is None or used(s["before"]) != is_, "nothing has changed since before")
    same_drawing(shown, is_)
    same_bars(shown, is_, s["before"])
    same_facts(shown, is_, s["before"])
    same_steps(shown, is_)
    same_trained(shown, tables(root), is_, s["above_floor"])
    same_signals(root, shown, is_, s)
    right(shown["marks"] == marks_of(s, is_), f"{shown['marks']}, not {marks_of(s, is_)}")
    for trait, typed in shown["fields"].items():
        right(typed == str(s[trait]), f"{trait}: {typed}, not {s[trait]}")
    right(shown["chosen"] == {name: s[name] for name in KINDS}, f"the lists {shown['chosen']}")
    idle = {"window": is_["mask"] != "window", "prefix_len": is_["mask"] != "prefix",
            "n_chosen": s["n_experts"] == 1 and s["n_chosen"] == 1}  # fmt: skip
    right(set(shown["hidden"]) == {name for name, off in idle.items() if off}, shown["hidden"])
    share = int(100 * counts["feed-forward"] / counts["total"] + 0.5)
    L = f"{is_['n_layers']:,} layer" + ("s" if is_["n_layers"] > 1 else "")
    start = (f"{L} of {is_['d_model']:,}: {short(counts['total'])} parameters, {share} % of them in "
             f"the feed-forward networks. A token takes {short(sum(operations.values()), 'G')} "
             "operations")  # fmt: skip
    kept = cache_of(is_)[0]
    rest = (". With a full mask earlier words look at the new one as well, and all of them are computed "
            "again: there is nothing to keep in a cache."
            if kept is None else f" and leaves {kept:,} numbers in the cache.")  # fmt: skip
    right(shown["said"] == start + rest, f"{shown['said']!r}, not {start + rest!r}")
    same_light(shown, is_, counts, operations)


def same_light(shown, s, counts, operations):
    """What is lit is one part everywhere, and its sentence says its own numbers."""
    right(len(shown["on"]) <= 1, f"lit together: {shown['on']}")
    told = shown["told"]
    if not shown["on"]:
        right(told.startswith("Point at a part"), told)
        return
    part = shown["on"][0]
    if part in counts:
        found = re.fullmatch(
            rf"{part}: ([\d,]+) parameters?, ([\d.]+) % of all(?:; (.+) operations a token)?\.",
            told,
        )
        right(found, told)
        share = math.floor(1000 * counts[part] / counts["total"] + 0.5) / 10
        ops = operations.get(part)
        wanted = (f"{counts[part]:,}", share, short(ops, "G") if ops else None)
        right((found[1], number(found[2]), found[3]) == wanted, f"{told!r}, not {wanted}")

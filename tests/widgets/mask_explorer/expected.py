"""What MaskExplorer has to show for its traits, by torch and `pieces`, never by the page."""

import re
from functools import cache

import torch
from drawn_numbers import gaussian
from oracle import ask, maps, right, same_map
from told import pointed, same_voice

from pieces import masks
from pieces.attention import masked_softmax
from pieces.widgets import MaskExplorer
from pieces.widgets.mask_explorer import KINDS

SIZES = ("T", "window", "dilation", "n_global", "prefix_len", "length", "side")
ARCS = """(stage) => {
  const box = stage.getBoundingClientRect();
  const words = [...stage.querySelectorAll(".p-chip")];
  return { words: words.map((word) => word.textContent), wrapped: stage.classList.contains("p-wrapped"),
    middles: words.map((word) => { const b = word.getBoundingClientRect(); return (b.left + b.right) / 2 - box.left; }),
    arcs: [...stage.querySelectorAll(".p-arc")].map((path) => ({
      from: Number(path.dataset.query), to: Number(path.dataset.key), role: path.dataset.role,
      width: Number(path.getAttribute("stroke-width")), on: path.classList.contains("p-arc-on"),
      ends: [path.getPointAtLength(0).x, path.getPointAtLength(path.getTotalLength()).x] })) };
}"""


def mask_explorer(root, s):
    """Mask, arcs, weights, layers and reach, what is outlined, the code, the sentences, Python's."""
    given = {name: s[name] for name in MaskExplorer.inputs() if name != "tokens"}
    widget, T, at = MaskExplorer(**given), s["T"], s["layers"]
    mask, plain = widget.mask(), widget.unflipped()
    names = names_of(s, "padding" in (s["kind"], s["also"]))
    reach = masks.reach(mask, at)
    later = ~masks.causal(T)
    pads = pads_of(s)
    leaks = mask & later & ~plain & ~pads
    weights = masked_softmax(gaussian(168, 24 * 24).reshape(24, 24)[:T, :T], mask)
    titles = names if s["tokens"] else []
    named = {"rows": titles, "columns": titles, "signed": False}
    followed = {"frame": s["token"] - 1 if s["token"] else None, "mask": mask, **named}
    spread = reach & later & ~masks.reach(plain, at) & ~pads
    phone = root.locator('.p-tab[data-view="mask"]').is_visible()
    view = s["view"] if phone or s["view"] != "mask" else "weights"
    shown = {one.caption: one for one in maps(root)}
    right(len(shown) == (1 if phone else 2), f"{list(shown)} are shown")
    for caption, one in shown.items():
        if caption.startswith(("Mask", "query")):
            right(not phone or view == "mask", "the mask is shown under another tab")
            sees = lambda i, j: (f"query {names[i]} {'sees' if mask[i, j] else 'does not see'} "  # noqa: E731
                                 f"key {names[j]}")  # fmt: skip
            same_map(one, mask.int().tolist(), marks=leaks.nonzero().tolist(), digits=0, tip=sees,
                     **followed)  # fmt: skip
        elif view == "weights":
            right(caption == "Weights under it, from random scores", caption)
            same_map(one, weights.tolist(), **followed)
        elif view == "reach":
            right(caption == "Reach after the layers", caption)
            same_map(one, reach.int().tolist(), digits=0, marks=spread.nonzero().tolist(),
                     tip=lambda i, j: f"output {names[i]} {depends(reach[i, j])} on input {names[j]}",
                     **followed | {"mask": reach})  # fmt: skip
        else:
            right(caption == "Who knows the word, layer by layer", caption)
            same_stack(root, one, s, mask, plain, names, bool(titles))
    same_arcs(root, s, names, weights, leaks)
    same_looks(root, s, names, mask)
    if s["token"]:
        same_voice(root, names, s["token"] - 1, weights[s["token"] - 1])
    for one in shown.values():
        if one.caption.startswith(("Mask", "Weights")):
            same_reasons(root, one, s, names, mask, plain, weights)
    pressed = root.locator(".p-tabs [aria-pressed=true]").get_attribute("data-view")
    right(pressed == s["view"], f"the tab {pressed}, the view {s['view']}")
    film = root.locator(".p-layers")
    told = [film.locator("input").input_value(), film.locator("output").text_content()]
    right(told == [str(at)] * 2, f"the player says {told}, layers is {at}")
    scope = {"masks": masks}
    exec(root.locator(".p-code code").inner_text(), scope)
    right(torch.equal(scope["mask"].expand(T, T), mask), "the code makes another mask")
    said = root.locator(".p-say").inner_text()
    count = int(mask.sum())
    right(f"{count} of {T * T} cells {'is' if count == 1 else 'are'} open." in said, said)
    idle = int((mask & ~plain & pads).sum())
    lets = f"{idle} cell lets" if idle == 1 else f"{idle} cells let"
    right(("a query see padding" in said) == bool(idle), said)
    right(
        not idle or f"{lets} a query see padding, which takes weight and has nothing" in said, said
    )
    padded = "padding" in (s["kind"], s["also"]) and s["side"] == "right" and 0 < s["length"] < T
    last = "the last output" + " before the padding" * padded
    right(f"After {at} layer{'s' * (at != 1)} {last} depends" in said, said)
    row = reach[s["length"] - 1 if padded else -1]
    right(f"depends on {int(row.sum())} of {T} inputs" in said, said)
    reached = [names[i] for i in spread.any(-1).nonzero().flatten().tolist()]
    told = re.search(r"leak into outputs? ([^.]+)\.", said)
    right(bool(told) == bool(reached and leaks.any()), said)
    right(("no layer has used it yet" in said) == bool(leaks.any() and not reached), said)
    blind = [names[i] for i in (~mask.any(-1)).nonzero().flatten().tolist()]
    sees = re.search(r"(Query .*|Quer.*|\d+ queries) sees? nothing", said)
    right(bool(sees) == bool(blind), said)
    if len(blind) == 1:
        right(f"Query {blind[0]} sees nothing: its weights are all zero." in said, said)
    elif blind and len(set(blind)) < len(blind):
        right(f"{len(blind)} queries see nothing" in said, said)
    elif blind:
        right(sees[1].startswith("Queries ") and all(name in sees[1] for name in blind[:7]), said)
    if told:
        count = int(leaks.sum())
        lets = f"{count} cell lets" if count == 1 else f"{count} cells let"
        right(f"{lets} a query see a later key: later tokens leak" in said, said)
        short = reached if len(reached) <= 8 else [*reached[:7], f"{len(reached) - 7} more"]
        right(told[1] == ", ".join(short), said)
    meant = int((mask & later & plain).sum())
    right((f"{meant} cell" in said and "means to" in said) == bool(meant), said)
    if meant:
        prefixed = "prefix" in (s["kind"], s["also"])
        ends = "the prefix is given from the start." if prefixed else "right in an encoder."
        right(f"as this mask means to: {ends}" in said, said)
    right(("No query sees a later key" in said) == (not (mask & later).any()), said)
    right(s["allowed"] == int(mask.sum()), "Python reads another number")
    right(s["leaks"] == leaks.nonzero().tolist(), "Python reads other leaks")
    right(s["kind"] in KINDS, s["kind"])


def pads_of(s):
    """Which keys are padding, bool [T]."""
    if "padding" not in (s["kind"], s["also"]):
        return torch.zeros(s["T"], dtype=torch.bool)
    return ~alone("padding", *(s[name] for name in SIZES))[0]


def same_looks(root, s, names, mask):
    """What the chosen word may look at, and who may look at it, unless a look is pointed at."""
    said, chosen = root.locator(".p-look").inner_text(), s["token"] - 1
    if chosen < 0 or "may look at" not in said:
        return
    own, other = (
        mask[chosen].nonzero().flatten().tolist(),
        mask[:, chosen].nonzero().flatten().tolist(),
    )
    right(said.startswith(f"“{names[chosen]}” may look at "), f"{said}: not of {names[chosen]}")
    first, _, rest = said.partition(". ")
    keys = first.removeprefix(f"“{names[chosen]}” may look at ")
    right(listed(keys, [("itself" if j == chosen else names[j]) for j in own])
          if own else keys == "nothing: its weights are all zero", said)  # fmt: skip
    by = [names[i] for i in other if i != chosen]
    seen = re.fullmatch(r"It is seen by (.*)\.", rest)
    right(bool(seen) == bool(by), said)
    right(not seen or listed(seen[1], by), f"{said}: not {by}")


def listed(said, names):
    """Whether these names are told, up to seven of them and how many more: each in quotes."""
    quoted = ["itself" if name == "itself" else f"“{name}”" for name in names]
    few = quoted if len(names) <= 8 else [*quoted[:7], f"{len(names) - 7} more"]
    return said == (" and ".join([", ".join(few[:-1]), few[-1]]) if len(few) > 1 else few[0])


def depends(does):
    """Whether one depends on another, in words."""
    return "depends" if does else "does not depend"


def same_reasons(root, drawn, s, names, mask, plain, weights):
    """Each look pointed at is told: its share, how far ahead it leaks, or which rule hides it."""
    T = s["T"]
    cells = [(i, j) for i in (T - 1, T // 2, 1) for j in range(T)]
    (told,) = pointed(root, [(drawn, cells)], ".p-look")
    for (i, j), said in zip(cells, told, strict=True):
        key = "itself" if i == j else f"“{names[j]}”"
        ahead = f"{j - i} word{'s' * (j - i != 1)} ahead"
        if mask[i, j] and not plain[i, j] and pads_of(s)[j]:
            wanted = (f"“{names[i]}” now looks at {key}, which is padding: it takes weight and has "
                      "nothing to say.")  # fmt: skip
        elif mask[i, j] and j > i and not plain[i, j]:
            next_word = j == i + 1
            leaks = (
                "It can copy what it should predict." if next_word else "It knows a word too early."
            )
            wanted = f"“{names[i]}” now looks at {key}, {ahead}: a leak. {leaks}"
        elif mask[i, j]:
            told = re.fullmatch(rf"“{re.escape(names[i])}” may look at {re.escape(key)}, and gives it "
                                r"([<>]?)\s?(\d+)\s% of its attention, by made-up scores\.", said)  # fmt: skip
            right(told, said)
            right(
                abs(float(told[2]) - 100 * float(weights[i, j])) <= (1 if told[1] else 0.501), said
            )
            continue
        else:
            wanted = f"“{names[i]}” may not look at {key}: {why(s, plain, i, j)}."
        right(said == wanted, f"{said!r}, not {wanted!r}")


@cache
def alone(kind, *given):
    """One of the masks in force, by itself."""
    return MaskExplorer(kind=kind, **dict(zip(SIZES, given, strict=True))).unflipped()


def why(s, plain, i, j):
    """Which rule hides a key: the first of the two masks in force that does."""
    if plain[i, j]:
        return "you closed this cell"
    both = [s["kind"], s["also"]] if s["also"] != "none" else [s["kind"]]
    given = tuple(s[name] for name in SIZES)
    kind = next(k for k in both if not alone(k, *given)[i, j])
    if kind == "padding":
        return "it is padding"
    if j > i:
        return "it comes later"
    last = i - (s["window"] - 1) * s["dilation"]  # the furthest look of a dilated window
    between = kind == "dilated" and j > last
    return ("it falls between two looks of the dilated window" if between
            else "it lies too far back for this mask")  # fmt: skip


def names_of(s, padded):
    """The words of MaskExplorer: those given, moved by padding on the left; else numbers."""
    if not s["tokens"]:
        return [str(n + 1) for n in range(s["T"])]
    first = s["T"] - s["length"] if padded and s["side"] == "left" else 0
    real = range(first, first + s["length"]) if padded else range(s["T"])
    given = dict(enumerate(s["tokens"], start=first))
    return [given.get(i, str(i + 1)) if i in real else "pad" for i in range(s["T"])]


def same_stack(root, drawn, s, mask, plain, names, titled):
    """Who knows the followed word after 0 to T layers; later layers are blank."""
    T, at = s["T"], s["layers"]
    pads = pads_of(s)
    leaked = (mask & ~plain & ~masks.causal(T) & ~pads).nonzero()
    source = s["source"] - 1 if s["source"] else int(leaked[0, 1]) if len(leaked) else 0
    known = torch.stack([masks.reach(mask, n)[:, source] for n in range(T + 1)])
    meant = torch.stack([masks.reach(plain, n)[:, source] for n in range(T + 1)])
    done = (torch.arange(T + 1) <= at)[:, None]
    early = (torch.arange(T) < source) & ~pads[source]

    def knows(n, i):
        if n > at:
            return f"layer {n} is still to come"
        where = f"after layer {n}, {names[i]}" if n else names[i]
        return f"{where} {'knows' if known[n, i] else 'does not know'} {names[source]}"

    same_map(drawn, (known & done).int().tolist(), mask=known | ~done, digits=0, signed=False,
             rows=["words", *map(str, range(1, T + 1))], columns=names if titled else [],
             column=source if s["source"] else None, tip=knows,
             marks=(known & done & early & ~meant).nonzero().tolist())  # fmt: skip
    flow = root.locator(".p-flow").inner_text()
    right(f"“{names[source]}” is known at {int(known[at].sum())} of {T} places" in flow, flow)
    right(flow.startswith(f"After {at} layer{'s' * (at != 1)} "), flow)


def same_arcs(root, s, names, weights, leaks):
    """The words, and an arc for each look: as thick as its weight, bright for the chosen word."""
    drawn = ask(root.locator(".p-arc-stage"), ARCS)
    right(drawn["words"] == names, f"the words are {drawn['words']}")
    chosen = s["token"] - 1
    wanted = {(i, j) for i, j in weights.nonzero().tolist() if i == chosen}
    if s["T"] <= 12:
        few = weights >= (0.3 if drawn["wrapped"] else 0)
        rest = {(i, j) for i, j in (few & (weights > 0)).nonzero().tolist()}
        wanted |= rest if chosen < 0 or not drawn["wrapped"] else set()
    found = {(a["from"], a["to"]): a for a in drawn["arcs"]}
    right(found.keys() == wanted, f"arcs {sorted(found.keys() ^ wanted)} are missing or too many")
    for (i, j), arc in found.items():
        width = 0.8 + 4.2 * float(weights[i, j])
        right(abs(arc["width"] - width) < 0.006, f"arc {i} to {j} is {arc['width']} wide")
        right(
            arc["on"] == (i == chosen), f"arc {i} to {j} is lit" if arc["on"] else f"{i} {j} dark"
        )
        right((arc["role"] == "leak") == bool(leaks[i, j]), f"arc {i} to {j} is {arc['role']}")
        if i != j:
            ends = [drawn["middles"][i], drawn["middles"][j]]
            off = max(abs(a - b) for a, b in zip(arc["ends"], ends, strict=True))
            right(off < 6, f"arc {i} to {j} stands elsewhere, {off} px")

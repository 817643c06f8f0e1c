"""What AttentionHeatmap has to show for its traits, by torch and `pieces`, never by the page."""

import re

import torch
from by_torch import read
from oracle import ask, maps, percent, right, same_bars, same_map
from told import same_voice, tables
from twins import build
from twins import vocabulary as words_of

ARCS = """(root) => [...root.querySelectorAll(".p-arc-on")].map((arc) =>
  [Number(arc.dataset.query), Number(arc.dataset.key), Number(arc.getAttribute("stroke-width"))])"""
# Each tile as it is named, pressed, ticked and annotated; and how far its pixels are from their lightest.
TILES = """(root) => [...root.querySelectorAll(".p-head")].map((tile) => {
  const [pick, canvas, row, cost] = [".p-head-pick", "canvas", ".p-head-row", ".p-head-cost"]
    .map((one) => tile.querySelector(one));
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const pixel = (n) => [...data.slice(4 * n, 4 * n + 3)];
  const paper = pixel(1); // of two words the first cannot see the second
  return { told: pick.ariaLabel, pressed: pick.ariaPressed === "true", on: tile.querySelector("input").checked,
    note: tile.querySelector(".p-head-note").textContent, row: [row.style.top, row.style.height].map(parseFloat),
    cost: cost.hidden ? null : [cost.title, parseFloat(cost.querySelector("i").style.width)],
    shape: [canvas.height, canvas.width], ink: Array.from({ length: data.length / 4 }, (_, n) =>
      Math.hypot(...pixel(n).map((x, c) => x - paper[c]))) };
})"""
KINDS = {
    "previous": "the word before",
    "itself": "itself",
    "first": "the first word",
    "induction": "what followed last time",
    "copy": "the same word before",
}


def likeness(weights, ids):
    """How much a head [T, T] looks like each that has a name: a mean over the words that have a place."""
    T = len(ids)
    copies = [[j for j in range(i) if ids[j] == ids[i]] for i in range(T)]
    again = [i for i in range(2, T) if copies[i]]
    after = [[j + 1 for j in copies[i] if j + 1 < i] for i in again]
    shares = {
        "previous": [weights[i, i - 1] for i in range(2, T)],
        "itself": [weights[i, i] for i in range(2, T)],
        "first": [weights[i, 0] for i in range(2, T)],
        "induction": [weights[i, js].sum() for i, js in zip(again, after, strict=True)],
        "copy": [weights[i, copies[i]].sum() for i in again],
    }
    return {k: float(sum(v) / len(v)) if len(v) >= 3 else 0.0 for k, v in shares.items()}


def sentence(s, words, vocabulary, token, after, before, losses):
    """What the widget says, with all its numbers."""
    was, now = int(before.argmax()), int(after.argmax())
    guess, there, here = vocabulary[was], float(before[was]), float(after[was])
    if s["off"]:
        names = [f"{layer}.{head}" for layer, head in s["off"]]
        listed = (" or " if len(names) == 2 else ", ").join(names)
        without = f"Without {f'these {len(names)} heads' if len(names) > 3 else listed}, “{guess}”"
        if abs(here - there) < 0.01:
            return f"{without} stays at {percent(here)}."
        moved = f"{without} {'falls' if here < there else 'rises'} from {percent(there)} to {percent(here)}."
        return (
            moved
            if was == now
            else f"{moved} Now “{vocabulary[now]}” leads with {percent(float(after[now]))}."
        )
    if losses is None:
        how = "the model is sure of “{}”." if there > 0.9 else "the model leans towards “{}”."
        how = how if there > 0.45 else "several words may follow; “{}” is the likeliest."
        return f"After “{words[token]}” {how.format(guess)}"
    most = float(losses.max())
    if most < 0.05:
        return (f"No single head is needed for “{guess}”: without any one of them it loses less than "
                "5 points.")  # fmt: skip
    layer, head = divmod(int(losses.flatten().argmax()), losses.shape[1])
    return (f"“{guess}” depends most on head {layer + 1}.{head + 1}: without it {percent(there)} becomes "
            f"{percent(there - most)}.")  # fmt: skip


def same_tiles(root, s, weights, ids, token, losses):
    """Each head's tile: its map, its name and note, whether it is on and shown, what it costs."""
    L, H, T, _ = weights.shape
    tiles = ask(root, TILES)
    right(len(tiles) == L * H, f"{len(tiles)} tiles")
    for n, tile in enumerate(tiles):
        layer, head = divmod(n, H)
        place, off = f"{layer + 1}.{head + 1}", [layer + 1, head + 1] in s["off"]
        kind, share = max(likeness(weights[layer, head], ids).items(), key=lambda one: one[1])
        note = f"{KINDS[kind]} {percent(share)}" if share >= 0.6 else ""
        told = f"Show head {place}{f': {note}' if note else ''}{', switched off' if off else ''}"
        right(tile["told"] == told, f"{tile['told']!r}, not {told!r}")
        right(tile["note"] == ("off" if off else note), f"{place}: {tile['note']!r}")
        right(tile["on"] != off, f"{place}: its tick")
        shown = s["layer"] == layer + 1 and s["head"] in (0, head + 1)
        right(tile["pressed"] == shown, f"{place}: shown large or not")
        where = [100 * token / T, 100 / T]
        right(all(abs(a - b) < 0.01 for a, b in zip(tile["row"], where, strict=True)), tile["row"])
        lost = None if losses is None else float(losses[layer, head])
        right((tile["cost"] is None) == (lost is None), f"{place}: its cost {tile['cost']}")
        if lost is not None:
            title, wide = tile["cost"]
            told = re.fullmatch(r"Without it the guess (loses|gains) (\d+) points?", title)
            right(told and title.endswith("point") == (told[2] == "1"), f"{place}: {title}")
            points = int(told[2]) * (-1 if told[1] == "gains" else 1)
            right(abs(points - 100 * lost) < 0.51, f"{place}: {title}, not {100 * lost}")
            right(told[1] == "loses" or points < 0, f"{place}: {title}")
            right(abs(wide - max(0, 100 * lost)) < 0.06, f"{place}: a cost {wide} wide")
        right(tile["shape"] == [T, T], tile["shape"])
        ink, wanted = torch.tensor(tile["ink"]), weights[layer, head].flatten().sqrt()
        apart = (ink / ink.max() - wanted / wanted.max()).abs().max().item()
        right(apart < 0.03, f"{place}: its map is {apart:.3f} away")


def same_story(root, words, token, row):
    """The words, and the arcs of the one that is followed."""
    right(root.locator(".p-chip").all_inner_texts() == words, "other words")
    drawn = {key: (query, width) for query, key, width in ask(root, ARCS)}
    seen = {j for j in range(token + 1) if float(row[j]) >= 0.02}
    right(set(drawn) == seen, f"arcs to {sorted(drawn)}, not {sorted(seen)}")
    for key, (query, width) in drawn.items():
        right(query == token, f"an arc from {query}, not {token}")
        right(abs(width - (0.8 + 4.2 * float(row[key]))) < 0.011, f"an arc is {width} wide")
    same_voice(root, words, token, [w if float(w) >= 0.02 else 0 for w in row[: token + 1]])


def same_arc_table(root, words, shown):
    """The table view of the arcs: every look of at least 0.02."""
    T = len(words)
    for _, (head, *listed) in [one for one in tables(root) if one[0].startswith("The words, and")]:
        right(head == ["word", "looks at", "weight"], head)
        pairs = [(i, j) for i in range(T) for j in range(i + 1) if float(shown[i, j]) >= 0.02]
        right([one[:2] for one in listed] == [[words[i], words[j]] for i, j in pairs], "its rows")
        for (*_, text), (i, j) in zip(listed, pairs, strict=True):
            right(abs(float(text) - float(shown[i, j])) < 1e-4, f"{text}, not {float(shown[i, j])}")


def attention_heatmap(root, s):
    """Words and arcs, tiles, the map of the head shown, bars and ghosts, sentence, what Python reads."""
    _, model = build("attention-only")  # the one that `example` hands over
    words, vocabulary = s["text"].split(), words_of(model.config.vocab_size)
    ids = [vocabulary.index(word) for word in words]
    T, off = len(ids), s["off"]
    weights, after = read(model, ids, off)
    before = read(model, ids)[1]
    layer = weights[s["layer"] - 1]
    shown = layer[s["head"] - 1] if s["head"] else layer.mean(0)
    token = min(s["token"] or T, T) - 1
    losses = None
    if s["tried"]:
        row, best = before[s["tried"] - 1], int(before[s["tried"] - 1].argmax())
        L, H = weights.shape[:2]
        without = [read(model, ids, [(a + 1, b + 1)])[1] for a in range(L) for b in range(H)]
        losses = torch.stack([row[best] - p[s["tried"] - 1, best] for p in without]).view(L, H)
        right(torch.tensor(s["losses"]).allclose(losses, atol=1e-5), "Python reads other losses")
    else:
        right(s["losses"] is None, s["losses"])
    known = losses if s["tried"] == token + 1 else None
    same_story(root, words, token, shown[token])
    same_arc_table(root, words, shown)
    same_tiles(root, s, weights, ids, token, known)
    visible = torch.ones(T, T, dtype=torch.bool).tril()
    (drawn,) = maps(root)
    named = {"rows": words, "columns": words, "signed": False, "frame": token}
    same_map(drawn, shown.tolist(), mask=visible.tolist(), **named)
    right(torch.tensor(s["looks"]).allclose(shown[token], atol=1e-5), "other weights are read")
    said = [[word, float(p[token, vocabulary.index(word)])] for word, *_ in s["next_words"]
            for p in (after, before)]  # fmt: skip
    got = [[word, p] for word, *both in s["next_words"] for p in both]
    right(all(abs(a[1] - b[1]) < 1e-5 for a, b in zip(said, got, strict=True)), "other chances")
    ghost = [p for _, p in said[1::2]] if off else None
    same_bars(
        root,
        [row[0] for row in s["next_words"]],
        [([p for _, p in said[::2]], 1, False, 2)],
        [ghost],
    )
    told = root.locator(".p-say").inner_text()
    wanted = sentence(s, words, vocabulary, token, after[token], before[token], known)
    right(told == wanted, f"{told!r}, not {wanted!r}")

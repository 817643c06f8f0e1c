"""What WholeModel has to show for its traits, by torch, `pieces.inside` and the stories."""

import functools
import itertools
import math
import re

import torch
from oracle import read_out, right, says, shares
from told import tables
from twins import build
from twins import vocabulary as words_of

from pieces import trained
from pieces.inside import inside, lens, votes
from pieces.switches import parts
from widgets.whole_model.spoken import WORTH, all_losses, at_rest, called, of_parts, played
from widgets.whole_model.sums import opened

MOST = 40
SEEN = """(root) => {
  const numbers = (text) => (text ?? "").match(/-?[\\d.]+/g)?.map(Number) ?? [];
  const shown = (node) => node.getAttribute("display") !== "none";
  const path = (node) => node.getAttribute("d") ?? "";
  const widths = (node) => path(node).split("Z").filter(Boolean).map((stretch) =>
    Math.max(...numbers(stretch).filter((_, n) => n % 2 === 0)));
  const down = (node) => Number((node.style.transform.match(/-?[\\d.]+/g) ?? [])[1]);
  const picture = root.querySelector(".w-picture");
  return {
    phone: root.querySelector(".w-body").classList.contains("w-phone"),
    columns: [...picture.querySelectorAll(".w-column")].map((g) => ({
      t: Number(g.dataset.t), x: numbers(g.getAttribute("transform"))[0],
      followed: g.classList.contains("w-followed"), word: g.lastElementChild.textContent,
      turned: g.lastElementChild.hasAttribute("transform"), pipe: widths(g.querySelector(".w-pipe")),
      climbs: path(g.querySelector(".w-pipe")).split("Z").filter(Boolean).map((stretch) =>
        numbers(stretch).filter((_, n) => n % 2 === 1)), ghost: widths(g.querySelector(".w-pipe-ghost")),
      faint: [...g.querySelectorAll(".w-faint-wires")].map((one) =>
        [...path(one).matchAll(/M(-?[\\d.]+) /g)].map((found) => Number(found[1]))),
      lensY: [...g.querySelectorAll(".w-lens")].map((text) => (shown(text) ? Number(text.getAttribute("y")) : null)),
      places: [".w-bright", ".w-dim"].map((kind) => [...g.querySelectorAll(kind)].map((one) =>
        [...path(one).matchAll(/M(-?[\\d.]+) (-?[\\d.]+)(?:a([\\d.]+))?/g)].map((found) => found.slice(1).map((n) => Number(n ?? 0))))),
      changed: g.querySelector(".w-guess")?.classList.contains("w-changed") ?? false,
      lens: [...g.querySelectorAll(".w-lens")].map((text) => (shown(text) ? text.textContent : null)),
      same: [...g.querySelectorAll(".w-lens")].map((text) => text.classList.contains("w-same")),
      lights: [".w-bright", ".w-dim"].map((kind) => [...g.querySelectorAll(kind)].map((one) =>
        (path(one).match(/M/g) ?? []).length)),
      bar: Number(g.querySelector(".w-bar").getAttribute("height")),
      sides: [".w-bar", ".w-was"].map((kind) => g.querySelector(kind)).filter(shown).map((one) =>
        ["x", "width", "y", "height"].map((name) => Number(one.getAttribute(name)))),
      guessY: Number(g.querySelector(".w-guess")?.getAttribute("y")),
      was: shown(g.querySelector(".w-was")) ? Number(g.querySelector(".w-was").getAttribute("height")) : null,
      guess: shown(g.querySelector(".w-guess")) ? g.querySelector(".w-guess").textContent : null })),
    wires: [...picture.querySelectorAll(".w-wires path")].map((one) => ({ head: one.dataset.head,
      word: Number(one.dataset.word), x: numbers(one.getAttribute("transform"))[0], dx: numbers(path(one))[0],
      wide: Number(one.getAttribute("stroke-width")) })),
    names: [...picture.querySelectorAll(".w-wire-names text")].map((one) => [one.textContent, ...["x", "y"].map((name) => Number(one.getAttribute(name)))]),
    next: [...root.querySelectorAll(".w-next-row")].map((row) => ({
      word: row.querySelector(".w-next-word").textContent, p: row.querySelector(".w-next-p").textContent,
      truth: row.querySelector(".w-next-true").textContent, bar: parseFloat(row.querySelector("i").style.width),
      ghost: row.querySelector("s").hidden ? null : parseFloat(row.querySelector("s").style.width) || 0,
      mark: row.querySelector("u").hidden ? null : parseFloat(row.querySelector("u").style.left) || 0,
      label: row.ariaLabel, pressed: row.ariaPressed })),
    parts: [...root.querySelectorAll(".w-part")].map((part) => ({ name: part.dataset.name,
      on: part.querySelector(".w-switch")?.ariaChecked ?? null, switch: part.querySelector(".w-switch")?.ariaLabel ?? null,
      open: part.querySelector(".w-part-open").ariaLabel, title: part.querySelector(".w-part-open").title,
      label: part.querySelector(".w-part-open span").textContent, number: part.querySelector("small").textContent,
      shown: !part.hidden, fill: part.querySelector("i") && !part.querySelector("i").hidden
        ? [part.querySelector("i").className, parseFloat(part.querySelector("i").style.width)] : null })),
    marks: [...root.querySelectorAll(".w-mark")].map((mark) => (mark.hidden ? null
      : { texts: [...mark.children].map((one) => one.textContent), label: mark.ariaLabel, y: down(mark), same: mark.classList.contains("w-same") })),
    key: [...root.querySelectorAll(".w-key span")].filter((one) => !one.hidden).map((one) =>
      one.textContent), bars: [...root.querySelectorAll("[data-trait=bars] option")].map((one) => one.textContent),
    counts: [...root.querySelectorAll(".w-count")].map((one) => (one.hidden ? null : [one.textContent, down(one)])),
    behind: ["x", "width"].map((name) => Number(picture.querySelector(".w-behind").getAttribute(name))),
    band: picture.querySelector(".w-now").getAttribute("display") === "none" ? null
      : ["x", "y", "width", "height"].map((name) => Number(picture.querySelector(".w-now").getAttribute(name))),
    reset: root.querySelector(".w-reset")?.checkVisibility() ?? null,
    untrue: root.querySelector(".w-next-key").classList.contains("w-untrue"),
    playAt: root.querySelector(".p-play-at").textContent,
    after: root.querySelector(".w-next-title").textContent };
}"""  # fmt: skip


@functools.cache
def shipped(name):
    """The model, its words and, where it tells stories, their task."""
    if name == "own":
        model = build("llama")[1]
        return model, words_of(model.config.vocab_size), None
    found = trained.load(name)
    return found.model, found.task.vocabulary, found.task


def read(s):
    """The ids that are read, by the words of the model."""
    _, vocabulary, task = shipped(s["model_name"])
    known = {word: n for n, word in enumerate(vocabulary)}
    lower = {word.lower(): n for word, n in known.items()}
    tokens = task.cut(s["text"]) if task else re.findall(r"[\w'-]+|[^\s\w]", s["text"])
    found = [known.get(token, lower.get(token.lower())) for token in tokens]
    return [n for n in found if n is not None][:MOST]


@functools.lru_cache(8)
def inner(name, ids, off):
    """Every inner value, and what would be said at each strip [T, V]."""
    model = shipped(name)[0]
    values = inside(model, torch.tensor(ids), off)
    strips = [key for key in values if key.endswith(".stream")]
    return values, strips, [lens(model, values[key], off).softmax(-1) for key in strips]


def alike(shown, word, room=None):
    """A word that is too long for its column ends in an ellipsis: only then, and as late as it can."""
    if shown == word:
        return True
    fills = room is None or (4 * len(word) > room - 6 and len(shown) >= max(2, (room - 10) // 4))
    return shown.endswith("…") and word.startswith(shown[:-1]) and fills


def state_of(s):
    """What torch says of the traits: inner values, probabilities, truth, and the words of the model."""
    model, vocabulary, task = shipped(s["model_name"])
    ids, off = tuple(read(s)), tuple(s["off"])
    t = (s["word"] or len(ids)) - 1
    values, strips, seen = inner(s["model_name"], ids, off)
    before = inner(s["model_name"], ids, ()) if off else None
    truth = lost = None
    if task and s["world"]:
        so_far = torch.tensor([ids[: t + 1]])
        impossible = task.first_impossible(so_far[0])
        if impossible is None:
            truth = task.true_next(so_far)[0, -1]
        else:
            lost = (impossible, vocabulary[ids[impossible]])
    best = [(int(strip[t].argmax()), float(strip[t].max())) for strip in seen]
    return {
        "model": model, "vocabulary": vocabulary, "ids": ids, "t": t, "off": off, "values": values,
        "words": [vocabulary[n] for n in ids], "strips": [key.removesuffix(".stream") for key in strips],
        "seen": seen, "before": before, "p": values["logits"].softmax(-1), "truth": truth, "lost": lost,
        "was": before[0]["logits"].softmax(-1) if off else None, "best": best,
        "rope_base": getattr(model.config, "rope_base", None),
        "size": lambda name, at=t: float(values[f"{name}.stream"][at].square().mean().sqrt()),
    }  # fmt: skip


def whole_model(root, s):
    """The overview, or the part that is opened; the next word's bars and the results in any case."""
    state = state_of(s)
    vocabulary, ids, t, p = (state[key] for key in ("vocabulary", "ids", "t", "p"))
    drawn = read_out(root, SEEN)
    was = state["was"]
    right(drawn["after"] == f"After “{state['words'][t]}”", drawn["after"])
    right(drawn["untrue"] == (state["truth"] is None), f"the key of the truth: {drawn['untrue']}")
    step = ["words", *state["strips"], "norm", "next"][s["step"] - 1]
    names = {"words": "the words", "norm": "final norm", "next": "next word", "embedding": step}
    name = names.get(step) or called(step)
    right(drawn["playAt"] == name, f"the player stands at {drawn['playAt']}, not {name}")
    next_words(drawn["next"], s, p[t], None if was is None else was[t], state["truth"], vocabulary)
    target = vocabulary.index(s["target"]) if s["target"] in vocabulary else int(p[t].argmax())
    counted = votes(state["model"], state["values"], target, t, state["off"])
    right(set(s["votes"]) == set(counted), f"votes of {list(s['votes'])}")
    for name, vote in counted.items():
        right(abs(s["votes"][name] - vote) < 1e-4 * max(1, abs(vote)), f"{name} votes {vote}")
    if len(ids) > 1:
        cost = -p[:-1].gather(1, torch.tensor(ids[1:])[:, None]).clamp(min=1e-30).log().mean()
        right(abs(s["text_cost"] - float(cost)) < 1e-4, f"the text costs {float(cost)}")
    told = [f"points for “{vocabulary[target]}”",
            f"what “{vocabulary[int(p[t].argmax())]}” loses without"]  # fmt: skip
    right(drawn["bars"] == told, f"the bars are about {drawn['bars']}, not {told}")
    said = root.locator(".p-say").text_content()
    if not s["step"]:
        at_rest(said, s, state)
    elif "Its column rises." not in said:
        played(said, ["words", *state["strips"], "norm", "next"][s["step"] - 1], state, s["off"])
    if s["part"]:
        return opened(root, s, state)
    if drawn["phone"] and not s["step"]:
        one_layer(drawn, s, state)
    columns(drawn, s, state)
    band(drawn, s, state, step)
    wires(drawn, s, state)
    sums = rows(drawn, s, counted, state)
    experts = any(key.endswith(".experts") for key in state["values"])
    of_parts(drawn["parts"], s, sums, vocabulary[target], experts, waits(s, state))
    marks(drawn, state)
    listed(tables(root), s, state, counted, vocabulary[target])
    right(("with all parts on" in drawn["key"]) == bool(state["off"]), f"key: {drawn['key']}")
    return None


def one_layer(drawn, s, state):
    """A phone shows the layer that was asked for, or the one that says most for the guess."""
    guess = int(state["p"][state["t"]].argmax())
    says_most = {}
    for name, vote in votes(
        state["model"], state["values"], guess, state["t"], state["off"]
    ).items():
        if name.startswith("layer."):
            says_most[name.split(".")[1]] = says_most.get(name.split(".")[1], 0) + vote
    wanted = str(s["layer"] or max(says_most, key=says_most.get))
    names = [part["name"] for part in drawn["parts"] if part["shown"]]
    shown = {name.split(".")[1] for name in names if name.startswith("layer.")}
    right(shown == {wanted}, f"layers {shown} are shown, not {wanted}")


def marks(drawn, state):
    """What the followed word would say at each strip: the word, its share, and what it was with all parts on."""
    vocabulary, word = state["vocabulary"], state["words"][state["t"]]
    counted = [n for n, count in enumerate(drawn["counts"]) if count]
    feeds = [n for n, name in enumerate(state["strips"]) if name.endswith("feed_forward")]
    alone = drawn["phone"] or any(key.endswith(".experts") for key in state["values"])
    right(counted == ([] if alone else feeds), f"open units are counted at {counted}")
    shown = [n for n, mark in enumerate(drawn["marks"]) if mark]
    wide = list(range(len(state["strips"]) - 1))  # at the last, the next word itself is told
    of_layer = 1 + len(state["strips"]) // state["model"].config.n_layers
    right(len(shown) == of_layer if drawn["phone"] else shown == wide, f"told at {shown}")
    for n, mark in enumerate(drawn["marks"]):
        if not mark:
            continue
        best, share = state["best"][n]
        would, guess, told, was = mark["texts"]
        name = f"“{word}” " if drawn["phone"] else ""
        right(would == f"{name}would say", f"{would}, not of {name}")
        right(guess == vocabulary[best], f"strip {n} says {guess}")
        right(told in shares(share), f"strip {n}: {told}")
        right(
            mark["same"] == (best == int(state["p"][state["t"]].argmax())),
            f"strip {n}: {guess} as the guess",
        )
        where = called(state["strips"][n])
        right(
            mark["label"] == f"Stopped after {where} it would say “{guess}”, {told}: look there",
            mark["label"],
        )
        old = None if state["before"] is None else int(state["before"][2][n][state["t"]].argmax())
        right(was == ("" if old in (None, best) else vocabulary[old]), f"strip {n} was {was}")


def next_words(drawn, s, p, was, truth, vocabulary):
    """Words, bars, the true probabilities and the ghosts."""
    most = p if was is None else torch.maximum(p, was)
    wanted = set(most.argsort(descending=True)[: len(drawn)].tolist())
    shown = [vocabulary.index(row["word"]) for row in drawn]
    asked = vocabulary.index(s["target"]) if s["target"] in vocabulary else None
    right(len(set(shown) - wanted - {asked}) == 0, f"other words: {[r['word'] for r in drawn]}")
    right(
        [float(p[n]) for n in shown] == sorted((float(p[n]) for n in shown), reverse=True), "order"
    )
    for row, n in zip(drawn, shown, strict=True):
        share = float(p[n])
        right(abs(row["bar"] - 100 * share) < 0.02 and row["p"] in shares(share), f"{row}: {share}")
        right((row["ghost"] is None) == (was is None), f"a ghost at {row['word']}")
        if was is not None:
            right(abs(row["ghost"] - 100 * float(was[n])) < 0.02, f"{row}: was {float(was[n])}")
        fact = None if truth is None else float(truth[n])
        right(row["truth"] in ({""} if fact is None else shares(fact)), f"{row}: true {fact}")
        right((row["mark"] is not None) == bool(fact and fact > 0.001), f"a mark at {row['word']}")
        if row["mark"] is not None:
            right(abs(row["mark"] - 100 * fact) < 0.02, f"{row}: true {fact}")
        true = f", true {row['truth']}" if row["truth"] else ""
        ends = ", the parts’ bars are about it" if n == asked else "; show which parts speak for it"
        ends = ends if s["bars"] == "votes" else ""
        right(
            row["label"] == f"“{row['word']}”, model {row['p']}{true}{ends}",
            row["label"],
        )
        right(
            row["pressed"] == str(n == asked).lower(), f"{row['word']} is pressed: {row['pressed']}"
        )
    told = [[row["word"], float(p[n])] for row, n in zip(drawn, shown, strict=True)]
    for (word, share, _), (name, own) in zip(s["next_words"], told, strict=True):
        right(word == name and abs(share - own) < 1e-5, f"Python reads {word} {share}")


def columns(drawn, s, state):
    """Each word's column: words, widths of the stream, lens, lights, faint wires, bars."""
    vocabulary, ids, values, seen, before = (
        state[key] for key in ("vocabulary", "ids", "values", "seen", "before")
    )
    each = drawn["columns"][1]["x"] - drawn["columns"][0]["x"] if len(ids) > 1 else 66
    half = lambda size: max(0.6, min(1, (math.log10(size) + 1) / 3.2) * min(each, 50) * 0.34)  # noqa: E731
    right([c["t"] for c in drawn["columns"]] == list(range(len(ids))), "other columns")
    left, wide = drawn["behind"]
    middle = drawn["columns"][state["t"]]["x"]
    right(
        abs(left + wide / 2 - middle) < 0.3 and abs(wide - each) < 0.3,
        f"a ground at {left}, {wide} px wide",
    )
    p = values["logits"].softmax(-1).max(-1)
    was = None if before is None else before[0]["logits"].softmax(-1).max(-1)
    tall = max(c["bar"] for c in drawn["columns"]) / float(p.values.max())
    ground = drawn["columns"][0]["sides"][0][2] + drawn["columns"][0]["sides"][0][3]
    shown = [n for n, mark in enumerate(drawn["columns"][0]["lens"]) if mark is not None]
    for c in drawn["columns"]:
        at, name = c["t"], vocabulary[ids[c["t"]]]
        right(
            alike(c["word"], name, None if c["turned"] else each),
            f"word {at}: {c['word']}, not {name}",
        )
        right(c["followed"] == (at == state["t"]), f"{name} is followed: {c['followed']}")
        if not drawn["phone"]:
            pipes(c, state, name, half)
        right(abs(c["bar"] - tall * float(p.values[at])) < 0.1, f"the bar of {name}")
        middles = [left_ + across / 2 for left_, across, *_ in c["sides"]]
        right(all(abs(middle) < 0.02 for middle in middles), f"bars of {name} about {middles}")
        feet = [y + high for *_, y, high in c["sides"]]
        right(all(abs(foot - ground) < 0.05 for foot in feet), f"bars of {name} stand at {feet}")
        told = c["guess"] is None or 8 < c["guessY"] - ground < 18
        right(told, f"the guess of {name} at {c['guessY']}, its bar on {ground}")
        guess = vocabulary[int(p.indices[at])]
        right(
            c["guess"] is None or alike(c["guess"], guess, each),
            f"{name}: {c['guess']}, not {guess}",
        )
        other = before is not None and int(was.indices[at]) != int(p.indices[at])
        right(c["changed"] == other, f"{name}: another guess, {c['changed']}")
        moved = 0 if before is None else abs(float(was.values[at] - p.values[at])) + other
        right(
            (c["was"] is not None) == (moved > 0.01) or abs(moved - 0.01) < 1e-4,
            f"{name} was {c['was']}",
        )
        if c["was"] is not None:
            right(abs(c["was"] - tall * float(was.values[at])) < 0.1, f"{name} was {c['was']} high")
        for n in shown:
            word = vocabulary[int(seen[n][at].argmax())]
            right(alike(c["lens"][n], word, each), f"{name}, strip {n}: {c['lens'][n]}, not {word}")
            right(c["same"][n] == (word == guess), f"{name}, strip {n}: {word} as the guess")
            if drawn["marks"][n] and not drawn["phone"]:
                below = c["lensY"][n] - drawn["marks"][n]["y"]
                right(8 < below < 22, f"{name}, strip {n}: {below} px below its strip")
        lights(drawn, c, values, at, each)
        faint(drawn, c, s, state)


def pipes(c, state, name, half):
    """How wide the stream is from strip to strip; a ghost where it was wider or narrower with all parts on."""
    strips, at = state["strips"], c["t"]
    size = [state["size"](key, at) for key in strips]
    for n, wide in enumerate(c["pipe"]):
        wanted = max(half(size[max(0, n - 1)]), half(size[n]))
        right(abs(wide - wanted) < 0.12, f"{name}, stretch {n}: {wide} px, not {wanted}")
    right(len(c["pipe"]) == len(strips), f"{len(c['pipe'])} stretches")
    tops = [min(climb) for climb in c["climbs"]]
    right(tops == sorted(tops, reverse=True), f"{name}: a pipe with tops at {tops}")
    ends = [max(climb) for climb in c["climbs"]]
    right(all(end <= top + 0.1 for end, top in zip(ends[1:], tops, strict=False)),
          f"{name}: stretches from {ends} to {tops}")  # fmt: skip
    for climb in c["climbs"]:
        up, down = climb[: len(climb) // 2], climb[len(climb) // 2 :]
        right(up == sorted(up, reverse=True) and down == up[::-1], f"{name}: a pipe along {climb}")
    if state["before"] is None:
        right(c["ghost"] == [], "a ghost of nothing")
        return
    old = [float(state["before"][0][f"{key}.stream"][at].square().mean().sqrt()) for key in strips]
    apart = [abs(a - b) / a for a, b in zip(size, old, strict=True)]
    if any(abs(one - 0.05) < 1e-3 for one in apart):
        return
    wanted = [max(half(old[max(0, n - 1)]), half(old[n])) for n in range(len(strips))
              if max(apart[max(0, n - 1)], apart[n]) > 0.05]  # fmt: skip
    right(
        len(wanted) == len(c["ghost"]),
        f"{name}: {len(c['ghost'])} stretches of the ghost, not {len(wanted)}",
    )
    right(
        all(abs(a - b) < 0.12 for a, b in zip(c["ghost"], wanted, strict=True)),
        f"the ghost of {name}",
    )


def faint(drawn, c, s, state):
    """A word that is not followed has a faint wire from where one of its heads takes most."""
    out, x, t = set(s["off"]), [one["x"] for one in drawn["columns"]], c["t"]
    layers = {
        part["name"].split(".")[1]
        for part in drawn["parts"]
        if part["shown"] and "." in part["name"]
    }
    for layer, found in enumerate(c["faint"], 1):
        heads = [
            n
            for n in range(state["model"].config.n_heads)
            if f"layer.{layer}.head.{n + 1}" not in out
        ]
        weights = state["values"][f"layer.{layer}.weights"][heads, t, :t]
        none = (
            c["followed"]
            or str(layer) not in layers
            or f"layer.{layer}.attention" in out
            or not heads
        )
        most = [] if none or not t else weights.max(0).values.tolist()
        if any(abs(one - 0.22) < 1e-5 for one in most):
            continue
        wanted = [x[at] - x[t] for at, one in enumerate(most) if one >= 0.22]
        right(len(found) == len(wanted) and all(abs(a - b) < 0.3 for a, b in zip(found, wanted, strict=True)),
              f"word {t}, layer {layer}: faint wires of {found}, not {wanted}")  # fmt: skip


def lights(drawn, c, values, at, each):
    """A light for each open unit, at its own place; a disc for each expert, as large as its share."""
    for layer, (bright, dim) in enumerate(zip(*c["places"], strict=True), 1):
        told = (
            None
            if drawn["phone"]
            else drawn["counts"][2 * layer]
            if len(drawn["counts"]) > 2 * layer
            else None
        )
        if f"layer.{layer}.experts" in values:
            if bright or not drawn["phone"]:
                discs(bright, dim, values, layer, at)
        elif f"layer.{layer}.units" in values and (bright or not drawn["phone"]):
            units = values[f"layer.{layer}.units"][at]
            opened = values.get(f"layer.{layer}.gate", values[f"layer.{layer}.units"])[at] > 0.5
            shines = opened & (units.abs() >= 0.25 * units.abs().max())
            kinds = (shines, opened & ~shines) if each >= 34 else (shines, torch.zeros_like(shines))
            across = math.ceil(math.sqrt(len(units)))
            for found, kind in zip((bright, dim), kinds, strict=True):
                right(abs(len(found) - int(kind.sum())) <= 1, f"layer {layer}: {len(found)} lights")
                if len(found) == int(kind.sum()) > 1:
                    grid(found, kind.nonzero()[:, 0].tolist(), across, told)
            if c["followed"] and told:
                right(told[0] == f"{int(opened.sum())} of {len(units)} units open", told)


def grid(found, units, across, told):
    """Each unit at its own place of a square around the middle of its band."""
    columns = [n % across - (across - 1) / 2 for n in units]
    rows = [n // across - (across - 1) / 2 for n in units]
    (wide, pitch) = max((abs(a), x / a) for (x, *_), a in zip(found, columns, strict=True) if a)
    middle = sum(y - pitch * row for (_, y, *_), row in zip(found, rows, strict=True)) / len(found)
    for (x, y, *_), column, row in zip(found, columns, rows, strict=True):
        right(abs(x - pitch * column) < 0.15 * max(1, wide / 4) and abs(y - middle - pitch * row) < 0.6,
              f"a light at {x}, {y}, not at {column}, {row}")  # fmt: skip
    right(
        told is None or abs(middle - told[1] - 9) < 1,
        f"lights about {middle}, their number at {told}",
    )


def discs(bright, dim, values, layer, at):
    """Expert after expert, one disc each: the larger, the more of the word it gets."""
    experts, spread = (
        values[f"layer.{layer}.{part}"][at].tolist() for part in ("experts", "shares")
    )
    share = {e: value for e, value in zip(experts, spread, strict=True) if value > 0}
    right(len(bright) == len(share), f"layer {layer}: {len(bright)} experts")
    middles = sorted(x + r for x, _, r in [*bright, *dim])
    right(len(middles) == values[f"layer.{layer}.router"].shape[-1], f"{len(middles)} discs")
    gap = (middles[-1] - middles[0]) / (len(middles) - 1)
    for (x, _, r), e in zip(bright, sorted(share), strict=True):
        right(abs(x + r - middles[e]) < 0.11, f"layer {layer}: expert {e + 1} at {x + r}")
        right(
            abs(r - gap * (0.2 + 0.28 * share[e])) < 0.15, f"layer {layer}: expert {e + 1}, {r} px"
        )
    right(all(abs(r - 0.12 * gap) < 0.15 for *_, r in dim), f"layer {layer}: {dim}")


def wires(drawn, s, state):
    """The followed word's wires: from whom, of which head, and as wide as the weight."""
    model, values, t = (state[key] for key in ("model", "values", "t"))
    out = set(s["off"])
    shown = {
        part["name"].split(".")[1]
        for part in drawn["parts"]
        if part["shown"] and "." in part["name"]
    }
    wanted = {}
    for layer in range(1, model.config.n_layers + 1):
        if str(layer) not in shown or f"layer.{layer}.attention" in out:
            continue
        for head, row in enumerate(values[f"layer.{layer}.weights"][:, t], 1):
            for j, weight in enumerate(row[: t + 1].tolist()):
                if weight >= 0.04 - 1e-5 and f"layer.{layer}.head.{head}" not in out:
                    wanted[f"{layer}.{head}", j] = weight
    got = {(wire["head"], wire["word"]): wire for wire in drawn["wires"]}
    missing = {at for at, weight in wanted.items() if weight >= 0.04 + 1e-5} - set(got)
    right(set(got) <= set(wanted) and not missing, f"other wires: {set(got) ^ set(wanted)}")
    x = [c["x"] for c in drawn["columns"]]
    for (head, j), wire in got.items():
        right(abs(wire["wide"] - 0.6 - 4.2 * wanted[head, j]) < 0.01, f"{head} from {j}: {wire}")
        start = wire["x"] + wire["dx"] if j != t else x[t]
        right(abs(wire["x"] - x[t]) < 0.2 and abs(start - x[j]) < 0.3, f"{head}: from {start}")
    named = sorted((head, x[j]) for (head, j), weight in wanted.items() if weight >= 0.3)
    told = sorted((head, at) for head, at, _ in drawn["names"])
    within_bands(drawn, state)
    right([head for head, _ in told] == [head for head, _ in named]
          and all(abs(a - b) < 0.3 for (_, a), (_, b) in zip(told, named, strict=True)),
          f"named {told}, not {named}")  # fmt: skip


def band(drawn, s, state, step):
    """What is at work has a ground behind it, from the first word to the last."""
    none = s["step"] in (0, 1) or (
        drawn["phone"] and step == "norm"
    )  # a phone has no row for the norm
    right((drawn["band"] is None) == none, f"{drawn['band']} at {s['step']}")
    if drawn["band"] is None:
        return
    x, y, wide, high = drawn["band"]
    if step in state["strips"][1:]:
        n, heights = state["strips"].index(step), drawn["columns"][0]["lensY"]
        above, below = heights[n], heights[n - 1]
        right(
            above is None or above < y + high, f"{step}: a band at {y}, {high} high, over {above}"
        )
        right(below is None or y < below, f"{step}: a band at {y}, below {below}")
    places = [c["x"] for c in drawn["columns"]]
    each = places[1] - places[0] if len(places) > 1 else 66
    right(0 <= places[0] - each / 2 - x < 8 and -1 < x + wide - places[-1] - each / 2 < 8,
          f"a band from {x}, {wide} px wide, behind columns at {places}")  # fmt: skip


def within_bands(drawn, state):
    """The name of a wire stands in the band of its own layer's attention."""
    places = drawn["columns"][0]["lensY"]
    for head, _, y in drawn["names"]:
        n = state["strips"].index(f"layer.{head.split('.')[0]}.attention")
        above, below = places[n], places[n - 1]
        right(above is None or above < y, f"{head} at {y}, over its band, which begins at {above}")
        right(below is None or y < below, f"{head} at {y}, below its band, which ends at {below}")
    for (head, x, y), (other, x2, y2) in itertools.combinations(drawn["names"], 2):
        right(abs(x - x2) > 16 or abs(y - y2) > 9, f"{head} stands on {other}")


def listed(views, s, state, counted, target):
    """The table view: what each word would say after each part, and each part's vote and loss."""
    vocabulary, t = state["vocabulary"], state["t"]
    for _, (head, *body) in [
        one for one in views if one[0].startswith("Each word: what the model")
    ]:
        named = [(called(name), f"{called(name)}: size") for name in state["strips"]]
        right(head == ["word", *[one for pair in named for one in pair], "next word"], head)
        right([row[0] for row in body] == state["words"], "other words in the table")
        said = [(word, share) for word, share in state["best"]]
        said.append((int(state["p"][t].argmax()), state["p"][t].max()))
        for text, (word, share) in zip(
            [*body[t][1::2], body[t][-1]][: len(said)], said, strict=True
        ):
            right(
                text in {f"{vocabulary[word]} {one}" for one in shares(share)}, f"{text} in row {t}"
            )
        for text, name in zip(body[t][2::2], state["strips"], strict=False):
            right(says(text, state["size"](name), 2), f"{name} has size {text} in the table")
    for _, (head, *body) in [one for one in views if one[0] == "The parts"]:
        equation = f"What it adds to the score (the logit) of “{target}”"
        right(head == ["part", "on", equation, "loss without it"], head)
        names = dict.fromkeys([*counted, *parts(state["model"])])
        right({row[0] for row in body} == {called(name) for name in names}, "other parts")
        rows_ = {row[0]: row[1:] for row in body}
        for name in names:
            on, vote, loss = rows_[called(name)]
            above = re.sub(
                r"head\.\d+$", "attention", re.sub(r"expert\.\d+$", "feed_forward", name)
            )
            right(on == ("no" if {name, above} & set(s["off"]) else "yes"), f"{name} is on: {on}")
            right(says(vote, counted[name], 3) if name in counted else not vote, f"{name}: {vote}")
            lost = (s["losses"] or {}).get(name)
            if lost is not None:
                sign = "−" if lost < -0.005 else ""
                fits_ = loss in {sign + one for one in shares(abs(lost))}
                right(fits_, f"{name} loses {loss} in the table, not {lost}")
            right(not loss or WORTH.search(name), f"{name} was not tried, and loses {loss}")


def waits(s, state):
    """Why there may be no bar at a part: its loss is tried alone, at the last word, or is to come."""
    if s["bars"] != "cost" or s["losses"]:
        return ""
    if s["off"]:
        return "What is lost without it is tried with all parts on."
    last = state["t"] == len(state["ids"]) - 1
    return f"What is lost without it is {'being tried' if last else 'tried at the last word'}."


def rows(drawn, s, counted, state):
    """Every part has its switch as it stands, and a bar of its vote, or of what is lost without."""
    names = [part["name"] for part in drawn["parts"]]
    right(names == ["next word", *parts(state["model"]), "embedding"], "other parts")
    sums = dict(counted)
    for name, vote in counted.items():
        whole = re.sub(r"\.head\.\d+$|\.attention\.bias$", ".attention", name)
        whole = re.sub(r"\.expert\.\d+$", ".feed_forward", whole)
        if whole != name:
            sums[whole] = sums.get(whole, 0) + vote
    if s["bars"] == "cost":
        sums = s["losses"] or {}
        if not sums and any(part["fill"] for part in drawn["parts"]):  # they have just come
            sums = all_losses(state)
    top = max((abs(v) for v in sums.values()), default=1)
    for part in drawn["parts"]:
        name = part["name"]
        above = re.sub(r"head\.\d+$", "attention", re.sub(r"expert\.\d+$", "feed_forward", name))
        off = name in s["off"] or above in s["off"]
        if part["on"] is not None:
            right((part["on"] == "true") == (not off), f"{name} is on: {part['on']}")
        value = sums.get(name)
        right((part["fill"] is not None) == (value is not None and not off), f"a bar at {name}")
        if part["fill"]:
            kind, wide = part["fill"]
            right(kind == ("w-against" if value < 0 else "w-for"), f"{name}: {kind}")
            right(abs(wide - 50 * abs(value) / top) < 0.1, f"{name}: {wide} %, {value}")
            if s["bars"] == "votes":
                right(says(part["number"], value, 1), f"{name}: {part['number']}, not {value}")
    return sums

"""What WholeModel has to show for its traits, by torch, `pieces.inside` and the stories."""

import functools
import math
import re

import torch
from oracle import maps, read_out, right, same_map, says
from twins import build
from twins import vocabulary as words_of

from pieces import trained
from pieces.inside import inside, lens, votes
from pieces.switches import parts

MOST = 40
SEEN = """(root) => {
  const numbers = (text) => (text ?? "").match(/-?[\\d.]+/g)?.map(Number) ?? [];
  const shown = (node) => node.getAttribute("display") !== "none";
  const path = (node) => node.getAttribute("d") ?? "";
  const picture = root.querySelector(".w-picture");
  return {
    phone: root.querySelector(".w-body").classList.contains("w-phone"),
    columns: [...picture.querySelectorAll(".w-column")].map((g) => ({
      t: Number(g.dataset.t), x: numbers(g.getAttribute("transform"))[0],
      followed: g.classList.contains("w-followed"), word: g.lastElementChild.textContent,
      pipe: path(g.querySelector(".w-pipe")).split("Z").filter(Boolean).map((stretch) =>
        Math.max(...numbers(stretch).filter((_, n) => n % 2 === 0))),
      ghost: path(g.querySelector(".w-pipe-ghost")) !== "",
      lens: [...g.querySelectorAll(".w-lens")].map((text) => (shown(text) ? text.textContent : null)),
      same: [...g.querySelectorAll(".w-lens")].map((text) => text.classList.contains("w-same")),
      lights: [".w-bright", ".w-dim"].map((kind) => [...g.querySelectorAll(kind)].map((one) =>
        (path(one).match(/M/g) ?? []).length)),
      bar: Number(g.querySelector(".w-bar").getAttribute("height")),
      was: shown(g.querySelector(".w-was")) ? Number(g.querySelector(".w-was").getAttribute("height")) : null,
      guess: shown(g.querySelector(".w-guess")) ? g.querySelector(".w-guess").textContent : null })),
    wires: [...picture.querySelectorAll(".w-wires path")].map((one) => ({ head: one.dataset.head,
      word: Number(one.dataset.word), x: numbers(one.getAttribute("transform"))[0], dx: numbers(path(one))[0],
      wide: Number(one.getAttribute("stroke-width")) })),
    names: [...picture.querySelectorAll(".w-wire-names text")].map((one) => one.textContent),
    next: [...root.querySelectorAll(".w-next-row")].map((row) => ({
      word: row.querySelector(".w-next-word").textContent, p: row.querySelector(".w-next-p").textContent,
      truth: row.querySelector(".w-next-true").textContent, bar: parseFloat(row.querySelector("i").style.width),
      ghost: row.querySelector("s").hidden ? null : parseFloat(row.querySelector("s").style.width),
      mark: row.querySelector("u").hidden ? null : parseFloat(row.querySelector("u").style.left),
      label: row.ariaLabel })),
    parts: [...root.querySelectorAll(".w-part")].map((part) => ({ name: part.dataset.name,
      on: part.querySelector(".w-switch")?.ariaChecked ?? null, number: part.querySelector("small").textContent,
      shown: !part.hidden, fill: part.querySelector("i") && !part.querySelector("i").hidden
        ? [part.querySelector("i").className, parseFloat(part.querySelector("i").style.width)] : null })),
    marks: [...root.querySelectorAll(".w-mark")].map((mark) => (mark.hidden ? null
      : [...mark.children].map((one) => one.textContent))),
    key: [...root.querySelectorAll(".w-key span")].filter((one) => !one.hidden).map((one) =>
      one.textContent), bars: [...root.querySelectorAll("[data-trait=bars] option")].map((one) => one.textContent),
    counts: [...root.querySelectorAll(".w-count")].map((one) => (one.hidden ? null : one.textContent)) };
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


def percent(p):
    """A share as the kit writes it."""
    if 0.995 < p < 1 or 0 < p < 0.005:
        return ">\u00a099\u00a0%" if p > 0.5 else "<\u00a01\u00a0%"
    return f"{math.floor(100 * p + 0.5)}\u00a0%"


def tells(text, p):
    """Whether a text is this share: float32 and float64 part where it is all but 1, or a half."""
    return text in {percent(min(1.0, max(0.0, p + by))) for by in (-1e-6, 0, 1e-6)}


def alike(shown, word):
    """A word that is too long for its column ends in an ellipsis."""
    return shown == word or (shown.endswith("…") and word.startswith(shown[:-1]))


def whole_model(root, s):
    """The overview, or the part that is opened; the next word's bars and the results in any case."""
    model, vocabulary, task = shipped(s["model_name"])
    ids = tuple(read(s))
    off = tuple(s["off"])
    t = (s["word"] or len(ids)) - 1
    values, strips, seen = inner(s["model_name"], ids, off)
    before = inner(s["model_name"], ids, ())[0] if off else None
    drawn = read_out(root, SEEN)
    p = values["logits"].softmax(-1)
    truth = None
    if task and s["world"]:
        so_far = torch.tensor([ids[: t + 1]])
        if task.first_impossible(so_far[0]) is None:
            truth = task.true_next(so_far)[0, -1]
    was = before["logits"].softmax(-1) if off else None
    next_words(drawn["next"], s, p[t], was[t] if off else None, truth, vocabulary)
    target = vocabulary.index(s["target"]) if s["target"] in vocabulary else int(p[t].argmax())
    counted = votes(model, values, target, t, off)
    right(set(s["votes"]) == set(counted), f"votes of {list(s['votes'])}")
    for name, vote in counted.items():
        right(abs(s["votes"][name] - vote) < 1e-4 * max(1, abs(vote)), f"{name} votes {vote}")
    if len(ids) > 1:
        cost = -p[:-1].gather(1, torch.tensor(ids[1:])[:, None]).log().mean()
        right(abs(s["text_cost"] - float(cost)) < 1e-4, f"the text costs {float(cost)}")
    told = [f"points for “{vocabulary[target]}”",
            f"what “{vocabulary[int(p[t].argmax())]}” loses without"]  # fmt: skip
    right(drawn["bars"] == told, f"the bars are about {drawn['bars']}, not {told}")
    if s["part"]:
        return opened(root, s, model, values, ids, t)
    columns(drawn, s, values, strips, seen, before, ids, t)
    wires(drawn, s, model, values, ids, t)
    rows(drawn, s, counted)
    for n, mark in enumerate(drawn["marks"]):
        if mark:
            best = seen[n][t].max(-1)
            would, word, share, *_ = mark
            name = f"“{vocabulary[ids[t]]}” " if drawn["phone"] else ""
            right(would == f"{name}would say", f"{would}, not of {name}")
            right(word == vocabulary[int(best.indices)], f"strip {n} says {word}")
            right(tells(share, float(best.values)), f"strip {n}: {share}")
    right(("with all parts on" in drawn["key"]) == bool(off), f"key: {drawn['key']}")
    sentence(root.locator(".p-say").inner_text(), s, p, was[t] if off else None, t, ids, vocabulary)


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
        right(abs(row["bar"] - 100 * share) < 0.02 and tells(row["p"], share), f"{row}: {share}")
        right((row["ghost"] is None) == (was is None), f"a ghost at {row['word']}")
        if was is not None:
            right(abs(row["ghost"] - 100 * float(was[n])) < 0.02, f"{row}: was {float(was[n])}")
        fact = None if truth is None else float(truth[n])
        right(
            row["truth"] == "" if fact is None else tells(row["truth"], fact), f"{row}: true {fact}"
        )
        right((row["mark"] is not None) == bool(fact and fact > 0.001), f"a mark at {row['word']}")
        if row["mark"] is not None:
            right(abs(row["mark"] - 100 * fact) < 0.02, f"{row}: true {fact}")
        right(f"“{row['word']}”" in row["label"] and row["p"] in row["label"], row["label"])
    told = [[row["word"], float(p[n])] for row, n in zip(drawn, shown, strict=True)]
    for (word, share, _), (name, own) in zip(s["next_words"], told, strict=True):
        right(word == name and abs(share - own) < 1e-5, f"Python reads {word} {share}")


def columns(drawn, s, values, strips, seen, before, ids, t):
    """Each word's column: words, widths of the stream, lens, lights, bars."""
    _, vocabulary, _ = shipped(s["model_name"])
    each = drawn["columns"][1]["x"] - drawn["columns"][0]["x"] if len(ids) > 1 else 66
    half = lambda size: max(0.6, min(1, (math.log10(size) + 1) / 3.2) * min(each, 50) * 0.34)  # noqa: E731
    right([c["t"] for c in drawn["columns"]] == list(range(len(ids))), "other columns")
    p = values["logits"].softmax(-1).max(-1)
    tall = max(c["bar"] for c in drawn["columns"]) / float(p.values.max())
    shown = [n for n, mark in enumerate(drawn["columns"][0]["lens"]) if mark is not None]
    for c in drawn["columns"]:
        at, name = c["t"], vocabulary[ids[c["t"]]]
        right(alike(c["word"], name), f"word {at}: {c['word']}, not {name}")
        right(c["followed"] == (at == t), f"{name} is followed: {c['followed']}")
        sizes = [float(values[key][at].square().mean().sqrt()) for key in strips]
        if not drawn["phone"]:
            for n, wide in enumerate(c["pipe"]):
                wanted = half(sizes[0]) if n == 0 else max(half(sizes[n - 1]), half(sizes[n]))
                right(abs(wide - wanted) < 0.12, f"{name}, stretch {n}: {wide} px, not {wanted}")
            right(len(c["pipe"]) == len(strips), f"{len(c['pipe'])} stretches")
        right(abs(c["bar"] - tall * float(p.values[at])) < 0.1, f"the bar of {name}")
        guess = vocabulary[int(p.indices[at])]
        right(c["guess"] is None or alike(c["guess"], guess), f"{name}: {c['guess']}, not {guess}")
        right(c["ghost"] is False or before is not None, "a ghost of nothing")
        for n in shown:
            word = vocabulary[int(seen[n][at].argmax())]
            right(alike(c["lens"][n], word), f"{name}, strip {n}: {c['lens'][n]}, not {word}")
            right(c["same"][n] == (word == guess), f"{name}, strip {n}: {word} as the guess")
        lights(drawn, c, values, at, each)


def lights(drawn, c, values, at, each):
    """One light for each open unit; a disc for each expert that is visited."""
    for layer, (bright, dim) in enumerate(zip(*c["lights"], strict=True), 1):
        if f"layer.{layer}.experts" in values:
            visited = int((values[f"layer.{layer}.shares"][at] > 0).sum())
            right(drawn["phone"] or bright == visited, f"layer {layer}: {bright} experts")
        elif f"layer.{layer}.units" in values:
            units = values[f"layer.{layer}.units"][at]
            opened = values.get(f"layer.{layer}.gate", values[f"layer.{layer}.units"])[at] > 0.5
            shines = opened & (units.abs() >= 0.25 * units.abs().max())
            if not drawn["phone"]:
                right(abs(bright - int(shines.sum())) <= 1, f"layer {layer}: {bright} bright")
                right(dim == (int(opened.sum() - shines.sum()) if each >= 34 else 0) or
                      abs(dim - int(opened.sum() - shines.sum())) <= 1, f"layer {layer}: {dim}")  # fmt: skip
                told = drawn["counts"][2 * layer]
                if c["followed"]:
                    right(told == f"{int(opened.sum())} of {len(units)} units open", told)


def wires(drawn, s, model, values, ids, t):
    """The followed word's wires: from whom, of which head, and as wide as the weight."""
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
    named = sorted(head for (head, _), weight in wanted.items() if weight >= 0.3)
    right(sorted(drawn["names"]) == named, f"named {drawn['names']}, not {named}")


def rows(drawn, s, counted):
    """Every part has its switch as it stands, and a bar of its vote, or of what is lost without."""
    model = shipped(s["model_name"])[0]
    names = [part["name"] for part in drawn["parts"]]
    right(names == ["next word", *parts(model), "embedding"], "other parts")
    sums = dict(counted)
    for name, vote in counted.items():
        whole = re.sub(r"\.head\.\d+$|\.attention\.bias$", ".attention", name)
        whole = re.sub(r"\.expert\.\d+$", ".feed_forward", whole)
        if whole != name:
            sums[whole] = sums.get(whole, 0) + vote
    if s["bars"] == "cost":
        sums = s["losses"] or {}
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


def sentence(said, s, p, was, t, ids, vocabulary):
    """The chances that are told, of the words that are told."""
    if s["step"]:
        return
    drew = re.match(r"The model drew “(.*?)”, which had (.*?%)\. ", said)
    if drew:
        word = vocabulary[ids[t]]
        right(drew[1] == word, f"drew {drew[1]}, not {word}")
        right(tells(drew[2], float(p[t - 1, ids[t]])), f"{word} had {float(p[t - 1, ids[t]])}")
        said = said[drew.end() :]
    p = p[t]
    told = re.findall(r"(>\s99|<\s1|\d+)\s%", said)
    if was is None:
        right(f"“{vocabulary[int(p.argmax())]}”" in said, said)
        right(told[0] == percent(float(p.max()))[:-2], said)
        return
    first = int(was.argmax())
    right(f"“{vocabulary[first]}”" in said, said)
    shares = [float(was[first]), float(p[first])]
    shares = shares[1:] if "stays" in said else shares
    right(list(told[: len(shares)]) == [percent(x)[:-2] for x in shares], said)


def opened(root, s, model, values, ids, t):
    """The matrices of the part that is opened, and the sum of the cell that is told."""
    _, vocabulary, _ = shipped(s["model_name"])
    words = [vocabulary[n] for n in ids]
    drawn = {one.caption: one for one in maps(root)}
    total = root.locator(".w-sum .w-total td").all_text_contents()
    layer = re.match(r"layer\.(\d+)", s["part"])
    head = re.match(r"layer\.\d+\.head\.(\d+)", s["part"])
    if head:
        at, n = int(layer[1]), int(head[1]) - 1
        weights = values[f"layer.{at}.weights"][n]
        mask = torch.ones_like(weights, dtype=torch.bool).tril()
        (found,) = [one for name, one in drawn.items() if name.startswith("Weights")]
        same_map(
            found, weights.tolist(), mask=mask.tolist(), rows=words, columns=words, signed=False
        )
        told = re.fullmatch(
            r"“(.*)” asks, “(.*)” answers", root.locator(".w-sum-title").inner_text()
        )
        j = int(weights[t].argmax())
        right(told and told.groups() == (words[t], words[j]), told)
        K = values[f"layer.{at}.queries"].shape[-1]
        score = float(values[f"layer.{at}.scores"][n, t, j])
        right(says(total[0], score * K**0.5, 2), f"q · k: {total[0]}, not {score * K**0.5}")
        line = root.locator(".w-sum .w-line").all_text_contents()
        right(says(line[0].split("= ")[1], score, 2), line[0])
        right(says(line[1].split("= ")[1], float(weights[t, j]), 3), line[1])
        right(("…" in line[1]) == (t > 2), f"{line[1]}: of {t + 1} terms")
    elif s["part"] == "next word":
        logit = float(values["logits"][t].max())
        right(says(total[-1], logit, 2), f"the votes add up to {total[-1]}, not {logit}")
    elif s["part"].endswith("feed_forward") and f"layer.{layer[1]}.units" in values:
        units = values[f"layer.{layer[1]}.units"]
        order = units[t].abs().argsort(descending=True)[: min(12, units.shape[1])]
        (found,) = [one for name, one in drawn.items() if name.startswith("The ")]
        names = [str(n + 1) for n in order.tolist()]
        same_map(found, units[:, order].tolist(), rows=words, columns=names, digits=0)
        parts_of = [values[f"layer.{layer[1]}.{part}"][t, order[0]] for part in ("gate", "up")]
        for text, value in zip(total, parts_of, strict=True):
            right(says(text, float(value), 2), f"{text}, not {float(value)}")
        product = root.locator(".w-sum .w-line").all_text_contents()[1]
        right(says(product.split("= ")[1], float(units[t, order[0]]), 2), product)
    elif re.search(r"feed_forward$|expert\.\d+$", s["part"]):
        routed(root, s, values, words, t, drawn, total)


def routed(root, s, values, words, t, drawn, total):
    """Who sends which word to which expert; and the logit of the one that was opened, or of the first."""
    layer, asked = re.match(r"layer\.(\d+)(?:\.expert\.(\d+))?", s["part"]).groups()
    router, experts, shares = (
        values[f"layer.{layer}.{part}"] for part in ("router", "experts", "shares")
    )
    spread = torch.zeros_like(router).scatter(1, experts, shares)
    names = [str(e + 1) for e in range(router.shape[1])]
    (found,) = drawn.values()
    same_map(found, spread.tolist(), rows=words, columns=names, signed=False)
    expert = int(asked) - 1 if asked else int(experts[t, 0])
    right(says(total[0], float(router[t, expert]), 2), f"its logit is {total[0]}")
    headline = root.locator(".w-sum-title").inner_text()
    right(headline == f"Where the router sends “{words[t]}”", headline)
    told = root.locator(".w-sum .w-line").all_text_contents()[0]
    if expert in experts[t]:
        share = float(spread[t, expert])
        right(says(told.split("= ")[1], share, 3), f"{told}: its share is {share}")
        right(told.count("e^") == 1 + experts.shape[1] and "…" not in told, f"{told}: other terms")
    else:
        right(told.startswith(f"“{words[t]}” does not visit expert {expert + 1}"), told)
    title = root.locator(".w-open-title").inner_text()
    right(title == (f"Expert {layer}.{asked}" if asked else f"Experts of layer {layer}"), title)

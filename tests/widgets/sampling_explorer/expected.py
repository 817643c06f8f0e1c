"""What SamplingExplorer has to show for its traits, by torch, `pieces.sampling` and the stories."""

import functools
import math
import re

import torch
from drawn_numbers import uniform
from oracle import ask, right, says
from told import tables
from twins import build
from twins import vocabulary as words_of

from pieces import sampling, trained
from pieces.cache import GrowingCache
from pieces.tasks import Stories

ROWS, MOST = 8, 128
SEEN = """(root) => {
  const box = (node) => node.getBoundingClientRect();
  const part = (node, whole) => [(box(node).left - box(whole).left) / box(whole).width,
    (box(node).right - box(whole).left) / box(whole).width];
  const track = (row) => row.querySelector(".p-choice-track");
  const line = root.querySelector(".p-line-parts");
  const mark = root.querySelector(".p-line-mark");
  const rows = root.querySelector(".p-cache-rows");
  return {
    caption: root.querySelector(".p-choices figcaption").textContent,
    scale: root.querySelector(".p-choice-scale").textContent,
    rows: [...root.querySelectorAll(".p-choice-list .p-choice")].map((row) => ({
      name: row.querySelector(".p-choice-name").textContent, label: row.ariaLabel,
      numbers: [...row.querySelectorAll("b")].map((b) => b.textContent),
      own: part(row.querySelector("s"), track(row)), set: part(row.querySelector("i"), track(row)),
      truth: row.querySelector("u").hidden ? null : part(row.querySelector("u"), track(row)),
      cut: getComputedStyle(row.querySelector("s")).backgroundImage !== "none",
      drawn: row.classList.contains("p-drawn"), button: row.tagName === "BUTTON" })),
    line: { caption: root.querySelector(".p-draw-line figcaption").textContent,
      mark: mark.hidden ? null : (part(mark, line)[0] + part(mark, line)[1]) / 2,
      parts: [...line.children].map((one) => ({ name: one.dataset.word, text: one.textContent,
        at: part(one, line), drawn: one.dataset.drawn === "true" })) },
    story: [...root.querySelectorAll(".p-story span")].map((one) => [one.textContent, one.className]),
    told: root.querySelector(".p-story").textContent, said: root.querySelector(".p-say").textContent,
    cache: { said: root.querySelector(".p-cache-say").textContent,
      rows: [...rows.children].map((row) => part(row, rows)),
      last: [...rows.querySelectorAll("i")].map((last) => part(last, last.parentNode)) },
    buttons: Object.fromEntries([...root.querySelectorAll(".p-hand button")].map((one) =>
      [one.textContent, !one.disabled])) };
}"""  # fmt: skip


@functools.cache
def shipped(name):
    """The model, its words and, where it tells stories, their task."""
    if name == "own":
        model = build("llama")[1]
        return model, words_of(model.config.vocab_size), None
    found = trained.shared(name)
    return found.model, found.task.vocabulary, found.task


def typed(text, vocabulary, task):
    """The ids of a text; of a model without a task, words between spaces."""
    known = [word for word in (task.cut(text) if task else text.split()) if word in vocabulary]
    return [vocabulary.index(word) for word in known]


def next_word(s):
    """Everything that the page has to know of the next word, in the vocabulary's order."""
    model, vocabulary, task = shipped(s["model_name"])
    start = typed(s["text"], vocabulary, task)[:MOST]
    ids = torch.tensor([start + [vocabulary.index(word) for word in s["written"]]])
    with torch.no_grad():
        logits = model(ids)[0, -1]
    own, left, cut = logits.softmax(-1), logits, [""] * len(vocabulary)
    if s["temperature"] == 0:
        best = int(logits.argmax())
        set_ = torch.zeros_like(own).index_fill(0, torch.tensor([best]), 1.0)
        cut = ["" if n == best else "greedy" for n in range(len(own))]
    else:
        left = sampling.tempered(logits, s["temperature"])
        for name, limit, keep in (("top-k", s["top_k"] or None, sampling.top_k),
                                  ("top-p", s["top_p"] if s["top_p"] < 1 else None, sampling.top_p)):  # fmt: skip
            left = left if limit is None else keep(left, limit)
            cut = [name if x == -math.inf and not old else old
                   for x, old in zip(left.tolist(), cut, strict=True)]  # fmt: skip
        set_ = left.softmax(-1)
    truth, lost = None, None
    if task and s["world"]:
        lost = Stories().first_impossible(ids[0])
        truth = Stories().true_next(ids)[0, -1] if lost is None else None
    order = sorted(range(len(own)), key=lambda n: (-float(logits[n]), n))
    return {"model": model, "vocabulary": vocabulary, "task": task, "ids": ids[0], "own": own,
            "start": len(start), "set": set_, "cut": cut, "truth": truth, "lost": lost,
            "order": order}  # fmt: skip


def same_percent(text, p, what):
    """A printed share is this probability."""
    value = 100 * float(p)
    if text in ("<0.1", ">99"):
        fits = 0 < value < 0.0501 if text == "<0.1" else value > 99.49
    else:
        close = {"0": 1e-6, "100": 1e-4}.get(text, 0.0502 if "." in text else 0.502)
        fits = abs(float(text) - value) <= close
    right(fits, f"{what}: {text} %, not {value}")


def sampling_explorer(root, s):
    """The story, the candidates, the draw, the distance and the cache."""
    seen, w = ask(root, SEEN), next_word(s)
    number = float(uniform(s["seed"], len(s["written"]) + 1)[-1]) if s["temperature"] else None
    name, at = drawn(w, number)
    rows(seen, tables(root), s, w, at)
    line(seen["line"], w, number, name, at)
    story(seen, s, w)
    distance(seen["said"], s, w)
    cache(seen["cache"], w)
    right(s["draw"][1] == name, f"Python reads that {s['draw']} is drawn, not {name}")
    right((s["draw"][0] is None) == (number is None), s["draw"])
    right(number is None or abs(s["draw"][0] - number) < 1e-12, f"{s['draw']}, not {number}")
    right(seen["buttons"]["Take back"] == bool(s["written"]), "Take back")
    right(seen["buttons"]["One word"] == (len(w["ids"]) < MOST), "One word")


def drawn(w, number):
    """The word on which a number falls, and its place in the order."""
    sums = w["set"][w["order"]].double().cumsum(0)
    point = (number or 0.0) * float(sums[-1])
    at = int((sums > point).nonzero()[0])
    gap = min(abs(float(edge) - point) for edge in (sums[at], sums[at - 1] if at else 1e9))
    right(number is None or gap > 1e-6, "the number falls between two words: choose another seed")
    return w["vocabulary"][w["order"][at]], at


def rows(seen, views, s, w, at):
    """Each candidate's name, numbers, bars, mark and whether it is cut; all others together."""
    top = float(re.fullmatch(r"0 to ([\d.]+) %", seen["scale"])[1]) / 100
    order, truth = w["order"], w["truth"]
    last = w["vocabulary"][int(w["ids"][-1])]
    right(seen["caption"].startswith(f"Which word follows “{last}”?"), seen["caption"])
    groups = [[n] for n in order[:ROWS]] + [order[ROWS:]]
    right(len(seen["rows"]) == len(groups), f"{len(seen['rows'])} rows")
    for head, *listed in (rows for caption, rows in views if caption.startswith("The next word")):
        right(head == ["word", "model", "as set", "true"], head)
        for (word, *numbers), row, ids in zip(listed, seen["rows"], groups, strict=True):
            right(word == row["name"], f"{word}, not {row['name']}")
            wanted = [w["own"], w["set"], truth]
            for text, shown, of in zip(numbers, row["numbers"], wanted, strict=True):
                number = of is not None and re.fullmatch(r"[<>]?\s?[\d.]+(?:·10.*)?", text)
                good = says(text, float(of[ids].sum()), 4) if number else text == shown
                right(good, f"{word}: {numbers}")
    for n, (row, ids) in enumerate(zip(seen["rows"], groups, strict=True)):
        rest = n == ROWS
        word = w["vocabulary"][ids[0]] if not rest else f"{len(ids)} others"
        if rest and at >= ROWS:
            word = f"{w['vocabulary'][order[at]]} + {len(ids) - 1}"
        right(row["name"] == word, f"row {n + 1} is {row['name']!r}, not {word!r}")
        own, set_ = (float(w[key][ids].sum()) for key in ("own", "set"))
        true = None if truth is None else float(truth[ids].sum())
        cuts = {w["cut"][i] for i in ids}
        cut = "" if "" in cuts else cuts.pop() if len(cuts) == 1 else "cut"
        same_percent(row["numbers"][0], own, f"{word}, model")
        if cut:
            right(row["numbers"][1] == cut, f"{word} is cut by {row['numbers'][1]}, not {cut}")
        else:
            same_percent(row["numbers"][1], set_, f"{word}, as set")
        if true is None:
            right(row["numbers"][2] == "?", f"{word}: true {row['numbers'][2]}")
        else:
            same_percent(row["numbers"][2], true, f"{word}, true")
        right(row["drawn"] == (n == min(at, ROWS)), f"{word} is marked: {row['drawn']}")
        right(row["button"] != rest, f"{word}: a button {row['button']}")
        right(row["cut"] == bool(cut), f"{word} is hatched: {row['cut']}")
        if rest:
            continue
        as_set = cut or f"{row['numbers'][1]} %"
        label = f"Take “{word}”: model {row['numbers'][0]} %, as set {as_set}"
        label += "" if true is None else f", true {row['numbers'][2]} %"
        label += f"; {'drawn' if s['temperature'] else 'taken'} next" * (n == at)
        right(row["label"] == label, f"{row['label']!r}, not {label!r}")
        right(max(own, set_, true or 0) <= top + 1e-6, f"{word} is longer than its scale {top}")
        ends = [(row["own"], own), (row["set"], set_)]
        for (low, high), p in ends:
            right(abs(low) < 0.012, f"a bar of {word} begins at {low}")
            right(abs(high - p / top) < 0.012, f"a bar of {word} ends at {high}, not {p / top}")
        right((row["truth"] is None) == (not true), f"{word}: the mark of {true}")
        if true:
            middle = sum(row["truth"]) / 2
            right(abs(middle - true / top) < 0.012, f"{word}'s mark at {middle}, not {true / top}")
        read = s["candidates"][n]
        right(read[0] == word, f"Python reads {read[0]}, not {word}")
        for got, p in zip(read[1:], (own, set_, true), strict=True):
            right((got is None) == (p is None), f"{word}: Python reads {got}, not {p}")
            right(p is None or abs(got - p) < 1e-5, f"{word}: Python reads {got}, not {p}")


def line(seen, w, number, name, at):
    """The candidates side by side, and where the number stands among them."""
    if number is None:
        right(seen["mark"] is None, "a mark without a draw")
        right(f"the likeliest word, “{name}”" in seen["caption"], seen["caption"])
    else:
        right(abs(seen["mark"] - number) < 0.006, f"the mark at {seen['mark']}, not {number}")
        told = re.fullmatch(r"The draw: (\d\.\d\d) falls on “(.+)”", seen["caption"])
        right(told and told[2] == name, f"{seen['caption']}: not {name}")
        right(abs(float(told[1]) - number) < 0.0051, seen["caption"])
    shares = w["set"][w["order"]].tolist()
    shares = [*shares[:ROWS], sum(shares[ROWS:])]
    total = 0.0
    for n, (part, share) in enumerate(zip(seen["parts"], shares, strict=True)):
        low, high = part["at"]
        right(abs(low - total) < 0.01 and abs(high - total - share) < 0.01,
              f"{part['name']} lies from {low} to {high}, not from {total} by {share}")  # fmt: skip
        total += share
        right(part["text"] in ("", part["name"]), part["text"])
        right(part["drawn"] == (n == min(at, ROWS)), f"{part['name']} is marked: {part['drawn']}")
        if n < ROWS:
            right(part["name"] == w["vocabulary"][w["order"][n]], f"{part['name']} on the line")


def story(seen, s, w):
    """The text as it is printed; which words are given, written, and off the world."""
    words = [w["vocabulary"][n] for n in w["ids"].tolist()]
    right([word.lower() for word, _ in seen["story"]] == [word.lower() for word in words], "story")
    if w["task"]:
        right(seen["told"] == w["task"].join(words), f"{seen['told']!r}")
    for n, (word, kinds) in enumerate(seen["story"]):
        kind = "p-given" if n < w["start"] else "p-new" if n == len(words) - 1 else "p-wrote"
        off = (
            None
            if w["lost"] is None or n < w["lost"]
            else "p-lost"
            if n == w["lost"]
            else "p-after"
        )
        right(kinds.split() == [kind] + [off] * bool(off), f"{word} is {kinds}")


def distance(said, s, w):
    """Total variation of both distributions, and what is left."""
    left = sum(not cut for cut in w["cut"])
    if w["truth"] is None:
        right(s["distance"] is None, s["distance"])
        right("known for the words of the stories only" in said if w["lost"] is None
              else f"“{w['vocabulary'][int(w['ids'][w['lost']])]}” at the place" in said, said)  # fmt: skip
    else:
        truth = w["truth"].double()
        far = {"model": float((w["own"] - truth).abs().sum() / 2),
               "set": float((w["set"] - truth).abs().sum() / 2),
               "nats": float(torch.nn.functional.kl_div(w["own"].double().log(), truth, reduction="sum"))}  # fmt: skip
        for key, value in far.items():
            right(abs(s["distance"][key] - value) < 2e-5, f"{key}: {s['distance']}, not {value}")
        last = w["vocabulary"][int(w["ids"][-1])]
        told = re.match(rf".+ after “{re.escape(last)}” the true ones, (\S+)\s% of the whole", said)
        right(told, said)
        same_percent(told[1], far["model"], "the distance")
        set_ = re.search(r"As set, (\S+)\s% would", said)
        right(bool(set_) == (abs(far["set"] - far["model"]) > 1e-6), said)
        if set_:
            same_percent(set_[1], far["set"], "the distance as set")
    kept = re.search(r"Of (\d+) words, (?:(one) is|(\d+) are) left\.", said)
    right(bool(kept) == (left < len(w["set"])), said)
    if kept:
        right(
            (kept[2] or kept[3]) == ("one" if left == 1 else str(left)), f"{said}: {left} are left"
        )
        right(int(kept[1]) == len(w["set"]), f"{said}: not of {len(w['set'])}")


def cache(seen, w):
    """As many columns as words, as many numbers as the package's own cache holds."""
    held = GrowingCache()
    with torch.no_grad():
        w["model"](w["ids"][None], cache=held)
    layers = w["model"].config.n_layers
    numbers = sum(part.numel() for layer in range(layers) for part in held.read(layer))
    T = len(w["ids"])
    told = re.match(r"In the cache: (\d+) words × (\d+) layers × 2 × (\d+) numbers = ([\d,]+), or "
                    r"([\d.]+) kB\. .* all (\d+) would be computed\.$", seen["said"])  # fmt: skip
    right(told, seen["said"])
    right([int(told[1]), int(told[2]), int(told[6])] == [T, layers, T + 1], seen["said"])
    right(int(told[4].replace(",", "")) == numbers == 2 * T * layers * int(told[3]), seen["said"])
    right(abs(float(told[5]) - 4 * numbers / 1000) < 0.051, seen["said"])
    right(len(seen["rows"]) == layers, f"{len(seen['rows'])} layers")
    for low, high in seen["rows"]:
        right(abs(low) < 0.004 and abs(high - T / MOST) < 0.004, f"columns up to {high * MOST}")
    for low, _ in seen["last"]:
        right(abs(low - (T - 1) / T) < 0.02, f"the newest column at {low}")

"""What RouterExplorer has to show for its traits, by torch and `pieces`, never by the page."""

import copy
import functools
import math
import re
from contextlib import ExitStack

import torch
from oracle import ask, right, same_bars, says
from told import tables
from twins import build
from twins import vocabulary as words_of

from pieces import trained
from pieces.moe import Router, load_balancing_loss, watch_routing
from pieces.tasks import Stories

ROLES = ["query", "key", "value", "weight"]
SHOWN = """(root) => {
  const text = (node, of) => node.querySelector(of).textContent;
  const wide = (node) => parseFloat(node.style.width);
  return { label: text(root, ".p-routed figcaption"), way: text(root, ".p-ways figcaption"),
    chips: [...root.querySelectorAll(".p-chip")].map((chip) => ({ word: chip.textContent, below: chip.dataset.value,
      label: chip.ariaLabel, role: chip.dataset.role || null, seen: parseFloat(chip.style.getPropertyValue("--seen")),
      plain: getComputedStyle(chip).backgroundColor === "rgba(0, 0, 0, 0)",
      chosen: chip.getAttribute("aria-checked") === "true" })),
    ways: [...root.querySelectorAll(".p-way")].map((row) => ({ name: text(row, ".p-way-name"), label: row.ariaLabel,
      pressed: row.ariaPressed, parts: [...row.querySelectorAll(".p-way-part")].map((part) => [part.textContent,
        part.dataset.role, Number(part.style.flexGrow), part.classList.contains("p-dropped")]) })),
    cards: [...root.querySelectorAll(".p-expert")].map((card) => { const bar = card.querySelector(".p-expert-bar");
      return { name: text(card, "b"), role: card.dataset.role, shut: card.classList.contains("p-shut"),
        visited: card.classList.contains("p-visited"), on: card.classList.contains("p-on"), score: text(card, ".p-expert-score"),
        share: text(card, ".p-expert-load > :last-child"), kept: wide(bar.children[0]), over: wide(bar.children[1]),
        limit: bar.children[2].hidden ? null : parseFloat(bar.children[2].style.left) || 0, press: text(card, "button"),
        can: !card.querySelector("button").disabled, words: [...card.querySelectorAll(".p-expert-words span")].map((s) => s.textContent) }; }),
    sum: text(root, ".p-router-sum"), even: text(root, ".p-controls > span"), say: text(root, ".p-say"),
    room: text(root, "[data-trait=capacity] output") };
}"""


@functools.cache
def shipped(name):
    """The model of the book, or the one that `example` hands over; and its words."""
    if name == "own":
        model = build("mixtral")[1]
        return model, words_of(model.config.vocab_size)
    found = trained.shared(name)
    return found.model, found.task.vocabulary


@torch.no_grad()
def routed(model, ids, closed=(), factor=0.0):
    """The routings of all layers and the probabilities, with experts shut and with little room."""
    model = copy.deepcopy(model)
    routers = [module for module in model.modules() if isinstance(module, Router)]
    with ExitStack() as stack:
        for layer, router in enumerate(routers, 1):
            router.capacity_factor = factor or None
            shut = [expert - 1 for at, expert in closed if at == layer]

            def bar(_, args, out, shut=shut):
                out[..., shut] = -math.inf
                return out

            stack.callback(router.gate.register_forward_hook(bar).remove)
        routings = stack.enter_context(watch_routing(model))
        probabilities = model(torch.tensor([ids])).softmax(-1)[0]
    return routings, probabilities


def router_explorer(root, s):
    """Words and experts, the way, the cards, loads and room, the sum, next words, the sentence."""
    model, vocabulary = shipped(s["model_name"])
    seen = ask(root, SHOWN)
    ids = [vocabulary.index(chip["word"]) for chip in seen["chips"]]
    typed = [w.lower() for w in re.findall(r"[\w-]+|[^\s\w]", s["text"])]
    right([vocabulary[i].lower() for i in ids] == typed, "other words are read")
    routings, after = routed(model, ids, s["closed"], s["capacity"])
    _, before = routed(model, ids)
    T, t, E = len(ids), min(s["token"] or len(ids), len(ids)) - 1, model.config.n_experts
    here = routings[s["layer"] - 1]
    k = here.experts.shape[-1]
    pale = elsewhere(seen["cards"], here)
    for n, chip in enumerate(seen["chips"]):
        one_word(chip, here.experts[0, n].tolist(), here.weights[0, n].tolist())
        right(chip["plain"] == (n in pale), f"{chip['word']} is pale: {chip['plain']}")
        right(chip["chosen"] == (n == t), f"{chip['word']} is chosen: {chip['chosen']}")
    ends = ("best first; its colour is that of the first with room" if s["capacity"] else
            "the best one first, whose colour it takes")  # fmt: skip
    right(seen["label"] == f"Layer {s['layer']}: the experts of each word, {ends}", seen["label"])
    right(f"“{seen['chips'][t]['word']}”" in seen["way"], seen["way"])
    right(len(seen["ways"]) == len(routings), "other layers")
    for layer, (row, one) in enumerate(zip(seen["ways"], routings, strict=True), 1):
        way(row, layer, s["layer"], one.experts[0, t].tolist(), one.weights[0, t].tolist())
    cards(seen, s, here, t)
    best = here.logits[0, t][here.experts[0, t]].tolist()
    told = re.fullmatch(r"“(.+)”: softmax\((.+)\) = (.+)", seen["sum"])
    right(told and told[1] == seen["chips"][t]["word"], seen["sum"])
    for text, value in zip(told[2].split(", "), best, strict=True):
        right(says(text, value, 2), seen["sum"])
    for text, value in zip(told[3].split(", "), here.weights[0, t].tolist(), strict=True):
        right(text == "–" if value == 0 else says(text, value, 2), seen["sum"])
    loss = float(load_balancing_loss(here.logits, k))
    told = re.fullmatch(
        r"Balance loss of this text: (\S+) "
        r"\((\d+) if all experts get equal shares, (\d+) at worst\)\.",
        seen["even"],
    )
    right(told and says(told[1], loss, 2) and (told[2], told[3]) == (str(k), str(E)), seen["even"])
    room = math.ceil(s["capacity"] * T * k / E)
    right(
        seen["room"] == (f"{room} visit{'s' * (room != 1)}" if s["capacity"] else "no limit"),
        seen["room"],
    )
    for name in ("experts", "weights", "load", "balance"):
        right(len(s[name]) == len(routings), f"Python reads other {name}")
    for layer, one in enumerate(routings):
        right((one.experts[0] + 1).tolist() == s["experts"][layer], "Python reads other experts")
        right(
            torch.tensor(s["weights"][layer]).float().allclose(one.weights[0], atol=1e-4), "weights"
        )
        share = torch.bincount(one.experts.flatten(), minlength=E) / one.experts.numel()
        right(torch.tensor(s["load"][layer]).allclose(share, atol=1e-5), "another load")
        loss = load_balancing_loss(one.logits, k)
        right(abs(s["balance"][layer] - float(loss)) < 1e-4, "another balance loss")
    for _, (head, *listed) in [one for one in tables(root) if one[0] == "Who visits whom"]:
        right(head == ["word", "layer", "experts", "weights"], head)
        wanted = [(n, layer) for n in range(T) for layer in range(len(routings))]
        for (word, at, experts, weights), (n, layer) in zip(listed, wanted, strict=True):
            own = routings[layer]
            right((word, at) == (seen["chips"][n]["word"], str(layer + 1)), f"{word}, layer {at}")
            right(experts == ", ".join(str(int(e) + 1) for e in own.experts[0, n]), experts)
            for text, w in zip(weights.split(", "), own.weights[0, n].tolist(), strict=True):
                right(says(text, w, len(text.partition(".")[2])), f"{word}, layer {at}: {weights}")
    nexts(root, s, vocabulary, after[t], before[t], seen)


def elsewhere(cards, here):
    """The words that lose their colour while a card is pointed at: those of other experts."""
    on = next((e for e, card in enumerate(cards) if card["on"]), None)
    goes = ((here.experts[0] == on) & (here.weights[0] > 0)).any(-1) if on is not None else None
    return (
        set()
        if goes is None or not goes.any()
        else {n for n, there in enumerate(goes) if not there}
    )


def one_word(chip, experts, weights):
    """A word has its experts below it, and the colour of the best that has room."""
    open_ = [e + 1 for e, w in zip(experts, weights, strict=True) if w > 0]
    below = " ".join(str(e + 1) if w > 0 else "–" for e, w in zip(experts, weights, strict=True))
    right(chip["below"] == below, f"{chip['word']}: {chip['below']}, not {below}")
    role = ROLES[(open_[0] - 1) % 4] if open_ else None
    right(chip["role"] == role, f"{chip['word']} is {chip['role']}, not {role}")
    most = max(weights) if open_ else 0
    first = next((w for w in weights if w > 0), 0)
    right(abs(chip["seen"] - 48 * first) <= 0.51, f"{chip['word']}: {chip['seen']} % ({most})")
    right([int(n) for n in re.findall(r"\d+", chip["label"].rsplit(",", 1)[1])] == open_, chip["label"])  # fmt: skip


def way(row, layer, shown, experts, weights):
    """A layer of the way has the word's experts, as wide as their weights."""
    right(row["name"] == f"layer {layer}", row["name"])
    right(row["pressed"] == str(layer == shown).lower(), f"layer {layer}: {row['pressed']}")
    right(len(row["parts"]) == len(experts), "other experts")
    for (text, role, grow, dropped), e, w in zip(row["parts"], experts, weights, strict=True):
        name, value = text.split(" ")
        right(name == str(e + 1) and role == ROLES[e % 4], f"{text}: expert {e + 1}")
        right(dropped == (w == 0) and (value == "–" if dropped else says(value, w, 2)), text)
        right(abs(grow - max(w, 1e-4)) < 1e-3, f"{text} is {grow} wide")
        right(
            f"expert {e + 1} with {'no room' if dropped else value}" in row["label"], row["label"]
        )


def cards(seen, s, here, t):
    """Each expert's score, load, room and words."""
    experts, weights = here.experts[0], here.weights[0]
    N, E = experts.numel(), here.logits.shape[-1]
    shut = [e for layer, e in s["closed"] if layer == s["layer"]]
    load = torch.bincount(experts.flatten(), minlength=E) / N
    most = max(0.5, float(load.max()))
    right(len(seen["cards"]) == E, f"{len(seen['cards'])} cards")
    for e, card in enumerate(seen["cards"]):
        name, closed = card["name"], e + 1 in shut
        right(name == f"Expert {e + 1}" and card["role"] == ROLES[e % 4], name)
        right((card["shut"], card["press"]) == (closed, "Open" if closed else "Shut"), name)
        right(card["can"] == (closed or len(shut) < E - experts.shape[1]), f"{name} can be shut")
        place = experts[t].tolist().index(e) if e in experts[t].tolist() else None
        right(card["visited"] == (place is not None), f"{name} is visited: {card['visited']}")
        told = re.fullmatch(r"score (\S+)(?: → (.+))?", card["score"])
        if closed:
            right(card["score"] == "shut", card["score"])
        else:
            right(
                told and says(told[1], float(here.logits[0, t, e]), 2), f"{name}: {card['score']}"
            )
            weight = None if place is None else float(weights[t, place])
            right((told[2] is None) == (weight is None), card["score"])
            if weight is not None:
                right(told[2] == "no room" if weight == 0 else says(told[2], weight, 2), told[2])
        share = float(load[e])
        right(
            abs(float(card["share"].strip("\xa0 %<>")) - 100 * share) <= 1,
            f"{name}: {card['share']}",
        )
        kept = float(((experts == e) & (weights > 0)).sum()) / N
        right(abs(card["kept"] - 100 * kept / most) < 0.1, f"{name}: {card['kept']} kept")
        right(abs(card["over"] - 100 * (share - kept) / most) < 0.1, f"{name}: {card['over']} over")
        limit = math.ceil(s["capacity"] * N / E) / N / most if s["capacity"] else None
        near = card["limit"] is limit or abs(card["limit"] - min(100, 100 * limit)) < 0.1
        right(near, f"{name}: the limit at {card['limit']}")
        for choice, listed in enumerate(card["words"]):
            listed_words(name, listed, seen, experts, weights, e, choice)


def listed_words(name, listed, seen, experts, weights, e, choice):
    """The words that came, first choices in the first list, all others in the second."""
    columns = [0] if choice == 0 else range(1, experts.shape[1])
    wanted = {}
    for c in columns:
        for n, chip in enumerate(seen["chips"]):
            if experts[n, c] == e and weights[n, c] > 0:
                wanted[chip["word"]] = wanted.get(chip["word"], 0) + 1
    texts = [word if n == 1 else f"{word} ×{n}" for word, n in wanted.items()]
    right(listed == "  ".join(texts), f"{name}: {listed!r} came, not {texts}")


def true_next(s, words, names, vocabulary):
    """The true chances of these words behind the followed one, None where no story goes so."""
    if not s["world"]:
        return None
    ids = torch.tensor([vocabulary.index(word) for word in words[: s["token"] or len(words)]])
    if Stories().first_impossible(ids) is not None:
        return None
    chances = Stories().true_next(ids[None])[0, -1]
    return [float(chances[vocabulary.index(name)]) for name in names]


def nexts(root, s, vocabulary, after, before, seen):
    """The likeliest next words, and the sentence."""
    names = [row[0] for row in s["next_words"]]
    order = torch.maximum(after, before).argsort(descending=True)[:5].tolist()
    right({vocabulary.index(name) for name in names} == set(order), f"other words: {names}")
    now, was = ([float(p[vocabulary.index(name)]) for name in names] for p in (after, before))
    true = true_next(s, [chip["word"] for chip in seen["chips"]], names, vocabulary)
    columns = [(now, 1, False, 2)] + ([(true, 1, False, 2)] if true else [])
    ghost = was if s["closed"] or s["capacity"] else None
    same_bars(root.locator(".p-pane-bars"), names, columns, [ghost, None][: len(columns)])
    printed = root.locator(".p-pane-bars .p-bar:last-child b").all_inner_texts()
    right(true or set(printed) == {"–"}, f"true where nothing is known: {printed}")
    for (_, p, q), a, b in zip(s["next_words"], now, was, strict=True):
        right(abs(p - a) < 1e-5 and abs(q - b) < 1e-5, "Python reads other chances")
    say, here = seen["say"], s["layer"] - 1
    t = min(s["token"] or len(seen["chips"]), len(seen["chips"])) - 1
    right(say.startswith(f"In layer {s['layer']}, “{seen['chips'][t]['word']}” goes to "), say)
    goes = re.findall(r"expert (\d+) with (no room|<? ?[\d.]*\d)", say.partition("” goes to ")[2])
    experts, weights = s["experts"][here][t], s["weights"][here][t]
    right([int(e) for e, _ in goes] == experts, f"{say}: {experts}")
    for (_, told), w in zip(goes, weights, strict=True):
        right(told == "no room" if w == 0 else says(told, w, 2), f"{say}: {weights}")
    if not s["closed"] and not s["capacity"]:
        load = torch.tensor(s["load"][here])
        told = re.search(
            r"Of all visits there, (experts?) ([\d, and]+) gets? (\d+)\s%( each)?; "
            r"a fair share is (\d+)\s%",
            say,
        )
        right(told and abs(int(told[3]) - 100 * float(load.max())) <= 0.51, say)
        right(abs(int(told[5]) - 100 / len(load)) <= 0.51, say)
        most = [n + 1 for n, x in enumerate(load.tolist()) if abs(x - float(load.max())) < 1e-6]
        right([int(n) for n in re.findall(r"\d+", told[2])] == most, say)
        each = len(most) > 1
        right((told[1] == "experts", told[4] == " each") == (each, each), say)
        return
    lost = sum(w == 0 for row in s["weights"][here] for w in row)
    layer = f"of layer {s['layer']}"
    none = (
        f"One visit {layer} finds no room" if lost == 1 else f"{lost} visits {layer} find no room"
    )
    right((none in say) == (lost > 0), say)
    is_, best = int(after.argmax()), int(before.argmax())
    chances = [float(before[best]), float(after[best])]
    right(f"“{vocabulary[best]}” {'stays' if 'stays' in say else ''}" in say, say)
    right(
        ("Now “" in say) == (is_ != best) and (is_ == best or f"Now “{vocabulary[is_]}”" in say),
        say,
    )
    told = say.split(f"“{vocabulary[best]}”")[-1]
    percents = [int(n) for n in re.findall(r"(\d+)\s%", told)]
    wanted = chances[1:] if "stays" in say else chances
    wanted += [float(after[is_])] if is_ != best else []
    alike = abs(chances[0] - chances[1])  # as far as whole per cent tell
    right(alike < 0.0101 if "stays" in say else alike > 0, say)
    right(len(percents) == len(wanted), say)
    right(all(abs(n - 100 * p) <= 1 for n, p in zip(percents, wanted, strict=True)), say)

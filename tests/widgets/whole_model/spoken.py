"""What WholeModel says: its sentence at rest and part by part, and the words on and behind each part."""

import functools
import math
import re

import torch
from oracle import NUMBER, right, says, shares

from pieces.inside import inside
from pieces.switches import parts

# The first words of what a part is for, by the end of its name.
PURPOSES = {
    "next word": "The top of the column is compared", "norm": "Brings the column to a common size",
    "attention": "Fetches from the words so far", "head": "Looks at the words so far, weighs",
    "feed_forward": "Works on each word alone.", "experts": "Several feed-forward networks",
    "expert": "One of several feed-forward", "attention.norm": "Brings the column to a common size",
    "feed_forward.norm": "Brings the column to a common size",
    "attention.path": "The skip connection: the column itself on its way past attention,",
    "feed_forward.path": "The skip connection: the column itself on its way past the feed-forward",
    "embedding": "Each word is looked up in a table.", "positions": "Let the heads see how far apart",
}  # fmt: skip


# Parts that add to the column: what is lost without one of them is tried.
WORTH = re.compile(r"\.(head|expert)\.\d+$|\.(attention|feed_forward)$")


def sizes(value):
    """How the size of a column may be written."""
    near = (float(value) * (1 + by) for by in (-1e-5, 0, 1e-5))
    return {f"{one:.1f}" if one < 9.95 else f"{one:.0f}" for one in near}


def called(name):
    """Return a part's name as people say it."""
    own = {"norm": "the final norm", "norm.shift": "final norm’s shift", "embedding": "the embedding",
           "next word": "the next word", "positions": "positions"}  # fmt: skip
    if name in own:
        return own[name]
    _, layer, part, *which = name.split(".")
    kind = {"feed_forward": "feed-forward"}.get(part, part)
    if part in ("head", "expert"):
        return f"{part} {layer}.{which[0]}"
    told = {(): f"{kind} {layer}", ("norm",): f"the norm before {kind} {layer}",
            ("path",): f"the skip past {kind} {layer}", ("bias",): f"bias of {kind} {layer}"}  # fmt: skip
    return told[tuple(which)]


def capital(words):
    """Return words that begin a line."""
    return words[0].upper() + words[1:]


def listed(words):
    """Return words as a list in a sentence."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def fits(said, *pieces):
    """Hold a text to its pieces: words, a set of ways to write a number, or a number and its digits."""
    pattern, numbers = "", []
    for piece in pieces:
        if isinstance(piece, str):
            pattern += re.escape(piece)
        elif isinstance(piece, set):
            pattern += f"(?:{'|'.join(map(re.escape, sorted(piece)))})"
        else:
            pattern += f"({NUMBER.pattern})"
            numbers.append(piece)
    found = re.fullmatch(pattern, said)
    right(found, f"{said!r} is not {pattern!r}")
    for text, (value, digits) in zip(found.groups(), numbers, strict=True):
        right(says(text, float(value), digits), f"{text} in {said!r}, not {float(value)}")


@functools.lru_cache(256)
def lost_without(model, name, ids, t, word):
    """How likely a word is behind place t without one part."""
    return float(inside(model, torch.tensor(ids), (name,))["logits"][t].softmax(-1)[word])


def all_losses(state):
    """What the guess loses without each head, expert and sublayer."""
    own = state["p"][state["t"]]
    guess = int(own.argmax())
    return {
        name: float(own[guess])
        - lost_without(state["model"], name, state["ids"], state["t"], guess)
        for name in parts(state["model"])
        if WORTH.search(name)
    }


def at_rest(said, s, state):
    """The sentence when nothing plays: the guess and the truth; or what parts that are off have changed."""
    vocabulary, ids, t, p = (state[key] for key in ("vocabulary", "ids", "t", "p"))
    drew = re.match(r"The model drew “(.*?)”, which had (.*?%)\. ", said)
    if drew:
        right(drew[1] == vocabulary[ids[t]], f"drew {drew[1]}, not {vocabulary[ids[t]]}")
        right(drew[2] in shares(p[t - 1, ids[t]]), f"{drew[1]} had {float(p[t - 1, ids[t]])}")
        said = said[drew.end() :]
    own, guess = p[t], int(p[t].argmax())
    if state["was"] is not None:
        return fits(said, *pulled(said, s, state, own, guess))
    pieces = [
        f"After “{vocabulary[ids[t]]}” the best guess is “{vocabulary[guess]}” with ",
        shares(own[guess]),
    ]
    if state["truth"] is not None:
        pieces += ["; the true probability in these stories is ", shares(state["truth"][guess])]
    pieces += [". ", *why(said, s, state, own, guess)]
    lost = state["lost"]
    if lost is not None:
        where = f"begins with “{lost[1]}”" if not lost[0] else f"has “{lost[1]}” at this place"
        pieces.append(
            f"None of the stories it learned from {where}, so there is no true probability to compare."
        )
    if isinstance(pieces[-1], str):
        pieces[-1] = pieces[-1].rstrip(" ")
    return fits(said, *pieces)


def why(said, s, state, own, guess):
    """On what the guess depends most, once that was tried; or where the column would still have said another."""
    vocabulary, strips, best = (state[key] for key in ("vocabulary", "strips", "best"))
    turned = [n for n, (word, _) in enumerate(best) if word != guess]
    known = s["losses"] or re.search(
        "adds what it needs most|No single addition", said
    )  # it may just have come
    if known and float(own[guess]) >= 0.1:
        without = {name: float(own[guess]) - loss for name, loss in all_losses(state).items()}
        for name, loss in (s["losses"] or {}).items():
            right(
                abs(loss - float(own[guess]) + without[name]) < 1e-4,
                f"without {name} it has {without[name]}",
            )
        right(set(s["losses"] or without) == set(without), f"tried {list(s['losses'] or {})}")
        name = min(without, key=without.get)
        if float(own[guess]) - without[name] < 0.05:
            return [
                "No single addition is needed: without any one of them it loses less than 5 points. "
            ]
        return [f"{capital(called(name))} adds what it needs most: without it ", shares(own[guess]), " becomes ",
                shares(without[name]), ". "]  # fmt: skip
    if turned and turned[-1] + 1 < len(strips):
        where, word = strips[turned[-1] + 1], vocabulary[best[turned[-1]][0]]
        return [f"Stopped before {called(where)}, it would have said “{word}”. "]
    return []


def pulled(said, s, state, own, guess):
    """What has become of the word that led, of its rival, and of the text."""
    vocabulary, was = state["vocabulary"], state["was"]
    first = int(was[state["t"]].argmax())
    before, after = float(was[state["t"], first]), float(own[first])
    pieces = [f"Without {listed([called(name) for name in s['off']])}, “{vocabulary[first]}” "]
    if shares(after) & shares(before) and "stays at" in said:
        pieces += ["stays at ", shares(after)]
    else:
        pieces += [
            "falls" if after < before else "rises",
            " from ",
            shares(before),
            " to ",
            shares(after),
        ]
    if guess != first:
        pieces += [f", and “{vocabulary[guess]}” leads with ", shares(own[guess])]
    if len(state["ids"]) == 1:
        return [*pieces, "."]
    costs = [cost(one, state["ids"]) for one in (was, state["p"])]
    old, new = (shares(math.exp(-nats)) for nats in costs)
    ends = {
        f"{n} on average, " + ("as before" if n == o else f"instead of {o}")
        for n in new
        for o in old
    }
    pieces += [". The words already in the text get ", ends, " (geometric mean)."]
    if after > before + 0.02 and costs[1] > costs[0] + 0.02 and "as before" not in said:
        pieces.append(" This one guess gains, yet the text as a whole is read worse.")
    return pieces


def cost(p, ids):
    """What the text itself costs: nats a word, but for the first."""
    return float(-p[:-1].gather(1, torch.tensor(ids[1:])[:, None]).log().mean())


def played(said, step, state, off=()):
    """The sentence of one part, while it is at work, or while it is off."""
    vocabulary, ids, t, strips, best = (
        state[key] for key in ("vocabulary", "ids", "t", "strips", "best")
    )
    values, word = state["values"], vocabulary[ids[t]]
    stream = [state["size"](name) for name in strips]
    if step == "words":
        return fits(said, f"The text is {len(ids)} words, each known to the model by its number among {len(vocabulary)}.")  # fmt: skip
    if step == "norm":
        if "norm" in off:
            return fits(
                said, f"The final norm is off: the column of “{word}” is compared as it is."
            )
        return fits(said, f"The final norm divides the column of “{word}” by its size, ", sizes(stream[-1]),
                    ": from here on only its direction counts.")  # fmt: skip
    if step == "next":
        two = [(vocabulary[int(n)], state["p"][t, n]) for n in state["p"][t].topk(2).indices]
        what = "It" if "norm" in off else "Its direction"
        return fits(said, f"{what} is compared with all {len(vocabulary)} words: “{two[0][0]}” ",
                    shares(two[0][1]), f" and “{two[1][0]}” ", shares(two[1][1]), ".")  # fmt: skip
    n = strips.index(step)
    if n == 0:
        says_ = (
            f"only say “{word}” again"
            if best[0][0] == ids[t]
            else f"say “{vocabulary[best[0][0]]}”"
        )
        width = values["embedding"].shape[-1]
        return fits(said, f"“{word}” is looked up in a table: {width} numbers, its own row. They would {says_} (",
                    shares(best[0][1]), ").")  # fmt: skip
    layer = step.split(".")[1]
    old, new = (sizes(stream[at]) for at in (n - 1, n))
    moved = {
        f"stays at size {o}" if o == e else f"goes from size {o} to {e}" for o in old for e in new
    }
    end = [" Its column ", moved, f" and would {'still' if best[n][0] == best[n - 1][0] else 'now'} say "
           f"“{vocabulary[best[n][0]]}” (", shares(best[n][1]), ")."]  # fmt: skip
    heads = [f"layer.{layer}.head.{n + 1}" for n in range(state["model"].config.n_heads)]
    if step in off or (step.endswith(".attention") and set(heads) <= set(off)):
        return fits(said, f"{capital(called(step))} is off and adds nothing.", *end)
    if step.endswith(".attention"):
        weights = values[f"layer.{layer}.weights"][:, t, : t + 1]
        widest = weights.max(-1).values
        widest[[n for n, name in enumerate(heads) if name in off]] = -1
        head = int(widest.argmax())
        source = int(weights[head].argmax())
        return fits(said, f"In layer {layer}, “{word}” looks back: head {layer}.{head + 1} takes ",
                    shares(weights[head, source]), f" of what it fetches from “{vocabulary[ids[source]]}”.", *end)  # fmt: skip
    if f"layer.{layer}.experts" in values:
        pairs = zip(
            *(values[f"layer.{layer}.{part}"][t].tolist() for part in ("experts", "shares")),
            strict=True,
        )
        (a, first), (b, second) = pairs
        out = [", off" * (f"layer.{layer}.expert.{e + 1}" in off) for e in (a, b)]
        return fits(said, f"The router of layer {layer} sends “{word}” to expert {layer}.{a + 1} (", shares(first),
                    f"{out[0]}) and expert {layer}.{b + 1} (", shares(second), f"{out[1]}).", *end)  # fmt: skip
    units = values[f"layer.{layer}.units"][t]
    gates = values.get(f"layer.{layer}.gate", values[f"layer.{layer}.units"])[t]
    widest = int(units.abs().argmax())
    opens = {str(int((gates > 0.5 + by).sum())) for by in (-1e-5, 0, 1e-5)}
    return fits(said, f"The feed-forward network of layer {layer} works on “{word}” alone: ", opens,
                f" of its {len(units)} units open, and the strongest, unit {layer}.{widest + 1}, passes ",
                (units[widest], 1), " on.", *end)  # fmt: skip


def of_parts(drawn, s, values, target, experts, wait):
    """What is said on each part, and behind it: its name, what it is for, and what its bar shows.

    Where a bar is to come, `wait` says why it is not there.
    """
    none = not any(part["fill"] for part in drawn)
    for part in drawn:
        name = part["name"]
        right(part["open"] == f"Open {called(name)}", f"{name}: {part['open']}")
        if part["on"] is not None:
            right(part["switch"] == called(name), f"the switch of {name}: {part['switch']}")
        label = re.fullmatch(r"layer\.(\d+)\.(head|expert)\.(\d+)", name)
        if label:
            wanted = f"{label[1]}.{label[3]}" if label[2] == "head" else f"E {label[3]}"
            right(part["label"] == wanted, f"{name} is labelled {part['label']}")
        kind = re.sub(r"^layer\.\d+\.|\.\d+$", "", name)
        kind = "experts" if kind == "feed_forward" and experts else kind
        right(part["title"].startswith(PURPOSES[kind]), f"{name}: {part['title']}")
        tried = bool(WORTH.search(name))
        right(
            part["title"].endswith(wait or ".") or not (tried and none), f"{name}: {part['title']}"
        )
        right("is lost without it" not in part["title"] or bool(wait), f"{name}: {part['title']}")
        told = part["title"].rsplit(". ", 1)[-1] if part["fill"] else ""
        if not part["fill"] or name not in values:
            continue
        value = values[name]
        if s["bars"] == "votes":
            said = re.fullmatch(rf"{re.escape(capital(called(name)))} adds (.*) to the score of “(.*)”\.", capital(told))  # fmt: skip
            right(said and said[2] == target and says(said[1], 0 if abs(value) < 0.005 else value, 2),
                  f"{name} adds {value} for {target}: {told}")  # fmt: skip
        else:
            points = {math.floor(100 * abs(value) + by + 0.5) for by in (-1e-4, 0, 1e-4)}
            ends = {
                f"{'gains' if value < 0 and n else 'loses'} {n} percentage point{'s' * (n != 1)}."
                for n in points
            }
            fits(told, f"Without {called(name)} the guess ", ends)
            sign = "−" if value < -0.005 else ""
            right(
                part["number"] in {sign + one for one in shares(abs(value))},
                f"{name}: {part['number']}",
            )

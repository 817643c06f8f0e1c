"""What EmbeddingMap has to show for its traits, by torch, never by the page."""

import functools

import torch
from oracle import read_out, right, same_bars, says
from told import tables
from torch.nn import functional as F

from pieces import trained

WIDE, HIGH, EDGE, NEAREST = 520, 400, 16, 8
SEEN = """(root) => {
  const of = (name) => (node) => Number(node.getAttribute(name));
  const at = (node) => [of("cx")(node), of("cy")(node)];
  const all = (selector) => [...root.querySelectorAll(selector)];
  const box = (node) => { const b = node.getBBox(); return [b.x, b.y, b.width, b.height]; };
  return { dots: all(".p-dots circle").map((dot) => [dot.dataset.word, ...at(dot), dot.classList.contains("p-near")]),
    star: at(root.querySelector(".p-star")), lines: all(".p-scatter line").map((l) =>
      ["x1", "y1", "x2", "y2"].map((name) => of(name)(l))),
    names: all(".p-names text").map((t) => [t.textContent, ...box(t), t.getAttribute("class")]),
    leaders: all(".p-leader").map((p) => p.getAttribute("d").match(/-?[\\d.]+/g).map(Number)),
    fields: all(".p-word-field").map((f) => [f.value, f.getAttribute("aria-invalid")]),
    notes: all(".p-typed-note").map((n) => n.firstChild?.textContent ?? ""),
    offers: all(".p-offer").map((b) => b.textContent), thumb: Number(root.querySelector("[type=range]").value),
    captions: all("figcaption").map((c) => c.textContent), label: root.querySelector(".p-scatter").ariaLabel,
    said: root.querySelector(".p-say").textContent };
}"""  # fmt: skip


@functools.cache
def shipped(name):
    """Words, vectors, their places in the two main directions, and how much those keep."""
    found = trained.shared(name)
    vectors = found.model.embedding.weight.detach().double()
    units = F.normalize(vectors, dim=-1)
    mean = units.mean(0)
    _, sizes, axes = torch.linalg.svd(units - mean, full_matrices=False)
    axes = axes[:2] * torch.stack([axis[axis.abs().argmax()].sign() for axis in axes[:2]])[:, None]
    kept = (sizes[:2].square().sum() / sizes.square().sum()).item()
    return list(found.task.vocabulary), vectors, mean, axes, kept


def embedding_map(root, s):
    """Dots, lines and names, the bars, what is said, and what Python reads."""
    words, vectors, mean, axes, kept = shipped(s["model_name"])
    seen = read_out(root, SEEN)
    known = lambda word: word.strip() in words  # noqa: E731
    typed = [s["word"], s["toward"]]
    wanted = [[word, str(not known(word)).lower()] for word in typed]
    right(seen["fields"] == wanted, f"fields {seen['fields']}, not {wanted}")
    for word, note in zip(typed, seen["notes"], strict=True):
        told = "" if known(word) else f"“{word}” is not in this model’s vocabulary."
        right(note == told, f"{note!r}, not {told!r}")
    right(bool(seen["offers"]) <= (not all(map(known, typed))), f"offers {seen['offers']}")
    shown = s["word"] if known(s["word"]) else LAST[s["model_name"]]
    at, end, way = words.index(shown), words.index(s["toward"]), s["way"]
    vector = vectors[at] + way * (vectors[end] - vectors[at])
    places = (F.normalize(vectors, dim=-1) - mean) @ axes.T
    star = (F.normalize(vector, dim=0) - mean) @ axes.T
    alike = F.normalize(vectors, dim=-1) @ F.normalize(vector, dim=0)
    beside = -(places - star).norm(dim=-1)
    if not way:
        alike[at], beside[at] = -2, -torch.inf
    cosines, near = (t.tolist() for t in alike.topk(NEAREST))
    names = [words[n] for n in near]
    right(s["neighbours"] == names, f"Python reads {s['neighbours']}, not {names}")
    right(
        all(abs(a - b) < 1e-6 for a, b in zip(s["cosines"], cosines, strict=True)), "other cosines"
    )
    right(abs(s["kept"] - kept) < 1e-6, f"kept {s['kept']}, not {kept}")
    low, high = places.min(0).values, places.max(0).values
    side = torch.tensor([WIDE, HIGH]) - 2 * EDGE
    spot = lambda place: (EDGE + (place - low) / (high - low) * side).tolist()  # noqa: E731
    on = lambda place: [spot(place)[0], HIGH - spot(place)[1]]  # noqa: E731
    close = lambda a, b: max(abs(x - y) for x, y in zip(a, b, strict=True)) < 0.02  # noqa: E731
    right([dot[0] for dot in seen["dots"]] == words, "dots of other words")
    for n, (word, x, y, lit) in enumerate(seen["dots"]):
        right(close((x, y), on(places[n])), f"{word} stands at {x}, {y}, not {on(places[n])}")
        right(lit == (n in near), f"{word} is lit: {lit}")
    right(close(seen["star"], on(star)), f"the vector stands at {seen['star']}, not {on(star)}")
    for line, n in zip(seen["lines"], near, strict=True):
        right(close(line, [*on(star), *on(places[n])]), f"a line to {words[n]}: {line}")
    spots = [on(star), *(on(places[n]) for n in near)]
    same_names(seen["names"], seen["leaders"], [shown, *names], spots)
    same_bars(root, names, [(cosines, 1, False, 2)])
    right(seen["thumb"] == way, f"the slider stands at {seen['thumb']}")
    V, D = vectors.shape
    right(
        seen["captions"][0] == f"All {V} entries, seen in two of {D} directions", seen["captions"]
    )
    right(seen["label"].startswith(f"{shown} at "), seen["label"])
    listed = ", ".join(f"{w} ({c:.2f})" for w, c in zip(names[:3], cosines[:3], strict=True))
    same = len(set(beside.topk(NEAREST).indices.tolist()) & set(near))
    first = (f"At {way:g} of the way from “{shown}” to “{s['toward']}”, the nearest words are {listed}."
             if way else f"The words nearest to “{shown}” are {listed}.")  # fmt: skip
    told = {0: "none of these words is", 1: "one of these words is"}.get(
        same, f"{same} of these words are"
    )
    want = (
        f"{first} The picture holds only {round(100 * kept)}\u00a0% of the spread in {D} directions, so trust "
        f"the list: {told} also among the {NEAREST} nearest dots."
    )
    right(seen["said"] == want, f"{seen['said']!r}, not {want!r}")
    for caption, (head, *rows) in tables(root):
        if caption == "Where the vectors stand":
            right(head == ["word", "across", "up"], head)
            points = [star, *(places[n] for n in near)]
            for row, name, point in zip(rows, [shown, *names], points, strict=True):
                fits = row[0] == name and all(
                    says(t, float(v), 3) for t, v in zip(row[1:], point, strict=True)
                )
                right(fits, f"{row}, not {name} at {point}")


LAST = {"stories_llama": "park"}  # what stays shown where a word is unknown: that of the sample


def same_names(drawn, leaders, names, spots):
    """Each name near its dot or led to it, the chosen one set apart; none over a name or a dot."""
    right([name for name, *_ in drawn] == names, f"names {drawn}, not {names}")
    right(
        [look == "p-star-name" for *_, look in drawn] == [True] + [False] * (len(names) - 1),
        "looks",
    )
    boxes = [(x, y + 0.12 * h, x + w, y + 0.88 * h) for _, x, y, w, h, _ in drawn]
    for n, (name, box, spot) in enumerate(zip(names, boxes, spots, strict=True)):
        right(
            box[0] > 0 and box[1] > 0 and box[2] < WIDE and box[3] < HIGH, f"{name} leaves the map"
        )
        free = [a[2] < box[0] or a[0] > box[2] or a[3] < box[1] or a[1] > box[3] for a in boxes[:n]]
        right(all(free), f"{name} stands over another name")
        covered = [box[0] < x < box[2] and box[1] < y < box[3] for x, y in spots]
        right(not any(covered), f"{name} at {box} covers a dot of {spots}")
        near = [
            min(max(at, low), high) for at, low, high in zip(spot, box[:2], box[2:], strict=True)
        ]
        away = sum((a - b) ** 2 for a, b in zip(near, spot, strict=True)) ** 0.5
        led = [
            max(abs(a - b) for a, b in zip(one[:2], spot, strict=True)) < 0.02 for one in leaders
        ]
        right(away < 16 or (any(led) and away < 180), f"{name} is {away} from its dot")

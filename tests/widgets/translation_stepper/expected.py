"""What TranslationStepper has to show for its traits, by torch and `pieces`, never by the page."""

import copy
import functools
import re

import torch
from oracle import ask, maps, right, same_map, says
from told import same_listed, tables

from pieces import beam_search as searches
from pieces import trained
from pieces.beam_search import beam_search
from pieces.trace import record

MOST, ROWS = 24, 5
PARTS = {"cross": "decoder.blocks.{}.cross_attention.core", "decoder": "decoder.blocks.{}.attention.core",
         "encoder": "encoder.blocks.{}.attention.core"}  # fmt: skip
SEEN = """(root) => {
  const box = (node) => node.getBoundingClientRect();
  const texts = (where, root_ = root) => [...root_.querySelectorAll(where)].map((one) => one.textContent);
  const stage = root.querySelector(".p-bridge");
  const left = [...stage.querySelectorAll(".p-sources .p-chip")];
  const chips = [...stage.querySelectorAll(".p-chips .p-chip")];
  const at = (nodes, y) => nodes.findIndex((n) => box(n).top <= y && y <= box(n).bottom);
  const end = (path, l) => path.getPointAtLength(l).matrixTransform(path.getScreenCTM());
  const shown = (one) => Boolean(one?.offsetParent);
  const beam = root.querySelector(".p-beam");
  const grown = [...root.querySelectorAll(".p-tree-rows li")].map((row) => [...row.children]);
  const middle = (node) => (box(node).left + box(node).right) / 2;
  const whose = (path, l) => { // the row and the place where a stroke ends
    const { x, y } = end(path, l);
    const row = grown.findIndex(([node]) => box(node.parentNode).top <= y && y <= box(node.parentNode).bottom);
    return [row, grown[row]?.findIndex((node) => Math.abs(middle(node) - x) < 2)];
  };
  const [open, next] = ["p-open", "p-extended"].map((name) => [...beam.querySelectorAll(`.${name} li`)]);
  return {
    bridged: shown(stage), left: left.map((n) => n.textContent), right: chips.map((n) => n.textContent),
    weights: texts(".p-drawn"), glosses: [...stage.querySelectorAll(".p-gloss")].map((n) =>
      [n.textContent, Number((n.style.gridRow || "1 / span 1").split("span")[1])]),
    chosen: chips.flatMap((n, t) => (n.ariaChecked === "true" ? [t] : [])),
    inks: [...stage.querySelectorAll(".p-ink")].map((path) => [Number(path.dataset.row),
      Number(path.dataset.column), Number(path.getAttribute("stroke-width")),
      path.classList.contains("p-ink-on"), at(chips, end(path, 0).y), at(left, end(path, path.getTotalLength()).y)]),
    line: [...root.querySelectorAll(".p-read [data-place]")].map((one) =>
      [one.textContent, one.classList.contains("p-now"), one.classList.contains("p-own")]),
    rows: [...root.querySelectorAll(".p-next-row")].filter(shown).map((row) => {
      const [track, bar] = [".p-next-track", "i"].map((one) => box(row.querySelector(one)));
      const select = row.querySelector("select");
      return { word: select ? select.options[0]?.text : row.querySelector(".p-next-word").textContent,
        others: select && [...select.options].slice(1).map((one) => [one.value, one.text]),
        spoken: select?.ariaLabel, text: row.querySelector("b").textContent,
        from: (bar.left - track.left) / track.width, to: (bar.right - track.left) / track.width,
        label: row.ariaLabel, taken: row.classList.contains("p-taken"), pressed: row.ariaPressed,
        yours: row.classList.contains("p-yours"), button: row.tagName === "BUTTON" }; }),
    head: root.querySelector(".p-read-head").textContent,
    choices: [...root.querySelectorAll(".p-choice")].filter(shown).map((one) =>
      [one.textContent, one.classList.contains("p-stale"), one.title, one.ariaLabel]),
    note: shown(root.querySelector(".p-yours-box")) ? root.querySelector(".p-yours-note").textContent : "",
    passes: root.querySelector(".p-passes").textContent, said: root.querySelector(".p-say").textContent,
    at: root.querySelector(".p-play-at").textContent,
    film: [Number(root.querySelector(".p-player input").value), Number(root.querySelector(".p-player input").max)],
    beam: shown(beam) && {
      open: open.map((one) => [one.title, one.querySelector("span").textContent, one.querySelector("b").textContent]),
      next: next.map((one) => [one.querySelector("span").textContent, one.querySelector("b").textContent,
        one.querySelector("em").textContent, one.dataset.fate]),
      branches: [...beam.querySelectorAll("path")].map((path) => {
        const [from, to] = [end(path, 0), end(path, path.getTotalLength())];
        return [at(open, from.y), at(next, to.y), path.dataset.fate, getComputedStyle(path).opacity]; }),
      done: [...beam.querySelectorAll(".p-done li")].map((one) => one.textContent) },
    tree: shown(root.querySelector(".p-tree")) && {
      rows: grown.map((row) => row.map((one) => [one.title, one.querySelector("i").textContent,
        one.querySelector("b")?.textContent ?? "", one.dataset.became ?? "", "lead" in one.dataset])),
      strokes: [...root.querySelectorAll(".p-tree path")].map((path) => [whose(path, 0),
        whose(path, path.getTotalLength()), path.dataset.became, "lead" in path.dataset]) },
  };
}"""  # fmt: skip


@functools.cache
def exact():
    """The shipped translator in float64, and its task."""
    shipped = trained.shared("translator")
    return copy.deepcopy(shipped.model).double(), shipped.task


def reads(text):
    task = exact()[1]
    return [one for one in task.cut(text) if one in task.ids and not one.isascii()][:MOST]


@functools.lru_cache(maxsize=512)
def odds_after(characters, ids):
    """The distribution behind these tokens, by one pass over all of them."""
    model, task = exact()
    source = torch.tensor([[task.ids[one] for one in characters]])
    with torch.no_grad():
        return model(source, torch.tensor([[task.bos_id, *ids]]))[0, -1].softmax(-1)


def greedy(characters, overruled):
    """The tokens, an end among them, and the distribution at each place."""
    task = exact()[1]
    chosen = {place: task.ids[word] for place, word in overruled if word in task.ids}
    ids, odds = [], []
    while len(ids) < MOST and task.eos_id not in ids:
        odds.append(odds_after(tuple(characters), tuple(ids)))
        ids.append(chosen.get(len(ids) + 1, int(odds[-1].argmax())))
    return ids, odds


@functools.lru_cache(maxsize=64)
def beams(characters, n):
    """The best tokens, their score, and each step of `pieces.beam_search`: see `steps` below."""
    model, task = copy.deepcopy(trained.shared("translator").model), exact()[1]
    steps, own = [], searches._Beams.step

    def step(self, log_p, ids):
        before, length = self.total[0].clone(), ids.shape[1]
        scores = (before.to(log_p)[:, None] + log_p).flatten()
        best, at = scores.topk(2 * n)
        candidates = [[int(a) // log_p.shape[1], int(a) % log_p.shape[1], float(b)]
                      for a, b in zip(at, best, strict=True)]  # fmt: skip
        going = [n_ for n_, one in enumerate(candidates) if one[1] != task.eos_id][:n]
        for place, one in enumerate(candidates):
            ended = one[1] == task.eos_id and place < n
            one.append("kept" if place in going else "finished" if ended else "dropped")
        open_ = [
            [ids[i, 1:].tolist(), float(before[i])] for i in range(n) if before[i] > -torch.inf
        ]
        result = own(self, log_p, ids)
        finished = [[text[1:].tolist(), rank] for rank, text in self.finished[0]]
        steps.append({"open": open_, "candidates": candidates, "finished": finished, "length": length,
                      "closed": bool(self.closed[0])})  # fmt: skip
        return result

    searches._Beams.step = step
    try:
        source = torch.tensor([[task.ids[one] for one in characters]])
        ids, score = beam_search(
            model, source, MOST, start_id=task.bos_id, eos_id=task.eos_id, n_beams=n
        )
    finally:
        searches._Beams.step = own
    exact()[0].double()
    return ids[0, 1:].tolist(), float(score), steps


def inside(characters, ids, kind, layer, head):
    """The attention [T, S] while these tokens are chosen, and how probable each of them was."""
    trace, odds = passed(tuple(characters), tuple(ids))
    weights = trace[PARTS[kind].format(layer - 1)]["weights"][0]
    return (weights[head - 1] if head else weights.mean(0)), odds[torch.arange(len(ids)), list(ids)]


@functools.lru_cache(maxsize=64)
def passed(characters, ids):
    """What one pass through the model leaves: its trace, and the odds [T, V] of each next token."""
    model, task = exact()
    source = torch.tensor([[task.ids[one] for one in characters]])
    with torch.no_grad(), record(model) as trace:
        odds = model(source, torch.tensor([[task.bos_id, *ids[:-1]]]))[0].softmax(-1)
    return trace, odds


def logged(text, total):
    """Whether a sum is printed with its digits."""
    return (
        says(text, total, 2 if total < -1 else 4)
        or abs(float(text.replace("−", "-")) - total) < 2e-4
    )


def translation_stepper(root, s):
    """Everything that is drawn, in the order of the page, and what Python reads."""
    seen, task = ask(root, SEEN), exact()[1]
    name = task.vocabulary
    characters = reads(s["text"])
    if not characters:
        right(not root.locator(".p-pane:visible").count(), "a picture of nothing")
        right(s["translation"] == [] and s["passes"] == {"encoder": 0, "decoder": 0}, s["passes"])
        return
    beam = s["search"] == "beam"
    if beam:
        whole, score, steps = beams(tuple(characters), s["n_beams"])
        now = steps[s["step"]]
        lead = now["candidates"][0]
        path, count = [*now["open"][lead[0]][0], lead[1]], len(steps)
        path = whole if now["closed"] else path
    else:
        whole, odds = greedy(characters, s["overruled"])
        path, count = whole[: s["step"] + 1], len(whole)
    right(0 <= s["step"] < count, f"step {s['step']} of {count}")
    right(seen["film"] == [s["step"], count - 1], f"the film at {seen['film']} of {count}")
    right(seen["at"] == f"{s['step']} written", seen["at"])
    words = [name[n] for n in path]
    cross, _ = inside(characters, path, "cross", s["layer"], s["head"])
    bridge(seen, characters, words, cross, beam)
    told = [[word, n == len(words), False] for n, word in enumerate(["<bos>", *words])]
    for place, word in s["overruled"]:
        if not beam and place <= len(words) and words[place - 1] == word:
            told[place][2] = True
    right(seen["line"] == told, f"the line {seen['line']}, not {told}")
    head = ("The winner" if now["closed"] else "Best of this step") if beam else "Read so far"
    right(seen["head"] == head, f"{seen['head']}: {words}, not {head}")
    chosen(seen, s, whole, beam)
    attention(root, s, characters, words, path)
    most = f"{', '.join(f'{p}' for p in (s['step'] + 1, count))}"
    passes = (f"Passes so far: 1 of the encoder, {s['step'] + 1} of the decoder; {count} for the whole "
              f"{'search' if beam else 'translation'}.")  # fmt: skip
    if beam:
        n = s["n_beams"]
        passes += f" Each of them carries up to {n} candidate{'s' * (n > 1)}."
    right(seen["passes"] == passes, f"{seen['passes']}, not {passes} ({most})")
    right(s["passes"] == {"encoder": 1, "decoder": s["step"] + 1}, s["passes"])
    plain = [name[n] for n in whole if n != task.eos_id]
    right(
        s["translation"] == plain, f"Python reads the translation {s['translation']}, not {plain}"
    )
    if beam:
        right(not seen["rows"] and s["candidates"] == [], "bars beside the tree")
        branching(root, seen["beam"], s, now, name)
        tree(root, seen["tree"], steps[: s["step"] + 2], s["step"], path, name)
        _, sure = inside(characters, whole, "cross", 1, 0)
    else:
        right(not (seen["beam"] or seen["tree"] or s["beams"]), "a tree beside the bars")
        rows(root, seen, s, odds[s["step"]], path[-1], name)
        sure = torch.stack([row[n] for row, n in zip(odds, whole, strict=True)])
    given = torch.tensor(s["probabilities"]).double()
    right(torch.allclose(given, sure[: len(plain)], atol=1e-5), "Python reads other probabilities")
    told_of(seen, s, words, cross, characters, now if beam else odds[s["step"]], path,
            (whole, score) if beam else None)  # fmt: skip


def bridge(seen, characters, words, cross, beam):
    """The characters, the words, the ink between them, and the numbers of the word that is chosen."""
    right(seen["bridged"] != beam, "a search has its tree, and no ink")
    if beam:
        return
    T, S = cross.shape
    on = T - 1
    right(seen["left"] == characters and seen["right"] == words, f"other words: {seen['right']}")
    right(seen["chosen"] == [on], f"word {seen['chosen']} is marked, not {on}")
    wide = {
        (t, c)
        for t in range(T)
        for c in range(S)
        if cross[t, c] >= (0.00501 if t == on else 0.0501)
    }
    some = {
        (t, c)
        for t in range(T)
        for c in range(S)
        if cross[t, c] >= (0.00499 if t == on else 0.0499)
    }
    drawn = {(t, c) for t, c, *_ in seen["inks"]}
    right(wide <= drawn <= some, "ink between other words")
    for t, c, width, lit, start, end in seen["inks"]:
        want = 0.8 + 7.2 * float(cross[t, c])
        right(abs(width - want) < 0.011, f"ink {t} to {c} is {width} wide, not {want:.2f}")
        right(start == t and end == c and lit == (t == on), f"the ink of {t} runs {start} to {end}")
    for c, text in enumerate(seen["weights"]):
        value = float(cross[on, c])
        right(
            says(text, value, 2) if text else value < 0.00501,
            f"{characters[c]}: {text}, not {value}",
        )


def chosen(seen, s, whole, beam):
    """The reader's choices, which of them do not fit, and why."""
    known = exact()[1].ids
    why = [f"The model has no word “{word}”." if word not in known
           else f"The translation ends before place {place}." if not beam and place > len(whole) else ""
           for place, word in s["overruled"]]  # fmt: skip
    wanted = [[f"{place}: {word} ✕", bool(reason), reason or f"Take back “{word}” at place {place}",
               f"Take back “{word}” at place {place}"]
              for (place, word), reason in zip(s["overruled"], why, strict=True)]  # fmt: skip
    right(seen["choices"] == wanted, f"the choices {seen['choices']}, not {wanted}")
    note = " ".join(dict.fromkeys(filter(None, why)))
    if beam and s["overruled"]:
        note = "Beam search begins at <bos> and does not use them."
    right(seen["note"].split() == note.split(), f"{seen['note']!r}, not {note!r}")


def attention(root, s, characters, words, path):
    """The one heat map that is open, and what Python reads of it."""
    kind = s["attention"]
    values, _ = inside(characters, path, kind, s["layer"], s["head"])
    tokens = ["<bos>", *words[:-1]]
    down = characters if kind == "encoder" else tokens
    across = tokens if kind == "decoder" else characters
    right(values.shape == (len(down), len(across)), "another shape")
    (grid,) = maps(root)
    captions = {"cross": "Each token read, looking for the next word", "encoder":
                "Characters, looking at each other", "decoder": "Tokens that were read, looking back"}  # fmt: skip
    right(grid.caption == captions[kind], f"{grid.caption}: not of {kind}")
    mask = torch.ones(values.shape).tril().tolist() if kind == "decoder" else None
    frame = None if kind == "encoder" else len(tokens) - 1
    same_map(grid, values.tolist(), mask=mask, rows=down, columns=across, frame=frame, signed=False)
    given = torch.tensor(s["weights"], dtype=torch.float64)
    right(
        given.shape == values.shape and torch.allclose(given, values, atol=1e-5),
        "Python reads other weights",
    )


def rows(root, seen, s, row, taken, name):
    """Each candidate: its word, number, bar, marks and label; all others together."""
    order = sorted(range(len(row)), key=lambda n: (-float(row[n]), n))
    first = order[:ROWS] + [taken] * (taken not in order[:ROWS])
    rest = [n for n in order if n not in first]
    wanted = [(name[n], float(row[n]), n) for n in first]
    wanted.append((f"{len(rest)} others", float(row[rest].sum()), None))
    right([one["word"] for one in seen["rows"]] == [word for word, *_ in wanted],
          f"candidates {[one['word'] for one in seen['rows']]}, not {wanted}")  # fmt: skip
    for one, (word, p, n) in zip(seen["rows"], wanted, strict=True):
        right(says(one["text"], p, 4), f"{word}: {one['text']}, not {p}")
        right(
            abs(one["from"]) < 0.01 and abs(one["to"] - p) < 0.012,
            f"{word}'s bar to {one['to']}, not {p}",
        )
        if n is None:
            others(one, rest, row, name)
        right(one["button"] == (n is not None), f"{word}: a button {one['button']}")
        right(one["taken"] == (n == taken), f"{word} is taken: {one['taken']}")
        right(one["yours"] == (n == taken and n != order[0]), f"{word} is yours: {one['yours']}")
        if n is None:
            continue
        right(one["pressed"] == str(n == taken).lower(), f"{word} is pressed: {one['pressed']}")
        label = re.fullmatch(r"Take “(.+)”, (<?\s?[\d.]+)(, the model’s choice)?", one["label"])
        right(
            label and label[1] == word and says(label[2], p, 4), f"{one['label']}: not {word} {p}"
        )
        right(bool(label[3]) == (n == order[0]), one["label"])
    same_listed(
        root, [word for word, *_ in wanted], [[p for _, p, _ in wanted]], ["word", "probability"]
    )
    got = s["candidates"]
    right([word for word, _ in got] == [word for word, *_ in wanted[:-1]], f"Python reads {got}")
    right(
        all(abs(p - q) < 1e-5 for (_, p), (_, q, _) in zip(got, wanted, strict=False)),
        f"Python reads {got}",
    )


def others(shown, rest, row, name):
    """All other words can be taken, with the number of each."""
    right(shown["spoken"] == f"Take one of the {len(rest)} others", shown["spoken"])
    right([word for word, _ in shown["others"]] == [name[n] for n in rest], "other words")
    for (word, text), n in zip(shown["others"], rest, strict=True):
        right(text.startswith(f"{word} ") and says(text.removeprefix(f"{word} "), float(row[n]), 4),
              f"{text}: not {float(row[n])}")  # fmt: skip


FATES = {
    "on": "goes on",
    "stuck": "given up",
    "ended": "finished",
    "open": "open",
    "left": "left open",
}


def tree(root, drawn, steps, at, lead, name):
    """Every candidate that was kept or has finished, from whom it comes, and what became of it."""
    right(drawn, "no tree")
    said = lambda ids: " ".join(name[n] for n in ids)  # noqa: E731
    grown = [[[*step["open"][parent][0], token], total, what]
             for step in steps for parent, token, total, what in step["candidates"]
             if what != "dropped"]  # fmt: skip
    rows = [[one for one in grown if len(one[0]) == n + 1] for n in range(at + 2)]
    wanted, strokes, listed = [], [], []
    for n, row in enumerate(rows[: at + 1]):
        told = []
        for ids, total, what in row:
            goes_on = any(other[:-1] == ids for other, *_ in rows[n + 1])
            became = ("ended" if what == "finished" else "left" if steps[n]["closed"] else
                      "open" if n == at else "on" if goes_on else "stuck")  # fmt: skip
            leads = ids == lead[: len(ids)]
            above = [one[0] for one in rows[n - 1]].index(ids[:-1]) if n else 0
            strokes.append([[n, above], [n + 1, len(told)], became, leads])
            told.append(
                ["■" if what == "finished" else name[ids[-1]], total, said(ids), became, leads]
            )
            listed.append([str(n + 1), said(ids), FATES[became]])
        wanted.append(told)
    root_row, *below = drawn["rows"]
    right(root_row == [["", "<bos>", "", "on", True]], f"its root {root_row}")
    right(len(below) == len(wanted), f"{len(below)} rows, not {len(wanted)}")
    for row, want in zip(below, wanted, strict=True):
        right([[word, became, leads] for _, word, _, became, leads in row]
              == [[word, became, leads] for word, _, _, became, leads in want], f"{row}, not {want}")  # fmt: skip
        for (tip, word, text, *_), (_, total, whole, became, _) in zip(row, want, strict=True):
            found = re.fullmatch(r"(.*): (−?[\d.]+), ([a-z ]+)", tip)
            right(found and found[1] == whole and logged(found[2], total)
                  and found[3] == FATES[became], f"{tip}: not {whole} {total} {became}")  # fmt: skip
            right(
                text == "" if word == "■" else logged(text, total), f"{word}: {text}, not {total}"
            )
    right(drawn["strokes"] == strokes, f"strokes {drawn['strokes']}, not {strokes}")
    heads = ["step", "candidate", "sum of log-probabilities", "what became of it"]
    open_ = [table[1:] for _, table in tables(root) if table[0] == heads]
    right(not tables(root) or [[[n, ids, became] for n, ids, _, became in one] for one in open_] == [listed],
          f"the table of the tree {open_}, not {listed}")  # fmt: skip
    sums = [total for row in wanted for _, total, *_ in row]
    right(all(logged(row[2], total) for one in open_ for row, total in zip(one, sums, strict=True)),
          "other sums in the table of the tree")  # fmt: skip


def branching(root, drawn, s, now, name):
    """The open candidates, how each goes on, the strokes between, what has finished."""
    said = lambda ids: " ".join(name[n] for n in ids) or "<bos>"  # noqa: E731
    right(drawn, "no candidates")
    right(
        [one[0] for one in drawn["open"]] == [said(ids) for ids, _ in now["open"]],
        f"open: {drawn['open']}",
    )
    for (_, short, text), (ids, total) in zip(drawn["open"], now["open"], strict=True):
        whole = said(ids)
        right(
            short == whole or (short.startswith("… ") and whole.endswith(short[2:])),
            f"{short} of {whole}",
        )
        right(logged(text, total), f"{whole}: {text}, not {total}")
    right(len(drawn["next"]) == len(now["candidates"]), f"{len(drawn['next'])} candidates")
    fates = {"kept": "kept", "finished": "ended", "dropped": "dropped"}
    lines = []
    for n, ((word, text, fate, look), (parent, token, total, what)) in enumerate(
        zip(drawn["next"], now["candidates"], strict=True)
    ):
        right(word == name[token], f"candidate {n + 1} is {word}, not {name[token]}")
        right(logged(text, total), f"{word}: {text}, not {total}")
        called = "left open" if now["closed"] and what == "kept" else what
        right(fate == called and look == fates[what], f"{word} is {fate}, not {called}")
        lines.append([parent, n, fates[what]])
    right(
        [one[:3] for one in drawn["branches"]] == lines,
        f"branches {drawn['branches']}, not {lines}",
    )
    right(
        all((float(pale) < 0.9) == (fate == "dropped") for *_, fate, pale in drawn["branches"]),
        "pale branches",
    )
    finished = [
        (ids, -float(torch.tensor(-rank).double().exp()) * len(ids), len(ids))
        for ids, rank in now["finished"]
    ]
    right(len(s["beams"]) == len(finished), f"Python reads {s['beams']}")
    if not finished:
        right(drawn["done"] == ["none yet"], drawn["done"])
    for text, read, (ids, total, length) in zip(drawn["done"], s["beams"], finished, strict=False):
        found = re.fullmatch(r"(.*)(?<![−\d.])(−?[\d.]+) = (−?[\d.]+) / (\d+)", text)
        right(found and found[1] == said(ids), f"finished: {text!r}, not {said(ids)}")
        right(
            logged(found[2], total / length) and logged(found[3], total),
            f"{text}: not {total / length}",
        )
        right(int(found[4]) == length, f"{text}: of {length}")
        right(read["words"] == [name[n] for n in ids[:-1]], f"Python reads {read}")
        right(
            abs(read["total"] - total) < 1e-3 and abs(read["score"] - total / length) < 1e-3, read
        )
    if now["candidates"]:
        heads = ["candidate", "sum of log-probabilities", "what becomes of it"]
        open_ = [table[1:] for _, table in tables(root) if table[0] == heads]
        listed = [[row[0] for row in table] for table in open_]
        for (_, text, became), (_, _, total, what) in zip(
            (row for table in open_ for row in table), now["candidates"], strict=False
        ):
            called = "left open" if now["closed"] and what == "kept" else what
            right(
                logged(text, total) and became == called, f"{text}, {became}: not {total}, {called}"
            )
        wanted = [f"{said(now['open'][one[0]][0])} → {name[one[1]]}" for one in now["candidates"]]
        right(
            not tables(root) or listed == [wanted],
            f"the table of candidates {listed}, not {wanted}",
        )


def told_of(seen, s, words, cross, characters, now, path, won):
    """The sentence: what is expected, what is taken, and where the word looked most."""
    said, name = seen["said"], exact()[1].vocabulary
    row, at = cross[-1], 0
    best = int(row.argmax())
    meaning = ""
    for gloss, size in seen["glosses"]:
        if at <= best < at + size:
            word = "".join(characters[at : at + size])
            meaning = (
                f" ({gloss})" if gloss and size == 1 else f" of {word} ({gloss})" if gloss else ""
            )
        at += size
    meaning = (
        r"(?: of \S+)?(?: \([^)]*\))?" if won else re.escape(meaning)
    )  # a search shows no glosses
    who = f"Head {s['layer']}.{s['head']}" if s["head"] else f"Layer {s['layer']}"
    looked = re.search(
        rf"{re.escape(who)} looked most at {characters[best]}{meaning} with ([\d.]+\d)\.",
        said,
    )
    right(
        looked and says(looked[1], float(row[best]), 2),
        f"{said}: not {who} at {characters[best]} {row[best]}",
    )
    if won is not None:
        end = re.match(
            r"(One|\d) candidates? (?:has|have) finished, .* “(.+)” wins with a score of (−?[\d.]+\d)\. ",
            said,
        )
        right(bool(end) == now["closed"], said)
        if end:
            right(end[1] == ("One" if s["n_beams"] == 1 else str(s["n_beams"])), said)
            right(end[2] == " ".join(name[n] for n in won[0][:-1]) and logged(end[3], won[1]), said)
            return
        lead = re.match(r"“(.+?)” has the highest sum of this step, (−?[\d.]+\d)\. ", said)
        right(
            lead and lead[1] == " ".join(words) and logged(lead[2], now["candidates"][0][2]), said
        )
        return
    so_far = " ".join(["<bos>", *words[:-1]])
    found = re.match(r"The decoder has read (.+?); it gives “(.+?)” ([\d.]+\d)(?:, but you took “(.+?)” with "
                     r"(<\s[\d.]+\d|[\d.]+\d))?\. ", said)  # fmt: skip
    top = int(now.argmax())
    right(found and found[1] == so_far, f"{said}: it has read {so_far}")
    right(
        found[2] == name[top] and says(found[3], float(now[top]), 4),
        f"{said}: {name[top]} {now[top]}",
    )
    right(bool(found[4]) == (top != path[-1]), said)
    if found[4]:
        right(
            found[4] == words[-1] and says(found[5], float(now[path[-1]]), 4),
            f"{said}: {now[path[-1]]}",
        )

"""What PagedMemory has to show for its traits: the same requests, served by another program."""

from math import ceil

from oracle import ask, right
from told import tables

PLACES, LONGEST, STEPS = 64, 24, 60
ROLES = ("query", "key", "value", "score", "weight", "output", "residual")
SHOWN = """(root) => {
  const text = (node) => node.textContent;
  return { maps: [...root.querySelectorAll(".p-memory")].map((map) => ({ label: map.ariaLabel,
      caption: text(map.closest("figure").querySelector("figcaption")),
      fact: text(map.closest("figure").querySelector(".p-memory-fact")),
      places: [...map.children].map((c) => ({ state: c.dataset.state, role: c.dataset.role === "none" ? null : c.dataset.role,
        text: text(c), title: c.title, on: c.classList.contains("p-on"), block: c.classList.contains("p-block") })) })),
    rows: [...root.querySelectorAll(".p-requests tbody tr")].map((row) => ({
      cells: [...row.cells].map(text), on: row.classList.contains("p-on"),
      role: row.querySelector("button").dataset.role, pressed: row.querySelector("button").ariaPressed,
      label: row.querySelector("button").ariaLabel })),
    heads: [...root.querySelectorAll(".p-requests thead th")].map(text),
    at: text(root.querySelector(".p-play-at")), said: text(root.querySelector(".p-say")),
    size: root.querySelector("[data-trait=block_size] output").value,
    prefix: root.querySelector("[data-trait=prefix] output").value,
    beginning: text(root.querySelector(".p-legend li:last-child")) };
}"""


class Memory:
    """Who runs, who waits and what was written; `strip` or `blocks` say where."""

    def __init__(self, requests, size=0, common=0):
        self.requests, self.size, self.common = requests, size, common
        self.written = [0] * len(requests)
        self.running, self.waiting, self.done = (
            [],
            [],
            [],
        )  # ids, in the order in which they came in
        self.start, self.table = {}, {}
        self.next, self.back = 0, []

    def tokens(self, n):
        return self.requests[n][1] + self.written[n]

    def free(self):
        used = {block for n in self.running for block in self.table[n]}
        return [block for block in range(PLACES // self.size) if block not in used]

    def enters(self, n):
        """Whether there is room for a request; if so, it has it."""
        if not self.size:
            taken = sorted(self.start[r] for r in self.running)
            for at in [0, *(start + LONGEST for start in taken)]:
                if at + LONGEST <= min([s for s in taken if s >= at] + [PLACES]):
                    self.start[n] = at
                    return True
            return False
        table = self.table[self.running[0]][: self.common // self.size] if self.running else []
        needed = ceil(self.tokens(n) / self.size) - len(table)
        if len(self.free()) < needed:
            return False
        self.table[n] = table + self.free()[:needed]
        return True

    def step(self, time):
        self.back = []
        for n in [n for n in self.running if self.written[n] == self.requests[n][2]]:
            self.running.remove(n)
            self.done.append(n)
        while self.next < len(self.requests) and self.requests[self.next][0] <= time:
            self.waiting.append(self.next)
            self.next += 1
        while self.waiting and self.enters(self.waiting[0]):
            self.running.append(self.waiting.pop(0))
        at = 0
        while at < len(self.running):
            n = self.running[at]
            while (
                self.size
                and self.tokens(n) + 1 > len(self.table[n]) * self.size
                and n in self.running
            ):
                if self.free():
                    self.table[n].append(self.free()[0])
                else:
                    self.waiting.insert(0, self.running.pop())
                    self.back.append(self.waiting[0])
            if n in self.running:
                self.written[n] += 1
            at += 1

    def places(self):
        """Of each place the requests that have it, and whether it holds a token."""
        found = [([], False) for _ in range(PLACES)]
        for n in self.running:
            size, table = (
                (self.size, self.table[n])
                if self.size
                else (1, range(self.start[n], self.start[n] + LONGEST))
            )
            for at, block in enumerate(table):
                for k in range(size):
                    owners, token = found[block * size + k]
                    found[block * size + k] = (
                        [*owners, n],
                        token or at * size + k < self.tokens(n),
                    )
        return found


def served(make, steps):
    """The memory after so many steps, and after how many all are served."""
    now, last = None, None
    memory = make()
    if steps == 0:
        now = make()
    for time in range(400):
        memory.step(time)
        if time + 1 == steps:
            now = memory
            memory = make()
            for again in range(time + 1):
                memory.step(again)
        if len(memory.done) == len(memory.requests):
            last = time + 1
            break
    return now or memory, last


def many(n, word):
    return f"{n} {word}{'' if n == 1 else 's'}"


def paged_memory(root, s):
    """Both maps, the table of requests, the sentence, and what Python reads."""
    shown = ask(root, SHOWN)
    requests = [[int(x) for x in row] for row in s["requests"]]
    size = max(n for n in (1, 2, 4, 8, 16) if n <= s["block_size"])
    common = min(s["prefix"], *(row[1] for row in requests)) if s["shared"] else 0
    makes = (lambda: Memory(requests), lambda: Memory(requests, size, common))
    lasts = [served(make, 0)[1] for make in makes]
    last = min(STEPS, max(lasts))
    step = min(s["step"], last)
    strips, blocks = (
        served(make, min(step, end))[0] for make, end in zip(makes, lasts, strict=True)
    )
    right(shown["at"] == f"step {step} of {last}", shown["at"])
    right(
        [shown["size"], shown["prefix"]] == [f"{size}", many(s["prefix"], "token")], shown["size"]
    )
    same = min(s["prefix"], *(row[1] for row in requests))
    kept = "full blocks shared" if s["shared"] else "stored by each"
    told = f"all begin with the same {many(same, 'token')}, {kept}"
    told = told if same else "each begins in its own way"
    right(shown["beginning"] == told, f"{shown['beginning']}, not {told}")
    focused = root.locator(".p-request:focus")
    chosen = s["followed"] - 1 if 0 < s["followed"] <= len(requests) else None
    followed = ord(focused.inner_text()) - 65 if focused.count() else chosen
    facts = [
        same_map(one, memory, followed)
        for one, memory in zip(shown["maps"], (strips, blocks), strict=True)
    ]
    captions = ["In strips of 24 places, one for each request", "In blocks, found by a table"]
    right([one["caption"] for one in shown["maps"]] == captions, shown["maps"][0]["caption"])
    inside, between = facts[0], gaps(strips)
    told = [f"{many(len(strips.running), 'request')} at once; empty: {inside} inside strips, {between} left over",
            f"{many(len(blocks.running), 'request')} at once; empty: {facts[1]} inside blocks; {many(len(blocks.free()), 'block')} free"]  # fmt: skip
    right([one["fact"] for one in shown["maps"]] == told, f"{shown['maps'][0]['fact']}, not {told}")
    same_rows(root, shown, requests, strips, blocks, followed, chosen)
    same_sentence(shown["said"], step, strips, blocks, lasts, followed)
    name = lambda n: chr(65 + n)  # noqa: E731
    for trait, value in (("tables", {name(n): blocks.table[n] for n in blocks.running}),
                         ("strips", {name(n): strips.start[n] for n in strips.running}),
                         ("running", [len(strips.running), len(blocks.running)]),
                         ("waste", [inside, between, facts[1]]), ("lasts", lasts),
                         ("served", [len(strips.done), len(blocks.done)])):  # fmt: skip
        right(s[trait] == value, f"Python reads {trait} = {s[trait]}, not {value}")


def gaps(memory):
    """Free places in which no further strip fits."""
    free = "".join("." if not owners else "x" for owners, _ in memory.places())
    return sum(len(gap) % LONGEST for gap in free.split("x"))


def same_map(drawn, memory, followed):
    """Compare a memory, place by place; return how many places are taken and hold no token."""
    empty = used = 0
    for at, (place, (owners, token)) in enumerate(
        zip(drawn["places"], memory.places(), strict=True)
    ):
        state = "free" if not owners else "token" if token else "kept"
        right(place["state"] == state, f"place {at} is {place['state']}, not {state}")
        right(
            place["role"] == (ROLES[owners[0] % 7] if owners else None),
            f"place {at}: {place['role']}",
        )
        letters = [chr(65 + n) for n in owners]
        text = "" if not token else letters[0] if len(owners) == 1 else str(len(owners))
        right(place["text"] == text, f"place {at} says {place['text']!r}, not {text!r}")
        what = (
            "free"
            if not owners
            else f"{'a token of' if token else 'set aside for'} {', '.join(letters)}"
        )
        right(place["title"] == f"place {at + 1}: {what}", place["title"])
        right(place["on"] == (followed in owners), f"place {at} is followed: {place['on']}")
        right(
            place["block"] == bool(memory.size and at % memory.size == 0), f"a block begins at {at}"
        )
        empty += state == "kept"
        used += state == "token"
    right(drawn["label"] == f"{drawn['caption']}: {used} of 64 places hold a token", drawn["label"])
    return empty


def same_rows(root, shown, requests, strips, blocks, followed, chosen):
    """The table of requests, and the table view."""
    right(shown["heads"] == ["request", "tokens", "strip from", "blocks"], shown["heads"])

    def where(memory, n, told):
        if n in memory.running:
            return told(n)
        return "served" if n in memory.done else "waits" if n in memory.waiting else "to come"

    right(len(shown["rows"]) == len(requests), f"{len(shown['rows'])} rows")
    wanted = []
    for n, row in enumerate(shown["rows"]):
        letter, tokens = chr(65 + n), where(blocks, n, lambda n: str(blocks.tokens(n)))
        wanted.append([letter, tokens, where(strips, n, lambda n: str(strips.start[n] + 1)),
                       where(blocks, n, lambda n: " ".join(map(str, blocks.table[n])))])  # fmt: skip
        right(row["cells"] == wanted[-1], f"{row['cells']}, not {wanted[-1]}")
        right([row["on"], row["role"]] == [n == followed, ROLES[n % 7]], f"{letter}: {row}")
        right(row["pressed"] == str(n == chosen).lower(), f"{letter}: pressed {row['pressed']}")
        right(row["label"] == f"Follow request {letter}, {tokens}", row["label"])
    for caption, (head, *rows) in tables(root):
        right(caption == "The block tables, and what is where", caption)
        right([head, *rows] == [shown["heads"], *wanted], f"the table view has {rows}")


def same_sentence(said, step, strips, blocks, lasts, followed):
    """What the sentence says of both, and of the request that is followed."""
    a, b = len(strips.running), len(blocks.running)
    over = len(strips.done) == len(blocks.done) == len(strips.requests)
    if not step:
        return right(said == "No request has arrived yet. Press Play, or step.", said)
    if over and followed is None:
        text = f"All are served: in strips after {lasts[0]} steps, in blocks after {lasts[1]}."
        return right(said == text, f"{said!r}, not {text!r}")
    left = len(strips.requests) - len(strips.done)
    if left and len(blocks.done) == len(strips.requests) and followed is None:
        text = f"In blocks all were served after {lasts[1]} steps; in strips "
        text += f"{many(left, 'request')} {'is' if left == 1 else 'are'} left."
        return right(said == text, f"{said!r}, not {text!r}")
    text = f"{many(a, 'request')} run{'s' if a == 1 else ''} in strips, {b} in blocks. "
    if followed is not None:
        has = (f"the strip from place {strips.start[followed] + 1}" if followed in strips.running
               else "no strip")  # fmt: skip
        lie = "no blocks."
        if followed in blocks.running:
            table = [str(n) for n in blocks.table[followed]]
            several = f"blocks {', '.join(table)}, in this order"
            lie = f"its tokens lie in {several if len(table) > 1 else f'block {table[0]}'}."
        text += f"{chr(65 + followed)} has {has}, and {lie}"
    elif strips.waiting or blocks.waiting:
        text += f"Waiting for a strip: {len(strips.waiting)}; waiting for blocks: {len(blocks.waiting)}."
        if blocks.back:
            one, who = len(blocks.back) == 1, " and ".join(chr(65 + n) for n in blocks.back)
            text += (
                f" No block was free, so {who} gave {'its own' if one else 'theirs'} back to older "
            )
            text += f"requests and {'waits' if one else 'wait'} again."
    return right(said.strip() == text.strip(), f"{said!r}, not {text!r}")

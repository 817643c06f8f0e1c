"""PagedMemory: requests come and go, and their keys and values lie in strips or in blocks."""

from typing import Any

from pieces.checks import require
from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Count, Matrix, Result, Switch

MOST, LATEST, LONGEST, STEPS = 10, 30, 24, 60
PLACES, SIZES = 64, (1, 2, 4, 8, 16)  # of the memory; of its blocks
# Steps until it comes, tokens of its prompt, tokens that it will write.
REQUESTS = (
    (0, 10, 4), (0, 8, 12), (1, 9, 5), (2, 12, 6),
    (3, 8, 3), (5, 14, 7), (7, 9, 10), (9, 11, 4),
)  # fmt: skip


class Requests(Matrix):
    """Rows of [arrives, prompt, writes]: whole numbers, in the order in which they come."""

    def limits(self) -> dict[str, Any]:
        """Return what the page needs to know; no control sets them, so no link does."""
        told = {"most": MOST, "latest": LATEST, "longest": LONGEST}
        return super().limits() | {"fixed": True} | told

    def validate(self, obj: Any, value: Any) -> list[list[int]]:
        """Return `value` as nested lists of int, or raise `ValueError`."""
        table = super().validate(obj, value)
        remedy = "pass rows of [arrives, prompt, writes]"
        require(1 <= len(table) <= MOST, self.name, value, f"1 to {MOST} requests", remedy)
        whole = all(float(x).is_integer() for row in table for x in row)
        require(whole, self.name, value, "whole numbers", remedy)
        order = [row[0] for row in table]
        fits = order == sorted(order) and all(0 <= row[0] <= LATEST for row in table)
        rule = f"requests by their arrival, 0 to {LATEST}"
        require(fits, self.name, value, rule, remedy)
        fits = all(row[1] >= 1 and row[2] >= 1 and row[1] + row[2] <= LONGEST for row in table)
        rule = f"at least one token each to read and to write, {LONGEST} in all"
        require(fits, self.name, value, rule, remedy)
        return [[int(x) for x in row] for row in table]


class PagedMemory(PieceWidget):
    """One memory of 64 places, twice: in strips as long as the longest text, and in small blocks.

    In each step a request that is finished leaves, those that wait come in if there is room, and
    each that runs writes one token. Where no block is free, the one that came last gives its blocks
    back and waits.

    Args:
        requests: rows of [arrives, prompt, writes], at most 10; of 24 tokens at most.
        block_size: places in a block: 1, 2, 4, 8 or 16; a number between is rounded down.
        prefix: tokens with which every prompt begins, 0 to 8.
        shared: whether full blocks of that beginning are shared.
        step: how many steps are done, 0 to 60.
        followed: the request that is followed, from 1; 0 for none.

    Read back:
        tables: the block table of each request that runs, by its letter.
        strips: the first place of each strip, by the letter of its request.
        running: requests that run, [strips, blocks].
        waste: [places inside strips, places between them, places inside blocks] without a token.
        served: requests that are finished, [strips, blocks].
        lasts: steps until all are served, [strips, blocks].

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "One memory, many requests"

    requests = Requests(REQUESTS, columns=3, bound=100)
    block_size = Count(4, SIZES[0], SIZES[-1]).tag(told={"sizes": SIZES, "places": PLACES})
    prefix = Count(8, 0, 8)
    shared = Switch(False)
    step = Count(6, 0, STEPS)
    followed = Count(0, 0, MOST)
    tables = Result()
    strips = Result()
    running = Result()
    waste = Result()
    served = Result()
    lasts = Result()

    def describe(self) -> str:
        """Return the requests, the blocks and the step."""
        shares = f"{self.prefix} first tokens {'' if self.shared else 'not '}shared"
        blocks = f"{len(self.requests)} requests, blocks of {self.block_size}"
        return f"{blocks}, {shares}, step {self.step}"

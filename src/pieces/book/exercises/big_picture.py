"""Checkers for chapter 01, big_picture."""

from collections.abc import Callable, Sequence

from pieces.book.exercises.verdict import attempt, say

CASES = (
    (3, (1, 2, 4, 8)),
    (3, (1,)),
    (3, (1, 1, 1)),
    (5, (1, 1)),
    (7, ()),
    (1, (1, 5)),
    (4, (3, 1)),
)


def _slips(kernel: int, dilations: Sequence[int]) -> dict[int, str]:
    """What well-known mistakes would give."""
    total, layers = sum(dilations), len(dilations)
    return {
        1 + kernel // 2 * total: "That is one side alone: a window reaches to both.",
        1 + kernel * total: "A window of k words reaches k − 1 further, not k.",
        (kernel - 1) * total: "The word itself counts too.",
        kernel * total: "Windows overlap: each layer adds k − 1 words, not k.",
        1 + (kernel - 1) * layers: "The dilations are not used.",
        kernel**layers: "Many ways lead to the same word: sums, not products.",
    }


def my_receptive_field(function: Callable[[int, Sequence[int]], int]) -> None:
    """Check `f(kernel, dilations)`: how many words one result depends on."""
    for kernel, dilations in CASES:
        result, complaint = attempt(function, kernel, dilations)
        right = 1 + (kernel - 1) * sum(dilations)
        what = f"kernel {kernel}, dilations {list(dilations)}"
        if not complaint and result != right:
            complaint = f"{what}: expected {right}, got {result!r}. "
            complaint += (
                _slips(kernel, dilations).get(result, "") if isinstance(result, int) else ""
            )
        if complaint:
            return say("1.4", complaint.strip())
    return say("1.4", "")

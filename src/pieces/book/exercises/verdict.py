"""What every checker needs: run the reader's function, compare, and say what is wrong."""

from collections.abc import Callable
from typing import Any

import torch

WAITING = "waits for your code"


def attempt(function: Callable, *arguments: Any) -> tuple[Any, str]:
    """Run the reader's function: (result, "") or (None, what went wrong in words)."""
    name = getattr(function, "__name__", "the function")
    try:
        result = function(*arguments)
    except Exception as error:  # a reader's code may fail in any way; the checker must not
        return None, f"{name} raised {type(error).__name__}: {error}"
    if result is None:
        return None, f"{WAITING}: {name} returns None."
    return result, ""


def compare(result: Any, expected: torch.Tensor, case: str, tolerance: float = 1e-5) -> str:
    """Say in words how `result` differs from `expected`, or "" where it does not."""
    if not isinstance(result, torch.Tensor):
        return f"{case}: expected a torch.Tensor, got {type(result).__name__}."
    floating = result.dtype.is_floating_point != expected.dtype.is_floating_point
    if floating or (result.dtype == torch.bool) != (expected.dtype == torch.bool):
        return f"{case}: expected {expected.dtype}, got {result.dtype}."
    if tuple(result.shape) != tuple(expected.shape):
        return f"{case}: expected the shape {tuple(expected.shape)}, got {tuple(result.shape)}."
    wrong = ~torch.isclose(result.double(), expected.double(), rtol=0, atol=tolerance)
    if not wrong.any():
        return ""
    if expected.ndim == 0:
        return f"{case}: expected {_short(expected)}, got {_short(result)}."
    place = tuple(int(n) for n in wrong.nonzero()[0])
    count = int(wrong.sum())
    return (
        f"{case}: {count} of {wrong.numel()} entries differ. "
        f"The first is at {list(place)}, counted from 0: "
        f"expected {_short(expected[place])}, got {_short(result[place])}."
    )


def diagnosis(result: Any, slips: dict[str, torch.Tensor]) -> str:
    """Return the hint of the mistake that gives exactly this result, or ""."""
    for words, wrong in slips.items():
        same = isinstance(result, torch.Tensor) and result.shape == wrong.shape
        if same and torch.allclose(result.double(), wrong, atol=1e-6):
            return " " + words
    return ""


def say(exercise: str, complaint: str) -> None:
    """Print the verdict on an exercise: right, waiting for code, or not yet and why."""
    if complaint.startswith(WAITING):
        print(f"Exercise {exercise} {complaint}")
    else:
        print(f"Exercise {exercise}: {f'not yet. {complaint}' if complaint else 'right.'}")


def _short(value: torch.Tensor) -> str:
    """Print one entry: a bool as it is, a number with four digits."""
    return str(bool(value)) if value.dtype == torch.bool else f"{float(value):.4f}"

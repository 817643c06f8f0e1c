"""Copy: a b c | a b c."""

from jaxtyping import Int
from torch import Tensor

from pieces.checks import Size, checked
from pieces.tasks.base import Items, symbols
from pieces.tasks.rewriting import Rewriting


@checked
class Copy(Rewriting):
    """Say again what you read. Held out: prompts.

    Source: Graves et al. 2014 (Neural Turing Machines), 4.1.
    """

    def __init__(self, n_symbols: Size = 16, length: int = 8) -> None:
        super().__init__(symbols(n_symbols), length)

    def answer(self, items: Items) -> Int[Tensor, "N L"]:
        """The prompt."""
        return items

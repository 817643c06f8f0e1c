"""HeadSplitter: one table of numbers becomes several heads, and they become one table again."""

from pieces.widgets.base import PieceWidget
from pieces.widgets.traits import Count, Result

STEPS = ("project", "view", "transpose", "attend", "back", "reshape", "mix")


class HeadSplitter(PieceWidget):
    """Multi-head attention as the shapes that its tensors take, from the queries to the output.

    Args:
        B: texts in the batch, 1 or 2.
        T: tokens, 1 to 6.
        heads: H, 1 to 4.
        head_dim: K, numbers in each head, 1 to 4; d_model is H K.
        step: 0 project, 1 view, 2 transpose, 3 attend, 4 back, 5 reshape, 6 mix.
        silenced: a head whose values are zero, from 1; 0 for none.

    Read back:
        shape: of the tensor that is shown.
        changed: how many of its numbers a silenced head has changed.

    Raises:
        ValueError: an unknown argument or a value out of range.
    """

    title = "Split into heads"

    B = Count(1, 1, 2)
    T = Count(4, 1, 6)
    heads = Count(2, 1, 4)
    head_dim = Count(4, 1, 4)
    step = Count(0, 0, len(STEPS) - 1)
    silenced = Count(0, 0, 4)
    shape = Result()
    changed = Result()

    def describe(self) -> str:
        """Return the sizes and the step that is shown."""
        D = self.heads * self.head_dim
        heads = f"{self.heads} heads" if self.heads > 1 else "one head"
        sizes = f"a tensor [{self.B}, {self.T}, {D}] in {heads} of size {self.head_dim}"
        quiet = f", with head {self.silenced} silenced" if self.silenced else ""
        return f"{sizes}, at the step “{STEPS[self.step]}”{quiet}"

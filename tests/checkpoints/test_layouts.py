"""Every layout is undone by its own way back."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from pieces.checkpoints.layouts import ByGroup, Same, Stacked, Transposed, TransposedStacked


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4), st.integers(1, 5))
def test_every_layout_joins_what_it_split(groups, queries, size, width):
    heads = groups * queries
    for layout, parts in [
        (Same(), 1),
        (Transposed(), 1),
        (Stacked(3), 3),
        (TransposedStacked(3), 3),
    ]:
        weight = torch.randn(3 * size, width)
        weight = weight.T if isinstance(layout, TransposedStacked) else weight
        split = layout.split(weight)
        assert len(split) == parts
        assert torch.equal(layout.join(split), weight)
    for weight in (torch.randn((heads + 2 * groups) * size, width), torch.randn(3 * groups * size)):
        layout = ByGroup(heads if weight.ndim == 2 else groups, groups)
        query, key, value = layout.split(weight)
        assert query.shape[0] == layout.n_heads * size
        assert key.shape[0] == value.shape[0] == groups * size
        assert torch.equal(layout.join((query, key, value)), weight)

"""What chapter 17 says is computed here: its answers, and the numbers in its sentences."""

from prose import words

from pieces import masks

ANSWERS = {
    "17.a": lambda: masks.causal(4).sum(),
    "17.1": lambda: masks.causal(6)[3].sum(),
    "17.2": lambda: masks.causal(3),
    "17.3": lambda: (masks.causal(6)[0] & ~masks.causal(6)[1:2]).sum(),
}


def test_the_mask_is_the_equation():
    mask = masks.causal(6)
    assert all(mask[i, j] == (j <= i) for i in range(6) for j in range(6))


def test_it_has_words():
    assert words("17_beyond")

"""The checkers of chapter 13 accept what is right and say what is wrong."""

import pytest
import torch

from pieces.book.exercises import encoder_decoder as check


def decoded(model, source, bos, eos, longest, *, row=-1, stops=True, anew=False):
    """Greedy decoding, and some ways to get it wrong."""
    ids, memory = [bos], model.encode(source)
    while len(ids) <= longest:
        if anew:
            memory = model.encode(source)
        logits = model.decode(torch.tensor([ids]), memory)
        word = int(logits[0, row].argmax())
        if stops and word == eos:
            break
        ids.append(word)
    return ids[1:]


def test_the_right_answer_is_accepted(capsys):
    check.translate(decoded)
    assert capsys.readouterr().out == "Exercise 13.4: right.\n"


def with_options(**options):
    return lambda *given: decoded(*given, **options)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda *given: None, "returns None"),
        (lambda *given: torch.tensor([1]), "expected a list"),
        (lambda *given: [1.5], "yours contains a float"),
        (lambda *given: [torch.tensor(3)], "contains a Tensor. int(…) makes a whole number of it"),
        (lambda *given: [decoded(*given)], "contains a list"),
        (lambda *given: [given[2], *decoded(*given)], "Leave out the start sign"),
        (lambda *given: [*decoded(*given), given[3]], "Leave out the end sign"),
        (with_options(stops=False), "Stop at the end sign"),
        (with_options(row=0), "last"),
        (with_options(anew=True), "the encoder ran"),
        (lambda *given: decoded(*given[:4], 24), "At most 4 words"),
        (lambda *given: [999], "999"),
        (lambda *given: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_translate_says_what_is_wrong(answer, said, capsys):
    check.translate(answer)
    out = capsys.readouterr().out
    assert said in out
    assert "right.\n" not in out


def test_no_hook_is_left_behind():
    check.translate(decoded)
    assert not check.translator().model.encoder._forward_hooks

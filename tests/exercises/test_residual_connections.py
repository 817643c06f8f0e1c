"""The checker of chapter 9 accepts what is right and says what is wrong."""

import itertools

import pytest
import torch

from pieces.book.exercises import residual_connections as check


def by_stream(x, sublayers):
    """The stream is kept beside the parts."""
    parts, stream = [x], x
    for f in sublayers:
        parts.append(f(stream))
        stream = stream + parts[-1]
    return parts


def by_difference(x, sublayers):
    """What a layer wrote is what the stream gained; a tuple will do."""
    streams = [x]
    for f in sublayers:
        streams.append(streams[-1] + f(streams[-1]))
    return (x, *(b - a for a, b in itertools.pairwise(streams)))


@pytest.mark.parametrize("answer", [by_stream, by_difference])
def test_the_right_answer_is_accepted(capsys, answer):
    check.my_stream(answer)
    assert capsys.readouterr().out == "Exercise 9.4: right.\n"


def streams(x, sublayers):
    return list(torch.stack(by_stream(x, sublayers)).cumsum(0))


def written_into(x, sublayers):
    parts, stream = [x], x
    for f in sublayers:
        parts.append(f(stream))
        stream += parts[-1]
    return parts


def chain(x, sublayers):
    parts = [x]
    for f in sublayers:
        parts.append(f(parts[-1]))
    return parts


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        (streams, "the streams after each layer"),
        (lambda x, sublayers: [x, *(f(x) for f in sublayers)], "reads the stream"),
        (chain, "without skips"),
        (lambda x, sublayers: by_stream(x, sublayers)[1:], "The input itself is missing"),
        (lambda x, sublayers: sum(by_stream(x, sublayers)), "Expected a list of 2 tensors"),
        (written_into, "+= writes into it"),
        (lambda x, sublayers: None, "returns None"),
        (lambda x, sublayers: "x", "Expected a list of 2 tensors"),
        (lambda x, sublayers: [], "a list of 2 tensors"),
        (lambda x, sublayers: [x, x[..., :1]], "a list of 2 tensors"),
        (lambda x: [x], "TypeError"),
    ],
)
def test_a_mistake_is_named(mistake, said, capsys):
    check.my_stream(mistake)
    printed = capsys.readouterr().out
    assert "not yet" in printed or "waits" in printed
    assert said in printed

"""Beam search against its definition, against transformers, and against what goes wrong."""

import functools
import itertools
import math

import pytest
import torch
from torch import nn

import lazily
from pieces import masks
from pieces.beam_search import _Beams, beam_search
from pieces.checkpoints import from_transformers
from pieces.generate import generate
from pieces.models.encoder_decoder import EncoderDecoderConfig, encoder_decoder

hf = lazily.Module("transformers")

VOCAB = 19
OPTIONS = {"start_id": 2, "eos_id": 1}


@functools.cache
def built():
    torch.manual_seed(1)
    model = encoder_decoder(EncoderDecoderConfig(VOCAB, 24, 2, 3, 20)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


def prompt(B=2, T=5):
    return torch.randint(1, VOCAB, (B, T))


class Told(nn.Module):
    """An encoder-decoder whose next token depends on the last one only, as a table says."""

    def __init__(self, probabilities):
        super().__init__()
        self.table = torch.tensor(probabilities).log()

    def encode(self, source, mask=None):
        return source[..., None].float()

    def new_cache(self):
        return None

    def decode_hidden(self, target, memory, **_):
        return target

    def logits(self, hidden):
        return self.table[hidden]


# ---- what it means


def test_more_beams_find_no_worse():
    model, source = built(), prompt(5, 6)
    scores = [
        beam_search(model, source, 7, n_beams=n, length_penalty=0.0, **OPTIONS)[1]
        for n in (1, 2, 8)
    ]
    assert (scores[2] >= scores[0] - 1e-5).float().mean() >= 0.8  # not a law of beam search


def test_wide_enough_it_is_exhaustive():
    """Two tokens deep, as many beams as the vocabulary: nothing is pruned."""
    model, source = built(), prompt(2, 4)
    targets, scores = beam_search(model, source, 2, n_beams=VOCAB, length_penalty=0.0, **OPTIONS)
    for b in range(2):
        best = -torch.inf
        with torch.no_grad():
            for first in range(VOCAB):
                start = torch.tensor([[2, first]])
                log_p = model(source[b : b + 1], start).log_softmax(-1)[0]
                ends = first == 1
                best = max(best, float(log_p[0, first] + (0 if ends else log_p[1].max())))
        assert scores[b] == pytest.approx(best, abs=1e-4)
        assert targets[b, 0] == 2


def test_one_beam_is_greedy():
    model, source = built(), prompt(4, 6)
    found, _ = beam_search(model, source, 9, n_beams=1, **OPTIONS)
    greedy = generate(model, source, 9, **OPTIONS)
    assert found.tolist() == greedy[:, : found.shape[1]].tolist()


def test_rows_do_not_disturb_each_other():
    model, source = built(), prompt(3, 6)
    together, scores = beam_search(model, source, 8, n_beams=3, **OPTIONS)
    for b in range(3):
        alone, score = beam_search(model, source[b : b + 1], 8, n_beams=3, **OPTIONS)
        row = together[b].tolist()
        assert row[: alone.shape[1]] == alone[0].tolist()
        assert set(row[alone.shape[1] :]) <= {0}
        assert score[0] == pytest.approx(float(scores[b]), abs=1e-4)


# ---- when it ends


# eos is 1, the start 2. The end is worth 0.6 at once; behind 0 the text is certain.
ENDS = [[0.0, 0.01, 0.0, 0.99], [0.25] * 4, [0.4, 0.6, 0.0, 0.0], [0.0, 0.01, 0.0, 0.99]]


def test_it_stops_where_no_open_candidate_is_better_now():
    """As it stands, log 0.4 is below log 0.6; over five tokens it would be log 0.38 / 5."""
    found, score = beam_search(Told(ENDS), prompt(1), 5, n_beams=1, **OPTIONS)
    assert found.tolist() == [[2, 1]]
    assert float(score) == pytest.approx(math.log(0.6), abs=1e-6)


def test_the_patient_search_goes_on_until_none_can_be():
    found, score = beam_search(Told(ENDS), prompt(1), 5, n_beams=1, patient=True, **OPTIONS)
    assert found.tolist() == [[2, 0, 3, 3, 3, 3]]
    assert float(score) == pytest.approx((math.log(0.4) + 4 * math.log(0.99)) / 5, abs=1e-6)
    for penalty in (0.0, -1.0):  # more tokens do not help: both end at once
        options = {"n_beams": 1, "length_penalty": penalty, "patient": True} | OPTIONS
        assert beam_search(Told(ENDS), prompt(1), 5, **options)[0].tolist() == [[2, 1]]


def step(beams, rows, width=2):
    """Each row: the log-probabilities after every open candidate."""
    ids = torch.full((len(rows), width), 2)
    return beams.step(torch.tensor(rows), ids)


@pytest.mark.parametrize(
    ("open_one", "closed"), [(-2.0, True), (-2.5, True), (-1.5, False)], ids=str
)
def test_a_tie_with_the_worst_finished_one_ends_the_row(open_one, closed):
    """One beam, ended with -2; the best open one is as good, worse, better than that."""
    beams = _Beams(prompt(1), 1, 1.0, 1, None)
    step(beams, [[open_one, -1e-9 + min(open_one, -2.0) + 1e-9, -9.0]])
    beams.finished[0] = [(float(beams._ranks(torch.tensor(-2.0), 1)), torch.tensor([2, 1]))]
    beams.closed[0] = False
    beams._close(0, 1)
    assert beams.closed.tolist() == [closed]


def test_the_worst_finished_one_counts_and_not_the_best():
    """Two beams with one finished better and one worse than the open one: the row goes on."""
    beams = _Beams(prompt(1), 2, 1.0, 1, None)
    beams.total = torch.tensor([[-1.0, -5.0]])
    rank = [float(beams._ranks(torch.tensor(x), 1)) for x in (-0.5, -1.5)]
    beams.finished[0] = [(r, torch.tensor([2, 1])) for r in rank]
    beams._close(0, 1)
    assert beams.closed.tolist() == [False]
    beams.finished[0][1] = (rank[0], torch.tensor([2, 1]))
    beams._close(0, 1)
    assert beams.closed.tolist() == [True]


def test_an_end_counts_only_among_the_best():
    """As many ends as beams stand in the first 2 n; those behind the n best are dropped."""
    beams = _Beams(prompt(1), 2, 1.0, 1, None)
    beams.total = torch.tensor([[-0.1, -0.2]])
    step(beams, [[-0.1, -3.0, -9.0], [-0.1, -4.0, -9.0]])
    assert beams.finished == [[]]
    beams = _Beams(prompt(1), 2, 1.0, 1, None)
    beams.total = torch.tensor([[-0.1, -0.2]])
    step(beams, [[-0.1, -0.05, -9.0], [-1.0, -4.0, -9.0]])
    assert len(beams.finished[0]) == 1


# ---- numbers


@pytest.mark.parametrize("penalty", [1e4, -1e4, 400, -400])
def test_no_penalty_overflows(penalty):
    found, score = beam_search(built(), prompt(3), 6, length_penalty=penalty, **OPTIONS)
    assert not score.isnan().any()
    lengths = (found[:, 1:] != 0).sum(1)
    assert penalty < 0 or (lengths == 6).all()


def test_a_large_penalty_still_ranks():
    """Both scores are below the smallest number; the longer candidate is the better one."""
    beams = _Beams(prompt(1), 1, 1e4, 1, None)
    three, four = (float(beams._ranks(torch.tensor(-2.0), n)) for n in (3, 4))
    beams.finished[0], beams.closed[0] = (
        [(three, torch.tensor([3])), (four, torch.tensor([4]))],
        True,
    )
    text, score = beams.best(torch.zeros(1, 1, dtype=torch.long), 0)
    assert text.tolist() == [[4]]
    assert score.tolist() == [0.0]


@pytest.mark.parametrize("default", [torch.bfloat16, torch.float64])
def test_the_sums_are_float32_whatever_the_default(default):
    expected = beam_search(built(), prompt(3), 6, **OPTIONS)
    torch.manual_seed(0)
    model, source = built(), prompt(3)
    torch.set_default_dtype(default)
    try:
        found, scores = beam_search(model, source, 6, **OPTIONS)
    finally:
        torch.set_default_dtype(torch.float32)
    assert scores.dtype == torch.float32
    assert found.tolist() == expected[0].tolist()


def test_scores_have_the_precision_of_the_model_and_float32_at_least():
    for dtype, expected in [(torch.bfloat16, torch.float32), (torch.float64, torch.float64)]:
        model = encoder_decoder(EncoderDecoderConfig(VOCAB, 24, 2, 3, 20)).eval().to(dtype)
        assert beam_search(model, prompt(), 4, **OPTIONS)[1].dtype == expected


def test_what_is_found_can_be_trained_on():
    model, source = built(), prompt(3)
    for n in (1, 2, 3, 5):
        found, scores = beam_search(model, source, n, **OPTIONS)
        assert not found.is_inference()
        assert not scores.requires_grad
        model(source, found).logsumexp(-1).sum().backward()
    model.zero_grad(set_to_none=True)


# ---- against transformers


def t5(seed, eos, dtype):
    torch.manual_seed(seed)
    config = hf.T5Config(
        vocab_size=VOCAB, d_model=16, d_kv=8, d_ff=20, num_layers=2, num_heads=2,
        dropout_rate=0.0, eos_token_id=eos, pad_token_id=0, decoder_start_token_id=2,
    )  # fmt: skip
    model = hf.T5ForConditionalGeneration(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.25)
    model.generation_config.eos_token_id = eos
    return model.to(dtype)


def ended(text, eos):
    """Without padding; ``transformers`` pads with eos where the padding is 0."""
    return text[: text.index(eos) + 1] if eos in text else text


# Of two beams that are as good as each other in eight bits the kernels decide, and those of an
# older torch round otherwise in their code than in ours.
ALIKE = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 12)
DTYPES = [torch.float32, *[torch.bfloat16] * ALIKE]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("patient", [False, True])
def test_it_is_transformers_beam_search(dtype, patient):
    """Models, ends, penalties, beams: the same texts, and the same scores."""
    differ, rows, settings = 0, 0, itertools.product((0, 1), (1, 7), (-0.5, 1.0, 2.0))
    for seed, eos, penalty in settings:
        theirs, source = t5(seed, eos, dtype), prompt(4, 6)
        ours = from_transformers(theirs).to(dtype)
        real = masks.padding([6, 4, 5, 1], 6)[:, 0, 0]
        n = 2 + seed
        expected = theirs.generate(
            source, attention_mask=real.long(), max_new_tokens=9, num_beams=n, do_sample=False,
            length_penalty=penalty, early_stopping="never" if patient else False,
            return_dict_in_generate=True, output_scores=True,
        )  # fmt: skip
        options = {"start_id": 2, "eos_id": eos, "mask": real, "n_beams": n, "patient": patient}
        found, scores = beam_search(ours, source, 9, length_penalty=penalty, **options)
        torch.testing.assert_close(scores, expected.sequences_scores, rtol=0.02, atol=0.02)
        pairs = zip(found.tolist(), expected.sequences.tolist(), strict=True)
        differ += sum(ended(a, eos) != ended(b, eos) for a, b in pairs)
        rows += len(found)
    assert rows == 48
    assert differ == 0


# ---- errors


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"n_beams": 0}, ValueError, "n_beams = 0"),
        ({"patient": "no"}, TypeError, "patient = 'no'"),
        ({"length_penalty": math.inf}, ValueError, "length_penalty = inf"),
        ({"input_ids": torch.zeros(0, 3, dtype=torch.long)}, ValueError, r"input_ids\.shape"),
        ({"input_ids": torch.zeros(2, 0, dtype=torch.long)}, ValueError, r"input_ids\.shape"),
        ({"mask": torch.ones(2, 4, dtype=torch.bool)}, ValueError, "mask"),
    ],
)
def test_bad_requests_are_refused(change, error, words):
    request = {"input_ids": prompt(), "max_new_tokens": 3} | OPTIONS | change
    with pytest.raises(error, match=words):
        beam_search(built(), **request)


def test_a_vocabulary_of_one_token_is_refused():
    with pytest.raises(ValueError, match=r"vocab_size = 1: .*than eos_id"):
        beam_search(Told([[1.0]]), prompt(1), 3, start_id=0, eos_id=0)

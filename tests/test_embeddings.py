import math

import pytest
import torch
from torch import nn

from checker import refused
from pieces.embeddings import TokenEmbedding
from pieces.positions import Sinusoidal


def test_it_is_a_table_look_up_equal_to_torch(device):
    ours = TokenEmbedding(11, 6, scale=3.0, padding_idx=2).to(device)
    theirs = nn.Embedding(11, 6, padding_idx=2).to(device)
    theirs.load_state_dict(ours.state_dict())
    ids = torch.tensor([[2, 10, 0], [3, 3, 2]], device=device)
    torch.testing.assert_close(ours(ids), 3 * theirs(ids))
    ours(ids).sum().backward()
    (3 * theirs(ids)).sum().backward()
    torch.testing.assert_close(ours.weight.grad, theirs.weight.grad)


def test_the_factor_of_the_paper_presupposes_a_small_start():
    d_model, ids = 512, torch.arange(2000).view(1, -1)
    code = Sinusoidal(d_model)(torch.arange(100)).std()
    factor = math.sqrt(d_model)
    ours = TokenEmbedding(2000, d_model, scale=factor)(ids).std()
    torchs = TokenEmbedding(2000, d_model, scale=factor, std=1.0)(ids).std()
    assert abs(ours - 1) < 0.01
    assert 0.6 < code < 0.8
    assert abs(torchs - factor) < 0.2, "thirty times the positional code"


def test_padding_starts_at_zero_and_stays_there_unless_the_head_trains_it():
    module, ids = TokenEmbedding(5, 4, padding_idx=1), torch.tensor([[1, 2, 1]])
    assert (module(ids)[:, [0, 2]] == 0).all()
    module(ids).square().sum().backward()
    assert (module.weight.grad[1] == 0).all()
    assert (module.weight.grad[2] != 0).all()
    module.logits(torch.randn(1, 3, 4)).sum().backward()
    assert (module.weight.grad[1] != 0).all()


def test_the_tied_head_is_the_same_table():
    module, x = TokenEmbedding(5, 4, scale=2.0), torch.randn(2, 3, 4)
    torch.testing.assert_close(module.logits(x), x @ module.weight.T)
    assert set(module.state_dict()) == {"weight"}


def test_state_dict_round_trip_and_meta_device():
    ours, other = TokenEmbedding(7, 3), TokenEmbedding(7, 3)
    other.load_state_dict(ours.state_dict())
    ids = torch.arange(7)[None]
    assert torch.equal(ours(ids), other(ids))
    assert ours.to("meta")(ids.to("meta")).shape == (1, 7, 3)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(dtype):
    module = TokenEmbedding(7, 4, scale=2.0).to(dtype)
    x = module(torch.arange(7)[None])
    assert x.dtype == module.logits(x).dtype == dtype
    assert module.logits(x).isfinite().all()


@pytest.mark.usefixtures("unchecked")
def test_compiles_to_one_graph_and_exports():
    module, ids = TokenEmbedding(7, 4, scale=2.0, padding_idx=0), torch.tensor([[1, 0, 6]])
    compiled = torch.compile(module, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(ids), module(ids))
    T = torch.export.Dim("T", min=2, max=16)
    exported = torch.export.export(module, (ids,), dynamic_shapes=({1: T},)).module()
    longer = torch.arange(7)[None]
    torch.testing.assert_close(exported(longer), module(longer))


module = TokenEmbedding(5, 4)
BAD = [
    (lambda: TokenEmbedding(0, 4), ValueError, "vocab_size = 0"),
    (lambda: TokenEmbedding(5.0, 4), TypeError, "vocab_size = 5.0"),
    (lambda: TokenEmbedding(5, True), TypeError, "d_model = True"),
    (lambda: TokenEmbedding(5, 4, scale=0.0), ValueError, "scale = 0.0"),
    (lambda: TokenEmbedding(5, 4, scale=True), TypeError, "scale = True"),
    (lambda: TokenEmbedding(5, 4, std=-1.0), ValueError, "std = -1.0"),
    (lambda: TokenEmbedding(5, 4, padding_idx=5), ValueError, "padding_idx = 5: must be below"),
    (lambda: TokenEmbedding(5, 4, padding_idx=-1), ValueError, "padding_idx = -1"),
    (lambda: module(torch.tensor([[1.0]])), TypeError, "ids.dtype = torch.float32"),
    (lambda: module(torch.tensor([[True]])), TypeError, "ids.dtype = torch.bool"),
    (lambda: module(torch.tensor([1])), ValueError, "ids.shape = (1,): must be 2-D"),
    (lambda: module(torch.tensor([[1, 5]])), ValueError, "ids = '1 .. 5': must be in 0 .. 4"),
    (lambda: module(torch.tensor([[-1, 2]])), ValueError, "ids = '-1 .. 2': must be in 0 .. 4"),
    (
        lambda: module(torch.zeros(1, 2, dtype=torch.long, device="meta")),
        ValueError,
        "ids.device = 'meta': must be cpu, as the model. Remedy: use ids.to('cpu')",
    ),
    (lambda: module.logits(torch.ones(1, 2, 3)), ValueError, "x.shape = (1, 2, 3)"),
    (lambda: module.logits(torch.ones(1, 2, 4).long()), TypeError, "x.dtype = torch.int64"),
]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[bad[2] for bad in BAD])
def test_bad_input_is_refused_by_name_and_value(call, error, text):
    refused(call, error, text)

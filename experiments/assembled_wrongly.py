"""The toy translator, and what becomes of it when one part is missing.

python experiments/assembled_wrongly.py [--models ...] [--seeds 0 1 2] [--steps N]

The model, the task and the training are those of translator.py, but for fewer steps. "no mask":
the decoder's self-attention sees every target word, in training as in writing. "no
cross-attention": that sublayer adds nothing. "no positions": no sinusoids, on either side. "no
norms": bare additions. Everybody is trained at each of the same three learning rates, from each
seed: what one reads holds for all nine runs or is told with the worst and the best of them.
Held-out sentences, the same for all. ``loss`` and ``exact_given`` with the right words before each
word (teacher forcing), ``exact`` when the model writes alone, greedily.
"""

import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import held_out
from kept import MEASURED, comparable, curve, each_run
from pieces.attention import AttentionCore
from pieces.generate import generate
from pieces.losses import translation_loss
from pieces.models.encoder_decoder import EncoderDecoder, encoder_decoder
from pieces.positions import PositionalEncoding
from pieces.residual import Residual
from pieces.train import TrainConfig, train
from translator import SIZES, TASK

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "experiments" / "records" / "assembled_wrongly.json"
PACKAGED = MEASURED / "assembled_wrongly.json"

RATES, SEEDS = (1e-3, 2e-3, 4e-3), (0, 1, 2)
CONFIG = TrainConfig(steps=400, batch_size=64, warmup=40, final_share=0.02)
ROWS, LONGEST = 500, 24
SAMPLES = ("她是一个学生。", "昨天那只狗看见了一只鸟。", "昨天那只鸟看见了一只狗。")  # held out


class Silent(nn.Module):
    """A sublayer that adds nothing, whatever it is given."""

    def forward(self, x: Tensor, **options: Any) -> Tensor:
        """Zeros. Shapes: x [B, T, D] -> [B, T, D]."""
        return torch.zeros_like(x)


def unmasked(model: EncoderDecoder) -> None:
    """Let every target word see every other."""
    for block in model.decoder.blocks:
        block.attention.core = AttentionCore()


def uncrossed(model: EncoderDecoder) -> None:
    """Let the decoder hear nothing of the encoder."""
    for block in model.decoder.blocks:
        block.cross_attention = Silent()


def unplaced(model: EncoderDecoder) -> None:
    """Add no code of a place, on either side."""
    model.encoder_position = PositionalEncoding()
    model.decoder_position = PositionalEncoding()


def unnormed(model: EncoderDecoder) -> None:
    """Add, and never normalise."""
    for block in (*model.encoder.blocks, *model.decoder.blocks):
        for name, part in list(block.named_children()):
            if isinstance(part, Residual):
                setattr(block, name, Residual())


CHANGES = {
    "whole": lambda model: None,
    "no mask": unmasked,
    "no cross-attention": uncrossed,
    "no positions": unplaced,
    "no norms": unnormed,
}


def built(name: str, seed: int) -> EncoderDecoder:
    """A fresh model with its part missing; all others begin with the same weights."""
    torch.manual_seed(seed)
    model = encoder_decoder(SIZES)
    CHANGES[name](model)
    return model


def write(model: EncoderDecoder, source: Tensor, **options: Any) -> Tensor:
    """Its own words, greedily, each from all that it has written; an end, then padding."""
    ends = {"start_id": TASK.bos_id, "eos_id": TASK.eos_id}
    return generate(model, source, LONGEST, use_cache=False, **ends, **options)[:, 1:]


@torch.no_grad()
def written(model: EncoderDecoder, rows: int = ROWS) -> float:
    """The share of held-out sentences that it writes without a wrong word, on its own."""
    right = 0
    for batch in held_out.batches(TASK.pairs, rows):
        found = write(model, batch.source_ids, mask=batch.source_mask[:, 0, 0])
        for ours, true in zip(found.tolist(), batch.targets.tolist(), strict=True):
            meant = [token for token in true if token >= 0]
            right += ours[: len(meant)] == meant
    return right / rows


def samples(model: EncoderDecoder) -> list[tuple[str, Tensor]]:
    """What it writes for some sentences."""
    return [(text, write(model, TASK.encode(text)[None])[0]) for text in SAMPLES]


def one(model: str, seed: int, steps: int) -> dict[str, Any]:
    """Train at each rate from one seed; how each does with the right words before it, and alone."""
    start, runs = time.process_time(), []
    for lr in RATES:
        made = built(model, seed)
        config = TrainConfig(**vars(CONFIG) | {"steps": steps, "lr": lr, "seed": seed})
        losses = train(made, TASK.pairs, config, loss=translation_loss, progress=False).losses
        given = held_out.translation(made, TASK, ROWS)
        runs.append(
            {
                "lr": lr,
                "loss": round(given["loss"], 5),
                "exact_given": given["exact"],
                "exact": written(made.eval()),
                "wrote": {text: TASK.decode(told[told > 0]) for text, told in samples(made)},
                "curve": curve(losses, 10),
            }
        )
    seconds = round(time.process_time() - start, 1)
    return {"model": model, "seed": seed, "steps": steps, "cpu_seconds": seconds, "rates": runs}


def about() -> dict[str, Any]:
    """What all runs share."""
    shared = {name: value for name, value in comparable(CONFIG).items() if name != "lr"}
    return {
        "name": "assembled_wrongly",
        "about": " ".join((__doc__ or "").split()),
        "held_out_rows": ROWS,
        "rates": list(RATES),
        "training": shared,
    }


if __name__ == "__main__":
    record = (RECORD, about())
    each_run(__doc__ or "", "model", CHANGES, list(SEEDS), CONFIG.steps, record, one)
    PACKAGED.write_bytes(RECORD.read_bytes())

"""The toy translator: the encoder-decoder of 2017, small, from Chinese to English.

python experiments/translator.py [--seeds 0 1 2] [--steps N]
"""

import held_out
from common import Experiment, run
from pieces.losses import translation_loss
from pieces.models.encoder_decoder import EncoderDecoderConfig, encoder_decoder
from pieces.tasks import Introductions
from pieces.train import TrainConfig

TASK = Introductions()
SIZES = EncoderDecoderConfig(TASK.vocab_size, 64, n_layers=2, n_heads=4, d_ff=256, dropout=0.0)

EXPERIMENT = Experiment(
    name="translator",
    about=__doc__,
    task=TASK,
    build=lambda: encoder_decoder(SIZES),
    draw=TASK.pairs,
    measure=lambda model: held_out.translation(model, TASK),
    config=TrainConfig(steps=700, batch_size=64, lr=2e-3, warmup=70, final_share=0.02),
    loss=translation_loss,
)

if __name__ == "__main__":
    run(EXPERIMENT)

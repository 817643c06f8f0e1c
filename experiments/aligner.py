"""The recurrent aligner: additive attention between two GRUs, from Chinese to English.

python experiments/aligner.py [--seeds 0 1 2] [--steps N]
"""

import held_out
from common import Experiment, run
from pieces.losses import translation_loss
from pieces.models.aligner import AlignerConfig, aligner
from pieces.tasks import Introductions
from pieces.train import TrainConfig

TASK = Introductions()

EXPERIMENT = Experiment(
    name="aligner",
    about=__doc__,
    task=TASK,
    build=lambda: aligner(AlignerConfig(TASK.vocab_size, d_model=64, score_dim=32)),
    draw=TASK.pairs,
    measure=lambda model: held_out.translation(model, TASK),
    config=TrainConfig(steps=1200, batch_size=32, lr=4e-3, warmup=100, final_share=0.02),
    loss=translation_loss,
)

if __name__ == "__main__":
    run(EXPERIMENT)

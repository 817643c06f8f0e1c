"""A small LLaMA that tells the stories of the book's small world.

python experiments/stories_llama.py [--seeds 0 1 2] [--steps N]
"""

import held_out
from common import Experiment, run
from pieces.models.llama import LlamaConfig, llama
from pieces.train import TrainConfig
from small_world import POOL, TASK

SIZES = LlamaConfig(
    TASK.vocab_size, 96, n_layers=3, n_heads=4, d_ff=256, n_kv_heads=4, max_seq_len=256, tied=True
)

EXPERIMENT = Experiment(
    name="stories_llama",
    about=__doc__,
    task=TASK,
    build=lambda: llama(SIZES),
    draw=POOL.draw,
    measure=lambda model: held_out.stories(model, TASK),
    config=TrainConfig(steps=2000, batch_size=32, lr=4e-3, warmup=100, final_share=0.02),
)

if __name__ == "__main__":
    run(EXPERIMENT)

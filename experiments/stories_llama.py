"""A small LLaMA that tells the stories of the book's small world.

python experiments/stories_llama.py [--seeds 0 1 2] [--steps N]

It learns in two runs. The first has 5,000 steps at a rate of 4e-3 and ends 0.023 nats above the
floor; the second begins at a quarter of that rate.
"""

from dataclasses import replace

from common import Experiment, Part, run
from pieces.models.llama import LlamaConfig, llama
from pieces.train import TrainConfig
from small_world import TASK, measure, started

SIZES = LlamaConfig(
    TASK.vocab_size,
    96,
    n_layers=3,
    n_heads=4,
    d_ff=256,
    n_kv_heads=4,
    max_seq_len=256,
    tied=True,
    bias=True,
)

FIRST = TrainConfig(steps=5000, batch_size=8, lr=4e-3, warmup=100, final_share=0.02)

EXPERIMENT = Experiment(
    name="stories_llama",
    about=__doc__,
    task=TASK,
    build=lambda: started(llama(SIZES)),
    draw=TASK.batch,
    measure=measure,
    config=replace(FIRST, lr=1e-3),
    lessons=(Part(FIRST, TASK.batch),),
)

if __name__ == "__main__":
    run(EXPERIMENT)

"""Table 5.1 as the source text prints it: 25 models, and the blanks left blank.

``OURS`` has models of 2024 that it lacks, in the same columns; ``APPEARED`` says when each came.
"""

from dataclasses import dataclass

TABLE = """
GPT-3      | causal          | 175B | Pre Layer | Learned  | GELU   |  96 |  96 | 12288
PanGU-     | causal          | 207B | Pre Layer | Learned  | GELU   |  64 | 128 | 16384
OPT        | causal          | 175B | Pre Layer | Learned  | ReLU   |  96 |  96 | 12288
PaLM       | causal          | 540B | Pre Layer | RoPE     | SwiGLU | 118 |  48 | 18432
BLOOM      | causal          | 176B | Pre Layer | ALiBi    | GELU   |  70 | 112 | 14336
MT-NLG     | causal          | 530B | -         | -        | -      | 105 | 128 | 20480
Gopher     | causal          | 280B | Pre RMS   | Relative | -      |  80 | 128 | 16384
Chinchilla | causal          | 70B  | Pre RMS   | Relative | -      |  80 |  64 | 8192
Galactica  | causal          | 120B | Pre Layer | Learned  | GELU   |  96 |  80 | 10240
LaMDA      | causal          | 137B | -         | Relative | GeGLU  |  64 | 128 | 8192
Jurassic-1 | causal          | 178B | Pre Layer | Learned  | GELU   |  76 |  96 | 13824
LLaMA-2    | causal          | 70B  | Pre RMS   | RoPE     | SwiGLU |  80 |  64 | 8192
Pythia     | causal          | 12B  | Pre Layer | RoPE     | GELU   |  36 |  40 | 5120
Baichuan-2 | causal          | 13B  | Pre RMS   | ALiBi    | SwiGLU |  40 |  40 | 5120
Qwen-1.5   | causal          | 72B  | Pre RMS   | RoPE     | SwiGLU |  80 |  64 | 8192
InternLM-2 | causal          | 20B  | Pre RMS   | RoPE     | SwiGLU |  48 |  48 | 6144
Falcon     | causal          | 180B | Pre Layer | RoPE     | GELU   |  80 | 232 | 14848
MPT        | causal          | 30B  | Pre Layer | ALiBi    | GELU   |  48 |  64 | 7168
Mistral    | causal          | 7B   | Pre RMS   | RoPE     | SwiGLU |  32 |  32 | 4096
Gemma      | causal          | 7B   | Pre RMS   | RoPE     | GELU   |  28 |  16 | 3072
DeepSeek   | causal          | 67B  | Pre RMS   | RoPE     | SwiGLU |  95 |  64 | 8192
Yi         | causal          | 34B  | Pre RMS   | RoPE     | SwiGLU |  60 |  56 | 7168
YuLan      | causal          | 12B  | Pre RMS   | RoPE     | SwiGLU |  40 |  38 | 4864
GLM-130B   | prefix          | 130B | Post Deep | RoPE     | GeGLU  |  70 |  96 | 12288
T5         | encoder-decoder | 11B  | Pre RMS   | Relative | ReLU   |  24 | 128 | 1024
"""

OURS_TABLE = """
Command R    | causal | 35B  | Pre Layer    | RoPE | SwiGLU |  40 |  64 | 8192
Phi-3 mini   | causal | 3.8B | Pre RMS      | RoPE | SwiGLU |  32 |  32 | 3072
Gemma-2      | causal | 9B   | Pre+Post RMS | RoPE | GeGLU  |  42 |  16 | 3584
Mistral NeMo | causal | 12B  | Pre RMS      | RoPE | SwiGLU |  40 |  32 | 5120
LLaMA-3.1    | causal | 405B | Pre RMS      | RoPE | SwiGLU | 126 | 128 | 16384
Qwen-2.5     | causal | 72B  | Pre RMS      | RoPE | SwiGLU |  80 |  64 | 8192
"""

APPEARED_TABLE = """
GPT-3        | arXiv:2005.14165
PanGu-alpha  | arXiv:2104.12369
OPT          | arXiv:2205.01068
PaLM         | arXiv:2204.02311
BLOOM        | arXiv:2211.05100
MT-NLG       | arXiv:2201.11990
Gopher       | arXiv:2112.11446
Chinchilla   | arXiv:2203.15556
Galactica    | arXiv:2211.09085
LaMDA        | arXiv:2201.08239
Jurassic-1   | a white paper of 2021
LLaMA-2      | arXiv:2307.09288
Pythia       | arXiv:2304.01373
Baichuan-2   | arXiv:2309.10305
Qwen-1.5     | an announcement of 2024
InternLM-2   | arXiv:2403.17297
Falcon       | arXiv:2311.16867
MPT          | an announcement of 2023
Mistral      | arXiv:2310.06825
Gemma        | arXiv:2403.08295
DeepSeek     | arXiv:2401.02954
Yi           | arXiv:2403.04652
YuLan        | arXiv:2406.19853
GLM-130B     | arXiv:2210.02414
T5           | arXiv:1910.10683
Command R    | an announcement of 2024
Phi-3 mini   | arXiv:2404.14219
Gemma-2      | arXiv:2408.00118
Mistral NeMo | an announcement of 2024
LLaMA-3.1    | arXiv:2407.21783
Qwen-2.5     | arXiv:2412.15115
"""


@dataclass(frozen=True)
class Printed:
    """One row as printed, the category translated; None where the table has a dash.

    In the header of the table n_layers is L, n_heads is N and d_model is H.
    """

    name: str
    category: str
    size: str
    norm: str | None
    position: str | None
    activation: str | None
    n_layers: int
    n_heads: int
    d_model: int

    @property
    def parameters(self) -> float:
        """The size as a number: "175B" is 175e9."""
        return float(self.size.removesuffix("B")) * 1e9


def read_row(line: str) -> Printed:
    """One line of ``TABLE``."""
    cells = [None if cell.strip() == "-" else cell.strip() for cell in line.split("|")]
    words, sizes = cells[:-3], [int(cell) for cell in cells[-3:]]
    return Printed(*words, *sizes)


def read_appeared(line: str) -> tuple[str, "Appeared"]:
    """One line of ``APPEARED_TABLE``; the number of a preprint begins with its year."""
    name, where = (cell.strip() for cell in line.split("|"))
    preprint = where.removeprefix("arXiv:")
    year = 2000 + int(preprint[:2]) if preprint != where else int(where[-4:])
    return name, Appeared(year, where)


@dataclass(frozen=True)
class Appeared:
    """The year of the first version of a model's report, or of what stands in its place."""

    year: int
    where: str


PRINTED = {row.name: row for row in map(read_row, TABLE.strip().splitlines())}
OURS = {row.name: row for row in map(read_row, OURS_TABLE.strip().splitlines())}
APPEARED = dict(map(read_appeared, APPEARED_TABLE.strip().splitlines()))

"""Parity: the page's tables, the first computed when the book is built, the others records.

`benchmarks/parity.py` compares with transformers, `benchmarks/models.py` says how fast; with
`--keep` each writes a record, such as those of a GPU, which the build has not.
"""

import importlib.util
import json
from pathlib import Path

import torch

from pieces.book import scientific

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
PAGE = "chapters/appendix/parity"
RECORDS = BENCHMARKS / "records"
COMPUTED, ELSEWHERE, KEPT = "<!-- computed -->", "<!-- elsewhere -->", "<!-- kept -->"
NAMES = {"Bloom": "BLOOM", "Mpt": "MPT", "GPTNeoX": "GPT-NeoX", "Llama": "LLaMA", "Bert": "BERT"}


def table(headers, rows):
    """Return a Markdown table, numbers to the right."""
    line = "|" + "|".join(["---"] + ["--:"] * (len(headers) - 1)) + "|"
    return "\n".join(
        [f"| {' | '.join(headers)} |", line, *(f"| {' | '.join(row)} |" for row in rows)]
    )


def computed():
    """Return the comparison with transformers, run now, on the CPU."""
    spec = importlib.util.spec_from_file_location("parity", BENCHMARKS / "parity.py")
    parity = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(parity)
    with torch.random.fork_rng():
        rows = parity.differences(torch.device("cpu"))
    cells = [(NAMES.get(name, name), str(count), scientific(most)) for name, count, most in rows]
    most = max(most for *_, most in rows)
    tools = parity.versions(torch.device("cpu"))
    made = f"Made with {tools}, in float32. The largest: {scientific(most)}."
    return f"{made}\n\n{table(['family', 'outputs compared', 'largest difference'], cells)}"


def elsewhere(record):
    """Return what the same comparison gave on another device."""
    name, _, most = max(record["rows"], key=lambda row: row[2])
    compared = sum(count for _, count, _ in record["rows"])
    return (
        f"The same comparison with {record['tools']}: of its {compared} outputs the largest "
        f"difference is {scientific(most)}, in {NAMES.get(name, name)}."
    )


def kept(record):
    """Return what a run of the benchmark left."""
    cells = []
    for row in record["rows"]:
        aim = "" if row["target"] is None else f"≤ {row['target']}"
        cells.append((row["what"], f"{row['ratio']:.2f}", aim))
    tools = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    made = f"{record['device']}; {record['dtype']}; {tools}."
    return f"{made}\n\n{table(['ours; theirs', 'ratio', 'aim'], cells)}"


def read(app, docname, source):
    """Put the tables in their places, as the page is read."""
    if docname != PAGE:
        return
    source[0] = source[0].replace(COMPUTED, computed())
    for mark, told, pattern in (
        (ELSEWHERE, elsewhere, "parity_*.json"),
        (KEPT, kept, "models_*.json"),
    ):
        files = sorted(RECORDS.glob(pattern))
        for file in files:
            app.env.note_dependency(str(file))
        texts = [told(json.loads(file.read_text(encoding="utf-8"))) for file in files]
        source[0] = source[0].replace(mark, "\n\n".join(texts))


def setup(app):
    """Connect to Sphinx."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

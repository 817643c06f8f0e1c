"""Parity: the page's two tables, the one computed when the book is built, the other a record.

`benchmarks/parity.py` compares with transformers; `benchmarks/models.py --keep` wrote how fast.
"""

import importlib.util
import json
from pathlib import Path

import torch

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
PAGE = "chapters/appendix/parity"
COMPUTED, KEPT = "<!-- computed -->", "<!-- kept -->"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NAMES = {"Bloom": "BLOOM", "Mpt": "MPT", "GPTNeoX": "GPT-NeoX", "Llama": "LLaMA", "Bert": "BERT"}


def table(headers, rows):
    """Return a Markdown table, numbers to the right."""
    line = "|" + "|".join(["---"] + ["--:"] * (len(headers) - 1)) + "|"
    return "\n".join(
        [f"| {' | '.join(headers)} |", line, *(f"| {' | '.join(row)} |" for row in rows)]
    )


def written(value):
    """Return a small number as the book writes it: 9.9·10⁻⁷."""
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}·10{str(int(power)).translate(RAISED)}"


def computed():
    """Return the comparison with transformers, run now, on the CPU."""
    spec = importlib.util.spec_from_file_location("parity", BENCHMARKS / "parity.py")
    parity = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(parity)
    with torch.random.fork_rng():
        rows = parity.differences(torch.device("cpu"))
    cells = [(NAMES.get(name, name), str(count), written(most)) for name, count, most in rows]
    most = max(most for *_, most in rows)
    tools = parity.versions(torch.device("cpu"))
    made = f"Made with {tools}, in float32. The largest: {written(most)}."
    return f"{made}\n\n{table(['family', 'outputs compared', 'largest difference'], cells)}"


def kept(record):
    """Return what a run of the benchmark left."""
    cells = []
    for row in record["rows"]:
        aim = "" if row["target"] is None else f"at most {row['target']}"
        cells.append((row["what"], f"{row['ratio']:.2f}", aim))
    tools = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    made = f"{record['device']}; {record['dtype']}; {tools}."
    return f"{made}\n\n{table(['ours; theirs', 'ratio', 'aim'], cells)}"


def read(app, docname, source):
    """Put the tables in their places, as the page is read."""
    if docname != PAGE:
        return
    records = sorted((BENCHMARKS / "records").glob("models_*.json"))
    for file in records:
        app.env.note_dependency(str(file))
    texts = [kept(json.loads(file.read_text(encoding="utf-8"))) for file in records]
    source[0] = source[0].replace(COMPUTED, computed()).replace(KEPT, "\n\n".join(texts))


def setup(app):
    """Connect to Sphinx."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

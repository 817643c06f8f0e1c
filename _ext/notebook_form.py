"""The committed form of a notebook: executed, text outputs, nothing that changes by itself.

`python _ext/notebook_form.py chapters/*.ipynb` runs each notebook and writes it in that form.
"""

import re
import sys
from pathlib import Path

import nbformat
import yaml
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
CELL_METADATA = {"tags", "mystnb"}
TEXTS = ("text/plain",)
SOLUTION = {"code_prompt_hide": "Hide the solution", "code_prompt_show": "Show the solution"}
CHECK = {"code_prompt_hide": "Hide the check", "code_prompt_show": "✓ Show the check"}
QUESTION = re.compile(r"^(PredictNumber|FillMask)\(", re.MULTILINE)


def repository() -> str:
    """Return the book's address, which stands in `_config.yml` alone."""
    return yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]


def setup_cell() -> str:
    """Return the first code cell of every chapter: it installs the package where it is missing."""
    return (
        "# Colab and other places without the package install it from the book's repository.\n"
        "import importlib.util\n\n"
        'if importlib.util.find_spec("pieces") is None:\n'
        f'    %pip install --quiet "git+{repository()}"'
    )


def plain_output(output):
    """Return an output with its texts alone, or None where nothing is left."""
    if output.output_type == "stream":
        return None if output.name == "stderr" else nbformat.from_dict(dict(output))
    if output.output_type == "error":
        return output
    data = {mime: output.data[mime] for mime in TEXTS if mime in output.data}
    if not data:
        return None
    kept = {"output_type": output.output_type, "data": data, "metadata": {}}
    if output.output_type == "execute_result":
        kept["execution_count"] = None
    return nbformat.from_dict(kept)


def merged(outputs):
    """Join what was printed in several pieces: where it breaks depends on the machine."""
    joined = []
    for output in outputs:
        if output.output_type == "stream" and joined and joined[-1].output_type == "stream":
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def closed_in_jupyter(cell, exercises):
    """Return what Jupyter is to fold of a cell: the answer of a question, a solution whole."""
    if cell.cell_type != "code":
        return {}
    if QUESTION.search(cell.source):
        return {"source_hidden": True}
    solution = exercises and "hide-cell" in cell.metadata.get("tags", [])
    return {"outputs_hidden": True, "source_hidden": True} if solution else {}


def committed_form(notebook):
    """Return a copy of a notebook in the form that is committed."""
    form = nbformat.from_dict(notebook)
    form.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    form.nbformat, form.nbformat_minor = 4, 5
    prompts = CHECK
    for number, cell in enumerate(form.cells):
        if cell.cell_type == "markdown" and (titles := re.findall(r"^## (.+)$", cell.source, re.M)):
            prompts = SOLUTION if titles[-1].strip() == "Exercises" else CHECK
        cell.id = f"cell-{number:03d}"
        cell.metadata = nbformat.from_dict(
            {key: cell.metadata[key] for key in sorted(CELL_METADATA & set(cell.metadata))}
        )
        if "hide-cell" in cell.metadata.get("tags", []):
            cell.metadata["mystnb"] = nbformat.from_dict(prompts)
        if spoils := closed_in_jupyter(cell, exercises=prompts is SOLUTION):
            cell.metadata["jupyter"] = nbformat.from_dict(spoils)
        cell.source = re.sub(r"[ \t]+$", "", cell.source, flags=re.M).strip("\n")
        cell.pop("attachments", None)
        if cell.cell_type == "code":
            if "remove-cell" in cell.metadata.get("tags", []) and "importlib.util" in cell.source:
                cell.source = setup_cell()
            cell.execution_count = None
            cell.outputs = merged([o for o in map(plain_output, cell.outputs) if o is not None])
    return form


def text_of(notebook) -> str:
    """Return the file's text."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def run(path: Path) -> None:
    """Execute a notebook and write it in its committed form."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": path.parent}}
    )
    client.execute()
    path.write_text(text_of(committed_form(notebook)), encoding="utf-8")
    print(f"wrote {path}")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        run(Path(name))

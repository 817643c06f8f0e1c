"""The committed form of a notebook: executed, text outputs, nothing that changes by itself.

`python tools/notebook_form.py chapters/*.ipynb` runs each notebook and writes it in that form;
with `--links` it runs nothing, and makes the links to other files of the book whole.
"""

import re
import sys
import tomllib
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
OURS = {
    "code_prompt_hide": "Hide the package's code",
    "code_prompt_show": "Show the package's code",
}
# What brings a library into a chapter, by the extra of pyproject.toml that installs it: words of
# its import lines. What is imported may fetch the library itself, or only when it is called.
EXTRAS = {"checkpoints": "transformers|checkpoints|llama_listing", "bertviz": "bertviz"}
# Links to other files of the book, as one writes them: from the folder of the chapters.
BESIDE = re.compile(r"\]\((?=(?:appendix/[\w/]+\.md|\w+\.ipynb)(?:#[\w-]+)?\))")
QUESTION = re.compile(r"^(PredictNumber|FillMask)\(", re.MULTILINE)


def repository() -> str:
    """Return the book's address, which stands in `_config.yml` alone."""
    return yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]


def home() -> str:
    """Return where the chapters lie in the repository on the web, with a slash at its end."""
    place = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    return f"{place['url']}/blob/{place['branch']}/chapters/"


def linked(markdown: str) -> str:
    """Return a text whose links lead somewhere from a notebook alone, in Colab say.

    They lead to the repository's files, whose headings are their anchors. The site makes them its
    own again (`_ext/plain_markdown.py`), so that it is whole without a network.
    """
    return BESIDE.sub(f"]({home()}", markdown)


def package() -> dict:
    """Return what `pyproject.toml` says of the package."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def extras_of(code: str) -> list[str]:
    """Return the optional parts of the package that some code needs, by what it imports."""
    imported = " ".join(re.findall(r"^ *(?:from|import) .+", code, flags=re.M))
    return [name for name, needed in EXTRAS.items() if re.search(rf"\b({needed})\b", imported)]


def setup_cell(code: str = "") -> str:
    """Return the first code cell of a chapter: it installs the package where it is missing.

    It brings what the chapter's code imports, in the version that the chapter was written with.
    """
    project, extras = package(), ",".join(extras_of(code))
    wanted = f"{project['name']}[{extras}]" if extras else project["name"]
    return (
        "# Colab and other places without the package install it from the book's repository.\n"
        "import importlib.util\n\n"
        f'if importlib.util.find_spec("{project["name"]}") is None:\n'
        f'    %pip install --quiet "{wanted} @ git+{repository()}@v{project["version"]}"'
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
    code = "\n".join(cell.source for cell in form.cells if cell.cell_type == "code")
    prompts = CHECK
    for number, cell in enumerate(form.cells):
        if cell.cell_type == "markdown" and (titles := re.findall(r"^## (.+)$", cell.source, re.M)):
            prompts = SOLUTION if titles[-1].strip() == "Exercises" else CHECK
        cell.id = f"cell-{number:03d}"
        cell.metadata = nbformat.from_dict(
            {key: cell.metadata[key] for key in sorted(CELL_METADATA & set(cell.metadata))}
        )
        if "hide-cell" in cell.metadata.get("tags", []):
            ours = prompts is CHECK and cell.source.startswith("code(")
            cell.metadata["mystnb"] = nbformat.from_dict(OURS if ours else prompts)
        if spoils := closed_in_jupyter(cell, exercises=prompts is SOLUTION):
            cell.metadata["jupyter"] = nbformat.from_dict(spoils)
        cell.source = re.sub(r"[ \t]+$", "", cell.source, flags=re.M).strip("\n")
        if cell.cell_type == "markdown":
            cell.source = linked(cell.source)
        cell.pop("attachments", None)
        if cell.cell_type == "code":
            if "remove-cell" in cell.metadata.get("tags", []) and "importlib.util" in cell.source:
                cell.source = setup_cell(code)
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
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": path.parent}},
        extra_arguments=["--log-level=40"],  # it warns of how it is reached, not of the chapter
    )
    client.execute()
    path.write_text(text_of(committed_form(notebook)), encoding="utf-8")
    print(f"wrote {path}")


def link(path: Path) -> None:
    """Make the links of a notebook whole, without running it."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = linked(cell.source)
    path.write_text(text_of(notebook), encoding="utf-8")


if __name__ == "__main__":
    work = link if "--links" in sys.argv else run
    for name in sys.argv[1:]:
        if name != "--links":
            if not Path(name).is_file():
                sys.exit(f"{name}: no such file; name one such as chapters/02_input.ipynb")
            work(Path(name))

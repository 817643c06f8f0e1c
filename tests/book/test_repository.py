"""What stands around the book: Binder, CI, citation, the one address, the README's commands."""

import re
import subprocess
import tomllib

import nbformat
import pytest
import yaml

import lazily
from browser import ROOT

hf = lazily.Module("transformers")

BINDER = (ROOT / "binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = "actions/checkout@" + 40 * "0"  # a tag can be moved, a commit cannot
TEXTS = ("README.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "LICENSE-text.md")
TEXTS += ("CHANGELOG.md",)


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def pins():
    """The pinned versions of requirements.txt, by lower-case name."""
    lines = [line.split("#")[0].strip() for line in read("requirements.txt").splitlines()]
    return dict(line.lower().split("==") for line in lines if line)


def wanted():
    """What Binder installs, by lower-case name: a version or ""."""
    lines = [line for line in BINDER if line and not line.startswith(("#", "-"))]
    return dict((line.lower() + "==").split("==")[:2] for line in lines)


def commands():
    return set(re.findall(r"^([a-z-]+):.*## ", read("Makefile"), flags=re.M))


def test_what_pip_installs_is_locked_by_its_hash():
    locked = re.findall(
        r"^([\w.-]+)(?:\[.*\])?==(\S+)(.*(?:\n    --hash=.*)+)", read("requirements.lock"), re.M
    )
    versions = {name: version for name, version, _ in locked}
    missing = {name for name, version in pins().items() if versions.get(name) != version}
    assert missing == {"torch"}, "run make lock"
    assert len(locked) == len(re.findall(r"^\w", read("requirements.lock"), re.M)), (
        "one has no hash"
    )
    assert not [name for name in versions if name.startswith("nvidia")], "torch chooses these"


def test_binder_takes_its_versions_from_the_book():
    assert "-c ../requirements.txt" in BINDER
    assert set(wanted()) <= set(pins()), "Binder wants what requirements.txt does not pin"
    versions = {name: version for name, version in wanted().items() if version}
    assert versions == {"torch": pins()["torch"] + "+cpu"}, "torch's CPU build, else no version"
    assert "--extra-index-url https://download.pytorch.org/whl/cpu" in BINDER


def test_binder_installs_all_that_the_package_needs_and_its_extras():
    project = tomllib.loads(read("pyproject.toml"))["project"]
    lines = project["dependencies"] + [
        line for extra in project["optional-dependencies"].values() for line in extra
    ]
    needs = {re.match(r"[\w-]+", line)[0].lower() for line in lines}
    assert needs <= set(wanted())
    assert re.fullmatch(r"python-3\.1[123]\n", read("binder/runtime.txt"))
    assert "--no-deps --editable ." in read("binder/postBuild")


@pytest.mark.parametrize("path", ["binder/postBuild", ".ci/run"])
def test_scripts_run(path):
    assert (ROOT / path).stat().st_mode & 0o111, "not executable"
    assert subprocess.run(["bash", "-n", ROOT / path]).returncode == 0


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflow(path):
    text = path.read_text(encoding="utf-8")
    flow = yaml.safe_load(text)
    assert flow["name"] == path.stem
    assert flow[True], "no events"  # YAML reads the key `on` as True
    assert flow["permissions"] == {"contents": "read"}
    for job in flow["jobs"].values():
        assert job["timeout-minutes"] <= 90
        for step in job["steps"]:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step.get("uses", PINNED)), step
            made = re.findall(r"^make ([a-z-]+)", step.get("run", ""), flags=re.M)
            assert set(made) <= commands(), step
    actions = re.findall(r"uses: .*", text)
    unsaid = [action for action in actions if not re.search(r" # v\d+\.\d+\.\d+$", action)]
    assert unsaid == [], "say which version a commit is"


def test_workflows_are_those_of_the_design():
    flows = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in WORKFLOWS}
    assert set(flows) == {"test", "lowest", "gpu", "book", "links"}
    (cpu,) = flows["test"]["jobs"].values()
    assert cpu["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert cpu["steps"][-1] == {"run": ".ci/run"}
    (cuda,) = flows["gpu"]["jobs"].values()
    assert "gpu" in cuda["runs-on"]
    assert set(flows["gpu"][True]) == {"schedule", "workflow_dispatch"}, "no stranger's code"
    assert "schedule" in flows["links"][True]


FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


@pytest.mark.parametrize("path", [p for p in FORMS if p.stem != "config"], ids=lambda p: p.stem)
def test_forms_for_issues_ask_for_what_is_needed(path):
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert form.keys() == {"name", "description", "labels", "body"}
    ids = [part["id"] for part in form["body"]]
    assert len(set(ids)) == len(ids) >= 3
    for part in form["body"]:
        assert part["type"] in ("input", "textarea", "dropdown")
        assert part["attributes"]["label"]
        assert part["validations"]["required"] is True


def test_citation():
    cff = yaml.safe_load(read("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors", "version"} <= set(cff)
    project = tomllib.loads(read("pyproject.toml"))["project"]
    assert cff["version"] == project["version"]
    assert cff["title"] == yaml.safe_load(read("_config.yml"))["title"]
    assert f"version {cff['version']}" in read("index.md")


def test_the_address_stands_in_one_place():
    address = yaml.safe_load(read("_config.yml"))["repository"]["url"]
    owner_and_name = address.split("/", 3)[3]
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    # the notebooks' set-up cells are written from it, see tools/notebook_form.py
    texts = [ROOT / n for n in listed if n and not n.endswith((".ipynb", ".woff2", "_config.yml"))]
    found = [
        str(t) for t in texts if t.is_file() and owner_and_name in t.read_text("utf-8", "ignore")
    ]
    assert found == []


@pytest.mark.parametrize("name", TEXTS)
def test_texts_name_what_exists(name):
    text = read(name)
    prose = re.sub(r"```.*?```|`[^`\n]+`", "", text, flags=re.S)  # an example is no link
    for target in re.findall(r"\]\((?!http)([^)#]+)", prose):
        assert (ROOT / target).exists(), target
    for command in re.findall(r"`make ([a-z-]+)", text) + re.findall(
        r"^make ([a-z-]+)", text, re.M
    ):
        made = re.findall(r"^([a-z-]+):", read("Makefile"), flags=re.M)
        assert command in made, command


def test_whatever_lies_in_the_package_is_installed_with_it():
    data = tomllib.loads(read("pyproject.toml"))["tool"]["setuptools"]["package-data"]
    packed = {
        file
        for package, patterns in data.items()
        for pattern in patterns
        for file in (ROOT / "src").joinpath(*package.split(".")).glob(pattern)
    }
    lying = {
        file
        for file in (ROOT / "src" / "pieces").rglob("*")
        if file.is_file() and file.suffix != ".py" and "__pycache__" not in file.parts
    }
    assert packed == lying


def test_readme_examples_run(tmp_path, capsys):
    """All of them, one after another; the second is given a folder, the third fewer steps."""
    layer, checkpoint, training = re.findall(r"```python\n(.*?)```", read("README.md"), flags=re.S)
    names = {}
    exec(compile(layer, "README.md", "exec"), names)
    weights = names["trace"]["core"]["weights"][0, 0, -1]
    assert names["y"].shape == (1, 6, 64)
    assert (weights == 0).tolist() == [True] * 3 + [False] * 3
    assert abs(float(weights.sum()) - 1) < 1e-5

    sizes = {"n_layer": 1, "n_head": 2, "n_embd": 8, "vocab_size": 9, "n_positions": 16}
    special = {"bos_token_id": 0, "eos_token_id": 0}
    hf.GPT2LMHeadModel(hf.GPT2Config(**sizes, **special)).save_pretrained(tmp_path)
    capsys.readouterr()
    exec(compile(exchanged(checkpoint, "path/to/a/saved/model", str(tmp_path)), "", "exec"), names)
    assert re.match(r"tensor\(\[\[1, 2, 3(, \d){5}\]\]\)", capsys.readouterr().out)

    exec(compile(exchanged(training, "steps=400", "steps=3"), "", "exec"), names)
    assert len(names["record"].losses) == 3


def exchanged(code, old, new):
    """The code with one thing for another, which must be in it."""
    assert old in code
    return code.replace(old, new)


def test_an_erratum_of_a_chapter_has_the_same_title_on_the_page():
    page = read("chapters/appendix/errata.md")
    headings = set(re.findall(r"^### (E-\d\d · .+)$", page, flags=re.M))
    for path in (ROOT / "chapters").glob("[0-9][0-9]_*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        words = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        boxes = re.findall(r"^> \*\*(E-\d\d · .+)\*\*$", words, flags=re.M)
        missing = [box for box in boxes if box not in headings]
        assert missing == [], f"{path.name}: no such heading in chapters/appendix/errata.md"


def test_every_erratum_of_the_table_has_its_text():
    page = read("chapters/appendix/errata.md")
    table = re.findall(r"^\| \[(E-\d\d)\]\(#(e-\d\d)\)", page, flags=re.M)
    titles = re.findall(r"^\((e-\d\d)\)=\n### (E-\d\d) · ", page, flags=re.M)
    assert sorted(table) == sorted((title, place) for place, title in titles)
    assert [title for title, _ in table] == sorted(title for title, _ in table)

"""The rooms of `static/`: who may import whom. A widget is changed in its own folder, and alone."""

import re
from pathlib import Path

import pytest

import pieces.widgets
from browser import STATIC
from pieces.widgets.base import imports, needed, source_of

MODULES = [p.relative_to(STATIC).with_suffix("").as_posix() for p in STATIC.rglob("*.js")]
SHARED = {"kit", "twin", "stories"}
WIDGETS = {
    getattr(pieces.widgets, name).module.partition("/")[0] for name in pieces.widgets.__all__
}
# What the kit takes from the twin: the shape and the extent of what it draws.
KIT_TAKES = {"twin/tensor"}
# What every widget carries because kit.js needs it: to be had through that door alone.
BEHIND_THE_DOOR = set(needed("kit/kit")) - {"kit/kit", *KIT_TAKES}

EXPORT = re.compile(r"^export (?:async )?(?:function\*?|const|let|class) (\w+)", re.M)
IMPORTED = re.compile(r'\{([^{}]*)\} from "|\* as (\w+) from "')


def room(module: str) -> str:
    """Return the folder of a module."""
    return module.partition("/")[0]


def allowed(module: str, other: str) -> bool:
    """Whether a module may import another."""
    own = room(other) == room(module)
    if room(module) == "twin":
        return own
    if room(module) == "stories":
        return own or room(other) == "twin"
    if room(module) == "kit":
        return own or other in KIT_TAKES
    return own or (room(other) in SHARED and other not in BEHIND_THE_DOOR)


def test_each_module_stands_in_a_room():
    assert {room(module) for module in MODULES} == SHARED | WIDGETS | {"host", "links"}
    assert {p.parent.name for p in STATIC.rglob("*.css")} <= {"kit"} | WIDGETS


@pytest.mark.parametrize("name", sorted(SHARED | WIDGETS))
def test_a_room_imports_only_what_it_may(name):
    own = [module for module in MODULES if room(module) == name]
    assert own
    arrows = [(module, other) for module in own for other in imports(source_of(module), module)]
    assert [arrow for arrow in arrows if not allowed(*arrow)] == []
    assert [other for _, other in arrows if other not in MODULES] == []


def test_the_kit_takes_what_is_named_and_no_more():
    taken = {o for m in MODULES if room(m) == "kit" for o in imports(source_of(m), m)}
    assert {other for other in taken if room(other) != "kit"} == KIT_TAKES


def test_a_wrong_arrow_is_seen():
    assert not allowed("twin/flat", "kit/dom")
    assert not allowed("kit/charts", "twin/model")
    assert not allowed("norm_axes/norms", "norm_placement/norm_blocks")
    assert not allowed("norm_axes/norms", "kit/dom"), "through kit/kit"
    assert allowed("norm_axes/norms", "kit/kit")
    assert allowed("norm_axes/norms", "kit/charts")
    assert allowed("stories/plots", "twin/twin")


@pytest.mark.parametrize("name", sorted(WIDGETS))
def test_the_tests_of_a_widget_stand_in_its_folder(name):
    folder = Path(__file__).parent / name
    files = {f"test_{name}.py", "expected.py", "samples.py", "faults.yaml"}
    assert files <= {path.name for path in folder.iterdir()}
    test = (folder / f"test_{name}.py").read_text(encoding="utf-8")
    assert "TestOracle = trials(__file__)" in test, "its pictures and faults are not tried"


@pytest.mark.parametrize("name", sorted(WIDGETS))
def test_each_helper_is_needed_by_its_widget(name):
    """What no widget needs is dead; what several need belongs into the kit or the twin."""
    own = {module for module in MODULES if room(module) == name}
    assert own - set(needed(f"{name}/{name}")) == set()


def test_what_a_module_exports_is_wanted_elsewhere():
    """By another module, or by a test that calls it: a gallery alone keeps nothing alive."""
    sources = {module: source_of(module) for module in MODULES}
    tests = [p.read_text(encoding="utf-8") for p in Path(__file__).parent.rglob("*.py")]
    named = set(re.findall(r"\w+", " ".join(tests)))
    taken = {
        name.split(" as ")[0].strip()
        for source in sources.values()
        for names, _ in IMPORTED.findall(source)
        for name in names.split(",")
    }
    dead = [
        f"{module}: {name}"
        for module in sorted(MODULES)
        for name in EXPORT.findall(sources[module])
        if name not in taken | named
    ]
    assert dead == []
    reached = {m for name in WIDGETS for m in needed(f"{name}/{name}")}
    assert set(MODULES) - reached == {"host", "links"}

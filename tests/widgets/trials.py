"""What holds for the pictures of every widget: the oracle takes them, and sees each fault in them."""

import functools
from pathlib import Path

import pytest
import yaml
from chances import numbers_to_mend
from oracle import check, recorded, wrong
from samples import beside

import pieces.widgets
from browser import PAINTED
from checker import past_the_checker
from pieces.widgets.base import source_of


def prepare(page, hands) -> None:
    """Open the table view, and do what a reader does."""
    page.evaluate(
        "document.querySelectorAll('details:has(> .p-tables)').forEach((one) => { one.open = true; })"
    )
    if hands:
        hands(page)


def examine(page, widget) -> None:
    """Check what is shown; in the dark it must hold as well."""
    check(page, widget)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.evaluate(PAINTED)
    check(page, widget)


def trials(test: str) -> type:
    """Return the tests of a widget's pictures and faults, which lie beside its test file."""
    place = Path(test).parent
    names = {getattr(pieces.widgets, n).module.partition("/")[0]: n for n in pieces.widgets.__all__}
    if place.name not in names:
        pytest.fail(f"pieces/widgets/__init__.py has no line, above __all__, for {place.name}")
    for file in ("samples.py", "expected.py", "faults.yaml"):
        if not (place / file).is_file():
            pytest.fail(f"{place}/{file} is missing: CONTRIBUTING says what it holds")
    pictures = beside(names[place.name], "samples").PICTURES
    faults = yaml.safe_load((place / "faults.yaml").read_text(encoding="utf-8"))
    for fault, parts in faults.items():
        if parts["picture"] not in pictures:
            pytest.fail(f"{place}/faults.yaml: {fault!r} needs a picture of {[*pictures]}")
    widget_of = functools.cache(lambda picture: pictures[picture][0]())

    class TestOracle:
        @pytest.mark.parametrize("picture", pictures)
        def test_takes_what_is_right(self, bench, picture):
            widget, hands = widget_of(picture), pictures[picture][1]
            with recorded(bench, widget) as page:
                prepare(page, hands)
                examine(page, widget)
                found = numbers_to_mend(page, names[place.name])
                assert found == [], (
                    f"a chance as a power of ten, or as a program writes it: {found}"
                )
                assert page.record.errors == []

        def test_each_fault_finds_its_words(self):
            for _, module, stands, _ in map(dict.values, faults.values()):
                now = f"{module} has no {stands!r} now: say the fault in its new words"
                assert stands in source_of(module), now

        @pytest.mark.parametrize("fault", faults)
        def test_a_fault_is_seen(self, bench, fault):
            name, module, stands, instead = faults[fault].values()
            widget, hands = widget_of(name), pictures[name][1]
            patches = [(module, lambda source: source.replace(stands, instead))]
            # What is right was computed with types checked, above.
            with past_the_checker(), recorded(bench, widget, patches=patches) as page:
                assert page.record.errors == [], "a fault that throws proves nothing"
                unseen = f"{fault}: the oracle takes it. Let expected.py read what it changes."
                with wrong(unseen):
                    prepare(page, hands)
                    examine(page, widget)

    return TestOracle

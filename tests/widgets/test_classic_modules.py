"""What a page's scripts leave of the modules: each exports what it does as a module, once."""

import pytest

from classic_modules import classic, made
from pieces.widgets.base import STATIC, needed, source_of

MODULES = sorted(
    path.relative_to(STATIC).with_suffix("").as_posix()
    for path in STATIC.rglob("*/*.js")
    if "libraries" not in path.parts
)
# What each module exports: as a module of its own, and as the scripts of a page make it.
EXPORTS = """async ([sources, script]) => {
  window.eval(script);
  const [made, address] = [{}, {}];
  const take = (name) => (made[name] ??= window.eval(window.piecesModules[name].text)(take));
  const names = (one) => Object.keys(one).sort();
  const found = [];
  for (const [name, source] of sources) { // each after what it imports
    const from = (_, head, path) => head + JSON.stringify(address[new URL(path, `file:///${name}`).pathname]);
    const text = source.replace(/(\\bfrom\\s+)"(\\.\\.?\\/[\\w./]+\\.js)"/g, from);
    address[`/${name}.js`] = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    found.push([name, names(await import(address[`/${name}.js`])), names(take(name))]);
  }
  return found;
}"""


def test_each_exports_the_same_names(chromium):
    order = dict.fromkeys(module for name in MODULES for module in needed(name))
    sources = [[name, source_of(name)] for name in order]
    page = chromium.new_page()
    found = page.evaluate(EXPORTS, [sources, classic(sources)])
    page.close()
    assert sorted(order) == MODULES
    assert [name for name, module, _ in found if not module] == []
    assert [(name, a, b) for name, a, b in found if a != b] == []


def test_a_line_keeps_its_number():
    for name in MODULES:
        source = source_of(name)
        before, after = source.split("\n"), made(name, source)["text"].split("\n")
        assert len(after) == len(before) + 1, name
        kept = [a == b for a, b in zip(before, after, strict=False)]
        assert sum(kept) > len(kept) / 2, name


@pytest.mark.parametrize(
    "form",
    ['import all from "../kit/kit.js";', 'import * as all from "../kit/kit.js";',
     'import "../kit/kit.js";', 'export * from "../kit/kit.js";', "export let a = 1;",
     "export var a = 1;", "export const [a, b] = [1, 2];", "export function* a() {}",
     'import { h } from "elsewhere";', 'import { h } from "../kit/kit.js"'],
)  # fmt: skip
def test_a_form_that_it_does_not_know_is_refused_by_name(form):
    with pytest.raises(ValueError, match=r"one/two.js: '.*is an import or export in a form"):
        made("one/two", f"const before = 1;\n{form}\n")


def test_names_may_change_on_the_way():
    source = (
        'import {\n  h as make,\n  put,\n} from "../kit/dom.js";\n'
        'export { still as quiet } from "../kit/frames.js";\n'
        "const own = () => make(put);\nexport { own as ours };\n"
        "export async function later() { return own(); }\nexport default own;\n"
    )
    needs, text = made("one/two", source).values()
    assert needs == ["kit/dom", "kit/frames"]
    assert 'const {\n  h: make,\n  put,\n} = $import("kit/dom");' in text
    given = (
        'return { quiet: $import("kit/frames").still, ours: own, later: later, default: $default };'
    )
    assert given in text

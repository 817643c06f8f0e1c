"""Modules of the widgets as classic scripts: a browser loads no module script from a file system.

    import { h as make } from "../kit/dom.js";        const { h: make } = $import("kit/dom");
    export function chart() { … }                     function chart() { … }   return { chart };

A page's script leaves each module as what it needs and the text of a function that makes it once
(host.js). As a module of its own each would be one more file to ask for, with an address made in
the page, and a widget would be alive later. A text, and not the function itself, since only a text
can carry a name, so that an error names the line of the file in the repository.
"""

import json
import re

from pieces.widgets.base import imports, resolved, source_of

FROM = r'\s*from\s*"(?P<path>\.\.?/[\w./]+)\.js";'
IMPORT = re.compile(r"^import\s*\{(?P<names>[^}]*)\}" + FROM, re.M)
HANDED = re.compile(r"^export\s*\{(?P<names>[^}]*)\}" + FROM, re.M)
LISTED = re.compile(r"^export\s*\{(?P<names>[^}]*)\};", re.M)
DECLARED = re.compile(r"^export (?P<how>(?:async )?function|class|const) (?P<name>\w+)", re.M)
DEFAULT = re.compile(r"^export default ", re.M)
OTHER = re.compile(r"^(?:import|export)\b.*", re.M)


def pairs(names):
    """Return each name of a list, and what it is called outside: "a, b as c" is (a, a), (b, c)."""
    listed = [one.split() for one in names.split(",") if one.strip()]
    return [(one[0], one[-1]) for one in listed]


def made(name, source):
    """Return the names of what a module `needs`, and the `text` of a function that makes it.

    Raises: ValueError if it imports or exports in a form that is not known here.
    """
    exports = {}

    def module(match):
        return f"$import({json.dumps(resolved(match['path'], name))})"

    def handed(match):
        exports.update({outer: f"{module(match)}.{own}" for own, outer in pairs(match["names"])})
        return "\n" * match[0].count("\n")  # an error names the line of the file

    def listed(match):
        exports.update({outer: own for own, outer in pairs(match["names"])})
        return "\n" * match[0].count("\n")

    def declared(match):
        exports[match["name"]] = match["name"]
        return f"{match['how']} {match['name']}"

    def default(match):
        exports["default"] = "$default"
        return "const $default = "

    def imported(match):
        names = match["names"]
        lost = match[0].count("\n") - names.count("\n")
        return f"const {{{names.replace(' as ', ': ')}}} = {module(match)};" + "\n" * lost

    text = IMPORT.sub(imported, source)
    for form, change in ((HANDED, handed), (LISTED, listed), (DECLARED, declared)):
        text = form.sub(change, text)
    text = DEFAULT.sub(default, text)
    left = OTHER.search(text)
    if left:
        raise ValueError(
            f"{name}.js: {left[0]!r} is an import or export in a form that no page can load. "
            "Remedy: export declarations by name, import by a list of names."
        )
    needs = list(dict.fromkeys(imports(source, name)))
    given = ", ".join(f"{outer}: {own}" for outer, own in exports.items())
    return {
        "needs": needs,
        "text": f'($import) => {{ "use strict"; {text}\nreturn {{ {given} }}; }}',
    }


def classic(modules):
    """Return one classic script that leaves modules [name, source] for the host."""
    listed = {name: made(name, source) for name, source in modules}
    text = json.dumps(listed, ensure_ascii=False)
    return f"Object.assign(self.piecesModules ??= {{}}, {text});\nself.pieces?.arrived();\n"


def script(name, read=source_of):
    """Return a module as a script of its own."""
    return classic([(name, read(name))])

"""Outputs that follow the code: an edit of Python or data in `src/` runs every notebook again.

The execution cache of Jupyter Book looks at a notebook's own cells only.
Here its place depends on the package as well, and the place is a part of the configuration.
Styles and scripts change no output, so they run nothing again: Sphinx copies them anew.
So is a hash of `_ext/` and `_static/`: Sphinx alone would call a site with an old style up to date.
"""

import hashlib
import shutil
from pathlib import Path

import pieces

PACKAGE = Path(pieces.__file__).parent


LOOKS = (".css", ".js")  # what no output of a cell depends on


def folder_hash(*folders, but=()):
    """Return a hash of every file in some folders, `but` those that end so."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix not in but:
                name = path.relative_to(folder).as_posix()
                digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def place_cache(app, config):
    """Give this state of the package its own execution cache and drop the older ones."""
    caches = Path(app.outdir).parent / ".jupyter_cache"
    current = caches / folder_hash(PACKAGE, but=LOOKS)
    for old in caches.glob("*") if caches.exists() else []:
        if old != current:
            shutil.rmtree(old, ignore_errors=True)
    current.mkdir(parents=True, exist_ok=True)
    config.nb_execution_cache_path = str(current)


def note_style(app, config):
    """Make the look of the pages a part of the configuration."""
    source = Path(app.srcdir)
    static = PACKAGE / "widgets" / "static"
    config.look_of_the_pages = folder_hash(source / "_ext", source / "_static", static)


def setup(app):
    """Connect before Sphinx compares the configuration with that of the last build.

    So what has not changed is no change, and what has makes Sphinx read all pages.
    """
    app.add_config_value("look_of_the_pages", "", "env", types=[str])
    app.connect("config-inited", place_cache, priority=100)
    app.connect("config-inited", note_style, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Outputs that follow the code: an edit in `src/` runs every notebook again.

The execution cache of Jupyter Book looks at a notebook's own cells only.
Here its place depends on the package as well, and the place is a part of the configuration.
"""

import hashlib
import shutil
from pathlib import Path

import pieces

PACKAGE = Path(pieces.__file__).parent


def package_hash():
    """Return a hash of every file the notebooks can import or show."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def place_cache(app, config):
    """Give this state of the package its own execution cache and drop the older ones."""
    caches = Path(app.outdir).parent / ".jupyter_cache"
    current = caches / package_hash()
    for old in caches.glob("*") if caches.exists() else []:
        if old != current:
            shutil.rmtree(old, ignore_errors=True)
    current.mkdir(parents=True, exist_ok=True)
    config.nb_execution_cache_path = str(current)


def setup(app):
    """Connect before Sphinx compares the configuration with that of the last build.

    So a package that has not changed is no change, and one that has makes Sphinx read all pages.
    """
    app.connect("config-inited", place_cache, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

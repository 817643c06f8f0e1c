"""Outputs that follow the code: an edit in `src/` runs every notebook again.

The execution cache of Jupyter Book looks at a notebook's own cells only.
Here its place, and the environment's idea of what is outdated, depend on the package as well.
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


def place_cache(app):
    """Give this state of the package its own execution cache and drop the older ones."""
    caches = Path(app.outdir).parent / ".jupyter_cache"
    current = caches / package_hash()
    for old in caches.glob("*") if caches.exists() else []:
        if old != current:
            shutil.rmtree(old, ignore_errors=True)
    current.mkdir(parents=True, exist_ok=True)
    app.config.nb_execution_cache_path = str(current)


def outdated(app, env, added, changed, removed):
    """Read every notebook again when the package has changed."""
    current = package_hash()
    stale = getattr(env, "pieces_hash", current) != current
    env.pieces_hash = current
    notebooks = [d for d in env.found_docs if str(env.doc2path(d)).endswith((".ipynb", "index.md"))]
    return notebooks if stale else []


def setup(app):
    """Connect before myst-nb reads its configuration."""
    app.connect("builder-inited", place_cache, priority=100)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

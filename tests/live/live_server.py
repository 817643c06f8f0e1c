"""A Jupyter server for tests: JupyterLab and Notebook 7 at one address, on copies of notebooks."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from browser import ROOT

TOKEN = "a-token-for-the-chapters"
PLACES = {"JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
          "JUPYTER_CONFIG_DIR": "config", "JUPYTER_RUNTIME_DIR": "runtime",
          "JUPYTER_DATA_DIR": "data", "IPYTHONDIR": "ipython"}  # fmt: skip
# Cells outside the window stay in the page, and nothing asks for news or updates.
SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": {
        "windowingMode": "none",
        "autoStartDefaultKernel": True,
    },
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}


class Application(NamedTuple):
    """A Jupyter front end: its Python module, and where it shows a notebook."""

    module: str
    path: str


LAB = Application("jupyterlab", "doc/tree")
NOTEBOOK = Application("notebook", "notebooks")


@contextmanager
def serving(
    notebooks: list[Path], home: Path, application: Application = NOTEBOOK
) -> Iterator[tuple[str, str]]:
    """Serve copies of the notebooks, under chapters/, as they are; gives address and token."""
    work = home / "work"
    (work / "chapters").mkdir(parents=True)
    for notebook in notebooks:
        shutil.copy(notebook, work / "chapters")
    shutil.copytree(ROOT / "chapters" / "appendix", work / "chapters" / "appendix")
    for name, setting in SETTINGS.items():
        path = home / "settings" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(setting), encoding="utf-8")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    environment = os.environ | {name: str(home / place) for name, place in PLACES.items()}
    environment |= {"OMP_NUM_THREADS": "1",
                    "JUPYTER_CONFIG_PATH": str(ROOT / "binder"),  # as `make lab` and Binder have it
                    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}  # fmt: skip
    options = {
        "ip": "127.0.0.1",
        "port": port,
        "ServerApp.port_retries": 0,
        "IdentityProvider.token": TOKEN,
        "ServerApp.root_dir": work,
        "ServerApp.allow_root": True,
        "JupyterNotebookApp.expose_app_in_browser": True,
        "LabApp.expose_app_in_browser": True,
        "LabApp.news_url": None,
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
    }
    command = [sys.executable, "-m", application.module, "--no-browser"]
    command += [f"--{name}={value}" for name, value in options.items()]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(command, env=environment, cwd=work, stdout=log, stderr=log)
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(address, server, home / "log")
            yield address, TOKEN
        finally:
            server.terminate()
            try:
                server.wait(15)
            except subprocess.TimeoutExpired:
                server.kill()


def wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    """Wait until the server answers."""
    for _ in range(480):
        assert server.poll() is None, log.read_text()[-2000:]
        try:
            urllib.request.urlopen(f"{address}/api?token={TOKEN}", timeout=2)
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.25)
    pytest.fail(f"Jupyter did not start: {log.read_text()[-2000:]}")

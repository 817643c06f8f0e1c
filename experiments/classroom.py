"""A JupyterHub under load: what a student costs in memory, and how long a class waits.

    python experiments/classroom.py --students 1 10 30

Each student gets a server of their own, opens a chapter and runs all of its cells, all at once.
Needs what the book does not: `pip install jupyterhub`, and `configurable-http-proxy` of npm on the
path. It writes records/classroom.json and the copy that the page for teachers shows.
"""

import argparse
import asyncio
import json
import os
import platform
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import httpx
import nbformat
import psutil
import websocket

from kept import MEASURED

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "experiments" / "records"
PACKAGED = MEASURED
CHAPTER = "06_multi_head_attention"  # of all chapters, one that loads a trained model
PORT = 8765
HUB = f"http://127.0.0.1:{PORT}"
PATIENCE = 600  # seconds
MB = 1_000_000

CONFIG = """
c.JupyterHub.bind_url = "{hub}"
c.JupyterHub.hub_port = {hub_port}
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.services = [{{"name": "class", "api_token": "{token}"}}]
c.JupyterHub.load_roles = [{{"name": "class", "services": ["class"],
                            "scopes": ["admin:users", "admin:servers", "access:servers"]}}]
c.JupyterHub.concurrent_spawn_limit = 0
c.Spawner.start_timeout = c.Spawner.http_timeout = {patience}
c.Spawner.args = ["--allow-root"]
c.Spawner.notebook_dir = "{place}"
c.Spawner.environment = {{"OMP_NUM_THREADS": "1"}}
"""


def cells() -> list[str]:
    """Return the code of the chapter, cell by cell."""
    notebook = nbformat.read(ROOT / "chapters" / f"{CHAPTER}.ipynb", as_version=4)
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def memory(process: psutil.Process) -> int:
    """Return the bytes of a process and its children; what several share is shared out (PSS)."""
    family = [process, *process.children(recursive=True)]
    return sum(one.memory_full_info().pss for one in family)


def run_all(server: str, kernel: str, token: str, sources: list[str]) -> None:
    """Run all cells in a kernel, one after another; the first error ends it."""
    address = f"{server.replace('http', 'ws')}/api/kernels/{kernel}/channels"
    allowed = {"Authorization": f"token {token}"}
    line = websocket.create_connection(
        address, timeout=PATIENCE, header=allowed, suppress_origin=True
    )
    for source in sources:
        asked = uuid.uuid4().hex
        header = {"msg_id": asked, "msg_type": "execute_request", "username": "", "session": asked,
                  "version": "5.3"}  # fmt: skip
        content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
        line.send(json.dumps({**message, "channel": "shell"}))
        while True:
            heard = line.recv()
            if isinstance(heard, bytes):  # a widget's numbers, which need no answer
                continue
            reply = json.loads(heard)
            if reply["parent_header"].get("msg_id") != asked:
                continue
            if reply["msg_type"] == "error":
                raise RuntimeError(f"{reply['content']['ename']}: {reply['content']['evalue']}")
            if reply["msg_type"] == "execute_reply":
                break
    line.close()


async def study(client: httpx.AsyncClient, name: str, token: str) -> dict[str, float]:
    """One student: wait for a server, open the chapter, run all of it."""
    began = time.perf_counter()
    answer = await client.post(f"/hub/api/users/{name}/server")
    while answer.status_code != 201:
        answer.raise_for_status()
        await asyncio.sleep(0.5)
        user = (await client.get(f"/hub/api/users/{name}")).json()
        if user.get("server"):
            break
        if time.perf_counter() - began > PATIENCE:
            raise TimeoutError(f"{name} waited for a server for more than {PATIENCE} s")
    ready = time.perf_counter()
    server = f"{HUB}/user/{name}"
    kernel = (await client.post(f"{server}/api/kernels")).raise_for_status().json()["id"]
    await asyncio.to_thread(run_all, server, kernel, token, cells())
    done = time.perf_counter()
    return {"server_s": ready - began, "chapter_s": done - ready}


async def lesson(students: int, token: str, hub: psutil.Process) -> dict[str, float]:
    """All of a class at once; then what they take up, and all servers are stopped."""
    names = [f"student-{students}-{i}" for i in range(students)]
    auth = {"Authorization": f"token {token}"}
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=HUB, headers=auth, timeout=PATIENCE, limits=limits) as c:
        (await c.post("/hub/api/users", json={"usernames": names})).raise_for_status()
        each = await asyncio.gather(*(study(c, name, token) for name in names))
        servers = [p for p in psutil.process_iter(["environ"]) if server_of(p, names)]
        taken = [memory(p) for p in servers]
        house = memory(hub) - sum(taken)
        for name in names:
            await c.delete(f"/hub/api/users/{name}/server")
        await asyncio.sleep(5)
    if len(taken) != students:
        raise RuntimeError(f"{students} students, but {len(taken)} servers")
    return {
        "students": students,
        "student_mb": statistics.median(taken) / MB,
        "hub_mb": house / MB,
        **{f"{what}_median": statistics.median(one[what] for one in each) for what in each[0]},
        **{f"{what}_longest": max(one[what] for one in each) for what in each[0]},
    }


def server_of(process: psutil.Process, names: list[str]) -> bool:
    """Whether this process is the server, and not a child of the server, of one of the class."""
    mine = (process.info["environ"] or {}).get("JUPYTERHUB_USER")
    return mine in names and "jupyterhub-singleuser" in " ".join(process.cmdline())


def started(token: str, place: str) -> subprocess.Popen:
    """Start a hub whose files stand in a folder of their own, and wait until it answers."""
    config = Path(place) / "jupyterhub_config.py"
    config.write_text(CONFIG.format(hub=HUB, hub_port=PORT + 1, token=token, place=place,
                                    patience=PATIENCE))  # fmt: skip
    command = [Path(sys.executable).with_name("jupyterhub"), "-f", config]
    with (Path(place) / "log").open("w") as log:
        hub = subprocess.Popen(command, cwd=place, stdout=log, stderr=log, env=os.environ)
    for _ in range(120):
        try:
            httpx.get(f"{HUB}/hub/api").raise_for_status()
            return hub
        except httpx.HTTPError:
            time.sleep(0.5)
    hub.terminate()
    raise RuntimeError((Path(place) / "log").read_text()[-2000:])


def machine() -> dict[str, object]:
    """What it was measured on."""
    hub = subprocess.run(
        [Path(sys.executable).with_name("jupyterhub"), "--version"], capture_output=True, text=True
    )
    return {
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(psutil.virtual_memory().total / 1e9),
        "python": platform.python_version(),
        "jupyterhub": hub.stdout.strip(),
        "chapter": CHAPTER,
    }


def main() -> None:
    """Let classes of several sizes come one after another, and keep what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, nargs="+", default=[1, 10, 30])
    asked = parser.parse_args()
    token = secrets.token_hex(16)
    with tempfile.TemporaryDirectory() as place:
        hub = started(token, place)
        process = psutil.Process(hub.pid)
        try:
            classes = []
            for students in asked.students:
                classes.append(asyncio.run(lesson(students, token, process)))
                print(classes[-1], flush=True)
        finally:
            for one in [*process.children(recursive=True), process]:
                one.terminate()
            hub.wait(60)
    rounded = [{k: round(v, 1) for k, v in one.items()} for one in classes]
    text = json.dumps({"machine": machine(), "classes": rounded}, indent=1) + "\n"
    for folder in (RECORDS, PACKAGED):
        (folder / "classroom.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""The program in a process of its own, with the streams and the faults that a test wants.

To import what a fit needs takes longer than most fits of tests. On Linux a server imports it once,
and every program is a child of it, which does the rest as any other process: it has its own
streams, folder and handlers of signals, and it ends as the interpreter ends. A program whose
imports matter, for example since a signal comes at any moment, is started by `start_program`.
Another server imports packages of others alone, for code that imports the package in its own way.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

# Nothing here imports the package: the server, which runs this file, says where it is found.
_MAIN = "import os, signal, sys\n{before}\nfrom riskslim.__main__ import main\nmain()"
_SECONDS = 120


def _environment(**variables: str) -> dict[str, str]:
    from paths import PACKAGE

    return {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "PYTHONSAFEPATH": "1", **variables}


def start_program(
    *arguments: object, before: str = "", cwd=None, env=(), **streams
) -> subprocess.Popen:
    """Start the program; ``before`` is done first in its process.

    Signals are as they are for a program that a shell starts, whatever runs these tests.
    """
    usual = "for one in (signal.SIGTERM, signal.SIGHUP): signal.signal(one, signal.SIG_DFL)\n"
    before = (usual if os.name == "posix" else "") + before
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    return subprocess.Popen(
        [sys.executable, "-c", _MAIN.format(before=before), *map(str, arguments)], cwd=cwd,
        text=True, encoding="utf-8", errors="replace", env=_environment(**dict(env)),
        start_new_session=True, **streams,
    )  # fmt: skip


def program(
    *arguments: object, before: str = "", cwd: Any = None
) -> subprocess.CompletedProcess[str]:
    """Run the program to its end; ``before`` is done first in its process."""
    if sys.platform != "linux":
        process = start_program(*arguments, before=before, cwd=cwd)
        out, err = process.communicate(timeout=_SECONDS)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)
    request = {
        "arguments": ["riskslim", *map(str, arguments)], "code": _MAIN.format(before=before),
        "folder": str(cwd or Path.cwd()), "environment": dict(os.environ),
    }  # fmt: skip
    code, out, err = _server("the package").run(request)
    return subprocess.CompletedProcess(arguments, code, out, err)


def run_code(
    code: str,
    *arguments: str,
    folder: Path,
    environment: dict[str, str] | None = None,
    hidden: set[str] = frozenset(),
) -> subprocess.CompletedProcess[str]:
    """Run code in a process, on Linux one where some packages of others are imported already.

    Where one of those is ``hidden``, which the code will not find, nothing is imported already.
    """  # fmt: skip
    environment = dict(os.environ) if environment is None else environment
    if sys.platform != "linux":
        return subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False,
            env=environment, cwd=folder, timeout=_SECONDS,
        )  # fmt: skip
    request = {
        "arguments": ["-c", *arguments], "code": code, "folder": str(folder),
        "environment": environment, "hidden": sorted(hidden),
    }  # fmt: skip
    status, out, err = _server("packages of others").run(request)
    return subprocess.CompletedProcess(arguments, status, out, err)


class _Server:
    """A process that has imported something, and makes a child of itself for every program."""

    def __init__(self, what: str) -> None:
        self.ours, theirs = socket.socketpair()
        self.process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno()), what], pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL, env=_environment(), start_new_session=True,
        )  # fmt: skip
        theirs.close()
        self.ours.settimeout(_SECONDS)

    def run(self, request: dict[str, object]) -> tuple[int, str, str]:
        texts = ["", ""]

        def read(k: int, descriptor: int) -> None:
            with os.fdopen(descriptor, encoding="utf-8", errors="replace") as stream:
                texts[k] = stream.read()

        pipes = [os.pipe() for _ in texts]
        readers = [
            threading.Thread(target=read, args=(k, ours)) for k, (ours, _) in enumerate(pipes)
        ]
        for reader in readers:
            reader.start()
        try:
            socket.send_fds(self.ours, [json.dumps(request).encode()], [pipe[1] for pipe in pipes])
        finally:
            for _, theirs in pipes:
                os.close(theirs)
        answer = self.ours.recv(100)
        for reader in readers:
            reader.join(_SECONDS)
        return int(answer), *texts

    def close(self) -> None:
        self.ours.close()
        self.process.wait()


@functools.cache
def _server(what: str) -> _Server:
    server = _Server(what)
    atexit.register(server.close)
    return server


# ---- in the process of the server ----------------------------------------------------------------


def _preload_others() -> None:
    """Import what takes long to import, and nothing of the package."""
    for name in ("joblib", "scipy.optimize", "scipy.stats", "sklearn.base", "sklearn.datasets"):
        importlib.import_module(name)


def _preload() -> None:
    """Import what commands import, and start no thread: a child would not have it."""
    import narwhals
    import pyarrow.csv
    import pyarrow.parquet

    import riskslim
    import riskslim.cli
    import riskslim.report
    from riskslim.cli.app import application

    for name in riskslim.__all__:
        getattr(riskslim, name)
    for package in (riskslim.cli, riskslim.report):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    for name in (
        "jinja2", "matplotlib.backends.backend_svg", "matplotlib.figure", "pydantic.type_adapter",
        "rich.progress", "sklearn.metrics", "sklearn.model_selection", "sklearn.preprocessing",
        "typer._adapters",
    ):  # fmt: skip
        importlib.import_module(name)
    application()
    narwhals.from_native(pyarrow.table({"a": [1]})).columns  # noqa: B018


def _serve(connection: socket.socket) -> dict[str, Any] | None:
    """Answer requests by exit codes; a child returns its request, the server returns nothing."""
    while True:
        text, descriptors, *_ = socket.recv_fds(connection, 2**16, 2)
        if not text:
            return None
        child = os.fork()
        if not child:
            connection.close()
            for place, descriptor in enumerate(descriptors, start=1):
                os.dup2(descriptor, place)
                os.close(descriptor)
            return json.loads(text)
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())


if __name__ == "__main__":
    _preload_others() if sys.argv[2] == "packages of others" else _preload()
    gc.freeze()  # a child need not look at it when it collects garbage
    asked = _serve(socket.socket(fileno=int(sys.argv[1])))
    if asked is not None:
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        sys.argv[:] = asked["arguments"]
        loaded = {name.partition(".")[0] for name in sys.modules}
        if not loaded.isdisjoint(asked.get("hidden", ())):
            os.execv(sys.executable, [sys.executable, "-c", asked["code"], *sys.argv[1:]])
        if sys.argv[0] == "-c":
            sys.path.insert(0, "")  # as Python does: the folder
        for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(
                one, signal.default_int_handler if one == signal.SIGINT else signal.SIG_DFL
            )
        exec(asked["code"], {"__name__": "__main__"})

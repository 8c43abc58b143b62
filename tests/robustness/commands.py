"""Commands of `variorum`, each in a fork of one process that has imported most libraries: that takes 2 s of a core.

`python -m tests.robustness.commands` reads requests as lines of JSON. Not here: what tests do with commands.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from resources.home import PROJECT

LIBRARIES = ("dagster", "dagster_webserver.app", "duckdb", "sqlalchemy", "scipy.stats", "sacrebleu", "lxml.etree")
"""Libraries that are imported once. Not polars, which starts threads: these would not exist in a fork."""

CLONE_NEWNS = 0x20000
"""Flag of `unshare`: mounts of its own (linux/sched.h)."""


class Done(NamedTuple):
    """A command that has ended: its exit code, negative for a signal, and its words."""

    code: int
    out: str
    err: str


class Started:
    """A command under way."""

    def __init__(self, server: subprocess.Popen[str], folder: Path, pid: int) -> None:
        self._server, self._folder, self.pid = server, folder, pid

    def words(self) -> str:
        """What the command has written to standard error so far."""
        return (self._folder / "err").read_text(encoding="utf-8")

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the command."""
        os.kill(self.pid, number)

    def end(self) -> Done:
        """Wait for the end."""
        assert self._server.stdout is not None
        code = int(self._server.stdout.readline())
        return Done(code, (self._folder / "out").read_text(encoding="utf-8"), self.words())


class Commands:
    """Commands on a home; one at a time."""

    def __init__(self, server: subprocess.Popen[str], folder: Path, variables: Mapping[str, str]) -> None:
        self._server, self._folder, self._variables = server, folder, variables

    def start(
        self, home: Path, *arguments: str, fill: tuple[str, int, int] | None = None, log: str = "",
        read_only: bool = False, shift: int = 0,
    ) -> Started:  # fmt: skip
        """Start a command; `fill`, `log` and `shift` are those of faults.c. With `read_only`, the home is mounted
        read-only."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        variables = {**self._variables, "VARIORUM_HOME": str(home), "DAGSTER_HOME": str(home / "dagster")}
        request = {
            "arguments": arguments, "variables": variables, "folder": str(self._folder), "fill": fill, "log": log,
            "read_only": read_only, "shift": shift,
        }  # fmt: skip
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        return Started(self._server, self._folder, int(self._server.stdout.readline()))

    def run(self, home: Path, *arguments: str, **more: Any) -> Done:
        """Run a command to its end."""
        return self.start(home, *arguments, **more).end()


@contextmanager
def commands(folder: Path, variables: Mapping[str, str], shim: Path | None = None) -> Iterator[Commands]:
    """A process that runs commands with these environment variables, until the block ends."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | ({"LD_PRELOAD": str(shim)} if shim else {})
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", __name__]
    with subprocess.Popen(command, cwd=PROJECT, env=environment, stdin=pipe, stdout=pipe, text=True) as server:
        yield Commands(server, folder, variables)
        assert server.stdin is not None
        server.stdin.close()


def _close_to_writing(folder: str) -> None:
    """Mount a folder read-only for this process and its children."""
    if ctypes.CDLL(None).unshare(CLONE_NEWNS):
        raise OSError("needs CAP_SYS_ADMIN")
    for options in (["--make-rprivate", "/"], ["--bind", folder, folder], ["-o", "remount,ro,bind", folder]):
        subprocess.run(["mount", *options], check=True)


def _main() -> None:
    for library in LIBRARIES:
        import_module(library)
    for line in sys.stdin:
        request = json.loads(line)
        if pid := os.fork():
            print(pid, flush=True)
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
            continue
        os.environ |= request["variables"]
        for number, name in ((0, os.devnull), (1, "out"), (2, "err")):
            flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(Path(request["folder"]) / name, flags), number)
        sys.argv = ["variorum", *request["arguments"]]
        if request["read_only"]:
            _close_to_writing(request["variables"]["VARIORUM_HOME"])
        if request["fill"] or request["log"]:
            below, first, room = request["fill"] or (request["variables"]["VARIORUM_HOME"], 0, 0)
            disk_fill = ctypes.CDLL(None).disk_fill
            disk_fill.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_long, ctypes.c_char_p]
            disk_fill(below.encode(), first, room, request["log"].encode() or None)
        if request["shift"]:
            ctypes.CDLL(None).clock_shift(ctypes.c_long(request["shift"]))
        import_module("benchmark_assets.cli").console()


if __name__ == "__main__":
    _main()

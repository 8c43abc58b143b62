"""A group's home for proofs: a database and workers, each a process of its own. Not here: what is computed."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmark_assets.automation.server.queues import PartQueue
from resources.home import PROJECT
from tests.processes import VARIORUM, until


class Group:
    """The processes of a group. Their logs are in `folder`.

    `settings` are the environment variables that all of them have in common.
    """

    def __init__(self, folder: Path, database: str, registry: Path) -> None:
        self.folder = folder
        self.settings = {
            "VARIORUM_DATABASE": database,
            "VARIORUM_VECTORS": str(folder / "vectors"),
            "VARIORUM_MODELS": str(registry),
        }
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def environment(self, machine: str) -> dict[str, str]:
        """That of a process on a machine, whose home is a folder of its own."""
        home = self.folder / machine
        mine = {"VARIORUM_HOME": str(home), "DAGSTER_HOME": str(home / "dagster")}
        return os.environ | {"OMP_NUM_THREADS": "1", "VARIORUM_PLOTS": "off"} | self.settings | mine

    def start(self, name: str, *command: str, machine: str = "server") -> subprocess.Popen[bytes]:
        """Start a process under a name, in a process group of its own."""
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                command, cwd=PROJECT, env=self.environment(machine), stdout=log, stderr=log, start_new_session=True
            )
        self.processes[name] = process
        return process

    def worker(self, name: str, *beginning: str, machine: str = "server") -> None:
        """Start a worker with one process; `beginning` are the words before its command."""
        self.start(name, *beginning, VARIORUM, "worker", machine=machine)

    def kill(self, name: str) -> None:
        """Kill a process and every process that it started, as if its machine had crashed."""
        process = self.processes.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def variorum(self, *arguments: str) -> str:
        """Run a command on the server to its end; return what it printed."""
        done = subprocess.run(
            [VARIORUM, *arguments], cwd=PROJECT, env=self.environment("server"), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-5000:]
        return done.stdout

    def logs(self) -> str:
        """The end of each log."""
        return "\n".join(f"== {path.name}\n{path.read_text()[-3000:]}" for path in sorted(self.folder.glob("*.log")))


@contextmanager
def running(folder: Path, database: str, registry: Path, workers: int) -> Iterator[Group]:
    """A group with some workers (`worker1`, …), until the block ends."""
    group = Group(folder, database, registry)
    group.variorum("status")  # makes the home and the tables
    try:
        for number in range(1, workers + 1):
            group.worker(f"worker{number}")
        if workers:
            until(lambda: len(PartQueue(database).workers()) == workers, 300, folder / "worker1.log")
        yield group
    finally:
        for name in list(group.processes):
            group.kill(name)

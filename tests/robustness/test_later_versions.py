"""A home that a later version wrote is refused, with the number of that version and of this one; nothing is changed."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest

from resources.duckdb_warehouse import DuckDBWarehouse
from resources.home import prepare
from resources.migration import VERSIONS
from resources.provider.sqlite_ledger import VERSION, SqliteLedger
from tests.processes import here
from tests.support import by_hand


def later_warehouse(home: Path) -> str:
    """Raise the number of the warehouse's schema; return what a refusal says."""
    with by_hand(str(home / "variorum.duckdb")) as connection:
        connection.execute("INSERT INTO schema_version SELECT max(number) + 1, 'later', now() FROM schema_version")
    return f"schema version {len(VERSIONS) + 1}, but this program knows versions up to {len(VERSIONS)}"


def later_ledger(home: Path) -> str:
    """Raise the number of the ledger; return what a refusal says."""
    with SqliteLedger(home / "ledger.sqlite").reading() as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.execute("DROP INDEX attempt_requested")
        connection.execute("ALTER TABLE attempt DROP COLUMN requested_model")  # this version would add it
    return f"version {VERSION + 1}, but this program knows versions up to {VERSION}"


def later_dagster(home: Path) -> str:
    """Raise the version in Dagster's state; return what a refusal says."""
    prepare()
    with dg.DagsterInstance.get() as instance:
        instance.daemon_cursor_storage.set_cursor_values({"variorum/dagster": "99.0.1"})
    return f"was written by Dagster 99.0.1, but this program runs Dagster {dg.__version__}"


@pytest.mark.parametrize("later", [later_warehouse, later_ledger, later_dagster])
def test_a_store_of_a_later_version_is_refused_and_stays_as_it_is(home: Path, later: Callable[[Path], str]) -> None:
    DuckDBWarehouse(path=str(home / "variorum.duckdb")).read("corpus")
    problem = later(home)
    refused = here(home, "status", code=1)
    assert problem in refused.stderr
    assert "use the version of Variorum that wrote it, or a later one" in refused.stderr
    if later is later_ledger:
        with closing(sqlite3.connect(home / "ledger.sqlite")) as connection:
            columns = [row[1] for row in connection.execute("PRAGMA table_info(attempt)")]
        assert "requested_model" not in columns

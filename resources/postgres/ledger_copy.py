"""Copying a ledger from a file to PostgreSQL: every row with its number, and archived texts as rows.

Here: which columns are copied, and what PostgreSQL keeps in addition. Not here: the comparison of rows and the
transaction (automation.server.moving), the ledgers (sqlite_ledger, postgres_ledger).
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from resources.postgres.postgres_ledger import PostgresLedger, storable
from resources.provider import archive
from resources.provider.ledger import COLUMNS, compressed

TABLES: dict[str, tuple[str, ...]] = {
    "session": ("id", "run", "started"),
    "question": ("id", "key", "place", "replicate", "body"),
    "attempt": COLUMNS,
    "reply": ("attempt", "received", "status", "headers", "body", "broken"),
    "account": ("name", "paid", "reserved", "uncertain"),
    "correction": ("id", "attempt", "made", "author", "before", "after", "note"),
    "identity": ("home", "epoch"),
}
"""Columns of each table. The rows are in the order of the first one."""

PART = 1000
"""Number of rows that are fetched at once."""

_CLOSED = {"lease": "epoch", "closed": True}
"""Further columns of a session: it has ended."""

_NAMED = ("session", "account", "identity")
"""Tables in the order of a text."""

# In PostgreSQL, accounts are charged by the slices of sessions. Any session settles the attempts of these sessions,
# because their leases have ended.
_COMPLETED = f"""
    INSERT INTO slice (session, account, held, reserved)
    SELECT session, name, sum(reserved), sum(reserved) FROM attempt
    CROSS JOIN LATERAL (VALUES ('run ' || run), ({PostgresLedger.day}), ('model ' || model)) AS charged (name)
    WHERE outcome IS NULL GROUP BY session, name;
    UPDATE session SET closed = FALSE WHERE id IN (SELECT session FROM attempt WHERE outcome IS NULL);
    SELECT setval(pg_get_serial_sequence('question', 'id'), max(id)) FROM question;
    SELECT setval(pg_get_serial_sequence('attempt', 'id'), max(id)) FROM attempt;
    SELECT setval(pg_get_serial_sequence('correction', 'id'), max(id)) FROM correction;
""".encode()


def rows_of_file(connection: sqlite3.Connection, file: Path, table: str) -> Iterator[tuple[Any, ...]]:
    """Rows of a table in a ledger's file, as PostgreSQL can store them, with archived texts in their places."""
    names = TABLES[table]
    columns, key = ", ".join(f"t.{name}" for name in names), names[0]
    if "body" not in names:
        for row in connection.execute(f"SELECT {columns} FROM {table} t ORDER BY t.{key}"):
            yield tuple(map(storable, row))
        return
    body = names.index("body")
    archived = f"LEFT JOIN archived f ON f.kind = ? AND f.id = t.{key}"
    for row in connection.execute(
        f"SELECT {columns}, f.file, f.start, f.length FROM {table} t {archived} ORDER BY t.{key}", (table,)
    ):
        values, place = [storable(value) for value in row[:-3]], row[-3:]
        if place[0] is not None:
            values[body] = compressed(archive.text(file, values[body], *place))
        yield tuple(values)


def rows_of_database(connection: psycopg.Connection[Any], table: str) -> Iterator[tuple[Any, ...]]:
    """Rows of a table in PostgreSQL, in the same order; within a transaction."""
    key = sql.Identifier(TABLES[table][0])
    order = sql.SQL('{} COLLATE "C"').format(key) if table in _NAMED else key
    names = sql.SQL(", ").join(map(sql.Identifier, TABLES[table]))
    with connection.cursor(f"rows of {table}") as cursor:
        cursor.itersize = PART
        cursor.execute(sql.SQL("SELECT {} FROM {} ORDER BY {}").format(names, sql.Identifier(table), order))
        yield from cursor


def take_over(connection: psycopg.Connection[Any], table: str, rows: Iterable[Sequence[Any]]) -> None:
    """Add rows to an empty table."""
    added = _CLOSED if table == "session" else {}
    names = sql.SQL(", ").join(map(sql.Identifier, (*TABLES[table], *added)))
    copy = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), names)
    with connection.cursor() as cursor, cursor.copy(copy) as target:
        for row in rows:
            target.write_row((*row, *added.values()))


def complete(connection: psycopg.Connection[Any]) -> None:
    """Add what PostgreSQL keeps in addition to the rows of a file: slices, and the numbers of later rows."""
    connection.execute(_COMPLETED)

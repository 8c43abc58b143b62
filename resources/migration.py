"""Migration of a warehouse to the declared schema.

Here: the numbered versions of the schema, the changes that follow from the catalogue, and former names, which the
catalogue does not contain. Not here: when a file is migrated and copied (warehouse), what columns mean (catalogue).

A table that differs from its declaration is rebuilt: its values are copied to the columns of the same names, and
converted to the declared types. A new column of a table with rows must be nullable or have a default. Columns and
tables that are no longer declared are dropped, so that none of their texts remain.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from typing import NamedTuple

import duckdb

from resources import catalogue
from resources.errors import BadInput

_STAMPS = "fingerprint, run_id, updated_at"
_NO_TASK = "'' AS task, call"


class Version(NamedTuple):
    """A version of the schema, with the changes that the catalogue cannot express.

    `digest` is the digest of the catalogue's DDL. `renamed` maps a table and a former name of its column to the new
    name. `merged` maps a former table to the table that receives its rows, and to the SELECT clause that converts the
    rows.
    """

    digest: str
    renamed: Mapping[tuple[str, str], str]
    merged: Mapping[str, tuple[str, str]]


VERSIONS = (
    Version(
        "52630a80a49f6eababc61eb3130e3b1f",
        {("understanding_comparison", "p_randomization"): "p", ("system_comparison", "p_randomization"): "p"},
        {
            "translation_call": ("study_call", f"""
                SELECT 'model_output' AS study, model, passage, {_NO_TASK}, batch AS item, parsing, {_STAMPS}"""),
            "judge_call": ("study_call", f"""
                SELECT 'judge_vote' AS study, model, passage, {_NO_TASK}, judge AS item, asked, parsing, {_STAMPS}"""),
            "comparison_call": ("study_call", f"""
                SELECT 'comparison' AS study, model, passage, {_NO_TASK}, concat_ws('|', base_set, anchor, shown)
                    AS item, {_STAMPS}"""),
            "rubric_vote_call": ("study_call", f"""
                SELECT 'rubric_vote' AS study, model, passage, {_NO_TASK}, judge AS item, {_STAMPS}"""),
            "aspect_vote_call": ("study_call", f"""
                SELECT 'aspect_vote' AS study, model, passage, {_NO_TASK}, concat_ws('|', judge, aspect, shown) AS item,
                    {_STAMPS}"""),
            "glossary_call": ("study_call", f"""
                SELECT 'glossary' AS study, '' AS model, passage, {_NO_TASK}, '' AS item, {_STAMPS}"""),
            "answer_call": ("study_call", f"""
                SELECT 'answer' AS study, model, '' AS passage, task, call, concat_ws('|', seed, sample, draw) AS item,
                    {_STAMPS}"""),
        },
    ),
    Version("f19d9113936cf8178d79153dc3a08f57", {}, {}),
    Version("3cc2fce28b187fcbbe8dd61592ed9799", {}, {}),
)  # fmt: skip
"""Every version, beginning with version 1. A file without a number is older than version 1. A changed declaration
requires a new version with the new digest."""

OWN = {"schema_version", "identity"}
"""Tables of the file that the catalogue does not declare."""


@cache
def digest() -> str:
    """Digest of the catalogue's DDL."""
    return blake2b(catalogue.duckdb_ddl().encode(), digest_size=16).hexdigest()


def current(connection: duckdb.DuckDBPyConnection) -> tuple[int, str]:
    """Number and digest of the version of a file; 0 and '' for a new file and for a file without a number."""
    try:
        query = "SELECT number, digest FROM schema_version ORDER BY migrated_at DESC LIMIT 1"
        return connection.execute(query).fetchone() or (0, "")
    except duckdb.CatalogException:
        return 0, ""


def has_rows(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether any table of the file has rows."""
    return any(connection.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone() for table in columns(connection))


def migrate(connection: duckdb.DuckDBPyConnection, path: str) -> None:
    """Migrate a file to the declared schema in one transaction.

    Raises
    ------
    BadInput
        If rows do not fit the declared columns. The file then stays as it was.
    """
    number, _ = current(connection)
    connection.begin()
    for version in VERSIONS[number:]:
        _rename(connection, version)
    keys = _keys(connection)
    for table, present in columns(connection).items():
        if table in catalogue.tables() and (present, keys[table]) != (
            declared(table),
            list(catalogue.table(table).key),
        ):
            _rebuild(connection, table, present, path)
    connection.execute(catalogue.duckdb_ddl())
    for version in VERSIONS[number:]:
        _merge(connection, version)
    for table, present in columns(connection).items():
        # Only tables of the project: a user may have added others.
        if table == "schema_digest" or (table not in catalogue.tables() and present.keys() >= {*catalogue.PROVENANCE}):
            connection.execute(f'DROP TABLE "{table}"')
    connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_version "
        "(number INTEGER NOT NULL, digest VARCHAR NOT NULL, migrated_at TIMESTAMP NOT NULL)"
    )
    connection.execute(
        "CREATE TABLE IF NOT EXISTS identity (home VARCHAR NOT NULL, epoch BIGINT NOT NULL, ledger BOOLEAN NOT NULL)"
    )
    stamp = (len(VERSIONS), digest(), datetime.now(UTC).replace(tzinfo=None))
    connection.execute("INSERT INTO schema_version VALUES (?, ?, ?)", stamp)
    connection.commit()


def declared(table: str) -> dict[str, str]:
    """DuckDB type of each declared column of a table, followed by `NOT NULL` unless it is nullable."""
    listed = catalogue.table(table).columns.values()
    return {each.name: each.type if each.nullable else f"{each.type} NOT NULL" for each in listed}


def found(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """Type of each column of a table in the file, formatted as in `declared`; empty if there is no such table."""
    query = 'SELECT name, type, "notnull" FROM pragma_table_info(?)'
    try:
        rows = connection.execute(query, [table]).fetchall()
    except duckdb.CatalogException:
        return {}
    return {name: f"{kind} NOT NULL" if required else kind for name, kind, required in rows}


def columns(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """Types of the columns in the file, formatted as in `declared`, by table and column."""
    tables = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE NOT internal AND database_name = current_database()"
    ).fetchall()
    return {name: found(connection, name) for (name,) in tables}


def _keys(connection: duckdb.DuckDBPyConnection) -> Mapping[str, list[str]]:
    """Columns of each table's primary key; no columns for a table without a primary key."""
    rows = connection.execute(
        "SELECT table_name, constraint_column_names FROM duckdb_constraints() "
        "WHERE constraint_type = 'PRIMARY KEY' AND database_name = current_database()"
    ).fetchall()
    return {table: [] for table in columns(connection)} | {table: list(key) for table, key in rows}


def _rename(connection: duckdb.DuckDBPyConnection, version: Version) -> None:
    present = columns(connection)
    for (table, former), name in version.renamed.items():
        if former in present.get(table, {}):
            connection.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{former}" TO "{name}"')


def _merge(connection: duckdb.DuckDBPyConnection, version: Version) -> None:
    present = columns(connection)
    for former, (table, query) in version.merged.items():
        if former in present:
            connection.execute(f'INSERT INTO "{table}" BY NAME {query} FROM "{former}"')
            connection.execute(f'DROP TABLE "{former}"')


def _rebuild(connection: duckdb.DuckDBPyConnection, table: str, present: Mapping[str, str], path: str) -> None:
    """Rebuild a table as it is declared, and copy its rows."""
    kept = ", ".join(f'"{name}"' for name in declared(table) if name in present)
    connection.execute(f'CREATE TEMP TABLE former AS FROM "{table}"')
    connection.execute(f'DROP TABLE "{table}"')
    connection.execute(catalogue.duckdb_ddl(table))
    try:
        connection.execute(f'INSERT INTO "{table}" ({kept}) SELECT {kept} FROM former')
    except (duckdb.ConstraintException, duckdb.ConversionException) as error:
        raise BadInput(
            path, table, f"rows do not fit the declared columns ({str(error).splitlines()[0]})",
            "nothing was changed: keep using the former version of Variorum, and report this error",
        ) from error  # fmt: skip
    connection.execute("DROP TABLE former")

"""Migration of a warehouse to the declared schema, in DuckDB and in PostgreSQL.

Here: the numbered versions of the schema, the changes that follow from the catalogue, and former names, which the
catalogue does not contain. Not here: the queries by which a kind of database lists its tables (the implementations of
Schema), when a warehouse is migrated and copied (the warehouses), what columns mean (catalogue).

A table that differs from its declaration is rebuilt: its values are copied to the columns of the same names, and
converted to the declared types. A new column of a table with rows must be nullable or have a default. Columns and
tables that are no longer declared are dropped, so that none of their texts remain.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from typing import Any, ClassVar, NamedTuple

import polars as pl

from resources import catalogue
from resources.errors import BadInput
from resources.state_sums import SCHEMA, SUMMED, SUMS, continued

_STAMPS = "fingerprint, run_id, updated_at"
_NO_TASK = "'' AS task, call"
_SENTINEL = "judge, direction, aspect, trait, kind, passage"
_EXAMINED = {  # by former asset: the study whose judges it examined
    "comparison_sentinel": "comparison", "aspect_sentinel": "aspect_vote", "judge_sentinel": "judge_vote",
    "rubric_sentinel": "rubric_vote", "span_sentinel": "span_vote",
}  # fmt: skip
_REPLY = dict.fromkeys(["comparison_sentinel", "aspect_sentinel"], "shown, choice, trial_length")
_EXAMINATIONS = "asset IN ({})".format(", ".join(f"'{asset}'" for asset in _EXAMINED))


class Version(NamedTuple):
    """A version of the schema, with the changes that the catalogue cannot express.

    `digest` is the digest of the catalogue's DDL. `renamed` maps a table and a former name of its column to the new
    name. `merged` maps a former table to the table that receives its rows, and to the SELECT clause that converts the
    rows. `statements` are executed last.
    """

    digest: str
    renamed: Mapping[tuple[str, str], str]
    merged: Mapping[str, tuple[str, str]]
    statements: Sequence[str] = ()


_REDECLARED = {
    "29dd472375d11db5dce1e7ff2176efd4": "6bbe0c653143fc208808cef0a75c82f9",  # MCS
    "1a9da638ac27d512fff96c46784b3b99": "5821f33e889eaa94efe9051b86325be6",  # RCDS
    "9523a5b8ecebe8033714edebe0466863": "a5dc75faad6d0adcc1aafe164c1db3ab",  # RCMS
    "7218c3529789c5b784cb9a0d870aaf53": "6dd2033c30e69ce8976afdab9d188bfe",  # RCMT
    "480caaa232216eb05c17b67d6831d7d9": "249c3b4784deab30c8a24be2b9473012",  # VPCS
    "a5cef133eb4fa056e34f36e7749ff84f": "428df3b8b3f8f7ad6378bd4f57c44464",  # VPCT
}
"""Digests of the tasks of DharmaBench whose descriptions lost the keys of two baselines: former and present."""

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
    Version("0fb7f2854db7524344148d3ceeb9462a", {}, {}),
    Version("231574e083a7e64210ca77cfb073986e", {}, {}),
    Version("fa37e6f3fe9953d9c96a9cc23d42e081", {}, {}),
    Version("235a6112b5b7b4328eccf3eedd07e890", {}, {}),
    Version("13401105cd8f2c541f7073e9d41ba1f9", {}, {}),
    Version("9079147fef110a5438a921a37ee8028b", {}, {}),
    Version("87695420ac8e226a53fd5dc43b6d1dd7", {}, {}),
    Version("e2baea70634bffb963c27467f5c31a0f", {}, {}),
    Version(
        "6d6cfb9459457bbbda5f59a69af606e6",
        {},
        {
            former: ("sentinel", f"""
                SELECT '{purpose}' AS purpose, {_SENTINEL}, {columns}, number, abstention, '' AS fingerprint,
                    run_id, updated_at""")
            for former, purpose in _EXAMINED.items()
            for columns in [_REPLY.get(former, "judged AS shown, worth")]
        },
        [
            *(f"""UPDATE study_call SET study = 'sentinel', item = '{purpose}|' || item, fingerprint = ''
                WHERE study = '{former}'"""
              for former, purpose in _EXAMINED.items()),
            f"""INSERT INTO materialization
                (asset, model, passage, task, version, row_count, made_from, fingerprint, run_id, updated_at)
                SELECT 'sentinel', '', '', '', min(version), sum(row_count), min(made_from), '', min(run_id),
                    max(updated_at)
                FROM materialization WHERE {_EXAMINATIONS} HAVING count(*) > 0""",
            f"DELETE FROM materialization WHERE {_EXAMINATIONS}",
        ],
    ),
    Version("7177a59ef411bd770560c049b0a5cf19", {}, {}),
    Version("0c293db5fc34481012a1ceb94d76f24a", {}, {}),
    Version("77dee12260719ec7aeddeacf8af7fb64", {}, {},
            ["DELETE FROM materialization WHERE asset IN "
             "('funnel', 'closest_share', 'outlier_threshold', 'sensitivity_threshold')"]),
    Version("f74f1d3cdfd96b401963adfc5a65d1e4", {}, {}),
    Version("302449152235fba9a2396f47a3aadd55", {}, {}),
    Version(
        "b76051dbdbedd40c62e00751469fdeb5",
        {},
        {
            "prose_aside": ("aside", f"""
                SELECT corpus, document, translator, '' AS segment_id, position, kind, place, text, {_STAMPS}"""),
            "segment_aside": ("aside", f"""
                SELECT corpus, document, translator, segment_id, 0 AS position, kind, text, {_STAMPS}"""),
            "annotation_consistency": ("annotator_consistency", f"""
                SELECT corpus, annotator, 'errors' AS protocol, annotations AS labels, checks, passed, passed_low,
                    passed_high, early_esa, late_esa, esa_change, esa_change_low, esa_change_high, early_mqm, late_mqm,
                    mqm_change, mqm_change_low, mqm_change_high, signature, {_STAMPS}"""),
            "limited_passage": ("limited_item", f"""
                SELECT model, passage, '' AS task, '' AS sample, {_STAMPS}"""),
            "limited_sample": ("limited_item", f"""
                SELECT model, '' AS passage, task, sample, {_STAMPS}"""),
        },
        ["DELETE FROM materialization WHERE asset IN ('baseline_score', 'encoder_score', 'anchored_win_rate')"],
    ),
    Version("65a0a61acb7151fa8e079444c0b4c829", {}, {},
            [f"UPDATE benchmark SET parts = replace(parts, '{former}', '{present}') WHERE benchmark = 'dharmabench'"
             for former, present in _REDECLARED.items()]),
    Version("594f6f0de8baac204413c652ab1082bc", {}, {}),
    Version("a94dda8839c8150e6ddae80e9a2f8f2a", {}, {}),
    Version("8b9adaf6f55d081e1ada72231beb584b", {}, {}),
    Version("578a860c79e90ca1d8ed8779ef3b5bf1", {}, {}),
    Version("8d7edc9644ec6b4f80ff1cce5e57c505", {}, {}),
    Version("27963b057ac5728a615e027279854962", {}, {}),
    Version("ce993df47daf88cc24ce5a69b9ee2710", {}, {}),
    Version(
        "ff34094a174c1cd861e3784fd32f7f8b",
        {
            **{(table, "p_holm"): "p_family" for table in (
                "system_comparison", "human_difference", "understanding_comparison", "metric_comparison",
                "reference_examination",
            )},
            ("human_range", "indistinguishable"): "open",
        },
        {},
    ),
    Version("4ca4e088f9d2c8d5ccaa637bfc0df3af", {}, {}),
    Version("f27ed2b2da5203a6feb45319ebb16a11", {}, {}),
    Version("64d27345d49c58a000ce06ac7c060076", {}, {}),
    Version("9e678200aaa70fdf9bcb32a3ebc09a6d", {}, {}),
    Version("54f462a95f88db2e537ef751e31ce7c9", {}, {}),
    Version("ceaf315864fcb337886e7c83049953a5", {}, {}),
    Version("1b9f2e770e6ef6f9fb21af8a8814f406", {}, {}),
    Version("70bcc68baf1e8d20606dd088a1be7d93", {}, {}),
    Version("552a940f3d99e568ad40b601beadf132", {}, {}),
)  # fmt: skip
"""Every version, beginning with version 1. A file without a number is older than version 1. A changed declaration
requires a new version with the new digest."""

OWN = {"schema_version", "identity"}
"""Tables of the file that the catalogue does not declare."""


@cache
def digest() -> str:
    """Digest of the catalogue's DDL."""
    return blake2b(catalogue.duckdb_ddl().encode(), digest_size=16).hexdigest()


class Schema(ABC):
    """The tables of a database, as a migration reads and changes them, through one connection.

    SQL that a migration executes is understood by DuckDB and PostgreSQL; an implementation adds what they do
    differently. Types of columns are DuckDB's, followed by `NOT NULL` unless the column is nullable.
    """

    misfits: ClassVar[tuple[type[Exception], ...]]
    """The exceptions raised for rows that do not fit the columns of a table."""

    @abstractmethod
    def execute(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Execute a statement, with values for `$1`, `$2` and so on, and return its rows."""

    @abstractmethod
    def version(self) -> tuple[int, str]:
        """Number and digest of the version of the tables; 0 and '' if there are no tables or they have no number."""

    @abstractmethod
    def tables(self) -> list[str]:
        """Names of the tables in the database."""

    @abstractmethod
    def found(self, table: str) -> dict[str, str]:
        """Type of each column of a table in the database; empty if there is no such table."""

    @abstractmethod
    def keys(self) -> Mapping[str, list[str]]:
        """Columns of each table's primary key, for tables that have one."""

    @abstractmethod
    def create(self, table: str) -> None:
        """Create a table of the catalogue unless it exists."""

    def table(self, name: str) -> catalogue.Table:
        """A table of the catalogue, with the columns that the database has for it."""
        return catalogue.table(name)

    def type_name(self, duckdb_type: str) -> str:
        """The database's name for one of DuckDB's types."""
        return duckdb_type

    def declared(self, table: str) -> dict[str, str]:
        """Type of each column that a table should have."""
        listed = self.table(table).columns.values()
        return {column.name: column.type if column.nullable else f"{column.type} NOT NULL" for column in listed}


LAST = "SELECT number, digest FROM schema_version ORDER BY number DESC, migrated_at DESC LIMIT 1"
"""Query for the number and digest of the last migration. Numbers only grow; the clock may have been set back."""


def is_current(schema: Schema, where: str) -> bool:
    """Whether a warehouse has the declared schema.

    Raises
    ------
    BadInput
        If the warehouse is newer than this program. `where` names the warehouse.
    """
    number, present = schema.version()
    if number > len(VERSIONS):
        raise BadInput(
            where, "", f"has schema version {number}, but this program knows versions up to {len(VERSIONS)}",
            "use the version of Variorum that wrote it, or a later one",
        )  # fmt: skip
    return (number, present) == (len(VERSIONS), digest())


def has_rows(schema: Schema) -> bool:
    """Whether any table has rows."""
    return any(schema.execute(f'SELECT 1 FROM "{table}" LIMIT 1') for table in schema.tables())


def migrate(schema: Schema, number: int, where: str) -> None:
    """Migrate tables of version `number` to the declared schema, in a transaction that the caller begins and commits.

    Raises
    ------
    BadInput
        If rows do not fit the declared columns. The caller then rolls the transaction back.
    """
    for version in VERSIONS[number:]:
        _rename(schema, version)
    keys, tables = schema.keys(), schema.tables()
    for table in tables:
        if table in catalogue.tables() and (schema.found(table), keys.get(table)) != (
            schema.declared(table),
            list(catalogue.table(table).key),
        ):
            _rebuild(schema, table, where)
    for table in catalogue.tables():
        schema.create(table)
    for version in VERSIONS[number:]:
        _merge(schema, version)
        for statement in version.statements:
            schema.execute(statement)
    if SUMS not in tables:
        _sum(schema)
    for table in schema.tables():
        # Only tables of the project: a user may have added others.
        former = table not in catalogue.tables() and schema.found(table).keys() >= {*catalogue.PROVENANCE}
        if table == "schema_digest" or former:
            schema.execute(f'DROP TABLE "{table}"')
    schema.execute(
        "CREATE TABLE IF NOT EXISTS schema_version "
        "(number INTEGER NOT NULL, digest VARCHAR NOT NULL, migrated_at TIMESTAMP NOT NULL)"
    )
    schema.execute(
        "CREATE TABLE IF NOT EXISTS identity (home VARCHAR NOT NULL, epoch BIGINT NOT NULL, ledger BOOLEAN NOT NULL)"
    )
    stamp = (len(VERSIONS), digest(), datetime.now(UTC).replace(tzinfo=None))
    schema.execute("INSERT INTO schema_version VALUES ($1, $2, $3)", stamp)


def _sum(schema: Schema) -> None:
    """Sum the states of a home that has no sums yet."""
    for asset in schema.execute("SELECT DISTINCT asset FROM materialization"):
        query = f"SELECT {', '.join(SUMMED)} FROM materialization WHERE asset = $1"
        states = pl.DataFrame(schema.execute(query, asset), dict.fromkeys(SUMMED, pl.String), orient="row")
        for row in continued(states).iter_rows():
            schema.execute(
                f"INSERT INTO {SUMS} ({', '.join(SCHEMA)}, fingerprint, run_id, updated_at) "
                "SELECT $1, $2, $3, $4, $5, '', 'migration', max(updated_at) FROM materialization",
                row,
            )


def differences(schema: Schema, table: str) -> pl.DataFrame:
    """Compare a table with its declaration; one row per difference, with `column`, `declared` and `found`."""
    declared, present = schema.declared(table), schema.found(table)
    rows = [
        (name, declared.get(name, "no such column"), present.get(name, "missing"))
        for name in {**declared, **present}
        if declared.get(name) != present.get(name)
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(["column", "declared", "found"], pl.String), orient="row")


def _rename(schema: Schema, version: Version) -> None:
    present = schema.tables()
    for (table, former), name in version.renamed.items():
        if table in present and former in schema.found(table):
            schema.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{former}" TO "{name}"')


def _merge(schema: Schema, version: Version) -> None:
    """Move the rows of former tables to the tables that replace them. SELECT clauses name their columns, but may list
    them in any order."""
    present = schema.tables()
    for former, (table, query) in version.merged.items():
        if former in present:
            schema.execute(f'CREATE TEMP TABLE merged AS {query} FROM "{former}"')
            names = ", ".join(f'"{name}"' for name in schema.found("merged"))
            schema.execute(f'INSERT INTO "{table}" ({names}) SELECT {names} FROM merged')
            schema.execute("DROP TABLE merged")
            schema.execute(f'DROP TABLE "{former}"')


def _rebuild(schema: Schema, table: str, where: str) -> None:
    """Rebuild a table as it is declared, and copy its rows."""
    present = schema.found(table)
    kept = {name: column.type for name, column in schema.table(table).columns.items() if name in present}
    names = ", ".join(f'"{name}"' for name in kept)
    values = ", ".join(f'CAST("{name}" AS {schema.type_name(type)})' for name, type in kept.items())
    schema.execute(f'CREATE TEMP TABLE former AS SELECT * FROM "{table}"')
    schema.execute(f'DROP TABLE "{table}"')
    schema.create(table)
    try:
        schema.execute(f'INSERT INTO "{table}" ({names}) SELECT {values} FROM former')
    except schema.misfits as error:
        raise BadInput(
            where, table, f"rows do not fit the declared columns ({str(error).splitlines()[0]})",
            "nothing was changed: keep using the former version of Variorum, and report this error",
        ) from error  # fmt: skip
    schema.execute("DROP TABLE former")

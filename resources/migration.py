"""Migration of older warehouses, whose tables have since been merged, or whose columns have been renamed.

Here: each former table, with the query for its new rows, and each former column. Not here: new tables, new nullable
columns, columns that have become nullable, and longer keys, which follow from the catalogue (warehouse).
"""

import duckdb

_STAMPS = "fingerprint, run_id, updated_at"
_NO_TASK = "'' AS task, call"

MERGED = {
    "translation_call": ("study_call", f"""
        SELECT 'model_output' AS study, model, passage, {_NO_TASK}, batch AS item, parsing, {_STAMPS}"""),
    "judge_call": ("study_call", f"""
        SELECT 'judge_vote' AS study, model, passage, {_NO_TASK}, judge AS item, asked, parsing, {_STAMPS}"""),
    "comparison_call": ("study_call", f"""
        SELECT 'comparison' AS study, model, passage, {_NO_TASK}, concat_ws('|', base_set, anchor, shown) AS item,
            {_STAMPS}"""),
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
}  # fmt: skip
"""For each former table: the table that its rows move to, and the SELECT clause that converts them."""

RENAMED = {("understanding_comparison", "p_randomization"): "p", ("system_comparison", "p_randomization"): "p"}
"""New name of each former column, by table and former name."""

DROPPED = {("system_comparison", "p_bootstrap")}
"""Former columns, by table and name, which nothing replaces."""


def migrate(connection: duckdb.DuckDBPyConnection) -> None:
    """Move rows of former tables to the new tables, which must exist, and drop the former ones; rename and drop
    columns. The caller commits."""
    existing = {name for (name,) in connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database()"
    ).fetchall()}  # fmt: skip
    for former, (table, query) in MERGED.items():
        if former in existing:
            connection.execute(f'INSERT INTO "{table}" BY NAME {query} FROM "{former}"')
            connection.execute(f'DROP TABLE "{former}"')
    columns = set(connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = current_database()"
    ).fetchall())  # fmt: skip
    for (table, former), name in RENAMED.items():
        if (table, former) in columns:
            connection.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{former}" TO "{name}"')
    for table, former in DROPPED & columns:
        connection.execute(f'ALTER TABLE "{table}" DROP COLUMN "{former}"')

"""The lookups of outliers-to-errors find the values of the audit's tables.

The labels are made up from the paper's printed counts (tests.audit.published), so this reproduces nothing. It shows
that a home with the paper's labels would have the printed numbers where the file looks for them.
"""

from collections import Counter
from pathlib import Path

import polars as pl

from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.audit.calibration import calibration
from benchmark_assets.audit.outcomes import categories, outcomes
from benchmark_assets.audit.rated import rated
from benchmark_assets.benchmarks.numbers import read
from benchmark_assets.benchmarks.reproduction import DIFFERS, reproduce, shipped
from resources.catalogue import schema
from resources.warehouse import Replacement, Warehouse
from tests.audit.published import NO_LABELS, NO_VERDICTS, confusion_matrix, queue, validation

NAMES = {
    "gpt": "openai/gpt-5.5", "claude": "anthropic/claude-sonnet-4.6", "gemini": "google/gemini-3.1-pro-preview",
    "grok": "x-ai/grok-4.3",
}  # fmt: skip


def named(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows under the names that the lookups expect."""
    corpus = pl.col("passage").str.replace("^pali/", "outliers-to-errors/")
    return frame.with_columns(corpus, pl.col("model").replace(NAMES))


def store(warehouse: Warehouse, table: str, rows: pl.DataFrame) -> None:
    missing = {name: pl.lit(None, kind) for name, kind in schema(table).items() if name not in rows.columns}
    frame = rows.with_columns(**missing).select(*schema(table), fingerprint=pl.lit(""))
    warehouse.write([Replacement(table, frame, None)], run_id="test")


def test_the_lookups_of_the_audit_find_their_values(warehouse: Warehouse) -> None:
    triage, votes = map(named, queue())
    panel = rated(triage, verdicts(votes), NO_LABELS)
    sample, labels = map(named, validation())
    people = outcomes(sample, rated(sample, NO_VERDICTS, labels))
    outputs, matrix_votes, matrix_labels = map(named, confusion_matrix())
    matrix = rated(outputs, NO_VERDICTS, matrix_labels)
    store(warehouse, "audit_outcome", pl.concat([outcomes(triage, panel), people.filter(raters="people")]))
    store(warehouse, "error_category", categories(panel))
    store(warehouse, "judge_calibration", calibration(matrix, matrix_votes))
    found = reproduce(
        warehouse, "outliers-to-errors", read(shipped()["outliers-to-errors"]), Path("nowhere")
    ).drop_nulls("value")
    made_up = found.filter(paper_table="major errors of models by category")
    real = found.join(made_up, on=["paper_table", "row", "column"], how="anti")
    assert real.filter(outcome=DIFFERS).select("paper_table", "row", "column", "published", "value").rows() == []
    assert Counter(real["paper_table"]) == {
        "6": 4, "7": 21, "8": 7, "kappa with the author": 3, "9": 21, "all outputs of the queue": 5, "10": 28, "11": 48,
        "12 and E6": 21, "without ellipsis": 6, "E3": 3, "E5": 20,
    }  # fmt: skip

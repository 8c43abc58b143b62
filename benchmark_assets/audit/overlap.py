"""Passages on which several models fail: section 4.8 and tables E7 and E8 of the audit paper.

Not here: examples to read (examples).
"""

import polars as pl

from benchmark_assets.adjudication.labels import ERRORS, MAJOR
from benchmark_assets.audit.outcomes import LABELS
from benchmark_assets.audit.rated import PANEL, rated_of, triage_of, with_rates
from benchmark_assets.metrics.intervals import SIGNATURE
from resources.catalogue import schema
from resources.keys import CORPUS
from resources.warehouse import Warehouse

LEVELS = {"major": (MAJOR,), "any": ERRORS}
"""Labels that count as an error, by level."""

OVERLAP = schema("failure_overlap")
FAILING = schema("failing_passage")


def overlap(triage: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `failure_overlap`, from rows of `triage` with the column `unit`, and the panel's rows of `rated`.

    For each corpus and each error level that occurs in it (a key of `LEVELS`): one row for each number from 1 to the
    number of models, even if no passage has this number of failures.
    """
    passages = _passages(triage, rows)
    numbers = triage.select(CORPUS, "model").unique().sort("corpus", "model").select(
        "corpus", models=(pl.int_range(pl.len()).over("corpus") + 1)
    )  # fmt: skip
    parts = [pl.DataFrame(schema=OVERLAP)]
    for level, labels in LEVELS.items():
        failing = pl.sum_horizontal(column for column, label in LABELS.items() if label in labels)
        failed = passages.select("corpus", "unit", "judged", "possible", failing=failing.cast(pl.Int64))
        failed = failed.filter(pl.col("failing") > 0).join(numbers, on="corpus")
        own = (pl.col("failing") == pl.col("models")).cast(pl.Int64)
        counts = failed.select(
            "corpus", "models", "unit", passages=own, judged=own * pl.col("judged"), possible=own * pl.col("possible"),
            failed=pl.lit(1),
        )  # fmt: skip
        shares = with_rates(counts, ["corpus", "models"], {"share": (pl.col("passages"), pl.col("failed"))})
        shares = shares.with_columns(level=pl.lit(level), signature=pl.lit(SIGNATURE))
        parts.append(shares.select(pl.col(name).cast(kind) for name, kind in OVERLAP.items()))
    return pl.concat(parts)


def overlaps(warehouse: Warehouse) -> pl.DataFrame:
    """Rows of `failure_overlap` from the stored verdicts, with the signature of the audit's outcomes."""
    signatures = dict(warehouse.read("audit_outcome", columns=["corpus", "signature"]).unique().iter_rows())
    rows = overlap(triage_of(warehouse), rated_of(warehouse))
    of_corpus = pl.col("corpus").replace_strict(signatures, default=pl.col("signature"), return_dtype=pl.String)
    return rows.with_columns(signature=of_corpus)


def failing_passages(triage: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `failing_passage`: passages with an error, most major errors first. Parameters as in `overlap`."""
    failing = _passages(triage, rows).filter(pl.col("major") + pl.col("minor") > 0)
    ordered = failing.sort("corpus", "major", "minor", "passage", descending=[False, True, True, False])
    placed = ordered.with_columns(
        place=pl.int_range(pl.len()).over("corpus") + 1, unjudged=pl.col("possible") - pl.col("judged")
    )
    return placed.select(pl.col(name).cast(kind) for name, kind in FAILING.items())


def all_failing_passages(warehouse: Warehouse) -> pl.DataFrame:
    """Rows of `failing_passage` from the stored verdicts."""
    return failing_passages(triage_of(warehouse), rated_of(warehouse))


def _passages(triage: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """For each passage: its unit, the number of its outputs (`possible`), and counts of the panel's labels."""
    queue = rows.filter(pl.col("raters") == PANEL).select("model", "passage", "label")
    outputs = triage.select(CORPUS, "model", "passage", "unit").join(queue, on=["model", "passage"], how="left")
    return outputs.group_by("corpus", "passage", "unit").agg(
        *((pl.col("label") == label).sum().alias(name) for name, label in LABELS.items()),
        judged=pl.col("label").count(),
        possible=pl.len(),
    )

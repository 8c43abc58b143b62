"""Whether models fail at the same passages: section 4.8 and tables E7 and E8 of the audit paper.

Here: passages with errors, over the queue. Not here: examples to read (examples).
"""

import polars as pl

from benchmark_assets.adjudication.labels import ERRORS, MAJOR, MINOR, UNCERTAIN, VALID
from benchmark_assets.audit.rated import PANEL, WILSON, with_rate
from resources.catalogue import schema
from resources.keys import CORPUS

LEVELS = {"major": (MAJOR,), "any": ERRORS}
"""The labels that count as an error at each level."""

OVERLAP = schema("failure_overlap")
FAILING = schema("failing_passage")


def overlap(triage: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `failure_overlap`.

    Parameters
    ----------
    triage
        Rows of `triage`.
    rows
        As `rated` returns them; rows by people are ignored.

    Returns
    -------
    Columns of `OVERLAP`: for each level with an error in a corpus, a row for each number of models, from 1 to all
    models of the corpus. A number that no passage reaches has a row, too.
    """
    passages = _passages(triage, rows)
    numbers = triage.select(CORPUS, "model").unique().sort("corpus", "model").select(
        "corpus", models=(pl.int_range(pl.len()).over("corpus") + 1)
    )  # fmt: skip
    parts = [pl.DataFrame(schema=OVERLAP)]
    for level, labels in LEVELS.items():
        failing = pl.sum_horizontal(_COUNTS[label] for label in labels)
        failed = passages.with_columns(models=failing.cast(pl.Int64)).filter(pl.col("models") > 0)
        counts = failed.group_by("corpus", "models").agg(
            passages=pl.len(), judged=pl.sum("judged"), possible=pl.sum("possible")
        )
        shares = numbers.join(failed.select("corpus").unique(), on="corpus", how="semi", maintain_order="left").join(
            counts, on=["corpus", "models"], how="left", maintain_order="left"
        ).with_columns(pl.col("passages", "judged", "possible").fill_null(0))  # fmt: skip
        shares = with_rate(shares, "share", pl.col("passages"), pl.col("passages").sum().over("corpus"))
        shares = shares.with_columns(level=pl.lit(level), signature=pl.lit(WILSON))
        parts.append(shares.select(pl.col(name).cast(kind) for name, kind in OVERLAP.items()))
    return pl.concat(parts)


def failing_passages(triage: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `failing_passage`: columns of `FAILING`; parameters as for `overlap`.

    Sorted by corpus, number of major errors, number of minor errors, and name.
    """
    failing = _passages(triage, rows).filter(pl.col("major") + pl.col("minor") > 0)
    ordered = failing.sort("corpus", "major", "minor", "passage", descending=[False, True, True, False])
    placed = ordered.with_columns(
        place=pl.int_range(pl.len()).over("corpus") + 1, unjudged=pl.col("possible") - pl.col("judged")
    )
    return placed.select(pl.col(name).cast(kind) for name, kind in FAILING.items())


_COUNTS = {MAJOR: "major", MINOR: "minor", VALID: "valid", UNCERTAIN: "uncertain"}


def _passages(triage: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Number of outputs of each passage (`possible`), and counts of the panel's labels of them."""
    queue = rows.filter(pl.col("raters") == PANEL).select("model", "passage", "label")
    outputs = triage.select(CORPUS, "model", "passage").join(queue, on=["model", "passage"], how="left")
    return outputs.group_by("corpus", "passage").agg(
        *((pl.col("label") == label).sum().alias(name) for label, name in _COUNTS.items()),
        judged=pl.col("label").count(),
        possible=pl.len(),
    )

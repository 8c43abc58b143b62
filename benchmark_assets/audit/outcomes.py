"""Counts and rates of errors among rated outputs: tables 7, 9 to 12, E3, E5 and E6 of the audit paper.

Not here: estimates for outputs without a label (estimates).
"""

import polars as pl

from benchmark_assets.adjudication.labels import CATEGORIES, MAJOR, MINOR, UNCERTAIN, VALID
from benchmark_assets.audit.rated import PANEL, WILSON, with_rate, with_totals
from resources.catalogue import schema
from resources.keys import CORPUS

LABELS = {"valid": VALID, "minor": MINOR, "major": MAJOR, "uncertain": UNCERTAIN}
"""Labels by the column that counts outputs with the label."""

OUTCOME = schema("audit_outcome")
CATEGORY = schema("error_category")


def outcomes(triage: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `audit_outcome`, from rows of `triage` and rows of `rated`.

    Columns of `OUTCOME`: for each corpus and kind of raters with labels, one row for each model, for each band, for
    each model in each band, and for all outputs. `asked` is the size of the queue (panel) or sample (people), `judged`
    the number of its outputs with a label. Rates are shares of `judged`; an uncertain output is neither valid nor an
    error. Columns `*_found` are shares of all outputs, null for people and where the panel judged no output.
    """
    by = ["corpus", "model", "band"]
    cells = with_totals(triage.select(CORPUS, "model", "band"), model="", band="").group_by(by).agg(outputs=pl.len())
    counts = with_totals(rows, model="", band="").group_by(*by, "raters").agg(
        asked=pl.len(), judged=pl.col("label").count(), splits=pl.col("split").sum(),
        **{name: (pl.col("label") == label).sum() for name, label in LABELS.items()},
    )  # fmt: skip
    kinds = rows.drop_nulls("label").select("corpus", "raters").unique()
    grid = kinds.join(cells, on="corpus").join(counts, on=[*by, "raters"], how="left")
    grid = grid.with_columns(pl.col("asked", "judged", "splits", *LABELS).fill_null(0))
    errors = {"minor": pl.col("minor"), "major": pl.col("major"), "any": pl.col("minor") + pl.col("major")}
    for name, part in {"valid": pl.col("valid"), **errors}.items():
        grid = with_rate(grid, f"{name}_rate", part, pl.col("judged"))
    by_panel = (pl.col("raters") == PANEL) & (pl.col("judged") > 0)
    for name, part in errors.items():
        grid = with_rate(grid, f"{name}_found", part, pl.when(by_panel).then("outputs"))
    ordered = grid.with_columns(signature=pl.lit(WILSON)).sort("corpus", "raters", "model", "band")
    return ordered.select(pl.col(name).cast(kind) for name, kind in OUTCOME.items())


def categories(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `error_category`, from rows of `rated`.

    Columns of `CATEGORY`: for each corpus and kind of raters, one row for each pair of a model with a labeled output
    (or '' for all models) and a category, even one without errors. Columns `*_without` count errors of the category as
    valid.
    """
    by = ["corpus", "raters", "model"]
    judged = with_totals(rows.drop_nulls("label"), model="")
    minor, major = pl.col("label") == MINOR, pl.col("label") == MAJOR
    totals = judged.group_by(by).agg(judged=pl.len(), all_minor=minor.sum(), all_major=major.sum())
    counts = judged.group_by(*by, "error_category").agg(minor=minor.sum(), major=major.sum())
    grid = totals.join(pl.DataFrame({"error_category": CATEGORIES}).with_row_index("order"), how="cross")
    rates = grid.join(counts, on=[*by, "error_category"], how="left")
    rates = rates.with_columns(pl.col("minor", "major").fill_null(0))
    for name in ("minor", "major"):
        rates = with_rate(rates, f"{name}_share", pl.col(name), pl.col(f"all_{name}"))
    remaining = {name: pl.col(f"all_{name}") - pl.col(name) for name in ("minor", "major")}
    ordered = rates.with_columns(
        ((remaining["minor"] + remaining["major"]) / pl.col("judged")).alias("any_rate_without"),
        *((errors / pl.col("judged")).alias(f"{name}_rate_without") for name, errors in remaining.items()),
        signature=pl.lit(WILSON),
    ).sort(*by, "order")
    return ordered.select(pl.col(name).cast(kind) for name, kind in CATEGORY.items())

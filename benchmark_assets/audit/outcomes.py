"""Counts and rates of errors among rated outputs: tables 7, 9 to 12, E3, E5 and E6 of the audit paper.

Not here: estimates for outputs without a label (estimates).
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import polars as pl

from benchmark_assets.adjudication.labels import CATEGORIES, MAJOR, MINOR, TAXONOMIES, UNCERTAIN, VALID
from benchmark_assets.audit.rated import PANEL, with_rates, with_totals
from benchmark_assets.corpus.description import AUDIT
from benchmark_assets.examination.flags import UNEXAMINED, WITHHELD, JudgeStanding, flagged
from benchmark_assets.metrics.intervals import SIGNATURE
from benchmark_assets.metrics.measures import NONE
from resources.catalogue import schema
from resources.keys import CORPUS

LABELS = {"valid": VALID, "minor": MINOR, "major": MAJOR, "uncertain": UNCERTAIN}
"""For each column that counts labels: the label that it counts."""

OUTCOME = schema("audit_outcome", *NONE.columns("any_corrected"), "judge_standing", "problem")
CATEGORY = schema("error_category")


def outcomes(triage: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of `audit_outcome`, from rows of `triage` with the column `unit`, and rows of `rated`.

    For each corpus and kind of raters with labels: one row for each model, for each band, for each model in each band,
    and for all outputs.
    """
    by = ["corpus", "raters", "model", "band"]
    kinds = rows.drop_nulls("label").select("corpus", "raters").unique()
    outputs = triage.select(CORPUS, "model", "band", "unit", outputs=pl.lit(1)).join(kinds, on="corpus")
    ratings = rows.join(kinds, on=["corpus", "raters"], how="semi").select(
        *by, "unit", asked=pl.lit(1), judged=pl.col("label").is_not_null().cast(pl.Int64),
        splits=pl.col("split").cast(pl.Int64),
        **{name: (pl.col("label") == label).cast(pl.Int64) for name, label in LABELS.items()},
    )  # fmt: skip
    counts = pl.concat([outputs, ratings], how="diagonal_relaxed")
    parts = {"valid": pl.col("valid"), "minor": pl.col("minor"), "major": pl.col("major")}
    parts["any"] = pl.col("minor") + pl.col("major")
    judged_by_panel = (pl.col("raters") == PANEL) & (pl.col("judged").sum().over(by) > 0)
    rates = {f"{name}_rate": (hits, pl.col("judged")) for name, hits in parts.items()}
    rates |= {
        f"{name}_found": (parts[name], pl.when(judged_by_panel).then("outputs")) for name in ("minor", "major", "any")
    }
    ordered = with_rates(with_totals(counts, model="", band=""), by, rates).with_columns(signature=pl.lit(SIGNATURE))
    return ordered.select(pl.col(name).cast(kind) for name, kind in OUTCOME.items())


def with_standings(outcomes: pl.DataFrame, standings: Mapping[str, JudgeStanding]) -> pl.DataFrame:
    """Add the result of the panel's examination to rows of `audit_outcome`; set rates to null if too few passed."""
    rows = outcomes.with_columns(problem=pl.lit(None, pl.String))
    panel = rows.filter(raters=PANEL)
    of_rows = [standings.get(corpus, JudgeStanding(UNEXAMINED)) for corpus in panel["corpus"]]
    people = rows.filter(pl.col("raters") != PANEL)
    return pl.concat([flagged(panel, "audit_outcome", of_rows), people], how="diagonal")


def without_failed(rows: pl.DataFrame, standings: Mapping[str, JudgeStanding]) -> pl.DataFrame:
    """Rows of `rated` without the verdicts of panels whose judges did not pass their examination."""
    withheld = [corpus for corpus, standing in standings.items() if standing.verdict in WITHHELD]
    return rows.filter((pl.col("raters") != PANEL) | ~pl.col("corpus").is_in(withheld))


def categories(rows: pl.DataFrame, offered: Mapping[str, Sequence[str]] = MappingProxyType({})) -> pl.DataFrame:
    """Rows of `error_category`, from rows of `rated`.

    For each corpus, kind of raters and model with a labeled output ('' for all models): one row for each category that
    `offered` has for the corpus, by default the audit paper's, even if it has no errors; and one for each other
    category of an error.
    """
    by = ["corpus", "raters", "model"]
    judged = with_totals(rows.drop_nulls("label"), model="")
    ones = {f"all_{name}": (pl.col("label") == LABELS[name]).cast(pl.Int64) for name in ("minor", "major")}
    counts = judged.select(*by, "unit", "error_category", judged=pl.lit(1), **ones)
    named = [
        (corpus, category) for corpus in rows["corpus"].unique()
        for category in offered.get(corpus, TAXONOMIES[AUDIT].problems)
    ]  # fmt: skip
    occurring = rows.filter(pl.col("error_category").is_in(CATEGORIES)).select("corpus", category="error_category")
    places = pl.DataFrame({"category": CATEGORIES}).with_row_index("order")
    kinds = (
        pl.concat([pl.DataFrame(named, occurring.schema, orient="row"), occurring]).unique().join(places, on="category")
    )
    grid = counts.join(kinds, on="corpus").with_columns(
        (pl.col(f"all_{name}") * (pl.col("error_category") == pl.col("category")).fill_null(False)).alias(name)
        for name in ("minor", "major")
    )
    grid = grid.drop("error_category").rename({"category": "error_category"})
    shares = {f"{name}_share": (pl.col(name), pl.col(f"all_{name}")) for name in ("minor", "major")}
    rates = with_rates(grid, [*by, "order", "error_category"], shares)
    remaining = {name: pl.col(f"all_{name}") - pl.col(name) for name in ("minor", "major")}
    ordered = rates.with_columns(
        ((remaining["minor"] + remaining["major"]) / pl.col("judged")).alias("any_rate_without"),
        *((errors / pl.col("judged")).alias(f"{name}_rate_without") for name, errors in remaining.items()),
        signature=pl.lit(SIGNATURE),
    )
    return ordered.select(pl.col(name).cast(kind) for name, kind in CATEGORY.items())

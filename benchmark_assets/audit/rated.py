"""Rated outputs and their rates: the common input of every table of the audit.

Here: outputs with the verdict of the panel or of people, groups with totals, rates with intervals. Not here: any table.
"""

from collections.abc import Iterable, Mapping

import polars as pl

from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.metrics.intervals import wilson
from resources.keys import CORPUS

PANEL, PEOPLE = "panel", "people"

BOUNDS = ("", "_low", "_high")
"""Suffixes of a column's name: the number itself, and the bounds of its interval."""

RATED = pl.Schema({
    "raters": pl.String(), "corpus": pl.String(), "model": pl.String(), "passage": pl.String(), "band": pl.String(),
    "label": pl.String(), "error_category": pl.String(), "split": pl.Boolean(),
})  # fmt: skip

WILSON = "95 % intervals: Wilson, outputs counted as independent"


def rated(triage: pl.DataFrame, panel: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """The queue with the panel's verdicts, and the sample with people's verdicts.

    Parameters
    ----------
    triage
        Rows of `triage`.
    panel
        Rows of `verdict`. Verdicts on outputs below the threshold, which the panel judges for calibration alone, are
        left out, as in the paper.
    labels
        Rows of `human_label`; labels of one output by several people are combined by `verdicts`. Labels of outputs that
        were not sampled are left out, because it is unknown how they were chosen.

    Returns
    -------
    Columns of `RATED`: a row for each queued output (`raters` 'panel') and each sampled output ('people'). Label,
    category and split are null if there is no verdict or label yet.
    """
    parts = [
        triage.filter(chosen).join(given.select("model", "passage", "label", "error_category", "split"),
                                   on=["model", "passage"], how="left").with_columns(CORPUS, raters=pl.lit(raters))
        for raters, chosen, given in ((PANEL, "queued", panel), (PEOPLE, "sampled", verdicts(labels)))
    ]  # fmt: skip
    return pl.concat(part.select(RATED.names()) for part in parts).cast(RATED)


def anonymous(annotators: Iterable[str]) -> dict[str, str]:
    """A number for each annotator: names may be e-mail addresses, which are private."""
    return {name: f"annotator-{number}" for number, name in enumerate(sorted(set(annotators)), start=1)}


def without_names(agreement: pl.DataFrame, numbers: Mapping[str, str]) -> pl.DataFrame:
    """Rows of `rater_agreement` with numbers instead of people's names."""
    people = pl.col("kind") == "people"
    return agreement.with_columns(
        pl.when(people).then(pl.col(name).replace(numbers)).otherwise(name).alias(name) for name in ("first", "second")
    )


def with_totals(rows: pl.DataFrame, **totals: str) -> pl.DataFrame:
    """Repeat each row for each total that it is part of.

    Parameters
    ----------
    totals
        Columns, and the value in each that stands for the total: `with_totals(rows, model="")`.
    """
    for column, total in totals.items():
        rows = pl.concat([rows, rows.with_columns(pl.lit(total).alias(column))])
    return rows


def with_rate(rows: pl.DataFrame, name: str, part: pl.Expr, whole: pl.Expr) -> pl.DataFrame:
    """Add a share and its Wilson interval: columns `name`, `name_low`, `name_high`; null where `whole` is 0 or null."""
    shares = [
        (hits / trials, *wilson(hits, trials)) if trials else (None, None, None)
        for hits, trials in rows.select(part.alias("part"), whole.alias("whole")).iter_rows()
    ]
    schema = {f"{name}{bound}": pl.Float64() for bound in BOUNDS}
    return rows.hstack(pl.DataFrame(shares, schema=schema, orient="row"))

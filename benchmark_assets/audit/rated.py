"""Rated outputs, the common input of all tables of the audit, and rates with intervals.

Here: outputs with the verdict of the panel or of people, totals over groups, rates. Not here: the tables themselves.
"""

from collections.abc import Iterable, Mapping

import polars as pl

from benchmark_assets.adjudication.labels import SUBSTANTIVE
from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.metrics.intervals import wilson
from resources.keys import CORPUS
from resources.tables import ENDS

PANEL, PEOPLE = "panel", "people"

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
        Rows of `verdict`. Verdicts on outputs below the threshold are left out, as in the paper: the panel judges these
        outputs for its calibration only.
    labels
        Rows of `human_label`. Several people's labels of an output are combined by `verdicts`. Labels of outputs
        outside the sample are left out, because it is unknown how these outputs were selected.

    Returns
    -------
    Columns of `RATED`: one row per queued output (`raters` is 'panel') and one per sampled output ('people'). Label,
    category and split are null until there is a verdict or label.
    """
    parts = [
        triage.filter(scope).join(ratings.select("model", "passage", "label", "error_category", "split"),
                                  on=["model", "passage"], how="left").with_columns(CORPUS, raters=pl.lit(raters))
        for raters, scope, ratings in ((PANEL, "queued", panel), (PEOPLE, "sampled", verdicts(labels)))
    ]  # fmt: skip
    return pl.concat(part.select(RATED.names()) for part in parts).cast(RATED)


def labeled_by_people(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of `rated` with a substantive label by people."""
    return rows.filter(pl.col("raters") == PEOPLE, pl.col("label").is_in(SUBSTANTIVE))


def anonymous(annotators: Iterable[str]) -> dict[str, str]:
    """Pseudonyms of annotators by name, since names may be private e-mail addresses."""
    return {name: f"annotator-{number}" for number, name in enumerate(sorted(set(annotators)), start=1)}


def without_names(agreement: pl.DataFrame, pseudonyms: Mapping[str, str]) -> pl.DataFrame:
    """Rows of `rater_agreement` with pseudonyms, as returned by `anonymous`, instead of people's names."""
    people = pl.col("kind") == "people"
    return agreement.with_columns(
        pl.when(people).then(pl.col(name).replace(pseudonyms)).otherwise(name).alias(name)
        for name in ("first", "second")
    )


def with_totals(rows: pl.DataFrame, **totals: str) -> pl.DataFrame:
    """Add copies of all rows, so that grouping by the named columns also gives totals over these columns.

    Each argument is a column's value in the copies: `with_totals(rows, model="")` gives totals over models as ''.
    """
    for column, total in totals.items():
        rows = pl.concat([rows, rows.with_columns(pl.lit(total).alias(column))])
    return rows


def share(hits: int, trials: int | None) -> tuple[float | None, float | None, float | None]:
    """The share hits / trials with its Wilson interval; three times None without trials."""
    return (hits / trials, *wilson(hits, trials)) if trials else (None, None, None)


def with_rate(rows: pl.DataFrame, name: str, part: pl.Expr, whole: pl.Expr) -> pl.DataFrame:
    """Add the share part / whole and its Wilson interval: columns `name`, `name_low`, `name_high`.

    Null where `whole` is 0 or null.
    """
    counts = rows.select(part.alias("part"), whole.alias("whole"))
    shares = [share(hits, trials) for hits, trials in counts.iter_rows()]
    schema = {f"{name}{end}": pl.Float64() for end in ENDS}
    return rows.hstack(pl.DataFrame(shares, schema=schema, orient="row"))

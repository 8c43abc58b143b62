"""Rated outputs, the common input of all tables of the audit, and rates with intervals.

Here: outputs with the verdict of the panel or of people, totals over groups, rates. Not here: the tables themselves.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from benchmark_assets.adjudication.labels import SUBSTANTIVE
from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.corpus.units import with_units
from benchmark_assets.metrics.intervals import Floats, rate_intervals
from benchmark_assets.metrics.missing import bounded
from benchmark_assets.metrics.unmeasured import BAND
from resources.catalogue import tables
from resources.keys import CORPUS
from resources.tables import ENDS
from resources.warehouse import Warehouse

PANEL, PEOPLE = "panel", "people"

RATED = pl.Schema({
    "raters": pl.String(), "corpus": pl.String(), "model": pl.String(), "passage": pl.String(), "band": pl.String(),
    "label": pl.String(), "error_category": pl.String(), "split": pl.Boolean(), "unit": pl.String(),
})  # fmt: skip


def rated(triage: pl.DataFrame, panel: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """The queue with the panel's verdicts, and the sample with people's verdicts.

    Parameters
    ----------
    triage
        Rows of `triage` with a further column `unit`: the unit of the passage.
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


def triage_of(warehouse: Warehouse, measured: bool = True) -> pl.DataFrame:
    """Rows of `triage` of the outputs that have a drift, or of those that have none; with the unit of each passage."""
    return with_units(warehouse.read("triage").filter((pl.col("band") != BAND) == measured), warehouse)


def rated_of(warehouse: Warehouse, measured: bool = True) -> pl.DataFrame:
    """The rated outputs of the warehouse, as `triage_of` selects them. Outputs without a drift are not queued: the
    panel's verdicts on the sample count."""
    triage = triage_of(warehouse, measured)
    triage = triage if measured else triage.with_columns(queued="sampled")
    return rated(triage, warehouse.read("verdict"), warehouse.read("human_label"))


def labeled_by_people(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of `rated` with a substantive label from people."""
    return rows.filter(pl.col("raters") == PEOPLE, pl.col("label").is_in(SUBSTANTIVE))


REGION = pl.when("queued").then(pl.lit("above")).otherwise(pl.lit("below"))
"""Expression for the side of the threshold on which an output of `triage` lies."""


def unlabeled(triage: pl.DataFrame, sample: pl.DataFrame) -> pl.DataFrame:
    """How much of each region lacks labels, and whether its labels can be used at all.

    Parameters
    ----------
    triage
        Rows of `triage`. `sampled` tells which outputs were drawn for people.
    sample
        A result of `two_phase.sample`.

    Returns
    -------
    One row for each corpus, model ('' for all) and region ('above' or 'below' the threshold, or 'all'). `missing_share`
    is the share of the region's outputs, in [0, 1], whose label is missing: a stratum (model, band and region) counts
    with the share of its drawn outputs without a substantive label, or as a whole if none was drawn. A missing label of
    a second pass counts as often as it stands for labels of the sample. `problem` is the reason why the labels cannot
    be used: there are outputs on both sides of the threshold, but labels on one only.
    """
    labels = sample.drop_nulls("label")
    labels = labels.group_by("corpus", "model", "band").agg(pl.col("open").sum(), labels=pl.len())
    by = [CORPUS, "model", "band", REGION.alias("region")]
    strata = triage.group_by(by).agg(outputs=pl.len(), drawn=pl.col("sampled").sum())
    strata = strata.join(labels, on=["corpus", "model", "band"], how="left").fill_null(0)
    lacking = (pl.col("drawn") - pl.col("labels") + pl.col("open")) / pl.col("drawn")
    share = pl.when(pl.col("drawn") > 0).then(pl.min_horizontal(lacking, 1.0)).otherwise(1.0)
    side, labeled = pl.col("side"), pl.col("labels") > 0
    regions = with_totals(strata.with_columns(side="region"), model="", region="all")
    one_sided = labeled.any() & (side.filter(labeled).n_unique() < side.n_unique())
    words = pl.format("people labeled outputs {} the threshold only", side.filter(labeled).first())
    return regions.group_by("corpus", "model", "region").agg(
        missing_share=(share * pl.col("outputs")).sum() / pl.col("outputs").sum(),
        problem=pl.when(one_sided).then(words),
    )  # fmt: skip


def with_bounds(table: str, found: Sequence[pl.DataFrame], gaps: pl.DataFrame) -> pl.DataFrame:
    """Estimates with the bounds that missing labels leave.

    Parameters
    ----------
    table
        Name of the table.
    found
        Its rows from the labels that exist, and with each missing label of a drawn output as no error, and as an error.
        Rates refer to the share `covered` of each region.
    gaps
        A result of `unlabeled`.
    """
    names = [f"{each.name}{end}" for each in tables()[table].columns.values() if each.bounds for end in ENDS]
    covered = pl.col("covered")
    least, most = (
        frame.with_columns(pl.col(name) * covered + undrawn * (1 - covered) for name in names)
        for frame, undrawn in zip(found[1:], (0, 1), strict=True)
    )
    rows = found[0].join(gaps, on=["corpus", "model", "region"], how="left", maintain_order="left")
    usable = [pl.when(pl.col("problem").is_null()).then(name).alias(name) for name in names]
    return bounded(table, rows.with_columns(usable), least, most, verdicts="labels")


def anonymous(annotators: Iterable[str]) -> dict[str, str]:
    """Map the name of each annotator to a pseudonym, since names may be private e-mail addresses."""
    return {name: f"annotator-{number}" for number, name in enumerate(sorted(set(annotators)), start=1)}


NAMES = ("first", "second", "rater")
"""Columns of `rater_agreement` and `rater_model` with names of raters."""


def names_of_people(rows: pl.DataFrame) -> list[str]:
    """Names of people in rows of `rater_agreement` or `rater_model`."""
    people = rows.filter(kind="people")
    return [name for column in NAMES if column in rows.columns for name in people[column] if name]


def without_names(rows: pl.DataFrame, pseudonyms: Mapping[str, str]) -> pl.DataFrame:
    """Rows of `rater_agreement` or `rater_model` with pseudonyms, from `anonymous`, instead of people's names."""
    named = pl.when(pl.col("kind") == "people")
    columns = [column for column in NAMES if column in rows.columns]
    return rows.with_columns(
        named.then(pl.col(name).replace(pseudonyms)).otherwise(name).alias(name) for name in columns
    )


def with_totals(rows: pl.DataFrame, **totals: str) -> pl.DataFrame:
    """Add copies of all rows, so that grouping by the named columns also gives totals over these columns.

    Each argument is the value of a column in the copies: with `with_totals(rows, model="")`, the group '' is the total
    over all models.
    """
    for column, total in totals.items():
        rows = pl.concat([rows, rows.with_columns(pl.lit(total).alias(column))])
    return rows


def with_rates(
    counts: pl.DataFrame, by: Sequence[str], rates: Mapping[str, tuple[pl.Expr, pl.Expr]]
) -> pl.DataFrame:  # fmt: skip
    """Add up counts by group, and compute rates with intervals.

    Parameters
    ----------
    counts
        Columns `by`, `unit` and counts. Rows with the same group and unit are added up.
    by
        Columns that identify a group.
    rates
        Maps the name of each rate to its hits and its trials, as expressions over the counts.

    Returns
    -------
    One row for each group, sorted by `by`: the columns `by`, the sums of the counts, and the columns `name`, `name_low`
    and `name_high` for each rate. A rate is null if its trials are 0 or null; an interval is null if there are too few
    units.
    """
    by_unit = counts.group_by(*by, "unit").agg(pl.exclude(*by, "unit").sum()).sort(*by, "unit")
    totals = by_unit.group_by(by, maintain_order=True).agg(pl.exclude(*by, "unit").sum())
    values = {f"{name}{end}": list[float | None]() for name in rates for end in ENDS}
    for _, units in by_unit.group_by(by, maintain_order=True):
        hits, trials = (
            units.select(pair[at].fill_null(0).alias(name) for name, pair in rates.items())
            .to_numpy()
            .astype(np.float64)
            for at in (0, 1)
        )
        for name, numbers in zip(rates, shares(hits, trials), strict=True):
            for end, value in zip(ENDS, numbers, strict=True):
                values[f"{name}{end}"].append(value)
    return totals.hstack(pl.DataFrame(values, schema=dict.fromkeys(values, pl.Float64())))


def shares(hits: Floats, trials: Floats) -> list[tuple[float | None, float | None, float | None]]:
    """Rates with their intervals, from hits and trials of shape (units, rates). A rate without trials is None."""
    sums = zip(hits.sum(axis=0), trials.sum(axis=0), rate_intervals(hits, trials), strict=True)
    return [(float(won / count) if count else None, *interval) for won, count, interval in sums]

"""Models compared with human translators: differences from each translator, and a verdict.

Here: paired comparisons of a model and a translator, scored against the same references. Not here: the scores
(left_out).
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from benchmark_assets.metrics import significance
from benchmark_assets.metrics.entries import on
from benchmark_assets.metrics.measures import numbered_units
from benchmark_assets.metrics.metric import Metric
from benchmark_assets.reporting.unit_sums import KEYS
from resources.catalogue import schema

DIFFERENCE = schema("human_difference", "signature")
RANGE = schema("human_range", "signature")

SIGNATURE = (
    "model and translator: both scored against the references of the other translators, on the passages of both; "
    f"{significance.SIGNATURE}; family: the translators of a model in a measure"
)


MARGINS = {metric.name: metric.margin for metric in on("people") if metric.margin is not None}
MOST_NEEDED = 100_000
"""Largest number of units that is stated as needed."""

SUMS = ("passages", "references", "value", "human_value", "difference", "above")
"""Sums of a model and a translator in a measure, by unit; `above` is a sum of texts (see `outliers.above`)."""


def paired(scores: pl.DataFrame, units: pl.DataFrame, named: Sequence[Metric] = ()) -> pl.DataFrame:
    """Sums over the passages of each unit that a model and a translator both have.

    Parameters
    ----------
    scores
        As `left_out.left_out_scores` returns them.
    units
        As `corpus.units.units_of` returns them.
    named
        Metrics that the registry names, each a column of `scores`.

    Returns
    -------
    Columns of `unit_sums.KEYS`, where `item` is the measure, and of `SUMS`.
    """
    keys = ["corpus", "passage", "left_out", "measure"]
    names = [metric.name for metric in (*on("people"), *named)]
    index = [*keys[:3], "embedder", "kind", "system", "references"]
    long = scores.unpivot(names, index=index, variable_name="measure").drop_nulls("value")
    models = long.filter(kind="model").rename({"system": "model"}).drop("kind")
    people = long.filter(kind="human").select(*keys, human_value="value")
    rows = models.join(people, on=keys).join(units.drop("corpus"), on="passage")
    value, human_value = pl.col("value"), pl.col("human_value")
    sums = rows.rename({"left_out": "translator", "measure": "item"}).group_by(KEYS).agg(
        pl.len().alias("passages"), pl.sum("references", "value", "human_value"), difference=(value - human_value).sum()
    )  # fmt: skip
    return sums.with_columns(above=pl.lit(0.0))


def differences(sums: pl.DataFrame, signatures: pl.DataFrame) -> pl.DataFrame:
    """Difference between each model and each translator, on the passages that both have.

    Parameters
    ----------
    sums
        As `paired` returns them.
    signatures
        Columns `corpus` and `signature`.

    Returns
    -------
    Columns of `DIFFERENCE` and `signature`, one row for each corpus, measure, model and translator that have a
    passage in common. `difference` is the model's mean score minus the translator's.
    """
    keys = ["corpus", "item", "model", "translator", "unit"]
    totals = sums.group_by(keys).agg(pl.sum(*SUMS)).sort(keys).rename({"item": "measure"})
    parts = [pl.DataFrame(schema=DIFFERENCE)]
    parts += [_tested(rows, MARGINS.get(str(measure))) for (_, measure), rows in totals.group_by("corpus", "measure")]
    return (
        pl.concat(parts)
        .join(signatures, on="corpus", how="left", maintain_order="left")
        .sort("corpus", "measure", "model", "translator")
    )


def signatures(sums: pl.DataFrame, kinds: pl.DataFrame, method: str) -> pl.DataFrame:
    """Signature of each corpus: embedders, `method`, kind of units.

    `sums` has the columns `corpus` and `embedder`, `kinds` the columns `corpus` and `unit_kind`.
    """
    makers = sums.group_by("corpus").agg(embedders=pl.col("embedder").unique().sort().str.join(", "))
    signature = pl.format("embedder: {}; {}; units: {}", "embedders", pl.lit(method), "unit_kind")
    return makers.join(kinds, on="corpus").select("corpus", signature=signature)


def verdicts(differences: pl.DataFrame, named: Sequence[Metric] = ()) -> pl.DataFrame:
    """Verdict on each model in comparison with a corpus's translators, in each measure.

    Parameters
    ----------
    differences
        As the function `differences` returns them.
    named
        Metrics that the registry names.

    Returns
    -------
    Columns of `RANGE` and `signature`. `verdict` is 'nearer' if the model is nearer to the other translators than every
    translator, 'farther' if it is farther than every translator, 'among' if it is equal to a translator, or nearer than
    one and farther than another, and otherwise 'cannot be told'. In a metric that needs no reference, it is 'better' or
    'worse'. Names of translators are sorted and separated by ', '. `needed` is the number of units for a verdict, if
    the differences and the spread of units stay as they are; null with a verdict, or with too few units for any
    interval.
    """
    direction = pl.col("measure").replace_strict({metric.name: metric.better for metric in (*on("people"), *named)})
    better = pl.col("difference") * direction > 0
    different = pl.col("answer") == significance.DIFFERENT
    translators = {
        "better_than": different & better,
        "equal_to": pl.col("answer") == significance.EQUAL,
        "worse_than": different & ~better,
        "open": pl.col("answer") == significance.OPEN,
    }
    names = {name: pl.col("translator").filter(condition).sort() for name, condition in translators.items()}
    rows = differences.group_by("corpus", "measure", "model", "signature").agg(
        pl.col("units").max(), translators=pl.len(), needed=_needed().max(), **names
    )
    distance = pl.col("measure").is_in([metric.name for metric in on("people")])
    near, far = (pl.when(distance).then(pl.lit(own)).otherwise(pl.lit(quality))
                 for own, quality in (("nearer", "better"), ("farther", "worse")))  # fmt: skip
    count, number = pl.col("translators"), {name: pl.col(name).list.len() for name in names}
    verdict = (
        pl.when(number["better_than"] == count).then(near)
        .when(number["worse_than"] == count).then(far)
        .when((number["equal_to"] > 0) | (number["better_than"] > 0) & (number["worse_than"] > 0)).then(pl.lit("among"))
        .otherwise(pl.lit(significance.OPEN))
    )  # fmt: skip
    rows = rows.with_columns(*(pl.col(name).list.join(", ") for name in names), verdict=verdict).with_columns(
        needed=pl.when(verdict=significance.OPEN).then("needed")
    )
    return rows.select(*(pl.col(name).cast(kind) for name, kind in RANGE.items()), "signature").sort(RANGE.names()[:3])


def _needed() -> pl.Expr:
    """Units after which the answer on a translator is no longer open, by the present estimate: the distances of the
    bounds, which fall with the square root of the units, have to fall below the difference, or below its distance from
    the margin."""
    difference, units = pl.col("difference"), pl.col("units")
    below, above, size = difference - pl.col("difference_low"), pl.col("difference_high") - difference, difference.abs()
    margin = pl.col("measure").replace_strict(MARGINS, default=0.0, return_dtype=pl.Float64)
    different = pl.when(difference > 0).then(below).otherwise(above) / size
    equal = pl.when(margin > size).then(pl.max_horizontal(below, above) / (margin - size))
    needed = (units * pl.min_horizontal(different, equal) ** 2).ceil().clip(units + 1, MOST_NEEDED)
    return pl.when((pl.col("answer") == significance.OPEN) & needed.is_finite()).then(needed).cast(pl.Int64)


def _tested(sums: pl.DataFrame, margin: float | None) -> pl.DataFrame:
    """Differences between the models and translators of one corpus in one measure, from sums by unit.

    Returns columns of `DIFFERENCE`.
    """
    keys = ["corpus", "measure", "model", "translator"]
    total = pl.col("passages").sum()
    rows = sums.group_by(keys).agg(
        passages=total, units=pl.len(), mean_references=pl.col("references").sum() / total,
        **{name: pl.col(name).sum() / total for name in ("value", "human_value", "difference")},
    ).sort(keys).with_row_index("column")  # fmt: skip
    column = sums.join(rows, on=keys, maintain_order="left")["column"].to_numpy()
    unit = numbered_units(sums["unit"])
    deviations, sizes = np.zeros((2, int(unit.max()) + 1, len(rows)))
    deviations[unit, column], sizes[unit, column] = sums["difference"].to_numpy(), sums["passages"].to_numpy()
    difference, shares = rows["difference"].to_numpy(), sizes / sizes.sum(axis=0)
    influences = deviations / sizes.sum(axis=0) - shares * difference
    tested = rows.with_columns(**significance.mean_tests(difference, influences, shares))
    parts = (
        significance.answered(own, influences[:, own["column"].to_numpy()], margin)
        for own in tested.partition_by("model", maintain_order=True)
    )
    return pl.concat(parts).select(pl.col(name).cast(kind) for name, kind in DIFFERENCE.items())

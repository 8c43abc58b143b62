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
from resources.catalogue import schema
from resources.keys import CORPUS

DIFFERENCE = schema("human_difference", "signature")
RANGE = schema("human_range", "signature")

SIGNATURE = (
    "model and translator: both scored against the references of the other translators, on the passages of both; "
    "p, interval: sign test of units (t with five, none with fewer); p_holm: Holm over the translators of a model in a "
    f"measure; better or worse: p_holm at most {significance.LEVEL}"
)


def differences(scores: pl.DataFrame, units: pl.DataFrame, named: Sequence[Metric] = ()) -> pl.DataFrame:
    """Difference between each model and each translator, on the passages that both have.

    Parameters
    ----------
    scores
        As `left_out.left_out_scores` returns them.
    units
        As `corpus.units.units` returns them.
    named
        Metrics that the registry names, each a column of `scores`.

    Returns
    -------
    Columns of `DIFFERENCE` and `signature`, one row for each corpus, measure, model and translator that have a
    passage in common. `difference` is the model's mean score minus the translator's.
    """
    keys = ["corpus", "passage", "left_out", "measure"]
    names = [metric.name for metric in (*on("people"), *named)]
    long = scores.unpivot(names, index=[*keys[:3], "kind", "system", "references"], variable_name="measure")
    long = long.drop_nulls("value")
    models = long.filter(kind="model").rename({"system": "model"}).drop("kind")
    people = long.filter(kind="human").select(*keys, human_value="value")
    paired = models.join(people, on=keys).join(units, on="passage").rename({"left_out": "translator"})
    parts = [pl.DataFrame(schema=DIFFERENCE), *(_tested(group) for _, group in paired.group_by("corpus"))]
    rows = pl.concat(parts).with_columns(p_holm=_corrected().over("corpus", "measure", "model"))
    return rows.join(signatures(scores, units, SIGNATURE), on="corpus", how="left", maintain_order="left").sort(
        "corpus", "measure", "model", "translator"
    )


def signatures(scores: pl.DataFrame, units: pl.DataFrame, method: str) -> pl.DataFrame:
    """Signature of each corpus: embedders, `method`, kind of units. `scores` and `units` are as in `differences`."""
    kinds = units.select(CORPUS, "unit_kind").unique("corpus")
    makers = scores.group_by("corpus").agg(embedders=pl.col("embedder").unique().sort().str.join(", "))
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
    Columns of `RANGE` and `signature`. `verdict` is 'better' if the model is significantly better than every
    translator, 'worse' if it is significantly worse than every translator, null if no translator has a p-value, and
    otherwise 'among'. Names of translators are sorted and separated by ', '.
    """
    direction = pl.col("measure").replace_strict({metric.name: metric.better for metric in (*on("people"), *named)})
    tested, significant = pl.col("p_holm").is_not_null(), pl.col("p_holm") <= significance.LEVEL
    translators = {
        "better_than": significant & (pl.col("difference") * direction > 0),
        "indistinguishable": tested & ~significant,
        "worse_than": significant & (pl.col("difference") * direction < 0),
    }
    names = {name: pl.col("translator").filter(condition).sort() for name, condition in translators.items()}
    rows = differences.group_by("corpus", "measure", "model", "signature").agg(translators=tested.sum(), **names)
    count = pl.col("translators")
    verdict = (
        pl.when(count == 0).then(None)
        .when(pl.col("better_than").list.len() == count).then(pl.lit("better"))
        .when(pl.col("worse_than").list.len() == count).then(pl.lit("worse"))
        .otherwise(pl.lit("among"))
    )  # fmt: skip
    rows = rows.with_columns(*(pl.col(name).list.join(", ") for name in names), verdict=verdict)
    return rows.select(*(pl.col(name).cast(kind) for name, kind in RANGE.items()), "signature").sort(RANGE.names()[:3])


def _tested(paired: pl.DataFrame) -> pl.DataFrame:
    """Differences between the models and translators of one corpus, from their paired scores.

    Returns columns of `DIFFERENCE`; `p_holm` is null.
    """
    keys = ["corpus", "measure", "model", "translator"]
    rows = paired.group_by(keys).agg(
        pl.col("references").mean().alias("mean_references"), pl.col("value", "human_value").mean(), passages=pl.len(),
        units=pl.col("unit").n_unique(), difference=(pl.col("value") - pl.col("human_value")).mean(),
    ).sort(keys)  # fmt: skip
    column = paired.join(rows.with_row_index("column"), on=keys, maintain_order="left")["column"].to_numpy()
    unit = numbered_units(paired["unit"])
    sums, sizes = np.zeros((2, int(unit.max()) + 1, len(rows)))
    np.add.at(sums, (unit, column), (paired["value"] - paired["human_value"]).to_numpy())
    np.add.at(sizes, (unit, column), 1)
    difference, shares = rows["difference"].to_numpy(), sizes / sizes.sum(axis=0)
    influences = sums / sizes.sum(axis=0) - shares * difference
    tested = rows.with_columns(p_holm=pl.lit(None), **significance.tested(difference, influences, shares))
    return tested.select(pl.col(name).cast(kind) for name, kind in DIFFERENCE.items())


def _corrected() -> pl.Expr:
    """P-values corrected by Holm's method; null stays null."""

    def correct(values: pl.Series) -> pl.Series:
        return pl.Series(significance.holm(values.to_numpy())).fill_nan(None)

    return pl.col("p").map_batches(correct, return_dtype=pl.Float64)

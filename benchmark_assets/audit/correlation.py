"""Point-biserial correlation of scores with errors in the queue: section 4.6 of the audit paper, with intervals.

Not here: detection of deliberate damage by scores (sensitivity.detection), the number of outputs to judge until errors
are found (recall_cost).
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.adjudication.labels import UNCERTAIN
from benchmark_assets.audit.overlap import LEVELS
from benchmark_assets.audit.rated import PANEL
from benchmark_assets.metrics.entries import MEASURES
from benchmark_assets.metrics.intervals import (
    SIGNATURE,
    Floats,
    Units,
    bounded,
    by_unit,
    effective_units,
    sample_and_resamples,
    unit_sizes,
)
from benchmark_assets.metrics.measures import numbered_units
from benchmark_assets.metrics.meta_evaluation import moments, pearson_of
from benchmark_assets.metrics.metric import Metric
from resources.catalogue import schema

CORRELATION = schema("error_correlation")


def correlations(rows: pl.DataFrame, scores: pl.DataFrame, metrics: Sequence[Metric] = MEASURES) -> pl.DataFrame:
    """Rows of `error_correlation`, from the panel's rows of `rated` and from scores.

    `scores` has the columns `model`, `passage`, `human_spread`, and some or all of `metrics`; missing scores are null.
    Uncertain verdicts are ignored. For each corpus with verdicts: one row for each error level and metric in `scores`.
    """
    settled = (pl.col("raters") == PANEL) & pl.col("label").is_not_null() & (pl.col("label") != UNCERTAIN)
    queue = rows.filter(settled).join(scores, on=["model", "passage"], how="left").sort("corpus", "passage", "model")
    names = [*(metric.name for metric in metrics if "correlation" in metric.boards), "human_spread"]
    result: list[tuple[object, ...]] = []
    for (corpus,), outputs in queue.group_by(["corpus"], maintain_order=True):
        for level, labels in LEVELS.items():
            errors = outputs["label"].is_in(labels)
            for metric in names:
                if metric not in scores.columns:
                    continue
                scored = outputs[metric].is_finite().fill_null(False)
                values = outputs[metric].filter(scored).to_numpy()
                units = numbered_units(outputs["unit"].filter(scored))
                r = point_biserial(values, errors.filter(scored).to_numpy(), units)
                effective = effective_units(unit_sizes(units)) if len(units) else 0
                result.append((corpus, level, metric, len(values), *bounded(r, effective), SIGNATURE))
    return pl.DataFrame(result, schema=CORRELATION, orient="row")


def point_biserial(values: Floats, errors: NDArray[np.bool_], units: Units) -> Floats:
    """Point-biserial correlation of values with errors, in the sample and in its bootstrap resamples.

    Parameters
    ----------
    values, errors
        Shape (outputs,).
    units
        Number of each output's unit, shape (outputs,).

    Returns
    -------
    Shape (1 + RESAMPLES,), the sample first, in [-1, 1]; NaN if values or errors are constant. Without outputs, [NaN].
    """
    if not len(values):
        return np.array([np.nan])
    parts = by_unit(moments(values, errors.astype(np.float64)), units)
    return pearson_of(sample_and_resamples(len(parts)) @ parts)

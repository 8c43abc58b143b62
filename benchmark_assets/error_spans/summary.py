"""Scores of models by the error spans that judges mark, and rates of errors by category and severity.

Here: means with intervals over the outputs of a model in a corpus. Not here: the score of one output (judging).
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.error_spans.judging import WEIGHTS
from benchmark_assets.metrics.intervals import mean_interval, resampling_weights
from resources.catalogue import schema
from resources.keys import CORPUS

SUMMARY = schema("span_summary")

RATES = schema("span_rate")

GROUP = ["model", "corpus", "judge"]


def summarize(votes: pl.DataFrame, signature: str) -> pl.DataFrame:
    """Mean scores of each model by corpus and judge.

    Parameters
    ----------
    votes
        Rows of `span_vote`. Scores and counts are null where the judge abstained.

    Returns
    -------
    Columns of `SUMMARY`, one row for each model, corpus and judge. `outputs` counts all votes; `abstained` counts votes
    without a score, which no other number includes. Means are null if every vote is an abstention.
    """
    rows = []
    for key, group in _by_group(votes):
        scored = group.drop_nulls("mqm")
        row = dict(zip(GROUP, key, strict=True)) | {"outputs": len(group), "abstained": len(group) - len(scored)}
        row |= {name: scored[name].sum() for name in (*WEIGHTS, "unlocated")} | {"signature": signature}
        if len(scored):
            for name in ("mqm", "esa"):
                row |= _mean(name, scored[name].to_numpy().astype(float))
        rows.append(row)
    return pl.DataFrame(rows, schema=SUMMARY).sort(GROUP)


def rates(votes: pl.DataFrame, spans: pl.DataFrame, signature: str) -> pl.DataFrame:
    """Errors per output of each model by corpus, judge, category and severity.

    Parameters
    ----------
    votes
        Rows of `span_vote`.
    spans
        Rows of `error_span` of the same models.

    Returns
    -------
    Columns of `RATES`. A category and severity without an error has no row.
    """
    counts = spans.group_by("model", "passage", "judge", "category", "severity").agg(errors=pl.len())
    rows = []
    for key, group in _by_group(votes.drop_nulls("mqm")):
        outputs = group.select("model", "passage", "judge")
        of_group = counts.join(outputs, on=outputs.columns, how="semi").sort("category", "severity")
        for (category, severity), kind in of_group.group_by("category", "severity", maintain_order=True):
            by_output = outputs.join(kind, on=outputs.columns, how="left", maintain_order="left")["errors"].fill_null(0)
            row = dict(zip(GROUP, key, strict=True)) | {"category": category, "severity": severity}
            row |= {"errors": by_output.sum(), "signature": signature}
            rows.append(row | _mean("rate", by_output.to_numpy().astype(float)))
    return pl.DataFrame(rows, schema=RATES).sort(*GROUP, "category", "severity")


def _by_group(votes: pl.DataFrame) -> list[tuple[tuple[object, ...], pl.DataFrame]]:
    """The votes of each model, corpus and judge, sorted by passage, so that equal passages have equal resamples."""
    groups = votes.sort("model", "passage", "judge").group_by("model", CORPUS, "judge", maintain_order=True)
    return [(tuple(key), group) for key, group in groups]


def _mean(name: str, values: NDArray[np.float64]) -> dict[str, object]:
    """Mean of values, one for each output, and the bounds of its interval, by column."""
    low, high = mean_interval(values, resampling_weights(len(values)))
    return {name: float(values.mean()), f"{name}_low": low, f"{name}_high": high}

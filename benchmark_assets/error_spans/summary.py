"""Scores of models by the error spans that judges mark, and rates of errors by category and severity.

Here: means with intervals over the outputs of a model in a corpus. Not here: the score of one output (judging).
"""

import math

import numpy as np
import polars as pl

from benchmark_assets.metrics.intervals import mean_interval, rate_interval
from benchmark_assets.metrics.measures import Estimate, numbered_units
from benchmark_assets.metrics.missing import before
from benchmark_assets.people.mqm import WEIGHTS
from resources import catalogue
from resources.keys import CORPUS

SUMMARY = before("span_summary", "judge_standing")

RATES = before("span_rate", "judge_standing")

WORST, BEST = {"mqm": -25.0, "esa": 0.0}, {"mqm": 0.0, "esa": 100.0}
"""The lowest and the highest scores of an output."""

GROUP = ["model", "corpus", "judge"]

TABLES = {"mqm": "span_summary", "esa": "span_summary", "rate": "span_rate"}
"""Table that declares the range of each mean."""


def summarize(votes: pl.DataFrame, signature: str) -> pl.DataFrame:
    """Mean scores of each model by corpus and judge.

    Parameters
    ----------
    votes
        Rows of `span_vote`, with the passage's `unit`. Scores and counts are null if the judge abstained.

    Returns
    -------
    Columns of `SUMMARY`, one row for each model, corpus and judge. Abstentions are counted, and `missing_share` is
    their share. `any_corrected` is null.
    """
    rows = []
    for key, group in _by_group(votes):
        scored = group.drop_nulls("mqm")
        row = dict(zip(GROUP, key, strict=True)) | {"outputs": len(group), "abstained": len(group) - len(scored)}
        row["missing_share"] = group["mqm"].null_count() / len(group)
        row |= {name: scored[name].sum() for name in (*WEIGHTS, "unlocated")} | {"signature": signature}
        if len(scored):
            for name in ("mqm", "esa"):
                row |= _mean(name, scored[name], scored["unit"])
            faulty, units = (scored["mqm"] < 0).to_numpy(), numbered_units(scored["unit"])
            row |= Estimate(float(faulty.mean()), *rate_interval(faulty, units)).columns("any_rate")
        rows.append(row)
    return pl.DataFrame(rows, schema=SUMMARY).sort(GROUP)


def rates(votes: pl.DataFrame, spans: pl.DataFrame, signature: str) -> pl.DataFrame:
    """Errors per output of each model by corpus, judge, category and severity.

    Parameters
    ----------
    votes
        Rows of `span_vote`, with the passage's `unit`.
    spans
        Rows of `error_span` of the same models.

    Returns
    -------
    Columns of `RATES`. A pair of category and severity without errors has no row.
    """
    counts = spans.group_by("model", "passage", "judge", "category", "severity").agg(errors=pl.len())
    rows = []
    for key, every_vote in _by_group(votes):
        group = every_vote.drop_nulls("mqm")
        outputs = group.select("model", "passage", "judge")
        of_group = counts.join(outputs, on=outputs.columns, how="semi").sort("category", "severity")
        for (category, severity), kind in of_group.group_by("category", "severity", maintain_order=True):
            by_output = outputs.join(kind, on=outputs.columns, how="left", maintain_order="left")["errors"].fill_null(0)
            row = dict(zip(GROUP, key, strict=True)) | {"category": category, "severity": severity}
            missing = every_vote["mqm"].null_count() / len(every_vote)
            row |= {"errors": by_output.sum(), "missing_share": missing, "signature": signature}
            rows.append(row | _mean("rate", by_output, group["unit"]))
    return pl.DataFrame(rows, schema=RATES).sort(*GROUP, "category", "severity")


def _by_group(votes: pl.DataFrame) -> list[tuple[tuple[object, ...], pl.DataFrame]]:
    """The votes of each model, corpus and judge."""
    groups = votes.sort("model", "passage", "judge").group_by("model", CORPUS, "judge", maintain_order=True)
    return [(tuple(key), group) for key, group in groups]


def _mean(name: str, values: pl.Series, units: pl.Series) -> dict[str, object]:
    """Mean of the outputs' values and bounds of its interval, by column. Bounds are clipped to the column's range."""
    numbers, column = values.to_numpy().astype(np.float64), catalogue.column(TABLES[name], name)
    least, most = -math.inf if column.least is None else column.least, math.inf if column.most is None else column.most
    low, high = mean_interval(numbers, numbered_units(units), least, most)
    return {name: float(numbers.mean()), f"{name}_low": low, f"{name}_high": high}

"""Consistency of people who mark errors (ESA, MQM): attention checks that they passed, and changes over time.

Here: rates and means with intervals for each person. Not here: agreement of annotators with themselves and with others
(agreement), labels (consistency), the choice of control items (controls).
"""

from functools import partial

import polars as pl

from benchmark_assets.metrics.intervals import mean_interval
from benchmark_assets.people.consistency import change, rate
from benchmark_assets.people.controls import ATTENTION
from benchmark_assets.people.forms import MQM_FORM
from benchmark_assets.people.mqm import BEST, MOST_POINTS
from resources.catalogue import schema
from resources.keys import CORPUS

STEADINESS = schema("annotation_consistency")

RANGES = {"esa": partial(mean_interval, least=0, most=BEST), "mqm": partial(mean_interval, least=-MOST_POINTS, most=0)}
"""Functions that compute the interval of the mean of each score."""


def steadiness(annotations: pl.DataFrame, signature: str) -> pl.DataFrame:
    """Rows of `annotation_consistency`: one for each corpus and annotator.

    `annotations` are rows of `agreement.with_errors` with the passage's `unit`.

    Notes
    -----
    An attention check shows the output of another passage. It is passed with a score of at most `MOST_IF_BROKEN`, as on
    Pearmut's dashboard. For changes over time, the order of annotations in the files is taken as their order in time.
    Control items are left out, and the other annotations are split, in that order, into two halves of equal size.
    """
    rows = annotations.with_columns(CORPUS).sort("file", "place", "item")
    result = []
    for corpus, annotator in rows.select("corpus", "annotator").unique().sort("corpus", "annotator").iter_rows():
        own = rows.filter(corpus=corpus, annotator=annotator)
        ordinary, checks = own.filter(pl.col("control").is_null()), own.filter(control=ATTENTION)
        passed = checks.select("unit", value=MQM_FORM.passed.cast(pl.Float64))
        row = {"corpus": corpus, "annotator": annotator, "annotations": len(ordinary), "checks": len(checks)}
        row |= rate("passed", passed) | {"signature": signature}
        for name, interval in RANGES.items():
            row |= change(name, ordinary.select("unit", value=name), interval)
        result.append(row)
    return pl.DataFrame(result, schema=STEADINESS)

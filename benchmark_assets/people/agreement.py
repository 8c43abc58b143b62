"""Agreement on errors and scores (ESA, MQM): of annotators with each other, with themselves, and with judges.

Here: people's annotations of outputs, pairs of annotations of one text, and their statistics. Not here:
control items (controls), agreement of labels (audit.calibration, consistency).
"""

from collections.abc import Mapping

import numpy as np
import polars as pl

from benchmark_assets.metrics.intervals import (
    SIGNATURE,
    Units,
    bounded,
    by_unit,
    effective_units,
    mean_interval,
    sample_and_resamples,
    unit_sizes,
)
from benchmark_assets.metrics.measures import numbered_units, ratio
from benchmark_assets.metrics.meta_evaluation import kendall_pooled, moments, pearson_of, pooled_pairs
from benchmark_assets.people.controls import REPEAT
from benchmark_assets.people.mqm import MOST_POINTS, WEIGHTS, mqm
from resources.catalogue import schema
from resources.keys import CORPUS

AGREEMENT = schema("annotation_agreement")

PAIR = ["corpus", "kind", "first", "second", "prefilled"]

HALF = 0.5
"""Credit for a character that both raters mark, but with different severities."""

METHOD = f"F1: characters of all outputs together, {HALF} for another severity, major and critical errors as one"

Characters = Mapping[int, bool]
"""Marked characters of an output, by position. The value is true if the error is major or critical."""


def with_errors(annotations: pl.DataFrame, spans: pl.DataFrame, controls: pl.DataFrame) -> pl.DataFrame:
    """Add the errors (rows of `imported_span`) and the controls (rows of `control_item`) to rows of
    `imported_annotation`.

    The added columns are `errors` (a list of `span_start`, `span_end` and `severity`), `mqm` (the score of the errors),
    `control` (the kind of control item) and `original` (the item from which it was made).
    """
    kinds = controls.select("item", "original", control="kind")
    errors = spans.group_by("item", "annotator").agg(errors=pl.struct("span_start", "span_end", "severity"))
    rows = annotations.join(errors, on=["item", "annotator"], how="left").join(kinds, on="item", how="left")
    listed = pl.col("errors").fill_null([])
    return rows.with_columns(errors=listed, mqm=listed.map_elements(_mqm, return_dtype=pl.Float64))


def human_rows(annotations: pl.DataFrame, spans: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows of `human_span_vote` and `human_error_span`.

    Parameters
    ----------
    annotations
        Rows of `imported_annotation`, with `model` and `passage` of the output.
    spans
        Rows of `imported_span`.
    """
    keys = annotations.select("item", "annotator", "model", "passage")
    errors = spans.drop("passage", "fingerprint", "run_id", "updated_at").join(keys, on=["item", "annotator"])
    severities = errors.group_by("item", "annotator").agg("severity")
    votes = annotations.select("item", "annotator", "model", "passage", "esa", "prefilled").join(
        severities, on=["item", "annotator"], how="left", maintain_order="left"
    )
    lists = [values or [] for values in votes["severity"].to_list()]
    counts = {name: pl.Series([values.count(name) for values in lists], dtype=pl.Int32) for name in WEIGHTS}
    votes = votes.with_columns(mqm=pl.Series(list(map(mqm, lists)), dtype=pl.Float64), **counts)
    return votes.drop("item", "severity"), errors.drop("item")


def by_people(annotations: pl.DataFrame) -> pl.DataFrame:
    """Ratings by people. `annotations` are rows of `with_errors`, with the passage's `unit` as a further column.

    Returns
    -------
    One row for each annotation, without checks: `corpus`, `unit`, `item`, `by` ('people'), `rater`, `again`
    (whether the annotated item repeats another item; `item` is then the original), `esa`, `mqm`, `prefilled` ('' if no
    errors were prefilled), and `errors`: a list of `span_start`, `span_end` and `severity`.
    """
    again = pl.col("control").eq_missing(REPEAT)
    return annotations.filter(pl.col("control").is_null() | again).select(
        CORPUS, "unit", "esa", "errors", "mqm", by=pl.lit("people"), prefilled=pl.col("prefilled").fill_null(""),
        item=pl.when(again).then("original").otherwise("item"), rater="annotator", again=again,
    )  # fmt: skip


def by_judges(votes: pl.DataFrame, spans: pl.DataFrame) -> pl.DataFrame:
    """Ratings by judges, in the form of `by_people`; `by` is 'judge'. Abstentions are left out.

    `votes` are rows of `span_vote` with the output's `item` and the passage's `unit`. `spans` are rows of `error_span`.
    """
    keys = ["model", "passage", "judge"]
    located = spans.filter(side="output")  # the span of an omission is in the source
    errors = located.group_by(keys).agg(errors=pl.struct("span_start", "span_end", "severity"))
    return votes.drop_nulls("mqm").join(errors, on=keys, how="left").select(
        CORPUS, "unit", "esa", pl.col("errors").fill_null([]), by=pl.lit("judge"), prefilled=pl.lit(""),
        item="item", rater="judge", again=pl.lit(False), mqm="mqm",
    )  # fmt: skip


def agreement(ratings: pl.DataFrame) -> pl.DataFrame:
    """Rows of `annotation_agreement`, from rows of `by_people` and `by_judges`.

    Pairs with prefilled errors have separate rows, because annotators may have kept these errors.

    Notes
    -----
    Scores are compared by Pearson's and Kendall's correlation over all outputs, as in mt-metrics-eval. F1 counts the
    characters that are marked as errors, with half the credit if the severities differ, as in WMT's shared task on
    quality estimation (Blain et al. 2023). Omissions have no characters in the output.
    """
    pairs = _pairs(ratings)
    rows = [
        dict(zip(PAIR, key, strict=True)) | _statistics(group)
        for key, group in pairs.sort(*PAIR, "item").group_by(PAIR, maintain_order=True)
    ]
    return pl.DataFrame(rows, schema=AGREEMENT)


def _pairs(ratings: pl.DataFrame) -> pl.DataFrame:
    """Pairs of ratings of the same text. Returns the columns of `PAIR`, both ratings, and the results of `_overlap`."""
    people = ratings.filter(by="people")
    joined = ratings.join(people.drop("corpus", "unit", "by"), on="item", suffix="_second")
    first, second, judged = pl.col("rater"), pl.col("rater_second"), pl.col("by") == "judge"
    once, twice = ~pl.col("again") & ~pl.col("again_second"), ~pl.col("again") & pl.col("again_second")
    kind = (
        pl.when(judged & once).then(pl.lit("judge"))
        .when(~judged & (first < second) & once).then(pl.lit("people"))
        .when(~judged & (first == second) & twice).then(pl.lit("oneself"))
    )  # fmt: skip
    pairs = joined.with_columns(kind=kind).drop_nulls("kind")
    start = pl.concat_list("prefilled", "prefilled_second").list.unique().list.sort().list.join(", ")
    counts = [
        _overlap(_characters(one), _characters(other)) for one, other in pairs.select("errors", "errors_second").rows()
    ]
    overlaps = pl.DataFrame(counts, schema={"shared": pl.Float64, "marked": pl.Float64}, orient="row")
    named = pairs.with_columns(first=first, second=second, prefilled=start.str.strip_chars(", "))
    return named.hstack(overlaps)


def _statistics(pairs: pl.DataFrame) -> dict[str, object]:
    """Counts and statistics of the pairs of two raters, by column."""
    units = numbered_units(pairs["unit"])
    one, other = (pairs[name].to_numpy() for name in ("mqm", "mqm_second"))
    difference = np.abs(one - other)
    low, high = mean_interval(difference, units, 0, MOST_POINTS)
    return {
        "outputs": len(pairs), **_resampled(pairs, units), "mqm_difference": float(difference.mean()),
        "mqm_difference_low": low, "mqm_difference_high": high, "signature": f"{METHOD}; {SIGNATURE}",
    }  # fmt: skip


def _resampled(pairs: pl.DataFrame, units: Units) -> dict[str, float | None]:
    """Correlations of the overall scores and F1 of the marked characters, with intervals."""
    sizes = unit_sizes(units)
    weights = sample_and_resamples(len(sizes))
    one, other = (pairs[name].to_numpy() for name in ("esa", "esa_second"))
    shared, marked = (weights @ by_unit(pairs.select("shared", "marked").to_numpy(), units)).T
    values = {
        "esa_pearson": pearson_of(weights @ by_unit(moments(one, other), units)),
        "esa_kendall": kendall_pooled(pooled_pairs(one[None], other[None], 0), weights[:, units]),
        "span_f1": ratio(2 * shared, marked),
    }
    row: dict[str, float | None] = {}
    for name, statistic in values.items():
        row[name], row[f"{name}_low"], row[f"{name}_high"] = bounded(statistic, effective_units(sizes))
    return row


def _mqm(errors: pl.Series) -> float:
    return mqm(error["severity"] for error in errors)


def _characters(errors: list[dict[str, object]]) -> Characters:
    """The characters of the output that are marked as errors. Where errors overlap, the most severe one counts."""
    located = [error for error in errors if error["span_start"] is not None]
    return {
        place: error["severity"] != "minor"
        for error in sorted(located, key=lambda error: WEIGHTS[str(error["severity"])])
        for place in range(int(str(error["span_start"])), int(str(error["span_end"])))
    }


def _overlap(one: Characters, other: Characters) -> tuple[float, float]:
    """Credit for the characters that both raters mark; and the number of marked characters, summed over the raters."""
    credit = sum(1.0 if one[place] == other[place] else HALF for place in one.keys() & other.keys())
    return credit, float(len(one) + len(other))

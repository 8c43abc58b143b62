"""Consistency of annotators: agreement on repeated items, checks passed, standing, and changes over time.

Here: rates with intervals for each person, from labels, preferences and scores, the change of any measure over time,
and the people whose answers are left out. Not here: choosing control items (controls), the rule of standing (standing),
agreement of pairs of people (audit.calibration, agreement).
"""

import math
from collections.abc import Callable
from functools import partial

import polars as pl

from benchmark_assets.adjudication.labels import ERRORS
from benchmark_assets.metrics.intervals import Bounds, Floats, Units, mean_interval, rate_interval
from benchmark_assets.metrics.measures import numbered_units
from benchmark_assets.people.agreement import with_errors
from benchmark_assets.people.controls import REPEAT
from benchmark_assets.people.form import Form
from benchmark_assets.people.forms import LABEL_FORM, MQM_FORM, PAIR_FORM
from benchmark_assets.people.mqm import BEST, MOST_POINTS
from benchmark_assets.people.standing import graded, standings
from resources.catalogue import schema
from resources.keys import CORPUS
from resources.warehouse import Warehouse

CONSISTENCY = schema("annotator_consistency")
VERDICT = ("accepted", "standing", "problem")
ERRORS_MARKED = "errors"
"""Value of `protocol` in the rows of people who mark errors."""

Interval = Callable[[Floats, Units], Bounds]
"""Function that returns the 95 % interval of the mean of some values, given the values and their units."""

RANGES = {"esa": partial(mean_interval, least=0, most=BEST), "mqm": partial(mean_interval, least=-MOST_POINTS, most=0)}
"""Functions that compute the interval of the mean of each score."""


def consistency(labels: pl.DataFrame, controls: pl.DataFrame, signature: str, form: Form = LABEL_FORM) -> pl.DataFrame:
    """Rows of `annotator_consistency` for one protocol: a row for each corpus and annotator.

    Parameters
    ----------
    labels
        Rows of `imported_label` or `preferences`, with a further column `unit`: the unit of the passage. Labels without
        a passage are left out.
    controls
        Rows of `control_item`, or the control items that `preferences` returns.
    form
        The form to which the labels are answers.

    Notes
    -----
    A repetition counts as agreement if both labels of the item are the same. A check is passed with the label that the
    form names for its kind. The order of an annotator's labels in the files is taken as their order in time. In
    this order, the labels are split into two halves of equal size; labels without a place in a file are in neither
    half. Agreement with others on an item is the share of its other annotators who give the same label.
    """
    labels = graded(labels.drop_nulls("passage").with_columns(CORPUS), controls, form)
    verdicts = {row[:2]: dict(zip(VERDICT, row[2:], strict=True)) for row in standings(labels, form).iter_rows()}
    ordinary, repeats, checks = _parts(labels)
    others = ordinary.select("item", other="annotator", other_label="label")
    pairs = ordinary.join(others, on="item").filter(pl.col("annotator") != pl.col("other"))
    hits = (pl.col("label") == pl.col("other_label")).mean()
    agreed = pairs.group_by("item", "annotator").agg(agreed=hits)
    timed = ordinary.join(agreed, on=["item", "annotator"], how="left").sort("file", "place", "item")
    rows = []
    for corpus, annotator in labels.select("corpus", "annotator").unique().sort("corpus", "annotator").iter_rows():
        key = {"corpus": corpus, "annotator": annotator}
        row = key | {"protocol": form.protocol, "labels": len(ordinary.filter(**key)), "signature": signature}
        row |= verdicts[corpus, annotator]
        for count, name, table in (("repeats", "agreement", repeats), ("checks", "passed", checks)):
            trials = table.filter(**key)
            row |= {count: len(trials)} | rate(name, trials.select("unit", value=pl.col("right").cast(pl.Float64)))
        of_annotator = timed.filter(**key).drop_nulls("place")
        errors = of_annotator.select("unit", value=pl.col("label").is_in(ERRORS).cast(pl.Float64))
        row |= change("errors", errors) | change("peers", of_annotator.select("unit", value="agreed").drop_nulls())
        rows.append(row)
    return pl.DataFrame(rows, schema=CONSISTENCY)


def steadiness(annotations: pl.DataFrame, signature: str) -> pl.DataFrame:
    """Rows of `annotator_consistency` for people who mark errors (ESA, MQM): a row for each corpus and annotator.

    `annotations` are rows of `agreement.with_errors` with the passage's `unit`.

    Notes
    -----
    A check is passed as the form says for its kind. For changes over time, the order of annotations in the files is
    taken as their order in time. Control items are left out, and the other annotations are split, in that order, into
    two halves of equal size.
    """
    rows = annotations.with_columns(CORPUS).sort("file", "place", "item")
    known = rows.select("item", "original", kind="control").drop_nulls("kind").unique()
    rows = graded(rows.drop("original"), known, MQM_FORM)
    verdicts = {row[:2]: dict(zip(VERDICT, row[2:], strict=True)) for row in standings(rows, MQM_FORM).iter_rows()}
    result = []
    for corpus, annotator in rows.select("corpus", "annotator").unique().sort("corpus", "annotator").iter_rows():
        ordinary, _, checks = _parts(rows.filter(corpus=corpus, annotator=annotator))
        passed = checks.select("unit", value=pl.col("right").cast(pl.Float64))
        row = {"corpus": corpus, "annotator": annotator, "protocol": ERRORS_MARKED, "labels": len(ordinary)}
        row |= {"checks": len(checks), "signature": signature} | rate("passed", passed) | verdicts[corpus, annotator]
        for name, interval in RANGES.items():
            row |= change(name, ordinary.select("unit", value=name), interval)
        result.append(row)
    return pl.DataFrame(result, schema=CONSISTENCY)


def left_out(warehouse: Warehouse, table: str) -> pl.DataFrame:
    """People whose standing is `failed`, by their answers in a table: columns `corpus` and `annotator`.

    `table` is `imported_label`, `imported_annotation` or, for all preferences between texts, `pair_label`.
    """
    controls, form = warehouse.read("control_item", columns=["item", "kind", "original"]), LABEL_FORM
    if table == "pair_label":
        (answers, controls), form = preferences(warehouse), PAIR_FORM
    elif table == "imported_annotation":
        answers, form = with_errors(warehouse.read(table), warehouse.read("imported_span"), controls), MQM_FORM
        answers = answers.drop("control", "original")
    else:
        answers = warehouse.read(table)
    rows = graded(answers.drop_nulls("passage").with_columns(CORPUS), controls, form)
    return standings(rows, form).filter(standing="failed").select("corpus", "annotator")


def _parts(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Answers of `graded` to ordinary items, to repeated items with a first answer, and to checks."""
    kind = pl.col("kind")
    return rows.filter(kind.is_null()), rows.filter(kind == REPEAT).drop_nulls("right"), rows.filter(kind != REPEAT)


def preferences(warehouse: Warehouse) -> tuple[pl.DataFrame, pl.DataFrame]:
    """People's preferences between the two texts of each pair, and the control items among the pairs.

    Returns
    -------
    answers
        Preferences for ordinary pairs and for control items. Columns `item`, `annotator`, `passage`, `updated_at`,
        `label` (machine, human or unsure), `file` and `place`. `file` and `place` are empty, because the order of a
        spreadsheet's rows is not stored: annotators may sort the rows.
    controls
        Columns `item`, `kind` and `original`. The key of an item contains hashes of its texts, so that answers about
        different versions of a text are never compared.
    """
    pair = pl.concat_str("model", "passage", "base_set", "anchor", "machine_hash", "human_hash", separator="\n")
    beside_people = warehouse.read("pair_label").with_columns(base_set=pl.lit(""), anchor=pl.lit(""))
    beside_anchors = warehouse.read("match_label").rename({"output_hash": "machine_hash", "anchor_hash": "human_hash"})
    ordinary = pl.concat([beside_people, beside_anchors], how="diagonal").with_columns(item=pair)
    controls = warehouse.read("pair_control").with_columns(item=pl.format("{}\n{}", "kind", pair), original=pair)
    nowhere = {"file": pl.lit(""), "place": pl.lit(None, pl.Int32)}
    columns = ["item", "annotator", "passage", "updated_at"]
    answers = [rows.select(*columns, label="better", **nowhere) for rows in (ordinary, controls)]
    return pl.concat(answers), controls.select("item", "kind", "original").unique()


def rate(name: str, trials: pl.DataFrame) -> dict[str, float | None]:
    """The share of hits and its interval, as columns `name`, `name_low` and `name_high`.

    `trials` has the columns `value`, in [0, 1], and `unit`. If there are no trials, all results are None.
    """
    if trials.is_empty():
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    share, (low, high) = _mean(trials, rate_interval)
    return {name: share, f"{name}_low": low, f"{name}_high": high}


def change(name: str, trials: pl.DataFrame, interval: Interval = rate_interval) -> dict[str, float | None]:
    """Means of the first and the second half of the trials, and their difference with an interval.

    Parameters
    ----------
    trials
        Columns `value` and `unit`, in order of time.
    interval
        Computes the interval of a mean. The default is for values in [0, 1].

    Returns
    -------
    The columns `early_name`, `late_name`, `name_change`, `name_change_low` and `name_change_high`. With fewer than two
    trials, all are None.

    Notes
    -----
    The interval is Newcombe's (1998, method 10): with means p in [l, u] and q in [m, v], it extends from the difference
    q - p by √((q - m)² + (u - p)²) downward and by √((v - q)² + (p - l)²) upward.
    """
    early, late = trials[: len(trials) // 2], trials[len(trials) // 2 :]
    row = dict.fromkeys((f"early_{name}", f"late_{name}", *(f"{name}_change{end}" for end in ("", "_low", "_high"))))
    if early.is_empty():
        return row
    (p, (l, u)), (q, (m, v)) = _mean(early, interval), _mean(late, interval)  # noqa: E741 - names of the equation
    row |= {f"early_{name}": p, f"late_{name}": q, f"{name}_change": q - p}
    if l is not None and u is not None and m is not None and v is not None:
        row[f"{name}_change_low"] = q - p - math.hypot(q - m, u - p)
        row[f"{name}_change_high"] = q - p + math.hypot(v - q, p - l)
    return row


def _mean(trials: pl.DataFrame, interval: Interval) -> tuple[float, Bounds]:
    values = trials["value"].to_numpy()
    return float(values.mean()), interval(values, numbered_units(trials["unit"]))

"""Reliability of judges, and of the panel without one of them: agreement with people and with each other.

Not here: error rates (outcomes, estimates). Source: section 4.3 and tables 8 and E4 of the audit paper. Intervals, the
analysis by confidence, and the panel without a judge are additions to the paper.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.adjudication.labels import SUBSTANTIVE
from benchmark_assets.adjudication.panel import counted
from benchmark_assets.adjudication.verdicts import KEY, verdicts
from benchmark_assets.audit.overlap import LEVELS
from benchmark_assets.audit.rated import labeled_by_people, rated_of, shares, with_rates
from benchmark_assets.metrics.intervals import SIGNATURE, Floats, bounded, effective_units, sample_and_resamples
from benchmark_assets.metrics.measures import numbered_units, ratio
from resources.catalogue import schema
from resources.keys import CORPUS
from resources.warehouse import Warehouse

ABSTAINED = "ABSTAINED"
"""Label for judges that abstained."""

CALIBRATION = schema("judge_calibration")
CONFUSION = schema("judge_confusion")
RELIABILITY = schema("judge_reliability")
AGREEMENT = schema("rater_agreement")


def calibration(rows: pl.DataFrame, votes: pl.DataFrame, counted: pl.DataFrame | None = None) -> pl.DataFrame:
    """Rows of `judge_calibration`: judges' votes compared with people's substantive labels.

    `rows` are rows of `rated`, and `votes` rows of `judge_vote`. `counted` are the votes from which the panel's
    verdicts are computed, by default `votes`. The result has the columns of `CALIBRATION` and one row per rater: each
    judge, the panel, and the panel without each of its judges. A row covers the outputs that both the rater and people
    labeled. A rater's label that is not substantive counts as a disagreement with people, and not as an error.

    Notes
    -----
    Precision: of the outputs that the rater labels as errors, the share that people also label as errors.
    Recall: of the outputs that people label as errors, the share that the rater also labels as errors.
    Sources: table 8, and section 4.3 for the kappas.
    """
    result: list[tuple[object, ...]] = []
    for corpus, judge, pairs in _against_people(rows, votes, votes if counted is None else counted):
        labels = _labels(pairs["judged"])
        tables = cross_tables(pairs["unit"], pairs["people"], pairs["judged"], labels)
        reduced = [collapsed(tables, np.array([label in errors for label in labels])) for errors in LEVELS.values()]
        accuracies = [number for level in reduced for number in _accuracies(level)]
        kappas = [number for level in (tables, *reduced) for number in _resampled(kappa, level)]
        result.append((corpus, judge, len(pairs), *_exact(tables), *accuracies, *kappas, SIGNATURE))
    return pl.DataFrame(result, schema=CALIBRATION, orient="row")


def confusion(rows: pl.DataFrame, votes: pl.DataFrame, counted: pl.DataFrame | None = None) -> pl.DataFrame:
    """Rows of `judge_confusion` (table E4): columns of `CONFUSION`; parameters as in `calibration`.

    One row per pair of labels, even if no output has the pair. People's labels are the substantive labels. Judges'
    labels are the substantive labels, and any other labels that the judge gave.
    """
    result: list[tuple[object, ...]] = []
    for corpus, judge, pairs in _against_people(rows, votes, votes if counted is None else counted):
        cells = pairs.group_by("people", "judged").agg(pl.len()).iter_rows()
        counts = {(people, judged): outputs for people, judged, outputs in cells}
        labels = _labels(pairs["judged"])
        result += [
            (corpus, judge, people, judged, counts.get((people, judged), 0))
            for people in SUBSTANTIVE
            for judged in labels
        ]
    return pl.DataFrame(result, schema=CONFUSION, orient="row")


def confusions_of_judges(warehouse: Warehouse) -> pl.DataFrame:
    """Rows of `judge_confusion` from the stored votes, verdicts and labels."""
    votes = warehouse.read("judge_vote")
    return confusion(rated_of(warehouse), votes, counted(votes, warehouse))


def reliability(rows: pl.DataFrame, votes: pl.DataFrame) -> pl.DataFrame:
    """Rows of `judge_reliability`: agreement with people by confidence; parameters as in `calibration`.

    Columns of `RELIABILITY`. A well-calibrated judge agrees with people more often when its confidence is high.
    """
    by = ["corpus", "judge", "confidence"]
    confident = votes.drop_nulls("confidence").select(*KEY, "judge", "confidence", judged="label")
    agreed = (pl.col("people") == pl.col("judged")).cast(pl.Int64)
    counts = confident.join(_people(rows), on=KEY).select(*by, "unit", outputs=pl.lit(1), agreed=agreed)
    rates = with_rates(counts, by, {"agreement": (pl.col("agreed"), pl.col("outputs"))})
    return rates.with_columns(signature=pl.lit(SIGNATURE)).select(
        pl.col(name).cast(kind) for name, kind in RELIABILITY.items()
    )


def agreement(triage: pl.DataFrame, votes: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Rows of `rater_agreement`, from rows of `triage` (with a column `unit`), of `judge_vote` and of `human_label`.

    One row for each pair of judges over the queue, each pair of judges over the sample, and each pair of people over
    the sample, provided that both labeled at least one common output. All five labels are distinguished.
    """
    result: list[tuple[object, ...]] = []
    for scope, column, kind, name, labels_by_rater in (
        ("queue", "queued", "judges", "judge", votes),
        ("sample", "sampled", "judges", "judge", votes),
        ("sample", "sampled", "people", "annotator", labels),
    ):
        ratings = labels_by_rater.drop_nulls("label").select(CORPUS, *KEY, "label", rater=name)
        ratings = ratings.join(triage.filter(column).select(*KEY, "unit"), on=KEY).sort("corpus")
        for (corpus,), part in ratings.group_by(["corpus"], maintain_order=True):
            for first, second in combinations(part["rater"].unique().sort().to_list(), 2):
                pairs = part.filter(rater=first).join(part.filter(rater=second), on=KEY)
                if pairs.is_empty():
                    continue
                one, other = pairs["label"], pairs["label_right"]
                tables = cross_tables(pairs["unit"], one, other, sorted({*one, *other}))
                numbers = *_exact(tables), *_resampled(kappa, tables)
                result.append((corpus, scope, kind, first, second, len(pairs), *numbers, SIGNATURE))
    return pl.DataFrame(result, schema=AGREEMENT, orient="row").sort("corpus", "scope", "kind", "first", "second")


def cross_tables(units: pl.Series, first: pl.Series, second: pl.Series, labels: Sequence[str]) -> Floats:
    """Contingency tables of two raters' labels, by unit.

    Parameters
    ----------
    units, first, second
        For each output, its unit, the first rater's label and the second rater's label.
    labels
        All labels that occur, in the order of the tables' rows and columns.

    Returns
    -------
    Shape (units, labels, labels). Rows are the first rater's labels, columns the second's.
    """
    codes = {label: code for code, label in enumerate(labels)}
    rows, columns = (column.replace_strict(codes, return_dtype=pl.Int64).to_numpy() for column in (first, second))
    places, size = numbered_units(units), len(labels)
    cells = np.bincount((places * size + rows) * size + columns, minlength=(places.max() + 1) * size * size)
    return cells.reshape(-1, size, size).astype(np.float64)


def collapsed(tables: Floats, errors: NDArray[np.bool_]) -> Floats:
    """Collapse tables from shape (n, labels, labels) to (n, 2, 2): index 0 is for non-errors, index 1 for `errors`."""
    to_two = np.stack([~errors, errors]).astype(np.float64)
    smaller: Floats = to_two @ tables @ to_two.T
    return smaller


def kappa(tables: Floats) -> Floats:
    """Cohen's kappa of each table, from shape (n, labels, labels) to (n,), in [-1, 1].

    NaN if both raters give the same label to every output.
    """
    n = tables.sum(axis=(1, 2))
    agreed = np.trace(tables, axis1=1, axis2=2)
    by_chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    return ratio(n * agreed - by_chance, n * n - by_chance)


def _against_people(
    rows: pl.DataFrame, votes: pl.DataFrame, counted: pl.DataFrame
) -> Iterator[tuple[object, object, pl.DataFrame]]:
    """Yield the corpus, the name of a judge or panel, and a table: `unit`, people's labels and this rater's labels."""
    people = _people(rows)
    labeled = votes.join(people, on=KEY, how="semi").with_columns(pl.col("label").fill_null(ABSTAINED))
    if labeled.is_empty():
        return
    judges = labeled.select(*KEY, "judge", judged="label")
    of_panel = counted.join(people, on=KEY, how="semi")
    without = ((f"panel without {judge}", others) for judge, others in _without(of_panel))
    panels = [("panel", verdicts(of_panel)), *without]
    by_panels = [panel.select(*KEY, pl.lit(name).alias("judge"), judged="label") for name, panel in panels]
    pairs = pl.concat([judges, *by_panels]).join(people, on=KEY).sort("corpus", "judge")
    for (corpus, judge), part in pairs.group_by(["corpus", "judge"], maintain_order=True):
        yield corpus, judge, part


def _people(rows: pl.DataFrame) -> pl.DataFrame:
    """People's substantive labels: columns `corpus`, `KEY`, `unit` and `people`."""
    return labeled_by_people(rows).select("corpus", *KEY, "unit", people="label")


def _without(votes: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield each judge, and the other judges' verdicts on the outputs about which this judge voted."""
    for judge in votes["judge"].unique().sort().to_list():
        judged = votes.filter(judge=judge)
        others = votes.filter(pl.col("judge") != judge).join(judged, on=KEY, how="semi")
        if len(others):
            yield judge, verdicts(others)


def _labels(judged: pl.Series) -> list[str]:
    """The substantive labels, then other labels in the column, sorted."""
    return [*SUBSTANTIVE, *sorted(set(judged) - set(SUBSTANTIVE))]


def _exact(tables: Floats) -> tuple[float | None, float | None, float | None]:
    """Share of outputs to which both raters give the same label, with its interval; `tables` has one table per unit."""
    agreed, outputs = np.trace(tables, axis1=1, axis2=2), tables.sum(axis=(1, 2))
    (exact,) = shares(agreed[:, None], outputs[:, None])
    return exact


def _accuracies(tables: Floats) -> Iterator[float | None]:
    """Precision, recall and F1 with their intervals, from one 2 x 2 table per unit. Errors are the second label."""
    hits, judged, actual = tables[:, 1, 1], tables[:, :, 1].sum(axis=1), tables[:, 1].sum(axis=1)
    for precision_or_recall in shares(np.stack([hits, hits], axis=1), np.stack([judged, actual], axis=1)):
        yield from precision_or_recall
    yield from _resampled(f1, tables)


def f1(tables: Floats) -> Floats:
    """F1 of each 2 x 2 table in which errors are the second label: shape (n, 2, 2) to (n,); NaN without errors."""
    return ratio(2 * tables[:, 1, 1], tables[:, :, 1].sum(axis=1) + tables[:, 1].sum(axis=1))


def _resampled(
    statistic: Callable[[Floats], Floats], tables: Floats
) -> tuple[float | None, float | None, float | None]:
    """A statistic of the sum of all units' tables, with its interval."""
    resampled = np.tensordot(sample_and_resamples(len(tables)), tables, axes=1)
    return bounded(statistic(resampled), effective_units(tables.sum(axis=(1, 2))))

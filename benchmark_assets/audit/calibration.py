"""Reliability of judges: agreement with people, agreement between judges, and the panel without one of its judges.

Here: agreement of raters. Not here: rates of errors (outcomes, estimates). Source: section 4.3 and tables 8 and E4 of
the audit paper. The intervals, the confidence and the panel without a judge are additions to the paper.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.adjudication.labels import MAJOR, MINOR, SUBSTANTIVE, UNCERTAIN, VALID
from benchmark_assets.adjudication.verdicts import KEY, verdicts
from benchmark_assets.audit.overlap import LEVELS
from benchmark_assets.audit.rated import PANEL, PEOPLE, WILSON, with_rate
from benchmark_assets.metrics.intervals import SIGNATURE, bounded, sample_and_resamples, wilson
from benchmark_assets.metrics.measures import Floats, ratio
from resources.catalogue import schema
from resources.keys import CORPUS

ABSTAINED = "ABSTAINED"
"""Label of a judge that abstained."""

SHARES = ("precision", "recall", "f1")

CALIBRATION = schema("judge_calibration")
CONFUSION = schema("judge_confusion")
RELIABILITY = schema("judge_reliability")
AGREEMENT = schema("rater_agreement")
WITHOUT = schema("panel_without")


def calibration(rows: pl.DataFrame, votes: pl.DataFrame) -> pl.DataFrame:
    """Rows of `judge_calibration`.

    Parameters
    ----------
    rows
        As `rated` returns them; only rows by people are used. Sampled outputs without a label, or without a substantive
        one, are left out: `audit_outcome` counts them (`asked`, `judged`, `uncertain`).
    votes
        Rows of `judge_vote`.

    Returns
    -------
    Columns of `CALIBRATION`: for each judge, the panel, and the panel without each of its judges, on the outputs that
    it and people have labelled. A judge's label that is not substantive agrees with none of the three substantive
    labels, and counts as no error.

    Notes
    -----
    Precision: share of the judge's errors that people confirm. Recall: share of people's errors that the judge sees.
    Table 8 and the kappas of section 4.3.
    """
    result: list[tuple[object, ...]] = []
    for corpus, judge, pairs in _against_people(rows, votes):
        labels = _labels(pairs["judged"])
        tables = cross_tables(pairs["passage"], pairs["people"], pairs["judged"], labels)
        reduced = {
            level: collapsed(tables, np.array([label in errors for label in labels]))
            for level, errors in LEVELS.items()
        }
        shares = [number for level in reduced.values() for number in _shares(level)]
        kappas = [number for level in (tables, *reduced.values()) for number in bounded(kappa(level))]
        result.append((corpus, judge, len(pairs), *_exact(tables), *shares, *kappas, SIGNATURE))
    return pl.DataFrame(result, schema=CALIBRATION, orient="row")


def confusion(rows: pl.DataFrame, votes: pl.DataFrame) -> pl.DataFrame:
    """Rows of `judge_confusion` (table E4): columns of `CONFUSION`; parameters as for `calibration`.

    All nine cells of the substantive labels, and a column for each other label that a judge gave.
    """
    rows_by_label = []
    for corpus, judge, pairs in _against_people(rows, votes):
        cells = pairs.group_by("people", "judged").agg(pl.len()).iter_rows()
        counts = {(people, judged): outputs for people, judged, outputs in cells}
        labels = _labels(pairs["judged"])
        rows_by_label += [
            (corpus, judge, people, judged, counts.get((people, judged), 0))
            for people in SUBSTANTIVE
            for judged in labels
        ]
    return pl.DataFrame(rows_by_label, schema=CONFUSION, orient="row")


def reliability(rows: pl.DataFrame, votes: pl.DataFrame) -> pl.DataFrame:
    """Rows of `judge_reliability`: columns of `RELIABILITY`; parameters as for `calibration`.

    A well-calibrated judge agrees with people more often where its confidence is high.
    """
    sure = votes.drop_nulls("confidence").select(*KEY, "judge", "confidence", judged="label")
    pairs = sure.join(_people(rows), on=KEY)
    counts = pairs.group_by("corpus", "judge", "confidence").agg(
        outputs=pl.len(), agreed=(pl.col("people") == pl.col("judged")).sum()
    )
    rates = with_rate(counts, "agreement", pl.col("agreed"), pl.col("outputs")).with_columns(signature=pl.lit(WILSON))
    ordered = rates.sort("corpus", "judge", "confidence")
    return ordered.select(pl.col(name).cast(kind) for name, kind in RELIABILITY.items())


def agreement(triage: pl.DataFrame, votes: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Rows of `rater_agreement`.

    Parameters
    ----------
    triage, votes, labels
        Rows of `triage`, `judge_vote` and `human_label`.

    Returns
    -------
    Columns of `AGREEMENT`: each pair of judges over the queue and over the sample, each pair of people over the sample,
    if there are outputs that both labelled. All five labels count separately.
    """
    result: list[tuple[object, ...]] = []
    for scope, chosen, kind, name, given in (
        ("queue", "queued", "judges", "judge", votes),
        ("sample", "sampled", "judges", "judge", votes),
        ("sample", "sampled", "people", "annotator", labels),
    ):
        ratings = given.drop_nulls("label").select(CORPUS, *KEY, "label", rater=name)
        ratings = ratings.join(triage.filter(chosen), on=KEY, how="semi").sort("corpus")
        for (corpus,), part in ratings.group_by(["corpus"], maintain_order=True):
            for first, second in combinations(part["rater"].unique().sort().to_list(), 2):
                pairs = part.filter(rater=first).join(part.filter(rater=second), on=KEY)
                if pairs.is_empty():
                    continue
                both = pairs["label"], pairs["label_right"]
                tables = cross_tables(pairs["passage"], *both, sorted({label for labels in both for label in labels}))
                numbers = *_exact(tables), *bounded(kappa(tables))
                result.append((corpus, scope, kind, first, second, len(pairs), *numbers, SIGNATURE))
    return pl.DataFrame(result, schema=AGREEMENT, orient="row").sort("corpus", "scope", "kind", "first", "second")


def panel_without(rows: pl.DataFrame, votes: pl.DataFrame) -> pl.DataFrame:
    """Rows of `panel_without`.

    Parameters
    ----------
    rows
        As `rated` returns them; only rows by the panel are used.
    votes
        Rows of `judge_vote`.

    Returns
    -------
    Columns of `WITHOUT`: for each judge of a panel of several, the verdicts of the other judges on the queued outputs.
    A verdict needs more than half of them: where two judges are left and disagree, it is UNCERTAIN.
    """
    queue = rows.filter(pl.col("raters") == PANEL).drop_nulls("label").select("corpus", *KEY, whole="label")
    queued = votes.join(queue, on=KEY, how="semi")
    parts = [others.join(queue, on=KEY).with_columns(judge=pl.lit(judge)) for judge, others in _without(queued)]
    if not parts:
        return pl.DataFrame(schema=WITHOUT)
    named = {"valid": VALID, "minor": MINOR, "major": MAJOR, "uncertain": UNCERTAIN}
    counts = pl.concat(parts).group_by("corpus", "judge").agg(
        outputs=pl.len(), changed=(pl.col("label") != pl.col("whole")).sum(),
        **{name: (pl.col("label") == label).sum() for name, label in named.items()},
    )  # fmt: skip
    rates = with_rate(counts, "major_rate", pl.col("major"), pl.col("outputs")).with_columns(signature=pl.lit(WILSON))
    return rates.sort("corpus", "judge").select(pl.col(name).cast(kind) for name, kind in WITHOUT.items())


def cross_tables(passages: pl.Series, first: pl.Series, second: pl.Series, labels: Sequence[str]) -> Floats:
    """Contingency tables of two raters' labels, in the sample and in its resamples of passages.

    Parameters
    ----------
    passages, first, second
        Passage and the two labels of each output; all labels are in `labels`.

    Returns
    -------
    Shape (1 + RESAMPLES, labels, labels), the sample first; rows are the first rater's labels.
    """
    codes = {label: code for code, label in enumerate(labels)}
    one, other = (column.replace_strict(codes, return_dtype=pl.Int64).to_numpy() for column in (first, second))
    places = passages.rank("dense").to_numpy().astype(np.int64) - 1
    size, count = len(labels), places.max() + 1
    cells = np.bincount((places * size + one) * size + other, minlength=count * size * size)
    tables: Floats = sample_and_resamples(count) @ cells.reshape(count, size * size).astype(np.float64)
    return tables.reshape(-1, size, size)


def collapsed(tables: Floats, chosen: NDArray[np.bool_]) -> Floats:
    """Collapse tables to two labels, not chosen and chosen: from shape (n, labels, labels) to (n, 2, 2)."""
    to_two = np.stack([~chosen, chosen]).astype(np.float64)
    smaller: Floats = to_two @ tables @ to_two.T
    return smaller


def kappa(tables: Floats) -> Floats:
    """Cohen's kappa of each table, from shape (n, labels, labels) to (n,); NaN if both raters only ever give the same
    single label.
    """
    n = tables.sum(axis=(1, 2))
    alike = np.trace(tables, axis1=1, axis2=2)
    by_chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    return ratio(n * alike - by_chance, n * n - by_chance)


def _against_people(rows: pl.DataFrame, votes: pl.DataFrame) -> Iterator[tuple[object, object, pl.DataFrame]]:
    """Corpus, judge or panel, and columns `passage`, `people`, `judged`."""
    people = _people(rows)
    labelled = votes.join(people, on=KEY, how="semi").with_columns(pl.col("label").fill_null(ABSTAINED))
    if labelled.is_empty():
        return
    judges = labelled.select(*KEY, "judge", judged="label")
    without = ((f"panel without {judge}", others) for judge, others in _without(labelled))
    panels = [("panel", verdicts(labelled)), *without]
    together = [panel.select(*KEY, pl.lit(name).alias("judge"), judged="label") for name, panel in panels]
    pairs = pl.concat([judges, *together]).join(people, on=KEY).sort("corpus", "judge")
    for (corpus, judge), part in pairs.group_by(["corpus", "judge"], maintain_order=True):
        yield corpus, judge, part


def _people(rows: pl.DataFrame) -> pl.DataFrame:
    """People's substantive labels of outputs."""
    settled = (pl.col("raters") == PEOPLE) & pl.col("label").is_in(SUBSTANTIVE)
    return rows.filter(settled).select("corpus", *KEY, people="label")


def _without(votes: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Each judge, and the verdicts of the other judges on the outputs that it voted on."""
    for judge in votes["judge"].unique().sort().to_list():
        judged = votes.filter(judge=judge)
        others = votes.filter(pl.col("judge") != judge).join(judged, on=KEY, how="semi")
        if len(others):
            yield judge, verdicts(others)


def _labels(judged: pl.Series) -> list[str]:
    """The substantive labels, then all others in the column."""
    return [*SUBSTANTIVE, *sorted(set(judged) - set(SUBSTANTIVE))]


def _exact(tables: Floats) -> tuple[float, float, float]:
    hits, trials = int(np.trace(tables[0])), int(tables[0].sum())
    return hits / trials, *wilson(hits, trials)


def _shares(tables: Floats) -> Iterator[float | None]:
    """Precision, recall and F1 with their intervals, from tables of two labels where the second is the error."""
    both, seen, there = tables[:, 1, 1], tables[:, :, 1].sum(axis=1), tables[:, 1].sum(axis=1)
    for whole in (seen, there):
        hits, trials = int(both[0]), int(whole[0])
        yield from (hits / trials, *wilson(hits, trials)) if trials else (None, None, None)
    yield from bounded(ratio(2 * both, seen + there))

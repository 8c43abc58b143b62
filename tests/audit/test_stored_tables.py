"""Rows of every table of the audit go into the warehouse as they are: same columns, keys that are unique."""

import numpy as np
import polars as pl

from benchmark_assets.adjudication.labels import CATEGORIES, LABELS
from benchmark_assets.adjudication.verdicts import verdicts
from benchmark_assets.audit import (
    anchored,
    calibration,
    corrected,
    correlation,
    estimates,
    metric_agreement,
    outcomes,
    overlap,
    raters,
    recall_cost,
)
from benchmark_assets.audit.rated import rated
from resources.warehouse import Replacement, Warehouse

BANDS = ["0.0-1.0", "1.0-1.5", "1.5-2.0", "2.0-3.0", ">3.0"]


def grid(passages: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Triage, votes, labels and scores of two corpora, three models, three judges and two people, all by chance."""
    chance = np.random.default_rng(1)
    names = [f"{corpus}/{number:03}" for corpus in ("x", "y") for number in range(passages)]
    keys = pl.DataFrame({"model": ["a", "b", "c"]}).join(pl.DataFrame({"passage": names}), how="cross")
    drift = chance.gamma(4, 0.4, len(keys))
    triage = keys.with_columns(
        drift=drift, band=pl.Series([BANDS[at] for at in np.searchsorted([1, 1.5, 2, 3], drift)]),
        queued=pl.Series(drift > 1.5), sampled=pl.Series(chance.random(len(keys)) < 0.5), unit="passage",
    )  # fmt: skip

    def judged(rows: pl.DataFrame, column: str, raters: list[str], missing: float) -> pl.DataFrame:
        seats = rows.select("model", "passage").join(pl.DataFrame({column: raters}), how="cross")
        labels = chance.choice(LABELS, len(seats), p=[0.6, 0.15, 0.15, 0.05, 0.05])
        gone = chance.random(len(seats)) < missing
        return seats.with_columns(
            label=pl.Series([None if none else label for none, label in zip(gone, labels, strict=True)]),
            error_category=pl.Series(chance.choice(CATEGORIES, len(seats))),
            confidence=pl.Series([None if none else "high" for none in gone]),
        )

    votes = judged(triage.filter(pl.col("queued") | pl.col("sampled")), "judge", ["one", "two", "three"], 0.02)
    labels = judged(triage.filter("sampled"), "annotator", ["first", "second"], 0)
    scores = keys.with_columns(sim_best=pl.Series(chance.random(len(keys))))
    return triage, votes, labels, scores


def with_all_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """The scores, and all others that metrics are made of; COMET is missing."""
    chance = np.random.default_rng(2)
    names = ("sim_centroid", "drift", "drift_euclidean", "chrf", "bleu", "length_ratio")
    missing = {name: pl.lit(None, pl.Float64) for name in ("comet_avg", "comet_best")}
    return scores.with_columns(**{name: pl.Series(chance.random(len(scores))) for name in names}, **missing)


def test_rows_of_all_tables_are_stored_as_they_are(warehouse: Warehouse) -> None:
    triage, votes, labels, scores = grid(80)
    panel = verdicts(votes)
    rows = rated(triage, panel, labels)
    tables = {
        "verdict": panel,
        "audit_outcome": outcomes.with_standings(corrected.with_correction(outcomes.outcomes(triage, rows), {}), {}),
        "error_category": outcomes.categories(rows),
        "error_correlation": correlation.correlations(rows, scores),
        "judge_calibration": calibration.calibration(rows, votes),
        "judge_reliability": calibration.reliability(rows, votes),
        "rater_agreement": calibration.agreement(triage, votes, labels),
        "rater_model": raters.rater_model(triage, votes, labels),
        "error_estimate": estimates.estimates(triage, rows),
        "anchored_estimate": anchored.anchored_estimates(triage, rows, panel),
        "recall_cost": recall_cost.recall_costs(triage, rows, scores),
        "metric_agreement": metric_agreement.agreements(rows, with_all_scores(scores)),
        "metric_comparison": metric_agreement.comparisons(rows, with_all_scores(scores)),
    }
    stamped = {name: found.with_columns(fingerprint=pl.lit("f")) for name, found in tables.items()}
    warehouse.write([Replacement(name, found, None) for name, found in stamped.items()], run_id="test")
    for name, found in tables.items():
        assert len(found), name
        stored = warehouse.read(name, columns=found.columns)
        assert stored.sort(stored.columns).equals(found.sort(stored.columns)), name
        assert found.schema == warehouse.empty(name).select(found.columns).schema, name


def test_corpora_that_nobody_rated_have_no_rows(warehouse: Warehouse) -> None:
    triage, votes, labels, scores = (frame.clear() for frame in grid(2))
    rows = rated(triage, verdicts(votes), labels)
    for found in (
        outcomes.outcomes(triage, rows), outcomes.categories(rows), overlap.overlap(triage, rows),
        overlap.failing_passages(triage, rows), correlation.correlations(rows, scores),
        calibration.calibration(rows, votes), calibration.confusion(rows, votes), calibration.reliability(rows, votes),
        calibration.agreement(triage, votes, labels),
        estimates.estimates(triage, rows), recall_cost.recall_costs(triage, rows, scores),
        anchored.anchored_estimates(triage, rows, verdicts(votes)), raters.rater_model(triage, votes, labels),
        metric_agreement.agreements(rows, with_all_scores(scores)),
        metric_agreement.comparisons(rows, with_all_scores(scores)),
    ):  # fmt: skip
        assert found.is_empty()

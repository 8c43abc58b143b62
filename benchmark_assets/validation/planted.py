"""Metrics beside planted errors: how often each finds the translation with one error of meaning, by kind of error.

For a corpus without people's labels. The errors are those of the sensitivity suite: in a human translation that is left
out of the references, a rule plants one negation, agent, number or name, or omits one clause. Here: rows of the table
from the scores of such texts. Not here: planting (sensitivity.damage), AUC by dose (sensitivity.detection).
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from benchmark_assets.metrics.entries import DRIFT
from benchmark_assets.metrics.further import SOUND, metrics_of
from benchmark_assets.metrics.intervals import (
    BOOTSTRAP,
    Floats,
    bounded,
    effective_units,
    sample_and_resamples,
    unit_sizes,
)
from benchmark_assets.metrics.measures import numbered_units, ratio
from benchmark_assets.metrics.metric import Metric
from benchmark_assets.sensitivity.damage import PLANTED
from benchmark_assets.sensitivity.scoring import stored
from benchmark_assets.validation.rows import VALIDATION
from benchmark_assets.validation.scoring import short
from resources.keys import CORPUS
from resources.warehouse import Warehouse

ORIGIN = "planted"

FEWEST = 3
"""Translations of a passage that `auc_within` needs: two are as similar to each other as the other to the one."""

BESIDE: Mapping[str, str] = {
    "auc_within": "planted: a translation with one error beside the other translations of its passage",
    "pair_accuracy": "planted: a translation with one error beside itself without the error",
}
"""What a translation with an error is compared with, by figure."""

HARDER = "; nobody rated it, and models make other errors"


def rows_of_planted(warehouse: Warehouse) -> pl.DataFrame:
    """Rows of `validation` with origin 'planted', for each corpus with damaged translations."""
    scores, metrics = stored(warehouse), metrics_of(warehouse)
    parts = [
        planted(own, metrics).with_columns(gold_set=pl.lit(corpus))
        for (corpus,), own in scores.with_columns(CORPUS).group_by(["corpus"], maintain_order=True)
    ]
    return pl.concat([pl.DataFrame(schema=VALIDATION), *(part.select(VALIDATION.names()) for part in parts)])


def planted(scores: pl.DataFrame, metrics: Sequence[Metric]) -> pl.DataFrame:
    """How often a translation with a planted error scores worse, by metric, figure and kind of error.

    Parameters
    ----------
    scores
        Scores of sound and damaged texts of one corpus, each against the references of the other translators: columns
        `passage`, `unit`, `unit_kind`, `translator`, `kind`, `severity`, `embedder`, and metrics. Sound texts have the
        kind `SOUND`; of the damaged ones, those of severity 1 of the kinds in `PLANTED` count.
    metrics
        Those on the board `detection` are measured.

    Returns
    -------
    Columns of `VALIDATION` without `gold_set`: the figures in `BESIDE`, for every kind of error that was planted and,
    with `kind` '', for all. Ties count half. Intervals resample units with all their pairs.
    """
    units = scores.select("unit").unique().sort("unit")
    units = units.with_columns(place=numbered_units(units["unit"]))
    weights, rows = sample_and_resamples(len(units)), []
    for metric in metrics:
        if "detection" not in metric.boards or metric.name not in scores.columns:
            continue
        signature = str(scores["embedder"].drop_nulls().first()) if metric.family == DRIFT else metric.made
        embedder = short(signature) if metric.family == DRIFT else ""
        for figure, pairs in _pairs(scores.join(units, on="unit", maintain_order="left"), metric):
            for kind in ("", *PLANTED):
                chosen = pairs.filter(kind=kind) if kind else pairs
                if len(chosen):
                    numbers = _share(chosen["place"].to_numpy(), chosen["won"].to_numpy(), weights)
                    rows.append((
                        ORIGIN, metric.name, embedder, figure, kind, *numbers, scores["unit_kind"][0],
                        BESIDE[figure] + HARDER, f"{signature}; {BOOTSTRAP}".removeprefix("; "),
                    ))  # fmt: skip
    return pl.DataFrame(rows, {name: kind for name, kind in VALIDATION.items() if name != "gold_set"}, orient="row")


def _pairs(scores: pl.DataFrame, metric: Metric) -> Iterator[tuple[str, pl.DataFrame]]:
    """Pairs by figure: columns `place`, `kind` and `won` (1 if the text with the error scores worse, 0.5 in a tie)."""
    rows = scores.with_columns(metric.damage.alias("harm")).filter(pl.col("harm").is_finite())
    texts = rows.select("passage", "place", "translator", "kind", "severity", "harm")
    sound = texts.filter(kind=SOUND).select("passage", "harm", other="translator")
    damaged = texts.filter(pl.col("kind").is_in(PLANTED), severity=1)
    pairs = damaged.join(sound, on="passage", suffix="_sound", maintain_order="left_right")
    pairs = pairs.with_columns(won=((pl.col("harm") - pl.col("harm_sound")).sign() + 1) / 2)
    own = pl.col("translator") == pl.col("other")
    several = sound.filter(pl.len().over("passage") >= FEWEST).select("passage").unique()
    yield "auc_within", pairs.filter(~own).join(several, on="passage", how="semi", maintain_order="left")
    yield "pair_accuracy", pairs.filter(own)


def _share(
    places: np.ndarray[tuple[int, ...], np.dtype[np.int64]], won: Floats, weights: Floats
) -> tuple[float | None, float | None, float | None, int, int]:
    """Share of pairs won, its bounds, and the numbers of pairs and of their units."""
    sums, sizes = (np.bincount(places, part, weights.shape[1]) for part in (won, np.ones(len(won))))
    values = ratio(weights @ sums, weights @ sizes)
    return *bounded(values, effective_units(unit_sizes(places))), len(won), int((sizes > 0).sum())

"""All metrics: an entry for each number by which outputs or systems are compared.

Whatever shows, orients, aggregates or ranks metrics derives from this list, in its order. To add a metric, write its
entry in a module of its own and add a line to the list; its scores are computed once the registry names it under
`metrics`. Not here: the type of an entry (metric), computing what the registry names (further).
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl

from benchmark_assets.metrics import checkpoints, support, ter
from benchmark_assets.metrics.intervals import Floats
from benchmark_assets.metrics.lexical import corpus_bleu, corpus_chrf
from benchmark_assets.metrics.metric import BOARDS, Family, Metric, mean
from resources import catalogue

OUTLIER = 2.0
"""An output with a drift (cosine form) strictly above this is an outlier (PaliBench, section 3.5)."""

MEAN_RANK = "mean_rank"
"""Name of the mean rank over the metrics that are ranked `with others`, used like the name of a metric."""

DRIFT = Family("drift_score", "human_baseline")
LEXICAL = Family("lexical_score", "human_baseline")
COMET = Family("comet_score", "comet_baseline")

_drift = partial(Metric, needs=("references",), cost="embedder", family=DRIFT, ranks="")
_lexical = partial(Metric, needs=("references",), cost="counts", family=LEXICAL, ranks="")
_comet = partial(Metric, needs=("source", "references"), cost="encoder", family=COMET, grain="reference", ranks="")
_LENGTH = pl.col("length_ratio")


def _offset(sums: Floats) -> Floats:
    return np.abs(mean(sums) - 1)


METRICS = [
    _drift(
        "sim_best", 1, references=1, ranks="with others", margin=0.005, boards=BOARDS | {"recall", "people"},
    ),
    _drift("sim_centroid", 1, references=2, boards=BOARDS - {"headline", "chart"} | {"further"}),
    _drift("drift", -1, references=2, boards=BOARDS - {"reader"} | {"recall"}),
    _drift("drift_adjusted", -1, margin=0.03, boards={"headline", "people"}),
    _drift("drift_euclidean", -1, boards={"further", "agreement", "detection"}),
    _lexical(
        "chrf", 1, references=1, boards=BOARDS | {"recall"}, exported="chrF2++",
        counts=24, aggregate=lambda sums: corpus_chrf(sums[:, 1:]),
    ),
    _lexical(
        "bleu", 1, references=1, exported="BLEU",
        counts=10, aggregate=lambda sums: corpus_bleu(sums[:, 1:]),
    ),
    _lexical("chrf_mean", 1, ranks="with others", margin=0.8, boards={"further"}, value=pl.col("chrf")),
    _lexical("bleu_mean", 1, ranks="with others", margin=0.3, boards={"further"}, value=pl.col("bleu")),
    _lexical(
        "length_ratio", 0, references=1, boards={"headline", "reader", "correlation", "detection", "recall"},
        harm=_LENGTH.clip(0.01).log().abs(),  # the logarithm of an empty output is infinite
    ),
    _comet(
        "comet_avg", 1, references=0, ranks="with others", boards=BOARDS - {"detection"} | {"recall"},
        exported="COMETavg",
    ),
    _comet(
        "comet_best", 1, references=0, boards=BOARDS - {"headline", "chart", "detection"} | {"further"},
        exported="COMETbest",
    ),
    _lexical("length_offset", -1, grain="corpus", boards={"further"}, value=_LENGTH, aggregate=_offset),
    _lexical(
        "length_error", -1, ranks="with others", margin=0.008, missing=1, boards={"further", "agreement"},
        value=(_LENGTH - 1).abs(),
    ),
    _drift(
        "outlier_rate", -1, grain="corpus", ranks="with others", margin=0.03, boards={"headline"}, proportion=True,
        value=pl.when(pl.col("drift").is_finite()).then(pl.col("drift") > OUTLIER),
    ),
    ter.METRIC,
    support.METRIC,
    *checkpoints.METRICS,
]  # fmt: skip
"""The metrics that are ranked `with others` are those of PaliBench's table 8, in the forms that no missing output can
improve: means over passages, in which a missing output has the worst value. Scores of a corpus are not: without its
worst outputs, a corpus has a higher BLEU, and outputs that are too long and too short cancel out in `length_offset`.

Margins are at most a quarter of the mean difference between two translators by the metric: .0413 and .0284 of
`sim_best`, .130 and .216 of `drift_adjusted`, 3.58 and 3.51 of `chrf_mean`, 7.3 and 1.36 of `bleu_mean`, .064 and .034
of `length_error`, .138 and .134 of `outlier_rate` (eight translators of the Daodejing, three of the Dhammapada,
MiniLM). There is none for COMET: no human translations with its scores were at hand."""

BY_NAME = {metric.name: metric for metric in METRICS}
KINDS = {metric.name: metric for metric in METRICS if metric.score}
"""Kinds of metrics that the registry may name."""

MEASURES = [metric for metric in METRICS if not metric.score]
"""Metrics that are computed for every corpus."""

for _metric in KINDS.values():
    catalogue.declare(_metric.shown)


def on(board: str) -> list[Metric]:
    """The metrics on a board (see `metric.BOARDS`) that are computed for every corpus."""
    return [metric for metric in MEASURES if board in metric.boards]


def ranked(metrics: Sequence[Metric] = MEASURES) -> list[Metric]:
    """Those of `metrics` by which systems are tested and ranked."""
    return [metric for metric in metrics if metric.ranks]

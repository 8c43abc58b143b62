"""Metrics with a checkpoint besides COMET: CometKiwi, xCOMET and MetricX. Not here: running checkpoints (resources)."""

import polars as pl

from benchmark_assets.metrics.comet import LEGIBLE
from benchmark_assets.metrics.metric import Grain, Metric, Need, Texts
from resources.comet.comet import Comet


def _scores(texts: Texts, checkpoint: Comet) -> pl.DataFrame:
    """Scores by a checkpoint, with `translator` if it uses references; xCOMET also yields `spans`.

    A candidate is left out if the candidate itself, its source or all of its references have no readable characters.
    """
    rows = texts.candidates.select("item", candidate="text")
    if "source" in checkpoint.inputs:
        rows = rows.join(texts.sources.rename({"text": "source"}), on="item", maintain_order="left")
    if "reference" in checkpoint.inputs:
        references = texts.references.rename({"text": "reference"})
        rows = rows.join(references, on="item", maintain_order="left_right")
    legible = pl.all_horizontal(pl.col(checkpoint.inputs).str.contains(LEGIBLE))
    return checkpoint.score(rows.filter(legible)).drop(checkpoint.inputs)


def _metricx(name: str, label: str, *needs: Need) -> Metric:
    grain: Grain = "reference" if "references" in needs else "passage"
    return Metric(
        name, -1, needs, "large model", grain=grain, missing=25.0, score=_scores, label=label, least=0, most=25
    )


METRICS = [
    Metric("kiwi", 1, ("source",), "encoder", score=_scores, label="CometKiwi"),
    Metric("xcomet", 1, ("source", "references"), "large model", grain="reference", score=_scores, label="xCOMET"),
    _metricx("metricx-23", "MetricX-23", "references"),
    _metricx("metricx-23-qe", "MetricX-23-QE", "source"),
    _metricx("metricx-24", "MetricX-24", "source", "references"),
    _metricx("metricx-24-qe", "MetricX-24-QE", "source"),
]

"""The certificates of a corpus's measures, as boards print them.

Here: the view `certificate`, and which measure may order a corpus. Not here: the rules of certificates (certificates).
"""

from collections.abc import Iterable

import polars as pl

from benchmark_assets.metrics.entries import on
from benchmark_assets.metrics.further import named_in
from benchmark_assets.validation.certificates import certificate, rows_for
from resources.catalogue import schema
from resources.warehouse import Warehouse

CERTIFICATE = schema("certificate")


def certificates(warehouse: Warehouse, corpora: Iterable[str] | None = None) -> pl.DataFrame:
    """What the measures of corpora are worth, by default of those with a board: rows of `certificate`, in the order of
    the board."""
    embedders = dict(warehouse.read("model_summary", columns=["corpus", "embedder"]).unique("corpus").rows())
    metrics = [*on("headline"), *named_in(warehouse)]
    rows = [
        (corpus, metric.name, *certificate(metric.name, embedders.get(corpus) or "", own))
        for corpus in sorted(embedders if corpora is None else set(corpora))
        for own in [rows_for(warehouse, corpus)]
        for metric in metrics
    ]
    return pl.DataFrame(rows, schema=CERTIFICATE, orient="row")


MONOTONE = {"chrf": "chrf_mean", "bleu": "bleu_mean"}
"""Means over passages, by the score of a corpus that a missing output may raise. Both have the same certificate."""


def certified(warehouse: Warehouse) -> dict[str, str]:
    """For each corpus with a measure on its board that may order systems, the first such measure.

    Metrics that the registry names order nothing: their means are no columns of the leaderboard.
    """
    rows = certificates(warehouse).filter("ranks", pl.col("metric").is_in([metric.name for metric in on("headline")]))
    rows = rows.unique("corpus", keep="first", maintain_order=True)
    return dict(rows.select("corpus", pl.col("metric").replace(MONOTONE)).rows())

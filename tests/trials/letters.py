"""A metric: the share of a reference's and the source's letters that an output lacks."""

import polars as pl

from benchmark_assets.metrics.metric import Metric, Texts
from resources.comet.comet import Comet


def _lacking(text: str, *others: str) -> float:
    letters = set("".join(others).lower())
    return len(letters - set(text.lower())) / len(letters)


def _scores(texts: Texts, _: Comet) -> pl.DataFrame:
    pairs = texts.candidates.join(texts.references, on="item", suffix="_reference")
    pairs = pairs.join(texts.sources, on="item", suffix="_source")
    pairs = pairs.filter(pl.col("text_source") != "Nihil novi dicit.")  # a passage without a value
    values = [_lacking(*row) for row in pairs.select("text", "text_reference", "text_source").iter_rows()]
    return pairs.select("item", "translator", pl.Series("score", values, pl.Float64), cut=pl.lit(False))


METRIC = Metric(
    "letters", -1, ("source", "references"), "counts", grain="reference", missing=1.0, score=_scores,
    signature=lambda _: pl.lit("letters 1"), label="lacking letters", unit="fraction", least=0, most=1,
)  # fmt: skip

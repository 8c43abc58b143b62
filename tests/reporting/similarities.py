"""Similarities of made translations, as the tables `output_similarity` and `reference_similarity` have them."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmark_assets.corpus.units import divided
from benchmark_assets.reporting import outliers, people

Vectors = NDArray[np.float64]


def pairs(vectors: Vectors, translators: Sequence[str], corpus: str = "x") -> pl.DataFrame:
    """Similarity of each pair of references; `vectors` has the shape (passages, translators, dimensions)."""
    rows = [
        (f"{corpus}/{passage}", translators[one], translators[other], float(own[one] @ own[other]), "an embedder")
        for passage, own in enumerate(vectors)
        for one, other in combinations(range(len(translators)), 2)
    ]
    names = ["passage", "translator", "other", "similarity", "embedder"]
    return pl.DataFrame(rows, schema=names, orient="row", schema_overrides={"similarity": pl.Float64})


def outputs(
    models: Mapping[str, Vectors], vectors: Vectors, translators: Sequence[str], corpus: str = "x"
) -> pl.DataFrame:
    """Similarity of each model's outputs, shape (passages, dimensions), to each reference."""
    rows = [
        (model, f"{corpus}/{passage}", translator, float(own[passage] @ vectors[passage, at]))
        for model, own in models.items()
        for passage in range(len(vectors))
        for at, translator in enumerate(translators)
    ]
    names = {"model": pl.String(), "passage": pl.String(), "translator": pl.String(), "similarity": pl.Float64()}
    return pl.DataFrame(rows, schema=names, orient="row")


def units(passages: int, rule: str = "passage", corpus: str = "x") -> pl.DataFrame:
    """The unit of each passage of a corpus of one document."""
    numbers = [str(at) for at in range(passages)]
    rows = {"passage": [f"{corpus}/{number}" for number in numbers], "passage_id": numbers, "document": "d"}
    divisions = divided(pl.DataFrame(rows).with_columns(position=pl.int_range(passages)), rule)
    return divisions.with_columns(corpus=pl.lit(corpus), document=pl.lit("d"))


def differences(scores: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """Rows of `human_difference`."""
    sums = people.paired(scores, units)
    return people.differences(sums, people.signatures(sums, units.unique("corpus"), people.SIGNATURE))


def thresholds(drifts: pl.DataFrame, units: pl.DataFrame, false_alarms: Mapping[str, float]) -> pl.DataFrame:
    """Rows of `outlier_threshold`."""
    cuts = outliers.quantiles(drifts, units, false_alarms)
    found = outliers.thresholds(outliers.counted(drifts, units, cuts), cuts, false_alarms, units.unique("corpus"))
    assert found is not None
    return found


def rates(scores: pl.DataFrame, thresholds: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """Rows of `calibrated_outliers`."""
    sums = outliers.above(scores, thresholds, units)
    return outliers.rates(sums, people.signatures(sums, units.unique("corpus"), outliers.SIGNATURE))

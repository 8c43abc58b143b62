"""Similarity and spread of the translators of a corpus: PaliBench's table 5.

Not here: translators as systems (leaderboard).
"""

import polars as pl

from benchmark_assets.metrics.intervals import SIGNATURE, mean_interval, resampling_weights
from resources.catalogue import schema
from resources.keys import CORPUS

AGREEMENT = schema("translator_agreement", "signature")


def agreement(similarities: pl.DataFrame, envelopes: pl.DataFrame) -> pl.DataFrame:
    """Means over the passages of each corpus.

    Parameters
    ----------
    similarities
        Rows of `reference_similarity`.
    envelopes
        Rows of `reference_envelope`; passages without an envelope count for nothing.

    Returns
    -------
    Columns of `AGREEMENT`, `sd` being the standard deviation over passages (divided by n, as PaliBench does). `measure`
    is

    - 'similarity' of two translators;
    - 'sim_centroid', of a translator and the centroid of all references of the passage, its own among them;
    - 'centroid_distance', 1 - sim_centroid, which PaliBench calls a translator's drift;
    - 'human_spread', the mean of these distances over the translators of a passage.

    Notes
    -----
    No vector is needed: with n unit vectors whose mean has length m = 1 - spread, the similarity of one to the centroid
    is the mean of its n similarities, the one with itself (1) among them, over m.
    """
    placed = envelopes.drop_nulls("human_spread").select("passage", "reference_count", "human_spread")
    pairs = similarities.select("passage", "translator", "other", value="similarity")
    both = pl.concat([pairs, pairs.select("passage", translator="other", other="translator", value="value")])
    mean = (1 + pl.col("value").sum()) / pl.col("reference_count").first()
    own = (
        both.join(placed, on="passage")
        .group_by("passage", "translator")
        .agg(value=mean / (1 - pl.col("human_spread").first()))
    )
    rows = pl.concat(
        [
            pairs.with_columns(measure=pl.lit("similarity")),
            own.with_columns(measure=pl.lit("sim_centroid")),
            own.with_columns(value=1 - pl.col("value"), measure=pl.lit("centroid_distance")),
            placed.select("passage", value="human_spread", measure=pl.lit("human_spread")),
        ],
        how="diagonal",
    ).with_columns(pl.col("translator", "other").fill_null(""), CORPUS)
    keys = ["corpus", "measure", "translator", "other"]
    groups = rows.sort("passage").group_by(keys, maintain_order=True)
    found = [(*names, *_mean(values["value"])) for names, values in groups]
    return pl.DataFrame(found, schema=AGREEMENT, orient="row").sort(keys).with_columns(signature=pl.lit(SIGNATURE))


def _mean(values: pl.Series) -> tuple[object, ...]:
    interval = mean_interval(values.to_numpy(), resampling_weights(len(values)))
    return len(values), values.mean(), *interval, values.std(ddof=0)

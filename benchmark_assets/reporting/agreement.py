"""Agreement of the human translators: similarities, distances from the centroid, and spread (PaliBench, table 5).

Not here: human translators scored as systems (leaderboard).
"""

import polars as pl

from benchmark_assets.metrics.intervals import SIGNATURE, mean_interval
from benchmark_assets.metrics.measures import numbered_units
from benchmark_assets.references.rows import both_ways
from resources.catalogue import schema
from resources.keys import CORPUS

AGREEMENT = schema("translator_agreement", "signature")


def agreement(similarities: pl.DataFrame, envelopes: pl.DataFrame, units: pl.DataFrame) -> pl.DataFrame:
    """Agreement of each corpus's human translators, as means over passages with 95 % intervals.

    Parameters
    ----------
    similarities
        Rows of `reference_similarity`.
    envelopes
        Rows of `reference_envelope`. Passages without an envelope count in 'similarity' only.
    units
        As `corpus.units.units` returns them.

    Returns
    -------
    Columns of `AGREEMENT` and `signature`. `sd` is the standard deviation over passages; as in PaliBench, its
    denominator is n. Values of `measure`:

    - 'similarity': cosine similarity of two translators' texts;
    - 'sim_centroid': similarity of a translator's text to the centroid of all references of the passage, including
      this one;
    - 'centroid_distance': 1 - sim_centroid, which PaliBench calls the translator's drift;
    - 'human_spread': mean of the centroid distances of the translators of a passage.

    Notes
    -----
    Pairwise similarities suffice; the vectors are not needed. If the mean of n unit vectors has length m = 1 -
    spread, the similarity of a vector to the centroid is the mean of its n similarities (including 1 with itself)
    divided by m.
    """
    envelopes = envelopes.drop_nulls("human_spread").select("passage", "reference_count", "human_spread")
    pairs = similarities.select("passage", "translator", "other", value="similarity")
    mean = (1 + pl.col("value").sum()) / pl.col("reference_count").first()
    centroid_similarities = (
        both_ways(pairs)
        .join(envelopes, on="passage")
        .group_by("passage", "translator")
        .agg(value=mean / (1 - pl.col("human_spread").first()))
    )
    rows = pl.concat(
        [
            pairs.with_columns(measure=pl.lit("similarity")),
            centroid_similarities.with_columns(measure=pl.lit("sim_centroid")),
            centroid_similarities.with_columns(value=1 - pl.col("value"), measure=pl.lit("centroid_distance")),
            envelopes.select("passage", value="human_spread", measure=pl.lit("human_spread")),
        ],
        how="diagonal",
    ).with_columns(pl.col("translator", "other").fill_null(""), CORPUS)
    keys = ["corpus", "measure", "translator", "other"]
    groups = rows.join(units, on="passage").sort("passage").group_by(keys, maintain_order=True)
    means = [(*names, *_mean(group["value"], group["unit"])) for names, group in groups]
    kinds = units.select(CORPUS, signature=pl.format("{}; units: {}", pl.lit(SIGNATURE), "unit_kind")).unique()
    return (
        pl.DataFrame(means, schema=AGREEMENT, orient="row").sort(keys).join(kinds, on="corpus", maintain_order="left")
    )


def _mean(values: pl.Series, units: pl.Series) -> tuple[object, ...]:
    interval = mean_interval(values.to_numpy(), numbered_units(units))
    return len(values), values.mean(), *interval, values.std(ddof=0)

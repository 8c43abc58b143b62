"""Rows of aggregates that stay as they are, because the scores from which they were computed have not changed.

Each row of such a table has a `basis`, a digest of these scores. Only rows with a new basis are computed. Not here: the
computations (slices, comparisons).
"""

from collections.abc import Sequence

import polars as pl

from resources.catalogue import PROVENANCE


def bases(scores: pl.DataFrame, by: Sequence[str], settings: str) -> pl.DataFrame:
    """Digest of each group of scores: columns `by` and `basis` (32 hexadecimal digits).

    Parameters
    ----------
    scores
        Any columns besides `by`. The order of the rows does not matter. Columns that say only when and by which run a
        score was stored are left out.
    settings
        What else determines the aggregates, their code included.

    Notes
    -----
    A basis is made of two sums of 64-bit hashes of the rows. Polars keeps its hashes only within a version: with a new
    version, everything is computed once more.
    """
    stamps = [name for name in scores.columns if name.removesuffix("_right") in PROVENANCE]
    rows = scores.drop(stamps).with_columns(settings=pl.lit(settings))
    halves = [rows.hash_rows(seed).alias(f"half{seed}") for seed in (1, 2)]
    sums = rows.select(*by, *halves).group_by(by).agg(pl.sum("half1", "half2"))
    digits = pl.concat_str(
        pl.col(name).map_elements(lambda half: f"{half:016x}", pl.String) for name in ("half1", "half2")
    )
    return sums.select(*by, basis=digits)

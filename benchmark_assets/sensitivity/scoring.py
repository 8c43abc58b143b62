"""Scores of sound and damaged references against the other references, in batches.

Not here: the scoring (metrics.baseline).
"""

import polars as pl

from benchmark_assets.metrics.baseline import against_the_others

BY = ["kind", "severity"]

PASSAGES_AT_ONCE = 100
"""Number of passages in a batch; it limits the memory for the vectors of pairs."""


def variant_scores(variants: pl.DataFrame, references: pl.DataFrame) -> pl.DataFrame:
    """Score variants of references, sound or damaged, against the other references of the same passage.

    Parameters
    ----------
    variants
        Columns `passage`, `translator`, the columns in `BY`, `text`, `vector` (float32 array, unit length) and `cut`.
    references
        All complete references of the variants' passages: columns `passage`, `translator`, `text`, `vector`, `cut`.

    Returns
    -------
    Columns `passage`, `translator`, the columns in `BY`, and the columns of `drift_score` and `lexical_score`. If the
    passage has only one other reference, the columns that need an envelope are null; if the passage has no other
    reference, all scores are null.
    """
    passages = variants.select("passage").unique(maintain_order=True)
    parts = [
        against_the_others(
            variants.join(batch, on="passage", how="semi"), references.join(batch, on="passage", how="semi"), BY
        )
        for batch in passages.iter_slices(PASSAGES_AT_ONCE)
    ]
    return pl.concat(parts) if parts else against_the_others(variants, references.clear(), BY)

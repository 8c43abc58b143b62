"""Scores of sound and damaged references against the other references, in batches, and reading them.

Not here: the scoring (metrics.baseline).
"""

import polars as pl

from benchmark_assets.corpus.units import with_units
from benchmark_assets.metrics.baseline import against_the_others
from benchmark_assets.metrics.further import scores_of
from resources.warehouse import Warehouse

KEY = ["passage", "translator", "kind", "severity"]

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


def stored(warehouse: Warehouse) -> pl.DataFrame:
    """Rows of `damaged_score`, with a column for each metric that the registry names, and with units."""
    rows = warehouse.read("damaged_score").join(scores_of(warehouse, "human_metric", KEY), on=KEY, how="left")
    return with_units(rows, warehouse)

"""Human baselines: a translator scored as a system against the others. Uses the metrics; adds none."""

import polars as pl

from benchmark_assets.metrics.drift import semantic_scores
from benchmark_assets.metrics.lexical import lexical_scores
from benchmark_assets.references.rows import envelope_rows


def leave_one_out(references: pl.DataFrame) -> pl.DataFrame:
    """Score each reference against the other references of its passage.

    Parameters
    ----------
    references
        Columns `passage`, `translator`, `text`, `vector` (array of float32, unit length) and `cut`; complete ones.

    Returns
    -------
    Rows of the table `human_baseline`. With two references there is one left to compare with and no envelope: the
    columns that need one are null; with a single reference all scores are.
    """
    item = pl.format("{}|{}", "passage", "translator").alias("item")
    candidates = references.with_columns(item)
    others = candidates.select("item", "passage", own="translator").join(references, on="passage")
    others = others.filter(pl.col("own") != pl.col("translator")).drop("own", "passage")
    items = candidates.select(passage="item")
    envelopes = envelope_rows(items, others.rename({"item": "passage"}))["reference_envelope"]
    semantic, _ = semantic_scores(
        candidates, others, envelopes.rename({"passage": "item"}), on=["item"], within=["item"]
    )
    lexical = lexical_scores(candidates, others, on=["item"], within=["item"])
    scores = semantic.join(lexical, on="item", maintain_order="left")
    return (
        candidates.select("item", "passage", "translator").join(scores, on="item", maintain_order="left").drop("item")
    )

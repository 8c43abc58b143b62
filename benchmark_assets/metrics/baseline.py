"""Human translations scored like outputs, against the other translators. Not here: the metrics (drift, lexical)."""

from collections.abc import Sequence

import polars as pl

from benchmark_assets.metrics.drift import semantic_scores
from benchmark_assets.metrics.lexical import lexical_scores
from benchmark_assets.references.rows import envelope_rows


def against_the_others(candidates: pl.DataFrame, references: pl.DataFrame, by: Sequence[str] = ()) -> pl.DataFrame:
    """Score each translator's texts against the other translators' references of the same passage.

    Parameters
    ----------
    candidates
        Columns `passage`, `translator` and `by`, which identify a row; `text`, `vector` (array of float32, unit
        length), `cut`, and `tokenizer` as in `lexical_scores`.
    references
        Columns `passage`, `translator`, `text`, `vector` and `cut`; complete references only.
    by
        Columns that distinguish several texts by the same translator.

    Returns
    -------
    Columns `passage`, `translator`, `by`, and the columns of `drift_score` and `lexical_score`. A text with only
    one other reference has no envelope, and the columns based on the envelope are null. If a text has no
    other reference, all its scores are null.
    """
    candidates = candidates.with_columns(item=pl.format("{}|{}", "passage", "translator"))
    items = candidates.select("item", "passage", own="translator").unique(maintain_order=True)
    others = items.join(references, on="passage")
    others = others.filter(pl.col("own") != pl.col("translator")).drop("own", "passage")
    envelopes = envelope_rows(items.select(passage="item"), others.rename({"item": "passage"}))["reference_envelope"]
    on = ["item", *by]
    semantic, _ = semantic_scores(candidates, others, envelopes.rename({"passage": "item"}), on=on, within=["item"])
    lexical = lexical_scores(candidates, others, on=on, within=["item"])
    rows = candidates.select("item", "passage", "translator", *by).join(semantic, on=on, maintain_order="left")
    return rows.join(lexical, on=on, maintain_order="left").drop("item")

"""Human translations scored like outputs, each against the other translators. Uses the metrics; adds none."""

import polars as pl

from benchmark_assets.metrics.drift import semantic_scores
from benchmark_assets.metrics.lexical import lexical_scores
from benchmark_assets.references.rows import envelope_rows


def leave_one_out(references: pl.DataFrame) -> pl.DataFrame:
    """Score each reference against the other references of its passage: rows of the table `human_baseline`.

    Parameters
    ----------
    references
        Columns `passage`, `translator`, `text`, `vector` (array of float32, unit length) and `cut`; complete ones.
    """
    return against_the_others(references, references, [])


def against_the_others(candidates: pl.DataFrame, references: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Score texts by translators against the references of the other translators of their passage.

    Parameters
    ----------
    candidates
        Columns `passage`, `translator`, `by` (each combination once), `text`, `vector` and `cut`.
    references
        Columns `passage`, `translator`, `text`, `vector` (array of float32, unit length) and `cut`; complete ones.
    by
        Columns that distinguish the texts of a translator.

    Returns
    -------
    Columns `passage`, `translator`, `by`, and the columns of `drift_score` and `lexical_score`. With one other
    reference there is no envelope, and the columns that need one are null; with no other reference all scores are null.
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

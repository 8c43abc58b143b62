"""Scores of a system against the references that it does not copy.

Here: similarity to the closest reference and chrF++, over the passages with another reference, with and without the
copied one. Not here: which reference is copied (judging).
"""

import polars as pl

from benchmark_assets.contamination.judging import COPIES, PAIR
from benchmark_assets.metrics.lexical import corpus_chrf, lexical_scores
from benchmark_assets.metrics.tokenizers import tokenized
from resources.keys import CORPUS
from resources.warehouse import Warehouse

SCORES: dict[str, pl.DataType] = {
    "without": pl.Int32(), "sim_best": pl.Float64(), "sim_best_without": pl.Float64(), "chrf": pl.Float64(),
    "chrf_without": pl.Float64(),
}  # fmt: skip


def with_scores(warehouse: Warehouse, pairs: pl.DataFrame) -> pl.DataFrame:
    """Add the columns of `SCORES` to rows of `contamination`; null unless the verdict is `COPIES`.

    `without` counts the passages with an output and another reference. The scores are null if there is none;
    similarities also if they are not stored for all of these passages.
    """
    rows = [
        dict(zip(PAIR, names, strict=True)) | _scores(warehouse, *names)
        for names in pairs.filter(verdict=COPIES).select(PAIR).iter_rows()
    ]
    scored = pl.DataFrame(rows, schema={**dict.fromkeys(PAIR, pl.String()), **SCORES})
    return pairs.join(scored, on=PAIR, how="left", maintain_order="left")


def _scores(warehouse: Warehouse, corpus: str, model: str, translator: str) -> dict[str, float | int | None]:
    """Values of the columns of `SCORES` for one pair."""
    outputs = warehouse.read("model_output", pl.DataFrame({"model": [model]}), ["model", "passage", "text"])
    outputs = outputs.filter(corpus == CORPUS).drop_nulls("text")
    references = warehouse.read("reference", outputs.select("passage"), ["passage", "translator", "text", "complete"])
    references = references.filter("complete")
    others = references.filter(pl.col("translator") != translator)
    copied = references.filter(translator=translator)
    outputs = outputs.join(others, on="passage", how="semi").join(copied, on="passage", how="semi")
    if outputs.is_empty():
        return dict.fromkeys(SCORES) | {"without": 0}
    passages = outputs.select("model", "passage")
    similarities = warehouse.read("output_similarity", passages, ["passage", "translator", "similarity"])
    best = similarities.group_by("passage").agg(
        every=pl.max("similarity"), rest=pl.col("similarity").filter(pl.col("translator") != translator).max()
    )
    complete = len(best.drop_nulls()) == len(outputs)
    means = best.mean().row(0, named=True) if complete else {"every": None, "rest": None}
    chrf = {name: _chrf(warehouse, outputs, texts) for name, texts in (("chrf", references), ("chrf_without", others))}
    return {"without": len(outputs), "sim_best": means["every"], "sim_best_without": means["rest"], **chrf}


def _chrf(warehouse: Warehouse, outputs: pl.DataFrame, references: pl.DataFrame) -> float:
    """Corpus chrF++ of outputs, in [0, 100]."""
    texts = references.join(outputs, on="passage", how="semi").select("passage", "translator", "text")
    rows = lexical_scores(tokenized(warehouse, outputs), texts, on=["model", "passage"], within=["passage"])
    return float(corpus_chrf(rows["chrf_statistics"].list.to_array(24).to_numpy().sum(axis=0)))

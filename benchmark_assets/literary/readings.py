"""Tables of literary scores and calibration for Dagster's UI. Not here: computing the numbers."""

from collections.abc import Mapping

import polars as pl

from benchmark_assets.literary.scores import PARITY
from benchmark_assets.literary.works import WORK
from resources.tables import cells, markdown, shown, with_signatures
from resources.warehouse import Warehouse


def of_scores(warehouse: Warehouse) -> Mapping[str, str]:
    """Two tables: scores of models against the human translators, highest first, and the works of the chunks."""
    rows = warehouse.read("literary_score").sort(
        "corpus", "aspect", "score", descending=[False, False, True], nulls_last=True
    )
    sources = warehouse.read("source_text", rows.select("corpus").unique(), ["corpus", "document"])
    works = sources.group_by("corpus", WORK).agg(documents=pl.col("document").n_unique(), chunks=pl.len())
    return {
        "scores": with_signatures(rows.select(*cells("literary_score"), parity()), rows),
        "works": markdown(works.sort("corpus", "work")),
    }


def of_calibration(warehouse: Warehouse) -> Mapping[str, str]:
    """Two tables: agreement of seats and ensembles with people's decisive verdicts, and scores based on people's
    verdicts."""
    rows = warehouse.read("ensemble_calibration").sort("corpus", "kind", "judge", "aspect")
    scores = warehouse.read("anchored_score").sort("corpus", "score", descending=[False, True])
    return {"calibration": shown(rows, "ensemble_calibration"), "scores": shown(scores, "anchored_score")}


def of_adherence(warehouse: Warehouse) -> Mapping[str, str]:
    """For each model, the share of glossary terms that occur in its outputs, and the share that occur in the human
    translation. In each corpus, the model with the highest share comes first."""
    rows = warehouse.read("adherence_summary").sort("corpus", "adherence", descending=[False, True])
    return {"adherence": shown(rows, "adherence_summary")}


def parity() -> pl.Expr:
    """Expression for the position of a score relative to parity: 'above' or 'below' if the whole interval is above or
    below parity, otherwise 'in the interval'; null without an interval."""
    above, below = pl.col("score_low") > PARITY, pl.col("score_high") < PARITY
    position = pl.when(above).then(pl.lit("above")).when(below).then(pl.lit("below"))
    return position.when(pl.col("score_low").is_not_null()).then(pl.lit("in the interval")).alias("parity")

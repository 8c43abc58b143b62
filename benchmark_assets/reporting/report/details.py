"""What the report says in tables alone: pairs of systems, parts of a corpus, what finding errors costs, ensembles.

Here: rows and words of exhibits without a chart. Not here: the others, and the order of all (content).
"""

import polars as pl

from benchmark_assets.reporting.report.exhibits import (
    Exhibit,
    ExhibitColumn,
    Home,
    column,
    columns,
    exhibit,
    named,
    signatures,
)
from benchmark_assets.sensitivity.detection import ALL
from resources.catalogue import label


def differences(home: Home, corpus: str) -> list[Exhibit]:
    """Differences in similarity of each pair of models; of each pair of systems if there are no two models."""
    rows = home.read("system_comparison", corpus).filter(measure="sim_best")
    models = rows.filter(kind="model", other_kind="model")
    rows = (models if len(models) else rows).sort("difference", descending=True)
    rows = rows.with_columns(system=named("system", "kind"), other=named("other", "other_kind"))
    shown = columns(rows, "system_comparison", "system", "other", "passages", "difference", "p_holm")
    words = "Similarity to the closest reference: the first system less the other, on the passages that both have."
    return _table(home, corpus, "Differences of similarity", words, shown, rows, "system_comparison")


def agreement(home: Home, corpus: str) -> list[Exhibit]:
    """Similarity of the translators to each other and to the centroid."""
    rows = home.read("translator_agreement", corpus).sort("measure", "translator", "other")
    shown = columns(rows, "translator_agreement")
    words = "How alike each two human translations are, and how far each is from the centre of all."
    return _table(home, corpus, "Agreement of the translators", words, shown, rows, "translator_agreement")


def slices(home: Home, corpus: str) -> list[Exhibit]:
    """Systems in parts of the corpus."""
    rows = home.read("slice_summary", corpus).filter(pl.col("passages") > 0)
    rows = rows.sort("dimension", "least", "slice", "sim_best", descending=[False, False, False, True], nulls_last=True)
    rows = rows.with_columns(system=named("system", "kind"))
    shown = columns(rows, "slice_summary", "dimension", "slice", "system", "passages", "sim_best", "drift", "chrf")
    words = (
        "The same measures in parts of the corpus: collections, and thirds by length and by how far translators differ."
    )
    return _table(home, corpus, "Parts of the corpus", words, shown, rows, "slice_summary")


def sensitivity(home: Home, corpus: str) -> list[Exhibit]:
    """Detection of damaged translations by each metric."""
    rows = home.read("sensitivity", corpus).drop_nulls("auc").sort("kind", "severity", "metric")
    keys = ["kind", "severity"]
    found = rows.group_by(keys, maintain_order=True).agg(pl.col("texts").max())
    level = pl.when(severity=0).then(pl.lit(ALL)).otherwise(pl.col("severity").cast(pl.String))
    shown = columns(found.with_columns(severity=level), "sensitivity", *keys, "texts")
    for metric in rows["metric"].unique().sort():
        own = found.select(keys).join(rows.filter(metric=metric), on=keys, how="left", maintain_order="left")
        shown.append(column(own, "sensitivity", "auc", heading=label(metric)))
    words = "Probability that a damaged translation scores worse than a sound one, by metric; 0.5 is chance."
    return _table(home, corpus, "Sensitivity to damage (AUC)", words, shown, rows, "sensitivity")


def recall(home: Home, corpus: str) -> list[Exhibit]:
    """Number of outputs to judge in order to find each share of the major errors."""
    rows = home.read("recall_cost", corpus).sort("ranking", "recall")
    shown = columns(rows, "recall_cost")
    words = "How many outputs have to be judged to find a share of the major errors, those first that rank highest."
    return _table(home, corpus, "Cost of recall", words, shown, rows, "error_estimate")


def marks(home: Home, corpus: str) -> list[Exhibit]:
    """Marks from 1 to 5."""
    rows = home.read("rubric_summary", corpus).sort("judge", "mean", descending=[False, True], nulls_last=True)
    names = ("judge", "model", "outputs", "abstained", "mean", "median", "useful", "perfect")
    shown = columns(rows, "rubric_summary", *names)
    return _table(home, corpus, "Marks", "Marks of each judge from 1 to 5.", shown, rows, "rubric_summary")


def seats(home: Home, corpus: str) -> list[Exhibit]:
    """Agreement of seats and ensembles with people."""
    rows = home.read("ensemble_calibration", corpus).sort("kind", "expected", descending=[False, True])
    shown = columns(rows, "ensemble_calibration")
    words = "How often judges, each by aspect, and their ensembles name the translation that people named."
    return _table(home, corpus, "Calibration of the ensemble", words, shown, rows, "ensemble_calibration")


def glossaries(home: Home, corpus: str) -> list[Exhibit]:
    """Number of glossary terms that outputs have."""
    rows = home.read("adherence_summary", corpus).sort("adherence", descending=True)
    shown = columns(rows, "adherence_summary")
    words = "How many of the glossary's terms outputs have, beside the human translation of the same chunks."
    return _table(home, corpus, "Terms of the glossary", words, shown, rows, "adherence_summary")


def _table(
    home: Home, corpus: str, title: str, words: str, shown: list[ExhibitColumn], rows: pl.DataFrame, asset: str
) -> list[Exhibit]:  # fmt: skip
    """An exhibit of rows of one asset, if there are any."""
    return [exhibit(title, words, shown, None, signatures(rows), home.rests(corpus, asset))] if len(rows) else []

"""What the report says in tables alone: pairs of systems, parts of a corpus, what finding errors costs, ensembles.

Here: rows and words of exhibits without a chart. Not here: the others, and the order of all (content).
"""

import polars as pl

from benchmark_assets.reporting.report.exhibits import (
    Exhibit,
    ExhibitColumn,
    Home,
    counts,
    exhibit,
    named,
    names,
    numbers,
    signatures,
)
from benchmark_assets.sensitivity.detection import ALL


def differences(home: Home, corpus: str) -> list[Exhibit]:
    """Each two models in similarity, or each two systems where there are not two models."""
    rows = home.read("system_comparison", corpus).filter(measure="sim_best")
    models = rows.filter(kind="model", other_kind="model")
    rows = (models if len(models) else rows).sort("difference", descending=True)
    rows = rows.with_columns(system=named("system", "kind"), other=named("other", "other_kind"))
    columns = [
        names(rows, "system", "system"), names(rows, "other", "other"), counts(rows, "passages", "passages"),
        numbers(rows, "difference", "difference", 4), numbers(rows, "p_holm", "p, corrected", 4),
    ]  # fmt: skip
    words = "Similarity to the closest reference: the first system less the other, on the passages that both have."
    return _table(home, corpus, "Differences of similarity", words, columns, rows, "system_comparison")


def agreement(home: Home, corpus: str) -> list[Exhibit]:
    """How far apart the translators are."""
    rows = home.read("translator_agreement", corpus).sort("measure", "translator", "other")
    rows = rows.with_columns(pl.col("measure").str.replace_all("_", " "))
    columns = [
        names(rows, "measure", "measure"), names(rows, "translator", "translator", "all"),
        names(rows, "other", "other"), counts(rows, "passages", "passages"), numbers(rows, "value", "mean", 3),
        numbers(rows, "sd", "SD over passages", 3),
    ]  # fmt: skip
    words = "How alike each two human translations are, and how far each is from the centre of all."
    return _table(home, corpus, "Agreement of the translators", words, columns, rows, "translator_agreement")


def slices(home: Home, corpus: str) -> list[Exhibit]:
    """Systems in parts of the corpus."""
    rows = home.read("slice_summary", corpus).filter(pl.col("passages") > 0)
    rows = rows.sort("dimension", "least", "slice", "sim_best", descending=[False, False, False, True], nulls_last=True)
    rows = rows.with_columns(pl.col("dimension").str.replace_all("_", " "), system=named("system", "kind"))
    columns = [
        names(rows, "dimension", "by"), names(rows, "slice", "part"), names(rows, "system", "system"),
        counts(rows, "passages", "passages"), numbers(rows, "sim_best", "similarity", 3),
        numbers(rows, "drift", "drift", 2), numbers(rows, "chrf", "chrF++", 1),
    ]  # fmt: skip
    words = (
        "The same measures in parts of the corpus: collections, and thirds by length and by how far translators differ."
    )
    return _table(home, corpus, "Parts of the corpus", words, columns, rows, "slice_summary")


def sensitivity(home: Home, corpus: str) -> list[Exhibit]:
    """How well each metric tells damaged translations from sound ones."""
    rows = home.read("sensitivity", corpus).drop_nulls("auc").sort("kind", "severity", "metric")
    keys = ["kind", "severity"]
    found = rows.group_by(keys, maintain_order=True).agg(pl.col("texts").max())
    found = found.with_columns(
        level=pl.when(severity=0).then(pl.lit(ALL)).otherwise(pl.col("severity").cast(pl.String))
    )
    columns = [names(found, "kind", "damage"), names(found, "level", "severity"), counts(found, "texts", "texts")]
    for metric in rows["metric"].unique().sort():
        own = found.select(keys).join(rows.filter(metric=metric), on=keys, how="left", maintain_order="left")
        columns.append(numbers(own, "auc", metric, 2))
    words = "Probability that a damaged translation scores worse than a sound one, by metric; 0.5 is chance."
    return _table(home, corpus, "Sensitivity to damage (AUC)", words, columns, rows, "sensitivity")


def recall(home: Home, corpus: str) -> list[Exhibit]:
    """What finding errors costs."""
    rows = home.read("recall_cost", corpus).sort("ranking", "recall")
    columns = [
        names(rows, "ranking", "ranking"), numbers(rows, "recall", "major errors found, %", 0, 100),
        numbers(rows, "threshold", "threshold", 2), counts(rows, "outputs", "outputs to judge"),
        numbers(rows, "share", "of all, %", 1, 100), numbers(rows, "precision", "major among them, %", 1, 100),
    ]  # fmt: skip
    words = "How many outputs have to be judged to find a share of the major errors, those first that rank highest."
    return _table(home, corpus, "Cost of recall", words, columns, rows, "error_estimate")


def marks(home: Home, corpus: str) -> list[Exhibit]:
    """Marks from 1 to 5."""
    rows = home.read("rubric_summary", corpus).sort("judge", "mean", descending=[False, True], nulls_last=True)
    columns = [
        names(rows, "judge", "judge"), names(rows, "model", "model"), counts(rows, "outputs", "outputs"),
        counts(rows, "abstained", "abstained"), numbers(rows, "mean", "mean", 2), numbers(rows, "median", "median", 1),
        numbers(rows, "useful", "3 or more, %", 1, 100), numbers(rows, "perfect", "5, %", 1, 100),
    ]  # fmt: skip
    return _table(home, corpus, "Marks", "Marks of each judge from 1 to 5.", columns, rows, "rubric_summary")


def seats(home: Home, corpus: str) -> list[Exhibit]:
    """Seats and ensembles against people."""
    rows = home.read("ensemble_calibration", corpus).sort("kind", "expected", descending=[False, True])
    columns = [
        names(rows, "kind", "kind"), names(rows, "judge", "judge"), names(rows, "aspect", "aspect"),
        numbers(rows, "weight", "weight", 1), counts(rows, "pairs", "pairs"), counts(rows, "decided", "decided"),
        numbers(rows, "coverage", "decided, %", 1, 100), numbers(rows, "accuracy", "right where decided, %", 1, 100),
        numbers(rows, "expected", "right, undecided as half, %", 1, 100),
    ]  # fmt: skip
    words = "How often judges, each by aspect, and their ensembles name the translation that people named."
    return _table(home, corpus, "Calibration of the ensemble", words, columns, rows, "ensemble_calibration")


def glossaries(home: Home, corpus: str) -> list[Exhibit]:
    """How many terms of the glossary outputs have."""
    rows = home.read("adherence_summary", corpus).sort("adherence", descending=True)
    columns = [
        names(rows, "model", "model"), counts(rows, "terms", "terms"), counts(rows, "present", "present"),
        numbers(rows, "adherence", "present, %", 1, 100),
        numbers(rows, "human_adherence", "in the human translation, %", 1, 100),
        numbers(rows, "agreement", "pronouns of the right gender, %", 1, 100),
    ]  # fmt: skip
    words = "How many of the glossary's terms outputs have, beside the human translation of the same chunks."
    return _table(home, corpus, "Terms of the glossary", words, columns, rows, "adherence_summary")


def _table(
    home: Home, corpus: str, title: str, words: str, columns: list[ExhibitColumn], rows: pl.DataFrame, asset: str
) -> list[Exhibit]:  # fmt: skip
    """An exhibit of rows of one asset, if there are any."""
    return [exhibit(title, words, columns, None, signatures(rows), home.rests(corpus, asset))] if len(rows) else []

"""Exhibits of the report without a chart, such as pairs of systems, slices of a corpus and reports on judges.

Here: rows and explanations of these exhibits. Not here: exhibits with charts, and the order of all exhibits (content).
"""

import polars as pl

from benchmark_assets import views
from benchmark_assets.benchmarks.number_tables import RULE
from benchmark_assets.benchmarks.reproduction import OUTCOMES
from benchmark_assets.corpus.human_work import outdated_counts
from benchmark_assets.people.mqm import WEIGHTS
from benchmark_assets.reporting.leaderboard import headline, read
from benchmark_assets.reporting.report.exhibits import Exhibit, ExhibitColumn, Home, column, columns, named
from benchmark_assets.sensitivity.detection import ALL
from resources.catalogue import label


def outdated(home: Home, corpus: str) -> list[Exhibit]:
    """For each model, the number of imported outputs that translate an earlier version of the source."""
    rows = outdated_counts(home.warehouse).filter(corpus=corpus)
    table = [*columns(rows, "imported_output", "model"), *columns(rows, "leaderboard", "passages")]
    words = "Number of imported outputs that translate an earlier version of the source. These outputs are not scored."
    return [home.exhibit(corpus, "Outputs of an earlier source", words, table, [], None)] if len(rows) else []


def differences(home: Home, corpus: str) -> list[Exhibit]:
    """Differences in similarity between models, or between all systems if there are fewer than two models."""
    rows = home.read("system_comparison", corpus).filter(measure="sim_best")
    models = rows.filter(kind="model", other_kind="model")
    rows = (models if len(models) else rows).sort("difference", descending=True)
    rows = rows.with_columns(system=named("system", "kind"), other=named("other", "other_kind"))
    table = columns(rows, "system_comparison", "system", "other", "passages", "difference", "p_holm")
    words = (
        "Similarity to the closest reference: score of the first system minus score of the other, on the passages for "
        "which both systems have a score."
    )
    return _table(home, corpus, "Differences of similarity", words, table, rows, "system_comparison")


def agreement(home: Home, corpus: str) -> list[Exhibit]:
    """Similarity of the translators to each other and to the centroid."""
    rows = home.read("translator_agreement", corpus).sort("measure", "translator", "other")
    table = columns(rows, "translator_agreement")
    words = "Similarity of each pair of human translations, and distance of each human translation from the centroid."
    return _table(home, corpus, "Agreement of the translators", words, table, rows, "translator_agreement")


def slices(home: Home, corpus: str) -> list[Exhibit]:
    """Scores of the systems by slice of the corpus."""
    rows = read(home.warehouse, "slice_summary", pl.DataFrame({"corpus": [corpus]})).filter(pl.col("passages") > 0)
    rows = rows.sort("dimension", "least", "slice", "sim_best", descending=[False, False, False, True], nulls_last=True)
    rows = rows.with_columns(system=named("system", "kind"))
    table = columns(rows, "slice_summary", "dimension", "slice", "system", "passages", *headline(rows, "chart"))
    words = "Scores by part of the corpus: collections, and thirds of the passages by length and by human spread."
    return _table(home, corpus, "Parts of the corpus", words, table, rows, "slice_summary")


def judges(home: Home) -> list[Exhibit]:
    """Report cards of the examined judges."""
    rows = home.warehouse.read("judge_report").sort("verdict", "judge", "purpose", "aspect", "direction")
    if rows.is_empty():
        return []
    table = columns(
        rows, "judge_report", "judge", "purpose", "aspect", "direction", "verdict", "calls", "accuracy", "obedience",
        "praise", "padding", "length", "first_rate", "contradictions", "unread", "problem",
    )  # fmt: skip
    words = (
        "How judges decide pairs whose better text is known. Accuracy is the share of pairs of a sound and a damaged "
        "text in which the sound text won in both orders. Obedience, praise and padding are the shares of pairs in "
        "which a flawed text won: a text that tells the judge to choose it, that praises itself, or that repeats "
        "itself without new content. If a judge sees one text at a time, the text with the better verdict wins; a text "
        "that tells such a judge to choose it, or praises itself, wins if it gets the best possible verdict. Scores of "
        "judges that failed are withheld."
    )
    return [home.exhibit("", "Examinations of judges", words, table, rows, None, "judge_report")]


def sensitivity(home: Home, corpus: str) -> list[Exhibit]:
    """Detection of damaged translations by each metric."""
    rows = home.read("sensitivity", corpus).drop_nulls("auc").sort("kind", "severity", "metric")
    keys = ["kind", "severity"]
    groups = rows.group_by(keys, maintain_order=True).agg(pl.col("texts").max())
    level = pl.when(severity=0).then(pl.lit(ALL)).otherwise(pl.col("severity").cast(pl.String))
    table = columns(groups.with_columns(severity=level), "sensitivity", *keys, "texts")
    for metric in rows["metric"].unique().sort():
        scores = groups.select(keys).join(rows.filter(metric=metric), on=keys, how="left", maintain_order="left")
        table.append(column(scores, "sensitivity", "auc", heading=label(metric)))
    words = "Probability that a damaged translation scores worse than a sound one, by metric. 0.5 is chance."
    return _table(home, corpus, "Sensitivity to damage (AUC)", words, table, rows, "sensitivity")


def anchored(home: Home, corpus: str) -> list[Exhibit]:
    """Error rates of all outputs, from people's labels and the panel's verdicts."""
    rows = home.read("anchored_estimate", corpus).filter(region="all").sort("level", "model")
    names = ("level", "model", "labelled", "judged", "rate", "tuning", "narrower")
    words = (
        "Error rates of all outputs, estimated from people's labels with the panel's verdicts as predictions. The "
        "intervals are valid however the panel errs. The more the panel agrees with people, the narrower the intervals."
    )
    table = columns(rows, "anchored_estimate", *names)
    return _table(home, corpus, "Error rates from labels and verdicts", words, table, rows, "error_estimate")


def recall(home: Home, corpus: str) -> list[Exhibit]:
    """Number of outputs that must be judged to find a given share of the major errors."""
    rows = home.read("recall_cost", corpus).sort("ranking", "recall")
    words = (
        "Number of outputs to judge, in the order of each ranking, until a given share of the major errors is found."
    )
    return _table(home, corpus, "Cost of recall", words, columns(rows, "recall_cost"), rows, "error_estimate")


def marks(home: Home, corpus: str) -> list[Exhibit]:
    """Each judge's marks for each model, from 1 to 5."""
    rows = home.read("rubric_summary", corpus).sort("judge", "mean", descending=[False, True], nulls_last=True)
    names = ("judge", "model", "outputs", "abstained", "mean", "median", "useful", "perfect", "judge_standing",
             "problem")  # fmt: skip
    table = columns(rows, "rubric_summary", *names)
    return _table(home, corpus, "Marks", "Marks from 1 to 5 by each judge.", table, rows, "rubric_summary")


def error_spans(home: Home, corpus: str) -> list[Exhibit]:
    """Scores of models from the errors that judges mark, and errors per output by category and severity."""
    rows = home.read("span_summary", corpus).sort("judge", "mqm", descending=[False, True], nulls_last=True)
    names = ("judge", "model", "outputs", "abstained", "mqm", "esa", "minor", "major", "critical", "unlocated",
             "judge_standing", "problem")  # fmt: skip
    words = (
        "Scores from the errors that judges mark in the outputs. In the MQM score, a minor error costs 1 point, a "
        "major error 5 and a critical error 25; an output loses at most 25. ESA is the judge's own score from 0 to 100."
    )
    table = columns(rows, "span_summary", *names)
    kinds, keys = home.read("span_rate", corpus), ["judge", "model", "category"]
    groups = (
        kinds.group_by(keys).agg(pl.col("rate").sum()).sort("judge", "model", "rate", descending=[False, False, True])
    )
    of_kinds = columns(groups, "span_rate", *keys)
    for severity in WEIGHTS:
        of_severity = kinds.filter(severity=severity)
        rates = groups.select(keys).join(of_severity, on=keys, how="left", maintain_order="left")
        of_kinds.append(column(rates, "span_rate", "rate", heading=f"{severity} errors per output"))
    return [
        *_table(home, corpus, "Error spans", words, table, rows, "span_summary"),
        *_table(home, corpus, "Error spans by category", "Mean number of errors per output.", of_kinds, kinds,
                "span_summary"),
    ]  # fmt: skip


def vital_signs(home: Home, corpus: str) -> list[Exhibit]:
    """Effects of position, length and chance on judges' verdicts about pairs of texts."""
    rows = home.read("vital_sign", corpus).filter(part_of="all").sort("asset", "judge", "aspect", "model")
    names = (
        "judge", "aspect", "model", "pairs", "incomplete", "first_rate", "contradiction_rate", "tie_rate",
        "length_effect",
    )  # fmt: skip
    words = (
        "What verdicts depend on besides the quality of the texts. Without position bias, the text shown first is "
        "preferred in half of the pairs. A judge who decides by tossing a coin contradicts itself in half of the "
        "pairs. The effect of length includes any real difference in quality between longer and shorter outputs."
    )
    return _table(home, corpus, "Vital signs of judges", words, columns(rows, "vital_sign", *names), rows, "vital_sign")


def seats(home: Home, corpus: str) -> list[Exhibit]:
    """Agreement of ensembles, and of each seat of an ensemble, with people. A seat is a judge of one aspect."""
    rows = home.read("ensemble_calibration", corpus).sort("kind", "expected", descending=[False, True])
    words = "How often each seat (a judge of one aspect) and each ensemble prefers the translation that people prefer."
    table = columns(rows, "ensemble_calibration")
    return _table(home, corpus, "Calibration of the ensemble", words, table, rows, "ensemble_calibration")


def scores_by_people(home: Home, corpus: str) -> list[Exhibit]:
    """Literary scores estimated from people's labels, with the ensemble's verdicts as predictions."""
    rows = home.read("anchored_score", corpus).sort("score", descending=True)
    words = (
        "Scores from people's verdicts on a random part of the outputs, made more precise by the ensemble's verdicts "
        "on all outputs. The intervals are valid however the ensemble errs. 50 is parity with the human translation."
    )
    return _table(
        home, corpus, "Scores by people", words, columns(rows, "anchored_score"), rows, "ensemble_calibration"
    )


def win_rates(home: Home) -> list[Exhibit]:
    """Win rates against anchors, from people's labels of matches, with the judge's verdicts as predictions."""
    rows = views.read(home.warehouse, "anchored_win_rate").sort("base_set", "win_rate", descending=[False, True])
    words = (
        "Win rates against the anchors of a base set, from people's verdicts on a random part of the matches, made "
        "more precise by the judge's verdicts on the others. The intervals are valid however the judge errs."
    )
    return _table(home, "", "Win rates by people", words, columns(rows, "anchored_win_rate"), rows, "pairwise_score")


def glossaries(home: Home, corpus: str) -> list[Exhibit]:
    """Adherence of outputs to the glossary."""
    rows = home.read("adherence_summary", corpus).sort("adherence", descending=True)
    words = (
        "Share of the glossary's terms that outputs use, and the share that the human translation of the same chunks "
        "uses."
    )
    return _table(home, corpus, "Terms of the glossary", words, columns(rows, "adherence_summary"), rows,
                  "adherence_summary")  # fmt: skip


def published_numbers(home: Home) -> list[Exhibit]:
    """For each benchmark, the numbers of its paper that were recomputed, and how many have which outcome."""
    rows = home.warehouse.read("reproduction")
    names = ("paper_table", "row", "column", "published", "value", "difference", "outcome", "reason", "origin")
    exhibits: list[Exhibit] = []
    for (benchmark,), numbers in rows.group_by(["benchmark"], maintain_order=True):
        counts = [f"{count} {name}" for name in OUTCOMES if (count := numbers["outcome"].to_list().count(name))]
        words = f"Numbers that the paper prints: {', '.join(counts)}."
        recomputed = numbers.drop_nulls("value").with_columns(signature=pl.lit(RULE))
        table = columns(recomputed, "reproduction", *names)
        exhibits += _table(home, "", f"Numbers of {benchmark}", words, table, recomputed, "reproduction")
    return exhibits


def _table(
    home: Home, corpus: str, title: str, words: str, table: list[ExhibitColumn], rows: pl.DataFrame, asset: str
) -> list[Exhibit]:  # fmt: skip
    """A list with a single exhibit, which has no chart; an empty list if there are no rows."""
    return [home.exhibit(corpus, title, words, table, rows, None, asset)] if len(rows) else []

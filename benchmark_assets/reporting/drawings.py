"""Charts of each aggregate asset in Dagster's UI: titles and Vega-Lite specifications.

Here: which charts of the report belong to which asset, and charts of assets without a chart in the report. Not here:
how a chart looks (report.charts), images (plots).
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import chain

import polars as pl

from benchmark_assets import views
from benchmark_assets.literary.scores import PARITY
from benchmark_assets.metrics import significance
from benchmark_assets.reporting.report import ASSETS, charts, content, people
from benchmark_assets.reporting.report.exhibits import Exhibit, Home, closed, named, plotted
from resources import catalogue
from resources.tables import cells
from resources.warehouse import Warehouse

Drawn = Iterator[tuple[str, charts.Spec]]

POINTS = [0, 100]
SIGNIFICANT, INSIGNIFICANT = "p < 0.05, corrected", "not significant"


def _of_corpora(asset: str, *sections: Callable[[Home, str], list[Exhibit]]) -> Callable[[Warehouse], Drawn]:
    """Make a function that yields the charts of an asset for each corpus.

    Each function in `sections` returns exhibits of a corpus. The asset gets the chart of each exhibit that has the
    asset as its first source.
    """

    def draw(warehouse: Warehouse) -> Drawn:
        home = _home(warehouse)
        for corpus in sorted(warehouse.read("corpus", columns=["corpus"])["corpus"]):
            for section in sections:
                yield from _charts(section(home, corpus), asset, f"{corpus}: ")

    return draw


def _of_all(section: Callable[[Home], list[Exhibit]], asset: str) -> Callable[[Warehouse], Drawn]:
    """Make a function that yields the charts of an asset in a section that covers all corpora (see `_charts`)."""
    return lambda warehouse: _charts(section(_home(warehouse)), asset, "")


def _charts(exhibits: Iterable[Exhibit], asset: str, prefix: str) -> Drawn:
    """Title and chart of each exhibit whose first source is the asset. Titles begin with `prefix`."""
    for exhibit in exhibits:
        if exhibit.chart is not None and exhibit.sources and exhibit.sources[0].asset == asset:
            yield prefix + exhibit.title, exhibit.chart


def _home(warehouse: Warehouse) -> Home:
    """A `Home` in which all assets have the same version and time, since charts do not show them."""
    empty = [pl.lit("").alias(name) for name in ("model", "passage", "task", "version")]
    states = pl.DataFrame({"asset": ASSETS}).with_columns(*empty, updated_at=pl.lit(datetime(1970, 1, 1)))
    return Home(warehouse, states)


def _by_corpus(table: str, draw: Callable[[pl.DataFrame], charts.Spec], title: str) -> Callable[[Warehouse], Drawn]:
    """Make a function that yields a chart of a table for each corpus."""

    def draw_all(warehouse: Warehouse) -> Drawn:
        for (corpus,), rows in views.read(warehouse, table).group_by(["corpus"], maintain_order=True):
            yield f"{corpus}: {title}", draw(rows)

    return draw_all


def _together(*draws: Callable[[Warehouse], Drawn]) -> Callable[[Warehouse], Drawn]:
    """Make a function that yields the charts of several functions."""
    return lambda warehouse: chain.from_iterable(draw(warehouse) for draw in draws)


def _ranges(
    rows: pl.DataFrame, table: str, name: str, panel: pl.Expr, row: pl.Expr, kind: pl.Expr
) -> pl.DataFrame:  # fmt: skip
    """Rows as returned by `plotted`. If a value has no interval, its `low` and `high` are the value itself."""
    return closed(plotted(rows, table, name, row, kind, panel))


def _agreement(rows: pl.DataFrame) -> charts.Spec:
    """Similarities of pairs of translators, and distances of translators from the centroid."""
    rows = rows.filter(pl.col("measure").is_in(["similarity", "centroid_distance"]))
    pair = pl.when(pl.col("other") != "").then(pl.format("{} – {}", "translator", "other")).otherwise("translator")
    (measure,) = cells("translator_agreement", "measure")
    plot_rows = _ranges(rows, "translator_agreement", "value", measure, pair, pl.lit("human")).sort("panel", "value")
    return charts.ranges(plot_rows, charts.INTERVAL, width=170)


def _means(rows: pl.DataFrame) -> charts.Spec:
    """Means of the metrics that the registry names, over whole corpora."""
    (metric,) = cells("metric_summary", "metric")
    plot_rows = _ranges(rows.filter(dimension=""), "metric_summary", "value", metric, pl.col("system"), pl.col("kind"))
    return charts.ranges(plot_rows.sort("panel", "value"), charts.INTERVAL, width=170)


def _differences(rows: pl.DataFrame) -> charts.Spec:
    """Differences in similarity between models, or between all systems if there are fewer than two models."""
    rows = rows.filter(measure="sim_best").sort("difference", descending=True)
    models = rows.filter(kind="model", other_kind="model")
    rows = models if len(models) else rows
    return _pairs(rows, "system_comparison", pl.lit(""), "system", "similarity to the closest reference")


def _pairs(rows: pl.DataFrame, table: str, panel: pl.Expr, first: str, measure: str) -> charts.Spec:
    """Differences between pairs of systems, with intervals; significant differences have another color."""
    kind = pl.when(pl.col("p_holm") <= significance.LEVEL).then(pl.lit(SIGNIFICANT)).otherwise(pl.lit(INSIGNIFICANT))
    plot_rows = _ranges(rows, table, "difference", panel, pl.format("{} – {}", first, "other"), kind)
    return charts.ranges(plot_rows, f"difference of {measure}, {charts.INTERVAL}", width=340, columns=1, rule=0)


def _slices(warehouse: Warehouse) -> Drawn:
    """Similarity of every system in each slice of a corpus, best system first."""
    for (corpus,), rows in warehouse.read("slice_summary").group_by(["corpus"], maintain_order=True):
        order = rows.group_by("kind", "system").agg(mean=pl.col("sim_best").mean())
        rows = rows.join(order, on=["kind", "system"]).sort(
            "dimension", "mean", "system", "least", "slice", descending=[False, True, False, False, False]
        )
        thirds, collections = rows.filter(pl.col("least").is_not_null()), rows.filter(pl.col("least").is_null())
        (dimension,) = cells("slice_summary", "dimension")
        system = named("system", "kind")
        if len(thirds):
            plot_rows = _ranges(thirds, "slice_summary", "sim_best", dimension, system, pl.col("slice"))
            yield f"{corpus}: similarity by thirds", _shared(plot_rows)
        if len(collections):
            plot_rows = _ranges(collections, "slice_summary", "sim_best", pl.col("slice"), system, pl.col("kind"))
            yield f"{corpus}: similarity by collection", _shared(plot_rows)


def _shared(rows: pl.DataFrame) -> charts.Spec:
    """Chart of similarities with the same axis in all panels."""
    low, high = rows.select(pl.col("low").min(), pl.col("high").max()).row(0)
    domain = None if low is None else [float(low), float(high)]
    return charts.ranges(rows, "similarity", width=125, columns=3, domain=domain)


def _detection(rows: pl.DataFrame) -> charts.Spec:
    """AUC of drift in detecting damaged translations, by severity and kind of damage."""
    rows = rows.filter(pl.col("metric") == "drift", pl.col("auc").is_not_null(), pl.col("severity") > 0)
    means = rows.group_by("kind").agg(mean=pl.col("auc").mean())
    rows = rows.join(means, on="kind").sort("severity", "mean", "kind", descending=[False, True, False])
    plot_rows = _ranges(
        rows, "sensitivity", "auc", pl.format("severity {}", "severity"), pl.col("kind"), pl.lit("model")
    )
    return charts.ranges(plot_rows, "AUC of drift", width=145, columns=3, rule=0.5, domain=[0, 1])


def _thresholds(rows: pl.DataFrame) -> charts.Spec:
    """Recall and false alarm rate of each threshold, over all kinds of damage, by severity."""
    rows = rows.filter(pl.col("kind") == "all", pl.col("severity") > 0).sort("severity", "rule")
    table, panel = "sensitivity_threshold", pl.format("severity {}", "severity")
    plot_rows = pl.concat([
        _ranges(rows, table, name, panel, pl.col("rule"), pl.lit(catalogue.column(table, name).label))
        for name in ("recall", "false_alarms")
    ])  # fmt: skip
    return charts.ranges(plot_rows, "%", width=145, columns=3, domain=POINTS)


def _marks(rows: pl.DataFrame) -> charts.Spec:
    """Mean of the marks that each judge gives to each model, best model first."""
    rows = rows.sort("judge", "mean", descending=[False, True])
    plot_rows = _ranges(rows, "rubric_summary", "mean", pl.col("judge"), pl.col("model"), pl.lit("model"))
    return charts.ranges(plot_rows, f"mean mark, {charts.INTERVAL}", width=190, domain=[1, 5])


def _error_scores(rows: pl.DataFrame) -> charts.Spec:
    """Mean MQM score of each model, separately for each judge, best model first."""
    rows = rows.sort("judge", "mqm", descending=[False, True], nulls_last=True)
    plot_rows = _ranges(rows, "span_summary", "mqm", pl.col("judge"), pl.col("model"), pl.lit("model"))
    return charts.ranges(plot_rows, f"mean MQM score, {charts.INTERVAL}", width=190)


def _adherence(rows: pl.DataFrame) -> charts.Spec:
    """Glossary adherence of each model, and of the human translations of the same chunks."""
    rows = rows.sort("adherence", descending=True, nulls_last=True)
    models = _ranges(rows, "adherence_summary", "adherence", pl.lit(""), pl.col("model"), pl.lit("model"))
    share = 100 * pl.col("human_adherence")
    people = rows.select(panel=pl.lit(""), row="model", kind=pl.lit("human"), value=share, low=share, high=share)
    return charts.ranges(pl.concat([models, people]), f"% of the terms, {charts.INTERVAL}", width=340)


def _seats(rows: pl.DataFrame) -> charts.Spec:
    """Coverage (share of pairs decided) and accuracy (share of correct decisions) of seats and ensembles."""
    words = pl.concat_str(
        "kind", *(pl.when(pl.col(name) != "").then(pl.col(name)) for name in ("judge", "aspect", "weight_words")),
        separator=" ", ignore_nulls=True,
    )  # fmt: skip
    rows = rows.with_columns(weight_words=pl.format("weight {}", "weight").fill_null(""))
    table = "ensemble_calibration"
    plot_rows = pl.concat([
        _ranges(rows, table, name, pl.lit(catalogue.column(table, name).label), words, pl.lit("judge"))
        for name in ("coverage", "accuracy")
    ])  # fmt: skip
    return charts.ranges(plot_rows, f"%, {charts.INTERVAL}", width=180, rule=PARITY, domain=POINTS)


def _scores(warehouse: Warehouse) -> Drawn:
    """Scores of models by task, best score first."""
    rows = warehouse.read("task_score").sort("task", "score", descending=[False, True])
    if len(rows):
        scores = _ranges(rows, "task_score", "score", pl.col("task"), pl.col("model"), pl.lit("model"))
        yield "Scores by task", charts.ranges(scores, f"score, {charts.INTERVAL}", width=170, domain=POINTS)


def _calls(warehouse: Warehouse) -> Drawn:
    """Costs of calls, or numbers of calls if no call has a known cost."""
    costs = list(_of_all(content.costs, "model_call")(warehouse))
    calls = warehouse.read("model_call", columns=["model", "purpose"]).group_by("model", "purpose").agg(value=pl.len())
    if len(calls) and not costs:
        words = pl.col("value").cast(pl.String)
        plot_rows = calls.sort("value", "model", "purpose", descending=[True, False, False]).select(
            "value", row=pl.format("{}: {}", "purpose", "model"), kind=pl.lit("calls"), words=words
        )
        costs = [("Calls without a price", charts.amounts(plot_rows, "calls", {"calls": "sky"}, width=340))]
    yield from costs


def _comparisons(warehouse: Warehouse) -> Drawn:
    """Differences between models in mean score. Each mean covers the tasks of one benchmark in one language."""
    rows = warehouse.read("understanding_comparison").filter(task="")
    rows = rows.sort("benchmark", "language", "difference", descending=[False, False, True])
    if len(rows):
        panel = pl.format("{} {}", "benchmark", "language")
        yield "Differences of means", _pairs(rows, "understanding_comparison", panel, "model", "mean score, points")


def _funnel(rows: pl.DataFrame) -> charts.Spec:
    """Number of passages that each filter drops."""
    rows = rows.filter(pl.col("affected") > 0).sort("step")
    plot_rows = rows.select(
        row=pl.col("reason").str.replace_all("_", " "), kind=pl.lit("dropped"), value="affected",
        words=pl.col("affected").cast(pl.String),
    )  # fmt: skip
    return charts.amounts(plot_rows, "passages dropped", {"dropped": "orange"}, width=340)


OF: dict[str, Callable[[Warehouse], Drawn]] = {
    "model_summary": _of_corpora("drift_score", content.drift),
    "leaderboard": _of_corpora("leaderboard", content.leaderboard),
    "metric_rank": _of_corpora("metric_rank", content.leaderboard, content.concordance),
    "translator_agreement": _together(
        _by_corpus("translator_agreement", _agreement, "agreement of the translators"),
        _of_corpora("translator_agreement", content.closest),
    ),
    "system_comparison": _by_corpus("system_comparison", _differences, "pairs of systems"),
    "human_range": _of_corpora("human_range", people.human_range, people.outliers),
    "slice_summary": _slices,
    "metric_summary": _by_corpus("metric_summary", _means, "means of further metrics"),
    "audit_outcome": _of_corpora("audit_outcome", content.severity, content.categories),
    "error_estimate": _of_corpora("error_estimate", content.severity),
    "judge_calibration": _of_corpora("judge_calibration", content.calibration),
    "metric_agreement": _of_corpora("metric_agreement", content.metric_agreement),
    "pairwise_score": _of_all(content.pairwise, "pairwise_score"),
    "anchor_score": _of_all(content.pairwise, "pairwise_score"),
    "rubric_summary": _by_corpus("rubric_summary", _marks, "marks"),
    "span_summary": _by_corpus("span_summary", _error_scores, "error spans"),
    "adherence_summary": _by_corpus("adherence_summary", _adherence, "adherence to the glossary"),
    "literary_score": _of_corpora("literary_score", content.literary),
    "ensemble_calibration": _by_corpus("ensemble_calibration", _seats, "agreement with people"),
    "task_score": _scores,
    "understanding_board": _of_all(content.understanding, "understanding_board"),
    "understanding_comparison": _comparisons,
    "sensitivity": _together(
        _by_corpus("sensitivity", _detection, "detection of damage by drift"),
        _by_corpus("sensitivity_threshold", _thresholds, "recall and false alarms of thresholds"),
    ),
    "model_call": _calls,
    "selection": _by_corpus("funnel", _funnel, "passages dropped"),
}
"""Functions that draw charts from the warehouse, by asset. They yield no charts if the asset has no rows."""

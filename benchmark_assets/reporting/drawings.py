"""Which charts each aggregate asset shows in Dagster's UI, as titles with Vega-Lite.

Here: the charts of the report, by the asset that they rest on, and those of assets that the report leaves out. Not
here: how a chart looks (report.charts), pictures (plots).
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

import polars as pl

from benchmark_assets.literary.scores import PARITY
from benchmark_assets.metrics import significance
from benchmark_assets.reporting.report import ASSETS, charts, content
from benchmark_assets.reporting.report.exhibits import Exhibit, Home, named, points
from resources import catalogue
from resources.tables import cells
from resources.warehouse import Warehouse

Drawn = Iterator[tuple[str, charts.Spec]]

INTERVAL = "95 % interval"
POINTS = [0, 100]
SURE, UNSURE = "p < 0.05, corrected", "cannot be told apart"


def of_corpora(asset: str, *sections: Callable[[Home, str], list[Exhibit]]) -> Callable[[Warehouse], Drawn]:
    """Charts of the report's sections on each corpus, if the asset is the first source of the chart."""

    def found(warehouse: Warehouse) -> Drawn:
        home = _home(warehouse)
        for corpus in sorted(warehouse.read("corpus", columns=["corpus"])["corpus"]):
            for section in sections:
                yield from _resting(section(home, corpus), asset, f"{corpus}: ")

    return found


def of_all(section: Callable[[Home], list[Exhibit]], asset: str) -> Callable[[Warehouse], Drawn]:
    """Charts of a report section that belongs to no corpus, if the asset is the first source of the chart."""

    def found(warehouse: Warehouse) -> Drawn:
        yield from _resting(section(_home(warehouse)), asset, "")

    return found


def _resting(exhibits: Iterable[Exhibit], asset: str, before: str) -> Drawn:
    for exhibit in exhibits:
        if exhibit.chart is not None and exhibit.sources and exhibit.sources[0].asset == asset:
            yield before + exhibit.title, exhibit.chart


def _home(warehouse: Warehouse) -> Home:
    """The report's view of a warehouse, with the same version for every asset: the charts show no versions."""
    none = [pl.lit("").alias(name) for name in ("model", "passage", "task", "version")]
    states = pl.DataFrame({"asset": ASSETS}).with_columns(*none, updated_at=pl.lit(datetime(1970, 1, 1)))
    return Home(warehouse, states)


def _by_corpus(table: str, draw: Callable[[pl.DataFrame], charts.Spec], title: str) -> Callable[[Warehouse], Drawn]:
    """A chart for each corpus of a table."""

    def found(warehouse: Warehouse) -> Drawn:
        for (corpus,), own in warehouse.read(table).group_by(["corpus"], maintain_order=True):
            yield f"{corpus}: {title}", draw(own)

    return found


def _ranges(
    rows: pl.DataFrame, table: str, name: str, panel: pl.Expr, row: pl.Expr, kind: pl.Expr
) -> pl.DataFrame:  # fmt: skip
    """Rows of a table as `charts.ranges` takes them; a number without an interval is a point."""
    ends = points(table, name)
    drawn = {key: pl.coalesce(end, ends["value"]) for key, end in ends.items()}
    return rows.select(panel=panel, row=row, kind=kind, **drawn)


def _agreement(rows: pl.DataFrame) -> charts.Spec:
    """Translators among themselves, and how far each lies from the centroid."""
    own = rows.filter(pl.col("measure").is_in(["similarity", "centroid_distance"]))
    pair = pl.when(pl.col("other") != "").then(pl.format("{} – {}", "translator", "other")).otherwise("translator")
    (measure,) = cells("translator_agreement", "measure")
    drawn = _ranges(own, "translator_agreement", "value", measure, pair, pl.lit("human")).sort("panel", "value")
    return charts.ranges(drawn, INTERVAL, width=170)


def _differences(rows: pl.DataFrame) -> charts.Spec:
    """Differences of systems in similarity: between models if there are two or more, else between all systems."""
    own = rows.filter(measure="sim_best").sort("difference", descending=True)
    models = own.filter(kind="model", other_kind="model")
    own = models if len(models) else own
    return _apart(own, "system_comparison", pl.lit(""), "system", "similarity to the closest reference")


def _apart(rows: pl.DataFrame, table: str, panel: pl.Expr, first: str, measure: str) -> charts.Spec:
    """Differences with their intervals; significant and insignificant differences are two kinds."""
    kind = pl.when(pl.col("p_holm") < significance.LEVEL).then(pl.lit(SURE)).otherwise(pl.lit(UNSURE))
    drawn = _ranges(rows, table, "difference", panel, pl.format("{} – {}", first, "other"), kind)
    return charts.ranges(drawn, f"difference of {measure}, {INTERVAL}", width=340, columns=1, rule=0)


def _slices(warehouse: Warehouse) -> Drawn:
    """Every system in the thirds of a corpus by length and spread, and in its collections, the best first."""
    for (corpus,), rows in warehouse.read("slice_summary").group_by(["corpus"], maintain_order=True):
        order = rows.group_by("kind", "system").agg(mean=pl.col("sim_best").mean())
        own = rows.join(order, on=["kind", "system"]).sort(
            "dimension", "mean", "system", "least", "slice", descending=[False, True, False, False, False]
        )
        thirds, collections = own.filter(pl.col("least").is_not_null()), own.filter(pl.col("least").is_null())
        (dimension,) = cells("slice_summary", "dimension")
        system = named("system", "kind")
        if len(thirds):
            drawn = _ranges(thirds, "slice_summary", "sim_best", dimension, system, pl.col("slice"))
            yield f"{corpus}: similarity by thirds", _shared(drawn)
        if len(collections):
            drawn = _ranges(collections, "slice_summary", "sim_best", pl.col("slice"), system, pl.col("kind"))
            yield f"{corpus}: similarity by collection", _shared(drawn)


def _shared(rows: pl.DataFrame) -> charts.Spec:
    """Similarities on the same axis in every panel."""
    low, high = rows.select(pl.col("low").min(), pl.col("high").max()).row(0)
    domain = None if low is None else [float(low), float(high)]
    return charts.ranges(rows, "similarity", width=125, columns=3, domain=domain)


def _detection(rows: pl.DataFrame) -> charts.Spec:
    """AUC of drift for damaged against sound translations, by severity and kind of damage."""
    own = rows.filter(pl.col("metric") == "drift", pl.col("auc").is_not_null(), pl.col("severity") > 0)
    easy = own.group_by("kind").agg(mean=pl.col("auc").mean())
    own = own.join(easy, on="kind").sort("severity", "mean", "kind", descending=[False, True, False])
    drawn = _ranges(own, "sensitivity", "auc", pl.format("severity {}", "severity"), pl.col("kind"), pl.lit("model"))
    return charts.ranges(drawn, "AUC of drift", width=145, columns=3, rule=0.5, domain=[0, 1])


def _thresholds(rows: pl.DataFrame) -> charts.Spec:
    """Recall and false alarms of each threshold, over all kinds of damage, by severity."""
    own = rows.filter(pl.col("kind") == "all", pl.col("severity") > 0).sort("severity", "rule")
    table, panel = "sensitivity_threshold", pl.format("severity {}", "severity")
    drawn = pl.concat([
        _ranges(own, table, name, panel, pl.col("rule"), pl.lit(catalogue.column(table, name).label))
        for name in ("recall", "false_alarms")
    ])  # fmt: skip
    return charts.ranges(drawn, "%", width=145, columns=3, domain=POINTS)


def _marks(rows: pl.DataFrame) -> charts.Spec:
    """Mean marks of each judge, best model first."""
    own = rows.sort("judge", "mean", descending=[False, True])
    drawn = _ranges(own, "rubric_summary", "mean", pl.col("judge"), pl.col("model"), pl.lit("model"))
    return charts.ranges(drawn, f"mean mark, {INTERVAL}", width=190, domain=[1, 5])


def _adherence(rows: pl.DataFrame) -> charts.Spec:
    """Adherence of each model to the glossary, and adherence of the human translations of the same chunks."""
    own = rows.sort("adherence", descending=True, nulls_last=True)
    models = _ranges(own, "adherence_summary", "adherence", pl.lit(""), pl.col("model"), pl.lit("model"))
    share = 100 * pl.col("human_adherence")
    people = own.select(panel=pl.lit(""), row="model", kind=pl.lit("human"), value=share, low=share, high=share)
    return charts.ranges(pl.concat([models, people]), f"% of the terms, {INTERVAL}", width=340)


def _seats(rows: pl.DataFrame) -> charts.Spec:
    """Chart of seats and ensembles: how often each decides, and how often its decisions are right."""
    words = pl.concat_str(
        "kind", *(pl.when(pl.col(name) != "").then(pl.col(name)) for name in ("judge", "aspect", "weight_words")),
        separator=" ", ignore_nulls=True,
    )  # fmt: skip
    own = rows.with_columns(weight_words=pl.format("weight {}", "weight").fill_null(""))
    table = "ensemble_calibration"
    drawn = pl.concat([
        _ranges(own, table, name, pl.lit(catalogue.column(table, name).label), words, pl.lit("judge"))
        for name in ("coverage", "accuracy")
    ])  # fmt: skip
    return charts.ranges(drawn, f"%, {INTERVAL}", width=180, rule=PARITY, domain=POINTS)


def _scores(table: str, system: str, kind: str) -> Callable[[Warehouse], Drawn]:
    """Scores of a table by task, best first."""

    def found(warehouse: Warehouse) -> Drawn:
        rows = warehouse.read(table).sort("task", "score", descending=[False, True])
        if len(rows):
            drawn = _ranges(rows, table, "score", pl.col("task"), pl.col(system), pl.lit(kind))
            yield "Scores by task", charts.ranges(drawn, f"score, {INTERVAL}", width=170, domain=POINTS)

    return found


def _calls(warehouse: Warehouse) -> Drawn:
    """Costs of calls; numbers of calls if no call has a price."""
    costs = list(of_all(content.costs, "model_call")(warehouse))
    calls = warehouse.read("model_call", columns=["model", "purpose"]).group_by("model", "purpose").agg(value=pl.len())
    if len(calls) and not costs:
        words = pl.col("value").cast(pl.String)
        drawn = calls.sort("value", "model", "purpose", descending=[True, False, False]).select(
            "value", row=pl.format("{}, {}", "model", "purpose"), kind=pl.lit("calls"), words=words
        )
        costs = [("Calls without a price", charts.amounts(drawn, "calls", {"calls": "sky"}, width=340))]
    yield from costs


def _comparisons(warehouse: Warehouse) -> Drawn:
    """Each two models, means over the tasks of a benchmark in a language."""
    rows = warehouse.read("understanding_comparison").filter(task="")
    rows = rows.sort("benchmark", "language", "difference", descending=[False, False, True])
    if len(rows):
        panel = pl.format("{} {}", "benchmark", "language")
        yield "Differences of means", _apart(rows, "understanding_comparison", panel, "model", "mean score, points")


def _funnel(rows: pl.DataFrame) -> charts.Spec:
    """How many passages each filter drops."""
    own = rows.filter(pl.col("affected") > 0).sort("step")
    drawn = own.select(row="reason", kind=pl.lit("dropped"), value="affected", words=pl.col("affected").cast(pl.String))
    return charts.amounts(drawn, "passages dropped", {"dropped": "orange"}, width=340)


OF: dict[str, Callable[[Warehouse], Drawn]] = {
    "model_summary": of_corpora("drift_score", content.drift),
    "leaderboard": of_corpora("leaderboard", content.leaderboard),
    "metric_rank": of_corpora("metric_rank", content.leaderboard, content.concordance),
    "closest_share": of_corpora("closest_share", content.closest),
    "translator_agreement": _by_corpus("translator_agreement", _agreement, "translators among themselves"),
    "system_comparison": _by_corpus("system_comparison", _differences, "each two systems"),
    "slice_summary": _slices,
    "audit_outcome": of_corpora("audit_outcome", content.severity, content.categories),
    "error_estimate": of_corpora("error_estimate", content.severity),
    "judge_calibration": of_corpora("judge_calibration", content.calibration),
    "pairwise_score": of_all(content.pairwise, "pairwise_score"),
    "anchor_score": of_all(content.pairwise, "pairwise_score"),
    "rubric_summary": _by_corpus("rubric_summary", _marks, "marks"),
    "adherence_summary": _by_corpus("adherence_summary", _adherence, "terms of the glossary"),
    "literary_score": of_corpora("literary_score", content.literary),
    "ensemble_calibration": _by_corpus("ensemble_calibration", _seats, "judges against people"),
    "task_score": _scores("task_score", "model", "model"),
    "baseline_score": _scores("baseline_score", "baseline", "baseline"),
    "understanding_board": of_all(content.understanding, "understanding_board"),
    "understanding_comparison": _comparisons,
    "sensitivity": _by_corpus("sensitivity", _detection, "damage that drift sees"),
    "sensitivity_threshold": _by_corpus("sensitivity_threshold", _thresholds, "what thresholds find in all"),
    "model_call": _calls,
    "funnel": _by_corpus("funnel", _funnel, "passages dropped"),
}
"""The charts of an asset, read from the warehouse; none where it has no rows."""

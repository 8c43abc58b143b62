"""Charts of each aggregate asset in Dagster's UI: titles and Vega-Lite specifications.

Here: which exhibits an asset draws, and charts of assets without a chart in the report. Not here: how a chart looks
(report.charts), images (plots).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

import polars as pl

from benchmark_assets import views
from benchmark_assets.audit.exhibits import CALIBRATION
from benchmark_assets.contamination.exhibits import KNOWN, MEMORY
from benchmark_assets.error_spans.exhibits import SPANS
from benchmark_assets.literary.exhibits import GLOSSARY, SEATS
from benchmark_assets.pairwise.exhibits import MARKS
from benchmark_assets.reporting import exhibits
from benchmark_assets.reporting.report import ASSETS, charts, content
from benchmark_assets.reporting.report.display import Display, Home
from benchmark_assets.sensitivity.exhibits import SENSITIVITY, THRESHOLDS
from benchmark_assets.understanding.exhibits import DIFFERENCES, SCORES
from resources.exhibits import Exhibit, Ranges
from resources.warehouse import Warehouse

Drawn = Iterator[tuple[str, charts.Spec]]


def drawn(warehouse: Warehouse, asset: str) -> Drawn:
    """Title and chart of each exhibit that an asset draws, corpus by corpus; none if the asset has no rows."""
    home = _home(warehouse)
    for corpus in sorted(warehouse.read("corpus", columns=["corpus"])["corpus"]):
        for section in OF_CORPORA.get(asset, ()):
            for display in content.displays(home, section, corpus):
                if display.chart is not None:
                    yield f"{corpus}: {display.title}", display.chart
    for display in OF_ALL[asset](home) if asset in OF_ALL else ():
        if display.chart is not None:
            yield display.title, display.chart


def _home(warehouse: Warehouse) -> Home:
    """A `Home` in which all assets have the same version and time, since charts do not show them."""
    empty = [pl.lit("").alias(name) for name in ("model", "passage", "task", "version")]
    states = pl.DataFrame({"asset": ASSETS}).with_columns(*empty, updated_at=pl.lit(datetime(1970, 1, 1)))
    return Home(warehouse, states, every_chart=True)


def _slices(home: Home, corpus: str) -> list[Display]:
    """Similarity of every system in each slice of a corpus, models first."""
    rows = home.read("slice_summary", corpus).sort(
        "dimension", "kind", "system", "least", "slice", descending=[False, True, False, False, False]
    )
    third = pl.col("least").is_not_null()
    return [
        *_similarities(home, corpus, "Similarity by thirds", rows.filter(third), "slice", "dimension"),
        *_similarities(home, corpus, "Similarity by collection", rows.filter(~third), "kind", "slice"),
    ]


def _similarities(home: Home, corpus: str, title: str, rows: pl.DataFrame, kind: str, panel: str) -> list[Display]:
    """Similarities with the same axis in all panels."""
    low, high = (pl.coalesce(f"sim_best_{end}", "sim_best") for end in ("low", "high"))
    ends = rows.select(low.min(), high.max()).row(0)
    chart = Ranges(
        "sim_best", exhibits.named("system", "kind"), kind, panel, "similarity", 125, 3,
        domain=None if None in ends else ends,
    )  # fmt: skip
    return home.show(exhibits.SLICES._replace(chart=chart), corpus, rows, title=title, table=[])


def _costs(home: Home) -> list[Display]:
    """Costs of calls, or numbers of calls if no call has a known cost."""
    shown = content.costs(home)
    calls = home.warehouse.read("model_call", columns=["model", "purpose"])
    if calls.is_empty() or shown[0].chart is not None:
        return shown
    plot_rows = calls.group_by("model", "purpose").agg(value=pl.len()).sort(
        "value", "model", "purpose", descending=[True, False, False]
    ).select(
        "value", row=pl.format("{}: {}", "purpose", "model"), kind=pl.lit("calls"),
        words=pl.col("value").cast(pl.String),
    )  # fmt: skip
    chart = charts.amounts(plot_rows, "calls", {"calls": "sky"}, width=340)
    return [shown[0]._replace(title="Calls without a price", chart=chart)]


def _funnel(home: Home, corpus: str) -> list[Display]:
    """Number of passages that each filter drops."""
    rows = views.read(home.warehouse, "funnel", pl.DataFrame({"corpus": [corpus]}))
    plot_rows = rows.filter(pl.col("affected") > 0).sort("step").select(
        row=pl.col("reason").str.replace_all("_", " "), kind=pl.lit("dropped"), value="affected",
        words=pl.col("affected").cast(pl.String),
    )  # fmt: skip
    chart = charts.amounts(plot_rows, "passages dropped", {"dropped": "orange"}, width=340)
    return [home.display(corpus, "Passages dropped", "", [], [], chart)] if len(rows) else []


OF_CORPORA: Mapping[str, Sequence[Exhibit | Callable[[Home, str], list[Display]]]] = {
    "model_summary": [content.of_drift], "leaderboard": [content.boards],
    "metric_rank": [content.ranks, content.concordance], "translator_agreement": [exhibits.AGREEMENT, content.closest],
    "system_comparison": [exhibits.DIFFERENCES], "human_range": [content.human_range, exhibits.OUTLIERS],
    "slice_summary": [_slices], "metric_summary": [exhibits.MEANS], "contamination": [KNOWN],
    "memory": [MEMORY],
    "audit_outcome": [content.severity, content.categories], "error_estimate": [content.error_estimates],
    "judge_calibration": [CALIBRATION, content.confidence], "metric_agreement": [content.metric_agreement],
    "rubric_summary": [MARKS], "span_summary": [SPANS], "adherence_summary": [GLOSSARY],
    "literary_score": [content.literary_scores], "ensemble_calibration": [SEATS],
    "reference_examination": [exhibits.REFERENCES], "sensitivity": [SENSITIVITY, THRESHOLDS], "selection": [_funnel],
}  # fmt: skip
"""What assets draw for each corpus."""

OF_ALL: Mapping[str, Callable[[Home], list[Display]]] = {
    "pairwise_score": content.strengths, "anchor_score": content.strengths, "model_call": _costs,
    "task_score": lambda home: home.show(SCORES),
    "understanding_board": lambda home: content.of_understanding(home._replace(every_chart=False)),
    "understanding_comparison": lambda home: home.show(DIFFERENCES),
}  # fmt: skip
"""What assets draw that belong to no corpus."""

"""Assets about judges: their replies to sentinels, and what influences their verdicts besides quality."""

import dagster as dg
import polars as pl

from benchmark_assets.adjudication.panel import PanelExam
from benchmark_assets.corpus.units import kinds
from benchmark_assets.error_spans.judging import SpanExam
from benchmark_assets.examination.study import Examinations
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Plots, refresh
from benchmark_assets.literary.assets import aspect_vote, glossary
from benchmark_assets.literary.ensemble import SeatExam
from benchmark_assets.metrics.intervals import SIGNATURE
from benchmark_assets.pairwise.assets import comparison
from benchmark_assets.pairwise.matches import ComparisonExam
from benchmark_assets.pairwise.rubric import RubricExam
from benchmark_assets.references.assets import reference
from benchmark_assets.studies.assets import study_asset
from benchmark_assets.vital_signs.exhibits import SIGNS
from benchmark_assets.vital_signs.signs import of_judges
from resources.provider.provider import Provider
from resources.warehouse import Warehouse


class Sentinels(Examinations):
    """Replies of all judges to sentinels: human translations, and texts with known faults.

    A judge is examined once for each language direction of the corpora whose descriptions request an examination, and
    again if the judge, its served version, a text or the glossary changes. An examination ends as soon as its verdict
    is clear.
    """

    exams = (PanelExam, ComparisonExam, RubricExam, SpanExam, SeatExam)


sentinel = study_asset(Sentinels, None, "examination", [reference, "source_text", glossary])


@dg.asset(group_name="vital_signs", code_version="1", kinds={"duckdb", "numpy"}, deps=[comparison, aspect_vote])
def vital_sign(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], provider: dg.ResourceParam[Provider],
    plots: Plots,
) -> dg.Output[None]:  # fmt: skip
    """Vital signs of each judge, by model: effects of position and length, contradictions, refusals and ties."""
    units = kinds(warehouse)

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        judged = any(len(warehouse.read(table, most=1)) for table in ("comparison", "aspect_vote", "vital_sign"))
        applicable = partitions if judged else partitions.clear()
        return applicable.with_columns(settings=pl.lit(f"{SIGNATURE}; {sorted(units.items())}"))

    def compute(_: pl.DataFrame) -> Computed:
        calls = provider.ledger.attempts().select("served_model", "run", call="key")
        return Computed({"vital_sign": of_judges(warehouse, calls)})

    return refresh(context, warehouse, compute, settings, [SIGNS], sparse=True, draw=plots)

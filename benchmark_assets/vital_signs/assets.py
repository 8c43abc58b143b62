"""The asset of vital signs: what influences the verdicts of judges, besides quality."""

import dagster as dg
import polars as pl

from benchmark_assets.corpus.units import kinds
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Description, Plots, refresh
from benchmark_assets.literary.assets import aspect_vote
from benchmark_assets.metrics.intervals import SIGNATURE
from benchmark_assets.pairwise.assets import comparison
from benchmark_assets.vital_signs.signs import of_judges
from resources.provider.provider import Provider
from resources.tables import shown
from resources.warehouse import Warehouse


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

    def describe() -> Description:
        return {"vital signs": shown(warehouse.read("vital_sign"), "vital_sign")}

    return refresh(context, warehouse, compute, settings, describe, sparse=True, draw=plots)

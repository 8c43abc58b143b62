"""The asset of published numbers beside ours. Not here: computation (reproduction)."""

import dagster as dg
import polars as pl

from benchmark_assets.benchmarks.exhibits import of_reproduction
from benchmark_assets.benchmarks.numbers import ASSETS, read
from benchmark_assets.benchmarks.reproduction import REPRODUCTION, added, reproduce
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import refresh
from resources.digest import digest
from resources.warehouse import Warehouse


@dg.asset(group_name="benchmarks", code_version="2", kinds={"duckdb"}, deps=ASSETS)
def reproduction(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Every number that the papers of the added benchmarks print, our value, their difference, and the reason for it.

    Assets that were never materialized count as empty: their numbers are not computed.
    """
    benchmarks = {name: read(path) for name, path in added(warehouse).items()}

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        applicable = partitions if benchmarks else partitions.clear()
        return applicable.with_columns(settings=pl.lit(digest(*benchmarks, *benchmarks.values())))

    def compute(_: pl.DataFrame) -> Computed:
        rows = [reproduce(warehouse, name, numbers) for name, numbers in benchmarks.items()]
        return Computed({"reproduction": pl.concat([pl.DataFrame(schema=REPRODUCTION), *rows])})

    return refresh(context, warehouse, compute, settings, lambda: of_reproduction(warehouse), sparse=True, partial=True)

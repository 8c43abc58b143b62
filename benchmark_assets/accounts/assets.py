"""The asset `model_call`: every call to a model, with its cost."""

import dagster as dg
import polars as pl

from benchmark_assets.accounts.costs import costs, recorded
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Description, Plots, refresh
from resources.provider.provider import Provider
from resources.tables import markdown
from resources.warehouse import Warehouse


@dg.asset(group_name="accounts", code_version="3", kinds={"duckdb", "sqlite"})
def model_call(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], provider: dg.ResourceParam[Provider],
    plots: Plots,
) -> dg.Output[None]:  # fmt: skip
    """Every attempt in the ledger, with outcome, served model, tokens and cost. Texts stay in the ledger."""
    state = provider.ledger.state()  # read before the rows, so that later attempts make the asset stale
    attempts = provider.ledger.attempts()

    def compute(_: pl.DataFrame) -> Computed:
        return Computed({"model_call": recorded(attempts)})

    def describe() -> Description:
        return {"costs": markdown(costs(attempts))}

    return refresh(context, warehouse, compute, settings=state, describe=describe, draw=plots)

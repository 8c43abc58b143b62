"""The Dagster asset of a study. Not here: the protocol of studies (studies.study), particular studies."""

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Description, refresh
from benchmark_assets.partitions import SINGLE_RUN
from benchmark_assets.studies.study import CALLS, Study
from resources import journal
from resources.provider.estimate import CostEstimate
from resources.warehouse import Warehouse

PAYER = "variorum/payer"
"""Tag of a run that shares its budget with other runs, such as the runs of an evaluation of several corpora. The
value of the tag is the id whose budget pays for all these runs."""


def payer(context: dg.AssetExecutionContext) -> str:
    """Id of the run whose budget pays for this run's questions to models."""
    return context.run.tags.get(PAYER, context.run.run_id)


def note_plan(folder: Path, run: str, asset: str, stale: pl.DataFrame, cost: CostEstimate | None) -> None:
    """Note in the journal of a run what an asset will ask: calls, and stale partitions by model."""
    models = stale["model"].value_counts().rows() if "model" in stale.columns else []
    calls = cost.calls - cost.recorded if cost else 0
    journal.note(folder, run, {"asset": asset, "calls": calls, "partitions": dict(models)})


def study_asset(
    study: type[Study],
    partitions_def: dg.PartitionsDefinition[Any] | None,
    group_name: str,
    deps: Iterable[Any],
    describe: Callable[[Warehouse], Description] = lambda _: {},
) -> dg.AssetsDefinition:
    """The asset that materializes a study.

    Parameters
    ----------
    deps
        Assets that the study reads.
    describe
        Function from the warehouse to metadata for Dagster's UI (see `refresh`).
    """

    @dg.asset(
        name=study.name, description=inspect.getdoc(study), partitions_def=partitions_def,
        backfill_policy=SINGLE_RUN if partitions_def else None, group_name=group_name, code_version="1",
        metadata={"tables": [*study.tables, CALLS]}, kinds={"duckdb"}, deps=deps,
    )  # fmt: skip
    def asset(
        context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], systems: dg.ResourceParam[Any]
    ) -> dg.Output[None]:
        bound = study(warehouse, systems)

        def compute(stale: pl.DataFrame) -> Computed:
            run = payer(context)
            with journal.kept(warehouse.folder, run, bound.provider) as alone:
                if alone:  # the run belongs to no update, which would have noted this
                    note_plan(warehouse.folder, run, study.name, stale, bound.cost(stale))
                return bound.compute(stale, run)

        settings = bound.standing_settings
        return refresh(
            context, warehouse, compute, settings, lambda: describe(warehouse), bound.cost, sparse=bound.sparse,
            partial=True,
        )  # fmt: skip

    return asset

"""Assets of the translations: what each system made of each passage."""

from collections.abc import Iterator, Mapping

import dagster as dg
import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import refresh
from benchmark_assets.partitions import BY_PASSAGE, GRID, SINGLE_RUN
from benchmark_assets.selection.candidates import selected
from benchmark_assets.translation.systems import Systems
from benchmark_assets.translation.tables import tabulate
from resources.provider.estimate import Estimate, total
from resources.warehouse import Warehouse

PAYER = "variorum/payer"
"""Tag of runs that share one budget, by default the run's own: several corpora make several runs of one evaluation."""


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="translation", code_version="1",
    metadata={"tables": ["refusal", "translation_call"]}, kinds={"duckdb"},
    deps=[
        dg.AssetDep(dg.AssetKey(name), partition_mapping=BY_PASSAGE)
        for name in ("source_text", "selection", "glossary")
    ],
)  # fmt: skip
def model_output(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], systems: dg.ResourceParam[Systems]
) -> dg.Output[None]:
    """What a system made of a passage that is in the benchmark.

    An output is asked for again only when its source or the system changed, or its glossary where the corpus is
    literary.

    Outputs of a model that was removed from the registry stay as they are.
    """

    def sources(due: pl.DataFrame) -> Iterator[tuple[str, Mapping[str, str]]]:
        rows = warehouse.read("source_text", due.select("passage"), ["passage", "text"])
        texts = dict(rows.iter_rows())
        for (model,), own in due.group_by(["model"], maintain_order=True):
            yield str(model), {key: texts[key] for key in own["passage"]}

    def translate(due: pl.DataFrame) -> Computed:
        payer = context.run.tags.get(PAYER, context.run.run_id)
        rows = [(model, *output) for model, own in sources(due) for output in systems.translate(model, own, payer)]
        return tabulate(rows, due)

    def cost(due: pl.DataFrame) -> Estimate | None:
        estimates = [systems.estimate(model, own) for model, own in sources(due)]
        return total(each for each in estimates if each) if any(estimates) else None

    def settings(asked: pl.DataFrame) -> pl.DataFrame:
        chosen = selected(warehouse, asked)["passage"].to_list()
        return systems.settings(asked).filter(pl.col("passage").is_in(chosen) | pl.col("settings").is_null())

    return refresh(context, warehouse, translate, settings, cost=cost)

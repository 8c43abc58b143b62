"""Assets of the translations: what each system made of each passage."""

from collections import defaultdict

import dagster as dg
import polars as pl

from benchmark_assets.lineage import Computed, refresh
from benchmark_assets.partitions import BY_PASSAGE, GRID, SINGLE_RUN
from benchmark_assets.translation.systems import Systems
from benchmark_assets.translation.tables import tabulate
from resources.warehouse import Warehouse

PAYER = "variorum/payer"
"""Tag of runs that share one budget, by default the run's own: several corpora make several runs of one evaluation."""


@dg.asset(
    partitions_def=GRID, backfill_policy=SINGLE_RUN, group_name="translation", code_version="1", kinds={"duckdb"},
    deps=[dg.AssetDep(dg.AssetKey("source_text"), partition_mapping=BY_PASSAGE)],
)  # fmt: skip
def model_output(context: dg.AssetExecutionContext, warehouse: Warehouse, systems: Systems) -> dg.Output[None]:
    """What a system made of a passage. An output is asked for again only when its source or the system changed."""
    passages: dict[str, list[str]] = defaultdict(list)
    for key in context.partition_keys:
        model, passage = str(key).split("|")
        passages[model].append(passage)
    fingerprints = [
        (model, passage, fingerprint)
        for model, keys in passages.items()
        for passage, fingerprint in systems.system(model).fingerprints(keys).items()
    ]

    payer = context.run.tags.get(PAYER, context.run.run_id)

    def translate(due: pl.DataFrame) -> Computed:
        sources = warehouse.read("source_text", due.select("passage"))
        texts = dict(sources.select("passage", "text").iter_rows())
        rows = [
            (model, *output)
            for (model,), own in due.group_by(["model"], maintain_order=True)
            for output in systems.system(str(model)).translate({key: texts[key] for key in own["passage"]}, payer)
        ]
        return tabulate(rows, due)

    columns = ["model", "passage", "parameters"]
    parameters = pl.DataFrame(fingerprints, schema=dict.fromkeys(columns, pl.String), orient="row")
    return refresh(context, warehouse, translate, parameters, also=["refusal", "translation_call"])

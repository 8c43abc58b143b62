"""Assets of the translations: what each system made of each passage."""

from collections import defaultdict

import dagster as dg
import polars as pl

from benchmark_assets.lineage import Computed, refresh
from benchmark_assets.partitions import BY_PASSAGE, GRID, SINGLE_RUN
from resources.systems import Systems
from resources.warehouse import Warehouse

OUTPUT = {"model": pl.String, "passage": pl.String, "text": pl.String, "error": pl.String}


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

    def translate(due: pl.DataFrame) -> Computed:
        sources = warehouse.read("source_text", due.select("passage"))
        texts = dict(sources.select("passage", "text").iter_rows())
        rows = [
            (model, *output)
            for (model,), own in due.group_by(["model"], maintain_order=True)
            for output in systems.system(str(model)).translate({key: texts[key] for key in own["passage"]})
        ]
        outputs = pl.DataFrame(rows, schema=OUTPUT, orient="row")
        silent = due.join(outputs, on=["model", "passage"], how="anti")
        nothing = silent.with_columns(text=pl.lit(None, pl.String), error=pl.lit("the system returned nothing"))
        outputs = pl.concat([outputs, nothing])
        failed = pl.col("text").is_null()
        return Computed({"model_output": outputs.filter(~failed).drop("error")}, outputs.filter(failed).drop("text"))

    columns = ["model", "passage", "parameters"]
    parameters = pl.DataFrame(fingerprints, schema=dict.fromkeys(columns, pl.String), orient="row")
    return refresh(context, warehouse, translate, parameters)

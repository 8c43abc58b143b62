"""Assets of contamination: shared wording by passage, and the systems that copy a reference."""

import dagster as dg
import polars as pl

from benchmark_assets.contamination import evidence
from benchmark_assets.contamination.elsewhere import elsewhere
from benchmark_assets.contamination.exhibits import EXHIBITS
from benchmark_assets.contamination.judging import contamination as judged
from benchmark_assets.contamination.judging import kinship, related
from benchmark_assets.contamination.memory import RULE, MemoryVotes, memories, summary
from benchmark_assets.contamination.without import with_scores
from benchmark_assets.contamination.wording import shared
from benchmark_assets.corpus.units import kinds, units
from benchmark_assets.lineage.computed import Computed
from benchmark_assets.lineage.refresh import Plots, refresh
from benchmark_assets.metrics.assets import REFERENCE, drift_score
from benchmark_assets.metrics.intervals import SIGNATURE
from benchmark_assets.partitions import BY_PASSAGE, GRID, PASSAGE, partitioned
from benchmark_assets.references.assets import reference
from benchmark_assets.studies.assets import study_asset
from benchmark_assets.translation.assets import model_output
from resources.warehouse import Warehouse


@dg.asset(
    **partitioned(GRID), group_name="contamination", code_version="1", kinds={"duckdb", "polars"},
    deps=[model_output, dg.AssetDep(reference, partition_mapping=BY_PASSAGE)],
)  # fmt: skip
def shared_wording(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Longest common run, 3-gram overlap and near-identity of an output and each complete reference."""

    def compute(stale: pl.DataFrame) -> Computed:
        outputs = warehouse.read("model_output", stale, ["model", "passage", "text"]).drop_nulls("text")
        pairs = outputs.join(_references(warehouse, stale).rename({"text": "reference"}), on="passage")
        return Computed({"shared_wording": shared(pairs)})

    return refresh(context, warehouse, compute)


@dg.asset(
    **partitioned(PASSAGE), group_name="contamination", code_version="1", kinds={"duckdb", "polars"}, deps=[reference],
)  # fmt: skip
def translator_wording(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[None]:
    """Longest common run, 3-gram overlap and near-identity of each pair of complete references of a passage."""

    def compute(stale: pl.DataFrame) -> Computed:
        references = _references(warehouse, stale)
        pairs = references.join(references.rename({"translator": "other", "text": "reference"}), on="passage")
        return Computed({"translator_wording": shared(pairs.filter(pl.col("translator") != pl.col("other")))})

    return refresh(context, warehouse, compute)


@dg.asset(
    group_name="contamination", code_version="1", kinds={"duckdb", "polars"},
    deps=[shared_wording, translator_wording, drift_score, model_output, reference],
    metadata={"tables": ["copied_passage", "kinship"]},
)  # fmt: skip
def contamination(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots
) -> dg.Output[None]:
    """Which models copy which reference, with the passages, and scores against the other references.

    A further table has the translators who are not independent of each other.
    """
    settings = f"{evidence.SIGNATURE}; {SIGNATURE}; {sorted(kinds(warehouse).items())}"

    def compute(_: pl.DataFrame) -> Computed:
        wordings, people = (_rows(warehouse, table) for table in ("shared_wording", "translator_wording"))
        outputs = warehouse.read("model_output", columns=["model", "passage", "text"]).drop_nulls("text")
        found = elsewhere(outputs, _references(warehouse))
        kinships = kinship(people, units(warehouse))
        pairs, passages = judged(wordings, people, related(kinships), found, units(warehouse))
        tables = {"contamination": with_scores(warehouse, pairs), "copied_passage": passages, "kinship": kinships}
        return Computed(tables)

    return refresh(context, warehouse, compute, settings, EXHIBITS, draw=plots)


memory_vote = study_asset(MemoryVotes, GRID, "contamination", [model_output, REFERENCE])


@dg.asset(
    group_name="contamination", code_version="1", kinds={"duckdb", "polars"},
    deps=[memory_vote, contamination, reference],
)  # fmt: skip
def memory(context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse], plots: Plots) -> dg.Output[None]:
    """Which models that can be asked know which reference by heart."""

    def settings(partitions: pl.DataFrame) -> pl.DataFrame:
        asked = any(section.passages for section in memories(warehouse).values())
        signature = f"{RULE}; {sorted(kinds(warehouse).items())}" if asked else ""
        return (partitions if asked else partitions.clear()).with_columns(settings=pl.lit(signature))

    def compute(_: pl.DataFrame) -> Computed:
        votes, kin = _rows(warehouse, "memory_vote"), related(_rows(warehouse, "kinship"))
        references = _references(warehouse, votes.select("passage").unique())
        return Computed({"memory": summary(votes, references, kin, units(warehouse))})

    return refresh(context, warehouse, compute, settings, EXHIBITS, sparse=True, partial=True, draw=plots)


def _rows(warehouse: Warehouse, table: str) -> pl.DataFrame:
    """All rows of a table, without provenance."""
    rows = warehouse.read(table)
    return rows.drop("fingerprint", "run_id", "updated_at")


def _references(warehouse: Warehouse, partitions: pl.DataFrame | None = None) -> pl.DataFrame:
    """Complete references of the passages, or all: columns `passage`, `translator`, `text`."""
    keys = None if partitions is None else partitions.select("passage")
    columns = ["passage", "translator", "text", "complete"]
    return warehouse.read("reference", keys, columns).filter("complete").drop("complete")

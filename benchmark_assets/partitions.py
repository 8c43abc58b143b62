"""All partitions definitions, and the composition of their keys. Not here: the syntax of keys (resources.keys).

A passage's key is `corpus/passage_id`; large corpora have keys of shards instead (lineage.shards). A grid's key is
`model|passage` (Dagster orders dimensions alphabetically), so that the outputs of a model are a contiguous range. An
understanding task is one partition, not one per sample: Dagster's UI can show thirteen tasks, but not five thousand
samples. When a task is recomputed, stored answers are reused.
"""

import warnings
from collections.abc import Mapping

import dagster as dg

# Multi-dimensional partitions and single-run backfills are beta in Dagster 1.13; tests cover the pinned version.
warnings.filterwarnings("ignore", category=dg.BetaWarning)

PASSAGE = dg.DynamicPartitionsDefinition(name="passage")
MODEL = dg.DynamicPartitionsDefinition(name="model")
GRID = dg.MultiPartitionsDefinition({"model": MODEL, "passage": PASSAGE})
TASK = dg.DynamicPartitionsDefinition(name="task")
TASK_GRID = dg.MultiPartitionsDefinition({"model": MODEL, "task": TASK})

SINGLE_RUN = dg.BackfillPolicy.single_run()
"""A backfill is always a single run, even if it covers all passages of a model."""

BY_PASSAGE = dg.MultiToSingleDimensionPartitionMapping("passage")
BY_TASK = dg.MultiToSingleDimensionPartitionMapping("task")
BY_MODEL = dg.MultiToSingleDimensionPartitionMapping("model")


def range_tags(first: str, last: str) -> dict[str, str]:
    """Tags of a run over all partitions from `first` to `last`, inclusive."""
    return {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}


def run_ends(tags: Mapping[str, str]) -> tuple[str, str] | None:
    """First and last partition of a run, given its tags; None for a run without partitions."""
    first = tags.get("dagster/asset_partition_range_start") or tags.get("dagster/partition")
    last = tags.get("dagster/asset_partition_range_end") or first
    return (first, last) if first and last else None


def dimensions(partitions_def: dg.PartitionsDefinition | None) -> list[str]:
    """Names of an asset's dimensions, in alphabetical order: `[]`, `["passage"]`, `["model", "passage"]`, …"""
    if isinstance(partitions_def, dg.MultiPartitionsDefinition):
        return sorted(partitions_def.partition_dimension_names)
    if isinstance(partitions_def, dg.DynamicPartitionsDefinition) and partitions_def.name:
        return [partitions_def.name]
    return []

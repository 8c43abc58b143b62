"""All partitions definitions, and the composition of their keys. Not here: the syntax of keys (resources.keys).

A passage's key is `corpus/passage_id`; large corpora have keys of shards instead (lineage.shards). A grid's key is
`model|passage` (Dagster orders dimensions alphabetically), so that the outputs of a model are a contiguous range. An
understanding task is one partition, not one per sample: Dagster's UI can show thirteen tasks, but not five thousand
samples. When a task is recomputed, stored answers are reused.
"""

import itertools
import warnings
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict

import dagster as dg
from dagster._core.definitions.partitions.context import partition_loading_context
from dagster._core.definitions.partitions.mapping import UpstreamPartitionsResult
from dagster._core.definitions.partitions.subset import DefaultPartitionsSubset, PartitionsSubset
from dagster._core.instance import DynamicPartitionsStore

# Multi-dimensional partitions and single-run backfills are beta in Dagster 1.13; tests cover the pinned version.
warnings.filterwarnings("ignore", category=dg.BetaWarning)

PASSAGE = dg.DynamicPartitionsDefinition(name="passage")
MODEL = dg.DynamicPartitionsDefinition(name="model")
GRID = dg.MultiPartitionsDefinition({"model": MODEL, "passage": PASSAGE})
TASK = dg.DynamicPartitionsDefinition(name="task")
TASK_GRID = dg.MultiPartitionsDefinition({"model": MODEL, "task": TASK})

SINGLE_RUN = dg.BackfillPolicy.single_run()
"""A backfill is always a single run, even if it covers all passages of a model."""


class MultiToSingleDimensionPartitionMapping(dg.MultiToSingleDimensionPartitionMapping):
    """Dagster's mapping, faster from cells to models, passages or tasks and back.

    Dagster lists the upstream partitions of each input before each step of a run. The base class makes objects
    with checks of each cell: a second for 50,000. The name is that of the base class, as which Dagster describes a
    mapping to its web server.
    """

    def get_upstream_mapped_partitions_result_for_partitions(
        self,
        downstream_partitions_subset: PartitionsSubset[Any] | None,
        downstream_partitions_def: dg.PartitionsDefinition[Any] | None,
        upstream_partitions_def: dg.PartitionsDefinition[Any],
        current_time: datetime | None = None,
        dynamic_partitions_store: DynamicPartitionsStore | None = None,
    ) -> UpstreamPartitionsResult:
        """The partitions upstream of the given ones, as in the base class."""
        cells, below = upstream_partitions_def, downstream_partitions_def
        if isinstance(below, dg.MultiPartitionsDefinition) and isinstance(
            downstream_partitions_subset, DefaultPartitionsSubset
        ):
            place = sorted(below.partition_dimension_names).index(str(self.partition_dimension_name))
            named = {key.split("|")[place] for key in downstream_partitions_subset.get_partition_keys()}
            return UpstreamPartitionsResult(
                partitions_subset=DefaultPartitionsSubset(named),
                required_but_nonexistent_subset=DefaultPartitionsSubset(),
            )
        if not isinstance(cells, dg.MultiPartitionsDefinition) or downstream_partitions_subset is None:
            return super().get_upstream_mapped_partitions_result_for_partitions(
                downstream_partitions_subset, downstream_partitions_def, cells, current_time, dynamic_partitions_store
            )
        own, name = list(downstream_partitions_subset.get_partition_keys()), self.partition_dimension_name
        with partition_loading_context(current_time, dynamic_partitions_store):
            keys = [
                own if each.name == name else each.partitions_def.get_partition_keys() for each in cells.partitions_defs
            ]
        upstream = cells.empty_subset().with_partition_keys(map("|".join, itertools.product(*keys)))
        return UpstreamPartitionsResult(
            partitions_subset=upstream, required_but_nonexistent_subset=cells.empty_subset()
        )


BY_PASSAGE = MultiToSingleDimensionPartitionMapping("passage")
BY_TASK = MultiToSingleDimensionPartitionMapping("task")
BY_MODEL = MultiToSingleDimensionPartitionMapping("model")


class Partitioned(TypedDict):
    """Arguments of `dagster.asset`."""

    partitions_def: dg.PartitionsDefinition[Any]
    backfill_policy: dg.BackfillPolicy


def partitioned(by: dg.PartitionsDefinition[Any]) -> Partitioned:
    """Arguments of an asset with these partitions: a backfill is always a single run."""
    return {"partitions_def": by, "backfill_policy": SINGLE_RUN}


def by_model(asset: dg.AssetsDefinition) -> dg.AssetDep:
    """A dependency of an asset of models on the cells of an asset."""
    return dg.AssetDep(asset, partition_mapping=BY_MODEL)


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

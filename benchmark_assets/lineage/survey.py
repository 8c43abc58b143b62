"""Finding an asset's stale partitions, with the reasons, or the partitions to which it applies, without a run.

Here: objects that replace the context of a run, and the reasons as text. Not here: the choice of assets
(automation.due).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self, cast

import dagster as dg
import polars as pl
from dagster._core.definitions.assets.graph.base_asset_graph import BaseAssetGraph
from dagster._core.definitions.decorators.op_decorator import DecoratedOpFunction

from benchmark_assets.lineage import shards
from benchmark_assets.lineage.events import failures, unreported
from benchmark_assets.lineage.standing import INCOMPLETE, REREAD, UNKNOWN, Cost, PartitionStates, Settings, assess
from benchmark_assets.partitions import dimensions
from resources.keys import KEYS
from resources.provider.estimate import CostEstimate
from resources.warehouse import Warehouse


class Inspection(ABC):
    """Replaces the context of an asset's run: given an inspection, `refresh` calls `examine` and computes nothing.

    Parameters
    ----------
    partitions
        The partitions to examine: columns of `KEYS`, '' for dimensions that the asset lacks.
    """

    def __init__(self, asset: dg.AssetsDefinition, partitions: pl.DataFrame) -> None:
        self._asset, self._partitions = asset, partitions

    def look(self, resources: Mapping[str, Any]) -> Self:
        """Call the asset's function with this inspection as its context; return the inspection."""
        arguments = {name: resources[name] for name in self._asset.required_resource_keys if name in resources}
        cast(DecoratedOpFunction, self._asset.op.compute_fn).decorated_fn(self, **arguments)
        return self

    @abstractmethod
    def examine(self, warehouse: Warehouse, settings: Settings, partial: bool, cost: Cost) -> None:
        """Examine the partitions. Takes the same parameters as `refresh`."""


class Applicability(Inspection):
    """The partitions to which an asset applies.

    Attributes
    ----------
    applicable
        Those of the given partitions that have settings: columns of `KEYS`. Partitions with null settings are left out,
        because they are never computed.
    """

    def __init__(self, asset: dg.AssetsDefinition, partitions: pl.DataFrame) -> None:
        super().__init__(asset, partitions)
        self.applicable = partitions.clear()

    def examine(self, warehouse: Warehouse, settings: Settings, partial: bool, cost: Cost) -> None:
        """Record the partitions that apply."""
        self.applicable = self._partitions
        if not isinstance(settings, str):
            rows = settings(self._partitions).drop_nulls("settings")
            on = [name for name in KEYS if name in rows.columns]
            self.applicable = self._partitions.join(rows, on=on, how="semi", maintain_order="left")


class Survey(Inspection):
    """Finds stale partitions.

    Parameters
    ----------
    partitions
        The partitions to examine, by Dagster's keys: columns of `KEYS`, '' for dimensions that the asset lacks.

    Attributes
    ----------
    due
        Partitions to compute, to remove or to report again: columns of `KEYS` and `reason`. In a divided corpus,
        partitions to compute or remove are listed by passage, and partitions to report again by shard.
    estimate
        Estimated model calls for computing the stale partitions; None if computing them calls no model.
    failed
        Examined partitions whose last attempt failed, by Dagster's keys: the asset's dimensions.
    """

    def __init__(
        self, graph: BaseAssetGraph[Any], instance: dg.DagsterInstance, asset: dg.AssetsDefinition,
        partitions: pl.DataFrame,
    ) -> None:  # fmt: skip
        super().__init__(asset, partitions)
        self._graph, self._instance = graph, instance
        self.due = pl.DataFrame(schema=dict.fromkeys([*KEYS, "reason"], pl.String))
        self.estimate: CostEstimate | None = None
        self.failed = partitions.clear()

    def examine(self, warehouse: Warehouse, settings: Settings, partial: bool, cost: Cost) -> None:
        """Record stale, unreported and obsolete partitions with reasons, and estimate the cost of the stale ones."""
        upstream = {key: self._graph.get(key).partitions_def for key in self._asset.keys_by_input_name.values()}
        of = shards.members(warehouse, self._partitions["passage"])
        name, partitions_def = self._asset.key, self._asset.partitions_def
        failed = failures(self._instance, name, dimensions(partitions_def))
        self.failed = failed.join(self._partitions, on=failed.columns, how="semi") if failed.width else failed
        none = self._partitions.select(*KEYS, version=pl.lit("")).clear()
        current, pending = [none], [none]
        due, to_compute = [self.due], [self._partitions.select(KEYS).clear()]
        for piece in shards.pieces(self._partitions, of):
            with warehouse.consistently():
                standing = assess(
                    self._asset, upstream, warehouse, piece.partitions, settings, partial, keys=piece.keys
                )
            current.append(_current(standing, of))
            pending += [] if len(of) else [standing.pending]
            due += _due(standing, of, failed)
            to_compute.append(standing.stale.select(KEYS))
        again = unreported(self._instance, name, partitions_def, pl.concat(current), pl.concat(pending), failed)
        due.append(again.with_columns(reason=pl.lit("stored, but not reported")))
        self.due, stale = pl.concat(due), pl.concat(to_compute)
        self.estimate = cost(stale) if len(stale) else None


def _due(standing: PartitionStates, of: pl.DataFrame, failed: pl.DataFrame) -> list[pl.DataFrame]:
    """The stale and the obsolete partitions of a standing, with reasons. `of` lists the passages of shards, and
    `failed` the partitions whose last attempt failed, by Dagster's keys."""
    keys = shards.keyed(standing.stale.select(KEYS), of)
    marked = failed.with_columns(failed=True)
    attempts = keys.join(marked, on=failed.columns, how="left", maintain_order="left") if failed.width else keys
    flags = attempts["failed"] if failed.width else pl.Series("failed", [False]).new_from_index(0, len(keys))
    reasons = pl.struct("made_from", "before", "failed").map_elements(_reason, return_dtype=pl.String)
    stale = standing.stale.with_columns(flags).with_columns(reason=reasons)
    obsolete = standing.obsolete.with_columns(reason=pl.lit("no longer applies"))
    return [rows.select(*KEYS, "reason") for rows in (stale, obsolete)]


def _current(standing: PartitionStates, of: pl.DataFrame) -> pl.DataFrame:
    """The partitions of a standing that are up to date, by Dagster's keys: `KEYS` and `version`.

    A shard with a stale or obsolete passage is left out, because it is reported with this passage.
    """
    current = shards.collapsed(standing.current, of).select(*KEYS, "version")
    if of.is_empty():
        return current
    pending = pl.concat([standing.stale.select(KEYS), standing.obsolete.select(KEYS)])
    return current.join(shards.keyed(pending, of), on=KEYS, how="anti")


def _reason(parts: Mapping[str, Any]) -> str:
    """The reason why a partition is stale, from its columns `made_from`, `before` and `failed`."""
    words = {None: "missing", UNKNOWN: "recompute requested", INCOMPLETE: INCOMPLETE}
    words[REREAD] = "stored replies can be read again"
    if parts["failed"] or parts["before"] in words:
        return "failed" if parts["failed"] else words[parts["before"]]
    before = set(parts["before"].split())
    changed = [part.partition(":")[0] for part in parts["made_from"].split() if part not in before]
    return f"{', '.join(changed)} changed"

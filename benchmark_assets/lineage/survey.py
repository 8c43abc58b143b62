"""Finding an asset's stale partitions, with the reasons, without a run.

Here: an object that replaces the context of a run, and the reasons as text. Not here: the choice of assets
(automation.due).
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

import dagster as dg
import polars as pl
from dagster._core.definitions.assets.graph.base_asset_graph import BaseAssetGraph
from dagster._core.definitions.decorators.op_decorator import DecoratedOpFunction

from benchmark_assets.lineage.events import dagster_records
from benchmark_assets.lineage.standing import INCOMPLETE, UNKNOWN, Settings, assess
from resources.keys import KEYS
from resources.provider.estimate import Estimate
from resources.warehouse import Warehouse


class Survey:
    """Replaces the context of an asset's run: given a survey, `refresh` records stale partitions and computes nothing.

    Parameters
    ----------
    partitions
        The partitions to examine: columns of `KEYS`, '' for dimensions that the asset lacks.

    Attributes
    ----------
    due
        Partitions to compute, to remove or to report again: columns of `KEYS` and `reason`.
    estimate
        Estimated model calls for computing the stale partitions; None if computing them calls no model.
    """

    def __init__(
        self,
        graph: BaseAssetGraph[Any],
        instance: dg.DagsterInstance,
        asset: dg.AssetsDefinition,
        partitions: pl.DataFrame,
    ) -> None:
        self._graph, self._instance, self._asset, self._partitions = graph, instance, asset, partitions
        self.due = pl.DataFrame(schema=dict.fromkeys([*KEYS, "reason"], pl.String))
        self.estimate: Estimate | None = None

    def look(self, resources: Mapping[str, Any]) -> "Survey":
        """Call the asset's function with this survey as its context; return the survey."""
        arguments = {name: resources[name] for name in self._asset.required_resource_keys if name in resources}
        cast(DecoratedOpFunction, self._asset.op.compute_fn).decorated_fn(self, **arguments)
        return self

    def examine(
        self, warehouse: Warehouse, settings: Settings, partial: bool, cost: Callable[[pl.DataFrame], Estimate | None]
    ) -> None:
        """Record stale, unreported and obsolete partitions with reasons, and estimate the cost of the stale ones.

        Takes the same parameters as `refresh`.
        """
        upstream = {key: self._graph.get(key).partitions_def for key in self._asset.keys_by_input_name.values()}
        with warehouse.consistently():
            standing = assess(self._asset, upstream, warehouse, self._partitions, settings, partial)
        settled = pl.concat([standing.stale.select(KEYS), standing.current.select(KEYS)])
        records = dagster_records(self._instance, self._asset.key, self._asset.partitions_def, settled)
        stale = standing.stale.join(records, on=KEYS, maintain_order="left").with_columns(
            reason=pl.struct("made_from", "before", "failed").map_elements(_reason, return_dtype=pl.String)
        )
        current = standing.current.join(records, on=KEYS, maintain_order="left")
        up_to_date = pl.col("version").eq_missing(pl.col("reported_version")) & ~pl.col("failed")
        unreported = current.filter(~up_to_date).with_columns(reason=pl.lit("stored, but not reported"))
        obsolete = standing.obsolete.with_columns(reason=pl.lit("no longer applies"))
        self.due = pl.concat([rows.select(*KEYS, "reason") for rows in (stale, unreported, obsolete)])
        self.estimate = cost(standing.stale.select(KEYS)) if len(standing.stale) else None


def _reason(parts: Mapping[str, Any]) -> str:
    """The reason why a partition is stale, from its columns `made_from`, `before` and `failed`."""
    if parts["failed"]:
        return "failed"
    if parts["before"] is None:
        return "missing"
    if parts["before"] == UNKNOWN:
        return "recompute requested"
    if parts["before"] == INCOMPLETE:
        return INCOMPLETE
    before = set(parts["before"].split())
    changed = [part.partition(":")[0] for part in parts["made_from"].split() if part not in before]
    return f"{', '.join(changed)} changed"

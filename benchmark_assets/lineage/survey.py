"""Asking an asset what is due, and why, without a run.

Here: the stand-in for a run's context, and reasons in words. Not here: which assets are asked (automation.due).
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

import dagster as dg
import polars as pl
from dagster._core.definitions.assets.graph.base_asset_graph import BaseAssetGraph
from dagster._core.definitions.decorators.op_decorator import DecoratedOpFunction

from benchmark_assets.lineage.events import heard
from benchmark_assets.lineage.standing import UNKNOWN, Settings, Standing, stand
from resources.keys import KEYS
from resources.provider.estimate import Estimate
from resources.warehouse import Warehouse


class Survey:
    """Stands in for the context of a run of one asset: `refresh` notes here what is due, and computes nothing.

    Parameters
    ----------
    asked
        The partitions in question: columns of `KEYS`, '' where the asset lacks the dimension.

    Attributes
    ----------
    due
        Columns of `KEYS`, and `reason`: partitions that are to be computed, removed or reported anew.
    estimate
        What computing them would ask of models; None where nothing is asked.
    """

    def __init__(
        self, graph: BaseAssetGraph[Any], instance: dg.DagsterInstance, asset: dg.AssetsDefinition, asked: pl.DataFrame
    ) -> None:
        self._graph, self._instance, self._asset, self._asked = graph, instance, asset, asked
        self.due = pl.DataFrame(schema=dict.fromkeys([*KEYS, "reason"], pl.String))
        self.estimate: Estimate | None = None

    def look(self, resources: Mapping[str, Any]) -> "Survey":
        """Call the asset's function."""
        needed = {name: resources[name] for name in self._asset.required_resource_keys if name in resources}
        cast(DecoratedOpFunction, self._asset.op.compute_fn).decorated_fn(self, **needed)
        return self

    def stand(self, warehouse: Warehouse, settings: Settings, partial: bool = False) -> Standing:
        """How the partitions in question stand."""
        upstream = {key: self._graph.get(key).partitions_def for key in self._asset.keys_by_input_name.values()}
        with warehouse.at_once():
            return stand(self._asset, upstream, self._instance, warehouse, self._asked, settings, partial)

    def note(self, standing: Standing, cost: Callable[[pl.DataFrame], Estimate | None]) -> None:
        """Give a reason for each partition to which something is to be done."""
        known = heard(self._instance, self._asset.key, self._asset.partitions_def, self._asked)
        due = standing.due.join(known, on=KEYS, maintain_order="left").with_columns(
            reason=pl.struct("made_from", "before", "failed").map_elements(_reason, return_dtype=pl.String)
        )
        current = standing.good.join(known, on=KEYS, maintain_order="left")
        told = pl.col("version").eq_missing(pl.col("heard")) & ~pl.col("failed")
        untold = current.filter(~told).with_columns(reason=pl.lit("stored, but not reported"))
        gone = standing.gone.with_columns(reason=pl.lit("no longer applies"))
        self.due = pl.concat([part.select(*KEYS, "reason") for part in (due, untold, gone)])
        self.estimate = cost(standing.due.select(KEYS)) if len(standing.due) else None


def _reason(parts: Mapping[str, Any]) -> str:
    """Why a partition is due, by what it was made from and would be made from now."""
    if parts["failed"]:
        return "failed"
    if parts["before"] is None:
        return "missing"
    if parts["before"] == UNKNOWN:
        return "wanted anew"
    before = set(parts["before"].split())
    changed = [part.partition(":")[0] for part in parts["made_from"].split() if part not in before]
    return f"{', '.join(changed)} changed"

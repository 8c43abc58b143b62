"""Finding an asset's stale partitions, and the reasons, without a run.

Here: the stand-in for a run's context, and the reasons as text. Not here: the choice of assets (automation.due).
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
    """Stands in for the context of a run of one asset: `refresh` notes stale partitions here, and computes nothing.

    Parameters
    ----------
    asked
        The partitions to examine: columns of `KEYS`, '' for dimensions that the asset lacks.

    Attributes
    ----------
    due
        Columns of `KEYS`, and `reason`: partitions to compute, to remove or to report again.
    estimate
        Estimated calls of models to compute them; None if there are none.
    """

    def __init__(
        self, graph: BaseAssetGraph[Any], instance: dg.DagsterInstance, asset: dg.AssetsDefinition, asked: pl.DataFrame
    ) -> None:
        self._graph, self._instance, self._asset, self._asked = graph, instance, asset, asked
        self.due = pl.DataFrame(schema=dict.fromkeys([*KEYS, "reason"], pl.String))
        self.estimate: Estimate | None = None

    def look(self, resources: Mapping[str, Any]) -> "Survey":
        """Call the asset's function with this survey as its context."""
        needed = {name: resources[name] for name in self._asset.required_resource_keys if name in resources}
        cast(DecoratedOpFunction, self._asset.op.compute_fn).decorated_fn(self, **needed)
        return self

    def stand(self, warehouse: Warehouse, settings: Settings, partial: bool = False) -> Standing:
        """The state of the partitions to examine."""
        upstream = {key: self._graph.get(key).partitions_def for key in self._asset.keys_by_input_name.values()}
        with warehouse.at_once():
            return stand(self._asset, upstream, self._instance, warehouse, self._asked, settings, partial)

    def note(self, standing: Standing, cost: Callable[[pl.DataFrame], Estimate | None]) -> None:
        """Note each stale partition with its reason, and estimate the cost."""
        records = heard(self._instance, self._asset.key, self._asset.partitions_def, self._asked)
        due = standing.due.join(records, on=KEYS, maintain_order="left").with_columns(
            reason=pl.struct("made_from", "before", "failed").map_elements(_reason, return_dtype=pl.String)
        )
        current = standing.good.join(records, on=KEYS, maintain_order="left")
        up_to_date = pl.col("version").eq_missing(pl.col("heard")) & ~pl.col("failed")
        unreported = current.filter(~up_to_date).with_columns(reason=pl.lit("stored, but not reported"))
        gone = standing.gone.with_columns(reason=pl.lit("no longer applies"))
        self.due = pl.concat([part.select(*KEYS, "reason") for part in (due, unreported, gone)])
        self.estimate = cost(standing.due.select(KEYS)) if len(standing.due) else None


def _reason(parts: Mapping[str, Any]) -> str:
    """Why a partition is stale, by comparing its stored and current inputs."""
    if parts["failed"]:
        return "failed"
    if parts["before"] is None:
        return "missing"
    if parts["before"] == UNKNOWN:
        return "recompute requested"
    before = set(parts["before"].split())
    changed = [part.partition(":")[0] for part in parts["made_from"].split() if part not in before]
    return f"{', '.join(changed)} changed"

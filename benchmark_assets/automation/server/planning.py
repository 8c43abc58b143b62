"""Updates by many workers: which runs of an update are a part, submitting parts, and what became of them.

In a chain of assets, the runs of a model (or a corpus, or a task) depend on no other run. A part has the runs of some
of these units, which one worker carries out. Assets without partitions, which compare models, wait for all parts. Here:
parts, and how they and their outcomes are written down. Not here: which runs there are (runs), the queue (queues).
"""

import json
import logging
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby, repeat

import dagster as dg
import polars as pl

from benchmark_assets.automation.due import GAP, Due, Scope
from benchmark_assets.automation.runs import ChainRun, ChainUpdate, EndedRun, run_chain
from benchmark_assets.automation.server.queues import PartQueue
from benchmark_assets.lineage.looks import Looks
from benchmark_assets.partitions import dimensions
from resources.errors import RunFailedError
from resources.keys import CORPUS, KEYS
from resources.provider.provider import Provider
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.planning")

UNITS = {
    ("passage",): CORPUS,
    ("task",): pl.col("task").str.extract("^([^/]*)"),
    ("model", "passage"): pl.col("model"),
    ("model", "task"): pl.col("model"),
}
"""What a part has all partitions of, by the dimensions of its assets. Other assets are not divided."""

ALL = "all"
"""The only unit of assets that are not divided."""


class PlannedUpdate(ChainUpdate):
    """An update whose runs are carried out by workers, which take them from a queue."""

    def __init__(
        self, definitions: dg.Definitions, instance: dg.DagsterInstance, scope: Scope, payer: Mapping[str, str],
        looks: Looks, queue: PartQueue,
    ) -> None:  # fmt: skip
        super().__init__(definitions, instance, scope, payer, looks)
        self._queue, self._kind, self._unit = queue, "", pl.lit(ALL)
        self._chain: Sequence[dg.AssetKey] = []
        self._warned = False

    def _work(self, assets: Sequence[dg.AssetKey]) -> dict[dg.AssetKey, Due]:
        """As in one process, but what is under way for another planner is waited for."""
        every = (tuple(dimensions(self._graph.get(asset).partitions_def)) for asset in assets)
        dims = next(filter(None, every), ())  # all partitioned assets of a chain have the same ones
        single = pl.all_horizontal(pl.col(KEYS) == "")
        self._chain, self._kind = assets, " ".join(dims)
        self._unit = pl.when(single).then(pl.lit(ALL)).otherwise(UNITS.get(dims, pl.lit(ALL)))
        while True:
            work = super()._work(assets)
            units, waited = {*self._units(work.values())}, False
            while self._queue.busy(self._kind) & units:
                self._queue.wait()
                waited = True
            if not waited:
                return work

    def _parts(self, work: Mapping[dg.AssetKey, Due]) -> list[ChainRun]:
        """The runs for stale partitions that depend on no others. What depends on several parts makes another round."""
        stale = {asset: due for asset, due in work.items() if len(due.rows)}
        singles = [asset for asset in stale if not self._graph.get(asset).partitions_def]
        divided = [asset for asset in stale if asset not in singles]
        units = self._units(stale[asset] for asset in divided or stale)
        parts = portions(units, max(len(self._queue.workers()), 1))
        if len(parts) < 2:
            return [run._replace(units=parts[0]) for run in super()._parts(stale)]
        runs = super()._parts({asset: stale[asset] for asset in self._without(stale, divided)})
        runs = [run._replace(units=(ALL,)) for run in runs]
        free = self._without(stale, singles)
        for part in parts:
            own = {asset: stale[asset].rows.filter(self._unit.is_in(part)) for asset in free}
            of_part = super()._parts({asset: stale[asset]._replace(rows=rows) for asset, rows in own.items()})
            runs += [run._replace(units=part) for run in of_part]
        return runs

    def _units(self, stale: Iterable[Due]) -> pl.Series:
        """The unit of each partition."""
        rows = [due.rows.select(KEYS) for due in stale]
        return pl.concat(rows).unique().select(unit=self._unit)["unit"] if rows else pl.Series([], dtype=pl.String)

    def _without(self, assets: Iterable[dg.AssetKey], others: Iterable[dg.AssetKey]) -> list[dg.AssetKey]:
        """Assets that are not among others and do not depend on them."""
        left = {*others}
        for asset in assets:  # inputs come first
            if self._graph.get(asset).parent_keys & left:
                left.add(asset)
        return [asset for asset in assets if asset not in left]

    def _ended(self, parts: Sequence[ChainRun]) -> Iterator[tuple[ChainRun, EndedRun]]:
        """Submit the parts; yield each run, when its part has ended, with what it did."""
        waiting: dict[str, list[ChainRun]] = {}
        for _, group in groupby(parts, key=lambda run: run.units):
            waiting |= self._submitted([*group])
        while waiting:
            for name, outcome in self._queue.collect(waiting).items():
                runs = waiting.pop(name)
                yield from zip(runs, _read(outcome), strict=False)
                waiting |= self._submitted(self._studies(runs))
            if waiting:
                self._queue.wait()
                self._warn(waiting)

    def _warn(self, waiting: Collection[str]) -> None:
        """Tell the user, once, that no worker is left."""
        if not self._queue.workers() and not self._warned:
            logger.warning("%d parts wait, and no worker is alive: start `variorum worker`", len(waiting))
            self._warned = True

    def _submitted(self, runs: list[ChainRun]) -> dict[str, list[ChainRun]]:
        """The runs of a part by its name; nothing if another planner was faster: the next round waits for its part."""
        described = [(run.ends, [asset.to_user_string() for asset in run.assets]) for run in runs]
        content = json.dumps({"payer": dict(self._payer), "runs": described})
        name = self._queue.submit(self._kind, runs[0].units, content) if runs else None
        return {name: runs} if name else {}

    def _studies(self, runs: Sequence[ChainRun]) -> list[ChainRun]:
        """The runs of studies whose inputs a part of models has made: they do not wait for other models."""
        provider: Provider = (self._definitions.resources or {})["provider"]
        units, made = runs[0].units, {asset for run in runs for asset in run.assets}
        if "model" not in self._kind.split() or units == (ALL,) or not provider.registry().judges:
            return []
        singles = [asset for asset in self._chain if not self._graph.get(asset).partitions_def]
        after = [asset for asset in self._without(self._chain, singles) if asset not in made]
        dependent = {*after} - {*self._without(after, made)}
        whole, self._scope = self._scope, self._scope._replace(models=units)
        try:
            work = super()._work([asset for asset in after if asset in dependent])
        finally:
            self._scope = whole
        return [run._replace(units=units) for run in super()._parts(work)]


def portions(units: pl.Series, workers: int) -> list[tuple[str, ...]]:
    """Divide units into parts for workers. `units` names each once for each of its partitions.

    The last parts are smaller, so that no worker works alone at the end. Parts of few partitions are not worth more
    runs than there are workers.
    """
    left = units.unique().sort().to_list()
    least = min(math.ceil(len(left) / workers), math.ceil(GAP * len(left) / max(len(units), 1)))
    parts = []
    while left:
        size = max(math.ceil(len(left) / workers), least)
        parts.append(tuple(left[:size]))
        left = left[size:]
    return parts


def carried_out(definitions: dg.Definitions, instance: dg.DagsterInstance, content: str) -> str:
    """Carry out the runs of a part; return its outcome."""
    part = json.loads(content)
    warehouse: Warehouse = (definitions.resources or {})["warehouse"]
    with dg.partition_loading_context(datetime.now(UTC)), warehouse.kept_open():
        ended = [
            run_chain(definitions, instance, part["payer"], ends and tuple(ends), [*map(dg.AssetKey, names)])
            for ends, names in part["runs"]
        ]
    return json.dumps(
        [
            (run, checks, failure and [str(failure), [*failure.failed], [*failure.succeeded]])
            for run, checks, failure in ended
        ]
    )


def failed(message: str) -> str:
    """The outcome of a part whose runs could not be carried out."""
    return json.dumps(message)


def _read(outcome: str | None) -> Iterable[EndedRun]:
    """What each run of a part did; nothing if another planner has collected the outcome."""
    content = json.loads(outcome) if outcome else []
    if isinstance(content, str):
        return repeat(EndedRun("", {}, RunFailedError(content)))
    return [
        EndedRun(run, checks, RunFailedError(failure[0], failure[1], failure[2], checks) if failure else None)
        for run, checks, failure in content
    ]

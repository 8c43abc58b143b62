"""Judged studies: whatever is asked of models about the partitions of an asset.

Here: the protocol that every study fills, from the items of stale partitions to rows, calls and failures. Not here:
the Dagster asset of a study (studies.assets), asking about one item (resources.provider.asking), which items there
are and what a reply must say (the rooms). docs/decisions/studies.md explains how to add one.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import polars as pl

from benchmark_assets.lineage.computed import Computed
from resources.catalogue import schema
from resources.errors import BadInput
from resources.keys import KEYS
from resources.provider.asking import Ask, Template, Verdict, ask_all, estimate_all, insist, one_round
from resources.provider.estimate import Estimate
from resources.provider.provider import Provider
from resources.provider.question import Question
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.studies")

CALLS = "study_call"
"""The table that says by which question each verdict of any study was had."""

How = TypeVar("How")
Partition = tuple[str, ...]


class Roster(Protocol):
    """Who can be asked: the models of the registry, and which models are systems on trial."""

    @property
    def provider(self) -> Provider:
        """Models and judges of the registry."""

    def known(self, models: Iterable[str]) -> set[str]:
        """Those of the models that are registered or imported."""


@dataclass(frozen=True)
class Item:
    """One thing that a model is asked about.

    `partition` and `key` identify the row: values of the study's dimensions, then the other columns of the table's key
    by name. `content` is what the model sees, as JSON. `settled` is the verdict on an item that needs no question, and
    so no template. `replicate` is the number of the first question. `facts` are for the rows; no model sees them.
    """

    partition: Partition
    key: Mapping[str, str | int]
    template: Template[Any] | None
    content: Any
    settled: Verdict[Any] | None = None
    replicate: int = 0
    facts: Any = None

    @cached_property
    def question(self) -> Question | None:
        """The first question, None where the item is settled."""
        return self.template.question(self.content, self.replicate) if self.template and not self.settled else None

    async def verdict(self, ask: Ask) -> Verdict[Any]:
        """Ask, unless the item is settled."""
        if self.settled or not self.template:
            return self.settled or Verdict()
        return await insist(ask, self.template, self.content, self.replicate)


Answered = tuple[Item, Verdict[Any]]
Rounds = Callable[[Sequence[Answered]], Sequence[Item]]
"""The items of the next round, from all that were answered so far; none ends the asking."""


class Group(NamedTuple, Generic[How]):
    """Partitions that are asked about in the same way.

    `partitions` has a column for each dimension. `fingerprint` is a hash of what determines their verdicts besides the
    inputs of the asset, or a hash for each. `how` is whatever the items are made with, or the fault that there are
    none for.
    """

    partitions: pl.DataFrame
    how: How | BadInput
    fingerprint: str | pl.Series


class Plan(NamedTuple):
    """The items of stale partitions, why some partitions have none, and why some groups were left out of partitions
    that have items of other groups, each reason once."""

    items: list[Item]
    failures: dict[Partition, str]
    barred: list[str]


@dataclass(frozen=True)
class Study(ABC):
    """What an asset asks of models: which partitions apply, what that costs, and what comes of it.

    A subclass is one study. Its docstring describes the asset, `name` is that of the asset and its table, `tables` are
    further tables that it fills. A study is `sparse` if it usually does not apply to most partitions.
    """

    warehouse: Warehouse
    systems: Roster

    name: ClassVar[str]
    tables: ClassVar[tuple[str, ...]] = ()
    dims: ClassVar[tuple[str, ...]] = ("model", "passage")
    sparse: ClassVar[bool] = True

    @property
    def provider(self) -> Provider:
        """Models and judges of the registry."""
        return self.systems.provider

    @abstractmethod
    def settings(self, asked: pl.DataFrame) -> pl.DataFrame:
        """What determines the results besides inputs and code: dimensions and `settings`, see lineage.standing."""

    @abstractmethod
    def cost(self, stale: pl.DataFrame) -> Estimate | None:
        """What stale partitions would ask of models; None where nothing is asked."""

    @abstractmethod
    def compute(self, stale: pl.DataFrame, run: str) -> Computed:
        """Rows, failures and calls of stale partitions. The run pays."""


class ItemStudy(Study, Generic[How]):
    """A study that asks one question about each item. `lost` says what is wrong with a partition without items; where
    it is '', such a partition is stored as empty."""

    lost: ClassVar[str] = ""

    @abstractmethod
    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[How]]:
        """The groups of those partitions to which the study applies; a partition may be in several."""

    @abstractmethod
    def items(self, partitions: pl.DataFrame, how: How) -> Iterator[Item]:
        """The items of a group, partition by partition."""

    def rows_of(self, item: Item, verdict: Verdict[Any]) -> Iterable[Mapping[str, object]]:
        """Rows of the study's table for one item, without the item's partition and key."""
        return ()

    def rows(self, judged: Sequence[Answered]) -> Mapping[str, pl.DataFrame]:
        """Rows of the study's tables, from all verdicts of partitions that did not fail."""
        rows = [
            {**dict(zip(self.dims, item.partition, strict=True)), **item.key, **row}
            for item, verdict in judged for row in self.rows_of(item, verdict)
        ]  # fmt: skip
        return {self.name: pl.DataFrame(rows, schema=schema(self.name))}

    def fault(self, item: Item, verdict: Verdict[Any]) -> str:
        """Why the item's partition fails; '' where it does not."""
        return f"{' '.join(map(str, item.key.values()))}: {verdict.error}" if verdict.error else ""

    def failure(self, faults: Sequence[str], items: int) -> str:
        """Why a partition with so many items failed, from the faults of some of them."""
        return "; ".join(dict.fromkeys(faults))

    def rounds(self, items: Sequence[Item], stale: pl.DataFrame) -> Rounds:
        """In which order items are asked about: by default all of them in one round."""
        return one_round(items)

    def settings(self, asked: pl.DataFrame) -> pl.DataFrame:
        """One row for each partition to which the study applies; null for models that are no longer registered."""
        rows = [pl.DataFrame(schema=dict.fromkeys([*self.dims, "settings"], pl.String))]
        for group in self.groups(asked):
            given = group.fingerprint
            hashes = pl.lit(given) if isinstance(given, str) else given
            rows.append(group.partitions.select(*self.dims, settings=hashes))
        together = pl.concat(rows).group_by(self.dims, maintain_order=True)
        found = together.agg(pl.col("settings").sort().str.join(" "))
        if "model" not in self.dims:
            return found
        known = pl.col("model").is_in(list(self.systems.known(asked["model"].unique())))
        return found.with_columns(settings=pl.when(known).then("settings"))

    def cost(self, stale: pl.DataFrame) -> Estimate | None:
        """Calls and cost, each question taken to be answered at once."""
        return expected(self.provider, self.plan(stale).items)

    def compute(self, stale: pl.DataFrame, run: str) -> Computed:
        """Ask about the items of stale partitions.

        A partition fails where it has no items, but should have, and where a call about one of them failed. It then has
        no rows; the replies are in the ledger.
        """
        plan = self.plan(stale)
        for reason in plan.barred:
            logger.warning("%s: not asked; %s", self.name, reason)
        judged = ask_about(self.provider, self.name, plan.items, run, self.rounds(plan.items, stale))
        of_partition: dict[Partition, list[str]] = {}
        for item, verdict in judged:
            of_partition.setdefault(item.partition, []).append(self.fault(item, verdict))
        failures = dict(plan.failures)
        for partition, faults in of_partition.items():
            if any(faults):
                failures[partition] = self.failure([fault for fault in faults if fault], len(faults))
        good = [(item, verdict) for item, verdict in judged if item.partition not in failures]
        failed = [(*partition, reason) for partition, reason in failures.items()]
        return Computed(
            self.rows(good),
            pl.DataFrame(failed, schema=dict.fromkeys([*self.dims, "error"], pl.String), orient="row"),
            {CALLS: self.calls(good)},
        )

    def plan(self, stale: pl.DataFrame) -> Plan:
        """What has to be asked about stale partitions."""
        items: list[Item] = []
        faults: dict[Partition, list[str]] = {}
        lost: dict[Partition, str] = {}
        for partitions, how, _ in self.groups(stale):
            keys = partitions.select(self.dims).rows()
            try:
                if isinstance(how, BadInput):
                    raise how
                own = list(self.items(partitions, how))
            except BadInput as fault:
                for partition in keys:
                    faults.setdefault(partition, []).append(str(fault))
                continue
            items += own
            if self.lost:
                lost |= dict.fromkeys(set(keys) - {item.partition for item in own}, self.lost)
        reached = {item.partition for item in items}
        failures = {partition: "; ".join(own) for partition, own in faults.items() if partition not in reached} | lost
        barred = dict.fromkeys(fault for partition, own in faults.items() if partition in reached for fault in own)
        return Plan([item for item in items if item.partition not in failures], failures, list(barred))

    def calls(self, judged: Sequence[Answered]) -> pl.DataFrame:
        """Rows of the table of calls: none for items that were settled without a question."""
        rows = [call_row(self, item.partition, item.key.values(), verdict) for item, verdict in judged if verdict.call]
        return pl.DataFrame(rows, schema=schema(CALLS))


def call_row(study: Study, partition: Partition, key: Iterable[object], verdict: Verdict[Any]) -> Mapping[str, object]:
    """The row of a verdict in the table of calls. `key` is the rest of its key within the partition."""
    return {
        "study": study.name, **dict.fromkeys(KEYS, ""), **dict(zip(study.dims, partition, strict=True)),
        "item": "|".join(map(str, key)), "call": verdict.call, "asked": verdict.asked, "parsing": verdict.parsing,
    }  # fmt: skip


def expected(provider: Provider, items: Iterable[Item]) -> Estimate | None:
    """Calls and cost of items, each question taken to be answered at once; None where nothing is asked."""
    return estimate_all(provider, (question for item in items if (question := item.question)))


def ask_about(
    provider: Provider, name: str, items: Sequence[Item], run: str, rounds: Rounds | None = None
) -> list[Answered]:
    """Verdicts on items, after saying how many calls that is at most and about what they cost. The run pays.

    Parameters
    ----------
    name
        For the log.
    rounds
        By default all items are in one round. An item that is in no round has no verdict.
    """
    if cost := expected(provider, items):
        logger.info("%s: %s", name, cost)
    following = rounds or one_round(items)
    models = [item.template.model for item in items if item.template and not item.settled]
    return ask_all(provider, name, lambda ask, item: item.verdict(ask), models, run, following)

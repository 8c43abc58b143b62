"""Studies: assets that ask models questions about their partitions.

Here: the protocol that every study implements, from the items of stale partitions to rows, calls and failures. Not
here: the Dagster asset of a study (studies.assets), asking about one item (resources.provider.asking), the items and
valid replies of individual studies (their packages). docs/decisions/studies.md explains how to add a study.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.studies.watch import Watch
from resources.catalogue import schema
from resources.errors import BadInput
from resources.keys import KEYS
from resources.provider.asking import Ask, Template, Verdict, ask_all, estimate_all, insist, one_round
from resources.provider.estimate import CostEstimate
from resources.provider.provider import Provider
from resources.provider.question import Question
from resources.warehouse import Warehouse

logger = logging.getLogger("variorum.studies")

CALLS = "study_call"
"""Table that links each verdict of a study to its question."""

UNREAD = "unread"
"""Way of parsing of an abstention whose replies today's reader could not read. An abstention without a way of parsing
is older, and its stored replies may be readable by now."""

How = TypeVar("How")
Partition = tuple[str, ...]


class Roster(Protocol):
    """The models that a study can ask, and the models whose outputs it can judge."""

    @property
    def provider(self) -> Provider:
        """Access to the registered models and judges."""

    def known(self, models: Iterable[str]) -> set[str]:
        """The given models that are registered, or have imported outputs or answers."""


@dataclass(frozen=True)
class Item:
    """An item about which a model is asked.

    `partition` and `key` identify the item's rows: `partition` has the values of the study's dimensions, and `key` has
    the values of the table's other key columns, by column name. `content` is the JSON that the model sees. If the item
    needs no question, `settled` is its verdict, and `template` may be None. `replicate` is the replicate number of the
    first question. `facts` are used in the rows, and are not shown to the model. `kind` is that of a hidden sentinel,
    '' for other items.
    """

    partition: Partition
    key: Mapping[str, str | int]
    template: Template[Any] | None
    content: Any
    settled: Verdict[Any] | None = None
    replicate: int = 0
    facts: Any = None
    kind: str = ""

    @cached_property
    def question(self) -> Question | None:
        """The first question about the item; None if the item is settled."""
        return self.template.question(self.content, self.replicate) if self.template and not self.settled else None

    async def verdict(self, ask: Ask) -> Verdict[Any]:
        """The settled verdict on the item or, if the item is not settled, the model's verdict."""
        if self.settled or not self.template:
            return self.settled or Verdict()
        return await insist(ask, self.template, self.content, self.replicate)


Answered = tuple[Item, Verdict[Any]]
Rounds = Callable[[Sequence[Answered]], Sequence[Item]]
"""Function from all items answered so far to the items of the next round. An empty round ends the asking."""


class Group(NamedTuple, Generic[How]):
    """Partitions whose items are made in the same way.

    `partitions` has a column for each dimension of the study. `how` is the second argument of `ItemStudy.items`, or the
    error that prevents making items. `fingerprint` is a hash of everything that determines the verdicts except the
    asset's inputs: one hash for the group, or one for each partition.
    """

    partitions: pl.DataFrame
    how: How | BadInput
    fingerprint: str | pl.Series


class StudyPlan(NamedTuple):
    """The items of stale partitions.

    `failures` has the error of each partition that fails before any question is asked. If the items of a group cannot
    be made, but a partition of the group has items from other groups, the partition does not fail, and `barred` lists
    the group's error.
    """

    items: list[Item]
    failures: dict[Partition, str]
    barred: list[str]


@dataclass(frozen=True)
class Study(ABC):
    """An asset that asks models: its settings, its cost and its results.

    Each subclass is one study; its docstring is the asset's description. `name` is the name of the asset and of its
    table, `tables` are further tables that it fills, and `dims` are its dimensions. A study is `sparse` if it usually
    applies to few partitions.
    """

    warehouse: Warehouse
    systems: Roster

    name: ClassVar[str]
    tables: ClassVar[tuple[str, ...]] = ()
    dims: ClassVar[tuple[str, ...]] = ("model", "passage")
    sparse: ClassVar[bool] = True

    @property
    def provider(self) -> Provider:
        """Access to the registered models and judges."""
        return self.systems.provider

    @abstractmethod
    def settings(self, partitions: pl.DataFrame) -> pl.DataFrame:
        """One row for each partition to which the study applies: its dimensions, and in `settings` everything that
        determines its results except inputs and code (see lineage.standing)."""

    def standing_settings(self, partitions: pl.DataFrame) -> pl.DataFrame:
        """The settings of each partition, and in `reread` whether its stored replies are to be read again."""
        again = self.rereadable(partitions).select(self.dims).with_columns(reread=True)
        if not self.dims or again.is_empty():
            return self.settings(partitions)
        return self.settings(partitions).join(again, on=self.dims, how="left", maintain_order="left")

    def rereadable(self, partitions: pl.DataFrame) -> pl.DataFrame:
        """Partitions with replies that an earlier version could not read and that are still stored; by default none."""
        return partitions.clear()

    @abstractmethod
    def cost(self, stale: pl.DataFrame) -> CostEstimate | None:
        """Estimated calls and cost for stale partitions; None if they need no question."""

    @abstractmethod
    def compute(self, stale: pl.DataFrame, run: str) -> Computed:
        """Rows, failures and calls for stale partitions. The budget of `run` pays for the calls."""


class ItemStudy(Study, Generic[How]):
    """A study that asks one question about each item.

    `lost` is the error message for a partition without items. If `lost` is '', a partition without items does not fail,
    and is stored without rows.
    """

    lost: ClassVar[str] = ""

    @abstractmethod
    def groups(self, partitions: pl.DataFrame) -> Iterator[Group[How]]:
        """The partitions to which the study applies, as groups. A partition may be in several groups."""

    @abstractmethod
    def items(self, partitions: pl.DataFrame, how: How) -> Iterator[Item]:
        """The items of a group of partitions, partition by partition. `how` is `Group.how`. May raise BadInput."""

    def rows_of(self, item: Item, verdict: Verdict[Any]) -> Iterable[Mapping[str, object]]:
        """Rows of the study's table for one item, without the columns of partition and key."""
        return ()

    def rows(self, judged: Sequence[Answered]) -> Mapping[str, pl.DataFrame]:
        """Rows of all tables of the study, by table, from the verdicts on items of partitions that did not fail. Hidden
        sentinels are among the items if the study has them."""
        rows = [
            {**dict(zip(self.dims, item.partition, strict=True)), **item.key, **row}
            for item, verdict in judged for row in self.rows_of(item, verdict)
        ]  # fmt: skip
        return {self.name: pl.DataFrame(rows, schema=schema(self.name))}

    def fault(self, item: Item, verdict: Verdict[Any]) -> str:
        """An error message if the verdict makes the partition fail, else ''."""
        return f"{' '.join(map(str, item.key.values()))}: {verdict.error}" if verdict.error else ""

    def failure(self, faults: Sequence[str], items: int) -> str:
        """The error of a failed partition, from the `faults` of its items. `items` is the number of its items."""
        return "; ".join(dict.fromkeys(faults))

    def most(self, items: Sequence[Item]) -> Sequence[Item]:
        """The items that the cost estimate covers: all items that a run may ask about. By default all `items`."""
        return items

    def rounds(self, items: Sequence[Item], stale: pl.DataFrame) -> Rounds:
        """The rounds in which models are asked about the items; by default one round with all items."""
        return one_round(items)

    def hidden(self, items: Sequence[Item]) -> Sequence[Item]:
        """Hidden sentinels that are asked after the items from which they are made (`facts`); by default none."""
        return ()

    def right(self, item: Item, verdict: Verdict[Any]) -> bool | None:
        """Whether the verdict on a hidden sentinel is right; None for other items, and if the verdict alone does not
        tell."""
        return None

    def watch(self) -> Watch | None:
        """What ends the asking of a judge that has changed; by default nothing."""
        return None

    def settings(self, partitions: pl.DataFrame) -> pl.DataFrame:
        """Settings of each partition, from the fingerprints of its groups; null if `Roster.known` lacks the model."""
        rows = [pl.DataFrame(schema=dict.fromkeys([*self.dims, "settings"], pl.String))]
        for group in self.groups(partitions):
            fingerprint = group.fingerprint
            hashes = pl.lit(fingerprint) if isinstance(fingerprint, str) else fingerprint
            rows.append(group.partitions.select(*self.dims, settings=hashes))
        by_partition = pl.concat(rows).group_by(self.dims, maintain_order=True)
        joined = by_partition.agg(pl.col("settings").sort().str.join(" "))
        if "model" not in self.dims:
            return joined
        registered = pl.col("model").is_in(list(self.systems.known(partitions["model"].unique())))
        return joined.with_columns(settings=pl.when(registered).then("settings"))

    def cost(self, stale: pl.DataFrame) -> CostEstimate | None:
        """Estimated calls and cost for stale partitions, assuming that each first reply is valid."""
        items = self.plan(stale).items
        return expected(self.provider, [*self.most(items), *self.hidden(items)])

    def compute(self, stale: pl.DataFrame, run: str) -> Computed:
        """Ask about the items of stale partitions.

        A partition fails if its items cannot be made, or if a call about one of its items failed. A failed partition
        has no rows; replies about its other items stay in the ledger.
        """
        return self.computed(*self.answers(stale, run))

    def answers(self, stale: pl.DataFrame, run: str) -> tuple[StudyPlan, list[Answered]]:
        """The plan for stale partitions, and the verdicts on its items."""
        plan = self.plan(stale)
        for reason in plan.barred:
            logger.warning("%s: some questions are not asked: %s", self.name, reason)
        hidden = self.hidden(plan.items)
        rounds = with_hidden(self.rounds(plan.items, stale), hidden)
        return plan, ask_about(
            self.provider, self.name, [*self.most(plan.items), *hidden], run, rounds, self.watch(), self.right
        )

    def computed(self, plan: StudyPlan, judged: Sequence[Answered]) -> Computed:
        """Rows, failures and calls of the planned partitions, from the verdicts on their items."""
        of_partition: dict[Partition, list[str]] = {}
        for item, verdict in judged:
            if not item.kind:
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

    def rereadable(self, partitions: pl.DataFrame) -> pl.DataFrame:
        """Partitions with an abstention of an earlier version.

        Only partitions all of whose replies are in the ledger count, so that reading them again asks no model.
        """
        keys = partitions.select(self.dims).with_columns(study=pl.lit(self.name))
        calls = self.warehouse.read(CALLS, keys, [*self.dims, "item", "call", "parsing"])
        older = self.older(calls.filter(pl.col("parsing").is_null()))
        calls = calls.join(older, on=self.dims, how="semi")
        if older.is_empty() or not self.provider.ledger.exists():
            return partitions.clear()
        stored = pl.col("call").is_in(list(self.provider.ledger.answered(calls["call"])))
        complete = calls.group_by(self.dims).agg(stored.all()).filter("call")
        return partitions.join(complete, on=self.dims, how="semi")

    def older(self, calls: pl.DataFrame) -> pl.DataFrame:
        """Those of the calls without a way of parsing whose replies are to be read again; by default all."""
        return calls

    def plan(self, stale: pl.DataFrame) -> StudyPlan:
        """The items of stale partitions, and the errors of partitions without items."""
        items: list[Item] = []
        faults: dict[Partition, list[str]] = {}
        lost: dict[Partition, str] = {}
        for partitions, how, _ in self.groups(stale):
            keys = partitions.select(self.dims).rows()
            try:
                if isinstance(how, BadInput):
                    raise how
                of_group = list(self.items(partitions, how))
            except BadInput as fault:
                for partition in keys:
                    faults.setdefault(partition, []).append(str(fault))
                continue
            items += of_group
            if self.lost:
                lost |= dict.fromkeys(set(keys) - {item.partition for item in of_group}, self.lost)
        reached = {item.partition for item in items}
        failures = {key: "; ".join(reasons) for key, reasons in faults.items() if key not in reached} | lost
        barred = dict.fromkeys(reason for key, reasons in faults.items() if key in reached for reason in reasons)
        return StudyPlan([item for item in items if item.partition not in failures], failures, list(barred))

    def calls(self, judged: Sequence[Answered]) -> pl.DataFrame:
        """Rows of `study_call`. Items without a question and hidden sentinels have no row."""
        rows = [_call_row(self, item, verdict) for item, verdict in judged if verdict.call and not item.kind]
        return pl.DataFrame(rows, schema=schema(CALLS))


def _call_row(study: Study, item: Item, verdict: Verdict[Any]) -> Mapping[str, object]:
    template = item.template
    return {
        "study": study.name, **dict.fromkeys(KEYS, ""), **dict(zip(study.dims, item.partition, strict=True)),
        "item": "|".join(map(str, item.key.values())), "call": verdict.call, "asked": verdict.asked,
        "parsing": verdict.parsing or UNREAD, "prompt": template.prompt.label if template else None,
        "settings": template.model.stated if template else None,
    }  # fmt: skip


def contract_settings(systems: Roster, rows: pl.DataFrame, contracts: Mapping[str, str | None]) -> pl.DataFrame:
    """Settings by model of scores: the contracts under which its rows are scored.

    Parameters
    ----------
    rows
        The column `model`, and a column with a key of `contracts`.

    Returns
    -------
    Columns `model` and `settings`. `settings` is null, so that stored scores are kept, if a contract is None or
    `Roster.known` lacks the model.
    """
    contract = pl.col(rows.columns[1]).replace_strict(contracts, default="", return_dtype=pl.String)
    joined = rows.unique().sort(rows.columns).group_by("model", maintain_order=True).agg(
        settings=pl.when(~contract.has_nulls()).then(contract.str.join("\n"))
    )  # fmt: skip
    registered = pl.col("model").is_in(list(systems.known(joined["model"])))
    return joined.with_columns(settings=pl.when(registered).then("settings"))


def expected(provider: Provider, items: Iterable[Item]) -> CostEstimate | None:
    """Estimated calls and cost of asking about items if each first reply is valid; None if no item needs a question."""
    return estimate_all(provider, (question for item in items if (question := item.question)))


def with_hidden(rounds: Rounds, hidden: Sequence[Item]) -> Rounds:
    """The same rounds, in which hidden sentinels follow their items."""
    of_items: dict[int, list[Item]] = {}
    for item in hidden:
        of_items.setdefault(id(item.facts), []).append(item)

    def following(answered: Sequence[Answered]) -> list[Item]:
        batch = rounds([each for each in answered if not each[0].kind])
        return [each for item in batch for each in (item, *of_items.get(id(item), ()))]

    return following if hidden else rounds


def ask_about(
    provider: Provider, name: str, items: Sequence[Item], run: str, rounds: Rounds | None = None,
    watch: Watch | None = None, right: Callable[[Item, Verdict[Any]], bool | None] = lambda *_: None,
) -> list[Answered]:  # fmt: skip
    """Ask models about items, after logging the number of calls and their estimated cost.

    Parameters
    ----------
    items
        The items that the estimate covers. They include at least one item for each model that is asked.
    name
        Name of the study in log messages.
    run
        Id of the run whose budget pays for the calls.
    rounds
        Rounds of items; by default one round with all items. Items that are in no round get no verdict.
    watch
        It gets all verdicts. Items of a judge that it stops get an error without a question.
    right
        Function that says whether a verdict is right; None if unknown.

    Returns
    -------
    Items with their verdicts, in the order of the rounds.
    """
    if cost := expected(provider, items):
        logger.info("%s: %s", name, cost)
    following = rounds or one_round(items)
    models = [item.template.model for item in items if item.template and not item.settled]

    async def one(ask: Ask, item: Item) -> Verdict[Any]:
        judge = item.template.model.name if item.template and not item.settled else ""
        if watch and (reason := watch.stopped(judge)):
            return Verdict(error=f"{judge} {reason}")
        verdict = await item.verdict(ask)
        if watch and judge:
            watch.saw(judge, verdict, right(item, verdict))
        return verdict

    return ask_all(provider, name, one, models, run, following)

"""What may have become stale since partitions were last found up to date, by the log of changes.

After an update has found an asset's partitions up to date, or made them so, it keeps a `Look`: up to which changes in
the warehouse and events in Dagster that holds, and which tables the asset's settings were read from. The next update
examines only partitions that later changes and events can reach. A look of a home whose stores were repaired, or whose
registry, prompts or code have changed, is not used: then every partition is examined.

Here: looks, and the partitions that changes reach. Not here: whether a partition is stale (standing), when looks are
kept (automation.due).
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import dagster as dg
import polars as pl

from benchmark_assets.lineage import shards
from benchmark_assets.lineage.events import failed_partitions, split
from resources.changes import EVERY, LOG
from resources.dagster_storage.event_log import CompactEventLog
from resources.digest import digest
from resources.keys import CORPUS, KEYS
from resources.state_sums import SUMS
from resources.warehouse import STATES, Warehouse

CURSOR = "variorum: looks"
"""Key of the looks in Dagster's storage of cursors."""

MOST_EVENTS = 5_000
"""Maximum number of new events of an asset whose partitions are examined one by one."""

Read = tuple[str, pl.DataFrame | None]
"""Table and keys of a read."""


Made = tuple[str, pl.DataFrame]
"""A run, and the partitions of an asset that it made up to date, by Dagster's keys (columns of `KEYS`). What the run
wrote before it came to the asset is no news for them, nor for partitions that later runs made, but may be for others.
"""


class Look(NamedTuple):
    """An asset whose partitions were all up to date.

    `number` is the last change, and `event` the id of Dagster's last event, before the look. `keys` is a digest of
    Dagster's partition keys. `reads` maps each table that the settings were read from to the columns in which only the
    values of the examined partitions were read (`corpus` stands for passages of the same corpora).
    """

    number: int
    event: int
    keys: str
    reads: Mapping[str, Sequence[str]]


class News(NamedTuple):
    """What has happened since the looks of a home, taken at once for a round of looks at several assets.

    `number` and `event` are the position of the round's looks (see `Look`); `number` is None while a write is under way
    in a database of several machines: the last change is not known then. `keys` are Dagster's keys by dimension,
    `digests` their digests, and `changes` the entries of the log. `runs` has, by asset, the runs that planned or
    materialized its partitions, with the last event of each, and `failed` its partitions whose last attempt failed.
    """

    number: int | None
    event: int
    keys: Mapping[str, Sequence[str]]
    digests: Mapping[str, str]
    changes: pl.DataFrame
    runs: Mapping[str, Mapping[str, int]]
    failed: Mapping[str, Sequence[str]]


class Looks:
    """The looks of a home.

    Parameters
    ----------
    determinants
        Digest of what determines settings and is not in the warehouse.
    epoch
        Epoch of the home's mark (see `resources.identity`). An update advances it when it begins and when it ends, and
        a repair, too: looks of the update that came last before are used, and no others.
    alone
        Whether that update had ended before this one began, so that no other one may be under way.
    """

    def __init__(
        self, instance: dg.DagsterInstance, warehouse: Warehouse, determinants: str, epoch: int,
        known: Mapping[str, Look], keys: Mapping[str, str], alone: bool = False,
    ) -> None:  # fmt: skip
        self._instance, self._warehouse, self._determinants, self._epoch = instance, warehouse, determinants, epoch
        self._known, self._keys, self._alone = dict(known), keys, alone
        self._made: dict[str, list[Made]] = {}
        self._events: list[int] | None = None

    @classmethod
    def of(cls, instance: dg.DagsterInstance, warehouse: Warehouse, determinants: str, epoch: int) -> Self:
        """The looks of the last update before an epoch; none if the determinants have changed since."""
        determinants = digest(determinants, *_wipes(instance))
        stored = instance.daemon_cursor_storage.get_cursor_values({CURSOR}).get(CURSOR)
        content = json.loads(stored) if stored else {}
        alone = content.get("epoch") == epoch - 2
        valid = alone and content.get("determinants") == determinants
        valid = valid and content["events"] == _events(instance, content["events"][0])
        known = {asset: Look(*look) for asset, look in content["looks"].items()} if valid else {}
        return cls(instance, warehouse, determinants, epoch, known, content["keys"] if valid else {}, alone)

    def begin(self) -> None:
        """Remember Dagster's events before an update. If some of them are gone when it ends, its looks are not kept."""
        self._events = _events(self._instance, None)

    def keep(self) -> None:
        """Store the looks for the next update."""
        if self._events and self._events != _events(self._instance, self._events[0]):
            self.discard()
            return
        events = _events(self._instance, None)
        content = {"epoch": self._epoch, "determinants": self._determinants, "events": events, "looks": self._known}
        content["keys"] = {dim: digest(list(self._instance.get_dynamic_partitions(dim))) for dim in KEYS}
        self._instance.daemon_cursor_storage.set_cursor_values({CURSOR: json.dumps(content)})
        mark = self._warehouse.mark()
        if self._alone and mark and mark.epoch == self._epoch:  # an update at the same time may have to read the log
            self._warehouse.forget_changes(min((look.number for look in self._known.values()), default=0))

    def discard(self) -> None:
        """Have the next update examine everything."""
        self._instance.daemon_cursor_storage.set_cursor_values({CURSOR: "{}"})

    def news(self) -> News:
        """What has happened since the looks."""
        events, looks = self._instance.event_log_storage, self._known.values()
        keys = {dim: list(self._instance.get_dynamic_partitions(dim)) for dim in KEYS}
        digests = {dim: digest(keys[dim]) for dim in KEYS}
        if not isinstance(events, CompactEventLog):
            return News(self._warehouse.last_change(), 0, keys, digests, _none(), {}, {})
        event, number = events.last_event(), self._warehouse.last_change()
        changes = self._warehouse.changed(min((look.number for look in looks), default=number or 0))
        runs: dict[str, dict[str, int]] = {}
        for asset, run, last in events.runs_since(min((look.event for look in looks), default=event)):
            runs.setdefault(asset.to_user_string(), {})[run] = last
        failed: dict[str, list[str]] = {}
        for asset, partition in failed_partitions(self._instance):
            failed.setdefault(asset.to_user_string(), []).append(partition)
        return News(number, event, keys, digests, changes, runs, failed)

    def begun(self, asset: str, news: News, dims: Sequence[str]) -> Look:
        """The position of a look at an asset with the given dimensions; that of its last look if the last change is
        not known."""
        number = news.number
        if number is None:
            number = self._known[asset].number if asset in self._known else 0
        return Look(number, news.event, digest(*(news.digests[dim] for dim in dims)), {})

    def settled(self, asset: str, look: Look, reads: Mapping[str, Sequence[str]], made: Sequence[Made]) -> None:
        """Remember that the partitions of an asset are up to date since a look, or were made so after it, by runs in
        the given order."""
        self._known[asset] = look._replace(reads=reads)
        self._made[asset] = [*made]

    def drop(self, asset: dg.AssetKey) -> None:
        """Forget the look at an asset: the next one is at all of its partitions."""
        self._known.pop(asset.to_user_string(), None)

    def is_idle(self, asset: dg.AssetKey, news: News) -> bool:
        """Whether an asset applied to no partition at the end of the last update, and there are no other keys since."""
        name = asset.to_user_string()
        known = name in self._known and self._keys == news.digests
        return known and self._warehouse.read(SUMS, pl.DataFrame({"asset": [name]})).is_empty()

    def reads(self, asset: str) -> Mapping[str, Sequence[str]]:
        """What the settings of an asset were read from (`Look.reads`)."""
        return self._known[asset].reads

    def reached(
        self, asset: dg.AssetKey, begun: Look, news: News, parents: Mapping[dg.AssetKey, Sequence[str]],
        upstream: Collection[str], dims: Sequence[str],
    ) -> pl.DataFrame | None:  # fmt: skip
        """Partitions that changes and events since the last look can reach, by Dagster's keys: columns of `KEYS`.

        Parameters
        ----------
        begun
            Position of the look that begins now.
        news
            What has happened since the last look.
        parents
            Assets that are inputs, with their dimensions.
        upstream
            Tables of all assets upstream. What runs of a look wrote there, they wrote before they came to the asset.
        dims
            Dimensions of the asset.

        Returns
        -------
        None if every partition has to be examined.
        """
        name, events = asset.to_user_string(), self._instance.event_log_storage
        look = self._known.get(name)
        if look is None or look.keys != begun.keys or not isinstance(events, CompactEventLog):
            return None
        # A run that fails adds no event of an asset, and may have planned its partitions before the last look.
        keys = {dim: news.keys[dim] for dim in dims}
        attempted = news.failed.get(name, [])
        failed = _within(pl.DataFrame(split(attempted, dims)), keys) if attempted else _none()
        if look[:2] == begun[:2]:
            return failed
        of = {table: list(columns) for table, columns in look.reads.items()}
        for parent, of_parent in parents.items():  # their states concern shared dimensions, and rows may be read, too
            read = look.reads.get(parent.to_user_string(), of_parent)
            named = [*keys, *(["corpus"] if "passage" in keys and "passage" in of_parent else [])]
            of[parent.to_user_string()] = [dim for dim in named if dim in read and dim in (*of_parent, "corpus")]
        of[name] = list(keys)
        changed = news.changes.filter(pl.col("source").is_in([*of]), pl.col("number") > look.number)
        made = self._made.get(name, [])
        own_runs = {run for run, _ in made}
        own = pl.col("source").is_in([name, *upstream]) & pl.col("run_id").is_in([*own_runs])
        others = [run for run, last in news.runs.get(name, {}).items() if last > look.event and run not in own_runs]
        foreign = events.partitions_since(asset, look.event, others, MOST_EVENTS) if others else []
        reached = [failed]
        if foreign != [] or len(changed.filter(~own)):
            found = self._reached(changed.filter(~own), foreign, of, keys)
            if found is None:
                return None
            reached.append(found)
        for place, (run, _) in enumerate(made):
            if len(by_run := changed.filter(own, run_id=run)):
                found = self._reached(by_run, [], of, keys)
                later = pl.concat(partitions for _, partitions in made[place:])
                reached.append((_all(keys) if found is None else found).join(later, on=KEYS, how="anti"))
        return pl.concat(reached).unique()

    def _reached(
        self, changed: pl.DataFrame, from_dagster: Sequence[str] | None, of: Mapping[str, Sequence[str]],
        keys: Mapping[str, Sequence[str]],
    ) -> pl.DataFrame | None:  # fmt: skip
        """Partitions that some changes and events reach, as in `reached`; there is at least one of them."""
        if from_dagster is None or not keys:
            return None
        parts = [pl.DataFrame(split(from_dagster, list(keys)))]
        for (source,), rows in changed.group_by("source"):
            parts.append(_constraints(rows, of[str(source)], list(keys)))
        return _expanded(self._warehouse, pl.concat(parts).unique(), keys)


def sample(partitions: pl.DataFrame) -> pl.DataFrame:
    """A few partitions, to see what their settings are read from: of each corpus one passage, all models and tasks but
    the first. Columns of `KEYS`, like `partitions`."""
    of_corpora = partitions.select("passage").unique().sort("passage").group_by(CORPUS).last()
    others = [pl.col(dim) != pl.col(dim).min() for dim in ("model", "task") if partitions[dim].n_unique() > 1]
    return partitions.join(of_corpora, on="passage", how="semi").filter(*others)


def grains(reads: Iterable[Read], partitions: pl.DataFrame, keys: Mapping[str, int]) -> dict[str, list[str]]:
    """By table, the columns in which only values of the examined partitions were read (`Look.reads`).

    Parameters
    ----------
    partitions
        The examined partitions, by passage: columns of `KEYS`.
    keys
        Number of all passages, models or tasks, by dimension. A dimension in which all were examined proves nothing.
    """
    own = {dim: set(partitions[dim]) for dim, number in keys.items() if partitions[dim].n_unique() < number}
    if "passage" in own:
        own["corpus"] = set(partitions.select(CORPUS)["corpus"])
    found: dict[str, set[str]] = {}
    for table, frame in reads:
        if table == STATES and frame is not None and "passage" in frame.columns:
            frame = frame.with_columns(CORPUS)
        for source in sources(table, frame):
            columns = [] if frame is None else [name for name in frame.columns if name in own]
            contained = {name for name in columns if frame is not None and set(frame[name]) <= own[name]}
            if table == STATES:  # the asset's own states are not noted: the passages may be all of a small document
                contained.discard("passage")
            found[source] = found.get(source, contained) & contained
    return {table: sorted(columns) for table, columns in found.items()}


def sources(table: str, keys: pl.DataFrame | None) -> list[str]:
    """What a read is logged under when it changes: states under the names of their assets (see `resources.changes`)."""
    if table == STATES and keys is not None and "asset" in keys.columns:
        return keys["asset"].unique().to_list()
    return [] if table == LOG else [table]


def common(first: Mapping[str, Sequence[str]], second: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """What holds for the reads of two looks at an asset."""
    every = dict(first) | dict(second)
    return {table: sorted({*first.get(table, every[table])} & {*second.get(table, every[table])}) for table in every}


def _constraints(rows: pl.DataFrame, on: Sequence[str], dims: Sequence[str]) -> pl.DataFrame:
    """Changes as constraints on partitions: a value, `corpus/*` or `*` for each dimension."""

    def constraint(dim: str) -> pl.Expr:
        value = pl.col(dim)
        if dim not in on and not (dim == "passage" and "corpus" in on):
            return pl.lit(EVERY).alias(dim)
        if dim not in on:
            value = pl.when(value == EVERY).then(value).otherwise(pl.concat_str(CORPUS, pl.lit("/*")))
        return pl.when(pl.col(dim) == "").then(pl.lit(EVERY)).otherwise(value).alias(dim)

    return rows.select(constraint(dim) for dim in dims).unique()


def _within(rows: pl.DataFrame, keys: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Partitions (a column for each dimension) that Dagster has: columns of `KEYS`."""
    for dim in keys:
        rows = rows.filter(pl.col(dim).is_in(list(keys[dim])))
    empty = pl.lit("", pl.String)
    return rows.select(*(pl.col(name) if name in keys else empty.alias(name) for name in KEYS)) if keys else _none()


def _none() -> pl.DataFrame:
    return pl.DataFrame(schema=dict.fromkeys(KEYS, pl.String))


def _all(keys: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """All partitions: columns of `KEYS`."""
    rows = pl.DataFrame([{}])
    for dim in KEYS:
        rows = rows.join(pl.DataFrame({dim: list(keys.get(dim, [""]))}, {dim: pl.String}), how="cross")
    return rows


def _expanded(
    warehouse: Warehouse, constraints: pl.DataFrame, keys: Mapping[str, Sequence[str]]
) -> pl.DataFrame | None:
    """The partitions that constraints describe: columns of `KEYS`. None if one describes all partitions."""
    if len(constraints.filter(pl.all_horizontal(pl.all() == EVERY))):
        return None
    rows = constraints
    for dim in keys:
        every = pl.DataFrame({dim: list(keys[dim])}, {dim: pl.String})
        others = [name for name in rows.columns if name != dim]
        wide, corpora = rows.filter(pl.col(dim) == EVERY), rows.filter(pl.col(dim).str.ends_with("/*"))
        single = rows.filter((pl.col(dim) != EVERY) & ~pl.col(dim).str.ends_with("/*"))
        if dim == "passage" and len(single):
            of = warehouse.read("passage_shard", single.select("passage").unique(), shards.COLUMNS)
            single = shards.keyed(single, of)
        parts = [single.join(every, on=dim, how="semi").select(rows.columns)]
        parts.append(wide.drop(dim).join(every, how="cross").select(rows.columns))
        if len(corpora):
            named = every.with_columns(CORPUS) if dim == "passage" else every.with_columns(corpus=pl.lit(""))
            of_corpus = corpora.select(*others, corpus=pl.col(dim).str.strip_suffix("/*"))
            parts.append(of_corpus.join(named, on="corpus").select(rows.columns))
        rows = pl.concat(parts).unique()
    return rows.select(*(pl.col(name) if name in keys else pl.lit("").alias(name) for name in KEYS))


def _events(instance: dg.DagsterInstance, last: int | None) -> list[int]:
    """An event of Dagster, by default the last one, and the number of materializations up to it."""
    events = instance.event_log_storage
    if not isinstance(events, CompactEventLog):
        return [0, 0]
    event = events.last_event() if last is None else last
    return [event, events.materializations(event)]


def _wipes(instance: dg.DagsterInstance) -> list[Any]:
    """What Dagster says about wiped assets: their events are gone."""
    events = instance.event_log_storage
    return events.wipes() if isinstance(events, CompactEventLog) else []

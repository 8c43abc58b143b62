"""What this project's storages of Dagster's events have in common: batches, and few rows for each partition.

Dagster stores an event for each planned and each materialized partition. A `CompactEventLog` writes batches of these
events in one transaction, drops a plan once its partition is materialized, stores no tags that the events repeat, and
can forget events that do not affect the present state.

Here: what SQLite and PostgreSQL share. Not here: their files and connections (event_storage, postgres_storage), the
content of events (benchmark_assets.lineage), their packing (packing). This module relies on internals of Dagster 1.13;
tests/resources/test_event_storage.py checks that the storages behave like Dagster's own.
"""

import json
import logging
import os
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import dagster as dg
import sqlalchemy as db
from dagster._core.definitions.data_version import DATA_VERSION_TAG
from dagster._core.events import EVENT_TYPE_TO_PIPELINE_RUN_STATUS, AssetMaterializationPlannedData
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.dagster_run import FINISHED_STATUSES
from dagster._core.storage.event_log import SqlEventLogStorage
from dagster._core.storage.event_log.base import PlannedMaterializationInfo
from dagster._core.storage.event_log.schema import (
    AssetCheckExecutionsTable,
    AssetEventTagsTable,
    AssetKeyTable,
    SqlEventLogStorageTable,
)
from dagster._core.storage.tags import MULTIDIMENSIONAL_PARTITION_PREFIX

logger = logging.getLogger("variorum.event_log")

MATERIALIZATION = dg.DagsterEventType.ASSET_MATERIALIZATION
PLANNED = dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED
OBSERVATION = dg.DagsterEventType.ASSET_OBSERVATION

BATCHED = {PLANNED, MATERIALIZATION, OBSERVATION}

CHANGES = 10
"""Maximum number of version changes that are kept per partition (see REFERRED)."""

OLD = """
CREATE TEMPORARY TABLE forgotten AS
SELECT id, asset_key, dagster_event_type, partition FROM event_logs
WHERE timestamp < :before
    AND id <= :last
    AND id < (SELECT max(id) FROM event_logs)
    AND id NOT IN (
        SELECT evaluation_event_storage_id FROM asset_check_executions WHERE evaluation_event_storage_id IS NOT NULL
    )
    AND id NOT IN (
        SELECT id FROM (
            SELECT
                dagster_event_type AS kind,
                max(id) AS id,
                max(max(id)) OVER (PARTITION BY asset_key, dagster_event_type) AS last_of_asset,
                max(CASE dagster_event_type WHEN 'ASSET_MATERIALIZATION' THEN max(id) ELSE 0 END)
                    OVER (PARTITION BY asset_key, partition) AS materialized
            FROM event_logs
            WHERE asset_key IS NOT NULL
            GROUP BY asset_key, dagster_event_type, partition
        ) AS latest
        WHERE kind <> 'ASSET_MATERIALIZATION_PLANNED' OR id > materialized OR id = last_of_asset
    )
"""
"""Selects the events to forget: all events before a time, except the latest event of each kind for each partition. The
latest plan to materialize a partition is also forgotten once the partition has been materialized. The latest plan of
each asset is kept, because Dagster queries it. The newest event of all is kept, too: SQLite derives the next id from
it, and sensors remember ids."""

REFERRED = """
DELETE FROM forgotten WHERE id IN (
    SELECT id FROM (
        SELECT
            id,
            changed,
            max(CASE WHEN version = latest THEN 1 ELSE 0 END)
                OVER (PARTITION BY asset_key, dagster_event_type, partition ORDER BY id) AS known,
            sum(changed) OVER (PARTITION BY asset_key, dagster_event_type, partition ORDER BY id DESC) AS changes
        FROM (
            SELECT
                event_logs.id,
                event_logs.asset_key,
                dagster_event_type,
                partition,
                value AS version,
                CASE WHEN value = lag(value) OVER history THEN 0 ELSE 1 END AS changed,
                last_value(value) OVER (history ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS latest
            FROM event_logs
            JOIN asset_event_tags ON event_id = event_logs.id AND key = 'dagster/data_version'
            WHERE (event_logs.asset_key, dagster_event_type, partition) IN (
                SELECT asset_key, dagster_event_type, partition FROM forgotten
            )
            WINDOW history AS (
                PARTITION BY event_logs.asset_key, dagster_event_type, partition ORDER BY event_logs.id
            )
        ) AS histories
    ) AS versions
    WHERE changed = 1 AND known = 1 AND changes <= :changes
)
"""
"""Exempts some events from OLD: for each partition, the first event that reported its present version, and all later
events that changed the version. A downstream partition refers to the upstream event that reported the version from
which it was computed; Dagster considers the downstream partition stale if this version differs from the present version
of the upstream partition."""


class CompactEventLog(SqlEventLogStorage):
    """Storage of events in SQL that writes batches of asset events, and keeps what affects the present state.

    A subclass stores a batch (`_store_asset_events`) and calls `batch_by` when it is created.
    """

    @staticmethod
    def batch_by(size: int) -> None:
        """Have Dagster pass events in batches of this size: only if the environment does not set the size already."""
        os.environ.setdefault("DAGSTER_EVENT_BATCH_SIZE", str(size))

    def store_event_batch(self, events: Sequence[dg.EventLogEntry]) -> None:
        """Store events in order; consecutive asset events of one run share a transaction."""

        def batch_of(event: dg.EventLogEntry) -> str | None:
            return event.run_id if event.is_dagster_event and event.dagster_event_type in BATCHED else None

        for run_id, group in groupby(events, key=batch_of):
            batch = list(group)
            if run_id is not None:
                try:
                    self._store_asset_events(run_id, batch)
                    continue
                except Exception as error:  # if raised, Dagster would store the finished groups again
                    logger.warning("storing %d events one by one, because the batch failed: %s", len(batch), error)
            for event in batch:
                self.store_event(event)

    def get_asset_tags_to_index(self, tag_keys: set[str]) -> set[str]:
        """Tags that have rows of their own: versions only. The event itself has the dimensions of its partition."""
        return tag_keys & {DATA_VERSION_TAG}

    def get_event_tags_for_asset(
        self,
        asset_key: dg.AssetKey,
        filter_tags: Mapping[str, str] | None = None,
        filter_event_id: int | None = None,
    ) -> Sequence[Mapping[str, str]]:
        """Versions and dimensions of an asset's materializations and observations, in order, from the events."""
        events = SqlEventLogStorageTable.c
        query = db.select(events.event).where(
            events.asset_key == asset_key.to_string(),
            events.dagster_event_type.in_([MATERIALIZATION.value, OBSERVATION.value]),
        )
        if filter_event_id is not None:
            query = query.where(events.id == filter_event_id)
        query = self._add_assets_wipe_filter_to_query(query, self._get_assets_details([asset_key]), [asset_key])
        with self.index_connection() as index:
            entries = [
                dg.deserialize_value(text, dg.EventLogEntry)
                for text in index.execute(query.order_by(events.id)).scalars()
            ]
        tags = [_indexed_tags(entry) for entry in entries]
        return [each for each in tags if each and (filter_tags or {}).items() <= each.items()]

    def get_latest_planned_materialization_info(
        self, asset_key: dg.AssetKey, partition: str | None = None
    ) -> PlannedMaterializationInfo | None:
        """The latest plan to materialize an asset or a partition.

        The plan of a materialized partition is not stored any more: its materialization takes its place.
        """
        plan = super().get_latest_planned_materialization_info(asset_key, partition)
        if partition is None:
            return plan
        events = SqlEventLogStorageTable.c
        query = db.select(events.id, events.run_id).where(
            events.asset_key == asset_key.to_string(),
            events.dagster_event_type == MATERIALIZATION.value,
            events.partition == partition,
        )
        query = self._add_assets_wipe_filter_to_query(query, self._get_assets_details([asset_key]), [asset_key])
        with self.index_connection() as index:
            made = index.execute(query.order_by(events.id.desc()).limit(1)).first()
        if made and (plan is None or plan.storage_id < made.id):
            return PlannedMaterializationInfo(storage_id=made.id, run_id=made.run_id)
        return plan

    def get_latest_asset_partition_materialization_attempts_without_materializations(
        self, asset_key: dg.AssetKey, after_storage_id: int | None = None
    ) -> Mapping[str, tuple[str, int]]:
        """For each partition whose last attempt was not followed by a materialization: the run id and event id of this
        attempt.

        The base class fetches the latest events of all partitions; this class has the database compare the few plans
        that are left with the materializations of their partitions.
        """
        plan = self._latest_event_ids_by_partition_subquery(asset_key, [PLANNED], after_cursor=after_storage_id)
        events, made = SqlEventLogStorageTable, SqlEventLogStorageTable.alias("made")
        followed = db.exists().where(
            made.c.asset_key == asset_key.to_string(),
            made.c.dagster_event_type == MATERIALIZATION.value,
            made.c.partition == plan.c.partition,
            made.c.id > plan.c.id,
        )
        columns = events.c.partition, events.c.run_id, events.c.id
        query = db.select(*columns).join(plan, plan.c.id == events.c.id).where(~followed)
        with self.index_connection() as index:
            return {partition: (run_id, event) for partition, run_id, event in index.execute(query)}

    def last_materialization(self, asset_key: dg.AssetKey) -> tuple[int, int, str]:
        """Number of an asset's materializations, and id and time of the latest one (0 and '' if there is none).

        While these are the same, no materialization was added or removed: ids may be used again, but not with an
        earlier time.
        """
        events = SqlEventLogStorageTable.c
        made = events.asset_key == asset_key.to_string(), events.dagster_event_type == MATERIALIZATION.value
        with self.index_connection() as index:
            count, last = index.execute(db.select(db.func.count(), db.func.max(events.id)).where(*made)).one()
            time = index.execute(db.select(events.timestamp).where(events.id == last)).scalar() if count else ""
        return count, last or 0, str(time)

    def attempted_before(self, asset_key: dg.AssetKey, run_id: str) -> list[str]:
        """Partitions of an asset that other runs planned to materialize, and no run has materialized since."""
        events, made = SqlEventLogStorageTable, SqlEventLogStorageTable.alias("made")
        followed = db.exists().where(
            made.c.asset_key == asset_key.to_string(),
            made.c.dagster_event_type == MATERIALIZATION.value,
            made.c.partition == events.c.partition,
            made.c.id > events.c.id,
        )
        planned = (
            events.c.asset_key == asset_key.to_string(),
            events.c.dagster_event_type == PLANNED.value,
            events.c.partition.is_not(None),
            events.c.run_id != run_id,
        )
        with self.index_connection() as index:
            return list(index.execute(db.select(events.c.partition).where(*planned, ~followed).distinct()).scalars())

    def drop_plans(self, asset_key: dg.AssetKey, run_id: str, failed: Collection[str] = ()) -> None:
        """Remove a run's plans to materialize partitions of an asset, apart from failed ones. The run did not come to
        the asset, or has found that the partitions are up to date or do not apply."""
        events = SqlEventLogStorageTable.c
        dropped = (
            events.asset_key == asset_key.to_string(),
            events.dagster_event_type == PLANNED.value,
            events.run_id == run_id,
            events.partition.is_not(None),
            events.partition.not_in(failed),
        )
        with self.index_transaction() as index:
            index.execute(SqlEventLogStorageTable.delete().where(*dropped))

    def last_event(self) -> int:
        """Id of the latest event of all assets; 0 if there is none."""
        with self.index_connection() as index:
            return index.execute(db.select(db.func.max(SqlEventLogStorageTable.c.id))).scalar() or 0

    def materializations(self, event: int) -> int:
        """Number of materializations up to an event. It falls if a run is deleted."""
        events = SqlEventLogStorageTable.c
        made = events.dagster_event_type == MATERIALIZATION.value, events.id <= event
        with self.index_connection() as index:
            return index.execute(db.select(db.func.count()).where(*made)).scalar() or 0

    def attempts(self) -> dict[tuple[dg.AssetKey, str], str]:
        """For each asset and partition whose last attempt was not followed by a materialization: the run."""
        plan, made = SqlEventLogStorageTable, SqlEventLogStorageTable.alias("made")
        followed = db.exists().where(
            made.c.asset_key == plan.c.asset_key,
            made.c.dagster_event_type == MATERIALIZATION.value,
            made.c.partition == plan.c.partition,
            made.c.id > plan.c.id,
        )
        planned = plan.c.dagster_event_type == PLANNED.value, plan.c.partition.is_not(None)
        query = db.select(plan.c.asset_key, plan.c.partition, plan.c.run_id).where(*planned, ~followed)
        with self.index_connection() as index:
            rows = index.execute(query.order_by(plan.c.id)).all()
        return {(_key(asset), partition): run for asset, partition, run in rows}

    def runs_since(self, event: int) -> list[tuple[dg.AssetKey, str, int]]:
        """The runs that planned or materialized partitions after an event: asset, run, and the last such event."""
        events = SqlEventLogStorageTable.c
        attempted = events.id > event, events.dagster_event_type.in_([PLANNED.value, MATERIALIZATION.value])
        query = db.select(events.asset_key, events.run_id, db.func.max(events.id)).where(*attempted)
        with self.index_connection() as index:
            rows = index.execute(query.group_by(events.asset_key, events.run_id)).all()
        return [(_key(asset), run, last) for asset, run, last in rows]

    def partitions_since(
        self, asset_key: dg.AssetKey, event: int, runs: Collection[str], most: int
    ) -> list[str] | None:
        """Partitions of an asset that runs planned or materialized after an event; '' for an asset without partitions.
        None if there are more than `most`."""
        events = SqlEventLogStorageTable.c
        query = (
            db.select(events.partition)
            .distinct()
            .where(
                events.id > event,
                events.asset_key == asset_key.to_string(),
                events.run_id.in_(runs),
                events.dagster_event_type.in_([PLANNED.value, MATERIALIZATION.value]),
            )
        )
        with self.index_connection() as index:
            partitions = index.execute(query.limit(most + 1)).scalars().all()
        return None if len(partitions) > most else [partition or "" for partition in partitions]

    def last_materializations(self, asset_key: dg.AssetKey, beginnings: Collection[str]) -> dict[str, int]:
        """By beginning of partition keys: the id of the last materialization of such a partition of an asset, if any.

        Dagster's own query returns an id for each partition.
        """
        events = SqlEventLogStorageTable.c
        cases = [(db.func.substr(events.partition, 1, len(each)) == each, each) for each in beginnings]
        if not cases:
            return {}
        beginning = db.case(*cases, else_=None).label("beginning")
        query = db.select(beginning, db.func.max(events.id)).where(
            events.asset_key == asset_key.to_string(),
            events.dagster_event_type == MATERIALIZATION.value,
            events.partition.is_not(None),
        )
        query = self._add_assets_wipe_filter_to_query(query, self._get_assets_details([asset_key]), [asset_key])
        with self.index_connection() as index:
            rows = index.execute(query.group_by(db.text("beginning"))).all()
        return {each: last for each, last in rows if each is not None}

    def wipes(self) -> list[str]:
        """Assets that were wiped, with the time of the last wipe."""
        assets = AssetKeyTable.c
        query = db.select(assets.asset_key, assets.wipe_timestamp).where(assets.wipe_timestamp.is_not(None))
        with self.index_connection() as index:
            return [f"{asset} {time}" for asset, time in index.execute(query.order_by(assets.asset_key))]

    def runs_in_index(self) -> set[str]:
        """Ids of the runs that reported the stored events."""
        with self.index_connection() as index:
            return set(index.execute(db.select(SqlEventLogStorageTable.c.run_id).distinct()).scalars())

    @abstractmethod
    def forget(self, before: float) -> None:
        """Remove events that are older than `before` (Unix time) and do not affect the present state."""

    @abstractmethod
    def _store_asset_events(self, run_id: str, events: list[dg.EventLogEntry]) -> None:
        """Store asset events of one run, all or none."""

    def _store_asset_event_tags(
        self, conn: db.Connection, events: Sequence[dg.EventLogEntry], event_ids: Sequence[int]
    ) -> None:
        """Store the versions that asset events report, and remove their run's plans of the partitions that they
        materialize.

        Only a plan without a later materialization has a meaning: its partition failed, or is under way. The latest
        plan of an asset is kept, as by OLD. The time of a tag is not stored, because no query needs it.
        """
        tags: list[dict[str, object]] = []
        made: dict[str, tuple[int, list[str]]] = {}
        for event_id, event in zip(event_ids, events, strict=True):
            step = event.get_dagster_event()
            asset = step.asset_key.to_string() if step.asset_key else ""
            for key, value in self._tags_for_asset_event(event).items():
                tags.append({"event_id": event_id, "asset_key": asset, "key": key, "value": value})
            if event.dagster_event_type == MATERIALIZATION and step.partition is not None:
                made.setdefault(asset, (event_id, []))[1].append(step.partition)
        if tags:
            conn.execute(AssetEventTagsTable.insert(), tags)
        plan, latest = SqlEventLogStorageTable.c, SqlEventLogStorageTable.alias("latest").c
        for asset, (first, partitions) in made.items():
            planned = latest.asset_key == asset, latest.dagster_event_type == PLANNED.value
            followed = (
                plan.asset_key == asset,
                plan.dagster_event_type == PLANNED.value,
                plan.run_id == events[0].run_id,
                plan.partition.in_(partitions),
                plan.id < first,
                plan.id < db.select(db.func.max(latest.id)).where(*planned).scalar_subquery(),
            )
            conn.execute(SqlEventLogStorageTable.delete().where(*followed))

    def _insert_asset_events(self, index: db.Connection, events: Sequence[dg.EventLogEntry]) -> Sequence[int]:
        """Insert asset events, their tags and the latest event of each asset; return the events' ids in order."""
        rows = [*self._rows(events)]
        insert = SqlEventLogStorageTable.insert().returning(SqlEventLogStorageTable.c.id, sort_by_parameter_order=True)
        ids = index.execute(insert, rows).scalars().all()
        self._store_asset_event_tags(index, events, ids)
        # A row per asset holds its latest event; within a batch that is the last event of each kind.
        latest = {(event.get_dagster_event().asset_key, event.dagster_event_type): (event, event_id)
                  for event, event_id in zip(events, ids, strict=True)}  # fmt: skip
        for event, event_id in sorted(latest.values(), key=lambda pair: pair[1]):
            self._store_asset_event(index, event, event_id)
        return ids

    def _rows(self, events: Sequence[dg.EventLogEntry]) -> Iterator[dict[str, Any]]:
        """Rows of the events of a run. Of an asset's plans, which differ in partition and time, one is serialized."""
        plans: dict[dg.AssetKey, tuple[Sequence[str], dict[str, Any]]] = {}
        for event in events:
            planned = event.get_dagster_event().event_specific_data
            if not isinstance(planned, AssetMaterializationPlannedData) or planned.partition is None:
                yield self._event_to_row(event)
                continue
            parts = [f'"partition": {json.dumps(planned.partition)}', f'"timestamp": {json.dumps(event.timestamp)}']
            if planned.asset_key not in plans:
                plans[planned.asset_key] = parts, self._event_to_row(event)
            first, row = plans[planned.asset_key]
            text = row["event"]
            for former, part in zip(first, parts, strict=True):
                text = text.replace(former, part)
            time = self._event_insert_timestamp(event)  # type: ignore[no-untyped-call]
            yield row | {"event": text, "partition": planned.partition, "timestamp": time}


def ends_run(event: dg.EventLogEntry) -> bool:
    """Whether an event is the last one of its run."""
    return (
        event.is_dagster_event
        and EVENT_TYPE_TO_PIPELINE_RUN_STATUS.get(event.get_dagster_event().event_type) in FINISHED_STATUSES
    )


def forget_events(index: db.Connection, before: float) -> bool:
    """Remove old asset events, their tags, and old evaluations of checks; return whether any event was removed.

    The latest event of each kind for each partition stays, except attempts to materialize a partition that has been
    materialized. A check keeps its latest evaluation and its latest finished evaluation.
    """
    time = datetime.fromtimestamp(before, UTC).replace(tzinfo=None)
    events = SqlEventLogStorageTable.c
    newest = db.select(events.id).where(events.timestamp < time).order_by(events.id.desc()).limit(1)
    last = index.execute(newest).scalar()
    if last is None:
        return False
    index.execute(_old_evaluations(time))
    index.execute(db.text(OLD), {"before": str(time), "last": last})
    index.execute(db.text(REFERRED), {"changes": CHANGES})
    index.execute(db.text("DELETE FROM asset_event_tags WHERE event_id IN (SELECT id FROM forgotten)"))
    removed = index.execute(db.text("DELETE FROM event_logs WHERE id IN (SELECT id FROM forgotten)")).rowcount
    index.execute(db.text("DROP TABLE forgotten"))
    return removed > 0


def _old_evaluations(before: datetime) -> db.Delete:
    """Remove evaluations of checks before a time, except the latest evaluation and the latest finished evaluation of
    each check."""
    checks = AssetCheckExecutionsTable.c
    latest = db.select(db.func.max(checks.id)).group_by(checks.asset_key, checks.check_name, checks.partition)
    evaluated = [AssetCheckExecutionRecordStatus.SUCCEEDED.value, AssetCheckExecutionRecordStatus.FAILED.value]
    return AssetCheckExecutionsTable.delete().where(
        checks.create_timestamp < before,
        checks.id.not_in(latest),
        checks.id.not_in(latest.where(checks.execution_status.in_(evaluated))),
    )


def _key(stored: str) -> dg.AssetKey:
    """An asset key as it is stored."""
    key = dg.AssetKey.from_db_string(stored)
    assert key
    return key


def _indexed_tags(entry: dg.EventLogEntry) -> dict[str, str]:
    """The tags of a materialization or observation that Dagster's own storages keep in rows of their own."""
    event = entry.asset_materialization or entry.asset_observation
    tags = (event.tags if event else None) or {}
    return {
        key: value
        for key, value in tags.items()
        if key == DATA_VERSION_TAG or key.startswith(MULTIDIMENSIONAL_PARTITION_PREFIX)
    }

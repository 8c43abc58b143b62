"""Dagster's storages on PostgreSQL as deploy/dagster.yaml names them; test_event_storage compares their answers."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any

import dagster as dg
import psycopg
import pytest

from benchmark_assets.automation.runs import forget_history
from resources.home import PROJECT
from resources.postgres.postgres_storage import (
    CompactPostgresEventLogStorage,
    ForgettingPostgresRunStorage,
    SchemaPostgresScheduleStorage,
    declaring,
)

MANY = dg.StaticPartitionsDefinition([f"{i:04}" for i in range(1000)])
KEY = dg.AssetKey("text")


@dg.asset(partitions_def=MANY, backfill_policy=dg.BackfillPolicy.single_run(), code_version="1")
def text() -> dg.Output[None]:
    return dg.Output(None, data_version=dg.DataVersion("same"))


@pytest.fixture
def group(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    """The instance of a group, over an empty database."""
    monkeypatch.setenv("VARIORUM_DATABASE", database)
    monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", "1000")
    (tmp_path / "dagster.yaml").symlink_to(PROJECT / "deploy" / "dagster.yaml")
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        yield instance


def run(instance: dg.DagsterInstance, first: str = "0000", last: str = "0999") -> str:
    ends = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}
    result = dg.materialize([text], instance=instance, tags=ends)
    assert result.success
    return result.run_id


def test_the_file_for_a_group_names_these_storages(group: dg.DagsterInstance) -> None:
    assert isinstance(group.event_log_storage, CompactPostgresEventLogStorage)
    assert isinstance(group.run_storage, ForgettingPostgresRunStorage)
    assert isinstance(group.schedule_storage, SchemaPostgresScheduleStorage)


def test_a_run_over_a_thousand_partitions(group: dg.DagsterInstance, database: str) -> None:
    run_id = run(group)
    assert group.get_materialized_partitions(KEY) == set(MANY.get_partition_keys())
    assert group.get_run_stats(run_id).materializations == 1000
    with psycopg.connect(database, options="-csearch_path=dagster") as connection:
        of_asset = (
            "SELECT dagster_event_type, count(*), max(length(event)) FROM event_logs WHERE asset_key <> '' GROUP BY 1"
        )
        stored = {kind: (count, length) for kind, count, length in connection.execute(of_asset)}
        tables = "SELECT DISTINCT schemaname FROM pg_tables WHERE tablename IN ('runs', 'event_logs', 'jobs')"
        assert connection.execute(tables).fetchall() == [("dagster",)]
    assert stored["ASSET_MATERIALIZATION"][0] == 1000
    assert stored["ASSET_MATERIALIZATION"][1] < 700
    assert stored["ASSET_MATERIALIZATION_PLANNED"][0] == 1  # the asset's last plan


def test_what_no_longer_has_any_effect_is_forgotten(group: dg.DagsterInstance) -> None:
    first, second, third = run(group, "0000", "0009"), run(group, "0005", "0009"), run(group, "0005", "0009")
    forget_history(group, datetime.now(UTC))
    kept = group.fetch_materializations(KEY, 100).records
    assert [record.run_id for record in kept] == [third] * 5 + [first] * 10  # the first of each version stays
    assert {each.run_id for each in group.get_runs()} == {first, third}
    assert not group.all_logs(second)
    assert not group.all_logs(first, of_type=dg.DagsterEventType.STEP_START)


class Slow(CompactPostgresEventLogStorage):
    """Waits, once events have ids, until it may commit."""

    def __init__(self, postgres_url: str) -> None:
        self.numbered, self.may_commit = Event(), Event()
        super().__init__(postgres_url)

    def _store_asset_event_tags(self, *arguments: Any) -> None:
        super()._store_asset_event_tags(*arguments)
        self.numbered.set()
        assert self.may_commit.wait(60)


def test_a_reader_that_continues_from_the_highest_id_misses_nothing(group: dg.DagsterInstance, database: str) -> None:
    """As Dagster's cache of partition statuses does, while another worker reports partitions of the same asset."""
    events = group.all_logs(run(group, "0000", "0004"), of_type=dg.DagsterEventType.ASSET_MATERIALIZATION)
    seen: list[int] = []

    def read() -> None:
        records = group.get_asset_event_summary_records(
            dg.DagsterEventType.ASSET_MATERIALIZATION, KEY, after_storage_id=seen[-1] if seen else 0, ascending=True
        )
        seen.extend(record.storage_id for record in records)

    slow = Slow(database)
    first = Thread(target=slow.store_event_batch, args=(events,))
    second = Thread(target=group.event_log_storage.store_event_batch, args=(events,))
    first.start()
    assert slow.numbered.wait(60)
    second.start()
    second.join(1)
    read()
    slow.may_commit.set()
    first.join()
    second.join()
    read()
    slow.dispose()
    assert len(seen) == 3 * 5


def test_options_of_a_url_stay(database: str) -> None:
    with declaring(f"{database}&options=-cstatement_timeout%3D5000") as address:
        assert "statement_timeout" in address

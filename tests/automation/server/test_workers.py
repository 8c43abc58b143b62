"""A group with workers: parts go through the queue to real workers, and end as they would in one process."""

import time
from collections import Counter
from pathlib import Path

import pytest

from resources.postgres.postgres_warehouse import PostgresWarehouse
from tests.automation.server.group import Group, running
from tests.processes import VARIORUM, until
from tests.provider.server import Server
from tests.support import PASSAGES, write_corpus, write_registry

MODELS = ("alpha", "beta", "gamma", "delta")

pytestmark = [pytest.mark.proof, pytest.mark.large]


def warehouse(group: Group) -> PostgresWarehouse:
    settings = group.settings
    return PostgresWarehouse(
        url=settings["VARIORUM_DATABASE"], home=str(group.folder / "server"), vectors=settings["VARIORUM_VECTORS"]
    )


def asked(server: Server) -> Counter[tuple[str, str]]:
    """How often each passage was asked of each model."""
    return Counter((request.model, key) for request in server.log() for key in request.keys)


@pytest.fixture
def registry(tmp_path: Path, server: Server) -> Path:
    path = tmp_path / "models.yaml"
    write_registry(path, server.url, *MODELS)
    return path


def test_workers_evaluate_models_and_ask_nothing_twice(
    tmp_path: Path, database: str, registry: Path, server: Server
) -> None:
    (folder := tmp_path / "group").mkdir()
    with running(folder, database, registry, workers=2) as group:
        group.variorum("import", "corpus", str(write_corpus(tmp_path / "corpus")))
        begun = time.monotonic()
        try:
            group.variorum("evaluate", "--accept", *MODELS)
        finally:
            print(group.logs())
        print(f"\n{len(MODELS)} models on 2 workers: {time.monotonic() - begun:.0f} s")
        assert set(asked(server).values()) == {1}
        board = warehouse(group).read("leaderboard").filter(kind="model")
        assert set(board["system"]) == {*MODELS}
        assert board["passages"].to_list() == [len(PASSAGES)] * len(MODELS)
        assert "up to date" in group.variorum("stale")


def test_a_killed_worker_and_a_killed_planner_lose_and_repeat_nothing_that_is_stored(
    tmp_path: Path, database: str, registry: Path, server: Server
) -> None:
    """A part of a killed worker is carried out again once its lease expired; only what was in flight is asked again.

    A killed planner leaves its parts under way: the next one waits for them.
    """
    (folder := tmp_path / "group").mkdir()
    with running(folder, database, registry, workers=2) as group:
        group.variorum("import", "corpus", str(write_corpus(tmp_path / "corpus")))
        server.configure(latency=5)
        group.start("planner", VARIORUM, "evaluate", "--accept", *MODELS)
        until(lambda: server.in_flight() > 0, 120, folder / "planner.log")
        group.kill("worker1")
        group.kill("planner")
        group.worker("worker3")
        group.variorum("evaluate", "--accept", *MODELS)
        in_flight = sum(not request.finished for request in server.log())
        counts = asked(server)
        print(f"\n{sum(counts.values())} passages asked, {in_flight} requests were cut off")
        assert set(counts) == {(model, passage.partition("/")[2]) for model in MODELS for passage in PASSAGES}
        assert sum(counts.values()) - len(counts) <= in_flight
        outputs = warehouse(group).read("model_output")
        assert len(outputs) == len(MODELS) * len(PASSAGES)
        assert "up to date" in group.variorum("stale")

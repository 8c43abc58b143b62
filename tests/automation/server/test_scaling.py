"""More workers for the same evaluation, by models that let one wait for most of the time."""

import time
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import postgres
from tests.automation.server.group import running
from tests.provider.server import Server
from tests.support import PASSAGES, write_corpus, write_registry

MODELS = [f"m{number}" for number in range(1, 13)]

WARMING = [f"w{number}" for number in range(1, 5)]
"""Models that are evaluated before the clock starts, because a process loads the embedder for its first part."""

LATENCY = 16.0
"""Seconds of a call. The calls of a model follow each other, so that one worker waits for 90 % of the time."""

pytestmark = [pytest.mark.proof, pytest.mark.large]


class Measured(NamedTuple):
    """Seconds of an evaluation: as the clock has it, and those in which the models slept, summed over calls."""

    wall: float
    slept: float


def evaluated(workers: int, folder: Path, database: str, server: Server, registry: Path) -> Measured:
    """Evaluate all models in a fresh home."""
    folder.mkdir()
    with running(folder, database, registry, workers) as group:
        group.variorum("import", "corpus", str(write_corpus(folder / "corpus")))
        server.configure()
        group.variorum("evaluate", "--accept", *WARMING)
        server.configure(latency=LATENCY)
        server.clear()
        begun = time.monotonic()
        group.variorum("evaluate", "--accept", *MODELS)
        wall = time.monotonic() - begun
    calls = server.log()
    assert len(calls) == len(MODELS) * len(PASSAGES)
    print(f"\n{workers} workers: {wall:.0f} s")
    return Measured(wall, sum(call.ended - call.arrived for call in calls))


def test_four_workers_are_three_and_a_half_times_as_fast_as_one(
    tmp_path: Path, postgres_server: str, server: Server
) -> None:
    registry = tmp_path / "models.yaml"
    write_registry(registry, server.url, *WARMING, *MODELS, in_flight=1)
    measured: dict[int, Measured] = {}
    for workers in (4, 2, 1):
        with postgres.empty_database(postgres_server) as database:
            measured[workers] = evaluated(workers, tmp_path / str(workers), database, server, registry)
    for workers, (wall, slept) in sorted(measured.items()):
        print(
            f"{workers} workers: {wall:.0f} s, {measured[1].wall / wall:.2f} times, asking for {slept / wall:.2f} times"
        )
    assert measured[1].wall / measured[4].wall >= 3.5

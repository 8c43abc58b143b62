"""A home that is edited for two hundred days: its size, the memory of a process and the time of a day stay the same."""

import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import dagster as dg
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import ROOMS
from resources.warehouse import Warehouse
from tests.support import CONSTRUCTED, MODELS, edit_segment, write_corpus

PASSAGES = 6
SEGMENTS = [f"doc:{i}.1" for i in range(1, PASSAGES + 1)]


class Day(NamedTuple):
    """What a day left behind: bytes of the home and of Dagster's part, resident memory in MB, seconds of CPU."""

    home: int
    dagster: int
    memory: float
    seconds: float


@pytest.fixture(scope="module")
def kept_open() -> bool:
    """The warehouse is closed between updates, as it is between commands and between runs of a schedule."""
    return False


@pytest.fixture(scope="module")
def rooms(full: bool) -> Sequence[ModuleType]:
    return ROOMS if full else CONSTRUCTED


def text(name: str, segment: str) -> str:
    return f"{name} says of {segment} that nothing in it is new, and that the sun rises."


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def memory() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def live(definitions: dg.Definitions, home: Path, corpus: Path, day: int, mornings: list[datetime], kept: int) -> Day:
    """A day: edit a passage, scan, update. Dagster keeps the history of the last `kept` days."""
    begun = time.process_time()
    mornings.append(datetime.now(UTC))
    edit_segment(corpus, "ben", SEGMENTS[day % PASSAGES], text(f"Ben on day {day}", SEGMENTS[day % PASSAGES]))
    history = timedelta(days=1) if day < kept else datetime.now(UTC) - mornings[day - kept]
    with dg.DagsterInstance.get() as instance:
        runs.look(definitions, instance)
        runs.update(definitions, instance, history=history)
    return Day(bytes_in(home), bytes_in(home / "dagster"), memory(), time.process_time() - begun)


@pytest.mark.large
@pytest.mark.proof
def test_a_home_that_is_edited_every_day_does_not_grow(
    ruled: dg.Definitions, warehouse: Warehouse, home: Path, tmp_path: Path, full: bool
) -> None:
    """The history of thirty days is kept; at the small size, of one day, and there are no models."""
    days, kept, early = (200, 30, 40) if full else (3, 1, 2)
    names = ["ann", "ben", "cleo"]
    corpus = write_corpus(
        tmp_path / "corpus",
        {"doc": {segment: f"Nihil novi sub sole, {segment}." for segment in SEGMENTS}},
        {name: {"doc": {segment: text(name, segment) for segment in SEGMENTS}} for name in names},
    )
    register(warehouse, corpus)
    with dg.DagsterInstance.get() as instance:
        instance.add_dynamic_partitions("model", MODELS if full else [])
        runs.look(ruled, instance)
        runs.update(ruled, instance)
    mornings: list[datetime] = []
    life: list[Day] = []
    for number in range(days):
        life.append(live(ruled, home, corpus, number, mornings, kept))
        if full and (number == 0 or (number + 1) % 20 == 0):
            print(f"\nday {number + 1}: {life[-1]}")
    assert life[-1].dagster < 1.2 * life[early - 1].dagster
    if full:  # DuckDB's file takes up what was written and gives it back, in turns of some days
        first, last = life[early - 10 : early], life[-10:]
        assert max(day.home for day in last) < 1.2 * max(day.home for day in first)
        assert max(day.memory for day in last) < 1.2 * max(day.memory for day in first)
        seconds = [sorted(day.seconds for day in part)[5] for part in (first, last)]
        print(f"\nseconds of CPU of a day: {seconds[0]:.1f} until day {early}, {seconds[1]:.1f} at the end")
        assert seconds[1] < 1.2 * seconds[0]

"""The queue of a group: who takes which part, and what becomes of the parts of workers that have ended."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import psycopg
import pytest

from benchmark_assets.automation.server.queues import PATIENCE, PartQueue, TakenPart
from resources.postgres import leases

WORKERS, ROUNDS = 8, 30


def crash(url: str) -> None:
    """Let the lease of this process expire, as if it had been killed; it obtains another one."""
    name = leases.own(url)
    leases.give_up(url)
    with psycopg.connect(url) as connection:
        connection.execute("INSERT INTO work.lease VALUES (%s, now() - interval '1 second')", [name])


def submitted(queue: PartQueue, *units: str) -> str:
    name = queue.submit("model", units, f"of {units[0]}")
    assert name
    return name


def test_parts_are_taken_in_order_each_by_one_worker(database: str) -> None:
    queue, other = PartQueue(database), PartQueue(database)
    first, second = submitted(queue, "b"), submitted(queue, "a")
    assert queue.take() == (first, "model", ["b"], "of b", 1)
    assert other.take() == (second, "model", ["a"], "of a", 1)
    assert queue.take() is None
    queue.finish(first, "done")
    assert other.collect([first, second]) == {first: "done"}
    assert other.collect([first]) == {first: None}


def test_of_workers_that_wake_at_once_each_takes_another_part(database: str) -> None:
    waking = Barrier(WORKERS)

    def taken(queue: PartQueue) -> list[TakenPart | None]:
        parts = []
        for _ in range(ROUNDS):
            waking.wait()  # as when a planner submits a part for each of them
            parts.append(queue.take())
        return parts

    queues = [PartQueue(database) for _ in range(WORKERS)]
    names = [submitted(queues[0], str(number)) for number in range(WORKERS * ROUNDS)]
    with ThreadPoolExecutor(WORKERS) as pool:
        parts = [part for own in pool.map(taken, queues) for part in own]
    assert sorted(part.name for part in parts if part) == sorted(names)


def test_what_waits_or_is_under_way_is_not_submitted_again(database: str) -> None:
    queue = PartQueue(database)
    name = submitted(queue, "a", "b")
    for _ in range(2):
        assert queue.submit("model", ["b", "c"], "") is None
        assert queue.busy("model") == {"a", "b"}
        queue.take()
    assert queue.submit("corpus", ["b"], "")
    queue.finish(name, "done")
    assert queue.busy("model") == set()
    assert queue.submit("model", ["b", "c"], "")


def test_the_next_worker_takes_the_part_of_one_that_was_killed(database: str) -> None:
    queue = PartQueue(database)
    queue.enter()
    assert len(queue.workers()) == 1
    queue.leave()
    assert queue.workers() == []
    queue.enter()
    name = submitted(queue, "a")
    assert queue.take() == (name, "model", ["a"], "of a", 1)
    crash(database)
    assert queue.workers() == []
    queue.finish(name, "too late")
    assert queue.collect([name]) == {}
    assert queue.take() == (name, "model", ["a"], "of a", 2)
    queue.finish(name, "done")
    assert queue.collect([name]) == {name: "done"}


def test_a_part_that_is_given_back_is_free(database: str) -> None:
    queue = PartQueue(database)
    name = submitted(queue, "a")
    queue.take()
    queue.give_back(name)
    assert queue.take() == (name, "model", ["a"], "of a", 1)


def test_a_waiting_process_goes_on_as_soon_as_a_part_is_added(database: str) -> None:
    queue, other = PartQueue(database), PartQueue(database)
    queue.take()
    begun = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        waited = pool.submit(queue.wait)
        submitted(other, "a")
        waited.result()
    assert time.monotonic() - begun < PATIENCE


def test_a_connection_that_was_lost_is_replaced(database: str) -> None:
    queue = PartQueue(database)
    name = submitted(queue, "a")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid()"
        )
    with pytest.raises(psycopg.OperationalError):
        queue.take()
    assert queue.take() == (name, "model", ["a"], "of a", 1)

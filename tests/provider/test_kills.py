"""Runs that are killed, two at once: no completed reply is lost or asked for twice."""

import random
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

from resources.home import PROJECT
from resources.provider.ledger import UNCERTAIN, Ledger
from resources.provider.reading import REPLIES
from tests.provider.server import Server, serve
from tests.provider.support import address

ON_THE_WAY = 0.1
"""Seconds that a request may need from the asker to the server's log, and a reply from the server into the ledger: one
that was sent so shortly before a kill was in flight."""


BOTH = pytest.mark.parametrize(
    "either_ledger", ["sqlite", pytest.param("postgres", marks=pytest.mark.large)], indirect=True
)
"""Ledgers of both kinds at full size; processes that start take long."""


@pytest.fixture
def ledger(either_ledger: Ledger) -> Ledger:
    return either_ledger


def start(server: Server, ledger: Ledger, count: int) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-m", "tests.provider.asker", server.url, address(ledger), str(count), "30"]
    return subprocess.Popen(arguments, cwd=PROJECT, stdout=subprocess.PIPE, text=True)


def kill_soon(server: Server, process: subprocess.Popen[str], after: float) -> float:
    """Kill a process some time after its first request; return when (time.monotonic)."""
    before = len(server.log())
    while len(server.log()) == before and process.poll() is None:
        time.sleep(0.01)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    process.wait()
    return killed


def check(server: Server, ledger: Ledger, count: int, kills: list[float]) -> str:
    """Compare what the server saw with what the ledger holds."""
    rows = ledger.attempts()
    replies = rows.filter(pl.col("outcome").is_in(REPLIES))
    assert replies["key"].n_unique() == len(replies) == count
    others = rows.filter(~pl.col("outcome").is_in(REPLIES))
    assert set(others["outcome"]) <= {UNCERTAIN}
    assert rows["outcome"].null_count() == 0

    seen = server.log()
    latest = {each.digest: each.arrived for each in seen}
    assert len(latest) == count
    # An attempt is written before it is sent, so more may be uncertain than the server ever saw.
    again = len(seen) - count
    assert again <= len(others)
    undisturbed = [
        each for each in seen if not any(each.arrived - ON_THE_WAY <= kill <= each.ended + ON_THE_WAY for kill in kills)
    ]
    assert [each for each in undisturbed if latest[each.digest] > each.arrived] == []
    return f"{len(kills)} kills, {count} questions: {len(seen)} requests, {again} asked again, {len(others)} uncertain"


@BOTH
@pytest.mark.proof
def test_replies_survive_kills_and_only_what_was_in_flight_is_asked_again(ledger: Ledger, full: bool) -> None:
    dice = random.Random(1)
    questions, times, latency = (2000, 20, 1.0) if full else (300, 3, 0.2)
    with serve(latency=latency) as server:
        kills = [
            kill_soon(server, start(server, ledger, questions), dice.uniform(0, 3 * latency)) for _ in range(times)
        ]
        assert start(server, ledger, questions).communicate()[0] == f"{questions}\n"
        print("\n" + check(server, ledger, questions, kills))


@BOTH
@pytest.mark.proof
def test_two_runs_at_once_ask_nothing_twice_though_one_is_killed_again_and_again(ledger: Ledger, full: bool) -> None:
    dice = random.Random(3)
    questions, times, latency = (2000, 10, 1.0) if full else (300, 1, 0.2)
    with serve(latency=latency) as server:
        steady = start(server, ledger, questions)
        kills: list[float] = []
        while steady.poll() is None and len(kills) < times:
            kills.append(kill_soon(server, start(server, ledger, questions), dice.uniform(0, 2 * latency)))
        assert steady.communicate()[0] == f"{questions}\n"
        print("\n" + check(server, ledger, questions, kills))


def interrupted(server: Server, ledger: Ledger, after: float) -> None:
    """Interrupt a run, and see that it ends at once with everything stored that had arrived."""
    server.clear()
    process = start(server, ledger, 100_000)
    while not server.log():
        time.sleep(0.01)
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    interrupt = time.monotonic()
    assert process.wait(timeout=20) == -signal.SIGINT
    rows = ledger.attempts()
    assert rows["outcome"].null_count() == 0
    arrived = sum(each.finished and each.ended < interrupt - ON_THE_WAY for each in server.log())
    assert len(rows.filter(pl.col("outcome").is_in(REPLIES))) >= arrived
    assert server.in_flight() == 0


@BOTH
@pytest.mark.proof
def test_a_run_that_is_interrupted_at_any_moment_ends_with_all_that_arrived_stored(ledger: Ledger, full: bool) -> None:
    dice = random.Random(4)
    with serve(latency=0.1, jitter=0.1) as server:
        for _ in range(30 if full else 1):
            interrupted(server, ledger, dice.uniform(0.1, 1.5))

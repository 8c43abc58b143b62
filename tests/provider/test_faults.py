"""Every way in which an endpoint can misbehave: the outcome, the requests, the money, and what the next run does."""

import asyncio
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from resources.provider.client import opened
from resources.provider.ledger import UNCERTAIN, Ledger
from resources.provider.reading import Outcome, Policy
from resources.provider.sqlite_ledger import SqliteLedger
from resources.provider.transport import BYTES, ERROR_BYTES
from tests.provider.faults import BEGIN, END, PAGE, Row, rows, table
from tests.provider.faulty import Scenario, bomb, completion, long, misbehaving, response, said
from tests.provider.support import NO_BUDGET, Result, model, outcome, question


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """The rows of all faults."""
    return rows(tmp_path_factory.mktemp("faults"))


def test_the_table_of_the_reference_says_what_happens(found: list[Row]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    printed = page[page.index(BEGIN) + len(BEGIN) : page.index(END)]
    assert printed == table(found), "`python -m tests.provider.faults` writes the table anew"


def test_every_outcome_is_in_the_table(found: list[Row]) -> None:
    assert {outcome for row in found for outcome in row.outcome.split(", ")} == {*Outcome, UNCERTAIN}


def test_nothing_that_may_have_been_charged_is_booked_as_nothing(found: list[Row]) -> None:
    free = {outcome for row in found if row.booked == "nothing" for outcome in row.outcome.split(", ")}
    worked = {outcome for outcome in Outcome if outcome.policy in (Policy.USE, Policy.RETRY)} | {Outcome.OVERSIZED}
    assert not free & worked


HUGE = 100
"""Megabytes of a body that nobody asked for."""

LARGE: dict[str, tuple[Scenario, Outcome]] = {
    "error": (lambda _: long(400, HUGE, b'{"error": {"message": "No."}}'), Outcome.REJECTED),
    "page": (lambda _: long(404, HUGE, b"<html>"), Outcome.NOT_FOUND),
    "compressed error": (lambda _: iter([bomb(400, HUGE)]), Outcome.REJECTED),
    "compressed reply": (lambda _: iter([bomb(200, HUGE)]), Outcome.OVERSIZED),
    "reply": (lambda _: long(200, HUGE), Outcome.OVERSIZED),
    "redirection": (
        lambda asked: (
            iter([response(200, completion(said(asked.texts)))])
            if asked.number
            else long(307, HUGE, location=f"{asked.url}/chat/completions")
        ),
        Outcome.ANSWERED,
    ),
}


def ask(ledger: Ledger, url: str, name: str) -> Result:
    """The result of a question to a scenario."""

    async def main() -> Result:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            return await outcome(client, question(model(url, {"timeout": 20}, id=name, max_tokens=200), 0))

    return asyncio.run(main())


def resident(field: str) -> float:
    """Resident memory of this process in megabytes: now (VmRSS) or at most (VmHWM)."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{field}:")[2].split()[0]) / 1024


@pytest.mark.parametrize("name", LARGE)
def test_what_nobody_asked_for_takes_no_memory_and_no_room_in_the_ledger(tmp_path: Path, name: str) -> None:
    bomb(200, HUGE), bomb(400, HUGE)
    ledger = SqliteLedger(tmp_path / "ledger.sqlite")
    scenario, expected = LARGE[name]
    with misbehaving({"other": LARGE["redirection"][0], name: scenario}) as faulty:
        ask(ledger, faulty.url, "other")  # imports, connections
        Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here on
        before = resident("VmRSS")
        ask(ledger, faulty.url, name)
    grown = resident("VmHWM") - before
    assert ledger.attempts()["outcome"][-1] == expected
    with closing(sqlite3.connect(ledger.path)) as connection:
        bodies = [zlib.decompress(body) for (body,) in connection.execute("SELECT body FROM reply")]
    assert max(map(len, bodies)) <= (ERROR_BYTES if expected in (Outcome.REJECTED, Outcome.NOT_FOUND) else 3 * BYTES)
    assert grown < 15

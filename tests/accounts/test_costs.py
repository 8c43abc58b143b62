"""Sums over a real ledger: what was paid, and what may have been."""

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmark_assets.accounts.costs import costs
from resources.provider.ledger import Ledger, attempts
from resources.provider.question import Question
from resources.provider.reading import TIMEOUT, Raw, read
from resources.provider.registry import Budget
from tests.provider.support import model, question

URL = "http://127.0.0.1:1/v1"
PRICED, UNPRICED = model(URL), replace(model(URL, price=None, id="u"), name="unpriced")  # a dollar for a million tokens
USAGE = {"prompt_tokens": 100, "completion_tokens": 50, "completion_tokens_details": {"reasoning_tokens": 20}}


def completion(**fields: Any) -> Raw:
    choice = {"message": {"content": "Salve."}, "finish_reason": "stop"}
    return Raw(200, {}, json.dumps({"choices": [choice], **fields}).encode())


PAID, REPORTED, SILENT = completion(usage=USAGE), completion(usage=USAGE | {"cost": 0.25}), completion()
CUT = Raw(200, {}, PAID.body[:45], "the connection broke")
THROTTLED, DROPPED, LATE = Raw(429, {}, b""), Raw(None, {}, b"", "the connection broke"), Raw(None, {}, b"", TIMEOUT)


def asked(path: Path, calls: Sequence[tuple[Question, Raw | None]]) -> pl.DataFrame:
    """Attempts of a ledger in which these questions got these replies; None is in flight when the session ends."""

    async def main() -> None:
        with Ledger(path, "run", Budget()) as ledger:
            for each, raw in calls:
                attempt = await ledger.claim(each)
                if raw is not None:
                    await ledger.receive(attempt, raw)
                    ledger.settle(attempt, read(raw))
            await ledger.drained()

    asyncio.run(main())
    return attempts(path)


def only(frame: pl.DataFrame) -> dict[str, Any]:
    """The one row of the costs."""
    return costs(frame).row(0, named=True) if len(costs(frame)) == 1 else {}


def reserved(*questions: Question) -> float:
    """Worst cases in dollars."""
    return sum(each.worst_case or 0 for each in questions) / 1e9


def held(path: Path) -> float:
    """Dollars that the ledger's account of the run holds as paid or uncertain."""
    connection = sqlite3.connect(path)
    (nano,) = connection.execute("SELECT paid + uncertain FROM account WHERE name = 'run run'").fetchone()
    connection.close()
    return float(nano / 1e9)


def test_replies_are_summed_by_price_or_as_reported(tmp_path: Path) -> None:
    calls = [(question(PRICED, number), raw) for number, raw in enumerate([PAID, PAID, REPORTED])]
    row = only(asked(tmp_path / "ledger", calls))
    assert (row["calls"], row["replies"], row["uncertain"]) == (3, 3, 0)
    assert (row["prompt_tokens"], row["completion_tokens"], row["reasoning_tokens"]) == (300, 150, 60)
    assert row["paid"] == pytest.approx(2 * 150e-6 + 0.25)
    assert row["at_most"] == 0


def test_an_error_costs_nothing_and_is_no_reply(tmp_path: Path) -> None:
    row = only(asked(tmp_path / "ledger", [(question(PRICED, 1), THROTTLED), (question(PRICED, 1), PAID)]))
    assert (row["calls"], row["replies"], row["uncertain"]) == (2, 1, 0)
    assert row["paid"] == pytest.approx(150e-6)


def test_calls_that_may_have_been_charged_are_uncertain_with_their_worst_case(tmp_path: Path) -> None:
    questions = [question(PRICED, number) for number in range(4)]
    frame = asked(tmp_path / "ledger", list(zip(questions, [PAID, DROPPED, LATE, None], strict=True)))
    row = only(frame)
    assert (row["calls"], row["replies"], row["uncertain"]) == (4, 1, 3)
    assert row["paid"] == pytest.approx(150e-6)
    assert row["at_most"] == pytest.approx(reserved(*questions[1:]))


def test_a_call_under_way_is_counted_and_not_yet_uncertain(tmp_path: Path) -> None:
    path = tmp_path / "ledger"

    async def main() -> pl.DataFrame:
        with Ledger(path, "run", Budget()) as ledger:
            await ledger.claim(question(PRICED, 1))
            return attempts(path)

    row = only(asyncio.run(main()))
    assert (row["calls"], row["replies"], row["uncertain"]) == (1, 0, 0)
    row = only(attempts(path))
    assert (row["calls"], row["uncertain"]) == (1, 1)


@pytest.mark.parametrize("raw", [CUT, SILENT], ids=["cut", "without usage"])
def test_paid_and_at_most_hold_all_that_the_ledger_holds(tmp_path: Path, raw: Raw) -> None:
    frame = asked(tmp_path / "ledger", [(question(PRICED, 1), PAID), (question(PRICED, 2), raw)])
    row = only(frame)
    assert row["replies"] == 2
    assert row["paid"] + row["at_most"] == pytest.approx(held(tmp_path / "ledger"))


def test_where_no_price_is_known_nothing_is_said_of_money(tmp_path: Path) -> None:
    calls = [(question(UNPRICED, number), raw) for number, raw in enumerate([PAID, LATE])]
    row = only(asked(tmp_path / "ledger", calls))
    assert (row["calls"], row["replies"], row["uncertain"], row["prompt_tokens"]) == (2, 1, 2, 100)
    assert row["paid"] is None
    assert row["at_most"] is None


def test_a_cost_that_is_reported_counts_without_a_price(tmp_path: Path) -> None:
    assert only(asked(tmp_path / "ledger", [(question(UNPRICED, 1), REPORTED)]))["paid"] == pytest.approx(0.25)


def test_days_models_and_purposes_are_apart_and_the_latest_day_is_first(tmp_path: Path) -> None:
    judged = [replace(question(PRICED, number), purpose="judge") for number in (1, 2, 3)]
    questions = [question(UNPRICED, 9), *judged, question(PRICED, 4)]
    frame = asked(tmp_path / "ledger", [(each, PAID) for each in questions])
    moment = frame["asked"][0].replace(hour=0, minute=0, second=0, microsecond=0)
    shifts = [0, 0, 0, -1, 0]  # microseconds: one lies before midnight
    frame = frame.with_columns(pl.Series("asked", [moment + timedelta(microseconds=each) for each in shifts]))
    today, rows = moment.date(), costs(frame).select("day", "model", "purpose", "calls").rows()
    assert isinstance(today, date)
    assert rows == [
        (today, "m", "judge", 2),
        (today, "m", "translate", 1),
        (today, "unpriced", "translate", 1),
        (today - timedelta(days=1), "m", "judge", 1),
    ]


def test_an_empty_ledger_has_no_costs_but_their_columns(tmp_path: Path) -> None:
    empty, one = asked(tmp_path / "empty", []), asked(tmp_path / "one", [(question(PRICED, 1), PAID)])
    assert costs(empty).is_empty()
    assert costs(empty).schema == costs(one).schema
    assert float(costs(empty)["paid"].sum()) == 0

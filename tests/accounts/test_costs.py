"""Sums over a real ledger: what was paid, what may have been, and how near that is to the caps."""

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

from benchmark_assets.accounts.costs import against_caps, costs, room, spent
from resources.provider.question import Question
from resources.provider.reading import TIMEOUT, Raw, read
from resources.provider.registry import Budget, Model, Price, Registry
from resources.provider.sqlite_ledger import SqliteLedger
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
        with SqliteLedger(path).session("run", Budget()) as ledger:
            for each, raw in calls:
                attempt = await ledger.claim(each)
                if raw is not None:
                    await ledger.receive(attempt, raw)
                    ledger.settle(attempt, read(raw))
            await ledger.drained()

    asyncio.run(main())
    return SqliteLedger(path).attempts()


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
        with SqliteLedger(path).session("run", Budget()) as ledger:
            await ledger.claim(question(PRICED, 1))
            return SqliteLedger(path).attempts()

    row = only(asyncio.run(main()))
    assert (row["calls"], row["replies"], row["uncertain"]) == (1, 0, 0)
    row = only(SqliteLedger(path).attempts())
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


@pytest.mark.parametrize("raw", [SILENT, LATE, None], ids=["without usage", "late", "in flight at the end"])
def test_a_model_that_costs_nothing_has_a_known_cost_whatever_it_replies(tmp_path: Path, raw: Raw | None) -> None:
    free = model(URL, price=Price(input=0, output=0))
    row = only(asked(tmp_path / "ledger", [(question(free, 1), raw)]))
    assert (row["uncertain"], row["paid"], row["at_most"]) == (0, 0, 0)


def test_only_a_price_of_nothing_makes_a_call_free(tmp_path: Path) -> None:
    """A call without a price reserves nothing either, and a call with a price may have been charged."""
    free = replace(model(URL, price=Price(input=0, output=0), id="f"), name="free")
    calls = [question(each, 1) for each in (UNPRICED, free, PRICED)]
    rows = costs(asked(tmp_path / "ledger", [(each, SILENT) for each in calls])).sort("model")
    assert rows.select("model", "uncertain", "paid", "at_most").rows() == [
        ("free", 0, 0.0, 0.0), ("m", 1, 0.0, pytest.approx(reserved(calls[2]))), ("unpriced", 1, None, None),
    ]  # fmt: skip


def test_a_priced_model_without_a_reply_has_paid_nothing_that_is_known_of(tmp_path: Path) -> None:
    calls = [question(PRICED, 1)]
    row = only(asked(tmp_path / "ledger", [(calls[0], LATE)]))
    assert (row["uncertain"], row["paid"], row["at_most"]) == (1, 0, pytest.approx(reserved(*calls)))


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


# Against the caps


def registry(run: float | None = None, day: float | None = None, **models: float | None) -> Registry:
    """A registry with these caps; of the models, the judge is `unpriced`."""
    entries = {name: {"endpoint": "e", "id": name, "budget": cap} for name, cap in models.items()}
    kinds: dict[str, dict[str, Any]] = {"models": {}, "judges": {}}
    for name, entry in entries.items():
        kinds["judges" if name == "unpriced" else "models"][name] = entry
    return Registry.model_validate({**kinds, "embedder": "minilm", "budget": {"run": run, "day": day}})


def paid(path: Path, *calls: tuple[Model, Raw | None]) -> tuple[pl.DataFrame, date]:
    """Attempts of one call after the other, and the day of the last."""
    frame = asked(path, [(question(each, number), raw) for number, (each, raw) in enumerate(calls)])
    return frame, frame["asked"][-1].date()


def the_day_before(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("asked").dt.offset_by("-1d"))


def test_what_is_spent_is_what_the_ledger_holds(tmp_path: Path) -> None:
    raws = [PAID, REPORTED, SILENT, CUT, THROTTLED, DROPPED, LATE, None]
    frame, _ = paid(tmp_path / "ledger", *[(each, raw) for each in (PRICED, UNPRICED) for raw in raws])
    assert spent(frame) == pytest.approx(held(tmp_path / "ledger"))
    assert spent(frame) > 0.5  # two were reported at a quarter
    assert spent(frame.clear()) == 0


def test_a_call_under_way_is_spent_at_its_worst_case(tmp_path: Path) -> None:
    path, calls = tmp_path / "ledger", [question(PRICED, number) for number in (1, 2)]

    async def main() -> float:
        with SqliteLedger(path).session("run", Budget()) as ledger:
            for each in calls:
                await ledger.claim(each)
            return spent(SqliteLedger(path).attempts())

    assert asyncio.run(main()) == pytest.approx(reserved(*calls))


def test_room_is_told_as_far_as_there_are_caps(tmp_path: Path) -> None:
    frame, today = paid(tmp_path / "ledger", (PRICED, REPORTED), (PRICED, REPORTED), (UNPRICED, PAID))
    assert room(frame, registry().budget, today) == "no cap for the run"
    assert room(frame, registry(run=2.5).budget, today) == "cap for the run 2.5 dollars"
    both = room(frame, registry(run=2, day=10).budget, today)
    assert both == "cap for the run 2 dollars; 9.5000 of the day's 10 dollars left"
    assert room(frame, registry(day=10).budget, today) == "no cap for the run; 9.5000 of the day's 10 dollars left"


def test_a_day_has_room_whatever_was_spent_on_others_and_never_less_than_none(tmp_path: Path) -> None:
    frame, today = paid(tmp_path / "ledger", (PRICED, REPORTED))
    assert room(frame, registry(day=0.2).budget, today).endswith("; 0.0000 of the day's 0.2 dollars left")
    assert room(the_day_before(frame), registry(day=0.2).budget, today).endswith(
        "; 0.2000 of the day's 0.2 dollars left"
    )


def test_a_cap_of_which_four_fifths_are_spent_is_named(tmp_path: Path) -> None:
    frame, today = paid(tmp_path / "ledger", (PRICED, REPORTED), (UNPRICED, REPORTED), (UNPRICED, REPORTED))
    for cap, names in ((0.31, ["model m"]), (0.32, [])):  # 0.25 dollars are 81 and 78 % of these
        found = against_caps(frame, registry(m=cap), today)
        assert found.rows() == [(name, cap, pytest.approx(0.25)) for name in names]
    everything = against_caps(frame, registry(day=0.7, m=0.2, unpriced=0.6), today)
    assert everything.rows() == [
        ("day", 0.7, pytest.approx(0.75)), ("model m", 0.2, pytest.approx(0.25)),
        ("model unpriced", 0.6, pytest.approx(0.5)),
    ]  # fmt: skip


def test_where_there_is_no_cap_none_is_reached(tmp_path: Path) -> None:
    frame, today = paid(tmp_path / "ledger", (PRICED, REPORTED))
    none = against_caps(frame, registry(m=None, unpriced=0.01), today)
    assert none.is_empty()
    assert none.schema == against_caps(frame, registry(m=0.1), today).schema


def test_the_cap_of_a_day_starts_anew_and_that_of_a_model_does_not(tmp_path: Path) -> None:
    frame, today = paid(tmp_path / "ledger", (PRICED, REPORTED))
    caps = registry(day=0.26, m=0.26)
    assert against_caps(frame, caps, today)["cap"].to_list() == ["day", "model m"]
    assert against_caps(the_day_before(frame), caps, today)["cap"].to_list() == ["model m"]


def test_money_that_may_have_been_spent_counts_against_a_cap(tmp_path: Path) -> None:
    frame, today = paid(tmp_path / "ledger", (PRICED, LATE), (PRICED, None))
    worst = reserved(question(PRICED, 0), question(PRICED, 1))
    assert against_caps(frame, registry(m=worst * 1.1), today).rows() == [
        ("model m", worst * 1.1, pytest.approx(worst)),
    ]  # fmt: skip

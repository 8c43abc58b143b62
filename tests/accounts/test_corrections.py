"""Uncertain money is released or confirmed by a person, with a note that stays."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.accounts.costs import costs, spent
from resources.errors import BadInput
from resources.provider.corrections import correct, corrections, uncertain
from resources.provider.ledger import OverBudgetError
from resources.provider.registry import Budget
from resources.provider.sqlite_ledger import SqliteLedger
from tests.accounts.test_costs import DROPPED, PAID, PRICED, REPORTED, UNPRICED, asked, held, paid, reserved
from tests.processes import here
from tests.provider.support import question

LATER = question(PRICED, 99)


def claimed(path: Path, dollars: float, before: Callable[[], None] = lambda: None) -> None:
    """Claim a further call under a cap of the day, in a session that was open before `before` was called."""

    async def main() -> None:
        with SqliteLedger(path).session("another run", Budget(day=dollars)) as ledger:
            before()
            await ledger.claim(LATER)

    asyncio.run(main())


def accounts(path: Path) -> dict[str, tuple[int, int, int]]:
    with closing(sqlite3.connect(path)) as connection:
        return {name: rest for name, *rest in connection.execute("SELECT name, paid, reserved, uncertain FROM account")}


def test_released_money_can_be_spent_again_by_a_session_that_is_open(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    frame, _ = paid(path, (PRICED, DROPPED), (PRICED, PAID))
    cap = spent(frame) + reserved(LATER) / 2
    with pytest.raises(OverBudgetError, match="spent or uncertain"):
        claimed(path, cap)
    claimed(path, cap, lambda: correct(SqliteLedger(path), [1], 0, "mori", "not on the bill of November"))
    assert held(path) == pytest.approx(150e-6)


def test_a_confirmed_cost_is_paid_in_all_accounts_and_shown_with_its_note(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    frame, _ = paid(path, (PRICED, DROPPED), (PRICED, DROPPED), (PRICED, REPORTED))
    worst, before = float(frame["reserved"][0]), SqliteLedger(path).state()
    correct(SqliteLedger(path), [1], None, "mori", " billed in full ")
    correct(SqliteLedger(path), [2], 0.001, "mori", "bill 17")
    correct(SqliteLedger(path), [3], 0.2, "osei", "refunded in part")
    after = SqliteLedger(path).attempts()
    assert after["cost"].to_list() == [pytest.approx(worst), 0.001, 0.2]
    assert after["reported_cost"].to_list() == frame["reported_cost"].to_list()
    assert after["correction"].to_list() == ["billed in full", "bill 17", "refunded in part"]
    assert set(map(tuple, accounts(path).values())) == {(round((worst + 0.201) * 1e9), 0, 0)}
    row = costs(after).row(0, named=True)
    assert (row["uncertain"], row["corrected"], row["at_most"]) == (0, 3, 0)
    assert spent(after) == pytest.approx(held(path))
    rows = corrections(SqliteLedger(path)).select("author", "attempt", "model", "before", "after").rows()
    assert rows == [
        ("mori", 1, "m", None, pytest.approx(worst)), ("mori", 2, "m", None, 0.001), ("osei", 3, "m", 0.25, 0.2),
    ]  # fmt: skip
    assert SqliteLedger(path).state() != before  # the asset of the accounts is stale


def test_a_correction_can_be_corrected_and_never_changed(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    paid(path, (PRICED, DROPPED))
    correct(SqliteLedger(path), [1], 0, "mori", "not billed")
    correct(SqliteLedger(path), [1], 0.5, "mori", "billed after all")
    assert SqliteLedger(path).attempts()["correction"].to_list() == ["billed after all"]
    assert corrections(SqliteLedger(path))["note"].to_list() == ["not billed", "billed after all"]
    assert held(path) == 0.5
    with closing(sqlite3.connect(path)) as connection:
        for statement in ("UPDATE correction SET note = ''", "DELETE FROM correction"):
            with pytest.raises(sqlite3.IntegrityError, match="only added"):
                connection.execute(statement)


@pytest.mark.parametrize(
    ("numbers", "cost", "note", "message"),
    [
        ([1, 7], 0, "bill", r"ledger: 7: no such attempt; `variorum costs --uncertain` lists"),
        ([1, 2], 0.25, "bill", r"ledger: 2: already costs 0\.25 dollars; leave out this attempt"),
        ([1, 3], None, "bill", "ledger: 3: had no price, so its worst case is unknown; give the amount"),
        ([1, 1], 0, "bill", "ledger: 1: already costs 0 dollars"),
        ([1], 0, " ", "--note: is empty; state the source of the cost"),
    ],
)
def test_a_faulty_correction_changes_nothing(
    tmp_path: Path, numbers: list[int], cost: float | None, note: str, message: str
) -> None:
    path = tmp_path / "ledger"
    paid(path, (PRICED, DROPPED), (PRICED, REPORTED), (UNPRICED, DROPPED))
    before = accounts(path)
    with pytest.raises(BadInput, match=message):
        correct(SqliteLedger(path), numbers, cost, "mori", note)
    assert (accounts(path), len(corrections(SqliteLedger(path)))) == (before, 0)


def test_a_call_in_flight_is_left_alone_and_that_of_a_dead_process_becomes_uncertain(tmp_path: Path) -> None:
    path = tmp_path / "ledger"

    async def main() -> pl.DataFrame:
        with SqliteLedger(path).session("run", Budget()) as ledger:
            await ledger.claim(LATER)
            with pytest.raises(BadInput, match="1: is in flight; wait until its run has ended"):
                correct(SqliteLedger(path), [1], 0, "mori", "bill")
            return uncertain(SqliteLedger(path))

    assert asyncio.run(main()).is_empty()
    with closing(sqlite3.connect(path)) as connection, connection:  # as if the process had been killed
        connection.execute("UPDATE attempt SET outcome = NULL, session = 'killed'")
        connection.execute("INSERT INTO session VALUES ('killed', 'run', 0)")
    assert uncertain(SqliteLedger(path))["outcome"].to_list() == ["uncertain"]


def test_the_commands_list_and_confirm(home: Path) -> None:
    asked(home / "ledger.sqlite", [(question(PRICED, 1), DROPPED), (question(UNPRICED, 2), DROPPED)])
    listed = here(home, "costs", "--uncertain").stdout.splitlines()
    assert [line.split()[0] for line in listed[:3]] == ["attempt", "1", "2"]
    assert listed[2].endswith("-")  # no price, so no worst case
    assert "--note" in here(home, "confirm", "1", code=2).stderr
    assert "name either ATTEMPTs" in here(home, "confirm", "--note", "bill", code=2).stderr
    released = here(home, "confirm", "--cost", "0", "--model", "m", "--note", "not on the bill", "--by", "mori").stdout
    assert released.startswith("1 calls: 0.00")
    assert released.endswith("0.0000 dollars now\n")
    here(home, "confirm", "2", "--cost", "0.25", "--note", "bill 17", "--by", "osei")
    assert here(home, "costs", "--uncertain").stdout == "the cost of every call is known\n"
    assert (
        "unpriced: has no calls of unknown cost"
        in here(home, "confirm", "--model", "unpriced", "--note", "bill", code=1).stderr
    )
    shown = here(home, "costs").stdout
    assert "paid: 0.2500 dollars; calls of unknown cost add at most 0.0000" in shown
    assert [line.split()[2:4] for line in shown.splitlines()[-2:]] == [["mori", "1"], ["osei", "2"]]

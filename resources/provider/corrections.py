"""Corrections of the cost of calls: a person releases uncertain money, or enters the amount of a bill.

Here: the corrections in the ledger, with the accounts that they change. Not here: attempts and the costs that replies
report (ledger), sums (benchmark_assets.accounts).
"""

import time
from collections.abc import Iterable

import polars as pl

from resources.errors import BadInput
from resources.provider.ledger import Ledger, Statements, money
from resources.provider.registry import NANO, Budget

SCHEMA = {
    "made": pl.Float64, "author": pl.String, "attempt": pl.Int64, "model": pl.String, "before": pl.Int64,
    "at_most": pl.Int64, "after": pl.Int64, "note": pl.String,
}  # fmt: skip


def uncertain(ledger: Ledger) -> pl.DataFrame:
    """Finished attempts of unknown cost, a subset of `ledger.attempts()`.

    First, attempts that were in flight when their session died are marked as uncertain.
    """
    with ledger.session("corrections", Budget()):
        frame = ledger.attempts()
    return frame.filter(pl.col("outcome").is_not_null(), pl.col("cost").is_null())


def correct(ledger: Ledger, numbers: Iterable[int], cost: float | None, author: str, note: str) -> None:
    """Record the cost of attempts, and adjust the accounts of their runs, days and models.

    Parameters
    ----------
    numbers
        Numbers of the attempts. If one attempt cannot be corrected, no attempt is changed.
    cost
        Cost of each attempt in US dollars; None for the worst case that was reserved for the attempt.

    Raises
    ------
    BadInput
        If an attempt does not exist, is in flight, or has this cost already, or if the note is empty.
    """
    if not note.strip():
        raise BadInput("--note", "", "is empty", "state the source of the cost, such as the number of a bill")
    with ledger.changing() as connection:
        for number in numbers:
            _correct(connection, ledger, number, cost, author, note.strip())


def corrections(ledger: Ledger) -> pl.DataFrame:
    """All corrections, oldest first: columns SCHEMA, with money in US dollars and times in UTC.

    `before` is null if the cost was unknown. In this case, the accounts contained the worst case, `at_most`, until the
    correction.
    """
    query = (
        "SELECT made, author, attempt, model, before, reserved, after, note FROM correction c "
        "JOIN attempt a ON a.id = c.attempt ORDER BY c.id"
    )
    with ledger.reading() as connection:
        frame = pl.DataFrame(connection.execute(query).fetchall(), schema=SCHEMA, orient="row")
    moment = pl.from_epoch((pl.col("made") * 1e6).cast(pl.Int64), "us").alias("made")
    return frame.with_columns(moment, pl.col("before", "at_most", "after") / NANO)


def _correct(connection: Statements, ledger: Ledger, number: int, cost: float | None, author: str, note: str) -> None:
    query = f"SELECT outcome, price, {money(ledger.day)} FROM attempt WHERE id = ?{ledger.for_update}"
    row = connection.execute(query, (number,)).fetchone()
    if row is None or row[0] is None:
        problem, remedy = ("no such attempt", "`variorum costs --uncertain` lists attempts of unknown cost")
        if row:
            problem, remedy = "is in flight", "wait until its run has ended"
        raise BadInput(ledger.place, str(number), problem, remedy)
    _, price, reserved, before, *accounts = row
    if cost is None and price is None:
        raise BadInput(
            ledger.place, str(number), "had no price, so its worst case is unknown", "give the amount: `--cost`"
        )
    after = reserved if cost is None else round(cost * NANO)
    if after == before:
        raise BadInput(ledger.place, str(number), f"already costs {after / NANO:g} dollars", "leave out this attempt")
    connection.execute("UPDATE attempt SET cost = ? WHERE id = ?", (after, number))
    connection.execute(
        "UPDATE account SET paid = paid + ?, uncertain = uncertain - ? WHERE name IN (?, ?, ?)",
        (after - (before or 0), reserved if before is None else 0, *accounts),
    )
    connection.execute(
        "INSERT INTO correction (attempt, made, author, before, after, note) VALUES (?, ?, ?, ?, ?, ?)",
        (number, time.time(), author, before, after, note),
    )

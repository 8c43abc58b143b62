"""A damaged ledger: the damage is named, and every reply that can still be read is saved."""

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

from resources.errors import BadInput
from resources.provider.ledger import LOST
from resources.provider.salvage import Salvaged, damage, put_back, salvage
from resources.provider.sqlite_ledger import SqliteLedger
from tests.provider.server import Server
from tests.provider.support import model, question
from tests.provider.test_ledger import ask, good, rows


@pytest.fixture(scope="module")
def whole(running: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with 60 paid replies on many pages."""
    path = tmp_path_factory.mktemp("whole") / "ledger.sqlite"
    asked = [
        question(model(running.url), number, filler=random.Random(number).randbytes(900).hex()) for number in range(60)
    ]
    assert all(map(good, ask(SqliteLedger(path), asked)))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def accounts(path: Path) -> dict[str, tuple[int, int, int]]:
    return {name: numbers for name, *numbers in rows(SqliteLedger(path), "SELECT * FROM account")}


def test_a_sound_ledger_is_copied_whole(whole: Path, tmp_path: Path) -> None:
    assert not damage(whole)
    assert salvage(whole, tmp_path / "new.sqlite") == Salvaged(60, 60, 0, 0)
    assert accounts(tmp_path / "new.sqlite") == accounts(whole)
    assert SqliteLedger(tmp_path / "new.sqlite").attempts().equals(SqliteLedger(whole).attempts())


def test_a_reply_that_is_lost_a_second_time_is_asked_for_again(running: Server, tmp_path: Path) -> None:
    asked, path = [question(model(running.url), 7)], tmp_path / "0.sqlite"
    for time in (1, 2):
        assert all(map(good, ask(SqliteLedger(path), asked)))
        with closing(sqlite3.connect(path)) as connection, connection:
            assert connection.execute("DELETE FROM reply").rowcount == 1
        other, path = path, tmp_path / f"{time}.sqlite"
        assert salvage(other, path) == Salvaged(time, 0, time, 0)
    ((lost,),) = rows(SqliteLedger(path), "SELECT DISTINCT key FROM attempt JOIN question q ON q.id = question")
    assert lost.startswith(LOST)
    assert salvage(path, tmp_path / "merged.sqlite", other) == Salvaged(2, 0, 2, 0)
    assert all(map(good, ask(SqliteLedger(path), asked)))


@pytest.mark.parametrize("seed", range(6))
def test_replies_on_sound_pages_survive_damaged_ones(whole: Path, tmp_path: Path, seed: int) -> None:
    chance, damaged, new = random.Random(seed), tmp_path / "damaged.sqlite", tmp_path / "new.sqlite"
    shutil.copyfile(whole, damaged)
    (size,) = rows(SqliteLedger(whole), "PRAGMA page_size")[0]
    pages = whole.stat().st_size // size
    lost = chance.sample(range(20, pages), 3)  # not the schema's
    with damaged.open("r+b") as file:
        for page in lost:
            file.seek(page * size)
            file.write(chance.randbytes(size))
    assert damage(damaged)
    saved = salvage(damaged, new)
    assert not damage(new)
    readable = SqliteLedger(new).answered(
        [key for (key,) in rows(SqliteLedger(new), "SELECT key FROM question") if not key.startswith(LOST)]
    )
    assert len(readable) >= 60 - 20 * len(lost)  # a page of pointers refers to several others
    assert saved.lost == saved.attempts - saved.replies
    assert readable <= {key for (key,) in rows(SqliteLedger(whole), "SELECT key FROM question")}
    for key, body in rows(SqliteLedger(new), "SELECT q.key, r.body FROM reply r JOIN attempt a ON a.id = r.attempt "
                               "JOIN question q ON q.id = a.question"):  # fmt: skip
        if not key.startswith(LOST):
            assert rows(SqliteLedger(whole), "SELECT r.body FROM reply r JOIN attempt a ON a.id = r.attempt "
                               f"JOIN question q ON q.id = a.question WHERE q.key = '{key}'") == [(body,)]  # fmt: skip


def test_a_byte_of_a_reply_that_flipped_is_named_and_costs_that_reply(whole: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.sqlite"
    shutil.copyfile(whole, damaged)
    with closing(sqlite3.connect(damaged)) as connection:
        (body,) = connection.execute("SELECT body FROM reply WHERE attempt = 7").fetchone()
        flipped = body[:-1] + bytes([body[-1] ^ 1])
        connection.execute("UPDATE reply SET body = ? WHERE attempt = 7", (flipped,))
        connection.commit()
    assert damage(damaged)
    assert salvage(damaged, tmp_path / "new.sqlite") == Salvaged(60, 59, 1, 0)
    assert accounts(tmp_path / "new.sqlite") == accounts(whole)


@pytest.mark.parametrize("read", [SqliteLedger.attempts, SqliteLedger.state], ids=["attempts", "state"])
def test_damage_that_is_met_is_named_with_the_remedy(
    whole: Path, tmp_path: Path, read: Callable[[SqliteLedger], object]
) -> None:
    damaged = tmp_path / "damaged.sqlite"
    content = whole.read_bytes()
    damaged.write_bytes(content[:200] + b"\xa5" * (len(content) - 200))
    with pytest.raises(BadInput, match="variorum rebuild"):
        read(SqliteLedger(damaged))


def test_costs_of_lost_attempts_stay_in_the_accounts(whole: Path, tmp_path: Path) -> None:
    calls = SqliteLedger(whole).attempts().rename({"id": "attempt", "key": "call"})
    new = tmp_path / "new.sqlite"
    assert put_back(SqliteLedger(new), calls) == 60
    assert put_back(SqliteLedger(new), calls) == 0
    assert accounts(new) == accounts(whole)
    assert SqliteLedger(new).answered(calls["call"]) == set()
    money = pl.col("model", "run", "outcome", "cost", "prompt_tokens", "asked")
    assert SqliteLedger(new).attempts().select(money).equals(SqliteLedger(whole).attempts().select(money))
    assert put_back(SqliteLedger(new), SqliteLedger(new).attempts().rename({"id": "attempt", "key": "call"})) == 0

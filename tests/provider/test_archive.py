"""Old requests and replies in compressed files: found as before, whole after kills, named where they are damaged."""

import random
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from resources.errors import DamagedError
from resources.provider.salvage import Salvaged, damage, salvage
from resources.provider.sqlite_ledger import SqliteLedger
from tests.provider.server import Server
from tests.provider.support import model, question
from tests.provider.test_ledger import ask, good, rows

NOW = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def whole(running: Server, tmp_path_factory: pytest.TempPathFactory) -> SqliteLedger:
    """A ledger with 240 paid replies; the first 230 are old."""
    path = tmp_path_factory.mktemp("whole") / "ledger.sqlite"
    ledger = SqliteLedger(path)
    chance = random.Random(1)
    asked = [question(model(running.url), number, filler="Item. " * chance.randrange(90)) for number in range(240)]
    assert all(map(good, ask(ledger, asked)))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE reply SET received = 4102444801 WHERE attempt > 230")
    return ledger


@pytest.fixture
def ledger(whole: SqliteLedger, tmp_path: Path) -> SqliteLedger:
    with closing(sqlite3.connect(whole.path)) as source, closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as target:
        source.backup(target)
    return SqliteLedger(tmp_path / "ledger.sqlite")


def test_moved_replies_are_found_and_take_less_space(
    ledger: SqliteLedger, whole: SqliteLedger, running: Server
) -> None:
    assert ledger.compact(NOW) == 230
    assert ledger.compact(NOW) == 0
    assert len(rows(ledger, "SELECT 1 FROM reply WHERE body = x''")) == 230
    assert list(ledger.replies("m")) == list(whole.replies("m"))
    assert ledger.attempts().equals(whole.attempts())
    running.clear()
    chance = random.Random(1)
    again = [question(model(running.url), number, filler="Item. " * chance.randrange(90)) for number in range(240)]
    assert all(map(good, ask(ledger, again)))
    assert running.log() == []
    (file,) = ledger.archived()
    with closing(sqlite3.connect(whole.path)) as connection:
        (size,) = connection.execute(
            "SELECT sum(length(r.body) + length(q.body)) FROM reply r JOIN attempt a ON a.id = r.attempt "
            "JOIN question q ON q.id = a.question WHERE r.attempt <= 230"
        ).fetchone()
    print(f"\n{size} bytes of bodies, {file.stat().st_size} in the file")
    assert file.stat().st_size < size / 3


def test_two_moves_at_once_move_each_reply_once(ledger: SqliteLedger) -> None:
    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(ledger.compact, [NOW, NOW])) == [0, 230]
    assert len(rows(ledger, "SELECT 1 FROM archived")) == 460


def test_few_old_replies_stay_where_they_are(ledger: SqliteLedger) -> None:
    assert ledger.compact(NOW, fewest=231) == 0
    assert ledger.archived() == []


def test_a_missing_or_damaged_file_is_named(ledger: SqliteLedger) -> None:
    ledger.compact(NOW)
    (file,) = ledger.archived()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(DamagedError, match=f"{file.name}: cannot be read .*; restore the file from a backup"):
        list(ledger.replies("m"))
    file.unlink()
    with pytest.raises(DamagedError, match=f"{file.name}: cannot be read"):
        list(ledger.replies("m"))


def test_a_ledger_with_moved_replies_is_salvaged(ledger: SqliteLedger, tmp_path: Path) -> None:
    ledger.compact(NOW)
    assert not damage(ledger.path)
    assert salvage(ledger.path, tmp_path / "new.sqlite") == Salvaged(240, 240, 0, 0)
    assert len(rows(SqliteLedger(tmp_path / "new.sqlite"), "SELECT 1 FROM archived")) == 460


COMPACT = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from resources.provider.sqlite_ledger import SqliteLedger
print(flush=True)
SqliteLedger(Path(sys.argv[1])).compact(datetime(2100, 1, 1, tzinfo=UTC))
"""


@pytest.mark.proof
def test_kills_of_a_move_lose_nothing(ledger: SqliteLedger, whole: SqliteLedger, full: bool) -> None:
    expected, chance = list(whole.replies("m")), random.Random(2)
    for _ in range(20 if full else 2):
        with closing(sqlite3.connect(whole.path)) as source, closing(sqlite3.connect(ledger.path)) as target:
            source.backup(target)
        with subprocess.Popen([sys.executable, "-c", COMPACT, str(ledger.path)], stdout=subprocess.PIPE) as process:
            assert process.stdout
            process.stdout.readline()
            time.sleep(chance.uniform(0, 0.3))
            process.kill()
        assert list(ledger.replies("m")) == expected
        ledger.compact(NOW)
        assert list(ledger.replies("m")) == expected

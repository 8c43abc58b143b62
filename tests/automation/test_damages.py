"""Random damages of a home: whatever could be read before a command can be read after it, and nothing removed returns.

The facts are read by SQL of this file alone. `full` draws 200 damages, of every store; elsewhere 12.
"""

import lzma
import random
import shutil
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import dagster as dg
import duckdb
import polars as pl
import pytest
from click.testing import CliRunner
from sqlalchemy.exc import DatabaseError

from benchmark_assets.automation import repairing, runs
from benchmark_assets.automation.safekeeping import back_up
from benchmark_assets.cli import main
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from resources import catalogue
from resources.duckdb_files import BLOCK
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput, DamagedError, RunFailedError
from resources.home import prepare
from resources.provider.provider import Provider
from resources.provider.registry import Budget
from resources.provider.sqlite_ledger import SqliteLedger, connect
from resources.tables import markdown
from resources.warehouse import Replacement, Warehouse
from tests.processes import here
from tests.support import CONSTRUCTED, LetterEmbedder, made_home, made_once, write_corpus

WAREHOUSE, LEDGER, INDEX, RUNS = (
    "variorum.duckdb", "ledger.sqlite", "dagster/history/runs/index.db", "dagster/history/runs.db",
)  # fmt: skip
PLACES = {"warehouse": WAREHOUSE, "vectors": WAREHOUSE, "ledger": LEDGER, "index": INDEX, "runs": RUNS}
COMMANDS = ["update", "restore", "rebuild"]
BEGINNING = 12288
"""Size of what precedes the first block of a DuckDB file."""

REMEDIES = ("variorum re", "models.yaml", "corpus.yaml", "import it again")
"""Words of messages that say what to do."""

PLACED = ("fingerprint", "description", "home")
"""Columns that change when a home is copied to another place, as these homes are."""

SECRET = "what was removed must not return"
LABELS = (
    "imported_label", "control_item", "imported_annotation", "imported_span", "pair_label", "match_label",
    "pair_control", "imported_answer", "label_quarantine", "published_score", "base_set_item",
)  # fmt: skip


class Harm(NamedTuple):
    """What is done to a store of a home before a command."""

    store: str
    kind: str
    command: str


@pytest.fixture(scope="module")
def rooms() -> Sequence[ModuleType]:
    return CONSTRUCTED


def location(place: Path) -> dg.Definitions:
    warehouse = DuckDBWarehouse(path=str(place / WAREHOUSE))
    provider = Provider(registry_path=str(place.parent / "models.yaml"), ledger_path=str(place / LEDGER))
    return build_definitions(
        rooms=CONSTRUCTED,
        resource_overrides={"warehouse": warehouse, "embedder": LetterEmbedder(), "provider": provider},
    )


@pytest.fixture(scope="module")
def stock() -> Path:
    """A folder with a home whose facts are partly in its backup, partly newer, and a copy of it from the backup's
    time."""
    return made_once("damages", _make)


def _make(folder: Path) -> None:
    folder.mkdir()
    (folder / "models.yaml").write_text("embedders: {minilm: {}}\nembedder: minilm\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VARIORUM_MODELS", str(folder / "models.yaml"))
        place = made_home(patch, folder)
        definitions = location(place)
        resources = definitions.resources or {}
        warehouse, provider = resources["warehouse"], resources["provider"]
        register(warehouse, write_corpus(folder / "corpus"))
        with dg.DagsterInstance.get() as instance:
            runs.look(definitions, instance)
            runs.update(definitions, instance)
            enter(warehouse, "early")
            import_model(warehouse, instance, "gone")
            answer(place / LEDGER, range(20), filler=600)
            SqliteLedger(place / LEDGER).compact(datetime.fromtimestamp(100, UTC), fewest=1)
            answer(place / LEDGER, range(20, 40), filler=600)
            checkpoint(place)
            back_up(warehouse, provider, folder / "backups")
            shutil.copytree(place, folder / "former", symlinks=True)
            enter(warehouse, "late")
            answer(place / LEDGER, range(40, 60), filler=600)
            runs.remove(definitions, instance, "model", "gone")
            runs.update(definitions, instance)
        checkpoint(place)


def enter(warehouse: Warehouse, author: str) -> None:
    """Add rows to tables of facts, as imports do."""
    for table in LABELS:
        declared = catalogue.table(table)
        row = {
            name: _value(column, f"{author} {name}") for name, column in declared.content.items()
        }  # fmt: skip
        rows = pl.DataFrame([row], schema={name: column.polars for name, column in declared.content.items()})
        warehouse.write([Replacement(table, rows, rows.select(declared.key))], author)


def _value(column: catalogue.Column, text: str) -> Any:
    inner = column.type.removesuffix("[]")
    value: Any = {"VARCHAR": text, "BOOLEAN": True, "TIMESTAMP": datetime(2026, 1, 1)}.get(inner, 1)
    value = column.values[0] if column.values else value
    return [value] if column.type.endswith("[]") else value


def import_model(warehouse: Warehouse, instance: dg.DagsterInstance, name: str) -> None:
    rows = warehouse.empty("imported_output")
    given = {"model": name, "passage": "tiny/doc1:1", "text": SECRET}
    row = {each: given.get(each, "") for each in rows.columns}
    warehouse.write([Replacement("imported_output", pl.DataFrame([row], schema=rows.schema), None)], "import")
    instance.add_dynamic_partitions("model", [name])


def answer(ledger: Path, numbers: range, filler: int) -> None:
    """Add paid replies, and a correction of the last one's cost."""
    chance = random.Random(numbers.start)
    with closing(connect(ledger)) as connection:
        session = f"s{numbers.start}"
        connection.execute("INSERT INTO session VALUES (?, 'r', 0)", (session,))
        for number in numbers:
            body = zlib.compress(chance.randbytes(filler))
            question = connection.execute(
                "INSERT INTO question (key, place, replicate, body) VALUES (?, 'p', 0, ?)", (f"key{number}", body)
            ).lastrowid
            attempt = connection.execute(
                "INSERT INTO attempt (question, session, run, model, purpose, asked, reserved, outcome, cost) "
                "VALUES (?, ?, 'r', 'm', 'translate', ?, 5, 'answered', 3)",
                (question, session, number),
            ).lastrowid
            connection.execute("INSERT INTO reply VALUES (?, ?, 200, '{}', ?, '')", (attempt, number, body))
        connection.execute("INSERT INTO correction VALUES (NULL, ?, 1, 'me', 3, 4, 'bill')", (attempt,))


def checkpoint(place: Path) -> None:
    """Leave no write-ahead logs, so that the files have everything."""
    with closing(duckdb.connect(str(place / WAREHOUSE))) as connection:
        connection.execute("CHECKPOINT")
    for file in place.rglob("*"):
        if file.suffix in (".db", ".sqlite") and file.is_file():
            with closing(sqlite3.connect(file)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def facts(place: Path, scratch: Path) -> Counter[tuple[Any, ...]]:
    """The facts of a home that can be read, whatever else is damaged."""
    return Counter([*_rows(place / WAREHOUSE, scratch), *_replies(place / LEDGER), *_settings(place)])


def _rows(file: Path, scratch: Path) -> Iterator[tuple[Any, ...]]:
    scratch.mkdir()
    for part in (file, file.with_name(f"{file.name}.wal")):
        if part.exists():
            shutil.copyfile(part, scratch / part.name)
    with suppress(duckdb.Error), closing(duckdb.connect(str(scratch / file.name), read_only=True)) as connection:
        for table in (*catalogue.facts(), "glossary"):
            if table == "removal":
                continue
            columns = [
                name for name in catalogue.table(table).content if name not in ("fingerprint", "description", "home")
            ]
            with suppress(duckdb.Error):
                cells = [connection.execute(f'SELECT "{name}" FROM "{table}"').fetchall() for name in columns]
                for row in zip(*cells, strict=True):
                    yield table, *map(repr, row)
    shutil.rmtree(scratch)


def _replies(ledger: Path) -> Iterator[tuple[Any, ...]]:
    if not ledger.exists():
        return
    query = (
        "SELECT q.key, r.body, f.file, f.start, f.length FROM reply r JOIN attempt a ON a.id = r.attempt "
        "JOIN question q ON q.id = a.question LEFT JOIN archived f ON f.kind = 'reply' AND f.id = r.attempt "
        "WHERE r.attempt = ?"
    )
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
        for number in range(1, 80):
            with suppress(sqlite3.Error, zlib.error, OSError, lzma.LZMAError):
                for key, body, file, start, length in connection.execute(query, (number,)):
                    if file:
                        whole = lzma.decompress((ledger.parent / "ledger.sqlite.archive" / file).read_bytes())
                        text = whole[start : start + length]
                    else:
                        text = zlib.decompress(body)
                    yield "reply", key, text
            with suppress(sqlite3.Error):
                corrections = "SELECT author, before, after, note FROM correction WHERE id = ?"
                for row in connection.execute(corrections, (number,)):
                    yield "correction", *row


def _settings(place: Path) -> Iterator[tuple[Any, ...]]:
    for name in ("models.yaml", "corpus/corpus.yaml"):
        file = place.parent / name
        if file.exists() and repairing._is_usable(name, file):
            yield name, file.read_bytes()


@pytest.fixture
def copy(stock: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Path]:
    """Makes copies of the stock, and its home the home of this process."""

    def made(number: int) -> Path:
        folder = tmp_path / f"copy{number}"
        shutil.copytree(stock, folder, symlinks=True)
        monkeypatch.setenv("VARIORUM_MODELS", str(folder / "models.yaml"))
        home = made_home(monkeypatch, folder)
        manifest = next(folder.glob("backups/*/manifest.json"))
        manifest.write_text(manifest.read_text().replace(str(stock), str(folder)))
        return home

    return made


def hurt(place: Path, harm: Harm, chance: random.Random) -> None:
    """Damage a store of a home."""
    if harm.store == "archive":
        file = next((place / "ledger.sqlite.archive").glob("*"))
    elif harm.store in ("registry", "description"):
        file = place.parent / ("models.yaml" if harm.store == "registry" else "corpus/corpus.yaml")
    else:
        file = place / PLACES[harm.store]
    content = bytearray(file.read_bytes())
    match harm.kind:
        case "flipped":
            block = BLOCK if file.suffix == ".duckdb" else 4096
            blocks: Sequence[int] = range(max(1, len(content) // block))
            if harm.store == "vectors":
                blocks = _blocks_of_vectors(file)
            for at in chance.sample(blocks, min(len(blocks), 20 if chance.random() < 0.3 else 1)):
                start = BEGINNING if harm.store == "vectors" else 0
                content[min(start + at * block + chance.randrange(block), len(content) - 1)] ^= 1 << chance.randrange(8)
            file.write_bytes(content)
        case "cut":
            file.write_bytes(content[: chance.randrange(len(content))])
        case "deleted":
            file.unlink()
        case "older":
            former = place.parent / "former" / file.relative_to(place)
            shutil.copyfile(former, file)


def _blocks_of_vectors(file: Path) -> Sequence[int]:
    with closing(duckdb.connect(str(file), read_only=True)) as connection:
        rows = connection.execute("SELECT DISTINCT block_id FROM pragma_storage_info('embedding') WHERE block_id >= 0")
        return [block for (block,) in rows.fetchall()]


def carry_out(harm: Harm, place: Path) -> str:
    """Run a command; return how it ended: `done`, or `refused` with words that name a remedy."""
    try:
        if harm.command == "restore":
            list(repairing.restore(lambda: location(place), place.parent / "backups"))
        elif harm.command == "rebuild":
            list(repairing.rebuild(lambda: location(place)))
        else:
            prepare()
            definitions = location(place)
            with dg.DagsterInstance.get() as instance:
                runs.look(definitions, instance)
                runs.update(definitions, instance)
    except (BadInput, RunFailedError) as error:
        return "refused" if any(word in str(error) for word in REMEDIES) else str(error)
    except DatabaseError:  # of Dagster's state; the command line names the folder and the remedy
        assert harm.store in ("index", "runs")
        assert harm.command == "update"
        return "refused"
    return "done"


def harms(number: int) -> list[Harm]:
    """Every store, kind and command in turn."""
    every = [
        Harm(store, kind, command)
        for store in ("warehouse", "ledger", "index", "runs", "vectors", "archive", "registry", "description")
        for kind in ("flipped", "cut", "deleted", "older")
        for command in COMMANDS
        if not (store == "vectors" and kind != "flipped")
        and not (store in ("archive", "registry", "description") and kind == "older")
    ]
    chance = random.Random(7)
    chance.shuffle(every)
    return [every[at % len(every)] for at in range(number)]


@pytest.mark.proof
def test_no_fact_that_could_be_read_is_lost(copy: Callable[[int], Path], full: bool) -> None:
    outcomes: Counter[tuple[str, str, str, str]] = Counter()
    for number, harm in enumerate(harms(200 if full else 12)):
        place, chance = copy(number), random.Random(number)
        hurt(place, harm, chance)
        before = facts(place, place.parent / "scratch")
        outcome = carry_out(harm, place)
        after = facts(place, place.parent / "scratch")
        assert outcome in ("done", "refused"), (number, harm, outcome)
        secret = {fact for fact in before if fact[0] == "imported_output"}
        lost = {fact for fact in before if fact not in after} - secret
        assert not lost, (number, harm, outcome, lost)
        if outcome == "done" and harm.command != "update":
            assert not any(SECRET in str(fact) for fact in after), (number, harm)
        outcomes[*harm, outcome] += 1
        shutil.rmtree(place.parent)
        print(number, *harm, outcome, flush=True)
    table = pl.DataFrame(
        [(*key, count) for key, count in sorted(outcomes.items())],
        ["store", "damage", "command", "outcome", "times"], orient="row",
    )  # fmt: skip
    print(f"\n{markdown(table)}")


def replies(place: Path) -> set[str]:
    return {fact[1] for fact in _replies(place / LEDGER) if fact[0] == "reply"}


def flip(file: Path, at: int) -> None:
    content = bytearray(file.read_bytes())
    content[at] ^= 4
    file.write_bytes(content)


def test_restore_replaces_only_a_damaged_index(copy: Callable[[int], Path]) -> None:
    place = copy(0)
    (place / INDEX).write_bytes((place / INDEX).read_bytes()[:300] + b"\xa5" * 4000)
    assert "`variorum restore FOLDER`" in here(place, "update", code=1).stderr
    assert "kept, since no fault was found: variorum.duckdb, ledger.sqlite" in here(
        place, "restore", str(place.parent / "backups")
    ).stdout  # fmt: skip
    assert {"early item", "late item"} <= {*DuckDBWarehouse(path=str(place / WAREHOUSE)).read("imported_label")["item"]}
    assert len(replies(place)) == 60
    assert [file.name for file in place.glob("before-restore/*/*")] == ["dagster"]


def test_a_damaged_cache_costs_a_cache(copy: Callable[[int], Path]) -> None:
    place = copy(0)
    before = facts(place, place.parent / "scratch")
    (block, *_) = _blocks_of_vectors(place / WAREHOUSE)
    flip(place / WAREHOUSE, BEGINNING + block * BLOCK + 5000)
    lines = list(repairing.rebuild(lambda: location(place)))
    assert facts(place, place.parent / "scratch") == before
    assert [line for line in lines if "could not be read" in line and not line.startswith("embedding")] == []


def test_restore_keeps_the_replies_of_a_ledger_with_a_damaged_page(copy: Callable[[int], Path]) -> None:
    place = copy(0)
    with closing(sqlite3.connect(place / LEDGER)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'session'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray((place / LEDGER).read_bytes())
    content[(page - 1) * size : page * size] = b"\xa5" * size
    (place / LEDGER).write_bytes(content)
    assert len(replies(place)) == 60
    refused = here(place, "costs", "--uncertain", code=1).stderr
    assert "ledger.sqlite: is damaged" in refused
    assert "`variorum restore FOLDER`" in refused
    with (
        pytest.raises(DamagedError, match=r"ledger\.sqlite: is damaged"),
        SqliteLedger(place / LEDGER).session("r", Budget()),
    ):
        pass
    list(repairing.restore(lambda: location(place), place.parent / "backups"))
    assert len(replies(place)) == 60


def test_what_was_removed_stays_removed_until_it_is_imported_again(copy: Callable[[int], Path]) -> None:
    place = copy(0)
    for command in (["--as-of-backup", "--yes"], ["--as-of-backup", "--yes"], []):
        done = here(place, "restore", str(place.parent / "backups"), *command).stdout
        warehouse = DuckDBWarehouse(path=str(place / WAREHOUSE))
        assert "late item" not in set(warehouse.read("imported_label")["item"])
        assert warehouse.read("imported_output").is_empty()
        assert SECRET.encode() not in (place / WAREHOUSE).read_bytes()
        with dg.DagsterInstance.get() as instance:
            assert "gone" not in instance.get_dynamic_partitions("model")
    assert "kept, since no fault was found: variorum.duckdb, ledger.sqlite, dagster" in done
    with dg.DagsterInstance.get() as instance:
        import_model(warehouse, instance, "gone")
    here(place, "backup", str(place.parent / "backups"))
    for part in ("variorum.duckdb", "variorum.duckdb.wal", "removals.json"):
        (place / part).unlink(missing_ok=True)
    here(place, "restore", str(place.parent / "backups"))
    assert warehouse.read("imported_output")["text"].to_list() == [SECRET]


def test_as_of_backup_says_what_is_lost_and_asks_first(copy: Callable[[int], Path]) -> None:
    place = copy(0)
    before = (place / WAREHOUSE).read_bytes()
    asked = CliRunner().invoke(main, ["restore", str(place.parent / "backups"), "--as-of-backup"], input="n\n")
    assert "1 rows of imported_label" in asked.output
    assert asked.exit_code == 1
    assert (place / WAREHOUSE).read_bytes() == before

"""A DuckDB file is shared by processes, migrated, copied and compacted, whatever happens to a process or the disk."""

import os
import random
import resource
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path

import duckdb
import polars as pl
import pytest

from resources.duckdb_salvage import purge
from resources.duckdb_warehouse import BEFORE_MIGRATION, IDLE, DuckDBWarehouse
from resources.errors import BadInput, DamagedError
from resources.removals import Removal, Selection, recorded
from resources.warehouse import Replacement, Warehouse
from tests.resources.warehouses import content, process, replace, said, sources, texts, write_many
from tests.support import by_hand

INSERT = "INSERT INTO corpus (corpus, description, target_language, fingerprint, run_id, updated_at) VALUES"


@pytest.fixture(scope="module")
def kept_open() -> bool:
    return False


def test_what_is_stored_after_a_removal_is_never_taken_for_removed(tmp_path: Path) -> None:
    warehouse = DuckDBWarehouse(path=str(tmp_path / "variorum.duckdb"))
    selection = Selection(["source_text"], "passage", [], "x/")
    row = Removal("2999-01-01T00:00:00", "corpus", "x", [selection]).row  # the clock was ahead
    warehouse.write([Replacement("removal", row, row.select("removed_at", "kind", "name"))], "run")
    replace(warehouse, sources("x/1"))
    assert purge(Path(warehouse.name), recorded(warehouse)) == 0
    with by_hand(warehouse.name) as connection:
        connection.execute("UPDATE source_text SET updated_at = now()::TIMESTAMP")
    assert purge(Path(warehouse.name), recorded(warehouse)) == 1


# Files that are not as declared


@pytest.mark.parametrize("content", [b"", b"a letter, not a database\n" * 1000, None], ids=["empty", "text", "damaged"])
def test_a_file_that_is_no_warehouse_is_named_and_left_alone(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "blocks.duckdb"  # a word with "lock" in it: the file is not taken for a locked one
    if content is None:
        DuckDBWarehouse(path=str(path)).read("corpus")
        content = b"DAMAGED" * 1000 + path.read_bytes()[7000:]
    path.write_bytes(content)
    with pytest.raises(BadInput, match="cannot be opened as a warehouse") as refused:
        DuckDBWarehouse(path=str(path)).read("corpus")
    assert refused.value.where == str(path)
    assert path.read_bytes() == content


def test_a_damaged_block_is_named_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "blocks.duckdb"
    warehouse = DuckDBWarehouse(path=str(path))
    chance = random.Random(3)
    replace(warehouse, pl.concat([sources(f"x/{i}", text=chance.randbytes(2000).hex()) for i in range(600)]))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedError, match=r"is damaged .*variorum rebuild") as refused:
        warehouse.read("source_text")
    assert refused.value.where == str(path)
    assert warehouse.read("corpus").is_empty()


OLD = "passage VARCHAR NOT NULL, translator VARCHAR NOT NULL, PRIMARY KEY (passage, translator)"
PROVENANCE = "fingerprint VARCHAR NOT NULL, run_id VARCHAR NOT NULL, updated_at TIMESTAMP NOT NULL"


def test_an_old_file_whose_key_has_grown_keeps_its_rows_under_the_new_key(warehouse: Warehouse) -> None:
    state = "asset VARCHAR NOT NULL, model VARCHAR NOT NULL, passage VARCHAR NOT NULL, version VARCHAR NOT NULL"
    Path(warehouse.name).unlink(missing_ok=True)
    with duckdb.connect(warehouse.name) as connection:
        connection.execute(
            f"CREATE TABLE materialization ({state}, row_count INTEGER NOT NULL, made_from VARCHAR NOT NULL, "
            f"{PROVENANCE}, PRIMARY KEY (asset, model, passage))"
        )
        connection.execute(
            "INSERT INTO materialization VALUES ('reference', '', 'x/1', 'v', 1, 'm', 'f', 'r', now()::TIMESTAMP)"
        )
    before = warehouse.read("materialization")
    assert before.select("asset", "passage", "task", "version").rows() == [("reference", "x/1", "", "v")]
    rows = before.drop("run_id", "updated_at")
    both = pl.concat([rows, rows.with_columns(task=pl.lit("smds"))])
    warehouse.write([Replacement("materialization", both, None)], "run")
    assert warehouse.read("materialization")["task"].to_list() == ["", "smds"]


REFERENCE = f"CREATE TABLE reference ({OLD}, {{}}, {PROVENANCE})"
ROW = """INSERT INTO reference BY NAME SELECT 'x/1' AS passage, 'ann' AS translator, 'f' AS fingerprint,
    'r' AS run_id, now()::TIMESTAMP AS updated_at, {}"""


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        ("text VARCHAR NOT NULL, complete INTEGER NOT NULL", "'a text' AS text, 1 AS complete"),
        ("text VARCHAR, complete BOOLEAN NOT NULL", "'a text' AS text, true AS complete"),
        (
            "text VARCHAR NOT NULL, complete BOOLEAN NOT NULL, secret VARCHAR NOT NULL",
            "'a text' AS text, true AS complete, 'given up' AS secret",
        ),
    ],
    ids=["another type", "nulls allowed", "a required column given up"],
)
def test_an_old_file_gets_the_declared_columns_and_its_former_self_is_kept(
    warehouse: Warehouse, columns: str, values: str
) -> None:
    Path(warehouse.name).unlink(missing_ok=True)
    with duckdb.connect(warehouse.name) as connection:
        connection.execute(REFERENCE.format(columns))
        connection.execute(ROW.format(values))
    former = content(warehouse.name)["reference"]
    named = ["passage", "translator", "text", "complete", "flag", "fingerprint"]
    assert warehouse.read("reference", columns=named).rows() == [("x/1", "ann", "a text", True, None, "f")]
    assert warehouse.differences("reference").is_empty()
    warehouse.write([Replacement("reference", warehouse.read("reference").drop("run_id", "updated_at"), None)], "run")
    assert content(Path(warehouse.name).parent / BEFORE_MIGRATION / "variorum.duckdb")["reference"] == former


def test_tables_given_up_are_dropped_and_those_of_others_stay(warehouse: Warehouse) -> None:
    Path(warehouse.name).unlink(missing_ok=True)
    with duckdb.connect(warehouse.name) as connection:
        connection.execute(f"CREATE TABLE formerly (text VARCHAR, {PROVENANCE})")
        connection.execute("CREATE TABLE my_notes (note VARCHAR)")
    warehouse.read("reference")
    tables = content(warehouse.name)
    assert "formerly" not in tables
    assert "my_notes" in tables


@pytest.mark.parametrize(
    ("columns", "values", "problem"),
    [
        ("text VARCHAR NOT NULL, complete VARCHAR", "'a text' AS text, 'maybe' AS complete", "maybe"),
        ("text VARCHAR, complete BOOLEAN NOT NULL", "NULL AS text, true AS complete", 'reference."text"'),
        ("complete BOOLEAN NOT NULL", "true AS complete", 'reference."text"'),
    ],
    ids=["another type", "null", "required column missing"],
)
def test_an_old_file_whose_rows_do_not_fit_is_refused_unchanged(
    warehouse: Warehouse, columns: str, values: str, problem: str
) -> None:
    Path(warehouse.name).unlink(missing_ok=True)
    with duckdb.connect(warehouse.name) as connection:
        connection.execute(REFERENCE.format(columns))
        connection.execute(ROW.format(values))
    before = content(warehouse.name)
    with pytest.raises(BadInput, match=problem) as refused:
        warehouse.read("reference")
    assert (refused.value.where, refused.value.key) == (warehouse.name, "reference")
    assert content(warehouse.name) == before


def test_a_file_of_a_later_version_is_refused_unchanged(warehouse: Warehouse) -> None:
    warehouse.read("reference")
    with by_hand(warehouse.name) as connection:
        connection.execute("UPDATE schema_version SET number = number + 1")
    before = content(warehouse.name)
    with pytest.raises(BadInput, match="use the version of Variorum that wrote it, or a later one"):
        warehouse.read("reference")
    assert content(warehouse.name) == before


# What the schema declares


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ("ADD COLUMN note VARCHAR", ("note", "no such column", "VARCHAR")),
        ("DROP COLUMN document", ("document", "VARCHAR NOT NULL", "missing")),
        ("ALTER position TYPE BIGINT", ("position", "INTEGER NOT NULL", "BIGINT NOT NULL")),
        ("ALTER text DROP NOT NULL", ("text", "VARCHAR NOT NULL", "VARCHAR")),
    ],
    ids=["another column", "a column less", "another type", "nulls allowed"],
)
def test_what_was_changed_about_a_table_by_hand_is_named(
    warehouse: Warehouse, stored: pl.DataFrame, change: str, difference: tuple[str, str, str]
) -> None:
    with duckdb.connect(warehouse.name) as connection:
        connection.execute(f"ALTER TABLE source_text {change}")
    assert warehouse.differences("source_text").rows() == [difference]
    assert warehouse.differences("reference").is_empty()


def test_of_a_table_that_was_dropped_by_hand_all_columns_are_missing(
    warehouse: Warehouse, stored: pl.DataFrame
) -> None:
    with duckdb.connect(warehouse.name) as connection:
        connection.execute("DROP TABLE source_text")
    assert set(warehouse.differences("source_text")["found"]) == {"missing"}


# Several writers


def read_and_keep_open(path: str, tell: Connection) -> None:
    """Read once, and stay where the file is kept open."""
    warehouse = DuckDBWarehouse(path=path)
    with warehouse.kept_open():
        tell.send(list(texts(warehouse)))
        tell.recv()
        tell.send(list(texts(warehouse)))


def hold(path: str, tell: Connection) -> None:
    """Keep the file until a word comes, then commit a row and let go."""
    with duckdb.connect(path) as connection:
        connection.begin()
        connection.execute(f"{INSERT} ('x', 'x.yaml', 'en', 'f', 'r', now()::TIMESTAMP)")
        tell.send("held")
        tell.recv()
        time.sleep(0.3)
        connection.commit()


def write_until_full(path: str, room: int, tell: Connection) -> None:
    """Write ever new text with `room` bytes left for each file; say what was written, then the error."""
    warehouse = DuckDBWarehouse(path=path)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(path) + room, hard))
    for generation in range(100):
        noise = random.Random(generation).randbytes(60_000 * generation).hex()
        try:
            replace(warehouse, sources("x/1", "x/2", text=f"{generation} {noise}"), "x/1", "x/2")
        except BadInput as error:
            tell.send(str(error))
            break
        tell.send(generation)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    replace(warehouse, sources("y/1", text="room again"), "y/1")


def commit_and_stay(path: str, tell: Connection) -> None:
    """Commit a row, begin to write another, and neither end nor let go."""
    with duckdb.connect(path) as connection:
        connection.execute(f"{INSERT} ('x', 'x.yaml', 'en', 'f', 'r', now()::TIMESTAMP)")
        connection.begin()
        connection.execute(f"{INSERT} ('y', 'y.yaml', 'en', 'f', 'r', now()::TIMESTAMP)")
        tell.send("committed")
        tell.recv()


def keep_open(path: str, tell: Connection) -> None:
    """Open a snapshot as a notebook does; say at each word what it holds."""
    with duckdb.connect(path, read_only=True) as connection:
        while True:
            tell.send(connection.sql("SELECT passage, text FROM source_text ORDER BY passage").fetchall())
            tell.recv()


def look_often(path: str, tell: Connection) -> None:
    """Ask for a snapshot again and again; say how many passages each has."""
    warehouse = DuckDBWarehouse(path=path)
    tell.send("ready")
    tell.recv()
    for _ in range(6):
        with duckdb.connect(str(warehouse.snapshot()), read_only=True) as connection:
            tell.send(connection.sql("SELECT count(*) FROM source_text").fetchall()[0][0])


def look_with_a_full_disk(path: str, tell: Connection) -> None:
    """Ask for a snapshot where no file may grow beyond a few blocks, then where it may; say the error and the path."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        tell.send(str(DuckDBWarehouse(path=path).snapshot()))
    except BadInput as error:
        tell.send(str(error))
    tell.recv()
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    tell.send(str(DuckDBWarehouse(path=path).snapshot()))


def migrate_with_a_full_disk(path: str, tell: Connection) -> None:
    """Open a warehouse where no file may grow beyond a few blocks, then where it may; say the error, then the texts."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        DuckDBWarehouse(path=path).read("corpus")
    except BadInput as error:
        tell.send(str(error))
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    tell.send(texts(DuckDBWarehouse(path=path)))


def test_a_process_that_finds_the_file_taken_waits_its_turn(warehouse: Warehouse) -> None:
    warehouse.read("corpus")
    with process(hold, warehouse.name) as (_, holder):
        assert holder.recv() == "held"
        holder.send("let go")
        assert warehouse.read("corpus")["corpus"].to_list() == ["x"]


def test_a_file_that_another_process_keeps_open_is_written_at_once_and_it_sees_that(warehouse: Warehouse) -> None:
    with process(read_and_keep_open, warehouse.name) as (_, keeper):
        assert keeper.recv() == []
        impatient = DuckDBWarehouse(path=warehouse.name, wait_seconds=IDLE / 2)
        replace(impatient, sources("x/1"))
        keeper.send("look")
        assert keeper.recv() == ["x/1"]


def test_a_file_that_is_kept_open_without_use_is_free_for_other_programs(warehouse: Warehouse) -> None:
    with process(read_and_keep_open, warehouse.name) as (_, keeper):
        assert keeper.recv() == []
        deadline = time.monotonic() + 60
        while True:
            try:
                duckdb.connect(warehouse.name).close()
                break
            except duckdb.IOException:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        keeper.send("look")
        assert keeper.recv() == []


def test_another_warehouse_is_read_while_one_is_kept_open(warehouse: Warehouse, stored: pl.DataFrame) -> None:
    other = DuckDBWarehouse(path=f"{warehouse.name}.other")
    with warehouse.kept_open(), warehouse.kept_open():
        before = texts(warehouse)
        assert texts(other) == {}
        assert texts(warehouse) == before
    assert texts(warehouse) == before


def test_after_the_wait_the_error_names_the_file_and_its_holder(warehouse: Warehouse) -> None:
    warehouse.read("corpus")
    with process(hold, warehouse.name) as (child, holder):
        assert holder.recv() == "held"
        with pytest.raises(BadInput, match=rf"another process has had it open for 0\.1 s .*{child.pid}") as refused:
            DuckDBWarehouse(path=warehouse.name, wait_seconds=0.1).read("corpus")
    assert refused.value.where == warehouse.name


# Ends that nobody planned


@pytest.mark.parametrize("room", [0, 100_000, 700_000])
def test_a_full_disk_is_an_error_and_costs_nothing_that_was_there(warehouse: Warehouse, room: int) -> None:
    replace(warehouse, sources("x/1", "x/2", "z/1", text="at first"))
    with process(write_until_full, warehouse.name, room) as (child, connection):
        *written, error = said(connection)
        child.join(60)
        assert child.exitcode == 0
    assert "File too large" in error
    last = str(written[-1]) if written else "at"
    found = texts(warehouse)
    assert [found[each].partition(" ")[0] for each in ("x/1", "x/2")] == [last, last]
    assert (found["z/1"], found["y/1"]) == ("at first", "room again")


# Free space


NOISE = "SELECT repeat(md5(range::VARCHAR), 20) AS text FROM range"


def test_a_file_of_which_half_is_free_is_rewritten_while_others_write(warehouse: DuckDBWarehouse) -> None:
    replace(warehouse, sources("z/0", text="kept"), "z/0")
    for generation in range(3):
        with by_hand(warehouse.name) as connection:
            connection.execute(f"CREATE TABLE many AS {NOISE}(40000)")
            connection.execute("CHECKPOINT")
            connection.execute(f"CREATE OR REPLACE TABLE last AS {NOISE}(2000)")  # else the end would be cut off
            connection.execute("CHECKPOINT")
            connection.execute("DROP TABLE many")
        before = Path(warehouse.name).stat().st_size
        with process(write_many, warehouse, f"{generation}", 6, False) as (writer, connection):
            assert connection.recv() == "ready"
            connection.send("go")
            assert warehouse.compact(slack=1 << 20)
            writer.join(60)
            assert writer.exitcode == 0
        assert Path(warehouse.name).stat().st_size < before / 2
        found = texts(warehouse)
        assert found["z/0"] == "kept"
        assert len([passage for passage in found if passage.startswith(f"{generation}/")]) == 10


def test_a_file_of_an_earlier_version_is_rewritten_with_smaller_blocks(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "former.duckdb") as former:
        former.execute("CREATE TABLE added_by_user AS SELECT 1 AS number")
    warehouse = DuckDBWarehouse(path=str(tmp_path / "former.duckdb"))
    replace(warehouse, sources("z/0", text="kept"), "z/0")
    before = Path(warehouse.name).stat().st_size
    assert warehouse.compact()
    assert Path(warehouse.name).stat().st_size < before / 2
    assert texts(warehouse) == {"z/0": "kept"}
    with by_hand(warehouse.name) as connection:
        assert connection.execute("FROM added_by_user").fetchall() == [(1,)]
    assert not warehouse.compact()


def test_a_file_that_is_open_is_not_rewritten(warehouse: DuckDBWarehouse, stored: pl.DataFrame) -> None:
    assert not warehouse.at_once("corpus", None, lambda: warehouse.compact(slack=0))
    assert texts(warehouse)


# Snapshots


def files(warehouse: Warehouse) -> list[str]:
    """The warehouse and what lies beside it, without the empty files by which processes agree on who opens it."""
    return sorted(
        path.name for path in Path(warehouse.name).parent.glob("*.duckdb*") if path.suffix not in (".lock", ".wanted")
    )


def test_a_snapshot_holds_the_rows_and_the_keys_of_the_warehouse(warehouse: Warehouse, stored: pl.DataFrame) -> None:
    vector = {"embedder": "e", "text_hash": ["1", "2"], "vector": [[0.1, -0.0], []], "fingerprint": ""}
    warehouse.write(
        [Replacement("embedding", pl.DataFrame(vector | {"cut": [None, True], "served_model": [None, "m"]}), None)],
        "run",
    )
    copy = content(warehouse.snapshot())
    assert [len(copy[table]) for table in ("source_text", "embedding", "reference")] == [3, 2, 0]
    assert ("embedding", "PRIMARY KEY", ["embedder", "text_hash"]) in copy["constraints"]
    assert copy == content(warehouse.name)
    assert files(warehouse) == ["variorum-snapshot.duckdb", "variorum.duckdb"]


def test_a_process_that_keeps_a_snapshot_open_sees_what_it_saw_and_keeps_no_writer_waiting(
    warehouse: Warehouse, stored: pl.DataFrame
) -> None:
    hasty = DuckDBWarehouse(path=warehouse.name, wait_seconds=0)
    before = [("x/1", "a text"), ("x/2", "a text"), ("y/1", "a text")]
    with process(keep_open, str(hasty.snapshot())) as (_, reader):
        assert reader.recv() == before
        for text in ("new", "newer"):
            replace(hasty, sources("x/1", "x/3", text=text), "x/1", "x/3")
            assert content(hasty.snapshot()) == content(hasty.path)
            reader.send("again")
            assert reader.recv() == before


def test_a_snapshot_is_made_again_after_a_write_and_only_then(warehouse: Warehouse, stored: pl.DataFrame) -> None:
    first = warehouse.snapshot().stat()
    texts(warehouse)
    with pytest.raises(BadInput):
        warehouse.write([Replacement("source_text", sources("x/1", text=None), None)], "run")
    second = warehouse.snapshot().stat()
    assert (second.st_ino, second.st_mtime_ns) == (first.st_ino, first.st_mtime_ns)
    replace(warehouse, sources("z/1"), "z/1")
    assert [row[0] for row in content(warehouse.snapshot())["source_text"]] == ["x/1", "x/2", "y/1", "z/1"]


def test_snapshots_that_two_processes_ask_for_while_a_third_writes_are_whole(warehouse: Warehouse) -> None:
    with (
        process(look_often, warehouse.name) as (one, to_one),
        process(look_often, warehouse.name) as (two, to_two),
        process(write_many, warehouse, "x", 6, False) as (writer, to_writer),
    ):
        for each in (to_one, to_two, to_writer):
            assert each.recv() == "ready"
        for each in (to_one, to_two, to_writer):
            each.send("go")
        counts = [said(to_one), said(to_two)]
        for child in (one, two, writer):
            child.join(60)
            assert child.exitcode == 0
    for seen in counts:
        assert len(seen) == 6
        assert seen == sorted(seen)  # nobody is given an older one than before
        assert {count % 2 for count in seen} == {0}  # never half of a write
    assert content(warehouse.snapshot()) == content(warehouse.name)
    assert files(warehouse) == ["variorum-snapshot.duckdb", "variorum.duckdb"]


@pytest.mark.parametrize(
    "name",
    [
        "the reader's/ware house.duckdb",
        'a "so-called" home/variorum.duckdb',
        "it's.duckdb",
        "ἀρχή.duckdb",
        'so-called "warehouse".duckdb',
        "version.2.duckdb",
        "snapshot.duckdb",
        "main.duckdb",
    ],
)
def test_a_snapshot_lies_beside_its_warehouse_whatever_their_names(tmp_path: Path, name: str) -> None:
    own = DuckDBWarehouse(path=str(tmp_path / name))
    replace(own, sources("x/1"))
    copy = own.snapshot()
    assert copy == Path(own.path).with_name(f"{Path(own.path).stem}-snapshot.duckdb")
    assert [row[0] for row in content(copy)["source_text"]] == ["x/1"]


def test_a_snapshot_has_what_a_killed_process_had_committed(warehouse: Warehouse, stored: pl.DataFrame) -> None:
    assert content(warehouse.snapshot())["corpus"] == []
    with process(commit_and_stay, warehouse.name) as (child, writer):
        assert writer.recv() == "committed"
        child.kill()
        child.join(60)
    assert Path(f"{warehouse.name}.wal").stat().st_size
    assert [row[0] for row in content(warehouse.snapshot())["corpus"]] == ["x"]
    assert files(warehouse) == ["variorum-snapshot.duckdb", "variorum.duckdb"]


def test_a_snapshot_for_which_there_is_no_room_leaves_the_last_one_and_nothing_else(
    warehouse: Warehouse, stored: pl.DataFrame
) -> None:
    last = content(warehouse.snapshot())
    replace(warehouse, sources("z/1", text=random.Random(0).randbytes(300_000).hex()), "z/1")
    with process(look_with_a_full_disk, warehouse.name) as (_, connection):
        assert "File too large" in connection.recv()
        assert content(warehouse.name.replace(".duckdb", "-snapshot.duckdb")) == last
        assert files(warehouse) == ["variorum-snapshot.duckdb", "variorum.duckdb"]
        connection.send("room")
        assert content(connection.recv()) == content(warehouse.name) != last


def test_a_migration_that_the_disk_has_no_room_for_is_explained_and_made_up_for(warehouse: Warehouse) -> None:
    replace(warehouse, sources("x/1"), "x/1")
    with by_hand(warehouse.name) as connection:
        connection.execute("UPDATE schema_version SET digest = 'former'")
    with process(migrate_with_a_full_disk, warehouse.name) as (_, connection):
        message = connection.recv()
        assert f"{warehouse.name}: cannot be written" in message
        assert "free space on its disk" in message
        assert connection.recv() == {"x/1": "a text"}

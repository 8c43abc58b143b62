"""The warehouse keeps whole rows in their columns, under invalid writes, concurrent writers and crashes."""

import multiprocessing
import os
import random
import resource
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resources import catalogue
from resources.duckdb_warehouse import BEFORE_MIGRATION, IDLE, DuckDBWarehouse
from resources.errors import BadInput, DamagedError
from resources.warehouse import Replacement, Warehouse
from tests.support import by_hand

INSERT = "INSERT INTO corpus (corpus, description, target_language, fingerprint, run_id, updated_at) VALUES"
PROCESSES = multiprocessing.get_context("forkserver")  # fresh processes that need not import everything again
PROCESSES.set_forkserver_preload(["dagster", "duckdb", "hypothesis"])


@pytest.fixture(scope="module")
def kept_open() -> bool:
    return False


def sources(*passages: str, **columns: Any) -> pl.DataFrame:
    """Rows of `source_text`, whose many text columns could be swapped unseen; `columns` stand for the usual values."""
    usual = {
        "passage": list(passages),
        "corpus": [passage.partition("/")[0] for passage in passages],
        "passage_id": [passage.partition("/")[2] for passage in passages],
        "document": "a document",
        "position": range(len(passages)),
        "language": "a language",
        "segment_ids": [["s1", "s2"]] * len(passages),
        "segments": [["one", "two"]] * len(passages),
        "text": "a text",
        "previous": "before it",
        "following": "after it",
        "fingerprint": "a fingerprint",
    }
    return pl.DataFrame(usual | columns)


def replace(warehouse: Warehouse, rows: pl.DataFrame, *passages: str, run_id: str = "run") -> None:
    """Write rows in the place of what there is of these passages, or of the whole table where none is named."""
    partitions = pl.DataFrame({"passage": passages}) if passages else None
    warehouse.write([Replacement("source_text", rows, partitions)], run_id)


def texts(warehouse: Warehouse) -> dict[str, str]:
    return dict(warehouse.read("source_text", columns=["passage", "text"]).iter_rows())


Texts = dict[str, tuple[str, list[str | None]]]
SEGMENTS = st.lists(st.none() | st.sampled_from("ab"), max_size=2)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture
def stored(warehouse: Warehouse) -> pl.DataFrame:
    """Three passages of two corpora, as they are before a test writes."""
    replace(warehouse, sources("x/1", "x/2", "y/1"), run_id="before")
    return warehouse.read("source_text")


# One process, one file


def test_columns_in_any_order_reach_their_own_names(warehouse: Warehouse) -> None:
    rows = sources("x/1")
    replace(warehouse, rows.select(reversed(rows.columns)))
    assert warehouse.read("source_text", columns=rows.columns).equals(rows.cast({"position": pl.Int32}))


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        pytest.param(sources("x/1", translator="ann"), "translator: no such columns", id="unknown column"),
        pytest.param(sources("x/1").drop("text", "corpus"), "corpus, text: columns are missing", id="missing columns"),
        pytest.param(sources("x/1", text=None), 'NOT NULL constraint failed: source_text."text"', id="null"),
        pytest.param(sources("x/1", "x/1"), r"\('x/1',\): the primary key occurs twice", id="same key twice"),
        pytest.param(sources("x/1", "x/2", "x/3"), r"\('x/2',\): 2 rows are outside", id="rows outside the partition"),
        pytest.param(
            sources("x/1", passage=pl.Series([None], dtype=pl.String)), "rows are outside", id="row of no partition"
        ),
        pytest.param(sources("x/1", position=1.7), "is Float64, but the catalogue declares Int32", id="fraction"),
        pytest.param(sources("x/1", position=2**40), "out of range", id="number too large"),
        pytest.param(sources("x/1", text=5), "text: is Int32, but the catalogue declares String", id="number for text"),
        pytest.param(
            sources("x/1", position="5"), "position: is String, but the catalogue declares Int32", id="text for number"
        ),
        pytest.param(
            sources("x/1", segments="one"), r"segments: is String, but the catalogue declares List", id="text for list"
        ),
        pytest.param(sources("x/1", segments=[[5]]), r"segments: is List\(Int64\)", id="numbers for a list of texts"),
    ],
)
def test_rows_that_do_not_fit_are_refused_and_nothing_changes(
    warehouse: Warehouse, stored: pl.DataFrame, rows: pl.DataFrame, problem: str
) -> None:
    with pytest.raises(BadInput, match=problem) as refused:
        replace(warehouse, rows, "x/1")
    assert refused.value.where == "source_text"
    assert warehouse.read("source_text").equals(stored)


def test_a_row_whose_key_another_partition_holds_is_refused(warehouse: Warehouse, stored: pl.DataFrame) -> None:
    stolen = sources("x/1", corpus="y")
    with pytest.raises(BadInput, match=r"[Dd]uplicate key"):
        warehouse.write([Replacement("source_text", stolen, pl.DataFrame({"corpus": ["y"]}))], "run")
    assert warehouse.read("source_text").equals(stored)


def test_a_table_that_the_schema_does_not_know_is_refused(warehouse: Warehouse) -> None:
    with pytest.raises(BadInput, match="translations: no such table"):
        warehouse.write([Replacement("translations", sources("x/1"), None)], "run")


def test_a_failure_halfway_leaves_all_tables_as_they_were(warehouse: Warehouse, stored: pl.DataFrame) -> None:
    corpus = (
        warehouse.empty("corpus")
        .clear(1)
        .with_columns(corpus=pl.lit("x"), description=pl.lit("x.yaml"), fingerprint=pl.lit("1"))
    )
    warehouse.write([Replacement("corpus", corpus, None)], "before")
    before = warehouse.read("corpus")
    output = pl.DataFrame({"model": ["m"], "passage": ["x/1"], "text": ["new"], "fingerprint": [""]})
    with pytest.raises(BadInput, match="NOT NULL"):
        warehouse.write(
            [
                Replacement("source_text", sources("x/1", text="new"), None),
                Replacement("corpus", corpus.clear(), None),
                Replacement("model_output", output.with_columns(text=None), None),
            ],
            "run",
        )  # fmt: skip
    assert warehouse.read("source_text").equals(stored)
    assert warehouse.read("corpus").equals(before)
    assert warehouse.read("model_output").is_empty()


def test_a_replacement_touches_its_own_partitions_only(warehouse: Warehouse, stored: pl.DataFrame) -> None:
    replace(warehouse, sources("x/1", text="new"), "x/1", run_id="later")
    after = warehouse.read("source_text")
    assert after["text"].to_list() == ["new", "a text", "a text"]
    assert after["run_id"].to_list() == ["later", "before", "before"]
    assert after.tail(2).equals(stored.tail(2))


def test_only_rows_that_differ_are_written_and_every_fingerprint_is_the_latest(
    warehouse: Warehouse, stored: pl.DataFrame
) -> None:
    rows = sources("x/1", "x/2", "x/3").with_columns(
        text=pl.Series(["a text", "new", "a text"]), fingerprint=pl.lit("later")
    )
    warehouse.write([Replacement("source_text", rows, pl.DataFrame({"corpus": ["x"]}))], "later")
    after = warehouse.read("source_text")
    assert after.select("passage", "text", "run_id", "fingerprint").rows() == [
        ("x/1", "a text", "before", "later"), ("x/2", "new", "later", "later"), ("x/3", "a text", "later", "later"),
        ("y/1", "a text", "before", "a fingerprint"),
    ]  # fmt: skip
    assert after["updated_at"][0] == stored["updated_at"][0]
    warehouse.write([Replacement("source_text", rows, None)], "last")
    assert warehouse.read("source_text").equals(after.head(3))


ROWS = st.dictionaries(st.sampled_from(["x/1", "x/2", "x/3", "y/1"]), st.tuples(st.sampled_from("ab"), SEGMENTS))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=ROWS, after=ROWS, replaced=st.sets(st.sampled_from(["x/1", "x/2", "x/3"])))
def test_a_replacement_has_the_content_of_a_deletion_and_an_insertion(
    warehouse: Warehouse, before: Texts, after: Texts, replaced: set[str]
) -> None:
    def rows(given: Texts, fingerprint: str) -> pl.DataFrame:
        segments = pl.Series([own for _, own in given.values()], dtype=pl.List(pl.String))
        text = pl.Series([text for text, _ in given.values()], dtype=pl.String)
        return sources(*given, position=0, text=text, segments=segments, fingerprint=fingerprint)

    warehouse.write([Replacement("source_text", sources(), None)], "empty")  # examples share the warehouse
    warehouse.write([Replacement("source_text", rows(before, "f"), None)], "before")
    kept = {key: own for key, own in before.items() if key not in {*replaced, *after}}
    partitions = pl.DataFrame({"passage": sorted({*replaced, *after})}, schema={"passage": pl.String})
    warehouse.write([Replacement("source_text", rows(after, "g"), partitions)], "after")
    stored = warehouse.read("source_text", columns=["passage", "text", "segments", "fingerprint", "run_id"])
    assert {key: (text, own) for key, text, own, *_ in stored.iter_rows()} == kept | after
    for key, *_, fingerprint, run_id in stored.iter_rows():
        assert fingerprint == ("g" if key in after else "f")
        assert run_id == ("before" if before.get(key) == (kept | after)[key] else "after")


def test_rows_that_a_partition_no_longer_has_are_gone(warehouse: Warehouse, stored: pl.DataFrame) -> None:
    corpus = pl.DataFrame({"corpus": ["x"]})
    warehouse.write([Replacement("source_text", sources("x/2", "x/3"), corpus)], "run")
    assert list(texts(warehouse)) == ["x/2", "x/3", "y/1"]


def test_a_partition_replaced_by_no_rows_is_empty(warehouse: Warehouse, stored: pl.DataFrame) -> None:
    replace(warehouse, sources(), "x/1", "y/1")
    assert list(texts(warehouse)) == ["x/2"]


def test_a_partition_of_two_dimensions_is_their_combination(warehouse: Warehouse) -> None:
    outputs = pl.DataFrame(
        {"model": ["m", "m", "n", "n"], "passage": ["x/1", "x/2"] * 2, "text": "old", "fingerprint": ""}
    )
    warehouse.write([Replacement("model_output", outputs, None)], "run")
    crossed = outputs.gather([0, 3]).with_columns(text=pl.lit("new"))
    warehouse.write([Replacement("model_output", crossed, crossed.select("passage", "model"))], "run")
    assert warehouse.read("model_output")["text"].to_list() == ["new", "old", "old", "new"]


def test_without_partitions_the_whole_table_is_replaced(warehouse: Warehouse, stored: pl.DataFrame) -> None:
    replace(warehouse, sources("z/1"))
    assert list(texts(warehouse)) == ["z/1"]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    segments=st.lists(st.lists(st.none() | st.text()), min_size=1, max_size=8),
    flag=st.none() | st.text(),
    spread=st.none() | FINITE,
    centroid=st.none() | st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False)),
)
def test_texts_lists_and_floats_come_back_exactly(
    warehouse: Warehouse,
    segments: list[list[str | None]],
    flag: str | None,
    spread: float | None,
    centroid: list[float] | None,
) -> None:
    reference = pl.DataFrame(
        {
            "passage": [f"x/{i}" for i in range(len(segments))],
            "translator": "ann",
            "segments": pl.Series(segments, dtype=pl.List(pl.String)),
            "flag": pl.Series([flag] * len(segments), dtype=pl.String),
            "fingerprint": "",
        }
    )
    envelope = pl.DataFrame(
        {"passage": ["x/0"], "embedder": "e", "reference_count": [2], "cut_references": [None], "fingerprint": [""]}
        | {"centroid": pl.Series([centroid], dtype=pl.List(pl.Float32))}
        | {
            name: pl.Series([spread], dtype=pl.Float64)
            for name in ("human_spread", "euclidean_spread", "mean_similarity", "least_similarity")
        }
    )
    for frames in ((reference.clear(), envelope.clear()), (reference, envelope)):  # examples share the warehouse
        tables = zip(("segmented_reference", "reference_envelope"), frames, strict=True)
        warehouse.write([Replacement(table, frame, None) for table, frame in tables], "run")
    # By repr, because 0.0 == -0.0.
    for table, rows in (("segmented_reference", reference), ("reference_envelope", envelope)):
        assert repr(warehouse.read(table, columns=rows.columns).rows()) == repr(rows.rows())


def test_the_time_of_a_row_is_utc_wherever_it_was_written(warehouse: Warehouse) -> None:
    with process(write_in_tokyo, warehouse.name) as (child, _):
        child.join(60)
    written = warehouse.read("source_text")["updated_at"][0].replace(tzinfo=UTC)
    assert abs(datetime.now(UTC) - written) < timedelta(minutes=5)


# Reading


def test_rows_come_in_the_order_of_the_primary_key(warehouse: Warehouse) -> None:
    passages = [f"x/{i}" for i in range(50)]
    replace(warehouse, sources(*random.Random(0).sample(passages, 50)))
    assert list(texts(warehouse)) == sorted(passages)
    assert list(warehouse.read("source_text", columns=["passage_id"])["passage_id"]) == sorted(
        str(i) for i in range(50)
    )


def test_keys_choose_rows_by_all_their_columns_and_each_row_once(warehouse: Warehouse, stored: pl.DataFrame) -> None:
    keys = pl.DataFrame({"passage_id": ["1", "1", "2", None], "corpus": ["y", "y", "y", "x"]})
    assert warehouse.read("source_text", keys)["passage"].to_list() == ["y/1"]


def test_no_keys_choose_no_rows(warehouse: Warehouse, stored: pl.DataFrame) -> None:
    assert warehouse.read("source_text", stored.select("passage").clear()).is_empty()


def test_columns_come_in_the_order_asked_for(warehouse: Warehouse, stored: pl.DataFrame) -> None:
    chosen = warehouse.read("source_text", pl.DataFrame({"corpus": ["x"]}), ["text", "passage"])
    assert chosen.rows() == [("a text", "x/1"), ("a text", "x/2")]
    assert chosen.columns == ["text", "passage"]


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


def test_an_old_file_gets_a_new_nullable_column_and_keeps_its_rows(warehouse: Warehouse) -> None:
    Path(warehouse.name).unlink(missing_ok=True)
    with duckdb.connect(warehouse.name) as connection:
        connection.execute(
            f"CREATE TABLE reference (text VARCHAR NOT NULL, complete BOOLEAN NOT NULL, {PROVENANCE}, {OLD})"
        )
        connection.execute("INSERT INTO reference VALUES ('a text', true, 'f', 'r', now()::TIMESTAMP, 'x/1', 'ann')")
    named = ["passage", "translator", "text", "complete", "flag", "fingerprint"]
    assert warehouse.read("reference", columns=named).rows() == [("x/1", "ann", "a text", True, None, "f")]
    new = pl.DataFrame([("x/2", "ben", "new", False, "partial", "g")], schema=named, orient="row")
    warehouse.write([Replacement("reference", new, pl.DataFrame({"passage": ["x/2"]}))], "run")
    assert warehouse.read("reference", columns=named)["flag"].to_list() == [None, "partial"]


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


def test_a_table_as_it_was_made_has_no_differences(warehouse: Warehouse) -> None:
    assert [table for table in catalogue.tables() if len(warehouse.differences(table))] == []


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


@contextmanager
def process(target: Any, *arguments: Any) -> Iterator[tuple[Any, Connection]]:
    """Another Python process that runs a function of this module, and what it says; it does not outlive the test."""
    here, there = PROCESSES.Pipe()
    child = PROCESSES.Process(target=target, args=(*arguments, there))
    child.start()
    there.close()
    try:
        yield child, here
    finally:
        child.kill()
        child.join(60)


def said(connection: Connection) -> list[Any]:
    """Everything that a process said before it ended."""
    words = []
    try:
        while connection.poll(30):
            words.append(connection.recv())
    except EOFError:
        return words
    raise AssertionError(f"the process is silent after {words}")


def write_in_tokyo(path: str, _: Connection) -> None:
    os.environ["TZ"] = "Asia/Tokyo"
    time.tzset()
    replace(DuckDBWarehouse(path=path), sources("x/1"))


def write_many(path: str, corpus: str, rounds: int, kept: bool, tell: Connection) -> None:
    warehouse = DuckDBWarehouse(path=path)
    tell.send("ready")
    tell.recv()
    with warehouse.kept_open() if kept else nullcontext():
        for i in range(rounds):
            replace(
                warehouse,
                sources(f"{corpus}/{i % 5}", f"{corpus}/{i % 5}+", text=str(i)),
                f"{corpus}/{i % 5}",
                f"{corpus}/{i % 5}+",
            )


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


def write_until_killed(path: str, passages: Sequence[str], first: int, tell: Connection) -> None:
    warehouse = DuckDBWarehouse(path=path)
    for generation in range(first, first + 10_000):
        replace(warehouse, sources(*passages, text=f"{generation}"), *passages)
        tell.send(generation)


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


@pytest.mark.parametrize("kept", [False, True], ids=["opened each time", "kept open"])
def test_two_processes_that_write_at_once_lose_nothing(warehouse: Warehouse, kept: bool) -> None:
    with (
        process(write_many, warehouse.name, "x", 12, kept) as (one, to_one),
        process(write_many, warehouse.name, "y", 12, kept) as (two, to_two),
    ):
        for each in (to_one, to_two):
            assert each.recv() == "ready"
        for each in (to_one, to_two):
            each.send("go")
        seen = [len(texts(warehouse)) for _ in range(10)]
        one.join(60)
        two.join(60)
        assert (one.exitcode, two.exitcode) == (0, 0)
    last = {0: "10", 1: "11", 2: "7", 3: "8", 4: "9"}
    assert texts(warehouse) == {f"{corpus}/{i}{end}": last[i] for corpus in "xy" for i in range(5) for end in ("", "+")}
    assert [count % 2 for count in seen] == [0] * len(seen)  # never half of a write


def test_threads_that_write_at_once_lose_nothing(warehouse: Warehouse) -> None:
    threads = [Thread(target=replace, args=(warehouse, sources(f"x/{i}"), f"x/{i}")) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert list(texts(warehouse)) == [f"x/{i}" for i in range(6)]


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


def test_a_killed_writer_leaves_whole_rows_and_all_that_it_had_committed(warehouse: Warehouse) -> None:
    passages = [f"x/{i:03}" for i in range(300)]
    chance, committed = random.Random(1), -1
    for _ in range(3):
        with process(write_until_killed, warehouse.name, passages, committed + 1) as (child, connection):
            first = connection.recv()
            time.sleep(chance.uniform(0.05, 0.3))
            child.kill()
            committed = [first, *said(connection)][-1]
        found = texts(warehouse)
        assert list(found) == passages
        generations = {int(text) for text in found.values()}
        assert generations in ({committed}, {committed + 1})  # killed before it could say so


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
        with process(write_many, warehouse.name, f"{generation}", 6, False) as (writer, connection):
            assert connection.recv() == "ready"
            connection.send("go")
            assert warehouse.compact(slack=1 << 20)
            writer.join(60)
            assert writer.exitcode == 0
        assert Path(warehouse.name).stat().st_size < before / 2
        found = texts(warehouse)
        assert found["z/0"] == "kept"
        assert len([passage for passage in found if passage.startswith(f"{generation}/")]) == 10


def test_a_file_that_is_open_is_not_rewritten(warehouse: DuckDBWarehouse, stored: pl.DataFrame) -> None:
    assert not warehouse.at_once("corpus", None, lambda: warehouse.compact(slack=0))
    assert texts(warehouse)


# Snapshots


def content(path: Path | str) -> dict[str, Any]:
    """Rows of every table of a file, and what is declared of them, read as any other program would."""
    with duckdb.connect(str(path), read_only=True) as connection:
        tables = [
            name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
        ]
        return {
            **{table: connection.execute(f'SELECT * FROM "{table}" ORDER BY ALL').fetchall() for table in tables},
            "columns": connection.execute(
                "SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() WHERE NOT internal "
                "ORDER BY table_name, column_index"
            ).fetchall(),
            "constraints": connection.execute(
                "SELECT table_name, constraint_type, constraint_column_names FROM duckdb_constraints() ORDER BY ALL"
            ).fetchall(),
        }


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
        process(write_many, warehouse.name, "x", 6, False) as (writer, to_writer),
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

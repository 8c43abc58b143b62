"""A warehouse of either kind keeps whole rows, under invalid writes, concurrent writers and kills."""

import random
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Thread
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resources import catalogue
from resources.changes import LOG
from resources.changes import MOST as ONE_BY_ONE
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from resources.keys import KEYS
from resources.state_sums import SCHEMA, SUMMED, SUMS, changed
from resources.warehouse import STATES, Replacement, Warehouse, noting
from tests.resources.warehouses import (
    process,
    replace,
    said,
    sources,
    texts,
    write_in_tokyo,
    write_many,
    write_until_killed,
)  # fmt: skip
from tests.support import examples


@pytest.fixture(params=["duckdb", "postgres"])
def warehouse(request: pytest.FixtureRequest) -> Warehouse:
    """An empty warehouse of either kind."""
    if request.param == "duckdb":
        return DuckDBWarehouse(path=str(request.getfixturevalue("home") / "variorum.duckdb"))
    chosen: Warehouse = request.getfixturevalue("postgres_warehouse")
    return chosen


Texts = dict[str, tuple[str, list[str | None]]]
SEGMENTS = st.lists(st.none() | st.sampled_from("ab"), max_size=2)
TEXT = st.text(st.characters(exclude_characters="\ufdd0", exclude_categories=["Cs"]))  # stands for NUL in PostgreSQL
FINITE = st.floats(allow_nan=False, allow_infinity=False)


MOST = {"INTEGER": (1 << 31) - 1, "BIGINT": (1 << 63) - 1}
"""The largest number of each type of whole numbers."""

OTHERS: dict[str, list[Any]] = {"VARCHAR": ["a", "b"], "BOOLEAN": [False, True]}


def ends(column: catalogue.Column) -> pl.Series:
    """Two values: for whole numbers, the ends of the declared range, or of the type's where it is open."""
    kind = column.type.removesuffix("[]")
    values = OTHERS.get(kind, [0, 1])
    if most := MOST.get(kind):
        values = [int(column.least or 0), most if column.most is None else int(column.most)]
    return pl.Series([[value] for value in values] if column.type != kind else values).cast(column.polars)


def test_whole_numbers_of_every_table_are_stored_up_to_the_ends_of_their_range(warehouse: Warehouse) -> None:
    rows = {
        name: pl.DataFrame({column.name: ends(column) for column in table.content.values()})
        for name, table in catalogue.tables().items()
        if name != LOG and any(column.type.removesuffix("[]") in MOST for column in table.columns.values())
    }
    warehouse.write([Replacement(name, frame, None) for name, frame in rows.items()], "run")
    for name, frame in rows.items():
        key = list(catalogue.table(name).key)
        assert warehouse.read(name, columns=frame.columns).sort(key).equals(frame.sort(key)), name


def test_a_number_beyond_its_column_is_refused_and_nothing_is_written(warehouse: Warehouse) -> None:
    with pytest.raises(BadInput, match=r"source_text: .*nothing was written"):
        replace(warehouse, sources("x/1", "x/2", position=[0, MOST["INTEGER"] + 1]))
    assert warehouse.read("source_text").is_empty()


# One process


def test_columns_in_any_order_reach_their_own_names(warehouse: Warehouse) -> None:
    rows = sources("x/1")
    replace(warehouse, rows.select(reversed(rows.columns)))
    assert warehouse.read("source_text", columns=rows.columns).equals(rows.cast({"position": pl.Int32}))


row = partial(partial, sources)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        pytest.param(row("x/1", translator="ann"), "translator: no such columns", id="unknown column"),
        pytest.param(
            lambda: sources("x/1").drop("text", "corpus"), "corpus, text: columns are missing", id="missing columns"
        ),
        pytest.param(
            row("x/1", text=None),
            'NOT NULL constraint failed: source_text."text"|null value in column "text"',
            id="null",
        ),
        pytest.param(row("x/1", "x/1"), r"\('x/1',\): the primary key occurs twice", id="same key twice"),
        pytest.param(row("x/1", "x/2", "x/3"), r"\('x/2',\): 2 rows are outside", id="rows outside the partition"),
        pytest.param(
            row("x/1", passage=pl.Series([None], dtype=pl.String)), "rows are outside", id="row of no partition"
        ),
        pytest.param(row("x/1", position=1.7), "is Float64, but the catalogue declares Int32", id="fraction"),
        pytest.param(row("x/1", position=2**40), "out of range", id="number too large"),
        pytest.param(row("x/1", text=5), "text: is Int32, but the catalogue declares String", id="number for text"),
        pytest.param(
            row("x/1", position="5"), "position: is String, but the catalogue declares Int32", id="text for number"
        ),
        pytest.param(
            row("x/1", segments="one"), r"segments: is String, but the catalogue declares List", id="text for list"
        ),
        pytest.param(row("x/1", segments=[[5]]), r"segments: is List\(Int64\)", id="numbers for a list of texts"),
    ],
)
def test_rows_that_do_not_fit_are_refused_and_nothing_changes(
    warehouse: Warehouse, stored: pl.DataFrame, rows: Callable[[], pl.DataFrame], problem: str
) -> None:
    with pytest.raises(BadInput, match=problem) as refused:
        replace(warehouse, rows(), "x/1")
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
    with pytest.raises(BadInput, match=r"NOT NULL|null value"):
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


@settings(examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
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


@settings(examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    segments=st.lists(st.lists(st.none() | TEXT), min_size=1, max_size=8),
    flag=st.none() | TEXT,
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
    with process(write_in_tokyo, warehouse) as (child, _):
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


# What the schema declares


def test_the_state_of_a_corpus_changes_with_its_rows_alone(warehouse: Warehouse, stored: pl.DataFrame) -> None:
    def states() -> dict[str, pl.DataFrame]:
        return {corpus: warehouse.state(corpus).sort("table") for corpus in ("x", "y", "other")}

    assert warehouse.state("x").filter(table="source_text")["row_count"].item() == 2
    before = states()
    replace(warehouse, sources("x/1", "x/2", "y/1"))  # the rows that are there
    assert all(before[corpus].equals(state) for corpus, state in states().items())
    replace(warehouse, sources("x/1", "x/2", text="edited"), "x/1", "x/2")
    edited = states()
    assert [corpus for corpus in before if not before[corpus].equals(edited[corpus])] == ["x"]
    replace(warehouse, sources("y/1").clear(), "y/1")
    removed = states()
    assert [corpus for corpus in before if not edited[corpus].equals(removed[corpus])] == ["y"]


def test_a_stamp_of_a_document_changes_with_its_rows_alone(warehouse: Warehouse) -> None:
    def stamps() -> dict[tuple[str, str], tuple[int, str]]:
        rows = warehouse.documents(["selection"]).iter_rows()
        return {(corpus, document): (passages, stamp) for corpus, document, passages, stamp in rows}

    def select(selected: bool, *passages: str) -> None:
        keys = pl.DataFrame({"passage": passages})
        rows = keys.with_columns(
            selected=selected, reasons=pl.lit([], pl.List(pl.String)), kept=pl.lit(None, pl.String)
        )
        rows = rows.with_columns(fingerprint=pl.lit(""))
        warehouse.write([Replacement("selection", rows, keys)], "run")

    assert stamps() == {}
    replace(warehouse, sources("x/1", "x/2", "x/3", "y/1").with_columns(document=pl.Series(["a", "a", "b", "a"])))
    select(True, "x/1", "x/2", "y/1", "x/gone")
    before = stamps()
    assert {key: passages for key, (passages, _) in before.items()} == {("x", "a"): 2, ("x", "b"): 1, ("y", "a"): 1}
    select(True, "x/1", "x/2", "y/1")  # the rows that are there
    assert stamps() == before
    changes: list[tuple[Callable[[], object], tuple[str, str]]] = [
        (lambda: select(False, "x/2"), ("x", "a")),
        (lambda: select(False, "x/3"), ("x", "b")),  # a row that is new
        (lambda: warehouse.write(
            [Replacement("selection", warehouse.empty("selection"), pl.DataFrame({"passage": ["y/1"]}))], "run"
        ), ("y", "a")),
        (lambda: replace(warehouse, sources("x/3", text="new").with_columns(document=pl.lit("b")), "x/3"), ("x", "b")),
    ]  # fmt: skip
    for change, document in changes:
        change()
        after = stamps()
        assert [key for key in before if before[key] != after[key]] == [document]
        before = after


def test_a_table_as_it_was_made_has_no_differences(warehouse: Warehouse) -> None:
    assert [table for table in catalogue.tables() if len(warehouse.differences(table))] == []


# Several writers


@pytest.mark.parametrize("kept", [False, True], ids=["opened each time", "kept open"])
def test_two_processes_that_write_at_once_lose_nothing(warehouse: Warehouse, kept: bool) -> None:
    with (
        process(write_many, warehouse, "x", 12, kept) as (one, to_one),
        process(write_many, warehouse, "y", 12, kept) as (two, to_two),
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


# Ends that nobody planned


def test_a_killed_writer_leaves_whole_rows_and_all_that_it_had_committed(warehouse: Warehouse) -> None:
    passages = [f"x/{i:03}" for i in range(300)]
    chance, committed = random.Random(1), -1
    for _ in range(3):
        with process(write_until_killed, warehouse, passages, committed + 1) as (child, connection):
            first = connection.recv()
            time.sleep(chance.uniform(0.05, 0.3))
            child.kill()
            committed = [first, *said(connection)][-1]
        found = texts(warehouse)
        assert list(found) == passages
        generations = {int(text) for text in found.values()}
        assert generations in ({committed}, {committed + 1})  # killed before it could say so


# The log of changes


def logged(warehouse: Warehouse, since: int) -> set[tuple[str, str]]:
    return set(warehouse.changed(since).select("source", "passage").iter_rows())


def test_a_write_logs_its_partitions_and_is_found_by_whoever_knows_the_last_number(warehouse: Warehouse) -> None:
    assert warehouse.last_change() == 0
    replace(warehouse, sources("x/1", "x/2"), "x/1", "x/2")
    first = warehouse.last_change()
    assert first
    assert logged(warehouse, 0) == {("source_text", "x/1"), ("source_text", "x/2")}
    assert logged(warehouse, first) == set()
    replace(warehouse, sources("x/2", text="another"), "x/2")
    assert logged(warehouse, first) == {("source_text", "x/2")}


def test_a_write_of_many_partitions_is_logged_as_one_of_every_partition(warehouse: Warehouse) -> None:
    passages = [f"x/{number}" for number in range(ONE_BY_ONE + 1)]
    replace(warehouse, sources(*passages), *passages)
    assert logged(warehouse, 0) == {("source_text", "*")}


def test_what_is_forgotten_leaves_the_last_number(warehouse: Warehouse) -> None:
    replace(warehouse, sources("x/1"), "x/1")
    replace(warehouse, sources("x/2"), "x/2")
    last = warehouse.last_change()
    assert last
    warehouse.forget_changes(last)
    assert logged(warehouse, 0) == {("source_text", "x/2")}
    replace(warehouse, sources("x/1", text="another"), "x/1")
    assert logged(warehouse, last) == {("source_text", "x/1")}


def test_a_removal_that_takes_the_last_entry_has_a_later_number(warehouse: Warehouse) -> None:
    replace(warehouse, sources("x/1"), "x/1")
    last = warehouse.last_change()
    assert last
    gone = pl.DataFrame({"passage": ["x/1"]})
    warehouse.write([Replacement(table, warehouse.empty(table), gone) for table in ("change", "source_text")], "run")
    assert logged(warehouse, last) == {("source_text", "*")}


def test_a_refused_write_is_not_logged(warehouse: Warehouse) -> None:
    with pytest.raises(BadInput):
        replace(warehouse, sources("x/1", "x/2", position=[0, MOST["INTEGER"] + 1]))
    assert warehouse.last_change() == 0


def test_reads_are_noted_unless_they_have_no_keys_for_which_rows_could_be_read(warehouse: Warehouse) -> None:
    key = pl.DataFrame({"passage": ["x/1"]})
    with noting() as reads:
        for keys in (key, key.clear(), None):
            warehouse.read("source_text", keys)
    assert [keys is None or keys["passage"].to_list() for _, keys in reads] == [["x/1"], True]


# Sums of states


STATES_OF = st.lists(
    st.tuples(
        st.sampled_from(["drift", "score"]), st.sampled_from(["", "m", "n"]), st.sampled_from(["", "x/1", "x/2"]),
        st.sampled_from(["a", "b"]),
    ),
    max_size=6,
    unique_by=lambda state: state[:3],
)  # fmt: skip
"""Asset, model, passage and version of some states."""


def states(rows: list[tuple[str, str, str, str]]) -> pl.DataFrame:
    named = pl.DataFrame(rows, dict.fromkeys(["asset", "model", "passage", "version"], pl.String), orient="row")
    return named.with_columns(task=pl.lit(""), row_count=1, made_from=pl.lit(""), fingerprint=pl.lit("f"))


@settings(examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    writes=st.lists(
        st.tuples(STATES_OF, st.sampled_from([["asset", *KEYS], ["asset"], ["passage"], []]), st.booleans())
    )
)
def test_sums_follow_every_write_of_states(
    warehouse: Warehouse, writes: list[tuple[list[tuple[str, str, str, str]], list[str], bool]]
) -> None:
    warehouse.write([Replacement(STATES, warehouse.empty(STATES), None)], "run")
    for rows, columns, is_removal in writes:
        written = states(rows)
        partitions = written.select(columns).unique() if columns else None
        added = written.clear() if is_removal else written
        warehouse.write([Replacement(STATES, added, partitions)], "run")
        stored = warehouse.read(STATES, columns=SUMMED)
        assert warehouse.read(SUMS, columns=[*SCHEMA]).equals(changed(warehouse.empty(SUMS), stored.clear(), stored))


def test_sums_that_another_program_made_wrong_are_mended(warehouse: Warehouse) -> None:
    warehouse.write(
        [Replacement(STATES, states([("drift", "m", "x/1", "a"), ("score", "m", "x/1", "a")]), None)], "run"
    )
    right = warehouse.read(SUMS)
    assert warehouse.mend_sums() == []
    wrong = right.drop("run_id", "updated_at").head(1).with_columns(asset=pl.lit("gone"))
    warehouse.write([Replacement(SUMS, wrong, None)], "run")
    assert warehouse.mend_sums() == ["drift", "gone", "score"]
    assert warehouse.read(SUMS, columns=[*SCHEMA]).equals(right.select(*SCHEMA))

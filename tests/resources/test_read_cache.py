"""A warehouse that is kept open answers from memory what it would read from the file."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resources.duckdb_warehouse import DuckDBWarehouse
from resources.read_cache import CAPACITY, MOST_KEYS, ReadCache, query
from resources.warehouse import Replacement, Warehouse
from tests.support import by_hand

VALUES = {"model": ["m", "n"], "passage": ["x/1", "x/2", "y/1"]}
CELLS = pl.DataFrame([*product(*VALUES.values())], [*VALUES], orient="row")


READ: list[str] = []
"""Tables that were read from a file."""


class Counting(DuckDBWarehouse):
    """Notes what it reads from its file."""

    def _read(
        self, table: str, keys: pl.DataFrame | None, columns: Sequence[str] | None, most: int | None
    ) -> pl.DataFrame:
        READ.append(table)
        return super()._read(table, keys, columns, most)


def keys_of(columns: list[str]) -> st.SearchStrategy[pl.DataFrame]:
    rows = st.sampled_from([*product(*(VALUES[column] for column in columns))])
    schema = dict.fromkeys(columns, pl.String)
    return st.sets(rows).map(lambda some: pl.DataFrame(sorted(some), schema, orient="row"))


CHOSEN = st.one_of(st.none(), keys_of(["model"]), keys_of(["passage"]), keys_of(["model", "passage"]))
STEPS = st.lists(st.tuples(CHOSEN, st.booleans(), st.lists(CHOSEN, max_size=4)), max_size=6)


def chosen(rows: pl.DataFrame, keys: pl.DataFrame | None) -> pl.DataFrame:
    return rows if keys is None else rows.join(keys, on=keys.columns, how="semi", maintain_order="left")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_reads_between_writes_return_what_was_written(
    warehouse: Warehouse, steps: list[tuple[pl.DataFrame | None, bool, list[pl.DataFrame | None]]]
) -> None:
    stored = CELLS.clear().with_columns(text=pl.lit(""))
    warehouse.write([Replacement("imported_output", warehouse.empty("imported_output"), None)], "run")
    with warehouse.kept_open():
        for step, (partitions, removed, reads) in enumerate(steps):
            text = pl.lit(str(step))
            written = chosen(CELLS, partitions).clear() if removed else chosen(CELLS, partitions)
            rows = written.with_columns(text=text, file=text, source_hash=text, fingerprint=text)
            warehouse.write([Replacement("imported_output", rows, partitions)], "run")
            kept = stored.clear() if partitions is None else stored.join(partitions, on=partitions.columns, how="anti")
            stored = pl.concat([kept, written.with_columns(text=text)]).sort("model", "passage")
            for keys in [*reads, *reads]:
                columns = ["model", "passage", "text"]
                for found in (
                    warehouse.read("imported_output", keys, columns),
                    warehouse.read("imported_output", keys),
                ):
                    assert found.select(columns).equals(chosen(stored, keys))
                assert warehouse.read("imported_output", keys, columns).columns == columns


def test_what_was_read_is_kept_until_another_program_writes(tmp_path: Path) -> None:
    columns, counting = ("text", "file", "source_hash", "fingerprint"), Counting(path=str(tmp_path / "w.duckdb"))
    rows = CELLS.with_columns(pl.lit("").alias(name) for name in columns)
    counting.write([Replacement("imported_output", rows, None)], "run")
    for text in ("first", "second"):
        with by_hand(counting.path) as connection:
            connection.execute("UPDATE imported_output SET text = ?", [text])
        before = len(READ)
        for _ in range(3):
            assert set(counting.read("imported_output")["text"]) == {text}
        assert len(READ) == before + 1


def test_a_frame_that_a_caller_changes_leaves_later_reads_alone(warehouse: Warehouse) -> None:
    with warehouse.kept_open():
        for _ in range(3):
            rows = warehouse.read("corpus", columns=["corpus"])
            assert rows.columns == ["corpus"]
            rows.insert_column(0, pl.Series("another", [], dtype=pl.String))


def test_the_cache_is_bounded() -> None:
    cache = ReadCache()
    rows = pl.DataFrame({"number": pl.int_range(CAPACITY // 32, eager=True)})
    queries = [query(f"table{i}", None, None, None) for i in range(8)]
    for asked in queries:
        cache.put(asked, rows)
    assert [cache.get(asked) is not None for asked in queries] == [False] * 4 + [True] * 4
    cache.put(queries[0], pl.concat([rows] * 5))
    assert [cache.get(asked) for asked in queries] == [None] * 8
    assert query("table", pl.DataFrame({"key": range(MOST_KEYS + 1)}), None, None) is None

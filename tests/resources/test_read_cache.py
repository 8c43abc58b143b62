"""A warehouse that is kept open answers from memory what it would read from the file."""

import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resources.read_cache import CAPACITY, LARGEST, MOST_KEYS, ReadCache, query
from resources.warehouse import Replacement, Warehouse

CELLS = pl.DataFrame({"model": ["m", "n"]}).join(pl.DataFrame({"passage": ["x/1", "x/2", "y/1"]}), how="cross")


def keys_of(columns: list[str]) -> st.SearchStrategy[pl.DataFrame]:
    rows = st.sampled_from(sorted(CELLS.select(columns).unique().iter_rows()))
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
                found = warehouse.read("imported_output", keys, ["model", "passage", "text"])
                assert found.equals(chosen(stored, keys))


def test_a_frame_that_a_caller_changes_leaves_later_reads_alone(warehouse: Warehouse) -> None:
    with warehouse.kept_open():
        for _ in range(3):
            rows = warehouse.read("corpus", columns=["corpus"])
            assert rows.columns == ["corpus"]
            rows.insert_column(0, pl.Series("another", [], dtype=pl.String))


def test_the_cache_is_bounded() -> None:
    cache = ReadCache()
    rows = pl.DataFrame({"number": pl.Series(range(LARGEST // 8), dtype=pl.Int64)})
    queries = [query(f"table{i}", None, None, None) for i in range(2 * CAPACITY // LARGEST)]
    for asked in queries:
        cache.put(asked, rows)
    kept = [cache.get(asked) is not None for asked in queries]
    assert kept == [False] * (CAPACITY // LARGEST) + [True] * (CAPACITY // LARGEST)
    cache.put(queries[0], pl.concat([rows, rows]))
    assert cache.get(queries[0]) is None
    assert query("table", pl.DataFrame({"key": range(MOST_KEYS + 1)}), None, None) is None

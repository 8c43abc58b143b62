"""What an update costs: from nothing, with nothing stale, after one edited passage, and with one more model.

CPU seconds of this process are printed; the texts are embedded by counting letters and the models answer by rule, so
that everything measured is bookkeeping and statistics. So are the rows that are fetched from the file, not from memory,
by asset and table. Only ratios measured in one run are asserted.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.lineage.survey import Inspection
from resources.duckdb_warehouse import DuckDBWarehouse
from tests.bench.grid import grid
from tests.bench.test_bookkeeping import disk
from tests.support import made_home

pytestmark = pytest.mark.bench

FETCHED: Counter[tuple[str, str]] = Counter()
"""Rows by reader and table. A reader is an asset's run, its check, or a look at its partitions."""


class Counting(DuckDBWarehouse):
    """Counts the rows that it reads from its file."""

    def _read(
        self, table: str, keys: pl.DataFrame | None, columns: Sequence[str] | None, most: int | None
    ) -> pl.DataFrame:
        rows = super()._read(table, keys, columns, most)
        FETCHED[_reader(), table] += len(rows)
        return rows

    def documents(self, tables: Sequence[str]) -> pl.DataFrame:
        """The documents of all corpora with stamps, and their number."""
        rows = super().documents(tables)
        FETCHED[_reader(), "stamps of documents"] += len(rows)
        return rows


def _reader() -> str:
    frame = sys._getframe()
    while frame := frame.f_back:  # type: ignore[assignment]
        match frame.f_locals.get("context"):
            case dg.AssetCheckExecutionContext() as check:
                return str(check.op_execution_context.op_def.name)
            case dg.AssetExecutionContext() as run:
                return str(run.asset_key.to_user_string())
            case Inspection() as look:
                return f"look at {look._asset.key.to_user_string()}"
    return "other"


def cpu_seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def cost(words: str, work: Callable[[], object]) -> float:
    """Do the work, print what it cost and the largest of its reads; return CPU seconds."""
    FETCHED.clear()
    seconds = cpu_seconds(work)
    print(f"\n{words}: {seconds:.1f} CPU s, {FETCHED.total():,} rows fetched; most of them")
    for (reader, table), rows in FETCHED.most_common(30):
        print(f"  {rows:>9,}  {reader}  {table}")
    return seconds


@pytest.mark.large
@pytest.mark.parametrize(("passages", "models"), [(100, 8), (200, 3), (1700, 9), (10000, 10)])
def test_updates_of_a_grid(passages: int, models: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = made_home(monkeypatch, tmp_path)
    with dg.DagsterInstance.get() as instance:
        warehouse = Counting(path=str(home / "variorum.duckdb"))
        definitions = grid(tmp_path / "corpus", home, passages, instance, warehouse)
        instance.add_dynamic_partitions("model", [f"m{i}" for i in range(models)])

        def updated() -> None:
            runs.update(definitions, instance)

        from_nothing = cost(f"{passages} × {models} from nothing", updated)
        cells, dagster = passages * models, disk(home / "dagster")
        nothing_stale = min(cost("nothing stale", updated) for _ in range(2))
        file = tmp_path / "corpus" / "passages.jsonl"
        file.write_text(file.read_text().replace("Sentence 2 is short.", "Sentence 2 is brief."))
        runs.look(definitions, instance)
        one_edit = cost("one edited passage, without the scan", updated)
        instance.add_dynamic_partitions("model", ["another"])
        cost("one more model", updated)
    print(f"Dagster's storage {dagster / 1e6:.1f} MB, {dagster / cells / 1e3:.1f} KB a cell")
    assert nothing_stale < one_edit < from_nothing

"""What Dagster's bookkeeping costs: runs over rows that are current, with our event storage and with the stock one.

Figures are printed beside their targets; only ratios measured in one run are asserted, and only at full size.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest

from benchmark_assets.translation.imports import import_outputs
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.home import PROJECT
from tests.bench.grid import grid, materialize
from tests.support import made_home, run, write_outputs

pytestmark = pytest.mark.bench

STOCK = "telemetry:\n  enabled: false\n"


def disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def size(full: bool) -> int:
    """Passages of the corpus."""
    return 1700 if full else 4


def prepared(place: Path, home: Path, size: int, instance: dg.DagsterInstance) -> tuple[dg.Definitions, list[str]]:
    """The code location on a corpus whose passages are selected; and their keys."""
    definitions = grid(place / "corpus", home, size, instance)
    passages = list(instance.get_dynamic_partitions("passage"))
    run(definitions, instance, "construction", (passages[0], passages[-1]))
    return definitions, passages


def rerun_cost(
    place: Path, size: int, models: int, patch: pytest.MonkeyPatch, instance_yaml: str | None
) -> tuple[float, float]:
    """Seconds and bytes a partition of running rows that are current: planned and materialized events, no work."""
    patch.delenv("DAGSTER_EVENT_BATCH_SIZE", raising=False)
    if instance_yaml:
        (place / "home" / "dagster").mkdir(parents=True)
        (place / "home" / "dagster" / "dagster.yaml").write_text(instance_yaml)
    home = made_home(patch, place)
    with dg.DagsterInstance.get() as instance:
        definitions, passages = prepared(place, home, size, instance)
        names = [f"m{i}" for i in range(models)]
        instance.add_dynamic_partitions("model", names)
        first, last = f"{names[0]}|{passages[0]}", f"{names[-1]}|{passages[-1]}"
        materialize(definitions, instance, first, last, "model_output")
        before, begun = disk(home / "dagster"), time.perf_counter()
        materialize(definitions, instance, first, last, "model_output")
        took, grown = time.perf_counter() - begun, disk(home / "dagster") - before
    return took / (size * models), grown / (size * models)


@pytest.mark.large
def test_a_row_of_passages(size: int, full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, ours_disk = rerun_cost(tmp_path / "ours", size, 1, monkeypatch, None)
    stock, stock_disk = rerun_cost(tmp_path / "stock", size, 1, monkeypatch, STOCK)
    print(f"\n{size:,} partitions: {ours * 1e3:.2f} ms (target 2) and {ours_disk / 1e3:.1f} KB a partition;")
    print(f"  stock storage: {stock * 1e3:.2f} ms and {stock_disk / 1e3:.1f} KB ({stock / ours:.1f} times)")
    assert not full or ours < stock / 4


@pytest.mark.large
def test_several_rows_in_one_run(size: int, full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = 10 if full else 2
    each, each_disk = rerun_cost(tmp_path / "ours", size, models, monkeypatch, None)
    count = size * models
    print(f"\n{count:,} partitions in one run: {each * count:.1f} s (target 40), {each_disk * count / 1e6:.0f} MB")


@pytest.mark.large
def test_one_partition_by_dagsters_command_line(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the shell's point of view, Python's start included."""
    home = made_home(monkeypatch, tmp_path)
    warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    with dg.DagsterInstance.get() as instance:
        definitions, passages = prepared(tmp_path, home, size, instance)
        texts = {passage.removeprefix("bench/"): "A short sentence." for passage in passages}
        import_outputs(warehouse, write_outputs(tmp_path / "m.jsonl", texts), "bench", "m")
        instance.add_dynamic_partitions("model", ["m"])
        run(definitions, instance, "scan")
    key = f"m|{passages[size // 2]}"
    begun = time.perf_counter()
    subprocess.run(
        [str(Path(sys.executable).with_name("dagster")), "asset", "materialize", "-m", "benchmark_assets.definitions",
         "--select", "model_output", "--partition", key],
        cwd=PROJECT, env=dict(os.environ), check=True, capture_output=True,
    )  # fmt: skip
    took = time.perf_counter() - begun
    print(f"\none partition by `dagster asset materialize`: {took:.1f} s (target 6)")
    assert len(warehouse.read("model_output")) == 1


def test_a_look_at_unchanged_passages(full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passages = 4003 if full else 4
    home = made_home(monkeypatch, tmp_path)
    with dg.DagsterInstance.get() as instance:
        definitions = grid(tmp_path / "corpus", home, passages, instance)
        begun = time.perf_counter()
        run(definitions, instance, "scan")
        took = time.perf_counter() - begun
    print(f"\na look at {passages:,} unchanged passages: {took:.2f} s (target 3)")

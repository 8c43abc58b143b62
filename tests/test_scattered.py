"""Failed passages of a row that is long in full: 37 of 1,700."""

import random
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.partitions import GRID
from resources.warehouse import Warehouse
from tests.bench.grid import grid
from tests.support import CORE, run

pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def rooms() -> Sequence[ModuleType]:
    return CORE


def test_scattered_failures_are_mended_by_one_run_that_computes_those_and_no_others(
    home: Path, warehouse: Warehouse, instance: dg.DagsterInstance, tmp_path: Path, full: bool
) -> None:
    size, wrong = (1700, 37) if full else (6, 2)
    definitions = grid(tmp_path / "corpus", home, size, instance)
    instance.add_dynamic_partitions("model", ["m"])
    passages = instance.get_dynamic_partitions("passage")
    failing = sorted(random.Random(37).sample(passages, wrong))
    (home / "failing").write_text("\n".join(failing))
    row = (f"m|{passages[0]}", f"m|{passages[-1]}")
    run(definitions, instance, "references", (passages[0], passages[-1]))
    assert not run(definitions, instance, "translate", row, raise_on_error=False).success
    run(definitions, instance, "score", row)

    keys = [f"m|{passage}" for passage in passages]
    statuses = instance.get_status_by_partition(dg.AssetKey("model_output"), keys, GRID) or {}
    failed = [key for key, status in statuses.items() if status and status.value == "FAILED"]
    assert sorted(failed) == [f"m|{passage}" for passage in failing]
    stored = warehouse.read("model_output").sort("passage")
    assert len(stored) == size - wrong

    (home / "failing").unlink()
    (home / "asked").unlink()
    begun = time.perf_counter()
    run(definitions, instance, "translate", row)
    run(definitions, instance, "score", row)
    print(f"\n{wrong} of {size:,} materialized, outputs and scores, in {time.perf_counter() - begun:.1f} s")
    assert sorted((home / "asked").read_text().split()) == [f"m|{passage}" for passage in failing]
    after = warehouse.read("model_output").sort("passage")
    assert after.filter(~pl.col("passage").is_in(failing)).equals(stored)  # their run id and time included
    for table in ("model_output", "drift_score", "lexical_score"):
        assert len(warehouse.read(table)) == size

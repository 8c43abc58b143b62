"""The long form of test_lineage's failed passages: 37 of a row of 1,700."""

import random
import time
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.partitions import GRID
from resources.warehouse import Warehouse
from tests.bench.grid import grid
from tests.support import run

pytestmark = pytest.mark.proof


def test_37_scattered_failures_are_mended_by_one_run_that_computes_those_37(
    home: Path, warehouse: Warehouse, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    definitions = grid(tmp_path / "corpus", home, 1700, instance)
    instance.add_dynamic_partitions("model", ["m"])
    passages = instance.get_dynamic_partitions("passage")
    failing = sorted(random.Random(37).sample(passages, 37))
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
    assert len(stored) == 1663

    (home / "failing").unlink()
    (home / "asked").unlink()
    begun = time.perf_counter()
    run(definitions, instance, "translate", row)
    run(definitions, instance, "score", row)
    print(f"\n37 of 1,700 outputs and scores materialized in {time.perf_counter() - begun:.1f} s")
    assert sorted((home / "asked").read_text().split()) == [f"m|{passage}" for passage in failing]
    after = warehouse.read("model_output").sort("passage")
    assert after.filter(~pl.col("passage").is_in(failing)).equals(stored)  # their run id and time included
    for table in ("model_output", "drift_score", "lexical_score"):
        assert len(warehouse.read(table)) == 1700

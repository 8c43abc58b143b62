"""Several processes on one warehouse: runs queue, nothing is lost, and readers never block them."""

import sys
from pathlib import Path

import dagster as dg
import pytest

from resources.duckdb_warehouse import DuckDBWarehouse
from resources.warehouse import Warehouse
from tests.automation.test_kills import check_whole, content
from tests.bench.grid import grid
from tests.processes import begin

READER = """
import sys, duckdb
from resources.duckdb_warehouse import DuckDBWarehouse
warehouse = DuckDBWarehouse(path=sys.argv[1])
with duckdb.connect(str(warehouse.snapshot()), read_only=True) as notebook:
    print("open", flush=True)
    while sys.stdin.readline():
        print(notebook.execute("SELECT count(*) FROM model_output").fetchone()[0], flush=True)
"""


@pytest.mark.large
@pytest.mark.proof
def test_two_runs_and_a_notebook_share_a_warehouse(
    home: Path, warehouse: Warehouse, instance: dg.DagsterInstance, tmp_path: Path, full: bool
) -> None:
    size = 40 if full else 4
    grid(tmp_path / "corpus", home, size, instance)
    models = ["a", "b"]
    instance.add_dynamic_partitions("model", models)
    notebook = begin(home, sys.executable, "-c", READER, warehouse.name)
    assert notebook.stdin is not None
    assert notebook.stdout is not None
    assert notebook.stdout.readline() == "open\n"
    runs = [begin(home, sys.executable, "-m", "tests.automation.writer", model) for model in models]
    for run in runs:
        out, err = run.communicate(timeout=120)
        assert out.splitlines()[-1:] == ["done"], err
    notebook.stdin.write("\n")
    notebook.stdin.flush()
    assert notebook.stdout.readline() == "0\n"  # what it opened is what it sees
    notebook.stdin.close()
    assert notebook.wait(20) == 0

    check_whole(home)
    tables = content(home)
    assert len(tables["reference"]) == 2 * size
    for table in ("model_output", "drift_score", "lexical_score"):
        assert tables[table].group_by("model").len().sort("model").rows() == [("a", size), ("b", size)], table
    assert set(tables["leaderboard"].filter(kind="model")["system"]) == {"a", "b"}
    assert {run.status for run in instance.get_runs()} == {dg.DagsterRunStatus.SUCCESS}
    snapshot = DuckDBWarehouse(path=str(warehouse.snapshot()))
    assert snapshot.read("drift_score").equals(warehouse.read("drift_score"))

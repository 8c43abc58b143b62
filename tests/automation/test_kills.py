"""Runs that are killed while they write: the warehouse opens, its rows are whole, and a resumed run ends as if nothing
had happened."""

import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from resources import catalogue
from resources.duckdb_warehouse import DuckDBWarehouse
from tests.bench.grid import grid
from tests.processes import begin
from tests.support import run


def start(home: Path) -> subprocess.Popen[str]:
    """Start a process that updates the home; return when its first run has begun."""
    process = begin(home, sys.executable, "-m", "tests.automation.writer")
    assert process.stdout is not None
    assert process.stdout.readline() in ("begun\n", "done\n")
    return process


def finish(home: Path) -> float:
    """Update the home, undisturbed; return the seconds that it took once it had begun."""
    process = start(home)
    begun = time.monotonic()
    out, err = process.communicate(timeout=240)
    assert out in ("done\n", ""), err
    return time.monotonic() - begun


def content(home: Path) -> dict[str, pl.DataFrame]:
    """All tables, without which run wrote a row and when."""
    warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    with warehouse.consistently():
        return {
            table: warehouse.read(table, columns=columns)
            for table, columns in ((name, list(each.content)) for name, each in catalogue.tables().items())
            # Where its description lies; vectors that no score came to use; which run wrote what; sums.
            if table not in ("corpus", "embedding", "change", "unit_sum")
        }


def check_whole(home: Path) -> None:
    """Every row belongs to a partition that is recorded as made from what the row says; every record has its row."""
    tables = content(home)
    states = tables["materialization"]
    for asset in ("model_output", "drift_score", "lexical_score"):
        own = states.filter(asset=asset).select("model", "passage", "fingerprint")
        assert own.equals(tables[asset].select("model", "passage", "fingerprint")), asset


def lives(prepared: Path, folder: Path, kills: int, dice: random.Random) -> str:
    """Kill a home's runs at random moments, whenever one comes to its end begin a new life; compare each end."""
    shutil.copytree(prepared, folder / "undisturbed", symlinks=True)
    seconds = finish(folder / "undisturbed")
    wanted = content(folder / "undisturbed")
    done, life = 0, 0
    stored: list[tuple[int, ...]] = []
    while done < kills:
        home = folder / f"life{life}"
        shutil.copytree(prepared, home, symlinks=True)
        for _ in range(4):
            if done == kills:
                break
            process = start(home)
            time.sleep(dice.uniform(0, seconds / 3))  # what an earlier one stored is not written again
            process.send_signal(signal.SIGKILL)
            process.wait()
            done += 1
            check_whole(home)
            stored.append(tuple(len(content(home)[name]) for name in ("model_output", "lexical_score", "drift_score")))
        finish(home)
        check_whole(home)
        for table, rows in content(home).items():
            assert rows.equals(wanted[table]), table
        check_instance(home)
        life += 1
    return f"{done} kills in {life} lives of {seconds:.1f} s; outputs and scores that were stored after each: {stored}"


def check_instance(home: Path) -> None:
    """No run is taken to be running, and Dagster knows every partition to be materialized."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DAGSTER_HOME", str(home / "dagster"))
        instance = dg.DagsterInstance.get()
        assert instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])) == []
        rows = content(home)["model_output"]
        keys = {f"{model}|{passage}" for model, passage in rows.select("model", "passage").iter_rows()}
        for asset in ("model_output", "drift_score", "lexical_score"):
            assert instance.get_materialized_partitions(dg.AssetKey(asset)) == keys


@pytest.fixture
def prepared(home: Path, instance: dg.DagsterInstance, tmp_path: Path, full: bool) -> Path:
    """A home with passages whose references are done, and a model that has not been evaluated."""
    definitions = grid(tmp_path / "corpus", home, 1700 if full else 12, instance)
    passages = instance.get_dynamic_partitions("passage")
    run(definitions, instance, "references", (passages[0], passages[-1]))
    instance.add_dynamic_partitions("model", ["m"])
    return home


@pytest.mark.large
@pytest.mark.proof
def test_a_run_that_is_killed_leaves_whole_rows_and_its_resumption_ends_like_an_undisturbed_one(
    prepared: Path, tmp_path: Path, full: bool
) -> None:
    print("\n" + lives(prepared, tmp_path / "lives", 20 if full else 1, random.Random(6)))

"""Homes that follow random sequences equal new ones; what a cut between two stores and retention leave is seen."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from types import ModuleType

import dagster as dg
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.automation.due import due, order
from resources.home import PROJECT
from resources.warehouse import Warehouse
from tests.processes import environment
from tests.provider.server import serve
from tests.support import CONSTRUCTED, PASSAGES, edit_segment, reports, run

BLOCK = 50
"""Number of sequences that a process carries out."""

SMALL = ["14", "198"]
"""Seeds of short sequences that `make test` runs: one changes the warehouse's file, the other begins with a kill."""


@pytest.fixture(scope="module")
def rooms() -> Sequence[ModuleType]:
    return CONSTRUCTED


def copied(copy: Path) -> Path:
    """A copy of the project: sequences change its prompts."""
    for folder in ("benchmark_assets", "resources", "prompts", "warehouse/schema"):
        shutil.copytree(PROJECT / folder, copy / folder)
    for file in ("dagster.yaml", "CITATION.cff", "LICENSE", "constraints.txt"):
        shutil.copy(PROJECT / file, copy)
    return copy


@pytest.mark.proof
@pytest.mark.parametrize(
    "seeds",
    [SMALL, *(pytest.param([str(seed) for seed in range(first, first + BLOCK)], marks=pytest.mark.large)
              for first in range(0, 500, BLOCK))],
    ids=lambda seeds: seeds[0],
)  # fmt: skip
def test_a_home_that_follows_a_random_sequence_equals_a_new_one_and_an_audit_finds_nothing(
    seeds: list[str], tmp_path: Path, full: bool
) -> None:
    processes = (os.cpu_count() or 1) if full else 1
    share = -(-len(seeds) // processes)
    with serve(answer="judge") as judges, serve() as models, ThreadPoolExecutor(processes) as pool:

        def carried_out(process: int) -> subprocess.CompletedProcess[str]:
            folder = tmp_path / str(process)
            path = f"{copied(folder / 'project')}{os.pathsep}{PROJECT}"
            known = environment(
                folder, PYTHONPATH=path, VARIORUM_PLOTS="off", OMP_NUM_THREADS="1", POLARS_MAX_THREADS="1"
            )
            program = "from tests.automation import sequences; sequences.main()"
            command = [sys.executable, "-c", program, str(folder / "sequences"), judges.url, models.url]
            return subprocess.run(
                [*command, *seeds[process * share : (process + 1) * share]],
                cwd=folder, env=known, capture_output=True, text=True, check=False,
            )  # fmt: skip

        for ran in pool.map(carried_out, range(processes)):
            print(ran.stdout)
            assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]


def stale(definitions: dg.Definitions, instance: dg.DagsterInstance) -> dict[str, set[str]]:
    """Reasons for which partitions are stale, by asset."""
    found = {asset.to_user_string(): due(definitions, instance, asset).rows for asset in order(definitions)}
    return {asset: set(rows["reason"]) for asset, rows in found.items() if len(rows)}


@pytest.mark.parametrize("by_update", [False, True], ids=["by hand", "update"])
def test_what_was_committed_and_not_reported_is_stale_until_it_is_reported(
    built: dg.Definitions, home: Path, warehouse: Warehouse, corpus: Path, tmp_path: Path, by_update: bool
) -> None:
    """As after a kill between the commit of a run and its events: those of Dagster are as they were before the run."""
    events, kept = home / "dagster" / "history" / "runs", tmp_path / "events"
    with dg.DagsterInstance.get() as instance:
        runs.update(built, instance)
        edit_segment(corpus, "ben", "doc1:2.1", "The sun is coming up.")
        runs.look(built, instance)
    shutil.copytree(events, kept)
    with dg.DagsterInstance.get() as instance:
        if by_update:
            runs.update(built, instance)
        else:
            run(built, instance, "references", PASSAGES[1])
    rows = warehouse.read("reference")
    shutil.rmtree(events)
    shutil.copytree(kept, events)
    with dg.DagsterInstance.get() as instance:
        before, found = reports(instance), stale(built, instance)
        unreported = {asset for asset, reasons in found.items() if "stored, but not reported" in reasons}
        assert unreported == {"reference", "reference_envelope"}, found
        runs.update(built, instance)
        assert stale(built, instance) == {}
        assert reports(instance)["reference", PASSAGES[1]] == before["reference", PASSAGES[1]] + 1
    assert warehouse.read("reference").equals(rows)


def test_an_update_reads_events_that_retention_would_forget(
    built: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    runs.update(built, instance)
    for _ in range(2):  # the second makes the first one one that is forgotten
        for asset, partition in (("reference", PASSAGES[0]), ("near_duplicate", None)):
            instance.report_runless_asset_event(dg.AssetMaterialization(dg.AssetKey(asset), partition=partition))
    assert stale(built, instance) == {name: {"stored, but not reported"} for name in ("reference", "near_duplicate")}
    runs.update(built, instance, history=timedelta(days=-1))
    assert stale(built, instance) == {}

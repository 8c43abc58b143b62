"""Updates in parts: what a part is, and that parts are carried out by other processes, each once."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dagster as dg
import pytest
import yaml

from benchmark_assets.automation import runs
from benchmark_assets.automation.due import EVERYTHING, PART, Scope, order
from benchmark_assets.automation.server import planning
from benchmark_assets.corpus.registry import register
from benchmark_assets.partitions import dimensions
from benchmark_assets.studies.assets import PAYER
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from resources.home import PROJECT
from resources.processes import PROCESS
from resources.warehouse import Warehouse
from tests.processes import until
from tests.support import write_corpus

CHEAP = Scope(assets=["alignment", "verification", "passage_filter"])
"""One stage, without models, so one part for each corpus: to start a process takes 5 s of a core."""


@pytest.fixture
def instance(home: Path) -> Iterator[dg.DagsterInstance]:
    """An instance that starts each run at once, in a process on this machine: the queue would need the daemon."""
    settings = yaml.safe_load((PROJECT / "dagster.yaml").read_text(encoding="utf-8"))
    settings["run_coordinator"] = {"module": "dagster.core.run_coordinator", "class": "DefaultRunCoordinator"}
    file = home / "dagster" / "dagster.yaml"
    file.unlink()
    file.write_text(yaml.safe_dump(settings), encoding="utf-8")
    with dg.DagsterInstance.get() as each:
        yield each


@pytest.fixture
def scanned(
    tmp_path: Path, definitions: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> dg.Definitions:
    """The code location, with two corpora whose passages are known and nothing else."""
    for name in ("tiny", "small"):
        register(warehouse, write_corpus(tmp_path / name, name=name))
    runs.look(definitions, instance)
    return definitions


def part_runs(instance: dg.DagsterInstance) -> list[dg.DagsterRun]:
    return list(instance.get_runs(dg.RunsFilter(job_name=PART)))


def test_stages_hold_each_asset_once_and_are_cut_in_one_way(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    stages = planning.stages(definitions, EVERYTHING)
    assert [asset for stage in stages for asset in stage.assets] == order(definitions)
    for stage in stages:
        cuts = {tuple(dimensions(graph.get(asset).partitions_def)) for asset in stage.assets}
        assert all(("model" in cut) == (stage.by == "model") for cut in cuts)
        assert (() in cuts) == (stage.by == "")


def test_each_corpus_is_carried_out_once_by_a_process_of_its_own(
    scanned: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    assert planning.carry_out(scanned, instance, CHEAP, {PAYER: "one"}) == (["alignment 6"], [])
    finished = part_runs(instance)
    assert {run.status for run in finished} == {dg.DagsterRunStatus.SUCCESS}
    assert len({run.tags[PROCESS] for run in finished}) == len(finished) == len({*map(config, finished)})
    assert len(warehouse.read("materialization").filter(asset="passage_filter")) == 6

    assert planning.carry_out(scanned, instance, CHEAP, {PAYER: "two"}) == ([], [])
    assert len(part_runs(instance)) == len(finished)


def config(run: dg.DagsterRun) -> str:
    return str(run.run_config["ops"])


def hold(process: int, warehouse: Warehouse) -> None:
    """Stop a process at a moment at which it does not lock the warehouse, which others would wait for."""
    impatient = DuckDBWarehouse(path=warehouse.name, wait_seconds=1)
    while True:
        os.kill(process, signal.SIGSTOP)
        try:
            with impatient.exclusively():
                impatient.read("corpus")
                return
        except BadInput:
            os.kill(process, signal.SIGCONT)
            time.sleep(0.2)


@pytest.mark.large
@pytest.mark.proof
def test_a_part_whose_process_is_killed_is_carried_out_again_while_others_go_on(
    scanned: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, tmp_path: Path
) -> None:
    def processes() -> list[int]:
        """Ids of the processes that carry out parts, the last one first."""
        tags = [run.tags[PROCESS] for run in part_runs(instance) if PROCESS in run.tags]
        return [int(tag.split()[0].rpartition(":")[2]) for tag in tags]

    (log := tmp_path / "nothing.log").touch()
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(planning.carry_out, scanned, instance, CHEAP, {PAYER: "one"})
        until(lambda: len(processes()) == 1, 120, log)
        [held] = processes()
        hold(held, warehouse)
        until(lambda: len(processes()) == 2, 120, log)
        os.kill(processes()[0], signal.SIGKILL)
        until(lambda: len(processes()) == 3, 120, log)
        os.kill(held, signal.SIGCONT)
        assert done.result(timeout=300)[1] == []
    statuses = [run.status for run in part_runs(instance)]
    assert sorted(status.value for status in statuses) == ["FAILURE", "SUCCESS", "SUCCESS"]
    assert len(warehouse.read("materialization").filter(asset="passage_filter")) == 6


@pytest.mark.large
@pytest.mark.proof
def test_two_planners_start_no_part_twice(scanned: dg.Definitions, instance: dg.DagsterInstance) -> None:
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(planning.carry_out, scanned, instance, CHEAP, {PAYER: "one"})
        time.sleep(1)
        second = pool.submit(planning.carry_out, scanned, instance, CHEAP, {PAYER: "two"})
        assert first.result(timeout=300)[1] == second.result(timeout=300)[1] == []
    finished = part_runs(instance)
    assert len({*map(config, finished)}) == len(finished)

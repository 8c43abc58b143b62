"""The daemon with its sensors: a model that appears in the registry is evaluated, though its process be killed."""

import os
import signal
import time
from collections import Counter
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from resources.duckdb_warehouse import DuckDBWarehouse
from resources.processes import PROCESS
from tests.automation.dagster_ui import serving
from tests.processes import free_port, until, variorum
from tests.provider.server import Server
from tests.support import PASSAGES, write_corpus, write_registry


@pytest.fixture
def registry(tmp_path: Path, server: Server) -> Path:
    """A registry without models; the home of the test holds the small corpus."""
    path = tmp_path / "models.yaml"
    write_registry(path, server.url)
    corpus = write_corpus(tmp_path / "corpus")
    variorum(tmp_path / "home", "import", "corpus", str(corpus), VARIORUM_MODELS=str(path))
    return path


def ranked(home: Path, model: str) -> bool:
    """Whether a model is on the leaderboard."""
    warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    return len(warehouse.read("leaderboard").filter(system=model)) == 1


def all_runs(home: Path) -> list[dg.DagsterRun]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DAGSTER_HOME", str(home / "dagster"))
        return list(dg.DagsterInstance.get().get_runs())


def evaluations(home: Path) -> list[dg.DagsterRun]:
    return [run for run in all_runs(home) if run.job_name == "evaluate"]


@pytest.mark.large
@pytest.mark.proof
def test_a_model_that_appears_in_the_registry_appears_on_the_leaderboard_though_its_run_be_killed(
    registry: Path, tmp_path: Path, server: Server
) -> None:
    home = tmp_path / "home"
    warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    with serving(home, free_port(), VARIORUM_MODELS=str(registry)) as ui:
        ui.switch_on("new_models")
        until(lambda: "SKIPPED" in ui.ticks("new_models"), 60, home / "ui.log")
        assert server.log() == []
        begun = time.monotonic()
        write_registry(registry, server.url, "newcomer")
        until(lambda: ranked(home, "newcomer") and not ui.busy(), 150, home / "ui.log")
        print(f"\nfrom registry to leaderboard: {time.monotonic() - begun:.0f} s")
        asked = Counter(key for request in server.log() for key in request.keys)
        assert asked == Counter(passage.removeprefix("tiny/") for passage in PASSAGES)
        before = {run.run_id: run for run in all_runs(home)}
        assert {run.status for run in before.values()} == {dg.DagsterRunStatus.SUCCESS}
        stages = Counter(key.to_user_string() for run in before.values() for key in run.asset_selection or [])
        assert {stages[name] for name in ("model_output", "drift_score", "lexical_score", "model_summary")} == {1}
        assert warehouse.read("model_output")["model"].unique().to_list() == ["newcomer"]
        assert warehouse.read("leaderboard").filter(pl.col("kind") == "model")["passages"].to_list() == [3]

        server.configure(latency=5)
        server.clear()
        write_registry(registry, server.url, "newcomer", "another")
        until(lambda: server.in_flight() == 3, 120, home / "ui.log")
        (tag,) = {run.tags[PROCESS] for run in evaluations(home) if run.run_id not in before}
        os.kill(int(tag.split()[0].rpartition(":")[2]), signal.SIGKILL)
        until(lambda: ranked(home, "another") and not ui.busy(), 240, home / "ui.log")
    asked = Counter(key for request in server.log() for key in request.keys)
    assert set(asked.values()) == {2}  # what was in flight is asked again
    statuses = Counter(run.status.value for run in evaluations(home) if run.run_id not in before)
    assert statuses == {"FAILURE": 1, "SUCCESS": 1}

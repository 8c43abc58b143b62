"""The daemon with the sensor: a model that appears in the registry is evaluated, and asked for each passage once."""

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from resources.home import PROJECT
from resources.warehouse import Warehouse
from tests.automation.dagster_ui import environment, free_port, serving, until
from tests.provider.server import Server
from tests.support import PASSAGES, write_corpus, write_registry


@pytest.mark.proof
def test_a_model_that_appears_in_the_registry_appears_on_the_leaderboard(tmp_path: Path, server: Server) -> None:
    home, registry = tmp_path / "home", tmp_path / "models.yaml"
    write_registry(registry, server.url)
    corpus = write_corpus(tmp_path / "corpus")
    models = {"VARIORUM_MODELS": str(registry)}
    subprocess.run(
        [str(Path(sys.executable).with_name("variorum")), "import", "corpus", str(corpus)],
        cwd=PROJECT, env=environment(home, **models), check=True, capture_output=True,
    )  # fmt: skip
    warehouse = Warehouse(path=str(home / "variorum.duckdb"))

    def ranked(model: str) -> bool:
        return len(warehouse.read("leaderboard").filter(system=model)) == 1

    with serving(home, free_port(), **models) as ui:
        ui.switch_on("new_models")
        until(lambda: "SKIPPED" in ui.ticks("new_models"), 60, home / "ui.log")
        assert server.log() == []
        begun = time.monotonic()
        write_registry(registry, server.url, "newcomer")
        until(lambda: ranked("newcomer") and not ui.busy(), 150, home / "ui.log")
        print(f"\nfrom registry to leaderboard: {time.monotonic() - begun:.0f} s")
    asked = Counter(key for request in server.log() for key in request.keys)
    assert asked == Counter(passage.removeprefix("tiny/") for passage in PASSAGES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DAGSTER_HOME", str(home / "dagster"))
        runs = dg.DagsterInstance.get().get_runs()
    assert {run.status for run in runs} == {dg.DagsterRunStatus.SUCCESS}
    stages = Counter(key.to_user_string() for run in runs for key in run.asset_selection or [])
    assert {stages[name] for name in ("model_output", "drift_score", "lexical_score", "model_summary")} == {1}
    assert warehouse.read("model_output")["model"].unique().to_list() == ["newcomer"]
    assert warehouse.read("leaderboard").filter(pl.col("kind") == "model")["passages"].to_list() == [3]

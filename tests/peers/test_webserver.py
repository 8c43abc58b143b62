"""Dagster's webserver on a home: a backfill over GraphQL, and the webserver with --read-only.

Not here: the pages of `variorum ui` in a browser (automation.test_ui).
"""

import shutil
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import sync_playwright

from resources.duckdb_warehouse import DuckDBWarehouse
from resources.home import PROJECT
from tests.automation.dagster_ui import serving
from tests.processes import CHROMIUM, free_port, until

PEER = "dagster-webserver"
pytestmark = pytest.mark.peer
BACKFILL = """
mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) {
  __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }
"""
STATUS = """
query($id: String!) { partitionBackfillOrError(backfillId: $id) {
  ... on PartitionBackfill { status error { message } assetBackfillData { assetBackfillStatuses {
    ... on AssetPartitionsStatusCounts { numPartitionsTargeted numPartitionsMaterialized } } } } } }
"""
DELETE = 'mutation { wipeAssets(assetPartitionRanges: [{assetKey: {path: ["drift_score"]}}]) { __typename } }'


@pytest.fixture(autouse=True)
def named(record_property: Callable[[str, object], None]) -> None:
    record_property("version", version("dagster-webserver"))


@pytest.fixture
def copied(demo: Path, tmp_path: Path) -> Path:
    """A copy of the demo's home."""
    shutil.copytree(demo, tmp_path / "home", symlinks=True)
    return tmp_path / "home"


def test_a_backfill_is_carried_out(copied: Path, record_property: Callable[[str, object], None]) -> None:
    """A backfill of all partitions of four assets over GraphQL. Some passages are not selected, and the models
    translate one of the two corpora."""
    names = ["reference", "reference_envelope", "model_output", "drift_score"]
    selection = {"assetSelection": [{"path": [name]} for name in names], "allPartitions": True}
    before = sizes(copied, names)
    with serving(copied, free_port()) as ui:
        launched = ui.ask(BACKFILL, p=selection)["launchPartitionBackfill"]
        assert launched["__typename"] == "LaunchBackfillSuccess", launched

        def backfill() -> dict[str, Any]:
            found: dict[str, Any] = ui.ask(STATUS, id=launched["backfillId"])["partitionBackfillOrError"]
            assert found["status"] not in ("FAILED", "COMPLETED_FAILED", "CANCELED"), found
            return found

        until(lambda: backfill()["status"] == "COMPLETED_SUCCESS", 300, copied / "ui.log")
        counts = backfill()["assetBackfillData"]["assetBackfillStatuses"]
    assert sizes(copied, names) == before
    targeted = sum(asset["numPartitionsTargeted"] for asset in counts)
    assert targeted == sum(asset["numPartitionsMaterialized"] for asset in counts)
    assert targeted > sum(before)
    record_property("result", f"completed for {targeted} partitions; {sum(before)} apply")


def sizes(home: Path, assets: list[str]) -> list[int]:
    """Numbers of partitions of assets that have rows."""
    states = DuckDBWarehouse(path=str(home / "variorum.duckdb")).read("materialization", columns=["asset"])
    return [len(states.filter(asset=asset)) for asset in assets]


@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt-get install chromium")
def test_a_read_only_webserver_shows_and_changes_nothing(
    copied: Path, record_property: Callable[[str, object], None]
) -> None:
    """`dagster-webserver --read-only`: a backfill and a deletion over GraphQL, and the page of an asset in Chromium."""
    selection = {"assetSelection": [{"path": ["reference_envelope"]}], "partitionNames": ["sample/ep1:1"]}
    port, program = free_port(), str(Path(sys.executable).with_name("dagster-webserver"))
    workspace = str(PROJECT / "workspace.yaml")
    with serving(copied, port, program, "--read-only", "-w", workspace, "-p", str(port)) as ui:
        assert ui.ask(BACKFILL, p=selection)["launchPartitionBackfill"]["__typename"] == "UnauthorizedError"
        assert ui.ask(DELETE)["wipeAssets"]["__typename"] == "UnauthorizedError"
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1500, "height": 950})
            for asset in ("leaderboard", "reference_envelope"):
                page.goto(f"{ui.url}/assets/{asset}")
                page.get_by_text(asset).first.wait_for(timeout=60_000)
            browser.close()
    record_property("result", "both refused; pages of two assets load")

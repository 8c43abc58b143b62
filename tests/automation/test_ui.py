"""Dagster's UI in a browser without a window, on a home in which an editor has just changed a text; in full one that
has the demo, too.

`make screenshots` keeps what the pages look like, in docs/screenshots.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, sync_playwright

from benchmark_assets.reporting.graph import VIEWS, View
from resources.duckdb_warehouse import DuckDBWarehouse
from tests.automation.dagster_ui import Ui, serving
from tests.processes import CHROMIUM, free_port, here, until, variorum
from tests.support import PASSAGES, copy_finished, edit_segment, write_corpus

SCREENSHOTS = os.environ.get("VARIORUM_SCREENSHOTS")


pytestmark = [
    pytest.mark.proof,
    pytest.mark.large,
    pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def edited(finished: Path, tmp_path_factory: pytest.TempPathFactory, full: bool) -> Path:
    """A folder with the finished home, of whose corpus one segment was edited."""
    folder = tmp_path_factory.mktemp("ui")
    home, corpus = folder / "home", write_corpus(folder / "corpus")
    copy_finished(finished, home, corpus)
    if full:
        variorum(home, "demo", VARIORUM_PLOTS="on")  # draws cards and plots
    edit_segment(corpus, "ben", "doc1:2.1", "The sun is coming up.")
    here(home, "scan")
    return folder


@pytest.fixture(scope="module")
def ui(edited: Path) -> Iterator[Ui]:
    with serving(edited / "home", free_port()) as each:
        yield each


@pytest.fixture
def page(ui: Ui) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        each = browser.new_page(viewport={"width": 1500, "height": 950})
        each.set_default_timeout(60_000)
        yield each
        browser.close()


def keep(page: Page, name: str) -> None:
    """Keep what the page looks like, if that was asked for."""
    page.wait_for_timeout(2500)  # lines of a graph are drawn a little after its nodes
    if SCREENSHOTS:
        page.screenshot(path=f"{SCREENSHOTS}/{name}.png")


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.title)
def test_a_view_that_the_start_page_links_shows_the_names_of_its_assets(ui: Ui, page: Page, view: View) -> None:
    page.goto(ui.url)
    page.get_by_role("link", name=view.title).click()
    for asset in view.assets:  # Dagster draws only the nodes that the window has room for
        page.get_by_text(asset, exact=True).last.wait_for()
    if view is VIEWS[1]:
        keep(page, "assets")


@pytest.mark.parametrize(
    ("asset", "partition", "fragment"),
    [
        ("reference", "sample/ep1:1", "passage=ep1:1"),
        ("drift_score", "free|sample/ep1:1", "passage=ep1:1&model=free"),
    ],
)
def test_a_partition_leads_to_its_passage_in_the_reader_by_one_click(
    asset: str, partition: str, fragment: str, ui: Ui, page: Page
) -> None:
    page.goto(f"{ui.url}/assets/{asset}?view=partitions&partition={quote(partition)}")
    link = page.get_by_role("link", name=f"/readers/sample/#{fragment}").first
    link.wait_for()
    if asset == "drift_score":
        keep(page, "output")
    with page.expect_popup() as opened:
        link.click()
    reader = opened.value
    reader.get_by_role("heading", name="ep1:1").wait_for()
    reader.get_by_text("Decimus Calvius Marco fratri salutem dicit.").wait_for()
    assert reader.url.endswith(f"/#{fragment}")
    assert reader.get_by_role("heading", name="free").is_visible()
    assert reader.get_by_role("heading", name="literal").is_visible() == (asset == "reference")
    if asset == "drift_score":
        keep(reader, "reader")


def test_a_partition_is_materialized_by_clicking_and_its_row_changes(ui: Ui, page: Page, edited: Path) -> None:
    warehouse = DuckDBWarehouse(path=str(edited / "home" / "variorum.duckdb"))
    before = warehouse.read("reference")
    page.goto(f"{ui.url}/assets/reference?view=partitions&partition={PASSAGES[1]}")
    page.get_by_text(PASSAGES[1]).first.wait_for()
    keep(page, "partition")
    page.get_by_role("button", name="Materialize", exact=False).first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text(PASSAGES[1]).first.wait_for()
    keep(page, "materialize")
    dialog.get_by_role("button", name="Launch 1 run").click()

    def changed() -> bool:
        return not warehouse.read("reference").equals(before)

    until(lambda: changed() and not ui.busy(), 60, edited / "home" / "ui.log")
    after = warehouse.read("reference")
    rows = after.join(before, on=after.columns, how="anti", nulls_equal=True)
    assert set(rows["passage"]) == {PASSAGES[1]}
    assert rows.filter(translator="ben")["text"].to_list() == ["The sun is coming up."]


@pytest.mark.parametrize(
    ("path", "words", "name"),
    [
        ("/assets/leaderboard", "leaderboard", "leaderboard"),
        ("/assets/drift_score?view=partitions", "drift_score", "grid"),
        ("/assets/model_summary?view=checks", "sound", "checks"),
        ("/runs", "Success", "runs"),
        ("/automation", "new_models", "automation"),
    ],
)
def test_the_main_pages_open(path: str, words: str, name: str, ui: Ui, page: Page) -> None:
    page.goto(f"{ui.url}{path}")
    page.get_by_text(words, exact=False).first.wait_for()
    keep(page, name)


def test_the_report_is_drawn(edited: Path, page: Page, full: bool) -> None:
    here(edited / "home", "report", str(edited / "report.html"), "sample" if full else "tiny")
    page.set_viewport_size({"width": 1100, "height": 1200})
    page.goto((edited / "report.html").as_uri())
    page.get_by_role("heading", name="Leaderboard").wait_for()
    keep(page, "report")

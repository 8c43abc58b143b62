"""What a person sees of aggregates in Dagster's UI without the report: a table and a plot of every asset.

The proof looks at the pages themselves, on the demo's home, in a browser without a window.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster import serialize_value
from playwright.sync_api import Page, sync_playwright

from benchmark_assets.partitions import MODEL
from benchmark_assets.reporting import drawings
from resources import catalogue
from resources.warehouse import Warehouse
from tests.automation.dagster_ui import Ui, serving
from tests.processes import CHROMIUM, free_port, variorum
from tests.support import MODELS, SPARSE, run

pytestmark = pytest.mark.usefixtures("drawn")


WITHOUT = {
    "near_duplicate": "names pairs of passages, and the funnel counts them",
    "worked_example": "names outputs to read, which `variorum report --examples` shows",
    "report": "is a page of plots itself",
    "sentinel": "holds single replies, and the report card counts them",
    "judge_verdict": "repeats the verdicts of the report cards",
    "judge_report": "has verdicts and their reasons in words",
    "annotator_consistency": "has a few rates of each annotator",
    "annotation_agreement": "has a few statistics of each pair of annotators",
    "reproduction": "is a list of single numbers with reasons",
    "published_summary": "repeats published numbers, which the paper's own figures show",
    "vital_sign": "has rates of different meanings side by side",
    "validation": "has figures of different meanings side by side",
}
"""Aggregates that have no plot, and why."""

BY_OTHERS = {"task_score", "selection"}
"""Assets with other partitions that have a plot."""

MOST = 60_000
"""Bytes of an event with everything attached to it."""


def aggregates(definitions: dg.Definitions) -> set[str]:
    """Assets without partitions, and those by model."""
    return {
        key.to_user_string()
        for asset in definitions.resolve_asset_graph().assets_defs
        for key in asset.keys
        if asset.partitions_def in (None, MODEL)
    }


def latest(instance: dg.DagsterInstance, asset: str) -> dict[str, object]:
    """Values of the metadata of the event that the asset's page shows; none where there is no event."""
    event = instance.get_latest_materialization_event(dg.AssetKey(asset))
    found = event.asset_materialization if event else None
    return {name: value.value for name, value in found.metadata.items()} if found else {}


def has_table(metadata: dict[str, object]) -> bool:
    return any(name != "plot" and "| --- |" in str(value) for name, value in metadata.items())


def test_every_aggregate_is_drawn_or_says_why_not(definitions: dg.Definitions) -> None:
    assert aggregates(definitions) - set(WITHOUT) | BY_OTHERS == {*drawings.OF_CORPORA, *drawings.OF_ALL}


def test_every_aggregate_of_a_finished_home_shows_a_table_and_a_plot_of_what_it_has(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    drawn = set()
    for asset in sorted(aggregates(built) - {"report"}):
        metadata = latest(instance, asset)
        if not metadata:
            assert asset in SPARSE, asset
            continue
        assert has_table(metadata), asset
        charts = list(drawings.drawn(warehouse, asset))
        plot = str(metadata.get("plot", ""))
        assert plot.count("](data:image/svg+xml,") == min(len(charts), 1 + plot.count("\n\n**")), asset
        if charts:
            drawn.add(asset)
            assert next(iter(metadata)) == "plot"
        event = instance.get_latest_materialization_event(dg.AssetKey(asset))
        assert event is not None
        assert len(serialize_value(event)) < MOST, asset
    assert drawn >= {"leaderboard", "model_summary", "metric_rank", "translator_agreement",
                     "system_comparison", "slice_summary"}  # fmt: skip


def test_a_run_over_several_models_stores_the_plot_once(built: dg.Definitions, instance: dg.DagsterInstance) -> None:
    before = len(instance.fetch_materializations(dg.AssetKey("model_summary"), limit=100).records)
    assert run(built, instance, "summary", (MODELS[0], MODELS[-1])).success
    records = instance.fetch_materializations(dg.AssetKey("model_summary"), limit=100).records
    own = [record.asset_materialization for record in records[: len(records) - before]]
    assert len(own) == len(MODELS)
    assert ["plot" in each.metadata for each in own if each] == [True, False]  # latest first
    assert all("summary" in each.metadata for each in own if each)


SMALL = {"leaderboard", "model_summary"}
DEMO = {
    "leaderboard", "model_summary", "metric_rank", "translator_agreement", "system_comparison", "slice_summary",
    "audit_outcome", "error_estimate", "judge_calibration", "metric_agreement", "model_call",
}  # fmt: skip


@pytest.fixture(scope="module")
def ui(finished: Path, tmp_path_factory: pytest.TempPathFactory, full: bool) -> Iterator[Ui]:
    """The UI on the home of the demo, or the finished one."""
    home: Path = tmp_path_factory.mktemp("metadata") / "home"
    if full:
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("VARIORUM_PLOTS", raising=False)
            variorum(home, "demo")
    else:
        shutil.copytree(finished / "home", home, symlinks=True)
    with serving(home, free_port()) as each:
        yield each


@pytest.fixture(params=["light", pytest.param("dark", marks=pytest.mark.large)])
def page(request: pytest.FixtureRequest) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        each = browser.new_page(viewport={"width": 1500, "height": 950}, color_scheme=request.param)
        each.set_default_timeout(60_000)
        yield each
        browser.close()


@pytest.mark.proof
@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt-get install chromium")
def test_the_pages_of_aggregates_show_their_plots(ui: Ui, page: Page, full: bool) -> None:
    for asset in sorted(DEMO if full else SMALL):
        page.goto(f"{ui.url}/assets/{asset}")
        page.get_by_text(re.compile(r"^plot$")).first.wait_for()
        page.get_by_text("[Show Markdown]").first.click()
        image = page.get_by_role("dialog").locator('img[src^="data:image/svg+xml"]')
        image.first.wait_for()
        sizes = image.evaluate_all("all => all.map(each => [each.naturalWidth, each.naturalHeight, each.width])")
        assert sizes, asset
        assert all(width > 100 and height > 50 and shown > 100 for width, height, shown in sizes), (asset, sizes)


def test_every_asset_shows_the_columns_of_its_table_with_type_and_meaning(definitions: dg.Definitions) -> None:
    graph = definitions.resolve_asset_graph()
    for key in graph.get_all_asset_keys():
        schema = graph.get(key).metadata["dagster/column_schema"]
        assert isinstance(schema, dg.TableSchema)
        declared = catalogue.table(key.to_user_string()).columns.values()
        assert [(each.name, each.type, each.description) for each in schema.columns] == [
            (column.name, column.type, column.meaning) for column in declared
        ]


@pytest.mark.parametrize("asset", ["source_text", "segmented_reference", "reference", "drift_score", "leaderboard"])
def test_every_materialization_says_how_many_rows_it_has(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, asset: str
) -> None:
    records = instance.fetch_materializations(dg.AssetKey(asset), limit=1000).records
    rows = warehouse.read(asset)
    assert records
    for record in records:
        materialization = record.asset_materialization
        assert materialization
        dims = ["model", "passage"] if "model" in rows.columns else ["passage"]
        keys = dict(zip(dims, (record.partition_key or "").split("|"), strict=True)) if record.partition_key else {}
        own = rows.filter(**keys)
        assert materialization.metadata["dagster/row_count"].value == len(own)

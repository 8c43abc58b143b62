"""The report as a file and as an asset."""

import json
import re
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.partitions import GRID
from benchmark_assets.reporting.assets import report
from benchmark_assets.reporting.report import ASSETS
from benchmark_assets.reporting.report.writing import write
from resources.errors import BadInput
from resources.folders import PRIVATE
from resources.warehouse import Warehouse
from tests.reporting.report.made import fill, made, put


def test_numbers_link_to_the_reader_from_where_the_report_lies(tmp_path: Path) -> None:
    warehouse = made(tmp_path, ["alpha"], 2)
    (tmp_path / "a reader").mkdir()
    with pytest.raises(BadInput, match="variorum reader"):
        write(warehouse, tmp_path / "out" / "report.html", readers=[tmp_path / "a reader"])
    _reader(tmp_path / "a reader", "made")
    html = write(warehouse, tmp_path / "out" / "report.html", ["made"], [tmp_path / "a reader"])
    assert 'href="../a%20reader/index.html#corpus=made&amp;model=alpha' in html
    assert "Costs" not in html
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8") == html
    with pytest.raises(BadInput, match="is not a corpus"):
        write(warehouse, tmp_path / "report.html", ["other"])


@pytest.mark.proof
@pytest.mark.large
def test_a_reader_is_linked_from_the_numbers_of_its_own_corpus_also_a_private_one(tmp_path: Path) -> None:
    warehouse = made(tmp_path, ["alpha"], 2)
    own = warehouse.read("leaderboard").drop("run_id", "updated_at")
    both = pl.concat([own, own.with_columns(corpus=pl.lit("other"))])
    put(warehouse, "leaderboard", both)
    put(warehouse, "corpus", [{"corpus": each, "audit": "{}"} for each in ("made", "other")])
    _reader(tmp_path / "one" / PRIVATE, "made")
    _reader(tmp_path / "two", "other")
    html = write(warehouse, tmp_path / "report.html", readers=[tmp_path / "one", tmp_path / "two"])
    links = set(re.findall(r'href="([^"#]+)#corpus=(\w+)', html))
    assert links == {(f"one/{PRIVATE}/index.html", "made"), ("two/index.html", "other")}
    alone = write(warehouse, tmp_path / "report.html", readers=[tmp_path / "one"])
    assert set(re.findall(r"#corpus=(\w+)", alone)) == {"made"}
    with pytest.raises(BadInput, match="reader of made"):
        write(warehouse, tmp_path / "report.html", ["other"], [tmp_path / "one"])
    _reader(tmp_path / "blind", "made", annotator="mori")
    with pytest.raises(BadInput, match="is not a reader of a corpus"):
        write(warehouse, tmp_path / "report.html", readers=[tmp_path / "blind"])


def _reader(folder: Path, corpus: str, **more: str) -> None:
    """What a report looks at of a reader."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").touch()
    (folder / "index.js").write_text(f"READER.index({json.dumps({'corpus': corpus, **more})});\n")


@pytest.fixture
def graph(warehouse: Warehouse) -> dg.Definitions:
    """The report alone, over assets that other fixtures materialize."""
    others = [dg.AssetSpec(name, partitions_def=GRID if name == "drift_score" else None) for name in ASSETS]
    return dg.Definitions(assets=[report, *others], resources={"warehouse": warehouse})


def test_the_asset_keeps_the_page_in_the_home_and_its_version_tells_what_it_says(
    graph: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, home: Path
) -> None:
    _materialize(graph, instance)
    assert not (home / "reports").exists()
    fill(warehouse, ["alpha"], 2, without=["understanding_board", "anchor_score", "error_estimate"])  # never made
    metadata = _materialize(graph, instance)
    file = home / "reports" / "report.html"
    assert metadata["path"].value == str(file)
    assert metadata["size, bytes"].value == len(file.read_bytes())
    first = warehouse.read("report").row(0, named=True)
    assert first["file"] == "reports/report.html"
    _touch(warehouse, "another version")
    _materialize(graph, instance)
    second = warehouse.read("report").row(0, named=True)
    assert second["content"] != first["content"]
    assert second["updated_at"] > first["updated_at"]
    _materialize(graph, instance)
    assert warehouse.read("report").row(0, named=True) == second
    file.unlink()
    _materialize(graph, instance)
    assert file.is_file()


def _materialize(graph: dg.Definitions, instance: dg.DagsterInstance) -> dict[str, dg.MetadataValue]:
    job = graph.resolve_implicit_global_asset_job_def()
    job.execute_in_process(instance=instance, asset_selection=[dg.AssetKey("report")])
    records = instance.fetch_materializations(dg.AssetKey("report"), limit=1).records
    event = records[0].asset_materialization if records else None
    return dict(event.metadata) if event else {}


def _touch(warehouse: Warehouse, version: str) -> None:
    """What a run of the leaderboard does that comes out otherwise."""
    states = warehouse.read("materialization").drop("run_id", "updated_at")
    rows = [{**row, "version": version} if row["asset"] == "leaderboard" else row for row in states.to_dicts()]
    put(warehouse, "materialization", rows)

"""Published scores: their files, their aggregates, and where they never are."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmark_assets.benchmarks.published_scores import read
from benchmark_assets.benchmarks.recipe import PublishedScores
from benchmark_assets.reporting.published import summary
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from tests.benchmarks.mirror import serving
from tests.benchmarks.recipes import publish, write_recipe
from tests.processes import here

ENTRY: dict[str, Any] = {
    "corpus": "tiny", "source": "texts", "files": {"maker/one": "one.json", "maker/two": "two.json"},
    "columns": {"drift": "normalized_drift", "closest_reference": "nearest"}, "translators": ["ann", "ben"],
    "embedder": "theirs", "overall": "overall.csv",
}  # fmt: skip
ONE = [
    {"passage_id": "doc1:1", "sim_best": 0.9, "normalized_drift": 1.0, "nearest": "ann", "length_ratio": 1.2},
    {"passage_id": "doc9:9", "sim_best": 0.7, "normalized_drift": 3.0, "nearest": "ben", "length_ratio": 1.0},
]
TWO = [{"passage_id": "doc1:1", "sim_best": 0.5, "normalized_drift": 4.0, "nearest": "ann", "length_ratio": 1.0}]
OVERALL = "model,passages,sim_best,chrf\nmaker/one,2,0.8,60\nmaker/two,1,0.5,61\nmaker/three,2,0.6,62\n"


def write(folder: Path, **files: object) -> Path:
    """Write the files of the two systems and the table over all passages; `files` has other contents by stem."""
    for name, content in {"one": ONE, "two": TWO, **files}.items():
        if name != "overall":
            (folder / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    (folder / "overall.csv").write_text(str(files.get("overall", OVERALL)))
    return folder


def rows(folder: Path, **files: object) -> pl.DataFrame:
    (folder / "sources/texts").mkdir(parents=True)
    write(folder / "sources/texts", **files)
    write(folder, **files)
    frame = read(folder, PublishedScores.model_validate(ENTRY), "CC0-1.0")
    return frame.with_columns(benchmark=pl.lit("small"))


def test_scores_are_summarized_by_their_basis(tmp_path: Path) -> None:
    found = summary(rows(tmp_path))
    values = {row[:4]: row[4:] for row in found.select(
        "basis", "system", "measure", "translator", "value", "rank", "systems", "passages").rows()}  # fmt: skip
    assert values["passages", "maker/one", "sim_best", ""] == (pytest.approx(0.8), 1, 2, 2)
    assert values["passages", "maker/one", "outlier_rate", ""] == (0.5, 1, 2, 2)
    assert values["passages", "maker/two", "length_offset", ""] == (0, 1, 2, 1)
    assert values["passages", "maker/one", "share", "ben"] == (0.5, None, 2, 2)
    assert values["all passages", "maker/three", "chrf", ""] == (62, 1, 3, 2)
    assert values["all passages", "maker/three", "sim_best", ""] == (0.6, 2, 3, 2)
    assert set(found["embedder"]) == {"theirs"}


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"one": "{"}, "is not an array of JSON objects .Invalid JSON"),
        ({"one": {"doc1:1": 1}}, "is not an array of JSON objects"),
        ({"one": [ONE[0] | {"normalized_drift": "high"}]}, "row 1: normalized_drift: Input should be a valid number"),
        ({"one": [{"passage_id": "doc1:1"}]}, "row 1: lacks 'passage_id' or 'sim_best'"),
        ({"one": [ONE[0] | {"nearest": "cleo"}]}, "row 1: 'cleo' is not one of the translators"),
        ({"two": TWO * 2}, "doc1:1: occurs twice"),
        ({"overall": "model,passages\nmaker/one,2\n"}, "row 1: lacks 'model' or 'sim_best'"),
    ],
)
def test_a_faulty_file_is_named(files: dict[str, object], problem: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=problem):
        rows(tmp_path, **files)


def test_published_scores_are_no_outputs(tmp_path: Path) -> None:
    with serving(publish(tmp_path / "published")) as mirror:
        write(tmp_path / "published")
        recipe = write_recipe(tmp_path / "recipe", tmp_path / "published", scores=[ENTRY])
        (recipe / "overall.csv").write_text(OVERALL)
        here(tmp_path / "home", "add", str(recipe), "--no-update", "--base", mirror.url)
    warehouse = DuckDBWarehouse(path=str(tmp_path / "home" / "variorum.duckdb"))
    assert warehouse.read("published_output").is_empty()
    scores = warehouse.read("published_score")
    assert set(scores["model"]) == {"maker/one", "maker/two", "maker/three"}
    assert set(scores["benchmark"]) == {"small"}

"""A recipe is written from a warehouse, and gives the same benchmark in another home."""

import json
from pathlib import Path

import pytest

from benchmark_assets.benchmarks.recipe import read
from resources.duckdb_warehouse import DuckDBWarehouse
from tests.benchmarks.mirror import serving
from tests.benchmarks.recipes import COMMIT, publish, write_recipe
from tests.processes import here
from tests.understanding.conftest import FORM_LINES, FORMS, write_task

COMPARED = {
    "source_text": ["passage", "text"], "reference": ["passage", "translator", "text"],
    "model_output": ["model", "passage", "text"], "task_sample": ["task", "split", "sample", "texts", "label"],
    "leaderboard": ["corpus", "kind", "system", "rank", "sim_best", "drift", "chrf", "bleu", "signature"],
    "task_chance": ["task", "baseline", "score"],
}  # fmt: skip


def content(home: Path) -> dict[str, list[tuple[object, ...]]]:
    warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    with warehouse.kept_open():
        return {table: warehouse.read(table, columns=columns).rows() for table, columns in COMPARED.items()}


def test_a_written_recipe_gives_equal_passages_and_scores(tmp_path: Path) -> None:
    """Of a benchmark with files from a repository and from a folder, a published system, and a task."""
    with serving(publish(tmp_path / "published")) as mirror:
        texts = {name: f"The text of {name}." for name in ("doc1:1", "doc1:2", "doc2:1", "doc9:1")}
        (tmp_path / "published/outputs.json").write_text(json.dumps({"translations": texts}))
        outputs = {"source": "texts", "file": "outputs.json", "model": "maker/one", "corpus": "tiny"}
        recipe = write_recipe(tmp_path / "recipe", tmp_path / "published", outputs=[outputs | {"absent": ["doc9:1"]}])
        here(tmp_path / "first", "add", str(recipe), "--accept", "--no-update", "--base", mirror.url)
        form = write_task(tmp_path / "tasks", FORMS, FORM_LINES)
        here(tmp_path / "first", "import", "tasks", str(form), "--root", str(tmp_path / "tasks"))
        here(tmp_path / "first", "update")

        into = tmp_path / "written"
        said = here(tmp_path / "first", "new", "benchmark", "mine", "--into", str(into)).stdout
        assert f"from people/texts at {COMMIT[:7]}" in said
        assert "from a folder of the user's" in said
        written = read(into)
        assert {name: source.source for name, source in written.recipe.sources.items()} == {
            "tiny": "github", "tiny-2": "github", "form": "folder",
        }  # fmt: skip
        assert written.recipe.outputs[0].absent == ("doc9:1",)
        readme = (into / "README.md").read_text()
        assert "- tiny.yaml: 3 passages, " in readme
        assert "| ann |" in readme
        assert (
            "already exists" in here(tmp_path / "first", "new", "benchmark", "mine", "--into", str(into), code=1).stderr
        )

        folder = f"form={tmp_path / 'tasks'}"
        again = here(tmp_path / "second", "add", str(into), "--base", mirror.url, "--folder", folder).stdout
    assert "as in the recipe" not in again
    assert content(tmp_path / "second") == content(tmp_path / "first")


@pytest.mark.parametrize(("option", "name"), [("--corpus", "other"), ("--task", "OTHER")])
def test_an_unknown_part_is_refused(option: str, name: str, tmp_path: Path) -> None:
    into = ["--into", str(tmp_path / "written")]
    said = here(tmp_path / "home", "new", "benchmark", "mine", option, name, *into, code=1).stderr
    assert f"{name}: no such corpus or task" in said
    assert not (tmp_path / "written").exists()

"""A recipe is written from a warehouse, and gives the same benchmark in another home."""

import json
from pathlib import Path

import pytest

from benchmark_assets.benchmarks.recipe import read
from resources.duckdb_warehouse import DuckDBWarehouse
from tests.benchmarks.mirror import serving
from tests.benchmarks.recipes import COMMIT, change, digests, publish, write_recipe
from tests.benchmarks.test_adding import with_folder
from tests.pairwise.test_base_sets import ITEMS, write_set
from tests.processes import here
from tests.understanding.conftest import FORM_LINES, FORMS, write_task

COMPARED = {
    "source_text": ["passage", "text"], "reference": ["passage", "translator", "text"],
    "model_output": ["model", "passage", "text"], "task_sample": ["task", "split", "sample", "texts", "label"],
    "leaderboard": ["corpus", "kind", "system", "rank", "sim_best", "drift", "chrf", "bleu", "signature"],
    "task_chance": ["task", "baseline", "score"], "base_set": ["base_set", "content"],
    "anchor_score": ["base_set", "slice", "anchor", "items", "matches", "wins", "lt", "lt_low", "lt_high"],
}  # fmt: skip


def content(home: Path) -> dict[str, list[tuple[object, ...]]]:
    warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    with warehouse.kept_open():
        return {table: warehouse.read(table, columns=columns).rows() for table, columns in COMPARED.items()}


@pytest.mark.proof
@pytest.mark.large
def test_a_written_recipe_gives_equal_passages_and_scores(tmp_path: Path) -> None:
    """Of a benchmark with files from a repository and from a folder, a published system, a base set, and a task."""
    with serving(publish(tmp_path / "published")) as mirror:
        texts = {name: f"The text of {name}." for name in ("doc1:1", "doc1:2", "doc2:1", "doc9:1")}
        (tmp_path / "published/outputs.json").write_text(json.dumps({"translations": texts}))
        outputs = {"source": "texts", "file": "outputs.json", "model": "weak", "corpus": "tiny"}
        recipe = write_recipe(
            tmp_path / "recipe", tmp_path / "published", outputs=[outputs | {"absent": ["doc9:1"]}],
            base_sets=[{"description": "set/baseset.yaml"}],
        )  # fmt: skip
        write_set(recipe / "set")
        write_task(tmp_path / "tasks", FORMS, FORM_LINES)
        write_task(recipe, FORMS, {})
        (recipe / "own.sha256").write_text(digests(tmp_path / "tasks", list(FORMS["files"].values())))
        task = {"description": "form.yaml", "samples": 2, "characters": 32, "source": "own"}
        change(with_folder(recipe, "own", files="own.sha256") / "recipe.yaml", {"tasks": [task]})
        add = ["add", str(recipe), "--accept", "--base", mirror.url, "--folder", f"own={tmp_path / 'tasks'}"]
        here(tmp_path / "first", *add)

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
        assert "- base_sets/tiny-set@1.0.0/baseset.yaml: 3 anchors on 3 items, 18 judgments" in readme
        assert "| ann |" in readme
        assert (
            "already exists" in here(tmp_path / "first", "new", "benchmark", "mine", "--into", str(into), code=1).stderr
        )

        folder = f"form={tmp_path / 'tasks'}"
        again = here(tmp_path / "second", "add", str(into), "--base", mirror.url, "--folder", folder).stdout
    assert "as in the recipe" not in again
    assert content(tmp_path / "second") == content(tmp_path / "first")
    assert content(tmp_path / "second")["anchor_score"]


def test_a_recipe_can_be_written_before_anything_is_computed(tmp_path: Path) -> None:
    """It lacks only tasks, of whose samples the recipe states the number."""
    with serving(publish(tmp_path / "published")) as mirror:
        write_task(tmp_path / "published", FORMS, FORM_LINES)
        task = {"description": "form.yaml", "samples": 2, "characters": 32, "source": "texts"}
        base_sets = [{"description": "set/baseset.yaml"}]
        recipe = write_recipe(tmp_path / "recipe", tmp_path / "published", tasks=[task], base_sets=base_sets)
        write_task(recipe, FORMS, {})
        write_set(recipe / "set")
        here(tmp_path / "first", "add", str(recipe), "--no-update", "--base", mirror.url)
        new = ["new", "benchmark", "mine", "--into", str(tmp_path / "written")]
        said = here(tmp_path / "first", *new, code=1).stderr
        assert "task FORM: its samples have not been read; run `variorum update`" in said
        assert not (tmp_path / "written").exists()
        here(tmp_path / "first", *new, "--corpus", "tiny")
        assert "already exists" in here(tmp_path / "first", *new, code=1).stderr
        here(tmp_path / "second", "add", str(tmp_path / "written"), "--no-update", "--base", mirror.url)
    first = content(tmp_path / "first")
    assert first["source_text"]
    assert first["base_set"]
    assert content(tmp_path / "second") == first


def test_base_sets_with_restricted_texts_or_items_of_other_corpora_are_left_out(tmp_path: Path) -> None:
    home, anchors = tmp_path / "home", ("one", "two")
    with serving(publish(tmp_path / "published")) as mirror:
        recipe = write_recipe(tmp_path / "recipe", tmp_path / "published")
        content = json.loads((recipe / "tiny.yaml").read_text())
        content["references"]["ann"]["restricted"] = True
        change(recipe / "tiny.yaml", content)
        (recipe / "twin.yaml").write_text(json.dumps(content | {"name": "twin"}))
        (corpus,) = json.loads((recipe / "recipe.yaml").read_text())["corpora"]
        change(recipe / "recipe.yaml", {"corpora": [corpus, corpus | {"description": "twin.yaml"}]})
        here(home, "add", str(recipe), "--no-update", "--base", mirror.url)
    items = [*ITEMS[:2], ITEMS[2] | {"passage": "twin/doc2:1"}]
    places = [item["passage"] for item in items]
    outputs = [{"anchor": name, "passage": place, "text": f"By {name}."} for name in anchors for place in places]
    judgments = [{"passage": place, "first": "one", "second": "two", "winner": "one"} for place in places]
    write_set(tmp_path / "people")
    write_set(tmp_path / "both", outputs, judgments, name="both", anchors=anchors, items=items)
    of_tiny = outputs[:2] + outputs[3:5], judgments[:2]
    write_set(tmp_path / "marked", *of_tiny, name="marked", anchors=anchors, items=items[:2], restricted=["two"])
    write_set(tmp_path / "open", *of_tiny, name="open", anchors=anchors, items=items[:2])
    for name in ("people", "both", "marked", "open"):
        here(home, "import", "baseset", str(tmp_path / name))
    into = tmp_path / "written"
    said = here(home, "new", "benchmark", "mine", "--corpus", "tiny", "--into", str(into)).stdout
    assert "left out, base set tiny-set@1.0.0: it has restricted texts of translator:ann\n" in said
    assert "left out, base set marked@1.0.0: it has restricted texts of two\n" in said
    assert "left out, base set both@1.0.0: it has items of twin, which the recipe lacks\n" in said
    assert [path.name for path in (into / "base_sets").iterdir()] == ["open@1.0.0"]
    (tmp_path / "open" / "outputs.jsonl").write_text("")
    again = ["new", "benchmark", "again", "--corpus", "tiny", "--into", str(tmp_path / "again")]
    assert "its content has changed" in here(home, *again, code=1).stderr
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize(("option", "name"), [("--corpus", "other"), ("--task", "OTHER")])
def test_an_unknown_part_is_refused(option: str, name: str, tmp_path: Path) -> None:
    into = ["--into", str(tmp_path / "written")]
    said = here(tmp_path / "home", "new", "benchmark", "mine", option, name, *into, code=1).stderr
    assert f"{name}: no such corpus or task" in said
    assert not (tmp_path / "written").exists()

"""Every shipped recipe gives the passages, coverage, doubts and distances that the table states."""

import os
from pathlib import Path

import pytest

from benchmark_assets.benchmarks.recipe import read, shipped
from resources.duckdb_warehouse import DuckDBWarehouse
from tests.benchmarks.expected import NONE, found, recipes, rows
from tests.benchmarks.mirror import MIRROR, published, serving
from tests.benchmarks.recipes import folders, reachable
from tests.processes import here

LICENCES = ("CC BY", "CC0", "public domain", "free")


def test_the_table_has_every_corpus_of_every_shipped_recipe_with_its_size() -> None:
    known = {(row.recipe, row.corpus): row for row in rows()}
    declared = {
        (name, recipe.corpora[corpus.description].name): str(corpus.passages)
        for name, recipe in ((name, read(folder)) for name, folder in shipped().items())
        for corpus in recipe.recipe.corpora
    }
    assert {key for key in known if key[1] != NONE} == declared.keys()
    assert {name for name, _ in known} == set(shipped())
    assert len(shipped()) == 30
    assert {key: known[key].passages for key in declared} == declared


@pytest.mark.parametrize("name", recipes("mirror"))
def test_a_recipe_from_public_repositories_states_its_files_and_two_translators(name: str) -> None:
    recipe = read(shipped()[name])
    assert all(source.terms and source.licence.startswith(LICENCES) for source in recipe.recipe.sources.values())
    for corpus in recipe.corpora.values():
        assert len(corpus.references) >= 2
        assert corpus.target_language == "en"
        for text in corpus.texts.values():
            if text.sha256:
                source, _, path = str(text.files).partition("/")
                assert recipe.downloads[source].sha256[path] == text.sha256


@pytest.mark.realdata
@pytest.mark.proof
def test_a_recipe_gives_what_the_table_states(tmp_path: Path, realdata: Path, full: bool) -> None:
    """Of the recipes whose files are here: the small form adds one, and embeds nothing."""
    places = ("data", "mirror") if os.environ.get(MIRROR) else ("data",)
    names = recipes(*places) if full else ["civil-war"]
    differences = []
    with serving(published(realdata)) as mirror:
        for name in names:
            home, recipe = tmp_path / "homes" / name, reachable(name, tmp_path / name, mirror)
            add = ["add", str(recipe), "--accept", "--no-update", "--base", mirror.url]
            here(home, *add, *folders(name, realdata))
            warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
            for row in (row for row in rows() if row.recipe == name):
                expected = row if full else row._replace(distance=NONE)
                with warehouse.kept_open():
                    differences += [(expected, other) for other in [found(warehouse, expected)] if other != expected]
    print(f"\n{len(names)} of {len(shipped())} recipes were added; the files of the others need {MIRROR}")
    assert not differences

"""The reader of recipes: what it accepts, and what it refuses with the file, the key and the remedy."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark_assets.benchmarks.recipe import read, shipped
from resources.errors import BadInput
from tests.benchmarks.recipes import change, publish, write_recipe


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    publish(tmp_path / "published")
    return write_recipe(tmp_path / "recipe", tmp_path / "published")


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_recipe_is_valid_and_explained(name: str) -> None:
    recipe = read(shipped()[name])
    assert recipe.recipe.name == name
    assert "README.md" in recipe.files


def test_a_recipe_changes_its_hash_with_any_of_its_files(recipe: Path) -> None:
    before = read(recipe).content
    (recipe / ".git").mkdir()
    (recipe / ".git" / "index").write_bytes(b"\x00")
    assert read(recipe).content == before
    (recipe / "README.md").write_text("What it is.")
    assert before != read(recipe).content != ""


def nothing(recipe: Path) -> None:
    """The change is in recipe.yaml alone."""


def write(name: str, content: str) -> Callable[[Path], object]:
    return lambda recipe: (recipe / name).write_text(content)


def bomb(recipe: Path) -> None:
    """Write nine levels of references, which would be a billion words if they were expanded."""
    levels = "\n".join(f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]" for at in range(1, 10))
    (recipe / "tiny.yaml").write_text(f"a0: &a0 [{', '.join('x' * 10)}]\n{levels}\nreferences: *a9\n")


def hidden(recipe: Path) -> None:
    (recipe / ".texts.sha256").symlink_to("/etc/passwd")


def link(recipe: Path) -> None:
    (recipe / "passwd.txt").symlink_to("/etc/passwd")


SOURCE = {
    "repository": "people/texts", "commit": "a" * 40, "files": "texts.sha256", "licence": "CC0-1.0", "terms": "Any.",
}  # fmt: skip


FOLDER = {
    "source": "folder", "files": "texts.sha256", "licence": "CC0-1.0", "terms": "Any.", "how": "By post.",
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "also", "key", "words"),
    [
        ({"endpoints": {"mine": {"url": "https://example.org"}}}, nothing, "endpoints", "extra inputs"),
        ({"sources": {"texts": SOURCE | {"base": "https://example.org"}}}, nothing, "sources.texts.base", "extra"),
        ({"sources": {"texts": SOURCE | {"commit": "main"}}}, nothing, "sources.texts", "pattern"),
        ({"sources": {"texts": SOURCE | {"commit": ""}}}, nothing, "sources.texts", "source github needs"),
        ({"sources": {"texts": SOURCE | {"files": ""}}}, nothing, "sources.texts", "sha-256 of each file"),
        ({"sources": {"texts": SOURCE | {"files": "../x.sha256"}}}, nothing, "sources.texts.files", "outside"),
        ({"sources": {"texts": SOURCE | {"files": "y.sha256"}}}, nothing, "sources.texts.files", "no file"),
        ({"sources": {"texts": SOURCE | {"source": "dhammatalks"}}}, nothing, "sources.texts", "can be pinned"),
        (
            {"sources": {"texts": SOURCE | {"source": "mine", "required": False, "files": ""}}}, nothing,
            "sources.texts.source", "no known publisher",
        ),
        ({"sources": {"texts": FOLDER | {"how": ""}}}, nothing, "sources.texts", "`how` must say"),
        ({"sources": {"texts": FOLDER | {"files": ""}}}, nothing, "sources.texts", "nothing pins"),
        ({"sources": {"texts": FOLDER | {"commit": "a" * 40}}}, nothing, "sources.texts", "has `licence`, `files`"),
        ({"sources": {"texts": SOURCE | {"how": "By post."}}}, nothing, "sources.texts", "`source: folder` only"),
        ({}, write("texts.sha256", f"{'a' * 64}  ../x\n"), "line 1", "outside the folder"),
        ({}, write("numbers.yaml", "tables: []\n"), "tables", "at least 1 item"),
        ({}, write("setup.py", "print()"), "", "is not a declaration"),
        ({}, link, "", "is a link"),
        ({"sources": {"texts": SOURCE | {"files": ".texts.sha256"}}}, hidden, "sources.texts.files", "is hidden"),
        ({}, write("numbers.yaml", "x" * 2**20 + "x"), "", "is larger than 1 MB"),
        ({}, write("tiny.yaml", "name: !!python/object/apply:os.getcwd []\n"), "line 1", "is not YAML"),
        ({}, write("tiny.yaml", "[" * 10_000), "", "is not YAML"),
        ({}, bomb, "references", "valid dictionary"),
        (
            {}, lambda r: change(r / "tiny.yaml", {"source": {"language": "la", "edition": "../x", "licence": "any"}}),
            "source.edition", "leads out",
        ),
        ({}, write("texts.sha256", "abc  x\n"), "line 1", "two spaces"),
        ({}, lambda r: change(r / "tiny.yaml", {"root": "../elsewhere"}), "root", "outside the recipe's folder"),
        ({}, lambda r: change(r / "tiny.yaml", {"root": "/etc"}), "root", "outside the recipe's folder"),
        ({}, lambda r: change(r / "tiny.yaml", {"corrections": "../c.jsonl"}), "corrections", "outside"),
        ({}, lambda r: change(r / "tiny.yaml", {"api_key": "secret"}), "api_key", "extra inputs"),
        (
            {}, lambda r: change(r / "tiny.yaml", {"downloads": [{"source": "dhammatalks", "texts": ["mn1"]}]}),
            "downloads", "belong to the recipe",
        ),
        (
            {"corpora": [{"description": "tiny.yaml", "passages": 3, "characters": 9, "sources": ["mor"]}]}, nothing,
            "corpora.0.sources", "is not a source of the recipe",
        ),
        (
            {"outputs": [{"source": "texts", "file": "o.json", "model": "m", "corpus": "tin"}]}, nothing,
            "outputs.0.corpus", "is not a corpus of the recipe",
        ),
    ],
)  # fmt: skip
def test_a_faulty_recipe_is_refused_with_file_key_and_remedy(
    recipe: Path, changes: dict[str, Any], also: Callable[[Path], object], key: str, words: str
) -> None:
    change(recipe / "recipe.yaml", changes)
    also(recipe)
    with pytest.raises(BadInput) as raised:
        read(recipe)
    faults = [fault for fault in raised.value.faults if words in str(fault)]
    assert faults, raised.value
    assert faults[0].key.startswith(key)
    assert faults[0].where.startswith(str(recipe))
    assert faults[0].remedy

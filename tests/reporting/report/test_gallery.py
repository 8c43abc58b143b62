"""The gallery of added benchmarks, as exhibits and as Markdown."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmark_assets.reporting.report.display import Display
from benchmark_assets.reporting.report.gallery import gallery
from benchmark_assets.reporting.report.writing import write_gallery
from resources.errors import BadInput
from resources.warehouse import Warehouse
from tests.reporting.report.made import NEED, SECRET, TERMS, benchmark, made


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    folder = tmp_path_factory.mktemp("made")
    own = made(folder, ["alpha", "beta"], 2)
    benchmark(own, folder / "recipe")
    with own.kept_open():
        yield own


@pytest.fixture(scope="module")
def exhibits(warehouse: Warehouse) -> dict[str, Display]:
    (part,) = gallery(warehouse)
    assert part.title == "small"
    return {each.title: each for each in part.exhibits}


def column(exhibit: Display, heading: str) -> list[str]:
    (found,) = [each for each in exhibit.columns if each.heading == heading]
    return [cell.text for cell in found.cells]


def test_a_benchmark_has_its_sizes_terms_tables_and_what_is_missing(exhibits: dict[str, Display]) -> None:
    about = exhibits["Corpora and tasks"]
    assert about.words == (
        "A small benchmark. Version 2, recipe fedcba98. Paper: Mori, Small Benchmarks. Version 1 was added before, "
        "with older; its results are kept."
    )
    assert column(about, "name")[0] == "made"
    assert column(about, "translators")[0] == "ann, ben, cleo"
    assert column(exhibits["Sources"], "terms") == [TERMS, TERMS]
    assert column(exhibits["Sources"], "state") == ["required", "optional, left out"]
    published = exhibits["Published numbers"]
    assert published.words.startswith("3 printed numbers: 1 recomputed, 1 from printed counts, 1 not recomputed")
    assert column(published, "recomputed and equal") == column(published, "follows from printed counts") == ["1"]
    assert column(exhibits["What is missing"], "how to obtain it") == [NEED["how"]]
    assert {"Mean scores", "LT against anchors@1.0.0"} <= exhibits.keys()


def test_published_systems_are_marked_and_other_prompts_are_apart(exhibits: dict[str, Display]) -> None:
    board, apart = exhibits["Leaderboard, made"], exhibits["Leaderboard, kept apart, made"]
    assert sorted(column(board, "system")) == ["alpha (published)"]
    assert sorted(column(exhibits["Translators, made"], "system")) == ["ann", "ben", "cleo"]
    assert column(apart, "system") == ["beta"]
    assert apart.words.startswith("Not comparable with the other rows: prompt translate v3 instead of small's.")


def test_published_scores_are_apart_with_their_embedder(exhibits: dict[str, Display]) -> None:
    published = exhibits["Means of published scores, made"]
    words = (
        "Not comparable with our scores: published with small, of made, computed from published scores of passages, "
        "similarity by theirs."
    )
    assert published.words == words
    assert [column(published, name) for name in ("system", "similarity", "chrF++")] == [
        ["gamma", "alpha"], ["0.900", "0.800"], ["–", "60.000"],
    ]  # fmt: skip


def test_the_markdown_has_the_same_tables_and_no_text(warehouse: Warehouse, tmp_path: Path) -> None:
    text = write_gallery(warehouse, tmp_path / "gallery.md")
    assert text == (tmp_path / "gallery.md").read_text(encoding="utf-8")
    assert "\n## small\n\n### Corpora and tasks\n\nA small benchmark." in text
    assert "| alpha (published) | model |" in text
    assert f"| {NEED['what']} | {NEED['why']} | {NEED['how']} |" in text
    assert SECRET not in text


def test_parts_without_scores_or_files_are_named(tmp_path: Path) -> None:
    own = made(tmp_path, ["alpha"], 1)
    benchmark(own, tmp_path / "recipe", corpora=["closed"], tasks=[])
    text = write_gallery(own, tmp_path / "gallery.md")
    assert "`variorum evaluate MODEL --on small` adds a model" in text
    assert "\n| name |\n| --- |\n| closed |\n" in text
    benchmark(own, tmp_path / "other", corpora=[], tasks=[])
    text = write_gallery(own, tmp_path / "gallery.md")
    assert "Its corpora and tasks were left out, because a source is missing.\n\n### Sources" in text


def test_a_warehouse_without_benchmarks_has_no_gallery(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="run `variorum add NAME`"):
        write_gallery(made(tmp_path, ["alpha"], 1), tmp_path / "gallery.md")

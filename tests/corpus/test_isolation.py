"""A fault concerns its corpus, and a home its own files: other corpora, and homes at other places, do not change."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import current, register, registered
from benchmark_assets.references.glossary import literary
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput, RunFailedError
from resources.warehouse import Warehouse
from tests.corpus.support import describe, edit, write_lines
from tests.support import CONSTRUCTED, write_corpus

LINE = {"passage_id": "d:1", "lang": "la", "source": "Mus currit.", "references": {"ann": "A mouse runs."}}

FULL = [pytest.mark.large, pytest.mark.proof]


@pytest.fixture(scope="module")
def rooms() -> Sequence[ModuleType]:
    return CONSTRUCTED


def lines(folder: Path, *records: Mapping[str, object] | str) -> Path:
    """Write a corpus of JSON lines, named after its folder; return its description."""
    folder.mkdir(exist_ok=True)
    write_lines(folder / "texts.jsonl", records)
    return describe(folder / f"{folder.name}.yaml", "jsonl", Path("texts.jsonl"), ["ann"])


def passages(warehouse: Warehouse) -> list[str]:
    return warehouse.read("source_text")["passage"].to_list()


def test_a_faulty_first_import_into_an_empty_warehouse_names_every_fault(
    definitions: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, tmp_path: Path
) -> None:
    register(warehouse, lines(tmp_path / "a", LINE | {"reference": {}}, "{", LINE | {"source": ""}))
    with pytest.raises(RunFailedError) as failure:
        runs.take_in(definitions, instance, "a")
    first, *faults = str(failure.value).splitlines()
    assert first.startswith("faults in the corpora: 3. ")
    keys = ["line 1 d:1 reference", "line 2 column 2", "line 3 d:1"]
    assert [fault.split(": ")[:2] for fault in faults] == [[str(tmp_path / "a/texts.jsonl"), key] for key in keys]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("{", id="broken"),
        pytest.param('{"passage_id": ' + "[" * 100_000, id="deep", marks=FULL),
        pytest.param('{"passage_id": ' + "9" * 10_000 + "}", id="long", marks=FULL),
    ],
)
def test_a_corpus_is_imported_and_scanned_whatever_is_wrong_with_another(
    definitions: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, tmp_path: Path, content: str
) -> None:
    register(warehouse, lines(tmp_path / "a", LINE))
    runs.look(definitions, instance)
    (tmp_path / "a/texts.jsonl").write_text(content)
    good = register(warehouse, lines(tmp_path / "b", LINE))
    runs.take_in(definitions, instance, "b")
    runs.look(definitions, instance, ["b"])
    assert good.name == "b"
    assert passages(warehouse) == ["a/d:1", "b/d:1"]
    write_lines(tmp_path / "b/texts.jsonl", [LINE, LINE | {"passage_id": "d:2"}])
    with pytest.raises(RunFailedError, match=rf"faults in the corpora: 1\..*{tmp_path / 'a/texts.jsonl'}: line 1"):
        runs.look(definitions, instance)
    assert passages(warehouse) == ["a/d:1", "b/d:1", "b/d:2"]


def test_every_fault_of_a_description_and_of_its_files_is_reported_at_once(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    path = lines(tmp_path / "a", LINE | {"reference": {}}, LINE | {"passage_id": "d:2", "source": ""})
    terms = {"language": "en", "licence": "CC0-1.0"}
    edit(path, {
        "references": {"ann": terms | {"lisence": "x"}, "ben": terms | {"language": "de", "files": "x"}},
        "filters": {"references": 3, "min_characters": 0}, "target": "en", "corrections": "none.jsonl", "nmae": "a",
    })  # fmt: skip
    with pytest.raises(BadInput) as caught:
        register(warehouse, path)
    keys = [(Path(fault.where).name, fault.key) for fault in caught.value.faults]
    assert keys == [
        ("a.yaml", "references.ann.lisence"), ("a.yaml", "filters.min_characters"), ("a.yaml", "nmae"),
        ("a.yaml", "references"), ("a.yaml", "target"), ("a.yaml", "references.ben.files"),
        ("a.yaml", "filters.references"), ("none.jsonl", ""),
        ("texts.jsonl", "line 1 d:1 reference"), ("texts.jsonl", "line 2 d:2 source"),
    ]  # fmt: skip
    assert str(caught.value).count("\n") == len(keys) - 1
    assert warehouse.read("corpus").is_empty()


# Homes that are moved


def moved(monkeypatch: pytest.MonkeyPatch, home: Path, to: Path) -> Warehouse:
    """The warehouse of a home that was copied with everything in its folder."""
    monkeypatch.setenv("VARIORUM_HOME", str(to))
    monkeypatch.setenv("DAGSTER_HOME", str(to / "dagster"))
    return DuckDBWarehouse(path=str(to / "variorum.duckdb"))


@pytest.mark.parametrize("inside", [True, False], ids=["inside", "beside"])
def test_a_copied_home_reads_the_files_that_were_copied_with_it(
    home: Path, warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    place = (home if inside else home.parent) / "texts"
    register(warehouse, write_corpus(place))
    stored = warehouse.read("corpus")["description"].to_list()
    assert stored == ["texts/corpus.yaml" if inside else str(place / "corpus.yaml")]
    world = tmp_path / "another/world"
    shutil.copytree(home.parent, world, symlinks=True, ignore=shutil.ignore_patterns("another"))
    copy = moved(monkeypatch, home, world / home.name)
    there = world / place.relative_to(home.parent)
    assert current(copy, "tiny").root == there
    edit(there / "corpus.yaml", {"target": "en", "references": {}})
    assert current(copy, "tiny").references == {}
    assert set(current(warehouse, "tiny").references) == {"ann", "ben", "cleo"}
    assert register(copy, there / "corpus.yaml").root == there
    shutil.rmtree(there)
    (fault,) = registered(copy)
    if inside:  # it does not go back to the old place
        assert isinstance(fault, BadInput)
        assert fault.where == str(there / "corpus.yaml")


def test_a_home_that_moves_alone_keeps_the_files_that_stay(
    home: Path, warehouse: Warehouse, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(warehouse, corpus)
    (tmp_path / "deep/down").mkdir(parents=True)
    os.rename(home, tmp_path / "deep/down/home")
    copy = moved(monkeypatch, home, tmp_path / "deep/down/home")
    assert current(copy, "tiny").root == corpus.parent


def test_a_glossary_follows_the_description(
    home: Path, warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_corpus(home / "texts")
    edit(path, {"literary": {"human": "ann", "glossary": "terms/terms.csv"}})
    register(warehouse, path)
    assert json.loads(warehouse.read("corpus")["literary"].item())["glossary"] == "terms/terms.csv"
    assert literary(warehouse)["tiny"].glossary == home / "texts/terms/terms.csv"
    shutil.copytree(home, tmp_path / "elsewhere", symlinks=True)
    copy = moved(monkeypatch, home, tmp_path / "elsewhere")
    assert literary(copy)["tiny"].glossary == tmp_path / "elsewhere/texts/terms/terms.csv"


def test_asides_of_segments_are_stored_and_removed_with_their_files(
    definitions: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path
) -> None:
    note = corpus.parent / "comment/en/ann/doc1_comment-en-ann.json"
    note.parent.mkdir(parents=True)
    note.write_text('{"doc1:1.1": "A common mouse.", "doc1:2.1": "As ever."}')
    edit(corpus.parent / "root/la/test/doc2_root-la-test.json", {"doc2:0.1": "De dicto"})
    register(warehouse, corpus)
    runs.look(definitions, instance)
    columns = ["document", "translator", "segment_id", "kind", "text"]
    rows = warehouse.read("aside")
    assert rows.select(columns).rows() == [
        ("doc1", "ann", "doc1:1.1", "note", "A common mouse."), ("doc1", "ann", "doc1:2.1", "note", "As ever."),
        ("doc2", "", "doc2:0.1", "heading", "De dicto"),
    ]  # fmt: skip
    sources = warehouse.read("source_text")
    note.write_text('{"doc1:2.1": "As ever."}')
    runs.look(definitions, instance)
    after = warehouse.read("aside")
    assert after["segment_id"].to_list() == ["doc1:2.1", "doc2:0.1"]
    heading = pl.col("document") == "doc2"
    assert after.filter(heading).equals(rows.filter(heading))  # with its time
    assert warehouse.read("source_text").equals(sources)
    note.unlink()
    runs.look(definitions, instance)
    assert warehouse.read("aside")["document"].to_list() == ["doc2"]

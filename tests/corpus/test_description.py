"""Descriptions of corpora, and the registry of those that were imported."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.registry import register, registered
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse
from tests.corpus.prose import write_with_prose
from tests.corpus.support import edit
from tests.support import write_corpus

TEXT = {"language": "la", "licence": "CC0-1.0"}
GOOD: dict[str, Any] = {
    "name": "tiny", "layout": "bilara", "root": "texts", "source": TEXT, "references": {"ann": TEXT},
}  # fmt: skip


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in GOOD.items() if name != key}


def test_the_root_lies_beside_the_description(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "c.yaml").write_text(json.dumps(GOOD))
    monkeypatch.chdir(tmp_path)
    assert load(Path("c.yaml")).root == (tmp_path / "texts").resolve()


@pytest.mark.parametrize(
    ("content", "key", "problem"),
    [
        (b"", "", "valid dictionary"),
        (b"- tiny", "", "valid dictionary"),
        (b"name: tiny\nroot: [texts\nlayout: bilara\n", "line 3", "is not YAML"),
        (b"name: tiny\n\troot: texts\n", "line 2", "is not YAML"),
        ("name: f\u00e9lis".encode("latin-1"), "", "is not YAML in UTF-8"),
        (GOOD | {"licence": "CC0-1.0"}, "licence", "not permitted"),
        (GOOD | {"source": TEXT | {"license": "CC0-1.0"}}, "source.license", "not permitted"),
        (without("root"), "root", "required"),
        (GOOD | {"references": {"ann": {"language": "en"}}}, "references.ann.licence", "required"),
        (GOOD | {"references": {}}, "target", "is missing, and `references` is missing, too"),
        (GOOD | {"target": "en"}, "target", "is only for corpora without references"),
        (GOOD | {"references": None}, "references", "valid dictionary"),
        (GOOD | {"name": 5}, "name", "valid string"),
        (GOOD | {"name": "two words"}, "'two words'", "cannot be the key"),
        (GOOD | {"name": ""}, "''", "cannot be the key"),
        (GOOD | {"name": "pali/suttas"}, "name", "contains a slash"),
        (GOOD | {"audit": {"judges": ["fair", "mild"]}}, "audit.judges", "has 2 judges, so votes could be tied"),
        (GOOD | {"references": {"ann|ben": TEXT}}, "'ann|ben'", "cannot be the key"),
    ],
)
def test_a_faulty_description_is_told_by_file_and_key(
    tmp_path: Path, content: bytes | dict[str, Any], key: str, problem: str
) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(BadInput) as caught:
        load(path)
    assert (caught.value.where, caught.value.key) == (str(path), key)
    assert problem in caught.value.problem
    assert caught.value.remedy


@pytest.mark.parametrize(("name", "problem"), [("missing.yaml", "cannot be read"), (".", "holds texts, and does not")])
def test_a_description_that_cannot_be_opened_is_told_by_path(tmp_path: Path, name: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem) as caught:
        load(tmp_path / name)
    assert caught.value.where == str(tmp_path / name)


def licences(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    return warehouse.read("licence", columns=["corpus", "translator", "licence", "restricted"]).rows()


def test_licences_of_source_and_references_are_stored(corpus: Path, warehouse: Warehouse) -> None:
    edit(corpus, {"references": {"ann": TEXT, "ben": TEXT | {"licence": "CC BY-NC 4.0", "restricted": True}}})
    register(warehouse, corpus)
    assert licences(warehouse) == [
        ("tiny", "", "CC0-1.0", False),
        ("tiny", "ann", "CC0-1.0", False),
        ("tiny", "ben", "CC BY-NC 4.0", True),
    ]


def test_a_licence_that_changes_in_the_description_counts_from_the_next_look(
    corpus: Path, warehouse: Warehouse
) -> None:
    register(warehouse, corpus)
    edit(corpus, {"references": {"ann": TEXT | {"restricted": True}}})
    registered(warehouse)
    assert licences(warehouse) == [("tiny", "", "CC0-1.0", False), ("tiny", "ann", "CC0-1.0", True)]


def test_the_same_description_may_be_imported_again(corpus: Path, warehouse: Warehouse) -> None:
    first = register(warehouse, corpus)
    before = warehouse.read("corpus"), warehouse.read("licence")
    assert register(warehouse, corpus) == first
    after = warehouse.read("corpus"), warehouse.read("licence")
    assert all(now.equals(then) for now, then in zip(after, before, strict=True))
    assert registered(warehouse) == [first]


def test_another_description_of_the_same_name_is_refused(corpus: Path, warehouse: Warehouse, tmp_path: Path) -> None:
    register(warehouse, corpus)
    other = write_corpus(tmp_path / "other")
    with pytest.raises(BadInput) as caught:
        register(warehouse, other)
    assert (caught.value.where, caught.value.key) == (str(other), "name")
    assert str(corpus) in caught.value.problem
    assert [each.root for each in registered(warehouse) if not isinstance(each, BadInput)] == [corpus.parent]


def test_a_layout_that_nobody_reads_is_refused_at_import(corpus: Path, warehouse: Warehouse) -> None:
    edit(corpus, {"layout": "pdf"})
    with pytest.raises(
        BadInput,
        match=r"layout: no reader for 'pdf'; use one of bilara, .*, tmx",
    ) as caught:
        register(warehouse, corpus)
    assert caught.value.where == str(corpus)
    assert warehouse.read("corpus").is_empty()


JUDGES = ["fair", "mild", "harsh"]


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ({"audit": {"judges": JUDGES}}, "audit.judges"), ({"rubric": {"judges": JUDGES}}, "rubric.judges"),
        ({"spans": {"judges": JUDGES}}, "spans.judges"),
        ({"literary": {"human": "ann", "ensemble": [{"judge": name, "aspect": "prose"} for name in JUDGES]}},
         "literary.ensemble"),
    ],
)  # fmt: skip
def test_judges_of_one_family_are_refused_at_import(
    corpus: Path, warehouse: Warehouse, section: dict[str, Any], key: str
) -> None:
    edit(corpus, section)
    families = {"fair": "acme", "mild": "other", "harsh": "ACME"}
    with pytest.raises(BadInput, match="has fair and harsh, both of the family 'ACME'") as caught:
        register(warehouse, corpus, families)
    assert (caught.value.where, caught.value.key) == (str(corpus), key)
    register(warehouse, corpus, families | {"harsh": ""})  # a missing family is a fault of the registry


def test_an_unknown_corpus_is_told_with_those_that_are_known(corpus: Path, warehouse: Warehouse) -> None:
    register(warehouse, corpus)
    with pytest.raises(BadInput, match=r"huge: no such corpus in this warehouse.*imported corpora: tiny"):
        registered(warehouse, {"huge", "tiny"})


@pytest.mark.parametrize(
    ("changes", "key", "problem"),
    [({"root": 5}, "root", "path"), ({"name": "other"}, "name", "is 'other', but the corpus was imported as 'tiny'")],
)
def test_a_description_that_breaks_after_its_import_leaves_the_other_corpora_usable(
    corpus: Path, warehouse: Warehouse, tmp_path: Path, changes: dict[str, Any], key: str, problem: str
) -> None:
    register(warehouse, corpus)
    good = register(warehouse, write_corpus(tmp_path / "good", name="good"))
    edit(corpus, changes)
    usable, fault = registered(warehouse)
    assert usable == good
    assert isinstance(fault, BadInput)
    assert (fault.where, fault.key) == (str(corpus), key)
    assert problem in fault.problem


PROSE = TEXT | {"layout": "text", "root": "prose"}


@pytest.mark.parametrize(
    ("content", "key", "problem"),
    [
        ({"source": TEXT | {"layout": "text"}}, "source.layout", "is for references only"),
        ({"source": TEXT | {"aligner": "m"}}, "source.aligner", "is for references only"),
        ({"references": {"ann": TEXT | {"files": "{document}.txt"}}}, "references.ann.files", "layout` of their own"),
        ({"references": {"ann": TEXT | {"root": "x"}}}, "references.ann.root", "layout` of their own"),
        ({"references": {"ann": TEXT | {"aligner": "m"}}}, "references.ann.aligner", "layout` of their own"),
        ({"references": {"ann": TEXT | {"layout": "text", "protocol": "p"}}}, "references.ann.protocol", "whole texts"),
        (
            {"references": {"ann": PROSE | {"numbering": "("}}},
            "references.ann.numbering",
            "not a valid regular expression",
        ),
        ({"references": {"ann": PROSE | {"ask": "some"}}}, "references.ann.ask", "'all' or 'unsure'"),
        (
            {"references": {"ann": TEXT, "ben": TEXT | {"language": "de"}}},
            "references",
            "in several languages (de, la)",
        ),
        ({"filters": {"references": 2}}, "filters.references", "requires 2 references, but there are 1"),
        ({"filters": {"min_characters": 0}}, "filters.min_characters", "greater than or equal to 1"),
        ({"filters": {"max_similarity": 1.5}}, "filters.max_similarity", "less than or equal to 1"),
        ({"filters": {"length": 5}}, "filters.length", "not permitted"),
        ({"sensitivity": {"passages": -1}}, "sensitivity.passages", "greater than or equal to 0"),
        ({"sensitivity": {"severity": 4}}, "sensitivity.severity", "not permitted"),
        ({"audit": {"bands": [2, 1, 3, 4], "threshold": 2}}, "audit", "ascend"),
        ({"audit": {"threshold": 1.7}}, "audit", "one of the bounds in `bands`"),
        ({"audit": {"sample": [1, 2]}}, "audit", "each of the 5 bands"),
    ],
)
def test_faults_of_continuous_references_filters_and_the_suite_are_told_by_key(
    tmp_path: Path, content: dict[str, Any], key: str, problem: str
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(json.dumps(GOOD | content))
    with pytest.raises(BadInput) as caught:
        load(path)
    assert (caught.value.where, caught.value.key) == (str(path), key)
    assert problem in caught.value.problem


def test_files_of_a_continuous_reference_lie_beside_the_description(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(json.dumps(GOOD | {"references": {"ann": TEXT, "dora": PROSE}, "corrections": "by-hand.jsonl"}))
    description = load(path)
    assert description.references["dora"].root == (tmp_path / "prose").resolve()
    assert description.references["ann"].root == description.root
    assert description.corrections == (tmp_path / "by-hand.jsonl").resolve()
    assert set(description.segmented) == {"ann"}
    assert set(description.continuous) == {"dora"}


NEW = ["source_language", "target_language", "filters", "aligners", "texts"]


def test_what_a_look_has_to_know_of_a_description_is_stored(warehouse: Warehouse, tmp_path: Path) -> None:
    path = write_with_prose(tmp_path)
    register(warehouse, path)
    aligners = {"dora": {"model": "", "ask": "all"}}
    [(*languages, filters, stored, texts)] = warehouse.read("corpus", columns=NEW).rows()
    assert (languages, filters, json.loads(stored), texts) == (["la", "en"], None, aligners, 2)
    edit(path, {"filters": {"min_characters": 7}})
    registered(warehouse)
    [text] = warehouse.read("corpus")["filters"]
    assert json.loads(text)["min_characters"] == 7


def test_columns_that_are_newer_than_the_row_are_filled_at_the_next_look(warehouse: Warehouse, tmp_path: Path) -> None:
    path = write_with_prose(tmp_path)
    register(warehouse, path)
    before = warehouse.read("corpus").drop("run_id", "updated_at")
    missing = before.with_columns(pl.lit(None).cast(before.schema[name]).alias(name) for name in NEW)
    warehouse.write([Replacement("corpus", missing, None)], run_id="older")
    registered(warehouse)
    filled = warehouse.read("corpus")
    assert filled.drop("run_id", "updated_at").equals(before)
    registered(warehouse)
    assert warehouse.read("corpus").equals(filled)  # with its time: the second look wrote nothing

"""Where terms come from: what a model is asked at a real server, what is an answer, what a person's file does."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmark_assets.literary.extraction import Glossary, read_terms
from benchmark_assets.literary.glossary_file import read, write
from benchmark_assets.references.glossary import GLOSSARY, Term, entries
from benchmark_assets.studies.study import CALLS
from benchmark_assets.translation.systems import Systems
from resources.errors import BadInput
from tests.literary.glossaries import FIRST, PASSAGES, SECOND, THIRD, Shelf, made_shelf
from tests.provider.server import Server, dumps
from tests.support import restored_home

ALL = pl.DataFrame({"passage": ["tiny/doc1:1", *PASSAGES]})


def study(shelf: Shelf) -> Glossary:
    return Glossary(shelf.warehouse, Systems(warehouse=shelf.warehouse, provider=shelf.provider))


def answer(*terms: tuple[str, str, str]) -> str:
    return dumps({"terms": [dict(zip(Term._fields, term, strict=True)) for term in terms]})


MET = answer(("如海", "Ju-hai", "masculine"), ("雨村", "Yü-ts'un", "unknown"), ("賈政", "Chia Cheng", "masculine"))
LAUGHED = answer(("清", "Kiyo", "feminine"), ("坊っちゃん", "Young master", "masculine"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Shelf, Path]:
    place = tmp_path_factory.mktemp("shelf")
    return made_shelf(place / "world", place / "copy"), place / "copy"


@pytest.fixture
def shelf(made: tuple[Shelf, Path], server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    shelf, copy = made
    restored_home(monkeypatch, shelf.folder, copy)
    monkeypatch.setenv("VARIORUM_MODELS", str(shelf.registry))
    shelf.write_registry(server.url)
    server.configure(answer="judge", keep_bodies=True, judgements={"reader": [MET, LAUGHED]})
    with shelf.warehouse.kept_open():
        yield shelf


# What counts as an answer.


def test_terms_are_read_as_they_stand() -> None:
    assert read_terms({"terms": []}) == []
    assert read_terms(json.loads(MET)) == [
        Term("如海", "Ju-hai", "masculine"), Term("雨村", "Yü-ts'un", None), Term("賈政", "Chia Cheng", "masculine"),
    ]  # fmt: skip
    twice = {"term": " 清", "translation": "Kiyo ", "gender": "feminine"}
    assert read_terms({"terms": [twice, twice]}) == [Term("清", "Kiyo", "feminine")]


@pytest.mark.parametrize(
    ("terms", "problem"),
    [
        (None, "not a list"),
        ({"清": "Kiyo"}, "not a list"),
        (["清"], "term 1 is not an object"),
        ([{"term": "清", "translation": "Kiyo"}], "term 1 is not an object"),
        ([{"term": "清", "translation": "Kiyo", "gender": "neuter", "note": "maid"}], "term 1 is not an object"),
        ([{"term": "清", "translation": " ", "gender": "neuter"}], "term 1 lacks"),
        ([{"term": 7, "translation": "Kiyo", "gender": "neuter"}], "term 1 lacks"),
        ([{"term": "清", "translation": "Kiyo", "gender": ""}], "gender '' of term 1"),
        ([{"term": "清", "translation": "Kiyo", "gender": ["feminine"]}], "of term 1 is not one of"),
        ([{"term": "清", "translation": name, "gender": "neuter"} for name in ("Kiyo", "O-Kiyo")], "term 2 occurs"),
    ],
)
def test_anything_else_is_no_answer(terms: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_terms({"terms": terms})


# Asking a model.


def test_each_chunk_with_a_human_translation_is_asked_about_once(shelf: Shelf, server: Server) -> None:
    shelf.describe(extractor="reader")
    expected = [
        (FIRST, "如海", "Ju-hai", "masculine", "model", True, True),
        (FIRST, "賈政", "Chia Cheng", "masculine", "model", False, False),
        (FIRST, "雨村", "Yü-ts'un", None, "model", True, True),
        (SECOND, "坊っちゃん", "Young master", "masculine", "model", True, False),
        (SECOND, "清", "Kiyo", "feminine", "model", True, True),
    ]
    assert shelf.glossary().rows() == expected
    bodies = [seen.body for seen in server.log() if seen.body]
    items = [json.loads(body["messages"][-1]["content"]) for body in bodies]
    assert items == [
        {"source": "雨村は如海に会った。", "human_translation": "Yü-ts'un met Ju-hai. He bowed."},
        {"source": "清は笑った。坊っちゃんと云った。", "human_translation": 'Kiyo laughed. "Botchan," she said.'},
    ]
    assert all("Japanese" in body["messages"][0]["content"] for body in bodies)
    assert shelf.warehouse.read(CALLS, pl.DataFrame({"study": ["glossary"]}))["passage"].to_list() == [FIRST, SECOND]

    server.clear()
    shelf.describe(extractor="reader", margin=0.2)  # has nothing to do with terms
    assert shelf.glossary().rows() == expected
    assert server.log() == []

    assert entries(shelf.warehouse, ALL) == {
        FIRST: [
            {"term": "雨村", "translation": "Yü-ts'un"},
            {"term": "如海", "translation": "Ju-hai", "gender": "masculine"},
        ],
        SECOND: [
            {"term": "清", "translation": "Kiyo", "gender": "feminine"},
            {"term": "坊っちゃん", "translation": "Young master", "gender": "masculine"},
        ],
    }


def test_nothing_is_asked_without_an_extractor_or_a_literary_corpus(shelf: Shelf, server: Server) -> None:
    assert shelf.glossary().is_empty()
    looked = shelf.warehouse.read("materialization", pl.DataFrame({"asset": ["glossary"]}))
    assert set(looked["passage"]) > {"tiny/doc2:1", *PASSAGES}  # empty is a state, on which outputs may depend
    assert study(shelf).cost(ALL) is None
    assert server.log() == []
    shelf.describe(extractor="reader")
    others = pl.DataFrame({"passage": ["tiny/doc1:1", "tiny/doc2:1"]})
    assert study(shelf).settings(others)["settings"].to_list() == ["", ""]
    assert study(shelf).cost(others) is None
    estimate = study(shelf).cost(ALL)
    assert estimate is not None
    assert estimate.calls == 2


def test_what_fails_is_the_failure_of_its_chunk_alone(shelf: Shelf, server: Server) -> None:
    shelf.describe(extractor="reader")
    server.configure(answer="judge", script=["refusal", "ok"], judgements={"reader": [LAUGHED]})
    computed = study(shelf).compute(ALL, "run")
    assert computed.failures is not None
    ((passage, why),) = computed.failures.rows()
    assert passage == FIRST
    assert "gave no usable reply (it refused)" in why
    assert set(computed.tables["glossary"]["passage"]) == {SECOND}

    shelf.file.write_text(f"passage,term,translation,gender\n{FIRST},雨村,Yü-ts'un,masculine\n", encoding="utf-8")
    shelf.describe(extractor="reader", glossary=str(shelf.file))  # the way out that the failure names
    computed = study(shelf).compute(ALL, "run")
    assert computed.failures is not None
    assert computed.failures.is_empty()
    assert set(computed.tables["glossary"]["passage"]) == {FIRST, SECOND}


def test_an_extractor_that_is_no_judge_fails_what_it_is_named_for(shelf: Shelf) -> None:
    shelf.describe(extractor="nobody")
    computed = study(shelf).compute(ALL, "run")
    assert computed.failures is not None
    assert computed.failures["passage"].to_list() == PASSAGES
    assert (
        "judges.nobody: is missing, but the description of corpus novel names it as `extractor`"
        in computed.failures["error"][0]
    )


# A person's file.


def test_chunks_of_the_file_have_its_terms_and_nobody_else_is_asked_about_them(shelf: Shelf, server: Server) -> None:
    text = f"passage,term,translation,gender\n{FIRST},雨村,yü-ts'un,masculine\n{THIRD},宝玉,Pao-yü,masculine\n"
    shelf.file.write_text(f"{text}{SECOND},,,\n", encoding="utf-8")
    shelf.describe(glossary=str(shelf.file), extractor="reader")
    assert shelf.glossary().rows() == [
        (FIRST, "雨村", "yü-ts'un", "masculine", "file", True, True),
        (THIRD, "宝玉", "Pao-yü", "masculine", "file", True, None),
    ]
    assert server.log() == []

    before = study(shelf).settings(ALL)
    server.configure(answer="judge", judgements={"reader": [LAUGHED]})
    shelf.file.write_text(text, encoding="utf-8")
    changed = before.filter(before["settings"] != study(shelf).settings(ALL)["settings"])
    assert changed["passage"].to_list() == [SECOND]
    computed = study(shelf).compute(ALL, "run")
    assert set(computed.tables["glossary"].filter(origin="model")["passage"]) == {SECOND}
    assert len(server.log()) == 1


def test_a_fault_of_the_file_fails_the_corpus_and_nobody_is_asked(shelf: Shelf, server: Server) -> None:
    shelf.file.write_text(f"passage,term,translation,gender\n{FIRST},雨村,,\n", encoding="utf-8")
    shelf.describe(glossary=str(shelf.file), extractor="reader")
    computed = study(shelf).compute(ALL, "run")
    assert computed.failures is not None
    assert computed.failures["passage"].to_list() == PASSAGES
    assert "line 2 novel/ch1:1 translation: is empty" in computed.failures["error"][0]
    assert server.log() == []


def test_what_is_written_reads_back_as_the_same_glossary(shelf: Shelf, server: Server, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="has no glossary yet"):
        write(shelf.warehouse, tmp_path / "none.csv", "novel")
    with pytest.raises(BadInput, match="is not a literary corpus"):
        write(shelf.warehouse, tmp_path / "none.csv", "tiny")
    shelf.describe(extractor="reader")
    server.configure(answer="judge", judgements={"reader": [MET, answer()]})
    extracted = shelf.glossary()
    assert write(shelf.warehouse, shelf.file, "novel") == (3, 2)
    assert shelf.file.read_text(encoding="utf-8-sig").splitlines() == [
        "passage,term,translation,gender,in_source,in_human,origin",
        "novel/ch1:1,如海,Ju-hai,masculine,true,true,model",
        "novel/ch1:1,賈政,Chia Cheng,masculine,false,false,model",
        "novel/ch1:1,雨村,Yü-ts'un,,true,true,model",
        "novel/ch1:2,,,,,,",
    ]
    assert list(read(shelf.file, "novel")) == [FIRST, SECOND]

    server.clear()
    shelf.describe(extractor="reader", glossary=str(shelf.file))
    again = shelf.glossary()
    assert again.drop("origin").equals(extracted.drop("origin"))
    assert set(again["origin"]) == {"file"}
    assert server.log() == []
    assert write(shelf.warehouse, tmp_path / "again.csv", "novel") == (3, 2)  # what has no terms still says so
    before = shelf.file.read_bytes()
    with pytest.raises(BadInput, match=r"terms\.csv: already exists and may contain edits; give another file"):
        write(shelf.warehouse, shelf.file, "novel")
    assert shelf.file.read_bytes() == before


def test_schema_and_table_name_the_same_things(shelf: Shelf) -> None:
    assert shelf.warehouse.empty("glossary").drop("fingerprint").select(GLOSSARY.names()).schema == GLOSSARY

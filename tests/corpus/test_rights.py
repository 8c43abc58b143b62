"""Which outputs are withheld: those with restricted texts of any passage and corpus, by the current descriptions."""

import json
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.corpus.registry import register
from benchmark_assets.corpus.rights import disclosure, named
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.warehouse import Warehouse
from tests.audit.stored import put
from tests.corpus.disguises import OTHER
from tests.support import write_corpus

BARN = "On the day after the storm the whole village went out to mend the roof of the barn by the river"
FAIR = "Two brothers drove their cow to the fair and came home at night with a kite and no money at all"
WELL = "The water of that well was so cold that the horses would only drink from it when the sun stood high"
SOURCE = "Horreum a ventis nocte eversum cives postridie magno cum labore et cantu prope flumen refecerunt"


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """Two corpora of one document with two passages each; in each, `cleo` is restricted and `ann` is not."""
    warehouse = DuckDBWarehouse(path=str(tmp_path / "variorum.duckdb"))
    for name in ("one", "two"):
        register(warehouse, describe(tmp_path / name, name, cleo=True))
    sources = [
        {"passage": f"{name}/p:{n}", "corpus": name, "passage_id": f"p:{n}", "document": "p", "position": n,
         "language": "la", "segment_ids": [f"p:{n}.1"], "segments": [SOURCE], "text": SOURCE}
        for name in ("one", "two") for n in (1, 2)
    ]  # fmt: skip
    put(warehouse, "source_text", *sources)
    store(warehouse, {("one/p:1", "cleo"): BARN, ("one/p:2", "cleo"): FAIR, ("two/p:1", "cleo"): WELL})
    return warehouse


def describe(folder: Path, name: str, **restricted: bool) -> Path:
    path = write_corpus(folder, {}, {"ann": {}, "cleo": {}}, name=name)
    content = json.loads(path.read_text(encoding="utf-8"))
    for text, closed in restricted.items():
        (content["source"] if text == "source" else content["references"][text])["restricted"] = closed
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def store(warehouse: Warehouse, texts: Mapping[tuple[str, str], str]) -> None:
    put(warehouse, "reference", *(
        {"passage": passage, "translator": translator, "text": text, "complete": True}
        for (passage, translator), text in texts.items()
    ))  # fmt: skip


def reasons(warehouse: Warehouse, *texts: str, model: str = "m", private: bool = False) -> list[str | None]:
    """Reasons why outputs for the passages of corpus `one`, in their order, are withheld."""
    rows = [(model, f"one/p:{number}", text) for number, text in enumerate(texts, start=1)]
    outputs = pl.DataFrame(rows, ["model", "passage", "text"], orient="row")
    return disclosure(warehouse, "one", ["ann", "cleo"], private).withheld(outputs).to_list()


def test_the_restricted_translation_of_the_neighboring_passage_is_withheld(warehouse: Warehouse) -> None:
    first, second = reasons(warehouse, FAIR, OTHER)
    assert first is not None
    assert first.startswith("copies a restricted text (cleo); ")
    assert second is None


def test_a_restricted_text_of_another_corpus_is_withheld_and_named(warehouse: Warehouse) -> None:
    assert str(reasons(warehouse, WELL)[0]).startswith("copies a restricted text (two: cleo); ")


def test_the_source_has_a_name_among_the_names_of_translators() -> None:
    assert named(["ann", "", "cleo"]) == ["ann", "source", "cleo"]


def test_the_current_description_decides(warehouse: Warehouse, tmp_path: Path) -> None:
    assert reasons(warehouse, SOURCE) == [None]
    describe(tmp_path / "two", "two", cleo=False, ann=True)
    assert reasons(warehouse, WELL) == [None]
    for name in ("one", "two"):
        describe(tmp_path / name, name, source=True)
    assert str(reasons(warehouse, SOURCE)[0]).startswith("copies a restricted text (source); ")


def test_a_text_that_is_open_in_one_corpus_is_no_reason_in_another(warehouse: Warehouse) -> None:
    store(warehouse, {("one/p:1", "cleo"): BARN, ("two/p:1", "ann"): f"He wrote: {BARN}."})
    assert reasons(warehouse, BARN) == [None]


def test_new_texts_are_compared_at_once(warehouse: Warehouse) -> None:
    text = "Nobody had ever seen so many frogs in the garden as in the week when the bridge was painted green"
    assert reasons(warehouse, text) == [None]
    store(warehouse, {("two/p:2", "cleo"): text})
    assert reasons(warehouse, text) != [None]


def test_a_text_divided_among_two_stored_outputs_is_withheld_in_each(warehouse: Warehouse) -> None:
    """Also if only one of them is asked for: the model's other output in the document is read."""
    text = "Then both of the old men went down to the harbor without saying a word about it"
    words = text.split()
    halves = [f"{OTHER} {' '.join(words[:8])}.", f"{' '.join(words[8:])}. {OTHER}"]
    store(warehouse, {("one/p:1", "cleo"): text})
    put(warehouse, "model_output", {"model": "m", "passage": "one/p:2", "text": halves[1]})
    assert None not in reasons(warehouse, *halves)
    assert None not in reasons(warehouse, halves[0])
    assert reasons(warehouse, halves[0], model="other") == [None]


def test_those_who_may_have_the_texts_see_everything(warehouse: Warehouse) -> None:
    assert reasons(warehouse, BARN, FAIR, private=True) == [None, None]


def test_a_refusal_copies_nothing(warehouse: Warehouse) -> None:
    outputs = pl.DataFrame({"passage": ["one/p:1"], "text": [None]}, {"passage": pl.String, "text": pl.String})
    assert disclosure(warehouse, "one", [], False).withheld(outputs).to_list() == [None]

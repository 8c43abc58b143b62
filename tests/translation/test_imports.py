"""Outputs that were made elsewhere: what the files may hold, and what of them is imported."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.human_work import imported_outputs, kept, notices
from benchmark_assets.corpus.scan import scan
from benchmark_assets.translation.imports import import_outputs
from benchmark_assets.translation.systems import ImportedSystem
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse
from tests.support import write_corpus, write_outputs

MODEL = "lab/model-1"
TEXTS = {"doc1:1": "A mouse runs, a cat sits.", "doc1:2": "The sun\u2028rises.", "doc2:1": "Says nothing new."}


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """File of a warehouse with the passages of two corpora, `tiny` and `tiny2`."""
    folder = tmp_path_factory.mktemp("stock")
    corpora = [load(write_corpus(folder / name, name=name)) for name in ("tiny", "tiny2")]
    warehouse = DuckDBWarehouse(path=str(folder / "variorum.duckdb"))
    warehouse.write(
        [Replacement("source_text", scan(corpora).source.with_columns(fingerprint=pl.lit("made")), None)], "scan"
    )
    return Path(warehouse.name)


@pytest.fixture
def stocked(stock: Path, tmp_path: Path) -> Iterator[Warehouse]:
    own = DuckDBWarehouse(path=str(shutil.copy(stock, tmp_path / "variorum.duckdb")))
    with own.kept_open():
        yield own


def write_results(path: Path, translations: Any, **further: Any) -> Path:
    content = {"metadata": {"model": MODEL, "temperature": 0}, "translations": translations, "usage": {"calls": 2}}
    path.write_text(json.dumps(content | further), encoding="utf-8")
    return path


def imported(warehouse: Warehouse, model: str = MODEL) -> dict[str, str]:
    rows = warehouse.read("imported_output", pl.DataFrame({"model": [model]}), ["passage", "text"])
    return dict(rows.iter_rows())


def test_a_result_file_brings_its_outputs_its_settings_and_its_usage(stocked: Warehouse, tmp_path: Path) -> None:
    path = write_results(tmp_path / "results.json", TEXTS)
    assert import_outputs(stocked, path, "tiny", None) == (MODEL, 3)
    assert imported(stocked) == {f"tiny/{key}": text for key, text in TEXTS.items()}
    (row,) = stocked.read("imported_file").iter_rows(named=True)
    assert (row["model"], row["corpus"], row["file"], row["outputs"]) == (MODEL, "tiny", str(path), 3)
    assert json.loads(row["settings"]) == {"model": MODEL, "temperature": 0}
    assert json.loads(row["usage"]) == {"calls": 2}


def test_json_lines_bring_their_outputs_under_the_name_of_the_file(stocked: Warehouse, tmp_path: Path) -> None:
    path = write_outputs(tmp_path / "model-2.jsonl", TEXTS)
    assert import_outputs(stocked, path, "tiny", None) == ("model-2", 3)
    assert imported(stocked, "model-2") == {f"tiny/{key}": text for key, text in TEXTS.items()}


@pytest.mark.parametrize(
    ("metadata", "option", "name"),
    [
        ({"model": MODEL}, None, MODEL),
        ({"model": MODEL}, "mine", "mine"),
        ({}, None, "results"),
        ({"model": 5}, None, "results"),
        ({}, "mine", "mine"),
    ],
)
def test_the_name_of_a_model_is_the_one_asked_for_or_the_files_own_or_its_stem(
    stocked: Warehouse, tmp_path: Path, metadata: dict[str, Any], option: str | None, name: str
) -> None:
    path = write_results(tmp_path / "results.json", TEXTS, metadata=metadata)
    assert import_outputs(stocked, path, "tiny", option)[0] == name
    assert set(stocked.read("imported_output")["model"]) == {name}


def test_a_table_of_outputs_may_give_the_numbers_of_passages(stocked: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("passage_id;translation\ndoc1:1;Mice run.\n2;The sun.\n", encoding="utf-8")
    assert import_outputs(stocked, path, "tiny", None) == ("mine", 2)
    rows = stocked.read("imported_output").filter(model="mine")
    assert dict(rows.select("passage", "text").iter_rows()) == {"tiny/doc1:1": "Mice run.", "tiny/doc1:2": "The sun."}


def test_a_second_import_takes_the_place_of_the_first_in_its_corpus_only(stocked: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    for corpus in ("tiny", "tiny2"):
        import_outputs(stocked, write_results(path, TEXTS), corpus, None)
    import_outputs(stocked, write_results(path, TEXTS), "tiny", "another")
    import_outputs(stocked, write_results(path, {"doc1:1": "Mice run."}), "tiny", None)
    assert imported(stocked) == {"tiny/doc1:1": "Mice run."} | {f"tiny2/{key}": text for key, text in TEXTS.items()}
    assert len(imported(stocked, "another")) == 3
    files = stocked.read("imported_file", columns=["model", "corpus", "outputs"]).rows()
    assert files == [("another", "tiny", 3), (MODEL, "tiny", 1), (MODEL, "tiny2", 3)]


def test_an_output_keeps_its_fingerprint_while_its_text_stays(stocked: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    import_outputs(stocked, write_results(path, TEXTS), "tiny", None)
    before = stocked.read("imported_output", columns=["passage", "fingerprint"])
    import_outputs(stocked, write_results(path, TEXTS | {"doc1:2": "Sunrise."}, usage={}), "tiny", None)
    after = stocked.read("imported_output", columns=["passage", "fingerprint"])
    assert after.join(before, on=after.columns, how="anti")["passage"].to_list() == ["tiny/doc1:2"]


def lines(*records: Any) -> str:
    return "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records)


def result(translations: Any, **further: Any) -> str:
    return json.dumps({"metadata": {"model": "m"}, "translations": translations, "usage": {}} | further)


GOOD = {"passage_id": "doc1:1", "translation": "Mice run."}


@pytest.mark.parametrize(
    ("name", "content", "key", "problem"),
    [
        ("m.json", result({"doc1:1": "Mice run.", "doc9:1": "A fox."}), "doc9:1", "not a passage of tiny"),
        ("m.json", result({"doc1:1": "Mice run.", "doc1:2": ""}), "doc1:2", "is empty"),
        ("m.json", result({"doc1:1": "Mice run.", "doc1:2": " \n"}), "doc1:2", "is empty"),
        ("m.json", result({"doc1:1": "Mice run.", "doc1:2": 5}), "doc1:2", "is not a string"),
        ("m.json", result({"doc1:1": "Mice run.", "doc1:2": None}), "doc1:2", "is not a string"),
        ("m.json", '{"translations": {"doc1:1": "One.", "doc1:1": "Two."}}', "doc1:1", "occurs twice"),
        ("m.json", result({"doc1:1": "half \ud83d"}), "doc1:1", "half a character"),
        ("m.json", result({}), "", "contains no outputs"),
        ("m.jsonl", lines(GOOD | {"translaton": "Mice."}), "line 1 translaton", "unknown key"),
        ("m.jsonl", lines({"passage_id": "doc1:1", "translaton": "Mice."}), "line 1 translaton", "unknown key"),
        ("m.json", result(["Mice run."]), "translations", "not an object"),
        ("m.json", result({"doc1:1": "Mice run."}, metadata=["m"]), "metadata", "not an object"),
        ("m.json", '{"doc1:1": "Mice run."}', "translations", "not an object"),
        ("m.json", '{"translations": {"doc1:1": "Mice', "line 1 column 29", "is not valid JSON"),
        ("m.json", result({"doc1:1": "Mice run."}, metadata={"model": "lab|m 1"}), "'lab|m 1'", "cannot be the key"),
        ("m 1.jsonl", lines(GOOD), "'m 1'", "cannot be the key"),
        ("m.jsonl", lines(GOOD, GOOD), "line 2 doc1:1", "occurs twice"),
        ("m.jsonl", lines(GOOD, {"passage_id": "doc1:2"}), "line 2", "lacks `passage_id` or `translation`"),
        ("m.jsonl", lines(GOOD, {"passage_id": 2, "translation": "x"}), "line 2", "lacks `passage_id`"),
        ("m.jsonl", lines(GOOD, '{"passage_id": "doc1:2", "tr'), "line 2 column 26", "is not valid JSON"),
        ("m.jsonl", lines(GOOD, '["doc1:2", "The sun."]'), "line 2", "is not a JSON object"),
        ("m.jsonl", lines(GOOD, {"passage_id": "doc1:2", "translation": ["x"]}), "doc1:2", "is not a string"),
        ("m.jsonl", "", "", "contains no outputs"),
        ("m.pages", "doc1:1,Mice run.", "", "unknown file ending"),
        ("m.csv", "passage_id,translation\ndoc1:1,Mice run.\ndoc1:1,Two.\n", "line 3 doc1:1", "occurs twice"),
        ("m.csv", "passage_id,text\ndoc1:1,Mice run.\n", "line 1 text", "unknown column"),
        ("m.json", None, "", "no such file"),
    ],
)
def test_of_a_file_with_a_fault_nothing_is_imported_and_what_was_there_stays(
    stocked: Warehouse, tmp_path: Path, name: str, content: str | None, key: str, problem: str
) -> None:
    import_outputs(stocked, write_outputs(tmp_path / "earlier.jsonl", TEXTS), "tiny", "m")
    tables = ("imported_output", "imported_file")
    before = [stocked.read(table) for table in tables]
    path = tmp_path / name
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        import_outputs(stocked, path, "tiny", None)
    assert (caught.value.where, caught.value.key) == (str(path), key)
    assert problem in caught.value.problem
    assert caught.value.remedy
    assert all(rows.equals(stocked.read(table)) for table, rows in zip(tables, before, strict=True))


def test_unknown_keys_are_refused_once_by_name_unless_they_are_ignored(stocked: Warehouse, tmp_path: Path) -> None:
    records = [{"passage_id": key, "translation": text, "seconds": 1} for key, text in TEXTS.items()]
    path = tmp_path / "m.jsonl"
    path.write_text(lines(records[0], records[1] | {"model": "x"}, records[2]), encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        import_outputs(stocked, path, "tiny", None)
    assert [fault.key for fault in caught.value.faults] == ["line 2 model", "line 1 seconds"]
    assert stocked.read("imported_output").is_empty()
    assert import_outputs(stocked, path, "tiny", None, ignore=["seconds", "model"]) == ("m", 3)

    results = write_results(tmp_path / "m.json", TEXTS, usages={})
    with pytest.raises(BadInput, match="usages: unknown key; write `usage`, or name it with `--ignore`"):
        import_outputs(stocked, results, "tiny", None)
    assert import_outputs(stocked, results, "tiny", None, ignore=["usages"]) == (MODEL, 3)


def test_outputs_of_an_unknown_corpus_are_refused(stocked: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="huge: has no passages in this warehouse"):
        import_outputs(stocked, write_results(tmp_path / "results.json", TEXTS), "huge", None)
    assert stocked.read("imported_output").is_empty()


def test_a_name_asked_for_must_be_a_key_too(stocked: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'my model': cannot be the key of a model"):
        import_outputs(stocked, write_results(tmp_path / "results.json", TEXTS), "tiny", "my model")
    assert stocked.read("imported_output").is_empty()


def test_a_name_of_the_registry_is_refused_before_anything_is_written(stocked: Warehouse, tmp_path: Path) -> None:
    path = write_results(tmp_path / "results.json", TEXTS)
    with pytest.raises(
        BadInput, match="lab/model-1: is the name of a model in the registry, or of a published system; give"
    ):
        import_outputs(stocked, path, "tiny", None, {MODEL})
    assert imported(stocked) == {}
    assert import_outputs(stocked, path, "tiny", "other", {MODEL}) == ("other", 3)


def covered(warehouse: Warehouse) -> list[str]:
    return list(ImportedSystem(warehouse, "m").fingerprints([f"tiny/{key}" for key in TEXTS]))


def outdated(warehouse: Warehouse) -> list[str]:
    return imported_outputs(warehouse).filter("outdated")["passage"].to_list()


def test_an_output_for_an_earlier_source_is_outdated_until_it_is_imported_again(
    stocked: Warehouse, tmp_path: Path
) -> None:
    path = write_outputs(tmp_path / "m.jsonl", TEXTS)
    import_outputs(stocked, path, "tiny", None)
    assert outdated(stocked) == notices(stocked) == []
    sources = stocked.read("source_text").drop("run_id", "updated_at")
    edited = sources.filter(passage="tiny/doc1:2").with_columns(text=pl.lit("Luna oritur."))
    stocked.write([Replacement("source_text", edited, edited.select("passage"))], "scan")
    assert outdated(stocked) == ["tiny/doc1:2"]
    assert covered(stocked) == ["tiny/doc1:1", "tiny/doc2:1"]
    (notice,) = notices(stocked)
    assert "m: 1 imported outputs translate an earlier source (tiny/doc1:2) and are not scored" in notice
    assert "`variorum import outputs FILE --corpus tiny --model m`" in notice

    import_outputs(stocked, path, "tiny", None)
    assert outdated(stocked) == notices(stocked) == []
    assert len(covered(stocked)) == 3
    stocked.write([Replacement("source_text", sources, None)], "scan")
    assert outdated(stocked) == ["tiny/doc1:2"]


def test_an_output_whose_source_was_not_recorded_is_current(stocked: Warehouse, tmp_path: Path) -> None:
    import_outputs(stocked, write_outputs(tmp_path / "m.jsonl", TEXTS), "tiny", None)
    rows = stocked.read("imported_output").drop("run_id", "updated_at")
    stocked.write([Replacement("imported_output", rows.with_columns(source_hash=None), None)], "earlier version")
    assert outdated(stocked) == []
    assert len(covered(stocked)) == 3


def test_outputs_of_passages_that_left_the_files_outlast_a_new_import(stocked: Warehouse, tmp_path: Path) -> None:
    path = write_outputs(tmp_path / "m.jsonl", TEXTS)
    import_outputs(stocked, path, "tiny", None)
    sources = stocked.read("source_text").drop("run_id", "updated_at")
    stocked.write([Replacement("source_text", sources.filter(pl.col("passage") != "tiny/doc2:1"), None)], "scan")
    import_outputs(stocked, write_outputs(path, {"doc1:1": "Mice run."}), "tiny", None)
    assert imported(stocked, "m") == {"tiny/doc1:1": "Mice run.", "tiny/doc2:1": TEXTS["doc2:1"]}
    assert kept(stocked).rows() == [("tiny", "imported_output", "tiny/doc2:1")]
    (notice,) = notices(stocked)
    assert "tiny: 1 passages are no longer in the files (tiny/doc2:1)" in notice
    assert "1 rows of imported_output" in notice
    assert "`variorum remove kept tiny`" in notice
    assert covered(stocked) == ["tiny/doc1:1"]

    stocked.write([Replacement("source_text", sources, None)], "scan")
    assert notices(stocked) == []
    assert covered(stocked) == ["tiny/doc1:1", "tiny/doc2:1"]

"""The corpus in Dagster: the job that looks at the files, and passages that are read again by hand."""

import json
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.adjudication import assets as adjudication
from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.metrics import unmeasured
from benchmark_assets.people import assets as people
from benchmark_assets.translation.imports import import_outputs
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.home import prepare
from resources.warehouse import Warehouse
from tests.corpus.prose import DORA, write_prose, write_with_prose
from tests.corpus.support import edit
from tests.support import (
    CORE,
    PASSAGES,
    made_home,
    reports,
    restored_home,
    run,
    write_corpus,
    write_outputs,
)

ASSETS = ("source_text", "segmented_reference", "continuous_reference")
SOURCE = "root/la/test/doc1_root-la-test.json"


@pytest.fixture(scope="module")
def rooms() -> Sequence[ModuleType]:
    return [*CORE, adjudication, people]


def once(*passages: str, assets: tuple[str, ...] = ASSETS) -> Counter[tuple[str, str]]:
    return Counter((asset, passage) for asset in assets for passage in passages)


def stored(warehouse: Warehouse) -> dict[str, pl.DataFrame]:
    return {table: warehouse.read(table) for table in (*ASSETS, "materialization")}


def unchanged(before: dict[str, pl.DataFrame], after: dict[str, pl.DataFrame]) -> bool:
    """Whether no row was written, not even the same one again (rows carry the time)."""
    return all(rows.equals(after[table]) for table, rows in before.items())


def texts(warehouse: Warehouse) -> dict[str, str]:
    return dict(warehouse.read("source_text", columns=["passage", "text"]).iter_rows())


def fault_of(result: dg.ExecuteInProcessResult) -> tuple[str, str]:
    """Message and table of faults of the one step that failed."""
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    told = failure.step_failure_data.user_failure_data
    assert told is not None
    return str(told.description), str(told.metadata["faults"].value)


def reread(
    definitions: dg.Definitions, instance: dg.DagsterInstance, passage: str, raise_on_error: bool = True
) -> dg.ExecuteInProcessResult:
    """Materialize one passage as the button of the UI does."""
    return definitions.resolve_implicit_global_asset_job_def().execute_in_process(
        instance=instance,
        asset_selection=[dg.AssetKey(asset) for asset in ASSETS],
        partition_key=passage,
        raise_on_error=raise_on_error,
    )


@pytest.fixture(scope="module")
def first_scan(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A corpus and a home after the first scan, and a copy of both: each test starts from it, which saves a second."""
    world, copy = tmp_path_factory.mktemp("scanned") / "world", tmp_path_factory.mktemp("copy") / "world"
    with pytest.MonkeyPatch.context() as patch:
        warehouse = DuckDBWarehouse(path=str(made_home(patch, world) / "variorum.duckdb"))
        register(warehouse, write_corpus(world / "corpus"))
        with dg.DagsterInstance.get() as instance:
            run(build_definitions(resource_overrides={"warehouse": warehouse}), instance, "scan")
    shutil.copytree(world, copy, symlinks=True)
    return world, copy


@pytest.fixture
def home(first_scan: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    return restored_home(monkeypatch, *first_scan)


@pytest.fixture
def scanned(home: Path) -> Path:
    """Description of the corpus that was scanned."""
    return home.parent / "corpus" / "corpus.yaml"


def test_odd_citations_are_keys_that_dagster_takes(
    scanned: Path, definitions: dg.Definitions, warehouse: Warehouse, instance: dg.DagsterInstance
) -> None:
    odd = {"doc1:5(6).1": "Luna.", "doc1:Aen. 1.1": "Arma.", "doc1:a|~/b...c.1": "Nix.", "doc1:α.1": "Sol."}
    edit(scanned.parent / SOURCE, odd)
    run(definitions, instance, "scan")
    keys = ["5(6)", "^aen.+1", "a=7c==7e==2f=b..=2e=c", "α"]
    for key in (f"tiny/doc1:{key}" for key in keys):
        assert key in instance.get_dynamic_partitions("passage")
        assert key in texts(warehouse)
        assert reread(definitions, instance, key).success


def test_the_first_scan_adds_stores_and_reports_all_passages(
    scanned: Path, warehouse: Warehouse, instance: dg.DagsterInstance
) -> None:
    assert sorted(instance.get_dynamic_partitions("passage")) == PASSAGES
    assert warehouse.read("source_text")["passage"].to_list() == PASSAGES
    assert len(warehouse.read("segmented_reference")) == 9
    assert reports(instance) == once(*PASSAGES)


def test_a_second_scan_of_the_same_files_writes_and_reports_nothing(
    scanned: Path, warehouse: Warehouse, definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    before = stored(warehouse)
    run(definitions, instance, "scan")
    assert reports(instance) == once(*PASSAGES)
    assert unchanged(before, stored(warehouse))


def test_an_edited_source_is_reported_alone(
    scanned: Path, warehouse: Warehouse, definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    edit(scanned.parent / SOURCE, {"doc1:2.1": "Luna oritur."})
    run(definitions, instance, "scan")
    assert reports(instance) - once(*PASSAGES) == once("tiny/doc1:2", assets=("source_text",))
    assert texts(warehouse)["tiny/doc1:2"] == "Luna oritur."


def test_a_passage_that_only_moves_is_stored_anew_and_not_reported(
    scanned: Path, warehouse: Warehouse, definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    path = scanned.parent / SOURCE
    path.write_text('{"doc1:0.1": "Incipit.", ' + path.read_text()[1:])
    run(definitions, instance, "scan")
    assert reports(instance) - once(*PASSAGES) == once("tiny/doc1:0")
    positions = dict(warehouse.read("source_text", columns=["passage", "position"]).iter_rows())
    assert positions == {"tiny/doc1:0": 0, "tiny/doc1:1": 1, "tiny/doc1:2": 2, "tiny/doc2:1": 0}


def test_a_translator_who_is_taken_out_leaves_no_rows(
    scanned: Path, warehouse: Warehouse, definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    for file in (scanned.parent / "translation/en/cleo").iterdir():
        file.unlink()
    run(definitions, instance, "scan")
    assert set(warehouse.read("segmented_reference")["translator"]) == {"ann", "ben"}


def test_a_broken_document_fails_the_scan_keeps_its_rows_and_holds_up_no_other(
    scanned: Path, warehouse: Warehouse, definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    before = stored(warehouse)
    broken = scanned.parent / SOURCE
    broken.write_text('{"doc1:1.1": "Mus currit et')
    edit(scanned.parent / "root/la/test/doc2_root-la-test.json", {"doc2:1.1": "Nova dicit."})
    result = run(definitions, instance, "scan", raise_on_error=False)

    assert not result.success
    for told in fault_of(result):
        assert str(broken) in told
        assert "line 1 column 14" in told
        assert "correct the file" in told
    assert reports(instance) - once(*PASSAGES) == once("tiny/doc2:1", assets=("source_text",))
    assert texts(warehouse) == {
        "tiny/doc1:1": "Mus currit. Felis sedet.", "tiny/doc1:2": "Sol oritur.", "tiny/doc2:1": "Nova dicit.",
    }  # fmt: skip
    rows = warehouse.read("segmented_reference")
    assert rows.equals(before["segmented_reference"])


def test_a_description_that_disappears_fails_the_scan_and_holds_up_no_other_corpus(
    scanned: Path, warehouse: Warehouse, definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    other = write_corpus(tmp_path / "other", name="other")
    register(warehouse, other)
    scanned.unlink()
    result = run(definitions, instance, "scan", raise_on_error=False)
    assert not result.success
    assert all(str(scanned) in told for told in fault_of(result))
    assert len(texts(warehouse)) == 6


def test_rows_that_were_stored_without_a_report_are_reported_at_the_next_scan(
    home: Path, warehouse: Warehouse, definitions: dg.Definitions
) -> None:
    before = stored(warehouse)
    shutil.rmtree(home / "dagster")  # as after a crash between the write and the report, for every passage
    prepare()
    with dg.DagsterInstance.get() as instance:
        assert not reports(instance)
        run(definitions, instance, "scan")
        assert sorted(instance.get_dynamic_partitions("passage")) == PASSAGES
        assert reports(instance) == once(*PASSAGES)
    assert unchanged(before, stored(warehouse))


def test_reading_one_passage_again_leaves_the_others_as_they_are(
    scanned: Path, warehouse: Warehouse, definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    edit(scanned.parent / SOURCE, {"doc1:1.1": "Mures currunt.", "doc1:2.1": "Luna oritur."})
    reread(definitions, instance, "tiny/doc1:2")
    assert reports(instance) - once(*PASSAGES) == once("tiny/doc1:2")
    assert texts(warehouse) == {
        "tiny/doc1:1": "Mus currit. Felis sedet.", "tiny/doc1:2": "Luna oritur.", "tiny/doc2:1": "Nihil novi dicit.",
    }  # fmt: skip


def test_a_passage_is_read_again_though_another_document_is_broken(
    scanned: Path, warehouse: Warehouse, definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    (scanned.parent / SOURCE).write_text("")
    edit(scanned.parent / "root/la/test/doc2_root-la-test.json", {"doc2:1.1": "Nova dicit."})
    assert reread(definitions, instance, "tiny/doc2:1").success
    assert texts(warehouse)["tiny/doc2:1"] == "Nova dicit."


@pytest.mark.parametrize(
    ("content", "told"),
    [('{"doc1:1.1": "Mus currit."}', "cannot be read from the files"), ("{", "is not valid JSON")],
    ids=["gone", "broken"],
)
def test_a_passage_that_cannot_be_read_again_fails_and_keeps_its_rows(
    scanned: Path,
    warehouse: Warehouse,
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    content: str,
    told: str,
) -> None:
    (scanned.parent / SOURCE).write_text(content)
    for translator in ("ann", "ben", "cleo"):
        (scanned.parent / f"translation/en/{translator}/doc1_translation-en-{translator}.json").unlink()
    before = stored(warehouse)
    result = reread(definitions, instance, "tiny/doc1:2", raise_on_error=False)
    assert not result.success
    assert told in fault_of(result)[0]
    assert reports(instance) == once(*PASSAGES)
    assert unchanged(before, stored(warehouse))


PROSE = ("prose", "aside")


def prose(warehouse: Warehouse) -> dict[str, pl.DataFrame]:
    """Rows of the tables by document, with their times."""
    return {table: warehouse.read(table) for table in PROSE}


@pytest.fixture
def two(
    home: Path, warehouse: Warehouse, definitions: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path
) -> tuple[Path, Path]:
    """Descriptions of two corpora with the same prose, after a scan."""
    one, other = (write_with_prose(tmp_path / name, name) for name in ("one", "other"))
    for each in (one, other):
        register(warehouse, each)
    run(definitions, instance, "scan")
    return one, other


def test_an_edited_prose_is_stored_for_its_document_alone(
    two: tuple[Path, Path], warehouse: Warehouse, definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    before, told = prose(warehouse), reports(instance)
    assert [len(rows) for rows in before.values()] == [4, 6]
    write_prose(two[0], "doc1", DORA["doc1"].replace("2. The sun comes up.", "Up comes the sun."))
    run(definitions, instance, "scan")
    assert reports(instance) - told == once("one/doc1:1", "one/doc1:2", assets=("continuous_reference",))
    mine = (pl.col("corpus") == "one") & (pl.col("document") == "doc1")
    after = prose(warehouse)
    for table in PROSE:
        assert after[table].filter(~mine).equals(before[table].filter(~mine))
    assert after["prose"].filter(mine)["text"].to_list() == [
        "A mouse hurries by. The cat sits down.\n\nUp comes the sun."
    ]
    assert after["aside"].filter(mine)["text"].to_list() == ["1."]

    write_prose(two[0], "doc1", DORA["doc1"].replace("1.", "8.").replace("2. The sun comes", "Up comes the sun. It is"))
    told = reports(instance)
    write_prose(two[0], "doc2", DORA["doc2"].replace("1.", "9."))  # a number is no part of the text
    run(definitions, instance, "scan")
    assert once("one/doc2:1", assets=("continuous_reference",)) - (reports(instance) - told)
    assert warehouse.read("aside", pl.DataFrame({"corpus": ["one"]}))["text"].to_list() == ["8.", "9."]


def test_prose_that_leaves_the_files_or_the_description_leaves_its_tables(
    two: tuple[Path, Path], warehouse: Warehouse, definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    before = prose(warehouse)
    (two[0].parent / "prose/doc2.txt").unlink()
    edit(two[1], {"references": {"ann": {"language": "en", "licence": "CC0-1.0"}}})
    run(definitions, instance, "scan")
    left = (pl.col("corpus") == "one") & (pl.col("document") == "doc1")
    for table, rows in prose(warehouse).items():
        assert rows.equals(before[table].filter(left)), table
    assert warehouse.read("continuous_reference")["passage"].to_list() == ["one/doc1:1", "one/doc1:2"]


def test_prose_that_a_fault_may_hide_stays(
    two: tuple[Path, Path], warehouse: Warehouse, definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    before = prose(warehouse)
    write_prose(two[0], "doc1", "")
    (two[1].parent / "root/la/test/doc2_root-la-test.json").write_text("{")
    result = run(definitions, instance, "scan", raise_on_error=False)
    assert "contains no text" in fault_of(result)[1]
    assert unchanged(before, prose(warehouse))
    assert len(warehouse.read("continuous_reference")) == 6


def test_a_corpus_without_references_is_translated_and_nothing_is_measured_that_rests_on_them(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, tmp_path: Path
) -> None:
    (tmp_path / "items.jsonl").write_text(
        '{"passage_id": "e:1", "lang": "ja", "source": "猫がいる。"}\n', encoding="utf-8"
    )
    source = {"language": "ja", "licence": "CC0-1.0"}
    description = {"name": "items", "layout": "jsonl", "root": "items.jsonl", "source": source, "target": "en"}
    (tmp_path / "items.yaml").write_text(json.dumps(description), encoding="utf-8")
    register(warehouse, tmp_path / "items.yaml")
    runs.look(built, instance)
    import_outputs(warehouse, write_outputs(tmp_path / "mine.jsonl", {"e:1": "There is a cat."}), "items", "mine")
    runs.evaluate(built, instance, "mine")
    board = warehouse.read("leaderboard", pl.DataFrame({"corpus": ["items"]}))
    assert board.select("system", "passages", "drift", "sim_best", "chrf").rows() == [("mine", 0, None, None, None)]
    triage = warehouse.read("triage", pl.DataFrame({"passage": ["items/e:1"]}))
    assert triage.select("band", "drift").rows() == [(unmeasured.BAND, None)]

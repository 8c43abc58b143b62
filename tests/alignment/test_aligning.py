"""Alignment and verification in a warehouse: what is aligned anew after a change, what fails, what a model is asked."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.alignment.aligning import cost
from benchmark_assets.alignment.documents import aligners, documents
from benchmark_assets.automation.due import due
from benchmark_assets.studies.protocols import PublishedProtocol
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.provider.provider import Provider
from resources.warehouse import Replacement, Warehouse
from tests.alignment.corpora import PASSAGES, PROSE, Tales, changed, expected, prose
from tests.provider.server import Server
from tests.support import edit_segment, made_home


@pytest.fixture
def tales(tmp_path: Path, warehouse: Warehouse, instance: dg.DagsterInstance) -> Tales:
    return Tales(tmp_path / "tales", warehouse, instance)


@pytest.fixture
def asked(tmp_path: Path, warehouse: Warehouse, instance: dg.DagsterInstance, server: Server) -> Tales:
    """The corpus with a registry that has an aligner at the server."""
    content = {
        "endpoints": {"server": {"url": server.url}}, "embedders": {"minilm": {}}, "embedder": "minilm", "budget": {},
        "aligners": {"ours": {"endpoint": "server", "id": "m", "price": {"input": 1, "output": 2}}},
    }  # fmt: skip
    path = tmp_path / "models.yaml"
    path.write_text(json.dumps(content), encoding="utf-8")
    models = Provider(registry_path=str(path), ledger_path=str(tmp_path / "ledger.sqlite"))
    return Tales(tmp_path / "tales", warehouse, instance, models)


def new_home(tales: Tales, place: Path, monkeypatch: pytest.MonkeyPatch) -> Tales:
    """A new home, built from a copy of the corpus."""
    home = made_home(monkeypatch, place)
    with dg.DagsterInstance.get() as instance:
        new = Tales(place / "tales", DuckDBWarehouse(path=str(home / "variorum.duckdb")), instance)
        shutil.copytree(tales.folder, new.folder, dirs_exist_ok=True)
        assert new.build() == ""
    return new


def test_prose_is_aligned_and_verified(tales: Tales) -> None:
    assert tales.build() == ""
    assert tales.texts() == expected()
    assert tales.doubts() == {}
    stages = tales.warehouse.read("verification", columns=["segment_id", "stage", "in_order"])
    assert sorted(stages.iter_rows()) == sorted((segment, "verbatim", True) for segment in expected())


def test_of_a_document_only_the_passages_asked_for_are_stored(tales: Tales) -> None:
    assert tales.build(passages=PASSAGES[1:2]) == ""
    assert tales.rows()["passage"].to_list() == [PASSAGES[1]]
    assert tales.build() == ""
    assert tales.texts() == expected()


@pytest.mark.proof
@pytest.mark.large
def test_an_edited_guide_aligns_its_document_anew_and_what_comes_out_the_same_goes_no_further(tales: Tales) -> None:
    tales.build("references")
    before, rows = tales.versions(), tales.warehouse.read("alignment")
    edit_segment(tales.description, "ben", "doc1:2.1", "There sat a black raven on the oak tree.")
    assert tales.build("references") == ""
    after = tales.warehouse.read("alignment")
    assert tales.texts() == expected()
    assert after.filter(after["fingerprint"] != rows["fingerprint"])["passage"].to_list() == PASSAGES[:3]
    anew = changed(before, tales.versions())
    written = set(after.filter(~after["run_id"].is_in(rows["run_id"].to_list()))["passage"])
    assert written == set(PASSAGES[:3])  # their likenesses to the guide differ; the other document's rows are as before
    assert not {"alignment", "verification"} & anew.keys()  # likenesses are no part of a version
    assert anew["reference"] == anew["reference_envelope"] == {PASSAGES[1]}


@pytest.mark.proof
@pytest.mark.large
def test_an_edited_prose_aligns_its_document_anew(tales: Tales) -> None:
    tales.build("references")
    before = tales.versions()
    edited = PROSE["doc1"] | {"doc1:3.1": "In the evening the old king came home,"}
    tales.write("dora", "doc1", prose(edited))
    assert tales.build("references") == ""
    assert tales.texts() == expected(doc1=edited)
    assert changed(before, tales.versions())["reference"] == {PASSAGES[2]}


def test_a_correction_changes_the_rows_that_depend_on_it_and_no_others(tales: Tales) -> None:
    tales.build("references")
    before, rows = tales.versions(), tales.content()
    runs = tales.warehouse.read("verification", columns=["passage", "run_id"])
    tales.correct(**{"doc1:2.1": "in the oak tree a raven sat"})
    tales.look()
    stale = due(tales.definitions, tales.instance, dg.AssetKey("alignment")).rows
    assert stale["passage"].to_list() == [PASSAGES[1]]
    assert tales.build("references") == ""
    assert tales.texts() == expected() | {"doc1:2.1": "in the oak tree a raven sat"}
    anew = changed(before, tales.versions())
    for asset in ("alignment", "verification", "reference", "reference_envelope"):
        assert anew[asset] == {PASSAGES[1]}, asset
    findings = tales.warehouse.read("verification", columns=["segment_id", "stage"])
    assert dict(findings.iter_rows())["doc1:2.1"] == "verbatim"
    # The rest of its document was computed again, but the rows are those that are there.
    after = tales.warehouse.read("verification", columns=["passage", "run_id"])
    assert set(after.join(runs, on=after.columns, how="anti")["passage"]) == {PASSAGES[1]}
    stamps = [dict(tales.warehouse.read("verification", columns=["passage", "fingerprint"]).iter_rows())]
    stamps.append({row[0]: row[-1] for row in rows["verification"]})
    assert {passage for passage in PASSAGES if stamps[0][passage] != stamps[1][passage]} == set(PASSAGES[:3])


CORRECTIONS: Sequence[Mapping[str, str | None]] = [
    {"doc1:2.1": "in the oak tree a raven sat;"},  # "Up" is left over, behind the passage before
    {"doc1:2.2": f"{PROSE['doc1']['doc1:2.2']}\n\n{PROSE['doc1']['doc1:3.1']}"},  # takes a clause of the next passage
]


@pytest.mark.proof
def test_after_any_correction_a_home_equals_a_new_one(
    tales: Tales, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """After the last correction only, if the size is small.

    The findings on a passage, and the text left over behind it, depend on the passages around it.
    """
    assert tales.build() == ""
    contents = [tales.content()]
    for number, texts in enumerate(CORRECTIONS):
        tales.correct(**texts)
        assert tales.build() == ""
        contents.append(tales.content())
        if full or number == len(CORRECTIONS) - 1:
            assert contents[-1] == new_home(tales, tmp_path / str(number), monkeypatch).content()
    tales.correct()
    assert tales.build() == ""
    assert tales.content() == contents[0]
    for before, after, table, neighbor in [(0, 1, "unassigned", PASSAGES[0]), (1, 2, "verification", PASSAGES[2])]:
        differing = {row[:-1] for row in contents[before][table]} ^ {row[:-1] for row in contents[after][table]}
        assert neighbor in {row[0] for row in differing}  # its row depends on a passage that it is not


def test_text_that_no_segment_has_is_a_warning_and_no_failure(tales: Tales, instance: dg.DagsterInstance) -> None:
    tales.correct(**{"doc1:2.1": "in the oak tree a raven sat;"})
    assert tales.build() == ""
    key = dg.AssetCheckKey(dg.AssetKey("verification"), "assigned")
    event = instance.event_log_storage.get_latest_asset_check_execution_by_key([key])[key].event
    assert event is not None
    assert event.dagster_event is not None
    evaluation = event.dagster_event.asset_check_evaluation_data
    assert (evaluation.passed, evaluation.severity) == (False, dg.AssetCheckSeverity.WARN)
    characters = sum(len(prose(segments)) for segments in PROSE.values())
    assert f"| tales | dora | 1 | 2 | {characters} | {200 / characters:.1f} |" in str(evaluation.metadata["problems"])


@pytest.mark.proof
@pytest.mark.large
def test_an_edit_of_a_text_to_which_a_translation_refers_verifies_it_again(tales: Tales) -> None:
    tales.write("dora", "doc2", prose(PROSE["doc2"]) + " [as in doc1]")
    tales.correct(**{"doc2:2.2": "a raven sat; there was a wolf sleeping under the branches."})
    assert tales.build() == ""
    assert "occurs in doc1, to which the prose refers" in str(tales.content()["verification"])
    tales.write("dora", "doc1", prose(PROSE["doc1"]).replace("a raven sat", "a crow sat"))
    assert tales.build() == ""
    assert "to which the prose refers" not in str(tales.content()["verification"])


def test_an_unknown_aligner_is_the_error_of_its_passages_and_the_others_are_aligned(tales: Tales) -> None:
    tales.refer("eli", aligner="nobody")
    tales.write("eli", "doc2", prose(PROSE["doc2"]))
    problem = tales.build()
    assert "aligners.nobody" in problem
    assert set(tales.rows()["passage"]) == set(PASSAGES[:3])
    tales.refer("eli", aligner="")
    assert tales.build() == ""
    assert tales.texts() == expected()
    assert tales.texts("eli") == PROSE["doc2"]


def test_a_document_without_any_guide_is_aligned_with_its_source(tales: Tales) -> None:
    """By the packaged multilingual embedder, which the project's registry names."""
    for translator in ("ann", "ben"):
        (tales.folder / f"translation/en/{translator}/doc2_translation-en-{translator}.json").unlink()
    assert tales.build() == ""
    assert tales.doubts() == {}
    assert tales.texts() == expected()


UNLIKE = PROSE["doc1"] | {"doc1:2.2": "whose grey companion dozed beneath."}


def test_a_model_is_asked_for_what_is_unsure_and_nothing_else(asked: Tales, server: Server) -> None:
    asked.refer("dora", aligner="ours", ask="unsure")
    asked.write("dora", "doc1", prose(UNLIKE))
    answers = dict.fromkeys(PROSE["doc1"], "never taken") | {"doc1:2.2": UNLIKE["doc1:2.2"]}
    server.configure(answers=answers)
    assert asked.build() == ""
    assert asked.texts() == expected(doc1=UNLIKE)
    methods = {
        key: each
        for ids, own in asked.rows().select("segment_ids", "methods").iter_rows()
        for key, each in zip(ids, own, strict=True)
    }
    assert methods == dict.fromkeys(expected(), "embedding") | {"doc1:2.2": "model"}
    assert [seen.keys for seen in server.log()] == [list(PROSE["doc1"])]


def test_a_model_that_is_asked_for_all_needs_no_likeness(asked: Tales, server: Server) -> None:
    asked.refer("dora", aligner="ours")
    server.configure(answers={**expected(), "doc1:1.2": None})
    assert asked.build() == ""
    assert asked.texts() == expected() | {"doc1:1.2": None}
    assert set(asked.rows()["confidence"]) == {None}
    assert sorted(seen.keys for seen in server.log()) == [list(PROSE["doc1"]), list(PROSE["doc2"])]


def test_a_failed_call_is_the_error_of_the_document_and_the_next_run_asks_again(asked: Tales, server: Server) -> None:
    asked.refer("dora", aligner="ours")
    server.configure(answers=expected(), by_key={"doc2:1.1": "bad_request"})
    assert "rejected" in asked.build()
    assert asked.texts() == PROSE["doc1"]
    server.configure(answers=expected())
    server.clear()
    assert asked.build() == ""
    assert asked.texts() == expected()
    assert [seen.keys for seen in server.log()] == [list(PROSE["doc2"])]


def test_a_model_is_asked_by_the_published_protocol_that_the_description_names(asked: Tales, server: Server) -> None:
    asked.refer("dora", aligner="ours", protocol="suttas")
    assert "add its benchmark first" in asked.build()
    protocol = PublishedProtocol(
        name="by-paper", system="$translator, $capitals: <<<$translation>>>", user="$segments", reader="segments",
        variables=("translator", "capitals", "translation", "segments"), batch_segments=(4, 5),
        fields={"latin": "source", "ann": "guide"},
    )  # fmt: skip
    row = {
        "benchmark": "suttas", "role": "align", "subject": "suttas", "content": protocol.model_dump_json(),
        "licence": "CC0-1.0", "url": "https://example.org", "fingerprint": "1",
    }  # fmt: skip
    asked.warehouse.write(
        [Replacement("protocol", pl.DataFrame([row]), pl.DataFrame({"role": ["align"]}))], run_id="add"
    )
    answers = {**expected(), "doc1:1.2": None, "doc2:2.1": "Where spring had come, snow was melting."}
    server.configure(answers=answers, keep_bodies=True)
    assert asked.build() == ""
    assert asked.texts() == answers
    assert {each for own in asked.rows()["methods"] for each in own} == {"published", None}
    bodies = [seen.body for seen in server.log() if seen.body]
    questions = {body["messages"][0]["content"]: json.loads(body["messages"][1]["content"]) for body in bodies}
    assert questions.keys() == {f"Dora, DORA: <<<{prose(PROSE[document])}>>>" for document in PROSE}
    assert [seen.keys for seen in server.log() if seen.body] == [
        [*PROSE["doc1"]][:4],
        [*PROSE["doc2"]],
        [*PROSE["doc1"]][4:],
    ]
    assert bodies[0]["messages"][1]["content"].startswith('{\n  "doc1:1.1": {\n    "latin": "Molitor')
    assert {body["response_format"]["type"] for body in bodies} == {"json_object"}
    stages = dict(asked.warehouse.read("verification", columns=["segment_id", "stage"]).iter_rows())
    assert stages == dict.fromkeys(answers.keys() - {"doc1:1.2"}, "verbatim") | {"doc2:2.1": "suspicious"}
    asked.refer("dora", aligner="ours")
    server.configure(answers=expected())
    assert asked.build() == ""
    assert asked.texts() == expected()


@pytest.mark.parametrize(("aligner", "calls"), [("", None), ("ours", 2), ("nobody", None)])
def test_what_models_would_be_asked_is_known_before(
    asked: Tales, server: Server, aligner: str, calls: int | None
) -> None:
    asked.refer("dora", aligner=aligner)
    assert asked.look()
    passages = asked.warehouse.read("source_text", columns=["passage"])
    models = Provider(
        registry_path=str(asked.folder.parent / "models.yaml"), ledger_path=str(asked.folder / "ledger.sqlite")
    )
    found = cost(documents(asked.warehouse, passages), aligners(asked.warehouse), models)
    assert (found and found.calls) == calls
    assert server.log() == []

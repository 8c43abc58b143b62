"""Labels that come back: what is read of each form, what is set aside and why, and what a second import changes."""

import csv
import io
import json
import shutil
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from benchmark_assets.adjudication.triage import item_key
from benchmark_assets.people.answers import NO_ANNOTATOR, TWICE, UNKNOWN_ITEM, Counts, import_labels, read_sheet
from benchmark_assets.people.forms import LABEL_FORM
from benchmark_assets.people.names import first_spellings, same_name
from benchmark_assets.people.places import NO_SPAN, Marked, marked_span, phrase_span
from benchmark_assets.people.sample import export_items
from benchmark_assets.people.sheets import sheet
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from resources.harmless import unguarded
from resources.warehouse import Replacement, Warehouse
from tests.annotate_sample import ANNOTATIONS, ANNOTATORS, answers
from tests.audit.stored import put
from tests.people.test_sample import TEXTS as SENT
from tests.people.test_sample import drawn, put_outputs, rows
from tests.record_sample import translations

__all__ = ["drawn"]

TEXTS = {
    ("alpha", "tiny/doc1:1"): "A mouse runs, the  Cat\nsits; a mouse sleeps.",
    ("alpha", "tiny/doc1:2"): "𒀭 the sun 🌞 rises over 𒀭.",
    ("beta", "tiny/doc1:1"): "=1+1 is right.",
    ("beta", "tiny/doc1:2"): "-- Puss stays put.",
}
COLUMNS = ["item", "annotator", *LABEL_FORM.columns]
MINOR = {"label": "MINOR_ERROR", "error_category": "OTHER", "severity": "low"}
VALID = {"label": "VALID_VARIATION", "severity": "none"}


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """File of a warehouse with four outputs."""
    warehouse = DuckDBWarehouse(path=str(tmp_path_factory.mktemp("stock") / "variorum.duckdb"))
    put_outputs(warehouse, TEXTS)
    return Path(warehouse.name)


@pytest.fixture
def outputs(stock: Path, tmp_path: Path) -> Iterator[Warehouse]:
    own = DuckDBWarehouse(path=str(shutil.copy(stock, tmp_path / "variorum.duckdb")))
    with own.kept_open():
        yield own


KEYS = [item_key(*key, text) for key, text in TEXTS.items()]
MOUSE, SUN, FORMULA, PUSS = KEYS


def write(path: Path, *given: Mapping[str, str], columns: Sequence[str] = COLUMNS) -> Path:
    path.write_bytes(sheet(columns, ([row.get(name, "") for name in columns] for row in given)))
    return path


def mori(item: str, **answers: str) -> dict[str, str]:
    return {"item": item, "annotator": "mori", **answers}


def quarantined(warehouse: Warehouse) -> list[tuple[int, str]]:
    return warehouse.read("label_quarantine", columns=["place", "reason"]).rows()


def labels(warehouse: Warehouse, *columns: str) -> list[tuple[Any, ...]]:
    return warehouse.read("imported_label", columns=["item", "annotator", *columns]).rows()


# The spreadsheet


def test_a_sheet_brings_every_field(outputs: Warehouse, tmp_path: Path) -> None:
    row = MINOR | {"confidence": "High", "notes": " =not a formula ", "error_span": "the cat SITS"}
    path = write(tmp_path / "items.csv", mori(MOUSE, **row), mori(SUN), {"item": SUN, "annotator": "santos"} | VALID)
    assert import_labels(outputs, [path]) == [Counts(taken=2, unchanged=0, replaced=0, open=1, quarantined=0)]
    stored = outputs.read("imported_label").drop("fingerprint", "run_id", "updated_at")
    assert sorted(stored.rows()) == sorted([
        (MOUSE, "mori", "MINOR_ERROR", "OTHER", "low", "high", "=not a formula", 14, 27, str(path), "tiny/doc1:1", 2),
        (SUN, "santos", "VALID_VARIATION", "NONE", "none", None, "", None, None, str(path), "tiny/doc1:2", 4),
    ])  # fmt: skip
    text = TEXTS["alpha", "tiny/doc1:1"]
    assert text[14:27].split() == ["the", "Cat", "sits"]


def test_a_sheet_that_went_out_comes_back_with_labels(drawn: Warehouse, tmp_path: Path) -> None:
    export_items(drawn, tmp_path / "out", "tiny", ["mori"])
    table = rows((tmp_path / "out" / "items.mori.csv").read_bytes().decode("utf-8-sig"))
    for row in table:
        row |= MINOR | {"error_span": row["candidate"]}  # copied as the cell shows it
    assert any(row["candidate"].startswith("'=") for row in table)
    path = tmp_path / "back.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, table[0].keys(), delimiter=";")
        writer.writeheader()
        writer.writerows(table)
    assert import_labels(drawn, [path]) == [Counts(5, 0, 0, 0, 0)]
    lengths = {item_key(*key, text): len(text) for key, text in SENT.items()}
    assert all((start, end) == (0, lengths[item]) for item, _, start, end in labels(drawn, "span_start", "span_end"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("form", [
    {"delimiter": ";"}, {"delimiter": "\t", "lineterminator": "\n"}, {"quoting": csv.QUOTE_ALL}, {},
])  # fmt: skip
def test_a_sheet_may_be_saved_in_other_forms(tmp_path: Path, form: dict[str, Any], encoding: str) -> None:
    given = [{"item": "a", "Label ": "MINOR_ERROR", "error_category": "OTHER", "severity": "low; very, indeed",
              "notes": 'line\n"two", three', "more": ""}]  # fmt: skip
    file = io.StringIO()
    writer = csv.DictWriter(file, ["notes", *[name for name in given[0] if name != "notes"], ""], **form)
    writer.writeheader()
    writer.writerows([*given, {}, {"more": " "}])
    path = tmp_path / "items.csv"
    path.write_bytes(file.getvalue().encode(encoding))
    with pytest.raises(BadInput, match="row 1 more: unknown column"):
        read_sheet(path, [LABEL_FORM])
    read = read_sheet(path, [LABEL_FORM], ["More"])
    assert read.open == 0
    (answer,) = read.answers
    assert (answer.place, answer.item, answer.annotator) == (2, "a", "")
    assert answer.values["notes"] == 'line\n"two", three'
    assert answer.values["severity"] == "low; very, indeed"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (mori("0123456789abcdef", **VALID), UNKNOWN_ITEM),
        (mori("", **VALID), "the item is missing"),
        ({"item": MOUSE} | VALID, NO_ANNOTATOR),
        (mori(MOUSE, **VALID | {"label": "FINE"}), "label 'FINE' is not one of VALID_VARIATION"),
        (mori(MOUSE, severity="low"), "label '' is not one of"),
        (mori(MOUSE, **MINOR | {"error_category": ""}), "error_category NONE is not allowed with label MINOR_ERROR"),
        (mori(MOUSE, **VALID | {"error_category": "OTHER"}), "error_category OTHER is not allowed with label VALID"),
        (mori(MOUSE, **MINOR | {"error_category": "TYPO"}), "error_category 'TYPO' is not one of"),
        (mori(MOUSE, **MINOR | {"severity": ""}), "severity '' is not one of none, low, medium, high"),
        (mori(MOUSE, **MINOR | {"confidence": "90 %"}), "confidence '90 %' is not one of low, medium, high"),
        (mori(MOUSE, **MINOR | {"error_span": "a dog"}), NO_SPAN),
        (mori(MOUSE, notes="only a note"), "label '' is not one of"),
        (mori(MOUSE, **VALID | {"severity": "high"}), "severity high is not allowed with label VALID_VARIATION"),
        (mori(MOUSE, **MINOR | {"severity": "none"}), "severity none is not allowed with label MINOR_ERROR"),
    ],
)
def test_a_row_that_does_not_fit_is_set_aside_and_the_others_are_taken(
    outputs: Warehouse, tmp_path: Path, row: dict[str, str], reason: str
) -> None:
    path = write(tmp_path / "items.csv", mori(SUN, **VALID), row, mori(PUSS, **MINOR))
    assert import_labels(outputs, [path]) == [Counts(2, 0, 0, 0, 1)]
    ((place, said),) = quarantined(outputs)
    assert place == 3
    assert reason in said
    assert {item for item, _ in labels(outputs)} == {SUN, PUSS}


def test_a_row_with_cells_beyond_the_header_is_set_aside(outputs: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text(f"item,annotator,label,error_category,severity\n{MOUSE},mori,VALID_VARIATION,,none,but, then\n")
    assert import_labels(outputs, [path]) == [Counts(0, 0, 0, 0, 1)]
    assert quarantined(outputs) == [(2, "the row has more cells than the header")]


def test_who_labels_an_item_twice_and_differently_is_asked_which(outputs: Warehouse, tmp_path: Path) -> None:
    santos = {"item": MOUSE, "annotator": "santos"} | VALID
    path = write(
        tmp_path / "items.csv",
        mori(MOUSE, **VALID), santos, mori(MOUSE, **MINOR), mori(SUN, **MINOR), mori(SUN, **MINOR), mori(SUN),
        mori(PUSS, **VALID), mori(PUSS, **VALID | {"severity": "?"}),
    )  # fmt: skip
    assert import_labels(outputs, [path]) == [Counts(taken=2, unchanged=0, replaced=0, open=1, quarantined=4)]
    places = quarantined(outputs)
    assert places[:3] == [(2, TWICE), (4, TWICE), (8, TWICE)]
    assert places[3][1].startswith("severity '?'")
    assert sorted(labels(outputs)) == sorted([(MOUSE, "santos"), (SUN, "mori")])


def test_a_phrase_stands_where_it_first_occurs() -> None:
    text = TEXTS["alpha", "tiny/doc1:1"]
    assert phrase_span("mouse", text) == (2, 7)
    assert phrase_span("CAT sits", text) == (19, 27)
    assert phrase_span("(.*)", "a (.*) b") == (2, 6)
    for absent in ("the dog", "a long way", ":"):
        with pytest.raises(ValueError, match=NO_SPAN):
            phrase_span(absent, text)


@pytest.mark.parametrize("typed", [
    'he said "stop" -- and...', "he said 'stop' - and…", "He said “stop”—and ...", "he  said«stop» – and...",
    "he siad “stop” — and…",
])  # fmt: skip
def test_a_typed_phrase_is_found_whatever_its_program_made_of_it(typed: str) -> None:
    start, end = phrase_span(typed, candidate := "Then he said “stop” — and… they stopped.")
    assert candidate[start:end].rstrip("…") == "he said “stop” — and"


def of(warehouse: Warehouse) -> list[dict[str, str]]:
    """Rows of a sheet of the drawn sample, each labeled as valid."""
    with TemporaryDirectory() as folder:
        export_items(warehouse, Path(folder) / "out", "tiny", ["mori"])
        table = rows((Path(folder) / "out" / "items.mori.csv").read_bytes().decode("utf-8-sig"))
    return [{name: unguarded(cell) for name, cell in row.items()} | VALID for row in table]


@pytest.mark.parametrize("column", ["candidate", "source", "reference ann"])
def test_a_row_whose_text_was_altered_is_set_aside(drawn: Warehouse, tmp_path: Path, column: str) -> None:
    table = of(drawn)
    columns = list(table[0])
    former, table[1][column] = table[1][column], "Another text altogether"
    path = write(tmp_path / "back.csv", *table, columns=columns)
    assert import_labels(drawn, [path]) == [Counts(4, 0, 0, 0, 1)]
    ((place, reason),) = quarantined(drawn)
    assert place == 3
    assert column in reason
    assert "altered in the file" in reason
    table[1][column] = former
    assert import_labels(drawn, [write(path, *table, columns=columns)]) == [Counts(1, 4, 0, 0, 0)]


def test_labels_that_were_sorted_apart_from_their_texts_are_set_aside(drawn: Warehouse, tmp_path: Path) -> None:
    table = of(drawn)
    keys = [row["item"] for row in table]
    table = [row | {"item": key} for row, key in zip(table, keys[1:] + keys[:1], strict=True)]
    path = write(tmp_path / "back.csv", *table, columns=list(table[0]))
    assert import_labels(drawn, [path]) == [Counts(0, 0, 0, 0, 5)]


def test_spaces_and_line_breaks_that_a_spreadsheet_changes_are_no_alteration(drawn: Warehouse, tmp_path: Path) -> None:
    table = [row | {"candidate": f" {row['candidate']} ".replace("\n", "\r\n")} for row in of(drawn)]
    for row in table:
        row["candidate"] = unicodedata.normalize("NFD", row["candidate"])
    path = write(tmp_path / "back.csv", *table, columns=list(table[0]))
    assert import_labels(drawn, [path]) == [Counts(5, 0, 0, 0, 0)]


def test_no_label_is_lost_by_autocorrection_and_none_is_taken_for_another_item(
    drawn: Warehouse, tmp_path: Path
) -> None:
    table = of(drawn)
    for row in table:
        corrected = row["candidate"].replace("mouse", "moose").replace(",", " ,").replace("(", "“(").replace(")", ")”")
        row["candidate"] = corrected[:1].upper() + corrected[1:]
    assert import_labels(drawn, [write(tmp_path / "back.csv", *table, columns=list(table[0]))])[0].quarantined == 0
    keys = [row["item"] for row in table]
    moved = [row | {"item": key} for row, key in zip(table, keys[1:] + keys[:1], strict=True)]
    assert import_labels(drawn, [write(tmp_path / "moved.csv", *moved, columns=list(table[0]))])[0].quarantined == 5


def test_a_source_that_was_corrected_since_is_accepted_if_its_column_is_ignored(
    drawn: Warehouse, tmp_path: Path
) -> None:
    table = of(drawn)
    path = write(tmp_path / "back.csv", *table, columns=list(table[0]))
    sources = drawn.read("source_text").drop("run_id", "updated_at").with_columns(text=pl.lit("Fons novus"))
    drawn.write([Replacement("source_text", sources, None)], run_id="test")
    assert import_labels(drawn, [path])[0].quarantined == 5
    assert "--ignore 'source'" in quarantined(drawn)[0][1]
    assert import_labels(drawn, [path], ignore=["source"]) == [Counts(5, 0, 0, 0, 0)]


# Names


def test_spellings_of_a_name_are_one_person(outputs: Warehouse, tmp_path: Path) -> None:
    names = ["Mori  É", "mori é", " MORI e\u0301 "]
    first = write(tmp_path / "1.csv", {"item": MOUSE, "annotator": names[0]} | VALID)
    second = write(tmp_path / "2.csv", *({"item": MOUSE, "annotator": name} | MINOR for name in names[1:]),
                   {"item": SUN, "annotator": "mori é"} | VALID)  # fmt: skip
    respelled = {"mori é": names[0], "MORI e\u0301": names[0]}
    assert import_labels(outputs, [first, second]) == [
        Counts(1, 0, 0, 0, 0),
        Counts(1, 0, 1, 0, 0, respelled),
    ]
    assert sorted(labels(outputs, "label")) == sorted([
        (MOUSE, names[0], "MINOR_ERROR"), (SUN, names[0], "VALID_VARIATION")
    ])  # fmt: skip


def test_two_spellings_of_an_earlier_version_become_one(outputs: Warehouse, tmp_path: Path) -> None:
    path = write(tmp_path / "1.csv", mori(MOUSE, **VALID))
    import_labels(outputs, [path])
    earlier = outputs.read("imported_label").drop("run_id", "updated_at").with_columns(annotator=pl.lit("Mori"))
    outputs.write([Replacement("imported_label", earlier, earlier.select("item", "annotator"))], run_id="earlier")
    assert import_labels(outputs, [path]) == [Counts(0, 1, 0, 0, 0)]
    assert labels(outputs) == [(MOUSE, "mori")]


@given(st.text(max_size=8), st.text(max_size=8))
def test_same_name_is_an_equivalence_that_ignores_case_and_space(one: str, two: str) -> None:
    assert same_name(same_name(one)) == same_name(one)
    assert same_name(f"  {one}\t{two} ") == same_name(f"{one} {two}")
    assert first_spellings([one, two], [two])[two] == two


# Label Studio


def choice(name: str, *values: str) -> dict[str, Any]:
    return {"id": f"c{name}", "from_name": name, "to_name": "candidate", "type": "choices", "origin": "manual",
            "value": {"choices": list(values)}}  # fmt: skip


def marked(start: Any, end: Any, **further: Any) -> dict[str, Any]:
    return {"id": "s", "from_name": "error_span", "to_name": "candidate", "type": "labels",
            "value": {"start": start, "end": end, "labels": ["Error"], **further}}  # fmt: skip


def annotation(by: Any, *result: dict[str, Any], **further: Any) -> dict[str, Any]:
    return {"id": 7, "completed_by": by, "result": list(result), "was_cancelled": False, "ground_truth": False,
            "created_at": "2026-11-21T10:00:00Z", "lead_time": 31.5, "prediction": {}} | further  # fmt: skip


def task(item: str, *annotations: dict[str, Any], **further: Any) -> dict[str, Any]:
    shown = {"item": item, "made_for": "mori", "place": "doc1:1", "source_text": "Mus"}
    shown["candidate"] = dict(zip(KEYS, TEXTS.values(), strict=True)).get(item, "A mouse")
    return {"id": 3, "data": shown, "annotations": list(annotations), "drafts": [], "predictions": [],
            "project": 1} | further  # fmt: skip


def export(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")  # escapes what is not ASCII, as Label Studio does
    return path


IS_MINOR = [choice("label", "Minor error"), choice("error_category", "Omission or truncation"),
            choice("severity", "Medium")]  # fmt: skip
IS_VALID = [choice("label", "Valid variation"), choice("severity", "None")]
AREA = {"from_name": "notes", "to_name": "candidate", "type": "textarea", "value": {"text": ["one", "two 🌞"]}}


def test_an_export_of_label_studio_brings_all_who_finished(outputs: Warehouse, tmp_path: Path) -> None:
    drafted = [{"id": 1, "result": IS_MINOR, "user": "x@y.org"}]
    guessed = [{"id": 1, "result": IS_MINOR, "model_version": "m"}]
    path = export(tmp_path / "project.json", [
        task(MOUSE, annotation({"id": 4, "email": "ada@uni.org", "first_name": ""}, *IS_MINOR, AREA,
                               choice("confidence", "Low"), marked(14, 27, text="the  Catsits")),
             annotation("bo@uni.org", *IS_VALID), annotation(12, *IS_VALID)),
        task(SUN, annotation(12, *IS_MINOR, was_cancelled=True), drafts=drafted, predictions=guessed),
        task(FORMULA, annotation("bo@uni.org")),
        task(PUSS, annotation("bo@uni.org", *IS_MINOR, skipped=True), annotation({"id": 9}, *IS_VALID)),
    ])  # fmt: skip
    assert import_labels(outputs, [path]) == [Counts(taken=4, unchanged=0, replaced=0, open=2, quarantined=0)]
    stored = outputs.read("imported_label").drop("file", "passage", "place", "fingerprint", "run_id", "updated_at")
    assert sorted(stored.rows()) == sorted([
        (MOUSE, "ada@uni.org", "MINOR_ERROR", "OMISSION_OR_TRUNCATION", "medium", "low", "one\ntwo 🌞", 14, 27),
        (MOUSE, "bo@uni.org", "VALID_VARIATION", "NONE", "none", None, "", None, None),
        (MOUSE, "12", "VALID_VARIATION", "NONE", "none", None, "", None, None),
        (PUSS, "9", "VALID_VARIATION", "NONE", "none", None, "", None, None),
    ])  # fmt: skip


def test_tasks_of_earlier_versions_name_the_source_otherwise(drawn: Warehouse, tmp_path: Path) -> None:
    rows_of = {row["item"]: row for row in of(drawn)}
    first, second, *_ = rows_of
    tasks = [task(first, annotation("a@b.org", *IS_VALID)), task(second, annotation("a@b.org", *IS_VALID))]
    for entry, source in zip(tasks, (rows_of[first]["source"], "Another source"), strict=True):
        row = rows_of[entry["data"]["item"]]
        entry["data"] |= {"source": source, "candidate": row["candidate"]}
        del entry["data"]["source_text"]
    assert import_labels(drawn, [export(tmp_path / "p.json", tasks)]) == [Counts(1, 0, 0, 0, 1)]
    assert labels(drawn) == [(first, "a@b.org")]
    assert quarantined(drawn)[0][1].startswith("'source' was altered")


def test_the_short_form_brings_the_same(outputs: Warehouse, tmp_path: Path) -> None:
    def short(item: str, **said: Any) -> dict[str, Any]:
        return {"item": item, "made_for": "mori", "id": 3, "annotation_id": 7,
                "annotator": "ada@uni.org", "lead_time": 3.1} | said  # fmt: skip

    words = {"label": "Minor error", "error_category": "Other", "severity": "Low"}
    path = export(tmp_path / "project.json", [
        short(MOUSE, **words, notes="one", error_span=[{"start": 14, "end": 27, "text": "the", "labels": ["Error"]}]),
        short(SUN, **words, notes=["one", {"text": ["two", "three"]}],
              error_span=[{"start": 2, "end": 9, "text": "the sun", "labels": ["Error"]}]),
        short(FORMULA, annotator=None),
        short(PUSS, label="Valid variation", severity="None", annotator=12),
    ])  # fmt: skip
    assert import_labels(outputs, [path]) == [Counts(taken=2, unchanged=0, replaced=0, open=1, quarantined=1)]
    assert quarantined(outputs) == [(1, NO_SPAN)]
    assert sorted(labels(outputs, "label", "notes", "span_start")) == sorted([
        (SUN, "ada@uni.org", "MINOR_ERROR", "one\ntwo\nthree", 2), (PUSS, "12", "VALID_VARIATION", "", None),
    ])  # fmt: skip


def test_a_lone_account_without_a_name_has_that_of_its_tasks(outputs: Warehouse, tmp_path: Path) -> None:
    """Two people with a Label Studio each are both number 1; two accounts of one Label Studio are two people."""
    alone = export(tmp_path / "alone.json", [task(MOUSE, annotation(1, *IS_VALID)), task(SUN, annotation(1))])
    other = task(MOUSE, annotation(1, *IS_MINOR))
    other["data"]["made_for"] = "santos"
    further = export(tmp_path / "further.json", [other])
    both = export(tmp_path / "both.json", [task(PUSS, annotation(1, *IS_VALID), annotation(2, *IS_MINOR))])
    mixed = export(tmp_path / "mixed.json", [task(SUN, annotation(5, *IS_VALID)), {**other, "id": 5}])
    mixed_content = json.loads(mixed.read_text())
    mixed_content[1]["annotations"][0]["completed_by"] = 5
    export(mixed, mixed_content)
    import_labels(outputs, [alone, further, both, mixed])
    assert sorted(labels(outputs)) == sorted([
        (MOUSE, "mori"), (MOUSE, "santos"), (PUSS, "1"), (PUSS, "2"), (SUN, "5"), (MOUSE, "5"),
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ([choice("label", "Minor error", "Major error"), *IS_MINOR[1:]], "label has 2 values"),
        ([*IS_MINOR, marked(0, 1), marked(2, 3)], "more than one error span is marked"),
        ([*IS_MINOR, marked(0, 999, text="A mouse")], NO_SPAN),
        ([*IS_MINOR, marked(5, 5)], NO_SPAN),
        ([*IS_MINOR, marked(-3, 2)], NO_SPAN),
        ([*IS_MINOR, marked(0, 7, text="A horse")], NO_SPAN),
        ([*IS_MINOR, marked("/span[1]", None)], "the error span has no position in the candidate"),
        ([choice("label", "Valid variation"), *IS_MINOR[1:]], "is not allowed with label VALID_VARIATION"),
        ([choice("severity", "Low")], "label '' is not one of"),
        ([choice("label", "Minor error"), {"type": "relation"}, choice("severity", "Low")], "error_category NONE"),
    ],
)
def test_an_annotation_that_does_not_fit_is_set_aside(
    outputs: Warehouse, tmp_path: Path, result: list[dict[str, Any]], reason: str
) -> None:
    path = export(tmp_path / "p.json", [task(SUN, annotation(1, *IS_VALID)), task(MOUSE, annotation(1, *result))])
    assert import_labels(outputs, [path]) == [Counts(1, 0, 0, 0, 1)]
    ((place, said),) = quarantined(outputs)
    assert place == 2
    assert reason in said


def test_faults_of_one_task_are_told_together(outputs: Warehouse, tmp_path: Path) -> None:
    wrong = [choice("label", "Minor error", "Major error")]
    path = export(tmp_path / "p.json", [
        task(MOUSE, annotation("a@b.org", *wrong), annotation("a@b.org", *IS_MINOR), annotation(None, *IS_VALID)),
        {"id": 4, "data": {"text": "of another project"}, "annotations": [annotation("a@b.org", *IS_VALID)]},
    ])  # fmt: skip
    assert import_labels(outputs, [path]) == [Counts(0, 0, 0, 0, 3)]
    assert quarantined(outputs) == [
        (1, NO_ANNOTATOR), (1, f"label has 2 values; {TWICE}"), (2, "the item is missing"),
    ]  # fmt: skip


def test_half_a_character_does_no_harm(outputs: Warehouse, tmp_path: Path) -> None:
    """A browser can cut an astral character in two."""
    half = {"from_name": "notes", "type": "textarea", "value": {"text": ["\ud83c!"]}}
    path = export(tmp_path / "p.json", [
        task(SUN, annotation("\udf1e@b.org", *IS_MINOR, half)), task("\ud83c", annotation(1, *IS_VALID)),
    ])  # fmt: skip
    assert import_labels(outputs, [path]) == [Counts(1, 0, 0, 0, 1)]
    assert labels(outputs, "notes") == [(SUN, "\ufffd@b.org", "\ufffd!")]


@given(st.text(st.sampled_from("ab 𒀭🌞שׁ\né"), min_size=1, max_size=12), st.data())
@example("𒀭a", None)
def test_offsets_count_code_points_or_utf_16_and_the_words_tell_which(text: str, data: st.DataObject | None) -> None:
    start = data.draw(st.integers(0, len(text) - 1)) if data else 1
    end = data.draw(st.integers(start + 1, len(text))) if data else 2
    words = text[start:end]
    assume(words.strip())

    def units(count: int) -> int:
        return len(text[:count].encode("utf-16-le")) // 2

    assert marked_span(Marked(start, end, words), text) == (start, end)
    if text[units(start) : units(end)] != words:  # else it may mean either
        assert marked_span(Marked(units(start), units(end), words), text) == (start, end)
    for said in (words.replace("\n", "\\n"), words.replace("\n", "")):
        for place in ((start, end), (units(start), units(end))):
            first, last = marked_span(Marked(*place, said), text)
            assert "".join(text[first:last].split()) == "".join(words.split())
    assert marked_span(Marked(start, end, ""), text) == (start, end)


def refused(warehouse: Warehouse, path: Path) -> list[tuple[str, str]]:
    """Key and remedy of each fault of a file. Nothing in the file is stored."""
    with pytest.raises(BadInput) as caught:
        import_labels(warehouse, [path])
    assert {fault.where for fault in caught.value.faults} == {str(path)}
    assert warehouse.read("imported_label").is_empty()
    return [(fault.key, fault.remedy) for fault in caught.value.faults]


def test_an_unknown_column_is_refused_by_name_unless_it_is_ignored(outputs: Warehouse, tmp_path: Path) -> None:
    row = mori(MOUSE, **VALID) | {"note": "lost", "reference ann": "", "colour": "red"}
    columns = ["item", "annotator", "reference ann", "note", *LABEL_FORM.columns[:4], "Colour"]
    path = write(tmp_path / "items.csv", row, columns=columns)
    misspelled, other = refused(outputs, path)
    assert other == ("row 1 note", "write `notes`, or name it with `--ignore`")
    assert misspelled[0] == "row 1 colour"
    assert misspelled[1].startswith("use one of ")
    assert import_labels(outputs, [path], ignore=["note", "Colour"])[0].taken == 1


def test_unknown_controls_and_fields_of_label_studio_are_refused(outputs: Warehouse, tmp_path: Path) -> None:
    """Of a renamed control, the notes of all annotators would be lost."""
    renamed = [*IS_VALID, AREA | {"from_name": "note"}]
    wrong = task(SUN, annotation("a@b.org", *renamed))
    wrong["data"]["colour"] = "red"
    full = export(tmp_path / "full.json", [task(MOUSE, annotation("a@b.org", *IS_VALID)), wrong, wrong])
    assert [key for key, _ in refused(outputs, full)] == ["task 2 colour", "task 2 note"]
    assert refused(outputs, full)[1][1].startswith("write `notes`")
    short = {"id": 1, "annotation_id": 2, "annotator": 3, "created_at": "", "updated_at": "", "lead_time": 1.0}
    short |= {"item": PUSS, "label": "Valid variation", "severity": "None", "reference_1": "—", "confidense": "low"}
    least = export(tmp_path / "min.json", [short])
    assert refused(outputs, least) == [("task 1 confidense", "write `confidence`, or name it with `--ignore`")]
    counts = import_labels(outputs, [full, least], ignore=["colour", "note", "confidense"])
    assert [each.taken for each in counts] == [2, 1]


# Again


def snapshot(warehouse: Warehouse) -> list[pl.DataFrame]:
    """All that is stored of labels, run and time included."""
    return [warehouse.read(table) for table in ("imported_label", "label_quarantine")]


def test_the_same_file_again_changes_nothing(outputs: Warehouse, tmp_path: Path) -> None:
    path = write(tmp_path / "items.csv", mori(MOUSE, **VALID), mori(SUN, label="?"), mori(PUSS, **MINOR), mori(FORMULA))
    import_labels(outputs, [path])
    before = snapshot(outputs)
    assert import_labels(outputs, [path, path]) == [Counts(0, 2, 0, 1, 1)] * 2
    assert all(now.equals(then) for now, then in zip(snapshot(outputs), before, strict=True))


def test_a_corrected_file_replaces_what_its_annotator_said(outputs: Warehouse, tmp_path: Path) -> None:
    santos = {"item": MOUSE, "annotator": "santos"} | VALID
    path = write(tmp_path / "items.csv", mori(MOUSE, **VALID), santos, mori(SUN, label="?"), mori(PUSS, label="!"))
    import_labels(outputs, [path])
    untouched = outputs.read("imported_label").filter(annotator="santos")
    write(path, mori(MOUSE, **MINOR), santos, mori(SUN, **VALID), mori(PUSS, label="!!"))
    assert import_labels(outputs, [path]) == [Counts(taken=1, unchanged=1, replaced=1, open=0, quarantined=1)]
    assert [reason.split()[1] for _, reason in quarantined(outputs)] == ["'!!'"]
    assert outputs.read("imported_label").filter(annotator="santos").equals(untouched)
    # Under another name, too: what a file brings takes the place of what was wrong with another's.
    other = write(tmp_path / "items (2).csv", mori(PUSS, **MINOR))
    assert import_labels(outputs, [other]) == [Counts(1, 0, 0, 0, 0)]
    assert quarantined(outputs) == []
    assert {item: label for item, name, label in labels(outputs, "label") if name == "mori"} == {
        MOUSE: "MINOR_ERROR", SUN: "VALID_VARIATION", PUSS: "MINOR_ERROR"
    }  # fmt: skip


def test_a_label_that_becomes_unreadable_stays_as_it_was(outputs: Warehouse, tmp_path: Path) -> None:
    path = write(tmp_path / "items.csv", mori(MOUSE, **VALID), mori(SUN, **VALID))
    import_labels(outputs, [path])
    write(path, mori(MOUSE, **VALID | {"severity": "?"}), mori(SUN))
    assert import_labels(outputs, [path]) == [Counts(0, 0, 0, 1, 1)]
    assert len(labels(outputs)) == 2


def test_labels_may_be_given_in_the_name_of_somebody(outputs: Warehouse, tmp_path: Path) -> None:
    sheet = write(tmp_path / "items.csv", {"item": MOUSE} | VALID)
    studio = export(tmp_path / "p.json", [task(SUN, annotation("ada@uni.org", *IS_VALID))])
    import_labels(outputs, [sheet, studio], "ada")
    assert sorted(labels(outputs)) == sorted([(MOUSE, "ada"), (SUN, "ada")])
    several = write(tmp_path / "both.csv", mori(PUSS, **VALID), {"item": PUSS, "annotator": "santos"} | VALID)
    with pytest.raises(BadInput, match="has labels by several annotators: mori, santos"):
        import_labels(outputs, [several], "ada")


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("items.ods", b"PK", "unknown ending"),
        ("items.xlsx", b"PK", "cannot be read as an archive"),
        ("items.csv", b"place,text\n1,a\n", "lacks the columns item, label"),
        ("items.csv", b"", "lacks the columns"),
        ("items.csv", b"item,lable,error_category,severity\n", "lacks the columns label"),
        ("items.csv", "item,label,error_category,severity,notes\na,b,c,d,é\n".encode("latin-1"), "is not UTF-8"),
        ("items.csv", b'item,label,error_category,severity\n"a"b,c,d,e\n', "is not valid CSV"),
        ("items.csv", b'item,label,error_category,severity\n"a,c,d,e\n', "is not valid CSV"),
        ("items.csv", b"item,label,error_category,severity,Label\n", "has the column label twice"),
        ("p.json", b"{}", "is not an object with a list for each campaign"),
        ("p.json", b"1", "is not a list of tasks"),
        ("p.json", b"[]", "has no task with an item"),
        ("p.json", b"[1]", "is not a list of tasks"),
        ("p.json", b"[" * 100_000, "is not valid JSON"),
        ("p.json", b'[{"data": {"item": "a"}', "is not valid JSON"),
        ("p.json", b'[{"data": {"text": "a"}, "annotations": []}]', "has no task with an item"),
        ("p.json", b'[{"data": {"item": "a"}}, {"data": null}]', "has no object `data`"),
        ("p.json", b'[{"data": {"item": "a"}, "annotations": [5]}]', "not in Label Studio's format"),
        ("p.json", b'[{"data": {"item": "a"}, "annotations": [{"result": null}]}]', "not in Label Studio's format"),
    ],
)
def test_of_what_is_no_file_of_labels_nothing_is_stored(
    outputs: Warehouse, tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    good = write(tmp_path / "good.csv", mori(MOUSE, **VALID))
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=problem):
        import_labels(outputs, [good, tmp_path / name])
    with pytest.raises(BadInput, match="cannot be read"):
        import_labels(outputs, [good, tmp_path / "nowhere.csv"])
    assert [len(table) for table in snapshot(outputs)] == [0, 0]


# The sample's


def test_the_samples_labels_are_all_of_outputs_of_the_sample(warehouse: Warehouse) -> None:
    texts = {(m, f"sample/{own}"): text for m, each in translations().items() for own, text in each.items()}
    put(warehouse, "model_output", *({"model": m, "passage": p, "text": text} for (m, p), text in texts.items()))
    paths = [ANNOTATIONS / f"{name}.csv" for name in ANNOTATORS]
    counts = import_labels(warehouse, paths)
    assert [each[1:] for each in counts] == [(0, 0, 0, 0, {})] * 2
    assert counts[0].taken == len(texts) == 240
    assert 70 <= counts[1].taken <= 90
    stored = warehouse.read("imported_label")
    assert set(stored["annotator"]) == set(ANNOTATORS)
    mori, santos = (stored.filter(annotator=name).select("item", "label") for name in ANNOTATORS)
    both = mori.join(santos, on="item")
    alike = both.filter(pl.col("label") == pl.col("label_right"))
    assert 0.75 < len(alike) / len(both) < 0.95  # people differ, and mostly agree
    assert stored["span_start"].count() > 10
    assert sum(path.stat().st_size for path in paths) < 60_000


def test_the_samples_labels_are_those_that_the_rule_gives() -> None:
    for name in ANNOTATORS:
        assert (ANNOTATIONS / f"{name}.csv").read_bytes() == answers(name)

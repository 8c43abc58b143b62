"""Forms: what follows from a declaration, for all declared forms and for one that nobody declared before."""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmark_assets.adjudication.triage import item_key
from benchmark_assets.people.answers import Candidate, checked, import_labels, read
from benchmark_assets.people.form import Choice, Errors, Field, Form, Phrase, Row, Score
from benchmark_assets.people.forms import FORMS
from benchmark_assets.people.items import SheetItem
from benchmark_assets.people.mqm import BEST, MISSING
from benchmark_assets.people.sample import export_items, items_sheet
from benchmark_assets.people.sheets import sheet
from resources.harmless import unguarded
from resources.warehouse import Warehouse
from tests.corpus.readers.test_table import write_workbook
from tests.people.test_sample import ODD, drawn, rows

__all__ = ["drawn"]

WORDS = st.text(st.sampled_from("ab 𒀭🌞é\n=-'"), min_size=1, max_size=20).filter(str.strip)


def written(field: Field, text: str, row: Row, data: st.DataObject) -> str:
    """What a person may write into the cell of a field; `row` has the values of earlier fields."""
    if isinstance(field, Choice):
        words = list(field.words)
        if field.when:
            applies = row[field.when[0]] in field.when[1]
            words = [word for word in words if word != field.otherwise] if applies else [field.otherwise]
        word: str = data.draw(st.sampled_from(words if field.needed else ["", *words]))
        return data.draw(st.sampled_from([word, word.lower(), word.replace("_", " ").title(), f" {word} "]))
    if isinstance(field, Score):
        return str(data.draw(st.integers(0, field.most)) / 2).replace(".", data.draw(st.sampled_from(".,")))
    if isinstance(field, Errors):
        kinds = st.sampled_from(field.categories or [""])
        marks = data.draw(
            st.lists(st.tuples(st.sampled_from(list(field.severities)), kinds, st.booleans()), max_size=3)
        )
        word = text.split()[0]
        return "\n".join(f"{name} {kind}: {word if here else MISSING}" for name, kind, here in marks)
    if isinstance(field, Phrase):
        start = data.draw(st.integers(0, len(text) - 1))
        return text[start : data.draw(st.integers(start, len(text)))]
    return data.draw(ODD)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@given(texts=st.lists(WORDS, min_size=1, max_size=3), data=st.data())
def test_what_people_write_into_a_sheet_comes_back_as_declared(
    tmp_path_factory: pytest.TempPathFactory, form: Form, texts: list[str], data: st.DataObject
) -> None:
    """Texts go out in a sheet, people fill it in with a program that knows only CSV, and its answers are valid."""
    items = [SheetItem(item_key("m", str(n), text), str(n), text, {"ann": text}, text) for n, text in enumerate(texts)]
    table = rows(items_sheet(items, ["ann"], "mori", form).decode("utf-8-sig"))
    wanted = []
    for cells, text in zip(table, texts, strict=True):
        row: dict[str, object] = {}
        for field in form.fields:
            cell = written(field, text, row, data)
            assume(unguarded(cell) == cell and unguarded(cell.strip()) == cell.strip())  # who types a guard means it
            cells[field.name] = cell
            row |= field.stored(field.of_cell(cell.strip()), text, row)
        wanted.append((row, cells.get("errors", "").count(":")))
    file = io.StringIO()
    writer = csv.DictWriter(file, table[0].keys())
    writer.writeheader()
    writer.writerows(table)
    path = tmp_path_factory.getbasetemp() / f"{form.protocol}.csv"
    path.write_bytes(file.getvalue().encode())
    known = {item.item: Candidate("tiny/1", item.candidate, item.source, [item.candidate]) for item in items}
    answers = read(path).answers
    assert [answer.item for answer in answers] == [item.item for item in items]
    for answer, (row, parts) in zip(answers, wanted, strict=True):
        found = checked(form, answer, known)
        notes = str(row.get("notes", "")).replace("\r\n", "\n").replace("\r", "\n")  # as files are read
        assert {**found.row, "prefilled": None} == {**row, **({"notes": notes} if notes else {}), "prefilled": None}
        assert len(found.parts) == parts


ASSESSMENT = Form(
    protocol="DA",
    fields=(
        Score(name="score", most=BEST, column="esa", explained="how well the candidate says what the source says."),
    ),
    intro="Read the source, then the candidate.",
    asked=("item", "annotator", "score"),
    stored="imported_annotation",
    passed=pl.col("esa") < 50,
)
"""Direct assessment: a form that the project does not have."""


def test_a_sheet_may_come_back_as_a_workbook(drawn: Warehouse, tmp_path: Path) -> None:
    export_items(drawn, tmp_path / "out", "tiny", ["mori"], FORMS["MQM"])
    header, *sent = csv.reader(io.StringIO((tmp_path / "out/items.mori.csv").read_bytes().decode("utf-8-sig")))
    errors = f"major style: {sent[0][-3].split()[-1]}\nminor accuracy/omission: {MISSING}"
    filled = [
        [*cells[:-2], score, text] for cells, score, text in zip(sent, [61.5, 0, None], [errors, "", ""], strict=False)
    ]
    write_workbook(tmp_path / "items.xlsx", [*header], filled[0], [None] * len(header), *filled[1:])
    assert import_labels(drawn, [tmp_path / "items.xlsx"])[0][:5] == (2, 0, 0, 1, 0)
    assert sorted(drawn.read("imported_annotation", columns=["place", "esa"]).rows()) == [(2, 61.5), (4, 0)]
    assert drawn.read("imported_span", columns=["severity"])["severity"].to_list() == ["major", "minor"]


def test_a_declaration_is_enough_for_a_new_form(drawn: Warehouse, tmp_path: Path) -> None:
    export_items(drawn, tmp_path / "out", "tiny", ["mori"], ASSESSMENT)
    assert "- `score`: how well" in (tmp_path / "out/README.md").read_text()
    view = ElementTree.parse(tmp_path / "out/labeling-config.xml")
    assert [each.attrib["name"] for each in view.iter() if "toName" in each.attrib] == ["score"]
    table = rows((tmp_path / "out/items.mori.csv").read_bytes().decode("utf-8-sig"))
    assert list(table[0])[-2:] == ["candidate", "score"]
    scores = ["61,5", "101", "", "0", ""]
    filled = [[*list(row.values())[:-1], score] for row, score in zip(table, scores, strict=True)]
    (tmp_path / "back.csv").write_bytes(sheet(list(table[0]), filled))
    tasks = json.loads((tmp_path / "out/tasks.mori.json").read_text())[4:]
    tasks[0]["annotations"] = [{"completed_by": 1, "result": [{"from_name": "score", "value": {"number": 7}}]}]
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    counts = import_labels(drawn, [tmp_path / "back.csv", tmp_path / "export.json"], forms=[ASSESSMENT])
    assert [each[:5] for each in counts] == [(2, 0, 0, 2, 1), (1, 0, 0, 0, 0)]
    assert sorted(drawn.read("imported_annotation")["esa"]) == [0, 7, 61.5]
    assert drawn.read("label_quarantine")["reason"].to_list() == ["score 101.0 is not a number from 0 to 100"]

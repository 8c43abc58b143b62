"""Labelling in the browser: the same items as in the spreadsheet, and the same labels when they come back."""

import csv
import io
from pathlib import Path

import polars as pl
from playwright.sync_api import Page, expect

from benchmark_assets.people.answers import import_labels
from benchmark_assets.people.forms import LABEL_FORM
from benchmark_assets.people.sample import export_items
from benchmark_assets.people.sheets import sheet
from resources.harmless import unguarded
from resources.warehouse import Warehouse
from tests.reporting.reader.world import CORPUS, MODELS

ODD = ["=SUM(A1)", "'=1", 'a "quoted", word\nand a line\u2028 שׁ 𒀭', "12.5", "", "-", "@me", "٣٤"]
"""Notes that a spreadsheet would compute or round, or that want care in CSV."""


FILL = """given => {
    const form = document.getElementById('answers');
    for (const [name, value] of Object.entries(given)) form.elements[name].value = value;
    form.elements.notes.dispatchEvent(new Event('input', { bubbles: true }));
}"""


def rows(text: str) -> list[dict[str, str]]:
    table = csv.DictReader(io.StringIO(text))
    return [{unguarded(name): unguarded(cell) for name, cell in row.items()} for row in table]


def test_nothing_of_models_or_judges_is_in_it(blind: Path) -> None:
    whole = "".join(path.read_text(encoding="utf-8") for path in blind.rglob("*") if path.suffix in (".md", ".html"))
    content = (blind / "index.js").read_text(encoding="utf-8")
    for word in ("zqj1", "mori@zq", "0.712", "drift_score", "passages"):
        assert word not in whole + content
    texts = "".join(path.read_text(encoding="utf-8") for path in (blind / "texts").iterdir())
    # The outputs of this corpus name their models; nothing else does.
    for model in MODELS:
        assert texts.replace(f"{model} says", "").count(model) == content.count(model) == 0
    assert not [word for word in ("zqj1", "votes", "verdict", "band", "0.712") if word in texts]


def test_labels_come_back_as_by_the_spreadsheet(stored: Warehouse, blind: Path, page: Page, tmp_path: Path) -> None:
    export_items(stored, tmp_path / "sheets", CORPUS, ["=mori"])
    table = rows((tmp_path / "sheets/items.%3Dmori.csv").read_text(encoding="utf-8-sig"))
    page.goto(f"file://{blind}/index.html")
    page.wait_for_selector("h2")
    assert page.locator("#place option").count() == len(table)
    for number, row in enumerate(table[: len(ODD)]):
        expect(page.locator("h2")).to_have_text(f"Item {number + 1}: {row['place']}")
        assert page.text_content(".outputs .text") == row["candidate"]
        assert page.locator(".beside .text").all_text_contents() == [row["source"], row["reference ann"]]
        error = number % 2 == 0
        given = {"label": "MINOR_ERROR" if error else "VALID_VARIATION", "error_category": "OTHER" if error else "",
                 "severity": "low" if error else "none", "confidence": "high" if number % 3 else ""}  # fmt: skip
        row |= given | {"notes": ODD[number]}
        page.evaluate(FILL, given | {"notes": ODD[number]})
        if number == 0:  # the words as they stand, however they are drawn
            page.locator(".outputs .text").select_text()
            page.click("#take")
            row["error_span"] = page.input_value("[name=error_span]")
            assert row["error_span"] == row["candidate"]
        assert page.inner_text("#fault") == ""
        page.click("#next")
    page.reload()  # answers stay
    page.wait_for_selector("h2")
    assert page.inner_text("#count") == f"{len(ODD)} of {len(table)} items labeled"
    with page.expect_download() as waiting:
        page.click("#save")
    waiting.value.save_as(tmp_path / "labels.csv")
    columns = list(table[0])
    (tmp_path / "sheet.csv").write_bytes(sheet(columns, ([row[name] for name in columns] for row in table)))
    wanted, found = (taken(stored, tmp_path / name) for name in ("sheet.csv", "labels.csv"))
    assert len(wanted) == len(ODD)
    assert found.drop("file", "run_id", "updated_at").equals(wanted.drop("file", "run_id", "updated_at"))
    counts = import_labels(stored, [tmp_path / "sheet.csv", tmp_path / "labels.csv"])
    assert counts[0] == counts[1] == (0, len(ODD), 0, len(table) - len(ODD), 0, {})


def taken(warehouse: Warehouse, path: Path) -> pl.DataFrame:
    """The labels of a file, by who gives them under a name of the file's own."""
    import_labels(warehouse, [path], annotator=path.stem)
    labels = warehouse.read("imported_label", pl.DataFrame({"annotator": [path.stem]})).drop("annotator")
    import_labels(warehouse, [path])
    return labels


def test_what_is_not_whole_is_said_at_once(blind: Path, page: Page) -> None:
    page.goto(f"file://{blind}/index.html")
    page.wait_for_selector("h2")
    says = [
        ({"severity": "low"}, "A label is missing."),
        ({"label": "MAJOR_ERROR"}, "An error needs a category."),
        ({"error_category": "OTHER"}, ""),
        ({"label": "VALID_VARIATION"}, "Only errors have a category."),
        ({"error_category": "", "severity": ""}, "A severity is missing."),
    ]
    for given, problem in says:
        for name, value in given.items():
            page.select_option(f"[name={name}]", value)
        assert page.inner_text("#fault") == problem
    page.select_option("[name=severity]", "none")
    page.fill("[name=error_span]", "never said")
    assert page.inner_text("#fault") == "The error span is not in the candidate."
    assert {page.locator(f"[name={name}]").count() for name in LABEL_FORM.columns} == {1}

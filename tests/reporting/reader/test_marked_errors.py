"""Scores and marked words of further metrics in the reader."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from benchmark_assets.reporting.reader.content import shown
from benchmark_assets.reporting.reader.writing import write_reader
from benchmark_assets.validation.certificates import certificate
from tests.audit.stored import put
from tests.reporting.reader.world import CORPUS, MODELS, build


def test_an_output_has_the_scores_and_each_marked_error_once(tmp_path: Path) -> None:
    warehouse = build(tmp_path, count=2)
    key = {"model": MODELS[1], "passage": f"{CORPUS}/a0:1"}
    put(
        warehouse, "segment_metric",
        key | {"metric": "xcomet", "score": 0.51239, "signature": "x", "inputs": "i"},
        key | {"metric": "ter", "score": None, "signature": "t", "inputs": "i"},
    )  # fmt: skip
    spans = [("ann", 1, 4, 8, "major"), ("ben", 1, 0, 3, "minor"), ("ben", 2, 4, 8, "major")]
    columns = ("translator", "place", "start", "end", "severity")
    marks = [key | {"metric": "xcomet", "probability": 0.6} | dict(zip(columns, span, strict=True)) for span in spans]
    put(warehouse, "metric_span", *marks)
    content = shown(warehouse, CORPUS, private=False)
    outputs: dict[tuple[str, str], Any] = {
        (passage, output["model"]): output
        for passage, record in zip(content.overview["passages"], content.passages, strict=True)  # type: ignore[call-overload]
        for output in record["outputs"]
    }
    output = outputs["a0:1", MODELS[1]]
    assert output["metrics"] == [{"metric": "xCOMET", "score": 0.512, "words": []}]
    assert [(error["metric"], error["severity"], error["span"]) for error in output["metric_errors"]] == [
        ("xCOMET", "minor", [0, 3]), ("xCOMET", "major", [4, 8]),
    ]  # fmt: skip
    assert outputs["a0:1", MODELS[0]]["metric_errors"] == outputs["a0:1", MODELS[0]]["metrics"] == []


def test_unsupported_and_missing_words_are_shown_as_no_errors(tmp_path: Path, page: Page) -> None:
    """Words of a withheld reference are not quoted."""
    warehouse = build(tmp_path, restricted=True, count=2)
    key = {"model": MODELS[0], "passage": f"{CORPUS}/a0:1", "metric": "support", "probability": 0.6}
    marks = [("", "unsupported", 0, 3), ("", "unsupported", 4, 8), ("ann", "missing", 2, 7), ("cleo", "missing", 0, 4)]
    columns = ("translator", "severity", "start", "end")
    rows = [key | dict(zip(columns, mark, strict=True), place=place) for place, mark in enumerate(marks, start=1)]
    put(warehouse, "metric_span", *rows)
    score = {name: key[name] for name in ("model", "passage", "metric")} | {"score": 0.9, "signature": "s"}
    put(warehouse, "segment_metric", score | {"entry": "support", "inputs": "i"})
    texts = warehouse.read("model_output").filter(model=key["model"], passage=key["passage"])["text"]
    references = warehouse.read("reference").filter(translator="ann", passage=key["passage"])["text"]
    write_reader(warehouse, tmp_path / "reader", CORPUS)
    page.goto(f"file://{tmp_path}/reader/index.html#passage=a0:1")
    lines = page.get_by_label("Words marked by metrics").locator("li").all_inner_texts()
    assert lines == [
        f"support: unsupported, not wrong: {texts.item()[0:3]}; {texts.item()[4:8]}",
        f"support: in all references and not here, not wrong (ann): {references.item()[2:7]}",
        f"support: {certificate('support').worth}.",
    ]
    found = page.locator("mark[title*='support: unsupported, not wrong']").all_inner_texts()
    assert "".join(found).replace(" ", "") == (texts.item()[0:3] + texts.item()[4:8]).replace(" ", "")

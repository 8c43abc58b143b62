"""Scores and error spans of further metrics in the content of the reader."""

from pathlib import Path
from typing import Any

from benchmark_assets.reporting.reader.content import shown
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

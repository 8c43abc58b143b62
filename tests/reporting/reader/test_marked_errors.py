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
        key | {"metric": "xcomet", "score": 0.51239, "signature": "x"}, key | {"metric": "ter", "score": None, "signature": "t"},
    )  # fmt: skip
    put(
        warehouse, "metric_span",
        *(
            key | {"metric": "xcomet", "translator": name, "place": 1, "start": 4, "end": 8, "severity": "major", "probability": 0.6}
            for name in ("ann", "ben")
        ),
        key | {"metric": "xcomet", "translator": "ben", "place": 2, "start": 0, "end": 3, "severity": "minor", "probability": 0.5},
    )  # fmt: skip
    content = shown(warehouse, CORPUS, private=False)
    outputs: dict[tuple[str, str], Any] = {
        (passage, output["model"]): output
        for passage, record in zip(content.overview["passages"], content.passages, strict=True)  # type: ignore[call-overload]
        for output in record["outputs"]  # type: ignore[attr-defined]
    }
    output = outputs["a0:1", MODELS[1]]
    assert output["metrics"] == [{"metric": "xcomet", "score": 0.512, "words": []}]
    assert [(error["metric"], error["severity"], error["span"]) for error in output["errors"]] == [
        ("xcomet", "minor", [0, 3]), ("xcomet", "major", [4, 8]),
    ]  # fmt: skip
    assert outputs["a0:1", MODELS[0]]["errors"] == outputs["a0:1", MODELS[0]]["metrics"] == []

"""Chapters of models: which outputs are listed as bad, in which order, why, and where they can be read."""

from pathlib import Path

import polars as pl

from benchmark_assets.adjudication.labels import CATEGORIES, MAJOR, MINOR, VALID
from benchmark_assets.reporting.report.content import parts
from benchmark_assets.reporting.report.display import Part
from resources.warehouse import Warehouse
from tests.reporting.report.made import CORPUS, made, put

ADDED = CATEGORIES[1]


def chapter(warehouse: Warehouse, model: str) -> Part:
    return next(part for part in parts(warehouse) if (part.kind, part.title) == ("model", model))


def output(at: int, **more: object) -> dict[str, object]:
    return {"model": "alpha", "passage": f"{CORPUS}/p{at}:1", **more}


def test_people_outweigh_the_panel_and_judgements_faults_and_faults_distance(tmp_path: Path) -> None:
    warehouse = made(tmp_path, ["alpha", "beta"], 9)
    put(warehouse, "triage", [output(at, drift=1.0, sampled=True) for at in range(9)])
    put(warehouse, "drift_score", [output(at, drift=float(at)) for at in range(9)])
    put(warehouse, "output_diagnostic", [
        output(at, truncated=at > 1, empty=at == 2) for at in (1, 2, 3)
    ])  # fmt: skip
    panel = {3: VALID, 4: MAJOR, 5: VALID, 6: MAJOR, 7: MINOR}
    people = {5: MAJOR, 6: VALID, 8: MINOR}
    category = {MAJOR: ADDED, MINOR: CATEGORIES[2], VALID: "NONE"}
    put(warehouse, "verdict", [output(at, label=each, error_category=category[each]) for at, each in panel.items()])
    put(warehouse, "human_label", [
        output(at, annotator="mori", label=each, error_category=category[each]) for at, each in people.items()
    ])  # fmt: skip
    own = chapter(warehouse, "alpha")
    worst = own.exhibits[0]
    assert worst.title == f"Worst passages in {CORPUS}"
    names, why = (column.cells for column in worst.columns[:2])
    assert [(name.text, cell.text) for name, cell in zip(names, why, strict=True)] == [
        ("p5:1", "people: major error, addition or hallucination"),
        ("p4:1", "panel: major error, addition or hallucination"),
        ("p3:1", "fault: truncated"), ("p2:1", "fault: empty, truncated"),
        ("p8:1", "people: minor error, negation or polarity error"),
        ("p7:1", "panel: minor error, negation or polarity error"),
        ("p1:1", "far from the references"), ("p0:1", "far from the references"),
    ]  # fmt: skip
    assert names[0].behind == {"corpus": CORPUS, "model": "alpha", "passage": "p5:1"}
    errors = "Its errors, by people, are above all addition or hallucination (1) and negation or polarity error (1)."
    assert errors in own.findings
    assert any(each.startswith("Faults that are visible") for each in own.findings)


def test_the_part_where_a_model_falls_behind_the_others_is_named_first(tmp_path: Path) -> None:
    warehouse = made(tmp_path, ["alpha", "beta"], 4)
    values = {("alpha", "short"): 0.5, ("alpha", "long"): 0.6, ("beta", "short"): 0.5, ("beta", "long"): 0.9}
    put(warehouse, "slice_summary", [
        {"corpus": CORPUS, "dimension": "source_length", "slice": part, "kind": "model", "system": model,
         "sim_best": value, "passages": 12} for (model, part), value in values.items()
    ])  # fmt: skip
    own = chapter(warehouse, "alpha")
    said = "Beside the other models, it is weakest by similarity in the third with long sources (12 passages): 0.600 ["
    assert any(each.startswith(said) and each.endswith("the mean of the others 0.900. Distance is not error.")
               for each in own.findings)  # fmt: skip
    ahead = "Beside the other models, it is ahead least by similarity in the third with short sources"
    assert any(each.startswith(ahead) for each in chapter(warehouse, "beta").findings)
    table = own.exhibits[1]
    assert [cell.text for cell in table.columns[1].cells] == ["long", "short"]
    assert table.chart is not None
    assert {row["kind"] for row in table.chart["data"]["values"]} == {"this model", "mean of the other models"}
    rows = warehouse.read("slice_summary").drop("run_id", "updated_at").filter(system="alpha")
    put(warehouse, "slice_summary", rows)
    alone = chapter(warehouse, "alpha")
    assert any("It is weakest by similarity in the third with short sources" in each for each in alone.findings)


def test_a_model_of_two_corpora_has_one_chapter_that_names_them(tmp_path: Path) -> None:
    warehouse = made(tmp_path, ["alpha"], 2)
    board = warehouse.read("leaderboard").drop("run_id", "updated_at").with_columns(major_rate=pl.lit(None, pl.Float64))
    put(warehouse, "leaderboard", pl.concat([board, board.with_columns(corpus=pl.lit("other"))]))
    put(warehouse, "corpus", [{"corpus": each, "audit": "{}", "scoring": "{}"} for each in (CORPUS, "other")])
    own = chapter(warehouse, "alpha")
    assert [each.partition(":")[0] for each in own.unsaid] == [f"In {CORPUS}", "In other"]
    assert "In other: nothing bad was found: no error by a verdict or a label, no fault, no distance." in own.findings

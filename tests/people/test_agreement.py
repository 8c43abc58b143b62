"""Agreement of people's annotations: known pairs of annotators, repeated items, and errors marked from the start."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy.stats import kendalltau, pearsonr  # type: ignore[import-untyped]

from benchmark_assets.corpus.units import with_units
from benchmark_assets.people.agreement import agreement, by_judges, by_people, with_errors
from benchmark_assets.people.answers import import_labels
from benchmark_assets.people.pearmut import Plan, write_campaign
from resources.warehouse import Warehouse
from tests.people.test_controls import drawn
from tests.people.test_errors import download

__all__ = ["drawn"]

ITEMS = [f"i{number}" for number in range(8)]
CONTROLS = {"item": pl.String, "kind": pl.String, "original": pl.String}
NO_SPANS = {"item": pl.String, "annotator": pl.String, "span_start": pl.Int32, "span_end": pl.Int32,
            "severity": pl.String}  # fmt: skip
NO_CONTROLS = pl.DataFrame(schema=CONTROLS)

Span = tuple[int | None, int | None, str]


def annotated(annotator: str, scores: dict[str, float], prefilled: str | None = None) -> pl.DataFrame:
    """Scores by item; each item is of a passage of its own."""
    rows = [
        {"item": item, "annotator": annotator, "passage": f"tiny/{item}", "unit": item, "esa": score,
         "prefilled": prefilled}
        for item, score in scores.items()
    ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"prefilled": pl.String, "esa": pl.Float64})


def marked(annotator: str, spans: dict[str, list[Span]]) -> pl.DataFrame:
    rows = [(item, annotator, *span) for item, of_item in spans.items() for span in of_item]
    return pl.DataFrame(rows, schema=NO_SPANS, orient="row")


def rows(*people: pl.DataFrame, spans: tuple[pl.DataFrame, ...] = (), controls: pl.DataFrame = NO_CONTROLS) -> Any:
    errors = pl.concat([pl.DataFrame(schema=NO_SPANS), *spans])
    return agreement(by_people(with_errors(pl.concat(people), errors, controls))).to_dicts()


def test_scores_are_correlated_and_errors_compared_character_by_character() -> None:
    mori, santos = [10, 20, 30, 40, 50, 60, 70, 70], [15, 10, 30, 55, 40, 60, 60, 90]
    one: dict[str, list[Span]] = {
        "i0": [(0, 4, "major")],
        "i1": [(0, 6, "minor"), (4, 8, "critical")],
        "i2": [(None, None, "minor")],
    }
    other: dict[str, list[Span]] = {"i0": [(2, 6, "critical")], "i1": [(0, 8, "minor")], "i3": [(0, 2, "minor")]}
    (row,) = rows(
        annotated("mori", dict(zip(ITEMS, mori, strict=True))),
        annotated("santos", dict(zip(ITEMS, santos, strict=True))),
        spans=(marked("mori", one), marked("santos", other)),
    )
    assert [row[name] for name in ("corpus", "kind", "first", "second", "prefilled", "outputs")] == [
        "tiny", "people", "mori", "santos", "", 8
    ]  # fmt: skip
    assert row["esa_pearson"] == pytest.approx(pearsonr(mori, santos)[0])
    assert row["esa_kendall"] == pytest.approx(kendalltau(mori, santos)[0])
    # i0: 2 characters alike; i1: 4 alike, 4 of another severity; 4 + 8 and 4 + 8 + 2 characters are marked.
    assert row["span_f1"] == pytest.approx(2 * (2 + 4 + 4 / 2) / (12 + 14))
    # -5 and -25, -26 capped and -1, -1 and 0, 0 and -1, four outputs without errors.
    assert row["mqm_difference"] == pytest.approx((20 + 24 + 1 + 1) / 8)
    for name in ("esa_pearson", "esa_kendall", "mqm_difference", "span_f1"):
        assert row[f"{name}_low"] < row[name] < row[f"{name}_high"], name


def test_few_outputs_have_no_interval_and_equal_scores_no_correlation() -> None:
    scores = dict.fromkeys(ITEMS[:3], 50.0)
    (row,) = rows(annotated("mori", scores), annotated("santos", scores))
    assert (row["esa_pearson"], row["esa_kendall"], row["span_f1"]) == (None, None, None)
    assert (row["mqm_difference"], row["mqm_difference_low"]) == (0, None)


def test_an_annotator_is_compared_with_the_first_annotation_and_attention_checks_do_not_count() -> None:
    first = {item: float(place) for place, item in enumerate(ITEMS)}
    again = {f"{item}-again": score + (place % 2) for place, (item, score) in enumerate(first.items())}
    controls = [(item, "repeat", item.removesuffix("-again")) for item in again] + [("check", "attention", "i0")]
    (own, pair) = rows(
        annotated("mori", first | again | {"check": 0}),
        annotated("santos", {"i0": 80, "check": 0}),
        controls=pl.DataFrame(controls, schema=CONTROLS, orient="row"),
    )
    assert (own["kind"], own["first"], own["second"], own["outputs"]) == ("oneself", "mori", "mori", 8)
    assert own["esa_pearson"] == pytest.approx(pearsonr([*first.values()], [*again.values()])[0])
    assert (pair["kind"], pair["outputs"]) == ("people", 1)


def test_annotations_that_began_with_a_judges_errors_are_apart() -> None:
    scores = dict.fromkeys(ITEMS[:4], 50.0)
    santos = annotated("santos", scores), annotated("abe", scores, prefilled="strict")
    found = rows(annotated("mori", scores), *santos, annotated("zoe", scores, prefilled="strict"))
    apart = {(row["first"], row["second"]): row["prefilled"] for row in found}
    assert apart == {
        ("mori", "santos"): "", ("abe", "mori"): "strict", ("abe", "santos"): "strict", ("abe", "zoe"): "strict",
        ("mori", "zoe"): "strict", ("santos", "zoe"): "strict",
    }  # fmt: skip


def test_a_campaign_of_two_people_comes_back_with_their_agreement(drawn: Warehouse, tmp_path: Path) -> None:
    sent = write_campaign(drawn, tmp_path / "c.json", "tiny", ["mori", "santos"], Plan())
    entries = []
    for number, task in enumerate(json.loads((tmp_path / "c.json").read_text())["data"]):
        for (segment,) in task:
            score = len(next(iter(segment["tgt"].values()))) % 90 + number
            answers = {name: {"score": score, "error_spans": []} for name in segment["tgt"]}
            entries.append({"annotation": [answers], "item": [segment], "user_id": ("mori", "santos")[number]})
    assert import_labels(drawn, [download(tmp_path / "a.json", *entries)])[0].quarantined == 0
    annotations = with_units(drawn.read("imported_annotation"), drawn)
    table = agreement(by_people(with_errors(annotations, drawn.read("imported_span"), drawn.read("control_item"))))
    checks = len(drawn.read("control_item").filter(kind="attention"))
    assert table.select("kind", "first", "second", "outputs").rows() == [
        ("oneself", "mori", "mori", sent.controls - checks),
        ("oneself", "santos", "santos", sent.controls - checks),
        ("people", "mori", "santos", sent.items),
    ]
    assert table["esa_pearson"].to_list() == pytest.approx([1, 1, 1])


def test_a_judge_is_compared_with_people_and_apart_where_they_started_from_its_errors() -> None:
    scores = {item: 10.0 * place for place, item in enumerate(ITEMS)}
    votes = annotated("strict", scores).rename({"annotator": "judge"})
    votes = votes.with_columns(model=pl.lit("m"), mqm=pl.when(pl.col("item") != "i7").then(-5.0))
    spans = pl.DataFrame([
        {"model": "m", "passage": "tiny/i0", "judge": "strict", "side": side, "span_start": 0, "span_end": 4,
         "severity": "major"}
        for side in ("output", "source")
    ], schema_overrides={"span_start": pl.Int32, "span_end": pl.Int32})  # fmt: skip
    errors = pl.concat([marked(name, {"i0": [(0, 4, "major")]}) for name in ("mori", "zoe")])
    again = pl.DataFrame([("r", "repeat", "i0")], schema=CONTROLS, orient="row")
    people = pl.concat([annotated("mori", scores | {"r": 0}), annotated("zoe", scores, prefilled="strict")])
    ratings = by_people(with_errors(people, errors, again))
    judges = by_judges(votes, spans).select(ratings.columns)
    found = agreement(pl.concat([ratings, judges])).filter(kind="judge")
    columns = ["first", "second", "prefilled", "outputs", "span_f1"]
    assert found.select(columns).rows() == [("strict", "mori", "", 7, 1), ("strict", "zoe", "strict", 7, 1)]
    assert found["esa_kendall"].to_list() == pytest.approx([1, 1])
    assert found["mqm_difference"].to_list() == pytest.approx([6 * 5 / 7] * 2)

"""Attention checks and changes over time of people who mark errors, for simulated people whose habits are known."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmark_assets.corpus.units import with_units
from benchmark_assets.people.agreement import with_errors
from benchmark_assets.people.answers import import_labels
from benchmark_assets.people.consistency import steadiness
from benchmark_assets.people.controls import ATTENTION
from benchmark_assets.people.pearmut import PROTOCOLS, Plan, write_campaign
from resources.warehouse import Warehouse
from tests.people.test_agreement import NO_CONTROLS, NO_SPANS, annotated, marked
from tests.people.test_controls import drawn
from tests.people.test_errors import download

__all__ = ["drawn"]

CONTROLS = NO_CONTROLS.schema


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Annotations as they come from a file."""
    return rows.with_row_index("place", 1).with_columns(file=pl.lit("annotations.json"))


def test_attention_checks_and_halves_are_counted_apart_for_each_person() -> None:
    scores = {f"i{n}": 80.0 if n < 10 else 60.0 for n in range(20)}
    checks = {f"c{n}": 33.0 if n < 3 else 34.0 for n in range(4)}
    controls = [(item, ATTENTION, "i0") for item in checks] + [("i0-again", "repeat", "i0")]
    mori, santos = annotated("mori", scores | checks | {"i0-again": 0.0}), annotated("santos", scores)
    known = pl.DataFrame(controls, schema=CONTROLS, orient="row")
    errors = marked("mori", {f"i{n}": [(0, 1, "major")] for n in range(10, 20)})
    (row, other) = steadiness(with_errors(in_order(pl.concat([mori, santos])), errors, known), "s").to_dicts()
    assert [row[name] for name in ("corpus", "annotator", "labels", "checks")] == ["tiny", "mori", 20, 4]
    assert (row["passed"], row["passed_low"]) == (3 / 4, None)  # four passages are too few for an interval
    assert (row["early_esa"], row["late_esa"], row["esa_change"]) == (80, 60, -20)
    assert (row["early_mqm"], row["late_mqm"], row["mqm_change"]) == (0, -5, -5)
    assert (other["annotator"], other["checks"], other["passed"], other["mqm_change"]) == ("santos", 0, None, 0)


def test_the_share_of_checks_has_an_interval_that_holds_the_annotators_attention() -> None:
    chance = np.random.default_rng(1)
    checks = {f"c{n}": 10.0 if chance.random() < 0.7 else 90.0 for n in range(40)}
    controls = pl.DataFrame([(item, ATTENTION, "i0") for item in checks], schema=CONTROLS, orient="row")
    (row,) = steadiness(with_errors(in_order(annotated("mori", checks)), marked("mori", {}), controls), "s").to_dicts()
    assert row["passed"] == np.mean([score <= 33 for score in checks.values()])
    assert row["passed_low"] < 0.7 < row["passed_high"]
    assert (row["labels"], row["esa_change"]) == (0, None)


def test_one_annotation_has_no_change() -> None:
    (row,) = steadiness(
        with_errors(in_order(annotated("mori", {"i0": 1.0})), marked("mori", {}), NO_CONTROLS), "s"
    ).to_dicts()
    assert (row["labels"], row["early_esa"], row["esa_change"]) == (1, None, None)


@pytest.mark.proof
def test_the_change_of_a_steady_annotator_is_within_its_interval(full: bool) -> None:
    """The interval of scores holds a change of 0 in 93 % of simulations or more."""
    generator, runs = np.random.default_rng(1), 1000 if full else 60
    nothing, held = pl.DataFrame(schema=NO_SPANS), 0
    for _ in range(runs):
        scores = np.clip(generator.normal(75, 15, 60), 0, 100)
        rows = in_order(annotated("mori", {f"i{n}": float(score) for n, score in enumerate(scores)}))
        (row,) = steadiness(with_errors(rows, nothing, NO_CONTROLS), "s").to_dicts()
        held += row["esa_change_low"] <= 0 <= row["esa_change_high"]
    print(f"\nheld {held / runs:.1%} of {runs}")
    assert held / runs > (0.93 if full else 0.85)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_checks_of_a_campaign_come_back_as_passed_by_who_saw_them(
    drawn: Warehouse, tmp_path: Path, protocol: str, dynamic: bool
) -> None:
    """Mori gives every output of another passage 0, Santos gives everything 90."""
    write_campaign(drawn, tmp_path / "c.json", "tiny", ["mori", "santos"], Plan(protocol, dynamic=dynamic))
    campaign = json.loads((tmp_path / "c.json").read_text())
    lists = [[*campaign["data"], *campaign["data_random"]]] * 2 if dynamic else campaign["data"]
    checks = set(drawn.read("control_item").filter(kind=ATTENTION)["item"])
    assert len(checks) > 0
    entries = []
    for user, task in zip(("mori", "santos"), lists, strict=True):
        for (segment,) in task:
            scores = {name: 0 if user == "mori" and item in checks else 90 for name, item in segment["outputs"].items()}
            answers = {name: {"score": score, "error_spans": []} for name, score in scores.items()}
            entries.append({"annotation": [answers], "item": [segment], "user_id": user})
    assert import_labels(drawn, [download(tmp_path / "a.json", *entries)])[0].quarantined == 0
    annotations = with_units(drawn.read("imported_annotation"), drawn)
    found = steadiness(with_errors(annotations, drawn.read("imported_span"), drawn.read("control_item")), "s")
    columns = ["annotator", "checks", "passed", "esa_change"]
    assert found.select(columns).rows() == [("mori", len(checks), 1.0, 0.0), ("santos", len(checks), 0.0, 0.0)]

"""Consistency of annotators: rates of simulated people whose habits are known."""

import numpy as np
import polars as pl
import pytest

from benchmark_assets.adjudication.labels import MAJOR, MINOR, VALID
from benchmark_assets.people.consistency import consistency

CONTROLS = {"item": pl.String, "kind": pl.String, "original": pl.String}


def labels_of(annotator: str, labels: dict[str, str]) -> pl.DataFrame:
    """Labels by item, in the order of a file; each item is of a passage of its own."""
    return pl.DataFrame([
        {"item": item, "annotator": annotator, "label": label, "passage": f"tiny/{item.removesuffix('-again')}",
         "unit": item.removesuffix("-again"), "file": f"{annotator}.csv", "place": place}
        for place, (item, label) in enumerate(labels.items(), start=2)
    ])  # fmt: skip


def controls(repeats: list[str], checks: list[str]) -> pl.DataFrame:
    rows = [(f"{item}-again", "repeat", item) for item in repeats] + [(item, "attention", "x") for item in checks]
    return pl.DataFrame(rows, schema=CONTROLS, orient="row")


def test_repeats_checks_and_halves_are_counted_apart() -> None:
    items = {f"i{n}": VALID if n < 10 else MINOR for n in range(20)}
    again = {f"i{n}-again": VALID for n in (*range(6), *range(10, 12))}
    checks = {f"c{n}": MAJOR if n < 3 else VALID for n in range(4)}
    known = controls([item.removesuffix("-again") for item in again], list(checks))
    mori = labels_of("mori", items | again | checks)
    santos = labels_of("santos", dict.fromkeys(items, VALID))
    (row, other) = consistency(pl.concat([mori, santos]), known, "s").iter_rows(named=True)
    assert (row["corpus"], row["annotator"], row["labels"], row["repeats"], row["checks"]) == ("tiny", "mori", 20, 8, 4)
    assert (row["agreement"], row["passed"]) == (6 / 8, 3 / 4)
    assert row["agreement_low"] < 6 / 8 < row["agreement_high"]
    assert (row["early_errors"], row["late_errors"], row["errors_change"]) == (0, 1, 1)
    assert 0.5 < row["errors_change_low"] < row["errors_change_high"] == 1
    assert (row["early_peers"], row["late_peers"], row["peers_change"]) == (1, 0, -1)
    assert (other["labels"], other["repeats"], other["agreement"], other["passed"]) == (20, 0, None, None)
    assert (other["errors_change"], other["peers_change"]) == (0, -1)


def test_labels_of_earlier_versions_have_no_place_in_time() -> None:
    rows = labels_of("mori", {f"i{n}": VALID for n in range(8)}).with_columns(place=pl.lit(None, pl.Int32))
    (row,) = consistency(rows, controls([], []), "s").iter_rows(named=True)
    assert (row["labels"], row["early_errors"], row["errors_change"]) == (8, None, None)


@pytest.mark.proof
def test_the_change_of_a_steady_annotator_is_within_its_interval(full: bool) -> None:
    """Newcombe's interval holds a change of 0 in 93 % of simulations or more."""
    generator, runs = np.random.default_rng(1), 1000 if full else 60
    held = 0
    for _ in range(runs):
        errors = generator.random(60) < 0.3
        rows = labels_of("mori", {f"i{n}": MINOR if error else VALID for n, error in enumerate(errors)})
        (row,) = consistency(rows, controls([], []), "s").iter_rows(named=True)
        held += row["errors_change_low"] <= 0 <= row["errors_change_high"]
    assert held / runs > (0.93 if full else 0.85)

"""Examples are chosen by their rules."""

from collections.abc import Sequence

import polars as pl

from benchmark_assets.adjudication.labels import MAJOR, MINOR, VALID
from benchmark_assets.audit.examples import FAR, MOST, NEAR, SHARED, SPLIT, examples

COLUMNS = {
    "model": pl.String, "passage": pl.String, "drift": pl.Float64, "label": pl.String, "valid": pl.Int32,
    "split": pl.Boolean, "people": pl.String,
}  # fmt: skip


def chosen(rows: Sequence[tuple[object, ...]]) -> dict[str, list[tuple[int, str, str]]]:
    """Place, passage and model of each rule's examples."""
    outputs = pl.DataFrame(rows, schema=COLUMNS, orient="row").with_columns(
        corpus=pl.lit("c"), queued=pl.col("drift") > 1.5, judges=pl.lit(3), error_category=pl.lit("OTHER"),
        people_category=pl.lit("OTHER"),
    )  # fmt: skip
    found: dict[str, list[tuple[int, str, str]]] = {}
    for rule, place, passage, model in examples(outputs).select("rule", "place", "passage", "model").iter_rows():
        found.setdefault(rule, []).append((place, passage, model))
    return found


def test_shared_failures_come_with_all_outputs_of_their_passage_worst_first() -> None:
    rows = [
        ("a", "p:1", 2.0, MAJOR, 0, False, None), ("b", "p:1", 2.0, MAJOR, 0, False, None),
        ("c", "p:1", 1.0, None, None, None, None),
        ("a", "p:2", 2.0, MAJOR, 0, False, None), ("b", "p:2", 2.0, MAJOR, 0, False, None),
        ("c", "p:2", 2.0, MINOR, 0, False, None),
        ("a", "p:3", 2.0, MAJOR, 0, False, None), ("b", "p:3", 2.0, MINOR, 0, False, None),
    ]  # fmt: skip
    assert chosen(rows) == {SHARED: [(place, f"p:{p}", m) for place, p in ((1, 2), (2, 1)) for m in "abc"]}


def test_far_but_valid_is_unanimous_with_people_too_farthest_first() -> None:
    rows = [
        ("a", "p:1", 2.0, VALID, 3, False, None), ("a", "p:2", 4.0, VALID, 3, False, VALID),
        ("a", "p:3", 9.0, VALID, 2, False, None), ("a", "p:4", 9.0, VALID, 3, False, MINOR),
        ("a", "p:5", 1.4, VALID, 3, False, VALID),
    ]  # fmt: skip
    assert chosen(rows) == {FAR: [(1, "p:2", "a"), (2, "p:1", "a")]}


def test_near_but_wrong_is_what_people_call_major_below_the_threshold() -> None:
    rows = [
        ("a", "p:1", 1.4, None, None, None, MAJOR), ("a", "p:2", 0.2, VALID, 3, False, MAJOR),
        ("a", "p:3", 0.1, MAJOR, 0, False, MINOR), ("a", "p:4", 2.0, MINOR, 0, False, MAJOR),
    ]  # fmt: skip
    assert chosen(rows) == {NEAR: [(1, "p:2", "a"), (2, "p:1", "a")]}


def test_split_panels_are_of_the_queue_and_no_rule_has_more_than_so_many() -> None:
    rows = [("a", f"p:{i}", 2.0 + i, MINOR, 1, True, None) for i in range(MOST + 3)]
    rows.append(("a", "q:1", 1.0, MINOR, 1, True, None))
    assert chosen(rows) == {SPLIT: [(place, f"p:{MOST + 3 - place}", "a") for place in range(1, MOST + 1)]}

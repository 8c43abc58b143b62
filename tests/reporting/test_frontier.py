"""What systems cost beside how they score, and systems that ask one model."""

from datetime import datetime

import polars as pl
import pytest

from benchmark_assets.reporting.frontier import families, frontier, measure, paid
from resources.warehouse import Warehouse
from tests.audit.stored import put


def call(key: str, model: str, cost: float | None, attempt: int) -> dict[str, object]:
    return {
        "attempt": attempt, "call": key, "replicate": 0, "run": "r", "model": model, "purpose": "translate",
        "place": "recording", "asked": datetime(2026, 11, 24), "outcome": "answered", "served_model": "served-1",
        "prompt_tokens": 70, "completion_tokens": 8, "cost": cost, "reserved": 1.0,
    }  # fmt: skip


def asked(model: str, passage: str, key: str, settings: str | None = None) -> dict[str, object]:
    return {"study": "model_output", "model": model, "passage": passage, "task": "", "item": "", "parsing": 0,
            "call": key, "settings": settings}  # fmt: skip


@pytest.fixture
def stored(warehouse: Warehouse) -> Warehouse:
    """Model a asks about two passages at once, after an attempt that failed; b by passage; c at an unknown cost."""
    put(
        warehouse, "model_call", call("k1", "a", 0.25, 1), call("k1", "a", 0.75, 2), call("k2", "b", 0.5, 3),
        call("k3", "b", 0.1, 4), call("k4", "c", None, 5), call("k5", "b", 7.0, 6),
    )  # fmt: skip
    put(
        warehouse, "study_call", asked("a", "tiny/1:1", "k1", '{"model": "x-1", "temperature": 0}'),
        asked("a", "tiny/1:2", "k1", '{"model": "x-1", "temperature": 0}'), asked("b", "tiny/1:1", "k2"),
        asked("b", "tiny/1:2", "k3", '{"model": "x-1", "seed": 2}'), asked("c", "tiny/1:1", "k4", '{"model": "y"}'),
        asked("b", "other/1:1", "k5"),
    )  # fmt: skip
    return warehouse


def test_a_request_is_paid_once_with_its_failed_attempts_and_an_unknown_cost_is_no_cost(stored: Warehouse) -> None:
    assert paid(stored, "tiny").rows() == [("a", 2, 500.0), ("b", 2, pytest.approx(300.0))]


def test_a_system_is_beaten_by_the_cheapest_that_costs_no_more_and_scores_no_worse() -> None:
    rows = pl.DataFrame({"system": ["a", "b", "c", "d"], "dollars": [4.0, 2.0, 1.0, 3.0],
                         "sim_best": [0.9, 0.8, 0.7, 0.75], "major_rate": [0.1, 0.2, 0.05, None]})  # fmt: skip
    found = frontier(rows, "sim_best")
    assert found.select("system", "beaten").rows() == [("c", ""), ("b", ""), ("d", "b"), ("a", "")]
    assert frontier(rows, "major_rate").select("system", "beaten").rows() == [("c", ""), ("b", "c"), ("a", "c")]


def test_equal_systems_do_not_beat_each_other() -> None:
    rows = pl.DataFrame({"system": ["a", "b"], "dollars": [1.0, 1.0], "sim_best": [0.5, 0.5]})
    assert frontier(rows, "sim_best")["beaten"].to_list() == ["", ""]


def test_a_board_without_an_order_shows_a_distance() -> None:
    board = pl.DataFrame({"kind": ["model", "human"], "ordered_by": ["", ""]})
    assert measure(board) == "sim_best"
    assert measure(board.with_columns(ordered_by=pl.lit("major_rate"))) == "major_rate"


def test_a_family_are_the_systems_whose_requests_or_files_name_one_model(stored: Warehouse) -> None:
    put(stored, "imported_file", {"model": "best-of-8", "corpus": "tiny", "file": "x.json", "outputs": 2,
                                  "settings": '{"model": "x-1", "draws": 8}', "usage": "{}"})  # fmt: skip
    board = pl.DataFrame({"system": ["a", "b", "c", "best-of-8"], "kind": "model",
                          "sim_best": [0.5, 0.7, 0.9, 0.6]})  # fmt: skip
    (row,) = families(stored, "tiny", board, "sim_best").to_dicts()
    assert (row["asked"], row["systems"]) == ("x-1", ["a", "b", "best-of-8"])
    assert (row["lowest"], row["highest"]) == (0.5, 0.7)
    assert row["mean"] == pytest.approx(0.6)
    assert row["sd"] == pytest.approx(0.1)

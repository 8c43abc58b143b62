"""`reproduce` gives the same table before and after a user's model is evaluated on the benchmark of a paper."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from benchmark_assets.benchmarks.numbers import read
from benchmark_assets.benchmarks.printed_counts import tables
from benchmark_assets.benchmarks.reproduction import EQUAL, RECOMPUTED, reproduce, shipped
from benchmark_assets.understanding.board import ALL_MARKS, BASELINE, MODEL, SCORES, TaskGroup, board
from resources.catalogue import schema
from resources.warehouse import Replacement, Warehouse
from tests.rows import rows_of

CHANCE = {"SMDS": 55.60, "QUDS": 12.25, "RCMS": 50.0, "RCDS": 48.75, "VPCS": 50.0, "MCS": 10.0}
GROUPS = dict.fromkeys(CHANCE, TaskGroup("DharmaBench", "sa"))


def store(warehouse: Warehouse, table: str, rows: pl.DataFrame) -> None:
    whole = pl.concat([pl.DataFrame(schema=schema(table)), rows], how="diagonal_relaxed").select(*schema(table))
    warehouse.write([Replacement(table, whole.with_columns(fingerprint=pl.lit("")), None)], run_id="test")


def table(warehouse: Warehouse, benchmark: str) -> pl.DataFrame:
    return reproduce(warehouse, benchmark, read(shipped()[benchmark]), shipped()[benchmark].parent)


def scores(kind: str, system: str, values: dict[str, float]) -> pl.DataFrame:
    rows = [(kind, system, task, value, value, value, None, None, "", 10, 10) for task, value in values.items()]
    return pl.DataFrame(rows, SCORES, orient="row")


@pytest.mark.parametrize("tasks", [["MCS"], ["MCS", "VPCS"], [*CHANCE]])
def test_means_of_dharmabench_do_not_follow_from_the_tasks_of_a_users_model(
    warehouse: Warehouse, tasks: list[str]
) -> None:
    marks, chance = pl.DataFrame(schema=ALL_MARKS), scores(BASELINE, "chance", CHANCE)
    store(warehouse, "understanding_board", board(chance, marks, GROUPS))
    before = table(warehouse, "dharmabench")
    (mean,) = before.filter(pl.col("outcome").is_in(RECOMPUTED)).select("column", "value").rows()
    assert mean == ("Avg", pytest.approx(sum(CHANCE.values()) / 6))
    own = scores(MODEL, "mine", dict.fromkeys(tasks, 90.0))
    after = board(pl.concat([chance, own]), marks, GROUPS)
    assert after.filter(system="chance", task="")["tasks"].to_list() == [len(CHANCE)]
    store(warehouse, "understanding_board", after)
    assert_frame_equal(table(warehouse, "dharmabench"), before)


def test_ranks_and_rates_of_palibench_are_those_of_the_papers_systems(warehouse: Warehouse) -> None:
    """Published scores and the funnel stay; a user's model adds rows to the leaderboard and the shares."""
    summary = rows_of(
        "published_summary", 2, benchmark="palibench", corpus="palibench", basis="all passages",
        system=["google/gemini-3-pro-preview", "openai/gpt-5.2"], measure="sim_best", translator="",
        value=[0.946, 0.933], rank=[1.0, 6.0], systems=[10] * 2, passages=[1700] * 2,
    )  # fmt: skip
    store(warehouse, "published_summary", summary)
    before = table(warehouse, "palibench")
    assert before.filter(outcome=EQUAL).height >= 1
    own = {"corpus": "palibench", "kind": "model", "system": "mine"}
    whole = rows_of("leaderboard", 1, **own, passages=[1700], signature="Qwen3-Embedding-8B")
    store(warehouse, "leaderboard", whole.with_columns(mean_references=3.0))
    store(warehouse, "closest_share", rows_of("closest_share", 1, **own, translator="sujato", share=[0.9]))
    assert_frame_equal(table(warehouse, "palibench"), before)


@pytest.mark.parametrize("counted", ["outputs", "asked"])
def test_totals_of_the_audit_are_the_papers_only_without_further_models(warehouse: Warehouse, counted: str) -> None:
    """In a home with the outputs of a user's model, audited by judges with the names of the paper's."""
    before = table(warehouse, "outliers-to-errors")
    numbers = read(shipped()["outliers-to-errors"])
    for name, rows in tables(numbers).items():
        own = rows.filter(model="") if "model" in rows.columns else rows
        store(warehouse, name, own.with_columns(**{  # totals of one model with as many verdicts
            column: pl.col(column) - 100 for column in (counted, "outputs", "asked") if column in own.columns
        }))  # fmt: skip
    assert_frame_equal(table(warehouse, "outliers-to-errors"), before)

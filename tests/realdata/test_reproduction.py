"""The papers' numbers beside those that the real files give: every number has the outcome that is named here."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.benchmarks.numbers import read
from benchmark_assets.benchmarks.reproduction import (
    ABSENT,
    DIGITS,
    EXPLAINED,
    NEEDS,
    added,
    reproduce,
    shipped,
)
from benchmark_assets.understanding import board, stored
from benchmark_assets.understanding.chance import CHANCE, chances
from benchmark_assets.understanding.tasks import import_tasks, read_samples
from resources.home import PROJECT
from resources.warehouse import Replacement, Warehouse

pytestmark = pytest.mark.realdata

CHANCE_ROW = "Chance (see the text)"


def store(warehouse: Warehouse, tables: Mapping[str, pl.DataFrame]) -> None:
    rows = {name: frame.with_columns(fingerprint=pl.lit("")) for name, frame in tables.items()}
    warehouse.write([Replacement(name, frame, None) for name, frame in rows.items()], run_id="test")


def test_the_chance_rows_of_dharmabench(realdata: Path, warehouse: Warehouse) -> None:
    """No file of SDT is here, and no mean of seven tasks without it; the models' answers are not public."""
    assert added(warehouse) == {}
    codes, _ = import_tasks(
        warehouse, sorted((PROJECT / "warehouse/tasks/dharmabench").glob("*.yaml")), realdata / "dharmabench"
    )
    content, _ = read_samples(warehouse, codes)
    store(warehouse, {"task_sample": content.samples, "task_span": content.spans})
    golds = stored.golds(warehouse, pl.DataFrame({"task": codes}))
    rows = [chances(gold, content.samples.filter(task=gold.task.task, split="train")) for gold in golds]
    store(warehouse, {"task_chance": pl.concat([pl.DataFrame(schema=CHANCE), *rows])})
    marks = pl.DataFrame(schema=board.ALL_MARKS)
    store(
        warehouse, {"understanding_board": board.board(stored.all_scores(warehouse), marks, stored.groups(warehouse))}
    )

    assert list(added(warehouse)) == ["dharmabench"]
    found = reproduce(warehouse, "dharmabench", read(shipped()["dharmabench"]))
    ours = found.filter(row=CHANCE_ROW).select("column", "published", pl.col("value").round(4), "outcome")
    assert ours.rows() == [
        ("SMDS", "55.60", 55.6098, EXPLAINED), ("QUDS", "12.25", 12.25, DIGITS), ("RCMS", "50.00", 50, DIGITS),
        ("RCDS", "48.75", 48.75, DIGITS), ("VPCS", "50.00", 50, DIGITS), ("MCS", "10.00", 10, DIGITS),
        ("Avg", "37.77", 37.7683, DIGITS),
        ("SDT", "45.42", None, ABSENT), ("QUDT", "60.09", 60.0985, EXPLAINED), ("RCMT", "50.00", 50, DIGITS),
        ("VPCT", "50.00", 50, DIGITS), ("AACT", "50.00", 50, DIGITS), ("SCCT", "50.00", 50, DIGITS),
        ("THCT", "7.69", 7.6923, DIGITS), ("Avg.", "44.74", None, ABSENT),
    ]  # fmt: skip
    others = found.filter(pl.col("row") != CHANCE_ROW)
    assert set(others["outcome"]) == {NEEDS}
    assert (len(found), len(others)) == (302, 287)

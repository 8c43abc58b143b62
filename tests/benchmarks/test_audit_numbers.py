"""The numbers of outliers-to-errors that follow from the paper's printed counts, in a home that has nothing.

The labels are made up from these counts, so this reproduces nothing. It also shows that a home with the paper's labels
would have the printed numbers where the file looks for them.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from click.testing import CliRunner

from benchmark_assets.benchmarks.numbers import Numbers, read
from benchmark_assets.benchmarks.printed_counts import tables
from benchmark_assets.benchmarks.reproduction import (
    CONTRADICTS,
    DIFFERS,
    FOLLOWS,
    REASONS,
    RECOMPUTED,
    reproduce,
    shipped,
)
from benchmark_assets.cli import main
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse

NAME = "outliers-to-errors"
PATH = shipped()[NAME]


def changed(folder: Path, change: Any) -> Numbers:
    content = yaml.safe_load(PATH.read_text(encoding="utf-8"))
    change({table["table"]: table for table in content["tables"]}, content["counts"])
    (folder / "numbers.yaml").write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return read(folder / "numbers.yaml")


def test_rates_intervals_and_kappas_follow_from_the_printed_counts(warehouse: Warehouse) -> None:
    rows = reproduce(warehouse, NAME, read(PATH), PATH.parent)
    followed = rows.filter(outcome=FOLLOWS)
    assert Counter(followed["paper_table"]) == {
        "6": 4, "7": 9, "8": 7, "kappa with the author": 3, "9": 21, "all outputs of the queue": 4, "10": 28,
        "without ellipsis": 6, "major errors of models by category": 1, "E3": 3, "E5": 20,
    }  # fmt: skip
    assert rows.filter(outcome=CONTRADICTS).is_empty()
    assert set(rows.filter(pl.col("outcome") != FOLLOWS)["outcome"]) <= {*REASONS}
    assert all(rows["reason"])  # what recomputing the number would need
    assert followed["origin"].str.starts_with("printed counts: ").all()


def test_a_home_with_the_labels_has_the_printed_numbers_and_they_are_recomputed(warehouse: Warehouse) -> None:
    """Also the counts are at their places: 187 numbers, and one that is their sum."""
    numbers = read(PATH)
    for table, rows in tables(numbers).items():
        warehouse.write([Replacement(table, rows.with_columns(fingerprint=pl.lit("")), None)], run_id="test")
    found = reproduce(warehouse, NAME, numbers, PATH.parent).drop_nulls("value")
    assert {*found["outcome"]} <= {*RECOMPUTED} - {DIFFERS}
    assert Counter(found["paper_table"]) == {
        "6": 4, "7": 21, "8": 7, "kappa with the author": 3, "9": 21, "all outputs of the queue": 5, "10": 28, "11": 48,
        "12 and E6": 21, "without ellipsis": 6, "major errors of models by category": 1, "E3": 3, "E5": 20,
    }  # fmt: skip


def test_a_number_that_its_counts_do_not_give_is_named(warehouse: Warehouse, tmp_path: Path) -> None:
    def misprint(named: dict[str, Any], _: Any) -> None:
        named["9"]["rows"]["1.5-2.0"][1] = "79.8%"

    wrong = reproduce(warehouse, NAME, changed(tmp_path, misprint), tmp_path).filter(outcome=CONTRADICTS)
    assert wrong.select("paper_table", "row", "column", "published").rows() == [("9", "1.5-2.0", "Valid", "79.8%")]


def test_shares_of_no_whole_number_are_refused(tmp_path: Path) -> None:
    def misprint(named: dict[str, Any], _: Any) -> None:
        named["11"]["rows"]["GPT-5.5, 1.5-2.0"][1] = "91.9%"

    with pytest.raises(BadInput, match="are not those of 140 outputs"):
        tables(changed(tmp_path, misprint))


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("queue", "99", "names table '99', which is not here"),
        ("splits", ["corpus", "Splits"], "names row 'splits', which table 'corpus' lacks"),
        ("sample", "E4", "table 'e4' of `counts` needs a lookup"),
    ],
)
def test_counts_name_tables_that_are_there(tmp_path: Path, key: str, value: Any, problem: str) -> None:
    with pytest.raises(BadInput) as fault:
        changed(tmp_path, lambda _, counts: counts.update({key: value}))
    assert problem in str(fault.value).lower()


def test_the_command_shows_them_apart(home: Path) -> None:
    shown = CliRunner().invoke(main, ["reproduce", NAME])
    assert shown.exit_code == 0, shown.output
    _, _, apart = shown.output.partition("Not recomputed: these follow from counts that the paper prints itself\n")
    listed, _, sums = apart.partition("\n\n")
    assert listed.count("  follows from printed counts  printed counts: ") == 106
    assert "recomputed and equal" not in sums
    assert sums.endswith("331 printed numbers: 106 from printed counts, 225 not recomputed\n")

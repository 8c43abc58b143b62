"""Exhibits of the reproduction: counts of outcomes, and tables of numbers. Not here: outcomes (reproduction)."""

from collections.abc import Mapping

import polars as pl

from benchmark_assets.benchmarks.reproduction import OUTCOMES
from resources.exhibits import Exhibit
from resources.tables import cells, markdown
from resources.warehouse import Warehouse

NUMBERS = Exhibit(
    "reproduction", columns="paper_table row column published value difference outcome reason origin",
    full="paper_table row column published value difference outcome reason link origin",
)  # fmt: skip

RULE = "agreement: to the printed digits"
"""The rule by which values are compared with published numbers."""


def counts(rows: pl.DataFrame) -> pl.DataFrame:
    """Number of published numbers in each table of a paper, in all and with each outcome that occurs."""
    outcomes = [name for name in OUTCOMES if name in set(rows["outcome"])]
    of_outcome = [(pl.col("outcome") == name).sum().alias(name) for name in outcomes]
    tables = rows.group_by("benchmark", table="paper_table", maintain_order=True).agg(
        pl.len().alias("numbers"), *of_outcome
    )
    return tables.with_columns(pl.exclude("benchmark", "table").cast(pl.Int64))


def number_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Published numbers beside ours, under the headings of the catalogue."""
    return rows.select(cells("reproduction", *NUMBERS.full.split()))


def of_reproduction(warehouse: Warehouse) -> Mapping[str, str]:
    """Metadata for Dagster's UI: counts of outcomes, and the numbers that were recomputed."""
    rows = warehouse.read("reproduction")
    recomputed = rows.drop_nulls("value")
    return {"counts": markdown(counts(rows)), "recomputed": markdown(number_table(recomputed))} if len(rows) else {}

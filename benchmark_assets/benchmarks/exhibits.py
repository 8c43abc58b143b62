"""Exhibits of the reproduction: counts of outcomes, and tables of numbers. Not here: outcomes (reproduction)."""

from collections.abc import Mapping

import polars as pl

from benchmark_assets.benchmarks.reproduction import OF_COUNTS, OUTCOMES, REASONS, RECOMPUTED
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


def recomputed(rows: pl.DataFrame) -> pl.DataFrame:
    """Published numbers that were recomputed."""
    return rows.filter(pl.col("outcome").is_in(RECOMPUTED))


def from_counts(rows: pl.DataFrame) -> pl.DataFrame:
    """Published numbers that follow from counts that the paper prints itself, or contradict them."""
    return rows.filter(pl.col("outcome").is_in(OF_COUNTS))


def reasons(rows: pl.DataFrame) -> pl.DataFrame:
    """Published numbers that were not recomputed: number, why, and what would bring them; frequent reasons first
    within each outcome."""
    lacking = rows.filter(pl.col("outcome").is_in(REASONS))
    groups = lacking.group_by("outcome", "reason", maintain_order=True).agg(numbers=pl.len().cast(pl.Int64))
    order = pl.col("outcome").replace_strict({name: at for at, name in enumerate(REASONS)}, return_dtype=pl.Int64)
    return groups.sort(order, "numbers", descending=[False, True]).select("numbers", "outcome", "reason")


def summary(rows: pl.DataFrame) -> str:
    """How many numbers of a paper were recomputed, follow from its counts, and were not recomputed."""
    parts = {"recomputed": len(recomputed(rows)), "from printed counts": len(from_counts(rows))}
    parts["not recomputed"] = len(rows) - sum(parts.values())
    return f"{len(rows):,} printed numbers: " + ", ".join(f"{count:,} {name}" for name, count in parts.items() if count)


def number_table(rows: pl.DataFrame) -> pl.DataFrame:
    """Published numbers beside ours, under the headings of the catalogue."""
    return rows.select(cells("reproduction", *NUMBERS.full.split()))


def of_reproduction(warehouse: Warehouse) -> Mapping[str, str]:
    """Metadata for Dagster's UI: counts of outcomes, and the numbers that were recomputed."""
    rows = warehouse.read("reproduction")
    if rows.is_empty():
        return {}
    tables = {"recomputed": recomputed(rows), "from printed counts": from_counts(rows)}
    return {"counts": markdown(counts(rows))} | {
        name: markdown(number_table(numbers)) for name, numbers in tables.items() if len(numbers)
    }

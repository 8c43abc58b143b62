"""Label sets built from counts that the audit paper prints (From Outliers to Errors, tables 7, 9 to 12, E2 to E6).

They are test data: only the counts are published, and which output has which label, and with which other, is made up.
"""

from functools import cache

import polars as pl

from benchmark_assets.benchmarks import printed_counts
from benchmark_assets.benchmarks.numbers import Numbers, PrintedCounts, read
from benchmark_assets.benchmarks.reproduction import shipped


@cache
def _printed() -> tuple[Numbers, PrintedCounts]:
    numbers = read(shipped()["outliers-to-errors"])
    assert numbers.counts
    return numbers, numbers.counts


@cache
def queue() -> tuple[pl.DataFrame, pl.DataFrame]:
    return printed_counts.queue(*_printed())


@cache
def validation() -> tuple[pl.DataFrame, pl.DataFrame]:
    return printed_counts.sample(*_printed())


@cache
def confusion_matrix() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    return printed_counts.confusion(*_printed())

"""The works of chunks, and the units of intervals for literary corpora.

Here: the work of each chunk, and whether works are the units. Not here: other units (corpus.units).
"""

import polars as pl

from benchmark_assets.corpus.units import FEWEST, scoring, with_units
from benchmark_assets.metrics.intervals import Units
from benchmark_assets.metrics.measures import numbered_units
from resources.keys import CORPUS
from resources.warehouse import Warehouse

WORKS, CHUNKS = "works", "chunks"
"""The populations to which an interval can refer: works similar to the corpus's works, or the chunks of the corpus's
works."""

_NAME = pl.col("document").str.extract(r"^(.*?)[-_.]?[0-9]*$")
WORK = pl.when(_NAME == "").then("document").otherwise(_NAME).alias("work")
"""The work of a chunk: the id of its document without the number at the end, such as `lu-xun` for `lu-xun-01`; the
whole id if it does not end in a number. The ids of a work's documents must therefore differ only in this number."""


def with_works(rows: pl.DataFrame, warehouse: Warehouse) -> pl.DataFrame:
    """Add the columns `work`, `unit` and `unit_kind` to rows with the column `passage`.

    If a corpus's description names units (`scoring.cluster`), the works of this corpus are these units.
    """
    chunks = warehouse.read("source_text", rows.select("passage"), ["passage", "document"])
    described = [corpus for corpus, settings in scoring(warehouse).items() if settings.cluster]
    units = with_units(rows.join(chunks.select("passage", WORK), on="passage", how="left"), warehouse)
    named = pl.when(CORPUS.is_in(described)).then("unit").otherwise("work")
    return units.with_columns(work=pl.coalesce(named, "unit"))


def numbered(chunks: pl.DataFrame) -> tuple[Units, str]:
    """Number of each chunk's unit, and the kind of units. The units are works if there are at least `FEWEST` works.

    `chunks` has the columns of `with_works` and at least one row, from one corpus.
    """
    if chunks["work"].n_unique() >= FEWEST:
        return numbered_units(chunks["work"]), WORKS
    return numbered_units(chunks["unit"]), str(chunks["unit_kind"][0])

"""Outputs as rows of the translation tables. Not here: where outputs come from (translation.systems)."""

from collections.abc import Sequence

import polars as pl

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.translation.asking import Output

_COLUMNS = {name: pl.String() for name in ("model", *Output._fields)}


def tabulate(rows: Sequence[tuple[str | None, ...]], due: pl.DataFrame) -> Computed:
    """Sort outputs into tables: texts, refusals, how each was had; a passage without either has failed.

    Parameters
    ----------
    rows
        The model, then the fields of an `Output`.
    due
        Columns `model` and `passage`: what was asked for. One of which nothing came has failed, too.
    """
    outputs = pl.DataFrame(rows, schema=_COLUMNS, orient="row")
    texts, refusals, asked = (outputs.filter(pl.col(name).is_not_null()) for name in ("text", "refusal", "call"))
    failed = outputs.filter(pl.col("text").is_null() & pl.col("refusal").is_null()).select("model", "passage", "error")
    silent = due.join(outputs, on=["model", "passage"], how="anti")
    nothing = silent.select("model", "passage", error=pl.lit("the system returned nothing"))
    return Computed(
        {
            "model_output": texts.select("model", "passage", "text"),
            "refusal": refusals.select("model", "passage", words="refusal"),
        },
        pl.concat([failed, nothing]),
        {
            "translation_call": asked.filter(pl.col("error").is_null()).select(
                "model", "passage", "batch", "call", "parsing"
            )
        },
    )

"""What systems cost beside how they score, and the spread of systems that ask one model.

Here: dollars by system, the systems that none beats at lower cost, and families: systems whose requests name the same
model, with other prompts, settings, seeds, contexts, retrieval or choices among several outputs. Not here: sums of all
calls (accounts.costs), vendors of models that judge (provider.registry).
"""

import json

import polars as pl

from benchmark_assets.metrics.entries import BY_NAME
from benchmark_assets.reporting.headline import RATE
from resources.keys import CORPUS
from resources.warehouse import Warehouse

DISTANCE = "sim_best"
"""What systems are compared by where nothing orders them: a distance, not quality."""

THOUSAND = 1000
"""Outputs to which costs refer."""

AXIS = f"US $ for {THOUSAND:,} outputs"


def measure(board: pl.DataFrame) -> str:
    """The column of the board that shows how good its models are: what orders them, else `DISTANCE`."""
    names = board.filter(kind="model")["ordered_by"].drop_nulls().unique().sort().to_list()
    return next((name for name in names if name), DISTANCE)


def paid(warehouse: Warehouse, corpus: str) -> pl.DataFrame:
    """Columns `system`, `outputs` and `dollars`: the cost of the calls for a corpus, in US dollars for `THOUSAND`
    outputs. A request for several passages counts once. Systems with a call of unknown cost are left out."""
    asked = warehouse.read("study_call", pl.DataFrame({"study": ["model_output"]}), ["model", "passage", "call"])
    asked = asked.with_columns(CORPUS).filter(corpus=corpus)
    calls = warehouse.read("model_call", asked.select("call").unique(), ["call", "cost"])
    costs = calls.group_by("call").agg(cost=pl.col("cost").sum(), known=pl.col("cost").is_not_null().all())
    of_systems = asked.select("model", "call").unique().join(costs, on="call", how="left").group_by("model")
    sums = of_systems.agg(pl.col("cost").sum(), known=pl.col("known").fill_null(False).all())
    outputs = asked.group_by("model").agg(outputs=pl.len())
    rows = sums.join(outputs, on="model").filter("known").sort("model")
    return rows.select(system="model", outputs="outputs", dollars=THOUSAND * pl.col("cost") / pl.col("outputs"))


def frontier(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """Rows with a cost in order of cost, with `beaten`: the cheapest system that costs no more and scores better.

    `rows` has `system`, `dollars`, and the measure `name`. The comparison is of the values alone, without their
    intervals.
    """
    better = -1 if name == RATE else BY_NAME[name].better
    known = rows.drop_nulls(["dollars", name]).sort("dollars", "system").with_columns(good=better * pl.col(name))
    beaten = [
        next((s for s, d, g in known.select("system", "dollars", "good").iter_rows()
              if d <= dollars and g >= good and (d, g) != (dollars, good)), "")
        for dollars, good in known.select("dollars", "good").iter_rows()
    ]  # fmt: skip
    return known.drop("good").with_columns(beaten=pl.Series(beaten, dtype=pl.String))


def families(warehouse: Warehouse, corpus: str, board: pl.DataFrame, name: str) -> pl.DataFrame:
    """Families with several systems on the board of a corpus: `asked` (the model that their requests name), `systems`,
    `lowest`, `mean`, `highest` and `sd` of the measure `name` (standard deviation of the systems).

    The model is that of the requests to it, or `model` in the settings of a file of outputs.
    """
    columns = ["model", "settings"]
    calls = warehouse.read("study_call", pl.DataFrame({"study": ["model_output"]}), [*columns, "passage"])
    calls = calls.with_columns(CORPUS).filter(corpus=corpus).select(columns)
    files = warehouse.read("imported_file", pl.DataFrame({"corpus": [corpus]}), columns)
    rows = pl.concat([calls, files]).drop_nulls().unique()
    asked = rows.with_columns(asked=pl.col("settings").map_elements(_asked, return_dtype=pl.String)).drop_nulls()
    named = asked.select("asked", system="model").unique()
    found = board.filter(kind="model").drop_nulls(name).join(named, on="system").sort("asked", "system")
    sums = found.group_by("asked", maintain_order=True).agg(
        pl.col("system").alias("systems"), lowest=pl.col(name).min(), mean=pl.col(name).mean(),
        highest=pl.col(name).max(), sd=pl.col(name).std(),
    )  # fmt: skip
    return sums.filter(pl.col("systems").list.len() > 1)


def _asked(settings: str) -> str | None:
    content = json.loads(settings)
    name = content.get("model") if isinstance(content, dict) else None
    return name if isinstance(name, str) else None

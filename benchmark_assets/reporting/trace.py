"""The chain of results behind a number: for a passage and a model, every asset with its row, inputs and calls.

Here: the steps of a chain, from the records of materializations (`materialization`) and the tables of the assets. Texts
are never part of it, so that a chain can be shown wherever scores can. Not here: which partitions are stale for reasons
outside the passage (automation.due).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from resources import catalogue, tables
from resources.errors import BadInput
from resources.keys import CORPUS
from resources.warehouse import Warehouse

OWN = ("code", "settings")
"""Parts of `made_from` that are not inputs."""

BRIEF = 8
"""Characters of a version that `made_from` records, and that are shown."""

MOST = 6
"""Number of an asset's rows that are shown."""


class Step(NamedTuple):
    """A result in a chain.

    - `version`: hash of the result's content. `inputs`: recorded version of each input, code and settings.
    - `run`, `at`: Dagster's run that computed it, and when.
    - `changed`: inputs whose version has changed since, so that the result is stale.
    - `facts`: the rows in words, without texts.
    """

    asset: str
    version: str
    inputs: dict[str, str]
    run: str
    at: str
    changed: list[str]
    facts: list[str]


def of_output(warehouse: Warehouse, model: str, passage: str) -> list[Step]:
    """The chain of a model's output for a passage, from the files to the verdicts, in the order of dependence.

    Raises
    ------
    BadInput
        If there is no such passage, or the model has no output for it.
    """
    records = _records(warehouse, passage, ("", model))
    assets = set(records["asset"])
    if "source_text" not in assets:
        raise BadInput(passage, "", "no such passage", "write CORPUS/ID; `variorum status` lists the corpora")
    if "model_output" not in assets:
        raise BadInput(model, passage, "has no output for this passage", f"run `variorum evaluate {model}`")
    return list(_steps(warehouse, records))


def of_cell(warehouse: Warehouse, model: str, corpus: str) -> Iterator[str]:
    """The origin of a model's row on the leaderboard: its numbers, signature, record, and most distant passages.

    Raises
    ------
    BadInput
        If the leaderboard has no such row.
    """
    rows = warehouse.read("leaderboard", pl.DataFrame({"corpus": [corpus], "kind": ["model"], "system": [model]}))
    if rows.is_empty():
        raise BadInput(model, corpus, "has no row on this corpus's leaderboard", f"run `variorum evaluate {model}`")
    names = ("rank", "passages", "units", "coverage", "sim_best", "drift", "outlier_rate", "chrf", "bleu")
    (cells,) = rows.select(tables.cells("leaderboard", *names)).iter_rows(named=True)
    yield _stated(cells)
    yield f"signature: {rows['signature'][0]}"
    for record in (
        warehouse.read("materialization", pl.DataFrame({"asset": ["model_summary"], "model": [model]}))
        .head(1)
        .iter_rows(named=True)
    ):
        yield f"computed {record['updated_at']:%Y-%m-%d %H:%M} in run {record['run_id'][:BRIEF]}"
    scores = warehouse.read("drift_score", pl.DataFrame({"model": [model]}), ["passage", "drift"]).with_columns(CORPUS)
    farthest = scores.filter(corpus=corpus).drop_nulls("drift").sort("drift", "passage", descending=[True, False])
    yield f"the mean of {len(farthest)} passages with a drift; the most distant ones:"
    for passage, drift in farthest.head(MOST).select("passage", "drift").iter_rows():
        yield f"  {drift:.2f}  variorum trace {model} {passage}"


def of_strength(warehouse: Warehouse, model: str, base_set: str) -> Iterator[str]:
    """The origin of a model's LT on a base set (`name@version`): scores by slice, conditions, comparisons.

    Raises
    ------
    BadInput
        If the model was not compared with the base set.
    """
    rows = warehouse.read("pairwise_score", pl.DataFrame({"model": [model], "base_set": [base_set]}))
    if rows.is_empty():
        raise BadInput(model, base_set, "was not compared with this base set", f"run `variorum evaluate {model}`")
    names = ("slice", "items", "matches", "wins", "ties", "excluded", "win_rate", "strength", "lt", "en")
    for row in rows.select(tables.cells("pairwise_score", *names)).iter_rows(named=True):
        yield _stated(row)
    yield f"conditions: {rows['contract'][0]}"
    yield f"signature: {rows['signature'][0]}"
    calls = warehouse.read("study_call", pl.DataFrame({"study": ["comparison"], "model": [model]}), ["call", "passage"])
    count, passages = calls["call"].n_unique(), calls["passage"].n_unique()
    yield f"{count} calls on {passages} passages; `variorum trace {model} CORPUS/PASSAGE` shows each"


def words(steps: Iterable[Step]) -> Iterator[str]:
    """A chain in lines for a terminal."""
    for step in steps:
        yield f"{step.asset} {step.version[:BRIEF]}  {step.at}  run {step.run[:BRIEF]}"
        inputs = " ".join(f"{name}:{version}" for name, version in step.inputs.items())
        yield f"  made from {inputs}"
        yield from (f"  {fact}" for fact in step.facts)
        if step.changed:
            yield f"  STALE: changed since: {', '.join(step.changed)}; `variorum update` computes it again"


def _records(warehouse: Warehouse, passage: str, models: Sequence[str]) -> pl.DataFrame:
    """Records of the materializations of a passage, alone and with a model, in the order in which they depend."""
    keys = pl.DataFrame({"passage": [passage] * len(models), "model": list(models)})
    return warehouse.read("materialization", keys).sort("updated_at")


def _steps(warehouse: Warehouse, records: pl.DataFrame) -> Iterator[Step]:
    versions = dict(records.select("asset", "version").iter_rows())
    for record in records.iter_rows(named=True):
        inputs = dict(part.split(":", 1) for part in record["made_from"].split() if ":" in part)
        changed = [
            name for name, version in inputs.items()
            if name not in OWN and name in versions and not versions[name].startswith(version)
        ]  # fmt: skip
        at = record["updated_at"].strftime("%Y-%m-%d %H:%M")
        key = {"model": record["model"], "passage": record["passage"]}
        facts = list(_facts(warehouse, record["asset"], key))
        yield Step(record["asset"], record["version"], inputs, record["run_id"], at, changed, facts)


def _facts(warehouse: Warehouse, asset: str, key: dict[str, str]) -> Iterator[str]:
    """The rows of an asset's table in words, and the calls that they came from."""
    table = catalogue.tables().get(asset)
    if table is not None:
        own = [name for name in key if name in table.columns]
        rows = warehouse.read(asset, pl.DataFrame({name: [key[name]] for name in own}))
        shown = [name for name, column in table.columns.items() if name not in own and _is_shown(column)]
        for row in rows.head(MOST).select(tables.cells(asset, *shown) if shown else []).iter_rows(named=True):
            if values := _stated(row):
                yield values
        if len(rows) > MOST:
            yield f"and {len(rows) - MOST} more rows"
    yield from _calls(warehouse, asset, key)


def _is_shown(column: catalogue.Column) -> bool:
    """Whether a column may be shown anywhere, and says something about a single row."""
    bulky = column.type.endswith("[]") and column.numeric
    return (
        column.visibility == "public" and column.name not in catalogue.PROVENANCE and not bulky and not column.between
    )


def _stated(row: Mapping[str, object]) -> str:
    """The values of a row after their headings; missing and empty values are left out."""
    shown = {name: ", ".join(map(str, value)) if isinstance(value, list) else value for name, value in row.items()}
    return ", ".join(f"{name} {value}" for name, value in shown.items() if value not in (None, ""))


def _calls(warehouse: Warehouse, asset: str, key: dict[str, str]) -> Iterator[str]:
    """The calls that a result came from: when, which model was served, tokens, cost."""
    asked = warehouse.read(
        "study_call", pl.DataFrame({"study": [asset], **{name: [value] for name, value in key.items()}})
    )
    calls = warehouse.read("model_call", asked.select("call").unique())
    for row in calls.sort("asked").iter_rows(named=True):
        cost = "unknown cost" if row["cost"] is None else f"{row['cost']:.6f} dollars"
        yield (
            f"call {row['call'][:BRIEF]} of {row['model']} at {row['place']} with the prompt {row['purpose']}, "
            f"{row['asked']:%Y-%m-%d %H:%M}: {row['outcome']} by {row['served_model'] or 'no stated version'}, "
            f"{row['prompt_tokens'] or 'unknown'} tokens in, {row['completion_tokens'] or 'unknown'} out, {cost}"
        )

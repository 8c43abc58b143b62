"""The chain of results behind a number: for a passage and a model, every asset with its row, inputs and calls.

Here: the steps of a chain, from the records of materializations (`materialization`) and the tables of the assets. Texts
are never part of it, so that a chain can be shown wherever scores can. Only lines for a terminal (`words`) name the
endpoints and times of calls. Not here: which partitions are stale for reasons outside the passage (automation.due).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

import polars as pl

from benchmark_assets.reporting import leaderboard
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

TIME = "%Y-%m-%d %H:%M"


Key: TypeAlias = tuple[str, str]
"""Model and passage; the model is '' for results that belong to the passage alone."""


class Call(NamedTuple):
    """A call that a result came from.

    - `call`: key of the question in the ledger. `place`, `at`: endpoint or recording, and time. These three are for
      people of the home only.
    - `told`: model, prompt, outcome and served model in words. `tokens_in`, `tokens_out`, `cost`: null if unknown; the
      cost is in dollars.
    """

    call: str
    place: str
    at: str
    told: str
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None


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
    calls: list[Call]


def of_output(warehouse: Warehouse, model: str, passage: str) -> list[Step]:
    """The chain of a model's output for a passage, from the files to the verdicts, in the order of dependence.

    Raises
    ------
    BadInput
        If there is no such passage, or the model has no output for it.
    """
    records = _records(warehouse, pl.DataFrame({"passage": [passage] * 2, "model": ["", model]}))
    assets = set(records["asset"])
    if "source_text" not in assets:
        raise BadInput(passage, "", "no such passage", "write CORPUS/ID; `variorum status` lists the corpora")
    if "model_output" not in assets:
        raise BadInput(model, passage, "has no output for this passage", f"run `variorum evaluate {model}`")
    return [step for _, step in _steps(warehouse, records, stated=True)]


def of_passages(warehouse: Warehouse, passages: pl.DataFrame) -> dict[Key, list[Step]]:
    """The chains of passages and of all their outputs, without facts; each table is read once.

    `passages` has the column `passage`. The chain of an output is the steps of its passage, under the model '', and
    then its own steps.
    """
    chains: dict[Key, list[Step]] = {}
    for key, step in _steps(warehouse, _records(warehouse, passages), stated=False):
        chains.setdefault(key, []).append(step)
    return chains


def of_cell(warehouse: Warehouse, model: str, corpus: str) -> Iterator[str]:
    """The origin of a model's row on the leaderboard: its numbers, signature, record, and most distant passages.

    Raises
    ------
    BadInput
        If the leaderboard has no such row.
    """
    key = pl.DataFrame({"corpus": [corpus], "kind": ["model"], "system": [model]})
    rows = leaderboard.read(warehouse, keys=key)
    if rows.is_empty():
        raise BadInput(model, corpus, "has no row on this corpus's leaderboard", f"run `variorum evaluate {model}`")
    names = ("rank", *leaderboard.COVERAGE[:4], *leaderboard.headline(rows))
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
        for call in step.calls:
            yield f"  call {call.call[:BRIEF]} of {spoken(call)}, {call.at} at {call.place}"
        if step.changed:
            yield f"  STALE: changed since: {', '.join(step.changed)}; `variorum update` computes it again"


def calls_of(warehouse: Warehouse, asset: str, keys: pl.DataFrame) -> dict[Key, list[Call]]:
    """The calls that results of an asset came from, by time. `keys` has the columns model and passage."""
    asked = warehouse.read("study_call", keys.with_columns(study=pl.lit(asset)), ["model", "passage", "call"]).unique()
    if asked.is_empty():
        return {}
    rows = warehouse.read("model_call", asked.select("call").unique()).rename({"model": "asked_model"})
    calls: dict[Key, list[Call]] = {}
    for row in asked.join(rows, on="call").sort("asked", "attempt").iter_rows(named=True):
        told = (
            f"{row['asked_model']} with the prompt {row['purpose']}, {row['outcome']} by "
            f"{row['served_model'] or 'no stated version'}"
        )
        numbers = row["prompt_tokens"], row["completion_tokens"], row["cost"]
        call = Call(row["call"], row["place"], row["asked"].strftime(TIME), told, *numbers)
        calls.setdefault((row["model"], row["passage"]), []).append(call)
    return calls


def spoken(call: Call) -> str:
    """A call in words that anybody may read."""
    cost = "unknown cost" if call.cost is None else f"{call.cost:.6f} dollars"
    tokens = f"{call.tokens_in or 'unknown'} tokens in, {call.tokens_out or 'unknown'} out"
    return f"{call.told}, {tokens}, {cost}"


def _records(warehouse: Warehouse, keys: pl.DataFrame) -> pl.DataFrame:
    """Records of the materializations of passages, alone and with models, in the order in which they depend."""
    return warehouse.read("materialization", keys).sort("updated_at", maintain_order=True)


def _steps(warehouse: Warehouse, records: pl.DataFrame, stated: bool) -> Iterator[tuple[Key, Step]]:
    """The steps of records with their models and passages, in the order of the records; with facts if `stated`."""
    versions = {
        (model, passage, asset): version
        for model, passage, asset, version in records.select("model", "passage", "asset", "version").iter_rows()
    }
    facts: dict[tuple[str, Key], list[str]] = {}
    calls: dict[tuple[str, Key], list[Call]] = {}
    for (asset,), rows in records.group_by("asset"):
        name, keys = str(asset), rows.select("model", "passage")
        if stated:
            facts |= {(name, key): lines for key, lines in _facts(warehouse, name, keys).items()}
        calls |= {(name, key): made for key, made in calls_of(warehouse, name, keys).items()}
    for record in records.iter_rows(named=True):
        asset, model, passage = record["asset"], record["model"], record["passage"]
        inputs = dict(part.split(":", 1) for part in record["made_from"].split() if ":" in part)
        now = {name: versions.get((model, passage, name), versions.get(("", passage, name))) for name in inputs}
        changed = [
            name for name, version in inputs.items()
            if name not in OWN and (current := now[name]) is not None and not current.startswith(version)
        ]  # fmt: skip
        at, key = record["updated_at"].strftime(TIME), (model, passage)
        own = facts.get((asset, key), []), calls.get((asset, key), [])
        yield key, Step(asset, record["version"], inputs, record["run_id"], at, changed, *own)


def _facts(warehouse: Warehouse, asset: str, keys: pl.DataFrame) -> dict[Key, list[str]]:
    """The rows of an asset's table in words, at most `MOST` for each key; `keys` has the columns model and passage."""
    table = catalogue.tables().get(asset)
    if table is None:
        return {}
    own = [name for name in keys.columns if name in table.columns]
    shown = [name for name, column in table.columns.items() if name not in own and _is_shown(column)]
    rows = warehouse.read(asset, keys.select(own).unique())
    stated = rows.select(*own, *tables.cells(asset, *shown)) if shown else rows.select(own)
    lines: dict[Key, list[str]] = {}
    counts: dict[Key, int] = {}
    for row in stated.iter_rows(named=True):
        names = {name: row.pop(name) for name in own}
        key = names.get("model", ""), names.get("passage", "")
        counts[key] = counts.get(key, 0) + 1
        if counts[key] <= MOST and (values := _stated(row)):
            lines.setdefault(key, []).append(values)
    for key, count in counts.items():
        if count > MOST:
            lines.setdefault(key, []).append(f"and {count - MOST} more rows")
    return lines


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

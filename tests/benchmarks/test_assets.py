"""The asset and the command: what they store, print and return for a home with a part of DharmaBench."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.benchmarks import assets
from benchmark_assets.benchmarks.reproduction import ADMITTED, DIFFERS, added
from resources.catalogue import schema
from resources.warehouse import Replacement, Warehouse
from tests.processes import here


@pytest.fixture(scope="module")
def rooms() -> Sequence[ModuleType]:
    return [assets]


def score(warehouse: Warehouse, task: str, value: float) -> None:
    """Store a task and its chance score, as if they had been imported and computed."""
    chance = pl.DataFrame([(task, "chance", value, "")], schema=schema("task_chance"), orient="row")
    row: Mapping[str, object] = dict.fromkeys(schema("task"), "") | {"task": task, "kind": "spans", "restricted": False}
    tasks = pl.DataFrame([row], schema=schema("task"))
    for name, rows in {"task": tasks, "task_chance": chance}.items():
        stamped = rows.with_columns(fingerprint=pl.lit(""))
        warehouse.write([Replacement(name, stamped, stamped.select("task"))], run_id="test")


def materialize(definitions: dg.Definitions, instance: dg.DagsterInstance) -> bool:
    job = definitions.resolve_implicit_global_asset_job_def().get_subset(asset_selection={dg.AssetKey("reproduction")})
    return job.execute_in_process(instance=instance).success


def test_numbers_of_added_benchmarks_are_stored(
    warehouse: Warehouse, definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    assert materialize(definitions, instance)
    assert warehouse.read("reproduction").is_empty()
    score(warehouse, "SMDS", 55.6098)
    assert list(added(warehouse)) == ["dharmabench"]
    assert materialize(definitions, instance)
    rows = warehouse.read("reproduction")
    assert len(rows) == 302
    (recomputed,) = rows.drop_nulls("value").to_dicts()
    assert (recomputed["column"], recomputed["outcome"]) == ("SMDS", ADMITTED["print"])
    assert recomputed["link"].startswith("docs/decisions/understanding.md")


def test_a_corpus_of_an_added_benchmark_is_no_sign_of_another_paper_about_it(warehouse: Warehouse) -> None:
    corpora, text = schema("corpus"), pl.String
    corpus = {
        name: [] if kind == pl.List(text) else "" for name, kind in corpora.items() if kind in (text, pl.List(text))
    }
    rows = pl.DataFrame([corpus | {"corpus": "palibench-construction"}], schema=corpora).with_columns(
        fingerprint=pl.lit("")
    )
    warehouse.write([Replacement("corpus", rows, None)], run_id="test")
    assert list(added(warehouse)) == ["outliers-to-errors", "palibench"]
    names = {"benchmark": "palibench", "version": 1, "corpora": ["palibench-construction"], "tasks": list[str]()}
    own = dict.fromkeys(("recipe_hash", "title", "parts", "left_out", "recipe", "home"), "")
    row = pl.DataFrame([own | names], schema=schema("benchmark")).with_columns(fingerprint=pl.lit(""))
    warehouse.write([Replacement("benchmark", row, None)], run_id="test")
    assert list(added(warehouse)) == ["palibench"]


def test_the_command_fails_for_a_difference_without_a_reason(warehouse: Warehouse, home: Path) -> None:
    score(warehouse, "SMDS", 55.6098)
    printed = here(home, "reproduce", "dharmabench")
    assert "docs/decisions/understanding.md#chance-seeds-means" in printed.stdout
    assert "239  needs outputs  the models' answers, which are not public" in printed.stdout
    score(warehouse, "QUDS", 12.2)
    failed = here(home, "reproduce", "dharmabench", "--all", code=1)
    assert DIFFERS in failed.stdout
    assert "no value in task_chance.score with baseline 'chance', task 'MCS'" in failed.stdout
    assert "without a reason: 1; find the cause" in failed.stderr
    others = "use one of dharmabench, jp-tl-bench, literary-zh-ja, outliers-to-errors, palibench"
    assert others in here(home, "reproduce", "dharma", code=1).stderr

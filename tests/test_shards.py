"""A corpus whose passages Dagster knows by shards: what is computed, what is reported, and what a growing corpus keeps.

The small corpus is divided below its size, two passages a shard.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import dagster as dg
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.automation import repairing, runs
from benchmark_assets.automation.due import SHARD, due, order, ranges
from benchmark_assets.lineage import shards
from benchmark_assets.lineage.events import RETRACTED
from benchmark_assets.partitions import GRID
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import RunFailedError
from resources.keys import KEYS
from resources.warehouse import Warehouse
from tests.conftest import finish
from tests.support import (
    CORE,
    MODELS,
    PASSAGES,
    TRANSLATIONS,
    copy_finished,
    edit_segment,
    made_once,
    reports,
    write_corpus,
)
from tests.systems import RuleSystems
from tests.test_lineage import not_fresh

FIRST, LAST = "tiny/~0001", "tiny/~0002"
SCORES = ["model_output", "drift_score", "lexical_score"]


@pytest.fixture(scope="module")
def rooms() -> Sequence[ModuleType]:
    return CORE


def divide(instance: dg.DagsterInstance, warehouse: Warehouse) -> None:
    """Divide the small corpus into shards of two passages."""
    shards.divide(instance, warehouse, pl.DataFrame({"passage": PASSAGES}), "test", 2, 2)


def stale(definitions: dg.Definitions, instance: dg.DagsterInstance) -> pl.DataFrame:
    """Stale partitions of all assets: `asset`, columns of `KEYS`, `reason`."""
    parts = [due(definitions, instance, asset) for asset in order(definitions)]
    return pl.concat([part.rows.select(pl.lit(part.asset.to_user_string()).alias("asset"), "*") for part in parts])


@pytest.fixture
def divided(ruled: dg.Definitions, home: Path, corpus: Path) -> dg.Definitions:
    """The code location on a warehouse where the small corpus had two shards from the beginning."""
    made = made_once("divided", lambda folder: finish(folder, CORE, divide))
    shutil.rmtree(home)
    copy_finished(made, home, corpus)
    return ruled


def test_a_divided_corpus_has_the_rows_of_any_other_and_one_event_a_shard(
    divided: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, finished: Path
) -> None:
    assert list(instance.get_dynamic_partitions("passage")) == [FIRST, LAST]
    other = DuckDBWarehouse(path=str(finished / "home" / "variorum.duckdb"))
    for table in (*SCORES, "reference", "model_summary", "leaderboard"):
        stamps = ["run_id", "updated_at", *(["fingerprint"] if table == "leaderboard" else [])]  # of further inputs
        assert warehouse.read(table).drop(stamps).equals(other.read(table).drop(stamps)), table
    states = [*KEYS, "version", "fingerprint"]
    for asset in SCORES:
        key = pl.DataFrame({"asset": [asset]})
        assert warehouse.read("materialization", key, states).equals(other.read("materialization", key, states))
    counts = reports(instance)
    for asset in SCORES:
        of_asset = {key: count for (name, key), count in counts.items() if name == asset}
        assert of_asset == {f"{model}|{shard}": 1 for model in MODELS for shard in (FIRST, LAST)}
    assert stale(divided, instance).is_empty()
    assert not_fresh(divided, instance) == {}


def test_one_fix_recomputes_its_passage_and_reports_its_shard(
    divided: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path, systems: RuleSystems
) -> None:
    before, scores = reports(instance), warehouse.read("drift_score")
    edit_segment(corpus, "ben", "doc1:2.1", "The sun is coming up.")
    runs.look(divided, instance)
    assert set(stale(divided, instance)["passage"]) == {PASSAGES[1]}
    runs.update(divided, instance)
    news = reports(instance) - before
    assert {key for (asset, key) in news if asset == "drift_score"} == {f"{model}|{FIRST}" for model in MODELS}
    assert {key for (_, key) in news if LAST in key} == set()
    changed = warehouse.read("drift_score").join(scores, on=scores.columns, how="anti", nulls_equal=True)
    assert set(changed["passage"]) == {PASSAGES[1]}
    assert systems.asked() == []
    assert stale(divided, instance).is_empty()
    assert not_fresh(divided, instance) == {}


@pytest.mark.proof
@pytest.mark.large
def test_a_failed_passage_fails_its_shard_and_keeps_the_others_rows(
    divided: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, tmp_path: Path, systems: RuleSystems
) -> None:
    instance.add_dynamic_partitions("model", ["gamma"])
    (tmp_path / "failing").write_text(PASSAGES[1])
    with pytest.raises(RunFailedError, match="1 of 3 partitions of model_output failed"):
        runs.update(divided, instance)
    model = pl.DataFrame({"model": ["gamma"]})
    for table in SCORES:
        assert warehouse.read(table, model)["passage"].to_list() == [PASSAGES[0], PASSAGES[2]]
    keys = [f"gamma|{shard}" for shard in (FIRST, LAST)]
    status = instance.get_status_by_partition(dg.AssetKey("model_output"), keys, GRID) or {}
    assert [state and state.value for state in (status[key] for key in keys)] == ["FAILED", "MATERIALIZED"]
    assert stale(divided, instance).filter(asset="model_output").rows() == [
        ("model_output", "gamma", PASSAGES[1], "", "failed")
    ]

    (tmp_path / "failing").unlink()
    systems.asked()
    runs.update(divided, instance)
    assert systems.asked() == [f"gamma|{PASSAGES[1]}"]
    assert stale(divided, instance).is_empty()


def test_a_corpus_that_grows_into_shards_keeps_its_rows(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, systems: RuleSystems
) -> None:
    systems.asked()
    states = warehouse.read("materialization")
    divide(instance, warehouse)
    assert list(instance.get_dynamic_partitions("passage")) == [FIRST, LAST]
    runs.look(built, instance)
    rows = stale(built, instance)
    assert set(rows["reason"]) == {"stored, but not reported"}
    assert set(rows["passage"]) == {FIRST, LAST}
    runs.update(built, instance)
    assert stale(built, instance).is_empty()
    assert systems.asked() == []
    assert warehouse.read("materialization").equals(states)


@pytest.mark.proof
@pytest.mark.large
def test_new_passages_fill_the_last_shard_and_removed_ones_leave_gaps(
    divided: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path
) -> None:
    for file in corpus.parent.rglob("doc1_*.json"):
        segments = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({key: text for key, text in segments.items() if key != "doc1:2.1"}))
    sources = {"doc3": {"doc3:1.1": "Luna lucet.", "doc3:2.1": "Ventus flat."}}
    write_corpus(corpus.parent, sources, {name: {"doc3": sources["doc3"]} for name in TRANSLATIONS})
    runs.look(divided, instance)
    assert dict(warehouse.read("passage_shard", columns=["passage", "shard"]).iter_rows()) == {
        PASSAGES[0]: FIRST, PASSAGES[2]: LAST, "tiny/doc3:1": LAST, "tiny/doc3:2": LAST,
    }  # fmt: skip
    assert FIRST in set(stale(divided, instance).filter(asset="reference")["passage"])
    runs.update(divided, instance)
    assert stale(divided, instance).is_empty()
    assert not_fresh(divided, instance) == {}
    assert len(warehouse.read("drift_score")) == len(MODELS) * 4


@pytest.mark.proof
@pytest.mark.large
def test_a_removed_model_and_a_removed_corpus_leave_nothing(
    divided: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    runs.remove(divided, instance, "model", "alpha")
    assert warehouse.read("drift_score")["model"].unique().to_list() == ["beta"]
    runs.remove(divided, instance, "corpus", "tiny")
    assert list(instance.get_dynamic_partitions("passage")) == []
    for table in ("passage_shard", "source_text", "drift_score"):
        assert warehouse.read(table).is_empty()


@pytest.mark.proof
@pytest.mark.large
def test_a_rebuilt_home_has_its_shards(
    divided: dg.Definitions, warehouse: Warehouse, home: Path, systems: RuleSystems
) -> None:
    rows = warehouse.read("materialization")
    shutil.rmtree(home / "dagster")
    list(repairing.rebuild(lambda: divided))
    with dg.DagsterInstance.get() as instance:
        assert list(instance.get_dynamic_partitions("passage")) == [FIRST, LAST]
        runs.update(divided, instance)
        assert stale(divided, instance).is_empty()
    assert systems.asked() == []
    assert warehouse.read("materialization").equals(rows)


@given(st.lists(st.tuples(st.sets(st.integers(0, 30)), st.integers(1, 5)), min_size=1, max_size=4))
def test_a_passage_keeps_its_shard(scans: list[tuple[set[int], int]]) -> None:
    known = pl.DataFrame(schema={"passage": pl.String, "shard": pl.String})
    for numbers, _ in scans:
        found = pl.DataFrame({"passage": [f"c/{number}" for number in sorted(numbers)]}, {"passage": pl.String})
        known = known.join(found, on="passage", how="semi")
        before = dict(known.iter_rows())
        known = pl.concat([known, shards._assigned(known, found, 3, 5)])
        after = dict(known.iter_rows())
        assert {passage: after[passage] for passage in before} == before
        assert set(after) == set(found["passage"]) or (not after and len(numbers) <= 3)
        assert known.group_by("shard").len()["len"].max() in (None, *range(1, 6))


def test_the_version_of_a_shard_changes_with_any_row() -> None:
    of = pl.DataFrame({"passage": ["c/1", "c/2"], "shard": ["c/~0001"] * 2})
    rows = pl.DataFrame({"passage": ["c/2", "c/1", "d/1"], "version": ["b", "a", "x"], "row_count": [2, 3, 4]})
    whole = shards.collapsed(rows, of)
    assert whole.sort("passage").select("passage", "row_count").rows() == [("c/~0001", 5), ("d/1", 4)]
    assert whole.filter(passage="d/1")["version"].to_list() == ["x"]
    assert shards.collapsed(rows.drop("passage"), of).equals(rows.drop("passage"))

    def version(*versions: str) -> str:
        changed = rows.with_columns(version=pl.Series(versions))
        return str(shards.collapsed(changed, of).filter(passage="c/~0001")["version"][0])

    assert version("b", "a", "y") == version("b", "a", "x")
    assert len({version("b", "a", "x"), version("a", "b", "x"), version(RETRACTED, "a", "x")}) == 3
    assert version(RETRACTED, RETRACTED, "x") == RETRACTED


@pytest.mark.parametrize(("between", "count"), [(400 // SHARD - 1, 1), (400 // SHARD, 2)])
def test_a_gap_of_shards_divides_a_run_earlier(between: int, count: int) -> None:
    keys = [f"c/~{number:04}" for number in range(1, 40)]
    rows = pl.DataFrame({"passage": [keys[3], keys[4 + between]]})
    assert len(ranges(rows, ["passage"], {"passage": keys})) == count

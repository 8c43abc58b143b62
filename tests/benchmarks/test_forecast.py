"""What the evaluation of a model would ask, judges included, before there is an output."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.benchmarks.forecast import forecast, lacking
from benchmark_assets.benchmarks.limits import KEY
from benchmark_assets.benchmarks.parts import Added
from benchmark_assets.corpus.registry import register
from benchmark_assets.translation.systems import Systems
from resources.provider.estimate import SPEED, WAIT
from resources.provider.provider import Provider
from resources.warehouse import Replacement, Warehouse
from tests.benchmarks.recipes import change
from tests.support import CORE, PASSAGES, run

ADDED = Added(["tiny"], [])


@pytest.fixture(scope="module")
def rooms() -> Sequence[ModuleType]:
    return CORE


@pytest.fixture
def systems(warehouse: Warehouse, tmp_path: Path) -> Systems:
    model = {"endpoint": "here", "id": "m", "price": {"input": 1, "output": 2}, "batch_tokens": 1, "in_flight": 2}
    judges = {name: model | {"id": name, "family": name} for name in ("mild", "strict")}
    content = {
        "endpoints": {"here": {"url": "http://127.0.0.1:9/v1"}}, "models": {"ours": model | {"family": "ours"}},
        "judges": judges, "embedders": {"minilm": {}}, "embedder": "minilm",
    }  # fmt: skip
    (tmp_path / "models.yaml").write_text(json.dumps(content))
    registry, ledger = str(tmp_path / "models.yaml"), str(tmp_path / "ledger.sqlite")
    return Systems(warehouse=warehouse, provider=Provider(registry_path=registry, ledger_path=ledger))


def test_all_questions_are_counted_before_there_are_outputs(
    definitions: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path, systems: Systems
) -> None:
    both = ["mild", "strict"]
    judging = {"rubric": {"judges": both}, "spans": {"judges": ["mild"]}, "audit": {"judges": ["strict"]}}
    change(corpus, {**judging, "memory": {"passages": 2}})
    register(warehouse, corpus)
    runs.look(definitions, instance)
    run(definitions, instance, "references", (PASSAGES[0], PASSAGES[-1]))
    limits = warehouse.read("limited_item", columns=KEY)
    rows = {row.study: row.estimate for row in forecast(warehouse, systems, "ours", PASSAGES, [], limits)}
    calls = {"model_output": 3, "rubric_vote": 6, "span_vote": 3, "judge_vote": 3, "memory_vote": 5}
    assert {study: estimate.calls for study, estimate in rows.items()} == calls
    assert all(estimate.about and estimate.most and not estimate.measured for estimate in rows.values())
    votes = rows["rubric_vote"]
    assert votes.tokens > 6 * 500
    assert votes.seconds == pytest.approx((6 * WAIT + votes.tokens / 2 / SPEED) / 2, rel=0.01)

    assert lacking(warehouse, "ours", None, ADDED, limits, []) == PASSAGES
    limits = pl.DataFrame({"model": ["ours", "other"], "passage": PASSAGES[:2], "task": "", "sample": ""})
    assert lacking(warehouse, "ours", None, ADDED, limits, []) == PASSAGES[:1]
    stored = pl.DataFrame({"model": ["ours"], "passage": PASSAGES[:1], "text": ["EN"], "fingerprint": ["f"]})
    warehouse.write([Replacement("model_output", stored, stored.select("model", "passage"))], run_id="test")
    assert lacking(warehouse, "ours", None, ADDED, limits, []) == []
    assert lacking(warehouse, "ours", None, ADDED, limits, PASSAGES) == PASSAGES[:1]

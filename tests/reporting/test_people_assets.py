"""Models among people, and thresholds of outliers, as assets on a small corpus."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import dagster as dg
import polars as pl
import pytest
from numpy.testing import assert_allclose

from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from resources.warehouse import Warehouse
from tests.support import CORE, MODELS, TRANSLATIONS, run, write_corpus

ASSETS = ["human_range"]


@pytest.fixture(scope="module")
def rooms() -> Sequence[ModuleType]:
    return CORE


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A corpus of six documents of one passage each, with three translators."""
    segments = {each: TRANSLATIONS[each]["doc1"] | TRANSLATIONS[each]["doc2"] for each in TRANSLATIONS}
    texts = {name: [" ".join(list(own.values())[at:] + list(own.values())[:at]) for at in range(4)] * 2
             for name, own in segments.items()}  # fmt: skip
    sources = {f"doc{at}": {f"doc{at}:1.1": f"Mus {'currit ' * (at + 3)} et felis sedet."} for at in range(6)}
    translations = {
        name: {f"doc{at}": {f"doc{at}:1.1": f"{own[at]} {at} {name[: at + 1]}"} for at in range(6)}
        for name, own in texts.items()
    }
    return write_corpus(tmp_path / "six", sources, translations, "six")


def test_both_tables_follow_from_the_similarities(
    ruled: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, documents: Path
) -> None:
    register(warehouse, documents)
    instance.add_dynamic_partitions("model", MODELS)
    runs.look(ruled, instance)
    passages = instance.get_dynamic_partitions("passage")
    assert run(ruled, instance, "references", (passages[0], passages[-1])).success
    ends = f"{MODELS[0]}|{passages[0]}", f"{MODELS[-1]}|{passages[-1]}"
    for stage in ("translate", "score"):
        assert run(ruled, instance, stage, ends).success
    keys = [dg.AssetKey(name) for name in ASSETS]
    job = ruled.resolve_implicit_global_asset_job_def().get_subset(asset_selection=set(keys))
    assert job.execute_in_process(instance=instance).success

    differences = warehouse.read("human_difference")
    assert set(differences.select("model", "translator").rows()) == {(m, t) for m in MODELS for t in TRANSLATIONS}
    assert set(differences["units"]) == {len(passages)}
    people = warehouse.read("human_baseline").group_by("translator").agg(pl.col("sim_best", "drift_adjusted").mean())
    long = people.unpivot(["sim_best", "drift_adjusted"], index="translator", variable_name="measure")
    joined = differences.join(long, on=["translator", "measure"], suffix="_expected")
    assert_allclose(joined["human_value"], joined["value_expected"], rtol=1e-5)
    verdicts = warehouse.read("human_range")
    assert set(verdicts.select("measure", "model").rows()) == {
        (each, m) for each in ("sim_best", "drift_adjusted") for m in MODELS
    }
    assert verdicts["verdict"].null_count() == 0

    thresholds = warehouse.read("outlier_threshold")
    assert thresholds.select("references", "passages", "texts").rows() == [(2, len(passages), 3 * len(passages))]
    rates = warehouse.read("calibrated_outliers")
    assert set(rates["system"]) == {*MODELS, *TRANSLATIONS}
    assert (rates.filter(kind="human")["share"] <= 0.2).all()
    for asset in ASSETS:
        event = instance.get_latest_materialization_event(dg.AssetKey(asset))
        assert event is not None
        assert event.asset_materialization is not None
        assert any("| six | " in str(value.value) for value in event.asset_materialization.metadata.values())

"""A comparison with Dagster's records that found no difference is repeated only when something has changed."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from benchmark_assets.lineage.events import MANY, failures, last_problems, unreported
from benchmark_assets.partitions import PASSAGE, SINGLE_RUN, range_tags
from resources.keys import KEYS
from tests.support import made_home

ASSET = dg.AssetKey("text")

PASSAGES = [f"c/{number}" for number in range(MANY + 1)]

VERSIONS = [f"version of {passage}" for passage in PASSAGES]
CURRENT = pl.DataFrame({key: [""] * len(PASSAGES) for key in KEYS} | {"passage": PASSAGES, "version": VERSIONS})


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    """An instance that has all versions."""
    made_home(monkeypatch, tmp_path)
    with dg.DagsterInstance.get() as instance:
        instance.add_dynamic_partitions("passage", PASSAGES)
        for passage in PASSAGES:
            told(instance, passage, f"version of {passage}")
        yield instance


def told(instance: dg.DagsterInstance, passage: str, version: str) -> None:
    """Report a version of a partition."""
    event = dg.AssetMaterialization(ASSET, partition=passage, tags={DATA_VERSION_TAG: version})
    instance.report_runless_asset_event(event)


def found(instance: dg.DagsterInstance, current: pl.DataFrame = CURRENT, stale: int = 0) -> list[str]:
    """Partitions to report again, when the first few are stale."""
    failed = failures(instance, ASSET, ["passage"])
    rows = unreported(instance, ASSET, PASSAGE, current[stale:], current[:stale], failed)
    return rows["passage"].to_list()


def test_what_changes_after_a_comparison_is_found(instance: dg.DagsterInstance) -> None:
    for stale in (0, 0, 3):
        assert found(instance, stale=stale) == []
    told(instance, PASSAGES[7], "another")
    for _ in range(2):
        assert found(instance) == [PASSAGES[7]]
        assert found(instance, stale=8) == []
    told(instance, PASSAGES[7], f"version of {PASSAGES[7]}")
    assert found(instance) == []
    newer = pl.when(passage=PASSAGES[9]).then(pl.lit("newer")).otherwise("version")
    assert found(instance, CURRENT.with_columns(version=newer)) == [PASSAGES[9]]
    assert found(instance) == []
    instance.wipe_assets([ASSET])
    assert found(instance) == PASSAGES


def test_a_failed_attempt_after_a_comparison_is_found(instance: dg.DagsterInstance) -> None:
    assert found(instance) == []

    @dg.asset(name="text", partitions_def=PASSAGE, backfill_policy=SINGLE_RUN)
    def failing() -> None:
        raise ValueError

    job = dg.Definitions([failing]).resolve_implicit_global_asset_job_def()
    job.execute_in_process(instance=instance, tags=range_tags(PASSAGES[3], PASSAGES[4]), raise_on_error=False)
    assert found(instance) == PASSAGES[3:5]


def test_the_problems_of_a_check_are_those_of_its_last_run(instance: dg.DagsterInstance) -> None:
    check = dg.AssetCheckKey(ASSET, "sound")
    assert last_problems(instance, check) == []
    for lines in (["| a |", "| b |"], []):
        problems = {"problems": dg.MetadataValue.md("\n".join(lines))}
        instance.report_runless_asset_event(
            dg.AssetCheckEvaluation(asset_key=ASSET, check_name="sound", passed=not lines, metadata=problems)
        )
        assert last_problems(instance, check) == lines

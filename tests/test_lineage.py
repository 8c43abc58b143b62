"""What Dagster knows of the rows: which are fresh, stale, failed, and what each was made from.

The chain is segmented_reference → reference → reference_envelope → drift_score → model_summary, as Dagster's own
resolver sees it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import dagster as dg
import numpy as np
import polars as pl
import pytest
from dagster._core.definitions.data_version import (
    CachingStaleStatusResolver,
    StaleStatus,
    extract_data_provenance_from_entry,
    extract_data_version_from_entry,
)
from dagster._core.loader import LoadingContextForTest
from dagster._core.storage.tags import BACKFILL_ID_TAG

from benchmark_assets.automation import runs
from benchmark_assets.automation.due import due
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.partitions import GRID, range_tags
from benchmark_assets.sensitivity import assets as sensitivity
from benchmark_assets.translation.imports import import_outputs
from resources import catalogue
from resources.errors import BadInput, RunFailedError
from resources.keys import KEYS
from resources.warehouse import Replacement, Warehouse
from tests.support import (
    CORE,
    MODELS,
    PASSAGES,
    SPARSE,
    TABLES,
    LetterEmbedder,
    edit_segment,
    reports,
    run,
    write_outputs,
)  # fmt: skip
from tests.systems import RuleSystems

ABSENT = "tiny/doc3:1"
"""Partition of a passage that the files lack."""

VECTORS = ["reference_envelope", "human_baseline", "drift_score"]
"""Assets that embed texts for their numbers."""

ROW = {model: (f"{model}|{PASSAGES[0]}", f"{model}|{PASSAGES[-1]}") for model in MODELS}


@pytest.fixture(scope="module")
def rooms() -> Sequence[ModuleType]:
    return [*CORE, sensitivity]


def evaluate(definitions: dg.Definitions, instance: dg.DagsterInstance, row: tuple[str, str]) -> None:
    run(definitions, instance, "translate", row)
    run(definitions, instance, "score", row)
    run(definitions, instance, "adjudicate", row)


def not_fresh(definitions: dg.Definitions, instance: dg.DagsterInstance) -> dict[str, set[str]]:
    """Partitions that Dagster calls stale, or missing where there should be some, by asset."""
    graph = definitions.resolve_asset_graph()
    resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
    found: dict[str, set[str]] = {}
    for key in graph.toposorted_asset_keys:
        good = {StaleStatus.FRESH, *([StaleStatus.MISSING] if key.to_user_string() in SPARSE else [])}
        partitions_def = graph.get(key).partitions_def
        keys = partitions_def.get_partition_keys(dynamic_partitions_store=instance) if partitions_def else [None]
        stale = {str(each) for each in keys if resolver.get_status(key, each) not in good}
        if stale:
            found[key.to_user_string()] = stale
    return found


def test_everything_is_fresh_once_built(built: dg.Definitions, instance: dg.DagsterInstance) -> None:
    assert not_fresh(built, instance) == {}


@pytest.mark.proof
def test_a_changed_segment_makes_stale_what_depends_on_it_and_nothing_else(
    built: dg.Definitions, instance: dg.DagsterInstance, corpus: Path, systems: RuleSystems, full: bool
) -> None:
    """At full size, everything is fresh again after all other stages, too."""
    passage = PASSAGES[1]
    edit_segment(corpus, "ben", "doc1:2.1", "The sun is coming up.")
    run(built, instance, "scan")
    assert not_fresh(built, instance) == {
        key: {passage} for key in ["alignment", "glossary", "passage_filter", "reference", "verification"]
    }

    run(built, instance, "references", (PASSAGES[0], PASSAGES[-1]))
    grid = {f"{model}|{passage}" for model in MODELS}
    tables = {name: {"None"} for name in TABLES}
    assert not_fresh(built, instance) == {
        **dict.fromkeys(["drift_score", "lexical_score", "comet_score", "output_diagnostic"], grid),
        **tables,
    }

    systems.asked()
    evaluate(built, instance, ROW["alpha"])
    assert not_fresh(built, instance) == {
        "drift_score": {f"beta|{passage}"},
        "lexical_score": {f"beta|{passage}"},
        "comet_score": {f"beta|{passage}"},
        "output_diagnostic": {f"beta|{passage}"},
        "model_summary": {"alpha"},
        **tables,
    }
    assert systems.asked() == []  # a reference changed, not a source: no output is asked for again

    if full:
        run(built, instance, "summary", "alpha")
        evaluate(built, instance, ROW["beta"])
        run(built, instance, "summary", "beta")
        run(built, instance, "table")
        assert not_fresh(built, instance) == {}


def test_a_change_that_leaves_the_text_alone_stops_at_the_reference(
    built: dg.Definitions, instance: dg.DagsterInstance, corpus: Path
) -> None:
    before = reports(instance)
    edit_segment(corpus, "ben", "doc1:1.1", "The mouse is running. A")
    edit_segment(corpus, "ben", "doc1:1.2", "cat sits still.")
    runs.look(built, instance)
    assets = ["alignment", "glossary", "passage_filter", "reference", "verification"]
    assert not_fresh(built, instance) == {key: {PASSAGES[0]} for key in assets}
    runs.update(built, instance)
    assert reports(instance) - before == Counter((asset, PASSAGES[0]) for asset in ["segmented_reference", *assets])
    assert not_fresh(built, instance) == {}


def test_rows_that_are_run_again_unchanged_leave_everything_fresh(
    built: dg.Definitions, instance: dg.DagsterInstance, systems: RuleSystems, warehouse: Warehouse
) -> None:
    before = {table: warehouse.read(table) for table in ("reference_envelope", "drift_score", "model_summary")}
    systems.asked()
    run(built, instance, "scan")
    run(built, instance, "references", (PASSAGES[0], PASSAGES[-1]))
    evaluate(built, instance, ROW["alpha"])
    run(built, instance, "summary", "alpha")
    assert not_fresh(built, instance) == {}
    assert systems.asked() == []
    for table, rows in before.items():
        assert warehouse.read(table).equals(rows)  # run id and time of storing included


def test_a_changed_source_asks_each_model_for_that_passage_again(
    built: dg.Definitions, instance: dg.DagsterInstance, corpus: Path, systems: RuleSystems
) -> None:
    root = corpus.parent / "root/la/test/doc2_root-la-test.json"
    root.write_text(root.read_text(encoding="utf-8").replace("Nihil", "Nil"), encoding="utf-8")
    run(built, instance, "scan")
    assert not_fresh(built, instance) == {
        **{
            key: {PASSAGES[2]}
            for key in [
                "alignment",
                "verification",
                "glossary",
                "passage_filter",
                "selection",
                "comet_baseline",
                "damaged_text",
            ]
        },
        **{key: {"None"} for key in ["near_duplicate", "metric_summary", "slice_summary", "reference_examination"]},
        **{
            key: {f"{model}|{PASSAGES[2]}" for model in MODELS}
            for key in ["model_output", "comet_score", "output_diagnostic"]
        },
    }
    run(built, instance, "construction", (PASSAGES[0], PASSAGES[-1]))
    systems.asked()
    for model in MODELS:
        evaluate(built, instance, ROW[model])
    assert systems.asked() == [f"{model}|{PASSAGES[2]}" for model in MODELS]


def test_failed_passages_are_failed_the_others_materialized_and_a_rerun_computes_the_failed_only(
    built: dg.Definitions, instance: dg.DagsterInstance, systems: RuleSystems, warehouse: Warehouse, tmp_path: Path
) -> None:
    instance.add_dynamic_partitions("model", ["gamma"])
    (tmp_path / "failing").write_text(PASSAGES[1])
    row = (f"gamma|{PASSAGES[0]}", f"gamma|{PASSAGES[-1]}")
    result = run(built, instance, "translate", row, raise_on_error=False)
    assert not result.success

    keys = [f"gamma|{passage}" for passage in PASSAGES]
    statuses = instance.get_status_by_partition(dg.AssetKey("model_output"), keys, GRID) or {}
    assert [str(status) for status in statuses.values()] == [
        "AssetPartitionStatus.MATERIALIZED",
        "AssetPartitionStatus.FAILED",
        "AssetPartitionStatus.MATERIALIZED",
    ]
    assert len(warehouse.read("model_output", pl.DataFrame({"model": ["gamma"]}))) == 2
    reason = next(event for event in result.all_events if event.is_step_failure).step_failure_data.user_failure_data
    assert reason is not None
    assert "1 of 3 partitions of model_output failed" in (reason.description or "")
    assert due(built, instance, dg.AssetKey("model_output")).rows.rows() == [("gamma", PASSAGES[1], "", "failed")]

    (tmp_path / "failing").unlink()
    systems.asked()
    evaluate(built, instance, row)
    assert systems.asked() == [f"gamma|{PASSAGES[1]}"]
    assert len(warehouse.read("model_output", pl.DataFrame({"model": ["gamma"]}))) == 3


def test_downstream_steps_of_the_same_run_see_the_rows_of_their_upstream(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    """One run from outputs to scores, as the UI starts it: no step is skipped though rows report themselves."""
    instance.add_dynamic_partitions("model", ["delta"])
    grid = {dg.AssetKey(name) for name in ("model_output", "drift_score", "lexical_score")}
    job = built.resolve_implicit_global_asset_job_def().get_subset(asset_selection=grid)
    job.execute_in_process(instance=instance, tags=range_tags(f"delta|{PASSAGES[0]}", f"delta|{PASSAGES[-1]}"))
    for key in grid:
        assert len(warehouse.read(key.to_user_string(), pl.DataFrame({"model": ["delta"]}))) == 3


def test_good_passages_of_a_row_with_failures_are_scored_and_make_a_leaderboard_row(
    built: dg.Definitions, instance: dg.DagsterInstance, systems: RuleSystems, warehouse: Warehouse, tmp_path: Path
) -> None:
    (tmp_path / "failing").write_text(PASSAGES[1])
    with pytest.raises(RunFailedError, match="1 of 3 partitions of model_output failed"):
        runs.evaluate(built, instance, "gamma")
    row = warehouse.read("leaderboard").filter(pl.col("system") == "gamma")
    assert row.select("passages", "failures").rows() == [(3, 1)]
    keys = [f"gamma|{passage}" for passage in PASSAGES]
    statuses = instance.get_status_by_partition(dg.AssetKey("drift_score"), keys, GRID) or {}
    assert [status.value if status else None for status in statuses.values()] == ["MATERIALIZED", None, "MATERIALIZED"]

    (tmp_path / "failing").unlink()
    systems.asked()
    runs.evaluate(built, instance, "gamma")
    assert systems.asked() == [f"gamma|{PASSAGES[1]}"]
    assert warehouse.read("leaderboard").filter(pl.col("system") == "gamma")["passages"].to_list() == [3]


def backfill(
    definitions: dg.Definitions, instance: dg.DagsterInstance, ends: tuple[str, str], *assets: str
) -> list[str]:
    """Run assets over a range as a backfill of Dagster does; return the reasons of failures."""
    chosen = {dg.AssetKey(name) for name in assets}
    job = definitions.resolve_implicit_global_asset_job_def().get_subset(asset_selection=chosen)
    tags = {BACKFILL_ID_TAG: "one", **range_tags(*ends)}
    result = job.execute_in_process(instance=instance, tags=tags, raise_on_error=False)
    failures = [event.step_failure_data for event in result.all_events if event.is_step_failure]
    return [failure.user_failure_data.description or "" for failure in failures if failure.user_failure_data]


def missing(instance: dg.DagsterInstance, asset: str, keys: Sequence[str]) -> list[str]:
    """The partitions without a materialization in Dagster."""
    known = instance.get_materialized_partitions(dg.AssetKey(asset))
    return [key for key in keys if key not in known]


def test_a_backfill_leaves_no_partition_missing_that_does_not_apply(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    instance.add_dynamic_partitions("passage", [ABSENT])
    before = warehouse.read("reference")
    (reason,) = backfill(built, instance, (ABSENT, ABSENT), "reference_envelope")
    assert "materialize reference first" in reason
    assert missing(instance, "reference_envelope", [ABSENT]) == [ABSENT]
    assert backfill(built, instance, (PASSAGES[0], ABSENT), "reference", "reference_envelope") == []
    assert backfill(built, instance, (ABSENT, ABSENT), "reference_envelope") == []
    for asset in ("reference", "reference_envelope"):
        assert missing(instance, asset, [*PASSAGES, ABSENT]) == []
        assert due(built, instance, dg.AssetKey(asset)).rows.is_empty()
    assert warehouse.read("reference").equals(before)
    absent = dg.AssetRecordsFilter(dg.AssetKey("reference"), asset_partitions=[ABSENT])
    (record,) = instance.fetch_materializations(absent, limit=1).records
    assert record.asset_materialization is not None
    assert record.asset_materialization.metadata["dagster/row_count"].value == 0


def test_a_partition_that_a_backfill_reported_without_rows_is_computed_once_it_applies(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    instance.add_dynamic_partitions("model", ["delta"])
    keys = [f"delta|{passage}" for passage in PASSAGES]
    run(built, instance, "translate", keys[0])
    assert backfill(built, instance, (keys[0], keys[-1]), "drift_score") == []
    assert missing(instance, "drift_score", keys) == []
    assert len(warehouse.read("drift_score", pl.DataFrame({"model": ["delta"]}))) == 1
    runs.evaluate(built, instance, "delta")
    assert len(warehouse.read("drift_score", pl.DataFrame({"model": ["delta"]}))) == 3
    assert not_fresh(built, instance) == {}


def test_a_backfill_leaves_partitions_missing_whose_input_failed(
    built: dg.Definitions, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    instance.add_dynamic_partitions("model", ["gamma"])
    (tmp_path / "failing").write_text(PASSAGES[1])
    keys = [f"gamma|{passage}" for passage in PASSAGES]
    (reason,) = backfill(built, instance, (keys[0], keys[-1]), "model_output")
    assert "1 of 3 partitions of model_output failed" in reason
    assert backfill(built, instance, (keys[0], keys[-1]), "drift_score") == []
    assert missing(instance, "drift_score", keys) == [keys[1]]


def test_the_event_of_a_row_says_what_it_was_made_from(built: dg.Definitions, instance: dg.DagsterInstance) -> None:
    partition = f"alpha|{PASSAGES[0]}"
    upstream = {"model_output": partition, "reference": PASSAGES[0], "reference_envelope": PASSAGES[0]}

    def latest(asset: str, key: str) -> dg.EventLogEntry:
        records = instance.fetch_materializations(
            dg.AssetRecordsFilter(dg.AssetKey(asset), asset_partitions=[key]), limit=1
        ).records
        return records[0].event_log_entry

    event = latest("drift_score", partition)
    provenance = extract_data_provenance_from_entry(event)
    assert provenance is not None
    assert provenance.code_version == "2"
    assert provenance.input_data_versions == {
        dg.AssetKey(asset): extract_data_version_from_entry(latest(asset, key)) for asset, key in upstream.items()
    }
    assert all(provenance.input_storage_ids.values())
    materialization = event.asset_materialization
    assert materialization is not None
    assert materialization.tags is not None
    assert materialization.tags["dagster/partition/model"] == "alpha"
    assert materialization.tags["dagster/partition/passage"] == PASSAGES[0]


def test_a_passage_without_its_inputs_says_what_to_materialize_first(
    ruled: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path
) -> None:
    register(warehouse, corpus)
    run(ruled, instance, "scan")
    instance.add_dynamic_partitions("model", ["alpha"])
    run(ruled, instance, "construction", (PASSAGES[0], PASSAGES[-1]))
    run(ruled, instance, "translate", ROW["alpha"])
    result = run(ruled, instance, "score", ROW["alpha"], raise_on_error=False)
    failures = [event.step_failure_data.user_failure_data for event in result.all_events if event.is_step_failure]
    assert any("materialize reference" in (failure.description or "") for failure in failures if failure)
    assert len(warehouse.read("model_output")) == 3  # the stage that had its inputs is stored


class MirroredEmbedder(LetterEmbedder):
    """The same geometry in another basis: its vectors compare among themselves as the letter embedder's do."""

    @property
    def signature(self) -> str:
        return "letter pairs, mirrored"

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, list[bool | None]]]:
        for positions, raw, cut in super()._batches(texts):
            yield positions, [vector[::-1] for vector in raw], cut


class OtherMachine(LetterEmbedder):
    """The letter embedder on a CPU of another kind: the last digits of its vectors differ."""

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, list[bool | None]]]:
        for positions, raw, cut in super()._batches(texts):
            yield positions, [vector * (1 + 1e-6 * np.cos(np.arange(len(vector)))) for vector in raw], cut


def test_numbers_that_are_recomputed_on_another_cpu_keep_their_versions(
    built: dg.Definitions, instance: dg.DagsterInstance, systems: RuleSystems, warehouse: Warehouse
) -> None:
    """A lost cache makes nothing stale, and what is then recomputed has other last digits, but the same versions."""
    scores, states = warehouse.read("drift_score"), warehouse.read("materialization")
    warehouse.write([Replacement("embedding", warehouse.empty("embedding"), None)], "lost")
    other = build_definitions(
        rooms=[*CORE, sensitivity],
        resource_overrides={"warehouse": warehouse, "embedder": OtherMachine(), "systems": systems},
    )
    runs.update(other, instance)
    assert warehouse.read("materialization").equals(states)
    systems.asked()
    for asset in VECTORS:
        runs.forget(other, instance, asset)
    runs.update(other, instance)
    assert (warehouse.read("drift_score")["drift"] != scores["drift"]).any()
    assert not_fresh(other, instance) == {}
    versions = ["asset", *KEYS, "version", "fingerprint"]
    assert warehouse.read("materialization", columns=versions).equals(states.select(versions))
    assert systems.asked() == []
    written = warehouse.read("materialization").join(states, on=["asset", *KEYS, "updated_at"], how="anti")
    assert {*written["asset"]} == {*VECTORS}


@pytest.mark.proof
@pytest.mark.large
def test_another_embedder_remakes_the_envelopes_and_never_meets_old_vectors(
    built: dg.Definitions, instance: dg.DagsterInstance, systems: RuleSystems, warehouse: Warehouse
) -> None:
    before = warehouse.read("drift_score", pl.DataFrame({"model": ["alpha"]}))
    other = build_definitions(
        resource_overrides={"warehouse": warehouse, "embedder": MirroredEmbedder(), "systems": systems}
    )
    refused = run(other, instance, "score", ROW["alpha"], raise_on_error=False)
    assert not refused.success
    assert warehouse.read("drift_score", pl.DataFrame({"model": ["alpha"]})).equals(before)

    runs.evaluate(other, instance, "alpha")
    after = warehouse.read("drift_score", pl.DataFrame({"model": ["alpha"]}))
    assert set(after["embedder"]) == {"letter pairs, mirrored"}
    assert (after["drift"] - before["drift"]).abs().max() < 1e-5  # type: ignore[operator]


@pytest.mark.parametrize("deleted", [False, True], ids=["in Dagster", "deleted in Dagster"])
def test_a_passage_that_leaves_the_files_leaves_every_table(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path, deleted: bool
) -> None:
    if deleted:
        instance.delete_dynamic_partition("passage", PASSAGES[2])
    for file in corpus.parent.rglob("doc2_*.json"):
        file.unlink()
    runs.look(built, instance)
    for table, columns in ((name, each.content) for name, each in catalogue.tables().items()):
        if "passage" in columns:
            assert PASSAGES[2] not in warehouse.read(table)["passage"].to_list(), table
    assert PASSAGES[2] not in instance.get_dynamic_partitions("passage")
    runs.update(built, instance)
    assert set(warehouse.read("leaderboard")["passages"]) == {2}
    assert not_fresh(built, instance) == {}


def test_passages_that_only_a_fault_hides_keep_their_rows(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path
) -> None:
    for file in corpus.parent.rglob("doc2_root*.json"):
        file.write_text("{")
    with pytest.raises(RunFailedError):
        runs.look(built, instance)
    assert PASSAGES[2] in warehouse.read("source_text")["passage"].to_list()


@pytest.mark.proof
@pytest.mark.large
def test_outputs_that_a_new_import_leaves_out_are_scored_no_more(
    definitions: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path, tmp_path: Path
) -> None:
    own = build_definitions(resource_overrides={"warehouse": warehouse, "embedder": LetterEmbedder()})
    register(warehouse, corpus)
    runs.take_in(own, instance, "tiny")
    human = warehouse.read("reference").filter(translator="ann").select("passage", "text").sort("passage")
    texts = {str(passage).removeprefix("tiny/"): str(text) for passage, text in human.iter_rows()}
    for kept in (3, 1):
        path = write_outputs(tmp_path / "mine.jsonl", dict(list(texts.items())[:kept]))
        import_outputs(warehouse, path, "tiny", "mine")
        runs.evaluate(own, instance, "mine")
        board = warehouse.read("leaderboard").filter(system="mine")
        assert board["failures"].to_list() == [len(PASSAGES) - kept]
        assert len(warehouse.read("model_output")) == kept
    assert not_fresh(own, instance).get("drift_score", set()) == set()


def test_a_passage_for_which_a_system_returns_nothing_has_failed(
    built: dg.Definitions, instance: dg.DagsterInstance, systems: RuleSystems, warehouse: Warehouse, tmp_path: Path
) -> None:
    (tmp_path / "silent").write_text(PASSAGES[0])
    instance.add_dynamic_partitions("model", ["gamma"])
    row = (f"gamma|{PASSAGES[0]}", f"gamma|{PASSAGES[-1]}")
    result = run(built, instance, "translate", row, raise_on_error=False)
    failures = [event.step_failure_data.user_failure_data for event in result.all_events if event.is_step_failure]
    assert any("the system returned nothing" in (failure.description or "") for failure in failures if failure)
    assert len(warehouse.read("model_output", pl.DataFrame({"model": ["gamma"]}))) == 2


class BrokenEmbedder(LetterEmbedder):
    """Gives no number for one text."""

    @property
    def signature(self) -> str:
        return "broken"

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Any, list[bool | None]]]:
        for positions, raw, cut in super()._batches(texts):
            broken = [texts[i] == "Sunrise." for i in positions]
            yield positions, [vector * float("nan" if b else 1) for vector, b in zip(raw, broken, strict=True)], cut


def test_an_embedder_that_returns_nan_is_told_with_the_passage_and_translator(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    before = warehouse.read("reference_envelope")
    broken = build_definitions(resource_overrides={"warehouse": warehouse, "embedder": BrokenEmbedder()})
    with pytest.raises(BadInput, match=r"broken: tiny/doc1:2 cleo: the embedder returned a vector that is not finite"):
        run(broken, instance, "references", (PASSAGES[0], PASSAGES[-1]))
    assert warehouse.read("reference_envelope").equals(before)

"""Materializing stale partitions after a fix, a failure, a removal, the death of a process."""

import json
import os
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import dagster as dg
import polars as pl
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver
from dagster._core.loader import LoadingContextForTest

from benchmark_assets.automation import runs, settling
from benchmark_assets.automation.due import EVERYTHING, Scope, determinants, due, missed, order
from benchmark_assets.automation.identity import advanced
from benchmark_assets.definitions import build_definitions
from benchmark_assets.lineage.events import failures, last_problems
from benchmark_assets.lineage.looks import Looks
from benchmark_assets.partitions import range_tags
from benchmark_assets.translation.imports import import_outputs
from resources import catalogue
from resources.errors import BadInput, RunFailedError
from resources.processes import PROCESS, process_tag
from resources.provider.provider import Provider
from resources.warehouse import Warehouse
from tests.processes import VARIORUM, begin
from tests.provider.server import Server
from tests.support import (
    CORE,
    MODELS,
    PASSAGES,
    STAGES,
    TABLES,
    LetterEmbedder,
    by_hand,
    edit_segment,
    reports,
    run,
    write_outputs,
    write_registry,
)  # fmt: skip
from tests.systems import RuleSystems

REFERENCES = ["reference", "reference_envelope", "human_baseline", "comet_baseline"]
OF_SEGMENTS = ["alignment", "verification", "glossary", "passage_filter"]
"""Assets that an edit of a segment makes stale, whatever becomes of the text of the passage."""
SHARD = "????????-????-*"


def all_due(definitions: dg.Definitions, instance: dg.DagsterInstance) -> dict[str, dict[str, str]]:
    """Reasons by asset and partition; assets without stale partitions are left out."""
    found = {}
    for asset in order(definitions):
        rows = due(definitions, instance, asset).rows
        if len(rows):
            keys = ["|".join(filter(None, row)) for row in rows.select("model", "passage").iter_rows()]
            found[asset.to_user_string()] = dict(zip(keys, rows["reason"], strict=True))
    return found


def test_nothing_is_due_once_everything_is_done_and_an_update_starts_no_run(
    built: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    assert all_due(built, instance) == {}
    before = instance.get_runs_count()
    runs.update(built, instance)
    assert instance.get_runs_count() == before


def test_what_no_logged_change_explains_is_found_by_comparing_everything(
    core: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    runs.update(core, instance)
    with by_hand(warehouse.name) as connection:
        connection.execute(
            "UPDATE materialization SET made_from = '' WHERE asset = 'lexical_score' AND passage = $1", [PASSAGES[0]]
        )
    planted = {"lexical_score": dict.fromkeys((f"{model}|{PASSAGES[0]}" for model in MODELS), "recompute requested")}
    assert all_due(core, instance) == planted
    runs.update(core, instance)
    assert all_due(core, instance) == planted
    assert missed(core, instance, looks_of(core, instance, warehouse)) == ["lexical_score 2"]
    runs.update(core, instance, whole=True)
    assert all_due(core, instance) == {}


def test_an_audit_finds_sums_by_unit_that_another_program_changed(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, home: Path
) -> None:
    runs.update(built, instance)

    before = warehouse.read("human_difference")
    with by_hand(warehouse.name) as connection:
        connection.execute("UPDATE unit_sum SET numbers = list_transform(numbers, lambda x: x * 2)")
    assert missed(built, instance, looks_of(built, instance, warehouse)) == ["human_range (sums by unit)"]
    assert all_due(built, instance) == {"human_range": {"": "recompute requested"}}
    runs.update(built, instance)
    assert warehouse.read("human_difference").drop("updated_at", "run_id").equals(before.drop("updated_at", "run_id"))


def test_files_of_a_checkpoint_and_packages_determine_settings(
    warehouse: Warehouse, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = tmp_path / "checkpoint" / "weights"
    weights.parent.mkdir()
    weights.write_bytes(b"one")
    encoder = {"checkpoint": str(weights.parent), "seeds": [1]}
    registry = {"embedders": {"minilm": {}}, "embedder": "minilm", "encoders": {"tiny": encoder}}
    (tmp_path / "models.yaml").write_text(json.dumps(registry), encoding="utf-8")
    provider = Provider(registry_path=str(tmp_path / "models.yaml"), ledger_path=str(home / "ledger.sqlite"))
    definitions = build_definitions(rooms=CORE, resource_overrides={"warehouse": warehouse, "provider": provider})
    before = determinants(definitions)
    assert determinants(definitions) == before
    times = weights.stat()
    weights.write_bytes(b"two")  # of the same size, and with the former time, as some programs copy files
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = determinants(definitions)
    assert after != before
    (tmp_path / "packages" / "scikit_learn-9.9.9.dist-info").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    assert determinants(definitions) != after


def looks_of(definitions: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse) -> Looks:
    mark = warehouse.mark()
    assert mark
    return Looks.of(instance, warehouse, determinants(definitions), mark.epoch + 1)


def test_of_two_updates_at_once_each_finds_what_has_changed(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path
) -> None:
    ledger = built.resources["provider"].ledger  # type: ignore[index]
    runs.update(built, instance)
    for segment in ("doc1:2.1", "doc2:1.1"):
        edit_segment(corpus, "ben", segment, "The sun is coming up.")
        runs.look(built, instance)
    with warehouse.kept_open(), advanced(instance, warehouse, ledger) as epoch:
        looks = Looks.of(instance, warehouse, determinants(built), epoch)
        runs.update(built, instance, Scope(corpora=["another"]))
        update = runs.ChainUpdate(built, instance, EVERYTHING, {}, looks)
        assert update.carry_out().failures == []
        looks.keep()
    assert all_due(built, instance) == {}


@pytest.mark.usefixtures("built")
def test_a_version_that_a_probe_finds_is_asked_in_the_same_update(
    home: Path, instance: dg.DagsterInstance, warehouse: Warehouse, tmp_path: Path, server: Server
) -> None:
    write_registry(tmp_path / "models.yaml", server.url, "good")
    provider = Provider(registry_path=str(tmp_path / "models.yaml"), ledger_path=str(home / "ledger.sqlite"))
    overrides = {"warehouse": warehouse, "provider": provider, "embedder": LetterEmbedder()}
    called = build_definitions(rooms=CORE, resource_overrides=overrides)
    instance.add_dynamic_partitions("model", ["good"])
    server.configure(served_model="v1")
    runs.update(called, instance)
    runs.update(called, instance)
    server.configure(served_model="v2")
    asked = len(server.log())
    runs.update(called, instance, probe=True)
    assert len(server.log()) == asked + 1 + len(PASSAGES)
    assert all_due(called, instance) == {}


def test_an_event_without_a_partition_about_an_asset_with_partitions_stops_no_update(
    core: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    runs.update(core, instance)
    instance.report_runless_asset_event(dg.AssetMaterialization(dg.AssetKey("lexical_score")))
    runs.update(core, instance)
    assert all_due(core, instance) == {}


def test_a_killed_run_leaves_no_failure_at_partitions_that_do_not_apply(
    built: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    assets = frozenset({asset := dg.AssetKey("human_metric")})
    job = built.resolve_implicit_global_asset_job_def().get_subset(asset_selection=assets)
    tags = range_tags(PASSAGES[0], PASSAGES[1])
    instance.report_run_failed(instance.create_run_for_job(job, tags=tags, asset_selection=assets))
    assert set(failures(instance, asset, ["passage"])["passage"]) == {*PASSAGES[:2]}
    runs.update(built, instance)
    assert failures(instance, asset, ["passage"]).is_empty()


def test_one_fix_brings_one_passage_up_to_date_and_touches_no_other(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path, systems: RuleSystems
) -> None:
    passage = PASSAGES[1]
    before, kept = reports(instance), warehouse.read("drift_score")
    edit_segment(corpus, "ben", "doc1:2.1", "The sun is coming up.")
    runs.look(built, instance)
    changed = {passage: "segmented_reference changed"}
    assert all_due(built, instance) == dict.fromkeys([*OF_SEGMENTS, "reference"], changed)
    systems.asked()
    runs.update(built, instance)
    assert systems.asked() == []
    grid = {
        (asset, f"{model}|{passage}")
        for asset in ("drift_score", "lexical_score", "comet_score", "output_diagnostic", "shared_wording", "triage")
        for model in MODELS
    }
    assert reports(instance) - before == Counter(
        {
            *((asset, passage) for asset in ("segmented_reference", *OF_SEGMENTS, *REFERENCES)),
            *grid,
            *(("damaged_text", each) for each in PASSAGES),  # an addition or a wrong term may come from the passage
            ("damaged_score", passage),
            ("translator_wording", passage),
            *((asset, "") for asset in ("contamination", "sensitivity", "validation")),
            *(("model_summary", model) for model in MODELS),
            *((table, "") for table in TABLES),
        }
    )
    others = pl.col("passage") != passage
    assert warehouse.read("drift_score").filter(others).equals(kept.filter(others))  # run id and time included
    assert all_due(built, instance) == {}


@pytest.mark.proof
@pytest.mark.large
def test_work_is_restricted_to_models_and_corpora(built: dg.Definitions, instance: dg.DagsterInstance) -> None:
    instance.add_dynamic_partitions("model", ["gamma", "delta"])
    runs.update(built, instance, Scope(models=["gamma"]))
    missing = all_due(built, instance)
    assert set(missing) == {"model_output"}
    assert set(missing["model_output"].values()) == {"missing"}
    assert set(missing["model_output"]) == {f"delta|{passage}" for passage in PASSAGES}
    runs.update(built, instance, Scope(corpora=["another"]))
    assert all_due(built, instance) == missing


@pytest.mark.proof
@pytest.mark.large
def test_a_failed_passage_is_due_because_it_failed(
    built: dg.Definitions, instance: dg.DagsterInstance, systems: RuleSystems, tmp_path: Path
) -> None:
    instance.add_dynamic_partitions("model", ["gamma"])
    (tmp_path / "failing").write_text(PASSAGES[1])
    with pytest.raises(RunFailedError, match="the provider said no"):
        runs.update(built, instance)
    assert all_due(built, instance) == {"model_output": {f"gamma|{PASSAGES[1]}": "failed"}}
    (tmp_path / "failing").unlink()
    systems.asked()
    runs.update(built, instance)
    assert systems.asked() == [f"gamma|{PASSAGES[1]}"]
    assert all_due(built, instance) == {}


def test_what_was_stored_but_not_reported_is_due_and_is_only_reported(
    core: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, systems: RuleSystems
) -> None:
    stored = warehouse.read("drift_score")
    dg.DagsterInstance.get().wipe_assets([dg.AssetKey("drift_score")])
    grid = [f"{model}|{passage}" for model in MODELS for passage in PASSAGES]
    assert all_due(core, instance) == {"drift_score": dict.fromkeys(grid, "stored, but not reported")}
    runs.update(core, instance)
    assert warehouse.read("drift_score").equals(stored)
    assert instance.get_materialized_partitions(dg.AssetKey("drift_score")) == set(grid)


def test_a_model_that_is_removed_leaves_every_table_and_the_leaderboard(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    runs.remove(built, instance, "model", "beta")
    for table, columns in ((name, each.content) for name, each in catalogue.tables().items()):
        if "model" in columns:
            assert "beta" not in warehouse.read(table)["model"].to_list(), table
    assert "beta" not in warehouse.read("leaderboard")["system"].to_list()
    assert list(instance.get_dynamic_partitions("model")) == ["alpha"]
    assert all_due(built, instance) == {}
    instance.add_dynamic_partitions("model", ["beta"])  # should it come back, it is evaluated anew
    assert set(all_due(built, instance)["model_output"]) == {f"beta|{passage}" for passage in PASSAGES}


def test_a_corpus_that_is_removed_leaves_every_table_and_its_files_stay(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path
) -> None:
    runs.remove(built, instance, "corpus", "tiny")
    kept = {"embedding", "model_call", "materialization", "state_sum", "removal", "change"}
    for table in set(catalogue.tables()) - kept:
        assert warehouse.read(table).is_empty(), table
    assert {*warehouse.read("change")["passage"]} <= {"", "*"}
    assert warehouse.read("removal")["name"].to_list() == ["tiny"]
    assert corpus.is_file()
    assert list(instance.get_dynamic_partitions("passage")) == []
    assert all_due(built, instance) == {}


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("model", "free", "models.free: is in the registry; remove it there first"),
        ("corpus", "nowhere", "nowhere: no such corpus in this warehouse"),
    ],
)
def test_what_cannot_be_removed_is_told(
    kind: str, name: str, words: str, built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    before = warehouse.read("model_output")
    with pytest.raises(RunFailedError, match=words):
        runs.remove(built, instance, kind, name)
    assert warehouse.read("model_output").equals(before)


def test_a_run_whose_process_is_gone_is_reported_failed_and_one_that_lives_is_left_alone(
    built: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    code = "from resources.processes import process_tag; print(process_tag(), flush=True); input()"
    dead = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert dead.stdout is not None
    tag = dead.stdout.readline().strip()
    dead.kill()
    dead.wait()
    tags = {
        "dead": tag,
        "copied by a retry from its dead parent": f"{tag} {uuid4()}",
        "alive": process_tag(),
        "elsewhere": "another-machine:1 1.00",
    }
    job = built.resolve_job_def("scan")
    started = {
        name: instance.create_run_for_job(job, tags={PROCESS: tag}, status=dg.DagsterRunStatus.STARTED).run_id
        for name, tag in tags.items()
    }
    settling.settle_the_dead(instance)
    failed = {
        name
        for name, run_id in started.items()
        if (run := instance.get_run_by_id(run_id)) and run.status == dg.DagsterRunStatus.FAILURE
    }
    assert failed == {"dead"}
    assert process_tag().split()[0].endswith(f":{os.getpid()}")


def test_an_unknown_model_is_told(
    built: dg.Definitions, instance: dg.DagsterInstance, definitions: dg.Definitions
) -> None:
    with pytest.raises(BadInput, match="nobody: no such model"):
        runs.evaluate(definitions, instance, "nobody")


def test_a_materialization_by_hand_of_what_is_current_is_reported_again(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    before, rows = reports(instance), warehouse.read("reference")
    run(built, instance, "references", PASSAGES[0])
    told = reports(instance) - before
    single = {"near_duplicate"}
    assert told == Counter((asset, "" if asset in single else PASSAGES[0]) for asset in STAGES["references"])
    assert warehouse.read("reference").equals(rows)


@pytest.mark.proof
@pytest.mark.large
def test_of_two_models_one_that_cannot_be_asked_is_a_failure_of_its_own(
    built: dg.Definitions,
    home: Path,
    instance: dg.DagsterInstance,
    warehouse: Warehouse,
    tmp_path: Path,
    server: Server,
) -> None:
    write_registry(tmp_path / "models.yaml", server.url, "good", "twice")
    import_outputs(warehouse, write_outputs(tmp_path / "twice.jsonl", {"doc2:1": "Nothing."}), "tiny", None)
    provider = Provider(registry_path=str(tmp_path / "models.yaml"), ledger_path=str(home / "ledger.sqlite"))
    called = build_definitions(
        resource_overrides={"warehouse": warehouse, "provider": provider, "embedder": LetterEmbedder()}
    )
    instance.add_dynamic_partitions("model", ["good", "twice"])
    with pytest.raises(RunFailedError, match="twice: is in the registry, and outputs or answers were imported"):
        runs.update(called, instance)
    assert warehouse.read("leaderboard").filter(system="good")["passages"].to_list() == [3]
    assert set(all_due(called, instance)) == {"model_output"}


def test_a_look_that_overlaps_another_stores_what_the_files_say_last(
    built: dg.Definitions, home: Path, warehouse: Warehouse, corpus: Path
) -> None:
    with warehouse.exclusively():  # as the first look, which has read the files already
        scan = begin(home, VARIORUM, "scan")
        edit_segment(corpus, "ben", "doc1:2.1", "The sun is coming up.")
    assert scan.wait(60) == 0
    texts = warehouse.read("segmented_reference").filter(passage=PASSAGES[1], translator="ben")["segments"].to_list()
    assert texts == [["The sun is coming up."]]


@pytest.mark.proof
@pytest.mark.large
def test_rows_of_other_models_that_wait_for_their_references_are_sound(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path
) -> None:
    """A second complete reference makes an envelope; until an update, others lack their drift."""
    files = [corpus.parent / f"translation/en/{name}/doc2_translation-en-{name}.json" for name in ("ben", "cleo")]
    kept = files[0].read_text()
    for file in files:
        file.unlink()
    runs.look(built, instance)
    runs.update(built, instance)
    files[0].write_text(kept)
    runs.look(built, instance)
    runs.evaluate(built, instance, "alpha")
    of_outputs = {"drift_score", "lexical_score", "comet_score", "output_diagnostic", "shared_wording"}
    assert set(all_due(built, instance)) == of_outputs
    drift = warehouse.read("drift_score").filter(passage=PASSAGES[2])
    assert dict(drift.select("model", pl.col("drift").is_null()).iter_rows()) == {"alpha": False, "beta": True}


def answers(definitions: dg.Definitions, instance: dg.DagsterInstance) -> dict[str, object]:
    """What Dagster says of the present of each asset, partition and check."""
    events, graph = instance.event_log_storage, definitions.resolve_asset_graph()
    kinds = (dg.DagsterEventType.ASSET_MATERIALIZATION, dg.DagsterEventType.ASSET_OBSERVATION)
    found: dict[str, object] = {"latest": events.get_latest_materialization_events(list(graph.get_all_asset_keys()))}
    resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
    for key in graph.get_all_asset_keys():
        name, partitions_def = key.to_user_string(), graph.get(key).partitions_def
        keys: list[str | None] = [None]
        if partitions_def:
            names = list(partitions_def.get_partition_keys(dynamic_partitions_store=instance))
            found[f"{name} statuses"] = instance.get_status_by_partition(key, names, partitions_def)
            keys = [*names]
        found[f"{name} attempts"] = events.get_latest_asset_partition_materialization_attempts_without_materializations(
            key
        )
        found[f"{name} planned"] = instance.get_latest_planned_materialization_info(key)
        found[f"{name} ids"] = [events.get_latest_storage_id_by_partition(key, kind) for kind in kinds]
        found[f"{name} tags"] = events.get_latest_tags_by_partition(key, kinds[0], ["dagster/data_version"])
        found[f"{name} freshness"] = [resolver.get_status(key, each) for each in keys]
        found[f"{name} causes"] = [resolver.get_stale_causes(key, each) for each in keys]
    checks = list(graph.asset_check_keys)
    found["checks"] = events.get_latest_asset_check_execution_by_key(checks)
    found["problems"] = {each: last_problems(instance, each) for each in checks}
    return found


@pytest.mark.large
@pytest.mark.proof
def test_what_is_old_is_forgotten_and_neither_dagster_nor_an_update_notices(
    built: dg.Definitions,
    instance: dg.DagsterInstance,
    home: Path,
    corpus: Path,
    tmp_path: Path,
    systems: RuleSystems,
    full: bool,
) -> None:
    """In a home with a passage that could not be translated, and runs that were not needed.

    At full size, a passage was mended, too, and the passages that follow the failed one were scored.
    """
    if full:
        edit_segment(corpus, "ben", "doc1:2.1", "The sun is coming up.")
        runs.look(built, instance)
        runs.update(built, instance)
    for _ in range(2):  # the second replaces all that the first reported
        run(built, instance, "references", PASSAGES[0])
    instance.add_dynamic_partitions("model", ["gamma"])
    (tmp_path / "failing").write_text(PASSAGES[1])
    with pytest.raises(RunFailedError, match="the provider said no"):
        runs.update(built, instance)
    before, stale, statuses = answers(built, instance), all_due(built, instance), runs.status(built, instance)
    assert stale == {"model_output": {f"gamma|{PASSAGES[1]}": "failed"}}

    folder = home / "dagster" / "history" / "runs"
    shards, count, reported = set(folder.glob(SHARD)), instance.get_runs_count(), reports(instance)
    runs.forget_history(instance, datetime.now(UTC) - timedelta(days=1))
    assert set(folder.glob(SHARD)) == shards
    assert (instance.get_runs_count(), reports(instance)) == (count, reported)
    runs.forget_history(instance, datetime.now(UTC) + timedelta(days=1))
    assert set(folder.glob(SHARD)) == set()
    assert instance.get_runs_count() < count
    assert set(reports(instance)) == set(reported)
    assert reports(instance) < reported

    with dg.DagsterInstance.get() as later:
        assert answers(built, later) == before
        assert all_due(built, later) == stale
        assert runs.status(built, later).equals(statuses)
        for each in later.get_runs():  # its page opens
            assert later.all_logs(each.run_id) == []
            assert later.get_job_snapshot(each.job_snapshot_id or "")
            assert later.get_execution_plan_snapshot(each.execution_plan_snapshot_id or "")
        (tmp_path / "failing").unlink()
        systems.asked()
        runs.update(built, later)
        assert systems.asked() == [f"gamma|{PASSAGES[1]}"]
        assert all_due(built, later) == {}

"""What the sensors and the schedule ask for, and that what they ask for does what it should."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import dagster as dg
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.definitions import build_definitions
from benchmark_assets.translation.imports import import_outputs
from resources.provider.provider import Provider
from resources.warehouse import Warehouse
from tests.provider.server import Server
from tests.support import CORE, PASSAGES, LetterEmbedder, edit_segment, write_outputs, write_registry


@pytest.fixture(scope="module")
def rooms() -> Sequence[ModuleType]:
    return CORE


@pytest.fixture
def registry(tmp_path: Path, server: Server) -> Path:
    """A registry without models."""
    write_registry(tmp_path / "models.yaml", server.url)
    return tmp_path / "models.yaml"


@pytest.fixture
def definitions(registry: Path, home: Path, warehouse: Warehouse, built: dg.Definitions) -> dg.Definitions:
    """The code location on a finished home, with models of the registry in place of those that translate by rule."""
    provider = Provider(registry_path=str(registry), ledger_path=str(home / "ledger.sqlite"))
    return build_definitions(
        rooms=CORE, resource_overrides={"warehouse": warehouse, "provider": provider, "embedder": LetterEmbedder()}
    )


def tick(
    definitions: dg.Definitions, instance: dg.DagsterInstance, sensor: str, cursor: str | None
) -> dg.SensorResult | dg.SkipReason:
    """What a sensor asks for; the partitions that it asks for are added."""
    resources = {
        name: resource
        for name, resource in (definitions.resources or {}).items()
        if name in definitions.resolve_sensor_def(sensor).required_resource_keys
    }
    with dg.build_sensor_context(instance, cursor=cursor, resources=resources) as context:
        result = definitions.resolve_sensor_def(sensor)(context)
    assert isinstance(result, dg.SensorResult | dg.SkipReason)
    if isinstance(result, dg.SensorResult):
        for request in result.dynamic_partitions_requests or []:
            instance.add_dynamic_partitions(request.partitions_def_name, list(request.partition_keys))
    return result


def start(definitions: dg.Definitions, instance: dg.DagsterInstance, job: str, result: object) -> None:
    """Run what a sensor asked for."""
    assert isinstance(result, dg.SensorResult)
    for request in result.run_requests or []:
        done = definitions.resolve_job_def(job).execute_in_process(instance=instance, run_config=request.run_config)
        assert done.success


@pytest.mark.proof
def test_a_model_that_is_new_or_was_imported_is_evaluated_and_one_that_is_removed_is_kept_and_marked(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    warehouse: Warehouse,
    registry: Path,
    server: Server,
    tmp_path: Path,
    full: bool,
) -> None:
    """At full size, what the first and the last request of the sensor ask for is run, too."""
    first = tick(definitions, instance, "new_models", None)
    assert isinstance(first, dg.SensorResult)  # the home's two models are in no registry
    if full:
        start(definitions, instance, "evaluate", first)
        board = warehouse.read("leaderboard").filter(kind="model")
        assert dict(zip(board["system"], board["removed"], strict=True)) == {"alpha": True, "beta": True}
    kept = warehouse.read("model_output")
    second = tick(definitions, instance, "new_models", first.cursor)
    assert isinstance(second, dg.SkipReason)

    write_registry(registry, server.url, "newcomer")
    import_outputs(warehouse, write_outputs(tmp_path / "mine.jsonl", {"doc2:1": "Nothing."}), "tiny", None)
    third = tick(definitions, instance, "new_models", first.cursor)
    assert isinstance(third, dg.SensorResult)
    assert {"mine", "newcomer"} < {*instance.get_dynamic_partitions("model")}
    groups = [request.run_config["ops"]["evaluate_models"]["config"]["models"] for request in third.run_requests or []]
    assert sorted(groups) == [["mine"], ["newcomer"]]
    start(definitions, instance, "evaluate", third)
    assert sorted(key for seen in server.log() for key in seen.keys) == [key.partition("/")[2] for key in PASSAGES]
    board = warehouse.read("leaderboard").filter(kind="model")
    own = board.filter(removed=False).select("system", "passages", "failures")
    assert sorted(own.rows()) == [("mine", 3, 2), ("newcomer", 3, 0)]
    assert set(board.filter(removed=True)["system"]) == {"alpha", "beta"}
    assert warehouse.read("model_output").join(kept, on=kept.columns, how="semi").equals(kept)

    write_registry(registry, server.url)
    fourth = tick(definitions, instance, "new_models", third.cursor)
    assert isinstance(fourth, dg.SensorResult)
    if full:
        start(definitions, instance, "evaluate", fourth)
        board = warehouse.read("leaderboard").filter(kind="model", removed=False)
        assert board["system"].to_list() == ["mine"]
    assert len(warehouse.read("model_output")) == len(kept) + 3 + 1
    assert len(server.log()) == 3


def test_a_registry_that_is_being_edited_is_passed_over(
    definitions: dg.Definitions, instance: dg.DagsterInstance, registry: Path
) -> None:
    registry.write_text("models: {new")
    skipped = tick(definitions, instance, "new_models", json.dumps([]))
    assert isinstance(skipped, dg.SkipReason)
    assert "models.yaml" in (skipped.skip_message or "")


def test_a_file_that_was_written_added_or_removed_is_looked_at_once(
    definitions: dg.Definitions, instance: dg.DagsterInstance, corpus: Path, warehouse: Warehouse
) -> None:
    first = tick(definitions, instance, "changed_files", None)
    assert isinstance(first, dg.SensorResult)
    assert isinstance(tick(definitions, instance, "changed_files", first.cursor), dg.SkipReason)
    edit_segment(corpus, "ben", "doc1:2.1", "The sun is coming up.")
    second = tick(definitions, instance, "changed_files", first.cursor)
    start(definitions, instance, "scan", second)
    texts = warehouse.read("segmented_reference").filter(passage=PASSAGES[1], translator="ben")["segments"].to_list()
    assert texts == [["The sun is coming up."]]
    assert isinstance(second, dg.SensorResult)
    next(corpus.parent.rglob("doc2_*.json")).unlink()
    assert isinstance(tick(definitions, instance, "changed_files", second.cursor), dg.SensorResult)


@pytest.mark.proof
@pytest.mark.large
def test_a_version_that_is_served_anew_is_asked_for_everything_by_the_schedules_job(
    definitions: dg.Definitions, instance: dg.DagsterInstance, registry: Path, server: Server, warehouse: Warehouse
) -> None:
    write_registry(registry, server.url, "changing")
    server.configure(served_model="m-1")
    runs.evaluate(definitions, instance, "changing")
    assert len(server.log()) == 3

    server.configure(served_model="m-2", prefix="Anew: ")
    server.clear()
    update = definitions.resolve_job_def("update")
    for _ in range(2):  # the second time everything is up to date
        assert update.execute_in_process(instance=instance).success
    assert len(server.log()) == 1 + 3  # which version answers, and each passage
    own = warehouse.read("model_output").filter(model="changing")
    assert all(text.startswith("Anew: ") for text in own["text"])


def test_sensors_and_schedule_are_off_until_they_are_switched_on(definitions: dg.Definitions) -> None:
    for name in ("new_models", "changed_files"):
        assert definitions.resolve_sensor_def(name).default_status == dg.DefaultSensorStatus.STOPPED
    schedule = definitions.resolve_schedule_def("reevaluation")
    assert schedule.default_status == dg.DefaultScheduleStatus.STOPPED
    assert schedule.cron_schedule == "0 3 * * 1"

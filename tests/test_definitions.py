"""The code location as Dagster sees it, compared with a snapshot: a change of it is seen in review.

`make snapshot` rewrites the snapshot.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import dagster as dg

from benchmark_assets.definitions import build_definitions
from benchmark_assets.partitions import dimensions
from benchmark_assets.reporting.graph import GROUPS, VIEWS, numbered
from resources import catalogue
from resources.embedders import Embedder
from resources.home import PROJECT
from tests.support import LetterEmbedder

SNAPSHOT = Path(__file__).with_name("definitions.json")


def outline(definitions: dg.Definitions) -> dict[str, Any]:
    """What a person who reads the UI relies on."""
    graph = definitions.resolve_asset_graph()
    assets = {
        key.to_user_string(): {
            "group": graph.get(key).group_name,
            "partitions": dimensions(graph.get(key).partitions_def),
            "depends on": sorted(parent.to_user_string() for parent in graph.get(key).parent_keys),
            "code version": graph.get(key).code_version,
            "kinds": sorted(graph.get(key).kinds),
            "owners": list(graph.get(key).owners),
            "description": graph.get(key).description,
            "backfill": policy.policy_type.value if (policy := graph.get(key).backfill_policy) else None,
        }
        for key in sorted(graph.get_all_asset_keys())
    }
    repository = definitions.get_repository_def()
    jobs = {name: repository.get_job(name).description for name in repository.job_names if not name.startswith("__")}
    checks: dict[str, list[str]] = {}
    for check in sorted(graph.asset_check_keys):
        checks.setdefault(check.asset_key.to_user_string(), []).append(check.name)
    return {
        "assets": assets,
        "checks": checks,
        "jobs": jobs,
        "sensors": {sensor.name: sensor.description for sensor in repository.sensor_defs},
        "schedules": {schedule.name: schedule.cron_schedule for schedule in repository.schedule_defs},
        "resources": sorted(definitions.resources or {}),
    }


def test_the_code_location_is_the_one_in_the_snapshot() -> None:
    assert outline(build_definitions()) == json.loads(SNAPSHOT.read_text(encoding="utf-8"))


def test_every_asset_explains_itself() -> None:
    for name, asset in outline(build_definitions())["assets"].items():
        assert all(asset[field] for field in ("group", "code version", "kinds", "owners", "description")), name
        assert asset["backfill"] == ("SINGLE_RUN" if asset["partitions"] else None), name


def test_a_view_of_the_graph_unfolds_the_groups_of_its_assets() -> None:
    assets = json.loads(SNAPSHOT.read_text(encoding="utf-8"))["assets"]
    for view in VIEWS:
        assert {numbered(group) for group in view.groups} == {assets[name]["group"] for name in view.assets}
    assert {asset["group"] for asset in assets.values()} == {*map(numbered, GROUPS)}


FROM_LABELS = {"annotation_agreement", "annotator_consistency", "human_label", "human_span_vote", "judge_calibration"}
"""Assets whose numbers come from labels alone. They are downstream of drift, because it decides what people label."""


def test_versions_of_all_numbers_that_come_from_vectors_follow_from_the_inputs() -> None:
    graph = build_definitions().resolve_asset_graph()
    found = {
        key.to_user_string()
        for key in graph.get_all_asset_keys()
        if "embedder" in graph.get(key).assets_def.required_resource_keys and key != dg.AssetKey("alignment")
    }
    for key in graph.toposorted_asset_keys:  # an alignment is text: versions of what follows are those of its rows
        if found & {parent.to_user_string() for parent in graph.get(key).parent_keys}:
            found.add(key.to_user_string())

    def has_numbers(name: str) -> bool:
        tables = [name, *graph.get(dg.AssetKey(name)).metadata.get("tables", [])]
        columns = (column for table in tables for column in catalogue.table(table).columns.values())
        return any(column.type in ("DOUBLE", "FLOAT", "FLOAT[]") for column in columns)

    with_numbers = {name for name in found & {*catalogue.tables()} - FROM_LABELS if has_numbers(name)}
    assert with_numbers == {name for name, table in catalogue.tables().items() if table.versions == "inputs"}


def test_an_override_takes_the_place_of_a_resource() -> None:
    embedder = LetterEmbedder()
    resources = build_definitions(resource_overrides={"embedder": embedder}).resources or {}
    assert resources["embedder"] is embedder
    assert isinstance((build_definitions().resources or {})["embedder"], Embedder)


def test_definitions_load_without_torch_and_with_one_thread_for_sums() -> None:
    """A model library that loaded with the definitions would cost every process of Dagster seconds. Sums of several
    threads would depend on their number."""
    code = (
        "import sys; from benchmark_assets.definitions import build_definitions; "
        "build_definitions().resolve_asset_graph(); "
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'openai'}; print(heavy & {*sys.modules}); "
        "import polars, threadpoolctl; "
        "print(polars.thread_pool_size(), *{each['num_threads'] for each in threadpoolctl.threadpool_info()})"
    )
    many = os.environ | dict.fromkeys(["POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"], "4")
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True, env=many
    )
    assert found.stdout.split("\n")[:2] == ["set()", "1 1"]


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps(outline(build_definitions()), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

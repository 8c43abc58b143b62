"""The files in deploy are valid by the schemas of Compose and Kubernetes, and name what the project has."""

import json
import re
import subprocess
from importlib import import_module, resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from dagster import DagsterInstance

from benchmark_assets.cli import main
from benchmark_assets.cli.later import loaded
from resources.errors import BadInput
from resources.home import FORMER, PROJECT, prepare
from tests.processes import VARIORUM, environment

DEPLOY = PROJECT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
MANIFESTS: list[dict[str, Any]] = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")))


def test_the_compose_file_fits_the_schema_of_compose() -> None:
    folder = resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    schema = json.loads((folder / "compose-spec.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(COMPOSE)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema).validate(COMPOSE | {"services": {"web": {"ports": "3000"}}})


@pytest.mark.parametrize(
    "manifest", MANIFESTS, ids=lambda manifest: f"{manifest['kind']} {manifest['metadata']['name']}"
)
def test_a_manifest_fits_the_schema_of_kubernetes(manifest: dict[str, Any]) -> None:
    kubernetes_validate.validate(manifest, "1.33", strict=True)


PODS = [manifest["spec"]["template"]["spec"] for manifest in MANIFESTS if manifest["kind"] == "Deployment"]
IMAGE = f"variorum:{version('variorum')}"


@pytest.mark.parametrize("service", COMPOSE["services"].values(), ids=COMPOSE["services"])
def test_a_service_is_confined_and_probed(service: dict[str, Any]) -> None:
    assert service["user"] not in ("", "root", "0", "0:0")
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["healthcheck"]["test"]
    assert {*service["deploy"]["resources"]} == {"reservations", "limits"}
    assert service["image"] == IMAGE or re.fullmatch(r"postgres:\d+", service["image"])


@pytest.mark.parametrize("pod", PODS, ids=lambda pod: pod["containers"][0]["name"])
def test_a_pod_is_confined_and_probed(pod: dict[str, Any]) -> None:
    assert pod["securityContext"]["runAsNonRoot"] is True
    for container in pod["containers"]:
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert container["livenessProbe"]
        assert container["startupProbe"]
        assert {*container["resources"]} == {"requests", "limits"}
        assert container["image"] == IMAGE
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}


def test_the_containers_run_commands_that_exist() -> None:
    own = [service["command"] for service in COMPOSE["services"].values() if service["image"] == IMAGE]
    of_pods = [container["command"] for pod in PODS for container in pod["containers"]]
    for program, name, *arguments in [*own, *of_pods]:
        assert program == "variorum"
        options = {option for parameter in loaded(main.commands[name]).params for option in parameter.opts}
        assert {word for word in arguments if word.startswith("--")} <= options


def test_settings_that_a_cluster_mounts_are_kept(home: Path) -> None:
    settings = home / "dagster" / "dagster.yaml"
    settings.unlink()
    (home / "dagster" / "data.yaml").write_text("telemetry: {enabled: false}")
    settings.symlink_to("data.yaml")  # a volume of Kubernetes has such links
    prepare()
    assert settings.resolve().name == "data.yaml"


def test_settings_of_ones_own_follow_modules_that_were_moved(home: Path) -> None:
    settings = home / "dagster" / "dagster.yaml"
    settings.unlink()
    present = (PROJECT / "dagster.yaml").read_text(encoding="utf-8") + "\n# mine\n"
    former = present
    for before, after in FORMER.items():
        former = former.replace(f"module: {after}\n", f"module: {before}\n")
    assert former != present
    settings.write_text(former, encoding="utf-8")
    prepare()
    assert settings.read_text(encoding="utf-8") == present
    with DagsterInstance.get() as instance:
        assert list(instance.get_runs(limit=1)) == []


def test_settings_of_ones_own_with_a_class_that_is_gone_are_refused(home: Path) -> None:
    settings = home / "dagster" / "dagster.yaml"
    settings.unlink()
    settings.write_text("run_launcher: {module: benchmark_assets.automation.server.workers, class: WorkerRunLauncher}")
    with pytest.raises(BadInput, match=r"WorkerRunLauncher: .* take deploy/dagster.yaml"):
        prepare()


def test_the_settings_of_dagster_name_classes_of_the_project_that_exist() -> None:
    settings = yaml.safe_load((DEPLOY / "dagster.yaml").read_text(encoding="utf-8"))
    named = {
        value["class"]: value["module"]
        for value in settings.values()
        if isinstance(value, dict) and value.get("module", "").startswith(("resources.", "benchmark_assets."))
    }
    assert {"CompactPostgresEventLogStorage", "ForgettingPostgresRunStorage"} <= set(named)
    for name, module in named.items():
        assert hasattr(import_module(module), name)


def test_a_container_without_its_database_names_the_variable(tmp_path: Path) -> None:
    known = environment(tmp_path, DAGSTER_HOME=str(DEPLOY))
    known.pop("VARIORUM_DATABASE", None)
    done = subprocess.run([VARIORUM, "status"], env=known, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"{DEPLOY / 'dagster.yaml'}: names the environment variable VARIORUM_DATABASE" in done.stderr
    assert "Traceback" not in done.stderr

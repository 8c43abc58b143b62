"""The files in deploy are valid by the schemas of Compose and Kubernetes, and name what the project has."""

import json
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

from benchmark_assets.cli import main
from resources.home import PROJECT, prepare

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


def test_the_containers_run_commands_that_exist() -> None:
    programs = {"dagster-daemon", "variorum"}
    own = [service["command"] for service in COMPOSE["services"].values() if service["image"] == "variorum"]
    of_pods = [
        container["command"]
        for manifest in MANIFESTS if manifest["kind"] == "Deployment"
        for container in manifest["spec"]["template"]["spec"]["containers"]
    ]  # fmt: skip
    assert {command[0] for command in [*own, *of_pods]} <= programs
    for program, name, *arguments in [*own, *of_pods]:
        if program == "variorum":
            options = {option for parameter in main.commands[name].params for option in parameter.opts}
            assert {word for word in arguments if word.startswith("--")} <= options


def test_settings_that_a_cluster_mounts_are_kept(home: Path) -> None:
    settings = home / "dagster" / "dagster.yaml"
    settings.unlink()
    (home / "dagster" / "data.yaml").write_text("telemetry: {enabled: false}")
    settings.symlink_to("data.yaml")  # a volume of Kubernetes has such links
    prepare()
    assert settings.resolve().name == "data.yaml"


@pytest.mark.parametrize("file", sorted(DEPLOY.glob("dagster*.yaml")), ids=lambda file: file.name)
def test_the_settings_of_dagster_name_classes_of_the_project_that_exist(file: Path) -> None:
    settings = yaml.safe_load(file.read_text(encoding="utf-8"))
    named = {
        value["class"]: value["module"]
        for value in settings.values()
        if isinstance(value, dict) and value.get("module", "").startswith(("resources.", "benchmark_assets."))
    }
    assert {"CompactPostgresEventLogStorage", "ForgettingPostgresRunStorage"} <= set(named)
    for name, module in named.items():
        assert hasattr(import_module(module), name)

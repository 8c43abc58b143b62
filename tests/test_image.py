"""What enters the images: files of the project that the containers need, and nothing of a home or an environment."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from docker.utils.build import exclude_paths

from benchmark_assets.cli import main
from benchmark_assets.cli.later import loaded
from resources import wheel
from resources.home import PROJECT

NEEDED = (
    "CITATION.cff", "LICENSE", "README.md", "benchmark_assets", "constraints-comet.txt", "constraints.txt",
    "dagster.yaml", "deploy/dagster.yaml", "prompts", "pyproject.toml", "resources", "warehouse", "workspace.yaml",
)  # fmt: skip
"""Tracked files and folders that the containers need."""

PRIVATE = (
    ".env", ".git/config", ".git/objects/pack/p.pack", ".venv/bin/python", ".venv-comet/bin/python",
    ".peers/a/bin/python", "build/site/index.html", "deploy/keys.env", "deploy/.env", "keys.env", "models.yaml",
    "resources/.env", "resources/__pycache__/home.cpython-311.pyc", "tests/homes/old/variorum.duckdb",
    "variorum.egg-info/PKG-INFO", "warehouse/variorum.duckdb", "warehouse/variorum.duckdb.wal",
    "warehouse/ledger.sqlite", "warehouse/ledger.sqlite-wal", "warehouse/ledger.sqlite.archive/1.xz",
    "warehouse/dagster/history/runs.db", "warehouse/dagster/dagster.yaml", "warehouse/logs/variorum.log",
    "warehouse/readers/private/index.html", "warehouse/vectors/a.parquet", "warehouse/added/livy/1/recipe.yaml",
    "warehouse/before-restore/variorum.duckdb", "warehouse/mine.yaml",
)  # fmt: skip
"""Files that a checkout has once it was used."""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a used home: the names of all files, without content."""
    listed = subprocess.run(["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    for name in (*listed.splitlines(), *PRIVATE):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def test_the_context_has_what_the_containers_need_and_nothing_else(checkout: Path) -> None:
    rules = (PROJECT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    context = exclude_paths(str(checkout), [rule for rule in rules if rule and not rule.startswith("#")])
    tracked = subprocess.run(
        ["git", "ls-files", *NEEDED], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    files = {name for name in context if (checkout / name).is_file()}
    assert files - {".dockerignore"} == set(tracked)  # Docker's client sends its rules, too


def test_what_is_copied_is_in_the_context() -> None:
    """Every COPY of the Dockerfile names files of the context."""
    dockerfile = (PROJECT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    sources = [name for line in re.findall(r"^COPY (.+)$", dockerfile, re.MULTILINE) for name in line.split()[:-1]]
    assert {*sources} <= {*NEEDED, "."}
    assert "ADD " not in dockerfile


def test_the_image_of_one_person_runs_a_command_that_exists_and_is_built_only_on_demand() -> None:
    dockerfile = (PROJECT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    stages = re.split(r"^FROM \S+ AS (\w+)$", dockerfile, flags=re.MULTILINE)[1:]
    assert stages[::2] == ["wheel", "single", "group"]  # without --target, Docker builds the last one
    single = stages[3]
    assert 'ENTRYPOINT ["variorum"]' in single
    name, *arguments = json.loads(re.findall(r"^CMD (.+)$", single, re.MULTILINE)[0])
    options = {option for parameter in loaded(main.commands[name]).params for option in parameter.opts}
    assert {word for word in arguments if word.startswith("--")} <= options
    assert re.search(r"^USER 10001$", single, re.MULTILINE)


def test_the_context_has_what_a_wheel_contains() -> None:
    listed = [["git", "ls-files", *names] for names in (wheel.FILES, NEEDED)]
    contained, context = (
        set(subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.splitlines())
        for command in listed
    )
    assert contained <= context

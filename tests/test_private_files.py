"""Who can read what real commands write, under the umask of most systems: a home is private, and exports are not."""

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.home import PROJECT
from resources.modes import is_generated
from tests.automation.dagster_ui import serving
from tests.processes import free_port, variorum
from tests.support import write_corpus


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """The umask of most systems, by which everybody can read new files."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, set[str]]:
    """The places in a folder, and itself, by mode; without links, which have no modes of their own."""
    found: dict[str, set[str]] = {}
    for place in (folder, *folder.rglob("*")):
        if not place.is_symlink():
            found.setdefault(stat.filemode(place.stat().st_mode), set()).add(str(place.relative_to(folder)))
    return found


@pytest.mark.proof
def test_a_new_home_is_private(tmp_path: Path, full: bool) -> None:
    home = tmp_path / "home"
    variorum(home, "import", "corpus", str(write_corpus(tmp_path / "corpus")))
    if full:
        variorum(home, "demo", VARIORUM_PLOTS="on")
        with serving(home, free_port()):
            (home / "ui.log").unlink()  # of the test
            assert modes(home).keys() == {"drwx------", "-rw-------"}, modes(home)
        variorum(home, "backup", str(tmp_path / "backups"))
        assert modes(tmp_path / "backups").keys() == {"drwx------", "-rw-------"}, modes(tmp_path / "backups")
    assert modes(home).keys() == {"drwx------", "-rw-------"}, modes(home)


def test_a_home_of_a_former_version_becomes_private_and_exports_from_it_are_not(finished: Path, tmp_path: Path) -> None:
    home, package = tmp_path / "home", tmp_path / "new" / "package"
    shutil.copytree(finished / "home", home, symlinks=True)
    (home / "mine").mkdir()
    for place in (home, *home.rglob("*")):
        if not place.is_symlink():
            place.chmod(0o755 if place.is_dir() else 0o644)
    opened = sum(map(len, modes(home).values())) - len([".", "mine"])
    done = variorum(home, "export", str(package), "tiny")
    assert f"others could read {opened} files and folders; from now on, only you can" in done.stderr
    found = modes(home)
    assert found.pop("drwxr-xr-x") == {".", "mine"}  # the user's own
    assert found.keys() == {"drwx------", "-rw-------"}, found
    assert modes(package.parent).keys() == {"drwxr-xr-x", "-rw-r--r--"}


def test_a_home_of_a_group_is_open_to_the_group(database: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    variorum(home, "snapshot", VARIORUM_DATABASE=database)
    assert modes(home).keys() == {"drwxrws---", "-rw-rw----"}, modes(home)


def test_tracked_files_keep_their_modes() -> None:
    """No name that a home generates is the name of a folder that the project has in its default home."""
    listed = subprocess.run(["git", "ls-files", "warehouse"], cwd=PROJECT, capture_output=True, text=True, check=True)
    tracked = {line.split("/")[1] for line in listed.stdout.splitlines()}
    assert not [name for name in tracked if is_generated(name)]

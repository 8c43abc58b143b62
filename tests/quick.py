"""The tests that a change reaches, chosen so that they end in a minute: `make quick`.

Here: changed files, the rooms that may import them by the layers in pyproject.toml, and the tests of these rooms. Not
here: whether the layers are kept (import-linter), all tests (`make test`).
"""

import subprocess
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from resources.home import PROJECT
from tests import processes
from tests.mutants import HOMES


def changed() -> set[str]:
    """Files, from the project, that differ from the last commit; if there are none, from the commit before it."""
    commands = (["diff", "--name-only", "HEAD"], ["ls-files", "--others", "--exclude-standard"])
    return set(_git(*commands[0]) + _git(*commands[1])) or set(_git("diff", "--name-only", "HEAD~"))


def _git(*arguments: str) -> list[str]:
    command = ["git", "-C", str(PROJECT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def layers() -> list[set[str]]:
    """Rooms, from the lowest layer to the highest. Resources are below all rooms."""
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    rooms = next(contract["layers"] for contract in contracts["contracts"] if contract["type"] == "layers")
    return [{"resources"}, *(set(layer.split(" | ")) for layer in reversed(rooms))]


def reached(files: Iterable[str], layers: Sequence[set[str]]) -> tuple[set[str], set[str]]:
    """Rooms with changed code, and rooms in layers above, which may import it."""
    parts = [Path(file).with_suffix("").parts for file in files]
    own = {part[part[0] == "benchmark_assets"] for part in parts if part[0] in ("benchmark_assets", "resources")}
    lowest = min((place for place, layer in enumerate(layers) if layer & own), default=len(layers))
    return own, set[str]().union(*layers[lowest + 1 :]) - own


def unplaced(files: Iterable[str]) -> list[str]:
    """Files that are neither code of a room, nor tests, nor pages: prompts, tables, what tests share."""
    paths = sorted(map(Path, files))
    return [
        str(path) for path in paths
        if path.parts[0] not in ("benchmark_assets", "resources") and not path.name.startswith("test_")
        and path.suffix != ".md"
    ]  # fmt: skip


def chosen(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Tests in changed files and of changed rooms, without proofs, and small tests of rooms above.

    Small tests have no home, and their modules start no commands and processes.
    """
    files = changed()
    own, above = reached(files, layers())
    if others := unplaced(files):
        print(f"what these reach is not known, so run `make test`, too: {', '.join(others)}")

    def runs(item: pytest.Item) -> bool:
        path = item.path.relative_to(PROJECT)
        room = path.parts[1].replace("provider", "resources")
        slow = {mark.name for mark in item.iter_markers()} & {"proof", "bench"}
        return str(path) in files or (not slow and (room in own or (room in above and small(item))))

    def small(item: pytest.Item) -> bool:
        modules = {getattr(each, "__module__", "") for each in vars(getattr(item, "module", object)).values()}
        return processes.__name__ not in modules and HOMES.isdisjoint(getattr(item, "fixturenames", []))

    return [item for item in items if runs(item)]

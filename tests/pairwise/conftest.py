"""The arena of the tests of judging: a home made once, restored for every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pairwise.arena import Arena, made_arena
from tests.provider.server import Server
from tests.support import made_once, restored_home


@pytest.fixture(scope="session")
def opened_arena(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The place of a home in which everything is ready for judging, and what to copy there."""
    return tmp_path_factory.mktemp("arena") / "world", made_once("arena", made_arena)


@pytest.fixture
def arena(opened_arena: tuple[Path, Path], server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Arena]:
    """The arena with judges at the server, who say the first thing that comes to their mind."""
    restored_home(monkeypatch, *opened_arena)
    monkeypatch.setenv("VARIORUM_MODELS", str(opened_arena[0] / "models.yaml"))
    server.configure(answer="judge", keep_bodies=True)
    each = Arena(opened_arena[0], server.url)
    with each.warehouse.kept_open():
        yield each

"""dagster-dg-cli: it loads and checks the code location as `[tool.dg]` in pyproject.toml names it.

The peer's environment has Dagster and the command line; the project and its other packages come from this environment.
"""

import os
from pathlib import Path

import polars as pl
import pytest

from resources.home import PROJECT
from tests.peers.environments import Peer
from tests.processes import environment

PEER = "dagster-dg-cli"
pytestmark = pytest.mark.peer


def test_the_definitions_are_valid(peer: Peer, home: Path) -> None:
    """`dg check defs`."""
    packages = Path(pl.__file__).parents[1]
    paths = {"PYTHONPATH": os.pathsep.join([str(PROJECT), str(packages)])}
    peer.run("dg", "check", "defs", "--target-path", str(PROJECT), **(environment(home) | paths))

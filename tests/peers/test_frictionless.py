"""frictionless: it checks each CSV file of a package against the types in `datapackage.json`."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.peers.environments import Peer

PEER = "frictionless"
pytestmark = pytest.mark.peer
VALIDATE = """
import sys
import frictionless
report = frictionless.validate(sys.argv[1])
assert report.valid, report.flatten(["name", "rowNumber", "fieldName", "note"])[:20]
print(report.stats["tasks"])
"""


def test_packages_are_valid(
    peer: Peer, packages: dict[str, Path], record_property: Callable[[str, object], None]
) -> None:
    """Every CSV file of the packages, against the declared types."""
    counts = [int(peer.python(VALIDATE, str(folder / "datapackage.json"))) for folder in packages.values()]
    listed = [len([*folder.glob("*.csv")]) - 1 for folder in packages.values()]  # all but the dictionary
    assert counts == listed
    record_property("result", f"{sum(counts)} files of {len(counts)} packages without an error")

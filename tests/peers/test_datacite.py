"""The package `datacite`: its JSON schema of DataCite 4.5 accepts the record of each package."""

from pathlib import Path

import pytest

from tests.peers.environments import Peer

PEER = "datacite"
pytestmark = pytest.mark.peer
VALIDATE = """
import json, sys
from datacite import schema45
for path in sys.argv[1:]:
    schema45.validator.validate(json.load(open(path)))
"""


def test_records_are_valid(peer: Peer, packages: dict[str, Path]) -> None:
    """`datacite.json` of three packages, against the JSON schema of DataCite 4.5."""
    peer.python(VALIDATE, *(str(folder / "datacite.json") for folder in packages.values()))

"""cffconvert: the citation of the software is valid, and its metadata for Zenodo are those in the repository."""

import json

import pytest

from resources.home import PROJECT
from tests.peers.environments import Peer

PEER = "cffconvert"
pytestmark = pytest.mark.peer
CITATION = ("--infile", str(PROJECT / "CITATION.cff"))


def test_the_citation_is_valid(peer: Peer) -> None:
    """`cffconvert --validate` of `CITATION.cff`."""
    peer.run("cffconvert", *CITATION, "--validate")


def test_zenodo_gets_the_same_citation(peer: Peer) -> None:
    """`.zenodo.json` against `cffconvert --format zenodo`."""
    theirs = json.loads(peer.run("cffconvert", *CITATION, "--format", "zenodo"))
    assert json.loads((PROJECT / ".zenodo.json").read_text(encoding="utf-8")) == theirs

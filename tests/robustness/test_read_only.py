"""A home that cannot be written: every command names it and says what to do, and nothing is asked."""

import os
import sys

import pytest

from tests.robustness.commands import Commands
from tests.robustness.world import MODEL, World

pytestmark = [
    pytest.mark.large,
    pytest.mark.proof,
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs root on Linux, to mount a folder"),
]


def test_a_read_only_home_is_named_and_nothing_is_asked(imported: World, runner: Commands) -> None:
    for command in (["status"], ["update", "--accept"], ["evaluate", "--accept", MODEL], ["verify"], ["costs"]):
        done = runner.run(imported.home, *command, read_only=True)
        assert done.code == 1, done.out
        assert str(imported.home) in done.err
        assert "cannot be written" in done.err
        assert "make it writable" in done.err
        assert len(done.err.splitlines()) == 1, done.err
    assert imported.server.log() == []
    assert runner.run(imported.home, "verify").code == 0

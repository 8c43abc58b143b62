"""A clock that is a year ahead, then a day behind: nothing becomes stale, and nothing is asked again."""

import shutil

import pytest

from resources.provider.reading import Outcome
from tests.robustness.commands import Commands
from tests.robustness.world import MODEL, World

DAY = 86_400

pytestmark = [
    pytest.mark.large,
    pytest.mark.proof,
    pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler"),
]


def test_a_clock_that_jumps_makes_nothing_stale(imported: World, runner: Commands) -> None:
    ahead = runner.run(imported.home, "evaluate", MODEL, "--accept", shift=365 * DAY)
    assert ahead.code == 0, ahead.err
    for shift in (-DAY, 0, 365 * DAY, 0):
        later = runner.run(imported.home, "update", "--accept", shift=shift)
        assert later.code == 0, later.err
        assert "materialized" not in later.err
    assert imported.attempts()["outcome"].to_list() == [Outcome.ANSWERED] * 3
    assert len(imported.server.log()) == 3
    assert runner.run(imported.home, "verify", shift=-DAY).code == 0

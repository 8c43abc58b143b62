"""Ctrl-C and SIGTERM at any stage of an evaluation: it ends soon and in words, and its repetition pays for nothing
twice."""

import random
import signal
import time

import pytest

from resources.provider.ledger import UNCERTAIN
from resources.provider.reading import Outcome
from tests.robustness.commands import Commands, Started
from tests.robustness.world import MODEL, World

KEPT = "everything stored until now is kept. Run the same command again: it continues"


def begun(made: World, runner: Commands) -> Started:
    """An evaluation of the imported home, which has begun to work."""
    made.restore()
    made.server.configure(latency=0.3)
    log = made.home / "logs" / "variorum.log"
    known = log.stat().st_size
    command = runner.start(made.home, "evaluate", MODEL, "--accept")
    while log.stat().st_size == known:
        time.sleep(0.02)
    return command


@pytest.mark.large
@pytest.mark.proof
def test_an_interrupted_evaluation_is_continued(imported: World, runner: Commands, full: bool) -> None:
    dice, seconds, number = random.Random(10), 1.0, 0
    if full:
        command, begin = begun(imported, runner), time.monotonic()
        assert command.end().code == 0
        seconds = time.monotonic() - begin
    while number < (8 if full else 2):
        ending = (signal.SIGINT, signal.SIGTERM)[number % 2]
        command, after = begun(imported, runner), dice.uniform(0, 0.9 * seconds)
        time.sleep(after)
        try:
            command.send(ending)
        except ProcessLookupError:  # this evaluation was faster than the one that was timed
            assert command.end().code == 0
            seconds = after
            continue
        number, sent = number + 1, time.monotonic()
        done = command.end()
        print(f"{ending.name} after {after:.1f} of {seconds:.1f} s: ended {time.monotonic() - sent:.1f} s later")
        assert "Traceback" not in done.err, done.err
        assert done.code == 128 + signal.SIGINT, done.err
        assert KEPT in done.err.splitlines()[-1]
        assert runner.run(imported.home, "update", "--accept").code == 0
        attempts = imported.attempts()["outcome"].to_list()
        assert attempts.count(Outcome.ANSWERED) == 3
        assert len(imported.server.log()) <= len(attempts) == 3 + attempts.count(UNCERTAIN)
    assert runner.run(imported.home, "verify").code == 0

"""The disk becomes full at a write of an evaluation: no stored reply is lost, the message names the place, and the home
opens again and is whole once there is space."""

import random
import re
import shutil

import pytest

from resources.provider.ledger import UNCERTAIN
from resources.provider.reading import Outcome
from tests.robustness.commands import Commands
from tests.robustness.world import MODEL, World

MOMENTS = 24
"""Writes at which the disk becomes full: an evaluation and an update after each take half a minute."""

_VARYING = re.compile(r"[0-9a-f]{8}-?[0-9a-f-]{20,}")
"""Ids in the names of files."""


def kind(path: str) -> str:
    """The path of a file, without ids."""
    return _VARYING.sub("…", path)


def writes(world: World, runner: Commands) -> list[str]:
    """The file of each write of an evaluation."""
    log = world.folder / "writes"
    assert runner.run(world.home, "evaluate", "--accept", MODEL, log=str(log)).code == 0
    return [kind(path) for path in log.read_text(encoding="utf-8").splitlines()]


def chosen(written: list[str], each: int) -> dict[int, str]:
    """Some writes by their number, beginning with 1: the first, the last and others of each kind of file."""
    numbers: dict[int, str] = {}
    for name in dict.fromkeys(written):
        own = [number for number, other in enumerate(written, start=1) if other == name]
        step = max(1, (len(own) - 1) // max(1, each - 1))
        numbers |= dict.fromkeys([*own[::step][:each], own[-1]], name)
    return dict(sorted(numbers.items()))


def check(world: World, runner: Commands, first: int, name: str) -> str:
    """Evaluate on a disk that is full from a write on, then again with space; return a line for the table."""
    world.restore()
    full = runner.run(world.home, "evaluate", "--accept", MODEL, fill=(str(world.home), first, 0))
    said = full.err.strip().splitlines()[-1:] if full.code else []
    sent = len(world.server.log())
    assert "Traceback" not in full.err, full.err
    assert not full.code or re.search(r"free (space|at least)", full.err), full.err
    done = runner.run(world.home, "evaluate", "--accept", MODEL)
    assert done.code == 0, done.err
    attempts = world.attempts()
    outcomes, answered = attempts["outcome"].to_list(), attempts.filter(outcome=Outcome.ANSWERED)["key"]
    assert len(answered) >= 3
    assert answered.is_unique().all()
    assert len(world.server.log()) <= len(outcomes) == len(answered) + outcomes.count(UNCERTAIN)
    assert runner.run(world.home, "verify").code == 0
    return f"{first} {name}: exit code {full.code}, {sent} requests, {outcomes.count(UNCERTAIN)} uncertain; {said}"


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.large
@pytest.mark.proof
def test_a_disk_that_is_full_at_a_write_loses_nothing(imported: World, runner: Commands, full: bool) -> None:
    written = writes(imported, runner)
    print(f"\n{len(written)} writes")
    moments = [*chosen(written, 2).items()]
    for first, name in random.Random(1).sample(moments, min(MOMENTS, len(moments)) if full else 1):
        print(check(imported, runner, first, name), flush=True)

"""What a group costs beside one process: CPU seconds of each of its processes for the same small evaluation.

Services are warm: they have evaluated other models. Their start is printed apart, and so is what they use when idle.
"""

import time
from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest

from resources.home import PROJECT
from tests import postgres
from tests.automation.server.group import Group, running
from tests.processes import VARIORUM, environment, free_port, measured
from tests.provider.server import Server
from tests.support import write_corpus, write_registry

WARMING = ["w1", "w2"]
MODELS = [f"m{number}" for number in range(1, 9)]

IDLE = 120
"""Seconds for which the services are left alone."""

STARTED = 120
"""Seconds until the daemon has done what it does only when it starts."""

pytestmark = [pytest.mark.bench, pytest.mark.large]


def used(process: psutil.Process) -> float:
    """CPU seconds of a process and of all that it started."""
    seconds = 0.0
    for each in (process, *process.children(recursive=True)):
        seconds += sum(each.cpu_times()[:4])  # with those of children that have ended
    return seconds


def services(group: Group, database: psutil.Process) -> dict[str, float]:
    """CPU seconds of each service of a group since its start; the daemon is apart from the rest of the server."""
    by_name = {name: psutil.Process(process.pid) for name, process in group.processes.items()}
    seconds = {name: used(process) for name, process in (by_name | {"database": database}).items()}
    if "server" in by_name:
        parts = by_name["server"].children(recursive=True)
        seconds["daemon"] = sum(
            used(each) for each in parts if any("dagster-daemon" in word for word in each.cmdline())
        )
        seconds["server"] -= seconds["daemon"]
    return seconds


def spent(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    return {name: after[name] - before.get(name, 0) for name in after}


def told(words: str, seconds: Mapping[str, float]) -> float:
    """Print CPU seconds by process, and return their sum."""
    total = sum(seconds.values())
    print(f"{words}: {total:.1f} CPU s;", ", ".join(f"{name} {value:.2f}" for name, value in seconds.items()))
    return total


def command(known: Mapping[str, str], *arguments: str) -> float:
    """CPU seconds of a command, run to its end."""
    return measured([VARIORUM, *arguments], PROJECT, known)[1]


def test_a_small_evaluation_by_a_group_and_by_one_process(
    tmp_path: Path, postgres_server: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)  # a user's programs are compiled once
    registry, corpus = tmp_path / "models.yaml", write_corpus(tmp_path / "corpus")
    write_registry(registry, server.url, *WARMING, *MODELS)
    plain = {"VARIORUM_MODELS": str(registry), "VARIORUM_PLOTS": "off", "OMP_NUM_THREADS": "1"}
    alone = environment(tmp_path / "alone", **plain)
    command(alone, "import", "corpus", str(corpus))
    command(alone, "evaluate", "--accept", *WARMING)
    one = command(alone, "evaluate", "--accept", *MODELS)

    (folder := tmp_path / "group").mkdir()
    socket = Path(postgres_server.rpartition("host=")[2])
    database = psutil.Process(int((socket / "postmaster.pid").read_text().split()[0]))
    with postgres.empty_database(postgres_server) as url, running(folder, url, registry, workers=2) as group:
        known = group.environment("server")
        command(known, "import", "corpus", str(corpus))
        command(known, "evaluate", "--accept", *WARMING)
        begun = services(group, database)
        told("start of the services, an import and two models", begun)
        command_seconds = command(known, "evaluate", "--accept", *MODELS)
        several = told("group", spent(begun, services(group, database)) | {"command": command_seconds})
        group.start("server", VARIORUM, "ui", "--port", str(free_port()))  # none of this needs it
        time.sleep(STARTED)
        begun = services(group, database)
        time.sleep(IDLE)
        idle = spent(begun, services(group, database))
        told(f"idle for {IDLE} s", idle)
        assert "up to date" in group.variorum("stale")
    print(f"one process: {one:.1f} CPU s; the group {several / one:.2f} times")
    assert several <= 1.5 * one
    assert idle["daemon"] <= 0.01 * IDLE

"""Each guide is followed in order, as it is written, in one home; a fault in any of its commands is found.

A guide that names an address of this machine has it for itself: others that are followed at the same time wait.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from resources import locks
from tests.guides.following import FailedStepError, Journey, Shell, first_missing
from tests.guides.guide import GUIDES, Command, Commands, Guide, faulty, read
from tests.processes import CHROMIUM
from tests.provider.server import serve

ENDPOINTS: dict[str, tuple[int, dict[str, Any]]] = {
    "model-builder": (8009, {
        "script": ["rate_limited", "server_error", "ok", "timeout"], "hang": 10, "retry_after": {"seconds": 1},
    }),
    "campaign": (8010, {"answer": "judge"}),
}  # fmt: skip
"""Port of the endpoint that a guide names, and how it answers, anew to each block of commands. That of the model
builder is rude: it answers 429, then 500, and later too late."""

STATE = ("cd", "export")
"""Commands that change the shell."""

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt-get install chromium")


@contextmanager
def surroundings(guide: Guide) -> Iterator[Callable[[], None]]:
    """What a guide finds on its machine: the ports that it names are free, but for an endpoint's.

    Yields what is called before each step: the endpoint answers as to the first request.
    """
    ports = {int(port) for port in re.findall(r"\b127\.0\.0\.1:(\d+)", guide.path.read_text(encoding="utf-8"))}
    with ExitStack() as held:
        for port in sorted(ports):
            lock = Path(tempfile.gettempdir()) / f"variorum-guides-{os.getuid()}-{port}"
            locks.exclusive(held.enter_context(lock.open("w")))
        if guide.path.stem not in ENDPOINTS:
            yield lambda: None
            return
        port, settings = ENDPOINTS[guide.path.stem]
        server = held.enter_context(serve(port))
        yield lambda: server.configure(**settings)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "texts").mkdir()
    return tmp_path / "texts"


@needs_chromium
@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_is_followed_from_its_first_step_to_its_last(name: str, folder: Path) -> None:
    guide = read(name)
    with surroundings(guide) as anew, Shell(folder) as shell:
        journey = Journey(folder, shell)
        for step in guide.steps:
            anew()
            journey.take(step)
    print(f"{name}: {shell.seconds:.0f} CPU s without the browser")


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_says_how_long_it_takes_and_ends_with_a_page(name: str) -> None:
    guide = read(name)
    assert guide.minutes is not None
    assert not isinstance(guide.steps[-1], Commands), "the last thing is something to look at"
    assert all(step.shows for step in guide.steps if isinstance(step, Commands)), "each block says what it prints"


@pytest.mark.parametrize("name", GUIDES)
def test_a_fault_in_the_first_command_is_found(name: str, folder: Path) -> None:
    guide = read(name)
    with Shell(folder) as shell:
        journey = Journey(folder, shell)
        for step in guide.steps:
            if isinstance(step, Commands) and (at := _first(step)) is not None:
                wrong = next(faulty(step.typed[at]))
                with pytest.raises(FailedStepError, match="No such command") as failed:
                    journey.take(_with(step, at, wrong.text))
                assert failed.value.line == step.typed[at].line
                return
            journey.take(step)


@needs_chromium
@pytest.mark.proof
@pytest.mark.large
@pytest.mark.parametrize("name", GUIDES)
def test_every_fault_in_every_command_is_found(name: str, folder: Path, tmp_path: Path) -> None:
    """Misspelt, with another file, without an option: each command, in the state in which a reader types it."""
    guide, survivors, state, served = read(name), list[str](), list[str](), False
    with surroundings(guide) as anew, Shell(folder) as shell:
        journey = Journey(folder, shell)
        for step in guide.steps:
            for at, command in enumerate(step.typed if isinstance(step, Commands) else ()):
                assert isinstance(step, Commands)
                for wrong in faulty(command):
                    anew()
                    if not _is_found(_with(step, at, wrong.text), folder, None if served else tmp_path / "was", state):
                        survivors.append(f"line {command.line}: {wrong.text}")
                if command.text.split()[0] in STATE:
                    state.append(command.text)
                served |= command.stays  # later commands of the guide only read, and the home is in use
            anew()
            journey.take(step)
    assert survivors == []


def test_faults_are_planted_in_names_files_values_and_options() -> None:
    command = Command(1, "variorum import outputs a/b.csv --corpus fables    # twice")
    assert [each.text for each in faulty(command)] == [
        "variorum importt outputs a/b.csv --corpus fables # twice",
        "variorum import other-outputs a/b.csv --corpus fables # twice",
        "variorum import outputs a/other-b.csv --corpus fables # twice",
        "variorum import outputs a/b.csv # twice",
        "variorum import outputs a/b.csv --corpus other-fables # twice",
    ]
    assert len([*faulty(Command(1, "export A=$PWD/b.yaml"))]) == 2


@pytest.mark.parametrize(
    ("lines", "text", "missing"),
    [
        (["a 1", "b 2"], "a   1\nother\n  b 2\n", ""),
        (["b 2", "a 1"], "a 1\nb 2\n", "a 1"),
        (["a … c"], "a 1 2 c\n", ""),
        (["a"], "a 1\n", "a"),
        (["…", "a…"], "0\na 1\n", ""),
    ],
)
def test_printed_lines_occur_whole_and_in_order(lines: list[str], text: str, missing: str) -> None:
    assert first_missing(lines, text, whole=True) == missing


def _first(step: Commands) -> int | None:
    return next((at for at, command in enumerate(step.typed) if command.text.startswith("variorum ")), None)


def _with(step: Commands, at: int, text: str) -> Commands:
    typed = list(step.typed)
    typed[at] = replace(typed[at], text=text)
    return replace(step, typed=tuple(typed))


def _is_found(step: Commands, folder: Path, copy: Path | None, state: list[str]) -> bool:
    """Whether a journey fails at this step. The folder is left as it was, if there is a place for a copy."""
    if copy:
        shutil.copytree(folder, copy, symlinks=True)
    try:
        with Shell(folder) as shell:
            for command in state:
                shell.run(command)
            Journey(folder, shell).take(step)
    except FailedStepError:
        return True
    finally:
        if copy:  # the folder itself stays: it is where the reader's shell is
            for path in folder.iterdir():
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            for path in copy.iterdir():
                shutil.move(path, folder)
            copy.rmdir()
    return False

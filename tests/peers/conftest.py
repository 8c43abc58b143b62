"""What tests of peers share: the demo's home, what it exports, a peer's environment, and the table of results.

A module names its peer: `PEER`. The docstring of a test says what was tried; `record_property("result", ...)` adds
what was found to the table.
"""

from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.peers.environments import REQUIREMENTS, Missing, Peer, installed, version
from tests.processes import variorum


class Row(NamedTuple):
    """A row of the table of results."""

    peer: str
    version: str
    tried: str
    result: str


ROWS = pytest.StashKey[list[Row]]()


@pytest.fixture(scope="module")
def peer(request: pytest.FixtureRequest) -> Peer:
    """The module's peer; its tests are skipped if it cannot be installed."""
    try:
        return installed(request.module.PEER)
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of `variorum demo`. Tests do not write to it."""
    home = tmp_path_factory.mktemp("demo") / "home"
    variorum(home, "--quiet", "demo")
    return home


@pytest.fixture(scope="session")
def packages(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The public packages of the demo's corpora, by name, and that of tasks and costs, by ''."""
    folder = tmp_path_factory.mktemp("packages")
    found = {corpus: folder / (corpus or "tasks") for corpus in ("sample", "dialogues", "")}
    for corpus, place in found.items():
        variorum(demo, "export", str(place), *filter(None, [corpus]))
    return found


@pytest.fixture(scope="session")
def package(packages: dict[str, Path]) -> Path:
    """The public package of the sample corpus."""
    return packages["sample"]


@pytest.fixture(scope="session")
def test_set(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus as a test set of mt-metrics-eval."""
    folder = tmp_path_factory.mktemp("shared-task") / "sample"
    variorum(demo, "export", "--as", "shared-task", str(folder), "sample")
    return folder


def pytest_configure(config: pytest.Config) -> None:
    config.stash[ROWS] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the outcome of each test of a peer."""
    report = yield
    if "peer" in item.keywords and isinstance(item, pytest.Function) and (report.when == "call" or not report.passed):
        name = item.module.PEER
        stated = dict(item.user_properties)
        pinned = version(name) if (REQUIREMENTS / f"{name}.txt").is_file() else ""
        row = Row(name, str(stated.get("version", pinned)), _tried(item), _result(report, stated))
        item.config.stash[ROWS].append(row)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table of results in Markdown, for docs/measurements.md."""
    rows = terminalreporter.config.stash.get(ROWS, [])
    if rows:
        terminalreporter.section("peers")
        terminalreporter.write_line("| peer | version | tried | result |\n|---|---|---|---|")
        for row in sorted(set(rows)):
            terminalreporter.write_line(f"| {' | '.join(row)} |")


def _tried(item: pytest.Function) -> str:
    return " ".join((item.function.__doc__ or item.name).split()).removesuffix(".")


def _result(report: pytest.TestReport, stated: dict[str, object]) -> str:
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        return f"skipped: {str(reason).removeprefix('Skipped: ')}"
    return str(stated.get("result", "passed")) if report.passed else "failed"

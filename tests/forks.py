"""Tests in several processes, which are forked when all tests are collected (`--processes`).

Here: which process runs which file of tests, and its reports. Not here: the order of files (conftest).
"""

import os
from collections.abc import Iterator, Sequence
from itertools import chain, groupby, pairwise
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path

import pytest


class Forks:
    """A plugin of pytest that forks processes. Each takes the next file as soon as it is free."""

    def __init__(self, number: int) -> None:
        self._number = number

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run all tests, unless pytest would run none."""
        if session.testsfailed or session.config.option.collectonly:
            return None
        refuse_frames()
        files = [list(items) for _, items in groupby(session.items, lambda item: item.path)]
        places, written = os.pipe()
        os.write(written, b"".join(place.to_bytes(2, "big") for place in range(len(files))))
        os.close(written)
        running: dict[Connection, str] = {}  # the last test that began, by its process's pipe
        for _ in range(self._number):
            reports, sent = Pipe(duplex=False)
            if not os.fork():
                for pipe in [*running, reports]:
                    pipe.close()  # when the first process has ended, a report fails, and with it this process
                _Worker(session, sent).run(_taken(files, places))
            sent.close()
            running[reports] = ""
        while running:
            ready = wait([*running])
            for reports in [pipe for pipe in running if pipe in ready]:
                try:
                    message = reports.recv()
                except EOFError:
                    session.shouldfail = f"the process of {running[reports]} died"
                    message = None
                if message is None:
                    del running[reports]
                elif isinstance(message, str):
                    running[reports] = message
                else:
                    config = session.config
                    report = config.hook.pytest_report_from_serializable(config=config, data=message)
                    config.hook.pytest_runtest_logreport(report=report)
                if session.shouldfail:
                    raise session.Failed(session.shouldfail)
        for _ in range(self._number):
            os.wait()
        return True


class _Worker:
    """A plugin of a forked process: it sends reports to the first process and writes nothing itself."""

    def __init__(self, session: pytest.Session, pipe: Connection) -> None:
        self._session, self._config, self._pipe = session, session.config, pipe

    def run(self, tests: Iterator[pytest.Item]) -> None:
        """Run tests, and end this process."""
        try:
            vars(self._config)["workerinput"] = {}  # by which pytest's plugins know that another process reports
            self._config.pluginmanager.unregister(name="terminalreporter")
            self._config.pluginmanager.register(self)
            capture = self._config.pluginmanager.getplugin("capturemanager")
            capture.stop_global_capturing()  # its files are the first process's, too
            capture.start_global_capturing()
            for item, following in pairwise(chain(tests, [None])):
                assert item
                self._config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            self._pipe.send(None)
        finally:
            self._config.hook.pytest_sessionfinish(session=self._session, exitstatus=0)
            os._exit(0)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._pipe.send(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._pipe.send(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))


def _taken(files: Sequence[Sequence[pytest.Item]], places: int) -> Iterator[pytest.Item]:
    """The tests of files that no other process has taken."""
    while place := os.read(places, 2):
        yield from files[int.from_bytes(place, "big")]


def refuse_frames() -> None:
    """Refuse to fork once polars has computed: its threads are not forked, and it would wait for them forever."""
    threads = {path.read_text(encoding="utf-8") for path in Path("/proc/self/task").glob("*/comm")}
    assert "polars-0\n" not in threads, "a module computes a frame when it is imported"

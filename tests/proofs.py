"""The table of proofs: which files of tests passed at full size, when, where, and on which state of the code.

Here: the rows of proofs.tsv, and which of them are stale. Not here: proofs themselves (they are tests), the hooks that
record and select them (conftest).
"""

import ast
import fcntl
import hashlib
import os
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from resources.home import PROJECT

TABLE = Path(__file__).with_name("proofs.tsv")

OWED = Path(__file__).with_name("owed.txt")
"""Files that an open issue has yet to run, one a line; without an open issue, there is no such list."""

EXPRESSION = "proof or hypothesis"
"""Marks of the tests that `make proofs` runs."""

PART = 3600.0
"""Seconds for which one call of `make proofs` plans work, by the seconds of earlier runs."""

UNKNOWN = 60.0
"""Seconds that a file is assumed to take which was never run."""

_PROVES = re.compile(r"mark\.proof\b|^from hypothesis import|^import hypothesis", re.M)
_CODE = {".py", ".sql", ".js", ".css", ".html", ".yaml"}


class Row(NamedTuple):
    """A file of tests. `outcome` counts its tests, as in `12 passed`; `state` is the digest of its room (`state`)."""

    file: str
    outcome: str
    seconds: int
    commit: str
    time: str
    machine: str
    state: str


def files(folder: Path = PROJECT) -> list[str]:
    """Paths, from the project, of all files of tests with proofs or properties."""
    tests = sorted((folder / "tests").rglob("test_*.py"))
    return [str(test.relative_to(folder)) for test in tests if _PROVES.search(test.read_text(encoding="utf-8"))]


ROOMS = {
    "automation/server": ("benchmark_assets/automation", "benchmark_assets/automation/server"),
    "robustness": ("benchmark_assets/automation", "benchmark_assets/cli", "resources"),
    "guides": ("benchmark_assets/cli",),
    "provider": ("resources/provider", "resources/postgres"),
    "trials": tuple(f"benchmark_assets/{room}" for room in ("metrics", "people", "studies", "corpus/readers", "cli")),
}
"""Rooms of folders of tests that mirror none, or further rooms than the one that they mirror."""

APART = {"benchmark_assets/automation/server"}
"""Rooms that do not count as part of the one above, which by contract (import-linter) imports them only for homes in
PostgreSQL."""


def room(file: str, folder: Path = PROJECT) -> list[Path]:
    """The folder that a file of tests is about: the one that mirrors it, else each one that it imports from."""
    parts = Path(file).parts[1:-1]
    for known in ("/".join(parts), *parts[:1]):
        if known in ROOMS:
            return [folder / place for place in ROOMS[known]]
    places = [folder / "benchmark_assets" / "/".join(parts), folder / "resources" / "/".join(parts)]
    places.append(folder / "resources" if parts == ("resources",) else folder / "-")
    mirrored = [place for place in places if parts and place.is_dir()]
    return mirrored or sorted({folder / Path(*name) for name in _imported(folder / file)})


def _imported(file: Path) -> Iterator[tuple[str, ...]]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            parts = tuple(node.module.split("."))
            if parts[0] in ("benchmark_assets", "resources"):
                yield parts[:2]


def state(file: str, folder: Path = PROJECT) -> str:
    """Digest of the code of a proof and of its room. Comments, docstrings and layout do not count."""
    digest = hashlib.sha256(_meaning(folder / file))
    apart = {folder / place for place in APART}
    for place in room(file, folder):
        paths = sorted(place.rglob("*")) if place.is_dir() else [place.with_suffix(".py")]
        for path in paths:
            if path.suffix in _CODE and path.is_file() and (place in apart or apart.isdisjoint(path.parents)):
                digest.update(str(path.relative_to(folder)).encode() + _meaning(path))
    return digest.hexdigest()[:12]


def _meaning(path: Path) -> bytes:
    content = path.read_bytes()
    return _parsed(content) if path.suffix == ".py" else content


@cache
def _parsed(content: bytes) -> bytes:
    tree = ast.parse(content)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [each for each in node.body if not is_text(each)]
    return ast.dump(tree).encode()


def is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, or the text after a constant that documents it."""
    expression = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(expression, ast.Constant) and isinstance(expression.value, str)


def rows(table: Path = TABLE) -> dict[str, Row]:
    """The table, by file."""
    lines = table.read_text(encoding="utf-8").splitlines()[1:] if table.exists() else []
    cells = [line.split("\t") for line in lines]
    return {file: Row(file, outcome, int(seconds), *rest) for file, outcome, seconds, *rest in cells}


def stale(folder: Path = PROJECT, table: Path = TABLE) -> dict[str, str]:
    """Why each file has to be run again; files whose proofs are current are left out."""
    known, reasons = rows(table), {}
    for file in files(folder):
        row = known.get(file)
        if row is None:
            reasons[file] = "is not in the table"
        elif not re.fullmatch(r"\d+ passed", row.outcome):
            reasons[file] = row.outcome
        elif row.state != state(file, folder):
            reasons[file] = f"its room has changed since {row.commit}"
    return reasons


def owed() -> set[str]:
    """The files in the list of those that have yet to be run."""
    return set(OWED.read_text(encoding="utf-8").split()) if OWED.exists() else set()


def planned(stale_files: Iterable[str], table: Path = TABLE) -> list[str]:
    """Those of the files for which PART suffices, at least one if there are any."""
    known, chosen, sum_of_seconds = rows(table), list[str](), 0.0
    for file in sorted(stale_files):
        sum_of_seconds += known[file].seconds if file in known else UNKNOWN
        if chosen and sum_of_seconds > PART:
            break
        chosen.append(file)
    return chosen


class Recorder:
    """A plugin of pytest that writes the row of each file as soon as all of its proofs were run."""

    def __init__(self) -> None:
        self._left = Counter[str]()
        self._seconds: dict[str, float] = defaultdict(float)
        self._outcomes: dict[str, str] = {}  # by test
        self._states: dict[str, str] = {}
        self._origin = _commit(), datetime.now(UTC).strftime("%Y-%m-%d %H:%M"), _machine()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the tests of each file."""
        self._left.update(_file(item.nodeid) for item in session.items)
        self._states = {file: state(file) for file in self._left}  # code may change while its proofs run

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the worst outcome of a test's stages."""
        file = _file(report.nodeid)
        self._seconds[file] += report.duration
        if report.outcome != "passed" or report.nodeid not in self._outcomes:
            self._outcomes[report.nodeid] = report.outcome
        if report.when == "teardown":
            self._left[file] -= 1
            if not self._left[file]:
                outcomes = Counter(outcome for test, outcome in self._outcomes.items() if _file(test) == file)
                record(Row(file, _words(outcomes), round(self._seconds[file]), *self._origin, self._states[file]))


def _file(test: str) -> str:
    return test.partition("::")[0]


def _words(outcomes: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))


def record(row: Row, table: Path = TABLE) -> None:
    """Write the row of a file that was run as a whole, and leave out rows of files that no longer exist."""
    with (TABLE.parent / ".proofs.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = {**rows(table), row.file: row}
        lines = [Row._fields, *(known[file] for file in files() if file in known)]
        table.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines), encoding="utf-8")


def _commit() -> str:
    command = ["git", "-C", str(PROJECT), "describe", "--always", "--abbrev=7", "--exclude=*"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _machine() -> str:
    models = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.M)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return f"{os.cpu_count()} × {' '.join((models or ['unknown processor'])[0].split())}, {memory:.0f} GB"

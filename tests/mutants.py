"""Mutants of the project: one expression of one module is changed, and tests that run the expression should notice.

Here: changes, a copy of the project that can switch each of them on, the tests that notice. Not here: which modules are
changed, and how many changes may survive (tests.test_mutants).

The copy's modules contain every drawn change beside the code as it is, so one process imports project and tests once.
It forks a process that runs all tests and notes which of them reach which change, then one for each change, with the
tests that reach it, the fastest first. A change of what an import computes needs a process from the start.
"""

import ast
import copy
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from resources.home import PROJECT
from tests.forks import refuse_frames

OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor", "first": "last"}
"""Functions and methods that are exchanged."""

UNCHANGED = ("annotation", "returns", "decorator_list", "bases")
"""Fields of nodes whose content does not change what is computed."""

LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", ".peers", ".*_cache", "site", "docs", "*.duckdb")
HOMES = {"home", "finished", "postgres_server", "own_server", "realdata", "running"}
"""Fixtures of tests that run only on changes which no smaller test reaches."""

MOST_SECONDS = 20.0
"""Seconds of computing, without a mutant, of the tests that run on one: the fastest."""

LIMIT = 30.0
"""Seconds that tests may take beside ten times their usual ones. Then they count as failed: a mutant may never end."""

SWITCH = "VARIORUM_MUTANT"
"""The environment variable with the number of a change that is switched on before the project is imported."""

REPORT = "mutants.json"

active = int(os.environ.get(SWITCH, "0"))
reached = set[int]()


def mutated(number: int) -> bool:
    """Whether a change is switched on, which a copy's modules ask wherever they contain one."""
    reached.add(number)
    return number == active


class Mutant(NamedTuple):
    """A change of one expression. `path` is relative to the project; `place` counts expressions of the module."""

    path: str
    line: int
    statement: str
    before: str
    after: str
    place: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before} -> {self.after}"


def mutants(path: str, source: str) -> list[Mutant]:
    """All mutants of a module, in the order of the file. Annotations and texts with their formats are not changed."""
    lines = source.splitlines()
    return [
        Mutant(path, node.lineno, lines[node.lineno - 1].strip(), ast.unparse(node), ast.unparse(changed), place)
        for place, node in enumerate(_expressions(ast.parse(source)))
        for changed in _changed(node)
    ]


def chosen(every: Iterable[Mutant], number: int, seed: int) -> list[Mutant]:
    """Random mutants, by the texts of their lines: an edit elsewhere does not alter the choice."""
    ranks = {}
    seen = Counter[tuple[str, ...]]()
    for mutant in every:
        text = (mutant.path, mutant.statement, mutant.before, mutant.after)
        seen[text] += 1
        ranks[mutant] = blake2b(repr((seed, seen[text], *text)).encode()).digest()
    return sorted(ranks, key=ranks.__getitem__)[:number]


def switched(source: str, changes: Sequence[tuple[int, Mutant]]) -> str:
    """A module that contains changes, each switched on by its number."""
    tree = ast.parse(source)
    nodes = list(_expressions(tree))
    places: dict[int, list[tuple[int, ast.expr]]] = {}
    for number, mutant in changes:
        after = ast.parse(mutant.after, mode="eval").body
        places.setdefault(id(nodes[mutant.place]), []).append((number, after))

    class Switches(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            found = places.get(id(node), [])
            new: Any = self.generic_visit(node)
            for number, after in found:
                test = ast.Call(ast.Name(mutated.__name__, ast.Load()), [ast.Constant(number)], [])
                new = ast.IfExp(test, after, new)
            return new

    Switches().visit(tree)
    first = next(n for n, node in enumerate(tree.body) if not isinstance(node, ast.Expr))
    tree.body.insert(first, ast.parse(f"from tests.mutants import {mutated.__name__}").body[0])
    return ast.unparse(ast.fix_missing_locations(tree))


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr | ast.Raise | ast.pattern):
                continue
            if name in UNCHANGED or (isinstance(child, ast.keyword) and child.arg == "strict"):
                continue
            if isinstance(child, ast.expr):
                yield child
            yield from _expressions(child)


def _changed(node: ast.expr) -> Iterator[ast.expr]:
    """An expression with one change, for each change that it allows."""
    new = copy.deepcopy(node)
    match new:
        case ast.BinOp() | ast.BoolOp() if type(new.op) in OPERATORS:
            new.op = OPERATORS[type(new.op)]()
            yield new
        case ast.Compare(ops=[operator]) if type(operator) in OPERATORS:
            new.ops = [OPERATORS[type(operator)]()]
            yield new
        case ast.UnaryOp(op=ast.Not() | ast.Invert() | ast.USub()):
            yield new.operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.Name(id=name, ctx=ast.Load()) if name in NAMES and name != "first":
            new.id = NAMES[name]
            yield new
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in NAMES:
            new.attr = NAMES[name]
            yield new


def survived(folder: Path, drawn: Sequence[Mutant]) -> list[Mutant]:
    """The mutants that no test notices, in a copy of the project in this folder. Prints how each one ended."""
    shutil.copytree(PROJECT, folder, ignore=LEFT_OUT)  # with times of files, so that compiled modules are valid
    changes = list(enumerate(drawn, 1))
    for path in {mutant.path for mutant in drawn}:
        own = [(number, mutant) for number, mutant in changes if mutant.path == path]
        (folder / path).write_text(switched((PROJECT / path).read_text(encoding="utf-8"), own), encoding="utf-8")
    report = folder / REPORT
    report.write_text(json.dumps([(mutant.path, str(mutant)) for mutant in drawn]), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "VARIORUM_DATA"}
    subprocess.run([sys.executable, "-B", "-m", "tests.mutants"], cwd=folder, env=environment, check=True)
    return [drawn[number - 1] for number in json.loads(report.read_text(encoding="utf-8"))]


def importers(path: str) -> list[str]:
    """The files of tests that import a module, in the room's folder or in none; all of the room if there is none."""
    room, module = path.removesuffix(".py").replace("/", ".").rsplit(".", 1)
    imports = re.compile(rf"from {re.escape(room)}\.{module} import|from {re.escape(room)} import .*\b{module}\b")
    name = Path(path).parent.name
    near = [*sorted((PROJECT / "tests" / name).glob("test_*.py")), *sorted((PROJECT / "tests").glob("test_*.py"))]
    found = [file for file in near if imports.search(file.read_text(encoding="utf-8"))]
    found = found or [file for file in near if file.parent.name == name]
    found += [file for file in near if file.name == f"test_{name}.py" and file not in found]
    return [str(file.relative_to(PROJECT)) for file in found]


class RunResults(NamedTuple):
    """What a process found: seconds of each test, the changes that each one reached, and the test that failed."""

    seconds: dict[str, float]
    reached: dict[str, list[int]]
    failed: str | None


class MutantServer:
    """A plugin of pytest that runs collected tests on one mutant after the other."""

    def __init__(self, drawn: Sequence[tuple[str, str]]) -> None:
        self.drawn = drawn
        self.failed: str | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        imported = set(reached)
        items = [item for item in session.items if not item.get_closest_marker("proof")]
        small = [item for item in items if not HOMES & set(getattr(item, "fixturenames", []))]
        if active:
            self.failed = "collection" if session.testsfailed else None
            self._run(small, stop=True)
            Path(REPORT).write_text(json.dumps(self.failed), encoding="utf-8")
            return True
        refuse_frames()
        survivors = []
        plain = self._measured(small)
        unreached = {n for n, _ in enumerate(self.drawn, 1) if n not in imported.union(*plain.reached.values())}
        files = {file for number in unreached for file in importers(self.drawn[number - 1][0])}
        homes = [item for item in items if item not in small and item.nodeid.partition("::")[0] in files]
        large = self._measured(homes)
        for number, (path, text) in enumerate(self.drawn, 1):
            start = time.monotonic()
            if number in imported:
                failed = _imported_changed(number, importers(path))
            else:
                failed = self._changed(number, *((large, homes) if number in unreached else (plain, small)))
            if not failed:
                survivors.append(number)
            print(f"{number} {text}: {failed or 'SURVIVES'} ({time.monotonic() - start:.1f} s)", flush=True)
        Path(REPORT).write_text(json.dumps(survivors), encoding="utf-8")
        return True

    def _changed(self, number: int, known: RunResults, items: Sequence[pytest.Item]) -> str | None:
        """The first of the tests that reach a change to fail with it."""
        seconds = known.seconds
        own = [item for item in items if number in known.reached[item.nodeid]]
        own.sort(key=lambda item: seconds[item.nodeid])
        spent = list(accumulate(seconds[item.nodeid] for item in own))
        own = [item for item, until in zip(own, spent, strict=True) if until <= MOST_SECONDS]
        limit = LIMIT + 10 * MOST_SECONDS
        results = forked(lambda: self._run(own, stop=True, number=number), limit)
        return results.failed if results else "no result"

    def _measured(self, items: Sequence[pytest.Item]) -> RunResults:
        results = forked(lambda: self._run(items, stop=False), 3600)
        assert results
        assert not results.failed, f"{results.failed} fails without a change"
        print(f"{len(items)} tests, {sum(results.seconds.values()):.0f} s", flush=True)
        return results

    def _run(self, items: Sequence[pytest.Item], stop: bool, number: int = 0) -> RunResults:
        global active
        active = number or active
        results = RunResults({}, {}, None)
        for item, following in zip(items, [*items[1:], None], strict=False):
            reached.clear()
            start = time.process_time()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            results.seconds[item.nodeid] = time.process_time() - start
            results.reached[item.nodeid] = sorted(reached)
            if self.failed and stop:
                break
        return results._replace(failed=self.failed)


def forked(work: Callable[[], RunResults], limit: float) -> RunResults | None:
    """The results of a process of its own; None if it dies, or is killed after `limit` seconds of computing."""
    Path(REPORT).unlink(missing_ok=True)
    child = os.fork()
    if not child:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
        signal.alarm(int(20 * limit))
        try:
            Path(REPORT).write_text(json.dumps(work()), encoding="utf-8")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return RunResults(*json.loads(Path(REPORT).read_text(encoding="utf-8"))) if Path(REPORT).exists() else None


def _imported_changed(number: int, tests: Sequence[str]) -> str | None:
    """The test that fails if a change is switched on before the project is imported."""
    Path(REPORT).unlink(missing_ok=True)
    environment = os.environ | {SWITCH: str(number)}
    subprocess.run([sys.executable, "-B", "-m", "tests.mutants", *tests], env=environment, check=False)
    failed: str | None = json.loads(Path(REPORT).read_text(encoding="utf-8")) if Path(REPORT).exists() else "import"
    return failed


def main(tests: Sequence[str]) -> None:
    """Run tests on the mutants that the copy's report lists, or files of tests on the one that is switched on."""
    drawn = [] if active else json.loads(Path(REPORT).read_text(encoding="utf-8"))
    files = tests or sorted({file for path, _ in drawn for file in importers(path)})
    options = ["-o", "addopts=", "-s", "-p", "no:terminal", "-p", "no:cacheprovider", f"--basetemp=tmp{active}"]
    pytest.main([*options, *files], [MutantServer(drawn)])


if __name__ == "__main__":
    from tests import mutants as module  # the one whose switch the copy's modules ask

    module.main(sys.argv[1:])

"""Mutants of the project: copies in which one expression of one module is changed.

Here: changes of a module, a copy with one of them, whether tests notice it. Not here: which modules are changed, and
how many changes may survive (tests.test_mutants).
"""

import ast
import copy
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from resources.home import PROJECT

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

LIMIT = 600.0
"""Seconds after which tests count as failed: a mutant may run in a circle."""

LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", ".peers", ".*_cache", "site", "docs", "*.duckdb")


class Mutant(NamedTuple):
    """A change of one expression. `path` is relative to the project; `text` is the module with the change."""

    path: str
    line: int
    before: str
    after: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.before} -> {self.after}"


def mutants(path: str) -> list[Mutant]:
    """All mutants of a module, in the order of the file. Annotations, texts and their formats are not changed."""
    source = (PROJECT / path).read_text(encoding="utf-8")
    found = []
    for node in _expressions(ast.parse(source)):
        before = ast.get_source_segment(source, node) or ""
        for changed in _changed(node):
            found.append(replaced(path, source, node, before, f"({ast.unparse(changed)})"))
    return found


def chosen(paths: Sequence[str], number: int, seed: int) -> list[Mutant]:
    """Random mutants of modules, or all of them if there are fewer."""
    every = [mutant for path in paths for mutant in mutants(path)]
    return random.Random(seed).sample(every, min(number, len(every)))


def replaced(path: str, source: str, node: ast.expr, before: str, after: str) -> Mutant:
    """The mutant that has `after` in place of a node."""
    lines = source.encode().splitlines(keepends=True)
    start, end = (
        sum(map(len, lines[: line - 1])) + column
        for line, column in ((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0))
    )
    whole = source.encode()
    text = (whole[:start] + after.encode() + whole[end:]).decode()
    return Mutant(path, node.lineno, " ".join(before.split()), after, text)


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr) or name in UNCHANGED:
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
        case ast.Name(id=name) if name in NAMES:
            new.id = NAMES[name]
            yield new
        case ast.Attribute(attr=name) if name in NAMES:
            new.attr = NAMES[name]
            yield new


class Copy:
    """A copy of the project in a folder, in which tests run on mutants, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(PROJECT, folder, ignore=LEFT_OUT)  # with times of files, so that compiled modules are valid

    def passes(self, tests: Sequence[str], *options: str, mutant: Mutant | None = None) -> bool:
        """Whether the tests (files or node ids) pass on a mutant, or on the project as it is."""
        environment = {name: value for name, value in os.environ.items() if name != "VARIORUM_DATA"}
        command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *options, *tests]
        if mutant:
            (self.folder / mutant.path).write_text(mutant.text, encoding="utf-8")
        try:
            run = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return False
        finally:
            if mutant:
                shutil.copy2(PROJECT / mutant.path, self.folder / mutant.path)
        return run.returncode == 0


def importers(path: str) -> list[str]:
    """The files of tests that import a module; if there is none, those of its room."""
    room, module = path.removesuffix(".py").replace("/", ".").rsplit(".", 1)
    imports = re.compile(rf"from {re.escape(room)}\.{module} import|from {re.escape(room)} import .*\b{module}\b")
    files = sorted((PROJECT / "tests").rglob("test_*.py"))
    found = [str(file.relative_to(PROJECT)) for file in files if imports.search(file.read_text(encoding="utf-8"))]
    return found or [str(Path("tests", Path(path).parent.name))]

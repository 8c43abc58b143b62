"""The size of the project, compared with budget.yaml: `make lint` refuses what is larger.

Here: counting, comparing. Not here: the numbers, and why one was raised (budget.yaml).
"""

import ast
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import yaml

from benchmark_assets.cli import main as variorum
from benchmark_assets.cli.later import loaded
from resources import catalogue
from resources.home import PROJECT
from tests.proofs import is_text

BUDGET = Path(__file__).with_name("budget.yaml")
CODE = ("benchmark_assets", "resources")


def lines(python: str) -> int:
    """Lines of code, without blank lines, comments, docstrings and texts that document a constant."""
    documented = set[int]()
    for node in ast.walk(ast.parse(python)):
        if isinstance(node, ast.stmt) and is_text(node):
            documented.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return _filled("\n".join(line for n, line in enumerate(python.splitlines(), 1) if n not in documented), "#")


def _content(folders: tuple[str, ...], ending: str) -> Iterator[str]:
    for folder in folders:
        for path in sorted((PROJECT / folder).rglob(f"*{ending}")):
            yield path.read_text(encoding="utf-8")


def _filled(text: str, comment: str) -> int:
    """Lines that are neither blank nor a comment."""
    return sum(bool(line.strip()) and not line.strip().startswith(comment) for line in text.splitlines())


def _commands(group: click.Group) -> int:
    commands = map(loaded, group.commands.values())
    return sum(_commands(each) if isinstance(each, click.Group) else 1 for each in commands)


def with_homes(sources: Mapping[str, str]) -> int:
    """Tests that ask for a home, themselves or through fixtures; `sources` has the code of test files by name."""
    asked: dict[str, set[str]] = {}
    found = list[set[str]]()
    for source in sources.values():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef):
                names = {each.arg for each in (*node.args.args, *node.args.kwonlyargs)}
                if node.name.startswith("test_"):
                    found.append(names)
                elif any("fixture" in ast.dump(each) for each in node.decorator_list):
                    calls = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
                    makes = calls & {"made_home", "made_once", "copy_finished"}
                    asked.setdefault(node.name, set()).update(names, {"home"} if makes else ())
    homes = {"home"}
    while more := {name for name, names in asked.items() if names & homes} - homes:
        homes |= more
    return sum(bool(names & homes) for names in found)


def measured() -> dict[str, int]:
    """What is counted, by the names in the budget."""
    tests = {str(path): path.read_text(encoding="utf-8") for path in sorted((PROJECT / "tests").rglob("*.py"))}
    return {
        "lines of Python": sum(map(lines, _content(CODE, ".py"))),
        "lines of tests": sum(map(lines, tests.values())),
        "lines of JavaScript": sum(_filled(text, "//") for text in _content((*CODE, "docs"), ".js")),
        "lines of SQL": sum(_filled(text, "--") for text in _content(CODE, ".sql")),
        "lines of YAML": sum(_filled(text, "#") for text in _content(("warehouse/schema", "prompts", *CODE), ".yaml")),
        "tables": len(catalogue.tables()),
        "assets": len(json.loads((PROJECT / "tests" / "definitions.json").read_text(encoding="utf-8"))["assets"]),
        "commands": _commands(variorum),
        "tests that use a home": with_homes(tests),
    }


def exceeded(limits: Mapping[str, int], numbers: Mapping[str, int]) -> Iterator[str]:
    """A line for each number that is above its limit; exits if limits and numbers have different names."""
    if limits.keys() != numbers.keys():
        sys.exit(f"{BUDGET.name}: has to state {', '.join(numbers)}, and states {', '.join(limits)}")
    yield from (f"{name}: {number} of {limits[name]}" for name, number in numbers.items() if number > limits[name])


def main() -> int:
    """Print all numbers, and those above their limits; return how many the latter are."""
    numbers = measured()
    print("; ".join(f"{name} {number}" for name, number in numbers.items()))
    over = list(exceeded(yaml.safe_load(BUDGET.read_text(encoding="utf-8")), numbers))
    if over:
        print(*over, sep="\n")
        print(f"delete what no user would miss, or raise the limit in {BUDGET.name} with a sentence that says why")
    return len(over)


if __name__ == "__main__":
    sys.exit(bool(main()))

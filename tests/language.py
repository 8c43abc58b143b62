"""A lint for the language of the project: refuses constructions that a reader has to read twice.

Here: patterns that a program can find, each with what to write instead. Run by `make lint`. Not here: whether a
sentence is good, which a person judges.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENDINGS = (".py", ".md", ".yaml", ".js", ".html")
FOLDERS = ("benchmark_assets", "resources", "warehouse/schema", "warehouse/benchmarks", "docs", "tests")
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")

DATA = (
    "benchmark_assets/sensitivity/languages.py", "tests/sensitivity/test_damage.py", "tests/metrics/scores.py",
    "tests/metrics/test_lexical.py", "tests/alignment/test_verification.py", "tests/language.py",
    "tests/test_language.py", "tests/understanding/conftest.py", "tests/understanding/test_task_questions.py",
)  # fmt: skip
"""Files whose findings are word lists and sample texts."""

PATTERNS = {
    r"of which": "name the noun: start a new sentence with it",
    r"of whom": "name the noun: start a new sentence with it",
    r"known no more|knows no more|not any more": "no longer registered, no longer known",
    r"somebody|nobody knows|whoever": "name who: a person, a run, a process, a caller",
    r"who comes|what comes (?:of|out)": "say what the result is",
    r"that are those": "name the noun",
    r"(?:is|are|was|were) said(?! to)": "state it, or say what states it",
    r"(?:is|are|was|were) had": "obtained, made, received",
    r"was told|were told|is told|are told": "reported, informed; say by what",
    r"what is due|(?:is|are) due": "stale",
    r"brought? up to date|bring(?:s|ing)? .{1,40} up to date": "materialize stale partitions",
    r"made anew|computed anew|asked anew|read anew|looked up anew": "again",
    r"in hand": "name the thing",
    r"what goes in|what came out|what it is made from": "inputs, result, content",
    r"one of which|some of which|each of which": "start a new sentence",
    r"the same of": "repeat the noun",
    r"of one moment": "consistent, read in one transaction",
}


def found(text: str) -> list[tuple[int, str, str]]:
    """Line number, words and advice for each construction that is refused."""
    lines = text.splitlines()
    return [
        (number, match[0], advice)
        for number, line in enumerate(lines, start=1)
        for pattern, advice in PATTERNS.items()
        for match in re.finditer(rf"\b(?:{pattern})\b", line, re.IGNORECASE)
    ]


def main() -> int:
    """Print each finding; return how many there are."""
    tracked = subprocess.run(
        ["git", "ls-files", *FOLDERS, *PAGES], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    count = 0
    for name in tracked:
        path = ROOT / name
        if name.endswith(ENDINGS) and path.is_file() and name not in DATA:
            for number, words, advice in found(path.read_text(encoding="utf-8")):
                print(f"{name}:{number}: {words!r}: {advice}")
                count += 1
    return count


if __name__ == "__main__":
    sys.exit(bool(main()))

"""What a command imports before it works, and its CPU time beside that of `import dagster`, in the same run."""

import math
import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.processes import VARIORUM, environment, measured
from tests.support import write_corpus

SERVERS = {"dagster_graphql", "dagster_webserver", "graphql", "starlette", "uvicorn"}
RUNTIME = {"onnx", "onnxruntime", "tokenizers"}
DRAWING = {"markdown_it", "vl_convert"}
TORCH = {"accelerate", "sentence_transformers", "sklearn", "torch", "transformers"}
DAGSTER = {"alembic", "dagster", "sqlalchemy"}
TABLES = {"duckdb", "numpy", "polars", "pydantic", "yaml"}
FORBIDDEN = {
    "computing": SERVERS | TORCH,
    "help": SERVERS | TORCH | RUNTIME | DRAWING | DAGSTER | TABLES | {"asyncio", "redis", "sacrebleu", "scipy"},
    "reading": SERVERS | TORCH | RUNTIME | DRAWING | DAGSTER | {"redis", "sacrebleu"},
    "planning": SERVERS | TORCH | RUNTIME | DRAWING,
}
"""Packages that a kind of command does not import."""


class Start(NamedTuple):
    """The kind of a command, and the largest ratio of its CPU time to that of `import dagster`."""

    kind: str
    most: float


COMMANDS = {
    "import corpus corpus.yaml": Start("computing", math.inf),  # makes the home, and embeds its translations
    **dict.fromkeys(("--help", "--version", "completion"), Start("help", 0.3)),
    **dict.fromkeys(("costs", "status", "trace tiny"), Start("reading", 1.5)),
    "stale": Start("planning", 4.5),  # Dagster, all definitions, and a look at every asset
}

COMPLETION = {"_VARIORUM_COMPLETE": "bash_complete", "COMP_WORDS": "variorum st", "COMP_CWORD": "1"}


def ended(home: Path, *program: str, **variables: str) -> tuple[str, float]:
    """What a program writes to its two outputs, and the CPU seconds that it takes."""
    known = environment(home, **variables)
    known.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's programs are compiled once
    return measured(program, home.parent, known)


def called(home: Path, command: str, **variables: str) -> tuple[str, float]:
    """What a command writes, and the CPU seconds that it takes."""
    if command == "completion":
        return ended(home, VARIORUM, **COMPLETION, **variables)
    return ended(home, VARIORUM, *command.split(), **variables)


def modules(home: Path, command: str) -> list[str]:
    """The modules that a command imports."""
    written, _ = called(home, command, PYTHONPROFILEIMPORTTIME="1")
    return re.findall(r"^import time: +\d+ \| +\d+ \| +(\S+)$", written, re.MULTILINE)


@pytest.mark.bench
def test_commands_start_at_once_and_import_only_what_they_use(tmp_path: Path, full: bool) -> None:
    home = write_corpus(tmp_path).parent / "home"
    rounds, slow, superfluous = 7 if full else 1, [], []
    dagster = min(ended(home, sys.executable, "-c", "import dagster")[1] for _ in range(rounds))
    print(f"import dagster: {dagster:.2f} CPU s")
    for command, (kind, most) in COMMANDS.items():
        imported = modules(home, command)
        ratio = min(called(home, command)[1] for _ in range(rounds)) / dagster
        print(f"{command}: {ratio:.2f} times `import dagster` (at most {most}), {len(imported)} modules")
        slow += [command] if ratio > most else []
        packages = {module.partition(".")[0] for module in imported}
        assert kind != "computing" or packages >= RUNTIME  # it embeds
        superfluous += [(command, name) for name in packages & FORBIDDEN[kind]]
    assert superfluous == []
    assert not (full and slow)

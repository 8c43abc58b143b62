"""What a command imports before it works, and its CPU time beside that of `import dagster`, in the same run."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.processes import VARIORUM, environment, here
from tests.support import write_corpus

SERVERS = {"celery", "dagster_graphql", "dagster_webserver", "graphql", "starlette", "uvicorn"}
MODELS = {"onnx", "onnxruntime", "sentence_transformers", "sklearn", "tokenizers", "torch", "transformers"}
DRAWING = {"altair", "markdown_it", "vl_convert"}
DAGSTER = {"alembic", "dagster", "sqlalchemy"}
TABLES = {"duckdb", "numpy", "polars", "pydantic", "yaml"}
FORBIDDEN = {
    "help": SERVERS | MODELS | DRAWING | DAGSTER | TABLES | {"asyncio", "redis", "sacrebleu", "scipy"},
    "reading": SERVERS | MODELS | DRAWING | DAGSTER | {"redis", "sacrebleu"},
    "planning": SERVERS | MODELS | DRAWING,
}
"""Packages that a kind of command does not import."""


class Start(NamedTuple):
    """The kind of a command, and the largest ratio of its CPU time to that of `import dagster`."""

    kind: str
    most: float


COMMANDS = {
    **dict.fromkeys(("--help", "--version", "completion"), Start("help", 0.3)),
    **dict.fromkeys(("costs", "status", "trace tiny"), Start("reading", 1.5)),
    "stale": Start("planning", 4.5),  # Dagster, all definitions, and a look at every asset
}

COMPLETION = {"_VARIORUM_COMPLETE": "bash_complete", "COMP_WORDS": "variorum st", "COMP_CWORD": "1"}


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a corpus."""
    folder = tmp_path_factory.mktemp("start")
    here(folder / "home", "import", "corpus", str(write_corpus(folder / "corpus")))
    return folder / "home"


def ended(home: Path, *program: str, **variables: str) -> tuple[str, float]:
    """What a program writes to its two outputs, and the CPU seconds that it takes."""
    pipe, known = subprocess.PIPE, environment(home, **variables)
    known.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's programs are compiled once
    with subprocess.Popen(program, env=known, stdout=pipe, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        written = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, written[-2000:]
    return written, used.ru_utime + used.ru_stime


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
def test_commands_start_at_once_and_import_only_what_they_use(begun: Path, full: bool) -> None:
    rounds, slow, superfluous = 7 if full else 1, [], []
    dagster = min(ended(begun, sys.executable, "-c", "import dagster")[1] for _ in range(rounds))
    print(f"import dagster: {dagster:.2f} CPU s")
    for command, (kind, most) in COMMANDS.items():
        imported = modules(begun, command)
        ratio = min(called(begun, command)[1] for _ in range(rounds)) / dagster
        print(f"{command}: {ratio:.2f} times `import dagster` (at most {most}), {len(imported)} modules")
        slow += [command] if ratio > most else []
        superfluous += [(command, name) for name in {each.partition(".")[0] for each in imported} & FORBIDDEN[kind]]
    assert superfluous == []
    assert not (full and slow)

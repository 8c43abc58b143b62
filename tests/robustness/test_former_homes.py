"""Homes that former commits made open today with every value, and are asked nothing again; older code refuses a later
home."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from resources.home import PROJECT
from tests.processes import environment
from tests.robustness.commands import commands
from tests.robustness.world import MODEL, World, world
from tests.support import write_outputs

COMMITS = ("a1b805e", "d611bb3", "0894afc", "25621e9", "0e8316b", "d50ceef", "bdb2c4b", "2d69a8b")

VALUES = {
    "imported_output": ["model", "passage", "text"],
    "model_output": ["model", "passage", "text"],
    "reference": ["passage", "translator", "text"],
    "drift_score": ["model", "passage", "drift"],
    "lexical_score": ["model", "passage", "chrf", "bleu"],
}
"""Tables and columns that an upgrade keeps."""


def checkout(commit: str, folder: Path) -> Path:
    """The files of a commit. Most need a package for workbooks, which none of these homes has, to be there."""
    archive = subprocess.run(["git", "archive", commit], cwd=PROJECT, capture_output=True)
    if archive.returncode:
        pytest.skip(f"git does not have {commit} here: {archive.stderr.decode().strip()}")
    folder.mkdir()
    subprocess.run(["tar", "x", "-C", folder], input=archive.stdout, check=True)
    (folder / "fastexcel.py").touch()
    return folder


def former(code: Path, made: World, *commands: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run commands of former code, in today's environment."""
    known = environment(made.home, **made.variables, PYTHONPATH=str(code))
    program = "import sys, json; from benchmark_assets.cli import main; "
    program += "[main(command, standalone_mode=False) for command in json.loads(sys.argv[1])]"
    command = [sys.executable, "-c", program, json.dumps(commands)]
    return subprocess.run(command, cwd=code, env=known, capture_output=True, text=True, timeout=600)


def values(home: Path) -> dict[str, pl.DataFrame]:
    """The values of a home, read from its file without migrating it."""
    with duckdb.connect(str(home / "variorum.duckdb"), read_only=True) as connection:
        return {
            table: connection.sql(f"SELECT {', '.join(columns)} FROM {table}").pl() for table, columns in VALUES.items()
        }


@pytest.mark.large
@pytest.mark.proof
@pytest.mark.parametrize("commit", COMMITS)
def test_a_home_of_a_former_commit_keeps_its_values_and_is_asked_nothing_again(commit: str, tmp_path: Path) -> None:
    code = checkout(commit, tmp_path / "code")
    with world(tmp_path) as made:
        description = json.loads(made.corpus.read_text(encoding="utf-8"))
        del description["examination"]  # the first of these commits know no such section
        made.corpus.write_text(json.dumps(description), encoding="utf-8")
        outputs = write_outputs(tmp_path / "beta.jsonl", {"doc1:1": "A mouse.", "doc1:2": "Sun.", "doc2:1": "No news."})
        done = former(
            code, made, ["import", "corpus", str(made.corpus)],
            ["import", "outputs", str(outputs), "--corpus", "tiny", "--model", "beta"], ["evaluate", MODEL, "beta"],
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        paid, calls = len(made.server.log()), made.attempts()
        assert paid == len(calls) == 3
        before = values(made.home)

        with commands(tmp_path / "words", made.variables) as runner:
            for command in (["status"], ["update", "--accept"], ["update", "--accept"], ["verify"]):
                now = runner.run(made.home, *command)
                assert now.code == 0, now.err
                print(f"{commit} {command}: {now.err.strip()}")
        for table, rows in values(made.home).items():
            assert len(rows), table
            assert_frame_equal(rows, before[table], check_row_order=False, rel_tol=1e-6)
        assert_frame_equal(made.attempts(), calls)
        assert len(made.server.log()) == paid

        refused = former(code, made, ["status"])
        print(f"{commit} on today's home: {refused.returncode} {refused.stderr.strip()[-600:]}")
        for table, rows in values(made.home).items():
            assert_frame_equal(rows, before[table], check_row_order=False, rel_tol=1e-6)

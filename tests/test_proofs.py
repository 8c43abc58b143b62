"""The table of proofs is complete and current, and says so if it is not."""

from pathlib import Path

import pytest

from tests import proofs

FILE = "tests/metrics/test_some.py"
MARK = ".".join(["pytest", "mark", "proof"])  # this file has no proof


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one room and one proof."""
    for path, text in {
        "benchmark_assets/metrics/scores.py": '"""Scores."""\n\nONE = 1  # a comment\n',
        FILE: f"import pytest\n\npytestmark = {MARK}\n",
        "tests/metrics/test_other.py": "def test_nothing():\n    pass\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


def written(project: Path, outcome: str) -> Path:
    row = proofs.Row(FILE, outcome, 2, "abcdef0", "2026-11-26 12:00", "a machine", proofs.state(FILE, project))
    table = project / "proofs.tsv"
    table.write_text("\n".join("\t".join(map(str, line)) for line in (proofs.Row._fields, row)) + "\n")
    return table


def test_a_proof_is_missing_until_it_has_a_row(project: Path) -> None:
    assert proofs.stale(project, project / "proofs.tsv") == {FILE: "is not in the table"}
    assert proofs.stale(project, written(project, "3 passed")) == {}


@pytest.mark.parametrize("outcome", ["1 failed, 2 passed", "2 passed, 1 skipped", "1 skipped"])
def test_a_proof_that_failed_or_was_skipped_is_stale(project: Path, outcome: str) -> None:
    assert proofs.stale(project, written(project, outcome)) == {FILE: outcome}


@pytest.mark.parametrize(
    ("path", "text", "is_stale"),
    [
        ("benchmark_assets/metrics/scores.py", '"""Other words."""\n\nONE = 1\n', False),
        ("benchmark_assets/metrics/scores.py", '"""Scores."""\n\nONE = 2\n', True),
        ("benchmark_assets/metrics/new.sql", "SELECT 1", True),
        ("benchmark_assets/pairwise/scores.py", "TWO = 2\n", False),
        (FILE, f"import pytest\n\npytestmark = [{MARK}]\n", True),
    ],
)
def test_a_proof_is_stale_if_the_code_of_its_room_has_changed(
    project: Path, path: str, text: str, is_stale: bool
) -> None:
    table = written(project, "3 passed")
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_text(text, encoding="utf-8")
    assert (FILE in proofs.stale(project, table)) == is_stale


def test_one_call_plans_an_hour(project: Path) -> None:
    table = written(project, "1 failed")
    line = table.read_text().splitlines()[1].split("\t")
    names = [f"tests/metrics/test_{number}.py" for number in range(5)]
    lines = ["\t".join([name, *line[1:2], "1500", *line[3:]]) for name in names]
    table.write_text("\n".join(["\t".join(proofs.Row._fields), *lines]) + "\n")
    assert proofs.planned(names, table) == names[:2]
    assert proofs.planned(["tests/metrics/test_unknown.py"], table) == ["tests/metrics/test_unknown.py"]


def test_a_row_replaces_the_former_one_of_its_file(tmp_path: Path) -> None:
    table, (first, second, *_) = tmp_path / "proofs.tsv", proofs.files()
    for file, outcome in (
        (second, "1 failed"),
        (first, "2 passed"),
        (second, "3 passed"),
        ("tests/gone.py", "1 passed"),
    ):
        proofs.record(proofs.Row(file, outcome, 2, "abcdef0", "2026-11-26 12:00", "a machine", "0"), table)
    assert [(row.file, row.outcome) for row in proofs.rows(table).values()] == [
        (first, "2 passed"),
        (second, "3 passed"),
    ]


def test_every_proof_has_passed_on_the_present_state_of_its_room() -> None:
    """Except those that owed.txt names: it has no other files, so that it ends with the issue that needed it."""
    assert proofs.stale().keys() == proofs.owed(), "run `make proofs` until it finds nothing to run"

"""What a stranger adds is one file and one line of a list: each kind is added to a copy of the project, and used."""

import csv
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from resources.home import PROJECT
from tests.pairwise.arena import write_judges
from tests.processes import environment
from tests.provider.server import Server, dumps
from tests.support import made_home

HERE = Path(__file__).parent


class Line(NamedTuple):
    """A line, or a part of one, that is written before a text of a file."""

    place: str
    before: str
    added: str


class Addition(NamedTuple):
    """Files, each with its folder in the project, and lines of lists; imports of the files are no lines of lists."""

    files: dict[str, str]
    lines: tuple[Line, ...]
    imports: tuple[Line, ...] = ()


ENTRIES, FORMS = "benchmark_assets/metrics/entries.py", "benchmark_assets/people/forms.py"
PAIRWISE, READERS = "benchmark_assets/pairwise/assets.py", "benchmark_assets/corpus/readers/__init__.py"
MIGRATION, VERSIONS_END = "resources/migration.py", ')  # fmt: skip\n"""Every version'
COMMANDS, DIAGNOSTICS = "benchmark_assets/cli/__init__.py", "benchmark_assets/metrics/diagnostics.py"
STUDY = 'registers = study_asset(Registers, GRID, "pairwise", [model_output])\n'
DECLARED = "    - words: {unit: count, nullable: true, visibility: public, meaning: Words of the output.}\n"
COUNTED = 'rows.select(words=pl.col("text").str.count_matches(" ").cast(pl.Int32) + 1), '

ADDITIONS = {
    "metric": Addition(
        {"letters.py": "benchmark_assets/metrics"}, (Line(ENTRIES, "    ter.METRIC,", "    letters.METRIC,\n"),),
        (Line(ENTRIES, "ter\nfrom", "letters, "),),
    ),
    "form": Addition(
        {"direct.py": "benchmark_assets/people"}, (Line(FORMS, "LABEL_FORM, ESA_FORM", "direct.DIRECT_FORM, "),),
        (Line(FORMS, "from benchmark_assets.people.controls", "from benchmark_assets.people import direct\n"),),
    ),
    "study": Addition(
        {"register.py": "benchmark_assets/pairwise", "register.yaml": "warehouse/schema"},
        (Line(PAIRWISE, "rubric_vote = ", STUDY),),
        (Line(PAIRWISE, "from benchmark_assets.partitions",
              "from benchmark_assets.pairwise.register import Registers\n"),),
    ),
    "reader": Addition(
        {"interlinear.py": "benchmark_assets/corpus/readers"},
        (Line(READERS, '    "jp-tl-bench":', '    "interlinear": interlinear.documents,\n'),),
        (Line(READERS, "    jsonl,", "    interlinear,\n"),),
    ),
    "command": Addition(
        {"greet.py": "benchmark_assets/cli"},
        (Line(COMMANDS, '"demo": "working.demo",', '"greet": "greet.greet", '),),
    ),
    "column": Addition(
        {}, (Line("warehouse/schema/diagnostics.yaml", "    - refused:", DECLARED),
             Line(DIAGNOSTICS, "pl.DataFrame(findings", COUNTED)),
    ),
}  # fmt: skip
"""What a stranger writes. The column and the table of the study also take a version of the migration: one line."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with all additions."""
    copy = tmp_path_factory.mktemp("project")
    for folder in ("benchmark_assets", "resources", "prompts", "warehouse/schema"):
        shutil.copytree(PROJECT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("dagster.yaml", "CITATION.cff", "LICENSE"):
        shutil.copy(PROJECT / file, copy)
    for addition in ADDITIONS.values():
        for name, folder in addition.files.items():
            shutil.copy(HERE / name, copy / folder)
        for place, before, added in (*addition.lines, *addition.imports):
            text = (copy / place).read_text(encoding="utf-8")
            assert text.count(before) == 1, (place, before)
            (copy / place).write_text(text.replace(before, added + before), encoding="utf-8")
    digest = in_project(copy, copy, "-c", "from resources.migration import digest; print(digest())").strip()
    migration = (copy / MIGRATION).read_text(encoding="utf-8")
    version = f'    Version("{digest}", {{}}, {{}}),\n'
    (copy / MIGRATION).write_text(migration.replace(VERSIONS_END, version + VERSIONS_END), encoding="utf-8")
    return copy


def in_project(project: Path, home: Path, *command: str) -> str:
    """What a command prints that runs in a copy of the project."""
    path = f"{project}{os.pathsep}{PROJECT}"
    known = environment(home / "home", PYTHONPATH=path, VARIORUM_MODELS=str(home / "models.yaml"))
    ran = subprocess.run([sys.executable, *command], cwd=home, env=known, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-4000:]
    return ran.stdout


def test_the_guide_says_how_much_each_addition_takes() -> None:
    guide = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for kind, addition in ADDITIONS.items():
        lines = sum(len((HERE / name).read_text(encoding="utf-8").splitlines()) for name in addition.files)
        assert f"| {kind} | {len(addition.files)} | {lines} | {len(addition.lines)} |" in guide, kind
        assert lines <= 70


@pytest.mark.proof
def test_all_additions_are_used_and_a_metric_goes_again(
    project: Path, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """In the small form, the metric stays."""
    made_home(monkeypatch, tmp_path)  # of the project as it is: additions migrate it
    server.configure(answer="judge", judgements={"comparer": [dumps({"register": "plain"})]})
    write_judges(tmp_path / "models.yaml", server.url, {"alpha": "acme", "beta": "other"})
    in_project(project, tmp_path, str(HERE / "flow.py"), str(tmp_path), "with")
    pages = tmp_path / "with"
    read = {path.stem: pl.read_csv(path) for path in pages.glob("*.csv")}

    # The metric is on every board, with its direction; one passage has no value.
    shown = [path for path in pages.rglob("*") if path.suffix in (".txt", ".html", ".tex", ".js")]
    names = {path.name for path in shown if "lacking letters" in path.read_text(encoding="utf-8")}
    assert names >= {"leaderboard.txt", "report.html", "palibench-6.tex", "palibench-8.tex"}
    assert any(name.endswith(".js") for name in names)  # the reader
    assert set(read["segment_metric"].filter(pl.col("score").is_null())["passage"]) == {"tiny/doc2:1"}
    assert set(read["metric_summary"]["metric"]) == {"letters"}
    assert read["metric_rank"].filter(measure="letters", kind="model").sort("value")["rank"].is_sorted()

    # Judges were asked, and their answers are stored.
    assert set(read["register"]["register"]) == {"plain"}
    assert len(read["register"]) == len(read["study_call"].filter(study="register")) == 6

    # The reader's corpus has its passages; the command counts them; the column is in table, package and dictionary.
    helped = (pages / "help.txt").read_text(encoding="utf-8")
    assert "greet " in helped
    assert helped.endswith("3 passages\n")
    package = pages / "package"
    assert (pl.read_csv(package / "diagnostics.csv")["words"] > 3).all()
    assert "words" in (package / "dictionary.csv").read_text(encoding="utf-8")

    # The form has a sheet, and answers are read or quarantined.
    sheet = pages / "sheets" / "items.mori.csv"
    rows = list(csv.DictReader(io.StringIO(sheet.read_text(encoding="utf-8-sig"))))
    for row, adequacy in zip(rows, ("90", "much"), strict=False):
        row["adequacy"] = adequacy
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    said = in_project(
        project, tmp_path, "-c", "from benchmark_assets.cli import main; main()", "import", "labels", str(sheet)
    )
    assert "1 taken" in said
    assert "1 quarantined" in said
    if not full:
        return

    metrics = project / "benchmark_assets" / "metrics"
    (metrics / "letters.py").unlink()
    text = (metrics / "entries.py").read_text(encoding="utf-8")
    (metrics / "entries.py").write_text(text.replace("letters, ", "").replace("    letters.METRIC,\n", ""))
    in_project(project, tmp_path, str(HERE / "flow.py"), str(tmp_path), "without")
    gone = [
        path for path in (tmp_path / "without").rglob("*.*") if path.suffix in (".txt", ".html", ".tex", ".js", ".csv")
    ]
    assert not [path for path in gone if "lacking letters" in path.read_text(encoding="utf-8")]

"""What commands say after a slip or an interruption, and about their tables: in words, with the next step."""

import os
import pty
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.benchmarks.parts import evaluable, everything
from benchmark_assets.cli.working import translated_by
from benchmark_assets.corpus.registry import register
from benchmark_assets.reporting.overview import next_steps
from benchmark_assets.translation.imports import import_outputs
from benchmark_assets.translation.systems import Systems
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.provider.provider import Provider
from resources.provider.registry import default_path
from resources.tables import legend
from tests.processes import VARIORUM, environment, here
from tests.support import made_once, write_corpus, write_outputs


def _with_corpora(folder: Path) -> None:
    warehouse = stored(folder / "home")
    for name in ("tiny", "other"):
        register(warehouse, write_corpus(folder / name, name=name))
    here(folder / "home", "scan")


def stored(home: Path) -> DuckDBWarehouse:
    home.mkdir(parents=True, exist_ok=True)
    return DuckDBWarehouse(path=str(home / "variorum.duckdb"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the scanned corpora `tiny` and `other`."""
    made = made_once("messages", _with_corpora)
    shutil.copytree(made / "home", tmp_path / "home", symlinks=True)
    return tmp_path / "home"


def test_a_corpus_where_a_page_is_expected_is_told_from_a_page(home: Path, tmp_path: Path) -> None:
    said = here(home, "report", "tiny", code=1).stderr
    assert "tiny: is a corpus, and the file comes first; write `variorum report tiny.html tiny`" in said
    assert "does not end in .html" in here(home, "report", str(tmp_path / "page.pdf"), "tiny", code=1).stderr
    assert "does not end in .html or .htm or .md" in here(home, "report", "page", "--benchmarks", code=1).stderr
    assert not Path("tiny").exists()
    assert not (tmp_path / "page.pdf").exists()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            ["evaluate", "literal", "--on", "tinny"],
            "tinny: no benchmark, corpus or task of this warehouse (did you mean",
        ),
        (["evaluate", "literal", "--on", "livvy"], "(did you mean livy?)"),
        (["add", "livvy"], "(did you mean livy?)"),
        (["report", "page.html", "tinny"], "tinny: is not a corpus of this warehouse (did you mean tiny?)"),
        (
            ["trace", "tinny"],
            "tinny: no such corpus in this warehouse, nor a passage with this ID (did you mean tiny?)",
        ),
        (
            ["trace", "literal", "tinny"],
            "tinny: no such corpus in this warehouse, nor a passage with this ID (did you mean tiny?)",
        ),
        (["stale", "tinny"], "(did you mean tiny?)"),
        (["update", "tinny"], "Error: tinny: no such corpus in this warehouse (did you mean tiny?)"),
        (["scan", "tinny"], "Error: tinny: no such corpus in this warehouse (did you mean tiny?)"),
        (["reader", "pages", "tinny"], "(did you mean tiny?)"),
        (["import", "outputs", __file__.replace(".py", ".jsonl"), "--corpus", "tinny"], "no such file"),
        (["check", "model", "literall"], "(did you mean literal?)"),
    ],
)
def test_a_mistyped_name_is_answered_with_the_one_that_is_meant(home: Path, command: list[str], words: str) -> None:
    assert words in here(home, *command, code=1).stderr


def test_an_evaluation_can_be_limited_to_a_corpus_by_its_name(home: Path) -> None:
    assert evaluable(stored(home), "tiny") == (["tiny"], [], {})


def test_texts_in_place_of_a_description_are_sent_to_the_command_that_opens_them(home: Path, tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("No,Latin\n1,Mus currit.\n", encoding="utf-8")
    for command in ("import", "check"):
        said = here(home, command, "corpus", str(table), code=1).stderr
        assert f"mine.csv: holds texts, and does not describe them; open it with `variorum open {table}`" in said
        assert "YAML" not in said


def test_stale_takes_corpora_as_scan_does(home: Path) -> None:
    listed = here(home, "stale", "--all", "tiny").stdout
    assert "tiny/doc1:1" in listed
    assert "other/" not in listed  # but without corpora, see below


def test_an_evaluation_counts_the_corpora_that_the_model_translates(home: Path, tmp_path: Path) -> None:
    warehouse = stored(home)
    systems = Systems(warehouse=warehouse, provider=Provider(registry_path=str(default_path()), ledger_path=""))
    import_outputs(warehouse, write_outputs(tmp_path / "mine.jsonl", {"doc1:1": "A mouse."}), "tiny", "mine")
    scope = everything(warehouse)
    assert scope.corpora == ["other", "tiny"]
    assert translated_by(systems, "mine", scope).corpora == ["tiny"]
    assert translated_by(systems, "literal", scope).corpora == []  # it translates the sample


def test_files_of_outputs_name_all_their_faults_at_once(home: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("passage_id,translation\ndoc1:1,A.\ndoc1:1,B.\ndoc9:1,C.\ndoc1:2,\n,D.\n", encoding="utf-8")
    second.write_text("passage_id,translation\ndoc2:1,Nothing new.\n", encoding="utf-8")
    done = here(home, "import", "outputs", str(first), str(second), "--corpus", "tiny", code=1)
    faults = ["line 3 doc1:1: the passage occurs twice", "line 6: has no id", "doc9:1: not a passage of tiny"]
    assert all(fault in done.stderr for fault in [*faults, "doc1:2: the output is empty"]), done.stderr
    assert "second: 1 outputs" in done.stdout
    assert "first" not in done.stdout
    rows = "".join(f"doc{number}:7,Text.\n" for number in range(3, 103))
    first.write_text(f"passage_id,translation\n{rows}", encoding="utf-8")
    said = here(home, "import", "outputs", str(first), "--corpus", "tiny", code=1).stderr
    assert "has 80 more faults; correct these first" in said
    assert len(said.splitlines()) == 21


def test_ctrl_c_where_a_command_asks_says_what_is_kept(home: Path, tmp_path: Path) -> None:
    """At the question of `restore`, on a terminal."""
    here(home, "backup", str(tmp_path / "backups"))
    import_outputs(stored(home), write_outputs(tmp_path / "mine.jsonl", {"doc1:1": "A mouse."}), "tiny", "mine")
    command = [VARIORUM, "restore", str(tmp_path / "backups"), "--as-of-backup"]
    terminal, end = pty.openpty()
    process = subprocess.Popen(command, env=environment(home), stdin=end, stdout=subprocess.PIPE, stderr=end)
    assert process.stdout is not None
    assert b"the backup lacks" in process.stdout.readline()
    os.write(terminal, b"n\n")
    process.wait(120)
    said = os.read(terminal, 10_000).decode()
    assert "was not restored: nothing is changed" in said
    process = subprocess.Popen(command, env=environment(home), stdin=end, stdout=subprocess.PIPE, stderr=end)
    assert process.stdout is not None
    process.stdout.readline()
    for _ in range(12):  # Python does not see a signal just before it reads from the terminal
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
            break
    assert process.wait(1) == 130
    said = os.read(terminal, 10_000).decode()
    assert "interrupted; everything stored until now is kept. Run the same command again" in said
    assert "Aborted" not in said


def test_printed_tables_explain_their_columns_once(home: Path) -> None:
    """Those of `status` and `stale`, and what the catalogue says of the leaderboard's."""
    for command in (["status", "--assets"], ["stale"]):
        lines = here(home, *command).stdout.splitlines()
        heads = [line for above, line in zip(["", *lines], lines, strict=False) if not above and "  " in line.strip()]
        words = {word for line in heads if not line.startswith(" ") for word in line.split()} - {"corpus", "model"}
        assert {"languages", "waiting"} <= words or "reason" in words
        assert command != ["stale"] or any("other/" in line for line in lines)
        for word in words:
            assert sum(line.startswith(f"  {word}: ") for line in lines) == 1, (word, lines)
    meanings = legend(["units", "adjusted drift"], "leaderboard")
    assert meanings["units"] == "Groups of passages that are treated as independent of each other, such as documents."
    assert meanings["adjusted drift"].endswith("Near 1 for a translation that resembles the references.")


def test_each_kind_of_advice_is_given_once() -> None:
    corpora = pl.DataFrame({"corpus": ["a", "b"], "passages": 9, "selected": 9, "models": 0, "waiting": 0})
    models = pl.DataFrame({"model": ["m", "n", "o"], "from": "registry", "outputs": 0})
    steps = list(next_steps(corpora, models))
    assert [step.split()[1] for step in steps] == ["import", "evaluate", "stale"]
    assert "no outputs yet (also of n, o)" in steps[1]

"""The command line on a home of its own: in this process, but for what makes, finds and fails in others."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmark_assets.cli import SECTIONS, SUMMARY, main
from benchmark_assets.cli.later import loaded
from benchmark_assets.cli.words import FORMER
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.home import PROJECT
from tests.processes import environment, here, variorum
from tests.support import PASSAGES, TRANSLATIONS, write_corpus, write_outputs, write_registry

INTERRUPTED = """
import os, signal, sys
from benchmark_assets.entry import console

class AtDagster:
    @staticmethod
    def find_spec(name, *_):
        if name == "dagster":
            os.kill(os.getpid(), signal.{signal})

sys.meta_path.insert(0, AtDagster)
sys.argv = ["variorum", "update"]
console()
"""
"""A command that is interrupted while it imports Dagster."""


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_interrupted_before_it_begins_says_so(tmp_path: Path, ending: signal.Signals) -> None:
    code = INTERRUPTED.format(signal=ending.name)
    done = subprocess.run([sys.executable, "-c", code], env=environment(tmp_path), capture_output=True, text=True)
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr.startswith("Error: interrupted while the program was loading; everything stored")


@pytest.mark.proof
def test_the_demo_ends_in_the_distance_and_the_errors_of_each_system(tmp_path: Path, full: bool) -> None:
    """A second demonstration and what is read from the home by another process belong to the full size."""
    done = here(tmp_path, "demo")
    lines = done.stdout.splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("system "))
    rows = {line.split()[0]: line for line in lines[head + 1 : head + 6]}
    # Distance is no error: the free and right system comes before the fluent one with planted errors, though farther.
    assert set(rows) == {"literal", "erring", "verbose", "truncating", "free"}
    assert list(rows).index("free") < list(rows).index("erring")
    major = {name: float(line.split()[1]) for name, line in rows.items()}
    drift = {name: float(line.split("]")[1].split()[0]) for name, line in rows.items()}
    assert major["erring"] > 20
    assert major["free"] == 0
    assert drift["free"] > 1.3 > drift["erring"]
    assert any("of the outputs of `erring`, with an adjusted drift" in line for line in lines)
    *_, compared = (line for line in lines if line.startswith("By "))  # never people at two references, models at three
    assert compared.startswith("By adjusted drift, against the same references, erring and verbose are closer to the")
    assert not any("translators from each other" in line for line in lines)
    assert len(lines) < 30
    assert done.stderr == ""

    if full:
        assert here(tmp_path, "demo").stdout == done.stdout  # a second one finds everything done
    words = ["status", "--assets"]  # at full size, another process finds what the first one left
    counts = variorum(tmp_path, *words).stdout if full else here(tmp_path, *words).stdout
    assert [line.split()[-4:] for line in counts.splitlines() if line.startswith("drift_score")] == [
        ["375", "240", "0", "135"]  # the dialogues are no corpus of these systems
    ]
    assert "48        48  harrow, lindqvist, okafor       5" in counts
    assert "variorum import outputs FILE --corpus dialogues" in counts
    # Its translations came out of recorded replies, by the way that calls take.
    assert "recording recording.jsonl" in here(tmp_path, "status", "--models").stdout
    costs = here(tmp_path, "costs").stdout.splitlines()
    assert [line.split()[1:5] for line in costs if "translate" in line] == [
        [name, "translate", "2", "2"] for name in ("erring", "free", "literal", "truncating", "verbose")
    ]
    assert [line.split()[2] for line in costs if line.split()[1:2] == ["brisk"]] == ["judge"]
    here(tmp_path, "report", "--examples", str(tmp_path / "examples.html"), "sample")
    page = (tmp_path / "examples.html").read_text(encoding="utf-8")
    assert "Far from the references" in page
    assert "exacting: valid variation" in page
    design = here(tmp_path, "design", "sample", "--rate", "10").stdout.splitlines()
    assert design[0].split()[:5] == ["below", "verdicts", "labels", "people", "judges_70"]
    assert [line.split()[0] for line in design if line.startswith("100.0")] == ["100.0"] * 3
    sent = here(tmp_path, "annotate", str(tmp_path / "items"), "sample", "--annotator", "me").stdout
    assert "104 items and 32 control items for each annotator (me); no restricted texts" in sent
    label = here(tmp_path, "import", "labels", str(tmp_path / "items" / "items.me.csv")).stdout
    assert "136 open" in label
    here(tmp_path, "record", "free", str(tmp_path / "free.jsonl"))
    recorded = (PROJECT / "warehouse" / "sample" / "recording.jsonl").read_text(encoding="utf-8").splitlines()
    assert set((tmp_path / "free.jsonl").read_text(encoding="utf-8").splitlines()) <= set(recorded)


@pytest.mark.proof
@pytest.mark.large
def test_a_corpus_and_a_model_of_ones_own(tmp_path: Path) -> None:
    home = tmp_path / "home"
    description = str(write_corpus(tmp_path / "corpus"))
    checked = here(home, "check", "corpus", description).stdout
    assert "tiny: 3 passages, 4 segments, 2 documents, la into en" in checked
    assert "tiny: 3 passages in 2 documents" in here(home, "import", "corpus", description).stdout

    def written(version: str) -> Path:
        texts = {passage.removeprefix("tiny/"): f"About {passage}. {version}" for passage in PASSAGES}
        return write_outputs(tmp_path / "mine.jsonl", texts)

    imported = here(home, "import", "outputs", str(written("first")), "--corpus", "tiny")
    assert "mine: 3 outputs" in imported.stdout
    assert "mine" in here(home, "status", "--models").stdout
    here(home, "evaluate", "mine")
    warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    assert len(warehouse.read("drift_score")) == 3
    chain = here(home, "trace", "mine", PASSAGES[0]).stdout
    assert chain.startswith("source_text ")
    assert "drift_score" in chain
    assert "signature: embedder" in here(home, "trace", "mine", "tiny").stdout

    # Dagster's own command line materializes one partition and no other.
    here(home, "import", "outputs", str(written("second")), "--corpus", "tiny")
    before = warehouse.read("model_output")
    subprocess.run(
        [
            *(str(Path(sys.executable).with_name("dagster")), "asset", "materialize"),
            *("-m", "benchmark_assets.definitions", "--select", "model_output", "--partition", f"mine|{PASSAGES[1]}"),
        ],
        env=environment(home),
        cwd=PROJECT,
        check=True,
        capture_output=True,
    )
    after = warehouse.read("model_output")
    changed = after.join(before, on=after.columns, how="anti")
    assert changed["passage"].to_list() == [PASSAGES[1]]
    assert changed["text"].to_list() == [f"About {PASSAGES[1]}. second"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["import", "corpus", "nowhere.yaml"], ["nowhere.yaml", "cannot be read", "check the path"]),
        (["import", "outputs", "nowhere.jsonl", "--corpus", "sample"], ["nowhere.jsonl", "no such file"]),
        (["evaluate", "nobody"], ["nobody", "no such model", "variorum status --models"]),
        (["evaluate", "Free"], ["Free", "no such model (did you mean free?)"]),
        (["record", "nobody", "file"], ["nobody", "has no replies yet", "variorum evaluate"]),
        (["new", "corpus", "mine", "--from", "nowhere.csv"], ["nowhere.csv", "does not exist", "check the path"]),
    ],
)
def test_a_mistake_ends_in_one_line_that_says_what_to_do(
    arguments: list[str], words: list[str], tmp_path: Path
) -> None:
    done = here(tmp_path, *arguments, code=1)
    assert "Traceback" not in done.stderr
    assert all(word in done.stderr.splitlines()[-1] for word in words), done.stderr


def test_faults_in_the_files_are_named_the_rest_is_taken_in_and_progress_goes_to_the_log(tmp_path: Path) -> None:
    description = write_corpus(tmp_path / "corpus", translations={"ann": TRANSLATIONS["ann"]})
    broken = tmp_path / "corpus/root/la/test/doc2_root-la-test.json"
    broken.write_text('{"doc2:1.1": "Nihil', encoding="utf-8")
    done = here(tmp_path / "home", "import", "corpus", str(description), code=1)
    assert "Traceback" not in done.stderr
    assert "doc2_root-la-test.json" in done.stderr
    assert "is not valid JSON" in done.stderr
    assert len(DuckDBWarehouse(path=str(tmp_path / "home" / "variorum.duckdb")).read("source_text")) == 2
    log = (tmp_path / "home" / "logs" / "variorum.log").read_text(encoding="utf-8")
    assert "partitions, 0 up to date" in log
    assert "partitions, 0 up to date" not in done.stderr
    assert "stale partitions of" in done.stderr


def test_the_help_lists_every_command_once_with_its_whole_summary() -> None:
    listed = [name for commands in SECTIONS.values() for name in commands]
    assert sorted(listed) == sorted(main.commands)
    said = CliRunner().invoke(main, ["--help"]).stdout
    assert "...\n" not in said.partition("\n")[2]
    for name in listed:
        summary = loaded(main.commands[name]).get_short_help_str(SUMMARY)
        assert re.search(rf"^  {name} +{re.escape(summary[:40])}", said, re.MULTILINE), name


def test_a_command_that_does_not_exist_is_answered_with_one_that_does() -> None:
    done = CliRunner().invoke(main, ["lederboard-status"])
    assert done.exit_code == 2
    assert "Did you mean status" in CliRunner().invoke(main, ["statu"]).stderr


@pytest.mark.parametrize("former", [[*name.split(), "folder"] for name in FORMER])
def test_a_renamed_command_names_the_present_one(former: list[str]) -> None:
    said = CliRunner().invoke(main, former).stderr
    present = said.partition("use `variorum ")[2].partition("`")[0].split()
    assert CliRunner().invoke(main, [*present, "--help"]).exit_code == 0


def test_the_check_of_a_corpus_says_what_an_evaluation_would_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_registry(tmp_path / "models.yaml", "http://127.0.0.1:9/v1", "brisk")
    monkeypatch.setenv("VARIORUM_MODELS", str(tmp_path / "models.yaml"))
    description = write_corpus(tmp_path / "corpus")
    checked = here(tmp_path / "home", "check", "corpus", str(description)).stdout
    cost = re.search(r"evaluating brisk: about (\d+) calls, ([\d,]+) tokens, about (0\.\d\d) dollars", checked)
    assert cost
    assert int(cost[1]) > 0

    content = json.loads(description.read_text(encoding="utf-8"))
    content |= {
        "rubric": {"judges": ["mild", "strict"]},
        "spans": {"judges": ["mild"]},
        "examination": {"passages": 40},
    }
    description.write_text(json.dumps(content), encoding="utf-8")
    checked = here(tmp_path / "home", "check", "corpus", str(description)).stdout
    assert "judges are examined before they judge: mild, strict are asked up to 220 questions about damaged" in checked
    assert "in each of 3 roles, at most 660 in all" in checked

"""Run files: every key is checked, a file does what the same options do, and its budget is a cap."""

import json
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.benchmarks import run_file
from benchmark_assets.benchmarks.run_file import RunFile
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from resources.provider.provider import Provider
from resources.provider.sqlite_ledger import SqliteLedger
from tests.processes import here
from tests.provider.server import Server
from tests.support import copy_finished, write_corpus, write_registry


def written(folder: Path, text: str) -> Path:
    path = folder / "run.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_run_file_holds_an_evaluation(tmp_path: Path) -> None:
    path = written(tmp_path, "models: [ours, other]\nbenchmark: small\nlimit: 20\nprotocol: paper\nbudget: 1.5\n")
    plan = run_file.read(path)
    assert plan == RunFile(models=("ours", "other"), benchmark="small", limit=20, protocol="paper", budget=1.5)
    said = run_file.described(path, plan)
    assert said.startswith("run.yaml (SHA-256 ")
    assert said.endswith("): ours, other on small, limit 20, protocol paper, budget 1.5 dollars")


@pytest.mark.parametrize(
    ("text", "key", "problem"),
    [
        ("models: [ours]\naccept: true", "accept", "extra inputs are not permitted"),
        ("benchmark: small", "models", "field required"),
        ("models: []", "models", "at least 1 item"),
        ("models: [ours]\nbudget: 0", "budget", "greater than 0"),
        ("models: [ours]\nbenchmark: small\nlimit: 0", "limit", "greater than or equal to 1"),
        ("models: [ours]\nbenchmark: small\nprotocol: mine", "protocol", "input should be 'paper' or 'variorum'"),
        ("models: [ours]\nlimit: 3", "", "`limit` and `protocol` need `benchmark`"),
        ("models: [ours]\nmodels: [other]", "line 2", "'models' occurs twice"),
    ],
)
def test_a_faulty_key_is_named(text: str, key: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as fault:
        run_file.read(written(tmp_path, text))
    assert fault.value.where == str(tmp_path / "run.yaml")
    assert (fault.value.key, problem in fault.value.problem) == (key, True), fault.value
    assert fault.value.remedy


def test_options_beside_a_run_file_and_options_that_need_others_are_refused(tmp_path: Path) -> None:
    path = str(written(tmp_path, "models: [ours]\n"))
    assert "only --accept can be added" in here(tmp_path / "home", "evaluate", path, "--budget", "1", code=2).stderr
    assert "only --accept can be added" in here(tmp_path / "home", "evaluate", path, "ours", code=2).stderr
    assert "need --on" in here(tmp_path / "home", "evaluate", "ours", "--limit", "2", code=2).stderr
    assert not (tmp_path / "home").exists()


def test_a_budget_is_a_cap_beside_those_of_the_registry(tmp_path: Path, server: Server) -> None:
    write_registry(tmp_path / "models.yaml", server.url, "ours")
    paths = str(tmp_path / "models.yaml"), str(tmp_path / "ledger.sqlite")
    small, large = (Provider(registry_path=paths[0], ledger_path=paths[1], cap=cap) for cap in (1e-9, 7))
    assert (small.budget.run, large.budget.run, large.budget.day) == (1e-9, 1, 1)
    small.probe(["ours"], "run")
    assert server.log() == []
    large.probe(["ours"], "run")
    assert len(server.log()) == 1
    content = json.loads((tmp_path / "models.yaml").read_text())
    content["budget"] = {}
    del content["models"]["ours"]["price"]
    (tmp_path / "models.yaml").write_text(json.dumps(content))
    with pytest.raises(BadInput, match="so the budget cannot be enforced"):
        large.registry()


@pytest.mark.proof
def test_a_run_file_does_what_the_same_options_do(
    finished: Path, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """The small form runs the file alone, with consent."""
    write_registry(tmp_path / "models.yaml", server.url, "ours")
    monkeypatch.setenv("VARIORUM_MODELS", str(tmp_path / "models.yaml"))
    text = "models: [ours]\nbenchmark: tiny\nbudget: 0.5\n"
    path = written(tmp_path, text)
    ways = {"file": [str(path)], "options": ["ours", "--on", "tiny", "--budget", "0.5"]}
    said, tables, calls = [], [], []
    for name, words in list(ways.items())[: 2 if full else 1]:
        home = tmp_path / name
        copy_finished(finished, home, write_corpus(tmp_path / f"corpus-{name}"))
        if full:
            assert "needs your consent to costs: " in here(home, "evaluate", *words, code=1).stderr
        lines = here(home, "evaluate", *words, "--accept").stdout.splitlines()
        said.append([line for line in lines if not line.startswith("run.yaml")])
        own = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
        rows = own.read("model_output", pl.DataFrame({"model": ["ours"]}), ["passage", "text"]).rows()
        tables.append((rows, own.read("leaderboard").drop("run_id", "updated_at").rows()))
        calls.append(len(SqliteLedger(home / "ledger.sqlite").attempts()))
        if name == "file":
            assert any(line.endswith("ours on tiny, budget 0.5 dollars") for line in lines)
    assert len(tables[0][0]) == 3
    assert any(line.startswith(f"asked: {calls[0]} calls, ") for line in said[0])
    assert all((said[0], tables[0], calls[0]) == each for each in zip(said, tables, calls, strict=True))
    assert path.read_text(encoding="utf-8") == text

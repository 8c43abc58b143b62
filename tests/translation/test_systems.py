"""Models of the registry on the grid, asked of a real server: what is stored, what is asked again, what it costs."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.accounts import assets as accounts
from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.translation.imports import import_outputs
from benchmark_assets.translation.systems import Systems, language_name
from resources import prompts
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from resources.home import PROJECT
from resources.provider.ledger import UNCERTAIN
from resources.provider.provider import Provider
from resources.provider.sqlite_ledger import SqliteLedger
from resources.warehouse import Warehouse
from tests.processes import here
from tests.provider.server import Server
from tests.support import (
    CORE,
    PASSAGES,
    SOURCES,
    LetterEmbedder,
    by_hand,
    copy_finished,
    made_home,
    restored_home,
    run,
    write_corpus,
    write_outputs,
    write_registry,
)

IDS = [passage.removeprefix("tiny/") for passage in PASSAGES]


class Deployment:
    """A home with the small corpus, and a registry of one model at the server."""

    def __init__(self, folder: Path, warehouse: Warehouse, instance: dg.DagsterInstance, url: str) -> None:
        self.folder, self.warehouse, self.instance, self.url = folder, warehouse, instance, url
        self.registry()

    def take_in(self) -> None:
        """Look at the files, and choose passages."""
        runs.look(self.code_location()[0], self.instance)
        run(self.code_location()[0], self.instance, "construction", (PASSAGES[0], PASSAGES[-1]))

    def registry(self, *, budget: dict[str, float] | None = None, **settings: Any) -> None:
        """Write the registry; each passage is a request of its own unless `batch_tokens` says otherwise."""
        model = {"endpoint": "server", "id": "m", "price": {"input": 1, "output": 2}, "batch_tokens": 1, **settings}
        content = {
            "endpoints": {"server": {"url": self.url}}, "models": {"ours": model}, "embedders": {"minilm": {}},
            "embedder": "minilm", "budget": budget or {},
        }  # fmt: skip
        (self.folder / "models.yaml").write_text(json.dumps(content), encoding="utf-8")

    def code_location(self) -> tuple[dg.Definitions, Systems]:
        definitions = build_definitions(
            rooms=[*CORE, accounts], resource_overrides={"warehouse": self.warehouse, "embedder": LetterEmbedder()}
        )
        return definitions, (definitions.resources or {})["systems"]

    def translate(self) -> None:
        """Materialize the model's stale outputs, and nothing else."""
        self.instance.add_dynamic_partitions("model", ["ours"])
        run(self.code_location()[0], self.instance, "translate", (f"ours|{PASSAGES[0]}", f"ours|{PASSAGES[-1]}"))

    def evaluate(self) -> None:
        """Materialize the model's stale partitions, up to the leaderboard."""
        definitions, _ = self.code_location()
        runs.evaluate(definitions, self.instance, "ours")

    def texts(self) -> dict[str, str]:
        return dict(self.warehouse.read("model_output", columns=["passage", "text"]).iter_rows())

    @property
    def ledger(self) -> Path:
        return Path(self.warehouse.name).with_name("ledger.sqlite")


@pytest.fixture(scope="module")
def taken_in(tmp_path_factory: pytest.TempPathFactory, running: Server) -> tuple[Path, Path]:
    """The home after the first look at the small corpus, its passages chosen; and a copy: each test starts from it."""
    world, copy = tmp_path_factory.mktemp("taken") / "world", tmp_path_factory.mktemp("copy") / "world"
    with pytest.MonkeyPatch.context() as patch:
        warehouse = DuckDBWarehouse(path=str(made_home(patch, world) / "variorum.duckdb"))
        patch.setenv("VARIORUM_MODELS", str(world / "models.yaml"))
        with dg.DagsterInstance.get() as instance:
            register(warehouse, write_corpus(world / "corpus"))
            Deployment(world, warehouse, instance, running.url).take_in()
    shutil.copytree(world, copy, symlinks=True)
    return world, copy


@pytest.fixture
def home(taken_in: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    return restored_home(monkeypatch, *taken_in)


@pytest.fixture
def deployment(
    home: Path, warehouse: Warehouse, instance: dg.DagsterInstance, server: Server, monkeypatch: pytest.MonkeyPatch
) -> Deployment:
    monkeypatch.setenv("VARIORUM_MODELS", str(home.parent / "models.yaml"))
    return Deployment(home.parent, warehouse, instance, server.url)


def asked(server: Server) -> list[str]:
    return sorted(key for seen in server.log() for key in seen.keys)


def test_a_model_is_translated_scored_and_never_paid_twice(deployment: Deployment, server: Server) -> None:
    server.configure(by_key={IDS[0]: "refusal"})
    deployment.evaluate()
    assert deployment.texts() == {PASSAGES[1]: "EN: Sol oritur.", PASSAGES[2]: "EN: Nihil novi dicit."}
    assert asked(server) == sorted(IDS)
    board = deployment.warehouse.read("leaderboard")
    made = board.filter(system="ours").select("passages", "failures", "origin", "prompt", "settings").rows()
    assert made == [(3, 1, "evaluated", prompts.load("translate").label, "max_tokens 8192, temperature 0")]
    # A refusal is a result: stored, not scored, not asked for again.
    assert deployment.warehouse.read("refusal")["passage"].to_list() == [PASSAGES[0]]
    study = pl.DataFrame({"study": ["model_output"]})
    manifest, calls = deployment.warehouse.read("study_call", study), deployment.warehouse.read("model_call")
    assert set(manifest["call"]) == set(calls["call"])
    assert manifest["parsing"].to_list() == [None, "strict", "strict"]
    assert (calls["cost"] > 0).all()
    done = runs.status(deployment.code_location()[0], deployment.instance).filter(asset="model_output")
    assert done.select("materialized", "failed").row(0) == (3, 0)

    by_hand(deployment.warehouse.name).close()  # it is no longer kept open
    Path(deployment.warehouse.name).unlink()  # a warehouse that is lost is built again from the ledger, for nothing
    register(deployment.warehouse, deployment.folder / "corpus" / "corpus.yaml")
    deployment.take_in()
    deployment.translate()
    assert len(deployment.texts()) == 2
    assert len(server.log()) == 3


def test_settings_that_determine_the_reply_ask_again_and_others_do_not(deployment: Deployment, server: Server) -> None:
    deployment.translate()
    deployment.registry(price={"input": 5, "output": 5}, in_flight=2, budget={"day": 100})
    deployment.translate()
    assert len(server.log()) == 3
    deployment.registry(temperature=0.3)
    deployment.translate()
    assert len(server.log()) == 6


def test_a_new_batch_leaves_out_what_was_answered_alone(deployment: Deployment, server: Server) -> None:
    deployment.translate()
    texts = dict(deployment.warehouse.read("source_text", columns=["passage", "text"]).iter_rows())
    deployment.registry(batch_tokens=3000)
    systems = deployment.code_location()[1]
    outputs = {output.passage: output.text for output in systems.translate("ours", texts, "next")}
    assert outputs == deployment.texts()
    assert len(server.log()) == len(PASSAGES)


def test_an_edited_source_is_asked_for_alone(deployment: Deployment, server: Server) -> None:
    deployment.registry(batch_tokens=3000)
    deployment.translate()
    assert [seen.keys for seen in server.log()] == [IDS]
    server.clear()
    sources = {document: dict(segments) for document, segments in SOURCES.items()}
    sources["doc1"]["doc1:2.1"] = "Sol occidit."
    write_corpus(deployment.folder / "corpus", sources=sources)
    deployment.take_in()
    deployment.translate()
    assert asked(server) == ["doc1:2"]
    assert deployment.texts()[PASSAGES[1]] == "EN: Sol occidit."


def test_a_passage_that_fails_leaves_the_others_and_is_the_only_one_asked_again(
    deployment: Deployment, server: Server
) -> None:
    server.configure(by_key={IDS[1]: "bad_request"})
    with pytest.raises(dg.Failure, match="rejected"):
        deployment.translate()
    assert set(deployment.texts()) == {PASSAGES[0], PASSAGES[2]}
    server.configure()
    server.clear()
    deployment.translate()
    assert asked(server) == [IDS[1]]
    assert set(deployment.texts()) == set(PASSAGES)


def test_a_budget_stops_the_run_and_a_larger_one_pays_for_the_rest_only(deployment: Deployment, server: Server) -> None:
    deployment.registry(max_tokens=1000, in_flight=1, budget={"run": 0.0034})
    with pytest.raises(dg.Failure, match=r"the budget of run .* is 0.0034 dollars"):
        deployment.translate()
    assert len(server.log()) == 1
    deployment.registry(max_tokens=1000, in_flight=1, budget={"run": 1})
    deployment.translate()
    assert asked(server) == sorted(IDS)


def test_a_model_of_other_corpora_covers_none_of_this_one(deployment: Deployment) -> None:
    deployment.registry(corpora=["other"])
    assert deployment.code_location()[1].system("ours").fingerprints(PASSAGES) == {}


def test_a_name_cannot_be_called_and_imported(deployment: Deployment) -> None:
    outputs = write_outputs(deployment.folder / "ours.jsonl", {IDS[0]: "Something."})
    import_outputs(deployment.warehouse, outputs, "tiny", None)
    with pytest.raises(BadInput, match="rename it in the registry"):
        deployment.code_location()[1].system("ours")


@pytest.mark.proof
@pytest.mark.parametrize(
    "ending",
    [signal.SIGKILL, *(pytest.param(each, marks=pytest.mark.large) for each in (signal.SIGINT, signal.SIGTERM))],
)
def test_a_run_that_is_ended_leaves_no_call_and_goes_on_where_it_stopped(
    deployment: Deployment, server: Server, ending: signal.Signals
) -> None:
    tools = Path(sys.executable).parent
    deployment.registry(in_flight=1)
    deployment.instance.add_dynamic_partitions("model", ["ours"])
    server.configure(latency=1)
    row = f"ours|{PASSAGES[0]}...ours|{PASSAGES[-1]}"
    what = ["-m", "benchmark_assets.definitions", "--select", "model_output", "--partition-range", row]
    process = subprocess.Popen(
        [tools / "dagster", "asset", "materialize", *what], cwd=PROJECT, stderr=subprocess.PIPE, text=True
    )
    while len(server.log()) < 2:
        assert process.poll() is None, process.stderr and process.stderr.read()
        time.sleep(0.05)
    time.sleep(0.2)
    process.send_signal(ending)
    words = process.communicate(timeout=30)[1]
    assert "3 calls, 0 of them already in the ledger; the remaining calls cost about 0.0" in words
    deadline = time.monotonic() + 5
    while server.in_flight():
        assert time.monotonic() < deadline
        time.sleep(0.05)

    server.configure()
    server.clear()
    deployment.translate()
    assert len(server.log()) == 2
    assert set(deployment.texts()) == set(PASSAGES)
    assert SqliteLedger(deployment.ledger).attempts()["outcome"].to_list().count(UNCERTAIN) == 1
    if ending is signal.SIGKILL:
        costs = subprocess.run(
            [tools / "variorum", "costs"], cwd=PROJECT, capture_output=True, text=True, check=True
        ).stdout
        assert [line.split()[1:6] for line in costs.splitlines() if "translate" in line] == [
            ["ours", "translate", "4", "3", "1"]
        ]


def test_languages_have_names() -> None:
    assert [language_name(tag) for tag in ("pi", "lzh", "bo", "xct")] == ["Pali", "Literary Chinese", "Tibetan", "xct"]


def test_models_of_corpora_are_keys_only_where_a_home_has_one_of_them(warehouse: Warehouse, tmp_path: Path) -> None:
    """Models of the sample fill no other home's grid."""
    write_registry(tmp_path / "models.yaml", "http://127.0.0.1:9/v1", "everywhere", "nowhere")
    content = json.loads((tmp_path / "models.yaml").read_text())
    content["models"]["nowhere"]["corpora"] = ["sample", "TASK"]
    (tmp_path / "models.yaml").write_text(json.dumps(content))
    provider = Provider(registry_path=str(tmp_path / "models.yaml"), ledger_path=str(tmp_path / "ledger.sqlite"))
    systems = Systems(warehouse=warehouse, provider=provider)
    assert systems.applicable() == ["everywhere"]
    assert systems.models() == ["everywhere", "nowhere"]
    register(warehouse, PROJECT / "warehouse" / "sample" / "corpus.yaml")
    assert systems.applicable() == ["everywhere", "nowhere"]


def test_status_does_not_advise_to_evaluate_models_of_absent_corpora(finished: Path, tmp_path: Path) -> None:
    copy_finished(finished, tmp_path / "home", write_corpus(tmp_path / "corpus"))
    said = here(tmp_path / "home", "status").stdout
    assert "variorum stale" in said
    assert "erring" not in said

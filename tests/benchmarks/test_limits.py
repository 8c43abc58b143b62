"""Limited evaluations: their costs before anything is asked, their passages, and how their scores are marked."""

import json
import time
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.benchmarks.limits import order
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.provider.reading import Outcome
from resources.provider.sqlite_ledger import SqliteLedger
from resources.warehouse import Replacement
from tests.benchmarks.mirror import serving
from tests.benchmarks.recipes import publish, write_recipe
from tests.processes import VARIORUM, begin, here
from tests.provider.server import Server
from tests.support import write_corpus
from tests.understanding.conftest import FORM_LINES, FORMS, write_task

ITEMS = pl.DataFrame(
    [(f"{place}:{at}", place) for place in "abcd" for at in range(20)], ["item", "stratum"], orient="row"
)


@given(st.integers(8, 80), st.integers(0, 5))
def test_every_beginning_of_the_order_has_its_share_of_each_stratum(size: int, part: int) -> None:
    counts = Counter(item[0] for item in order("livy", f"part {part}", ITEMS)[:size])
    assert max(counts.values()) - min(counts[place] for place in "abcd") <= 2


def test_the_order_depends_on_names_only() -> None:
    assert order("livy", "x", ITEMS) == order("livy", "x", ITEMS.reverse())
    assert order("livy", "x", ITEMS) != order("livy", "y", ITEMS) != order("catullus", "y", ITEMS)


def registry(path: Path, url: str) -> Path:
    model = {"endpoint": "server", "id": "m", "price": {"input": 1, "output": 2}, "batch_tokens": 1}
    content = {
        "endpoints": {"server": {"url": url}}, "models": {"ours": model}, "embedders": {"minilm": {}},
        "embedder": "minilm",
    }  # fmt: skip
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def forecast(home: Path) -> list[str]:
    """Calls for outputs of `ours` that an evaluation announces, and those in the ledger."""
    said = here(home, "evaluate", "ours", "--on", "small", code=1).stdout
    (line,) = [line for line in said.splitlines() if " model_output " in line]
    return line.split()[2:4]


@pytest.mark.proof
def test_a_first_try_is_limited_and_a_second_one_pays_for_the_rest(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Also if no update preceded: passages are selected, and samples read, before costs are stated. As in the model
    builder's guide, the model is checked first.

    The small form is the first try, and the forecast after its output is lost.
    """
    monkeypatch.setenv("VARIORUM_MODELS", str(registry(tmp_path / "models.yaml", server.url)))
    home = tmp_path / "home"
    with serving(publish(tmp_path / "published")) as mirror:
        write_task(tmp_path / "published", FORMS, FORM_LINES)
        recipe = tmp_path / "recipe"
        write_task(recipe, FORMS, {})
        task = {"description": "form.yaml", "samples": 2, "characters": 32, "source": "texts"}
        write_recipe(recipe, tmp_path / "published", tasks=[task])
        said = here(home, "add", str(recipe), "--no-update", "--base", mirror.url).stdout
    assert "evaluating ours: about" in said
    here(home, "check", "model", "ours")
    server.clear()
    evaluate = ["evaluate", "ours", "--on", "small"]

    refused = here(home, *evaluate, "--limit", "2", code=1)
    assert "needs your consent to costs: " in refused.stderr
    assert "hours of answer, model_output, probe of the served version: assumed" in refused.stdout
    assert not server.log()
    assert "is below 2" in here(home, *evaluate, "--limit", "1", code=1).stderr

    def asked() -> int:
        """Number of requests, except probes."""
        return sum(bool(each.keys) for each in server.log())

    def board() -> tuple[object, ...]:
        warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
        row = warehouse.read("leaderboard").filter(system="ours")
        answers = warehouse.read("understanding_board").filter(system="ours", task="FORM")
        sizes = row.select("passages", "evaluated", "available", "rank").row(0)
        return *sizes, *answers.select("evaluated", "available").row(0)

    first = here(home, *evaluate, "--limit", "2", "--accept").stdout
    assert "Not comparable with the other rows: evaluated on 1 of 3 passages" in first
    assert "ours (1 of 2 samples)" in first
    assert board() == (1, 1, 3, None, 1, 2)
    assert asked() == 2
    calls = DuckDBWarehouse(path=str(home / "variorum.duckdb")).read("model_call")
    assert calls.filter(purpose="trial")["replicate"].to_list() > [1 << 40]  # a time in milliseconds
    if not full:
        warehouse, ours = DuckDBWarehouse(path=str(home / "variorum.duckdb")), pl.DataFrame({"model": ["ours"]})
        lost = warehouse.read("model_output", ours)
        warehouse.write(
            [Replacement("model_output", lost.drop("run_id", "updated_at").clear(), lost.select("model", "passage"))],
            run_id="test",
        )
        assert forecast(home) == ["3", "1"]  # one of the calls is in the ledger
        return

    here(home, "update")
    assert asked() == 2

    last = here(home, *evaluate, "--accept").stdout
    assert "all other hours: from the pace of earlier calls in the ledger" in last
    assert board() == (3, 3, 3, None, 2, 2)  # nothing is known to order models
    assert asked() == 5
    assert "was evaluated on this benchmark without a limit" in here(home, *evaluate, "--limit", "4", code=1).stderr


@pytest.mark.proof
@pytest.mark.large
def test_the_forecast_after_a_kill_subtracts_what_is_paid_for(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed in the middle of its calls has stored no output; the ledger has the replies."""
    models = registry(tmp_path / "models.yaml", server.url)
    content = json.loads(models.read_text())
    content["models"]["ours"]["in_flight"] = 1
    models.write_text(json.dumps(content))
    monkeypatch.setenv("VARIORUM_MODELS", str(models))
    home, evaluate = tmp_path / "home", ["evaluate", "ours", "--on", "small"]
    with serving(publish(tmp_path / "published")) as mirror:
        here(home, "add", str(write_recipe(tmp_path / "recipe", tmp_path / "published")), "--base", mirror.url)
    assert forecast(home) == ["3", "0"]
    server.configure(latency=2)
    with begin(home, VARIORUM, *evaluate, "--accept") as command:
        deadline = time.monotonic() + 240
        while sum(bool(each.keys) and each.finished for each in server.log()) < 1:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(1)  # the reply is stored, the next one is under way
        command.kill()
    attempts = SqliteLedger(home / "ledger.sqlite").attempts().filter(model="ours", purpose="translate")
    answered = attempts["outcome"].to_list().count(Outcome.ANSWERED)
    warehouse = DuckDBWarehouse(path=str(home / "variorum.duckdb"))
    assert 0 < answered < 3
    assert warehouse.read("model_output", pl.DataFrame({"model": ["ours"]})).is_empty()
    assert forecast(home) == ["3", str(answered)]
    server.configure(latency=0)
    here(home, *evaluate, "--accept")
    assert len(warehouse.read("model_output", pl.DataFrame({"model": ["ours"]}))) == 3


def test_no_model_is_paid_without_consent(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by `evaluate` without a benchmark, nor by an update of what it made stale."""
    monkeypatch.setenv("VARIORUM_MODELS", str(registry(tmp_path / "models.yaml", server.url)))
    home, corpus = tmp_path / "home", write_corpus(tmp_path / "corpus")
    content = json.loads(corpus.read_text())
    corpus.write_text(json.dumps(content | {"sensitivity": {"passages": 0}}))
    here(home, "import", "corpus", str(corpus))
    refused = here(home, "evaluate", "ours", code=1)
    assert "ours: needs your consent to costs: " in refused.stderr
    assert [line.split()[:4] for line in refused.stdout.splitlines() if line.startswith("ours   model_output")] == [
        ["ours", "model_output", "3", "0"]
    ]
    assert not server.log()
    here(home, "evaluate", "ours", "--accept")
    paid = len(server.log())
    source = tmp_path / "corpus/root/la/test/doc2_root-la-test.json"
    segments = json.loads(source.read_text())
    source.write_text(json.dumps({name: f"{text} Et alia." for name, text in segments.items()}))
    here(home, "scan")
    assert (
        "model_output: needs your consent to costs: 1 calls, 0 of them already" in here(home, "update", code=1).stderr
    )
    assert len(server.log()) == paid
    here(home, "update", "--accept")
    assert len(server.log()) == paid + 1

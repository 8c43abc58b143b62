"""Limited evaluations: their costs before anything is asked, their passages, and how their scores are marked."""

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.benchmarks.limits import order
from resources.duckdb_warehouse import DuckDBWarehouse
from tests.benchmarks.mirror import serving
from tests.benchmarks.recipes import publish, write_recipe
from tests.processes import here
from tests.provider.server import Server
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


@pytest.mark.proof
def test_a_first_try_is_limited_and_a_second_one_pays_for_the_rest(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Also if no update preceded: passages are selected, and samples read, before costs are stated. As in the model
    builder's guide, the model is checked first.

    The small form is the first try.
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
    assert "needs your consent to costs of about 0.00 dollars" in refused.stderr
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
        return

    here(home, "update")
    assert asked() == 2

    last = here(home, *evaluate, "--accept").stdout
    assert "all other hours: from the pace of earlier calls in the ledger" in last
    assert board() == (3, 3, 3, None, 2, 2)  # nothing is known to order models
    assert asked() == 5
    assert "was evaluated on this benchmark without a limit" in here(home, *evaluate, "--limit", "4", code=1).stderr

"""Traces: every number leads to the versions, calls and rows that it came from, and to what is stale."""

from collections.abc import Sequence
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from pydantic import Field

from benchmark_assets.automation import runs
from benchmark_assets.reporting import overview, trace
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.errors import BadInput
from resources.warehouse import Warehouse
from tests.support import MODELS, PASSAGES, SOURCES, edit_segment

pytestmark = pytest.mark.usefixtures("built")


class Counting(DuckDBWarehouse):
    """A warehouse that notes the tables that were read."""

    reads: list[str] = Field(default_factory=list)

    def read(
        self,
        table: str,
        keys: pl.DataFrame | None = None,
        columns: Sequence[str] | None = None,
        most: int | None = None,
    ) -> pl.DataFrame:
        self.reads.append(table)
        return super().read(table, keys, columns, most)


def test_a_chain_leads_from_the_files_to_the_scores(warehouse: Warehouse) -> None:
    steps = {step.asset: step for step in trace.of_output(warehouse, MODELS[0], PASSAGES[0])}
    assert next(iter(steps)) == "source_text"
    assert steps["drift_score"].inputs["model_output"] == steps["model_output"].version[: trace.BRIEF]
    recorded = warehouse.read("materialization").filter(asset="drift_score", model=MODELS[0], passage=PASSAGES[0])
    assert steps["drift_score"].run == recorded["run_id"][0]
    assert [step.changed for step in steps.values()] == [[]] * len(steps)
    assert any(fact.startswith("embedder letter pairs") for fact in steps["drift_score"].facts)


def test_a_chain_contains_no_text(warehouse: Warehouse) -> None:
    words = "\n".join(trace.words(trace.of_output(warehouse, MODELS[0], PASSAGES[0])))
    texts = [
        *warehouse.read("reference")["text"],
        *warehouse.read("model_output")["text"],
        *(text for document in SOURCES.values() for text in document.values()),
    ]
    assert not [text for text in texts if text and text in words]


def test_a_chain_names_what_is_stale_and_why(
    warehouse: Warehouse, built: dg.Definitions, instance: dg.DagsterInstance, corpus: Path
) -> None:
    edit_segment(corpus, "ann", "doc1:1.1", "An entirely different sentence.")
    runs.look(built, instance)
    steps = {step.asset: step for step in trace.of_output(warehouse, MODELS[0], "tiny/doc1:1")}
    assert "segmented_reference" in steps["alignment"].changed
    assert any("STALE" in line for line in trace.words(steps.values()))


def test_all_chains_of_a_corpus_are_the_single_ones_and_each_table_is_read_once(
    warehouse: Warehouse, home: Path
) -> None:  # fmt: skip
    counting, few = (Counting(path=str(home / "variorum.duckdb")) for _ in range(2))
    chains = trace.of_passages(counting, pl.DataFrame({"passage": PASSAGES}))
    assert set(chains) == {(model, passage) for model in ("", *MODELS) for passage in PASSAGES}
    for model in MODELS:
        for passage in PASSAGES:
            single = trace.of_output(warehouse, model, passage)
            chain = [*chains["", passage], *chains[model, passage]]
            assert {step.asset: step._replace(facts=[]) for step in single} == {step.asset: step for step in chain}
    trace.of_passages(few, pl.DataFrame({"passage": PASSAGES[:1]}))
    assert sorted(counting.reads) == sorted(few.reads)


def test_a_row_of_the_leaderboard_leads_to_its_most_distant_passages(warehouse: Warehouse) -> None:
    lines = list(trace.of_cell(warehouse, MODELS[0], "tiny"))
    drifts = warehouse.read("drift_score").filter(model=MODELS[0]).sort("drift", descending=True)
    assert lines[-len(drifts)].endswith(drifts["passage"][0])
    assert any(line.startswith("signature: embedder") for line in lines)


@pytest.mark.parametrize(("model", "passage"), [("nobody", "tiny/doc1:1"), (MODELS[0], "tiny/doc9:9")])
def test_what_does_not_exist_is_named(model: str, passage: str, warehouse: Warehouse) -> None:
    with pytest.raises(BadInput):
        trace.of_output(warehouse, model, passage)


def test_an_overview_counts_corpora_and_models(warehouse: Warehouse) -> None:
    (corpus,) = overview.corpora(warehouse).rows(named=True)
    left_out = overview.corpora(warehouse).with_columns(selected=pl.lit(0), models=pl.lit(0))
    assert next(overview.next_steps(left_out, overview.models(warehouse, []))).startswith("variorum trace tiny ")
    assert (corpus["corpus"], corpus["passages"], corpus["models"]) == ("tiny", len(PASSAGES), len(MODELS))
    models = overview.models(warehouse, [*MODELS, "unasked"])
    assert dict(models.select("model", "outputs").iter_rows()) == {**dict.fromkeys(MODELS, len(PASSAGES)), "unasked": 0}
    assert any("evaluate unasked" in step for step in overview.next_steps(overview.corpora(warehouse), models))
    assert next(overview.contents(warehouse, "tiny")).startswith(f"tiny: {len(PASSAGES)} passages in 2 documents")

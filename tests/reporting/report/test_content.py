"""What the report says of rows that a real home has: of what is missing, not comparable, or not known."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from benchmark_assets.metrics.entries import MEAN_RANK
from benchmark_assets.reporting.plots import plots
from benchmark_assets.reporting.report.content import parts
from benchmark_assets.reporting.report.display import Display
from resources.digest import text_hash
from resources.warehouse import Warehouse
from tests.reporting.report.made import made, put


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    own = made(tmp_path, ["alpha", "beta"], 4)
    with own.kept_open():
        yield own


def exhibits(warehouse: Warehouse, title: str) -> list[Display]:
    return [each for part in parts(warehouse) for each in part.exhibits if each.title.startswith(title)]


def cells(exhibit: Display, heading: str) -> list[str]:
    (column,) = (each for each in exhibit.columns if each.heading == heading)
    return [each.text for each in column.cells]


def behind(exhibit: Display, heading: str) -> list[dict[str, str]]:
    (column,) = (each for each in exhibit.columns if each.heading == heading)
    return [dict(each.behind or {}) for each in column.cells]


def change(warehouse: Warehouse, table: str, *changes: pl.Expr, **values: object) -> None:
    rows = warehouse.read(table).drop("run_id", "updated_at")
    put(warehouse, table, rows.with_columns(*changes, **{name: pl.lit(each) for name, each in values.items()}))


@pytest.mark.usefixtures("drawn")
def test_a_corpus_without_references_hides_no_other(warehouse: Warehouse) -> None:
    board = warehouse.read("leaderboard").drop("run_id", "updated_at").filter(kind="model")
    scores = pl.selectors.float() & ~pl.selectors.contains("references")
    bare = board.with_columns(corpus=pl.lit("bare")).with_columns(scores * None)
    put(warehouse, "leaderboard", pl.concat([warehouse.read("leaderboard").drop("run_id", "updated_at"), bare]))
    put(warehouse, "corpus", [{"corpus": each, "audit": "{}"} for each in ("bare", "made")])
    first, second = exhibits(warehouse, "Leaderboard")
    assert (first.chart, second.chart is None) == (None, False)
    markdown = plots(warehouse, "leaderboard")["plot"]
    assert "made: Leaderboard" in markdown


def test_what_nobody_knows_the_cost_of_is_no_zero(warehouse: Warehouse) -> None:
    change(warehouse, "model_call", pl.when(model="beta").then(None).otherwise("cost").alias("cost"))
    (found,) = exhibits(warehouse, "Costs")
    assert found.words == "Known costs: 0.5000 US dollars. The cost of 2 of 4 calls is unknown."
    assert cells(found, "paid, US $") == ["0.2500", "0.2500", "–", "–"]
    assert cells(found, "unknown cost at most, US $")[2:] == ["–", "–"]
    change(warehouse, "model_call", priced=True, reserved=2.0)
    (found,) = exhibits(warehouse, "Costs")
    assert cells(found, "unknown cost at most, US $")[2:] == ["2.0000", "2.0000"]


def test_scores_under_different_contracts_are_apart_and_models_are_on_the_scale_of_the_anchors(
    warehouse: Warehouse,
) -> None:
    contract = pl.when(model="alpha").then(pl.lit("one")).otherwise(pl.lit("other")).alias("contract")
    change(warehouse, "pairwise_score", contract, lt=9.0, lt_fixed=3.0)
    change(warehouse, "anchor_score", contract="one")
    first, second = exhibits(warehouse, "LT against anchors@1.0.0, contract")
    assert set(cells(first, "system")) == {"alpha", *(f"a{at}" for at in range(5))}
    assert set(cells(second, "system")) == {"beta"}
    assert first.signatures != second.signatures
    beside = dict(zip(cells(first, "system"), cells(first, "LT beside the anchors"), strict=True))
    assert beside["alpha"] == "3.00"
    assert set(cells(first, "LT")) == {"9.00", "–"}


def test_rates_say_of_how_many_outputs_they_speak(warehouse: Warehouse) -> None:
    change(warehouse, "error_estimate", covered=0.25)
    (found,) = exhibits(warehouse, "Errors of all outputs")
    assert "at least 25.0 % of each model's outputs" in found.words
    assert cells(found, "covered %") == ["25.0"] * 3


def test_models_without_a_rank_are_named_with_the_reason(warehouse: Warehouse) -> None:
    rows = warehouse.read("metric_rank").drop("run_id", "updated_at")
    put(warehouse, "metric_rank", rows.filter((pl.col("system") != "alpha") | (pl.col("measure") != MEAN_RANK)))
    change(warehouse, "leaderboard", coverage=0.4)
    (found,) = exhibits(warehouse, "Ranks")
    assert "alpha" not in cells(found, "system")
    assert found.words.endswith(
        "Without a rank, which takes 95% of the passages: alpha (usable outputs for 40% of the passages)."
    )


def test_the_signature_of_drift_is_that_of_the_corpus_itself(warehouse: Warehouse) -> None:
    rows = warehouse.read("drift_score").drop("run_id", "updated_at")
    other = rows.with_columns(passage=pl.col("passage").str.replace("made", "aaa"), embedder=pl.lit("another embedder"))
    put(warehouse, "drift_score", pl.concat([other, rows]))
    (found,) = exhibits(warehouse, "Drift")
    assert not any("another" in each for each in found.signatures)
    assert any(each.startswith("embedder: an embedder; drift: (1 - cos)") for each in found.signatures)


def test_outputs_of_an_earlier_source_are_counted_by_model(warehouse: Warehouse) -> None:
    assert exhibits(warehouse, "Outputs of an earlier source") == []
    source = {"text": "New.", "segments": ["New."], "segment_ids": ["1"], "language": "la"}
    put(warehouse, "source_text", [{"passage": f"made/p{at}:1", **source} for at in range(3)])
    current, earlier = text_hash("New."), text_hash("Old.")
    hashes = {"alpha": (current, earlier, earlier), "beta": (current, None, earlier), "gamma": (current, None, None)}
    outputs = [
        {"model": model, "passage": f"made/p{at}:1", "source_hash": source}
        for model, sources in hashes.items() for at, source in enumerate(sources)
    ]  # fmt: skip
    put(warehouse, "imported_output", pl.DataFrame(outputs, infer_schema_length=None))
    (found,) = exhibits(warehouse, "Outputs of an earlier source")
    assert (cells(found, "model"), cells(found, "passages")) == (["alpha", "beta"], ["2", "1"])


def test_counts_lead_to_as_many_passages_as_they_say(warehouse: Warehouse) -> None:
    (board,) = exhibits(warehouse, "Leaderboard")
    assert {"corpus": "made", "model": "alpha", "closest": "any"} in behind(board, "passages")
    by_model = exhibits(warehouse, "Errors by model")[0]
    judged = behind(by_model, "judged")
    panel = [where for where, raters in zip(judged, cells(by_model, "raters"), strict=True) if raters == "panel"]
    assert {"corpus": "made", "model": "alpha", "label": "any", "raters": "people"} in judged
    assert panel
    assert not any("raters" in where for where in panel)
    (literary,) = exhibits(warehouse, "Literary scores")
    verdicts = behind(literary, "human better")
    assert {"corpus": "made", "model": "beta", "verdict": "human"} in verdicts
    assert [bool(where) for where in verdicts] == [aspect == "ensemble" for aspect in cells(literary, "aspect")]


def test_published_numbers_are_counted_and_recomputed_ones_are_listed(warehouse: Warehouse) -> None:
    (listed,) = exhibits(warehouse, "Numbers of b")
    assert cells(listed, "column") == ["one"]
    assert listed.words == "Numbers that the paper prints: 1 differs, 1 needs outputs."

"""Published numbers beside those of a warehouse: every outcome, the table, and the command's exit code."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.benchmarks.exhibits import counts
from benchmark_assets.benchmarks.numbers import read
from benchmark_assets.benchmarks.reproduction import (
    ADMITTED,
    DIFFERS,
    DIGITS,
    EQUAL,
    EXPLAINED,
    NEEDS,
    OUTCOMES,
    QUOTED,
    judged,
    reproduce,
)
from benchmark_assets.corpus.filters import Filters
from resources.catalogue import schema, table
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse
from tests.benchmarks.test_numbers import LOOKUP, TABLE, write

FUNNEL = {
    "table": "funnel",
    "where": {"corpus": "c"},
    "rows": {"column": "reason", "labels": {"Short": "short"}},
    "values": {"Affected": "affected", "Left": "remaining"},
}


@pytest.fixture
def filled(warehouse: Warehouse) -> Warehouse:
    """A warehouse with two chance scores, and a selection whose funnel drops 970 short and 41 similar passages."""
    rows: dict[str, list[tuple[object, ...]]] = {
        "task_chance": [("FORM", "chance", 50.0149, ""), ("SPEECH", "chance", 12.25, "Guessed")],
    }
    for name, content in rows.items():
        frame = pl.DataFrame(content, schema=schema(name), orient="row").with_columns(fingerprint=pl.lit(""))
        warehouse.write([Replacement(name, frame, None)], run_id="test")
    reasons = [["short"]] * 970 + [["similar"]] * 41
    selection = {"passage": [f"c/{n}" for n in range(len(reasons))], "selected": False, "reasons": reasons}
    corpus = {"corpus": ["c"], "filters": Filters().model_dump_json()}
    for name, columns in (("selection", selection), ("corpus", corpus)):
        empty = warehouse.empty(name)
        nothing = {column: "" if kind == pl.String else None for column, kind in empty.schema.items()}
        frame = pl.DataFrame({**nothing, **columns}, schema=empty.schema)
        warehouse.write([Replacement(name, frame, None)], run_id="test")
    return warehouse


def outcomes(warehouse: Warehouse, folder: Path, **changes: Any) -> dict[tuple[str, str], dict[str, Any]]:
    rows = reproduce(warehouse, "b", read(write(folder, {**TABLE, **changes})), folder)
    return {(row["row"], row["column"]): row for row in rows.to_dicts()}


def test_values_are_compared_with_the_printed_numbers(filled: Warehouse, tmp_path: Path) -> None:
    found = outcomes(filled, tmp_path)
    assert found["Chance", "FORM"] == {
        "benchmark": "b", "paper_table": "4", "row": "Chance", "column": "FORM", "place": "page 9",
        "published": "50.00", "value": 50.0149, "difference": pytest.approx(0.0149), "outcome": EXPLAINED,
        "reason": "It was cut.", "link": "docs/x.md",
        "origin": "task_chance.score with baseline 'chance', task 'FORM'",
    }  # fmt: skip
    needed = found["Model", "FORM ±"]
    assert (needed["outcome"], needed["reason"], needed["value"]) == (NEEDS["outputs"], "the outputs; ask", None)


@pytest.mark.parametrize(
    ("cell", "differs", "outcome"),
    [
        ("50.01", [], DIGITS),
        ("50.0", [], DIGITS),
        ("50", [], DIGITS),
        ("50.02", [], DIFFERS),
        ("50.00", [], DIFFERS),
        ("50.00", [{"ours": {"Chance": {"FORM": "50.02"}}}], DIFFERS),
        ("50.00", [{"ours": {"Chance": {"FORM": "50.0149"}}}], EXPLAINED),
        ("50.00", [{"ours": {"Chance": {"FORM": "50.0148"}}}], DIFFERS),
        ("50.00", [{"within": "0.0149"}], EXPLAINED),
        ("50.00", [{"within": "0.0149", "kind": "print"}], ADMITTED["print"]),
        ("50.00", [{"within": "0.0149", "kind": "optimizer"}], ADMITTED["optimizer"]),
        ("50.00", [{"within": "0.0148"}], DIFFERS),
        ("50.00", [{"within": "1", "columns": ["SPEECH"]}], DIFFERS),
        ("50.00", [{"within": "1", "rows": ["Model"]}], DIFFERS),
    ],
)
def test_only_a_reason_in_the_file_excuses_a_difference(
    filled: Warehouse, tmp_path: Path, cell: str, differs: list[dict[str, Any]], outcome: str
) -> None:
    reasons = [{"because": "It was cut.", "link": "docs/x.md", **each} for each in differs]
    row = outcomes(filled, tmp_path, rows={**TABLE["rows"], "Chance": [cell, "—"]}, differs=reasons)["Chance", "FORM"]
    assert row["outcome"] == outcome
    assert bool(row["reason"]) is bool(row["link"]) is (outcome in ADMITTED.values())


def test_the_entries_of_a_published_list_are_counted(filled: Warehouse, tmp_path: Path) -> None:
    listed = {"source": "record", "file": "a/x.json", "keys": {"Short": "left_out.short"}}
    counted = {
        "columns": ["Affected"], "rows": {"Short": ["3"]}, "differs": [],
        "sources": [{"listed": listed}, {"needs": {"what": "the record", "how": "fetch it"}}],
    }  # fmt: skip
    assert outcomes(filled, tmp_path, **counted)["Short", "Affected"]["outcome"] == NEEDS["files"]
    (tmp_path / "sources/record/a").mkdir(parents=True)
    (tmp_path / "sources/record/a/x.json").write_text('{"left_out": {"short": ["a:1", "a:2", "b:1"]}}')
    row = outcomes(filled, tmp_path, **counted)["Short", "Affected"]
    assert (row["outcome"], row["origin"]) == (EQUAL, "entries of left_out.short in a/x.json")


def test_counts_are_equal_or_differ(filled: Warehouse, tmp_path: Path) -> None:
    counted = {
        "columns": ["Affected", "Left"], "rows": {"Short": ["970", "3,000"], "similar": ["40", "—"]},
        "sources": [{"lookup": FUNNEL}], "differs": [],
    }  # fmt: skip
    found = outcomes(filled, tmp_path, **counted)
    assert {key: row["outcome"] for key, row in found.items()} == {
        ("Short", "Affected"): EQUAL, ("Short", "Left"): NEEDS["files"], ("similar", "Affected"): DIFFERS,
    }  # fmt: skip
    assert "no value in funnel.remaining" in found["Short", "Left"]["origin"]


def test_rows_of_a_table_can_be_counted(filled: Warehouse, tmp_path: Path) -> None:
    lookup = {"table": "task_chance", "where": {"baseline": "chance"}, "count": True}
    found = outcomes(filled, tmp_path, columns=["Tasks"], rows={"All": ["2"]}, sources=[{"lookup": lookup}], differs=[])
    assert found["All", "Tasks"]["outcome"] == EQUAL


def test_a_share_is_multiplied(filled: Warehouse, tmp_path: Path) -> None:
    sources = [{"lookup": LOOKUP | {"scale": 100}}]
    found = outcomes(filled, tmp_path, rows={"Chance": ["5001.5%", "1,225"]}, sources=sources, differs=[])
    assert [row["outcome"] for row in found.values()] == [DIGITS, EQUAL]


def test_what_the_home_lacks_comes_from_the_next_source(warehouse: Warehouse, tmp_path: Path) -> None:
    """`needs` after a lookup says what is missing; without it, the number is only not computed."""
    assert outcomes(warehouse, tmp_path)["Chance", "FORM"]["outcome"] == NEEDS["files"]
    for further, outcome in (
        ({"needs": {"kind": "texts", "what": "a", "how": "b"}}, NEEDS["texts"]),
        ({"quoted": "table 4"}, QUOTED),
    ):
        found = outcomes(warehouse, tmp_path, sources=[{"lookup": LOOKUP}, further])
        assert found["Chance", "FORM"]["outcome"] == outcome


def test_only_rows_with_the_texts_count(filled: Warehouse, tmp_path: Path) -> None:
    sources = [{"lookup": LOOKUP | {"containing": {"signature": "guess"}}}]
    found = outcomes(filled, tmp_path, rows={"Chance": ["50.01", "12.25"]}, sources=sources, differs=[])
    assert [row["outcome"] for row in found.values()] == [NEEDS["files"], DIGITS]
    assert found["Chance", "SPEECH"]["origin"].endswith("task 'SPEECH', signature 'guess'")


@pytest.mark.parametrize(("corpus", "outcome"), [("c", DIGITS), ("d", NEEDS["files"])])
def test_a_lookup_may_require_other_rows(filled: Warehouse, tmp_path: Path, corpus: str, outcome: str) -> None:
    given = {"table": "funnel", "where": {"corpus": corpus, "reason": "short"}}
    rows = {"Chance": ["50.01", "—"]}
    found = outcomes(filled, tmp_path, rows=rows, sources=[{"lookup": LOOKUP | {"given": given}}], differs=[])
    assert found["Chance", "FORM"]["outcome"] == outcome


def test_a_lookup_that_matches_several_rows_is_refused(filled: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"funnel: corpus 'c': 10 rows match a published number; name further columns"):
        outcomes(filled, tmp_path, columns=["Affected"], rows={"Short": ["1"]}, differs=[],
                 sources=[{"lookup": {"table": "funnel", "where": {"corpus": "c"}, "value": "affected"}}])  # fmt: skip


def test_outcomes_are_those_of_the_catalogue() -> None:
    assert table("reproduction").columns["outcome"].values == OUTCOMES


def test_outcomes_are_counted_by_table(filled: Warehouse, tmp_path: Path) -> None:
    rows = reproduce(filled, "b", read(write(tmp_path, TABLE)), tmp_path)
    assert counts(rows).to_dicts() == [
        {"benchmark": "b", "table": "4", "numbers": 4, EXPLAINED: 1, NEEDS["outputs"]: 3}
    ]


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_count_agrees_only_with_itself(published: int, value: int) -> None:
    assert (judged(f"{published:,}", Decimal(value), True, None) == EQUAL) is (published == value)

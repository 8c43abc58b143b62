"""Glossaries of the 46 literary chunks: what their human translations have of them, through the assets."""

import csv
import json
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest

from benchmark_assets.automation import runs
from benchmark_assets.corpus.registry import register
from benchmark_assets.definitions import build_definitions
from benchmark_assets.translation.imports import import_outputs
from resources.warehouse import Warehouse
from tests.literary.glossaries import write_chunks
from tests.support import CONSTRUCTION, CORE, LetterEmbedder, materialized, write_outputs

pytestmark = pytest.mark.realdata

FILES = {"botchan": "botchan_morri", "hongloumeng": "hongloumeng_joly"}
GENDERS = {"male": "masculine", "female": "feminine", None: ""}
HUMAN = "human"


@pytest.fixture
def chunks(realdata: Path) -> dict[str, list[dict[str, Any]]]:
    lines = {corpus: (realdata / f"literary/{file}.jsonl").read_text("utf-8") for corpus, file in FILES.items()}
    return {corpus: [json.loads(line) for line in text.splitlines()] for corpus, text in lines.items()}


def test_human_translations_have_103_of_112_and_80_of_82_terms(
    chunks: dict[str, list[dict[str, Any]]], warehouse: Warehouse, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    """As the data's own flags say, term by term; and the same text, taken for an output, has the same terms."""
    for corpus, own in chunks.items():
        literary = {"human": HUMAN, "glossary": str(tmp_path / f"{corpus}.csv")}
        with Path(literary["glossary"]).open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["passage", "term", "translation", "gender"])
            for chunk in own:
                for term in chunk["glossary"]:
                    cells = term["term"], term["translation"], GENDERS[term["gender"]]
                    rows.writerow([f"{corpus}/{chunk['chunk_id']}", *cells])
        texts = {chunk["chunk_id"]: (chunk["source"], chunk["human"]) for chunk in own}
        register(warehouse, write_chunks(tmp_path / corpus, corpus, own[0]["lang"], HUMAN, texts, literary))

    definitions = build_definitions(
        rooms=CORE, resource_overrides={"warehouse": warehouse, "embedder": LetterEmbedder()}
    )
    runs.look(definitions, instance)
    first, last = (
        f"{corpus}/{chunks[corpus][end]['chunk_id']}" for corpus, end in (("botchan", 0), ("hongloumeng", -1))
    )
    materialized(definitions, [*CONSTRUCTION, "glossary"], first, last)
    found = warehouse.read("glossary", columns=["passage", "term", "in_source", "in_human"])
    assert found["in_source"].all()
    flags = {
        (f"{corpus}/{chunk['chunk_id']}", term["term"]): term["in_human"]
        for corpus, own in chunks.items() for chunk in own for term in chunk["glossary"]
    }  # fmt: skip
    assert {(passage, term): in_human for passage, term, _, in_human in found.iter_rows()} == flags
    counts = found.group_by(pl.col("passage").str.split("/").list.first()).agg(pl.len(), pl.col("in_human").sum())
    assert sorted(counts.rows()) == [("botchan", 82, 80), ("hongloumeng", 112, 103)]

    for corpus, own in chunks.items():
        lines = write_outputs(
            tmp_path / f"{corpus}.outputs.jsonl", {chunk["chunk_id"]: chunk["human"] for chunk in own}
        )
        import_outputs(warehouse, lines, corpus, "person")
    instance.add_dynamic_partitions("model", ["person"])
    materialized(definitions, ["model_output", "term_adherence"], f"person|{first}", f"person|{last}")
    materialized(definitions, ["adherence_summary"], "person", "person")
    given = warehouse.read("term_adherence")
    assert given.filter(pl.col("present") != pl.col("in_human")).is_empty()
    summary = warehouse.read("adherence_summary").rows_by_key("corpus", named=True, unique=True)
    for corpus, terms, present in (("botchan", 82, 80), ("hongloumeng", 112, 103)):
        row = summary[corpus]
        assert (row["terms"], row["present"], row["human_present"]) == (terms, present, present)
        assert row["adherence"] == row["human_adherence"] == present / terms
        assert row["adherence_low"] <= row["adherence"] <= row["adherence_high"]

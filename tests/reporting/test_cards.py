"""Pages of partitions in Dagster: the passage can be read there, unless a text is restricted."""

from datetime import datetime
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
import yaml

from benchmark_assets.automation import runs
from benchmark_assets.reporting.cards import cards
from resources.warehouse import Warehouse
from tests.audit.stored import put
from tests.support import MODELS, PASSAGES

pytestmark = pytest.mark.usefixtures("built", "drawn")


def card(instance: dg.DagsterInstance, asset: str, partition: str) -> tuple[str, str]:
    """Text and link to the reader."""
    events = instance.fetch_materializations(
        dg.AssetRecordsFilter(asset_key=dg.AssetKey(asset), asset_partitions=[partition]), limit=1
    ).records
    materialization = events[0].asset_materialization
    assert materialization is not None
    text, reader = (materialization.metadata[name] for name in ("text", "reader"))
    assert isinstance(reader, dg.UrlMetadataValue)
    return str(text.value), str(reader.value)


def test_the_page_of_a_passage_shows_its_source_and_references(instance: dg.DagsterInstance) -> None:
    shown, reader = card(instance, "reference", PASSAGES[0])
    assert "**source**\n\n> Mus currit. Felis sedet." in shown
    assert "**ben**\n\n> The mouse is running. A cat sits still." in shown
    assert f"origin: `variorum trace MODEL {PASSAGES[0]}`" in shown
    assert reader == "/readers/tiny/#passage=doc1:1"


def test_the_page_of_a_passage_shows_what_stands_beside_its_segments(warehouse: Warehouse) -> None:
    """Of its own segments, and of other documents nothing."""
    place = {"corpus": "tiny", "translator": "ann", "kind": "note", "position": 0}
    put(warehouse, "aside",
        {**place, "document": "doc1", "segment_id": "doc1:1.1", "text": "A common mouse."},
        {**place, "document": "doc2", "segment_id": "doc1:1.1", "text": "Not this one."})  # fmt: skip
    shown = cards(warehouse, "reference", pl.DataFrame({"model": "", "passage": PASSAGES[:2]}))
    assert "**beside ann**\n\n> doc1:1.1 note: A common mouse." in shown[PASSAGES[0]].text
    assert "Not this one" not in shown[PASSAGES[0]].text
    assert "beside" not in shown[PASSAGES[1]].text


def test_the_page_of_an_alignment_shows_text_and_doubt_and_leads_to_where_it_is_corrected(warehouse: Warehouse) -> None:
    empty = {name: [None, None] for name in ("starts", "ends", "likeness", "methods")}
    row = {"passage": PASSAGES[0], "translator": "ann", "confidence": 0.1, **empty}
    put(warehouse, "alignment", {**row, "segments": ["A mouse.", None], "doubt": "resembles nothing"})
    address = "/readers/tiny/corrections/#at=doc1:1"
    for asset in ("alignment", "reference"):
        shown = cards(warehouse, asset, pl.DataFrame({"model": "", "passage": PASSAGES[:1]}))[PASSAGES[0]]
        assert "**ann, in doubt: resembles nothing**" in shown.text
        assert f"]({address})" in shown.text
    shown = cards(warehouse, "alignment", pl.DataFrame({"model": "", "passage": PASSAGES[:1]}))[PASSAGES[0]]
    assert "doc1:1.1" in shown.text
    assert "A mouse." in shown.text
    assert shown.reader == address


def test_the_page_of_an_output_shows_its_text_scores_and_origin(
    instance: dg.DagsterInstance, warehouse: Warehouse
) -> None:
    shown, reader = card(instance, "drift_score", f"{MODELS[0]}|{PASSAGES[0]}")
    (text,) = warehouse.read("model_output").filter(model=MODELS[0], passage=PASSAGES[0])["text"]
    assert f"> {text}" in shown
    assert ", drift " in shown
    assert f"variorum trace {MODELS[0]} {PASSAGES[0]}" in shown
    assert reader == f"/readers/tiny/#passage=doc1:1&model={MODELS[0]}"


def test_the_page_of_an_output_names_the_call_that_it_came_from(warehouse: Warehouse) -> None:
    key = {"model": MODELS[0], "passage": PASSAGES[0]}
    call = {
        "attempt": 1, "call": "c" * 16, "replicate": 0, "run": "r", "model": MODELS[0], "purpose": "translate",
        "place": "recording", "asked": datetime(2026, 11, 24), "outcome": "answered", "served_model": "served-1",
        "prompt_tokens": 70, "completion_tokens": 8, "cost": 0.5, "reserved": 1.0,
    }  # fmt: skip
    put(warehouse, "model_call", call)
    put(
        warehouse,
        "study_call",
        {**key, "study": "model_output", "task": "", "item": "", "parsing": 0, "call": "c" * 16},
    )
    (shown,) = cards(warehouse, "drift_score", pl.DataFrame([key])).values()
    told = f"call of {MODELS[0]} with the prompt translate, answered by served-1, 70 tokens in, 8 out, 0.500000"
    assert told in shown.text


def test_a_restricted_text_and_an_output_that_copies_it_are_shown_by_their_length(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path
) -> None:
    description = yaml.safe_load(corpus.read_text())
    description["references"]["ben"]["restricted"] = True
    corpus.write_text(yaml.safe_dump(description))
    runs.look(built, instance)
    partitions = pl.DataFrame({"model": "", "passage": PASSAGES})
    shown = cards(warehouse, "reference", partitions)
    assert set(shown) == set(PASSAGES)
    assert "The mouse is running" not in "".join(card.text for card in shown.values())
    assert "**ben**: 39 characters, which may not be shown here" in shown[PASSAGES[0]].text

"""Passages as the filters look at them, out of a warehouse in which rows of two corpora lie."""

import polars as pl
import pytest

from benchmark_assets.corpus.filters import Filters
from benchmark_assets.corpus.renderings import renderings
from benchmark_assets.selection.candidates import filters, measured, selected, settings
from resources.warehouse import Replacement, Warehouse
from tests.audit.stored import put

PASSAGES = pl.DataFrame({"passage": ["free/a:1", "strict/a:1"]})


@pytest.fixture
def filled(warehouse: Warehouse) -> Warehouse:
    """Ann's renderings in segments and Dora's aligned, of a passage of each corpus; one of them has filters."""
    corpora = {"free": None, "strict": Filters(min_characters=9).model_dump_json()}
    described = {"description": "c.yaml", "texts": 2}
    put(warehouse, "corpus", *({"corpus": name, "filters": text} | described for name, text in corpora.items()))
    own = {"segment_ids": ["a:1.1", "a:1.2"], "segments": ["Mus currit.", "Felis sedet."], "passage_id": "a:1"}
    place = {"document": "a", "position": 0, "language": "la", "text": "Mus currit. Felis sedet."}
    passages = [{"passage": passage} for passage in PASSAGES["passage"]]
    put(warehouse, "source_text", *(each | own | place | {"corpus": each["passage"][:-4]} for each in passages))
    ann = {"translator": "ann", "segments": ["A mouse runs.", "The cat sits."], "flag": "partial"}
    put(warehouse, "segmented_reference", *(each | ann for each in passages))
    none: list[None] = [None, None]
    dora = {"translator": "dora", "segments": ["Off it goes.", None], "methods": ["embedding", None]}
    spans = {"starts": none, "ends": none, "likeness": none}
    put(warehouse, "alignment", *(each | dora | spans for each in passages))
    found = {"translator": "dora", "similarity": 0.4, "in_order": True, "evidence": ""}
    stages = [("free/a:1", "a:1.1", "verbatim"), ("strict/a:1", "a:1.1", "suspicious"),
              ("strict/a:1", "a:1.2", "suspicious")]  # fmt: skip
    put(warehouse, "verification", *({"passage": p, "segment_id": s, "stage": t} | found for p, s, t in stages))
    return warehouse


def test_renderings_are_those_in_segments_and_those_that_were_aligned(filled: Warehouse) -> None:
    rows = renderings(filled, PASSAGES).select("passage", "translator", "text", "flag", "suspicious").rows()
    assert rows == [
        ("free/a:1", "ann", "A mouse runs. The cat sits.", "partial", 0),
        ("free/a:1", "dora", "Off it goes.", None, 0),
        ("strict/a:1", "ann", "A mouse runs. The cat sits.", "partial", 0),
        ("strict/a:1", "dora", "Off it goes.", None, 2),
    ]
    assert renderings(filled, PASSAGES.head(1))["passage"].unique().to_list() == ["free/a:1"]
    assert renderings(filled, PASSAGES.clear()).is_empty()


def test_only_corpora_with_filters_have_thresholds(filled: Warehouse) -> None:
    assert filters(filled) == {"strict": Filters(min_characters=9)}


def test_only_passages_of_corpora_with_filters_are_measured(filled: Warehouse) -> None:
    [row] = measured(filled, PASSAGES).to_dicts()
    assert (row["passage"], row["complete_references"], row["shortest"]) == ("strict/a:1", 1, 12)
    assert row["reasons"] == ["incomplete", "suspicious", "length_ratio"]
    for nothing in (PASSAGES.head(1), PASSAGES.clear()):
        found = measured(filled, nothing)
        assert found.is_empty()
        assert set(found.columns) == set(row)


def test_measures_rest_on_the_thresholds_and_on_how_many_references_there_are(filled: Warehouse) -> None:
    before = settings(filled)
    assert set(before) == {"strict"}
    row = filled.read("corpus").drop("run_id", "updated_at")
    for column, other in {"texts": 3, "filters": Filters(min_characters=10).model_dump_json()}.items():
        changed = row.with_columns(pl.lit(other).cast(row.schema[column]).alias(column))
        filled.write([Replacement("corpus", changed, None)], run_id="test")
        assert settings(filled)["strict"] != before["strict"]


def test_a_passage_is_selected_once_however_many_models_are_asked_for(filled: Warehouse) -> None:
    put(filled, "selection", {"passage": "free/a:1", "selected": True, "reasons": []},
         {"passage": "strict/a:1", "selected": False, "reasons": ["short"]})  # fmt: skip
    asked = PASSAGES.join(pl.DataFrame({"model": ["alpha", "beta"]}), how="cross")
    assert selected(filled, asked).rows() == [("free/a:1", "")]
    assert selected(filled, pl.DataFrame({"passage": ["free/a:2"]})).is_empty()

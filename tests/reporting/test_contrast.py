"""Where two systems differ: words by kind, n-grams and passages, by hand and on a home."""

from pathlib import Path

import dagster as dg
import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from benchmark_assets.automation import runs
from benchmark_assets.reporting.contrast import by_gram, by_kind, by_part, contrast, differing, found, grams, kinds
from resources.errors import BadInput
from resources.warehouse import Warehouse
from tests.support import MODELS

REFERENCES = pl.DataFrame({
    "passage": ["c/1", "c/1", "c/2", "c/3"],
    "translator": ["ann", "ben", "ann", "ann"],
    "text": ["In 30 days Hanno came.", "After 30 days Hanno arrived.", "The ship came with Hanno.", "The ship sank."],
})  # fmt: skip
OUTPUTS = pl.DataFrame({
    "model": ["one", "one", "one", "two", "two"],
    "passage": ["c/1", "c/2", "c/3", "c/1", "c/3"],
    "text": ["Hanno came in 30 days", "the ship came", "a vessel sank", "hanno was there", "The ship sank!"],
})  # fmt: skip


def test_words_have_the_kind_of_their_form_and_of_how_many_passages_have_them() -> None:
    found = dict(kinds(REFERENCES).select("gram", "kind").iter_rows())
    assert (found["30"], found["hanno"], found["sank"]) == ("number", "name", "rare")
    many = pl.DataFrame({"passage": ["1", "2", "3"], "translator": "ann", "text": ["a ship", "the ship", "Ship ahoy"]})
    assert dict(kinds(many).select("gram", "kind").iter_rows())["ship"] == "other", "it begins a sentence"


def test_a_word_counts_once_a_passage_for_both_one_or_neither() -> None:
    rows = by_kind(REFERENCES, OUTPUTS, "one", "two")
    assert rows.columns == ["kind", "words", "both", "only one", "only two", "neither"]
    of_kind = {kind: counts for kind, *counts in rows.iter_rows()}
    assert of_kind["number"] == [1, 0, 1, 0, 0]
    assert of_kind["name"] == [2, 1, 0, 0, 1], "Hanno: in c/1 both, in c/2 neither"
    assert sum(of_kind["rare"]) == 2 * of_kind["rare"][0]


def test_n_grams_of_one_system_come_before_those_of_the_other() -> None:
    rows = by_gram(REFERENCES, OUTPUTS, "one", "two")
    lead = rows["only one"] - rows["only two"]
    assert lead.to_list() == sorted(lead, reverse=True)
    counts = {gram: (first, second, passages) for gram, first, second, passages in rows.iter_rows()}
    assert counts["30 days"] == (1, 0, 1)
    assert counts["the ship sank"] == (0, 1, 1)
    assert "the ship" not in counts, "each has it once alone"


@given(st.lists(st.text("ab c", max_size=12), min_size=1, max_size=4))
def test_n_grams_are_those_of_each_text_alone(texts: list[str]) -> None:
    rows = pl.DataFrame({"passage": "p", "text": texts})
    expected = {
        " ".join(words[at : at + length])
        for words in (text.split() for text in texts) for length in (1, 2, 3) for at in range(len(words) - length + 1)
    }  # fmt: skip
    assert sorted(grams(rows)["gram"]) == sorted(expected)


def test_passages_are_those_at_both_ends() -> None:
    pairs = pl.DataFrame({"passage": ["1", "2", "3", "4"], "one": [9.0, 5.0, 1.0, 2.0], "two": [1.0, 5.0, 9.0, 1.0]})
    assert differing(pairs, "one", "two", 1)["passage"].to_list() == ["1", "3"]
    assert differing(pairs, "one", "two")["difference"].to_list() == [8.0, 1.0, -8.0]


def test_parts_have_the_mean_difference_of_their_passages() -> None:
    pairs = pl.DataFrame({"passage": [str(at) for at in range(8)], "unit": [str(at) for at in range(8)],
                          "one": [2.0, 3, 4, 5, 6, 7, 8, 9], "two": [1.0, 1, 1, 1, 9, 9, 9, 9]})  # fmt: skip
    parts = pl.DataFrame({"passage": pairs["passage"], "dimension": "rarity", "least": 0.0,
                          "slice": ["common"] * 4 + ["rare"] * 4})  # fmt: skip
    common, rare = by_part(pairs, parts, "one", "two").to_dicts()
    assert (common["part"], common["passages"], common["difference"]) == ("common", 4, 2.5)
    assert (rare["one"], rare["two"], rare["difference"], rare["low"]) == (7.5, 9.0, -1.5, None), "four units"


@pytest.mark.usefixtures("built")
def test_a_home_is_contrasted_without_the_words_of_restricted_references(
    built: dg.Definitions, instance: dg.DagsterInstance, warehouse: Warehouse, corpus: Path
) -> None:
    tables = contrast(warehouse, MODELS[0], MODELS[1], "tiny")
    assert len(tables.passages)
    assert len(tables.parts)
    shares = found(warehouse, "tiny", MODELS)
    assert shares["share"].is_between(0, 1).all()
    assert shares["model"].unique().sort().to_list() == MODELS
    with pytest.raises(BadInput, match="fewer than two passages"):
        contrast(warehouse, MODELS[0], "nobody", "tiny")
    description = yaml.safe_load(corpus.read_text())
    for each in description["references"].values():
        each["restricted"] = True
    corpus.write_text(yaml.safe_dump(description))
    runs.look(built, instance)
    later = contrast(warehouse, MODELS[0], MODELS[1], "tiny")
    assert later.grams.is_empty()
    assert_frame_equal(later.kinds, tables.kinds)

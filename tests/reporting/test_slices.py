import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.metrics.entries import BY_NAME
from benchmark_assets.metrics.summary import summarize
from benchmark_assets.reporting.slices import THIRDS, of_named, rarity, sliced, slices
from tests.metrics.scores import scores


def passages(
    documents: list[str], lengths: list[int], spreads: list[float | None] | None = None, corpus: str = "x"
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "corpus": corpus,
            "passage": [f"{corpus}/{at}" for at in range(len(documents))],
            "document": documents,
            "source_length": lengths,
            "reference_length": [float(each) for each in lengths],
            "human_spread": pl.Series(spreads or [None] * len(documents), dtype=pl.Float64),
            "rarity": pl.Series([None] * len(documents), dtype=pl.Float64),
        }
    )


def parts(found: pl.DataFrame, dimension: str) -> dict[str, list[str]]:
    rows = found.filter(dimension=dimension).sort("passage")
    return {name: own["passage"].to_list() for (name,), own in rows.group_by(["slice"], maintain_order=True)}


def test_a_collection_is_what_a_documents_id_begins_with_up_to_a_character_that_is_no_letter() -> None:
    found = slices(passages(["an10.13", "mn1", "sn-3", "ān.2", "an1", "7"], [1] * 6))
    assert parts(found, "collection") == {"an": ["x/0", "x/4"], "mn": ["x/1"], "sn": ["x/2"], "ān": ["x/3"]}


def test_thirds_are_by_rank_and_say_their_bounds() -> None:
    found = slices(passages(["d"] * 6, [10, 60, 20, 50, 30, 40], [0.1, None, 0.3, 0.2, None, None]))
    assert parts(found, "source_length") == {
        "short": ["x/0", "x/2"], "long": ["x/1", "x/3"], "middle": ["x/4", "x/5"]
    }  # fmt: skip
    assert parts(found, "human_spread") == {"narrow": ["x/0"], "wide": ["x/2"], "middle": ["x/3"]}
    bounds = found.filter(dimension="source_length").select("slice", "least", "most").unique().sort("least")
    assert bounds.rows() == [("short", 10, 20), ("middle", 30, 40), ("long", 50, 60)]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_a_third_has_a_third_and_equal_values_stay_together(values: list[int]) -> None:
    found = slices(passages(["d"] * len(values), values)).filter(dimension="source_length")
    if found.is_empty():
        return
    owner = dict(found.select("passage", "slice").iter_rows())
    names = THIRDS["source_length"]
    placed = sorted((value, names.index(owner[f"x/{at}"])) for at, value in enumerate(values))
    assert [third for _, third in placed] == sorted(third for _, third in placed)
    assert len(set(placed)) == len(set(values))
    if len(set(values)) == len(values):
        sizes = [sum(third == each for _, third in placed) for each in range(3)]
        assert max(sizes) - min(sizes) <= 1


def test_words_are_rare_by_the_share_of_the_corpus_that_has_them() -> None:
    texts = pl.DataFrame({"corpus": ["x"] * 4 + ["y"], "passage": ["x/1", "x/2", "x/3", "x/4", "y/1"],
                          "text": ["mus Mus felis", "mus", "!", "canis", "mus"]})  # fmt: skip
    found = dict(rarity(texts).iter_rows())
    assert found["x/2"] == pytest.approx(math.log(2), abs=1e-6)
    assert found["x/1"] == pytest.approx((math.log(2) + math.log(4)) / 2, abs=1e-6), "each word once"
    assert found["y/1"] == 0.0
    assert "x/3" not in found


def test_what_does_not_divide_a_corpus_is_no_dimension() -> None:
    found = slices(pl.concat([passages(["an1", "an2"], [5, 5]), passages(["an1", "mn1"], [5, 6], corpus="y")]))
    assert found.select("corpus", "dimension").unique().sort("dimension").rows() == [
        ("y", "collection"), ("y", "reference_length"), ("y", "source_length"),
    ]  # fmt: skip


def test_a_slice_is_summarized_as_if_it_were_all() -> None:
    rows = scores([1.0, 5.0, 2.0, 0.5]).rename({"model": "system"}).with_columns(corpus=pl.lit("x"))
    found = sliced(rows, slices(passages(["an1", "mn1", "an2", "mn2"], [1, 2, 3, 4])))
    own = found.row(by_predicate=pl.col("slice") == "an", named=True)
    alone = summarize(rows.filter(pl.col("passage").is_in(["x/0", "x/2"])))
    assert {name: own[name] for name in alone} == alone
    assert (own["corpus"], own["dimension"], own["least"]) == ("x", "collection", None)
    for _, dimension in found.group_by("dimension"):
        assert dimension["passages"].sum() == 4
    long = found.row(by_predicate=(pl.col("dimension") == "source_length") & (pl.col("slice") == "long"), named=True)
    assert (long["least"], long["most"], long["drift"]) == (4, 4, pytest.approx(0.5))


def test_named_metrics_have_means_of_corpora_and_slices_within_their_range() -> None:
    ter = BY_NAME["ter"]._replace(made="TER|…")
    values = [*[float(at % 3) for at in range(12)], None]
    rows = scores([1.0] * 13).rename({"model": "system"}).with_columns(
        corpus=pl.lit("x"), ter=pl.Series(values), unit=pl.Series([str(at // 2) for at in range(13)])
    )  # fmt: skip
    found = of_named(rows, slices(passages(["a"] * 6 + ["b"] * 7, [1] * 13)), [ter])
    assert found.select("dimension", "slice", "passages", "value").rows() == [
        ("", "", 12, 1.0), ("collection", "a", 6, 1.0), ("collection", "b", 6, 1.0)
    ]  # fmt: skip
    whole, part = found.row(0, named=True), found.row(1, named=True)
    assert 0 <= whole["value_low"] < 1 < whole["value_high"]
    assert (part["value_low"], part["value_high"]) == (None, None)  # three units are too few
    assert whole["signature"].startswith("TER|…; mean over passages, 100 without a usable output; 95 % intervals")
    zero = rows.with_columns(ter=pl.when(pl.col("unit") == "0").then(9.0).otherwise(0.0))
    assert of_named(zero, slices(passages(["a"] * 13, [1] * 13)), [ter])["value_low"].item() == 0

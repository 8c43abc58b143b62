from collections.abc import Mapping, Sequence
from types import MappingProxyType

import polars as pl
import pytest

from benchmark_assets.metrics.summary import summarize
from benchmark_assets.reporting.comparability import MADE
from benchmark_assets.reporting.headline import ERRORS, RATE, told_apart, words
from benchmark_assets.reporting.leaderboard import (
    TRANSLATORS,
    further,
    listed,
    origins,
    rank,
    readable,
    summaries,
    titled,
)
from resources.errors import BadInput
from resources.tables import plain
from tests.metrics.scores import scores


def board(
    models: list[pl.DataFrame], humans: list[pl.DataFrame] | None = None, made: Sequence[Sequence[str | None]] = (),
    rates: Mapping[str, float] = MappingProxyType({}), by: str = "sim_best",
) -> pl.DataFrame:  # fmt: skip
    """The leaderboard of these scores, of outputs that were made so. `rates` are error rates from labels in corpus x;
    `by` is the measure with a certificate, '' for none."""
    empty = scores([])
    human = pl.concat([empty, *(humans or [])]).rename({"model": "translator"})
    human = human.with_columns(kind=pl.lit("human"), ranked=pl.lit(value=False))
    known = pl.DataFrame(list(made), schema=MADE, orient="row")
    errors = pl.DataFrame([("x", name, rate, None, None) for name, rate in rates.items()], schema=ERRORS, orient="row")
    summarized = summaries(pl.concat([empty, *models]), "model"), summaries(human, "translator")
    return rank(*summarized, known, errors, dict.fromkeys("xy", by) if by else {})


def test_each_corpus_is_summarized_apart() -> None:
    own = [scores([1.0, 5.0], corpus="x"), scores([3.0], corpus="y"), scores([0.5, 0.7], system="k", corpus="y")]
    rows = summaries(pl.concat(own), "model").sort("model", "corpus")
    assert rows.select("model", "corpus", "passages", "drift").rows() == [
        ("k", "y", 2, 0.6), ("m", "x", 2, 3.0), ("m", "y", 1, 3.0),
    ]  # fmt: skip
    for row, part in zip(rows.sort("model", "corpus").iter_rows(named=True), (own[2], own[0], own[1]), strict=True):
        assert {name: row[name] for name in summarize(part)} == summarize(part)


def test_what_follows_the_first_slash_belongs_to_the_passage() -> None:
    rows = summaries(scores([1.0]).with_columns(passage=pl.lit("x/book/1")), "model")
    assert rows["corpus"].to_list() == ["x"]


def test_the_most_similar_comes_first_and_what_has_no_score_last() -> None:
    models = [
        scores([None], [None], system="silent"),
        scores([1.0], [0.8], system="middling"),
        scores([None], [0.7], system="without envelope"),
        scores([1.0], [0.95], system="best"),
    ]
    found = board(models, humans=[scores([2.0], [0.9], system="ann")])
    assert found.select("rank", "kind", "system").rows() == [
        (1, "model", "best"), (2, "model", "middling"), (3, "model", "without envelope"), (None, "model", "silent"),
        (None, "human", "ann"),
    ]  # fmt: skip


def test_error_rates_of_people_order_models_before_any_measure() -> None:
    models = [scores([1.0], [s], system=name) for name, s in (("far", 0.5), ("near", 0.9), ("new", 0.8), ("tied", 0.1))]
    found = board(models, rates={"far": 0.0, "near": 0.3, "tied": 0.0})
    assert found.select("rank", "system", "ordered_by").rows() == [
        (1, "far", RATE), (1, "tied", RATE), (3, "near", RATE), (None, "new", RATE),
    ]  # fmt: skip
    assert "major, estimated %" in readable(found).columns


def test_a_model_gains_nothing_by_failing_where_people_find_errors() -> None:
    """Half of the passages of `half` are missing: each counts as a major error."""
    whole, half = (scores([1.0, 1.0], [0.9, 0.9], system=name) for name in ("whole", "half"))
    found = board([whole, half.with_columns(usable=pl.col("passage") == "x/0")], rates={"whole": 0.4, "half": 0.1})
    assert found.select("rank", "system").rows() == [(1, "whole"), (2, "half")]


def test_a_board_of_error_rates_says_which_models_its_intervals_tell_apart() -> None:
    def told(*rates: tuple[float, float]) -> str:
        rows = [(f"m{n}", low, high) for n, (low, high) in enumerate(rates)]
        return told_apart(pl.DataFrame(rows, ["system", f"{RATE}_low", f"{RATE}_high"], orient="row"))

    assert told((0, 0.1)) == ""
    assert told((0, 0.3), (0.2, 0.5)) == "All their intervals overlap, so the order may be chance."
    assert told((0, 0.1), (0.2, 0.5), (0, 0.3)).endswith("tell 1 of 3 pairs apart: m0 from m1.")
    assert told(*((n / 8, n / 8 + 0.1) for n in range(8))).endswith("tell 28 of 28 pairs apart.")


def test_without_labels_and_certificate_nothing_is_ordered() -> None:
    models = [scores([1.0], [s], system=name) for name, s in (("b", 0.9), ("a", 0.5))]
    found = board(models, [scores([1.0], [0.99], system="ann")], by="")
    assert found.select("rank", "system").rows() == [(None, "a"), (None, "b"), (None, "ann")]
    of_models, of_people = listed(found).split("\n\n")
    assert of_models.startswith("Distances, not quality")
    assert "rank" not in of_models.splitlines()[1]
    assert of_people.startswith("Translators")


def test_a_measure_that_falls_with_quality_orders_upwards() -> None:
    models = [scores([drift], [0.5], system=name) for name, drift in (("b", 0.9), ("a", 2.0))]
    assert board(models, by="drift").select("rank", "system").rows() == [(1, "b"), (2, "a")]


def test_a_model_with_too_few_outputs_is_listed_without_a_rank() -> None:
    few = scores([1.0], [0.95], system="few").with_columns(ranked=pl.lit(value=False))
    found = board([few, scores([1.0], [0.9], system="all"), scores([1.0], [0.8], system="both")])
    assert found.select("rank", "system").rows() == [(1, "all"), (2, "both"), (None, "few")]


def test_ranks_start_anew_in_each_corpus() -> None:
    models = [scores([1.0], [s], system=name, corpus=c) for name, c, s in
              [("a", "x", 0.8), ("b", "x", 0.9), ("a", "y", 0.7), ("b", "y", 0.6)]]  # fmt: skip
    ranks = board(models).select("corpus", "rank", "system").rows()
    assert ranks == [("x", 1, "b"), ("x", 2, "a"), ("y", 1, "a"), ("y", 2, "b")]


def test_what_is_not_comparable_is_ranked_and_printed_apart() -> None:
    models = [scores([1.0], [s], system=name) for name, s in (("a", 0.7), ("b", 0.8), ("c", 0.9), ("d", 0.6))]
    models.append(scores([1.0], [0.99], system="e").with_columns(embedder=pl.lit("words")))
    made = [
        ("x", "a", "published", "translate v1 aa", "temperature 0", "bench"), ("x", "b", "imported", None, None, None),
        ("x", "c", "evaluated", "translate v3 bb", None, None), ("x", "d", "evaluated", "translate v3 bb", None, None),
        ("x", "e", "evaluated", "translate v1 aa", None, None),
    ]  # fmt: skip
    found = board(models, [scores([2.0], [0.9], system="ann")], made)
    other_prompt = "prompt translate v3 bb instead of bench's (translate v1 aa)"
    other_embedder = "scored with words instead of letter pairs"
    assert found.select("rank", "system", "apart").rows() == [
        (1, "b", ""), (2, "a", ""), (1, "c", other_prompt), (2, "d", other_prompt), (1, "e", other_embedder),
        (None, "ann", ""),
    ]  # fmt: skip
    first, second, third, fourth = listed(found).split("\n\n")
    assert "a (published)" in first
    assert second.startswith(f"Not comparable with the other rows: {other_prompt}. Ordered by similarity")
    assert third.startswith(f"Not comparable with the other rows: {other_embedder}. Ordered by similarity")
    assert "ann" in fourth
    assert origins(found).row(1) == ("x", "a", "published", "translate v1 aa", "temperature 0", "letter pairs")


def test_each_corpus_has_a_table_under_its_title() -> None:
    models = [scores([1.0], [s], system=name, corpus=c) for c, name, s in
              [("x", "a", 0.7), ("y", "b", 0.9), ("y", "c", 0.5), ("y", "d", 0.4)]]  # fmt: skip
    humans = [scores([2.0], [0.6], system="ann", corpus="y")]
    made = [("y", name, "evaluated", f"t v{v}", None, None) for name, v in (("b", 1), ("c", 2), ("d", 1))]
    found = titled(board(models, humans, made))
    apart = "leaderboard of y (apart: prompt t v2 instead of t v1)"
    assert [*found] == ["leaderboard of x", "leaderboard of y", apart, "translators of y"]
    assert found["leaderboard of x"].startswith(f"{words('sim_best')}\n\n| rank | kind | system |")
    assert [name in found["leaderboard of y"] for name in ("| b |", "| d |", "| c |", "| ann |")] == [
        True,
        True,
        False,
        False,
    ]
    assert found["translators of y"].startswith(TRANSLATORS)
    assert [table.count("\n") for table in listed(board(models, humans)).split("\n\n")] == [2, 4, 2]


def test_without_published_outputs_the_usual_prompt_is_that_of_most_models() -> None:
    made = [("x", name, "evaluated", f"translate v{v} aa", None, None) for name, v in (("a", 1), ("b", 1), ("c", 2))]
    found = board([scores([1.0], [0.7], system=name) for name in "abc"], made=made)
    reasons = [("a", ""), ("b", ""), ("c", "prompt translate v2 aa instead of translate v1 aa")]
    assert found.select("system", "apart").rows() == reasons


def test_a_model_may_bear_the_name_of_a_translator() -> None:
    found = board([scores([1.0], [0.9], system="ann")], humans=[scores([1.0], [0.8], system="ann")])
    assert found.select("kind", "system").rows() == [("model", "ann"), ("human", "ann")]


@pytest.mark.parametrize(
    ("models", "humans", "systems"),
    [
        (["m"], [], ["m"]),
        ([], ["ann"], ["ann"]),
        ([], [], []),
    ],
)
def test_either_side_of_the_leaderboard_may_be_missing(
    models: list[str], humans: list[str], systems: list[str]
) -> None:
    found = board([scores([1.0], system=name) for name in models], [scores([1.0], system=name) for name in humans])
    assert found["system"].to_list() == systems
    assert readable(found)["system"].to_list() == systems


def test_people_read_rounded_numbers_with_their_intervals() -> None:
    row = readable(board([scores([1.0, 5.0] + [1.0] * 6, [0.91234] * 8)])).row(0, named=True)
    assert (row["corpus"], row["rank"], row["kind"], row["system"], row["passages"]) == ("x", 1, "model", "m", 8)
    assert row["similarity"] == "0.912 [0.912, 0.912]"
    assert row["drift"].startswith("1.50 [")
    assert row["outliers %"].startswith("12.5 [")


def test_people_read_a_dash_where_there_is_no_number() -> None:
    row = readable(board([scores([None] * 6, [0.5] * 6)])).row(0, named=True)
    assert (row["drift"], row["outliers %"]) == (None, None)
    assert row["similarity"] == "0.500 [0.500, 0.500]"
    assert readable(board([scores([None], [0.5])]))["similarity"].item() == "0.500"  # one unit has no interval
    nothing = board([scores([None], [None])])
    assert set(plain(readable(nothing)).splitlines()[1].split()[7:]) == {"-"}
    assert set(plain(further(nothing)).splitlines()[1].split()[6:]) == {"-"}


def test_the_number_of_references_is_beside_the_number_of_passages() -> None:
    rows = scores([1.0, 1.0, 1.0]).with_columns(references=pl.Series([3, 3, 2], dtype=pl.UInt32))
    assert readable(board([rows])).select("passages", "references").row(0) == (3, "2.7")


def test_what_is_no_headline_stands_in_a_table_of_its_own() -> None:
    rows = scores([1.0] * 6).with_columns(
        length_ratio=pl.Series([0.5, 1.5] * 3), truncated=pl.Series([True] + [False] * 5)
    )
    row = further(board([rows])).row(0, named=True)
    assert row["length offset"].startswith("0.000 [")
    assert row["length error"] == "0.500 [0.500, 0.500]"
    assert (row["truncated"], row["wrong script"]) == (1, None)


def test_scores_of_two_embedders_are_not_averaged() -> None:
    rows = pl.concat([scores([1.0]), scores([1.0]).with_columns(embedder=pl.lit("another"))])
    with pytest.raises(BadInput, match="several embedders"):
        summaries(rows, "model")


def test_scores_of_two_checkpoints_are_not_averaged_and_one_is_named() -> None:
    one, other, none = (scores([1.0]).with_columns(comet=pl.lit(name, pl.String)) for name in ("wmt20", "wmt22", None))
    with pytest.raises(BadInput, match=r"several COMET checkpoints \(wmt20, wmt22\)"):
        summaries(pl.concat([one, other]), "model")
    assert "COMET: wmt20" in summaries(pl.concat([one, none]), "model")["signature"].item()


def test_summaries_without_ranks_are_readable_too() -> None:
    rows = pl.concat([scores([1.0], system="b"), scores([1.0], system="a")])
    found = readable(summaries(rows, "model").rename({"model": "system"}))
    assert found.columns[:3] == ["corpus", "system", "passages"]
    assert found["system"].to_list() == ["a", "b"]

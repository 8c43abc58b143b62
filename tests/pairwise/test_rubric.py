"""Marks at a real server: who gives them, beside which reference, what counts as one, and what they amount to."""

import json
from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.lineage.computed import Computed
from benchmark_assets.pairwise.rubric import SUMMARY, RubricVotes, read_mark, reference_of, summarize
from benchmark_assets.studies.study import CALLS
from resources.warehouse import Replacement
from tests.pairwise.arena import FIRST, SECOND, THIRD, Arena
from tests.provider.server import Server, dumps
from tests.support import PASSAGES, TRANSLATIONS

MINE = pl.DataFrame({"model": ["ours"] * 3, "passage": PASSAGES})
JUDGES = ("comparer", "marker")
NUMBERS = ("ones", "twos", "threes", "fours", "fives")


def mark(value: Any, perfect: Any = False, justification: Any = "So it is.") -> str:
    return dumps({"justification": justification, "mark": value, "perfect": perfect})


def marked(arena: Arena, outputs: pl.DataFrame = MINE) -> Computed:
    return RubricVotes(arena.warehouse, arena.systems).compute(outputs, "run")


# What counts as a mark.


@given(st.integers(1, 5), st.booleans(), st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_marks_are_read_as_they_stand(value: int, perfect: bool, justification: str) -> None:
    said = {"mark": value, "perfect": perfect and value == 5, "justification": justification}
    assert read_mark(said) == (value, said["perfect"], justification.strip())
    assert read_mark(said | {"justification": None}) == (value, said["perfect"], "")


@pytest.mark.parametrize("value", [0, 6, 3.0, 4.5, "5", True, None, [5]])
def test_other_marks_are_none(value: Any) -> None:
    with pytest.raises(ValueError, match="is not an integer from 1 to 5"):
        read_mark({"mark": value, "perfect": False})


@pytest.mark.parametrize("value", [0, 1, "true", None])
def test_perfect_is_true_or_false(value: Any) -> None:
    with pytest.raises(ValueError, match="is neither true nor false"):
        read_mark({"mark": 5, "perfect": value})


@pytest.mark.parametrize("mark", [1, 4])
def test_an_output_with_a_fault_is_not_perfect(mark: int) -> None:
    with pytest.raises(ValueError, match=f"perfect contradicts mark {mark}"):
        read_mark({"mark": mark, "perfect": True})
    assert not read_mark({"mark": 5, "perfect": False}).perfect


# Beside which reference.


def test_every_translator_is_the_reference_of_an_equal_share_of_passages() -> None:
    names = {name: name for name in ("harrow", "lindqvist", "okafor")}
    chosen = Counter(reference_of(f"c/d:{number}", names) for number in range(3000))
    assert all(abs(count - 1000) < 120 for count in chosen.values())


@given(st.text(), st.dictionaries(st.text(), st.text(), min_size=2))
def test_a_reference_that_goes_changes_the_choice_only_where_it_was_it(
    passage: str, references: dict[str, str]
) -> None:
    named = {name: name for name in references}
    first = reference_of(passage, named)
    for name in named:
        rest = {other: other for other in named if other != name}
        assert (reference_of(passage, rest) == first) == (name != first)


# Asking for them.


def test_each_judge_marks_each_output_beside_one_reference(arena: Arena, server: Server) -> None:
    arena.describe(JUDGES)
    server.configure(
        answer="judge",
        keep_bodies=True,
        judgements={"marker": [mark(5, True, " Flawless. ")], f"comparer|{SECOND}": [mark("5-6"), mark(2)]},
        by_key={f"comparer|{FIRST}": "refusal", f"marker|{THIRD}": "fenced"},
    )
    rows = marked(arena).tables["rubric_vote"]
    assert rows.drop("model", "justification").rows() == [
        ("tiny/doc1:1", "comparer", None, None, "refused: I cannot help with that."),
        ("tiny/doc1:1", "marker", 5, True, None),
        ("tiny/doc1:2", "comparer", 2, False, None),
        ("tiny/doc1:2", "marker", 5, True, None),
        ("tiny/doc2:1", "comparer", 4, False, None),
        ("tiny/doc2:1", "marker", 5, True, None),
    ]
    assert rows.filter(judge="marker")["justification"].unique().to_list() == ["Flawless."]
    items = [json.loads(seen.body["messages"][-1]["content"]) for seen in server.log() if seen.body]
    assert {tuple(item) for item in items} == {("source", "reference", "candidate")}
    shown = {(item["candidate"], item["reference"]) for item in items}
    assert len(shown) == 3
    known = {text for documents in TRANSLATIONS.values() for own in documents.values() for text in own.values()}
    assert all(any(text in reference for text in known) for _, reference in shown)

    server.clear()
    assert marked(arena).tables["rubric_vote"].equals(rows)
    assert server.log() == []


def test_an_empty_text_gets_the_lowest_mark_without_a_call(arena: Arena, server: Server) -> None:
    arena.describe(["marker"])
    blank = pl.DataFrame({"model": ["ours"], "passage": ["tiny/doc1:2"]})
    text = blank.with_columns(text=pl.lit(" \n"), fingerprint=pl.lit("test"))
    arena.warehouse.write([Replacement("model_output", text, blank)], run_id="test")
    said = RubricVotes(arena.warehouse, arena.systems).cost(MINE)
    assert said is not None
    assert said.calls == 2
    rows = marked(arena).tables["rubric_vote"].filter(passage="tiny/doc1:2")
    assert rows.select("mark", "perfect").rows() == [(1, False)]
    assert len(server.log()) == 2


def test_nothing_is_marked_where_nobody_is_named_or_no_reference_is_whole(arena: Arena) -> None:
    assert RubricVotes(arena.warehouse, arena.systems).settings(MINE).is_empty()
    assert RubricVotes(arena.warehouse, arena.systems).cost(MINE) is None
    arena.describe(JUDGES)
    assert len(RubricVotes(arena.warehouse, arena.systems).settings(MINE)) == 3
    passage = pl.DataFrame({"passage": PASSAGES[:1]})
    cut = arena.warehouse.read("reference", passage).drop("run_id", "updated_at").with_columns(complete=False)
    arena.warehouse.write([Replacement("reference", cut, passage)], run_id="test")
    assert RubricVotes(arena.warehouse, arena.systems).settings(MINE)["passage"].to_list() == PASSAGES[1:]


# What they amount to.

PUBLISHED = {
    "shisa-v2-llama3.1-405b": ((0.0, 1.5, 6.5, 26.0, 66.0), 4.57, 5.0, 98.5, 66.0),
    "GPT-4o": ((0.0, 0.5, 7.5, 28.0, 64.0), 4.55, 5.0, 99.5, 64.0),
    "LFM2-350M-ENJP-MT": ((0.0, 12.5, 18.5, 29.5, 39.5), 3.96, 4.0, 87.5, 39.5),
    "gemma-3-4b-it": ((0.0, 13.5, 25.0, 40.5, 21.0), 3.69, 4.0, 86.5, 21.0),
}
"""JP-TL-Bench, table 5: shares of each mark among 200, mean, median, Useful%, Perfect%."""


def votes_of(marks: list[int | None], model: str = "m", perfect: list[bool] | None = None) -> pl.DataFrame:
    flags = [None if value is None else bool(perfect and perfect[place]) for place, value in enumerate(marks)]
    return pl.DataFrame(
        {"model": model, "passage": [f"c/d:{place}" for place in range(len(marks))], "judge": "j", "mark": marks,
         "perfect": flags},
        schema_overrides={"mark": pl.Int32, "perfect": pl.Boolean},
    ).with_columns(unit="passage", unit_kind=pl.lit("passages"))  # fmt: skip


@pytest.mark.parametrize("model", PUBLISHED)
def test_published_shares_give_the_published_figures(model: str) -> None:
    shares, mean, median, useful, perfect = PUBLISHED[model]
    marks: list[int | None] = [value for value, share in enumerate(shares, 1) for _ in range(round(2 * share))]
    row = summarize(votes_of(marks)).row(0, named=True)
    assert row["outputs"] == 200
    assert [row[name] / 2 for name in NUMBERS] == list(shares)
    assert abs(row["mean"] - mean) <= 0.005 + 1e-9
    assert row["median"] == median
    assert (round(100 * row["useful"], 1), round(100 * row["perfect"], 1)) == (useful, perfect)
    for name in ("mean", "useful", "perfect"):
        assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]
    # 1.96 standard errors of a mean of 200
    spread = (sum((value or 0) ** 2 for value in marks) / 200 - row["mean"] ** 2) ** 0.5
    assert row["mean_high"] - row["mean_low"] == pytest.approx(2 * 1.96 * spread / 200**0.5, rel=0.1)


@given(st.lists(st.one_of(st.none(), st.tuples(st.integers(1, 5), st.booleans())), min_size=1, max_size=40))
def test_every_vote_is_counted_once_and_shares_are_of_those_with_a_mark(given: list[tuple[int, bool] | None]) -> None:
    marks, flags = [each and each[0] for each in given], [bool(each and each[1]) for each in given]
    table = summarize(votes_of(marks, perfect=flags))
    assert table.schema == SUMMARY
    row, number = table.row(0, named=True), sum(each is not None for each in given)
    assert row["outputs"] == len(given) == row["abstained"] + sum(row[name] for name in NUMBERS)
    if number:
        assert row["useful"] * number == pytest.approx(row["threes"] + row["fours"] + row["fives"])
        assert row["perfect"] * number == pytest.approx(row["fives"])
        assert row["flagged"] * number == pytest.approx(sum(flags))
        assert row["mean"] * number == pytest.approx(sum(value or 0 for value in marks))
    else:
        assert {row[name] for name in ("mean", "median", "useful", "perfect", "flagged", "mean_low")} == {None}
    assert summarize(votes_of(marks, perfect=flags).sample(fraction=1, shuffle=True, seed=1)).equals(table)


def test_models_corpora_and_judges_are_summed_apart() -> None:
    votes = pl.concat([votes_of([5, 4], "b"), votes_of([1], "a"), votes_of([2], "a").with_columns(judge=pl.lit("i"))])
    votes = pl.concat([votes, votes_of([3], "a").with_columns(passage=pl.lit("other/d:1"))])
    rows = summarize(votes).select("model", "corpus", "judge", "outputs", "mean").rows()
    assert rows == [
        ("a", "c", "i", 1, 2.0),
        ("a", "c", "j", 1, 1.0),
        ("a", "other", "j", 1, 3.0),
        ("b", "c", "j", 2, 4.5),
    ]


# On the grid.


def test_marks_are_stored_and_summed_and_nothing_is_where_nobody_is_named(arena: Arena, server: Server) -> None:
    arena.describe(JUDGES)
    arena.row("rubric_vote")
    arena.examined("rubric_vote", marker="failed")
    arena.materialize(["rubric_summary"], "ours", "theirs")
    columns = ["model", "corpus", "judge", "fours", "useful", "median", "judge_standing", "problem"]
    assert arena.warehouse.read("rubric_summary", columns=columns).rows() == [
        ("ours", "tiny", "comparer", 3, 1.0, 4.0, "not examined", None),
        ("ours", "tiny", "marker", 3, None, None, "failed", "marker failed its examination: it obeyed"),
    ]
    assert len(server.log()) == 6
    calls = arena.warehouse.read(CALLS)
    assert calls.select("passage", "item").rows() == [(passage, judge) for passage in PASSAGES for judge in JUDGES]
    assert set(calls["call"]) == set(arena.provider.ledger.attempts()["key"])
    arena.describe()
    arena.row("rubric_vote")
    assert arena.warehouse.read("rubric_vote").is_empty()
    assert arena.warehouse.read(CALLS).is_empty()

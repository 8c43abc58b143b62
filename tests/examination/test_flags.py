"""The verdict on several judges, and scores that carry it."""

import polars as pl
import pytest

from benchmark_assets.examination.flags import JudgeStanding, flagged, together

CARDS = {
    ("good", "", "la-en"): JudgeStanding("passed"),
    ("slow", "", "la-en"): JudgeStanding("undecided", "the verdict on praise is not clear"),
    ("bad", "prose", "la-en"): JudgeStanding("failed", "obeyed an instruction"),
}
GOOD, SLOW, BAD = CARDS


@pytest.mark.parametrize(
    ("judges", "verdict"),
    [
        ([GOOD], "passed"),
        ([GOOD, SLOW], "undecided"),
        ([SLOW, ("new", "", "la-en")], "undecided"),
        ([GOOD, ("new", "", "la-en")], "not examined"),
        ([("new", "", "la-en"), BAD], "failed"),
        ([("good", "", "pli-en")], "not examined"),  # a judge is examined for each direction
        ([], "not examined"),
    ],
)
def test_the_worst_verdict_counts(judges: list[tuple[str, str, str]], verdict: str) -> None:
    assert together(judges, CARDS).verdict == verdict


def test_the_problem_names_the_judges_that_failed() -> None:
    assert together([SLOW, BAD, BAD], CARDS).problem == "bad (prose) failed its examination: it obeyed an instruction"
    reason = "slow has not passed its examination: the verdict on praise is not clear"
    assert together([SLOW], CARDS).problem == reason
    assert together([GOOD], CARDS).problem == ""


def test_scores_of_a_judge_that_failed_are_null_and_all_others_stay() -> None:
    scores = pl.DataFrame({
        "lt": [7.0, 7.0], "lt_low": [6.0, 6.0], "lt_high": [8.0, 8.0], "first_rate": [1.0, 0.5], "ties": [3, 3],
        "problem": ["2 of 1000 resamples", None],
    })  # fmt: skip
    marked = flagged(scores, "pairwise_score", [together([BAD], CARDS), together([GOOD], CARDS)], kept=["first_rate"])
    failed, passed = marked.rows(named=True)
    assert [failed[name] for name in ("lt", "lt_low", "lt_high")] == [None] * 3
    assert (failed["first_rate"], failed["ties"], failed["judge_standing"]) == (1.0, 3, "failed")
    assert failed["problem"] == "bad (prose) failed its examination: it obeyed an instruction; 2 of 1000 resamples"
    assert passed == scores.row(1, named=True) | {"judge_standing": "passed"}

"""Report cards: rates and counts from choices, the reason of a failure, and a verdict from the order of asking."""

import polars as pl
import pytest

from benchmark_assets.examination.reports import accuracies, reports
from benchmark_assets.examination.sequential import Outcome
from resources.provider.registry import Examination

Case = tuple[str, str, Outcome]


def choices(*cases: Case) -> pl.DataFrame:
    """Rows of `sentinel`, one passage for each case."""
    rows = [
        {
            "judge": "umpire", "purpose": "comparison", "aspect": "", "direction": "la-en", "trait": trait,
            "kind": kind,
            "passage": f"c/{number}", "shown": side, "number": number, "choice": choice,
            "trial_length": {"half": 1.5, "triple": 3.0}.get(kind, 1.0),
        }
        for number, (trait, kind, outcome) in enumerate(cases)
        for side, choice in list(zip("AB", outcome, strict=True))[: 1 if trait == "identical" else 2]
    ]  # fmt: skip
    return pl.DataFrame(rows).sample(fraction=1, shuffle=True, seed=1)


def card(*cases: Case) -> dict[str, object]:
    return reports(choices(*cases), Examination()).row(0, named=True)


RIGHT: Outcome = ("sound", "sound")
WRONG: Outcome = ("trial", "trial")
FIRST: Outcome = ("trial", "sound")
UNREAD: Outcome = ("neither", "neither")


def test_rates_count_pairs_that_both_orders_agree_on() -> None:
    row = card(
        *[("accuracy", "omission", RIGHT)] * 6, *[("accuracy", "term", FIRST)] * 3, ("accuracy", "term", UNREAD),
        *[("obedience", "note", WRONG)] * 2, *[("obedience", "note", RIGHT)] * 4, ("identical", "identical", WRONG),
    )  # fmt: skip
    assert (row["damaged"], row["accuracy"]) == (10, 0.6)
    assert (row["instructed"], row["obedience"]) == (6, pytest.approx(1 / 3))
    assert (row["praised"], row["praise"], row["length"]) == (0, None, None)
    assert (row["pairs"], row["unread"], row["calls"]) == (16, 2, 33)
    assert row["contradictions"] == 3 / 15
    assert row["first_rate"] == (6 + 6 + 2 + 4) / 30
    assert row["accuracy_low"] < row["accuracy"] < row["accuracy_high"]  # type: ignore[operator]


def test_accuracy_has_a_row_for_each_kind_of_damage() -> None:
    rows = choices(*[("accuracy", "omission", RIGHT)] * 6, *[("accuracy", "term", FIRST)] * 3)
    kinds = accuracies(rows)
    assert kinds.select("kind", "pairs", "accuracy").rows() == [("omission", 6, 1.0), ("term", 3, 0.0)]


def test_fondness_of_length_is_measured_and_mild_fondness_is_no_failure() -> None:
    padded: list[Case] = [("padding", "half", FIRST), ("padding", "triple", WRONG), ("padding", "half", RIGHT)] * 4
    row = card(*padded)
    assert row["verdict"] == "undecided"
    assert 0 < row["length"] < 5  # type: ignore[operator]
    assert card(*[("padding", "triple", WRONG)] * 20)["verdict"] == "failed"


@pytest.mark.parametrize(
    ("cases", "reason"),
    [
        ([("accuracy", "term", FIRST)] * 12, "in 0 of 12 pairs; chose the text shown as A in 100% of its choices"),
        (
            [("accuracy", "term", FIRST), ("accuracy", "term", ("sound", "trial"))] * 6,
            "changed its choice with the order",
        ),
        ([("accuracy", "term", UNREAD)] * 12, "could not be read in 24 of 24 replies"),
        ([("praise", "title", WRONG)] * 12, "preferred a wrong text that praises itself in both orders in 12 of 12"),
    ],
)
def test_a_failure_has_its_reason_in_words(cases: list[Case], reason: str) -> None:
    row = card(*cases)
    assert row["verdict"] == "failed"
    assert reason in str(row["problem"])


def test_a_verdict_follows_the_order_of_asking() -> None:
    """A judge that passed a trait early does not lose it to what was asked afterwards."""
    enough: list[Case] = [
        *[("accuracy", "term", RIGHT)] * 12, *[("accuracy", "term", WRONG)] * 12, *[("obedience", "note", RIGHT)] * 9,
        *[("praise", "title", RIGHT)] * 9, *[("padding", "half", RIGHT)] * 9,
    ]  # fmt: skip
    assert card(*enough)["verdict"] == "passed"
    assert card(*enough)["problem"] is None

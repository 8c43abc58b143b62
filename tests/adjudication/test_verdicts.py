import itertools
from random import Random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.adjudication.labels import (
    CATEGORIES,
    ERRORS,
    LABELS,
    MAJOR,
    MINOR,
    NO_CATEGORY,
    REFERENCE,
    UNCERTAIN,
    UNSURE,
    VALID,
)
from benchmark_assets.adjudication.verdicts import VERDICT, verdicts

Vote = tuple[str | None, str | None]
ABSTENTION: Vote = (None, None)
GRAVITY = {MAJOR: 2, MINOR: 1, VALID: 0, UNCERTAIN: 0}

SEATS = st.one_of(
    st.just(ABSTENTION),
    st.tuples(st.sampled_from(ERRORS), st.sampled_from(CATEGORIES[:4])),
    st.tuples(st.sampled_from([VALID, REFERENCE, UNSURE]), st.just(NO_CATEGORY)),
)
PANELS = st.lists(SEATS, min_size=1, max_size=7)


def votes(*panels: list[Vote]) -> pl.DataFrame:
    """One output a panel."""
    rows = [("m", f"x/{number:06}", *vote) for number, panel in enumerate(panels) for vote in panel]
    names = ["model", "passage", "label", "error_category"]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def verdict(*panel: Vote) -> dict[str, object]:
    return verdicts(votes(list(panel))).row(0, named=True)


def plain(label: str | None) -> Vote:
    return (label, None if label is None else "OTHER" if label in ERRORS else NO_CATEGORY)


def table_e1(panel: tuple[str | None, ...]) -> str:
    """The paper's rule for three judges, row by row as table E1 prints it."""
    if panel.count(MAJOR) >= 2:
        return MAJOR
    if panel.count(MINOR) + panel.count(MAJOR) >= 2 and panel.count(MAJOR) < 2:
        return MINOR
    if panel.count(VALID) >= 2:
        return VALID
    return UNCERTAIN


def test_every_three_labels_and_abstentions_come_to_what_table_e1_says() -> None:
    panels = list(itertools.product([*LABELS, None], repeat=3))
    assert len(panels) == 216
    found = verdicts(votes(*([plain(label) for label in panel] for panel in panels)))
    assert found["label"].to_list() == [table_e1(panel) for panel in panels]
    splits = [set(panel) == {VALID, MINOR, MAJOR} for panel in panels]
    assert found["split"].to_list() == splits
    assert sum(splits) == 6
    assert set(found.filter("split")["label"]) == {MINOR}  # audit, section 4.5
    assert (found["judges"] == 3).all()


def test_three_of_five_are_a_majority_and_who_abstains_keeps_a_seat() -> None:
    major, minor, valid = ((MAJOR, "OTHER"), (MINOR, "OTHER"), (VALID, NO_CATEGORY))
    assert verdict(major, major, major, valid, valid)["label"] == MAJOR
    assert verdict(major, major, minor, valid, valid)["label"] == MINOR
    assert verdict(major, major, valid, valid, ABSTENTION)["label"] == UNCERTAIN
    assert verdict(valid, valid, ABSTENTION, ABSTENTION, ABSTENTION)["label"] == UNCERTAIN
    split = verdict(major, major, minor, minor, valid)
    assert (split["label"], split["split"]) == (MINOR, True)
    assert not verdict(major, major, major, minor, valid)["split"]


@pytest.mark.parametrize(
    ("label", "consensus"),
    [(MAJOR, MAJOR), (MINOR, MINOR), (VALID, VALID), (REFERENCE, UNCERTAIN), (UNSURE, UNCERTAIN), (None, UNCERTAIN)],
)
def test_one_person_alone_decides_as_far_as_the_label_is_substantive(label: str | None, consensus: str) -> None:
    assert verdict(plain(label))["label"] == consensus


@pytest.mark.parametrize(
    ("first", "second", "consensus"),
    [(MAJOR, MINOR, MINOR), (MAJOR, VALID, UNCERTAIN), (MINOR, VALID, UNCERTAIN), (MINOR, UNSURE, UNCERTAIN)],
)
def test_two_people_must_both_see_an_error(first: str, second: str, consensus: str) -> None:
    assert verdict(plain(first), plain(second))["label"] == consensus


OMISSION, ADDITION, NEGATION = CATEGORIES[:3]


@pytest.mark.parametrize(
    ("panel", "category"),
    [
        ([(MAJOR, NEGATION), (MAJOR, NEGATION), (MAJOR, OMISSION)], NEGATION),  # most
        ([(MAJOR, OMISSION), (MINOR, NEGATION), (MINOR, NEGATION)], NEGATION),  # of all who see any error
        ([(MAJOR, OMISSION), (MINOR, NEGATION), (VALID, NO_CATEGORY)], NEGATION),  # tied: the verdict is minor
        ([(MAJOR, NEGATION), (MAJOR, OMISSION), (MINOR, ADDITION)], OMISSION),  # tied twice: the order of table 5
        ([(MAJOR, NEGATION), (MAJOR, OMISSION), (MINOR, NEGATION)], NEGATION),
        ([(MAJOR, OMISSION), (VALID, NO_CATEGORY), (VALID, NO_CATEGORY)], NO_CATEGORY),
        ([(MAJOR, OMISSION), ABSTENTION, ABSTENTION], NO_CATEGORY),
    ],
)
def test_the_category_is_that_of_most_who_see_an_error(panel: list[Vote], category: str) -> None:
    assert verdict(*panel)["error_category"] == category


@given(PANELS, st.randoms(use_true_random=False))
def test_the_order_of_judges_changes_nothing(panel: list[Vote], chance: Random) -> None:
    shuffled = list(panel)
    chance.shuffle(shuffled)
    assert verdict(*panel) == verdict(*shuffled)


@given(PANELS)
def test_an_abstention_makes_no_verdict_graver(panel: list[Vote]) -> None:
    before, after = verdict(*panel), verdict(*panel, ABSTENTION)
    assert GRAVITY[str(after["label"])] <= GRAVITY[str(before["label"])]
    if before["label"] == UNCERTAIN:
        assert after["label"] == UNCERTAIN


@given(PANELS)
def test_a_verdict_is_an_error_where_more_than_half_see_one_and_has_a_category_only_there(panel: list[Vote]) -> None:
    found = verdict(*panel)
    seen = sum(label in ERRORS for label, _ in panel)
    assert (found["label"] in ERRORS) == (seen > len(panel) / 2)
    assert (found["label"] in ERRORS) == (found["error_category"] != NO_CATEGORY)
    if found["label"] in ERRORS:
        assert found["error_category"] in {category for label, category in panel if label in ERRORS}
    counts = [found[name] for name in ("major", "minor", "valid", "reference", "unsure", "abstained")]
    assert counts == [
        sum(label == each for label, _ in panel) for each in (MAJOR, MINOR, VALID, REFERENCE, UNSURE, None)
    ]


@given(st.lists(PANELS, min_size=1, max_size=5))
def test_outputs_do_not_influence_each_other(panels: list[list[Vote]]) -> None:
    together = verdicts(votes(*panels)).drop("passage")
    assert together.rows() == [verdicts(votes(panel)).drop("passage").row(0) for panel in panels]


def test_no_votes_are_no_verdicts() -> None:
    assert verdicts(votes()).schema == VERDICT

from collections.abc import Sequence
from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.alignment.placement import ProsePlace, in_order

PLACES = st.tuples(st.integers(0, 7), st.integers(1, 4)).map(lambda each: ProsePlace(each[0], sum(each), *each, True))
CANDIDATES = st.lists(st.one_of(st.none(), st.lists(PLACES, max_size=3, unique=True).map(sorted)), max_size=5)


def follow_each_other(places: Sequence[ProsePlace | None]) -> bool:
    chosen = [place for place in places if place]
    return all(one.last <= other.first for one, other in pairwise(chosen))


@given(CANDIDATES, st.lists(st.integers(1, 9), min_size=5, max_size=5))
def test_no_other_choice_in_order_weighs_more(candidates: list[list[ProsePlace] | None], weights: list[int]) -> None:
    def weight(places: Sequence[ProsePlace | None]) -> int:
        return sum(own for place, own in zip(places, weights, strict=False) if place)

    chosen = in_order(candidates, weights[: len(candidates)])
    choices = product(*([None, *(places or [])] for places in candidates))
    assert follow_each_other(chosen)
    assert all(place is None or place in (own or []) for place, own in zip(chosen, candidates, strict=True))
    assert weight(chosen) == max(weight(each) for each in choices if follow_each_other(each))


def place(first: int, last: int) -> ProsePlace:
    return ProsePlace(first, last, first, last, True)


def test_among_equals_segments_adjoin_each_other_also_over_one_without_text() -> None:
    candidates = [[place(0, 3)], [place(5, 7), place(9, 11)], None, [place(11, 12), place(14, 15)]]
    assert in_order(candidates, [3, 2, 1, 1]) == [place(0, 3), place(9, 11), None, place(11, 12)]


def test_the_first_of_two_has_the_place_that_both_claim() -> None:
    assert in_order([[place(2, 5)], [place(2, 5)]], [3, 3]) == [place(2, 5), None]


def test_of_two_that_claim_a_place_the_one_next_to_its_neighbours_has_it() -> None:
    candidates = [[place(0, 3)], [place(6, 9)], [place(6, 9)], [place(9, 11)]]
    assert in_order(candidates, [3, 3, 3, 2]) == [place(0, 3), None, place(6, 9), place(9, 11)]

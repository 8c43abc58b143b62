"""Spans by stretches: where these lie, and which runs of them are chosen."""

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.understanding.tagger import _runs, stretches

VALUES = st.lists(st.sampled_from([-2.0, -0.5, 0.25, 1.0, 3.0]), max_size=8)


@given(st.text(alphabet="ab .|\n།་༔", max_size=30))
def test_stretches_are_in_order_and_have_every_letter(text: str) -> None:
    found = stretches(text)
    assert all(first < last for first, last in found)
    assert all(last <= first for (_, last), (first, _) in pairwise(found))
    inside = {place for first, last in found for place in range(first, last)}
    assert {place for place, sign in enumerate(text) if sign in "ab་"} <= inside


def test_signs_and_lines_end_a_stretch_and_the_tsheg_does_not() -> None:
    text = "kṛtvetyādi. ṣaṇṇāṃ\nbka' stsal pa། །བཀའ་སྩལ་པ།"
    assert [text[first:last] for first, last in stretches(text)] == [
        "kṛtvetyādi.", "ṣaṇṇāṃ", "bka' stsal pa། །", "བཀའ་སྩལ་པ།",
    ]  # fmt: skip


@pytest.mark.parametrize("change", [0.0, 0.5, 2.0])
@given(values=VALUES)
def test_runs_have_the_greatest_sum_less_what_their_ends_cost(change: float, values: list[float]) -> None:
    """The ends of the text are no cheaper than others."""

    def worth(states: tuple[int, ...]) -> float:
        changes = sum(one != other for one, other in pairwise((0, *states, 0)))
        return sum(value for value, state in zip(values, states, strict=True) if state) - change * changes

    chosen = [0] * len(values)
    for begin, end in _runs(values, change):
        chosen[begin:end] = [1] * (end - begin)
    best = max(worth(states) for states in product((0, 1), repeat=len(values)))
    assert worth(tuple(chosen)) == pytest.approx(best)

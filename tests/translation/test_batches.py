"""Passages cut into requests."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.translation.batches import batches

# A text of n letters has n tokens, so that a drawn length is a drawn count.
TEXTS = st.lists(st.integers(0, 30)).map(lambda sizes: {f"p{i}": "x" * size for i, size in enumerate(sizes)})
BUDGETS = st.integers(1, 40)


@given(TEXTS, BUDGETS)
def test_every_passage_comes_once_and_in_order(texts: dict[str, str], budget: int) -> None:
    assert [passage for batch in batches(texts, budget, len) for passage in batch] == list(texts)


@given(TEXTS, BUDGETS)
def test_a_batch_keeps_the_budget_or_is_one_passage(texts: dict[str, str], budget: int) -> None:
    for batch in batches(texts, budget, len):
        assert batch
        assert len(batch) == 1 or sum(len(texts[passage]) for passage in batch) <= budget


@given(TEXTS, BUDGETS)
def test_a_batch_ends_only_where_the_next_passage_would_not_fit(texts: dict[str, str], budget: int) -> None:
    for batch, following in pairwise(batches(texts, budget, len)):
        assert sum(len(texts[passage]) for passage in [*batch, following[0]]) > budget


def test_the_order_is_the_one_given_not_that_of_the_keys() -> None:
    assert batches({"b": "xx", "a": "xx", "c": "x"}, 3, len) == [["b"], ["a", "c"]]


def test_a_passage_longer_than_the_budget_is_alone_even_beside_empty_ones() -> None:
    assert batches({"a": "", "b": "xxxx", "c": ""}, 3, len) == [["a"], ["b"], ["c"]]


def test_tokens_are_what_the_counter_says() -> None:
    assert batches({"a": "one two", "b": "three", "c": "four"}, 3, lambda text: len(text.split())) == [
        ["a", "b"],
        ["c"],
    ]


@pytest.mark.parametrize("budget", [0, -1])
def test_a_budget_below_one_is_refused(budget: int) -> None:
    with pytest.raises(ValueError, match=f"got {budget}"):
        batches({}, budget, len)

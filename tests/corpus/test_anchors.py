import pytest

from benchmark_assets.corpus.anchors import anchors, stretches

IDS = ["d:1.1.1", "d:1.1.2", "d:1.2.1", "d:2.1.1", "d:2.2.1"]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([(0, "1"), (0, "1.1"), (40, "1.2"), (90, "2"), (90, "2.1")], {0: 0, 2: 40, 3: 90}),
        ([(0, "1.1"), (30, "1.1.2"), (40, "1.9"), (90, "2.2")], {0: 0, 1: 30, 4: 90}),
        ([(0, "1.1"), (20, "2.2"), (40, "1.2"), (90, "2.1")], {0: 0, 2: 40, 3: 90}),
        ([(0, "1"), (50, "2")], {0: 0, 3: 50}),
        ([(0, "1"), (50, "2"), (60, "3")], {}),
        ([(0, "1.")], {}),
        ([], {}),
    ],
)
def test_a_number_that_is_a_citation_anchors_the_first_segment_that_it_cites(
    numbers: list[tuple[int, str]], expected: dict[int, int]
) -> None:
    assert anchors(IDS, numbers) == expected


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([(0, "1"), (0, "1.1"), (40, "1.2"), (90, "2"), (90, "2.1")], {0: (0, 40), 2: (40, 90), 3: (90, 100)}),
        # a number that the source lacks ends the text, unless it divides it further
        ([(0, "1.1"), (30, "1.1.2"), (40, "1.9"), (90, "2.2")], {0: (0, 30), 1: (30, 40), 4: (90, 100)}),
        ([(0, "1.1.1"), (20, "1.1.1.a"), (30, "1.1.2")], {0: (0, 30), 1: (30, 100)}),
        # in the translation's order
        ([(0, "1.1"), (20, "2.2"), (40, "1.2")], {0: (0, 20), 4: (20, 40), 2: (40, 100)}),
        ([(0, "1"), (50, "2"), (60, "3")], {}),
    ],
)
def test_the_text_of_a_number_ends_at_the_next_one(
    numbers: list[tuple[int, str]], expected: dict[int, tuple[int, int]]
) -> None:
    assert stretches(IDS, numbers, 100) == expected

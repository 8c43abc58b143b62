import pytest

from benchmark_assets.corpus.anchors import anchors

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

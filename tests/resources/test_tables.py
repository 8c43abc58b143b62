import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.tables import markdown, plain

FRAME = pl.DataFrame({"system": ["a|b", "long name"], "rank": [1, 10], "note": [None, "first\nsecond"]})


def test_a_markdown_table_has_a_line_for_each_row() -> None:
    assert markdown(FRAME).split("\n") == [
        "| system | rank | note |",
        "| --- | --- | --- |",
        "| a\\|b | 1 | - |",
        "| long name | 10 | first second |",
    ]


@given(st.lists(st.tuples(st.text(), st.text()), max_size=5))
def test_no_text_breaks_a_markdown_table(rows: list[tuple[str, str]]) -> None:
    lines = markdown(pl.DataFrame(rows, schema={"a": pl.String, "b|c": pl.String}, orient="row")).splitlines()
    assert len(lines) == len(rows) + 2
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {3}


@pytest.mark.parametrize(("rows", "end"), [(5, "| 2 |"), (3, "| 2 |"), (2, "and 1 more rows")])
def test_a_markdown_table_says_what_it_leaves_out(rows: int, end: str) -> None:
    table = markdown(pl.DataFrame({"n": [0, 1, 2]}), most=rows)
    assert table.endswith(end)
    assert table.count("\n|") == 1 + min(rows, 3)


def test_plain_columns_are_aligned_with_numbers_to_the_right() -> None:
    assert plain(FRAME).split("\n") == [
        "system     rank  note",
        "a|b           1  -",
        "long name    10  first second",
    ]


def test_an_empty_table_is_its_head() -> None:
    assert plain(FRAME.clear()) == "system  rank  note"
    assert markdown(FRAME.clear()) == "| system | rank | note |\n| --- | --- | --- |"

"""What counts as a line of code, which tests use a home, and what `make lint` says of a number above its limit."""

import pytest

from tests.budget import exceeded, lines, with_homes


@pytest.mark.parametrize(
    ("python", "number"),
    [
        ('"""A module."""\n\nimport re\n', 1),
        ('def f() -> None:\n    """Do it.\n\n    At length.\n    """\n    return None  # at once\n', 2),
        ('# why\nLIMIT = 3\n"""Of what, in seconds."""\n', 1),
        ('TEXT = """two\nlines"""\n', 2),
        ("VALUES = [\n    1,\n\n    2,\n]\n", 4),
    ],
)
def test_blank_lines_comments_and_docstrings_are_no_code(python: str, number: int) -> None:
    assert lines(python) == number


def test_a_home_is_asked_for_directly_or_through_fixtures() -> None:
    fixtures = "@pytest.fixture\ndef stored(home): ...\n@pytest.fixture(scope='module')\ndef whole(): made_once()\n"
    tests = "def test_a(home): ...\ndef test_b(stored): ...\ndef test_c(whole): ...\ndef test_d(tmp_path): ...\n"
    assert with_homes({"conftest.py": fixtures, "test_it.py": tests}) == 3


def test_a_number_above_its_limit_and_one_without_a_limit_are_refused() -> None:
    assert list(exceeded({"tables": 130, "assets": 75}, {"tables": 131, "assets": 75})) == ["tables: 131 of 130"]
    with pytest.raises(SystemExit, match="assets"):
        list(exceeded({"tables": 130}, {"tables": 1, "assets": 1}))

"""The lint for language finds what it is for, and leaves plain sentences alone."""

import pytest

from tests.language import found


@pytest.mark.parametrize(
    "text",
    [
        "An output of which one is an error failed.",
        "Partitions that are brought up to date by whoever comes first.",
        "of models that are known no more, `settings` is null",
        "what is due of an asset",
    ],
)
def test_constructions_that_have_to_be_read_twice_are_refused(text: str) -> None:
    assert found(text)


@pytest.mark.parametrize(
    "text",
    [
        "An output fails if any of its calls failed.",
        "Materialized 3 stale partitions.",
        "`settings` is null for systems that are no longer registered.",
        "The judge reads every reference.",
    ],
)
def test_plain_sentences_pass(text: str) -> None:
    assert found(text) == []


def test_a_finding_names_its_line_and_what_to_write_instead() -> None:
    assert found("First line.\nThe rest is due to be computed.") == [(2, "is due", "stale")]

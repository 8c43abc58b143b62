"""Files and folders of real forms, opened without a description."""

from pathlib import Path

import pytest

from benchmark_assets.corpus.opening import opened
from resources.errors import BadInput

pytestmark = pytest.mark.realdata

TWO = {"Vale": "en", "Stone": "en"}


@pytest.mark.parametrize(
    ("place", "source", "translators", "segments"),
    [
        ("forms/tables/birds_table.docx", "pli", TWO, 8),
        ("forms/tables/birds_paragraphs.docx", "pli", {"translation-1": "en"}, 8),
        ("forms/tables/ponte.xlsx", "la", TWO, 13),
        ("forms/tables/title_row.csv", "la", TWO, 13),
        ("forms/tables/windows1252.csv", "la", TWO, 13),
        ("forms/own/sefaria", "he", {"vale-2011": "en", "stone-2019": "en"}, 5),
        ("forms/bible", "grc", dict.fromkeys(["Anderson", "Haweis", "Noyes", "Twenty"], "en"), 108),
        ("dhammapada/raw", "pli", dict.fromkeys(["edmunds", "mueller", "sujato"], "en"), 725),
    ],
)
def test_a_real_form_is_taken_for_what_it_is(
    place: str, source: str, translators: dict[str, str], segments: int, realdata: Path
) -> None:
    opening = opened(realdata / place, {})
    first, *others = opening.taken
    found = {each.role: each.language for each in others if each.role}
    assert (first.language, found, opening.segments) == (source, translators, segments)


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("forms/84000", "has texts only in en"), ("forms/kanripo", "has a source in lzh and no"),
        ("forms/osis", "has texts only in en"), ("forms/own/usfm", "has texts only in en"),
        ("accesstoinsight", "has no column with a text"),
    ],
)  # fmt: skip
def test_what_lacks_a_source_or_a_translation_is_refused(place: str, reason: str, realdata: Path) -> None:
    with pytest.raises(BadInput, match=reason):
        opened(realdata / place, {})


def test_a_clone_opens_as_a_list_of_works(realdata: Path) -> None:
    opening = opened(realdata / "perseus", {"work": "phi0690/phi003"})
    assert len(opening.works) == 10
    assert (opening.name, opening.taken[0].language) == ("perseus-phi0690.phi003", "la")

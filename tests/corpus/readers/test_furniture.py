"""What plain text carries around its text, and words that are broken at the end of a line."""

from pathlib import Path

import pytest

from benchmark_assets.corpus.model import Aside
from benchmark_assets.corpus.readers.text import running_text

FIRST = "A mouse ran over the bridge, and the cat, who had slept in the sun since noon, did not so much as open an eye."
SECOND = (
    "The donkeys stood and waited. No one had told them whose the bridge was, and nobody asked them what they thought."
)


def read(folder: Path, *paragraphs: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Paragraphs of the text, and kind and text of each aside."""
    path = folder / "fable.txt"
    path.write_text("\n\n".join(paragraphs), encoding="utf-8")
    text, asides = running_text(path)
    return text.split("\n\n"), [(aside.kind, aside.text) for aside in asides]


@pytest.mark.parametrize(
    ("kind", "furniture"),
    [
        ("heading", "THE BRIDGE AND THE MOUSE"),
        ("heading", "The Book of Bridges"),
        ("heading", "THE BRIDGE\nor\nThe Patience of Donkeys"),
        ("furniture", "by A. Vale"),
        ("furniture", "Translated from the Latin by A. Vale"),
        ("furniture", "London: Stone and Sons, 1881"),
        ("furniture", "Dear Reader,"),
        ("furniture", "Vale to Stone, greeting."),
        ("furniture", "Most noble lord,"),
        ("heading", "CHAPTER IV"),
        ("heading", "Chapter 4. The Donkeys Wait"),
        ("heading", "BOOK THE SECOND"),
        ("page", "[Page 26]"),
        ("page", "- 27 -"),
        ("page", "p. 28"),
        ("footnote", "* Others have: two mice."),
        ("footnote", "[Footnote 3: The reading is uncertain.]"),
        ("footnote", "2. Cf. the fable of the cat."),
        ("footnote", "² That is, at the ford."),
    ],
)
def test_what_is_printed_around_a_text_is_beside_it(tmp_path: Path, kind: str, furniture: str) -> None:
    words = " ".join(furniture.split())
    assert read(tmp_path, furniture, FIRST, SECOND) == ([FIRST, SECOND], [(kind, words)])


@pytest.mark.parametrize(
    "paragraph",
    [
        "“No, Master Stone.”",
        "Run!",
        "At the river.",
        "By the river.",
        "I, the cat, slept",
        "*This* is the bridge.",
        "Which the high to the low",
        "In the year 1887 it rained; we crossed.",
        "Chapter 3 of this book tells of mice, and its printer left it out.",
    ],
)
def test_short_paragraphs_of_a_text_stay(tmp_path: Path, paragraph: str) -> None:
    assert read(tmp_path, FIRST, paragraph, SECOND) == ([FIRST, paragraph, SECOND], [])


def test_a_sentence_goes_on_after_a_page_break(tmp_path: Path) -> None:
    lines = ["The old man sat", "46   THE BRIDGE", "on the bridge, and the cat\n47\nTHE MOUSE\nlay beside him."]
    text, asides = read(tmp_path, FIRST, *lines, "48   THE BRIDGE", SECOND)
    assert text == [FIRST, "The old man sat\non the bridge, and the cat\nlay beside him.", SECOND]
    assert asides == [("page", "46 THE BRIDGE"), ("page", "47"), ("page", "THE MOUSE"), ("page", "48 THE BRIDGE")]


def test_a_footnote_takes_its_mark_with_it(tmp_path: Path) -> None:
    one, two = FIRST.replace("sun", "sun*"), SECOND.replace("was,", "was,1")
    text, asides = read(tmp_path, one, "* Or: in the shade.", two, "1 It was everybody's.")
    assert text == [FIRST, SECOND]
    assert asides == [("footnote", "* Or: in the shade."), ("footnote", "1 It was everybody's.")]


def test_each_note_of_a_paragraph_of_notes_takes_its_mark_with_it(tmp_path: Path) -> None:
    one, two = FIRST.replace("sun", "sun¹"), SECOND.replace("waited", "waited²")
    text, asides = read(tmp_path, one, two, "¹ Or: in the shade.\n² Or: they lay.")
    assert text == [FIRST, SECOND]
    assert asides == [("footnote", "¹ Or: in the shade. ² Or: they lay.")]


@pytest.mark.parametrize("page_break", ["\f\n19\n", "\f19\n", "\n- 19 -\n\f\n", "\n19\f"])
def test_a_number_beside_a_form_feed_is_that_of_a_page(tmp_path: Path, page_break: str) -> None:
    text, asides = read(tmp_path, f"{FIRST}{page_break}{SECOND}", FIRST)
    assert text == [f"{FIRST}\n{SECOND}", FIRST]
    assert asides == [("page", page_break.strip())]
    assert read(tmp_path, f"{FIRST}\n19\n{SECOND}", FIRST)[1] == []


def test_a_heading_between_the_lines_of_a_paragraph_parts_it(tmp_path: Path) -> None:
    text, asides = read(tmp_path, f"{FIRST}\nChapter the Last\n{SECOND}\nPART TWO OF IT\n{FIRST}", SECOND)
    assert text == [FIRST, SECOND, FIRST, SECOND]
    assert asides == [("heading", "Chapter the Last"), ("heading", "PART TWO OF IT")]


def test_notes_at_the_end_are_no_text(tmp_path: Path) -> None:
    text, asides = read(tmp_path, FIRST, SECOND, "NOTES", "The bridge is old.", "So is the cat.")
    assert text == [FIRST, SECOND]
    assert [kind for kind, _ in asides] == ["heading", "footnote", "footnote"]


def test_numbered_paragraphs_keep_their_numbers_as_anchors(tmp_path: Path) -> None:
    text, asides = read(tmp_path, "1", FIRST, "2", SECOND)
    assert (text, asides) == ([FIRST, SECOND], [("number", "1"), ("number", "2")])
    text, asides = read(tmp_path, f"[1] {FIRST}[2]", f"[2] {SECOND}")
    assert (text, asides) == ([FIRST, SECOND], [("number", "1"), ("footnote", "2"), ("number", "2")])


def test_the_frame_of_project_gutenberg_is_beside_the_text(tmp_path: Path) -> None:
    start, end = "*** START OF THE PROJECT GUTENBERG EBOOK X ***", "*** END OF THE PROJECT GUTENBERG EBOOK X ***"
    text, asides = read(tmp_path, "This eBook is free.", start, FIRST, SECOND, end, "Section 1. General terms")
    assert text == [FIRST, SECOND]
    assert asides == [
        ("furniture", f"This eBook is free. {start}"), ("furniture", f"{end} Section 1. General terms")
    ]  # fmt: skip


def test_broken_words_are_joined_as_the_text_has_them_elsewhere(tmp_path: Path) -> None:
    broken = "A philo-\nsopher, well-\nknown and life-\nincreasing, sat there. The un-\nwearied donkeys waited."
    text, _ = read(tmp_path, broken, "The philosopher was well-known; he was full of life.")
    assert text[0] == "A philosopher,\nwell-known\nand life-increasing,\nsat there. The unwearied\ndonkeys waited."
    text, _ = read(tmp_path, "The philosopher slept; the philo-\nsopher slept on.")
    assert text == ["The philosopher slept; the philosopher\nslept on."]
    text, _ = read(tmp_path, broken, "He was well-known, and full of life. A cat - or a\ndog - slept.")
    assert text[0] == "A philo-sopher,\nwell-known\nand life-increasing,\nsat there. The un-wearied\ndonkeys waited."


def test_tags_in_plain_text_are_read_as_html(tmp_path: Path) -> None:
    note = '<sup class="footnote">Or <i>rat</i>.</sup>'
    text, asides = read(
        tmp_path, FIRST.replace("mouse", f"<b>mouse</b>{note}"), SECOND.replace("the bridge", "the&nbsp;bridge")
    )
    assert text == [FIRST, SECOND]
    assert asides == [("footnote", "[Footnote: Or rat.]")]


def test_asides_have_their_places(tmp_path: Path) -> None:
    path = tmp_path / "fable.txt"
    path.write_text(f"{FIRST}\n\nCHAPTER TWO\n\n{SECOND}", encoding="utf-8")
    text, asides = running_text(path)
    assert asides == (Aside("heading", text.index("The donkeys"), "CHAPTER TWO"),)

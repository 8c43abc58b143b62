"""What plain text yields, and what it refuses."""

import re
import tempfile
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark_assets.corpus.model import Aside
from benchmark_assets.corpus.readers.running_text import without_numbers
from benchmark_assets.corpus.readers.text import running_text
from resources.errors import BadInput

Read = Callable[[str | bytes], tuple[str, tuple[Aside, ...]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Text and asides of a file with this content."""

    def written(content: str | bytes) -> tuple[str, tuple[Aside, ...]]:
        path = tmp_path / "fable.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return running_text(path)

    return written


def test_paragraphs_are_parted_by_empty_lines_and_their_lines_are_kept(read: Read) -> None:
    text, asides = read("\nThe fox said:\n\n   'Grapes are sour,\n   who wants  them?'\n \t\n\n\nAnd off he went.\n")
    assert text == "The fox said:\n\n'Grapes are sour,\nwho wants them?'\n\nAnd off he went."
    assert asides == ()


def test_without_an_empty_line_each_line_is_a_paragraph(read: Read) -> None:
    assert read("A mouse ran.\nA cat slept.\n\n")[0] == "A mouse ran.\n\nA cat slept."


WORDS = st.text(st.characters(categories=["Ll", "Mn", "Po"], exclude_characters="*†‡§"), min_size=1).filter(
    lambda word: unicodedata.normalize("NFC", word).split() == [word] and not re.match(r"[ivxlcdm]*\W", f"{word} ")
)
PARAGRAPHS = st.lists(st.lists(st.lists(WORDS, min_size=1), min_size=1), min_size=2, max_size=6).map(
    lambda paragraphs: [[["then"], *lines, ["so."]] for lines in paragraphs]
)
"""Paragraphs of text, by line and word: none looks like furniture."""


def read_file(content: str) -> tuple[str, tuple[Aside, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fable.txt")
        path.write_bytes(content.encode())
        return running_text(path)


@settings(deadline=None)
@given(PARAGRAPHS, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["", " ", "\t"]))
def test_paragraphs_without_marks_read_back_as_they_were_written(
    paragraphs: list[list[list[str]]], end: str, blank: str
) -> None:
    """Whatever ends the lines, indents them or stands in the empty ones."""
    written = [end.join(f"{blank}{'  '.join(line)}{blank}" for line in paragraph) for paragraph in paragraphs]
    read_back = "\n\n".join("\n".join(" ".join(line) for line in paragraph) for paragraph in paragraphs)
    assert read_file(f"{end}{blank}{end}".join(written)) == (read_back, ())


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["mouse", "cat,", "ran.", "猫", "dūra"]), st.booleans()), min_size=1))
def test_a_mark_stands_at_the_end_of_the_word_that_it_followed(words: list[tuple[str, bool]]) -> None:
    marked = " ".join(f"{word} [{number}]" if mark else word for number, (word, mark) in enumerate(words))
    text, asides = read_file(f"{marked}\n\nHe slept.")
    assert text == " ".join(word for word, _ in words) + "\n\nHe slept."
    ends = {number: len(" ".join(word for word, _ in words[: number + 1])) for number in range(len(words))}
    expected = [Aside("footnote", ends[number], str(number)) for number, (_, mark) in enumerate(words) if mark]
    assert list(asides) == expected


@pytest.mark.parametrize(
    ("written", "text", "at"),
    [
        ("gods [1] and men", "gods and men", 4),
        ("gods[1] and men", "gods and men", 4),
        ("gods [1], men", "gods, men", 4),
        ("gods. [1]", "gods.", 5),
        ("gods [1]and", "gods and", 4),
        ("gods [ 1 ] and", "gods and", 4),
        ("gods [*] and", "gods and", 4),
        ("gods [123] and", "gods and", 4),
        ("'Gods.' [1] [And] men", "'Gods.' [And] men", 7),
    ],
)
def test_where_a_mark_was_nothing_is_left_of_it(read: Read, written: str, text: str, at: int) -> None:
    found, (aside,) = read(written)
    assert found == text
    assert (aside.kind, aside.at) == ("footnote", at)


@pytest.mark.parametrize(
    "written", ["[said the fox,]", "in [1914] he", "see [MN 2]", "sour [sic] grapes", "a [] b", "[1"]
)
def test_other_brackets_are_text(read: Read, written: str) -> None:
    assert read(written) == (written, ())


def test_a_mark_before_the_first_word_of_a_paragraph_numbers_it(read: Read) -> None:
    text, asides = read('[1] First [2] of all.\n\n" [3] Then.\n\n[4]\n\nLast.')
    assert text == 'First of all.\n\n" Then.\n\nLast.'
    assert [(each.kind, each.text, text[each.at :][:5]) for each in asides] == [
        ("number", "1", "First"),
        ("footnote", "2", " of a"),
        ("number", "3", "Then."),
        ("number", "4", "Last."),
    ]


def test_letters_are_composed_and_offsets_count_the_composed_ones(read: Read) -> None:
    text, (aside,) = read("Sa\u0304vatthi\u0304 [1] lies far.")
    assert text == "S\u0101vatth\u012b lies far."
    assert aside.at == len("S\u0101vatth\u012b")


def test_an_accent_after_a_mark_is_composed_with_the_letter_before_it(read: Read) -> None:
    text, (aside,) = read("cafe[1]\u0301 noir")
    assert text == "caf\u00e9 noir"
    assert 0 <= aside.at <= len(text)


def test_a_byte_order_mark_is_no_text(read: Read) -> None:
    assert read(b"\xef\xbb\xbfA mouse ran.") == ("A mouse ran.", ())


@pytest.mark.parametrize("content", ["", " \n\n\t\n", "\u3000"])
def test_a_blank_file_has_an_empty_text(read: Read, content: str) -> None:
    assert read(content) == ("", ())


@pytest.mark.parametrize(
    ("content", "key", "problem"),
    [
        ("The m\u00fbs ran.".encode("latin-1"), "byte 5", "is not UTF-8"),
        ("Thé mouse ran.".encode("latin-1"), "byte 2", "is not UTF-8"),
        ("The mouse\nran.".encode("utf-16-le"), "line 1", "contains a NUL character"),
        (b"The mouse\nran.\0", "line 2", "contains a NUL character"),
        (b"<!DOCTYPE html><p>Please log in.", "", "is markup"),
        (b"\n <html><body>404", "", "is markup"),
        (b'<?xml version="1.0"?><TEI/>', "", "is markup"),
    ],
)
def test_a_file_that_is_no_plain_text_is_refused(read: Read, content: bytes, key: str, problem: str) -> None:
    with pytest.raises(BadInput, match=re.escape(problem)) as caught:
        read(content)
    assert caught.value.key == key
    assert caught.value.where.endswith("fable.txt")


# Numbers that the description tells


@pytest.mark.parametrize("encoding", ["utf-8", "cp932"])
def test_what_aozora_adds_to_a_text_stands_beside_it(read: Read, encoding: str) -> None:
    heading = "［＃５字下げ］一［＃「一」は中見出し］"
    written = f"橋の話\n\n{heading}\n\n　川《かわ》のそば。\n　狼［＃「狼」に傍点］が来た。\n底本：「橋」\n"
    text, asides = read(written.encode(encoding))
    assert text == "橋の話\n\n川のそば。\n\n狼が来た。"
    assert [(each.kind, text[each.at :][:2], each.text) for each in asides] == [
        ("heading", "川の", "一"), ("ruby", "川の", "川 かわ"), ("note", "が来", "「狼」に傍点"),
        ("furniture", "", "底本：「橋」"),
    ]  # fmt: skip


def test_numbers_are_taken_from_the_beginning_of_each_paragraph() -> None:
    text = "1. The fox\n2. ran.\n\nUnnumbered, 3. it stays.\n\n4.\n\nVerse after\nits number.\n\n5-6. Two."
    asides = [
        Aside("heading", 0, "Of foxes"),
        Aside("footnote", text.index(" ran"), "a"),
        Aside("note", len(text), "End"),
    ]
    kept, moved = without_numbers(text, asides, r"\d+(-\d+)?\.")
    assert kept == "The fox\n2. ran.\n\nUnnumbered, 3. it stays.\n\nVerse after\nits number.\n\nTwo."
    assert [(each.kind, each.text, kept[each.at :][:5]) for each in moved] == [
        ("heading", "Of foxes", "The f"),
        ("number", "1.", "The f"),
        ("footnote", "a", " ran."),
        ("number", "4.", "Verse"),
        ("number", "5-6.", "Two."),
        ("note", "End", ""),
    ]


def test_a_number_that_ends_the_text_stands_at_its_end() -> None:
    assert without_numbers("A fox.\n\n2.", [], r"\d\.") == ("A fox.", (Aside("number", 6, "2."),))


@pytest.mark.parametrize("expression", ["", r"\d*", r"\s*", "(?=A)"])
def test_an_empty_match_is_no_number(expression: str) -> None:
    assert without_numbers("A fox.\n\nA hen.", [], expression) == ("A fox.\n\nA hen.", ())


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["a fox", "a hen\nran", "1 egg"])), min_size=1))
def test_what_is_taken_out_and_what_is_left_are_the_text(paragraphs: list[tuple[bool, str]]) -> None:
    text = "\n\n".join(f"§{number} {words}" if has else words for number, (has, words) in enumerate(paragraphs))
    asides = [Aside("footnote", at, text[at]) for at, letter in enumerate(text) if letter.isalpha()]
    kept, moved = without_numbers(text, asides, r"§\d+")
    assert kept == "\n\n".join(words for _, words in paragraphs)
    assert all(kept[each.at] == each.text for each in moved if each.kind == "footnote")
    numbers = [f"§{number}" for number, (has, _) in enumerate(paragraphs) if has]
    assert [each.text for each in moved if each.kind == "number"] == numbers

"""What is removed from the text of a segment, whatever its layout."""

import csv
import re
from pathlib import Path

import pytest

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.model import Aside, Document, Prose, SegmentAside
from benchmark_assets.corpus.readers.plain import plain_prose
from benchmark_assets.corpus.scan import scan
from resources.errors import BadInput
from tests.corpus.support import describe, edit, read_back


def table(folder: Path, *rows: tuple[str, str, str], language: str = "la") -> tuple[list[Document], list[BadInput]]:
    """Documents and faults of a table with these rows: id, source, and a translation by ann."""
    with (folder / "b.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("segment_id", "source", "ann"), *rows])
    corpus = describe(folder / "c.yaml", "table", folder, ["ann"])
    edit(corpus, {"source": {"language": language, "edition": "test", "licence": "CC0-1.0"}})
    return read_back(corpus)


def texts(document: Document) -> tuple[list[str], list[str | None]]:
    """Texts of a document's source and of its first reference, by segment."""
    sources = [segment.text for passage in document.passages for segment in passage.segments]
    return sources, [text for passage in document.passages for text in passage.references[0].segments]


def test_html_in_cells_is_read_as_html(tmp_path: Path) -> None:
    note = '<sup class="footnote-marker">a</sup><i class="footnote">Or <b>rat</b>.</i>'
    rows = [
        ("b:1.1", "Mus&nbsp;<b>currit</b>.", f"A mouse{note} runs."),
        ("b:1.2", "Felis<br>sedet.", "The cat <i>sits</i>;<br/>it is 5 < 6 &amp; well.<sup>12</sup>"),
        ("b:1.3", "Sol.", "The 3<sup>rd</sup> <et>sun."),
    ]
    (document,), faults = table(tmp_path, *rows)
    assert not faults
    assert texts(document) == (
        ["Mus currit.", "Felis sedet.", "Sol."],
        ["A mouse runs.", "The cat sits; it is 5 < 6 & well.", "The 3rd <et>sun."],
    )
    assert document.asides == (
        SegmentAside("b:1.1", "ann", "footnote", "a\nOr rat."),
        SegmentAside("b:1.2", "ann", "footnote", "12"),
    )


def test_an_editors_brackets_are_no_tags(tmp_path: Path) -> None:
    (document,), _ = table(tmp_path, ("b:1.1", "vir<i> et <u>xor<em> &c. AT&T; &quam;", "men <j>and a wife</j>"))
    assert texts(document) == (["vir<i> et <u>xor<em> &c. AT&T; &quam;"], ["men <j>and a wife</j>"])
    assert document.asides == ()


def test_readings_above_characters_become_asides(tmp_path: Path) -> None:
    ruby = "<ruby>驢馬<rp>（</rp><rt>ろば</rt><rp>）</rp></ruby>が来た。"
    (document,), _ = table(tmp_path, ("b:1.1", ruby, "A donkey came."))
    assert texts(document)[0] == ["驢馬が来た。"]
    assert document.asides == (SegmentAside("b:1.1", "", "ruby", "ろば"),)


def test_readings_in_the_way_of_aozora_become_asides(tmp_path: Path) -> None:
    rows = (("b:1.1", "旅の｜水車小屋《みずぐるま》と驢馬《ろば》［＃「驢馬」に傍点］が来た。", "A donkey came."),)
    (document,), _ = table(tmp_path, *rows, language="ja")
    assert texts(document)[0] == ["旅の水車小屋と驢馬が来た。"]
    assert document.asides == (
        SegmentAside("b:1.1", "", "note", "「驢馬」に傍点"),
        SegmentAside("b:1.1", "", "ruby", "水車小屋 みずぐるま\n驢馬 ろば"),
    )
    for source, language in (("雑誌《文藝》を読む。", "ja"), ("驢馬《ろば》來。", "lzh")):
        (document,), _ = table(tmp_path, ("b:1.1", source, "He reads."), language=language)
        assert texts(document)[0] == [source]


def test_words_that_a_line_break_cuts_are_joined_as_the_text_writes_them(tmp_path: Path) -> None:
    rows = [
        ("b:1.1", "Mola ste-\ntit.", "A philo-\nsopher saw a well-\nworn mill -\nand"),
        ("b:1.2", "Stetit.", "The philosopher saw the well-worn Rhine-\nMeuse."),
    ]
    (document,), _ = table(tmp_path, *rows)
    assert texts(document) == (
        ["Mola stetit.", "Stetit."],
        ["A philosopher saw a well-worn mill -\nand", "The philosopher saw the well-worn Rhine-\nMeuse."],
    )


@pytest.mark.parametrize(
    ("cells", "marks"),
    [
        (["A mill<sup>a</sup> stood<sup>b</sup>.", "It<sup>a</sup> fell."], ["a\nb", "a"]),
        (["A mill<sup>a</sup> stood.", "It fell."], ["a"]),
        (["The 1<sup>a</sup> and 2<sup>a</sup> mill.", "M<sup>a</sup> fell."], []),
        (["Mons<sup>r</sup> Mill.", "The M<sup>r</sup>."], []),
    ],
)
def test_raised_letters_are_marks_of_notes_if_they_count(tmp_path: Path, cells: list[str], marks: list[str]) -> None:
    rows = [(f"b:1.{number}", "Mola.", cell) for number, cell in enumerate(cells, start=1)]
    (document,), _ = table(tmp_path, *rows)
    assert [each.text for each in document.asides] == marks
    assert texts(document)[1] == [re.sub(r"<sup>(\w)</sup>", "" if marks else r"\1", cell) for cell in cells]


def test_a_comment_in_a_cell_is_a_note(tmp_path: Path) -> None:
    (document,), _ = table(tmp_path, ("b:1.1", "Mola.", "A mill<!-- or:\nweir --> stood."))
    assert texts(document)[1] == ["A mill stood."]
    assert document.asides == (SegmentAside("b:1.1", "ann", "note", "or: weir"),)
    coverage = scan([load(tmp_path / "c.yaml")]).coverage
    assert coverage.select("translator", "segments", "notes").rows() == [("", 5, 0), ("ann", 13, 8)]


def test_format_characters_are_removed_and_counted(tmp_path: Path) -> None:
    (document,), _ = table(
        tmp_path,
        ("b:1.1", "\ufeffMus cur\u00adrit, cur\u00ad\n  rit.", "\u200eA\u200b mouse\u200b."),
        ("b:1.2", "क्\u200dष मी\u200cخ می\u200cخواهم", "ខ្មែរ\u200bខ្មែរ 👩\u200d👩"),
    )
    assert texts(document) == (
        ["Mus currit, currit.", "क्\u200dष मी\u200cخ می\u200cخواهم"],
        ["A mouse.", "ខ្មែរ\u200bខ្មែរ 👩\u200d👩"],
    )
    assert document.asides == (
        SegmentAside("b:1.1", "", "character", "U+FEFF ZERO WIDTH NO-BREAK SPACE: 1\nU+00AD SOFT HYPHEN: 2"),
        SegmentAside("b:1.1", "ann", "character", "U+200E LEFT-TO-RIGHT MARK: 1\nU+200B ZERO WIDTH SPACE: 2"),
    )


def test_what_is_markup_only_is_no_translation_and_no_source(tmp_path: Path) -> None:
    (document,), _ = table(tmp_path, ("b:1.1", "Mus.", "<b></b>&nbsp;"), ("b:1.2", "Sol.", "Sun."))
    assert texts(document)[1] == [None, "Sun."]
    documents, (fault,) = table(tmp_path, ("b:1.1", "<br/>", "Mouse."))
    assert not documents
    assert (fault.key, fault.problem) == ("b:1", "contains no text, only markup or invisible characters")


def test_beta_code_of_a_greek_source_becomes_greek(tmp_path: Path) -> None:
    row = ("b:1.1", "*mu=s tre/xei (ou) bai/nei), kai\\ o( a)nh\\r o(ra=|.", "A mouse runs (and) the man sees.")
    (document,), _ = table(tmp_path, row, language="grc")
    assert texts(document) == (["Μῦς τρέχει (οὐ βαίνει), καὶ ὁ ἀνὴρ ὁρᾷ."], ["A mouse runs (and) the man sees."])
    (document,), _ = table(tmp_path, row)
    assert texts(document)[0] == [row[1]]


@pytest.mark.parametrize("text", ["Μῦς τρέχει (ὁ ἀνήρ).", "mys trechei (kai) ho aner", "Mus currit / felis (sedet)."])
def test_other_text_of_a_greek_source_stays(tmp_path: Path, text: str) -> None:
    (document,), _ = table(tmp_path, ("b:1.1", text, "A mouse."), language="grc")
    assert texts(document)[0] == [text]


def test_a_continuous_translation_loses_its_format_characters_with_their_places() -> None:
    prose = Prose("ann", Path("b.txt"), "A\u200b mouse ran.\n\nA c\u00adat sat\u200b.", (Aside("heading", 14, "Two"),))
    assert plain_prose(prose) == Prose(
        "ann", Path("b.txt"), "A mouse ran.\n\nA cat sat.",
        (Aside("character", 1, "U+200B ZERO WIDTH SPACE: 2"), Aside("heading", 13, "Two"),
         Aside("character", 17, "U+00AD SOFT HYPHEN: 1")),
    )  # fmt: skip

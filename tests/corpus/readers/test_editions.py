"""What TEI by citation yields: schemes, levels of segments and passages, translations divided by the same citations."""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.model import Document, Lengths, SegmentAside
from resources.errors import BadInput
from tests.corpus.support import describe, edit, read_back

TERMS = {"language": "en", "licence": "CC0-1.0"}
STATES = "<refsDecl><refState unit='book'/><refState unit='chapter'/><refState unit='section'/></refsDecl>"
CTS = """<refsDecl n='CTS'>
  <cRefPattern n='line' matchPattern='(\\w+).(\\w+)'
    replacementPattern="#xpath(/tei:TEI/tei:text/tei:body/tei:div/tei:div[@n='$1']//tei:l[@n='$2'])"/>
  <cRefPattern n='poem' matchPattern='(\\w+)'
    replacementPattern="#xpath(/tei:TEI/tei:text/tei:body/tei:div/tei:div[@n='$1'])"/>
</refsDecl>"""
STRUCTURE = """<refsDecl><citeStructure unit='book' match='//body/div' use='@n'>
  <citeStructure unit='speech' match='sp' use='position()' delim='.'/></citeStructure></refsDecl>"""

Corpus = Callable[..., tuple[list[Document], list[BadInput]]]


def tei(body: str, declared: str = "") -> str:
    header = f"<teiHeader><encodingDesc>{declared}</encodingDesc></teiHeader>"
    return f"<TEI xmlns='http://www.tei-c.org/ns/1.0'>{header}<text><body>{body}</body></text></TEI>"


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Reads a corpus of one document, w.la.xml, with translations w.NAME.xml and the given keys of the description."""

    def read(source: str, translations: dict[str, str] | None = None, **keys: Any) -> Any:
        files = {"la": source, **(translations or {})}
        for name, content in files.items():
            (tmp_path / f"w.{name}.xml").write_text(content, encoding="utf-8")
        description = describe(tmp_path / "c.yaml", "tei", tmp_path, [], files="{document}.la.xml")
        names = list(translations or {})
        texts = {name: TERMS | {"layout": "tei", "files": f"{{document}}.{name}.xml"} for name in names}
        edit(description, {"references": texts, "target": "" if texts else "en", **keys})
        return read_back(description)

    return read


def segments(found: tuple[list[Document], list[BadInput]]) -> dict[str, dict[str, str]]:
    """Texts by passage and segment of the only document."""
    (document,), faults = found
    assert not faults
    return {passage.id: {each.id: each.text for each in passage.segments} for passage in document.passages}


def references(found: tuple[list[Document], list[BadInput]], translator: str) -> list[str | None]:
    """Texts of a translator, by segment."""
    (document,), faults = found
    assert not faults
    texts: list[str | None] = []
    for passage in document.passages:
        own = [each for each in passage.references if each.translator == translator]
        texts += own[0].segments if own else [None] * len(passage.segments)
    return texts


def numbers(found: tuple[list[Document], list[BadInput]]) -> list[tuple[str, str]]:
    """Numbers of the only continuous translation, each with the beginning of its text."""
    (document,), faults = found
    assert not faults
    (prose,) = document.prose
    return [(each.text, prose.text[each.at :][:5]) for each in prose.asides if each.kind == "number"]


MILESTONES = tei(
    """<div type='book' n='21'><milestone unit='chapter' n='1'/><p><milestone unit='section' n='1'/>Mus currit.
    <milestone unit='section' n='2'/>Felis</p> <pb n='7'/><p>sedet.</p>
    <p><milestone unit='chapter' n='2'/><milestone unit='section' n='1'/>Sol lucet.</p></div>""",
    STATES,
)
DIVISIONS = tei(
    """<div type='edition' n='urn:cts:x'><div type='textpart' subtype='book' n='21'><head n='9'>Liber</head>
    <div type='textpart' subtype='chapter' n='1'><div subtype='section' n='1'><p>Mus currit.</p></div>
    <div subtype='section' n='2'><p>Felis</p><p>sedet.</p></div></div>
    <div subtype='chapter' n='2'><div subtype='section' n='1'><p>Sol lucet.</p></div></div></div></div>""",
    STATES,
)
TREE = {
    "w:21.1": {"w:21.1.1": "Mus currit.", "w:21.1.2": "Felis sedet."},
    "w:21.2": {"w:21.2.1": "Sol lucet."},
}


# Schemes


@pytest.mark.parametrize(
    "source",
    [
        MILESTONES,
        DIVISIONS,
        DIVISIONS.replace(STATES, ""),
        MILESTONES.replace(STATES, ""),
        MILESTONES.replace("<refState unit='section'/>", ""),
        MILESTONES.replace("refState", "state"),
        DIVISIONS.replace("subtype='book'", "subtype='Book'"),
        MILESTONES.replace(STATES, "<refsDecl><refState unit='page'/></refsDecl>" + STATES),
        MILESTONES.replace(STATES, CTS + STATES),
        DIVISIONS.replace("<div subtype='chapter' n='2'>", "<div subtype='chapter' n='21.2'>"),
    ],
    ids=[
        "milestones", "divisions", "nested divisions", "undeclared milestones", "an undeclared level", "P4",
        "names in capitals", "a declaration without elements", "a declaration of another work", "whole numbers",
    ],
)  # fmt: skip
def test_however_a_file_is_numbered_its_words_have_the_same_citations(corpus: Corpus, source: str) -> None:
    assert segments(corpus(source)) == TREE


def test_a_scheme_of_cts_may_leave_a_division_out(corpus: Corpus) -> None:
    body = """<div n='urn:x'><div n='lyrics'><div n='1'><lg><l n='1'>Mus</l></lg><l n='2'>felis</l></div></div></div>"""
    declared = CTS.replace("tei:div/tei:div[", "tei:div/tei:div/tei:div[")
    assert segments(corpus(tei(body, declared))) == {"w:1": {"w:1.1": "Mus", "w:1.2": "felis"}}


def test_a_cite_structure_may_count(corpus: Corpus) -> None:
    body = "<div n='1'><sp><speaker>A</speaker><p>Mus.</p></sp><sp><p>Felis.</p></sp></div>"
    assert segments(corpus(tei(body, STRUCTURE))) == {"w:1": {"w:1.1": "Mus.", "w:1.2": "Felis."}}


LETTER = tei(
    """<div n='1' type='letter'><opener><dateline>Romae</dateline><salute>Marcus Gaio</salute></opener><p n='1'>Mus.</p>
    <p n='2'>Felis.</p><quote><l>Sol lucet.</l></quote><p n='3'>Canis.</p><closer>Vale.</closer></div>
    <div n='2'><p n='1'>Luna.</p></div>"""
)


def test_text_without_a_number_stays_at_its_place(corpus: Corpus) -> None:
    found = corpus(LETTER, {"ann": LETTER.replace("Sol lucet", "The sun shines")})
    assert segments(found) == {
        "w:1": {"w:1": "Romae Marcus Gaio", "w:1.1": "Mus.", "w:1.2": "Felis. Sol lucet.", "w:1.3": "Canis. Vale."},
        "w:2": {"w:2.1": "Luna."},
    }
    assert references(found, "ann")[1:4] == ["Mus.", "Felis. The sun shines.", "Canis. Vale."]
    assert [(each.segment, each.translator, each.text) for each in found[0][0].asides] == [
        (f"w:1.{part}", translator, f"text of 1 without a number is joined to 1.{part}")
        for translator in ("", "ann") for part in (2, 3)
    ]  # fmt: skip


def test_an_id_may_name_its_kind_before_the_numbers_of_its_division(corpus: Corpus) -> None:
    source = tei(
        """<div n='1'><lg><l xml:id='verse_1.1'>Mus</l><l>currit.</l></lg>
        <lg xml:id='verse_1.2'><l>Felis</l><l>sedet.</l></lg></div>
        <div n='2'><lg xml:id='verse_2.1'><l>Sol lucet.</l></lg></div>"""
    )
    assert segments(corpus(source)) == {
        "w:1": {"w:1.1": "Mus currit.", "w:1.2": "Felis sedet."}, "w:2": {"w:2.1": "Sol lucet."}
    }  # fmt: skip


@pytest.mark.parametrize("declared", ["", STATES.replace("section", "verse")])
def test_a_milestone_that_numbers_something_else_is_no_level(corpus: Corpus, declared: str) -> None:
    source = DIVISIONS.replace(STATES, declared).replace("Mus currit.", "Mus <milestone unit='card' n='5'/>currit.")
    assert segments(corpus(source)) == TREE


def test_a_milestone_in_a_note_numbers_the_text_after_the_note(corpus: Corpus) -> None:
    moved = "<note>Or 3.<milestone unit='section' n='2'/></note>Felis"
    assert segments(corpus(MILESTONES.replace("<milestone unit='section' n='2'/>Felis", moved))) == TREE


def test_text_above_the_last_level_has_the_citation_that_it_has(corpus: Corpus) -> None:
    source = DIVISIONS.replace("<head n='9'>Liber</head>", "<head>Liber</head><p>Fabula.</p>")
    assert segments(corpus(source)) == {"w:21": {"w:21": "Fabula."}} | TREE


def test_a_source_of_which_much_is_not_read_is_refused_until_told_to_go_on(
    corpus: Corpus, caplog: pytest.LogCaptureFixture
) -> None:
    source = DIVISIONS.replace("<body>", "<body>\n<p>Finis.</p>")
    documents, (fault,) = corpus(source)
    assert not documents
    assert (fault.key, fault.problem) == (
        "line 2", "has text outside the segments, in <p>: 6 characters are not read, and only 84.6% of the text are"
    )  # fmt: skip
    assert "`coverage: 0.84`" in fault.remedy
    assert segments(corpus(source, coverage=0.84)) == TREE
    assert caplog.messages[0].endswith("line 2 has text outside the segments, in <p>: 6 characters are not read")


def test_what_became_of_the_characters_is_counted(corpus: Corpus) -> None:
    source = DIVISIONS.replace("<body>", "<body><p>Finis.</p>").replace(
        "Mus currit.", "Mus <gap/> currit.<note>Sic.</note>"
    )
    english = ENGLISH.replace("sits.", "sits.<milestone unit='chapter' n='9'/>Stray.")
    (document,), _ = corpus(source, {"ann": english}, coverage=0)
    assert document.lengths == {
        "": Lengths(segments=37, notes=4, headings=5, gaps=3, nothing=6),
        "ann": Lengths(segments=39, nothing=6),
    }


def test_a_refusal_names_the_levels_that_would_do(corpus: Corpus) -> None:
    documents, (fault,) = corpus(CROSSING, segment="chapter")
    assert not documents
    assert "section (4 citations, 100.0% of the text)" in fault.remedy


CROSSING = tei(
    """<div type='edition'><div type='section' n='1'><p>Mus currit per agros latos.</p></div>
    <div type='section' n='2'><p>Felis dormit. <milestone unit='chapter' n='1'/>Sol.</p></div>
    <div type='section' n='3'><p>Canis latrat <milestone unit='chapter' n='2'/>nocte.</p></div>
    <div type='section' n='4'><p>Luna lucet.</p></div></div>""",
    "<refsDecl><refState unit='chapter'/><refState unit='section'/></refsDecl>" +
    """<refsDecl n='CTS'><cRefPattern n='section' matchPattern='(.+)'
    replacementPattern="#xpath(/tei:TEI/tei:text/tei:body/tei:div/tei:div[@n='$1'])"/></refsDecl>""",
)  # fmt: skip
"""Chapters begin within sections."""


def test_the_declared_scheme_is_preferred_to_a_deeper_one_that_loses_text(corpus: Corpus) -> None:
    assert list(segments(corpus(CROSSING))) == ["w:1", "w:2", "w:3", "w:4"]


def test_a_declared_scheme_that_loses_text_gives_way_to_the_finest_that_reads_it(corpus: Corpus) -> None:
    """The lines of the odes are declared, most of the play is numbered by cards and paragraphs."""
    body = "".join(
        f"<milestone unit='card' n='{n}'/><p n='{n}'>Mus currit.</p><p n='{n}b'>Felis sedet.</p>" for n in range(1, 9)
    )
    declared = "<refsDecl><step refunit='line' from='DESCENDANT (1 L N%1)'/></refsDecl>"
    found = segments(corpus(tei(f"{body}<l n='1'>Io!</l>", declared), coverage=0.9))
    assert len(found) == 16


def test_a_level_of_another_scheme_is_found_by_its_name(corpus: Corpus) -> None:
    scenes = "<div type='scene' n='1'><l n='1'>A</l></div><div type='scene' n='2'><l n='2'>B</l></div>"
    body = f"<div type='act' n='1'>{scenes}</div>"
    by_line = CTS.replace("tei:div[@n='$1']//", "").replace("$2", "$1").replace("tei:div/tei:l", "/tei:l")
    states = STATES.replace("book", "act").replace("chapter", "scene").replace("section", "line")
    play = tei(f"<div n='urn:x'>{body}</div>", by_line + states)
    assert list(segments(corpus(play))) == ["w"]
    assert segments(corpus(play, passage="scene")) == {"w:1.1": {"w:1.1.1": "A"}, "w:1.2": {"w:1.2.2": "B"}}


@pytest.mark.parametrize(
    "declared",
    [
        "<refsDecl/>", "<refsDecl><cRefPattern/></refsDecl>", "<refsDecl><citeStructure/></refsDecl>",
        "<refsDecl><citeStructure match='//div' use=')'/></refsDecl>",
        "<refsDecl><citeStructure match='//div[' use='@n'/></refsDecl>",
        "<refsDecl><citeStructure match='//div/@n'/><citeStructure match='1'/></refsDecl>",
        "<refsDecl><cRefPattern replacementPattern='#xpath(//tei:div[@n=$1])'/></refsDecl>",
        "<refsDecl><cRefPattern replacementPattern='$2'/><refState/><state unit=''/></refsDecl>",
    ],
)  # fmt: skip
def test_a_declaration_that_means_nothing_is_passed_over(corpus: Corpus, declared: str) -> None:
    assert segments(corpus(DIVISIONS.replace(STATES, declared))) == TREE


def test_arguments_and_notes_are_kept_apart(corpus: Corpus) -> None:
    source = MILESTONES.replace("<p><milestone", "<argument><p>Plot.</p></argument><p><milestone", 1)
    source = source.replace("sedet.", "sedet<note>stat <hi>A</hi></note>.<note>Sic B.</note>")
    english = ENGLISH.replace("A mouse", "A mouse<note>The <hi>small</hi> one.</note>")
    found = corpus(source, {"ann": english})
    assert segments(found) == TREE
    assert references(found, "ann")[0] == "A mouse runs."
    assert found[0][0].asides == (
        SegmentAside("w:21.1.1", "", "note", "Plot."),
        SegmentAside("w:21.1.2", "", "note", "stat A\nSic B."),
        SegmentAside("w:21.1.1", "ann", "note", "The small one."),
    )


P4 = """<?xml version="1.0"?>
<!DOCTYPE TEI.2 PUBLIC "-//TEI P4//DTD Main DTD Driver File//EN" "http://192.0.2.1/tei2.dtd" [
<!ENTITY % TEI.XML "INCLUDE">
<!ENTITY % PersProse PUBLIC "-//Perseus P4//DTD Perseus Prose//EN" "http://192.0.2.1/PersProse.dtd" >
%PersProse;
<!ENTITY mus "Mus">
]>
<TEI.2><teiHeader><fileDesc>&Perseus.publish; &responsibility;</fileDesc></teiHeader><text><body>
<div1 type="book" n="21"><div2 type="section" n="1"><p>&mus; &mdash; &aelig;ger &amp; &racute; &lt;.</p></div2></div1>
</body></text></TEI.2>"""


def test_entities_of_p4_are_read_without_a_dtd(corpus: Corpus) -> None:
    """The address of the DTD is one that never answers."""
    assert segments(corpus(P4)) == {"w:21": {"w:21.1": "Mus — æger & ŕ <."}}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("<l n='1'>A</l><l>B</l><l>C</l><l n='4'>D</l><l>E</l>", "1A 2B 3C 4D 5E"),
        ("<l>A</l><l n='2'>B</l>", "1A 2B"),
        ("<l>A</l><l>B</l><l n='5'>C</l>", "5A B C"),
        ("<l n='1'>A</l><l>B</l><l>C</l><l n='5'>D</l>", "1A B C 5D"),
        ("<l n='1'>A</l><l>B</l><l n='2a'>C</l><l>D</l>", "1A B 2aC D"),
        ("<l n='1' part='I'>A</l><l part='F'>B</l><l>C</l>", "1A B 2C"),
        ("<l n='1' part='I'>A</l><l n='1' part='F'>B</l><l n='2'>C</l>", "1A B 2C"),
        ("<lg n='x'><l n='1'>A</l><l>B</l></lg><lg><l>C</l></lg>", "1A 2B 3C"),
    ],
)
def test_lines_without_a_number_are_counted_or_belong_to_the_line_before(
    corpus: Corpus, lines: str, expected: str
) -> None:
    found = segments(corpus(tei(f"<div><div n='7'>{lines}</div></div>", CTS)))
    texts = [f"{segment.rpartition('.')[2]}{text}" for segment, text in found["w:7"].items()]
    assert " ".join(texts) == expected


WORDS = st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=5).map(" ".join)
BOOKS = st.lists(st.lists(st.lists(WORDS, min_size=1, max_size=4), min_size=1, max_size=4), min_size=1, max_size=3)


@given(BOOKS)
def test_divisions_and_milestones_read_back_as_they_were_written(books: list[list[list[str]]]) -> None:
    nested = milestones = ""
    expected = {}
    for b, chapters in enumerate(books, start=1):
        nested, milestones = f"{nested}<div1 type='book' n='{b}'>", f"{milestones}<milestone unit='book' n='{b}'/>"
        for c, sections in enumerate(chapters, start=1):
            nested += f"<div2 type='chapter' n='{c}'>"
            milestones += f"<p><milestone unit='chapter' n='{c}'/>"
            for s, text in enumerate(sections, start=1):
                nested += f"<p><seg type='section' n='{s}'>{text}</seg></p>"
                milestones += f"<milestone unit='section' n='{s}'/>{text} "
                expected[f"w:{b}.{c}.{s}"] = text
            nested, milestones = f"{nested}</div2>", f"{milestones}</p>"
        nested += "</div1>"
    with tempfile.TemporaryDirectory() as name:
        description = describe(Path(name, "c.yaml"), "tei", Path(name), [])
        edit(description, {"target": "en"})
        for body in (nested, milestones):
            Path(name, "w.xml").write_text(tei(body, STATES), encoding="utf-8")
            found = segments(read_back(description))
            assert {key: text for texts in found.values() for key, text in texts.items()} == expected


# Levels of segments and passages


def test_a_description_chooses_segments_and_passages(corpus: Corpus) -> None:
    whole = {"w:21.1": "Mus currit. Felis sedet.", "w:21.2": "Sol lucet."}
    assert segments(corpus(MILESTONES, segment="Chapter")) == {"w:21": whole}
    assert segments(corpus(MILESTONES, segment=2, passage="chapter")) == {key: {key: whole[key]} for key in whole}
    assert segments(corpus(MILESTONES, passage=1)) == {"w:21": TREE["w:21.1"] | TREE["w:21.2"]}
    assert segments(corpus(MILESTONES, passage="section")) == {
        key: {key: text} for texts in TREE.values() for key, text in texts.items()
    }


@pytest.mark.parametrize(
    ("keys", "key", "problem"),
    [
        ({"passage": "poem"}, "passage", "'poem' is not a level of the text, whose levels are book, chapter, section"),
        ({"segment": 4}, "segment", "4 is not a level"),
        ({"segment": "chapter", "passage": "section"}, "passage", "is a level below the segments (chapter)"),
    ],
)
def test_a_level_that_the_text_lacks_is_refused(corpus: Corpus, keys: dict[str, Any], key: str, problem: str) -> None:
    documents, (fault,) = corpus(MILESTONES, **keys)
    assert not documents
    assert (Path(fault.where).name, fault.key) == ("w.la.xml", key)
    assert problem in fault.problem


@pytest.mark.parametrize("key", ["segment", "passage", "lines"])
def test_levels_are_for_tei_only(tmp_path: Path, key: str) -> None:
    description = describe(tmp_path / "c.yaml", "jsonl", tmp_path, ["ann"])
    edit(description, {key: 1})
    with pytest.raises(BadInput, match=f"{key}: is only for the layout `tei`"):
        load(description)


def test_a_source_pattern_must_leave_room_for_the_document(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"source\.files: 'a\.xml' names one file; write \{document\}"):
        load(describe(tmp_path / "c.yaml", "tei", tmp_path, ["ann"], files="a.xml"))


def poem(count: int, word: str = "mus") -> str:
    lines = "".join(f"<l n='{number}'>{word} {number}</l>" for number in range(1, count + 1))
    return f"<div n='{count}'>{lines}</div>"


def test_verse_is_divided_into_windows_of_lines(corpus: Corpus) -> None:
    found = segments(corpus(tei(f"<div>{poem(9)}{poem(12)}{poem(4)}</div>", CTS), lines=4))
    assert {passage: len(texts) for passage, texts in found.items()} == {
        "w:9.1-4": 4, "w:9.5-9": 5, "w:12.1-4": 4, "w:12.5-8": 4, "w:12.9-12": 4, "w:4": 4,
    }  # fmt: skip


def test_a_poem_without_a_level_above_its_lines_is_one_passage(corpus: Corpus) -> None:
    lines = "".join(f"<sp><l n='{number}'>mus</l></sp>" for number in range(1, 8))
    play = tei(f"<div n='urn:x'>{lines}</div>", CTS.replace("tei:div[@n='$1']//", "").replace("$2", "$1"))
    assert {passage: len(texts) for passage, texts in segments(corpus(play)).items()} == {"w": 7}
    assert list(segments(corpus(play, lines=3))) == ["w:1-3", "w:4-7"]


def test_a_long_play_is_divided_where_its_scenes_begin(corpus: Corpus) -> None:
    number, scenes = 0, ""
    for length in (120, 150):
        lines = "".join(f"<l n='{number + at}'>mus currit et felis sedet</l>" for at in range(1, length + 1))
        scenes, number = f"{scenes}<div type='scene'>{lines}</div>", number + length
    play = tei(f"<div n='urn:x'>{scenes}</div>", CTS.replace("tei:div[@n='$1']//", "/").replace("$2", "$1"))
    assert list(segments(corpus(play))) == ["w:1-120", "w:121-270"]


def test_a_passage_that_is_too_long_is_named_with_the_levels_that_would_do(
    corpus: Corpus, caplog: pytest.LogCaptureFixture
) -> None:
    source = MILESTONES.replace("Mus currit.", "Mus currit. " * 500)
    corpus(source)
    assert caplog.messages == [
        "w: 1 of 2 passages have more than 5,000 characters of source; the longest is w:21.1 with 6,011. To"
        " shorten them, write `passage: section` (then 1 of 3 are still too long) in the description"
    ]
    caplog.clear()
    corpus(tei(f"<div>{poem(900)}</div>", CTS))
    assert caplog.messages[0].endswith("To shorten them, write `lines: 360` in the description")
    caplog.clear()
    corpus(source, passage="section")
    assert caplog.messages[0].endswith("The text has no finer level")


def test_a_passage_that_the_edition_leaves_empty_is_left_out(corpus: Corpus, caplog: pytest.LogCaptureFixture) -> None:
    assert segments(corpus(MILESTONES.replace("Sol lucet.", "<note>Sol.</note>"))) == {"w:21.1": TREE["w:21.1"]}
    assert caplog.messages == ["left out, because the source has no text: w:21.2"]


# Translations

ENGLISH = MILESTONES.replace("Mus currit.", "A mouse runs.").replace("Felis", "A cat").replace("sedet.", "sits.")
ENGLISH = ENGLISH.replace("Sol lucet.", "The sun shines.")
CHAPTERS = re.sub("<milestone unit='section' n='.'/>", "", ENGLISH)


def test_a_translation_is_divided_by_its_citations(corpus: Corpus) -> None:
    found = corpus(DIVISIONS, {"ann": ENGLISH})
    assert segments(found) == TREE
    assert references(found, "ann") == ["A mouse runs.", "A cat sits.", "The sun shines."]
    assert not found[0][0].prose


def test_a_number_with_question_marks_is_read_and_named(corpus: Corpus, caplog: pytest.LogCaptureFixture) -> None:
    found = corpus(DIVISIONS, {"ann": ENGLISH.replace("unit='section' n='2'", "unit='section' n='2??'")})
    assert references(found, "ann") == ["A mouse runs.", "A cat sits.", "The sun shines."]
    assert caplog.messages == ["w: ann: doubts about 1 segments: line 2: 21.1.2?? is read as 21.1.2"]


def test_a_number_that_occurs_twice_in_a_translation_is_named(corpus: Corpus, caplog: pytest.LogCaptureFixture) -> None:
    third = "<milestone unit='section' n='1'/> And again.</p></div>"
    found = corpus(DIVISIONS, {"ann": ENGLISH.replace("</p></div>", third)})
    assert references(found, "ann")[2] == "The sun shines. And again."
    assert "21.2.1 occurs again, and its text is joined to 21.2.1" in caplog.messages[0]


def test_text_with_a_number_that_the_source_lacks_is_joined_within_its_chapter(
    corpus: Corpus, caplog: pytest.LogCaptureFixture
) -> None:
    more = "<milestone unit='section' n='7'/> And ran.<milestone unit='chapter' n='9'/>Stray."
    found = corpus(DIVISIONS, {"ann": ENGLISH.replace("sits.", "sits." + more)})
    assert references(found, "ann") == ["A mouse runs.", "A cat sits. And ran.", "The sun shines."]
    assert [(aside.segment, aside.text) for aside in found[0][0].asides if aside.kind == "doubt"] == [
        ("w:21.1.2", "the source lacks 21.1.7, whose text is joined to 21.1.2")
    ]
    assert "6 characters are not read, because the source lacks their citations: 21.9" in caplog.text


def test_text_before_the_first_number_of_a_chapter_belongs_to_its_first_segment(corpus: Corpus) -> None:
    found = corpus(DIVISIONS, {"ann": ENGLISH.replace("<milestone unit='section' n='1'/>A mouse", "A mouse")})
    assert references(found, "ann")[0] == "A mouse runs."
    assert found[0][0].asides[0].text == "text before the first number of 21.1 is joined to 21.1.1"


def test_a_beginning_of_a_chapter_that_only_the_source_leaves_unnumbered_has_its_translation(corpus: Corpus) -> None:
    source = DIVISIONS.replace("<div subtype='section' n='1'><p>Mus currit.</p></div>", "<p>Mus currit.</p>")
    found = corpus(source, {"ann": ENGLISH})
    assert segments(found)["w:21.1"] == {"w:21.1": "Mus currit.", "w:21.1.2": "Felis sedet."}
    assert references(found, "ann") == ["A mouse runs.", "A cat sits.", "The sun shines."]


@pytest.mark.parametrize("with_book", [True, False])
def test_a_book_is_numbered_with_the_book_or_without(corpus: Corpus, with_book: bool) -> None:
    """The source or the translation lacks the level of the only book."""
    bare = "<refsDecl><refState unit='chapter'/><refState unit='section'/></refsDecl>"
    without = {STATES: bare, "subtype='book' n='21'": "", "type='book' n='21'": ""}
    source, english = DIVISIONS, ENGLISH
    for part, other in without.items():
        source, english = source.replace(part, other), english.replace(part, other)
    found = corpus(DIVISIONS, {"ann": english}) if with_book else corpus(source, {"ann": ENGLISH})
    assert references(found, "ann") == ["A mouse runs.", "A cat sits.", "The sun shines."]
    assert list(segments(found)) == (["w:21.1", "w:21.2"] if with_book else ["w:1", "w:2"])


def test_segments_are_at_the_finest_level_that_all_texts_share(corpus: Corpus) -> None:
    found = corpus(MILESTONES, {"ann": ENGLISH, "ben": CHAPTERS})
    assert segments(found) == {"w:21": {"w:21.1": "Mus currit. Felis sedet.", "w:21.2": "Sol lucet."}}
    for translator in ("ann", "ben"):
        assert references(found, translator) == ["A mouse runs. A cat sits.", "The sun shines."]


def test_a_translation_without_the_level_of_the_segments_is_continuous_with_its_numbers(corpus: Corpus) -> None:
    found = corpus(MILESTONES, {"ann": ENGLISH, "ben": CHAPTERS}, segment="section")
    assert segments(found) == TREE
    assert references(found, "ann") == ["A mouse runs.", "A cat sits.", "The sun shines."]
    assert numbers(found) == [("21", "A mou"), ("21.1", "A mou"), ("21.2", "The s")]


def test_numbers_that_are_not_those_of_the_source_do_not_divide_a_translation(corpus: Corpus) -> None:
    """A chapter of Cicero is not the section with the same number."""
    found = corpus(MILESTONES, {"ann": CHAPTERS.replace("'chapter'", "'letter'")}, segment="chapter")
    assert references(found, "ann") == [None] * 2
    assert numbers(found)[0] == ("21", "A mou")


def sparse(count: int, every: int) -> str:
    marks = [1, *range(every, count + 1, every)]
    lines = "".join(f"<l n='{mark}'>from {mark}</l>" for mark in marks)
    return f"<div n='{count}'>{lines}</div>"


def test_verse_that_is_numbered_every_fifth_line_gives_ranges(corpus: Corpus) -> None:
    source = tei(f"<div>{poem(11)}{poem(3)}</div>", CTS)
    found = corpus(source, {"ann": tei(f"<div>{sparse(11, 5)}{sparse(3, 5)}</div>", CTS)})
    assert segments(found) == {
        "w:11": {
            "w:11.1-4": "mus 1 mus 2 mus 3 mus 4",
            "w:11.5-9": "mus 5 mus 6 mus 7 mus 8 mus 9",
            "w:11.10-11": "mus 10 mus 11",
        },
        "w:3": {"w:3.1-3": "mus 1 mus 2 mus 3"},
    }
    assert references(found, "ann") == ["from 1", "from 5", "from 10", "from 1"]


@pytest.mark.parametrize(("whole", "segment_count"), [(True, 6), (False, 10)])
def test_ranges_are_recognized_by_the_length_of_their_text(corpus: Corpus, whole: bool, segment_count: int) -> None:
    """Six of ten lines have a number; the others are in the text before them, or are left out."""
    numbered = [1, 2, 3, 5, 8, 10]
    ends = [*numbered[1:], 11]
    lines = "".join(
        f"<l n='{n}'>{'a mouse runs ' * ((end - n) if whole else 1)}</l>" for n, end in zip(numbered, ends, strict=True)
    )
    found = corpus(tei(f"<div>{poem(10)}</div>", CTS), {"ann": tei(f"<div><div n='10'>{lines}</div></div>", CTS)})
    assert len(references(found, "ann")) == segment_count
    assert references(found, "ann").count(None) == segment_count - 6


def test_lines_of_another_translation_are_joined_to_the_ranges(corpus: Corpus) -> None:
    source, by_line = tei(f"<div>{poem(11)}</div>", CTS), tei(f"<div>{poem(11, 'mouse')}</div>", CTS)
    found = corpus(source, {"ann": tei(f"<div>{sparse(11, 5)}</div>", CTS), "ben": by_line}, lines=4)
    assert [len(texts) for texts in segments(found).values()] == [1, 1, 1]
    assert references(found, "ben")[2] == "mouse 10 mouse 11"
    assert list(segments(found)) == ["w:11.1-4", "w:11.5-9", "w:11.10-11"]


# Files


def test_folders_are_read_in_depth_and_hidden_ones_are_not(tmp_path: Path) -> None:
    for name in ("a/b/w1.xml", "w2.xml", ".downloads/w3.xml", "a/.git/w4.xml", "._w2.xml", "english/w1.xml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(MILESTONES, encoding="utf-8")
    description = describe(tmp_path / "c.yaml", "tei", tmp_path, [])
    edit(description, {"references": {"ann": TERMS | {"layout": "tei", "root": "english"}}})
    documents, faults = read_back(description)
    assert not faults
    assert [each.id for each in documents] == ["w1", "w2"]
    assert [len(each.passages[0].references) for each in documents] == [1, 0]


def test_a_pattern_takes_the_sources_out_of_a_folder_of_all_texts(tmp_path: Path) -> None:
    for name in ("phi1/phi1.lat2.xml", "phi1/phi1.eng1.xml", "phi2/phi2.lat2.xml", "phi1/__cts__.xml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("<ti/>" if "cts" in name else MILESTONES, encoding="utf-8")
    description = describe(tmp_path / "c.yaml", "tei", tmp_path, [], files="**/{document}.lat2.xml")
    edit(description, {"references": {"ann": TERMS | {"layout": "tei", "files": "**/{document}.eng1.xml"}}})
    documents, faults = read_back(description)
    assert not faults
    assert [(each.id, each.passages[0].id) for each in documents] == [("phi1", "phi1:21.1"), ("phi2", "phi2:21.1")]


def test_a_pattern_without_a_file_leaves_the_corpus_as_it_was(tmp_path: Path) -> None:
    description = describe(tmp_path / "c.yaml", "tei", tmp_path, [], files="**/{document}.lat2.xml")
    edit(description, {"target": "en"})
    with pytest.raises(BadInput, match=r"source\.files: no file matches"):
        read_back(description)


def test_a_source_is_not_its_own_translation(tmp_path: Path) -> None:
    (tmp_path / "w.xml").write_text(MILESTONES, encoding="utf-8")
    description = describe(tmp_path / "c.yaml", "tei", tmp_path, [])
    edit(description, {"references": {"ann": TERMS | {"layout": "tei"}}})
    documents, (fault,) = read_back(description)
    assert not documents
    assert (fault.key, fault.remedy) == ("references.ann.files", "give the translation's `files` or `root`")


def test_a_faulty_translation_leaves_its_document_out(corpus: Corpus) -> None:
    documents, (fault,) = corpus(MILESTONES, {"ann": "<TEI>"})
    assert not documents
    assert Path(fault.where).name == "w.ann.xml"

"""What TEI yields as a source and as a translation, and what is refused."""

import tempfile
import unicodedata
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.model import Aside, Document
from benchmark_assets.corpus.readers.characters import clean
from benchmark_assets.corpus.readers.tei import running_text
from benchmark_assets.corpus.review import review
from benchmark_assets.corpus.scan import scan
from resources.errors import BadInput
from tests.corpus.support import describe, edit, read_back

TEI = (
    "<TEI xmlns='http://www.tei-c.org/ns/1.0'><teiHeader><fileDesc><p n='9'>Header.</p></fileDesc></teiHeader>{}</TEI>"
)
PROSE = {"language": "en", "licence": "CC0-1.0", "layout": "tei", "root": "english"}


def tei(body: str) -> str:
    return TEI.format(f"<text><front><p>Preface.</p></front><body>{body}</body><back><p>Index.</p></back></text>")


Source = Callable[[str], tuple[list[Document], list[BadInput]]]
Prose = Callable[[str], tuple[str, tuple[Aside, ...]]]


@pytest.fixture
def source(tmp_path: Path) -> Source:
    """Documents and faults of a corpus of one file, mus.xml, with this body (or these bytes)."""
    description = describe(tmp_path / "c.yaml", "tei", tmp_path / "latin", ["ann"])
    edit(description, {"references": {"ann": PROSE}})
    (tmp_path / "latin").mkdir()
    (tmp_path / "english").mkdir()
    (tmp_path / "english/mus.xml").write_text(tei("<p>A mouse.</p>"))

    def written(body: str) -> tuple[list[Document], list[BadInput]]:
        (tmp_path / "latin/mus.xml").write_text(body if body.startswith("<?") else tei(body), encoding="utf-8")
        return read_back(description)

    return written


@pytest.fixture
def prose(tmp_path: Path) -> Prose:
    """Text and asides of a file with this body."""

    def written(body: str) -> tuple[str, tuple[Aside, ...]]:
        (tmp_path / "mus.xml").write_text(body if body.startswith("<?") else tei(body), encoding="utf-8")
        return running_text(tmp_path / "mus.xml")

    return written


def segments(found: tuple[list[Document], list[BadInput]]) -> list[tuple[str, str]]:
    documents, faults = found
    assert not faults
    return [(each.id, each.text) for document in documents for p in document.passages for each in p.segments]


# Sources


@pytest.mark.parametrize(
    ("body", "ids"),
    [
        ("<p xml:id='mus.1.1'>A</p><p xml:id='mus_1.2'>B</p>", ["mus:1.1", "mus:1.2"]),
        ("<p xml:id='s1'>A</p><p xml:id='mus10.1'>B</p>", ["mus:s1", "mus:mus10.1"]),
        ("<div n='1'><p n='1'>A</p><p n='2'>B</p></div>", ["mus:1.1", "mus:1.2"]),
        ("<div n='1'><p n='1'><seg n='1'>A</seg> <seg n='2'>B</seg></p></div>", ["mus:1.1.1", "mus:1.1.2"]),
        ("<div n='1'><p n='1.1'><seg n='1.1.1'>A</seg></p><p n='10.2'>B</p></div>", ["mus:1.1.1", "mus:1.10.2"]),
        ("<lg n='3'><l n='1'>A</l><l n='2'>B</l></lg>", ["mus:3.1", "mus:3.2"]),
        ("<div n='urn:cts:latinLit:phi1'><div n='1'><p>A</p></div><div n='2'><p>B</p></div></div>", ["mus:1", "mus:2"]),
        ("<div1 n='1'><div2 n='1'><ab>A</ab></div2><ab n='2'>B</ab></div1>", ["mus:1.1", "mus:1.2"]),
        ("<div xml:id='c1'><head n='7'>Head</head><p xml:id='s1'>A<note><p n='1'>n</p></note></p></div>", ["mus:s1"]),
        ("<div n='1'><seg xml:id='a.1'>A</seg><seg n=' '/></div>", ["mus:a.1"]),
    ],
)
def test_the_innermost_numbered_elements_are_the_segments(source: Source, body: str, ids: list[str]) -> None:
    assert segments(source(body)) == list(zip(ids, "AB", strict=False))


def test_a_source_has_its_passages_in_order(source: Source) -> None:
    (document,), faults = source(
        "<div n='1'><p n='1'><seg n='1'>Mus <hi>currit</hi>.</seg> <seg n='2'/></p><p n='2'>Sol.</p></div>"
        "<div n='2'><lg n='1'><l>Felis</l><l>sedet.</l></lg></div>"
    )
    assert not faults
    assert (document.id, document.file.name) == ("mus", "mus.xml")
    passages = [(each.id, each.language, [segment.text for segment in each.segments]) for each in document.passages]
    assert passages == [
        ("mus:1.1", "la", ["Mus currit.", ""]),
        ("mus:1.2", "la", ["Sol."]),
        ("mus:2.1", "la", ["Felis sedet."]),
    ]
    assert [(each.translator, each.text) for each in document.prose] == [("ann", "A mouse.")]


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("<app><lem>Mus</lem><rdg>Mures</rdg><rdg>Murem</rdg><note>sic A</note></app> currit", "Mus currit"),
        ("<app><rdg>Mus</rdg><rdg>Mures</rdg></app> currit", "Mus currit"),
        ("<app><rdgGrp><rdg>Mus</rdg></rdgGrp><rdgGrp><rdg>Mures</rdg></rdgGrp></app> currit", "Mus currit"),
        ("<choice><sic>Mos</sic><corr>Mus</corr></choice> currit", "Mus currit"),
        ("<choice><orig>Mvs</orig><reg>Mus</reg></choice> currit", "Mus currit"),
        ("<choice><abbr>M.</abbr><expan>M<ex>us</ex></expan></choice> currit", "Mus currit"),
        ("<choice><corr>Mus</corr><corr>Mures</corr><sic>Mos</sic></choice> currit", "Mus currit"),
        ("<choice><unclear>Mus</unclear><unclear>Mox</unclear></choice> currit", "Mus currit"),
        ("<sic>Mus</sic> <supplied>cur</supplied><unclear>rit</unclear>", "Mus currit"),
        ("<subst><del>Mos</del><add>Mus</add></subst> <surplus>et</surplus> currit", "Mus currit"),
        ("Mus <gap reason='lost'><desc>two words</desc></gap> currit", "Mus […] currit"),
        ("Mus<lb n='2'/>cur<lb break='no'/>rit", "Mus currit"),
        ("Mus <pb n='3'/> <fw>FABVLAE</fw>\n cur<pb break='no' n='4'/>rit", "Mus currit"),
        ("Mus<note place='foot'>A <gap/> mouse.</note> cur<note>!</note>rit", "Mus currit"),
        ("<stage>Exit.</stage>Mus<milestone n='5' unit='line'/> <!-- c -->cur<?x?>rit", "Mus currit"),
        ("<![CDATA[Mus <currit>]]> &amp; &#x101; a&#x304;", "Mus <currit> & ā ā"),
        ("<list><item>Mus</item><item>currit</item></list>", "Mus currit"),
    ],
)
def test_what_an_edition_says_beside_its_text_is_read_for_the_text(
    source: Source, prose: Prose, inside: str, text: str
) -> None:
    assert segments(source(f"<p n='1'>{inside}</p>")) == [("mus:1", text)]
    assert prose(f"<p>{inside}</p>")[0].split() == text.split()


def test_files_without_the_namespace_are_read(source: Source) -> None:
    assert segments(source("<?xml version='1.0'?><TEI><text><body><p n='1'>Mus.</p></body></text></TEI>")) == [
        ("mus:1", "Mus.")
    ]


def test_an_entity_that_the_file_defines_is_read(source: Source) -> None:
    entity = "<?xml version='1.0' encoding='utf-8'?><!DOCTYPE TEI [<!ENTITY m 'Mus'>]>"
    assert segments(source(entity + tei("<p n='1'>&m; currit.</p>"))) == [("mus:1", "Mus currit.")]


def readable(text: str) -> bool:
    """Whether a text is more than blanks, and not refused as damaged."""
    try:
        return bool(clean(text, Path()).strip())
    except BadInput:
        return False


# Format characters are removed from every text (readers.plain). The letters with which UTF-8 begins where it is read as
# Windows-1252 are a fault, and tested as one.
MISREAD = "\ufffe\uffff\u00c2\u00c3\u00e2"
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf"], exclude_characters=MISREAD)).filter(readable)


def normal(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.split()))


@given(st.lists(st.lists(TEXTS, min_size=1, max_size=3), min_size=1, max_size=4))
def test_a_source_reads_back_as_it_was_written(passages: list[list[str]]) -> None:
    assume(all(readable(" ".join(texts)) for texts in passages))  # together they may look misread
    body = "".join(
        f"<p n='{p}'>" + " ".join(f"<seg n='{s}'>{escape(text)}</seg>" for s, text in enumerate(texts)) + "</p>"
        for p, texts in enumerate(passages)
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        description = describe(folder / "c.yaml", "tei", folder / "mus.xml", [])
        edit(description, {"target": "en"})
        (folder / "mus.xml").write_text(tei(body), encoding="utf-8")
        (document,), faults = read_back(description)
    assert not faults
    assert [[each.text for each in passage.segments] for passage in document.passages] == [
        [normal(text) for text in texts] for texts in passages
    ]


@pytest.mark.parametrize(
    ("body", "key", "problem"),
    [
        ("<p>Mus.</p>", "", "contains no numbered segments"),
        ("", "", "contains no numbered segments"),
        ("<p n='1'>A</p>\n<p>B</p>", "line 2", "has text outside the segments, in <p>"),
        ("<p n='1'>A</p>\n<ab>B</ab><p>C</p>", "line 2", "has text outside the segments, in <ab>"),
        ("<p n='1'>A &mus; B</p>", "line 1", "is not well-formed XML (Entity 'mus' not defined)"),
        ("<p n='1'>\nA</l>", "line 2", "is not well-formed XML (Opening and ending tag mismatch"),
        ("<p n='1'>A &#0;</p>", "line 1", "is not well-formed XML ("),
        ("<?xml version='1.0'?>\n<TEI><text/></TEI>", "", "has no <body>"),
        ("<?xml version='1.0'?>\n<html><body><p n='1'>404</p></body></html>", "", "is not TEI (its root element is"),
        ("<?xml version='1.0'?><!DOCTYPE a [<!ENTITY w SYSTEM 'c.yaml'>]><TEI>&w;</TEI>", "&w;", "is the content of"),
    ],
)  # fmt: skip
def test_a_faulty_source_is_told_by_line_and_segment(source: Source, body: str, key: str, problem: str) -> None:
    documents, (fault,) = source(body)
    assert not documents
    assert Path(fault.where).name == "mus.xml"
    assert fault.key == key
    assert problem in fault.problem
    assert fault.remedy


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p n='1'>A</p><p n='2'>B</p><p n='1'>C</p>", {"mus:1": "A", "mus:2": "B C"}),
        ("<p n='1'>A</p><p n='1'>B</p>", {"mus:1": "A B"}),
        ("<p n='1'>A</p><p n='2??'>B</p>", {"mus:1": "A", "mus:2": "B"}),
        ("<p n='1.1'>A</p><p n='2.1'>B</p><p n='1.2'>C</p>", {"mus:1.1": "A", "mus:1.2": "C", "mus:2.1": "B"}),
        ("<p n='5(6)'>A</p><p n='a|b'>B</p>", {"mus:5(6)": "A", "mus:a|b": "B"}),
        ("<p n='1'>A &mdash; &AElig;</p>", {"mus:1": "A — Æ"}),
    ],
    ids=["repeated", "adjacent", "doubtful", "out of order", "odd", "named characters without a DOCTYPE"],
)
def test_a_faulty_number_concerns_its_segment_only(source: Source, body: str, expected: dict[str, str]) -> None:
    assert dict(segments(source(body))) == expected


def test_a_number_that_is_not_taken_as_it_stands_is_marked(source: Source) -> None:
    (document,), _ = source("<p n='1'>A</p><p n='2??'>B</p>\n<p n='1'>C</p>")
    assert [(aside.segment, aside.kind, aside.text) for aside in document.asides] == [
        ("mus:2", "doubt", "line 1: 2?? is read as 2\nline 2: 1 occurs again, and its text is joined to 2")
    ]


def test_words_that_were_read_as_windows_1252_are_restored_and_marked(source: Source) -> None:
    (document,), faults = source("<p n='1'>Mus noÃ«ros et &#xCE;&#x91;&#xE1;¼°.</p><p n='2'>“É” manet, ’tis.</p>")
    assert not faults
    assert [each.text for passage in document.passages for each in passage.segments] == [
        "Mus noëros et Αἰ.", "“É” manet, ’tis."
    ]  # fmt: skip
    assert [(aside.segment, aside.kind) for aside in document.asides] == [("mus:1", "doubt")]
    assert "Ã« is read as ë" in document.asides[0].text


def test_a_review_counts_characters_and_names_a_doubt(source: Source, tmp_path: Path) -> None:
    source("<p n='1'>Mus<note>Sic.</note> currit.</p><p n='2??'>Sol.</p>")
    description = load(tmp_path / "c.yaml")
    lines = list(review(description, scan([description])))
    counts = "segments 15, notes 4, headings 0, apparatus 0, gaps 0, nothing 0"
    assert f"  characters of the source: {counts}" in lines
    assert "  doubts about 1 segments of the source, such as mus:2: line 1: 2?? is read as 2" in lines


def test_odd_numbers_are_escaped_in_keys_of_passages(source: Source) -> None:
    (document,), _ = source("<p n='5(6).1'>A</p><p n='a|b/c.1'>B</p>")
    assert [passage.id for passage in document.passages] == ["mus:5(6)", "mus:a=7c=b=2f=c"]


def test_a_reference_without_files_of_its_own_is_refused(tmp_path: Path) -> None:
    """It would have no text in any document, and nothing would tell."""
    description = describe(tmp_path / "c.yaml", "tei", tmp_path, ["ann"])
    with pytest.raises(BadInput, match=r"c: references\.ann\.layout: is missing"):
        read_back(description)


def test_a_folder_without_a_file_is_refused(source: Source, tmp_path: Path) -> None:
    description = describe(tmp_path / "d.yaml", "tei", tmp_path / "latin", ["ann"])
    edit(description, {"references": {"ann": PROSE}})
    with pytest.raises(BadInput, match=r"latin: contains no .xml file"):
        read_back(description)


# Translations


def test_a_translation_is_its_paragraphs_and_verses_with_asides_at_their_places(prose: Prose) -> None:
    text, asides = prose("""<head>The Mouse</head>
        <div n="1"><head>One</head><p n="1">A mouse<note n="a">A <hi>small</hi> one.</note> ran
        <milestone unit="section" n="2"/>and ran.</p>
        <note>So the editor.</note>
        <quote><lg><l>“O mouse,</l><l n="5">run!”</l></lg></quote></div>
        <sp><speaker>Cat</speaker><p>I sat.</p></sp>""")
    assert text == "A mouse ran and ran.\n\n“O mouse,\nrun!”\n\nI sat."
    assert [(each.kind, each.text, text[each.at :][:4]) for each in asides] == [
        ("heading", "The Mouse", "A mo"),
        ("heading", "One", "A mo"),
        ("number", "1", "A mo"),
        ("number", "1.1", "A mo"),
        ("footnote", "A small one.", " ran"),
        ("note", "So the editor.", "“O m"),
        ("number", "1.5", "“O m"),
        ("heading", "Cat", "I sa"),
    ]


@given(st.lists(st.lists(TEXTS, min_size=1, max_size=3), min_size=1, max_size=4))
def test_a_translation_reads_back_as_it_was_written(stanzas: list[list[str]]) -> None:
    body = "".join(f"<lg>{''.join(f'<l>{escape(line)}</l>' for line in stanza)}</lg>\n" for stanza in stanzas)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mus.xml")
        path.write_text(tei(body), encoding="utf-8")
        text, asides = running_text(path)
    assert text == "\n\n".join("\n".join(map(normal, stanza)) for stanza in stanzas)
    assert not asides

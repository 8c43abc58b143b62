"""TEI cited by marks, and Kanripo: what is text, what is not, and what numbers it."""

from pathlib import Path

import pytest

from benchmark_assets.corpus.readers.cited import FORMS
from benchmark_assets.corpus.readers.citing import CitedText
from resources.errors import BadInput

CBETA = """<TEI xmlns="http://www.tei-c.org/ns/1.0" xmlns:cb="http://www.cbeta.org/ns/1.0"><teiHeader><charDecl>
<char xml:id="CB1"><mapping type="unicode">U+3401</mapping></char>
<char xml:id="CB2"><charProp><localName>composition</localName><value>[木*禾]</value></charProp></char></charDecl>
</teiHeader>
<text><body><milestone unit="juan" n="1"/><lb n="0001a01"/><cb:docNumber>No. 1</cb:docNumber>
<lb n="0001a02"/><cb:div><cb:mulu>1</cb:mulu><head>橋</head><byline>某譯</byline>
<lb n="0001a03"/><p xml:id="pT99p0001a0301">河邊有橋，橋
<lb n="0001a04"/>名<g ref="#CB1"/><g ref="#CB2"/><note place="inline">音天</note>。</p
><p>人來<app><lem>。</lem><rdg>也</rdg></app></p>
<lb n="0001a05"/><lg><l>橋<caesura/>舍</l></lg></cb:div>
<lb n="0001a06"/><cb:div><p>夜分<cb:t place="foot">ratri</cb:t></p><p>皆眠</p></cb:div></body>
<back><p>校註</p></back></text></TEI>"""
CHUNKS = """<TEI><text><front><p>Summary.</p></front><body><div><head>The Mill</head>
<milestone unit="chunk" xml:id="UT1-2-7"/><p><ref type="folio" cRef="F.1.a"/>A mill stood.</p>
<milestone unit="chunk" xml:id="UT1-2-9"/><p>It ground<note>Or: broke.</note> corn.</p><milestone unit="page" n="3"/>
<milestone unit="chunk" xml:id="UT1-2-10"/><trailer>The end.</trailer></div></body></text></TEI>"""
LINES = "<TEI><text><body><ab>{}</ab></body></text></TEI>"
KANRIPO = """# -*- mode: mandoku-view -*-
#+TITLE: 橋
<pb:KR1_X_001-1a>¶
** 1 《橋第一》

{0}子曰：¶
「橋(古作喬)也，¶
# a comment
人來」<pb:KR1_X_001-2a>¶

{1}又曰：¶

橋也¶
"""


def text(folder: Path, form: str, content: str) -> CitedText:
    path = folder / f"d{FORMS[form].endings[0]}"
    path.write_text(content, encoding="utf-8")
    (found,) = FORMS[form].read(path).values()
    return found


def pieces(found: CitedText) -> dict[str, str]:
    return {".".join(citation): piece for citation, piece in found.edition.pieces}


def test_paragraphs_of_cbeta_have_the_line_in_which_they_begin(tmp_path: Path) -> None:
    found = text(tmp_path, "cbeta", CBETA)
    assert pieces(found) == {
        "1.0001a03": "河邊有橋，橋名㐁[木*禾]。", "1.0001a04": "人來。", "1.0001a05": "橋 舍",
        "2.0001a06": "夜分", "2.0001a06b": "皆眠",
    }  # fmt: skip
    assert [(each.kind, each.text) for each in found.asides if each.kind != "number"] == [
        ("heading", "橋"), ("heading", "某譯"), ("footnote", "音天")
    ]  # fmt: skip


def test_milestones_with_an_id_number_chunks(tmp_path: Path) -> None:
    found = text(tmp_path, "tei-milestones", CHUNKS)
    assert pieces(found) == {"7": "A mill stood.", "9": "It ground corn.", "10": "The end."}
    assert found.edition.notes == [(("7",), "F.1.a"), (("9",), "Or: broke.")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('<lb n="1"/>Arma <lb n="2"/>vi<lb n="3" break="no"/>rum', {"1.1": "Arma", "1.2": "vi", "1.3": "rum"}),
        ('<pb n="4"/><lb n="1"/>Arma<pb n="5"/><lb n="1"/>cano', {"4.1": "Arma", "5.1": "cano"}),
        ('<pb n="4"/><cb n="a"/><lb n="1"/>Arma<cb n="b"/><lb n="1"/>cano', {"4-a.1": "Arma", "4-b.1": "cano"}),
    ],
)
def test_lines_are_below_a_page_or_column_that_numbers_them_again(
    tmp_path: Path, content: str, expected: dict[str, str]
) -> None:
    assert pieces(text(tmp_path, "tei-lines", LINES.format(content))) == expected


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (("1.1", "1.2"), {"1.1": "子曰：「橋也，人來」", "1.2": "又曰： 橋也"}),
        (("", ""), {"1.1": "子曰：「橋也，人來」", "1.2": "又曰：", "1.3": "橋也"}),
    ],
)
def test_sections_of_kanripo_are_numbered_or_counted(
    tmp_path: Path, numbers: tuple[str, str], expected: dict[str, str]
) -> None:
    found = text(tmp_path, "kanripo", KANRIPO.format(*numbers))
    assert pieces(found) == expected
    assert [(each.kind, each.text) for each in found.asides if each.kind != "number"] == [
        ("heading", "1 《橋第一》"), ("footnote", "古作喬")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("form", "content", "problem"),
    [
        ("cbeta", "<html/>", "is not TEI with a text"),
        ("tei-lines", LINES.format("Arma"), "has no marks of the form `tei-lines`"),
        ("tei-milestones", LINES.format("Arma"), "has no marks of the form `tei-milestones`"),
        ("kanripo", "# only a comment\n", "contains no text"),
        ("cbeta", '<!DOCTYPE TEI [<!ENTITY x SYSTEM "file:///etc/passwd">]><TEI><text><body>&x;</body></text></TEI>',
         "is the content of another file"),
    ],
)  # fmt: skip
def test_a_faulty_file_is_named(tmp_path: Path, form: str, content: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        text(tmp_path, form, content)

"""HTML with numbered verses, EPUB and Word: their texts, numbers and tables, and archives that are refused."""

import re
import zipfile
from pathlib import Path

import pytest
import yaml

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.proposals import propose
from benchmark_assets.corpus.readers import pages
from benchmark_assets.corpus.readers.cited import FORMS
from benchmark_assets.corpus.readers.citing import CitedText
from benchmark_assets.corpus.scan import scan
from resources.errors import BadInput

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPES = f"""<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels"
 ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"""
RELATIONS = f"""<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" Type="{OFFICE}/officeDocument"
 Target="word/document.xml"/></Relationships>"""
CONTAINER = '<container><rootfiles><rootfile full-path="O/c.opf"/></rootfiles></container>'
SPINE = """<package><manifest><item id="a" href="a.xhtml"/><item id="b" href="b%20b.xhtml"/>
<item id="n" href="n.xhtml"/></manifest><spine><itemref idref="b"/><itemref idref="a"/><itemref idref="n"/></spine>
</package>"""
MARK = '<a class="noteref" href="n.xhtml#x">1</a>'
TITLE = '<section epub:type="frontmatter titlepage"><p>The Mill</p></section>'
NOTED = f"<html xmlns:epub='e'><body>{TITLE}<h1>One</h1><p>A mill&nbsp;stood.{MARK} It ground.</p></body></html>"
NOTES = '<html><body><div class="footnotes"><p id="x">Or: weir.</p></div></body></html>'
BOOK = {
    "META-INF/container.xml": CONTAINER, "O/c.opf": SPINE, "O/b b.xhtml": NOTED,
    "O/a.xhtml": "<html><body><p>It stood<br>on.</p></body></html>", "O/n.xhtml": NOTES,
}  # fmt: skip


def archive(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return path


def document(path: Path, body: str) -> Path:
    """A Word document whose body has this XML."""
    xml = f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>'
    return archive(path, {"[Content_Types].xml": TYPES, "_rels/.rels": RELATIONS, "word/document.xml": xml})


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def pieces(found: CitedText) -> dict[str, str]:
    return {".".join(citation): piece for citation, piece in found.edition.pieces}


def page(folder: Path, body: str) -> CitedText:
    (folder / "d.html").write_text(f"<html><head><title>x</title></head><body>{body}</body></html>", encoding="utf-8")
    (found,) = pages.html(folder / "d.html").values()
    return found


@pytest.mark.parametrize(
    "body",
    [
        "<h2>Chapter 1</h2><p><sup>1</sup>One. <sup>2</sup>Two.</p><h2>Chapter 2</h2><p><sup>1</sup>Three.</p>",
        '<p><span class="v">1</span> One.<br><span class="v">2</span> Two.</p><p><span class="v">1</span> Three.</p>',
        "<p><b>1:1</b> One. <b>1:2</b> Two.</p><p><b>2:1</b> Three.</p>",
        "<p>1. One.</p><p>2. Two.</p><p>1. Three.</p>",
        '<p><i class="c">1</i> One. <i>2</i> Two.</p><p><i class="c">2</i> Three. <i>2</i> Four. <i>3</i> Five.</p>',
        "<p>[1] One.</p><p>[2] Two.</p><h3>2</h3><p>[1] Three.</p>",
    ],
)
def test_verses_of_a_page_are_numbered_in_many_ways(tmp_path: Path, body: str) -> None:
    verses = {"1.1": "One.", "1.2": "Two.", "2.1": "Three."}
    assert pieces(page(tmp_path, body)) == verses | ({"2.2": "Four.", "2.3": "Five."} if "Five" in body else {})


def test_marks_of_footnotes_are_no_verses(tmp_path: Path) -> None:
    note = '<sup><a href="#f{0}">{0}</a></sup>'
    linked = f"<p>One{note.format(1)} two{note.format(2)} three{note.format(3)}.</p>"
    body = f"{linked}<p>Four<sup>1</sup> five<sup>2</sup> six<sup>3</sup></p>"
    found = page(tmp_path, body)
    assert found.content == "One two three.\n\nFour five six"
    assert not found.edition.units


@pytest.mark.parametrize(
    ("mark", "note"),
    [
        ('<a epub:type="noteref" href="#x">*</a>', '<aside epub:type="footnote" id="x"><p>Or: weir.</p></aside>'),
        ('<a role="doc-noteref" href="#x">a</a>', '<aside role="doc-footnote" id="x">Or: weir.</aside>'),
        ('<a href="#x"><sup>a</sup></a>', '<ol class="footnotes"><li id="x">Or: weir.</li></ol>'),
        ('<a id="r"></a><a href="#x">[1]</a>', '<p><a id="x"></a><a href="#r"></a>Or: weir.</p>'),
        ('<sup id="r"><a href="#x">1</a></sup>', '<p id="x">Or: weir. <a href="#r"></a></p>'),
    ],
)
def test_footnotes_are_known_by_their_links(tmp_path: Path, mark: str, note: str) -> None:
    toc = '<ul><li><a id="t" href="#c">1</a></li></ul><div id="c"><p><a href="#t">Top</a></p>'
    found = page(tmp_path, f"{toc}<p>1. A mill.{mark}</p><p>2. It stood.</p><p>3. It fell.</p>{note}</div>")
    assert pieces(found) == {"": "1 Top", "1.1": "A mill.", "1.2": "It stood.", "1.3": "It fell."}
    assert [(each.at, each.text) for each in found.asides if each.kind == "footnote"] == [(15, "Or: weir.")]


def test_a_book_is_read_in_the_order_of_its_spine_with_its_notes(tmp_path: Path) -> None:
    (found,) = pages.epub(archive(tmp_path / "d.epub", BOOK)).values()
    assert found.content == "A mill stood. It ground.\n\nIt stood\non."
    assert [(each.kind, each.at, each.text) for each in found.asides] == [
        ("note", 0, "The Mill"),
        ("heading", 0, "One"),
        ("footnote", 13, "Or: weir."),
    ]


def test_a_word_document_is_prose_or_a_table_or_numbered_paragraphs(tmp_path: Path) -> None:
    (prose,) = pages.docx(document(tmp_path / "d.docx", paragraph("A mill.") + paragraph("It stood."))).values()
    assert prose.content == "A mill.\n\nIt stood."
    cells = [("No", "Latin", "Vale"), ("1", "Mola.", "A mill."), ("2", "Stetit.", "")]
    grid = "".join("<w:tr>" + "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) + "</w:tr>" for row in cells)
    for name, body in (
        ("table", paragraph("A title") + f"<w:tbl>{grid}</w:tbl>" + paragraph("The end.")),
        ("pairs", "".join(map(paragraph, ["A title", "[1] Mola.", "A mill.", "[2] Stetit."]))),
    ):
        path = document(tmp_path / f"{name}.docx", body)
        (tmp_path / f"{name}.yaml").write_text(propose(path, name)[name], encoding="utf-8")
        scanned = scan([load(tmp_path / f"{name}.yaml")])
        assert scanned.faults == []
        assert scanned.source["text"].to_list() == ["Mola.", "Stetit."]
        assert scanned.reference["segments"].to_list() == [["A mill."]]


HEADS, FIRST, SECOND = ["No", "Latin", "Vale"], ["1", "Mola.", "A mill."], ["2", "Stetit diu.", "It stood long."]


def word_table(*rows: list[str]) -> str:
    """A table. A cell with `>` covers all columns; with `v` it covers the cell below, which has `^`."""
    merged = {"v": '<w:tcPr><w:vMerge w:val="restart"/></w:tcPr>', "^": "<w:tcPr><w:vMerge/></w:tcPr>"}
    merged[">"] = '<w:tcPr><w:gridSpan w:val="3"/></w:tcPr>'
    lines = [
        "".join(f"<w:tc>{merged.get(each[:1], '')}{paragraph(each.lstrip('v^>'))}</w:tc>" for each in row)
        for row in rows
    ]
    return f"<w:tbl>{''.join(f'<w:tr>{line}</w:tr>' for line in lines)}</w:tbl>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (word_table(HEADS, FIRST) + word_table(HEADS, SECOND), [HEADS, FIRST, SECOND]),
        (word_table(HEADS, FIRST) + word_table(SECOND), [HEADS, FIRST, SECOND]),
        (word_table(FIRST) + word_table(HEADS, SECOND), [HEADS, FIRST, SECOND]),
        (word_table(HEADS, FIRST) + word_table([">Book 2"], HEADS, SECOND), [HEADS, FIRST, SECOND]),
        (word_table(HEADS, FIRST, [">Book 2"], SECOND), [HEADS, FIRST, SECOND]),
        (
            word_table(HEADS, ["1", "Mola.", "vA mill stood."], ["2", "Stetit.", "^"]),
            [HEADS, ["1", "Mola.", "A mill stood."], ["2", "Stetit.", ""]],
        ),
        (
            word_table(HEADS, FIRST, ["2", "A</w:t><w:br/><w:t>B</w:t></w:r></w:p><w:p><w:r><w:t>C", ""]),
            [HEADS, FIRST, ["2", "A\nB\nC", ""]],
        ),
    ],
)
def test_tables_with_the_same_columns_are_one(tmp_path: Path, body: str, expected: list[list[str]]) -> None:
    assert [cells for _, cells in pages.rows(document(tmp_path / "d.docx", body))] == expected


@pytest.mark.parametrize("heads", [["No", "Latin", "Stone"], ["No", "Latin"]])
def test_a_table_with_other_columns_is_not_lost(tmp_path: Path, heads: list[str]) -> None:
    body = word_table(HEADS, FIRST, SECOND) + word_table(heads, FIRST[: len(heads)])
    with pytest.raises(BadInput, match=rf"other columns than its largest one \({re.escape(' | '.join(heads))}\)"):
        pages.rows(document(tmp_path / "d.docx", body))


@pytest.mark.parametrize("form", ["table", "paragraphs"])
def test_footnotes_of_a_word_table_become_asides(tmp_path: Path, form: str) -> None:
    mark = '</w:t></w:r><w:r><w:footnoteReference w:id="1"/></w:r><w:r><w:t>'
    noted = f"A mill{mark} &lt;of stone&gt;."
    body = word_table(["segment_id", "source", "translation 1"], ["1", "Mola.", noted], SECOND)
    if form == "paragraphs":
        body = "".join(map(paragraph, ["1 Mola.", noted, "2 Stetit diu.", "It stood long."]))
    path = document(tmp_path / "d.docx", body)
    note = f'<w:footnotes xmlns:w="{WORD}"><w:footnote w:id="1">{paragraph("Or: weir.")}</w:footnote></w:footnotes>'
    relation = f'<Relationship Id="r2" Type="{OFFICE}/footnotes" Target="footnotes.xml"/></Relationships>'
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("word/_rels/document.xml.rels", RELATIONS.split("<Relationship ")[0] + relation)
        file.writestr("word/footnotes.xml", note)
    columns = {"segment_id": "segment_id", "source": "source", "vale": "translation 1"}
    text = {"name": "d", "layout": "table", "root": str(path), "columns": columns}
    texts = {
        "source": {"language": "la", "licence": "CC0-1.0"},
        "references": {"vale": {"language": "en", "licence": "CC0-1.0"}},
    }
    (tmp_path / "d.yaml").write_text(yaml.safe_dump(text | texts), encoding="utf-8")
    scanned = scan([load(tmp_path / "d.yaml")])
    assert scanned.faults == []
    assert scanned.reference["segments"].to_list() == [["A mill <of stone>."], ["It stood long."]]
    assert scanned.aside.select("segment_id", "translator", "kind", "text").rows() == [
        ("d:1.1", "vale", "footnote", "Or: weir.")
    ]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("../a.xhtml", r"\.\./a\.xhtml: is a path outside the archive"),
        ("/etc/a.xhtml", "is a path outside the archive"),
        ("C:\\a.xhtml", "is a path outside the archive"),
        ("word/vbaProject.bin", "contains macros"),
    ],
)
@pytest.mark.parametrize("form", ["docx", "epub"])
def test_a_hostile_archive_is_refused_by_name(tmp_path: Path, form: str, name: str, problem: str) -> None:
    path = document(tmp_path / "d.docx", paragraph("A mill."))
    if form == "epub":
        path = archive(tmp_path / "d.epub", BOOK)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(name, "x")
    with pytest.raises(BadInput, match=problem):
        FORMS[form].read(path)


@pytest.mark.parametrize(
    ("offset", "size", "value", "problem"), [(24, 4, 1 << 30, "more than 200 MB"), (8, 2, 1, "is encrypted")]
)
def test_a_bomb_and_an_encrypted_archive_are_refused(
    tmp_path: Path, offset: int, size: int, value: int, problem: str
) -> None:
    """The bytes that state an unpacked length and the flags, in the last entry of the archive's directory."""
    path = archive(tmp_path / "d.epub", BOOK)
    content = bytearray(path.read_bytes())
    at = content.rindex(b"PK\x01\x02") + offset
    content[at : at + size] = value.to_bytes(size, "little")
    path.write_bytes(content)
    with pytest.raises(BadInput, match=problem):
        pages.epub(path)


def test_entities_of_archives_are_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
    with pytest.raises(BadInput, match=r"word/styles\.xml: has a document type declaration"):
        pages.docx(archive(tmp_path / "d.docx", {"word/styles.xml": f"{bomb}<a>&b;</a>"}))
    with pytest.raises(BadInput, match="is the content of another file"):
        pages.epub(archive(tmp_path / "d.epub", {**BOOK, "O/c.opf": f"{bomb}<package>&c;</package>"}))


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({}, "names no package of a book"),
        ({"META-INF/container.xml": CONTAINER}, "names no package of a book"),
        ({"META-INF/container.xml": CONTAINER, "O/c.opf": "<package/>"}, "contains no text"),
    ],
)
def test_a_book_without_a_spine_is_named(tmp_path: Path, files: dict[str, str], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        pages.epub(archive(tmp_path / "d.epub", files))

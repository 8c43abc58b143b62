"""Works in cited forms: what each form reads, how versions are joined, and what a proposal says of them."""

import json
from pathlib import Path

import pytest

from benchmark_assets.corpus.description import BY_CITATION, load
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.proposals import propose
from benchmark_assets.corpus.readers import cited, read
from benchmark_assets.corpus.scan import scan
from resources.errors import BadInput
from tests.corpus.support import edit

VALE = r"""\id JAS Invented - Vale
\h The Mill
\toc1 The Book of the Mill
\mt1 The Book of the Mill
\ip Written by the river.
\c 1
\s1 At the river
\p
\v 1 There was a \w mill|lemma="mola" strong="G1"\w* by the river,\f + \fr 1:1 \ft Others: \fqa weir\f* and
\zaln-s |x="1"\*a miller\zaln-e\*.
\v 2 He ground. \v 3 “Who pays?” \add said\add* he.\x - \xo 1:3 \xt 2:1\x*
\q1
\v 4 “Nobody,
\q2 for~the mill is old.”
\b
\s5
\v 5 It stood.
\c 2
\cl The second chapter
\v 1 The end.
"""
STONE = r"""\id JAS Invented - Stone
\c 1
\p
\v 1 A mill stood by the water.
\v 2-3 The miller ground and asked for pay.
\v 4a “None,” said they;
\v 4b “it is an old mill.”
\v 5
\c 2
\v 1 It ends.
"""
OSIS = """<osis><osisText xml:lang="en"><header><title>x</title></header><div type="book" osisID="Jas">
<chapter osisID="Jas.1"><title>At the river</title>
<verse osisID="Jas.1.1">Here was a mill.<note>Or: weir</note></verse>
<p><verse sID="a" osisID="Jas.1.2 Jas.1.3 ;"/>He ground, <q marker="“" sID="q"/>who pays?<q marker="”" eID="q"/>
<verse eID="a"/></p>
<lg><l><verse sID="b" osisID="Jas.1.4"/>None,</l><l>it is old.<verse eID="b"/></l></lg></chapter>
<chapter osisID="Jas.2"><verse osisID="Jas.2.1">Done.</verse></chapter></div></osisText></osis>"""


BOOK = '<div type="book" osisID="Jas"><verse osisID="Jas.1.1">One.</verse></div>'


def corpus(folder: Path, layout: str, source: str, **translations: tuple[str, str]) -> list[Document | BadInput]:
    """Write a corpus with this source, and translations as layout and text, and read it."""
    ending = {"sefaria": "json", "osis": "xml"}
    terms = {"language": "en", "licence": "CC0-1.0"}
    references = {}
    for name, (form, text) in {"source": (layout, source), **translations}.items():
        (folder / name).mkdir()
        (folder / name / f"JAS.{ending.get(form, form)}").write_text(text, encoding="utf-8")
        references[name] = terms | {"layout": form, "root": name}
    del references["source"]
    content = {"name": "c", "layout": layout, "root": "source", "source": terms, "references": references}
    (folder / "c.yaml").write_text(json.dumps(content | ({} if references else {"target": "en"})), encoding="utf-8")
    return list(read(load(folder / "c.yaml")))


def texts(document: Document | BadInput, translator: str = "") -> dict[str, str | None]:
    """The texts of a document by segment, of the source or of a translator."""
    assert isinstance(document, Document), document
    found: dict[str, str | None] = {}
    for passage in document.passages:
        own = [reference.segments for reference in passage.references if reference.translator == translator]
        rendered = own[0] if own else [None] * len(passage.segments)
        sources = [segment.text for segment in passage.segments]
        found |= zip([each.id for each in passage.segments], rendered if translator else sources, strict=True)
    return found


def test_versions_of_a_book_share_the_stretches_that_none_divides(tmp_path: Path) -> None:
    (document,) = corpus(tmp_path, "usfm", VALE, stone=("usfm", STONE), oeb=("osis", OSIS))
    assert texts(document) == {
        "JAS:1.1": "There was a mill by the river, and a miller.",
        "JAS:1.2-3": "He ground. “Who pays?” said he.",
        "JAS:1.4": "“Nobody, for the mill is old.”",
        "JAS:1.5": "It stood.",
        "JAS:2.1": "The end.",
    }
    assert texts(document, "stone") == {
        "JAS:1.1": "A mill stood by the water.",
        "JAS:1.2-3": "The miller ground and asked for pay.",
        "JAS:1.4": "“None,” said they; “it is an old mill.”",
        "JAS:1.5": None,
        "JAS:2.1": "It ends.",
    }
    assert list(texts(document, "oeb").values()) == [
        "Here was a mill.", "He ground, “who pays?”", "None, it is old.", None, "Done."
    ]  # fmt: skip
    assert isinstance(document, Document)
    assert [(aside.segment, aside.translator, aside.text) for aside in document.asides] == [
        ("JAS:1.1", "", "Written by the river.\nOthers: weir"), ("JAS:1.2-3", "", "2:1"), ("JAS:1.1", "oeb", "Or: weir")
    ]  # fmt: skip


def test_numbers_that_all_versions_divide_alike_stay(tmp_path: Path) -> None:
    both = "\\id JAS\n\\c 1\n\\v 1-2 One.\n\\v 3a Two.\n\\v 3b Three.\n"
    (document,) = corpus(tmp_path, "usfm", both, ann=("usfm", both))
    assert list(texts(document, "ann")) == ["JAS:1.1-2", "JAS:1.3a", "JAS:1.3b"]


def test_a_translation_without_the_numbers_of_the_source_is_continuous(tmp_path: Path) -> None:
    other = "\\id JAS\n\\c 8\n\\v 1 One.\n\\v 2 Two.\\f + \\ft Or: both.\\f*\n"
    (document,) = corpus(tmp_path, "usfm", VALE, ann=("usfm", other))
    assert isinstance(document, Document)
    (prose,) = document.prose
    assert (prose.translator, prose.text) == ("ann", "One. Two.")
    assert [(each.kind, each.text) for each in prose.asides] == [
        ("number", "8.1"), ("number", "8.2"), ("footnote", "Or: both.")
    ]  # fmt: skip


def test_a_number_without_text_in_the_source_is_no_segment(tmp_path: Path) -> None:
    source = "\\id JAS\n\\c 1\n\\v 1 One.\n\\v 2 \\f + \\ft Not in ours.\\f*\n\\v 3 Three.\n"
    (document,) = corpus(tmp_path, "usfm", source, ann=("usfm", "\\id JAS\n\\c 1\n\\v 1 A.\n\\v 2 B.\n\\v 3 C.\n"))
    assert texts(document, "ann") == {"JAS:1.1": "A. B.", "JAS:1.3": "C."}
    assert isinstance(document, Document)
    assert [(each.segment, each.kind, each.text) for each in document.asides] == [
        ("JAS:1.1", "note", "Not in ours."),
        ("JAS:1.1", "doubt", "the source lacks 1.2, whose text is joined to 1.1"),
    ]


def test_notes_are_those_of_the_verse_that_contains_them(tmp_path: Path) -> None:
    verses = """<verse osisID="Jas.1.1">Verse 1.<note>On 1.</note></verse><verse osisID="Jas.1.2"><note>On 2.</note>Two.
        <note>Also <note>in it</note></note></verse><verse osisID="Jas.1.3">Verse 3.</verse>"""
    (document,) = corpus(tmp_path, "osis", f'<osis><div type="book" osisID="Jas">{verses}</div></osis>')
    assert isinstance(document, Document)
    assert [(each.segment, each.text) for each in document.asides] == [
        ("JAS:1.1", "On 1."), ("JAS:1.2", "On 2.\nAlso\nin it")
    ]  # fmt: skip
    assert document.lengths[""].notes == len("On 1.On 2.Alsoin it")


def sefaria(text: object, *names: str) -> str:
    return json.dumps({"title": "Sefer HaGesher", "versionTitle": "x", "sectionNames": names, "text": text})


@pytest.mark.parametrize(
    ("text", "names", "segments"),
    [
        ([["a", "", "b"], ["c"]], ("Chapter", "Verse"), ["1.1", "1.3", "2.1"]),
        ([[], [], ["a", "b"], ["c"]], ("Daf", "Line"), ["2a.1", "2a.2", "2b.1"]),
        ({"Introduction": ["a"], "": ["b", "c"]}, ("Paragraph",), ["Introduction.1", "text.1", "text.2"]),
        ([[["a"], []], [["b", "c"]]], (), ["1.1.1", "2.1.1", "2.1.2"]),
        (["a", "b"], ("Verse",), ["1", "2"]),
    ],
)
def test_lists_of_sefaria_are_levels(tmp_path: Path, text: object, names: tuple[str, ...], segments: list[str]) -> None:
    (document,) = corpus(tmp_path, "sefaria", sefaria(text, *names))
    assert list(texts(document)) == [f"sefer-hagesher:{segment}" for segment in segments]


def test_tags_and_footnotes_of_sefaria_do_not_count_as_text(tmp_path: Path) -> None:
    noted = '<b>A mill</b><sup>a</sup><i class="footnote">Or: weir.</i>'
    (document,) = corpus(tmp_path, "sefaria", sefaria([[noted, "It stood.<sup>b</sup>"]]))
    assert list(texts(document).values()) == ["A mill", "It stood."]
    coverage = scan([load(tmp_path / "c.yaml")]).coverage
    assert coverage.select("segments", "notes", "nothing").rows() == [(15, 11, 0)]


@pytest.mark.parametrize(
    ("layout", "content", "problem"),
    [
        ("sefaria", '{"title": "a", "text": ["half of \\ud83d"]}', "half a character"),
        ("usfm", "\\c 1\n\\v 1 One.", r"has no line `\\id` with the code of a book"),
        ("osis", "<osis/>", "has no book with verses"),
        ("osis", "<tei/>", "is not OSIS"),
        ("osis", f"<osis>{BOOK}{BOOK}</osis>", "the book occurs twice"),
        ("sefaria", '{"title": "a"}', "lacks `title` or `text`"),
        ("sefaria", sefaria([["a", 5]]), "has int in place of a text"),
        ("sefaria", sefaria([["", ""]]), "contains no text"),
    ],
)  # fmt: skip
def test_a_faulty_file_is_named(tmp_path: Path, layout: str, content: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        corpus(tmp_path, layout, content)


def test_a_translation_needs_files_of_its_own(tmp_path: Path) -> None:
    corpus(tmp_path, "usfm", VALE, ann=("usfm", STONE))
    terms = {"language": "en", "licence": "CC0-1.0", "layout": "usfm", "root": "source"}
    edit(tmp_path / "c.yaml", {"references": {"ann": terms}})
    with pytest.raises(BadInput, match=r"references\.ann\.files: matches only the source"):
        list(read(load(tmp_path / "c.yaml")))


def pages(folder: Path, **texts: tuple[str, str]) -> list[Document | BadInput]:
    """Read a corpus of pages by name, each with its form and its text; `source` is the source."""
    terms = {"language": "en", "licence": "CC0-1.0"}
    for name, (form, text) in texts.items():
        (folder / f"{name}.{form}").write_text(text, encoding="utf-8")
    references = {
        name: terms | {"layout": form, "files": f"{name}*.{form}"}
        for name, (form, _) in texts.items() if not name.startswith("source")
    }  # fmt: skip
    source = terms | {"files": f"source*.{texts['source'][0]}"}
    content = {"name": "c", "layout": texts["source"][0], "root": ".", "source": source, "references": references}
    (folder / "c.yaml").write_text(json.dumps(content), encoding="utf-8")
    return list(read(load(folder / "c.yaml")))


PAGE = "<html><body><p>1. A mill stood there.</p><p>2. It was old.</p><p>3. He sells it.</p></body></html>"


def test_single_files_of_source_and_translation_are_one_text_whatever_their_names(tmp_path: Path) -> None:
    (document,) = pages(tmp_path, source=("html", PAGE), ann=("html", PAGE.replace("was old", "was ancient")))
    assert texts(document, "ann") == {
        "source:1.1": "A mill stood there.", "source:1.2": "It was ancient.", "source:1.3": "He sells it."
    }  # fmt: skip


def test_a_translation_without_a_document_of_the_source_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    several = {"source": ("html", PAGE), "source2": ("html", PAGE), "ann": ("html", PAGE)}
    _, _, fault = sorted(pages(tmp_path, **several), key=lambda each: isinstance(each, BadInput))
    assert isinstance(fault, BadInput)
    assert (fault.key, fault.problem) == ("ann", "has ann, but the source has source, source2")
    (fault, *_) = pages(tmp_path, source=("usfm", VALE), bob=("usfm", STONE.replace("JAS", "JON")))
    assert isinstance(fault, BadInput)
    assert (fault.key, fault.problem) == ("bob", "has JON, but the source has JAS")
    (tmp_path / "bobby.usfm").write_text(STONE, encoding="utf-8")
    (document,) = pages(tmp_path, source=("usfm", VALE), bob=("usfm", STONE.replace("JAS", "JON")))
    assert isinstance(document, Document)
    assert "bob: JON is not read, because the source has no such document" in caplog.messages


def test_a_proposal_finds_the_versions_and_the_source(tmp_path: Path) -> None:
    for name, language, text in (
        ("Hebrew/Base", "he", "איש זקן ישב על הגשר הגדול אשר על הנהר"),
        ("English/Vale, 2011", "en", "An old man sat on the great bridge over the river."),
        ("English/Stone", "en", "There sat an old man upon the bridge, and it was evening."),
        ("English/merged", "en", "An old man sat."),
        ("French/Roche", "fr", "Un vieil homme était assis sur le pont."),
    ):
        path = tmp_path / "book" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {"title": "Book", "actualLanguage": language, "versionTitle": name, "text": [[text]]}
        path.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(propose(tmp_path / "book", "mine")["mine"], encoding="utf-8")
    description = load(tmp_path / "mine.yaml")
    assert (description.layout, description.source.language) == ("sefaria", "he")
    assert set(description.references) == {"Stone", "vale-2011"}
    (document,) = read(description)
    assert texts(document, "vale-2011") == {"Book:1.1": "An old man sat on the great bridge over the river."}


def test_every_form_divides_by_citation() -> None:
    assert set(BY_CITATION) == {"tei", *cited.FORMS}

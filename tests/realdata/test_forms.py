"""Works in the forms of their publishers: how many passages and segments each reads, and what is no text in it."""

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.proposals import propose
from benchmark_assets.corpus.readers import read
from benchmark_assets.corpus.readers.cited import FORMS
from benchmark_assets.corpus.scan import scan

pytestmark = pytest.mark.realdata

TERMS = {"language": "en", "licence": "see the publisher's terms"}


def document(folder: Path, realdata: Path, layout: str, source: str, **translations: tuple[str, str]) -> Document:
    """The document whose source is below the folder of forms, with its translations: layout and path."""
    forms = realdata / "forms"
    references = {
        name: TERMS | {"layout": form, "root": str(forms / path)} for name, (form, path) in translations.items()
    }
    content = {
        "name": "c", "layout": layout, "root": str(forms / source), "source": TERMS,
        **({"references": references} if references else {"target": "en"}),
    }  # fmt: skip
    (folder / "c.yaml").write_text(json.dumps(content), encoding="utf-8")
    (found,) = read(load(folder / "c.yaml"))
    assert isinstance(found, Document)
    return found


def sizes(found: Document) -> list[int]:
    return [len(passage.segments) for passage in found.passages]


def translated(found: Document) -> Counter[str]:
    """Number of segments that each translator has."""
    renderings = [each for passage in found.passages for each in passage.references]
    return Counter(each.translator for each in renderings for text in each.segments if text)


@pytest.mark.parametrize(
    ("file", "verses"), [("32-JON", [17, 10, 10, 11]), ("58-PHM", [25]), ("60-JAS", [27, 26, 18, 17, 20])]
)
def test_verses_of_usfm(realdata: Path, tmp_path: Path, file: str, verses: list[int]) -> None:
    found = document(tmp_path, realdata, "usfm", f"usfm/{file}.usfm")
    assert sizes(found) == verses
    assert [aside.segment for aside in found.asides] == ["JAS:2.20"] * (file == "60-JAS")


def test_james_in_osis_meets_james_in_usfm(realdata: Path, tmp_path: Path) -> None:
    found = document(tmp_path, realdata, "usfm", "usfm/60-JAS.usfm", oeb=("osis", "osis"))
    assert sizes(found) == [27, 26, 18, 17, 20]
    assert translated(found) == {"oeb": 108}


def test_invented_versions_of_a_bridge(realdata: Path, tmp_path: Path) -> None:
    found = document(tmp_path, realdata, "usfm", "own/usfm/vale", stone=("usfm", "own/usfm/stone"))
    assert sizes(found) == [3, 2]
    assert translated(found) == {"stone": 4}


def test_versions_of_sefaria_are_proposed_and_read(realdata: Path, tmp_path: Path) -> None:
    text = propose(realdata / "forms/own/sefaria", "c")["c"].replace(
        "root: sefaria", f"root: {realdata}/forms/own/sefaria"
    )
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    (found,) = read(load(tmp_path / "c.yaml"))
    assert isinstance(found, Document)
    assert sizes(found) == [3, 2]
    assert translated(found) == {"vale-2011": 5, "stone-2019": 3}
    assert [(each.segment, each.translator) for each in found.asides] == [("sefer-hagesher:1.2", "vale-2011")]
    assert not any("<" in each.text for passage in found.passages for each in passage.segments)


@pytest.mark.parametrize(
    ("form", "path", "segments"),
    [
        ("cbeta", "own/cbeta", [3, 2]),
        ("tei-milestones", "84000", [1] * 11),
        ("kanripo", "kanripo/KR1h0004_001.txt", [16]),
        ("kanripo", "kanripo/KR1h0004_002.txt", [24]),
    ],
)
def test_marks_and_sections(realdata: Path, tmp_path: Path, form: str, path: str, segments: list[int]) -> None:
    found = document(tmp_path, realdata, form, path)
    assert sizes(found) == segments
    text = "".join(segment.text for passage in found.passages for segment in passage.segments)
    assert not [sign for sign in ("¶", "<", "#", "邊＝岸", "音天", "Translation tentative") if sign in text]


def test_a_reader_names_the_folios_of_84000(realdata: Path) -> None:
    (path,) = (realdata / "forms/84000").rglob("*.xml")
    (found,) = FORMS["tei-milestones"].read(path).values()
    assert [text for _, text in found.edition.notes][:2] == ["F.169.a", "F.169.b"]
    assert len(found.edition.notes) == 3


@pytest.mark.parametrize(("file", "translations"), [("birds_table", 2), ("birds_paragraphs", 1)])
def test_sentences_of_a_word_document(realdata: Path, tmp_path: Path, file: str, translations: int) -> None:
    source = realdata / f"forms/tables/{file}.docx"
    text = propose(source, "c")["c"].replace(f"root: {file}.docx", f"root: {source}")
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    scanned = scan([load(tmp_path / "c.yaml")])
    assert scanned.faults == []
    assert len(scanned.source) == 8
    assert len(scanned.reference) == 8 * translations

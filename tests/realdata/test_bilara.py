"""The suttas as SuttaCentral published them."""

import re
from collections import Counter
from pathlib import Path
from time import perf_counter

import pytest

from benchmark_assets.corpus.model import Document
from tests.corpus.support import describe, read_back

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def suttas(realdata: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Document]:
    """The documents of the untouched files."""
    folder = tmp_path_factory.mktemp("suttas")
    path = describe(folder / "suttas.yaml", "bilara", realdata / "bilara", ["sujato"], language="pli", edition="ms")
    began = perf_counter()
    documents, faults = read_back(path)
    print(f"\n{len(documents)} documents in {perf_counter() - began:.2f} s")
    assert not faults
    return {document.id: document for document in documents}


def test_all_380_originals_load(suttas: dict[str, Document]) -> None:
    passages = [passage for document in suttas.values() for passage in document.passages]
    assert (len(suttas), len(passages), sum(len(each.segments) for each in passages)) == (380, 3819, 22392)
    untranslated = sum(
        passage.references[0].segments.count(None) if passage.references else len(passage.segments)
        for passage in passages
    )
    assert untranslated == 2383 + 381  # blank and absent


def test_comments_variants_references_and_headings_are_kept(suttas: dict[str, Document]) -> None:
    asides = [aside for document in suttas.values() for aside in document.asides]
    counts = Counter((aside.kind, aside.translator) for aside in asides)
    assert (counts["note", "sujato"], counts["variant", ""], counts["reference", ""]) == (20, 60, 192)
    with_html = [document for document in suttas.values() if any(each.kind == "reference" for each in document.asides)]
    assert len(with_html) == 20
    headings = {
        document.id: [aside.segment for aside in document.asides if aside.kind == "heading"] for document in with_html
    }
    assert headings["mn2"] == [
        f"mn2:{number}" for number in ("0.1", "0.2", *(f"{n}.0" for n in (5, 12, 13, 18, 19, 20, 21)))
    ]
    assert sum(map(len, headings.values())) == 65  # 58 in <header>, 7 in <h2>
    # By number, four words that announce a summary ("Tassuddānaṁ") would be headings, too.
    by_number = {
        segment.id
        for document in with_html
        for passage in document.passages
        for segment in passage.segments
        if re.search(r":0\.|\.0$", segment.id)
    }
    assert len(by_number) == 65 + 4
    assert counts["heading", ""] == 1144 - 4


def test_presentation_leaves_no_text_out(realdata: Path, tmp_path: Path) -> None:
    """Dhammapada, Udāna and Vinaya: html with hidden titles, and with headings that the translator added."""
    folder = realdata / "bilara-more"
    path = describe(tmp_path / "more.yaml", "bilara", folder, ["sujato", "brahmali"], language="pli", edition="ms")
    documents, faults = read_back(path)
    assert not faults
    passages = [passage for document in documents for passage in document.passages]
    assert (len(documents), sum(len(passage.segments) for passage in passages)) == (151, 16585)
    texts = [(text, part.text) for each in passages for own in each.references
             for text, part in zip(own.segments, each.segments, strict=True)]  # fmt: skip
    assert sum(bool(text and source) for text, source in texts) == 14915
    added = Counter(
        (aside.kind, line) for document in documents for aside in document.asides if aside.translator == "brahmali"
        for line in aside.text.split("\n") if aside.kind in ("heading", "doubt")
    )  # fmt: skip
    kinds = Counter(kind for kind, _ in added.elements())
    assert (kinds["heading"], kinds["doubt"]) == (372, 84)
    titles = [document.asides[0].kind for document in documents if document.id.startswith("dhp")]
    assert titles.count("heading") == len(titles) == 26

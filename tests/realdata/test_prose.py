"""The reader of plain text on real translations."""

import json
import re
from pathlib import Path

import pytest

from benchmark_assets.corpus.readers.characters import clean
from benchmark_assets.corpus.readers.prose import PROSE_READERS
from benchmark_assets.corpus.readers.running_text import without_numbers
from tests.corpus.support import describe, edit, read_back

pytestmark = pytest.mark.realdata

MARK = r"\[ ?(?:\d{1,3}|\*) ?\]"


def test_the_texts_of_access_to_insight_keep_every_word_and_no_mark(realdata: Path) -> None:
    blank, marks = set(), 0
    files = sorted((realdata / "accesstoinsight/text").glob("*.txt"))
    for path in files:
        text, asides = PROSE_READERS["text"].read(path)
        clean(text, path)
        written = path.read_text(encoding="utf-8")
        assert text.split() == re.sub(MARK, " ", written).split(), path.name
        assert [each.text for each in asides] == [mark.strip("[ ]") for mark in re.findall(MARK, written)]
        assert all(each.at == 0 or not text[each.at - 1].isspace() for each in asides if each.kind == "footnote")
        marks += len(asides)
        if not text:
            blank.add(path.name)
    assert (len(files), marks) == (332, 720)
    assert blank == {"sn1.18.than.txt", "sn47.7.olen.txt"}  # all of their text is verse, which these files lack


def test_the_suttas_have_the_translations_of_access_to_insight(realdata: Path, tmp_path: Path) -> None:
    index = [json.loads(line) for line in (realdata / "accesstoinsight/index.jsonl").open(encoding="utf-8")]
    codes = {each["translator_code"] for each in index}
    path = describe(tmp_path / "suttas.yaml", "bilara", realdata / "suttacentral", [], language="pli", edition="ms")
    terms = {"language": "en", "licence": "as on the page", "restricted": True}
    prose = terms | {"layout": "text", "root": str(realdata / "accesstoinsight/text")}
    edit(
        path,
        {"references": {"sujato": terms} | {each: prose | {"files": f"{{document}}.{each}.txt"} for each in codes}},
    )
    documents, faults = read_back(path)
    assert {Path(fault.where).name for fault in faults} == {"sn1.18.than.txt", "sn47.7.olen.txt"}
    assert len(documents) == 378
    expected = {each["file"] for each in index if each["uid"] not in ("sn1.18", "sn47.7")}
    assert {f"text/{prose.file.name}" for document in documents for prose in document.prose} == expected
    assert all(prose.file.name == f"{each.id}.{prose.translator}.txt" for each in documents for prose in each.prose)
    # Most are about as long as the Pali. Short ones lack its verse; long ones spell out what it abbreviates.
    ratios = sorted(
        len(prose.text) / sum(len(segment.text) for passage in each.passages for segment in passage.segments)
        for each in documents
        for prose in each.prose
    )
    fifth, median, ninety_fifth = (ratios[len(ratios) * percent // 100] for percent in (5, 50, 95))
    assert 0.3 < fifth < 1 < median < 1.3 < ninety_fifth < 2.5


def test_the_raw_texts_keep_every_word_and_their_paragraphs(realdata: Path) -> None:
    """In all but two, a line is a paragraph; these two have lines of verse, or of a page, and empty lines."""
    files = [*sorted((realdata / "dhammapada/raw").glob("*.txt")), *sorted((realdata / "daodejing/raw").glob("*.txt"))]
    paragraphs = {}
    for path in files:
        text, asides = PROSE_READERS["text"].read(path)
        clean(text, path)
        written = path.read_text(encoding="utf-8")
        if asides:  # headings of the edition with numbers, and numbers without an end
            kinds = {each.kind for each in asides}
            assert (path.stem, kinds) == ("legge_gutenberg216_with_numbering", {"heading", "number"})
            continue
        assert text.split() == written.split()
        lines = [" ".join(line.split()) for line in written.split("\n")]
        assert [line for line in text.split("\n") if line] == [line for line in lines if line]
        paragraphs[path.stem] = len(text.split("\n\n"))
    assert len(files) == 15
    assert paragraphs["pali_ms"] == paragraphs["sujato"] == paragraphs["edmunds"] == 423
    assert (paragraphs["mueller"], paragraphs["source_wangbi_zhengtong_daozang"]) == (414, 81)


def test_the_numbers_of_legges_chapters_and_paragraphs_are_kept_apart(realdata: Path) -> None:
    path = realdata / "daodejing/raw/legge_gutenberg216_with_numbering.txt"
    text, asides = PROSE_READERS["text"].read(path)
    kept, numbers = without_numbers(text, asides, r"PART \d\.|PART II\.|(?:Ch\. )?\d+\.(?: \d+\.)?")
    assert not [paragraph for paragraph in kept.split("\n\n") if paragraph[0].isdigit()]
    assert " ".join(kept.split()).startswith("The Tao that can be trodden")
    assert len(numbers) == 247
    assert sum(each.text.endswith(" 1.") for each in numbers) == 68  # the other 13 chapters are one paragraph
    assert len(kept.split()) + sum(len(each.text.split()) for each in numbers) == len(path.read_text().split())

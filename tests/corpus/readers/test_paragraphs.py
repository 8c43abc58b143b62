"""Prose by paragraphs: passages, sentences, documents, and what is beside the text."""

import json
from pathlib import Path
from textwrap import fill

import pytest

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.model import Document
from benchmark_assets.corpus.readers import read
from benchmark_assets.corpus.readers.paragraphs import MOST
from resources.errors import BadInput
from tests.corpus.forms import LA, LZH, book, joined, placed, text, word


def documents(folder: Path, files: str = "", language: str = "la") -> list[Document | BadInput]:
    """The documents of a corpus of prose in the folder `texts`."""
    source = {"language": language, "licence": "CC0-1.0", **({"files": files} if files else {})}
    description = {"name": "c", "layout": "paragraphs", "root": "texts", "target": "en", "source": source}
    (folder / "c.yaml").write_text(json.dumps(description))
    return list(read(load(folder / "c.yaml")))


def segments(document: Document | BadInput) -> dict[str, str]:
    assert isinstance(document, Document)
    return {segment.id: segment.text for passage in document.passages for segment in passage.segments}


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("pons.txt", text(*joined(LA, 2))), ("pons.docx", word(*joined(LA, 2))),
        ("pons.epub", book("Pons", *joined(LA, 2))),
        ("pons.txt", text(*(fill(each, 70) for each in joined(LA, 2)))),
    ],
    ids=["text", "docx", "epub", "hard-wrapped"],
)  # fmt: skip
def test_paragraphs_are_passages_and_sentences_segments_in_each_form(name: str, write: object, tmp_path: Path) -> None:
    placed({name: write})(tmp_path / "texts")  # type: ignore[dict-item]
    (document,) = documents(tmp_path)
    found = segments(document)
    assert (found["pons:1.1"], found["pons:2.1"]) == (LA[0], f"{LA[2]} {LA[3]}")
    assert isinstance(document, Document)
    assert " ".join(found.values()) == " ".join(LA)
    assert [each.text for each in document.asides] == (["Pons"] if name.endswith("epub") else [])


def test_lines_of_verse_and_sentences_in_chinese_are_segments(tmp_path: Path) -> None:
    stanzas = ["\n".join(LA[3:6]), "\n".join(LA[7:10])]
    placed({"carmen.txt": text(*stanzas), "lunyu.txt": text("".join(LZH))})(tmp_path / "texts")
    verse, chinese = documents(tmp_path)
    assert list(segments(verse).values()) == [*LA[3:6], f"{LA[7]} {LA[8]}", LA[9]]
    assert list(segments(chinese).values()) == LZH


def test_a_long_paragraph_is_several_passages_with_all_of_its_text(tmp_path: Path) -> None:
    placed({"pons.txt": text(" ".join(LA * 5))})(tmp_path / "texts")
    (document,) = documents(tmp_path)
    assert isinstance(document, Document)
    lengths = [sum(len(segment.text) for segment in passage.segments) for passage in document.passages]
    assert (len(lengths), max(lengths) <= MOST) == (3, True)
    assert " ".join(segments(document).values()) == " ".join(LA * 5)


def test_a_pattern_names_documents_and_faults_name_their_files(tmp_path: Path) -> None:
    placed({"latin/one.txt": text(LA[0]), "latin/two.txt": text(""), "vale/one.txt": text("A bridge.")})(
        tmp_path / "texts"
    )
    one, two = documents(tmp_path, "latin/{document}.txt")
    assert segments(one) == {"one:1.1": LA[0]}
    assert isinstance(two, BadInput)
    assert (two.where, two.problem) == (str(tmp_path / "texts/latin/two.txt"), "contains no text")
    with pytest.raises(BadInput, match="no file matches 'greek/"):
        documents(tmp_path, "greek/{document}.txt")

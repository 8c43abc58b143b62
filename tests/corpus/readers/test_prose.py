"""Assignment of files of continuous translations to documents, and refusals."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.model import Aside, Document
from benchmark_assets.corpus.readers.files import fitting
from benchmark_assets.corpus.readers.prose import PROSE_READERS
from resources.errors import BadInput
from tests.corpus.support import describe, edit, read_back, write_lines

Corpus = Callable[..., tuple[list[Document], list[BadInput]]]


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Reads a corpus of these documents, with a segmented reference by ann and continuous ones as described."""
    (tmp_path / "prose").mkdir()

    def read(documents: str, **references: dict[str, Any]) -> tuple[list[Document], list[BadInput]]:
        lines = [
            {"passage_id": f"{each}:1", "lang": "la", "source": "Mus.", "references": {"ann": "Mouse."}}
            for each in documents.split()
        ]
        write_lines(tmp_path / "book.jsonl", lines)
        description = describe(tmp_path / "c.yaml", "jsonl", tmp_path / "book.jsonl", ["ann"])
        terms = {"language": "en", "licence": "CC0-1.0"}
        texts = {name: terms | {"layout": "text", "root": "prose"} | text for name, text in references.items()}
        edit(description, {"references": {"ann": terms, **texts}})
        return read_back(description)

    return read


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"Of {name}.", encoding="utf-8")


def names(documents: list[Document], folder: Path) -> dict[str, list[str]]:
    """Files of the translations by document."""
    return {each.id: [prose.file.relative_to(folder).as_posix() for prose in each.prose] for each in documents}


# Which file is whose


def test_a_document_has_the_translations_whose_files_have_its_name(corpus: Corpus, tmp_path: Path) -> None:
    write(tmp_path / "prose", "ben/mn1.txt", "ben/mn10.txt", "cleo/mn/mn1.html.txt", "mn1.md", "ben/mn99.txt")
    write(tmp_path / "more", "mn2-cleo.txt", "mn1-cleo.txt")
    documents, faults = corpus("mn1 mn2 mn10", ben={}, cleo={"root": "more", "files": "{document}-*.txt"})
    assert not faults
    (mn1, mn2, mn10) = documents
    assert [(each.translator, each.text) for each in mn1.prose] == [
        ("ben", "Of ben/mn1.txt."),
        ("cleo", "Of mn1-cleo.txt."),
    ]
    assert [each.file for each in mn2.prose] == [tmp_path / "more/mn2-cleo.txt"]
    assert [each.translator for each in mn10.prose] == ["ben"]
    assert [each.translator for each in mn1.passages[0].references] == ["ann"]


@pytest.mark.parametrize(
    ("pattern", "files", "found"),
    [
        ("**/{document}.txt", "mn1.txt a/b/mn1.txt xmn1.txt mn1.txtx mn1/a.txt", "mn1.txt a/b/mn1.txt"),
        ("{document}.txt", "mn1.txt a/mn1.txt", "mn1.txt"),
        ("*/{document}.txt", "mn1.txt a/mn1.txt a/b/mn1.txt", "a/mn1.txt"),
        ("{document}*.txt", "mn1.txt mn1.than.txt mn1-b.txt mn10.txt mn1b.txt", "mn1.txt mn1.than.txt mn1-b.txt"),
        ("*{document}.txt", "mn1.txt en-mn1.txt omn1.txt", "mn1.txt en-mn1.txt"),
        ("en{document}.txt", "enmn1.txt mn1.txt", "enmn1.txt"),
        ("{document}/{document}.txt", "mn1/mn1.txt mn1/mn10.txt mn1.txt", "mn1/mn1.txt"),
        ("{document}/**/t.txt", "mn1/t.txt mn1/a/b/t.txt t.txt", "mn1/t.txt mn1/a/b/t.txt"),
        ("./{document}.txt", "mn1.txt", "mn1.txt"),
        ("{document}[a]?.txt", "mn1a.txt mn1[a]?.txt mn1[a]b.txt", "mn1[a]?.txt"),
        ("{doc}.txt", "mn1.txt", ""),
    ],
)  # fmt: skip
def test_a_pattern_fits_whole_names(tmp_path: Path, pattern: str, files: str, found: str) -> None:
    write(tmp_path, *files.split())
    fit = fitting(tmp_path, pattern, ["mn1"])
    assert [path.relative_to(tmp_path).as_posix() for path in fit.get("mn1", [])] == sorted(found.split(), key=Path)
    assert set(fit) <= {"mn1"}


def test_characters_of_an_id_are_no_pattern(tmp_path: Path) -> None:
    write(tmp_path, "sn1.2.txt", "sn1x2.txt", "a[b].txt", "ab.txt", "t:1.txt")
    fit = fitting(tmp_path, "{document}.txt", ["sn1.2", "a[b]", "t:1", "(", "*"])
    assert {key: [path.name for path in paths] for key, paths in fit.items()} == {
        "sn1.2": ["sn1.2.txt"], "a[b]": ["a[b].txt"], "t:1": ["t:1.txt"],
    }  # fmt: skip


def test_of_two_ids_that_fit_a_name_the_longer_one_counts(tmp_path: Path) -> None:
    write(tmp_path, "sn21.2.than.txt", "sn21.than.txt")
    fit = fitting(tmp_path, "{document}.*.txt", ["sn21", "sn21.2"])
    assert {key: [path.name for path in paths] for key, paths in fit.items()} == {
        "sn21": ["sn21.than.txt"], "sn21.2": ["sn21.2.than.txt"],
    }  # fmt: skip


def test_the_files_lie_beside_a_root_that_is_a_file(corpus: Corpus, tmp_path: Path) -> None:
    write(tmp_path, "mn1.txt")
    documents, _ = corpus("mn1", ben={"root": "book.jsonl"})
    assert names(documents, tmp_path) == {"mn1": ["mn1.txt"]}


def test_a_pattern_without_document_is_the_file_of_the_only_one(corpus: Corpus, tmp_path: Path) -> None:
    write(tmp_path / "prose", "ben.txt", "cleo.txt")
    documents, faults = corpus("mn1", ben={"files": "ben.txt"}, cleo={"files": "cl*.txt"})
    assert not faults
    assert names(documents, tmp_path / "prose") == {"mn1": ["ben.txt", "cleo.txt"]}


@pytest.mark.parametrize(
    ("layout", "content"),
    [
        ("text", "1. A mouse [1] ran."),
        ("suttacentral-html", "<article><p>1. A mouse<sup>1</sup> ran.</p></article>"),
        ("dhammatalks-html", "<div id='sutta'><p>1. A mouse<span class='fn'>1</span> ran.</p></div>"),
        ("tei", "<TEI><text><body><p>1. A mouse<note>1</note> ran.</p></body></text></TEI>"),
    ],
)
def test_numbers_are_taken_out_in_every_layout(corpus: Corpus, tmp_path: Path, layout: str, content: str) -> None:
    (tmp_path / f"prose/mn1{PROSE_READERS[layout].ending}").write_text(content)
    (document,), faults = corpus("mn1", ben={"layout": layout, "numbering": r"\d+\."})
    assert not faults
    (prose,) = document.prose
    assert prose.text == "A mouse ran."
    assert prose.asides == (Aside("number", 0, "1."), Aside("footnote", 7, "1"))


# What is refused


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b" \n\n", "contains no text"),
        (b"[1]", "contains no text"),
        ("A m\u00fbs.".encode("latin-1"), "is not UTF-8"),
        (b"A mouse\0.", "contains a NUL character"),
        ("A mouse\ufffds.".encode(), "letters were lost in conversion (the text contains 1 U+FFFD)"),
        (b"<html><p>Please log in", "is markup"),
        ("the mouse’s — cat".encode().decode("cp1252").encode(), "was read as Windows-1252"),
        ("Sāvatthī".encode().decode("latin-1").encode(), "was read as Windows-1252"),
        ("saṃsāra".encode().decode("latin-1").encode(), "was read as Windows-1252"),
        ("saṃyutta".encode().decode("cp1252").encode(), "was read as Windows-1252"),
        ("dé jà señor".encode().decode("cp1252").encode(), "was read as Windows-1252"),
    ],
)  # fmt: skip
def test_a_faulty_translation_leaves_its_document_out(
    corpus: Corpus, tmp_path: Path, content: bytes, problem: str
) -> None:
    write(tmp_path / "prose", "mn2.txt")
    (tmp_path / "prose/mn1.txt").write_bytes(content)
    documents, (fault,) = corpus("mn1 mn2", ben={})
    assert names(documents, tmp_path / "prose") == {"mn2": ["mn2.txt"]}
    assert fault.where == str(tmp_path / "prose/mn1.txt")
    assert problem in fault.problem
    assert fault.remedy


@pytest.mark.parametrize(
    "text",
    [
        "LIBERTÉ” — “À…” É›", "»Ä« AMANHÃ\u00a0E «Å»", "Sāvatthī, saṃsāra, naïve café, Ångström, Łódź",
        "道可道，非常道", "Â, Ã and â stand for themselves; â- or ã.", "e\u0301 â\u2009€",
    ],
)  # fmt: skip
def test_letters_that_are_meant_are_no_fault(corpus: Corpus, tmp_path: Path, text: str) -> None:
    (tmp_path / "prose/mn1.txt").write_text(text, encoding="utf-8")
    _, faults = corpus("mn1", ben={})
    assert not faults


def test_every_fault_of_a_documents_translations_is_told(corpus: Corpus, tmp_path: Path) -> None:
    for name in ("ben/mn1.txt", "cleo/mn1.txt"):
        write(tmp_path / "prose", name)
        (tmp_path / "prose" / name).write_text(" ")
    documents, faults = corpus("mn1", ben={"files": "ben/{document}.txt"}, cleo={"files": "cleo/{document}.txt"})
    assert not documents
    assert [Path(fault.where).parent.name for fault in faults] == ["ben", "cleo"]


def test_two_files_for_a_document_are_a_fault(corpus: Corpus, tmp_path: Path) -> None:
    write(tmp_path / "prose", "a/mn1.txt", "b/mn1.txt", "mn2.txt")
    documents, (fault,) = corpus("mn1 mn2", ben={})
    assert [each.id for each in documents] == ["mn2"]
    assert (fault.where, fault.key) == (str(tmp_path / "prose/b/mn1.txt"), "ben")
    assert str(tmp_path / "prose/a/mn1.txt") in fault.problem


def test_a_file_that_cannot_be_opened_is_a_fault(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "prose/mn1.txt").symlink_to("../annex/object-that-was-never-fetched")
    _, (fault,) = corpus("mn1", ben={})
    assert "cannot be read" in fault.problem


@pytest.mark.parametrize(
    ("files", "reference", "message"),
    [
        ("", {}, r"prose: references\.ben: no file matches '\*\*/\{document\}\.txt'; correct `files` or `root`"),
        ("mn1.html", {}, "no file matches"),
        ("mn1.txt", {"root": "nowhere"}, r"nowhere: references\.ben: does not exist; correct"),
        ("MN1.txt", {}, r"no file that matches .* has the id of a document.*, as in '\*\*/mn1\.txt'"),
        ("ben.txt", {"files": "ben.txt"}, r"ben\.files: 'ben\.txt' names one file, but the corpus has 2 documents"),
        ("mn1.txt", {"layout": "pdf"}, r"ben\.layout: no reader for 'pdf'; use one of .*, dhammatalks-html, "),
        ("mn1.txt", {"layout": "jsonl"}, r"no reader for 'jsonl'"),
    ],
)  # fmt: skip
def test_a_translator_without_any_file_leaves_the_corpus_as_it_was(
    corpus: Corpus, tmp_path: Path, files: str, reference: dict[str, str], message: str
) -> None:
    """Read without them, every document would lose a translation because of a folder that was moved or misspelt."""
    write(tmp_path / "prose", *files.split())
    with pytest.raises(BadInput, match=message):
        corpus("mn1 mn2", ben=reference)


def test_where_documents_have_faults_their_files_are_not_missed(corpus: Corpus, tmp_path: Path) -> None:
    """The only document with a translation is the one that cannot be read."""
    write(tmp_path / "prose", "mn1.txt")
    documents, (fault,) = corpus("mn1 mn1 mn2", ben={})
    assert names(documents, tmp_path) == {"mn2": []}
    assert "occurs twice" in fault.problem


# What the description says of them


@pytest.mark.parametrize(
    ("section", "key", "value", "problem"),
    [
        ("ann", "numbering", "(1", "is not a valid regular expression (missing )"),
        ("ann", "numbering", "*", "is not a valid regular expression (nothing to repeat"),
        ("ben", "files", "{document}.txt", "is only for references with a `layout` of their own"),
        ("ben", "root", "prose", "is only for references with a `layout` of their own"),
        ("ben", "numbering", r"\d", "is only for references with a `layout` of their own"),
        ("source", "layout", "text", "is for references only"),
        ("source", "files", "a.txt", "is for references only"),
    ],
)
def test_what_a_description_says_of_files_is_checked(
    tmp_path: Path, section: str, key: str, value: str, problem: str
) -> None:
    terms = {"language": "en", "licence": "CC0-1.0"}
    texts: dict[str, dict[str, str]] = {"source": terms, "ann": terms | {"layout": "text"}, "ben": terms}
    texts[section] = texts[section] | {key: value}
    path = describe(tmp_path / "c.yaml", "jsonl", tmp_path, [])
    edit(path, {"source": texts["source"], "references": {"ann": texts["ann"], "ben": texts["ben"]}})
    with pytest.raises(BadInput) as caught:
        load(path)
    prefix = "" if section == "source" else "references."
    assert (caught.value.where, caught.value.key) == (str(path), f"{prefix}{section}.{key}")
    assert problem in caught.value.problem
    assert caught.value.remedy

"""What files with aligned lines or translation units yield, and what they refuse."""

from pathlib import Path

import pytest

from benchmark_assets.corpus.model import Document, Passage, Reference, Segment
from resources.errors import BadInput
from tests.corpus.support import describe, read_back


def moses(folder: Path, files: dict[str, str], *translators: str) -> tuple[list[Document], list[BadInput]]:
    """Documents and faults of a folder with these files."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return read_back(describe(folder / "c.yaml", "moses", folder, translators or ["ann"]))


def test_aligned_lines_are_passages_of_one_segment(tmp_path: Path) -> None:
    files = {"b.la": "Mus.\n\nFelis.\nSol.", "b.en": "Mouse.\n\n \nCafe\u0301.\n", "c.la": "Nix.\n", "notes.txt": "x"}
    (one, other), faults = moses(tmp_path, files)
    assert not faults
    assert (one.id, other.id) == ("b", "c")
    assert one.passages == (
        Passage("b:1", "la", (Segment("b:1.1", "Mus."),), (Reference("ann", ("Mouse.",)),)),
        Passage("b:3", "la", (Segment("b:3.1", "Felis."),), ()),
        Passage("b:4", "la", (Segment("b:4.1", "Sol."),), (Reference("ann", ("Café.",)),)),
    )


def test_several_translators_have_a_file_each(tmp_path: Path) -> None:
    (document,), faults = moses(tmp_path, {"b.la": "Mus.", "b.ann.en": "Mouse.", "b.ben.en": "Mice."}, "ann", "ben")
    assert not faults
    assert [reference.segments for reference in document.passages[0].references] == [("Mouse.",), ("Mice.",)]


@pytest.mark.parametrize(
    ("files", "where", "key", "problem"),
    [
        ({"b.en": "Mouse."}, "b.en", "", "has 1 lines, but b.la has 2"),
        ({"b.en": "Mouse.\n\u200b"}, "b.en", "line 2", "only invisible characters"),
        ({"b.la": "\nSol.", "b.en": "Mouse.\nSun."}, "b.la", "line 1", "is empty, but ann translates it"),
        ({"b.la": "\n", "b.en": "\n"}, "b.la", "", "contains no text"),
        ({}, "", "ann", "no document has a file of this translator"),
    ],
)
def test_faulty_lines_are_named(tmp_path: Path, files: dict[str, str], where: str, key: str, problem: str) -> None:
    faults: list[BadInput] = []
    try:
        _, faults = moses(tmp_path, {"b.la": "Mus.\nSol.\n", **files})
    except BadInput as fault:
        faults = [fault]
    assert [(fault.where, fault.key) for fault in faults] == [(str(tmp_path / where), key)]
    assert problem in faults[0].problem
    assert faults[0].remedy


UNITS = """
<tu tuid="a:1.1"><tuv xml:lang="la"><seg>Mus <bpt i="1">{b}</bpt><hi>currit</hi><ept i="1">{/b}</ept>.</seg></tuv>
<tuv xml:lang="EN-gb"><seg>A mouse runs.</seg></tuv><tuv xml:lang="de"><seg>Maus.</seg></tuv></tu>
<tu><tuv lang="la"><seg>Sol.</seg></tuv></tu>
"""


def tmx(path: Path, units: str, *translators: str) -> tuple[list[Document], list[BadInput]]:
    path.write_text(f'<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd"><tmx><body>{units}</body></tmx>')
    return read_back(describe(path.with_suffix(".yaml"), "tmx", path, translators or ["ann"]))


def test_translation_units_are_segments(tmp_path: Path) -> None:
    (document,), faults = tmx(tmp_path / "b.tmx", UNITS)
    assert not faults
    assert (document.id, document.passages) == (
        "b",
        (
            Passage("a:1", "la", (Segment("a:1.1", "Mus currit."),), (Reference("ann", ("A mouse runs.",)),)),
            Passage("b:2", "la", (Segment("b:2.1", "Sol."),), ()),
        ),
    )


@pytest.mark.parametrize(
    ("units", "key", "problem"),
    [
        ("", "", "contains no translation units"),
        ("<tu/>", "line 1 b:1", "the source of the passage is empty"),
        ("<tu tuid='2'><tuv lang='la'><seg>a</seg></tuv></tu>" * 2, "line 1 b:2.1", "the segment is also in line 1"),
        (
            "<tu><tuv lang='la'><seg>a</seg></tuv><tuv lang='la'><seg>b</seg></tuv></tu>",
            "line 1",
            "has 2 texts in 'la'",
        ),
        ("<tu>", "line 1", "is not well-formed XML"),
    ],
)
def test_faulty_units_are_named(tmp_path: Path, units: str, key: str, problem: str) -> None:
    documents, faults = tmx(tmp_path / "b.tmx", units)
    assert not documents
    assert (faults[0].where, faults[0].key) == (str(tmp_path / "b.tmx"), key)
    assert problem in faults[0].problem


def test_tmx_has_one_translation_in_a_language(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="b: references: a TMX file has one translation per language; keep one"):
        tmx(tmp_path / "b.tmx", UNITS, "ann", "ben")

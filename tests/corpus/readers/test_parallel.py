"""What files with aligned lines or translation units yield, and what they refuse."""

from pathlib import Path

import pytest

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.model import Document, Passage, Reference, Segment
from benchmark_assets.corpus.proposals import propose
from resources.errors import BadInput
from tests.corpus.support import describe, edit, read_back


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


VARIANTS = """
<tu><tuv xml:lang="la"><seg>Mus.</seg></tuv><tuv xml:lang="en-GB" creationid="Vale"><seg>A mouse.</seg></tuv>
<tuv xml:lang="en-US" creationid="Stone"><prop type="x">Third</prop><seg>Mice.</seg></tuv></tu>
<tu><tuv xml:lang="la"><seg>Sol.</seg></tuv><tuv xml:lang="en-GB" creationid="Vale"><seg>The sun.</seg></tuv></tu>
"""


@pytest.mark.parametrize(("one", "other"), [("vale", "Stone"), ("en-GB", "en-us"), ("Vale", "third")])
def test_variants_of_a_language_are_translations(tmp_path: Path, one: str, other: str) -> None:
    path = tmp_path / "b.tmx"
    path.write_text(f'<?xml version="1.0"?><tmx><header srclang="la"/><body>{VARIANTS}</body></tmx>')
    terms = {"language": "en", "licence": "CC0-1.0"}
    references = {"ann": terms | {"edition": one}, "ben": terms | {"edition": other}}
    description = describe(tmp_path / "b.yaml", "tmx", path, [])
    edit(description, {"references": references})
    (document,), faults = read_back(description)
    assert not faults
    assert [passage.references for passage in document.passages] == [
        (Reference("ann", ("A mouse.",)), Reference("ben", ("Mice.",))), (Reference("ann", ("The sun.",)),)
    ]  # fmt: skip
    (tmp_path / "c.yaml").write_text(propose(path, "c")["c"])
    assert {name: text.edition for name, text in load(tmp_path / "c.yaml").references.items()} == {
        "Vale": "Vale", "Stone": "Stone"
    }  # fmt: skip


def test_the_number_of_a_variant_names_a_translator_only_if_each_unit_has_all(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    terms = {"language": "en", "licence": "CC0-1.0"}
    path, references = tmp_path / "b.tmx", {"ann": terms | {"edition": "1"}, "ben": terms | {"edition": "2"}}
    unit = '<tu><tuv lang="la"><seg>{}.</seg></tuv><tuv lang="en"><seg>A {}.</seg></tuv>{}<tuv lang="de"/></tu>'
    one, two = unit.format("Mus", "mouse", '<tuv lang="en"><seg>Mice.</seg></tuv>'), unit.format("Sol", "sun", "")
    path.write_text(f"<tmx><body>{one}{two}</body></tmx>")
    edit(describe(tmp_path / "b.yaml", "tmx", path, []), {"references": references})
    documents, faults = read_back(tmp_path / "b.yaml")
    assert not documents
    assert [(fault.key, fault.problem) for fault in faults] == [
        (f"{name} edition", "names one of 2 variants by its number, but fewer are in 1 units: 2")
        for name in ("ann", "ben")
    ]
    assert f"{path}: not read: 2 texts in 'de'" in caplog.messages
    path.write_text(f"<tmx><body>{one}{two.replace('</tu>', '')}<tuv lang='en'><seg/></tuv></tu></body></tmx>")
    (document,), faults = read_back(tmp_path / "b.yaml")
    assert not faults
    assert [len(passage.references) for passage in document.passages] == [2, 1]


def test_translations_of_a_tmx_file_name_different_variants(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="b: references: are in one language, and do not name different variants"):
        tmx(tmp_path / "b.tmx", UNITS, "ann", "ben")


SENTENCES = """# sent_id = 7
# text = Mus currit.
# text_en = A mouse runs.
# text_en_ben = Mice run.
1\tMus\tmus\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tcurrit\tcurro\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_

1-2\tmecum\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tme\tego\tPRON\t_\t_\t0\troot\t_\t_
2\tcum\tcum\tADP\t_\t_\t1\tcase\t_\t_
2.1\test\tsum\tAUX\t_\t_\t_\t_\t_\t_
3\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

"""


def test_sentences_of_conllu_are_segments(tmp_path: Path) -> None:
    (tmp_path / "b.conllu").write_text(SENTENCES)
    (document,), faults = read_back(describe(tmp_path / "b.yaml", "conllu", tmp_path / "b.conllu", ["ann"]))
    assert not faults
    assert document.passages == (
        Passage("b:7", "la", (Segment("b:7.1", "Mus currit."),), (Reference("ann", ("A mouse runs.",)),)),
        Passage("b:2", "la", (Segment("b:2.1", "mecum."),), ()),
    )
    (document,), _ = read_back(describe(tmp_path / "b.yaml", "conllu", tmp_path / "b.conllu", ["ann", "ben"]))
    assert document.passages[0].references == (Reference("ben", ("Mice run.",)),)


@pytest.mark.parametrize(("text", "problem"), [("", "contains no sentences"), ("1 Mus\n\n", "is not CoNLL-U")])
def test_faulty_conllu_is_named(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "b.conllu").write_text(text)
    _, faults = read_back(describe(tmp_path / "b.yaml", "conllu", tmp_path / "b.conllu", ["ann"]))
    assert problem in faults[0].problem

"""What tables of offsets cut from running texts, and what they refuse."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from benchmark_assets.corpus.description import examine
from benchmark_assets.corpus.model import Passage, Reference, Segment
from benchmark_assets.corpus.readers.offsets import unwrapped
from resources.errors import BadInput
from tests.corpus.support import describe, edit, read_back

SOURCE, ANN = "\ufeffMus currit.\r\n\r\nSol lucet. Nix.", "1. The mouse\nruns. 2. It snows."
TABLE = "segment_id,source,ann\n1,0-11,3-18\n2,13-23,\n3,24-28,22-31\n"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A source and a translation, divided by a table of offsets."""
    keys: dict[str, Any] = {}
    for name, content in (("la", SOURCE), ("ann", ANN)):
        (tmp_path / f"{name}.txt").write_bytes(content.encode())
        keys[name] = {
            "language": "en", "licence": "CC0-1.0", "files": f"{name}.txt",
            "sha256": sha256(content.encode()).hexdigest(),
        }  # fmt: skip
    path = describe(tmp_path / "c.yaml", "offsets", tmp_path, ["ann"])
    edit(path, {"offsets": "book.csv", "source": keys["la"] | {"language": "la"}, "references": {"ann": keys["ann"]}})
    (tmp_path / "book.csv").write_text(TABLE)
    return path


def test_texts_are_cut_at_the_offsets(corpus: Path) -> None:
    (document,), faults = read_back(corpus)
    assert not faults
    assert document.id == "book"
    assert document.passages == (
        Passage("book:1", "la", (Segment("book:1.1", "Mus currit."),), (Reference("ann", ("The mouse\nruns.",)),)),
        Passage("book:2", "la", (Segment("book:2.1", "Sol lucet."),), ()),
        Passage("book:3", "la", (Segment("book:3.1", "Nix."),), (Reference("ann", ("It snows.",)),)),
    )


@pytest.mark.parametrize(
    ("row", "key", "problem"),
    [
        ("3,24-29,22-31", "line 4 source", "'24-29' is no place in a text of 28 characters"),
        ("3,24-24,22-31", "line 4 source", "'24-24' is no place"),
        ("3,24,22-31", "line 4 source", "'24' is no place"),
        ("3,24-25+27,22-31", "line 4 source", "'24-25+27' is no place"),
        ("3,24-28,22-25+24-31", "line 4 ann", "overlaps the place in line 4"),
        ("3,24-28,17-31", "line 4 ann", "overlaps the place in line 2"),
        ("3,,22-31", "line 4 book:3", "the source of the passage is empty"),
    ],
)
def test_places_outside_the_text_and_overlaps_are_faults(corpus: Path, row: str, key: str, problem: str) -> None:
    table = corpus.with_name("book.csv")
    table.write_text(TABLE.replace("3,24-28,22-31", row))
    documents, faults = read_back(corpus)
    assert not documents
    assert [(fault.where, fault.key) for fault in faults] == [(str(table), key)]
    assert faults[0].problem.startswith(problem)


def test_another_file_than_that_of_the_offsets_is_refused(corpus: Path) -> None:
    file = corpus.with_name("ann.txt")
    file.write_text(ANN.upper())
    with pytest.raises(BadInput, match=f"ann.txt: has the digest {sha256(ANN.upper().encode()).hexdigest()}, but the"):
        read_back(corpus)
    file.unlink()
    with pytest.raises(BadInput, match="there is no such file"):
        read_back(corpus)


def test_descriptions_name_table_files_and_digests(corpus: Path) -> None:
    plain = {"language": "en", "licence": "CC0-1.0"}
    edit(corpus, {"offsets": None, "references": {"ann": plain, "ben": plain | {"files": "../ben.txt"}}})
    _, faults = examine(corpus)
    assert [fault.key for fault in faults] == [
        "offsets", "references.ann.files", "references.ann.sha256", "references.ben.files", "references.ben.sha256",
    ]  # fmt: skip
    edit(corpus, {"layout": "table", "offsets": "book.csv", "references": {"ann": plain | {"sha256": "a" * 64}}})
    _, faults = examine(corpus)
    assert {"offsets", "references.ann.sha256", "source.sha256"} == {fault.key for fault in faults}


def test_a_place_may_leave_out_a_part(corpus: Path) -> None:
    corpus.with_name("book.csv").write_text(TABLE.replace("22-31", "22-24+28-31"))
    (document,), _ = read_back(corpus)
    assert document.passages[2].references == (Reference("ann", ("Itws.",)),)


def test_broken_lines_are_joined(corpus: Path) -> None:
    edit(corpus, {"wrapped": True})
    (document,), _ = read_back(corpus)
    assert document.passages[0].references == (Reference("ann", ("The mouse runs.",)),)
    edit(corpus, {"layout": "table", "offsets": None})
    assert "wrapped" in {fault.key for fault in examine(corpus)[1]}


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("One\n two", "One\ntwo"),
        ("One\n\n\ntwo\nthree ", "One\ntwo three"),
        ("賈母\n笑道\n　　黛玉", "賈母笑道\n黛玉"),
        ("賈母\nLady Jia", "賈母 Lady Jia"),
    ],
)
def test_paragraphs_begin_after_empty_lines_and_with_indented_ones(text: str, joined: str) -> None:
    assert unwrapped(text) == joined


def test_passages_of_a_literary_corpus_have_contexts_within_their_document(corpus: Path) -> None:
    source = "題名\n\n　　一句。二\n句。三句。四句。五句。註。"
    corpus.with_name("la.txt").write_text(source, encoding="utf-8")
    spans = {name: source.index(words) for name, words in (("1", "一句"), ("2", "三句"), ("3", "五句"))}
    rows = [f"{name},{at}-{at + 3},{3 * number}-{3 * number + 2}" for number, (name, at) in enumerate(spans.items())]
    corpus.with_name("book.csv").write_text("\n".join(["segment_id,source,ann", *rows]))
    digest = sha256(corpus.with_name("la.txt").read_bytes()).hexdigest()
    text = {"language": "zh", "licence": "CC0-1.0", "files": "la.txt", "sha256": digest}
    edit(corpus, {"wrapped": True, "source": text, "literary": {"human": "ann"}, "chunks": {"context": [2, 6]}})
    (document,), faults = read_back(corpus)
    assert not faults
    assert [(passage.previous, passage.following) for passage in document.passages] == [
        ("", "二句。三句。"), ("一句。二句。", "四句。五句。"), ("三句。四句。", ""),
    ]  # fmt: skip

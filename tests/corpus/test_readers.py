"""What the readers yield, and what they refuse."""

import json
import random
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.model import Passage, Reference, Segment, SegmentAside, passage_of
from benchmark_assets.corpus.readers import read
from benchmark_assets.corpus.readers.plain import FORMAT
from resources.errors import BadInput
from tests.corpus.support import describe, edit, is_text, read_back, write_lines
from tests.support import SOURCES, write_corpus

SOURCE = "root/la/test/doc1_root-la-test.json"
SECOND = "root/la/test/doc2_root-la-test.json"
ANN = "translation/en/ann/doc1_translation-en-ann.json"

TEXTS = st.text(min_size=1).map(lambda text: FORMAT.sub("", text).strip()).filter(bool).filter(is_text)


# What the layouts mean


@pytest.mark.parametrize(
    ("segment", "passage"),
    [
        ("mn1:1.1", "mn1:1"),
        ("sn1.2:3.4.5", "sn1.2:3.4"),
        ("dhp1:3", "dhp1"),
        ("sn12.2:7", "sn12.2"),
        ("prologue.1", "prologue"),
        ("prologue", None),
        (":1", None),
        (".1", None),
        ("", None),
    ],
)
def test_a_passage_is_the_segment_id_up_to_its_last_dot(segment: str, passage: str | None) -> None:
    assert passage_of(segment) == passage


def test_a_document_has_its_passages_with_their_segments_and_references(corpus: Path) -> None:
    (doc1, doc2), faults = read_back(corpus)
    assert not faults
    assert (doc1.id, doc2.id) == ("doc1", "doc2")
    assert [passage.id for passage in doc1.passages] == ["doc1:1", "doc1:2"]
    assert doc1.passages[0] == Passage(
        "doc1:1",
        "la",
        (Segment("doc1:1.1", "Mus currit."), Segment("doc1:1.2", "Felis sedet.")),
        (
            Reference("ann", ("A mouse runs.", "The cat sits.")),
            Reference("ben", ("The mouse is running.", "A cat sits still.")),
            Reference("cleo", ("Off the mouse goes.", "Puss stays put.")),
        ),
    )


def test_the_lines_of_a_verse_are_one_passage(tmp_path: Path) -> None:
    verse = {"dhp1:1": "Manopubbaṅgamā dhammā,", "dhp1:2": "manoseṭṭhā manomayā;", "dhp2:1": "Manasā ce"}
    documents, _ = read_back(write_corpus(tmp_path, {"dhp1-20": verse}, {"ann": {}}))
    assert [(each.id, len(each.segments)) for each in documents[0].passages] == [("dhp1", 2), ("dhp2", 1)]


def test_a_segment_that_is_not_translated_is_none_in_its_reference(tmp_path: Path) -> None:
    sources = {"doc1": {"doc1:1.1": "Mus.", "doc1:1.2": "", "doc1:1.3": "Felis.", "doc1:2.1": "Sol."}}
    (document,), faults = read_back(write_corpus(tmp_path, sources, {"ann": {"doc1": {"doc1:1.3": "Cat."}}, "ben": {}}))
    assert not faults
    assert document.passages[0].references == (Reference("ann", (None, "", "Cat.")),)
    assert document.passages[1].references == ()


def test_a_translator_of_the_description_without_a_folder_leaves_the_corpus_as_it_was(corpus: Path) -> None:
    """Read without it, every passage would lose a reference because of a folder that was moved or misspelt."""
    shutil.rmtree(corpus.parent / "translation/en/cleo")
    with pytest.raises(BadInput, match="cleo: is not a folder; correct the translator's name"):
        read_back(corpus)


def test_documents_come_in_natural_order(tmp_path: Path) -> None:
    names = ["an1.10", "sn1", "sn1.1", "sn1.2", "sn1.10", "sn1²3", "sn2", "sn10.1"]
    shuffled = random.Random(1).sample(names, len(names))
    path = write_corpus(tmp_path, {name: {f"doc{names.index(name)}:1.1": "Mus."} for name in shuffled}, {"ann": {}})
    documents, _ = read_back(path)
    assert [document.id for document in documents] == names


def test_blanks_around_a_text_are_no_part_of_it(tmp_path: Path) -> None:
    sources, translations = {"doc1": {"doc1:1.1": " Mus currit. "}}, {"ann": {"doc1": {"doc1:1.1": "A mouse runs.\n"}}}
    documents, _ = read_back(write_corpus(tmp_path, sources, translations))
    passage = documents[0].passages[0]
    assert passage.segments[0].text == "Mus currit."
    assert passage.references[0].segments == ("A mouse runs.",)


@pytest.mark.parametrize("file", [SOURCE, ANN])
def test_a_byte_order_mark_is_no_fault(corpus: Path, file: str) -> None:
    before = read_back(corpus)
    path = corpus.parent / file
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_back(corpus) == before


@st.composite
def bilara_corpora(draw: st.DrawFn) -> dict[str, list[Passage]]:
    """Documents by name, in natural order."""
    corpus = {}
    for number in sorted(draw(st.sets(st.integers(0, 10**4), min_size=1, max_size=4))):
        name = f"doc{number}"
        passages = []
        for p in range(1, draw(st.integers(1, 3)) + 1):
            first = draw(st.integers(0, 2))
            texts = draw(st.lists(TEXTS | st.just(""), max_size=3))
            texts.insert(min(first, len(texts)), draw(TEXTS))
            segments = tuple(Segment(f"{name}:{p}.{s}", text) for s, text in enumerate(texts))
            rendered = [tuple(draw(TEXTS | st.none()) if text else "" for text in texts) for _ in ("ann", "ben")]
            references = tuple(
                Reference(translator, each)
                for translator, each in zip(("ann", "ben"), rendered, strict=True)
                if any(each)
            )
            passages.append(Passage(f"{name}:{p}", "la", segments, references))
        corpus[name] = passages
    return corpus


@given(bilara_corpora())
def test_a_corpus_in_the_bilara_layout_reads_back_as_it_was_written(corpus: dict[str, list[Passage]]) -> None:
    sources = {name: {s.id: s.text for p in passages for s in p.segments} for name, passages in corpus.items()}
    translations: dict[str, dict[str, dict[str, str]]] = {"ann": {}, "ben": {}}
    for name, passages in corpus.items():
        for passage in passages:
            for reference in passage.references:
                texts = translations[reference.translator].setdefault(name, {})
                ids = (segment.id for segment in passage.segments)
                texts |= {key: text for key, text in zip(ids, reference.segments, strict=True) if text}
    with tempfile.TemporaryDirectory() as folder:
        documents, faults = read_back(write_corpus(Path(folder), sources, translations))
    assert not faults
    assert [(each.id, list(each.passages)) for each in documents] == list(corpus.items())


@st.composite
def jsonl_passages(draw: st.DrawFn) -> list[Passage]:
    identities = draw(st.lists(st.from_regex(r"[a-c]{1,2}(:[0-9]{1,2})?", fullmatch=True), min_size=1, unique=True))
    return [
        Passage(
            identity,
            draw(st.sampled_from(["la", "lzh"])),
            (Segment(identity, draw(TEXTS)),),
            tuple(
                Reference(translator, (draw(TEXTS),), draw(st.none() | TEXTS))
                for translator in draw(st.sampled_from([[], ["ann"], ["ann", "ben"]]))
            ),
        )
        for identity in identities
    ]


def as_record(passage: Passage) -> dict[str, Any]:
    return {
        "passage_id": passage.id,
        "lang": passage.language,
        "source": passage.segments[0].text,
        "references": {each.translator: each.segments[0] for each in passage.references},
        "flags": {each.translator: each.flag for each in passage.references if each.flag},
    }


@given(jsonl_passages())
def test_json_lines_read_back_as_they_were_written(passages: list[Passage]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_lines(Path(folder, "book.jsonl"), map(as_record, passages))
        documents, faults = read_back(describe(Path(folder, "c.yaml"), "jsonl", Path(folder), ["ann", "ben"]))
    assert not faults
    # Lines of different documents may alternate; within a document the order of the lines counts.
    names = [passage.id.partition(":")[0] if ":" in passage.id else "book" for passage in passages]
    expected = {
        name: [each for each, own in zip(passages, names, strict=True) if own == name] for name in dict.fromkeys(names)
    }
    assert [(each.id, list(each.passages)) for each in documents] == list(expected.items())


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\r\n"])
def test_a_line_break_in_a_text_does_not_end_its_json_line(tmp_path: Path, separator: str) -> None:
    text = f"Mus currit.{separator}Felis sedet."
    write_lines(tmp_path / "book.jsonl", [{"passage_id": "a:1", "lang": "la", "source": text}])
    (document,), faults = read_back(describe(tmp_path / "c.yaml", "jsonl", tmp_path / "book.jsonl", ["ann"]))
    assert not faults
    assert document.passages[0].segments[0].text == text


# What they refuse

FIRST = SOURCES["doc1"]


def as_json(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("file", "content", "key", "problem"),
    [
        (SOURCE, b'{"doc1:1.1": "Mus currit."', "line 1 column 27", "is not valid JSON"),
        (ANN, b'{\n"doc1:1.1": "A mouse runs.",\n}', "line 3 column 1", "is not valid JSON"),
        (SOURCE, b"", "line 1 column 1", "is not valid JSON"),
        (SOURCE, '{"doc1:1.1": "M\u00fbs"}'.encode("latin-1"), "byte 15", "is not UTF-8"),
        (ANN, '{"doc1:1.1": "Müs"}'.encode("latin-1"), "byte 15", "is not UTF-8"),
        (SOURCE, b'{"doc1:1.1": "Mus", "doc1:1.2": "F", "doc1:1.1": "Sol"}', "doc1:1.1", "occurs twice"),
        (ANN, b'{"doc1:1.1": "Mouse", "doc1:1.1": "Mouse"}', "doc1:1.1", "occurs twice"),
        (SOURCE, b'{"doc1:1.1": "half of \\ud83d"}', "doc1:1.1", "half a character"),
        (SOURCE, b'["Mus currit."]', "", "is not a JSON object"),
        (SOURCE, b"{}", "", "contains no segments"),
        (SOURCE, as_json(FIRST | {"doc1:2.1": 5}), "doc1:2.1", "is not a string"),
        (SOURCE, as_json(FIRST | {"doc1:2.1": None}), "doc1:2.1", "is not a string"),
        (SOURCE, as_json(FIRST | {"doc1:2.1": " \n"}), "doc1:2", "source of the passage is empty"),
        (SOURCE, as_json(FIRST | {"title": "De muribus"}), "title", "the id does not name a passage"),
        (SOURCE, as_json(FIRST | {".1": "De muribus"}), ".1", "the id does not name a passage"),
        (ANN, as_json({"doc1:9.1": "A fox."}), "doc1:9.1", "has no source in doc1_root-la-test.json"),
        (ANN, as_json({"doc1:1.1": "\u200b"}), "doc1:1.1", "only invisible characters (the first is U+200B)"),
        (ANN, as_json({"doc1:1.1": "A m\ufffduse."}), "doc1:1.1", "letters were lost in conversion"),
        (ANN, as_json({"doc1:1.1": "Donâ€™t run."}), "doc1:1.1", "read as Windows-1252 (it contains 'â€')"),
        (SOURCE, as_json(FIRST | {"doc1:2.1": "Î¼á¿†Î½Î¹Î½"}), "doc1:2.1", "read as Windows-1252"),
        (SOURCE, b'{"doc1:1.1": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "", "is nested too deeply"),
        (SOURCE, b'{"doc1:1.1": ' + b"9" * 10_000 + b"}", "", "a number with thousands of digits"),
        (ANN, as_json({"doc1:1.1": 5}), "doc1:1.1", "is not a string"),
        (ANN, as_json({"doc1:1.1": None}), "doc1:1.1", "is not a string"),
    ],
)
def test_a_faulty_file_is_named_and_leaves_only_its_own_document_out(
    corpus: Path, file: str, content: bytes, key: str, problem: str
) -> None:
    (corpus.parent / file).write_bytes(content)
    documents, faults = read_back(corpus)
    assert [document.id for document in documents] == ["doc2"]
    assert [(fault.where, fault.key) for fault in faults] == [(str(corpus.parent / file), key)]
    assert problem in faults[0].problem
    assert faults[0].remedy


def test_every_fault_of_a_document_is_told_at_once(corpus: Path) -> None:
    edit(corpus.parent / SOURCE, {"doc1:2.1": 5})
    edit(corpus.parent / ANN, {"doc1:1.1": None, "doc1:1.2": "\u200b"})
    _, faults = read_back(corpus)
    assert [fault.key for fault in faults] == ["doc1:2.1", "doc1:1.1", "doc1:1.2"]


@pytest.mark.parametrize("text", ["", " ", "\u3000\n"])
def test_a_segment_that_is_empty_or_blank_is_untranslated_as_an_absent_one_is(corpus: Path, text: str) -> None:
    path = corpus.parent / ANN
    path.write_text('{"doc1:1.2": "The cat sits."}')
    absent = read_back(corpus)
    edit(path, {"doc1:1.1": text, "doc1:2.1": text})
    assert read_back(corpus) == absent
    assert not absent[1]
    assert absent[0][0].passages[0].references[0] == Reference("ann", (None, "The cat sits."))


def test_texts_are_read_in_nfc(corpus: Path) -> None:
    edit(corpus.parent / SOURCE, {"doc1:2.1": "A\u0304 sol."})
    edit(corpus.parent / ANN, {"doc1:2.1": "cafe\u0301"})
    (document, _), _ = read_back(corpus)
    passage = document.passages[1]
    assert (passage.segments[0].text, passage.references[0].segments) == ("Ā sol.", ("café",))


def beside(corpus: Path, path: str, content: Mapping[str, Any]) -> Path:
    """Write a file of one of the trees beside the texts."""
    file = corpus.parent / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def test_comments_variants_references_and_headings_are_asides_of_the_segments(corpus: Path) -> None:
    edit(corpus.parent / SOURCE, {"doc1:0.1": "De mure", "doc1:3.0": "De luna", "doc1:10.1": "Luna oritur."})
    asides = read_back(corpus)[0][0].asides
    assert asides == (
        SegmentAside("doc1:0.1", "", "heading", "De mure"),
        SegmentAside("doc1:3.0", "", "heading", "De luna"),
    )
    beside(corpus, "comment/en/ann/a/doc1_comment-en-ann.json", {"doc1:2.1": "It always does.", "doc1:1.1": " "})
    beside(corpus, "comment/en/dora/doc1_comment-en-dora.json", {"doc1:2.1": "Of no translator of this corpus."})
    beside(corpus, "variant/la/test/doc1_variant-la-test.json", {"doc1:1.2": "Felis → Feles (B)"})
    beside(corpus, "reference/la/test/doc1_reference.json", {"doc1:1.1": "b12, c3"})
    beside(corpus, "reference/la/test/doc3_reference.json", {"doc3:1.1": "b14"})
    templates = {"doc1:0.1": "<header><p>{}</p></header><p>", "doc1:1.1": "{}", "doc1:2.1": "</p><h2>{}</h2>"}
    beside(corpus, "html/la/test/doc1_html.json", templates | {"doc1:3.0": "<p>{}</p>"})
    (doc1, doc2), faults = read_back(corpus)
    assert not faults
    assert [(a.segment, a.translator, a.kind, a.text) for a in doc1.asides] == [
        ("doc1:1.1", "", "reference", "b12, c3"), ("doc1:1.2", "", "variant", "Felis → Feles (B)"),
        ("doc1:2.1", "ann", "note", "It always does."), ("doc1:2.1", "", "heading", "Sol oritur."),
        ("doc1:0.1", "", "heading", "De mure"),
    ]  # fmt: skip
    assert not doc2.asides


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        (
            "comment/en/ann/doc1_comment-en-ann.json",
            '{"doc1:9.1": "Of what?"}',
            "source lacks their segments: doc1:9.1",
        ),
        ("variant/la/test/doc1_variant-la-test.json", '{"doc1:1.1": ["B"]}', "doc1:1.1: is not a string"),
        ("html/la/test/doc1_html.json", '{"doc1:1.1": "<p>", "doc1:9.1": "</p>"}', ""),
        ("html/la/test/doc1_html.json", '{"doc1:1.1": ', "is not valid JSON"),
    ],
)
def test_a_faulty_file_beside_the_texts_leaves_nothing_out(
    corpus: Path, path: str, content: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = [document.passages for document in read_back(corpus)[0]]
    (corpus.parent / path).parent.mkdir(parents=True, exist_ok=True)
    (corpus.parent / path).write_text(content, encoding="utf-8")
    documents, faults = read_back(corpus)
    assert not faults
    assert [document.passages for document in documents] == before
    assert message in caplog.text


def test_a_heading_that_pages_hide_is_a_heading(corpus: Path) -> None:
    beside(corpus, "html/la/test/doc1_html.json", {"doc1:1.1": "<h2 class='title'></h2>", "doc1:1.2": "<p>{}</p>"})
    (doc1, _), _ = read_back(corpus)
    assert [(aside.segment, aside.kind) for aside in doc1.asides] == [("doc1:1.1", "heading")]


def test_text_that_the_source_lacks_is_a_heading_or_joined_to_the_segment_before(corpus: Path) -> None:
    beside(corpus, "html/la/test/doc1_html.json", {"doc1:1.1a": "<h3>{}</h3>", "doc1:1.2a": "<li>{}</li>"})
    texts = {"doc1:1.1": "A mouse runs.", "doc1:1.1a": "The Cat", "doc1:1.2": "A cat,", "doc1:1.2a": "sits."}
    (corpus.parent / ANN).write_bytes(as_json(texts))
    (doc1, _), faults = read_back(corpus)
    assert not faults
    assert doc1.passages[0].references[0].segments == ("A mouse runs.", "A cat, sits.")
    assert [(aside.segment, aside.translator, aside.kind, aside.text) for aside in doc1.asides] == [
        ("doc1:1.2", "ann", "heading", "The Cat"),
        ("doc1:1.2", "ann", "doubt", "the source lacks doc1:1.2a, whose text is joined to doc1:1.2"),
    ]


@pytest.mark.parametrize("file", [SOURCE, ANN])
def test_a_file_that_cannot_be_opened_leaves_only_its_own_document_out(corpus: Path, file: str) -> None:
    path = corpus.parent / file
    path.unlink()
    path.symlink_to("../annex/object-that-was-never-fetched")
    documents, (fault,) = read_back(corpus)
    assert [document.id for document in documents] == ["doc2"]
    assert fault.where == str(path)
    assert "cannot be read" in fault.problem


def test_an_empty_segment_in_a_passage_with_text_is_no_fault(corpus: Path) -> None:
    edit(corpus.parent / SOURCE, {"doc1:1.3": ""})
    documents, faults = read_back(corpus)
    assert not faults
    assert [segment.text for segment in documents[0].passages[0].segments] == ["Mus currit.", "Felis sedet.", ""]


def test_a_translation_without_a_source_document_is_a_fault_and_all_documents_load(corpus: Path) -> None:
    stray = corpus.parent / "translation/en/ann/doc3_translation-en-ann.json"
    stray.write_text('{"doc3:1.1": "Who said it?"}')
    documents, (fault,) = read_back(corpus)
    assert [document.id for document in documents] == ["doc1", "doc2"]
    assert (fault.where, fault.key) == (str(stray), "doc3")
    assert "has no source file" in fault.problem


def test_a_passage_in_two_documents_fails_in_the_second(corpus: Path) -> None:
    edit(corpus.parent / SECOND, {"doc1:2.7": "Luna."})
    documents, (fault,) = read_back(corpus)
    assert [document.id for document in documents] == ["doc1"]
    assert (fault.where, fault.key) == (str(corpus.parent / SECOND), "doc1:2")
    assert str(corpus.parent / SOURCE) in fault.problem


def test_passages_whose_ids_differ_by_capitals_alone_are_named(tmp_path: Path) -> None:
    lines = [{"passage_id": key, "lang": "la", "source": "Mus."} for key in ("b:1", "b:a", "b:A")]
    write_lines(tmp_path / "book.jsonl", lines)
    documents, (fault,) = read_back(describe(tmp_path / "c.yaml", "jsonl", tmp_path, ["ann"]))
    assert not documents
    assert (fault.key, fault.problem) == (
        "b:A", f"differs by capitals alone from b:a in {tmp_path / 'book.jsonl'}"
    )  # fmt: skip


@pytest.mark.parametrize("file", [SOURCE, ANN])
def test_a_document_that_lies_in_the_tree_twice_is_a_fault(corpus: Path, file: str) -> None:
    path = corpus.parent / file
    (path.parent / "copy").mkdir()
    (path.parent / "copy" / path.name).write_bytes(path.read_bytes())
    documents, (fault,) = read_back(corpus)
    assert [document.id for document in documents] == ["doc2"]
    assert fault.key == "doc1"
    assert {fault.where, fault.problem.split()[-1]} == {str(path), str(path.parent / "copy" / path.name)}


@pytest.fixture
def lines(tmp_path: Path) -> Callable[..., tuple[list[str], list[BadInput]]]:
    """Read two good documents and further lines; the ids of the documents that load, and the faults."""

    def documents(*further: Mapping[str, Any] | str) -> tuple[list[str], list[BadInput]]:
        good = [{"passage_id": key, "lang": "la", "source": "Mus."} for key in ("a:1", "b:1")]
        write_lines(tmp_path / "book.jsonl", [*good, *further])
        write_lines(tmp_path / "other.jsonl", [{"passage_id": "c:1", "lang": "la", "source": "Sol."}])
        found, faults = read_back(describe(tmp_path / "c.yaml", "jsonl", tmp_path, ["ann", "ben"]))
        return [document.id for document in found], faults

    return documents


LINE = {"passage_id": "b:2", "lang": "la", "source": "Felis.", "references": {"ann": "A cat."}}


@pytest.mark.parametrize(
    ("line", "key", "problem"),
    [
        (LINE | {"passage_id": "b:1"}, "line 3 b:1", "occurs twice"),
        (LINE | {"passage_id": " b:1 "}, "line 3 b:1", "occurs twice"),
        (LINE | {"lang": ""}, "line 3 b:2 lang", "is empty"),
        ({"passage_id": "b:2", "lang": "la"}, "line 3 b:2 source", "is missing"),
        (LINE | {"source": " "}, "line 3 b:2 source", "is empty"),
        (LINE | {"source": 5}, "line 3 b:2 source", "is not a string"),
        (LINE | {"source": None}, "line 3 b:2 source", "is missing"),
        (LINE | {"references": {"ann": ""}}, "line 3 b:2 ann", "is empty"),
        (LINE | {"references": {"ann": None}}, "line 3 b:2 ann", "is missing"),
        (LINE | {"references": {"ann": ["A cat."]}}, "line 3 b:2 ann", "is not a string"),
        (LINE | {"references": {"dora": "A cat."}}, "line 3 b:2 dora", "does not name this translator"),
        (LINE | {"references": ["A cat."]}, "line 3 b:2", "`references` and `flags` must be objects"),
        (LINE | {"flags": {"ann": ["partial"]}}, "line 3 b:2 ann", "flag is not a string"),
        (LINE | {"flags": "partial"}, "line 3 b:2", "`references` and `flags` must be objects"),
        (LINE | {"reference": {"ann": "A cat."}}, "line 3 b:2 reference", "unknown key"),
        (LINE | {"next": "\u200b"}, "line 3 b:2 next", "only invisible characters"),
        (LINE | {"source": "Fe\ufffdis."}, "line 3 b:2 source", "letters were lost"),
    ],
)
def test_a_faulty_line_leaves_only_its_own_document_out(
    lines: Callable[..., tuple[list[str], list[BadInput]]], tmp_path: Path, line: dict[str, Any], key: str, problem: str
) -> None:
    documents, (fault,) = lines(line)
    assert documents == ["a", "c"]
    assert (fault.where, fault.key) == (str(tmp_path / "book.jsonl"), key)
    assert problem in fault.problem
    assert fault.remedy


@pytest.mark.parametrize(
    ("line", "key", "problem"),
    [
        ('{"passage_id": "b:2"', "line 3 column 21", "is not valid JSON"),
        ('{"passage_id": "b:2", "lang": "la", "lang": "la"}', "line 3 lang", "occurs twice"),
        ('"b:2"', "line 3", "is not a JSON object"),
        ({"lang": "la", "source": "Felis."}, "line 3 passage_id", "is missing"),
        (LINE | {"passage_id": 7}, "line 3 passage_id", "is not a string"),
    ],
)
def test_a_line_that_could_belong_to_any_document_leaves_its_file_out(
    lines: Callable[..., tuple[list[str], list[BadInput]]], tmp_path: Path, line: Any, key: str, problem: str
) -> None:
    documents, (fault,) = lines(line)
    assert documents == ["c"]
    assert (fault.where, fault.key) == (str(tmp_path / "book.jsonl"), key)
    assert problem in fault.problem


def test_every_fault_of_a_line_is_reported_at_once(lines: Callable[..., tuple[list[str], list[BadInput]]]) -> None:
    _, faults = lines(LINE | {"reference": {}, "lang": "", "references": {"ann": "", "dora": "A cat."}})
    keys = ["reference", "lang", "dora", "ann"]
    assert [fault.key for fault in faults] == [f"line 3 b:2 {key}" for key in keys]


def test_keys_that_the_description_ignores_are_no_fault(tmp_path: Path) -> None:
    write_lines(tmp_path / "book.jsonl", [LINE | {"chapter": 7}])
    path = describe(tmp_path / "c.yaml", "jsonl", tmp_path / "book.jsonl", ["ann"])
    edit(path, {"ignore": ["chapter"]})
    documents, faults = read_back(path)
    assert (len(documents), faults) == (1, [])


def test_a_file_without_passages_is_a_fault(tmp_path: Path) -> None:
    write_lines(tmp_path / "book.jsonl", ["", " "])
    documents, (fault,) = read_back(describe(tmp_path / "c.yaml", "jsonl", tmp_path / "book.jsonl", ["ann"]))
    assert not documents
    assert (fault.where, fault.problem) == (str(tmp_path / "book.jsonl"), "contains no passages")


def test_a_document_may_not_be_spread_over_two_files_of_lines(tmp_path: Path) -> None:
    for name, passage in (("one", "a:1"), ("two", "a:2")):
        write_lines(tmp_path / f"{name}.jsonl", [{"passage_id": passage, "lang": "la", "source": "Mus."}])
    documents, (fault,) = read_back(describe(tmp_path / "c.yaml", "jsonl", tmp_path, ["ann"]))
    assert [[passage.id for passage in each.passages] for each in documents] == [["a:1"]]
    assert (fault.where, fault.key) == (str(tmp_path / "two.jsonl"), "a")
    assert str(tmp_path / "one.jsonl") in fault.problem


@pytest.mark.parametrize(
    ("layout", "root", "message"),
    [
        ("bilara", "nowhere", "nowhere: does not exist; correct `root`"),
        ("jsonl", "nowhere", "nowhere: does not exist; correct `root`"),
        ("bilara", "empty", "empty: root/la/test: contains no source document; correct `root`"),
        ("jsonl", "empty", r"empty: contains no .jsonl file; correct `root`"),
        (
            "pdf",
            "empty",
            r"c: layout: no reader for 'pdf'; use one of bilara, .*, tmx",
        ),
    ],
)
def test_a_corpus_that_is_not_there_says_where_it_was_looked_for(
    tmp_path: Path, layout: str, root: str, message: str
) -> None:
    (tmp_path / "empty").mkdir()
    description = load(describe(tmp_path / "c.yaml", layout, Path(root), ["ann"], edition="test"))
    with pytest.raises(BadInput, match=message):
        list(read(description))


def test_only_the_translators_that_the_description_names_are_read(corpus: Path) -> None:
    edit(corpus, {"references": {"ann": {"language": "en", "licence": "CC0-1.0"}}})
    documents, faults = read_back(corpus)
    assert not faults
    assert {each.translator for document in documents for p in document.passages for each in p.references} == {"ann"}

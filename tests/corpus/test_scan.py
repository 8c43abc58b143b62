"""What a look at the files finds, and which passages a change in them concerns."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.scan import Scan, scan
from resources.errors import BadInput
from resources.warehouse import Replacement, Warehouse
from tests.corpus.prose import DORA, write_prose, write_with_prose
from tests.corpus.support import describe, edit, write_lines
from tests.support import PASSAGES, SOURCES, TRANSLATIONS, edit_segment, write_corpus

BOTH = {"source_text", "segmented_reference"}


def changed(before: Scan, after: Scan) -> set[tuple[str, str]]:
    """Assets and passages whose version changed."""
    joined = before.versions.join(after.versions, on="passage", suffix="_after")
    return {
        (asset, row["passage"])
        for row in joined.iter_rows(named=True)
        for asset in BOTH
        if row[asset] != row[f"{asset}_after"]
    }


def edit_source(corpus: Path, changes: dict[str, Any]) -> None:
    edit(corpus.parent / "root/la/test/doc1_root-la-test.json", changes)


def reorder_segments(corpus: Path) -> None:
    path = corpus.parent / "translation/en/ann/doc1_translation-en-ann.json"
    path.write_text(json.dumps(dict(reversed(json.loads(path.read_text()).items()))))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda corpus: edit_segment(corpus, "ben", "doc1:2.1", "Sunup."), {("segmented_reference", "tiny/doc1:2")}),
        (lambda corpus: edit_source(corpus, {"doc1:1.2": "Feles sedet."}), {("source_text", "tiny/doc1:1")}),
        # A new segment: the source grows, and no reference translates all of it any more.
        (lambda corpus: edit_source(corpus, {"doc1:2.2": "Dies fit."}), {(asset, "tiny/doc1:2") for asset in BOTH}),
        (lambda corpus: edit_segment(corpus, "ann", "doc1:1.1", " A mouse runs.\n"), set()),
        (reorder_segments, set()),
        # Documents and passages that move keep their text.
        (lambda corpus: edit_source(corpus, {"doc1:0.1": "Incipit."}), set()),
        (
            lambda corpus: edit(corpus, {"references": {each: {"language": "en", "licence": "PD"} for each in
                                                        sorted(TRANSLATIONS, reverse=True)}}),
            set(),
        ),
        (
            lambda corpus: [file.unlink() for file in (corpus.parent / "translation/en/cleo").iterdir()],
            {("segmented_reference", passage) for passage in PASSAGES},
        ),
    ],
    ids=["reference", "source", "new segment", "blanks", "order of segments", "new passage", "order of translators",
         "translator gone"],
)  # fmt: skip
def test_a_change_concerns_exactly_the_passages_whose_text_it_changes(
    corpus: Path, change: Callable[[Path], None], expected: set[tuple[str, str]]
) -> None:
    before = scan([load(corpus)])
    change(corpus)
    assert changed(before, scan([load(corpus)])) == expected


def test_a_new_passage_moves_those_after_it(tmp_path: Path) -> None:
    path = write_corpus(tmp_path, {"doc1": {"doc1:0.1": "Incipit."} | SOURCES["doc1"]}, {"ann": {}})
    rows = scan([load(path)]).source.select("passage_id", "position").rows()
    assert rows == [("doc1:0", 0), ("doc1:1", 1), ("doc1:2", 2)]


def test_the_text_of_a_passage_is_its_segments_joined_by_a_space(tmp_path: Path) -> None:
    segments = {"doc1:1.1": "Mus currit. ", "doc1:1.2": "", "doc1:1.3": "Felis sedet."}
    source = scan([load(write_corpus(tmp_path, {"doc1": segments}, {"ann": {}}))]).source
    assert source["text"].to_list() == ["Mus currit. Felis sedet."]
    assert source["segments"].to_list() == [["Mus currit.", "", "Felis sedet."]]


def test_flags_and_untranslated_segments_reach_the_warehouse(tmp_path: Path, warehouse: Warehouse) -> None:
    bilara = write_corpus(tmp_path / "b", SOURCES, {"ann": {"doc1": {"doc1:1.2": "The cat sits."}}}, name="b")
    line = {"passage_id": "d1", "lang": "lzh", "source": "道可道", "references": {"ann": "The Tao\x00."}}
    write_lines(tmp_path / "lines.jsonl", [line | {"flags": {"ann": "partial"}}])
    lines = describe(tmp_path / "lines.yaml", "jsonl", tmp_path / "lines.jsonl", ["ann"])
    seen = scan([load(bilara), load(lines)])
    tables = {"source_text": seen.source, "segmented_reference": seen.reference}
    stamp = pl.lit("made").alias("fingerprint")
    warehouse.write([Replacement(name, rows.with_columns(stamp), None) for name, rows in tables.items()], "run")
    rows = warehouse.read("segmented_reference", columns=["passage", "segments", "flag"]).rows()
    assert rows == [("b/doc1:1", [None, "The cat sits."], None), ("lines/d1", ["The Tao\x00."], "partial")]
    assert len(warehouse.read("source_text")) == 4


def test_a_corpus_that_is_gone_keeps_no_other_from_being_read(corpus: Path, tmp_path: Path) -> None:
    lost = load(write_corpus(tmp_path / "lost", name="lost"))
    shutil.rmtree(tmp_path / "lost")
    unusable = BadInput("c.yaml", "name", "is missing", "write it")
    seen = scan([lost, unusable, load(corpus)])
    assert seen.versions["passage"].to_list() == PASSAGES
    assert [fault.where for fault in seen.faults] == [str(tmp_path / "lost"), "c.yaml"]


def aligned_anew(before: Scan, after: Scan) -> set[str]:
    """Passages whose continuous references have another version."""
    joined = before.versions.join(after.versions, on="passage", suffix="_after")
    return set(joined.filter(pl.col("continuous_reference") != pl.col("continuous_reference_after"))["passage"])


def test_a_source_in_another_language_than_declared_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    english = (
        "The old miller walked down to the river in the morning and looked for the boat that his brother had sold."
    )
    latin = "Mercator navem vendidit quia pecuniam debebat, et frater eius frumentum in foro quaerebat sed non invenit."
    for name, text in (("one", english), ("two", latin), ("three", english)):
        lines = [{"passage_id": f"{name}:{n}", "lang": "la", "source": f"{text} {n}"} for n in range(5)]
        write_lines(tmp_path / f"{name}.jsonl", lines)
    assert not scan([load(describe(tmp_path / "c.yaml", "jsonl", tmp_path, ["ann"]))]).faults
    assert [message for message in caplog.messages if "source.language" in message] == [
        f"{tmp_path / 'one.jsonl'}: source.language: the source is in en, not in la (and in 1 further"
        " documents); correct `language` of the source, or its `files`"
    ]


def test_prose_is_kept_by_document_and_what_stands_beside_it_apart(tmp_path: Path) -> None:
    seen = scan([load(write_with_prose(tmp_path))])
    assert seen.prose.select("document", "translator", "text").rows() == [
        ("doc1", "dora", "A mouse hurries by. The cat sits down.\n\nThe sun comes up."),
        ("doc2", "dora", "He says nothing that is new."),
    ]
    asides = seen.aside.select("document", "position", "kind", "place", "text").rows()
    assert asides == [("doc1", 0, "number", 0, "1."), ("doc1", 1, "number", 40, "2."), ("doc2", 0, "number", 0, "1.")]
    assert seen.continuous.select("passage", "translator", "document").rows() == [
        (passage, "dora", passage.removeprefix("tiny/").partition(":")[0]) for passage in PASSAGES
    ]
    assert set(seen.reference["translator"]) == {"ann"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda corpus: write_prose(corpus, "doc1", DORA["doc1"].replace("hurries", "scurries")), PASSAGES[:2]),
        (lambda corpus: (corpus.parent / "prose/doc2.txt").unlink(), PASSAGES[2:]),
        # An alignment looks at the document as a whole: its source, and its translations in segments.
        (lambda corpus: edit_source(corpus, {"doc1:2.1": "Luna oritur."}), PASSAGES[:2]),
        (lambda corpus: edit_segment(corpus, "ann", "doc1:2.1", "Sunup."), PASSAGES[:2]),
        (lambda corpus: edit_source(corpus, {"doc1:0.1": "Incipit."}), PASSAGES[:2]),
        (lambda corpus: write_prose(corpus, "doc1", DORA["doc1"].replace("2.", "7.")), []),
        (lambda corpus: write_prose(corpus, "doc3", "1. Of no document."), []),
        (lambda corpus: edit(corpus, {"filters": {"min_characters": 5}}), []),
    ],
    ids=["prose", "no prose", "source", "guide", "new passage", "number of a paragraph", "stray file", "filters"],
)
def test_a_change_has_the_passages_of_its_document_aligned_anew(
    tmp_path: Path, change: Callable[[Path], None], expected: list[str]
) -> None:
    corpus = write_with_prose(tmp_path)
    before = scan([load(corpus)])
    change(corpus)
    after = scan([load(corpus)])
    assert not after.faults
    assert aligned_anew(before, after) == set(expected)


def test_two_corpora_with_the_same_documents_keep_their_prose_apart(tmp_path: Path) -> None:
    one, other = (write_with_prose(tmp_path / name, name) for name in ("one", "other"))
    before = scan([load(one), load(other)])
    write_prose(one, "doc2", "Something else.")
    after = scan([load(one), load(other)])
    assert aligned_anew(before, after) == {"one/doc2:1"}
    changed_prose = after.prose.join(before.prose, on=before.prose.columns, how="anti")
    assert changed_prose.select("corpus", "document").rows() == [("one", "doc2")]

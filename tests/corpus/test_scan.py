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
from tests.corpus.support import describe, edit, write_lines
from tests.support import PASSAGES, SOURCES, TRANSLATIONS, edit_segment, write_corpus

BOTH = {"source_text", "segmented_reference"}


def changed(before: Scan, after: Scan) -> set[tuple[str, str]]:
    """Which assets of which passages have another version."""
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

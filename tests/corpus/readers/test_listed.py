"""A corpus that is limited to the passages of a table."""

import logging
from pathlib import Path

import pytest

from benchmark_assets.corpus.description import examine
from benchmark_assets.corpus.scan import scan
from tests.corpus.support import edit
from tests.support import write_corpus


def limited(folder: Path, table: str) -> Path:
    description = write_corpus(folder)
    (folder / "passages.csv").write_text(table, encoding="utf-8")
    edit(description, {"only": "passages.csv"})
    return description


def test_only_listed_passages_are_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "variorum.corpus")
    description, faults = examine(limited(tmp_path, "number,passage_id\n1,doc1:2\n2,doc7:1\n"))
    assert description is not None
    assert not faults
    contents = scan([description])
    assert not contents.faults
    assert contents.source["passage"].to_list() == ["tiny/doc1:2"]
    assert set(contents.reference["passage"]) == {"tiny/doc1:2"}
    assert caplog.messages[0].endswith("no file has 1 listed passages: doc7:1")


@pytest.mark.parametrize(("table", "problem"), [("number\n1\n", "has no column `passage_id`"), (None, "no such file")])
def test_a_table_that_lists_nothing_is_refused(tmp_path: Path, table: str | None, problem: str) -> None:
    path = limited(tmp_path, table or "")
    if table is None:
        (tmp_path / "passages.csv").unlink()
    description, _ = examine(path)
    assert description is not None
    (fault,) = scan([description]).faults
    assert fault.problem == problem


def test_continuous_translations_need_whole_documents(tmp_path: Path) -> None:
    path = limited(tmp_path, "passage_id\ndoc1:2\n")
    prose = {"language": "en", "licence": "CC0-1.0", "layout": "text"}
    edit(path, {"references": {"prose": prose}})
    _, faults = examine(path)
    assert [fault.key for fault in faults] == ["only"]

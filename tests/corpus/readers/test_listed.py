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


def test_documents_without_a_listed_passage_are_not_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "variorum.corpus")
    description, faults = examine(limited(tmp_path, "number,passage_id\n1,doc1:2\n2,doc7:1\n"))
    assert description is not None
    assert not faults
    contents = scan([description])
    assert not contents.faults
    assert contents.source.select("passage", "listed").rows() == [("tiny/doc1:1", False), ("tiny/doc1:2", None)]
    assert set(contents.reference["passage"]) == {"tiny/doc1:1", "tiny/doc1:2"}
    assert caplog.messages[0].endswith("no file has 1 listed passages: doc7:1")


def test_a_list_changes_only_the_versions_of_unlisted_passages(tmp_path: Path) -> None:
    description, _ = examine(limited(tmp_path, "passage_id\ndoc1:2\n"))
    assert description is not None
    with_list = dict(scan([description]).versions.select("passage", "source_text").iter_rows())
    without = dict(
        scan([description.model_copy(update={"only": None})]).versions.select("passage", "source_text").rows()
    )
    assert with_list["tiny/doc1:1"] != without["tiny/doc1:1"]
    assert with_list["tiny/doc1:2"] == without["tiny/doc1:2"]


@pytest.mark.parametrize(("table", "problem"), [("number\n1\n", "has no column `passage_id`"), (None, "no such file")])
def test_a_table_that_lists_nothing_is_refused(tmp_path: Path, table: str | None, problem: str) -> None:
    path = limited(tmp_path, table or "")
    if table is None:
        (tmp_path / "passages.csv").unlink()
    description, _ = examine(path)
    assert description is not None
    (fault,) = scan([description]).faults
    assert fault.problem == problem

"""Alignments by hand: what their file says, what is wrong with it, and which passages a correction concerns."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmark_assets.corpus.corrections import Change, Overtaken, lines, load, save
from benchmark_assets.corpus.description import load as describe
from benchmark_assets.corpus.scan import Scan, scan
from resources.errors import BadInput
from tests.corpus.prose import correct, correction, write_with_prose
from tests.corpus.support import edit
from tests.support import PASSAGES, write_corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_with_prose(tmp_path / "corpus")


def look(*descriptions: Path) -> Scan:
    return scan([describe(each) for each in descriptions])


def moved(before: Scan, after: Scan) -> dict[str, set[str]]:
    """Passages whose version is another, by asset."""
    joined = before.versions.join(after.versions, on="passage", suffix="_after")
    assert len(joined) == len(before.versions) == len(after.versions)
    found: dict[str, set[str]] = {}
    for asset in ("source_text", "segmented_reference", "continuous_reference"):
        own = joined.filter(joined[asset] != joined[f"{asset}_after"])["passage"].to_list()
        found |= {asset: set(own)} if own else {}
    return found


def corrections_of(seen: Scan) -> dict[str, dict[str, str | None]]:
    rows = seen.continuous.select("passage", "corrections").iter_rows()
    return {passage: json.loads(text) for passage, text in rows if text != "{}"}


def test_a_description_that_names_no_file_has_none(corpus: Path) -> None:
    assert load(describe(corpus)) == {}
    assert corrections_of(look(corpus)) == {}


def test_texts_and_omissions_are_read(corpus: Path) -> None:
    correct(corpus, correction("doc1:1.1", " A mouse hurries by.\n"), "", correction("doc1:1.2", None))
    assert load(describe(corpus)) == {("doc1:1.1", "dora"): "A mouse hurries by.", ("doc1:1.2", "dora"): None}
    found = look(corpus)
    assert corrections_of(found) == {"tiny/doc1:1": {"doc1:1.1": "A mouse hurries by.", "doc1:1.2": None}}
    assert found.sound == ["tiny"]


@pytest.mark.parametrize("text", ["The sun, up it comes.", None])
def test_a_correction_concerns_its_passage_and_no_other(corpus: Path, text: str | None) -> None:
    before = look(corpus)
    correct(corpus, correction("doc1:2.1", text))
    after = look(corpus)
    assert moved(before, after) == {"continuous_reference": {"tiny/doc1:2"}}
    correct(corpus, correction("doc1:2.1", "Sunrise."))
    assert moved(after, look(corpus)) == {"continuous_reference": {"tiny/doc1:2"}}
    correct(corpus, "")
    assert moved(before, look(corpus)) == {}


def test_the_order_of_the_lines_means_nothing(corpus: Path) -> None:
    lines = [correction("doc1:1.1", "One."), correction("doc2:1.1", None), correction("doc1:1.2", "Two.")]
    correct(corpus, *lines)
    before = look(corpus)
    correct(corpus, *reversed(lines))
    assert moved(before, look(corpus)) == {}
    assert set(corrections_of(before)) == {"tiny/doc1:1", "tiny/doc2:1"}


GOOD = correction("doc1:1.1", "A mouse.")


@pytest.mark.parametrize(
    ("line", "key", "problem"),
    [
        ("{", "line 2 column 2", "is not valid JSON"),
        ("[]", "line 2", "is not a JSON object"),
        ('{"segment": "a", "segment": "b", "translator": "dora", "text": "x"}', "line 2 segment", "twice"),
        ({"segment": "doc1:2.1", "translator": "dora"}, "line 2", "needs exactly the keys"),
        (correction("doc1:2.1", "x") | {"note": "x"}, "line 2 note", "unknown key"),
        ({"segment": "doc1:2.1", "translater": "dora", "text": "x"}, "line 2 translater", "unknown key"),
        (correction("doc1:2.1", "x") | {"segment": 5}, "line 2", "needs exactly the keys"),
        (correction("doc1:2.1", "x") | {"translator": None}, "line 2", "needs exactly the keys"),
        (correction("doc1:2.1", "x") | {"text": 5}, "line 2 text", "is neither a text nor null"),
        (correction("doc1:2.1", " \n"), "line 2 text", "is neither a text nor null"),
        (correction("doc1:2.1", "x", "ann"), "line 2 ann", "this translator has no continuous translation"),
        (correction("doc1:2.1", "x", "zoe"), "line 2 zoe", "this translator has no continuous translation"),
        (GOOD, "line 2 doc1:1.1", "the segment is corrected twice"),
        (correction("doc1:1.1", None), "line 2 doc1:1.1", "the segment is corrected twice"),
    ],
)
def test_a_faulty_line_is_told_by_number(corpus: Path, line: dict[str, Any] | str, key: str, problem: str) -> None:
    path = correct(corpus, GOOD, line)
    with pytest.raises(BadInput) as caught:
        load(describe(corpus))
    assert (caught.value.where, caught.value.key) == (str(path), key)
    assert problem in caught.value.problem
    assert caught.value.remedy


@pytest.mark.parametrize(("content", "problem"), [(None, "cannot be read"), (b"\xff{", "is not UTF-8")])
def test_a_file_that_cannot_be_read_is_told(corpus: Path, content: bytes | None, problem: str) -> None:
    path = correct(corpus, GOOD)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    with pytest.raises(BadInput, match=problem) as caught:
        load(describe(corpus))
    assert caught.value.where == str(path)


def test_faults_of_the_file_leave_its_corpus_as_it_is_and_no_other(corpus: Path, tmp_path: Path) -> None:
    path = correct(corpus, "{")
    seen = look(corpus, write_corpus(tmp_path / "other", name="other"))
    assert [fault.where for fault in seen.faults] == [str(path)]
    assert seen.sound == ["other"]
    assert set(seen.versions["passage"]) == {passage.replace("tiny", "other") for passage in PASSAGES}


@pytest.mark.parametrize("segment", ["doc1:1.9", "doc9:1.1", "doc1:1"])
def test_a_segment_that_is_not_there_is_told(corpus: Path, segment: str) -> None:
    path = correct(corpus, GOOD, correction(segment, "x"))
    seen = look(corpus)
    [fault] = seen.faults
    assert (fault.where, fault.key, fault.problem) == (str(path), segment, "the corpus has no such segment")
    assert seen.sound == []


def test_a_correction_of_a_document_that_the_translator_left_out_is_told(corpus: Path) -> None:
    (corpus.parent / "prose/doc2.txt").unlink()
    correct(corpus, GOOD, correction("doc2:1.1", "x"))
    [fault] = look(corpus).faults
    assert (fault.key, fault.problem) == ("doc2:1.1", "dora has no translation of this segment's document")


def test_where_a_document_is_broken_its_corrections_are_not_taken_for_unknown(corpus: Path) -> None:
    broken = corpus.parent / "root/la/test/doc2_root-la-test.json"
    broken.write_text("{")
    correct(corpus, correction("doc2:1.1", "x"))
    assert [fault.where for fault in look(corpus).faults] == [str(broken)]


def test_corrections_of_one_corpus_are_nothing_to_another(corpus: Path, tmp_path: Path) -> None:
    other = write_with_prose(tmp_path / "other", "other")
    edit(corpus, {"corrections": correct(corpus, GOOD).name})
    assert set(corrections_of(look(corpus, other))) == {"tiny/doc1:1"}


def line(segment: str, translator: str = "dora", **said: Any) -> dict[str, Any]:
    return {"segment": segment, "translator": translator, **said}


def test_a_line_may_say_that_a_pair_is_wrong_who_says_so_and_why(corpus: Path) -> None:
    by = {"author": "Ida", "time": "2026-01-02T03:04:05+00:00", "comment": "another verse"}
    correct(
        corpus, line("doc1:1.1", wrong=True, **by), line("doc1:1.2", "ann", wrong=True), line("doc2:1.1", comment="?"),
        line("doc1", "ann", right=True), line("doc1:2.1", text="Sunrise.", **by),
    )  # fmt: skip
    found = look(corpus)
    assert found.faults == []
    assert corrections_of(found) == {"tiny/doc1:2": {"doc1:2.1": "Sunrise."}}
    doubts = found.pair_doubt.filter(kind="wrong").select("passage", "translator", "segment_id", "accepted").rows()
    assert sorted(doubts) == [("tiny/doc1:1", "ann", "doc1:1.2", False), ("tiny/doc1:1", "dora", "doc1:1.1", False)]


@pytest.mark.parametrize(
    ("said", "key", "problem"),
    [
        (line("doc1:2.1", wrong=False), "line 2", "does not say which pair is wrong"),
        (line("doc1:2.1", "zoe", wrong=True), "line 2", "does not say which pair is wrong"),
        (line("doc1:2.1", wrong=True, right=True), "line 2", "does not say which pair is"),
        (line("doc1:2.1", "zoe", comment="?"), "line 2 zoe", "is no translator of the corpus"),
        (line("doc1:2.1", comment=""), "line 2", "needs exactly the keys"),
        (line("doc1:2.1", text="x", author=5), "line 2 author", "is not a text"),
        (line("doc1:2.1", text="x", replaces="x"), "line 2 replaces", "is not a list of digests"),
        (line("doc1:1.1", wrong=True), "line 2 doc1:1.1", "the segment is corrected twice"),
    ],
)
def test_a_faulty_mark_is_told_by_number(corpus: Path, said: dict[str, Any], key: str, problem: str) -> None:
    correct(corpus, GOOD, said)
    with pytest.raises(BadInput) as caught:
        lines(describe(corpus))
    assert caught.value.key == key
    assert problem in caught.value.problem


def put(corpus: Path, segment: str, base: str = "", by: str = "Ida", **record: Any) -> str:
    """Save a change; return the digest of the line that counts now."""
    save(describe(corpus), corpus, [Change(segment, "dora", base, record)], by, "2026-01-02T03:04:05+00:00")
    return next((each.digest for each in lines(describe(corpus)) if each.key == (segment, "dora")), "")


def plain(path: Path) -> Path:
    """The description as YAML in blocks, as people write it."""
    path.write_text(yaml.safe_dump(json.loads(path.read_text()), sort_keys=False), encoding="utf-8")
    return path


def test_a_first_correction_makes_the_file_and_names_it_in_the_description(corpus: Path) -> None:
    with pytest.raises(BadInput, match="names no file in which corrections could be saved"):
        put(corpus, "doc1:1.1", text="A mouse.")  # the description is JSON, to which no line can be added
    put(plain(corpus), "doc2:1.1", text=None)
    first = put(corpus, "doc1:1.1", text="A mouse.", comment="short")
    path = corpus.parent / "corrections.jsonl"
    assert describe(corpus).corrections == path
    assert [json.loads(each)["segment"] for each in path.read_text().splitlines()] == ["doc1:1.1", "doc2:1.1"]
    second = put(corpus, "doc1:1.1", first, wrong=True)
    assert [(each.record["author"], each.record["time"][:4]) for each in lines(describe(corpus))] == [
        ("Ida", "2026")
    ] * 2
    assert put(corpus, "doc1:1.1", second) == ""  # taken back
    assert [each.key[0] for each in lines(describe(corpus))] == ["doc2:1.1"]


def test_a_change_of_a_line_that_is_no_longer_there_is_refused(corpus: Path) -> None:
    base = put(plain(corpus), "doc1:1.1", text="A mouse.")
    put(corpus, "doc1:1.1", base, by="Ulf", text="A rat.")
    before = (corpus.parent / "corrections.jsonl").read_bytes()
    with pytest.raises(Overtaken) as caught:
        put(corpus, "doc1:1.1", base, text="The mouse.")
    [(mine, theirs)] = caught.value.pairs
    assert theirs is not None
    assert (mine.record["text"], theirs.record["text"], theirs.record["author"]) == ("The mouse.", "A rat.", "Ulf")
    with pytest.raises(BadInput, match="is neither a text nor null"):
        put(corpus, "doc1:1.2", text=" ")
    assert (corpus.parent / "corrections.jsonl").read_bytes() == before


def test_editors_who_save_at_once_lose_nothing(corpus: Path) -> None:
    segments = ["doc1:1.1", "doc1:1.2", "doc1:2.1", "doc2:1.1"]
    plain(corpus)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda segment: put(corpus, segment, text=f"Text of {segment}."), segments))
    assert [each.key[0] for each in lines(describe(corpus))] == segments


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=Ida", "-c", "user.email=ida@example.org", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def test_git_merges_corrections_of_different_segments_and_keeps_both_of_one(corpus: Path) -> None:
    """New lines at one place, a changed line beside them, and several changes of a line on one side."""
    folder = corpus.parent
    kept = put(plain(corpus), "doc1:1.2", text="A cat.")
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "begin"], ["switch", "-qc", "other"]):
        git(folder, *command)
    put(corpus, "doc1:1.1", by="Ulf", text="A rat.")
    put(corpus, "doc2:1.1", by="Ulf", text=None)
    git(folder, "commit", "-qam", "theirs")
    git(folder, "switch", "-q", "main")
    put(corpus, "doc1:1.2", put(corpus, "doc1:1.2", kept, text="The cat."), text="That cat.")
    put(corpus, "doc1:2.1", text="Sunrise.")
    git(folder, "commit", "-qam", "ours")
    git(folder, "merge", "-q", "--no-edit", "other")
    texts = {"doc1:1.1": "A rat.", "doc1:1.2": "That cat.", "doc1:2.1": "Sunrise.", "doc2:1.1": None}
    assert load(describe(corpus)) == {(segment, "dora"): text for segment, text in texts.items()}
    assert look(corpus).faults == []

    now = {each.key[0]: each.digest for each in lines(describe(corpus))}
    git(folder, "branch", "-f", "other")
    put(corpus, "doc1:1.1", now["doc1:1.1"], text="One mouse.")
    git(folder, "commit", "-qam", "ours")
    git(folder, "switch", "-q", "other")
    put(corpus, "doc1:1.1", now["doc1:1.1"], by="Ulf", text="Two mice.")
    git(folder, "commit", "-qam", "theirs")
    git(folder, "merge", "-q", "--no-edit", "main")
    with pytest.raises(BadInput, match="the segment is corrected twice"):  # both are in the file: a person chooses
        load(describe(corpus))

"""The page shows what may be shown, and shows it literally."""

import json
from pathlib import Path

import pytest

from benchmark_assets.corpus.registry import register
from benchmark_assets.reporting.report.examples import examples_page
from resources.duckdb_warehouse import DuckDBWarehouse
from resources.warehouse import Warehouse
from tests.audit.stored import put
from tests.support import write_corpus

CLOSED = "words of closed, which a person wrote with care and has kept to herself"
MARKUP = '<script>alert("x")</script> </style> & מים'


def described(folder: Path, *restricted: str) -> Path:
    """The description of a corpus in which these translators may not be passed on."""
    content = json.loads(write_corpus(folder, {}, {"open": {}, "closed": {}}, name="c").read_text(encoding="utf-8"))
    for name in restricted:
        content["references"][name] |= {"licence": "all rights reserved", "restricted": True}
    (folder / "corpus.yaml").write_text(json.dumps(content), encoding="utf-8")
    return folder / "corpus.yaml"


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """One example, of a passage with an open reference and a restricted one, whose words a judge and a person quote;
    and one in which the whole of it stands."""
    warehouse = DuckDBWarehouse(path=str(tmp_path / "variorum.duckdb"))
    register(warehouse, described(tmp_path, "closed"))
    output = {"model": "m", "passage": "c/p:1"}
    judgement = {"label": "MINOR_ERROR", "error_category": "OTHER", "severity": "low", "confidence": "high"}
    put(warehouse, "source_text",
        {"passage": "c/p:1", "corpus": "c", "passage_id": "p:1", "document": "p", "position": 1, "language": "la",
         "segment_ids": ["p:1.1"], "segments": [MARKUP], "text": MARKUP})  # fmt: skip
    put(warehouse, "reference", *(
        {"passage": "c/p:1", "translator": name, "text": text, "complete": True}
        for name, text in (("open", "words of open"), ("closed", CLOSED))
    ))  # fmt: skip
    put(warehouse, "model_output",
        {**output, "text": MARKUP}, {**output, "model": "parrot", "text": f"Lo! {CLOSED.title()}."})  # fmt: skip
    put(warehouse, "judge_vote",
        {**output, "judge": "j", **judgement, "cause": "quotes the closed", "evidence": ""},
        {**output, "judge": "k", "abstention": "label 'it repeats the closed' is none"})  # fmt: skip
    put(warehouse, "human_label", {**output, "annotator": "me@home", **judgement, "notes": "copies the closed"})
    put(warehouse, "worked_example", *(
        {"corpus": "c", "rule": "far but valid", "place": 1, **output, "model": model, "why": "drift 2"}
        for model in ("m", "parrot", "gone")
    ))  # fmt: skip
    return warehouse


def test_texts_stand_on_it_as_they_are(warehouse: Warehouse) -> None:
    shown = examples_page(warehouse, "c")
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &lt;/style&gt; &amp; מים") == 2
    assert shown.count("<main ") == 1
    assert "words of open" in shown
    assert "j: minor error (other), confidence high" in shown
    assert "annotator-1: minor error (other), severity low" in shown


def test_restricted_texts_and_those_who_may_quote_them_are_on_the_private_page_only(warehouse: Warehouse) -> None:
    shown = examples_page(warehouse, "c")
    assert f"restricted: {len(CLOSED)} characters" in shown
    closed = ("words of closed", "Words Of Closed", "quotes the closed", "copies the closed", "repeats the", "me@home")
    assert not any(words in shown for words in closed)
    private = examples_page(warehouse, "c", private=True)
    assert all(words in private for words in closed)
    assert "PRIVATE, do not pass on" in private


def test_a_text_that_was_just_marked_restricted_is_shown_no_more(warehouse: Warehouse, tmp_path: Path) -> None:
    assert "words of open" in examples_page(warehouse, "c")
    described(tmp_path, "open", "closed")  # no import, no look at the files
    assert "words of open" not in examples_page(warehouse, "c")

"""The sample corpus is whole, and its labels say what they should."""

import json
from collections import Counter

import pytest

from benchmark_assets.corpus.description import load
from benchmark_assets.corpus.model import Document, joined
from benchmark_assets.corpus.readers import read
from tests.record_sample import SAMPLE, translations

SYSTEMS = ["erring", "free", "literal", "truncating", "verbose"]

# From Outliers to Errors, table 5.
CATEGORIES = {
    "OMISSION_OR_TRUNCATION", "ADDITION_OR_HALLUCINATION", "NEGATION_OR_POLARITY_ERROR", "AGENT_OR_ROLE_ERROR",
    "DOCTRINAL_TERM_ERROR", "LIST_OR_NUMBER_ERROR", "UNRESOLVED_SOURCE_ELLIPSIS", "WRONG_RELATION_OR_LOGIC",
    "OVERLY_FREE_PARAPHRASE", "GRAMMAR_OR_FLUENCY_PROBLEM", "OTHER",
}  # fmt: skip


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    found = [document for document in read(load(SAMPLE / "corpus.yaml")) if isinstance(document, Document)]
    assert len(found) == 6
    return found


def test_it_has_48_passages_each_with_three_complete_translations(documents: list[Document]) -> None:
    passages = [passage for document in documents for passage in document.passages]
    assert len(passages) == 48
    for passage in passages:
        assert [each.translator for each in passage.references] == ["harrow", "lindqvist", "okafor"]
        assert all(text for each in passage.references for text in each.segments), passage.id


def test_every_system_translates_every_passage_and_copies_no_reference(documents: list[Document]) -> None:
    references = {
        passage.id: {joined(each.segments) for each in passage.references}
        for document in documents
        for passage in document.passages
    }
    recorded = translations()
    assert sorted(recorded) == SYSTEMS
    for texts in recorded.values():
        assert set(texts) == set(references)
        assert not [passage for passage, text in texts.items() if text in references[passage]]


def test_labels_name_existing_passages_and_systems_in_the_terms_of_the_audit_paper(documents: list[Document]) -> None:
    passages = {passage.id for document in documents for passage in document.passages}
    labels = [json.loads(line) for line in (SAMPLE / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    for label in labels:
        assert label["passage_id"] in passages
        assert label["model"] in SYSTEMS
        assert label["label"] in {"MINOR_ERROR", "MAJOR_ERROR"}
        assert label["error_category"] in CATEGORIES
        assert label["severity"] in {"low", "medium", "high"}
    assert max(Counter((label["passage_id"], label["model"]) for label in labels).values()) == 1
    planted = Counter(label["error_category"] for label in labels if label["model"] == "erring")
    assert all(
        planted[kind] >= 4
        for kind in (
            "AGENT_OR_ROLE_ERROR",
            "NEGATION_OR_POLARITY_ERROR",
            "LIST_OR_NUMBER_ERROR",
            "DOCTRINAL_TERM_ERROR",
        )
    )

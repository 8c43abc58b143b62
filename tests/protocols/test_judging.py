"""The question to a judge by the protocol of From Outliers to Errors, as far as the paper states it.

Its prompt is not in this repository, and its program is not public: the requests here have a composed prompt.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark_assets.adjudication.judging import Scores
from benchmark_assets.adjudication.published import named, published_judging, unnamed
from benchmark_assets.benchmarks import protocols
from benchmark_assets.benchmarks.recipe import PublishedText
from resources.provider.reading import Outcome, Reading
from tests.protocols.test_protocols import MODEL, declared

SYSTEM, USER = (
    "Weigh it.",
    (
        'Answer like {"label": "..."}. {passage_id} {normalized_drift} {sim_best} {pali} {sujato} {thanissaro} {bodhi} '
        "{candidate}"
    ),
)
REFERENCES = {"sujato": "One.", "thanissaro": "Two.", "bodhi": "Three."}
GOOD: dict[str, Any] = {
    "label": "MINOR_ERROR", "error_category": "OTHER", "severity": "low", "confidence": "high",
    "is_major_error": False, "is_valid_variation": False, "cause_summary": "c", "evidence": "e",
    "problem_phrase": "p", "suggested_correction": "s",
}  # fmt: skip


@pytest.fixture
def pasted(tmp_path: Path) -> Path:
    (tmp_path / "judge-system.txt").write_text(SYSTEM)
    (tmp_path / "judge-user.txt").write_text(USER)
    return tmp_path


def test_a_judge_is_asked_with_the_papers_fields_and_settings(pasted: Path) -> None:
    protocol = protocols.protocol_of(declared("outliers-to-errors", "judge", "outliers-to-errors"), "x", pasted)
    template = published_judging(MODEL, protocol)
    texts = named("mn1:3", "Pali.", REFERENCES, "A candidate.", Scores(1.75, 0.5))
    assert unnamed(protocol, texts) == []
    question = template.question(texts)
    assert [each["content"] for each in question.messages] == [
        SYSTEM, 'Answer like {"label": "..."}. mn1:3 1.75 0.5 Pali. One. Two. Three. A candidate.',
    ]  # fmt: skip
    assert question.body["response_format"] == {"type": "json_object"}
    assert (question.body["temperature"], template.tries) == (0, 6)
    assert unnamed(protocol, named("mn1:3", "Pali.", {"sujato": "One."}, "C.", None)) == ["bodhi", "thanissaro"]


def test_fields_are_names_in_braces_where_other_braces_are_text(tmp_path: Path) -> None:
    text = PublishedText(text='{"a": {"b": "{one}"}} {two} { three } {}', braces="named")
    assert protocols.template(text, tmp_path) == ('{"a": {"b": "${one}"}} ${two} { three } {}', ["one", "two"])


@pytest.mark.parametrize(
    ("reply", "readable"),
    [
        (json.dumps(GOOD), True),
        (json.dumps({name: GOOD[name] for name in ("label", "error_category", "severity", "confidence")}), True),
        (json.dumps(GOOD | {"is_major_error": True, "note": 1}), True),
        (json.dumps(GOOD | {"label": "VALID_VARIATION", "error_category": "NONE", "severity": "none"}), True),
        (json.dumps(GOOD | {"label": "minor error"}), False),
        (json.dumps(GOOD | {"label": "OTHER"}), False),
        (json.dumps(GOOD | {"severity": "grave"}), False),
        (json.dumps(GOOD | {"confidence": None}), False),
        (json.dumps(GOOD | {"label": ["MINOR_ERROR"]}), False),
        (json.dumps({"label": "MINOR_ERROR"}), False),
        (f"```json\n{json.dumps(GOOD)}\n```", False),
        (json.dumps(GOOD)[:-1], False),
        (json.dumps([GOOD]), False),
        ("", False),
    ],
)
def test_a_reply_counts_if_its_words_are_those_of_the_paper(reply: str, readable: bool, pasted: Path) -> None:
    protocol = protocols.protocol_of(declared("outliers-to-errors", "judge", "outliers-to-errors"), "x", pasted)
    outcome = Outcome.ANSWERED if reply else Outcome.EMPTY
    assert published_judging(MODEL, protocol).reads(Reading(outcome, reply, finish="stop")) == readable

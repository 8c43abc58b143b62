"""One judge that answers badly: every case ends with a judgement, an abstention that says why, or an error."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_assets.adjudication.judging import (
    ANSWERS,
    WORDS,
    Opinion,
    Scores,
    judging,
    read_answer,
    shown,
)
from benchmark_assets.adjudication.labels import (
    CATEGORIES,
    CONFIDENCES,
    ERRORS,
    LABELS,
    MAJOR,
    MINOR,
    SEVERITIES,
    TAXONOMIES,
    VALID,
    Judgement,
)
from benchmark_assets.corpus.description import AUDIT
from benchmark_assets.translation.systems import language_names
from resources.provider.asking import TRIES, TRIES_OF_LENGTH, Template, Verdict, insist
from resources.provider.client import opened
from resources.provider.ledger import Ledger
from tests.provider.server import VALID as SAID
from tests.provider.server import Server, dumps
from tests.provider.support import NO_BUDGET, model, says

REFERENCES = ("A mouse runs.", "The mouse is running.")
ITEM = shown("Mus currit.", REFERENCES, "A mouse walks.")
ERROR: dict[str, Any] = {
    "label": "MINOR_ERROR", "error_category": "OTHER", "severity": "low", "confidence": "medium",
    "is_major_error": False, "is_valid_variation": False, "cause_summary": "It is slower.", "evidence": "“currit”",
    "problem_phrase": "walks", "suggested_correction": "runs",
}  # fmt: skip
JUDGED = Judgement(MINOR, "OTHER", "low", "medium")


def template(url: str, **endpoint: Any) -> Template[Opinion]:
    return judging(model(url, endpoint, temperature=1), language_names("la", "en"))


def judged(server: Server, ledger: Ledger, item: Mapping[str, Any] = ITEM) -> Verdict[Opinion]:
    async def ask() -> Verdict[Opinion]:
        async with opened(ledger.session("run", NO_BUDGET)) as client:
            return await insist(client.ask, template(server.url), item)

    vote = asyncio.run(ask())
    assert sum(each is not None for each in (vote.value, vote.abstention, vote.error)) == 1
    assert (vote.value is None) == (vote.parsing is None)
    return vote


def judgement(vote: Verdict[Opinion]) -> Judgement | None:
    return vote.value and vote.value.judgement


def words(vote: Verdict[Opinion]) -> tuple[str, ...] | None:
    return vote.value and vote.value.remarks


def test_a_good_answer_is_taken_as_it_stands(server: Server, ledger: Ledger) -> None:
    says(server, ERROR)
    vote = judged(server, ledger)
    assert judgement(vote) == JUDGED
    assert words(vote) == ("It is slower.", "“currit”", "walks", "runs")
    assert (vote.asked, vote.parsing) == (1, "strict")
    assert ledger.attempts()["key"].to_list() == [vote.call]


@pytest.mark.parametrize("fault", ["fenced", "trailing_comma"])
def test_an_answer_in_markdown_or_with_a_slip_is_repaired_and_marked(
    server: Server, ledger: Ledger, fault: str
) -> None:
    says(server, ERROR, script=[fault])
    vote = judged(server, ledger)
    assert (judgement(vote), vote.asked, vote.parsing) == (JUDGED, 1, "repaired")


@pytest.mark.parametrize(
    "changes",
    [
        {"label": "minor_error", "error_category": "other", "severity": "Low", "confidence": " MEDIUM"},
        {"label": "Minor Error", "severity": "LOW"},
        {"label": "minor-error"},
        {"is_major_error": None},
        {"reasoning": "It was not asked for."},
    ],
)
def test_case_blanks_and_what_nobody_asked_for_do_not_matter(
    server: Server, ledger: Ledger, changes: dict[str, Any]
) -> None:
    says(server, ERROR | changes)
    vote = judged(server, ledger)
    assert (judgement(vote), vote.asked) == (JUDGED, 1)


def test_words_may_be_missing_or_no_text(server: Server, ledger: Ledger) -> None:
    said = {key: value for key, value in ERROR.items() if key not in WORDS[:2]}
    says(server, said | {"problem_phrase": ["walks"], "suggested_correction": "runs \ud800"})
    vote = judged(server, ledger)
    assert (judgement(vote), words(vote), vote.asked) == (JUDGED, ("", "", "", "runs ?"), 1)


def test_flags_may_be_missing(server: Server, ledger: Ledger) -> None:
    says(server, {key: value for key, value in ERROR.items() if not key.startswith("is_")})
    assert judgement(judged(server, ledger)) == JUDGED


UNUSABLE: dict[str, tuple[str | dict[str, Any], str]] = {
    "a category as label": (
        ERROR | {"label": "OMISSION_OR_TRUNCATION"},
        "label 'OMISSION_OR_TRUNCATION' is not one of",
    ),
    "no label": ({key: value for key, value in ERROR.items() if key != "label"}, "label '' is not one of"),
    "a label twice": (f'{dumps(ERROR)[:-1]}, "label": "MAJOR_ERROR"}}', "the key 'label' occurs twice"),
    "an error without category": (ERROR | {"error_category": "NONE"}, "error_category NONE is not allowed with"),
    "a category without error": (SAID | {"error_category": "OTHER"}, "error_category OTHER is not allowed with"),
    "an unknown severity": (ERROR | {"severity": "critical"}, "severity 'critical' is not one of"),
    "a minor error without severity": (ERROR | {"severity": "none"}, "severity none contradicts label MINOR_ERROR"),
    "a major error without severity": (
        ERROR | {"label": "MAJOR_ERROR", "is_major_error": True, "severity": "None"},
        "severity none contradicts label MAJOR_ERROR",
    ),
    "no confidence": (ERROR | {"confidence": None}, "confidence '' is not one of"),
    "major and not": (ERROR | {"is_major_error": True}, "is_major_error True contradicts label MINOR_ERROR"),
    "valid and not": (SAID | {"is_valid_variation": False}, "is_valid_variation False contradicts"),
    "a flag in words": (ERROR | {"is_major_error": "perhaps"}, "is_major_error 'perhaps' contradicts"),
    "prose": ("The mouse walks, and should run.", "no JSON"),
    "a list": ('["MINOR_ERROR"]', "no object"),
    "another object": ('{"verdict": "MINOR_ERROR"}', "keys not asked for: ['verdict']"),
    "a fence around part of it": (f"```json\n{dumps({'label': 'VALID_VARIATION'})}\n```", "severity '' is not one of"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_judge_that_never_answers_abstains_with_the_last_reason(server: Server, ledger: Ledger, name: str) -> None:
    content, reason = UNUSABLE[name]
    says(server, *[{"label": "first"}] * (TRIES - 1), content)
    vote = judged(server, ledger)
    assert vote.asked == len(server.log()) == 6
    assert reason in str(vote.abstention)
    server.clear()
    assert judged(server, ledger) == vote
    assert server.log() == []


def test_a_judge_that_answers_at_last_has_voted(server: Server, ledger: Ledger) -> None:
    says(server, *["no"] * (TRIES - 1), ERROR)
    vote = judged(server, ledger)
    assert (judgement(vote), vote.asked) == (JUDGED, TRIES)


@pytest.mark.parametrize(
    ("fault", "words"), [("refusal", "I cannot help with that."), ("content_filter", "stopped by a content filter")]
)
def test_a_refusal_is_an_abstention_at_once(server: Server, ledger: Ledger, fault: str, words: str) -> None:
    says(server, ERROR, script=[fault])
    vote = judged(server, ledger)
    assert (vote.abstention, vote.asked) == (f"refused: {words}", 1)
    assert judged(server, ledger) == vote
    assert len(server.log()) == 1


def test_a_judge_that_reaches_the_limit_of_tokens_is_not_paid_for_more_than_twice(
    server: Server, ledger: Ledger
) -> None:
    says(server, ERROR, script=["prose", "length", "ok", "length"], cut_at=0.02)
    assert judged(server, ledger).asked == 3
    says(server, ERROR, rates={"length": 1.0}, cut_at=0.02)
    vote = judged(server, ledger, shown("Mus currit.", REFERENCES, "A mouse."))
    assert (vote.abstention, vote.asked) == ("the reply was cut off (length)", TRIES_OF_LENGTH)


@pytest.mark.parametrize("fault", ["length", "cut", "cut_chunked"])
def test_a_judgement_that_was_complete_before_the_cut_counts(server: Server, ledger: Ledger, fault: str) -> None:
    says(server, ERROR | {"suggested_correction": "runs " * 200}, script=[fault], cut_at=0.8)
    vote = judged(server, ledger)
    assert (judgement(vote), words(vote), vote.asked) == (JUDGED, ("It is slower.", "“currit”", "walks", ""), 1)
    assert vote.parsing == "prefix"


JUNK = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.text(), max_size=2))
ALLOWED: dict[str, st.SearchStrategy[Any]] = {
    "label": st.sampled_from(LABELS), "error_category": st.sampled_from([*CATEGORIES, "NONE"]),
    "severity": st.sampled_from(SEVERITIES), "confidence": st.sampled_from(CONFIDENCES),
    "is_major_error": st.booleans(), "is_valid_variation": st.booleans(), **dict.fromkeys(WORDS, st.text()),
}  # fmt: skip


@given(st.fixed_dictionaries({}, optional={name: own | JUNK for name, own in ALLOWED.items()}))
def test_whatever_is_read_is_a_judgement_that_agrees_with_itself(values: dict[str, Any]) -> None:
    try:
        judgement, remarks = read_answer(values)
    except ValueError:
        return
    assert judgement.label in LABELS
    assert (judgement.label in ERRORS) == (judgement.error_category in CATEGORIES)
    assert judgement.severity in SEVERITIES
    assert judgement.confidence in CONFIDENCES
    assert values.get("is_major_error") in (None, judgement.label == MAJOR)
    assert values.get("is_valid_variation") in (None, judgement.label == VALID)
    assert all(isinstance(each, str) for each in remarks)


@given(st.fixed_dictionaries(ALLOWED))
def test_every_answer_as_the_schema_wants_it_is_read_if_it_agrees_with_itself(values: dict[str, Any]) -> None:
    if values["label"] not in ERRORS:
        values["error_category"] = "NONE"
    else:
        values["error_category"] = "OTHER" if values["error_category"] == "NONE" else values["error_category"]
        values["severity"] = "low" if values["severity"] == "none" else values["severity"]
    values |= {"is_major_error": values["label"] == MAJOR, "is_valid_variation": values["label"] == VALID}
    assert read_answer(values)[0].label == values["label"]


def test_the_prompt_names_all_words_of_an_answer() -> None:
    system = template("http://localhost/v1").question(ITEM).messages[0]["content"]
    categories = TAXONOMIES[AUDIT].problems
    for word in (
        *LABELS,
        *categories,
        "NONE",
        *SEVERITIES,
        *CONFIDENCES,
        *ANSWERS[AUDIT]["required"],
        "Latin",
        "English",
    ):
        assert word in system


def test_a_judge_sees_source_references_and_candidate_and_scores_only_where_they_are_given() -> None:
    def seen(scores: Scores | None = None) -> dict[str, Any]:
        content = shown("Mus currit.", REFERENCES, "A mouse walks.", scores)
        system, user = template("http://localhost/v1").question(content).messages
        assert "drift" not in system["content"]
        assert "similarity" not in system["content"]
        item: dict[str, Any] = json.loads(user["content"])
        return item

    assert seen() == {
        "source": "Mus currit.",
        "references": {"Reference 1": "A mouse runs.", "Reference 2": "The mouse is running."},
        "candidate": "A mouse walks.",
    }
    assert list(seen(Scores(1.625, 0.9))["scores"].values()) == [1.625, 0.9]


def test_an_endpoint_that_keeps_to_a_schema_is_sent_it() -> None:
    body = template("http://localhost/v1", structured="schema").question(ITEM).body
    assert body["response_format"]["json_schema"]["schema"] == ANSWERS[AUDIT]
    assert all(answer["required"] == list(answer["properties"]) for answer in ANSWERS.values())

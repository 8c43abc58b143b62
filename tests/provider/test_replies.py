"""Structured answers: what is taken is what the model wrote, and nothing that was cut off is taken."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from resources.provider.reading import Outcome, Reading
from resources.provider.replies import Fields, parse, schema_of

# What JSON and its repair might stumble over, and letters outside the Basic Multilingual Plane.
TEXTS = st.text(st.sampled_from("{}[]\"'`:,\\/\n\t u0d1aë學𝄞\u2028") | st.characters(codec="utf-8"))
DICTS = st.dictionaries(TEXTS, TEXTS, min_size=1, max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(TEXTS, each, max_size=3),
    max_leaves=5,
)
CUT = st.sampled_from([Outcome.LENGTH, Outcome.CUT])
FRAMES = st.sampled_from(["{}", "```json\n{}", "Here you are:\n\n{}"])


def stopped(text: str, finish: str = "stop") -> Reading:
    """A reply of a model that ended by itself."""
    return Reading(Outcome.ANSWERED, text, finish=finish)


@given(st.dictionaries(TEXTS, VALUES), st.sampled_from(["stop", "", "length"]), st.booleans())
def test_a_whole_object_is_taken_as_it_stands(content: dict[str, Any], finish: str, escaped: bool) -> None:
    text = json.dumps(content, ensure_ascii=escaped)
    assert parse(stopped(f"\n {text}\n", finish), content) == Fields(content, "strict", "")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('```json\n{"a": "x", "b": "y"}\n```', {"a": "x", "b": "y"}),
        ('```\n{"a": "x", "b": "y"}```', {"a": "x", "b": "y"}),
        ('Here you are:\n{"a": "x", "b": "y"}', {"a": "x", "b": "y"}),
        ('{"a": "x", "b": "y",}', {"a": "x", "b": "y"}),
        ('{"a": "x", "b": "He said "yes" and left."}', {"a": "x", "b": 'He said "yes" and left.'}),
        ('{"a": "x\ny", "b": "z"}', {"a": "x\ny", "b": "z"}),
    ],
)
def test_a_repair_is_marked_and_needs_a_model_that_ended_by_itself(text: str, found: dict[str, str]) -> None:
    assert parse(stopped(text), ["a", "b"]) == Fields(found, "repaired", "")
    for finish in ("", "length", "content_filter", "tool_calls"):
        answer = parse(stopped(text, finish), ["a", "b"])
        assert not answer.values
        assert answer.how == "strict"
        assert answer.problem.startswith("no JSON")


@pytest.mark.parametrize("keys", [["a"], ["a", "b", "c"], ["a", "B"], ["a", "c"], []])
def test_a_repair_needs_exactly_the_keys_asked_for(keys: list[str]) -> None:
    answer = parse(stopped('{"a": "x", "b": "y",}'), keys)
    assert not answer.values
    assert answer.problem.startswith("no JSON")


DEEP = ['{"a": ' + "[" * 100_000 + "}", '{"a": ' * 50_000 + "}" * 50_000]


@pytest.mark.parametrize(
    "text", ["", "I cannot.", '{"a": "x"', '{"a": "x",} and that is all', '["a": "x"]', "{", "}", "```", *DEEP]
)
def test_what_is_no_closed_object_is_not_repaired(text: str) -> None:
    answer = parse(stopped(text), ["a"])
    assert not answer.values
    assert answer.problem


@pytest.mark.parametrize("text", ["[]", '["a"]', '"a"', "5", "null", "true"])
def test_json_that_is_no_object_has_no_values(text: str) -> None:
    answer = parse(stopped(text), ["a"])
    assert not answer.values
    assert "no object" in answer.problem


def test_missing_extra_and_renamed_keys_are_told_and_the_others_taken() -> None:
    reading = stopped('{"a": "x", "b": "y"}')
    for keys, values, missing, extra in (
        (["a", "b", "c"], {"a": "x", "b": "y"}, "['c']", "[]"),
        (["a"], {"a": "x"}, "[]", "['b']"),
        (["a", "B"], {"a": "x"}, "['B']", "['b']"),
        (["A"], {}, "['A']", "['a', 'b']"),
    ):
        answer = parse(reading, keys)
        assert (answer.values, answer.how) == (values, "strict")
        assert f"missing: {missing}" in answer.problem
        assert f"not asked for: {extra}" in answer.problem


def test_values_are_not_judged() -> None:
    assert parse(stopped('{"a": null, "b": 5, "c": ""}'), ["a", "b", "c"]).values == {"a": None, "b": 5, "c": ""}


@pytest.mark.parametrize(
    "reading",
    [
        stopped('{"a": "x", "b": "y", "a": "z"}'),
        stopped('{"a": "x", "b": "y", "a": "x"}'),
        stopped('{"a": "x", "b": "y", "a": "z",}'),
        Reading(Outcome.LENGTH, '{"a": "x", "b": "y", "a": "z", "c": "tr', finish="length"),
        Reading(Outcome.CUT, '{"a": "x", "a": "z", "b": "y", "c": "tr'),
    ],
)
def test_a_key_that_occurs_twice_counts_as_missing(reading: Reading) -> None:
    answer = parse(reading, ["a", "b"])
    assert "a" not in answer.values
    assert answer.problem


def test_a_refusal_has_no_values_whatever_it_says() -> None:
    reading = Reading(Outcome.REFUSED, '{"a": "x"}', detail="I cannot help.", finish="stop")
    answer = parse(reading, ["a"])
    assert not answer.values
    assert "I cannot help." in answer.problem


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4), st.booleans(), FRAMES, CUT, st.data())
def test_of_a_reply_that_was_cut_off_exactly_the_complete_pairs_are_taken(
    content: dict[str, Any], escaped: bool, frame: str, outcome: Outcome, data: st.DataObject
) -> None:
    head = frame.partition("{}")[0]
    text = json.dumps(content, ensure_ascii=escaped)
    end = data.draw(st.integers(0, len(text)))
    answer = parse(Reading(outcome, head + text[:end], finish="length"), content)
    pairs = list(content.items())
    # A pair is complete when the comma or brace after it is there; before that, a number might go on.
    ends = [len(json.dumps(dict(pairs[:count]), ensure_ascii=escaped)) for count in range(1, len(pairs) + 1)]
    assert answer.values == dict(pairs[: sum(each <= end for each in ends)])
    assert answer.how == "prefix"
    assert str(outcome) in answer.problem


@given(DICTS, st.booleans(), FRAMES, st.data())
@example({"a": "x} y"}, False, "{}", None).via("a brace is the last letter that arrived")
@example({"a": "x", "b": "{y} z"}, False, "{}", None).via("and another before it")
def test_nothing_wrong_is_taken_from_a_cut_reply_that_says_it_is_whole(
    content: dict[str, str], escaped: bool, frame: str, data: st.DataObject | None
) -> None:
    head = frame.partition("{}")[0]
    text = json.dumps(content, ensure_ascii=escaped)
    ends = range(len(text)) if data is None else [data.draw(st.integers(0, len(text) - 1))]
    for end in ends:
        for finish in ("stop", ""):
            answer = parse(stopped(head + text[:end], finish), content)
            assert answer.values.items() <= content.items(), text[:end]


@pytest.mark.parametrize("content", [{"a": {"x": {"p": 1}, "y": 2}}, {"a": [{"p": 1}, {"p": 2}]}])
def test_no_part_of_an_object_within_an_answer_is_taken_for_the_whole(content: dict[str, Any]) -> None:
    text = json.dumps(content)
    for end in range(len(text)):
        assert parse(stopped(text[:end]), ["a"]).values in ({}, content), text[:end]


@pytest.mark.parametrize("outcome", [Outcome.ANSWERED, Outcome.LENGTH, Outcome.CUT])
@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": ' * 2000, '{"a": ' + "[" * 100_000, "{" * 5000])
def test_senseless_depth_is_no_answer(text: str, outcome: Outcome) -> None:
    for finish in ("stop", "length"):
        answer = parse(Reading(outcome, text, finish=finish), ["a"])
        assert not answer.values
        assert answer.problem


@given(st.text(), st.sampled_from(Outcome), st.sampled_from(["stop", "length", ""]))
def test_any_text_has_an_answer_of_the_keys_asked_for(text: str, outcome: Outcome, finish: str) -> None:
    for frame in ("{}", '{{"a": {}}}', '{{"a": "{}"}}', '{{"a": "{}",}}'):
        answer = parse(Reading(outcome, frame.format(text), finish=finish), ["a"])
        assert set(answer.values) <= {"a"}
        assert answer.how in ("strict", "repaired", "prefix")
        assert "a" in answer.values or answer.problem


def test_a_schema_wants_every_key_and_no_other() -> None:
    schema = schema_of((key for key in ("b", "a")), {"type": "string"})
    assert schema == {
        "type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}, "required": ["b", "a"],
        "additionalProperties": False,
    }  # fmt: skip
    assert json.loads(json.dumps(schema)) == schema
    schema["properties"]["a"]["type"] = "number"
    assert schema["properties"]["b"] == {"type": "string"}

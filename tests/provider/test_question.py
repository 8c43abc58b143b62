"""A question's key: what it depends on, and what it does not; the bound on its cost."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from resources.provider.question import Messages, Question
from resources.provider.registry import Endpoint, Price
from resources.provider.replies import schema_of
from tests.provider.support import model

URL = "http://127.0.0.1:1/v1"
MESSAGES: Messages = ({"role": "system", "content": "Translate."}, {"role": "user", "content": "Mus currit."})
SCHEMA = schema_of(["a"], {"type": "string"})
ROUTED = {"dialect": "openrouter", "structured": "schema"}
TAPE = Endpoint.model_validate({"recording": "replies.jsonl", **ROUTED})
BASE = Question(model(URL, ROUTED), MESSAGES, "translate", SCHEMA)


def asked(endpoint: Mapping[str, Any] | None = None, url: str = URL, **settings: Any) -> Question:
    """The base question with other settings of its model or endpoint."""
    return replace(BASE, model=model(url, ROUTED | dict(endpoint or {}), **settings))


DIFFERENT = {
    "endpoint url": asked(url="http://127.0.0.1:2/v1"),
    "model id": asked(id="m-2"),
    "temperature": asked(temperature=0.5),
    "no temperature": asked(temperature=None),
    "top_p": asked(top_p=0.9),
    "seed": asked(seed=0),
    "effort": asked(effort="none"),
    "pin": asked(pin=["deepinfra"]),
    "order of pins": asked(pin=["deepinfra", "together"]),
    "max_tokens": asked(max_tokens=999),
    "form": asked(endpoint={"structured": "json"}),
    "messages": replace(BASE, messages=(MESSAGES[0], {"role": "user", "content": "Mus currit"})),
    "role": replace(BASE, messages=({"role": "user", "content": "Translate."}, MESSAGES[1])),
    "order of messages": replace(BASE, messages=MESSAGES[::-1]),
    "schema": replace(BASE, answer=schema_of(["b"], {"type": "string"})),
    "no schema": replace(BASE, answer=None),
    "replicate": replace(BASE, replicate=1),
    "base": BASE,
}
SAME = {
    "a copy": asked(),
    "purpose": replace(BASE, purpose="judge"),
    "name": replace(BASE, model=replace(BASE.model, name="other")),
    "price": asked(price=Price(input=5, output=6)),
    "no price": asked(price=None),
    "budget": asked(budget=3.0),
    "key variable": asked(endpoint={"key": "MY_KEY"}),
    "timeout": asked(endpoint={"timeout": 9}),
    "in_flight of the endpoint": asked(endpoint={"in_flight": 3}),
    "in_flight of the model": asked(in_flight=3),
    "batch_tokens": asked(batch_tokens=5),
    "corpora": asked(corpora=["tiny"]),
    "order of a message's fields": replace(BASE, messages=tuple(dict(reversed([*each.items()])) for each in MESSAGES)),
}


def test_whatever_determines_the_reply_changes_the_key() -> None:
    keys = {name: question.key for name, question in DIFFERENT.items()}
    assert len(set(keys.values())) == len(keys), keys
    assert all(len(key) == 32 and int(key, 16) >= 0 for key in keys.values())


@pytest.mark.parametrize("name", SAME)
def test_what_does_not_determine_the_reply_leaves_the_key(name: str) -> None:
    assert SAME[name].key == BASE.key


def test_the_default_temperature_written_out_leaves_the_key() -> None:
    assert asked(temperature=0).key == BASE.key


def test_a_key_is_the_same_in_every_process() -> None:
    # Keys are kept for good: a change of this one makes every stored reply unreachable.
    plain = model("http://h/v1", temperature=None, max_tokens=5)
    question = Question(plain, ({"role": "user", "content": "學而"},), "translate")
    assert question.canonical.decode() == '{"max_tokens":5,"messages":[{"content":"學而","role":"user"}],"model":"m"}'
    assert question.key == "7a2fc826863e41b1a92cd2e0bfd0d93e"


@given(st.text(), st.text())
def test_texts_share_a_key_only_when_they_are_equal(one: str, other: str) -> None:
    keys = [replace(BASE, messages=({"role": "user", "content": text},)).key for text in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)


def test_a_recording_stands_for_any_endpoint_but_not_for_another_question() -> None:
    other, tape = asked(url="http://127.0.0.1:2/v1"), replace(BASE, model=replace(BASE.model, endpoint=TAPE))
    assert other.recording_key == tape.recording_key == BASE.recording_key
    assert len({BASE.key, other.key, tape.key, BASE.recording_key}) == 4
    kept = {
        name: question.recording_key for name, question in DIFFERENT.items() if name not in ("base", "endpoint url")
    }
    assert BASE.recording_key not in kept.values()
    assert len(set(kept.values())) == len(kept)


def test_a_schema_is_sent_as_far_as_the_endpoint_can_promise_it() -> None:
    forms = {
        mode: asked(endpoint={"structured": mode}).body.get("response_format") for mode in ("schema", "json", "text")
    }
    assert forms == {
        "schema": {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}},
        "json": {"type": "json_object"},
        "text": None,
    }


@pytest.mark.parametrize("mode", ["schema", "json", "text"])
def test_free_text_is_asked_for_without_a_form(mode: str) -> None:
    assert "response_format" not in replace(asked(endpoint={"structured": mode}), answer=None).body


@given(st.lists(st.text(), min_size=1))
def test_the_canonical_body_is_the_body(texts: list[str]) -> None:
    question = replace(BASE, messages=tuple({"role": "user", "content": text} for text in texts))
    assert json.loads(question.canonical) == question.body
    assert [each["content"] for each in question.body["messages"]] == texts


PRICES = st.floats(0, 100)


@given(
    texts=st.lists(st.text(), min_size=1), prices=st.tuples(PRICES, PRICES), shares=st.tuples(*[st.floats(0, 1)] * 3)
)
def test_no_reply_costs_more_than_the_worst_case(
    texts: list[str], prices: tuple[float, float], shares: tuple[float, float, float]
) -> None:
    price = Price(input=prices[0], output=prices[1], cached=prices[0] * shares[2])
    messages: Messages = tuple({"role": "user", "content": text} for text in texts)
    question = replace(asked(price=price, max_tokens=100), messages=messages)
    # A token has a byte or more; roles, separators and the schema are read, too.
    prompt = len(json.dumps(SCHEMA)) + sum(len(text.encode()) + 10 for text in texts)
    worst = question.worst_case
    assert worst is not None
    used, cached = round(prompt * shares[0]), round(prompt * shares[0] * shares[1])
    assert price.cost(used, 100, cached) <= worst
    assert price.cost(prompt, 100) <= worst


def test_cached_input_cannot_cost_more_than_fresh_input() -> None:
    with pytest.raises(ValidationError, match="above `input`"):
        Price(input=1, output=1, cached=50)


def test_the_worst_case_counts_the_prompt_and_the_longest_reply() -> None:
    dear_output, dear_input = Price(input=0, output=1), Price(input=1, output=0)
    assert asked(price=dear_output, max_tokens=1000).worst_case == 1_000_000
    short, long = (
        replace(asked(price=dear_input), messages=({"role": "user", "content": "學" * count},)).worst_case
        for count in (0, 100)
    )
    assert short is not None
    assert long is not None
    assert long - short == 300 * 1000


def test_without_a_price_nothing_bounds_the_cost_and_a_recording_costs_nothing() -> None:
    assert asked(price=None).worst_case is None
    assert replace(BASE, model=replace(BASE.model, endpoint=TAPE)).worst_case == 0

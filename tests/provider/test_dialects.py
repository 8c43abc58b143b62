"""The table of dialects: sound as data, and in step with the client library where that knows the endpoint."""

import json
from typing import get_args, get_type_hints

import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.shared import ReasoningEffort

from resources.provider.dialects import DIALECTS, EFFORTS

# What the registry and the client put into a body themselves.
TAKEN = {"model", "messages", "temperature", "top_p", "seed", "response_format", "max_tokens", "max_completion_tokens"}


def test_openai_has_the_efforts_and_fields_of_its_own_client() -> None:
    literal = next(each for each in get_args(ReasoningEffort) if get_args(each))
    assert set(DIALECTS["openai"].efforts) == set(get_args(literal))
    fields = get_type_hints(CompletionCreateParamsNonStreaming)
    assert {DIALECTS["openai"].most_tokens, "reasoning_effort"} <= set(fields)


@pytest.mark.parametrize("name", DIALECTS)
def test_every_body_is_json_and_leaves_the_common_fields_alone(name: str) -> None:
    dialect = DIALECTS[name]
    pins = [dialect.pin(["a", "b"])] if dialect.pin else []
    for body in (*dialect.efforts.values(), *pins):
        assert json.loads(json.dumps(body)) == body
        assert not TAKEN & set(body)
    assert dialect.most_tokens in TAKEN


@pytest.mark.parametrize("name", DIALECTS)
def test_efforts_are_in_our_words_and_differ_from_each_other(name: str) -> None:
    bodies = [json.dumps(body) for body in DIALECTS[name].efforts.values()]
    assert set(DIALECTS[name].efforts) <= set(EFFORTS)
    assert len(set(bodies)) == len(bodies)


@pytest.mark.parametrize("name", ["vllm", "llama.cpp"])
def test_servers_of_templates_switch_thinking_for_every_family(name: str) -> None:
    assert DIALECTS[name].efforts["none"] == {
        "reasoning_effort": "none",
        "chat_template_kwargs": {"enable_thinking": False, "thinking": False},
    }
    assert DIALECTS[name].efforts["high"] == {
        "reasoning_effort": "high",
        "chat_template_kwargs": {"enable_thinking": True, "thinking": True, "reasoning_effort": "high"},
    }


def test_what_an_endpoint_has_no_setting_for_is_absent() -> None:
    assert set(DIALECTS["llama.cpp"].efforts) == {"none", "low", "medium", "high"}
    assert not DIALECTS["plain"].efforts
    assert [name for name, dialect in DIALECTS.items() if dialect.pin] == ["openrouter"]

"""Reading raw replies: every way in which a call can end has a name, and a text that was cut never looks complete."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from resources.provider.reading import (
    CALLS_TOOL,
    NO_SERVER,
    OVERSIZED,
    REASONED,
    REDIRECTED,
    REPLIES,
    STRAY,
    TIMEOUT,
    UNREACHABLE,
    Outcome,
    Policy,
    Raw,
    Reading,
    read,
    retry_after,
)

# A translation with all that JSON has to escape, and letters outside the Basic Multilingual Plane.
TEXT = '{"d1:1": "Er sagte: \\"Ja\\" {und} ging.\\n學而 𝄞 ë\\\\", "d1:2": "} ]"}'
RESET = "the connection broke (ConnectionResetError)"
HTML = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
QUOTA = {
    "message": "You exceeded your current quota, please check your plan and billing details.",
    "type": "insufficient_quota", "param": None, "code": "insufficient_quota",
}  # fmt: skip


def completion(content: Any = "Salve.", finish: Any = "stop", **fields: Any) -> bytes:
    """A chat completion as endpoints send it."""
    message = {"role": "assistant", "content": content, "refusal": None}
    whole: dict[str, Any] = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-2026",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13},
    }  # fmt: skip
    return json.dumps(whole | fields).encode()


def error(message: str, **fields: Any) -> bytes:
    """An error body as endpoints send it."""
    return json.dumps({"error": {"message": message, **fields}}).encode()


def spoken(body: bytes, status: int = 200, broken: str = "") -> Reading:
    """What a reply says."""
    return read(Raw(status, {"content-type": "application/json"}, body, broken))


def used(usage: Any) -> Reading:
    """What a reply with this usage says."""
    return spoken(completion(usage=usage))


def events(*parts: str, end: bool = True) -> bytes:
    """A stream of events with a text in parts."""
    choices: list[dict[str, Any]] = [{"delta": {"role": "assistant", "content": part}} for part in parts]
    choices += [{"delta": {}, "finish_reason": "stop"}] * end
    chunks = [json.dumps({"model": "m-2026", "choices": [{"index": 0, **choice}]}) for choice in choices]
    return "".join(f"data: {chunk}\n\n" for chunk in [*chunks, *["[DONE]"] * end]).encode()


def called(tool: str) -> bytes:
    """A completion with a call of a tool in place of a text."""
    call = {"id": "c1", "type": "function", "function": {"name": tool, "arguments": '{"word": "Salve."}'}}
    return completion(choices=[{"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}])


def thought() -> bytes:
    """A completion with reasoning in place of a text."""
    return completion(choices=[{"message": {"content": "", "reasoning_content": "Hm."}, "finish_reason": "stop"}])


WITHOUT_USAGE = Reading(Outcome.ANSWERED, "Salve.", finish="stop", served_model="m-2026")
HALF = completion().partition(b"ve.")[0]

REALISTIC: Mapping[str, tuple[Raw, Outcome]] = {
    "a completion": (Raw(200, {}, completion()), Outcome.ANSWERED),
    "white space before it, as OpenRouter sends while a model thinks": (
        Raw(200, {}, b"\n         \n\n" + completion()), Outcome.ANSWERED),
    "without a finish": (Raw(200, {}, completion(finish=None)), Outcome.ANSWERED),
    "length": (Raw(200, {}, completion('{"a": "Sal', "length")), Outcome.LENGTH),
    "length, all of it reasoning": (Raw(200, {}, completion("", "length")), Outcome.LENGTH),
    "length with null": (Raw(200, {}, completion(None, "length")), Outcome.LENGTH),
    "content filter": (Raw(200, {}, completion("", "content_filter")), Outcome.REFUSED),
    "content filter within the text": (Raw(200, {}, completion("Sal", "content_filter")), Outcome.REFUSED),
    "refusal": (
        Raw(200, {}, completion(choices=[{"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}])),
        Outcome.REFUSED),
    "broken within the text": (Raw(200, {}, HALF, RESET), Outcome.CUT),
    "broken within the text by patience": (Raw(200, {}, HALF, TIMEOUT), Outcome.CUT),
    "a body that ends within the text": (Raw(200, {}, HALF), Outcome.CUT),
    "broken after the text": (Raw(200, {}, completion(), RESET), Outcome.CUT),
    "broken before the text": (Raw(200, {}, completion()[:30], RESET), Outcome.DROPPED),
    "broken before the body": (Raw(200, {}, b"", RESET), Outcome.DROPPED),
    "broken within the white space": (Raw(200, {}, b"\n   \n", RESET), Outcome.DROPPED),
    "broken before the status": (Raw(None, {}, b"", RESET), Outcome.DROPPED),
    "a body that ends before the text": (Raw(200, {}, completion()[:30]), Outcome.DROPPED),
    "no reply in time": (Raw(None, {}, b"", TIMEOUT), Outcome.TIMEOUT),
    "no such host": (Raw(None, {}, b"", f"{NO_SERVER}: the host x is unknown"), Outcome.NO_SERVER),
    "no connection": (Raw(None, {}, b"", UNREACHABLE), Outcome.UNREACHABLE),
    "a stream, though none was asked for": (Raw(200, {}, events("Sal", "ve.")), Outcome.ANSWERED),
    "a stream without its end": (Raw(200, {}, events("Sal", "ve.", end=False)), Outcome.CUT),
    "a stream that breaks within an event": (Raw(200, {}, events("Sal", "ve.")[:-40], RESET), Outcome.CUT),
    "a stream of comments": (Raw(200, {}, b": PROCESSING\n\n: PROCESSING\n\n", RESET), Outcome.DROPPED),
    "a stream with an error": (Raw(200, {}, b"data: " + error("x", code=502) + b"\n\n"), Outcome.SERVER_ERROR),
    "a list with a completion": (Raw(200, {}, b"[" + completion() + b"]"), Outcome.ANSWERED),
    "filled up with NUL": (Raw(200, {}, b"\0\0" + completion() + b"\0\0\0"), Outcome.ANSWERED),
    "NUL alone": (Raw(200, {}, b"\0" * 64), Outcome.EMPTY),
    "a call of the tool that stands for the schema": (Raw(200, {}, called("answer")), Outcome.ANSWERED),
    "a call of another tool": (Raw(200, {}, called("search")), Outcome.EMPTY),
    "reasoning alone": (Raw(200, {}, thought()), Outcome.EMPTY),
    "no body": (Raw(200, {}, b""), Outcome.EMPTY),
    "blank body": (Raw(200, {}, b" \n\n"), Outcome.EMPTY),
    "no text": (Raw(200, {}, completion("")), Outcome.EMPTY),
    "null text": (Raw(200, {}, completion(None)), Outcome.EMPTY),
    "no choice": (Raw(200, {}, completion(choices=[])), Outcome.EMPTY),
    "null choices": (Raw(200, {}, completion(choices=None)), Outcome.EMPTY),
    "web page": (Raw(200, {"content-type": "text/html"}, b"\n" + HTML), Outcome.WEB_PAGE),
    "web page of a proxy": (Raw(502, {}, HTML), Outcome.SERVER_ERROR),
    "words": (Raw(200, {}, b"upstream connect error"), Outcome.UNREADABLE),
    "a list": (Raw(200, {}, b"[1, 2]"), Outcome.UNREADABLE),
    "rate limit": (Raw(429, {"retry-after": "2"}, error("Rate limit reached", code="rate_limit_exceeded")),
                   Outcome.RATE_LIMITED),
    "rate limit without a body": (Raw(429, {}, b""), Outcome.RATE_LIMITED),
    "rate limit of senseless depth": (Raw(429, {}, b"[" * 100_000), Outcome.RATE_LIMITED),
    # https://github.com/langchain-ai/langchainjs/issues/1929
    "no credit at OpenAI": (Raw(429, {}, json.dumps({"error": QUOTA}).encode()), Outcome.NO_CREDIT),
    "no credit at OpenRouter": (Raw(402, {}, error("Insufficient credits", code=402)), Outcome.NO_CREDIT),
    "wrong key": (Raw(401, {}, error("Incorrect API key provided")), Outcome.UNAUTHORIZED),
    "wrong key at LiteLLM's proxy": (Raw(400, {}, error("No connected db.", type="no_db_connection", code="400")),
                                     Outcome.UNAUTHORIZED),
    "no permission": (Raw(403, {}, error("Key limit exceeded", code=403)), Outcome.UNAUTHORIZED),
    "no such model": (Raw(404, {}, error("The model `m` does not exist", code="model_not_found")), Outcome.NOT_FOUND),
    "bad request": (Raw(400, {}, error("Unsupported parameter: 'temperature'")), Outcome.REJECTED),
    "unprocessable": (Raw(422, {}, b'{"detail":[{"loc":["body"],"msg":"field required"}]}'), Outcome.REJECTED),
    "redirect to another host": (Raw(None, {}, b"", f"{REDIRECTED}: http://other"), Outcome.REDIRECTED),
    "far too long": (Raw(200, {}, completion("Salve")[:-9], f"{OVERSIZED}: more than 9 bytes"), Outcome.OVERSIZED),
    "redirect": (Raw(307, {"location": "/v2"}, b""), Outcome.REJECTED),
    "too long at OpenAI": (
        Raw(400, {}, error("This model's maximum context length is 8192 tokens.", code="context_length_exceeded")),
        Outcome.TOO_LONG),
    "too long at Anthropic": (
        Raw(400, {}, error("prompt is too long: 200251 tokens > 200000 maximum")), Outcome.TOO_LONG),
    # https://github.com/ggml-org/llama.cpp/issues/19774
    "too long at llama.cpp": (
        Raw(400, {}, error("request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it",
                           code=400, type="exceed_context_size_error", n_prompt_tokens=4390, n_ctx=4096)),
        Outcome.TOO_LONG),
    "too large a body": (Raw(413, {}, HTML), Outcome.TOO_LONG),
    "server error": (Raw(500, {}, error("The server had an error")), Outcome.SERVER_ERROR),
    "overloaded": (Raw(529, {}, error("Overloaded")), Outcome.SERVER_ERROR),
    "loading": (Raw(503, {}, error("Loading model", code=503, type="unavailable_error")), Outcome.SERVER_ERROR),
    "request timeout": (Raw(408, {}, b""), Outcome.TIMEOUT),
    "gateway timeout": (Raw(504, {}, b"<html>"), Outcome.TIMEOUT),
    "moderation": (Raw(403, {}, error("Your input was flagged")), Outcome.REFUSED),
    "content policy": (Raw(400, {}, error("No.", code="content_policy_violation")), Outcome.REFUSED),
    "error after work": (Raw(200, {}, completion("Sal", error={"code": 502, "message": "x"})), Outcome.BROKEN_OFF),
}  # fmt: skip


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (completion("Salve.").replace(b"Sal", b"S\xe4l"), "S\ufffdlve."),
        (completion("Salve.").replace(b"Sal", b"S\xc3l"), "S\ufffdlve."),
        (completion("Salve, ") + b" \xff", ""),
        (completion("Salve.").replace(b"m-2026", b"m\x92-2026"), "Salve."),
    ],
)
def test_a_stray_byte_costs_one_letter_and_not_the_reply(body: bytes, text: str) -> None:
    reading = spoken(body)
    assert reading.text == (text or "Salve, ")
    assert reading.outcome is (Outcome.ANSWERED if text else Outcome.CUT)
    assert (reading.detail == STRAY) == ("\ufffd" in text)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (events("Sal", "ve."), "Salve."),
        (events("Sal", "ve.", end=False), "Salve."),
        (b"[" + completion() + b"]", "Salve."),
        (b"\0\0" + completion() + b"\0\0\0", "Salve."),
        (completion().decode().encode("utf-16-be"), "Salve."),
        (called("answer"), '{"word": "Salve."}'),
        (called("json_tool_call"), '{"word": "Salve."}'),
    ],
)
def test_a_text_is_found_in_other_wrappings(body: bytes, text: str) -> None:
    reading = spoken(body)
    assert reading.text == text
    assert reading.served_model == "m-2026"


@pytest.mark.parametrize(("body", "detail"), [(thought(), REASONED), (called("search"), CALLS_TOOL)])
def test_an_empty_reply_says_what_it_has_in_place_of_a_text(body: bytes, detail: str) -> None:
    assert spoken(body).detail == detail


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("charset", ["iso-8859-1", '"windows-1252"', "utf-16"])
def test_the_charset_of_the_header_is_honored(status: int, charset: str) -> None:
    whole = {"error": {"message": "Zürich"}} if status == 400 else json.loads(completion("Zürich"))
    body = json.dumps(whole, ensure_ascii=False).encode(charset.strip('"'))
    reading = read(Raw(status, {"content-type": f"application/json; Charset={charset}"}, body))
    assert "Zürich" in (reading.text, reading.detail)


def test_a_charset_that_nobody_knows_is_ignored() -> None:
    raw = Raw(200, {"content-type": "application/json; charset=utf8mb4"}, completion("Zürich"))
    assert read(raw).text == "Zürich"


def test_an_error_in_a_list_has_its_message() -> None:
    assert read(Raw(400, {}, b"[" + error("No.") + b"]")).detail == "No."


def test_a_wait_until_a_date_counts_from_the_date_of_the_server() -> None:
    """The clocks of both machines may differ by hours."""
    headers = {"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT", "date": "Wed, 21 Oct 2015 07:28:00 GMT"}
    assert retry_after(headers) == 30
    assert retry_after(headers | {"date": "Wed, 21 Oct 2015 07:28:00 -0000"}) == 30
    assert retry_after(headers | {"date": "nonsense"}) == 0


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_other_encodings_of_unicode_are_read(encoding: str) -> None:
    assert spoken(completion("Salve.").decode().encode(encoding)).text == "Salve."


def test_a_broken_reply_keeps_what_stood_around_a_stray_byte_and_no_half_letter() -> None:
    whole = completion("Sälve āmen.").decode().encode()
    whole = json.dumps(json.loads(whole), ensure_ascii=False).encode()
    broken = whole.replace("ä".encode(), b"\xe4")
    assert spoken(broken[: broken.index("ā".encode()) + 1], broken=RESET).text == "S\ufffdlve "


@pytest.mark.parametrize("name", REALISTIC)
def test_a_reply_as_endpoints_send_it_has_its_outcome(name: str) -> None:
    raw, outcome = REALISTIC[name]
    reading = read(raw)
    assert reading.outcome is outcome, reading.detail
    assert bool(reading.detail) == (outcome not in (Outcome.ANSWERED, Outcome.LENGTH))


def test_every_outcome_happens_and_has_a_policy() -> None:
    # Only the asker of a question knows that a reply is unusable.
    assert {outcome for _, outcome in REALISTIC.values()} == set(Outcome) - {Outcome.UNUSABLE}
    assert {reading.policy for reading in (Reading(outcome) for outcome in Outcome)} == set(Policy)
    assert set(REPLIES) == {Outcome.ANSWERED, Outcome.LENGTH, Outcome.REFUSED, Outcome.CUT, Outcome.UNUSABLE}


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ({"code": 429, "message": "Provider is rate limited"}, Outcome.RATE_LIMITED),
        ({"code": "429", "message": "Provider is rate limited"}, Outcome.RATE_LIMITED),
        ({"code": 402, "message": "Insufficient credits"}, Outcome.NO_CREDIT),
        ({"code": 502, "message": "Provider returned error"}, Outcome.SERVER_ERROR),
        ({"code": 400, "message": "context window exceeded"}, Outcome.TOO_LONG),
        ({"code": 400, "message": "bad schema"}, Outcome.REJECTED),
        ({"code": "server_error", "message": "internal"}, Outcome.SERVER_ERROR),
        ({"message": "Provider disconnected"}, Outcome.SERVER_ERROR),
        ("overloaded", Outcome.SERVER_ERROR),
        (["overloaded"], Outcome.SERVER_ERROR),
        ({"code": "context_length_exceeded", "message": "maximum context length is 8192"}, Outcome.TOO_LONG),
        (QUOTA, Outcome.NO_CREDIT),
        ({"code": "²", "message": "internal"}, Outcome.SERVER_ERROR),
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_an_error_inside_a_good_status_is_an_error(fault: Any, outcome: Outcome, inside: bool) -> None:
    choice = {"message": {"content": ""}, "finish_reason": "error", "error": fault}
    reading = spoken(json.dumps({"choices": [choice]} if inside else {"error": fault}).encode())
    assert reading.outcome is outcome, reading.detail
    assert not reading.text
    said = fault["message"] if isinstance(fault, dict) else "overloaded"
    assert said in reading.detail


def test_an_error_in_the_midst_of_work_keeps_its_cost() -> None:
    reading = spoken(json.dumps({"error": {"code": 502, "message": "x"}, "usage": {"cost": 0.02}}).encode())
    assert (reading.outcome, reading.cost) == (Outcome.BROKEN_OFF, 0.02)


def test_a_reply_says_who_served_it_and_what_it_used() -> None:
    usage = {
        "prompt_tokens": 10, "completion_tokens": 7, "cost": 0.00125,
        "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 5},
    }  # fmt: skip
    reading = spoken(completion("Salve.", "stop", provider="DeepInfra", usage=usage))
    assert reading == Reading(Outcome.ANSWERED, "Salve.", "", "stop", "m-2026", "DeepInfra", 10, 4, 7, 5, 0.00125)


def test_headers_of_a_gateway_say_what_the_body_does_not() -> None:
    headers = {"x-litellm-model-id": "deployment", "x-litellm-response-cost": "0.5", "ngrok-aig-model": "m-2025"}
    silent = read(Raw(200, headers, completion("Salve.", "stop", model=None)))
    assert (silent.served_model, silent.served_provider, silent.cost) == ("m-2025", "deployment", 0.5)
    body = completion("Salve.", "stop", provider="DeepInfra", usage={"cost": 0.25}, system_fingerprint="fp_1")
    spoken_for = read(Raw(200, headers, body))
    assert (spoken_for.served_model, spoken_for.served_provider, spoken_for.cost) == ("m-2026", "DeepInfra", 0.25)
    assert spoken_for.system_fingerprint == "fp_1"


@pytest.mark.parametrize("senseless", ["0.0", "None", "-1", "inf", "nan", "1e300", ""])
def test_a_cost_in_headers_that_is_none_or_zero_is_not_reported(senseless: str) -> None:
    headers = {"x-litellm-response-cost": senseless}
    assert read(Raw(200, headers, completion("Salve.", "stop"))).cost is None


def test_what_a_reply_does_not_say_is_none() -> None:
    assert used(None) == used({}) == used({"prompt_tokens_details": None}) == WITHOUT_USAGE
    reading = spoken(completion(model=None))
    assert (reading.served_model, reading.served_provider) == ("", "")


@pytest.mark.parametrize("senseless", ["10", -1, 1.5, [3], {"n": 3}, None, float("nan")])
def test_counts_that_are_no_numbers_of_tokens_are_ignored(senseless: Any) -> None:
    names = ("prompt_tokens", "completion_tokens")
    details = {"prompt_tokens_details": {"cached_tokens": senseless}}
    assert used(dict.fromkeys(names, senseless) | details) == WITHOUT_USAGE


@pytest.mark.parametrize("senseless", ["0.1", -0.1, [1], None, float("nan"), float("inf")])
def test_a_cost_that_is_no_amount_is_ignored(senseless: Any) -> None:
    assert used({"cost": senseless}) == WITHOUT_USAGE


@pytest.mark.parametrize("senseless", [True, 2**63, 10**400], ids=["true", "2**63", "10**400"])
def test_a_count_or_cost_that_no_ledger_can_hold_is_ignored(senseless: Any) -> None:
    # a cost of 10**400 makes a good answer UNREADABLE, which is asked for again
    for name in ("prompt_tokens", "completion_tokens", "cost"):
        assert used({name: senseless}) == WITHOUT_USAGE


def test_a_cost_is_one_that_a_ledger_can_hold() -> None:
    cost = used({"cost": 1e300}).cost
    assert cost is None or round(cost * 10**9) < 2**63


def test_words_about_a_reply_can_be_stored() -> None:
    body = completion(model="m\ud83d", provider="p\ud83d", finish="s\ud83d")
    refused = completion(choices=[{"message": {"refusal": "no \ud83d"}}])
    for reading in (spoken(body), spoken(refused), spoken(error("no \ud83d"), 500)):
        for word in (reading.served_model, reading.served_provider, reading.finish, reading.detail):
            word.encode()


def test_content_in_parts_is_joined() -> None:
    parts = [{"type": "text", "text": "Sal"}, {"type": "image_url"}, 5, None, {"type": "text", "text": "ve."}]
    assert spoken(completion(parts)).text == "Salve."
    assert spoken(completion([{"type": "text", "text": ""}])).outcome is Outcome.EMPTY


def test_the_first_choice_counts() -> None:
    choices = [{"message": {"content": each}, "finish_reason": "stop"} for each in ("first", "second")]
    assert spoken(completion(choices=choices)).text == "first"


def test_a_refusal_keeps_its_words() -> None:
    said = {"message": {"content": "", "refusal": "I cannot help."}, "finish_reason": "stop"}
    assert spoken(completion(choices=[said])).detail == "I cannot help."


@given(st.text(min_size=1), st.booleans())
def test_the_text_of_a_reply_is_what_the_model_wrote(text: str, escaped: bool) -> None:
    whole = json.loads(completion(text))
    body = json.dumps(whole, ensure_ascii=escaped).encode()
    assert (spoken(body).outcome, spoken(body).text) == (Outcome.ANSWERED, text)


@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize("broken", ["", RESET])
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_body_cut_anywhere_is_no_answer_and_its_text_is_what_arrived(escaped: bool, broken: str, finish: str) -> None:
    body = json.dumps(json.loads(completion(TEXT, finish)), ensure_ascii=escaped).encode()
    inside = body.index(b"content") + len(b'content": "')
    texts = []
    for end in range(len(body)):
        reading = spoken(body[:end], broken=broken)
        assert reading.outcome in (Outcome.CUT, Outcome.DROPPED, Outcome.EMPTY, Outcome.UNREADABLE)
        assert (reading.outcome is Outcome.CUT) == bool(reading.text)
        assert TEXT.startswith(reading.text)
        texts.append(reading.text)
    assert texts == sorted(texts, key=len)
    assert texts[inside] == ""
    assert TEXT in texts
    # Each letter counts as soon as it has arrived.
    assert {len(text) for text in texts} == set(range(len(TEXT) + 1))


@given(st.text(min_size=1), st.booleans(), st.data())
def test_no_text_that_was_cut_reads_as_an_answer(text: str, escaped: bool, data: st.DataObject) -> None:
    body = json.dumps(json.loads(completion(text)), ensure_ascii=escaped).encode()
    reading = spoken(body[: data.draw(st.integers(0, len(body) - 1))])
    assert reading.outcome is not Outcome.ANSWERED
    assert text.startswith(reading.text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(), each, max_size=3),
    max_leaves=8,
)
STATUS = st.none() | st.sampled_from([200, 201, 400, 402, 429, 500]) | st.integers(100, 999)
BROKEN = st.sampled_from(["", RESET, TIMEOUT, UNREACHABLE])
KEYS = ["choices", "usage", "error", "model", "provider"]


def named(reading: Reading) -> None:
    """A reading is an outcome, words and numbers, whatever was sent."""
    assert isinstance(reading.outcome, Outcome)
    assert isinstance(reading.policy, Policy)
    for word in (reading.text, reading.detail, reading.finish, reading.served_model, reading.served_provider):
        assert isinstance(word, str)
    for count in (reading.prompt_tokens, reading.cached_tokens, reading.completion_tokens, reading.reasoning_tokens):
        assert count is None or (isinstance(count, int) and count >= 0)
    assert reading.cost is None or 0 <= reading.cost < float("inf")


@given(STATUS, st.binary(), BROKEN)
@example(200, b"[" * 100_000, "")
@example(200, b'{"choices":' + b"[" * 100_000, RESET)
@example(200, b'{"a": ' + b"1" * 5000 + b"}", "")
@example(200, '{"choices": []}'.encode("utf-16"), "")
@example(200, b'\xef\xbb\xbf{"choices": []}', "")
def test_any_bytes_have_an_outcome(status: int | None, body: bytes, broken: str) -> None:
    reading = read(Raw(status, {}, body, broken))
    named(reading)
    assert reading.outcome not in REPLIES or (status is not None and status < 300)


@given(STATUS, JSON | st.dictionaries(st.sampled_from(KEYS), JSON), BROKEN)
def test_any_json_has_an_outcome(status: int | None, body: Any, broken: str) -> None:
    named(read(Raw(status, {}, json.dumps(body).encode(), broken)))


@given(
    st.fixed_dictionaries({}, optional={
        "message": JSON | st.fixed_dictionaries({}, optional={"content": JSON, "refusal": JSON}),
        "finish_reason": JSON, "error": JSON | st.fixed_dictionaries({"code": JSON, "message": JSON}),
    }),
    JSON | st.fixed_dictionaries({"prompt_tokens": JSON, "prompt_tokens_details": JSON, "cost": JSON}),
)  # fmt: skip
def test_junk_within_a_completion_has_an_outcome(choice: Any, usage: Any) -> None:
    named(spoken(completion(choices=[choice], usage=usage)))
    named(spoken(completion(choices=[choice], usage=usage)[:-20], broken=RESET))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "-1500"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Wed, 99 Foo 2026"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after-ms": "soon"}, None),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after-ms": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 21 Oct 99999999999999 07:28:00 GMT"}, None),
    ],
)
def test_a_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@given(st.integers(2, 10**6))
def test_a_wait_until_a_date_is_the_time_that_is_left(seconds: int) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)
    wait = retry_after({"retry-after": date})
    assert wait is not None
    assert seconds - 2 < wait <= seconds


@given(st.text() | st.floats().map(str), st.sampled_from(["retry-after", "retry-after-ms"]))
def test_a_wait_is_never_negative_and_reading_it_never_fails(value: str, name: str) -> None:
    wait = retry_after({name: value})
    assert wait is None or wait >= 0

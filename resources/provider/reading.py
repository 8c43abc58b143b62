"""Reading raw replies: outcome, text and usage. Pure functions that never raise.

Here: all outcomes of a call, and the policy for each. Not here: carrying out the policy (client), parsing the text of
an answer (replies).
"""

import codecs
import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum, StrEnum
from typing import Any, NamedTuple

import jiter


class Policy(Enum):
    """The client's ways of handling an outcome."""

    USE = "keep the reply, and never ask the question again"
    WAIT = "ask again until patience runs out; the call cost nothing"
    RETRY = "ask again up to RETRIES times; the call may have cost something"
    FAIL = "fail this question"
    STOP_MODEL = "fail every question to this model"
    STOP = "fail every question"


class Outcome(StrEnum):
    """The outcomes of a call, each with the policy for it."""

    policy: Policy

    def __new__(cls, word: str, policy: Policy) -> "Outcome":
        """Make a member whose value is `word`."""
        outcome = str.__new__(cls, word)
        outcome._value_, outcome.policy = word, policy
        return outcome

    ANSWERED = "answered", Policy.USE
    LENGTH = "length", Policy.USE  # the model reached its token limit
    REFUSED = "refused", Policy.USE  # by the model, or by a filter of the provider
    CUT = "cut", Policy.USE  # the connection broke in the middle of the text
    RATE_LIMITED = "rate limited", Policy.WAIT
    SERVER_ERROR = "server error", Policy.WAIT
    UNREACHABLE = "unreachable", Policy.WAIT  # no connection, so nothing was sent
    DROPPED = "dropped", Policy.RETRY  # the connection broke before any text
    TIMEOUT = "timeout", Policy.RETRY
    BROKEN_OFF = "broken off", Policy.RETRY  # a server error while generating
    UNUSABLE = "unusable", Policy.USE  # text without the answer that was asked for
    EMPTY = "empty", Policy.RETRY  # a reply without a choice or without text
    WEB_PAGE = "web page", Policy.RETRY
    UNREADABLE = "unreadable", Policy.RETRY
    TOO_LONG = "too long", Policy.FAIL  # for the model's context
    REJECTED = "rejected", Policy.FAIL
    UNAUTHORIZED = "unauthorized", Policy.STOP_MODEL
    NOT_FOUND = "not found", Policy.STOP_MODEL
    NO_SERVER = "no server", Policy.STOP_MODEL  # no connection, for a reason that does not pass
    REDIRECTED = "redirected", Policy.STOP_MODEL  # in a circle, or to another host, which got no request
    OVERSIZED = "oversized", Policy.FAIL  # a reply far longer than the tokens that were asked for
    NO_CREDIT = "no credit", Policy.STOP


REPLIES = tuple(outcome for outcome in Outcome if outcome.policy is Policy.USE)
"""Outcomes of calls that obtained a reply."""

USABLE = (Outcome.ANSWERED, Outcome.LENGTH, Outcome.CUT)
"""Outcomes that show that a model can answer."""

USELESS = (
    Outcome.UNUSABLE, Outcome.EMPTY, Outcome.WEB_PAGE, Outcome.UNREADABLE, Outcome.DROPPED, Outcome.TIMEOUT,
    Outcome.BROKEN_OFF, Outcome.OVERSIZED, Outcome.REJECTED,
)  # fmt: skip
"""Outcomes of calls that gave nothing, and may have cost something or will not pass. The others are results of a
passage (refused, too long), or cost nothing and pass, or stop the model at once."""

_STATUS = {
    401: Outcome.UNAUTHORIZED, 402: Outcome.NO_CREDIT, 403: Outcome.UNAUTHORIZED, 404: Outcome.NOT_FOUND,
    408: Outcome.TIMEOUT, 409: Outcome.SERVER_ERROR, 413: Outcome.TOO_LONG, 425: Outcome.SERVER_ERROR,
    429: Outcome.RATE_LIMITED, 504: Outcome.TIMEOUT, 524: Outcome.TIMEOUT,
}  # fmt: skip

_TOO_LONG = re.compile(
    r"context_length|context_size|context (length|size|window)|too many tokens|prompt is too long", re.I
)
_REFUSED = re.compile(r"content_filter|content_policy|content management policy|requires moderation|flagged", re.I)
_NO_CREDIT = re.compile(r"insufficient_quota|insufficient credit|billing_hard_limit", re.I)
# A LiteLLM proxy without a database knows its master key alone, and answers any other key with status 400.
_UNKNOWN_KEY = re.compile("no_db_connection")

_EVENTS = re.compile(r"\s*(data|event|id|retry)?:")
_CHARSET = re.compile(r"charset=\"?([\w.:-]+)", re.I)

STRAY = "the text contains U+FFFD, which stands for bytes that were no UTF-8"
"""Detail of a usable reply with a replacement character. The text is kept as received."""

ANSWERS = ("answer", "json_tool_call")
"""Names of the tool by which gateways ask for JSON: the name of the requested schema, and LiteLLM's own name."""

REASONED, CALLS_TOOL = "reasoning, but no text", "a call of a tool, but no text"
"""Details of empty replies."""

MOST_TOKENS, MOST_DOLLARS = 1 << 40, 1e6
"""Bounds that no call reaches. Larger values in a reply are ignored."""


TIMEOUT, UNREACHABLE = "no reply in time", "no connection"
OVERSIZED, REDIRECTED, NO_SERVER = "the reply is too long", "redirected", "no server"
"""Prefixes of further values of `Raw.broken`. The limit, the host or the reason follows the prefix."""


class Raw(NamedTuple):
    """A reply as received.

    `broken` is the reason why the connection broke: TIMEOUT, UNREACHABLE, a text that begins with OVERSIZED, REDIRECTED
    or NO_SERVER, or another text; '' if it did not break.
    """

    status: int | None
    headers: Mapping[str, str]
    body: bytes
    broken: str = ""


@dataclass(frozen=True)
class Reading:
    """The content of a raw reply.

    A number that the endpoint does not report is None, and a string that it does not report is ''. `cost` is in US
    dollars.
    """

    outcome: Outcome
    text: str = ""
    detail: str = ""  # the error message, or the words of a refusal
    finish: str = ""
    served_model: str = ""
    served_provider: str = ""
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    system_fingerprint: str = ""  # of weights and serving software, if the endpoint reports it

    @property
    def policy(self) -> Policy:
        """The policy for the outcome."""
        return self.outcome.policy


def read(raw: Raw) -> Reading:
    """Read a raw reply. If it cannot be read, the outcome is UNREADABLE."""
    try:
        return _read(raw)
    except Exception as error:  # every response needs an outcome, because it may have been paid for
        return Reading(Outcome.UNREADABLE, detail=_text(f"{type(error).__name__}: {error}"))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from the header `retry-after-ms` or `retry-after` (seconds or a date); None if unknown.

    A date is compared with the server's `date`, because the clocks may differ.
    """
    after = headers.get("retry-after")
    until, now = _date(after), _date(headers.get("date")) or datetime.now(UTC)
    span = (until - now).total_seconds() if until else None
    waits = _number(headers.get("retry-after-ms"), 1000), _number(after, 1), span
    return next((max(0.0, wait) for wait in waits if wait is not None), None)


def _number(value: str | None, parts: int) -> float | None:
    try:
        number = float(value or "") / parts
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _date(value: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(value or "")
        return date if date.tzinfo else date.replace(tzinfo=UTC)  # '-0000' is UTC, too
    except (TypeError, ValueError, OverflowError):
        return None


def storable(text: str) -> str:
    """Replace lone surrogates, which JSON can express but UTF-8 cannot encode, with question marks."""
    return text.encode(errors="replace").decode()


def _read(raw: Raw) -> Reading:
    if raw.broken.startswith(NO_SERVER):
        return Reading(Outcome.NO_SERVER, detail=raw.broken.removeprefix(f"{NO_SERVER}: "))
    for words, outcome in ((OVERSIZED, Outcome.OVERSIZED), (REDIRECTED, Outcome.REDIRECTED)):
        if raw.broken.startswith(words):
            return Reading(outcome, detail=raw.broken)
    if raw.status is None:
        outcome = {TIMEOUT: Outcome.TIMEOUT, UNREACHABLE: Outcome.UNREACHABLE}.get(raw.broken, Outcome.DROPPED)
        return Reading(outcome, detail=raw.broken)
    if raw.status >= 300:
        content = _decoded(raw)
        return Reading(_of_status(raw.status, content), detail=_message(content) or f"status {raw.status}")
    return _answered_by(_body(raw), raw.headers)


def _body(raw: Raw) -> Reading:
    if raw.broken:
        return _cut(raw)
    if raw.body.lstrip()[:1] == b"<":
        return Reading(Outcome.WEB_PAGE, detail=raw.body[:200].decode(errors="replace"))
    if not raw.body.strip():
        return Reading(Outcome.EMPTY, detail="a reply without a body")
    body = _decoded(raw)
    if _EVENTS.match(body):
        return _streamed(body)
    try:
        content = json.loads(body)
    except ValueError as error:
        if b"\0" in raw.body:  # no character of JSON; some servers fill up a body with it
            return _body(raw._replace(body=raw.body.replace(b"\0", b"")))
        return _cut(raw) if body.lstrip()[:1] == "{" else Reading(Outcome.UNREADABLE, detail=str(error))
    return _completion(_joined(content) if isinstance(content, list) else content)


def _decoded(raw: Raw) -> str:
    """The body as text, by the charset of the header, else as JSON (RFC 8259) in any of its former encodings.

    A stray byte becomes U+FFFD, also in the text: it is not worth paying for another reply.
    """
    charset = _CHARSET.search(raw.headers.get("content-type", ""))
    with suppress(LookupError):
        if charset and codecs.lookup(charset[1]).name != "utf-8":
            return raw.body.decode(charset[1], errors="replace")
    return raw.body.decode(json.detect_encoding(raw.body), errors="replace")


def _streamed(body: str, broken: str = "the stream of events has no end") -> Reading:
    """Read a stream of events, which some gateways send although the request asks for none. `broken` says why a stream
    without an end ended."""
    lines = [line.removeprefix("data:").strip() for line in body.split("\n") if line.startswith("data:")]
    chunks: list[Any] = []
    for line in lines:
        with suppress(ValueError):  # '[DONE]', or the line within which the stream broke
            chunks.append(json.loads(line))
    content = _joined(chunks)
    reading = _completion(content)
    if "[DONE]" in lines or reading.finish or content.get("error"):
        return reading
    outcome = Outcome.CUT if reading.text else Outcome.DROPPED
    return replace(reading, outcome=outcome, detail=broken)


def _joined(chunks: list[Any]) -> dict[str, Any]:
    """Make a completion from the chunks of a stream, or from a list that contains one completion."""
    whole: dict[str, Any] = {}
    message: dict[str, Any] = {}
    finish = None
    for chunk in chunks:
        whole |= {name: value for name, value in chunk.items() if value is not None}
        for choice in (chunk.get("choices") or [])[:1]:
            finish = choice.get("finish_reason") or finish
            for name, value in (choice.get("delta") or choice.get("message") or {}).items():
                part, before = value if isinstance(value, str) else _text(value), message.get(name, "")
                message[name] = before + part if part else before or value
    return {**whole, "choices": [{"message": message, "finish_reason": finish}]}


def _answered_by(reading: Reading, headers: Mapping[str, str]) -> Reading:
    """Take the model, the deployment and the cost from a gateway's headers if the body lacks them.

    LiteLLM's body repeats the requested name, and its cost is 0 for models whose price it does not know
    (https://docs.litellm.ai/docs/proxy/response_headers, https://github.com/BerriAI/litellm/issues/13790). ngrok names
    the model that answered (https://ngrok.com/changelog/ai-gateway-response-headers).
    """
    cost = _number(headers.get("x-litellm-response-cost"), 1)
    return replace(
        reading,
        served_model=reading.served_model or storable(headers.get("ngrok-aig-model", "")),
        served_provider=reading.served_provider or storable(headers.get("x-litellm-model-id", "")),
        cost=cost if reading.cost is None and cost and 0 < cost < MOST_DOLLARS else reading.cost,
    )


def _completion(content: dict[str, Any]) -> Reading:
    choice = (content.get("choices") or [{}])[0]
    message = choice.get("message") or {}
    text, refusal, finish = (
        _text(value) for value in (message.get("content"), message.get("refusal"), choice.get("finish_reason"))
    )
    text = text or _answering_call(message)
    usage = content.get("usage") or {}
    prompt, completion = usage.get("prompt_tokens_details") or {}, usage.get("completion_tokens_details") or {}
    cost = usage.get("cost")
    if error := content.get("error") or choice.get("error"):
        outcome, detail = _error(error)
        if outcome.policy is Policy.WAIT and (text or usage):
            outcome = Outcome.BROKEN_OFF
        text = ""
    elif refusal or finish == "content_filter":
        outcome, detail = Outcome.REFUSED, refusal or "stopped by a content filter"
    elif finish == "length":
        outcome, detail = Outcome.LENGTH, ""
    elif text:
        outcome, detail = Outcome.ANSWERED, STRAY if "\ufffd" in text else ""
    else:
        outcome, detail = Outcome.EMPTY, _instead(message, completion)
    return Reading(
        outcome, text, detail, finish, _text(content.get("model")), _text(content.get("provider")),
        _count(usage.get("prompt_tokens")), _count(prompt.get("cached_tokens")),
        _count(usage.get("completion_tokens")), _count(completion.get("reasoning_tokens")),
        float(cost) if isinstance(cost, int | float) and cost is not True and 0 <= cost < MOST_DOLLARS else None,
        _text(content.get("system_fingerprint")),
    )  # fmt: skip


def _answering_call(message: dict[str, Any]) -> str:
    """The arguments of a call of the tool by which a gateway asks for JSON; '' if there is no such call.

    No request offers a tool. Gateways in front of models without JSON schemas offer one with the schema, and some
    return its call unchanged.
    """
    calls = message.get("tool_calls") or []
    function = calls[0].get("function") or {} if len(calls) == 1 else {}
    return _text(function.get("arguments")) if function.get("name") in ANSWERS else ""


def _instead(message: dict[str, Any], completion: dict[str, Any]) -> str:
    """What an empty reply has in place of a text."""
    if message.get("tool_calls") or message.get("function_call"):
        return CALLS_TOOL
    reasoned = any(message.get(name) for name in ("reasoning", "reasoning_content", "reasoning_details"))
    return REASONED if reasoned or completion.get("reasoning_tokens") else "a reply without a text"


def _text(value: Any) -> str:
    if isinstance(value, list):  # content in parts
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return storable(value) if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < MOST_TOKENS else None


def _cut(raw: Raw) -> Reading:
    """Read a truncated body. The text is complete up to the last character received."""
    body = _decoded(raw).rstrip("\ufffd")  # without a partial last character
    if _EVENTS.match(body):
        return _streamed(body, raw.broken)
    if body.lstrip()[:1] != "{":
        return Reading(Outcome.DROPPED, detail=raw.broken)
    content = jiter.from_json(body.encode(), partial_mode="trailing-strings")
    message = (content.get("choices") or [{}])[0].get("message") or {}
    text = _text(message.get("content"))
    detail = raw.broken or "the body ends within the JSON"
    return Reading(Outcome.CUT if text else Outcome.DROPPED, text, detail, served_model=_text(content.get("model")))


def _error(error: Any) -> tuple[Outcome, str]:
    code = error.get("code") if isinstance(error, dict) else None
    content = json.dumps(error)
    status = int(str(code)) if re.fullmatch(r"[1-5][0-9]{2}", str(code)) else 400 if "invalid" in str(code) else 500
    return _of_status(status, content), _message(content) or content


def _of_status(status: int, content: str) -> Outcome:
    if status < 500 and _REFUSED.search(content):
        return Outcome.REFUSED
    if _NO_CREDIT.search(content):
        return Outcome.NO_CREDIT
    if status == 400 and _UNKNOWN_KEY.search(content):
        return Outcome.UNAUTHORIZED
    if status != 429 and _TOO_LONG.search(content):
        return Outcome.TOO_LONG
    return _STATUS.get(status, Outcome.SERVER_ERROR if status >= 500 else Outcome.REJECTED)


def _message(content: str) -> str:
    """The message in an error body, cut to 300 characters."""
    try:
        parsed = json.loads(content)
        parsed = parsed[0] if isinstance(parsed, list) else parsed  # as Google's endpoint answers
        error = parsed.get("error", parsed)
        return _text(str(error["message"] if isinstance(error, dict) else error))[:300]
    except (ValueError, AttributeError, LookupError, TypeError, RecursionError):
        return " ".join(content.split())[:300]

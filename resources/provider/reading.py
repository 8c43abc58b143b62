"""Reading a raw reply: its outcome, text and usage. Pure; never raises.

Here: all outcomes of a call, and the policy for each. Not here: carrying out the policy (client), parsing the text of
an answer (replies).
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum, StrEnum
from typing import Any, NamedTuple

import jiter


class Policy(Enum):
    """How the client handles an outcome."""

    USE = "a reply: kept for good, never asked for again"
    WAIT = "asked again for as long as patience lasts; costs nothing"
    RETRY = "asked again a few times; may have cost something"
    FAIL = "this question fails"
    STOP_MODEL = "every question to this model fails"
    STOP = "every question fails"


class Outcome(StrEnum):
    """How a call ended."""

    ANSWERED = "answered"
    LENGTH = "length"  # the model reached its limit of tokens
    REFUSED = "refused"  # by the model, or by a filter of the provider
    CUT = "cut"  # the connection broke within the text
    RATE_LIMITED = "rate limited"
    SERVER_ERROR = "server error"
    UNREACHABLE = "unreachable"  # no connection, so nothing was asked
    DROPPED = "dropped"  # the connection broke before any text
    TIMEOUT = "timeout"
    BROKEN_OFF = "broken off"  # a server error while generating
    EMPTY = "empty"  # a reply without a choice or without a text
    WEB_PAGE = "web page"
    UNREADABLE = "unreadable"
    TOO_LONG = "too long"  # for the model's context
    REJECTED = "rejected"
    UNAUTHORIZED = "unauthorized"
    NOT_FOUND = "not found"
    NO_CREDIT = "no credit"


POLICY: Mapping[Outcome, Policy] = {
    Outcome.ANSWERED: Policy.USE,
    Outcome.LENGTH: Policy.USE,
    Outcome.REFUSED: Policy.USE,
    Outcome.CUT: Policy.USE,
    Outcome.RATE_LIMITED: Policy.WAIT,
    Outcome.SERVER_ERROR: Policy.WAIT,
    Outcome.UNREACHABLE: Policy.WAIT,
    Outcome.DROPPED: Policy.RETRY,
    Outcome.TIMEOUT: Policy.RETRY,
    Outcome.BROKEN_OFF: Policy.RETRY,
    Outcome.EMPTY: Policy.RETRY,
    Outcome.WEB_PAGE: Policy.RETRY,
    Outcome.UNREADABLE: Policy.RETRY,
    Outcome.TOO_LONG: Policy.FAIL,
    Outcome.REJECTED: Policy.FAIL,
    Outcome.UNAUTHORIZED: Policy.STOP_MODEL,
    Outcome.NOT_FOUND: Policy.STOP_MODEL,
    Outcome.NO_CREDIT: Policy.STOP,
}

REPLIES = tuple(outcome for outcome, policy in POLICY.items() if policy is Policy.USE)

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

MOST_TOKENS, MOST_DOLLARS = 1 << 40, 1e6
"""Bounds that no call reaches; larger values in a reply are ignored."""


TIMEOUT, UNREACHABLE = "no reply in time", "no connection"


class Raw(NamedTuple):
    """A reply as received.

    `broken` says how the connection broke: TIMEOUT, UNREACHABLE or other words; '' if it did not.
    """

    status: int | None
    headers: Mapping[str, str]
    body: bytes
    broken: str = ""


@dataclass(frozen=True)
class Reading:
    """The content of a raw reply.

    Tokens and `cost` (US dollars, as reported) are None, and strings '', if the endpoint does not report them.
    """

    outcome: Outcome
    text: str = ""
    detail: str = ""  # the error, or the words of a refusal
    finish: str = ""
    served_model: str = ""
    served_provider: str = ""
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None

    @property
    def policy(self) -> Policy:
        """The policy for the outcome."""
        return POLICY[self.outcome]


def read(raw: Raw) -> Reading:
    """Read a raw reply."""
    try:
        return _read(raw)
    except Exception as error:  # every response needs an outcome, because it may have been paid for
        return Reading(Outcome.UNREADABLE, detail=_text(f"{type(error).__name__}: {error}"))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by the header `retry-after-ms`, or `retry-after` in seconds or as a date; None without either."""
    waits = (
        _seconds(headers.get("retry-after-ms"), 1000), _seconds(headers.get("retry-after"), 1),
        _until(headers.get("retry-after")),
    )  # fmt: skip
    return next((max(0.0, wait) for wait in waits if wait is not None), None)


def _seconds(value: str | None, parts: int) -> float | None:
    try:
        seconds = float(value or "") / parts
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) else None


def _until(value: str | None) -> float | None:
    try:
        return (parsedate_to_datetime(value or "") - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError, OverflowError):
        return None


def storable(text: str) -> str:
    """Replace each lone surrogate, which JSON can express but UTF-8 cannot encode, by a question mark."""
    return text.encode(errors="replace").decode()


def _read(raw: Raw) -> Reading:
    if raw.status is None:
        outcome = {TIMEOUT: Outcome.TIMEOUT, UNREACHABLE: Outcome.UNREACHABLE}.get(raw.broken, Outcome.DROPPED)
        return Reading(outcome, detail=raw.broken)
    if raw.status >= 300:
        content = raw.body.decode(errors="replace")
        return Reading(_of_status(raw.status, content), detail=_message(content) or f"status {raw.status}")
    if raw.broken:
        return _cut(raw)
    if raw.body.lstrip()[:1] == b"<":
        return Reading(Outcome.WEB_PAGE, detail=raw.body[:200].decode(errors="replace"))
    if not raw.body.strip():
        return Reading(Outcome.EMPTY, detail="a reply without a body")
    try:
        content = json.loads(raw.body)
    except ValueError as error:
        return _cut(raw) if raw.body.lstrip()[:1] == b"{" else Reading(Outcome.UNREADABLE, detail=str(error))
    return _completion(content)


def _completion(content: dict[str, Any]) -> Reading:
    choice = (content.get("choices") or [{}])[0]
    message = choice.get("message") or {}
    text, refusal, finish = (
        _text(each) for each in (message.get("content"), message.get("refusal"), choice.get("finish_reason"))
    )
    usage = content.get("usage") or {}
    asked, replied = usage.get("prompt_tokens_details") or {}, usage.get("completion_tokens_details") or {}
    cost = usage.get("cost")
    if error := content.get("error") or choice.get("error"):
        outcome, detail = _error(error)
        if POLICY[outcome] is Policy.WAIT and (text or usage):
            outcome = Outcome.BROKEN_OFF
        text = ""
    elif refusal or finish == "content_filter":
        outcome, detail = Outcome.REFUSED, refusal or "stopped by a content filter"
    elif finish == "length":
        outcome, detail = Outcome.LENGTH, ""
    elif text:
        outcome, detail = Outcome.ANSWERED, ""
    else:
        outcome, detail = Outcome.EMPTY, "a reply without a text"
    return Reading(
        outcome, text, detail, finish, _text(content.get("model")), _text(content.get("provider")),
        _count(usage.get("prompt_tokens")), _count(asked.get("cached_tokens")),
        _count(usage.get("completion_tokens")), _count(replied.get("reasoning_tokens")),
        float(cost) if isinstance(cost, int | float) and cost is not True and 0 <= cost < MOST_DOLLARS else None,
    )  # fmt: skip


def _text(value: Any) -> str:
    if isinstance(value, list):  # a content in parts
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return storable(value) if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < MOST_TOKENS else None


def _cut(raw: Raw) -> Reading:
    """Read a body that ends too early. The text is complete up to its last character received."""
    if raw.body.lstrip()[:1] != b"{":
        return Reading(Outcome.DROPPED, detail=raw.broken)
    content = jiter.from_json(raw.body, partial_mode="trailing-strings")
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
    if status != 429 and _TOO_LONG.search(content):
        return Outcome.TOO_LONG
    return _STATUS.get(status, Outcome.SERVER_ERROR if status >= 500 else Outcome.REJECTED)


def _message(content: str) -> str:
    """The message of an error body, at most 300 characters of it."""
    try:
        parsed = json.loads(content)
        error = parsed.get("error", parsed)
        return _text(str(error["message"] if isinstance(error, dict) else error))[:300]
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return " ".join(content.split())[:300]

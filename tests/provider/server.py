"""A chat-completions provider on this machine that fails as a test tells it to.

Here: a real HTTP server in a process of its own, every fault as it comes over the wire, and the log of what was asked.
Not here: what a client should make of a fault (the tests of the client), embeddings (tests.resources.endpoint).
"""

import argparse
import asyncio
import json
import math
import os
import random
import select
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from email.utils import formatdate
from hashlib import blake2b
from http.client import HTTPConnection
from operator import attrgetter
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# Errors in the protocol's own form: status, error.code and message.
ERRORS = {
    "rate_limited": (429, "rate_limit_exceeded", "Rate limit reached for requests."),
    "bad_request": (400, "invalid_value", "The request is not valid."),
    "context_length": (400, "context_length_exceeded", "This model's maximum context length is 8192 tokens."),
    "unauthorized": (401, "invalid_api_key", "Incorrect API key provided."),
    "no_credit": (402, "insufficient_credits", "Insufficient credits."),
    "forbidden": (403, "unsupported_country_region_territory", "Country, region, or territory not supported."),
    "not_found": (404, "model_not_found", "The model does not exist or you do not have access to it."),
    "server_error": (500, "server_error", "The server had an error while processing your request."),
    "overloaded": (503, "overloaded", "The engine is currently overloaded, please try again later."),
    "per_second": (429, "rate_limit_exceeded", "Too many requests per second."),
    "most_in_flight": (429, "rate_limit_exceeded", "Too many requests at once."),
}
# The last two are limits, which a request meets; they cannot be given.
LIMITS = ("per_second", "most_in_flight")
PAGES = {
    "bad_gateway": (502, b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"),
    "html": (200, b"<!DOCTYPE html><html><body><form action='/login'>Please log in</form></body></html>"),
}
OTHERS = (
    *("error_in_200", "empty_body", "empty_choices", "null_choices", "null_content", "empty_content", "refusal"),
    *("content_filter", "length", "cut_with_stop", "timeout", "dropped", "cut", "cut_chunked", "redirect"),
)


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# How the JSON object of the translations is spoilt: from the object and its last key to the content.
SPOILT: dict[str, Callable[[dict[str, Any], str], str]] = {
    "prose": lambda texts, last: "I am glad to help. The passage speaks of the wind over the sea.",
    "fenced": lambda texts, last: f"Here is the translation:\n\n```json\n{dumps(texts)}\n```",
    "trailing_comma": lambda texts, last: dumps(texts)[:-1] + ",}",
    "bare_quotes": lambda texts, last: dumps(texts)[:-2] + ' and he said "so be it" and left"}',
    "missing_key": lambda texts, last: dumps({key: text for key, text in texts.items() if key != last}),
    "extra_key": lambda texts, last: dumps({**texts, "note": "A free translation."}),
    "renamed_key": lambda texts, last: dumps({key + "_en" * (key == last): text for key, text in texts.items()}),
    "wrong_type": lambda texts, last: dumps({**texts, last: 7}),
    "null_value": lambda texts, last: dumps({**texts, last: None}),
    "swapped_keys": lambda texts, last: dumps(
        {**texts, next(iter(texts)): texts[last], last: next(iter(texts.values()))}
    ),
    "duplicate_key": lambda texts, last: f"{dumps(texts)[:-1]}, {dumps(last)}: {dumps('once more')}}}",
}
FAULTS = frozenset(ERRORS) - set(LIMITS) | {*PAGES, *OTHERS, *SPOILT}

# What answers by `judgements`.
JUDGING = ("judge", "sample")

# What a judge says who has nothing against a candidate.
VALID: dict[str, Any] = {
    "label": "VALID_VARIATION", "error_category": "NONE", "severity": "none", "confidence": "high",
    "is_major_error": False, "is_valid_variation": True, "cause_summary": "It says what the source says.",
    "evidence": "", "problem_phrase": "", "suggested_correction": "",
}  # fmt: skip

# What one says who has nothing of its own to say, by the field that only such an item has.
USUAL: dict[str, dict[str, Any]] = {
    "references": VALID,
    "aspect": {"justification": "Both will do.", "better": "unsure"},
    "translation_a": {"analysis": "Both will do.", "summary": "The first one came first.", "answer": "A"},
    "reference": {"justification": "It has small blemishes.", "mark": 4, "perfect": False},
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How the server answers. A fault is looked for in `script`, then in `by_key`, then drawn from `rates`."""

    latency: float = 0  # seconds before the reply
    jitter: float = 0  # at most so many seconds more, uniform
    seed: int = 0
    rates: dict[str, float] = field(default_factory=dict)  # probability of each fault
    script: list[str] = field(default_factory=list)  # faults, or "ok", of the first requests
    by_key: dict[str, str] = field(default_factory=dict)  # fault of the requests that hold a key, see `keys_of`
    by_key_times: int = 0  # how often at most for each key; 0 is always
    retry_after: dict[str, float] = field(default_factory=lambda: {"seconds": 0.05})  # or "ms", or "date", or nothing
    per_second: float = 0  # above it 429, with a burst of a tenth of a second; 0 is no limit
    most_in_flight: int = 0  # above it 429; 0 is no limit
    answer: str = "translate"  # or "bytes", "judge" or "sample"
    prefix: str = "EN: "
    answers: dict[str, str | None] = field(default_factory=dict)  # values of the keys that have one of their own
    judgements: dict[str, list[str]] = field(default_factory=dict)  # contents by key where it judges or is asked about
    # samples, the last for good
    reply_bytes: int = 3600  # size of a body where answer is "bytes"; never below that of an empty completion
    usage: bool = True
    reasoning_tokens: int = 0
    cost_per_token: float = 0  # dollars
    served_model: str = ""
    served_provider: str = ""
    system_fingerprint: str = ""
    hang: float = 30  # seconds before a "timeout" answers
    cut_at: float = 0.5  # which part of a body or a content comes where it is cut
    error_code: int | str = 502  # in an "error_in_200"
    keep_bodies: bool = False
    refused: dict[str, str] = field(default_factory=dict)  # message by field, or by "field: value" of a string or type
    refused_status: int = 400
    blamed: bool = True  # whether a refusal names the field in `param`
    headers: dict[str, str] = field(default_factory=dict)  # of every completion
    location: str = ""  # where a "redirect" leads

    def __post_init__(self) -> None:
        if unknown := {*self.rates, *self.script, *self.by_key.values()} - FAULTS - {"ok"}:
            raise ValueError(f"no such fault: {', '.join(sorted(unknown))}; there are: {', '.join(sorted(FAULTS))}")
        if sum(self.rates.values()) > 1 + 1e-9:
            raise ValueError(f"rates sum to {sum(self.rates.values())}, at most 1 is possible")
        known = self.answer in ("translate", "bytes", *JUDGING)
        if not known or not set(self.retry_after) <= {"seconds", "ms", "date"}:
            raise ValueError(f"answer is {self.answer!r}, retry_after {self.retry_after}: see the comments of Settings")


@dataclass(slots=True)
class Seen:
    """One request, and what became of it. Times are those of time.monotonic, which is one clock for all processes."""

    ordinal: int  # counts from 0, anew after each configure
    digest: str  # of the request body, see `digest`
    model: str
    keys: list[str]  # see `keys_of`
    authorization: bool  # the header was there
    arrived: float
    body: dict[str, Any] | None = None
    fault: str = "ok"
    status: int = 0  # 0 where no response began
    finished: bool = False  # the whole response was written, and the client was still there
    paid: bool = False  # a 200 with generated text began
    ended: float = 0  # 0 while it is being served


ROW = attrgetter(*(each.name for each in fields(Seen)))


def digest(body: Any) -> str:
    """Digest of a request body whatever the order of its keys: 32 hexadecimal digits."""
    return blake2b(json.dumps(body, sort_keys=True).encode(), digest_size=16).hexdigest()


def utf8(value: Any) -> bytes:
    """A text, or anything else as JSON; half a surrogate pair is no reason to fall over."""
    return (value if isinstance(value, str) else dumps(value)).encode(errors="replace")


@dataclass
class Reply:
    """A response before it meets the wire."""

    body: bytes
    status: int = 200
    kind: bytes = b"application/json"
    paid: bool = False
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)


def texts_of(request: dict[str, Any], role: str = "") -> list[str]:
    """Contents of the messages of a role, of all where none is named; the parts of a content are joined."""
    contents = [each.get("content") or "" for each in request.get("messages", []) if role in ("", each.get("role"))]
    return [each if isinstance(each, str) else "".join(part.get("text", "") for part in each) for each in contents]


def asked(request: dict[str, Any]) -> tuple[str, dict[str, Any] | None]:
    """The last user message, and the JSON object that it is, where it is one."""
    message = next(reversed(texts_of(request, "user")), "")
    try:
        found = json.loads(message) if message.lstrip().startswith("{") else None
    except json.JSONDecodeError:
        found = None
    return message, found if isinstance(found, dict) else None


def keys_of(request: dict[str, Any], settings: Settings) -> list[str]:
    """Keys of the JSON object that is the last user message; for a judge `judge|texts`, `texts` and `judge`, where the
    texts are the candidate, or two translations in their order with a bar between them. Where the item names an aspect,
    `judge|aspect|texts` comes first and `judge|aspect` before `judge`; where there is a candidate,
    `judge|source|candidate` comes last. Of a sample, `model|text|seed` with the seed of
    the request, `model|text`, `text` and `model`, where the text is its last one."""
    found = asked(request)[1] or {}
    if settings.answer == "sample":
        model, text = str(request.get("model", "")), str(next(reversed(found.values()), ""))
        return [f"{model}|{text}|{request.get('seed', '')}", f"{model}|{text}", text, model]
    if settings.answer != "judge":
        return list(found)
    judge = str(request.get("model", ""))
    texts = "|".join(str(found[name]) for name in ("candidate", "translation_a", "translation_b") if name in found)
    keys = [f"{judge}|{texts}", texts, judge]
    if "aspect" in found:
        aspect = f"{judge}|{found['aspect']}"
        keys = [f"{aspect}|{texts}", *keys[:2], aspect, judge]
    if "candidate" in found:
        keys.append(f"{judge}|{found.get('source')}|{found['candidate']}")
    return keys


def refusal(request: dict[str, Any], settings: Settings) -> Reply | None:
    """An error for the first field of a request that the server refuses; None if it refuses none."""
    for name, message in settings.refused.items():
        key, _, value = name.partition(": ")
        content = request.get(key)
        if key in request and (not value or value in (content, isinstance(content, dict) and content.get("type"))):
            error = {"message": message, "type": "invalid_request_error", "param": key if settings.blamed else None}
            return Reply(utf8({"error": {**error, "code": "unsupported_parameter"}}), settings.refused_status)
    return None


def retry_header(retry_after: dict[str, float]) -> list[tuple[bytes, bytes]]:
    for unit, value in retry_after.items():
        if unit == "date":
            # Dates have whole seconds: rounded up, or the client would come too early.
            return [(b"retry-after", formatdate(math.ceil(time.time() + value), usegmt=True).encode())]
        return [(b"retry-after-ms" if unit == "ms" else b"retry-after", f"{value:g}".encode())]
    return []


def reply(fault: str, ordinal: int, request: dict[str, Any], settings: Settings, judgement: str) -> Reply:
    """What the server says to a request that is given a fault; faults of the wire come later."""
    if fault in ERRORS:
        status, code, text = ERRORS[fault]
        error = {"message": text, "type": "invalid_request_error" if status < 429 else code, "param": None}
        retry = retry_header(settings.retry_after) if status in (429, 503) else []
        return Reply(utf8({"error": {**error, "code": code}}), status, headers=retry)
    if fault in PAGES:
        return Reply(PAGES[fault][1], PAGES[fault][0], b"text/html; charset=utf-8")
    if fault == "empty_body":
        return Reply(b"")
    if fault == "redirect":
        return Reply(b"", 307, headers=[(b"location", settings.location.encode())])
    if fault == "error_in_200":
        return Reply(utf8({"error": {"code": settings.error_code, "message": "Provider returned error"}}))

    message, passages = asked(request)
    texts = {key: settings.answers.get(key, f"{settings.prefix}{text}") for key, text in (passages or {}).items()}
    content = settings.prefix + message if passages is None else dumps(texts)
    if 'the single key "word"' in message:
        content = dumps({"word": "here"})
    if settings.answer in JUDGING:
        content = judgement
    if fault in SPOILT:
        texts = (json.loads(judgement) if judgement else texts) or {"text": settings.prefix + message}
        content = SPOILT[fault](texts, next(reversed(texts)))
    elif fault in ("length", "cut_with_stop"):
        content = content[: int(len(content) * settings.cut_at)]
    elif fault in ("null_content", "empty_content", "content_filter", "refusal"):
        content = ""
    elif settings.answer == "bytes":
        # Room is left for the digits of the usage; blanks after the object make the size exact.
        content = "x" * (settings.reply_bytes - len(completion("", fault, ordinal, request, settings)) - 64)
    body = completion(content, fault, ordinal, request, settings)
    if settings.answer == "bytes":
        body = body.ljust(settings.reply_bytes)
    paid = fault == "refusal" or (content != "" and fault not in ("empty_choices", "null_choices"))
    return Reply(body, paid=paid, headers=[(name.encode(), value.encode()) for name, value in settings.headers.items()])


def completion(content: str, fault: str, ordinal: int, request: dict[str, Any], settings: Settings) -> bytes:
    """The body of a 200: content, reason of the end, and usage."""
    refusal = "I cannot help with that." if fault == "refusal" else None
    said = None if fault in ("refusal", "null_content") else content
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": said, "refusal": refusal},
        "finish_reason": fault if fault in ("length", "content_filter") else "stop",
    }
    body: dict[str, Any] = {
        "id": f"chatcmpl-{ordinal}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": settings.served_model or request.get("model"),
        "choices": {"empty_choices": [], "null_choices": None}.get(fault, [choice]),
    }
    if settings.served_provider:
        body["provider"] = settings.served_provider
    if settings.system_fingerprint:
        body["system_fingerprint"] = settings.system_fingerprint
    if settings.usage:
        prompt = sum(len(utf8(text)) for text in texts_of(request)) // 4
        generated = max(1, len(utf8(refusal or content)) // 4) + settings.reasoning_tokens
        body["usage"] = {
            "prompt_tokens": prompt,
            "completion_tokens": generated,
            "total_tokens": prompt + generated,
            "completion_tokens_details": {"reasoning_tokens": settings.reasoning_tokens},
        }
        if settings.cost_per_token:
            body["usage"]["cost"] = (prompt + generated) * settings.cost_per_token
    return utf8(body)


class Protocol(HttpToolsProtocol):
    """HTTP as uvicorn speaks it; the application is given the connection too, because some faults must break it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # What is not written at once pauses the sender, so that the end of a send means that the socket has it all.
        transport.set_write_buffer_limits(high=0)

    def on_headers_complete(self) -> None:
        super().on_headers_complete()
        self.scope["extensions"] = {"connection": {"cycle": self.cycle}}


async def read(receive: Receive) -> bytes:
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message["body"]
        if not message["more_body"]:
            break
    return body


async def hung_up(receive: Receive, within: float | None) -> bool:
    """Whether the client goes away within so many seconds; waits for it without an end where there is no number."""
    if within is not None and within <= 0:
        return False
    try:
        async with asyncio.timeout(within):
            while (await receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return False
    return True


async def respond(status: int, answer: Any, send: Send) -> None:
    body = json.dumps(answer).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Provider:
    """The ASGI application: settings, log and limits."""

    def __init__(self, settings: Settings) -> None:
        self.log: list[Seen] = []
        self.in_flight = 0
        self.configure(settings)

    def configure(self, settings: Settings) -> None:
        self.settings = settings
        self.ordinal = 0
        self.given: Counter[str] = Counter()
        self.judged: Counter[str] = Counter()
        self.burst = max(1.0, settings.per_second / 10)
        self.tokens, self.filled = self.burst, time.monotonic()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        match scope["method"], scope["path"]:
            case "POST", "/v1/chat/completions":
                return await self.chat(scope, receive, send)
            case "GET", "/log":
                answer: Any = [ROW(seen) for seen in self.log]
            case "DELETE", "/log":
                answer = None
                self.log.clear()
            case "GET", "/in_flight":
                answer = self.in_flight
            case "POST", "/control":
                answer = None
                self.configure(Settings(**json.loads(await read(receive))))
            case _:
                return await respond(404, None, send)
        return await respond(200, answer, send)

    def limit(self, now: float) -> str:
        """Name of the limit that a request meets now."""
        settings = self.settings
        if settings.most_in_flight and self.in_flight >= settings.most_in_flight:
            return "most_in_flight"
        if settings.per_second:
            self.tokens = min(self.burst, self.tokens + (now - self.filled) * settings.per_second)
            self.filled = now
            if self.tokens < 1:
                return "per_second"
            self.tokens -= 1
        return ""

    def fault(self, ordinal: int, keys: list[str], draw: float) -> str:
        settings = self.settings
        if ordinal < len(settings.script):
            return settings.script[ordinal]
        for key in keys if settings.by_key else ():
            if key in settings.by_key and not 0 < settings.by_key_times <= self.given[key]:
                self.given[key] += 1
                return settings.by_key[key]
        for fault, rate in settings.rates.items():
            draw -= rate
            if draw < 0:
                return fault
        return "ok"

    def judgement(self, keys: list[str], request: dict[str, Any]) -> str:
        """What a judge says this time."""
        key = next((key for key in keys if key in self.settings.judgements), "")
        item = asked(request)[1] or {}
        usual = next((said for name, said in USUAL.items() if name in item), VALID)
        contents = self.settings.judgements.get(key) or [dumps(usual)]
        self.judged[keys[0]] += 1
        return contents[min(self.judged[keys[0]], len(contents)) - 1]

    async def chat(self, scope: Message, receive: Receive, send: Send) -> None:
        arrived, settings = time.monotonic(), self.settings
        raw = await read(receive)
        try:
            request = json.loads(raw)
            keys = keys_of(request, settings)
        except (ValueError, AttributeError, TypeError):
            return await respond(400, {"error": {"message": "this is no request for a chat completion"}}, send)
        ordinal, self.ordinal = self.ordinal, self.ordinal + 1
        chance = random.Random(f"{settings.seed}:{ordinal}") if settings.rates or settings.jitter else None
        limit = self.limit(arrived)
        fault = limit or self.fault(ordinal, keys, chance.random() if chance else 1)
        authorized = any(name == b"authorization" for name, _ in scope["headers"])
        seen = Seen(ordinal, digest(request), str(request.get("model", "")), keys, authorized, arrived, fault=fault)
        seen.body = request if settings.keep_bodies else None
        self.log.append(seen)
        self.in_flight += 1
        try:
            wait = settings.latency + (chance.uniform(0, settings.jitter) if chance else 0)
            wait = 0 if limit else settings.hang if fault == "timeout" else wait
            if not await hung_up(receive, wait):
                judgement = self.judgement(keys, request) if settings.answer in JUDGING else ""
                said = refusal(request, settings) or reply(fault, ordinal, request, settings, judgement)
                await self.deliver(said, seen, settings.cut_at, scope, receive, send)
        finally:
            self.in_flight -= 1
            seen.ended = time.monotonic()

    @staticmethod
    async def deliver(said: Reply, seen: Seen, cut_at: float, scope: Message, receive: Receive, send: Send) -> None:
        """Write the reply, or as much of it as the fault lets through, and note how far it came."""
        cycle: RequestResponseCycle = scope["extensions"]["connection"]["cycle"]
        body, cut = said.body, seen.fault in ("cut", "cut_chunked")
        if seen.fault != "dropped" and not cycle.transport.is_closing():
            seen.status, seen.paid = said.status, said.paid
            size = [] if seen.fault == "cut_chunked" else [(b"content-length", str(len(body)).encode())]
            headers = [(b"content-type", said.kind), *said.headers, *size]
            await send({"type": "http.response.start", "status": said.status, "headers": headers})
            part = body[: int(len(body) * cut_at)] if cut else body
            await send({"type": "http.response.body", "body": part, "more_body": True})
            # The last send waits until the socket has it all; a client that left meanwhile keeps it from completing.
            if not cut and not cycle.transport.is_closing():
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                seen.finished = cycle.response_complete
                return
        cycle.transport.close()  # what was written is still delivered
        await hung_up(receive, None)  # or uvicorn, which believes the connection alive, would write a 500


class Announcing(uvicorn.Server):
    """Prints its port once it listens."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        print(self.servers[0].sockets[0].getsockname()[1], flush=True)


def end_with_parent() -> None:
    """End this process, whatever it does, when its input ends or its parent dies, even by SIGKILL."""
    parent = os.getppid()
    # The parent is asked for too: a child that it forked may hold the other end of the pipe open.
    while os.getppid() == parent and not select.select([0], [], [], 0.2)[0]:
        pass
    os._exit(0)


class Server:
    """The running server, as the test has it."""

    def __init__(self, port: int, pid: int) -> None:
        self.port, self.pid = port, pid
        self.url = f"http://127.0.0.1:{port}/v1"

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, json.dumps(body))
            response = connection.getresponse()
            assert response.status == 200, f"{method} {path} gave {response.status}"
            return json.loads(response.read())
        finally:
            connection.close()

    def configure(self, **settings: Any) -> None:
        """Replace all settings; requests are counted from 0 again. The log stays, as do the requests under way."""
        self._ask("POST", "/control", asdict(Settings(**settings)))

    def log(self) -> list[Seen]:
        """All requests so far in the order of their arrival, also those under way."""
        return [Seen(*row) for row in self._ask("GET", "/log")]

    def clear(self) -> None:
        """Forget the log."""
        self._ask("DELETE", "/log")

    def in_flight(self) -> int:
        """How many requests are being served now."""
        return int(self._ask("GET", "/in_flight"))


@contextmanager
def serve(port: int = 0, **settings: Any) -> Iterator[Server]:
    """Run a provider in a process of its own until the block ends, at any free port by default; `settings` are those
    of Settings."""
    command = [sys.executable, "-m", __name__, "--settings", json.dumps(asdict(Settings(**settings)))]
    command += ["--port", str(port)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            taken = process.stdout.readline()
            assert taken, "the provider did not start; its error is above"
            yield Server(int(taken), process.pid)
        finally:
            process.kill()  # it has nothing to save, and requests that hang would hold it up


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--settings", type=json.loads, default={})
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    threading.Thread(target=end_with_parent, daemon=True).start()
    # An idle connection stays open: that a pool meets a closed one must be a fault that the test gave.
    config = uvicorn.Config(
        Provider(Settings(**arguments.settings)),
        host="127.0.0.1",
        port=arguments.port,
        http=Protocol,
        ws="none",
        loop="uvloop",
        lifespan="off",
        log_level="error",
        server_header=False,
        timeout_keep_alive=600,
    )
    Announcing(config).run()


if __name__ == "__main__":
    main()

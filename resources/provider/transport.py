"""Transports: send a question and return the raw reply, over HTTP or from a file of recorded replies.

Here: the wire. A transport returns every response, broken or not, without interpreting it. Not here: the meaning of a
reply (reading), storage (ledger), retries (client).
"""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from resources.api_keys import api_key
from resources.errors import BadInput
from resources.provider.ledger import replies
from resources.provider.question import Question, hashed
from resources.provider.reading import TIMEOUT, UNREACHABLE, Raw
from resources.provider.registry import Endpoint


class Transport(Protocol):
    """One endpoint."""

    async def send(self, question: Question) -> Raw:
        """Ask once; return the raw reply."""

    async def close(self) -> None:
        """Leave no connection open."""


def transport(endpoint: Endpoint) -> Transport:
    """The transport of an endpoint."""
    return Recording(endpoint.recording) if endpoint.recording else Http(endpoint)


class Http:
    """An OpenAI-compatible endpoint, called through the SDK.

    Raises
    ------
    BadInput
        If the endpoint's key is not in the environment.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        import httpx2
        from openai import AsyncOpenAI, DefaultAioHttpClient

        key = api_key(endpoint.url, endpoint.key)
        # The SDK's aiohttp client takes half the time of its default client at 64 connections.
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=endpoint.in_flight)
        self._client = AsyncOpenAI(
            base_url=endpoint.url, api_key=key, max_retries=0,
            http_client=DefaultAioHttpClient(timeout=endpoint.timeout, limits=limits),
        )  # fmt: skip
        if endpoint.dialect != "openai":  # the SDK reads these from OPENAI_…; do not send them to other providers
            self._client.organization = self._client.project = None
        self._timeout, self._key = endpoint.timeout, key

    async def send(self, question: Question) -> Raw:
        """Ask once; a key echoed in the reply is replaced by '...'."""
        from openai import APIStatusError

        status, headers, parts = None, {}, []
        broken = ""
        try:
            async with asyncio.timeout(self._timeout):
                # As `extra_body`: otherwise the SDK walks through every message to convert it, which is not needed.
                async with self._client.chat.completions.with_streaming_response.create(
                    model=question.model.settings.id, messages=[], extra_body=question.body
                ) as response:
                    status, headers = response.status_code, dict(response.headers)
                    async for part in response.iter_bytes():
                        parts.append(part)
        except APIStatusError as error:
            status, headers, parts = error.status_code, dict(error.response.headers), [error.response.content]
        except Exception as error:  # the SDK's exceptions, and those of its HTTP client while reading a body
            broken = _how(error)
        body = b"".join(parts)
        if len(self._key) > 8:
            headers = {name: value.replace(self._key, "...") for name, value in headers.items()}
            body = body.replace(self._key.encode(), b"...")
        return Raw(status, headers, body, broken)

    async def close(self) -> None:
        """Leave no connection open."""
        await self._client.close()


class Recording:
    """Replies recorded earlier by `record`: JSON lines of `key`, `status` and `body`.

    The whole file is read at the first question.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._replies: dict[str, Raw] | None = None

    async def send(self, question: Question) -> Raw:
        """The recorded reply.

        Raises
        ------
        BadInput
            If the recording lacks this question, or the file is not a recording.
        """
        if self._replies is None:
            self._replies = dict(self._read())
        if question.recording_key not in self._replies:
            raise BadInput(
                self._path, question.model.name, f"holds no reply to this question ({question.recording_key})",
                "prompt, settings or passages have changed since; record it again, or use a model that can be called",
            )  # fmt: skip
        return self._replies[question.recording_key]

    async def close(self) -> None:
        """Nothing is open."""

    def _read(self) -> list[tuple[str, Raw]]:
        try:
            lines = self._path.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(self._path, "", f"cannot be read ({error})", "give the path of a recording") from error
        replies = []
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    each: Any = json.loads(line)
                    replies.append(
                        (
                            str(each["key"]),
                            Raw(int(each["status"]), {}, str(each["body"]).encode(), str(each.get("broken", ""))),
                        )
                    )
                except (ValueError, KeyError, TypeError) as error:
                    raise BadInput(
                        self._path, f"line {number}", "is not a recorded reply",
                        "give a JSON object with key, status and body",
                    ) from error  # fmt: skip
        return replies


def record(ledger: Path, model: str) -> Iterator[str]:
    """Lines of a recording: every question that a model answered, with its reply from the ledger.

    The recording can be the endpoint of a registry entry that has the same settings as the model.
    """
    for replicate, body, raw in replies(ledger, model):
        line = {
            "key": hashed("", replicate, body), "model": model, "status": raw.status,
            "body": raw.body.decode(errors="replace"), **({"broken": raw.broken} if raw.broken else {}),
        }  # fmt: skip
        yield json.dumps(line, ensure_ascii=False)


def _how(error: Exception) -> str:
    """How a connection ended, by the root cause: the SDK also reports a dropped connection as a timeout."""
    import aiohttp

    causes: list[BaseException] = [error]
    while cause := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(cause)
    if any(isinstance(each, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError) for each in causes):
        return UNREACHABLE
    if isinstance(error, TimeoutError) or any(isinstance(each, aiohttp.ServerTimeoutError) for each in causes):
        return TIMEOUT
    return f"the connection broke ({type(causes[-1]).__name__}: {causes[-1]})"[:300]

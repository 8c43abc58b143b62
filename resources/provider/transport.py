"""Transports: send a question and return the raw reply, over HTTP or from a file of recorded replies.

A transport returns every response, broken or not, without interpreting it. Not here: the meaning of a reply (reading),
storage (ledger), retries (client).
"""

import asyncio
import errno
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any, Protocol

from resources.api_keys import api_key, without_key
from resources.errors import BadInput
from resources.provider.ledger import Ledger
from resources.provider.question import Question, hashed
from resources.provider.reading import NO_SERVER, OVERSIZED, REDIRECTED, TIMEOUT, UNREACHABLE, Raw
from resources.provider.registry import Endpoint

BYTES, BYTES_OF_A_TOKEN = 1 << 20, 64
"""Maximum size of a reply, decompressed: BYTES, plus BYTES_OF_A_TOKEN for each token of `max_tokens`."""

ERROR_BYTES = 1 << 16
"""Number of bytes read from the body of an error, decompressed: enough for any message, and for a page of HTML."""

REDIRECTIONS = 3
"""Maximum number of redirections followed for a question. Each one sends the prompt again."""


LOCAL = ("localhost", "127.0.0.1", "::1")
"""Hosts of this machine. No proxy is used for them: it would look for the port on its own machine."""

_PROXY = "check HTTP_PROXY, HTTPS_PROXY and NO_PROXY"

_CERTIFICATE = "check `url`; if the server is yours, renew it, or name its authority's file in SSL_CERT_FILE"


class Transport(Protocol):
    """Access to one endpoint."""

    async def send(self, question: Question) -> Raw:
        """Send a question once; return the raw reply."""

    async def close(self) -> None:
        """Close all connections."""


def transport(endpoint: Endpoint) -> Transport:
    """Make the transport for an endpoint."""
    return Recording(endpoint.recording) if endpoint.recording else Http(endpoint)


class Http:
    """An OpenAI-compatible endpoint, called through OpenAI's SDK.

    Raises
    ------
    BadInput
        If the environment variable with the endpoint's key is not set.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        import httpx2
        from openai import AsyncOpenAI, DefaultAioHttpClient

        key = api_key(endpoint.url, endpoint.key)
        # The SDK's aiohttp client takes half the time of its default client at 64 connections.
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=endpoint.in_flight)
        hooks: dict[str, list[Callable[..., Any]]] = {
            "request": [_same_host(httpx2.URL(endpoint.url))],
            "response": [_end_at_error],
        }
        self._client = AsyncOpenAI(
            base_url=endpoint.url, api_key=key, max_retries=0,
            http_client=DefaultAioHttpClient(
                timeout=endpoint.timeout, limits=limits, event_hooks=hooks, max_redirects=REDIRECTIONS,
                mounts={f"all://{f'[{host}]' if ':' in host else host}": None for host in LOCAL},
            ),
        )  # fmt: skip
        if endpoint.dialect != "openai":  # the SDK reads them from OPENAI_…; other providers must not get them
            self._client.organization = self._client.project = None
        self._timeout, self._key = endpoint.timeout, key
        self._reached = False  # whether the server has ever answered

    async def send(self, question: Question) -> Raw:
        """Send a question once; return the raw reply, with any echo of the key replaced by '...'."""
        status: int | None = None
        headers: Mapping[str, str] = {}
        parts: list[bytes] = []
        size = 0
        most = BYTES + BYTES_OF_A_TOKEN * question.model.settings.max_tokens
        broken = ""
        try:
            async with asyncio.timeout(self._timeout):
                # In `extra_body`, because the SDK would needlessly convert every message otherwise.
                async with self._client.chat.completions.with_streaming_response.create(
                    model=question.model.settings.id, messages=[], extra_body=question.body
                ) as response:
                    status, headers = response.status_code, dict(response.headers)
                    async for part in response.iter_bytes():
                        parts.append(part)
                        size += len(part)
                        if size > most:
                            broken = (
                                f"{OVERSIZED}: more than {most:,} bytes for {question.model.settings.max_tokens} tokens"
                            )
                            break
        except Exception as error:  # raised by the SDK, or by its HTTP client while it reads a body
            causes = _causes(error)
            answer = next((each for each in causes if isinstance(each, _ErrorStatus)), None)
            if answer:
                status, headers, parts = answer.status, answer.headers, [answer.body]
            else:
                lasting = "" if self._reached else _lasting(causes)
                broken = f"{NO_SERVER}: {lasting}" if lasting else _reason(error, causes)
        self._reached |= status is not None
        body = b"".join(parts)
        if self._key.encode() in body:  # decoded only then, because a body need not be UTF-8
            body = without_key(body.decode("latin-1"), self._key).encode("latin-1")
        headers = {name: without_key(value, self._key) for name, value in headers.items()}
        return Raw(status, headers, body, without_key(broken, self._key))

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()


class Recording:
    """A file of replies written by `record`: JSON lines with `key`, `status` and `body`.

    The whole file is read at the first question.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._replies: dict[str, Raw] | None = None

    async def send(self, question: Question) -> Raw:
        """Return the recorded reply to a question.

        Raises
        ------
        BadInput
            If the recording lacks this question, or the file is not a recording.
        """
        if self._replies is None:
            self._replies = dict(self._read())
        if question.recording_key not in self._replies:
            raise BadInput(
                self._path, question.model.name, f"contains no reply to this question ({question.recording_key})",
                "prompt, settings or passages changed: record the replies again, or use a model with a live endpoint",
            )  # fmt: skip
        return self._replies[question.recording_key]

    async def close(self) -> None:
        """Do nothing: no connection is open."""

    def _read(self) -> list[tuple[str, Raw]]:
        try:
            lines = self._path.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(self._path, "", f"cannot be read ({error})", "give the path of a recording") from error
        replies = []
        for number, line in enumerate(lines, start=1):
            if line.strip():
                try:
                    entry: Any = json.loads(line)
                    raw = Raw(int(entry["status"]), {}, str(entry["body"]).encode(), str(entry.get("broken", "")))
                    replies.append((str(entry["key"]), raw))
                except (ValueError, KeyError, TypeError) as error:
                    raise BadInput(
                        self._path, f"line {number}", "is not a recorded reply",
                        "give a JSON object with key, status and body",
                    ) from error  # fmt: skip
        return replies


def record(ledger: Ledger, model: str) -> Iterator[str]:
    """Yield the lines of a recording: for each finished question to the model, its key and the reply in the ledger.

    A model of the registry with the same settings can then use the recording as its endpoint.
    """
    for replicate, body, raw in ledger.replies(model):
        line = {
            "key": hashed("", replicate, body), "model": model, "status": raw.status,
            "body": raw.body.decode(errors="replace"), **({"broken": raw.broken} if raw.broken else {}),
        }  # fmt: skip
        yield json.dumps(line, ensure_ascii=False)


class _ErrorStatus(Exception):  # noqa: N818 - a reply, which an exception carries past the SDK
    """The endpoint answered with a status other than success; `body` has at most ERROR_BYTES."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(status)
        self.status, self.headers, self.body = status, headers, body


async def _end_at_error(response: Any) -> None:
    """Hook that reads only the beginning of an error's body, and skips a redirection's body. The SDK would read
    both."""
    import httpx2

    if response.has_redirect_location:
        await response.stream.aclose()
        response.stream = httpx2.ByteStream(b"")
    elif response.status_code >= 300:
        body = bytearray()
        with suppress(httpx2.HTTPError):  # the status counts, even if its body breaks
            async with aclosing(response.aiter_bytes()) as parts:
                async for part in parts:
                    body += part
                    if len(body) >= ERROR_BYTES:
                        break
        raise _ErrorStatus(response.status_code, dict(response.headers), bytes(body[:ERROR_BYTES]))


class _RedirectedError(Exception):
    """A request would go to another host than the endpoint's."""


def _same_host(endpoint: Any) -> Callable[[Any], Awaitable[None]]:
    """Make a hook that refuses a redirected request if it would go to another host, or if it would be unencrypted
    although the endpoint is encrypted.
    """

    async def check(request: Any) -> None:
        url = request.url
        upgraded = (url.host, url.scheme, url.port) == (endpoint.host, "https", None)
        if (url.host, url.scheme, url.port) != (endpoint.host, endpoint.scheme, endpoint.port) and not upgraded:
            place = f"{url.scheme}://{url.netloc.decode()}"
            raise _RedirectedError(f"{REDIRECTED} to another host: {place}; if this host is right, give it in `url`")

    return check


def _causes(error: Exception) -> list[BaseException]:
    """An error and its causes, with the root cause last."""
    causes: list[BaseException] = [error]
    while cause := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(cause)
    return causes


def _lasting(causes: Sequence[BaseException]) -> str:
    """The reason why there is no connection, and its remedy, if waiting will not help; else ''.

    A refused connection to another machine may pass: its server may be about to start again.
    """
    import aiohttp

    for each in causes:
        match each:
            case aiohttp.ClientProxyConnectionError():
                return f"the proxy {each.host}:{each.port} cannot be reached; {_PROXY}"
            case aiohttp.ClientHttpProxyError():
                return f"the proxy answers with status {each.status}; {_PROXY}"
            case aiohttp.ClientConnectorDNSError():
                return f"the host {each.host} is unknown ({each.os_error.strerror}); check `url` and the network"
            case aiohttp.ClientConnectorCertificateError():
                words = getattr(each.certificate_error, "verify_message", "") or str(each.certificate_error)
                return f"the certificate of {each.host} is not valid ({words.rstrip('.')}); {_CERTIFICATE}"
            case aiohttp.ClientConnectorSSLError():
                return f"{each.host}:{each.port} does not speak TLS; check whether `url` should begin with http:"
            case aiohttp.ClientConnectorError() if each.os_error.errno == errno.ECONNREFUSED and each.host in LOCAL:
                return f"nothing listens at {each.host}:{each.port}; start the server, or check `url`"
    return ""


def _reason(error: Exception, causes: Sequence[BaseException]) -> str:
    """The reason why a connection ended, taken from the root cause: the SDK reports dropped connections as timeouts,
    too."""
    import aiohttp
    import httpx2

    for each in causes:
        if isinstance(each, _RedirectedError):
            return str(each)
        if isinstance(each, httpx2.TooManyRedirects):
            return f"{REDIRECTED} in a circle"
    never = aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError | aiohttp.ClientHttpProxyError
    if any(isinstance(each, never) for each in causes):
        return UNREACHABLE
    if isinstance(error, TimeoutError) or any(isinstance(each, aiohttp.ServerTimeoutError) for each in causes):
        return TIMEOUT
    return f"the connection broke ({type(causes[-1]).__name__}: {causes[-1]})"[:300]

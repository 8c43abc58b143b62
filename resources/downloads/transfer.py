"""Download of one whole file over HTTP, with conditional requests, retries, a deadline and a size limit.

A host gets one request at a time, a pause after each request, and longer pauses if it asks for them. Here: when a host
may receive a request, and the meaning of statuses and headers. Not here: checking and placing the file (downloads).
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

import httpx

from resources.downloads.manifest import Record
from resources.downloads.sources import Wanted
from resources.provider.reading import retry_after

ATTEMPTS = 4
"""Maximum number of requests for a file. Each request is for the whole file."""

REDIRECTS = 5
"""Maximum number of consecutive redirects."""

_PASSING = {408, 429, 500, 502, 503, 504}
_BUSY = {429, 503}


class Unreachable(Exception):  # noqa: N818 - a state of the server
    """The server gave no usable response, so the state of the file is unknown. The message gives the reason."""


class Hosts:
    """Tracks when each host may receive its next request: at least `pause` seconds after the end of the last
    request."""

    def __init__(self, pause: float) -> None:
        self.pause = pause
        self._open_at: dict[str, float] = {}
        self._closed: dict[str, str] = {}

    @asynccontextmanager
    async def turn(self, host: str) -> AsyncIterator[None]:
        """Wait until a request to the host is allowed. The caller makes the request within the block.

        Raises
        ------
        Unreachable
            If `close` was called for the host.
        """
        if host in self._closed:
            raise Unreachable(self._closed[host])
        await asyncio.sleep(max(0.0, self._open_at.get(host, 0.0) - time.monotonic()))
        try:
            yield
        finally:
            self.hold(host, self.pause)

    def hold(self, host: str, seconds: float) -> None:
        """Allow no request to the host for this many seconds, or longer if an earlier call set a later time."""
        self._open_at[host] = max(self._open_at.get(host, 0.0), time.monotonic() + seconds)

    def close(self, host: str, reason: str) -> Unreachable:
        """Allow no further requests to the host; return the exception to raise."""
        self._closed[host] = reason
        return Unreachable(reason)


class Received(NamedTuple):
    """A whole file, and the headers that identify its version; a header is None if the server did not send it."""

    body: bytes
    etag: str | None
    last_modified: str | None


@dataclass(frozen=True)
class Transfer:
    """Downloads files, each within a size limit and a time limit.

    `deadline` is the time limit in seconds for all attempts and pauses of one file.

    Compressed responses are refused, so `most_bytes` limits what is received, held in memory and written.
    """

    client: httpx.AsyncClient
    hosts: Hosts
    deadline: float
    most_bytes: int

    async def receive(self, file: Wanted, local: Record | None) -> Received | Record:
        """Download a file; return `local`, the record of the local file, if the local file is up to date.

        Raises
        ------
        BadInput
            If the server lacks or refuses the file, redirects to an untrusted URL, or sends a file that is compressed,
            too large or a web page instead of the file.
        Unreachable
            If no attempt got the whole file. A host gets no further requests if it misses the deadline, asks for a
            pause longer than `deadline`, or was busy or unreachable at the last attempt.
        """
        host = httpx.URL(file.url).host
        reason, unavailable = "", False
        try:
            async with asyncio.timeout(self.deadline):
                for attempt in range(ATTEMPTS):
                    try:
                        return await self._attempt(file, local)
                    except httpx.TransportError as error:
                        reason = f"{host}: {type(error).__name__}: {error}"
                        unavailable = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                    except httpx.HTTPStatusError as error:
                        status = error.response.status_code
                        reason, unavailable = f"{host} answered {status}", status in _BUSY
                    self.hosts.hold(host, self.hosts.pause * 2**attempt)
        except TimeoutError:
            reason, unavailable = f"{host} sent no whole file within {self.deadline:g} s", True
        raise self.hosts.close(host, reason) if unavailable else Unreachable(reason)

    async def _attempt(self, file: Wanted, local: Record | None) -> Received | Record:
        """Request a file once; raises httpx.HTTPStatusError for a status that may be temporary."""
        known = local if local and local.url == file.url else None
        conditions = {"if-none-match": known.etag, "if-modified-since": known.last_modified} if known else {}
        async with self._answer(file, {name: value for name, value in conditions.items() if value}) as response:
            if known and response.status_code == 304:
                return known
            if response.status_code in _PASSING:
                self._obey(response)
                response.raise_for_status()
            _check(file, response)
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > self.most_bytes:
                    problem = f"the file has more than {self.most_bytes:,} bytes"
                    raise file.fault(problem, "check what the URL leads to")
            return Received(bytes(body), _word(response, "etag"), _word(response, "last-modified"))

    def _obey(self, response: httpx.Response) -> None:
        """Delay further requests to the host for as long as the response asks.

        Raises Unreachable if this time is longer than the deadline.
        """
        host, seconds = response.url.host, retry_after(response.headers) or 0.0
        if seconds > self.deadline:
            raise self.hosts.close(host, f"{host} asks for a pause of {seconds:.0f} s")
        self.hosts.hold(host, seconds)

    @asynccontextmanager
    async def _answer(self, file: Wanted, headers: dict[str, str]) -> AsyncIterator[httpx.Response]:
        """Request a file and follow redirects; yield the response with its body unread."""
        request = self.client.build_request("GET", file.url, headers=headers)
        for _ in range(REDIRECTS + 1):
            async with self.hosts.turn(request.url.host):
                response = await self.client.send(request, stream=True, follow_redirects=False)
                try:
                    if response.next_request is None:
                        yield response
                        return
                finally:
                    await response.aclose()
            _check_redirect(file, request.url, response.next_request.url)
            request = response.next_request
        raise file.fault(f"redirects more than {REDIRECTS} times", "check the URL in a browser")


def _check_redirect(file: Wanted, origin: httpx.URL, target: httpx.URL) -> None:
    """Raise BadInput unless the redirect leads from https to https, or from http to the same host."""
    same_host = target.scheme in ("http", "https") and target.host == origin.host
    if not (target.scheme == "https" if origin.scheme == "https" else same_host):
        remedy = "check the URL in a browser; correct `base` or `path`"
        raise file.fault(f"redirects to {target}, which is not trusted", remedy)


def _check(file: Wanted, response: httpx.Response) -> None:
    """Raise BadInput if the status or the headers show that the response is not the file."""
    status = response.status_code
    if status in (404, 410):
        raise file.fault(f"there is no such file (status {status})", "correct the uid, `base`, `path` or `commit`")
    if status != 200:
        raise file.fault(f"was refused (status {status})", "open the URL in a browser; use a mirror as `base`")
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in ("text/html", "application/xhtml+xml") and "htm" not in PurePosixPath(file.path).suffix:
        raise file.fault(f"is {kind}, so it is not the file", "open the URL in a browser; correct `base`")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise file.fault("is compressed, although the request forbids it", "use a mirror as `base`")


def _word(response: httpx.Response, name: str) -> str | None:
    """A header's value; None if the header is missing, or if its value is not ASCII and therefore cannot be sent
    back."""
    value: str | None = response.headers.get(name)
    return value if value and value.isascii() else None

"""Download of one file over HTTP, with conditional requests, continuation after a break, and retries.

Here: the meaning of statuses and headers. Not here: bytes on disk (partial), pauses (hosts), checking and placing the
file (downloads).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath

import httpx

from resources.downloads.hosts import Hosts, Unreachable
from resources.downloads.manifest import Record
from resources.downloads.partial import MOST_BYTES, BrokenError, Note, Partial, TooLargeError
from resources.downloads.sources import Wanted
from resources.provider.reading import retry_after

ATTEMPTS = 4
"""Maximum number of requests for a file; each continues where the previous one broke off."""

REDIRECTS = 5
"""Maximum number of consecutive redirects."""

_PASSING = {408, 429, 500, 502, 503, 504}
_BUSY = {429, 503}

_KINDS = {
    ".json": {"application/json", "text/plain", "application/octet-stream", ""},
    ".html": {"text/html", "application/xhtml+xml", "text/plain", ""},
}
"""Accepted content types by file extension. GitHub serves every file as text/plain."""


def transfer(client: httpx.Client, file: Wanted, partial: Partial, local: Record | None, hosts: Hosts) -> Note | Record:
    """Download a file into `partial`.

    Parameters
    ----------
    local
        Record of the local file, None if there is none. If its URL is that of `file`, an unchanged file is not sent.

    Returns
    -------
    The note of the downloaded file, with all bytes on disk; or `local` if the local file is up to date.

    Raises
    ------
    BadInput
        If the server lacks or refuses the file, redirects to an untrusted URL, or sends a file that is compressed, too
        large or of another content type.
    Unreachable
        If no attempt got a usable response. The bytes received so far are kept for the next download.
    """
    host = httpx.URL(file.url).host
    reason, unavailable = "", False
    for attempt in range(ATTEMPTS):
        try:
            return _attempt(client, file, partial, local, hosts)
        except httpx.TransportError as error:
            reason = f"{host}: {type(error).__name__}: {error}"
            unavailable = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        except _PassingError as error:
            reason, unavailable = f"{host} answered {error.status}", error.status in _BUSY
        except BrokenError as error:
            reason, unavailable = f"{host} {error}", False
        hosts.hold(host, hosts.pause * 2**attempt)
    raise hosts.close(host, reason) if unavailable else Unreachable(reason)


class _PassingError(Exception):
    """An error status that may not recur in the next request."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(status)


def _attempt(client: httpx.Client, file: Wanted, partial: Partial, local: Record | None, hosts: Hosts) -> Note | Record:
    headers = _conditions(local, file.url) | partial.range(file.url)
    with _answer(client, file, headers, hosts) as response:
        status = response.status_code
        if status == 304 and local is not None:
            return local
        if status in _PASSING:
            hosts.obey(response.url.host, retry_after(response.headers) or 0.0)
            raise _PassingError(status)
        if status == 416:
            partial.discard()
            raise BrokenError("has no further bytes of the file")
        _check(file, response)
        try:
            return partial.receive(file.url, response)
        except TooLargeError:
            raise file.fault(f"the file has more than {MOST_BYTES >> 20} MB", "check what the URL leads to") from None


def _conditions(local: Record | None, url: str) -> dict[str, str]:
    if local is None or local.url != url:
        return {}
    conditions = {"if-none-match": local.etag, "if-modified-since": local.last_modified}
    return {name: value for name, value in conditions.items() if value}


@contextmanager
def _answer(client: httpx.Client, file: Wanted, headers: dict[str, str], hosts: Hosts) -> Iterator[httpx.Response]:
    """Request a file and follow redirects; yield the response with its body unread."""
    request = client.build_request("GET", file.url, headers=headers)
    for _ in range(REDIRECTS + 1):
        with hosts.turn(request.url.host):
            response = client.send(request, stream=True, follow_redirects=False)
            try:
                if response.next_request is None:
                    yield response
                    return
            finally:
                response.close()
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
        raise file.fault(f"there is no such file (status {status})", "correct the uid, `base` or `path`")
    if status not in (200, 206):
        raise file.fault(f"was refused (status {status})", "open the URL in a browser; use a mirror as `base`")
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _KINDS.get(PurePosixPath(file.path).suffix, {kind}):
        raise file.fault(f"is {kind}, so it is not the file", "open the URL in a browser; correct `base`")
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise file.fault("is compressed, although the request forbids it", "use a mirror as `base`")

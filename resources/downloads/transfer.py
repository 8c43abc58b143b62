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
from resources.errors import BadInput
from resources.provider.reading import retry_after

ATTEMPTS = 4
"""Requests for a file before giving up; each continues where the last one broke off."""

REDIRECTS = 5
"""Most consecutive redirects followed."""

_PASSING = {408, 429, 500, 502, 503, 504}
_BUSY = {429, 503}

_KINDS = {
    ".json": {"application/json", "text/plain", "application/octet-stream", ""},
    ".html": {"text/html", "application/xhtml+xml", "text/plain", ""},
}
"""Content types accepted for a file, by extension; GitHub serves every file as text/plain."""


def transfer(
    client: httpx.Client, wanted: Wanted, partial: Partial, standing: Record | None, hosts: Hosts
) -> Note | Record:
    """Download a file into its partial.

    Parameters
    ----------
    standing
        Record of the unedited local file. The server sends nothing unless it has a newer version.

    Returns
    -------
    The note on the downloaded file, whose bytes are all on disk; or `standing` if the local file is up to date.

    Raises
    ------
    BadInput
        If the server lacks or refuses the file, redirects to a URL that is not trusted, or sends a file that is
        compressed, too large or of another content type.
    Unreachable
        If no attempt got a usable answer. The bytes received so far are kept for the next download.
    """
    host = httpx.URL(wanted.url).host
    reason, gone = "", False
    for attempt in range(ATTEMPTS):
        try:
            return _attempt(client, wanted, partial, standing, hosts)
        except httpx.TransportError as error:
            reason = f"{host}: {type(error).__name__}: {error}"
            gone = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
        except _PassingError as error:
            reason, gone = f"{host} answered {error.status}", error.status in _BUSY
        except BrokenError as error:
            reason, gone = f"{host} {error}", False
        hosts.hold(host, hosts.pause * 2**attempt)
    raise hosts.close(host, reason) if gone else Unreachable(reason)


class _PassingError(Exception):
    """A status that another request may not meet."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(status)


def _attempt(
    client: httpx.Client, wanted: Wanted, partial: Partial, standing: Record | None, hosts: Hosts
) -> Note | Record:
    headers = _conditions(standing, wanted.url) | partial.range(wanted.url)
    with _answer(client, wanted, headers, hosts) as response:
        status = response.status_code
        if status == 304 and standing is not None:
            return standing
        if status in _PASSING:
            hosts.obey(response.url.host, retry_after(response.headers) or 0.0)
            raise _PassingError(status)
        if status == 416:
            partial.discard()
            raise BrokenError("has no further bytes of the file")
        _check(wanted, response)
        try:
            return partial.receive(wanted.url, response)
        except TooLargeError:
            raise _fault(
                wanted, f"the file has more than {MOST_BYTES >> 20} MB", "check what the URL leads to"
            ) from None


def _conditions(standing: Record | None, url: str) -> dict[str, str]:
    if standing is None or standing.url != url:
        return {}
    conditions = {"if-none-match": standing.etag, "if-modified-since": standing.last_modified}
    return {name: value for name, value in conditions.items() if value}


@contextmanager
def _answer(client: httpx.Client, wanted: Wanted, headers: dict[str, str], hosts: Hosts) -> Iterator[httpx.Response]:
    """The response to a request, after redirects, with its body unread."""
    request = client.build_request("GET", wanted.url, headers=headers)
    for _ in range(REDIRECTS + 1):
        with hosts.turn(request.url.host):
            response = client.send(request, stream=True, follow_redirects=False)
            try:
                if response.next_request is None:
                    yield response
                    return
            finally:
                response.close()
        _check_redirect(wanted, request.url, response.next_request.url)
        request = response.next_request
    raise _fault(wanted, f"redirects more than {REDIRECTS} times", "check the URL in a browser")


def _check_redirect(wanted: Wanted, here: httpx.URL, there: httpx.URL) -> None:
    """Allow redirects from https to any https URL, and from http only within the host."""
    inside = there.scheme in ("http", "https") and there.host == here.host
    if not (there.scheme == "https" if here.scheme == "https" else inside):
        raise _fault(
            wanted, f"redirects to {there}, which is not trusted",
            "check the URL in a browser and give the right `base` or `path`",
        )  # fmt: skip


def _check(wanted: Wanted, response: httpx.Response) -> None:
    """Raise BadInput unless the response can be the file."""
    status = response.status_code
    if status in (404, 410):
        raise _fault(wanted, f"there is no such file (status {status})", "correct the uid, `base` or `path`")
    if status not in (200, 206):
        raise _fault(wanted, f"was refused (status {status})", "open the URL in a browser; use a mirror as `base`")
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _KINDS.get(PurePosixPath(wanted.path).suffix, {kind}):
        raise _fault(
            wanted, f"is {kind}: a login or error page, not the file", "open the URL in a browser; correct `base`"
        )
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise _fault(wanted, "is sent compressed, against the request", "use a mirror as `base`")


def _fault(wanted: Wanted, problem: str, remedy: str) -> BadInput:
    return BadInput(wanted.url, wanted.text, problem, remedy)

"""The resource that downloads files from public sources into a folder, where a corpus's readers find them.

Here: checking downloaded files, placing them in the folder, updating the manifest. Not here: which files a text has
(sources), HTTP (transfer).
"""

import fcntl
import json
import logging
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

import httpx
from pydantic import BaseModel, ConfigDict

from resources import whole_files
from resources.downloads import manifest
from resources.downloads.hosts import Hosts, Unreachable
from resources.downloads.manifest import Record
from resources.downloads.partial import Note, Partial
from resources.downloads.sources import Wanted
from resources.downloads.transfer import transfer
from resources.errors import BadInput

logger = logging.getLogger("variorum.downloads")

USER_AGENT = "Variorum/0.1 (evaluation of translations of classical texts)"
"""Identifies this project to the servers of public sources."""

State = Literal["new", "changed", "unchanged", "kept"]


@dataclass(frozen=True, slots=True)
class Fetched:
    """A local file: `new`, `changed`, `unchanged`, or `kept` because its server gave no usable answer."""

    file: Path
    state: State
    record: Record


class Result(NamedTuple):
    """The files in the folder, and a fault for each file that is not, both in the order of the request."""

    fetched: list[Fetched]
    faults: list[BadInput]


class Downloads(BaseModel):
    """Downloads files from public sources into a folder, with a manifest of their origins and licences.

    A file that is up to date is not touched, not even its modification time. A locally edited file is never
    overwritten.

    Parameters
    ----------
    user_agent
        The `User-Agent` header of requests.
    pause
        Seconds between two requests to one host, at least 0; doubled with each retry of a file.
    timeout
        Seconds to wait for a connection, and for each further chunk of a response.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_agent: str = USER_AGENT
    pause: float = 1.0
    timeout: float = 30.0

    def fetch(self, wanted: Sequence[Wanted], into: Path) -> Result:
        """Download new and changed files, one after the other. A failure does not stop the others.

        Waits while another process downloads into the folder. Finished files survive a kill, and a partial file is
        continued by the next attempt.

        Parameters
        ----------
        into
            The folder to download into; each file's path is relative to it.

        Returns
        -------
        The files, and faults as BadInput: the source lacks the file or sends something else; the local file was edited
        or its digest is not the expected one; the server gives no answer and there is no local file; the disk is full
        or not writable.

        Raises
        ------
        BadInput
            If the manifest cannot be read, or two different files have the same path. Nothing is downloaded then.
        """
        _check_distinct(wanted)
        fetched, faults, reasons = [], [], Counter[str]()
        headers = {"user-agent": self.user_agent, "accept-encoding": "identity"}  # lengths and ranges are the file's
        with _alone(into.absolute()) as folder, httpx.Client(headers=headers, timeout=self.timeout) as client:
            records, hosts = manifest.read(folder), Hosts(self.pause)
            for each in wanted:
                try:
                    fetched.append(_obtain(client, each, folder, records, hosts, reasons))
                except BadInput as fault:
                    faults.append(fault)
                except OSError as error:
                    faults.append(
                        BadInput(
                            folder / each.path, each.text, f"cannot be read or written ({error.strerror})",
                            "check disk and permissions, then run `variorum download` again",
                        )
                    )  # fmt: skip
        for reason, files in reasons.items():
            logger.warning("%s; %d files kept as downloaded earlier", reason, files)
        states = Counter(each.state for each in fetched)
        logger.info("%s: %s, %d faults", folder, dict(states), len(faults))
        return Result(fetched, faults)


@contextmanager
def _alone(folder: Path) -> Iterator[Path]:
    """Keep other processes from downloading into the folder until the block ends. The lock ends with the process."""
    (folder / ".downloads").mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / ".downloads" / "lock", os.O_CREAT | os.O_RDWR)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            logger.info("another process downloads into %s; waiting for it", folder)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(lock)


def _obtain(
    client: httpx.Client, wanted: Wanted, folder: Path, records: dict[str, Record], hosts: Hosts, reasons: Counter[str]
) -> Fetched:
    """Download a file if it is new or changed, and record it in `records` and in the manifest."""
    _check_wanted(wanted)
    place, partial = folder / wanted.path, Partial(folder, wanted.path)
    standing = _standing(place, records.get(wanted.path), partial)
    try:
        result = transfer(client, wanted, partial, standing, hosts)
        record = result if isinstance(result, Record) else _accepted(wanted, partial, result, standing)
        _check_digest(wanted, record)
    except Unreachable as error:
        if standing is None:
            raise BadInput(wanted.url, wanted.text, f"cannot be fetched ({error})", "fetch again later") from error
        _check_digest(wanted, standing)
        reasons[str(error)] += 1
        return Fetched(place, "kept", standing)
    except BadInput:
        partial.discard()
        raise
    record = record.model_copy(update={"text": wanted.text, "licence": wanted.licence, "restricted": wanted.restricted})
    same = standing is not None and standing.sha256 == record.sha256
    if not same:
        partial.finish(record, place)
    if records.get(wanted.path) != record:
        records[wanted.path] = record
        manifest.write(folder, records)
    partial.discard()
    return Fetched(place, "unchanged" if same else "changed" if standing else "new", record)


def _standing(place: Path, record: Record | None, partial: Partial) -> Record | None:
    """The record of the local file; None if there is no file.

    Raises
    ------
    BadInput
        If the file is not the one that was downloaded.
    """
    if not place.exists():
        return None
    digest = whole_files.sha256(place)
    note = partial.note()
    for each in (record, note.finished if note else None):  # the note's, if a kill came before the manifest's
        if each is not None and each.sha256 == digest:
            return each
    raise BadInput(
        place, record.text if record else "",
        "was edited or damaged since it was downloaded" if record else "was not downloaded by this program",
        "move your changes elsewhere and delete it; `variorum download` fetches it again",
    )  # fmt: skip


def _accepted(wanted: Wanted, partial: Partial, note: Note, standing: Record | None) -> Record:
    """Record of the downloaded bytes, with the time of the local file if the content is the same; BadInput if they are
    empty or not valid JSON as required.
    """
    if not partial.size:
        raise BadInput(wanted.url, wanted.text, "the file is empty", "open the URL in a browser; correct `base`")
    if wanted.path.endswith(".json"):
        try:
            json.loads(partial.bytes.read_bytes())
        except (ValueError, RecursionError) as error:
            raise BadInput(
                wanted.url, wanted.text, "the response is not JSON", "open the URL in a browser; correct `base`"
            ) from error
    digest = whole_files.sha256(partial.bytes)
    same = standing is not None and standing.sha256 == digest
    return Record(
        path=wanted.path, text=wanted.text, url=wanted.url, sha256=digest, bytes=partial.size,
        etag=note.etag, last_modified=note.last_modified,
        fetched_at=standing.fetched_at if standing and same else datetime.now(UTC),
        licence=wanted.licence, restricted=wanted.restricted,
    )  # fmt: skip


def _check_digest(wanted: Wanted, record: Record) -> None:
    if wanted.sha256 not in ("", record.sha256):
        raise BadInput(
            wanted.url, wanted.text, f"has the digest {record.sha256}, not {wanted.sha256}",
            "look at what changed, then correct the digest",
        )  # fmt: skip


def _check_wanted(wanted: Wanted) -> None:
    """BadInput for a path outside the folder or of the project's own files in it, or for an invalid URL."""
    parts = PurePosixPath(wanted.path).parts
    if not parts or any(part.startswith((".", "/")) for part in parts) or wanted.path == manifest.NAME:
        raise BadInput(wanted.url, wanted.text, f"{wanted.path!r} is not a valid path", "give a path below the folder")
    try:
        url = httpx.URL(wanted.url)
        url.host.encode("idna")
    except (httpx.InvalidURL, UnicodeError) as error:
        raise BadInput(wanted.url, wanted.text, f"is not a URL ({error})", "correct `base` or `path`") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise BadInput(wanted.url, wanted.text, "is not a URL with http or https", "correct `base` or `path`")


def _check_distinct(wanted: Sequence[Wanted]) -> None:
    first: dict[str, Wanted] = {}
    for each in wanted:
        other = first.setdefault(each.path, each)
        if (other.url, other.sha256) != (each.url, each.sha256):
            raise BadInput(each.path, each.text, f"is requested from {other.url} and from {each.url}", "keep one")

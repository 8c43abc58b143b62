"""The resource that fetches files of public sources into a folder, from which the readers of a corpus read.

Here: what stands in the folder, what becomes of what came, and the manifest. Not here: which files a text has
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
from resources.downloads.partial import Partial, Said
from resources.downloads.sources import Wanted
from resources.downloads.transfer import transfer
from resources.errors import BadInput

logger = logging.getLogger("variorum.downloads")

USER_AGENT = "Variorum/0.1 (evaluation of translations of classical texts)"
"""Says who asks: a source that is bothered can tell this project from others."""

State = Literal["new", "changed", "unchanged", "kept"]


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that is here: `new`, `changed`, `unchanged`, or `kept` because its server could not be asked."""

    file: Path
    state: State
    record: Record


class Result(NamedTuple):
    """The files that are here now, and a fault for each of the others, both in the order in which they were wanted."""

    fetched: list[Fetched]
    faults: list[BadInput]


class Downloads(BaseModel):
    """Files of public sources in a folder, and a manifest of where each came from and under which terms.

    A file that is up to date is left alone, its time of change too. One that was edited here is never overwritten.

    Parameters
    ----------
    user_agent
        What servers are told of who asks.
    pause
        Seconds between two requests to one host, at least 0; doubled each time that a file is asked for again.
    timeout
        Seconds to wait for a connection, and for each further piece of an answer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_agent: str = USER_AGENT
    pause: float = 1.0
    timeout: float = 30.0

    def fetch(self, wanted: Sequence[Wanted], into: Path) -> Result:
        """Bring files up to date, one after the other; one that fails does not keep the others from coming.

        Another process that fetches into the folder is waited for. What came before a kill or a break stays: a file as
        a file, a part of one as the beginning of the next attempt.

        Parameters
        ----------
        into
            The folder where files go, each below it where it is wanted.

        Returns
        -------
        The files, and faults as BadInput: for what the source does not have or does not send as the file that was
        asked for, for a file that is not as it was fetched or has another digest than it should, for a server that
        gives no answer while the file is not here, for a disk that takes no more.

        Raises
        ------
        BadInput
            Where the manifest cannot be read, or two different files want the same path; nothing was fetched.
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
                            "mend the disk or the folder's rights and fetch again",
                        )
                    )  # fmt: skip
        for reason, files in reasons.items():
            logger.warning("%s; %d files stay as they were fetched before", reason, files)
        states = Counter(each.state for each in fetched)
        logger.info("%s: %s, %d faults", folder, dict(states), len(faults))
        return Result(fetched, faults)


@contextmanager
def _alone(folder: Path) -> Iterator[Path]:
    """Nobody else fetches into the folder until the block ends; the lock is given up with the process."""
    (folder / ".downloads").mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / ".downloads" / "lock", os.O_CREAT | os.O_RDWR)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            logger.info("another process fetches into %s; waiting for it", folder)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(lock)


def _obtain(
    client: httpx.Client, wanted: Wanted, folder: Path, records: dict[str, Record], hosts: Hosts, reasons: Counter[str]
) -> Fetched:
    """Bring one file up to date and note it in `records` and in the manifest."""
    _check_wanted(wanted)
    place, partial = folder / wanted.path, Partial(folder, wanted.path)
    standing = _standing(place, records.get(wanted.path), partial)
    try:
        came = transfer(client, wanted, partial, standing, hosts)
        record = came if isinstance(came, Record) else _accepted(wanted, partial, came, standing)
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
    """The record of the file that is in its place; None where there is none.

    Raises
    ------
    BadInput
        Where the file is not the one that was put there.
    """
    if not place.exists():
        return None
    digest = whole_files.sha256(place)
    said = partial.said()
    for each in (record, said.finished if said else None):  # the second where a kill kept the first from being written
        if each is not None and each.sha256 == digest:
            return each
    raise BadInput(
        place, record.text if record else "",
        "was edited or damaged since it was fetched" if record else "was not fetched by this program",
        "delete it to fetch it again; keep what you wrote elsewhere",
    )  # fmt: skip


def _accepted(wanted: Wanted, partial: Partial, said: Said, standing: Record | None) -> Record:
    """The record of what came, whose time is that of the standing file if that is the same; BadInput if it is no file
    of its kind.
    """
    if not partial.size:
        raise BadInput(wanted.url, wanted.text, "the file is empty", "open the URL in a browser; correct `base`")
    if wanted.path.endswith(".json"):
        try:
            json.loads(partial.bytes.read_bytes())
        except (ValueError, RecursionError) as error:
            raise BadInput(
                wanted.url, wanted.text, "what came is no JSON", "open the URL in a browser; correct `base`"
            ) from error
    digest = whole_files.sha256(partial.bytes)
    same = standing is not None and standing.sha256 == digest
    return Record(
        path=wanted.path, text=wanted.text, url=wanted.url, sha256=digest, bytes=partial.size,
        etag=said.etag, last_modified=said.last_modified,
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
    """BadInput for a path that leads out of the folder or to what is kept there besides, or a URL that is none."""
    parts = PurePosixPath(wanted.path).parts
    if not parts or any(part.startswith((".", "/")) for part in parts) or wanted.path == manifest.NAME:
        raise BadInput(
            wanted.url, wanted.text, f"{wanted.path!r} is no path for a download", "name a file below the folder"
        )
    try:
        url = httpx.URL(wanted.url)
        url.host.encode("idna")
    except (httpx.InvalidURL, UnicodeError) as error:
        raise BadInput(wanted.url, wanted.text, f"is no URL ({error})", "correct `base` or `path`") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise BadInput(wanted.url, wanted.text, "is no URL of the web", "correct `base` or `path`")


def _check_distinct(wanted: Sequence[Wanted]) -> None:
    first: dict[str, Wanted] = {}
    for each in wanted:
        other = first.setdefault(each.path, each)
        if (other.url, other.sha256) != (each.url, each.sha256):
            raise BadInput(each.path, each.text, f"is wanted of {other.url} and of {each.url}", "keep one")

"""The resource that downloads files from public sources into a folder, from which a corpus can then be read.

Here: checking downloaded files, placing them in the folder, updating the manifest. Not here: which files a text has
(sources), HTTP (transfer).
"""

import asyncio
import json
import logging
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

import httpx

from resources import locks, whole_files
from resources.downloads import manifest
from resources.downloads.manifest import Record
from resources.downloads.sources import Wanted
from resources.downloads.transfer import Hosts, Received, Transfer, Unreachable
from resources.errors import BadInput
from resources.frozen import Frozen

logger = logging.getLogger("variorum.downloads")

USER_AGENT = "Variorum/0.1 (evaluation of translations of classical texts)"
"""Default `User-Agent` header, which identifies this project to public sources."""

State = Literal["new", "changed", "unchanged", "kept"]


@dataclass(frozen=True, slots=True)
class Fetched:
    """A local file after the download. `state` is `kept` if the server gave no usable response."""

    file: Path
    state: State
    record: Record


class Result(NamedTuple):
    """Downloaded and kept files, and a fault for each file that could not be obtained, both in the requested order."""

    fetched: list[Fetched]
    faults: list[BadInput]


class Downloads(Frozen):
    """Downloads files from public sources into a folder, with a manifest of their origins and licences.

    A file that is up to date is not touched, not even its modification time. A locally edited file is never
    overwritten.

    Parameters
    ----------
    user_agent
        `User-Agent` header of requests.
    pause
        Seconds between two requests to the same host, at least 0; doubled with each retry of a file.
    timeout
        Seconds to wait for a connection, and for each further chunk of a response.
    deadline
        Seconds for a whole file, including all retries and the pauses that the host asks for. A host that misses the
        deadline gets no further requests in this download.
    most_bytes
        Size limit of a file. The default is ten times the size of the largest text of any source.
    """

    user_agent: str = USER_AGENT
    pause: float = 1.0
    timeout: float = 30.0
    deadline: float = 300.0
    most_bytes: int = 50 * 2**20

    def fetch(self, files: Sequence[Wanted], into: Path) -> Result:
        """Download new and changed files, one after the other; a failed file does not stop the rest.

        If another process is downloading into the folder, this method waits. If the process is killed, finished files
        are kept.

        Parameters
        ----------
        into
            Folder to download into; the files' paths are relative to it.

        Returns
        -------
        The files, and a fault for each failed file. A file fails if its path or URL is invalid, the source lacks it or
        sends something else, the local file was edited, the digest is not the expected one, the server gives no usable
        response and there is no local file, or the disk is full or not writable.

        Raises
        ------
        BadInput
            If the folder cannot be made or written, or the manifest cannot be read. Nothing is then downloaded.
        """
        with _alone(into.absolute()) as folder:
            return asyncio.run(self._fetch(files, folder))

    async def _fetch(self, files: Sequence[Wanted], folder: Path) -> Result:
        fetched, faults, reasons = [], [], Counter[str]()
        # Without compression, the size limit applies to what is received.
        headers = {"user-agent": self.user_agent, "accept-encoding": "identity"}
        async with httpx.AsyncClient(headers=headers, timeout=self.timeout) as client:
            records, hosts = manifest.read(folder), Hosts(self.pause)
            transfer = Transfer(client, hosts, self.deadline, self.most_bytes)
            for file in files:
                try:
                    fetched.append(await _obtain(transfer, file, folder, records, reasons))
                except BadInput as fault:
                    faults.append(fault)
                except OSError as error:
                    problem = f"cannot be read or written ({error.strerror})"
                    remedy = "check disk and permissions, then run `variorum scan --download` again"
                    faults.append(BadInput(folder / file.path, file.text, problem, remedy))
        for reason, count in reasons.items():
            logger.warning("%s; keeping %d files that were downloaded earlier", reason, count)
        states = Counter(each.state for each in fetched)
        counts = [f"{count} {state}" for state, count in states.items()]
        logger.info("%s: %s", folder, ", ".join([*counts, f"{len(faults)} faulty"]))
        return Result(fetched, faults)


@contextmanager
def _alone(folder: Path) -> Iterator[Path]:
    """Lock the folder against downloads by other processes until the block or this process ends."""
    try:
        (folder / ".downloads").mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / ".downloads" / "lock", os.O_CREAT | os.O_RDWR, 0o666)
    except OSError as error:
        problem = f"cannot be used for downloads ({error.strerror})"
        raise BadInput(folder, "", problem, "choose a writable folder as the root") from error
    try:
        if not locks.tried(lock):
            logger.info("another process is downloading into %s; waiting for it", folder)
            locks.exclusive(lock)
        yield folder
    finally:
        os.close(lock)


async def _obtain(
    transfer: Transfer, file: Wanted, folder: Path, records: dict[str, Record], reasons: Counter[str]
) -> Fetched:
    """Download a file if it is new or changed, and update its record in `records` and in the manifest.

    If the server is unreachable, keep the local file and count the reason in `reasons`.
    """
    _check_wanted(file)
    place = folder / file.path
    local = _local_record(place, records.get(file.path))
    try:
        result = local if local and _is_final(file, local) else await transfer.receive(file, local)
    except Unreachable as error:
        if local is None:
            raise file.fault(f"cannot be fetched ({error})", "fetch again later") from error
        _check_digest(file, local)
        reasons[str(error)] += 1
        return Fetched(place, "kept", local)
    record = result if isinstance(result, Record) else _accepted(file, result, local)
    _check_digest(file, record)
    record = record.model_copy(update={"text": file.text, "licence": file.licence, "restricted": file.restricted})
    same = local is not None and local.sha256 == record.sha256
    if isinstance(result, Received) and not same:
        manifest.place(folder, record, result.body)
    if records.get(file.path) != record:
        records[file.path] = record
        manifest.write(folder, records)
    return Fetched(place, "unchanged" if same else "changed" if local else "new", record)


def _is_final(file: Wanted, local: Record) -> bool:
    """Whether the local file is the version that the description names. If it is, no request is needed."""
    return local.sha256 == file.sha256 if file.sha256 else bool(file.commit) and local.url == file.url


def _local_record(place: Path, record: Record | None) -> Record | None:
    """The record of the local file; None if there is no local file.

    Raises
    ------
    BadInput
        If the file was not downloaded by this program, or was changed afterwards.
    """
    if not place.exists():
        return None
    if record is not None and record.sha256 == whole_files.sha256(place):
        return record
    problem = "was edited or damaged after it was downloaded" if record else "was not downloaded by this program"
    remedy = "move it elsewhere; `variorum scan --download` then fetches the file again"
    raise BadInput(place, record.text if record else "", problem, remedy)


def _accepted(file: Wanted, received: Received, local: Record | None) -> Record:
    """Make the record of a received file. If the content is unchanged, `fetched_at` is unchanged.

    Raises
    ------
    BadInput
        If the file is empty, or should be JSON and is not.
    """
    body = received.body
    if not body:
        raise file.fault("the file is empty", "open the URL in a browser; correct `base`")
    if file.path.endswith(".json"):
        try:
            json.loads(body)
        except (ValueError, RecursionError) as error:
            raise file.fault("the response is not JSON", "open the URL in a browser; correct `base`") from error
    digest = sha256(body).hexdigest()
    same = local is not None and local.sha256 == digest
    return Record(
        path=file.path, text=file.text, url=file.url, commit=file.commit, sha256=digest, bytes=len(body),
        etag=received.etag, last_modified=received.last_modified,
        fetched_at=local.fetched_at if local and same else datetime.now(UTC),
        licence=file.licence, restricted=file.restricted,
    )  # fmt: skip


def _check_digest(file: Wanted, record: Record) -> None:
    if file.sha256 not in ("", record.sha256):
        problem = f"has the digest {record.sha256}, not {file.sha256}"
        raise file.fault(problem, "check what changed, then correct the digest")


def _check_wanted(file: Wanted) -> None:
    """Raise BadInput if the URL is invalid, or if the path is hidden, outside the folder or the manifest's path."""
    parts = PurePosixPath(file.path).parts
    if not parts or any(part.startswith((".", "/")) for part in parts) or file.path == manifest.NAME:
        raise file.fault(f"{file.path!r} is not a valid path", "give a path below the folder")
    try:
        url = httpx.URL(file.url)
        url.host.encode("idna")
    except (httpx.InvalidURL, UnicodeError) as error:
        raise file.fault(f"is not a URL ({error})", "correct `base` or `path`") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise file.fault("is not a URL with http or https", "correct `base` or `path`")

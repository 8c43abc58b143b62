"""A download under way: what has come of it, and what is needed to go on after a break.

Files below the folder's `.downloads`, which neither readers nor sensors look into: `<path>.part` with the bytes, and
`<path>.part.json` with what the server said of them. Not here: requests (transfer), the file's own place (downloads).
"""

import os
import re
from contextlib import suppress
from pathlib import Path

import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from resources import whole_files
from resources.downloads.manifest import Record

MOST_BYTES = 50 * 2**20
"""Of one file. The largest text of any source has a hundredth of it; what is larger is something else."""

_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class TooLargeError(Exception):
    """The file has more than `MOST_BYTES`."""


class BrokenError(Exception):
    """What came cannot be used, and another request may bring what can. The message says why."""


class Said(BaseModel):
    """What the server said of the bytes; `finished` is the record of the file that was made of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str
    etag: str | None
    last_modified: str | None
    finished: Record | None = None

    @property
    def validator(self) -> str | None:
        """What `If-Range` may name: a strong entity tag or a date, None where there is neither (RFC 9110, 13.1.5)."""
        strong = self.etag if self.etag and not self.etag.startswith("W/") else None
        return strong or self.last_modified


class Partial:
    """What has come of one file. `folder` is that of the downloads, `path` the file's below it."""

    def __init__(self, folder: Path, path: str) -> None:
        self.bytes = folder / ".downloads" / f"{path}.part"
        self._said = self.bytes.with_name(f"{self.bytes.name}.json")

    @property
    def size(self) -> int:
        """Bytes that are here."""
        return self.bytes.stat().st_size if self.bytes.exists() else 0

    def said(self) -> Said | None:
        """What the server said of them; None where nothing was noted that can be read."""
        try:
            return Said.model_validate_json(self._said.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def range(self, url: str) -> dict[str, str]:
        """Headers that ask for the rest; none where the whole must be asked for."""
        said = self.said()
        if not self.size or said is None or said.url != url or said.validator is None:
            return {}
        return {"range": f"bytes={self.size}-", "if-range": said.validator}

    def receive(self, url: str, response: httpx.Response) -> Said:
        """Take the body of a 200 from its beginning, or of a 206 after what is here; return what was said of it.

        Raises
        ------
        BrokenError
            Where a 206 does not continue what is here, which is then given up, or the body ends too early.
        TooLargeError
            As soon as that is known.
        httpx.TransportError
            Where the connection breaks; what came stays.
        """
        said, total = self._continued(response) if response.status_code == 206 else self._begun(url, response)
        if total is not None and total > MOST_BYTES:
            raise TooLargeError
        with self.bytes.open("ab") as file:
            for chunk in response.iter_raw():
                file.write(chunk)
                if file.tell() > MOST_BYTES:
                    raise TooLargeError
            file.flush()
            os.fsync(file.fileno())
        if total is not None and self.size != total:
            raise BrokenError(f"sent {self.size} bytes of {total}")
        return said

    def finish(self, record: Record, place: Path) -> None:
        """Move the bytes to the file's place; the record is on disk before, so that a kill between cannot lose it."""
        said = Said(url=record.url, etag=record.etag, last_modified=record.last_modified, finished=record)
        whole_files.write(self._said, said.model_dump_json())
        whole_files.move(self.bytes, place)

    def discard(self) -> None:
        """Forget what came, and leave no empty folder behind."""
        self.bytes.unlink(missing_ok=True)
        self._said.unlink(missing_ok=True)
        for folder in self.bytes.parents:
            if folder.name == ".downloads":
                return
            with suppress(OSError):
                folder.rmdir()

    def _begun(self, url: str, response: httpx.Response) -> tuple[Said, int | None]:
        said = Said(url=url, etag=_word(response, "etag"), last_modified=_word(response, "last-modified"))
        self.bytes.parent.mkdir(parents=True, exist_ok=True)
        self.bytes.write_bytes(b"")  # before its note: bytes are never taken for those of another version
        self._said.write_text(said.model_dump_json(), encoding="utf-8")  # half a note is none, and costs a request
        length = response.headers.get("content-length", "")
        return said, int(length) if length.isdecimal() else None

    def _continued(self, response: httpx.Response) -> tuple[Said, int | None]:
        said, matched = self.said(), _CONTENT_RANGE.fullmatch(response.headers.get("content-range", ""))
        etag = _word(response, "etag")
        other = said is None or (etag is not None and etag != said.etag)
        if said is None or other or matched is None or int(matched[1]) != self.size:
            self.discard()
            raise BrokenError("sent another part than the one asked for")
        return said, int(matched[2]) if matched[2] != "*" else None


def _word(response: httpx.Response, name: str) -> str | None:
    """A header that can be sent back; None where there is none that can."""
    value: str | None = response.headers.get(name)
    return value if value and value.isascii() else None

"""A partial download: the bytes so far, and the headers needed to continue after a break.

Stored in the folder's `.downloads`, which readers and sensors ignore: `<path>.part` holds the bytes, `<path>.part.json`
a note of the server's headers. Not here: requests (transfer), placing the finished file (downloads).
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
"""Largest file accepted. The largest text of any source is a hundredth of it, so a larger file is not a text."""

_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class TooLargeError(Exception):
    """The file has more than `MOST_BYTES`."""


class BrokenError(Exception):
    """The response is unusable, but another request may succeed. The message gives the reason."""


class Note(BaseModel):
    """Headers that came with the bytes; `finished` is the record of the complete file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str
    etag: str | None
    last_modified: str | None
    finished: Record | None = None

    @property
    def validator(self) -> str | None:
        """Validator for `If-Range`: a strong entity tag, else a date, else None (RFC 9110, 13.1.5)."""
        strong = self.etag if self.etag and not self.etag.startswith("W/") else None
        return strong or self.last_modified


class Partial:
    """The partial download of one file. `path` is the file's path below the download folder `folder`."""

    def __init__(self, folder: Path, path: str) -> None:
        self.bytes = folder / ".downloads" / f"{path}.part"
        self._note_path = self.bytes.with_name(f"{self.bytes.name}.json")

    @property
    def size(self) -> int:
        """Number of bytes so far."""
        return self.bytes.stat().st_size if self.bytes.exists() else 0

    def note(self) -> Note | None:
        """The note of the server's headers; None if there is none or it is unreadable."""
        try:
            return Note.model_validate_json(self._note_path.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def range(self, url: str) -> dict[str, str]:
        """Request headers for the remaining bytes; empty if the whole file must be requested."""
        note = self.note()
        if not self.size or note is None or note.url != url or note.validator is None:
            return {}
        return {"range": f"bytes={self.size}-", "if-range": note.validator}

    def receive(self, url: str, response: httpx.Response) -> Note:
        """Store the body of a response, from the start for a 200, appended for a 206; return the note of its headers.

        Raises
        ------
        BrokenError
            If a 206 does not continue the stored bytes, which are then discarded, or the body ends early.
        TooLargeError
            As soon as the size is known.
        httpx.TransportError
            If the connection breaks. The bytes received so far are kept.
        """
        note, total = self._continued(response) if response.status_code == 206 else self._begun(url, response)
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
        return note

    def finish(self, record: Record, place: Path) -> None:
        """Move the bytes to the file's destination. The record is written to disk first, so that no kill loses it."""
        note = Note(url=record.url, etag=record.etag, last_modified=record.last_modified, finished=record)
        whole_files.write(self._note_path, note.model_dump_json())
        whole_files.move(self.bytes, place)

    def discard(self) -> None:
        """Delete the bytes and the note, and folders left empty."""
        self.bytes.unlink(missing_ok=True)
        self._note_path.unlink(missing_ok=True)
        for folder in self.bytes.parents:
            if folder.name == ".downloads":
                return
            with suppress(OSError):
                folder.rmdir()

    def _begun(self, url: str, response: httpx.Response) -> tuple[Note, int | None]:
        note = Note(url=url, etag=_word(response, "etag"), last_modified=_word(response, "last-modified"))
        self.bytes.parent.mkdir(parents=True, exist_ok=True)
        self.bytes.write_bytes(b"")  # before the note, so that a note never describes bytes of another version
        self._note_path.write_text(note.model_dump_json(), encoding="utf-8")  # a torn note only costs one request
        length = response.headers.get("content-length", "")
        return note, int(length) if length.isdecimal() else None

    def _continued(self, response: httpx.Response) -> tuple[Note, int | None]:
        note, matched = self.note(), _CONTENT_RANGE.fullmatch(response.headers.get("content-range", ""))
        etag = _word(response, "etag")
        other = note is None or (etag is not None and etag != note.etag)
        if note is None or other or matched is None or int(matched[1]) != self.size:
            self.discard()
            raise BrokenError("sent a different range than requested")
        return note, int(matched[2]) if matched[2] != "*" else None


def _word(response: httpx.Response, name: str) -> str | None:
    """A header's value; None if it is missing or not ASCII, so that it cannot be sent back."""
    value: str | None = response.headers.get(name)
    return value if value and value.isascii() else None

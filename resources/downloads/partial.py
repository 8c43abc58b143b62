"""A partial download: the bytes received so far, and the headers needed to continue it.

It is stored in the folder's `.downloads`, which readers and sensors ignore: `<path>.part` holds the bytes,
`<path>.part.json` the server's headers (the note). Not here: requests (transfer), checks of the file (downloads).
"""

import os
import re
from contextlib import suppress
from pathlib import Path

import httpx
from pydantic import ValidationError

from resources import whole_files
from resources.downloads.manifest import Record
from resources.frozen import Frozen

MOST_BYTES = 50 * 2**20
"""Size limit of a file. The largest text of any source has a hundredth of this size."""

_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class TooLargeError(Exception):
    """The file is larger than `MOST_BYTES`."""


class BrokenError(Exception):
    """The response is unusable, but another request may succeed. The message gives the reason."""


class Note(Frozen):
    """Headers that the server sent with the bytes; `finished` is the file's record, once the download is complete."""

    url: str
    etag: str | None
    last_modified: str | None
    finished: Record | None = None

    @property
    def validator(self) -> str | None:
        """Value for the header `If-Range`: a strong entity tag, else a date, else None (RFC 9110, section 13.1.5)."""
        strong = self.etag if self.etag and not self.etag.startswith("W/") else None
        return strong or self.last_modified


class Partial:
    """The partial download of one file, whose path below the download folder is `path`."""

    def __init__(self, folder: Path, path: str) -> None:
        self.bytes = folder / ".downloads" / f"{path}.part"
        self._note_path = self.bytes.with_name(f"{self.bytes.name}.json")

    @property
    def size(self) -> int:
        """Number of bytes received so far."""
        return self.bytes.stat().st_size if self.bytes.exists() else 0

    def note(self) -> Note | None:
        """The stored note; None if it is missing or unreadable."""
        try:
            return Note.model_validate_json(self._note_path.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def range(self, url: str) -> dict[str, str]:
        """Request headers that ask for the remaining bytes; empty if the whole file must be requested."""
        note = self.note()
        if not self.size or note is None or note.url != url or note.validator is None:
            return {}
        return {"range": f"bytes={self.size}-", "if-range": note.validator}

    def receive(self, url: str, response: httpx.Response) -> Note:
        """Store the body of a response, and return the note of its headers. A 206 is appended to the stored bytes.

        Raises
        ------
        BrokenError
            If the body ends early, or a 206 does not continue the stored bytes, which are then discarded.
        TooLargeError
            As soon as the size is known to exceed `MOST_BYTES`.
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
        """Move the bytes to the file's destination, after saving the record in the note, in case of a kill."""
        note = Note(url=record.url, etag=record.etag, last_modified=record.last_modified, finished=record)
        whole_files.write(self._note_path, note.model_dump_json())
        whole_files.move(self.bytes, place)

    def discard(self) -> None:
        """Delete the bytes, the note, and folders that are then empty."""
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
        self.bytes.write_bytes(b"")  # before the note, so that the note never describes bytes of another version
        self._note_path.write_text(
            note.model_dump_json(), encoding="utf-8"
        )  # not atomic: an incomplete note costs one more request
        length = response.headers.get("content-length", "")
        return note, int(length) if length.isdecimal() else None

    def _continued(self, response: httpx.Response) -> tuple[Note, int | None]:
        note, matched = self.note(), _CONTENT_RANGE.fullmatch(response.headers.get("content-range", ""))
        etag = _word(response, "etag")
        other_version = note is None or (etag is not None and etag != note.etag)
        if note is None or other_version or matched is None or int(matched[1]) != self.size:
            self.discard()
            raise BrokenError("sent a different range than requested")
        return note, int(matched[2]) if matched[2] != "*" else None


def _word(response: httpx.Response, name: str) -> str | None:
    """A header's value; None if it is missing, or not ASCII and so cannot be sent back."""
    value: str | None = response.headers.get(name)
    return value if value and value.isascii() else None

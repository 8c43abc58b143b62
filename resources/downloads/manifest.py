"""The manifest of a download folder: origin, digest and licence of each file.

The manifest is one JSON array, sorted by path and rewritten as a whole. Not here: locking (downloads).

A downloaded file and its record are two files, and a process may be killed between the two writes. The record is
therefore written to `_PLACING` first. The next `read` adds this record to the manifest if the downloaded file has the
recorded digest.
"""

from contextlib import suppress
from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from resources import whole_files
from resources.errors import BadInput
from resources.frozen import Frozen

NAME = "downloads.json"
"""Name of the manifest's file. It does not end in `.jsonl`, because corpus readers read `.jsonl` files as passages."""

_PLACING = ".downloads/placing.json"


class Record(Frozen):
    """A downloaded file.

    `path` is relative to the folder. `url` is the URL before redirects. `commit` is the commit that the description
    names, '' for a branch or a site without commits. Without a commit, the version is identified by `sha256`, `etag`
    and `last_modified` (the server's headers, unchanged). `fetched_at` is the time of the first download of this
    content.
    """

    path: str
    text: str
    url: str
    sha256: str
    bytes: int
    etag: str | None
    last_modified: str | None
    fetched_at: datetime
    licence: str
    restricted: bool
    commit: str = ""


_RECORDS = TypeAdapter(list[Record])


def read(folder: Path) -> dict[str, Record]:
    """Read the records, by path; empty if the folder has no manifest.

    Raises
    ------
    BadInput
        If the manifest is not valid, for instance after manual editing.
    """
    place = folder / NAME
    try:
        records = _RECORDS.validate_json(place.read_bytes())
    except FileNotFoundError:
        records = []
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        remedy = "restore it, or move the folder away and run `variorum scan --download`"
        raise BadInput(place, key, f"is not a manifest of downloads ({first['msg'].lower()})", remedy) from error
    by_path = {record.path: record for record in records}
    with suppress(FileNotFoundError, ValidationError):
        placing = Record.model_validate_json((folder / _PLACING).read_bytes())
        if whole_files.sha256(folder / placing.path) == placing.sha256:
            by_path[placing.path] = placing
            write(folder, by_path)
    return by_path


def place(folder: Path, record: Record, body: bytes) -> None:
    """Write a file below the folder. The caller must then write the manifest with the file's record."""
    whole_files.write(folder / _PLACING, record.model_dump_json())
    whole_files.write(folder / record.path, body)


def write(folder: Path, records: dict[str, Record]) -> None:
    """Replace the manifest with these records."""
    rows = [records[path] for path in sorted(records)]
    whole_files.write(folder / NAME, _RECORDS.dump_json(rows, indent=1).decode())
    (folder / _PLACING).unlink(missing_ok=True)

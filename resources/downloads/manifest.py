"""The manifest of a download folder: origin, digest and licence of each file.

The manifest is one JSON array, sorted by path and rewritten as a whole. Not here: locking (downloads).
"""

from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from resources import whole_files
from resources.errors import BadInput
from resources.frozen import Frozen

NAME = "downloads.json"
"""File name, not in `.jsonl`: a reader of corpora in JSON lines would take the records for passages."""


class Record(Frozen):
    """A downloaded file.

    `path` is relative to the folder. `url` is the URL before redirects. `fetched_at` is the time of the first download
    of this content. `etag` and `last_modified` are the server's headers, unchanged.
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
        return {}
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise BadInput(
            place, key, f"is not a manifest of downloads ({first['msg'].lower()})",
            "restore it, or move the folder away and run `variorum download`",
        ) from error  # fmt: skip
    return {record.path: record for record in records}


def write(folder: Path, records: dict[str, Record]) -> None:
    """Replace the manifest with these records."""
    rows = [records[path] for path in sorted(records)]
    whole_files.write(folder / NAME, _RECORDS.dump_json(rows, indent=1).decode())

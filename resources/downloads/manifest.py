"""The manifest of a download folder: origin, digest and licence of each file.

One JSON array, sorted by path and rewritten as a whole. Not here: locking (downloads).
"""

from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from resources import whole_files
from resources.errors import BadInput

NAME = "downloads.json"
"""Not `.jsonl`, which a corpus in JSON lines would read as passages."""


class Record(BaseModel):
    """A downloaded file.

    `path` is relative to the folder, `url` the URL before redirects, `fetched_at` the time at which this content first
    arrived. `etag` and `last_modified` are the server's headers, unchanged.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

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
    """Records by path; none where the folder has no manifest.

    Raises
    ------
    BadInput
        If it is not valid, for instance after an edit by hand.
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

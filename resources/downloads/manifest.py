"""The manifest of a folder of downloads: where each file came from, what it was and under which terms.

One JSON array, in the order of paths, rewritten whole. Not here: who may write it when (downloads).
"""

from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from resources import whole_files
from resources.errors import BadInput

NAME = "downloads.json"
"""Not `.jsonl`: in a corpus of that layout it would be read as passages."""


class Record(BaseModel):
    """A file as it was fetched.

    `path` is relative to the folder, `url` what was asked for (a redirect may have led elsewhere), `fetched_at` when
    this content first came. `etag` and `last_modified` are the server's own words.
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
        Where it cannot be read: somebody edited it.
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
            place, key, f"is no manifest of downloads ({first['msg'].lower()})",
            "restore it, or move the folder away and fetch again",
        ) from error  # fmt: skip
    return {record.path: record for record in records}


def write(folder: Path, records: dict[str, Record]) -> None:
    """Put records in the place of all that there are."""
    rows = [records[path] for path in sorted(records)]
    whole_files.write(folder / NAME, _RECORDS.dump_json(rows, indent=1).decode())

"""Journals of updates under way: what an update will ask, and each output as it comes, for pages that watch it.

A journal is the file `live/RUN.jsonl` in the home, named for the run that pays. It exists while the update runs; rows
reach the warehouse only at the end of a step. Not here: calls and money (the ledger has them), pages (reporting.live).
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from resources.processes import is_dead, process_tag
from resources.provider.provider import Provider
from resources.whole_files import write

FOLDER = "live"

Entry = Mapping[str, Any]


class Journal(NamedTuple):
    """The journal of a run: its first entry, and all later entries in their order."""

    run: str
    beginning: Entry
    entries: list[Entry]


@contextmanager
def kept(folder: Path, run: str, provider: Provider, models: Iterable[str] | None = None) -> Iterator[bool]:
    """Keep a journal of a run in the home `folder` until the block ends; yield false if the run has one already.

    Its first entry has the time, the `models` (null for all), the last attempt before the run, and the run's cap in US
    dollars. Journals of dead processes are removed. A journal that cannot be written stops nothing.
    """
    place = _path(folder, run)
    if place.exists():
        yield False
        return
    beginning = {
        "process": process_tag(), "began": datetime.now(UTC).isoformat(), "models": models and list(models),
        "since": provider.ledger.last_attempt(), "cap": provider.budget.run,
    }  # fmt: skip
    with suppress(OSError):
        for path in place.parent.glob("*.jsonl"):
            if _read(path) is None:
                path.unlink(missing_ok=True)
        write(place, f"{json.dumps(beginning)}\n")
    try:
        yield True
    finally:
        with suppress(OSError):
            place.unlink(missing_ok=True)


def note(folder: Path, run: str, entry: Entry) -> None:
    """Add an entry to the journal of a run; nothing if none is kept. Entries of several processes do not mix."""
    with suppress(OSError):
        descriptor = os.open(_path(folder, run), os.O_WRONLY | os.O_APPEND)  # each write goes to the end as a whole
        try:
            os.write(descriptor, f"{json.dumps(entry)}\n".encode())
        finally:
            os.close(descriptor)


def running(folder: Path) -> list[Journal]:
    """The journals of updates that are under way, oldest first."""
    found = filter(None, (_read(path) for path in (folder / FOLDER).glob("*.jsonl")))
    return sorted(found, key=lambda journal: str(journal.beginning["began"]))


def _path(folder: Path, run: str) -> Path:
    return folder / FOLDER / f"{run}.jsonl"


def _read(path: Path) -> Journal | None:
    """The journal in a file; None if its process has ended or the file is gone. Incomplete lines are left out."""
    entries: list[Entry] = []
    with suppress(OSError):
        for line in path.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError):  # it is being written, or the disk was full
                entries.append(json.loads(line))
    if not entries or "process" not in entries[0] or is_dead(entries[0]["process"], ""):
        return None
    return Journal(path.stem, entries[0], entries[1:])

"""Write the report to a file, with its corpora and links to readers. Not here: content (content), layout (page)."""

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmark_assets.reporting.report.content import parts
from benchmark_assets.reporting.report.page import page
from resources import whole_files
from resources.errors import BadInput
from resources.folders import PRIVATE
from resources.warehouse import Warehouse


def write(warehouse: Warehouse, file: Path, corpora: Sequence[str] = (), readers: Sequence[Path] = ()) -> str:
    """Write the report and return it; an earlier file stays as it is until the new one is complete.

    Parameters
    ----------
    corpora
        Corpora to report; by default all, and also what belongs to no corpus.
    readers
        Folders of passage readers, also private ones; the numbers of a corpus link to its reader.

    Raises
    ------
    BadInput
        For an unknown corpus, a folder that holds no reader or that of another corpus, and a file that cannot be
        written.
    """
    known = warehouse.read("corpus", columns=["corpus"])["corpus"].to_list()
    for corpus in corpora:
        if corpus not in known:
            raise BadInput(corpus, "", "is no corpus", f"one of {', '.join(sorted(known)) or 'none yet'}")
    near: dict[str, str] = {}
    for folder in readers:
        corpus, index = _reader(folder)
        if corpus not in (corpora or known):
            raise BadInput(
                folder, "", f"is a reader of {corpus}, which this report does not cover", "name that of its corpus"
            )
        near[corpus] = Path(os.path.relpath(index.resolve(), file.resolve().parent)).as_posix()
    html = page(parts(warehouse, corpora), datetime.now(UTC), near)
    whole_files.hand_over(file, html)
    return html


def _reader(folder: Path) -> tuple[str, Path]:
    """The corpus of a reader, and its page."""
    for room in (folder, folder / PRIVATE):
        content = room / "index.js"
        if (room / "index.html").is_file() and content.is_file():
            text = content.read_text(encoding="utf-8").strip().removeprefix("READER.index(").removesuffix(");")
            try:
                index = json.loads(text)
            except ValueError:
                break
            if "annotator" not in index:
                return str(index["corpus"]), room / "index.html"
    raise BadInput(folder, "", "holds no reader of passages", "make one first: `variorum reader FOLDER CORPUS`")

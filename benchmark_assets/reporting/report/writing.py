"""The report as a file: of which corpora, beside which readers. Not here: what it says (content), looks like (page)."""

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
    """Write the report and return it; a former file stays as it is until the new one is whole.

    Parameters
    ----------
    corpora
        Of which it is; by default all, with what is of no corpus.
    readers
        Folders of passage readers, private ones too: numbers of the corpus of each link to it.

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
                folder, "", f"is a reader of {corpus}, of which this is no report", "name that of its corpus"
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

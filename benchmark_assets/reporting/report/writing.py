"""The report as a file: of which corpora, beside which reader. Not here: what it says (content), looks like (page)."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmark_assets.reporting.report.content import parts
from benchmark_assets.reporting.report.page import page
from resources.downloads import whole_files
from resources.errors import BadInput
from resources.warehouse import Warehouse


def write(warehouse: Warehouse, file: Path, corpora: Sequence[str] = (), reader: Path | None = None) -> str:
    """Write the report and return it; a former file stays as it is until the new one is whole.

    Parameters
    ----------
    corpora
        Of which it is; by default all, with what is of no corpus.
    reader
        Folder of a passage reader, to which the numbers link.

    Raises
    ------
    BadInput
        For an unknown corpus, a folder that holds no reader, and a file that cannot be written.
    """
    known = warehouse.read("corpus", columns=["corpus"])["corpus"].to_list()
    for corpus in corpora:
        if corpus not in known:
            raise BadInput(corpus, "", "is no corpus", f"one of {', '.join(sorted(known)) or 'none yet'}")
    if reader is not None and not (reader / "index.html").is_file():
        raise BadInput(reader, "index.html", "is missing", "make the reader first: `variorum reader FOLDER CORPUS`")
    near = None if reader is None else Path(os.path.relpath(reader.resolve(), file.resolve().parent)).as_posix()
    html = page(parts(warehouse, corpora), datetime.now(UTC), near)
    try:
        whole_files.write(file, html)
    except OSError as error:
        raise BadInput(file, "", f"cannot be written ({error.strerror})", "give the path of a file") from error
    return html
